#!/usr/bin/env bash
# Adds the functions that gnnmg.h declares and gnnmg.map does not name to the newest node of the map, in the order of
# their names. A function that was released stays in its node.
#   src/capi/make-map.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
map=gnnmg.map
new=$(comm -23 <(bash ../../tests/abi/names.sh ../../include/gnnmg.h) \
  <(sed -nE 's/^ *(gnnmg_[a-z0-9_]+);.*/\1/p' $map | LC_ALL=C sort))
[[ -n $new ]] || { echo "$map names every function of the header" && exit 0; }
node=$(sed -nE 's/^(GNNMG_[0-9.]+) \{.*/\1/p' $map | tail -n 1)
merged=$({ awk -v node="$node" '$1 == node { inside = 1 } inside' $map | sed -nE 's/^ *(gnnmg_[a-z0-9_]+);.*/\1/p'
  printf '%s\n' "$new"; } | LC_ALL=C sort | sed 's/.*/    &;/')
awk -v node="$node" -v names="$merged" '
  $1 == node { inside = 1 }
  inside && /^ *gnnmg_[a-z0-9_]+;/ { next }
  { print }
  inside && /^ *global:/ { print names }' $map >$map.new
mv $map.new $map
printf 'added to %s:\n%s\n' "$node" "$new"
