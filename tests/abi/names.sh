#!/usr/bin/env bash
# Prints the names of the functions that a header declares with GNNMG_API, one per line, sorted.
#   names.sh <gnnmg.h> [<C compiler>]
set -euo pipefail
"${2:-cc}" -E -P -std=c99 '-DGNNMG_API=@API@' -DGNNMG_MUST_USE= "$1" | tr '\n' ' ' | tr ';' '\n' |
  sed -nE 's/.*@API@[^(]*[ *](gnnmg_[a-z0-9_]+) *\(.*/\1/p' | LC_ALL=C sort
