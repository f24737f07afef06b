#!/usr/bin/env bash
# Runs all checks of the Go package: formatting, vet, tests under the race detector (which check the generated files, and
# that every function of the header is called), and the output of the examples, which must equal that of the C examples in
# their last ctest run. Go 1.24 or newer is required: otherwise the exit code is 77, under continuous integration 1.
#   bindings/go/test.sh <build folder of the library> [twins]
# `twins` compares all examples, also on fake GPUs, and interrupts one; without it a few are compared, and the rest is checked.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
examples=$here/../../examples
GNNMG_DIR=$(cd "$1" && pwd)
export GNNMG_DIR GOTOOLCHAIN=local GOPROXY=off GOFLAGS=

PATH=$PATH:/usr/local/go/bin # folder of Go's own installer
version=$(go version 2>/dev/null || true)
if ! [[ $version =~ go1\.([0-9]+) ]] || ((BASH_REMATCH[1] < 24)); then
  echo "needs Go 1.24 or newer, found: ${version:-none}"
  [[ ${CI:-} == true ]] && exit 1
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[[ -n ${GOCACHE:-}${XDG_CACHE_HOME:-}${HOME:-} ]] || export GOCACHE=$scratch/cache

part() { # <title> <command...>: says how long it took
  local begin=$SECONDS
  "${@:2}" || { echo "$1: failed" && exit 1; }
  echo "$1: $((SECONDS - begin)) s"
}

form() {
  local files
  files=$(gofmt -l "$here" "$examples/go") || return 1
  [[ -z $files ]] || { printf 'gofmt wants other lines in\n%s\n' "$files" && return 1; }
}

# One set of compiled packages, those with the race detector, serves vet, the tests and the examples.
package() { cd "$here" && go test -race -vet=all -count=1 ./...; }
build() { cd "$examples/go" && go vet -race ./... && go build -race -ldflags='-s -w' -o "$scratch/" ./...; }
twins() { bash "$examples/twins.sh" "$GNNMG_DIR/examples/c/printed" "$scratch/%"; }
interrupt() { bash "$examples/interrupt.sh" "$scratch/train"; }
terminal() { python3 -B "$examples/c/terminal_test.py" "$scratch/train"; }

# One sentence, and no list of names that are missing.
without_cgo() {
  local said
  ! said=$(cd "$examples/go" && CGO_ENABLED=0 go build -o "$scratch/none" ./first 2>&1) &&
    [[ $said == *"undefined: gnnmg_calls_C_by_cgo__install_a_C_compiler"* && $(wc -l <<<"$said") == 2 ]] ||
    { echo "without cgo it says: $said" && return 1; }
}

# On a machine with two fake GPUs, which a library that was built without tests does not have.
gpus() {
  local machine=(bash "$here/../../tests/fake_machine/of_build.sh" "$GNNMG_DIR") status=0
  "${machine[@]}" true >/dev/null || status=$?
  if ((status == 77)); then echo "left out: the build has no fake GPUs" && [[ ${CI:-} != true ]]; return; fi
  (cd "$here" && go test -race -count=1 -run GPU -exec "${machine[*]}" .) | tee "$scratch/said" &&
    ! grep 'no tests to run' "$scratch/said"
}
twins_on_gpus() { bash "$examples/twins_on_gpus.sh" "$GNNMG_DIR" "$scratch/%"; }

# The program of the README, set up as it says.
readme() {
  local data=${GNNMG_DATA:-$here/../../../shared/data}/cora/planetoid output
  bash "$here/../../tests/structure/readme.sh" "$here/README.md" "go=$examples/go/first/main.go" || return 1
  mkdir "$scratch/stranger" && cd "$scratch/stranger" &&
    awk '/^```go$/ { inside = 1; next } /^```$/ { exit } inside' "$here/README.md" >main.go &&
    go mod init example && go mod edit -require gnnmg@v0.0.0 -replace "gnnmg=$here" &&
    go vet -race . && go build -race -o program . || return 1
  if ! [[ -d $data ]]; then
    [[ ${CI:-} != true ]] || { echo "there is no $data" && return 1; }
    echo "built, but not run: there is no $data" && return 0
  fi
  output=$(./program "$data") && [[ $output =~ ^test\ accuracy\ 0\.[78][0-9]+\ on\ 1000\ nodes$ ]] || { echo "it prints: $output" && return 1; }
}

if [[ ${2:-} == twins ]]; then
  part "examples" build
  part "twins" twins
  part "GPUs" twins_on_gpus
  part "interrupt" interrupt
  exit
fi
part "form" form
part "package" package
part "readme" readme
part "without cgo" without_cgo
part "examples" build
GNNMG_TWINS="first node_classification own_loop custom_sampler" part "some twins" twins
part "terminal" terminal
part "GPUs" gpus
