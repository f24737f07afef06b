#!/usr/bin/env bash
# Installs the missing requirements of a build: system packages by apt, LibTorch from its wheel in .deps/venv.
# If nothing is missing, it takes about a second.
set -euo pipefail

usage() {
  cat <<'END'
usage: src/cmake/setup.sh [--check] [--full] [--tests] [--nightly] [--cuda-compiler]

  (nothing)        what building the library and its examples needs: compiler, CMake, LibTorch
  --full           all of torch's wheels and PyTorch Geometric, so that Python can import torch; also done when this
                   machine has an NVIDIA driver
  --tests          what the tests need beyond that: GoogleTest, Google Benchmark, clang's libFuzzer, Doxygen with its theme
                   and search, clang-format, clang-tidy, kubernetes-validate, Open MPI's mpirun, METIS, gRPC for C++, curl,
                   openssl, and Julia, unpacked from Debian's archive where one is among apt's sources
  --nightly        what tests/nightly.sh needs beyond that: valgrind, gcovr, debootstrap, the tools of Debian packages
  --cuda-compiler  nvcc from its wheels, where no nvcc is on PATH
  --check          only say what is missing; exit status 1 when anything is

System packages are installed with apt-get, by sudo when you are not root. Everything else goes into .deps/, which may be
deleted at any time. GNNMG_TORCH_DIR takes an unpacked LibTorch 2.11, or the torch folder of a Python installation, instead
of the wheel.
END
}

check=0 full=0 tests=0 nightly=0 nvcc=0
for argument in "$@"; do
  case $argument in
    --check) check=1 ;;
    --full) full=1 ;;
    --tests) tests=1 ;;
    --nightly) nightly=1 ;;
    --cuda-compiler) nvcc=1 ;;
    -h | --help) usage && exit 0 ;;
    *) echo "setup.sh: unknown option \"$argument\"" >&2 && usage >&2 && exit 2 ;;
  esac
done

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
deps=$top/.deps
venv=$deps/venv
missing=0

say() { printf '%s\n' "$*"; }
die() { printf 'setup.sh: %s\n' "$*" >&2 && exit 1; }
has_command() { command -v "$1" >/dev/null 2>&1; }
has_header() { printf '#if !__has_include(<%s>)\n#error missing\n#endif\n' "$1" | c++ -x c++ -E -; }
# at_least <version> <wanted>
at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

[[ $(uname -sm) == "Linux x86_64" ]] || die "the library is built for Linux on x86_64, this is $(uname -sm)"

# ---- system packages --------------------------------------------------------------------------------------------------

packages=() # packages for apt to install

# want <package> <test command...>: the package is missing if the test fails, whatever the origin of the tested file.
want() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || packages+=("$package")
}
has_compiler() {
  has_command cc && printf '#if __GNUC__ < 12 && !defined(__clang__)\n#error old\n#endif\n' | c++ -x c++ -std=c++20 -E -
}
has_cmake() { has_command cmake && at_least "$(cmake --version | sed -n '1s/.* //p')" 3.25; }
has_venv() { python3 -c 'import ensurepip, venv'; }
has_library() { echo 'int main() {}' | c++ -x c++ - "$@" -o /dev/null; }
has_shared() { python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1"; }
has_fuzzer() {
  has_command clang++ &&
    echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++ -x c++ - -fsanitize=fuzzer,address,undefined -o /dev/null
}
fuzzer_package() { # clang's run-time libraries have its version in their name
  local version
  version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
  [[ -z $version ]] || echo "libclang-rt-$version-dev"
}

find_missing_packages() {
  packages=()
  want g++ has_compiler
  want libc6-dev has_header stdio.h
  want cmake has_cmake
  want ninja-build has_command ninja
  want pkg-config has_command pkg-config
  want ccache has_command ccache
  want python3-venv has_venv
  want zlib1g-dev has_header zlib.h
  want libssl-dev has_header openssl/evp.h
  want nlohmann-json3-dev has_header nlohmann/json.hpp
  want libgloo-dev has_header gloo/types.h
  if ((tests)); then
    want libgtest-dev has_library -lgtest
    want libgmock-dev has_library -lgmock
    want libbenchmark-dev has_library -lbenchmark
    want clang has_command clang++
    want "$(fuzzer_package)" has_fuzzer # no name as long as apt has no lists
    want doxygen has_command doxygen
    want doxygen-awesome-css test -e /usr/share/doxygen-awesome-css/doxygen-awesome.css
    want libjs-lunr test -e /usr/share/javascript/lunr/lunr.min.js
    want python3-pygments /usr/bin/python3 -c 'import pygments'
    want abigail-tools has_command abidiff
    want openmpi-bin has_command mpirun
    want libmetis5 has_shared libmetis.so.5
    want curl has_command curl
    want openssl has_command openssl
    want libgrpc++-dev has_header grpcpp/generic/async_generic_service.h
  fi
  if ((nightly)); then
    want valgrind has_command valgrind
    want gcovr has_command gcovr
    want debootstrap test -x /usr/sbin/debootstrap
    want dpkg-dev has_command dpkg-shlibdeps
    want file has_command file
  fi
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

install_packages() {
  local list="${packages[*]}"
  has_command apt-get || die "these are missing, and there is no apt-get to install them (Debian's names): $list"
  if ((EUID != 0)) && ! { has_command sudo && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; }; then
    die "these packages are missing, and neither root nor sudo is here to install them; ask for:
  apt-get install $list"
  fi
  as_root apt-get -qq update
  if ((tests)); then find_missing_packages; fi # the name of clang's run-time package is known only now
  local names=() name
  for name in "${packages[@]}"; do [[ -z $name ]] || names+=("$name"); done
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
    -o Dpkg::Use-Pty=0 install "${names[@]}" >"$log" || {
    tail -n 20 "$log" >&2
    die "apt-get could not install the packages"
  }
  find_missing_packages
  ((${#packages[@]} == 0)) || die "still missing after the installation: ${packages[*]} \
(too old in this distribution? Debian 12 and Ubuntu 24.04 have what is needed)"
}

# ---- wheels -----------------------------------------------------------------------------------------------------------

has_driver() { [[ -e /proc/driver/nvidia/version ]] || ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; }

# A set of wheels is installed if its stamp holds the sum of its list and the venv's Python still runs.
wheel_lists=()
stamp() { printf '%s/.have-%s' "$venv" "$1"; }
list_file() { printf '%s/requirements-%s.txt' "$here" "$1"; }
sum_of() { sha256sum <"$(list_file "$1")" | cut -d' ' -f1; }
has_wheels() {
  [[ $(cat "$(stamp "$1")" 2>/dev/null) == "$(sum_of "$1")" ]] && "$venv/bin/python" -c '' 2>/dev/null
}

torch_version() {
  sed -nE 's/^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' "$1/include/torch/headeronly/version.h" \
    2>/dev/null | paste -sd.
}

find_missing_wheels() {
  wheel_lists=()
  if [[ -n ${GNNMG_TORCH_DIR:-} ]]; then
    local version
    version=$(torch_version "$GNNMG_TORCH_DIR")
    [[ $version == 2.11.* ]] || die "GNNMG_TORCH_DIR=$GNNMG_TORCH_DIR holds ${version:-no LibTorch}${version:+ of LibTorch}, \
wanted is 2.11: the folder with include/torch and lib/libtorch_cpu.so"
    [[ -e $GNNMG_TORCH_DIR/lib/libtorch_cpu.so ]] || die "GNNMG_TORCH_DIR=$GNNMG_TORCH_DIR has no lib/libtorch_cpu.so"
    say "LibTorch $version from GNNMG_TORCH_DIR=$GNNMG_TORCH_DIR"
  elif ((full)) || has_driver; then
    has_wheels full || wheel_lists+=(full)
  else
    has_wheels full || has_wheels torch || wheel_lists+=(torch)
  fi
  if ((tests)); then
    has_wheels style || wheel_lists+=(style)
    has_wheels deploy || wheel_lists+=(deploy)
  fi
  if ((nvcc)) && ! nvcc --version 2>/dev/null | grep -q 'release 13\.'; then has_wheels nvcc || wheel_lists+=(nvcc); fi
}

describe_wheels() {
  case $1 in
    torch) echo "LibTorch 2.11.0, its C++ part: 0.55 GB to download, 1.3 GB on disk" ;;
    full) echo "torch 2.11.0 with all its libraries, PyTorch Geometric 2.8.1: 2.6 GB to download, 4.7 GB on disk" ;;
    style) echo "clang-format 18.1.8, clang-tidy 22.1.8: 46 MB to download, 150 MB on disk" ;;
    deploy) echo "kubernetes-validate 1.37.0: 24 MB to download, 108 MB on disk" ;;
    nvcc) echo "nvcc 13.0" ;;
  esac
}

install_wheels() {
  local version list free_mb
  version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  case $version in
    3.11 | 3.12 | 3.13) ;;
    *) die "the pinned wheels are for Python 3.11 to 3.13, this is $version: put another python3 first on PATH, or point \
GNNMG_TORCH_DIR at a LibTorch 2.11" ;;
  esac
  mkdir -p "$deps"
  free_mb=$(df -Pm "$deps" | awk 'NR == 2 { print $4 }')
  for list in "${wheel_lists[@]}"; do
    if [[ $list == full ]] && ((free_mb < 8000)) || ((free_mb < 2500)); then
      die "only $free_mb MB are free for $deps, which is too little for $(describe_wheels "$list")"
    fi
  done
  if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    python3 -m venv --clear "$venv"
  fi
  for list in "${wheel_lists[@]}"; do
    rm -f "$(stamp "$list")"
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --require-hashes --no-deps \
      --only-binary :all: --no-compile $([[ -t 1 ]] || echo --quiet) -r "$(list_file "$list")" ||
      die "pip could not install $(describe_wheels "$list"); its own words are above"
    sum_of "$list" >"$(stamp "$list")"
  done
}

# ---- Julia ------------------------------------------------------------------------------------------------------------

julia=$deps/julia/bin/julia
is_julia() { "$1" --startup-file=no -e 'exit(VERSION < v"1.5")' >/dev/null 2>&1; }
has_julia() { is_julia julia || is_julia "$julia"; }
wants_julia() { ((tests)) && ! has_julia && bash "$here/unpack-julia.sh" --check 2>/dev/null; }

# ---- Rust -------------------------------------------------------------------------------------------------------------

# The oldest version that the crates support, installed beside the present one; only rustup can do that.
oldest_rust=$(sed -n 's/^rust-version = "\([0-9.]*\)"/\1/p' "$top/bindings/rust/Cargo.toml").0
if has_command cargo && ! cargo --version >/dev/null 2>&1; then # rustup looks in the home folder, which may differ from Rust's
  installed=$(command -v cargo)
  installed=${installed%/.cargo/bin/cargo}/.rustup
  if [[ -d $installed ]]; then export RUSTUP_HOME=$installed; fi
fi
has_rust() { rustup run "$oldest_rust" rustc --version >/dev/null 2>&1; }
wants_rust() { ((tests)) && has_command rustup && ! has_rust; }

# ---- the list of work, then the work --------------------------------------------------------------------------------------

find_missing_packages
if ((${#packages[@]})); then
  missing=1
  say "system packages, by apt-get:$(printf ' %s' ${packages[*]})"
fi
if ((missing)) && ! has_command sha256sum; then die "coreutils is missing"; fi
find_missing_wheels
for list in "${wheel_lists[@]}"; do
  missing=1
  say "wheels into .deps/venv: $(describe_wheels "$list")"
done

if wants_julia; then
  missing=1
  say "Julia 1.5.3 into .deps/julia: 80 MB to download, 350 MB on disk"
elif ((tests)) && ! has_julia; then
  say "no Julia, nor an archive of Debian to unpack one from: bindings/julia is tested where 1.5 or newer is on PATH"
fi

if wants_rust; then
  missing=1
  say "Rust $oldest_rust, by rustup: 150 MB to download"
fi

if ((!missing)); then
  say "everything is there"
  exit 0
fi
((!check)) || exit 1

mkdir -p "$deps"
log=$deps/setup.log
exec 9>"$deps/.lock"
flock 9 # the second of two concurrent runs finds the work of the first done
find_missing_packages
((${#packages[@]} == 0)) || install_packages
find_missing_wheels >/dev/null
((${#wheel_lists[@]} == 0)) || install_wheels
if wants_julia; then bash "$here/unpack-julia.sh" "$deps/julia" || die "Julia could not be unpacked"; fi
if wants_rust && ! rustup toolchain install "$oldest_rust" --profile minimal --no-self-update >>"$log" 2>&1; then
  say "rustup could not fetch Rust $oldest_rust: bindings/rust is not checked with it"
fi
say "everything is there now"
