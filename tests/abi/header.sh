#!/usr/bin/env bash
# Compiles the header by itself in every dialect of its users, without a warning, including one for hidden padding in a struct.
#   header.sh <folder of gnnmg.h> <C compiler> <C++ compiler>
set -euo pipefail
include=$1 cc=$2 cxx=$3
try() {
  local compiler=$1 language=$2 standard=$3
  printf '#include "gnnmg.h"\n#include "gnnmg.h"\nint gnnmg_header_test;\n' |
    "$compiler" -x "$language" -std="$standard" -Wall -Wextra -pedantic -Wpadded -Wconversion -Werror \
      -I "$include" -fsyntax-only - || { echo "the header fails as $standard" && exit 1; }
}
for standard in c99 c11 c17; do try "$cc" c $standard; done
for standard in c++11 c++17 c++20; do try "$cxx" c++ $standard; done

# The header includes only two others, and defines only its own names.
others=$("$cc" -std=c99 -H -fsyntax-only -x c "$include/gnnmg.h" 2>&1 | sed -nE 's/^\. .*\/([^/]+)$/\1/p' | sort -u |
  grep -vxE 'stddef\.h|stdint\.h' || true)
[[ -z $others ]] || { echo "the header includes $others" && exit 1; }
names=$("$cc" -std=c99 -E -dM "$include/gnnmg.h" | awk '{ sub(/\(.*/, "", $2); print $2 }' | sort -u)
system=$(printf '#include <stddef.h>\n#include <stdint.h>\n' | "$cc" -std=c99 -E -dM -x c - |
  awk '{ sub(/\(.*/, "", $2); print $2 }' | sort -u)
foreign=$(comm -23 <(echo "$names") <(echo "$system") | grep -v '^GNNMG_' || true)
[[ -z $foreign ]] || { echo "the header defines the macros $foreign" && exit 1; }
echo "the header is well in six dialects"
