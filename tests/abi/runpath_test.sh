#!/usr/bin/env bash
# Checks that runpath.sh accepts absolute places, and finds each other kind of entry.
#   runpath_test.sh <scratch folder> <C compiler>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
check() { # <0 or 1> <run path> [--installed]
  rm -rf "$scratch" && mkdir -p "$scratch"
  "$cc" -shared -x c /dev/null -Wl,-rpath,"$2" -o "$scratch/libplanted.so"
  local status=0
  bash "$here/runpath.sh" ${3:+"$3"} "$scratch" >"$scratch/said" || status=$?
  ((status == $1)) || { echo "the run path \"$2\": $(cat "$scratch/said")" && exit 1; }
}
scratch=$1 cc=$2
check 0 '$ORIGIN:/usr/lib'
check 0 '$ORIGIN/../lib'
check 1 '$ORIGIN::/usr/lib'
check 1 '/usr/lib:'
check 1 ':/usr/lib'
check 1 'lib'
check 1 '$ORIGINAL'
check 0 '/usr/lib:/opt/lib'
check 0 '$ORIGIN:$ORIGIN/gnnmg' --installed
check 1 '$ORIGIN:/usr/lib' --installed
rm -rf "$scratch" && mkdir -p "$scratch" && : >"$scratch/empty.so"
! bash "$here/runpath.sh" "$scratch" >/dev/null || { echo "a folder without programs passes" && exit 1; }
echo "runpath.sh finds what it should"
