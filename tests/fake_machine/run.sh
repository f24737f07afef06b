#!/usr/bin/env bash
# Runs a program as on a machine with GPUs: next to a copy of the library are a driver and the plug-in, which the loader finds
# first. "none" in place of a file leaves it out.
#   run.sh <libgnnmg.so> <libcuda.so.1> <libgnnmg_cuda.so> <program> [<argument>...]
set -euo pipefail
library=$1 driver=$2 plugin=$3
machine=$(mktemp -d)
trap 'rm -rf "$machine"' EXIT
name=$(readelf -dW "$library" | sed -nE 's/.*\(SONAME\).*\[(.*)\]/\1/p')
cp "$library" "$machine/$name"
[[ $driver == none ]] || cp "$driver" "$machine/libcuda.so.1"
[[ $plugin == none ]] || cp "$plugin" "$machine/libgnnmg_cuda.so"
status=0
export GNNMG_DIR=$machine # used by programs that open the library at run time
LD_LIBRARY_PATH=$machine${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "${@:4}" || status=$?
exit $status
