#!/usr/bin/env bash
# Packs all files that tests/gpu/run.sh needs, for a machine with a GPU on which nothing is built or fetched.
#   tests/gpu/pack.sh [--build FOLDER] [--built] PACKAGE
#
#   PACKAGE          a folder, which gets one archive of at most 56 MiB: the library, the plug-in, the tests with the label
#                    gpu, the benchmarks, their scripts, Amazon Photo and IMDB-BINARY if GNNMG_DATA has them, and the
#                    libraries that programs load, except LibTorch and libraries of CUDA
#   --build FOLDER   build folder; build/gpu-package
#   --built          takes the folder's present contents; otherwise it is built there first, for sm_80 and sm_90
#
# The other machine needs a python3 with torch 2.11 for CUDA 13, and a C and C++ library no older than this machine's:
#   tests/gpu/run.sh --from PACKAGE --light first
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=build/gpu-package built=0 package=
while (($#)); do
  case $1 in
    --build) build=$2 && shift 2 ;;
    --built) built=1 && shift ;;
    -*) sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2 && exit 2 ;;
    *) package=$1 && shift ;;
  esac
done
[[ -n $package ]] || { sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2 && exit 2; }

if ((!built)); then
  # The options of tests/run.sh, so that ccache has the objects.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true
  cmake --preset release -B "$build" -DGNNMG_WERROR="$([[ ${CI:-} == true ]] && echo ON || echo OFF)" -DGNNMG_CUDA=ON \
    "-DCMAKE_CUDA_ARCHITECTURES=80-real;90-real"
  cmake --build "$build" --target gpu_tests bench_gpu -j "$(nproc)"
fi
build=$(cd "$build" && pwd)
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
here=$PWD
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# The same places as in a source tree with the build folder build/gpu.
cp --parents tests/gpu/*.sh tests/fake_machine/*.sh tests/capi/exit_test.sh tests/bench/{gpu,gpu_peer,turns}.py examples/c/processes.sh "$tree"
data=${GNNMG_DATA:-../shared/data}
mkdir "$tree/data"
for name in amazon-photo imdb-binary; do
  if [[ -d $data/$name ]]; then
    cp -r "$data/$name" "$tree/data"
  else
    echo "pack.sh: without the data set $name, which is not in $data (GNNMG_DATA)" >&2
  fi
done
git describe --always --dirty >"$tree/commit" 2>/dev/null || echo unknown >"$tree/commit"
cd "$build"
mkdir -p "$tree/build/gpu/lib"
cp --parents libgnnmg.so.?.? libgnnmg_cuda.so tests/gpu/gpu_*_test tests/gpu/gpu_one_kernel tests/bench/gpu/bench_gpu \
  examples/c/{gpu,train} tests/capi/capi_exit_test tests/fake_machine/libgnnmg_say.so "$tree/build/gpu"
cp --parents tests/gpu/*.filter tests/gpu/*.timed "$tree/build/gpu"
rm -f "$tree/build/gpu/tests/gpu/gpu_multi_test" # needs several GPUs

# ctest's tests, one per line: name, seconds, command; paths begin with @HERE@.
ctest --test-dir . -L '^gpu$' --show-only=json-v1 | python3 -c '
import json, shlex, sys
build, source = sys.argv[1:]
for test in json.load(sys.stdin)["tests"]:
    properties = {p["name"]: p["value"] for p in test["properties"]}
    command = test["command"]
    command = command[next(i for i, word in enumerate(command) if word.endswith("run_test.py")) + 4:]  # skips run_test.py
    environment = [word for word in properties.get("ENVIRONMENT", []) if word.partition("=")[2]]
    words = " ".join(shlex.quote(word) for word in ["env", *environment, *command])
    words = words.replace(build, "@HERE@/build/gpu").replace(source, "@HERE@")
    print(test["name"], int(properties["TIMEOUT"]), words, sep="\t")
' "$build" "$source" >"$tree/build/gpu/tests.tsv"

# The libraries that programs load besides the C and C++ libraries, LibTorch and CUDA.
cd "$tree/build/gpu"
find . -type f -perm -u+x ! -name '*.sh' -exec ldd {} + 2>/dev/null |
  awk '$2 == "=>" && $3 ~ /^\/(usr\/)?lib/ { print $3 }' | sort -u |
  grep -vE '/(libc|libm|libdl|libpthread|librt|libutil|libstdc\+\+|libgcc_s|libgomp|libcuda|ld-linux[^/]*)\.so' |
  while read -r library; do cp -L "$library" lib; done
find . -type f \( -perm -u+x -o -name '*.so*' \) ! -name '*.sh' -exec strip {} +
cd "$here"
mkdir -p "$package"
tar -C "$tree" -czf "$package/gnnmg-gpu.tar.gz" .
size=$(stat -c %s "$package/gnnmg-gpu.tar.gz")
echo "$package/gnnmg-gpu.tar.gz: $((size / 1048576)) MiB, $(wc -l <"$tree/build/gpu/tests.tsv") tests"
((size <= 56 * 1048576)) || { echo "pack.sh: it may take 56 MiB" >&2 && exit 1; }
