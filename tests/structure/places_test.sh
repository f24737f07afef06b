#!/usr/bin/env bash
# Shows that places.sh finds a file and a function that are not there, and an empty table.
#   places_test.sh <new folder>
set -euo pipefail
check=$(dirname "${BASH_SOURCE[0]}")/places.sh
rm -rf "$1"
mkdir -p "$1/src/room"
echo 'int draw(int a);' >"$1/src/room/draw.h"

finds() { # <exit status> <row> <expected text>
  local found status=0
  printf '%s\n' '## Where to look' '' '| question | place |' '|---|---|' "$2" '' '## Next' '| Other `a.h` |' >"$folder/src/README.md"
  found=$(bash "$check" "$folder") || status=$?
  [[ $status == "$1" && $found == *"$3"* ]] || { echo "found \"$found\" and $status, expected \"$3\" and $1" && return 1; }
}
folder=$1
finds 0 '| Who draws? | `draw()` in `room/draw.h` |' '1 files'
finds 1 '| Who draws? | `draw()` in `room/drew.h` |' 'there is no src/room/drew.h'
finds 1 '| Who draws? | `drew()` in `room/draw.h` |' 'drew() is in none of room/draw.h'
finds 1 '' 'has no files'
