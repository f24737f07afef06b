#!/usr/bin/env bash
# Runs all checks of the Rust crates: generated files, formatting, lints, tests (which must call every function of the
# header), documentation, packages, and the output of the examples, which must equal that of the C examples in their last
# ctest run. Rust must be as new as the manifest says: otherwise the exit code is 77, under continuous integration 1.
#   bindings/rust/test.sh <build folder of the library> [twins]
# `twins` compares all examples, also on fake GPUs, and runs checks that take minutes to compile: tensors of tch, the benchmark, the
# packages, the oldest Rust; without it a few examples are compared, and the rest is checked.
# Cargo builds in the folder CARGO_TARGET_DIR, else in bindings/rust of the build folder.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
examples=$here/../../examples
GNNMG_DIR=$(cd "$1" && pwd)
cd "$here"

PATH=$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin # folder of Rust's own installer
if ! cargo --version >/dev/null 2>&1; then # rustup looks for its toolchains in HOME, which may differ from Rust's
  installed=$(command -v cargo || true)
  installed=${installed%/.cargo/bin/cargo}/.rustup
  if [[ -d $installed ]]; then export RUSTUP_HOME=$installed; fi
fi
oldest=$(sed -n 's/^rust-version = "1\.\([0-9]*\)"/\1/p' Cargo.toml)
version=$(cargo --version 2>/dev/null || true)
if ! [[ $version =~ cargo\ 1\.([0-9]+) ]] || ((BASH_REMATCH[1] < oldest)); then
  echo "needs Rust 1.$oldest or newer, found: ${version:-none}"
  [[ ${CI:-} == true ]] && exit 1
  exit 77
fi

# One build serves all: linted, with the record of functions that tests reach, without debug information. There is no lock
# file, as is usual for a library; Cargo chooses versions that the oldest Rust can compile.
export GNNMG_DIR CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$GNNMG_DIR/bindings/rust}
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0
export CARGO_PROFILE_DEV_CODEGEN_UNITS=1 CARGO_PROFILE_TEST_CODEGEN_UNITS=1
export CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS=fallback CARGO_NET_RETRY=5
export RUSTFLAGS="${RUSTFLAGS:-} --cfg gnnmg_reach -D warnings" RUSTDOCFLAGS="-D warnings"
has_clippy() { clippy-driver --version >/dev/null 2>&1; }
if has_clippy; then export RUSTC_WORKSPACE_WRAPPER=clippy-driver; fi
lacks() { # <what is not done>: <what is not there>; under continuous integration that is an error
  echo "left out: $1"
  [[ ${CI:-} != true ]]
}

part() { # <title> <command...>: says how long it took
  local begin=$SECONDS
  "${@:2}" || { echo "$1: failed" && exit 1; }
  echo "$1: $((SECONDS - begin)) s"
}

fetch() { cargo fetch --quiet; }

form() {
  has_clippy || lacks "lints: there is no clippy" || return 1
  if ! cargo fmt --version >/dev/null 2>&1; then lacks "form: there is no rustfmt" && return 0 || return 1; fi
  cargo fmt --all --check && cmp gnnmg/docs/node_classification.rs "$examples/rust/node_classification.rs"
}

build() { cargo build --quiet -p gnnmg-generate -p gnnmg-examples --bins; }

generated() {
  "$CARGO_TARGET_DIR/debug/gnnmg-generate" --check 2>"$scratch/said" && return 0
  if grep -q 'Unable to find libclang' "$scratch/said"; then lacks "generated files: there is no libclang" && return 0; fi
  cat "$scratch/said" && return 1
}

# On small data OpenMP's teams do little but spin.
alone() { OMP_NUM_THREADS=1 "$@"; }

tests() {
  : >"$scratch/reached"
  GNNMG_REACH_FILE=$scratch/reached alone cargo test --quiet -p gnnmg --test api &&
    "$CARGO_TARGET_DIR/debug/gnnmg-generate" --reached "$scratch/reached"
}

documentation() {
  alone cargo test --quiet -p gnnmg --doc && cargo doc --quiet --no-deps -p gnnmg-sys -p gnnmg
}

# Tensors of the crate tch, which is compiled against the LibTorch that the library uses.
torch() (
  local torch
  torch=$(sed -n 's|^LibTorch_INCLUDE_DIR:[A-Z]*=\(.*\)/include$|\1|p' "$GNNMG_DIR/CMakeCache.txt" 2>/dev/null)
  if ! [[ -f $torch/include/ATen/DLConvertor.h ]]; then
    lacks "tensors of tch: $GNNMG_DIR does not say where LibTorch is" && return 0 || return 1
  fi
  export LIBTORCH=$torch LD_LIBRARY_PATH=$torch/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  alone cargo test --quiet -p gnnmg --features tch --test tch && alone cargo test --quiet -p gnnmg --features tch --doc tch
)

benchmark() { cargo build --quiet -p gnnmg --bench calls; }
packages() {
  # Cargo caches a version's unpacked and compiled files by its number, even if the files have changed.
  rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/{cache,src}/-*/gnnmg-* "$CARGO_TARGET_DIR"/debug/.fingerprint/gnnmg-sys-*
  cargo package --quiet --allow-dirty -p gnnmg-sys -p gnnmg
}

# The program of the README, in a crate of its own.
readme() (
  local data=${GNNMG_DATA:-$here/../../../shared/data}/cora/planetoid output
  bash "$here/../../tests/structure/readme.sh" "$here/gnnmg/README.md" "rust,no_run=$examples/rust/first.rs" || return 1
  ! grep -nE '\]\((\.|[a-z_-]+/)' "$here"/gnnmg{,-sys}/README.md || { echo "a registry's page cannot follow these links" && return 1; }
  mkdir -p "$scratch/stranger/src" && cp Cargo.lock "$scratch/stranger/" && cd "$scratch/stranger" &&
    awk '/^```rust/ { inside = 1; next } /^```$/ { exit } inside' "$here/gnnmg/README.md" >src/main.rs &&
    printf '[package]\nname = "stranger"\nedition = "2021"\n[dependencies]\ngnnmg = { path = "%s" }\n' "$here/gnnmg" >Cargo.toml &&
    unset RUSTC_WORKSPACE_WRAPPER && cargo build --quiet --offline || return 1
  if ! [[ -d $data ]]; then
    [[ ${CI:-} != true ]] || { echo "there is no $data" && return 1; }
    echo "built, but not run: there is no $data" && return 0
  fi
  output=$(cargo run --quiet --offline -- "$data" 2>/dev/null) && [[ $output =~ ^test\ accuracy\ 0\.[78][0-9]+\ on\ 1000\ nodes$ ]] ||
    { echo "it prints: $output" && return 1; }
)

# The oldest Rust that is promised, with the newest dependencies that it compiles.
oldest() (
  local name
  for name in "1.$oldest.0" "1.$oldest"; do
    rustup run "$name" rustc --version >/dev/null 2>&1 || continue
    unset RUSTC_WORKSPACE_WRAPPER RUSTFLAGS
    CARGO_TARGET_DIR=$CARGO_TARGET_DIR/oldest rustup run "$name" cargo check --quiet -p gnnmg --tests
    return
  done
  lacks "the oldest Rust: there is no toolchain 1.$oldest, which rustup toolchain install 1.$oldest.0 fetches"
)

by_hand() { LD_LIBRARY_PATH=$GNNMG_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"; } # cargo would name the folder
twins() { by_hand bash "$examples/twins.sh" "$GNNMG_DIR/examples/c/printed" "$CARGO_TARGET_DIR/debug/%"; }
interrupt() { by_hand bash "$examples/interrupt.sh" "$CARGO_TARGET_DIR/debug/train"; }
terminal() { by_hand python3 -B "$examples/c/terminal_test.py" "$CARGO_TARGET_DIR/debug/train"; }

# On a machine with two fake GPUs, which a library that was built without tests does not have.
gpus() {
  local machine="bash $here/../../tests/fake_machine/of_build.sh $GNNMG_DIR" status=0
  $machine true >/dev/null || status=$?
  if ((status == 77)); then lacks "GPUs: the build has no fake ones" && return 0 || return 1; fi
  # Cargo stays outside: the folder of the library is that of the machine inside. One test at a time: a fake GPU that one
  # thread captures is captured for all.
  alone env "CARGO_TARGET_$(rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)_RUNNER=$machine" \
    cargo test --quiet -p gnnmg --test api gpu_ -- --test-threads=1 | tee "$scratch/said" &&
    ! grep '^running 0 tests' "$scratch/said"
}
twins_on_gpus() { bash "$examples/twins_on_gpus.sh" "$GNNMG_DIR" "$CARGO_TARGET_DIR/debug/%"; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
part "crates" fetch
if [[ ${2:-} == twins ]]; then
  part "build" build
  part "tensors of tch" torch
  part "benchmark" benchmark
  part "packages" packages
  part "oldest Rust" oldest
  part "twins" twins
  part "GPUs" twins_on_gpus
  part "interrupt" interrupt
  exit
fi
part "form" form
part "build" build
part "generated files" generated
part "tests" tests
part "documentation" documentation
part "readme" readme
GNNMG_TWINS="first node_classification own_loop custom_sampler" part "some twins" twins
part "terminal" terminal
part "GPUs" gpus
