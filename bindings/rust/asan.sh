#!/usr/bin/env bash
# Runs the Rust tests and doctests with a library under AddressSanitizer, which finds double frees, reads out of bounds and
# leaks, both of the library and of memory that Rust has lent to it. The sanitizer's run time must be loaded first in a
# process, so it is preloaded into the test programs only. Without Rust the exit code is 77, under continuous integration 1.
#   bindings/rust/asan.sh <build folder of a library with GNNMG_SANITIZE=address>
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
GNNMG_DIR=$(cd "$1" && pwd)
cd "$here"

PATH=$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin # folder of Rust's own installer
host=$(rustc -vV 2>/dev/null | sed -n 's/^host: //p')
if [[ -z $host ]]; then
  echo "needs Rust, which is not here"
  [[ ${CI:-} == true ]] && exit 1
  exit 77
fi
runtimes=()
for needed in $(objdump -p "$GNNMG_DIR/libgnnmg.so" | awk '$1 == "NEEDED" && $2 ~ /^lib(asan|ubsan)\./ { print $2 }'); do
  runtimes+=("$("${CC:-cc}" -print-file-name="$needed")")
done
[[ ${runtimes[*]} == *libasan* ]] || { echo "$GNNMG_DIR/libgnnmg.so has no AddressSanitizer in it" && exit 1; }

export GNNMG_DIR CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$GNNMG_DIR/bindings/rust} OMP_NUM_THREADS=1
export CARGO_INCREMENTAL=0 CARGO_PROFILE_TEST_DEBUG=1 CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS=fallback
# An oversized allocation is an error, as in the tests of the library, and not the end of the program.
export ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1:detect_leaks=1:abort_on_error=0
export UBSAN_OPTIONS=print_stacktrace=1
preload=$(IFS=:; echo "${runtimes[*]}")
runner=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$host")_RUNNER
export "$runner=env LD_LIBRARY_PATH=$GNNMG_DIR LD_PRELOAD=$preload"

cargo test --quiet --target "$host" -p gnnmg --test api
cargo test --quiet --target "$host" -p gnnmg --doc
