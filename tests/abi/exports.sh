#!/usr/bin/env bash
# Checks that a shared library exports the functions of its header, under the version of its map, and nothing else: no data, no
# weak or unique symbol of a template.
#   exports.sh <gnnmg.h> <map> <library>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
header=$1 map=$2 library=$3
bad=0

# differences <what the left has> <what the right has> <left> <right>
differences() {
  local only_left only_right
  only_left=$(comm -23 <(printf '%s\n' "$3") <(printf '%s\n' "$4"))
  only_right=$(comm -13 <(printf '%s\n' "$3") <(printf '%s\n' "$4"))
  [[ -z $only_left ]] || { printf '%s: %s\n' "$1" "${only_left//$'\n'/ }" && bad=1; }
  [[ -z $only_right ]] || { printf '%s: %s\n' "$2" "${only_right//$'\n'/ }" && bad=1; }
}

declared=$(bash "$here/names.sh" "$header")
[[ $declared == *gnnmg_* ]] || { echo "no function was found in $header" && exit 1; }
mapped=$(sed -nE 's/^ *(gnnmg_[a-z0-9_]+);.*/\1/p' "$map" | LC_ALL=C sort)
differences "declared in the header, not in the map (src/capi/make-map.sh adds them)" \
  "in the map, not declared in the header" "$declared" "$mapped"

symbols=$(nm -D --defined-only "$library" | awk '{ print $(NF - 1), $NF }')
other=$(awk '$1 != "T" && !($1 == "A" && $2 ~ /^GNNMG_[0-9.]+(@@GNNMG_[0-9.]+)?$/)' <<<"$symbols")
[[ -z $other ]] || { printf 'exported, but no function of text: %s\n' "${other//$'\n'/, }" && bad=1; }
exported=$(awk '$1 == "T" { sub(/@.*/, "", $2); print $2 }' <<<"$symbols" | LC_ALL=C sort)
differences "declared in the header, not exported by the library" "exported, not declared in the header" \
  "$declared" "$exported"
unversioned=$(awk '$1 == "T" && $2 !~ /@@GNNMG_[0-9.]+$/ { print $2 }' <<<"$symbols")
[[ -z $unversioned ]] || { printf 'exported without a version: %s\n' "${unversioned//$'\n'/ }" && bad=1; }

((bad == 0)) && echo "$(wc -l <<<"$declared") functions in header, map and library"
