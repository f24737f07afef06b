#!/usr/bin/env bash
# Checks the library's dynamic section: its name, that every symbol is bound at once, that it stays loaded, and that it needs
# neither a library of which LibTorch holds its own copy nor functions that start a shell or another program.
#   dynamic.sh <library> <soname>
set -euo pipefail
dynamic=$(readelf -dW "$1")
bad=0
expect() { grep -qE "$1" <<<"$dynamic" || { echo "missing: $2" && bad=1; }; }
expect "SONAME.*\[$2\]" "soname $2"
expect 'FLAGS_1.*\bNOW\b' "-z now"
expect 'FLAGS_1.*\bNODELETE\b' "-z nodelete"
expect 'NEEDED.*\[libtorch_cpu\.so\]' "libtorch_cpu.so"
! grep -E 'NEEDED.*\[(libgloo|libtorch_cuda|libc10_cuda|libcuda|libgtest)' <<<"$dynamic" || bad=1
! grep TEXTREL <<<"$dynamic" || bad=1
! readelf -W --dyn-syms "$1" | grep -E ' UND (system|popen|wordexp|v?fork|f?exec[a-z]*|posix_spawnp?|clone)(@|$)' || bad=1
((bad == 0)) && echo "$2 is as it should be"
