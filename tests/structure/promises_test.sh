#!/usr/bin/env bash
# Plants one mistake after another in a page of promises and checks that promises.sh finds each, and nothing in a correct page.
#   promises_test.sh <scratch folder>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(realpath -m "$1")
failures=0

rm -rf "$scratch"
mkdir -p "$scratch/docs" "$scratch/tests/room"
cd "$scratch"
printf '%s\n' 'TEST(Room, IsWell) {}' 'TEST_P(Each,' '       IsWell) {}' 'TYPED_TEST(Types, AreWell) {}' 'TEST(Other, IsWell) {}' \
  >tests/room/room_test.cpp
printf '%s\n' 'gnnmg_add_test(room_test SOURCES room_test.cpp)' 'gnnmg_add_test(lanes_test) # and not old_test' >CMakeLists.txt
echo '{"configurePresets": [{"name": "asan"}]}' >CMakePresets.json
# test <name> <labels> [<filter>]
test() {
  printf '{"name": "%s", "command": ["program"%s], "properties": [{"name": "LABELS", "value": [%s]}]}' \
    "$1" "${3:+, \"--gtest_filter=$3\"}" "$2"
}
echo "{\"tests\": [$(test room_test '"unit"'), $(test soak_test '"dist", "long"'), $(test gpu_test '"gpu"'),
  $(test few_test '"unit"' 'Room.*:*Each.*')]}" >release.json
echo "{\"tests\": [$(test room_test '"unit", "long"'), $(test race_test '"unit"')]}" >tsan.json

# expect <ok|text of the complaint> <row> [<place of the row>]
expect() {
  local want=$1 row=$2 output status=0
  printf '%s\n' '# A page' '' '| `no_test` | of another table | is not looked at |' '' \
    '| promise | test (ctest entry: case) | where |' '|---|---|---|' "| 1. It is well. | $row | ${3:-CI} |" >docs/promises.md
  output=$(bash "$here/promises.sh" "$scratch" release.json tsan.json 2>&1) || status=$?
  [[ $want == ok ]] || want="docs/promises.md:7: $want"
  if [[ $want == ok && $status == 0 ]] || [[ $want != ok && $status == 1 && $output == *"$want"* ]]; then return; fi
  echo "'$row': wanted '$want', got status $status: $output"
  failures=$((failures + 1))
}

expect ok '`room_test`: `Room.IsWell`, `Each.IsWell`, `Types.AreWell`'
expect ok '`room_test`, under `asan` too; `few_test`: `Each.IsWell`'
expect ok '`soak_test`: `Room.IsWell`' nightly
expect ok '`room_test`' nightly # ThreadSanitizer runs it there
expect ok '`race_test`, `lanes_test`'
expect ok '`gpu_test`' GPU
expect ok '`tests/room/room_test.cpp IsWell`'
expect ok 'no test' none
expect ok 'not built yet: the rooms' none
expect 'there is no case Room.IsBad' '`room_test`: `Room.IsBad`'
expect 'there is no case room.IsWell' '`room_test`: `room.IsWell`'
expect 'few_test leaves Types.AreWell out' '`few_test`: `Types.AreWell`'
expect 'Room.IsWell follows no ctest entry' '`Room.IsWell`'
expect 'there is no ctest entry rooms_test' '`rooms_test`: `Room.IsWell`'
expect 'there is no ctest entry old_test' '`old_test`'
expect 'there is no ctest entry room' '`room`'
expect 'soak_test runs in nightly, not in CI' '`soak_test`'
expect 'race_test runs in CI, not in nightly' '`race_test`' nightly
expect 'gpu_test runs in GPU, not in CI' '`gpu_test`'
expect 'room_test runs in CI and nightly, not in GPU' '`room_test`' GPU
expect 'the place "soon"' '`room_test`' soon
expect 'there is no tests/room/other_test.cpp' '`tests/room/other_test.cpp`'
expect 'tests/room/room_test.cpp does not know "mops"' '`tests/room/room_test.cpp mops`'
expect 'names no test' 'somebody looked'
expect 'a row without a test names none, and its place is "none"' 'no test'
expect 'a row without a test names none, and its place is "none"' 'no test but `room_test`' none
expect 'the row has 4 cells' '`room_test` | CI'

printf '# A page\n' >docs/promises.md
output=$(bash "$here/promises.sh" "$scratch" release.json) && failures=$((failures + 1))
[[ $output == *"no table has the columns"* ]] || failures=$((failures + 1))

rm -rf "$scratch"
((failures == 0)) && echo "every planted mistake was found"
