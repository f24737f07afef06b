#!/usr/bin/env bash
# Installs the library into a folder, builds a C project against it by find_package and by pkg-config, moves the folder and
# repeats that, also as an ordinary user without the folders of LibTorch and of the source; then builds against the build tree.
# The plug-in for GPUs, if it was built, must be found in the moved folder.
#   install_test.sh <cmake> <build folder> <scratch folder> <C compiler> <folder of LibTorch> \
#     <1: there is a plug-in> <1: and one of gRPC>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cmake=$1 build=$2 scratch=$3 cc=$4 torch=$5 plugin=$6 grpc=$7
unset LD_LIBRARY_PATH CPATH LIBRARY_PATH PKG_CONFIG_PATH
rm -rf "$scratch" && mkdir -p "$scratch"
fail() { printf '%s\n' "$*" && exit 1; }

greets() { [[ $("$1") == "hello from libgnnmg "* ]] || fail "$1 does not greet: $("$1" 2>&1)"; }

by_find_package() { # <prefix> <name>
  "$cmake" -S "$here/stranger" -B "$scratch/$2" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$1" >"$scratch/log" &&
    "$cmake" --build "$scratch/$2" >>"$scratch/log" || { cat "$scratch/log" && fail "find_package in $1 failed"; }
  greets "$scratch/$2/hello"
}

by_pkg_config() { # <folder of gnnmg.pc> <name> [--define-prefix]
  local flags
  flags=$(PKG_CONFIG_PATH=$1 pkg-config ${3:-} --cflags --libs gnnmg)
  # shellcheck disable=SC2086 # several words
  "$cc" -std=c99 -Wall -Wextra -Werror "$here/stranger/hello.c" $flags -o "$scratch/$2"
  greets "$scratch/$2"
}

"$cmake" --install "$build" --prefix "$scratch/first" >"$scratch/log" || { cat "$scratch/log" && exit 1; }
pc=$(dirname "$(find "$scratch/first" -name gnnmg.pc)")
found=$(cd "$scratch/first" && find . \( -type f -o -type l \) -not -path './share/gnnmg/*' |
  sed -E 's|^\./||; s|^lib/[a-z0-9_]+-linux-gnu/|lib/|' | sort | paste -sd' ')
version=$(PKG_CONFIG_PATH=$pc pkg-config --modversion gnnmg)
wanted="include/gnnmg.h include/gnnmg_util.h lib/cmake/gnnmg/gnnmgConfig-release.cmake lib/cmake/gnnmg/gnnmgConfig.cmake \
lib/cmake/gnnmg/gnnmgConfigVersion.cmake lib/libgnnmg.so lib/libgnnmg.so.${version%.*} lib/libgnnmg.so.$version \
lib/pkgconfig/gnnmg.pc bin/gnnmg-server lib/gnnmg/libtorch_cpu.so lib/gnnmg/libc10.so lib/gnnmg/libgomp.so.1 \
lib/gnnmg/libcudart.so.13 lib/gnnmg/libcupti.so.13"
for name in LICENSE LICENSE.libtorch NOTICE.libtorch LICENSE.cuda LICENSE.libgomp README.md examples/first.{c,rs,go,jl}; do
  wanted+=" share/doc/gnnmg/$name"
done
found=${found/gnnmgConfig-relwithdebinfo/gnnmgConfig-release}
((plugin == 0)) || wanted+=" lib/libgnnmg_cuda.so"
((grpc == 0)) || wanted+=" lib/libgnnmg_grpc.so"
[[ $(tr ' ' '\n' <<<"$found" | LC_ALL=C sort) == $(tr ' ' '\n' <<<"$wanted" | LC_ALL=C sort) ]] ||
  fail "installed: $found"$'\n'"wanted: $wanted"
for name in go/go.mod go/README.md julia/README.md go/internal/raw/load.c julia/src/GNNMG.jl rust/gnnmg/src/lib.rs rust/gnnmg-sys/build.rs; do
  [[ -e $scratch/first/share/gnnmg/$name ]] || fail "share/gnnmg/$name is not installed"
done
bash "$here/unnamed.sh" "$scratch/first" "$top" "$build" "$scratch"
python3 -B "$top/docs/site/links.py" "$scratch/first"
bash "$here/floors.sh" "$top/docs/guide/packages.md" "$scratch/first"
# Both checks must find a planted fault.
mkdir "$scratch/planted" && echo "in $top/src" >"$scratch/planted/file"
! bash "$here/unnamed.sh" "$scratch/planted" "$top" >"$scratch/log" || fail "a folder of the builder is not found"
echo '| glibc | 2.2 | GLIBC |' >"$scratch/planted/page.md"
! bash "$here/floors.sh" "$scratch/planted/page.md" "$scratch/first/bin" >"$scratch/log" || fail "glibc of 2.2 is enough"
bash "$here/../abi/runpath.sh" --installed "$scratch/first"
"$scratch/first/bin/gnnmg-server" --help | grep -q -- --token-file || fail "the installed gnnmg-server has no help"

by_find_package "$scratch/first" cmake-first
by_pkg_config "$pc" pc-first
mv "$scratch/first" "$scratch/second place"
by_find_package "$scratch/second place" cmake-second
mv "$scratch/second place" "$scratch/third"
by_pkg_config "${pc/first/third}" pc-third --define-prefix
run_path=$(readelf -dW "$scratch/pc-third" | sed -nE 's/.*RUNPATH.*\[(.*)\]$/\1/p')
[[ $run_path == "$(dirname "${pc/first/third}")" ]] || fail "a program gets the run path $run_path"
said=$(PKG_CONFIG_PATH=/mnt/tree/${pc#"$scratch/first/"} bash "$here/elsewhere.sh" --show "stranger=$here/stranger" \
  --show "tree=$scratch/third" --hide "$torch" --hide "$top" -- \
  sh -c 'cc /mnt/stranger/hello.c $(pkg-config --define-prefix --cflags --libs gnnmg) -o hello && ./hello && ldd hello &&
         id -u') ||
  fail "elsewhere: $said"
[[ $said == "hello from libgnnmg "*libtorch_cpu.so\ =\>\ /mnt/tree/*$'\n'[0-9]* && ($EUID != 0 || ${said##*$'\n'} != 0) ]] ||
  fail "elsewhere it says: $said"
by_pkg_config "$build/pkgconfig" pc-build-tree

# The library checks only for a file with the driver's name before it opens the plug-in next to it, which reports the missing
# driver.
[[ $("$scratch/pc-third" --devices) == *"no NVIDIA driver"* || -e /proc/driver/nvidia ]] || fail "GPUs without a driver: $("$scratch/pc-third" --devices)"
mkdir "$scratch/driver"
"$cc" -shared -x c /dev/null -o "$scratch/driver/libcuda.so.1"
said=$(LD_LIBRARY_PATH=$scratch/driver:$torch/lib "$scratch/pc-third" --devices)
if ((plugin == 1)); then
  [[ $said == *CUDA\ 13* && $said != *"cannot be opened"* ]] || fail "the installed plug-in says: $said"
else
  [[ $said == *"the CUDA plug-in cannot be opened: $scratch/third/"*libgnnmg_cuda.so* ]] || fail "without a plug-in: $said"
fi

# In the folders of the system, programs get no run path.
in_system() { # <usr or usr/local> <flags>
  "$cmake" --install "$build" --component dev --prefix "$scratch/$1" >"$scratch/log"
  flags=$(PKG_CONFIG_PATH=$scratch/$1/${pc#"$scratch/first/"} pkg-config --cflags --libs gnnmg)
  [[ ${flags% } == "$2" ]] || fail "below /$1 pkg-config says: $flags"
}
in_system usr -lgnnmg
in_system usr/local "-I/usr/local/include -L/usr/local/lib -lgnnmg"

# A project that requests another minor version must not get this one.
sed 's/gnnmg 0\.2/gnnmg 0.99/' "$here/stranger/CMakeLists.txt" >"$scratch/CMakeLists.txt"
cp "$here/stranger/hello.c" "$scratch"
if "$cmake" -S "$scratch" -B "$scratch/other" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/third" >"$scratch/log" 2>&1; then
  fail "find_package(gnnmg 0.99) was given $version"
fi
grep -q 'version: ' "$scratch/log" || { cat "$scratch/log" && fail "another message than the version was expected"; }
echo "installed, moved and used in seven ways: $version"
