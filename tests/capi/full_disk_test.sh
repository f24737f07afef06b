#!/usr/bin/env bash
# Divides a graph on a disk that is too small, a file system of its own: the error has the errno and the file. With more room,
# the same command continues, and ends with the bytes of a division that had room from the beginning.
#   full_disk_test.sh <the example program partition>
set -euo pipefail
partition=$1
if ! unshare -rm true 2>/dev/null; then
  echo "needs mounts of its own (unshare -rm)"
  [[ ${CI:-} != true ]] || exit 1
  exit 77
fi
if [[ -z ${GNNMG_FULL_DISK:-} ]]; then # once more, where this process may mount
  GNNMG_FULL_DISK=$(mktemp -d)
  export GNNMG_FULL_DISK
  trap 'rm -r "$GNNMG_FULL_DISK"' EXIT
  unshare -rm bash "$0" "$partition"
  exit
fi
folder=$GNNMG_FULL_DISK
mkdir "$folder/roomy" "$folder/small"
(cd "$folder/roomy" && "$partition" >/dev/null)
size=$(du -sk "$folder/roomy/parts" | cut -f1)
mount -t tmpfs -o size=$((size / 2))k none "$folder/small"
cd "$folder/small"

status=0
"$partition" >"$folder/output" 2>&1 || status=$?
((status == 1)) || { echo "on a full disk it ended with $status" && cat "$folder/output" && exit 1; }
grep 'ERR_IO: .*parts.*: No space left on device' "$folder/output"
mount -o remount,size=$((4 * size))k "$folder/small"
"$partition" >/dev/null
diff -r "$folder/roomy/parts" parts
echo "half of $size kB: an error, and with more room the same bytes"
