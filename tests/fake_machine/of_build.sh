#!/usr/bin/env bash
# Runs a program on a machine with two fake GPUs, made from a build folder with tests: GNNMG_DIR is the machine's copy of the
# library, and GNNMG_TEST_GPUS the number of GPUs that tests require. 77: the folder has no such machine.
#   of_build.sh <build folder> <program> [<argument>...]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
machine=$1/tests/fake_machine
[[ -e $machine/libgnnmg_fake_cuda.so && -e $machine/libgnnmg_fake_driver.so ]] || { echo "$1 has no fake GPUs" && exit 77; }
GNNMG_FAKE_GPUS=2 GNNMG_TEST_GPUS=2 bash "$here/run.sh" "$1/libgnnmg.so" "$machine/libgnnmg_fake_driver.so" \
  "$machine/libgnnmg_fake_cuda.so" "${@:2}"
