#!/usr/bin/env bash
# Plants one mistake after another and checks that readme.sh finds each, and nothing in a correct page.
#   readme_test.sh <scratch folder>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
failures=0

# expect <ok|text of the complaint> <program on the page> [<language of its fence>]
expect() {
  local want=$1 shown=$2 language=${3:-c} output status=0
  rm -rf "$scratch"
  mkdir -p "$scratch"
  printf '%s\n' '# A page' '```sh' 'make' '```' "\`\`\`$language" "$shown" '```' '```c' 'other();' '```' >"$scratch/page.md"
  printf '%s\n' '/* what it is */' '#include <a.h>' '' 'int main(void) { return 0; }' >"$scratch/first.c"
  output=$(bash "$here/readme.sh" "$scratch/page.md" "c=$scratch/first.c" 2>&1) || status=$?
  if [[ $want == ok && $status == 0 ]] || [[ $want != ok && $status != 0 && $output == *"$want"* ]]; then return; fi
  echo "'$shown': wanted '$want', got status $status: $output"
  failures=$((failures + 1))
}

expect ok $'#include <a.h>\n\nint main(void) { return 0; }'
expect '> int main(void) { return 0; }' $'#include <a.h>\n\nint main(void) { return 1; }'
expect '> int main(void) { return 0; }' '#include <a.h>'
expect '< more();' $'#include <a.h>\n\nint main(void) { return 0; }\nmore();'
expect 'another program' $'#include <a.h>\n\nint main(void) { return 0; }' rust
expect 'shows no program in c' ''

rm -rf "$scratch"
((failures == 0)) && echo "every planted mistake was found"
