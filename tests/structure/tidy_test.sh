#!/usr/bin/env bash
# Plants faults in sources and checks that tidy.py finds each with its file and line, and nothing in a correct tree.
#   tidy_test.sh <clang-tidy> <top of the source tree> <scratch folder>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tool=$(realpath -m "$1")
scratch=$(realpath -m "$3")
failures=0

rm -rf "$scratch"
mkdir -p "$scratch/build" "$scratch/src/room"
cp "$2/.clang-tidy" "$scratch"
cd "$scratch"

# compile <folder of the object> <option>...: the build compiles src/room/one.cpp and two.cpp with them.
compile() {
  local file entries=()
  for file in one two; do
    entries+=("{\"directory\": \"$scratch/build\", \"file\": \"$scratch/src/room/$file.cpp\", \"command\":
      \"c++ ${*:2} -Werror -std=gnu++20 -include missing.h -o src/$1/$file.o -c $scratch/src/room/$file.cpp\"}")
  done
  (IFS=, && printf '[%s]' "${entries[*]}" >build/compile_commands.json)
}

# expect <status> <text of the output> <option of tidy.py> <line of one.cpp>...
expect() {
  local want=$1 text=$2 option=$3 output status=0
  printf '%s\n' "${@:4}" >src/room/one.cpp
  output=$(python3 -B "$here/tidy.py" "$tool" . build $option 2>&1) || status=$?
  if ((status == want)) && [[ $output == *"$text"* ]]; then return; fi
  echo "'${*:4}': wanted status $want and '$text', got status $status: $output"
  failures=$((failures + 1))
}

echo 'int two() { return 2; }' >src/room/two.cpp
compile room "-I$scratch/src"
touch src/room/one.cpp
output=$(python3 -B "$here/tidy.py" "$tool" . build) || (($? != 77)) || { echo "$output" && exit 77; }
expect 0 '1 units, 0 findings' '' 'int one() { return 1; }'
expect 1 'src/room/one.cpp:2:5: error: invalid case style for function' '' '' 'int One() { return 1; }'
expect 1 '[readability-identifier-naming]' '' 'struct one {};'
expect 1 '[bugprone-assignment-in-if-condition]' '' 'int one(int a, int b) {' 'if ((a = b)) return a;' 'return b; }'
expect 1 '[performance-unnecessary-value-param]' '' '#include <string>' 'bool one(std::string a) { return a.empty(); }'
expect 1 '[readability-function-size]' '' 'int one(int a) {' "$(printf 'a += 1;\n%.0s' {1..101})" 'return a; }'
expect 1 '[bugprone-empty-catch]' '' 'int two();' 'void one() { try { two(); } catch (...) {} }'
expect 0 '0 findings' '' 'int two();' 'void one() { try { two(); } catch (...) {  // a reason' '} }'
expect 1 '[clang-diagnostic-error]' '' 'int one() { return none; }'
echo 'int Own();' >src/room/own.h
expect 1 'src/room/own.h:1:5: error: invalid case style' '' '#include "room/own.h"'

# Rooms that use LibTorch and copies of the kernels are checked with --all; a build without any unit is an error.
for options in 'room -isystem /x/torch/include' 'nn -mavx2'; do
  compile $options
  expect 1 '0 units' '' 'int One();'
  expect 1 'invalid case style' --all 'int One();'
done

tool=none
CI=true expect 1 'needs clang-tidy' '' 'int one();'
CI=false expect 77 'needs clang-tidy' '' 'int one();'

cd /
rm -rf "$scratch"
((failures == 0)) && echo "every planted fault was found"
