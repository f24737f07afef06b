#!/usr/bin/env bash
# Makes the packages of a build by cpack and uses them as strangers do: the archive, moved, by an ordinary user without the source
# tree; the Debian packages in a new Debian 12 that has nothing else. In both places the first programs of C, Rust, Go
# and Julia are built and run by the commands of docs/guide/packages.md, and a project by find_package. In the new Debian the
# plug-in of gRPC serves and asks, and that for GPUs is opened: without LibTorch for CUDA, and with it, up to the missing driver.
#   package_test.sh <cpack> <build folder> <scratch folder> <folder of LibTorch> <1: there is a plug-in> <1: and one of gRPC>
# The second part needs root, debootstrap and a network, and each language its tools: without them the exit code is 77, under
# continuous integration 1.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cpack=$1 build=$2 scratch=$3 torch=$4 plugin=$5 grpc=$6
rm -rf "$scratch" && mkdir -p "$scratch/test" "$scratch/tree"
trap 'rm -rf "$scratch"' EXIT
fail() { printf '%s\n' "$*" && exit 1; }
lacks() { echo "left out: $1" && [[ ${CI:-} == true ]] && exit 1 || exit 77; }

# ---- the packages ----------------------------------------------------------------------------------------------------------

(cd "$build" && "$cpack" -B "$scratch/packages" >"$scratch/log" 2>&1) || { tail -n 40 "$scratch/log" && fail "cpack failed"; }
[[ -z $(find "$scratch/packages" -name libtorch_cpu.so) ]] || fail "cpack leaves the trees that it made the packages from"
rm -rf "$scratch/packages/_CPack_Packages"
archive=$(echo "$scratch"/packages/gnnmg-*.tar.zst)
debs=("$scratch"/packages/*.deb)
du -B 100000 --apparent-size "$archive" "${debs[@]}" | sed -E "s|^.\t|0&|; s|^([0-9]*)([0-9])\t.*/|\1.\2 MB  |"
tar -xf "$archive" -C "$scratch/tree" --strip-components 1
made=$(printf '%s\n' "${debs[@]##*/}" | sed 's/_.*//' | sort | paste -sd' ')
wanted="libgnnmg-dev libgnnmg0.2"
((grpc == 0)) || wanted="libgnnmg-grpc $wanted"
((plugin == 0)) || wanted="libgnnmg-cuda $wanted"
[[ $(tr ' ' '\n' <<<"$wanted" | sort | paste -sd' ') == "$made" ]] || fail "Debian packages: $made"$'\n'"wanted: $wanted"
bash "$here/../abi/runpath.sh" --installed "$scratch/tree"
bash "$here/floors.sh" "$top/docs/guide/packages.md" "$scratch/tree"
bash "$here/unnamed.sh" "$scratch/tree" "$top" "$build" "$scratch"
for deb in "${debs[@]}"; do
  dpkg-deb --info "$deb" | sed -nE 's/^ (Package|Depends|Installed-Size): /  &/p'
done

# ---- the tools of the languages: names of folders below /mnt ---------------------------------------------------------------

PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin:/usr/local/go/bin
julia=$top/.deps/julia
[[ ! -x $julia/bin/julia ]] || PATH=$PATH:$julia/bin
for tool in cargo go julia; do
  command -v $tool >/dev/null || lacks "there is no $tool"
done
shown=(--show "test=$scratch/test" --show "rust=$(rustc --print sysroot)" --show "go=$(go env GOROOT)")
shown+=(--show "julia=$(realpath "$(dirname "$(realpath "$(command -v julia)")")/..")")
(cd "$scratch/tree/share/gnnmg/rust" && cargo vendor --quiet "$scratch/test/crates" && rm -f Cargo.lock) >/dev/null
cat >"$scratch/test/cargo.toml" <<'END'
source.crates-io.replace-with = "cache"
source.cache.directory = "/mnt/test/crates"
END
cp -r "$here/languages.sh" "$here/stranger" "$top/docs/guide/packages.md" "$top/examples/c/server.c" "$scratch/test"
cat >"$scratch/test/run.sh" <<'END'
set -euo pipefail
mkdir -p .cargo && cp /mnt/test/cargo.toml .cargo/config.toml
export PATH=/mnt/rust/bin:/mnt/go/bin:/mnt/julia/bin:$PATH GOPROXY=off GOTOOLCHAIN=local
bash /mnt/test/languages.sh /mnt/test/packages.md "$1" C Rust Go Julia
unset LD_LIBRARY_PATH PKG_CONFIG_PATH GNNMG_DIR
{ cmake -S /mnt/test/stranger -B project -DCMAKE_PREFIX_PATH="$1" && cmake --build project; } >log 2>&1 || { cat log && exit 1; }
said=$(project/hello) && [[ $said == "hello from libgnnmg "* ]] || { echo "by find_package: $said" && exit 1; }
echo "CMake: $said"
END
chmod -R a+rX "$scratch/test"

echo "the archive, moved, as an ordinary user:"
bash "$here/elsewhere.sh" "${shown[@]}" --show "tree=$scratch/tree" --hide "$top/.deps" --hide "$top" -- bash /mnt/test/run.sh /mnt/tree

# ---- a new Debian ----------------------------------------------------------------------------------------------------------

((EUID == 0)) || lacks "a new Debian: only root can make one"
PATH=$PATH:/usr/sbin:/sbin
command -v debootstrap >/dev/null || lacks "a new Debian: there is no debootstrap"
mv "$scratch/packages" "$scratch/test/debs"
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
unshare -m debootstrap --variant=minbase bookworm "$scratch/root" >"$scratch/log" 2>&1 ||
  { tail -n 5 "$scratch/log" && lacks "a new Debian: debootstrap failed"; }
cat >"$scratch/test/debian.sh" <<'END'
set -euo pipefail
apt-get -qq -y --no-install-recommends install /mnt/test/debs/*.deb >/mnt/work/log 2>&1 || { cat /mnt/work/log && exit 1; }
ldd /usr/lib/libgnnmg.so.0.2 | grep 'not found' && exit 1
gnnmg-server --help | grep -q -- --token-file
[[ $(ldconfig -p) == *libgnnmg.so.0.2* ]] || { echo "ldconfig does not know the library" && exit 1; }
apt-get -qq -y --no-install-recommends install gcc libc6-dev pkg-config cmake make >/mnt/work/log 2>&1 ||
  { cat /mnt/work/log && exit 1; }
bash /mnt/test/run.sh /usr
if [[ -e /usr/lib/libgnnmg_grpc.so ]]; then
  cc /mnt/test/server.c $(pkg-config --cflags --libs gnnmg) -lm -o server
  ./server >said && grep 'test accuracy over the server 0.[5-9]' said || { cat said && exit 1; }
fi
if [[ -e /usr/lib/libgnnmg_cuda.so ]]; then
  mkdir driver && cc -shared -x c /dev/null -o driver/libcuda.so.1
  said=$(LD_LIBRARY_PATH=$PWD/driver project/hello --devices)
  [[ $said == *"the CUDA plug-in cannot be opened: "*"LD_LIBRARY_PATH names the lib folder of such a LibTorch"* ]] ||
    { echo "without LibTorch for CUDA it says: $said" && exit 1; }
  said=$(LD_LIBRARY_PATH=$PWD/driver:/mnt/site/torch/lib project/hello --devices)
  [[ $said == *"CUDA 13"* && $said != *"cannot be opened"* ]] || { echo "with LibTorch for CUDA it says: $said" && exit 1; }
  echo "GPUs: $said"
fi
apt-get -qq -y purge 'libgnnmg*' >/mnt/work/log 2>&1 || { cat /mnt/work/log && exit 1; }
[[ -z $(find /usr -path '*gnnmg*' -print -quit) ]] || { echo "left after removal:" && find /usr -path '*gnnmg*' && exit 1; }
END
echo "the Debian packages, in a new Debian 12:"
bash "$here/elsewhere.sh" --root "$scratch/root" "${shown[@]}" --show "site=$(dirname "$torch")" -- bash /mnt/test/debian.sh
