#!/usr/bin/env bash
# Checks that every program and library below the folders is loaded from fixed places: no entry of a run path is relative or
# empty, which the loader takes for the current folder.
#   runpath.sh [--installed] <folder>...
# --installed: no entry is a folder of this machine.
set -euo pipefail
most=1000
[[ $1 != --installed ]] || { most=0 && shift; }
count=0 bad=0
while IFS= read -r file; do
  [[ $(head -c 4 "$file" | tr -d '\0') == $'\x7fELF' ]] || continue
  path=$(readelf -dW "$file" 2>/dev/null | sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]$/\2/p')
  count=$((count + 1))
  [[ -z $path ]] && continue
  while IFS= read -r -d: entry; do
    [[ $entry == /* || $entry == '$ORIGIN' || $entry == '$ORIGIN/'* ]] || {
      echo "$file: the entry \"$entry\" of the run path $path"
      bad=1
      break
    }
  done <<<"$path:"
  absolute=$(tr ':' '\n' <<<"$path" | grep -c '^/' || true)
  ((absolute <= most)) || { echo "$file: $absolute folders of this machine in the run path $path" && bad=1; }
done < <(find "$@" -name CMakeFiles -prune -o -type f \( -perm -u+x -o -name '*.so*' \) -print)
((count > 0)) || { echo "nothing of $* is a program or a library" && exit 1; }
((bad == 0)) && echo "$count programs and libraries are loaded from absolute places"
