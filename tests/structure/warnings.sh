#!/usr/bin/env bash
# Checks that every example program prints the library's warnings: it gets its context from the helper of its language that does
# so, or reads the messages itself.
#   warnings.sh <folder of the examples>
set -euo pipefail
cd "$1"
bad=0
# <expression for making a context> <expression for printing its warnings> <file>...
check() {
  local made=$1 printed=$2 file count=0
  for file in "${@:3}"; do
    grep -qE "$made" "$file" || continue
    count=$((count + 1))
    grep -qE "$printed" "$file" && continue
    echo "$file makes a context and prints no warnings, expected: $printed"
    bad=1
  done
  ((count > 0)) || { echo "$made is in none of ${*:3}" && bad=1; }
}
check 'gnnmg_context_create\(' 'gnnmg_log_(next|print)\(' c/*.c
check 'Context::(new|with_config)\(' 'Warnings::of\(|\.messages\(\)' rust/*.rs
check 'gnnmg\.NewRuntime\(' '\.Messages\(\)' go/*/*.go
check 'OpenRuntime\(' 'CloseRuntime\(' go/*/*.go
check '(^|[^_A-Za-z])Context\(' 'messages\(' julia/*.jl
((bad == 0)) && echo "every example prints warnings"
exit $bad
