#!/usr/bin/env bash
# Plants one mistake after another and checks that warnings.sh finds each, and nothing in correct examples.
#   warnings_test.sh <scratch folder>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
failures=0

plant() {
  mkdir -p "$scratch/${1%/*}"
  printf '%s\n' "$2" >"$scratch/$1"
}
# expect <ok|file of the complaint> [<file> <text>]
expect() {
  local want=$1 output status=0
  rm -rf "$scratch"
  plant c/a.c 'GNNMG_CHECK(gnnmg_context_create(1, 0, &c)); gnnmg_log_print(c);'
  plant c/b.c 'CHECK(gnnmg_context_create(1, 0, &c)); while (gnnmg_log_next(c)) {}'
  plant rust/a.rs 'let c = Context::new()?; let w = common::Warnings::of(&c);'
  plant go/a/main.go 'rt := OpenRuntime(); defer CloseRuntime(rt)'
  plant go/common/common.go 'rt := gnnmg.NewRuntime(); for m := range rt.Messages() {}'
  plant julia/a.jl 'context = open_context()'
  plant julia/common.jl 'context = Context(); messages(context)'
  [[ $# == 1 ]] || plant "$2" "$3"
  output=$(bash "$here/warnings.sh" "$scratch" 2>&1) || status=$?
  if [[ $want == ok && $status == 0 ]] || [[ $want != ok && $status != 0 && $output == "$want "* ]]; then return; fi
  echo "'${3:-}': wanted '$want', got status $status: $output"
  failures=$((failures + 1))
}

expect ok
expect c/a.c c/a.c 'CHECK(gnnmg_context_create(1, 0, &c));'
expect rust/a.rs rust/a.rs 'let c = Context::with_config(&config)?;'
expect go/a/main.go go/a/main.go 'rt := Get(gnnmg.NewRuntime())'
expect go/a/main.go go/a/main.go 'rt := OpenRuntime(); defer rt.Close()'
expect julia/a.jl julia/a.jl 'context = Context(; num_threads = 1)'
expect 'Context::(new|with_config)\(' rust/a.rs 'let c = Context::opened()?;'

rm -rf "$scratch"
((failures == 0)) && echo "every planted mistake was found"
