#!/usr/bin/env bash
# Writes a C function for every function of CUDA's runtime, which records its name and fails: weak, so that a fake function of
# the same name replaces it.
#   unpretended.sh <libcudart.so> <file to write>
set -euo pipefail
library=$1 out=$2
names=$(nm -D --defined-only "$library" | awk '$(NF - 1) == "T" { sub("@.*", "", $NF); print $NF }' | grep '^cuda' | sort -u)
(($(wc -l <<<"$names") > 200)) || { echo "$library has too few functions to be CUDA's runtime" >&2 && exit 1; }
{
  echo 'int gnnmg_unpretended(const char* name);'
  sed 's/.*/__attribute__((weak, visibility("default"))) int &(void) { return gnnmg_unpretended("&"); }/' <<<"$names"
} >"$out"
