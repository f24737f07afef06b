#!/usr/bin/env bash
# Checks that no file below a folder names the builder's folders, their real paths included, or LibTorch's in a checkout.
#   unnamed.sh <folder> <builder's folder>...
set -euo pipefail
patterns=(-e /.deps/)
for folder in "${@:2}"; do patterns+=(-e "$folder" -e "$(realpath "$folder")"); done
status=0
grep -rlaF "${patterns[@]}" "$1" || status=$?
((status != 0)) || { echo "the files above name a folder of the builder" && exit 1; }
((status == 1)) || { echo "not every file of $1 can be read" && exit 1; }
