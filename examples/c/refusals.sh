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
# An option that is 0 or 1, with its value next to it, after = and without one. Names open, but have no labels.
mkdir names
printf 'a b\nb c\nc a\n' >names/list
for value in " 1" =1 ""; do
  # shellcheck disable=SC2086 # two words
  expect 2 "there is none with labels" "$train" --relabel$value names/list
  # shellcheck disable=SC2086
  expect 0 "test    accuracy" "$train" planted:500 --epochs 1 --normalize$value
done
expect 1 "relabel=1 numbers names" "$train" --relabel 0 names/list
expect 2 "train: --relabel 2: expected 0 or 1" "$train" --relabel=2 names/list
expect 2 "train: one data set, please, not names/list and 2 " "$train" --relabel names/list 2
# Another training in the same folder.
expect 0 "test    accuracy" "$train" planted:500 --epochs 1 --checkpoints kept
expect 1 "holds checkpoints of another training.*load it first \(--resume\)" "$train" planted:500 --epochs 1 --checkpoints kept
expect 0 "resumed 1 epochs" "$train" planted:500 --epochs 2 --checkpoints kept --resume
expect 0 "split   .*, drawn at random" "$train" planted:500 --epochs 1 --random-split 0.5,0.2 --save model.safetensors
expect 0 "test    accuracy" "$train" planted:500 --epochs 1 --save model.safetensors
exit $bad
