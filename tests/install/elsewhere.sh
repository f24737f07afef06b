#!/usr/bin/env bash
# Runs a command on a machine that lacks folders of this one: in a mount namespace where the hidden folders are empty, /mnt/NAME
# shows a folder, and /mnt/work, the current folder, is empty and writable. The command runs as an ordinary user, or, with
# --root, as root of the system in that folder.
#   elsewhere.sh [--root <folder>] [--show <NAME>=<folder>]... [--hide <folder>]... -- <command> <argument>...
set -euo pipefail
if [[ ${ELSEWHERE:-} != inside ]]; then
  export ELSEWHERE=inside ELSEWHERE_USER=$EUID
  if ((EUID == 0)); then exec unshare -m bash "$0" "$@"; else exec unshare -rm bash "$0" "$@"; fi
fi
unset ELSEWHERE

root='' hidden=()
[[ $1 != --root ]] || { root=$2 && shift 2; }
mount -t tmpfs -o mode=755 none "$root/mnt"
mkdir -m 1777 "$root/mnt/work"
while [[ $1 != -- ]]; do
  case $1 in
    --show)
      mkdir "$root/mnt/${2%%=*}"
      mount --rbind "${2#*=}" "$root/mnt/${2%%=*}"
      ;;
    --hide) hidden+=("$(realpath "$2")") ;;
    *) echo "elsewhere.sh: unknown option \"$1\"" >&2 && exit 2 ;;
  esac
  shift 2
done
shift
for folder in "${hidden[@]}"; do mount -t tmpfs -o mode=755 none "$folder"; done
export HOME=/mnt/work TMPDIR=/mnt/work
if [[ $root ]]; then
  mount -t proc none "$root/proc"
  mount --rbind /dev "$root/dev"
  exec env -i HOME=/mnt/work TMPDIR=/mnt/work LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
    chroot "$root" sh -c 'cd /mnt/work && exec "$@"' sh "$@"
fi
cd /mnt/work
if ((ELSEWHERE_USER == 0)); then exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"; fi
exec "$@"
