#!/usr/bin/env bash
# Installs the library into a folder, builds a C project against it by find_package and by pkg-config, moves the folder and
# repeats that; then builds against the build tree. The plug-in for GPUs, if it was built, must be found in the moved folder.
#   install_test.sh <cmake> <build folder> <scratch folder> <C compiler> <1: there is a plug-in> <1: and one of gRPC>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cmake=$1 build=$2 scratch=$3 cc=$4 plugin=$5 grpc=$6
unset LD_LIBRARY_PATH CPATH LIBRARY_PATH PKG_CONFIG_PATH
rm -rf "$scratch" && mkdir -p "$scratch"
fail() { printf '%s\n' "$*" && exit 1; }

greets() { [[ $("$1") == "hello from libgnnmg "* ]] || fail "$1 does not greet: $("$1" 2>&1)"; }

by_find_package() { # <prefix> <name>
  "$cmake" -S "$here/stranger" -B "$scratch/$2" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$1" >"$scratch/log" &&
    "$cmake" --build "$scratch/$2" >>"$scratch/log" || { cat "$scratch/log" && fail "find_package in $1 failed"; }
  greets "$scratch/$2/hello"
}

by_pkg_config() { # <folder of gnnmg.pc> <name>
  local flags
  flags=$(PKG_CONFIG_PATH=$1 pkg-config --cflags --libs gnnmg)
  # shellcheck disable=SC2086 # several words
  "$cc" -std=c99 -Wall -Wextra -Werror "$here/stranger/hello.c" $flags -o "$scratch/$2"
  greets "$scratch/$2"
}

"$cmake" --install "$build" --prefix "$scratch/first" >"$scratch/log" || { cat "$scratch/log" && exit 1; }
pc=$(dirname "$(find "$scratch/first" -name gnnmg.pc)")
found=$(cd "$scratch/first" && find . \( -type f -o -type l \) | sed -E 's|^\./||; s|^lib/[a-z0-9_]+-linux-gnu/|lib/|' | sort | paste -sd' ')
version=$(PKG_CONFIG_PATH=$pc pkg-config --modversion gnnmg)
wanted="include/gnnmg.h lib/cmake/gnnmg/gnnmgConfig-release.cmake lib/cmake/gnnmg/gnnmgConfig.cmake \
lib/cmake/gnnmg/gnnmgConfigVersion.cmake lib/libgnnmg.so lib/libgnnmg.so.${version%.*} lib/libgnnmg.so.$version \
lib/pkgconfig/gnnmg.pc bin/gnnmg-server"
found=${found/gnnmgConfig-relwithdebinfo/gnnmgConfig-release}
((plugin == 0)) || wanted+=" lib/libgnnmg_cuda.so"
((grpc == 0)) || wanted+=" lib/libgnnmg_grpc.so"
[[ $(tr ' ' '\n' <<<"$found" | LC_ALL=C sort) == $(tr ' ' '\n' <<<"$wanted" | LC_ALL=C sort) ]] ||
  fail "installed: $found"$'\n'"wanted: $wanted"
! grep -rIl -e "$build" -e "$scratch" "$scratch/first" || fail "the files above name a folder of this machine's build"
! readelf -dW "$scratch/first"/lib*/libgnnmg*.so "$scratch/first"/lib/*/libgnnmg*.so 2>/dev/null |
  grep -E 'R(UN)?PATH' | grep -F "$build/" || fail "the run path leads into the build folder"

bash "$here/../abi/runpath.sh" --installed "$scratch/first"
"$scratch/first/bin/gnnmg-server" --help | grep -q -- --token-file || fail "the installed gnnmg-server has no help"

by_find_package "$scratch/first" cmake-first
by_pkg_config "$pc" pc-first
mv "$scratch/first" "$scratch/second place"
by_find_package "$scratch/second place" cmake-second
mv "$scratch/second place" "$scratch/third"
by_pkg_config "${pc/first/third}" pc-third
by_pkg_config "$build/pkgconfig" pc-build-tree

# The library checks only for a file with the driver's name before it opens the plug-in next to it, which reports the missing
# driver.
[[ $("$scratch/pc-third" --devices) == *"no NVIDIA driver"* || -e /proc/driver/nvidia ]] || fail "GPUs without a driver: $("$scratch/pc-third" --devices)"
mkdir "$scratch/driver"
"$cc" -shared -x c /dev/null -o "$scratch/driver/libcuda.so.1"
said=$(LD_LIBRARY_PATH=$scratch/driver "$scratch/pc-third" --devices)
if ((plugin == 1)); then
  [[ $said == *CUDA\ 13* && $said != *"cannot be opened"* ]] || fail "the installed plug-in says: $said"
else
  [[ $said == *"the CUDA plug-in cannot be opened: $scratch/third/"*libgnnmg_cuda.so* ]] || fail "without a plug-in: $said"
fi

# A project that requests another minor version must not get this one.
sed 's/gnnmg 0\.1/gnnmg 0.99/' "$here/stranger/CMakeLists.txt" >"$scratch/CMakeLists.txt"
cp "$here/stranger/hello.c" "$scratch"
if "$cmake" -S "$scratch" -B "$scratch/other" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/third" >"$scratch/log" 2>&1; then
  fail "find_package(gnnmg 0.99) was given $version"
fi
grep -q 'version: ' "$scratch/log" || { cat "$scratch/log" && fail "another message than the version was expected"; }
echo "installed, moved and used in six ways: $version"
