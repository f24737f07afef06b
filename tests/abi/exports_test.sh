#!/usr/bin/env bash
# Checks that exports.sh finds each way in which header, map and library can differ.
#   exports_test.sh <scratch folder> <C++ compiler>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1 cxx=$2
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch"
failures=0

# expect <ok|text of the complaint> <declarations> <map entries> <source> [<version script>]
expect() {
  local want=$1 status=0 output
  printf '#ifndef GNNMG_API\n#define GNNMG_API\n#endif\n%s\n' "$2" >h.h
  printf 'GNNMG_0.1 {\n global:\n%s\n local: *;\n};\n' "$3" >h.map
  printf '%s\n' "$4" >l.cpp
  "$cxx" -shared -fPIC -o l.so l.cpp "-Wl,--version-script=${5:-h.map}"
  output=$(bash "$here/exports.sh" h.h h.map l.so) || status=$?
  if [[ $want == ok && $status == 0 ]] || [[ $want != ok && $status != 0 && $output == *"$want"* ]]; then return; fi
  echo "wanted '$want', got status $status: $output"
  failures=$((failures + 1))
}

a='GNNMG_API int gnnmg_a(void (*callback)(int), const char* text);'
b='GNNMG_API const char*
gnnmg_b(void);'
code='extern "C" int gnnmg_a() { return 0; } extern "C" int gnnmg_b() { return 0; }'
printf 'GNNMG_0.1 { global: *; };\n' >all.map
printf '{ global: gnnmg_a; gnnmg_b; local: *; };\n' >none.map
expect ok "$a $b" $'gnnmg_a;\n gnnmg_b;' "$code"
expect 'not in the map (src/capi/make-map.sh adds them): gnnmg_b' "$a $b" 'gnnmg_a;' "$code"
expect 'not exported by the library: gnnmg_b' "$a $b" 'gnnmg_a;' "$code"
expect 'in the map, not declared in the header: gnnmg_b' "$a" $'gnnmg_a;\n gnnmg_b;' "$code"
expect 'exported, not declared in the header: gnnmg_b' "$a" $'gnnmg_a;\n gnnmg_b;' "$code"
expect 'no function of text: D gnnmg_c' "$a $b" $'gnnmg_a;\n gnnmg_b;' "$code int gnnmg_c = 1;" all.map
expect 'no function of text: W ' "$a $b" $'gnnmg_a;\n gnnmg_b;' "$code template <class T> T f(T v) { return v; } template int f(int);" all.map
expect 'exported without a version: gnnmg_a gnnmg_b' "$a $b" $'gnnmg_a;\n gnnmg_b;' "$code" none.map

((failures == 0)) && echo "every difference was found"
