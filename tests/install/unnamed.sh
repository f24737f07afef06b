#!/usr/bin/env bash
# Checks that no file below a folder names the builder's folders, their real paths included, or LibTorch's in a checkout.
#   unnamed.sh <folder> <builder's folder>...
set -euo pipefail
patterns=(-e /.deps/)
for folder in "${@:2}"; do patterns+=(-e "$folder" -e "$(realpath "$folder")"); done
! grep -rlaF "${patterns[@]}" "$1" || { echo "the files above name a folder of the builder" && exit 1; }
