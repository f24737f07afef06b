#!/usr/bin/env bash
# The dependencies of the plug-in as the loader sees them: the single function, bound at once, and LibTorch's CUDA half among
# the needed libraries.
#   plugin.sh <libgnnmg_cuda.so>
set -euo pipefail
library=$1
bad=0
exported=$(nm -D --defined-only "$library" | awk '{ print $(NF - 1), $NF }')
[[ $exported == "T gnnmg_cuda_device_table" ]] || { echo "exported: ${exported//$'\n'/, }" && bad=1; }
dynamic=$(readelf -dW "$library")
expect() { grep -qE "$1" <<<"$dynamic" || { echo "missing: $2" && bad=1; }; }
expect 'FLAGS_1.*\bNOW\b' "-z now"
expect 'FLAGS_1.*\bNODELETE\b' "-z nodelete"
for name in libtorch_cuda.so libc10_cuda.so libcudart.so.13 libnccl.so.2; do expect "NEEDED.*\[${name//./\\.}\]" "$name"; done
! grep -E 'NEEDED.*\[(libcuda\.so|libgnnmg\.so|libgtest)' <<<"$dynamic" || bad=1
((bad == 0)) && echo "one function, needs as they should be"
