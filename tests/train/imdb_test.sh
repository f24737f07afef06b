#!/usr/bin/env bash
# The example of graph classification on the real IMDB-BINARY, over two ranks: its lines of each epoch, printed once, and the
# last ones; and a short run of its ten folds. Figures are those of a few epochs: docs/accuracy.md has the whole recipe.
#   imdb_test.sh <the example's program>
set -euo pipefail
program=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
data=${GNNMG_DATA:-$root/../shared/data}/imdb-binary
if [[ ! -d $data ]]; then
  echo "needs the data set IMDB-BINARY at $data (set GNNMG_DATA to the folder of data sets)"
  [[ ${CI:-} == true ]] && exit 1
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "imdb_test.sh: $*; it printed:"
  cat printed
  exit 1
}
# Prints the numbers that a regular expression finds in the output, one a line.
numbers() { sed -nE "s/$1/\1/p" printed; }
# Succeeds if all numbers on standard input lie between two others, and their count is right.
within() {
  awk -v least="$1" -v most="$2" -v count="$3" '
    !($1 >= least && $1 <= most) { bad = 1 } END { exit bad || NR != count }'
}

epochs=12
"$program" "$data" --epochs $epochs >printed
[[ $(head -n 1 printed) == "1000 graphs of 19.8 nodes in the mean, "*" features, 2 classes" ]] || fail "the data set is another"
line='^epoch +([0-9]+)  loss [0-9.]+  validation accuracy [0-9.]+( \*)?$'
[[ $(numbers "$line" | paste -sd ' ') == $(seq -s ' ' $epochs) ]] || fail "expected each of $epochs epochs once, in order"
numbers '^epoch.*loss ([0-9.]+) .*' | within 0.01 20 $epochs || fail "a loss is out of range"
numbers '^epoch.*loss ([0-9.]+) .*' | awk 'NR == 1 { first = $1 } END { exit !($1 < first) }' || fail "the loss does not fall"
numbers '^epoch.*validation accuracy ([0-9.]+).*' | within 0.3 0.95 $epochs || fail "a validation accuracy is out of range"
grep -q ' \*$' printed || fail "no epoch is marked as the best"
[[ $(tail -n 1 printed) =~ ^"test accuracy "(0\.[0-9]+)" ("([0-9]+)" of 100 graphs)"$ ]] || fail "the last line tells no test accuracy"
awk -v share="${BASH_REMATCH[1]}" -v right="${BASH_REMATCH[2]}" 'BEGIN { exit !(share * 100 - right < 0.01 && right - share * 100 < 0.01) }' ||
  fail "the test accuracy is not that of its graphs"
((BASH_REMATCH[2] >= 60 && BASH_REMATCH[2] <= 90)) || fail "the test accuracy is out of range"
(($(wc -l <printed) == epochs + 2)) || fail "there are other lines"

"$program" "$data" --folds --epochs 2 >printed
line='^fold +([0-9]+)  accuracy after the last epoch [0-9.]+$'
[[ $(numbers "$line" | paste -sd ' ') == $(seq -s ' ' 10) ]] || fail "expected each of 10 folds once, in order"
numbers '^accuracy ([0-9.]+) \+- .*' | within 0.55 0.85 1 || fail "the mean over folds is out of range"
numbers '^accuracy [0-9.]+ \+- ([0-9.]+) over folds at epoch [12], .*' | within 0.005 0.15 1 || fail "the deviation is out of range"
(($(wc -l <printed) == 12)) || fail "there are other lines"
