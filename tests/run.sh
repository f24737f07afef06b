#!/usr/bin/env bash
# Sets up what is missing, builds, and runs every test: all of them as users build the library, those of the torch-free
# rooms again under the sanitizers (the preset asan has all rooms), and the fuzz targets for 30 s each. The presets are
# built one after another; their tests then run as one list, so that the last lines printed are about all of them.
#   tests/run.sh [<preset>...]     release asan-rooms tsan fuzz, unless some are named
# CI=true: a test that has to be skipped fails, and so do a warning of g++ and a build without the CUDA plug-in.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

presets=("$@")
((${#presets[@]})) || presets=(release asan-rooms tsan fuzz)
jobs=$(nproc)
kilobytes=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
((jobs * 2000000 <= kilobytes)) || jobs=$((kilobytes / 2000000 + 1)) # a file with torch's headers takes 1.5 GB

# Paths below this folder count as relative in ccache, so that another clone finds what this one has compiled.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true

# part <title> <command...>: runs it and says how long it took.
part() {
  local title=$1 begin=$SECONDS
  shift
  printf '\n== %s\n' "$title"
  "$@"
  printf '== %s: %d s\n' "$title" $((SECONDS - begin))
}

build() {
  local werror=OFF cuda=AUTO
  [[ ${CI:-} != true || $1 == fuzz ]] || werror=ON # fuzz is clang's, whose warnings differ
  [[ ${CI:-} != true ]] || cuda=ON                 # where the plug-in is built at all
  cmake --preset "$1" -DGNNMG_WERROR=$werror -DGNNMG_CUDA=$cuda >"build/$1.log" 2>&1 || { cat "build/$1.log" && return 1; }
  cmake --build --preset "$1" -j "$jobs"
}

part "set-up" src/cmake/setup.sh --full --tests --cuda-compiler
mkdir -p build
for preset in "${presets[@]}"; do part "build of preset $preset" build "$preset"; done

# One list of tests out of all the build folders.
mkdir -p build/all
printf 'subdirs("%s")\n' "${presets[@]/#/$PWD/build/}" >build/all/CTestTestfile.cmake
printf '\n== tests of: %s\n' "${presets[*]}"
exec ctest --test-dir build/all -j "$jobs" --output-on-failure --no-tests=error
