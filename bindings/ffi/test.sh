#!/usr/bin/env bash
# The samples of bindings/README.md: they are there as they lie here, and they run. LuaJIT's only where there is one.
#   bindings/ffi/test.sh <built or installed tree>
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=${1:?usage: test.sh <built or installed tree>}
for folder in "$tree/lib" "$tree/lib64" "$tree"; do
  [[ -e $folder/libgnnmg.so ]] && break
done
unset GNNMG_DIR

shown_as() { # <language>: the lines between its fences in README.md
  awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next } /^```/ { inside = 0 } inside' "$here/../README.md"
}
for sample in python:first.py lua:first.lua; do
  [[ $(shown_as "${sample%:*}") == "$(cat "$here/${sample#*:}")" ]] ||
    { echo "README.md shows another text than ffi/${sample#*:}" && exit 1; }
done

wanted="R-MAT with 1048576 edges"
expect() { # <command...>
  local found
  found=$("$@") || { echo "$* ended with $?" && exit 1; }
  echo "$*: $found"
  [[ $found == "$wanted" ]] || { echo "expected: $wanted" && exit 1; }
}
refuse() { # <command...>: without the library it must print one line with a remedy
  local text remedy
  text=$("$@" 2>&1) && { echo "$* does without a library" && exit 1; }
  for remedy in GNNMG_DIR LD_LIBRARY_PATH pkg-config ldconfig; do
    [[ $text == *"$remedy"* ]] || { echo "$* does not mention $remedy: $text" && exit 1; }
  done
}
try() { # <command...>: found by the loader, found in the tree, and not found
  expect env LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
  expect env GNNMG_DIR="$tree" "$@"
  refuse env GNNMG_DIR="$here" "$@"
}
try python3 "$here/first.py"
if command -v luajit >/dev/null; then try luajit "$here/first.lua"; fi
