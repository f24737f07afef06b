#!/usr/bin/env bash
# Plants phrases in sources and pages and checks that english.sh finds each, but nothing in code, strings and plain English.
#   english_test.sh <scratch folder>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
files=() wanted=()

# expect <file name> <its phrases, as "<line>: <pattern>", with commas> <line of text>...
expect() {
  local file phrases phrase
  file=$(printf '%02d_%s' ${#files[@]} "$1")
  printf '%s\n' "${@:3}" >"$scratch/$file"
  files+=("$scratch/$file")
  IFS=, read -ra phrases <<<"$2"
  for phrase in "${phrases[@]}"; do wanted+=("$file:$phrase"); done
}

rm -rf "$scratch"
mkdir -p "$scratch"
expect a.h '1: behind' '// Buffers behind the pass.'
expect a.h '1: opening' '// Whether the queue is empty.' '// It may continue with any word.'
expect a.h '2: opening' 'int a;' '/* Of the newest launch. */'
expect a.h '1: trailing' 'int a;  // of the newest launch'
expect a.h '1: opening,1: what,3: British' '/* What the launch reads' ' *' ' * from the neighbours. */'
expect a.rs '1: who,1: idiom' '/// A caller who waits at the desk.'
expect a.go '1: trailing,3: opening' 'a := 1 // without a lock' '' '// From the newest launch.'
expect a.sh '2: trailing,3: opening' '# Runs the test.' 'run "$1" # in the folder' '# They run again.'
expect a.py '1: opening,3: British' '"""Whose rows.' '' 'The colour."""'
expect CMakeLists.txt '1: what' 'set(a b) # names what is built'
expect a.md '1: behind,3: what' 'The rows lie behind.' '' 'Look at what was sampled.'

# Code, strings and marks are no prose, and a sentence may begin with some prepositions.
expect a.h '' '// For each row, in order.' 'int behind = colour("// of what");  // rows' "char c = '\"';  // \"plain\""
expect a.h '' '// Calls `behind()` and behind(1).' '// A second line' '// of the same comment.' '/*! [neighbours] */'
expect a.h '' 'int a;  // rows of the table,' '        // of any type'
expect a.cpp '' 'auto s = R"(// whether)";' 'auto t = "\"// what";'
expect a.go '' 'a := `// of what`'
expect a.sh '' 'a=${b#what}' "echo \"# who\" '# what'"
expect a.jl '' 'help = """' '--draw  what is drawn' '"""'
expect a.md '' 'The variable `what` of a [page](what.md).' '```c' 'int what; // of colour' '```'
if ! diff <(printf '%s\n' "${wanted[@]}") <(bash "$here/english.sh" --sample "${files[@]}"); then
  echo "the phrases above are wanted (<) and not found, or found (>) and not wanted"
  exit 1
fi

# A phrase anywhere in a tree is an error.
mkdir -p "$scratch/tree/src"
: >"$scratch/tree/README.md"
printf '// Reads a file.\n// Reads what is there.\n' >"$scratch/tree/src/one.h"
if output=$(bash "$here/english.sh" "$scratch/tree"); then
  echo "a tree with a phrase was accepted"
  exit 1
fi
if [[ $output != *'src/one.h:2: what: Reads what is there.'*'2 files, 1 phrases'* ]]; then
  echo "wrong report of a tree with a phrase: $output"
  exit 1
fi

rm -rf "$scratch"
echo "every planted phrase was found"
