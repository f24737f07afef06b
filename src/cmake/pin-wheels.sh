#!/usr/bin/env bash
# Writes the hashes of a list of wheels: downloads the wheels that its name==version lines name, for every Python that setup.sh
# knows, and records the SHA-256 of each file. To go to a new version, change the number in the list and run this.
#   pin-wheels.sh <requirements-x.txt> [<folder that keeps the downloads>]
set -euo pipefail
list=$1
folder=${2:-$(mktemp -d)}
pythons=(311 312 313)

platforms=(--platform linux_x86_64 --platform manylinux1_x86_64 --platform manylinux2010_x86_64
  --platform manylinux2014_x86_64)
for glibc in $(seq 5 36); do platforms+=(--platform "manylinux_2_${glibc}_x86_64"); done

pins=$(sed -nE 's/^([A-Za-z0-9_.-]+==[^ \\]+).*/\1/p' "$list")
for python in "${pythons[@]}"; do
  mkdir -p "$folder/$python"
  # shellcheck disable=SC2086 # one word a pin
  python3 -m pip download --quiet --no-deps --only-binary :all: --implementation cp --python-version "$python" \
    --abi "cp$python" --abi abi3 --abi none "${platforms[@]}" -d "$folder/$python" $pins
done

new=$(mktemp)
sed -n '/^#/p' "$list" >"$new"
for pin in $pins; do
  name=${pin%%==*} version=${pin##*==}
  pattern=$(sed 's/[-_.]\+/[-_.]/g' <<<"$name")-$version-
  mapfile -t hashes < <(find "$folder" -name '*.whl' -printf '%f\t%p\n' | grep -iE "^$pattern" | cut -f2 |
    xargs -r sha256sum | cut -d' ' -f1 | sort -u)
  ((${#hashes[@]})) || { echo "no wheel of $pin" >&2 && exit 1; }
  printf '%s' "$pin" >>"$new"
  printf ' \\\n    --hash=sha256:%s' "${hashes[@]}" >>"$new"
  printf '\n' >>"$new"
done
cat "$new" >"$list"
rm -f "$new"
