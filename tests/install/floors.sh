#!/usr/bin/env bash
# Checks that the programs and libraries below a folder need no newer versions of the system's libraries than the page of the
# packages states: its table has a line "| glibc | 2.34 | GLIBC |" for the symbols GLIBC_2.34 and older.
#   floors.sh <docs/guide/packages.md> <folder>
set -euo pipefail
page=$1 folder=$2
needed=$(find "$folder" -type f \( -name '*.so*' -o -perm -u+x \) -exec objdump -T {} + 2>/dev/null |
  sed -nE 's/.*\*UND\*.*\(([A-Z]+)_([0-9.]+)\).*/\1 \2/p' | sort -u)
bad=0 rows=0
while IFS='|' read -r _ library stated symbols _; do
  read -r symbols <<<"$symbols"
  read -r stated <<<"$stated"
  newest=$(awk -v name="$symbols" '$1 == name { print $2 }' <<<"$needed" | sort -V | tail -n 1)
  rows=$((rows + 1))
  if [[ -z $newest ]]; then
    echo "nothing in $folder needs $symbols, for which $page states $stated" && bad=1
  elif [[ $(printf '%s\n%s\n' "$stated" "$newest" | sort -V | tail -n 1) != "$stated" ]]; then
    echo "${symbols}_$newest is needed, and $page states $stated for$library" && bad=1
  fi
done < <(grep -E '^\| [^|]+ \| [0-9.]+ \| [A-Z]+ \|' "$page")
((rows > 0)) || { echo "$page states no versions" && exit 1; }
((bad == 0)) && echo "$rows libraries of the system in versions as stated"
exit $bad
