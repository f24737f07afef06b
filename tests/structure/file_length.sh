#!/usr/bin/env bash
# Checks that no source file has over 800 lines, except include/gnnmg.h, which is a manual, and generated files.
#   file_length.sh <top of the source tree>
set -euo pipefail
cd "$1"
limit=800
find . -path ./build -prune -o -path ./.deps -prune -o -path '*/.git' -prune -o -type f \
  \( -name '*.h' -o -name '*.c' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cmake' -o -name '*.sh' -o \
  -name '*.py' -o -name '*.rs' -o -name '*.go' -o -name '*.jl' -o -name CMakeLists.txt -o -name run \) \
  -printf '%P\n' | grep -vxE 'include/gnnmg\.h|.*/target/.*|.*\.gen\.(c|h|go)|bindings/go/internal/raw/gnnmg\.h|bindings/rust/gnnmg-sys/src/bindings\.rs|bindings/rust/gnnmg/src/generated/.*\.rs|bindings/julia/src/lib/.*\.jl' | xargs wc -l |
  awk -v limit=$limit '
    $2 == "total" { next }
    { count++ }
    $1 > limit { print $2 " has " $1 " lines, at most " limit " are wanted: split it"; bad = 1 }
    END { if (!bad) print count " files, none over " limit " lines"; exit bad }'
