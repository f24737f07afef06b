#!/usr/bin/env bash
# Checks the format of every C and C++ file with clang-format. Other versions of the tool give other results, so only the pinned
# one counts; without it the test is skipped, and fails under continuous integration.
#   format.sh <top of the source tree> <clang-format>
set -euo pipefail
cd "$1"
tool=$2
wanted=18.1.8
version=$("$tool" --version 2>/dev/null || true)
if [[ $version != *"version $wanted"* ]]; then
  echo "needs clang-format $wanted (src/cmake/setup.sh --full installs it), found: ${version:-none}"
  [[ ${CI:-} == true ]] && exit 1
  exit 77
fi
find . -path ./build -prune -o -path ./.deps -prune -o -type f \( -name '*.h' -o -name '*.c' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) \
  -print0 | sort -z | xargs -0 "$tool" --dry-run -Werror
echo "all files are in clang-format $wanted's form"
