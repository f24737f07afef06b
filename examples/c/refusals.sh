#!/usr/bin/env bash
# Tests two things about programs that end with an error: the library's warnings come before it, and a place that cannot take
# results is refused before the training begins.
#   examples/c/refusals.sh <first> <train>
set -euo pipefail
first=$1 train=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
bad=0
# <expected status> <expression> <program> [<argument>...]
expect() {
  local status=0 output
  output=$("${@:3}" 2>&1 </dev/null) || status=$?
  [[ $status == "$1" && $output =~ $2 ]] && return
  printf 'expected %s and "%s", found %s: %s\n' "$1" "$2" "$status" "$output"
  bad=1
}

printf '0 1\n5 6\n' >list.txt # no labels, so no training
expect 1 "warning: [^
]*nodes have no edge.*
first\.c:[0-9]+: ERR_" "$first" list.txt
ln -s nowhere link
mkfifo fifo
for option in save log tensorboard checkpoints; do
  expect 2 "train: --$option link: is a link to nothing" "$train" planted:500 --epochs 1 --$option link
  expect 2 "train: --$option fifo: is neither a file nor a folder" "$train" planted:500 --epochs 1 --$option fifo
done
expect 2 "train: --save none/x: " "$train" planted:500 --epochs 1 --save none/x
[[ ! -e nowhere ]] || { echo "a link to nothing was written through"; bad=1; }
expect 0 "split   .*, drawn at random" "$train" planted:500 --epochs 1 --random-split 0.5,0.2 --save model.safetensors
expect 0 "test    accuracy" "$train" planted:500 --epochs 1 --save model.safetensors
exit $bad
