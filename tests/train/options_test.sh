#!/usr/bin/env bash
# Wrong command lines of `train`: each is refused before anything is read, in one line that names the option. And one that
# looks wrong and is not.
#   options_test.sh <the example program train>
set -euo pipefail
train=$1
failures=0

# expect <part of the line> <argument>...
expect() {
  local part=$1 status=0 output
  shift
  output=$("$train" "$@" 2>&1) || status=$?
  [[ $status == 2 && $output == *"$part"* && $(wc -l <<<"$output") == 1 ]] && return
  echo "train $*: wanted status 2 and one line with '$part', got $status: $output"
  failures=$((failures + 1))
}

expect 'which data set?'
expect 'one data set, please' one two
expect '--ranks 4294967297: expected' --ranks 4294967297 planted
expect '--cache-mib 17592186044416: expected' --cache-mib 17592186044416 planted
expect '--layers 2x: expected' --layers 2x planted
expect '--heads 0: expected an integer of at least 1' --heads 0 --model gat planted
expect '--epochs -1: expected' --epochs -1 planted
expect '--dropout nan: expected' --dropout nan planted
expect '--weight-decay-layers -1: expected' --weight-decay-layers -1 planted
expect '--split NAME:INDEX with the index 4294967296' --split public:4294967296 planted
expect '--split NAME:INDEX with the index x' --split public:x planted
expect '--random-split nan,0.2: expected' --random-split nan,0.2 planted
expect '--random-split 0.6,nan: expected' --random-split 0.6,nan planted
expect '--random-split 0.9,0.2: expected' --random-split 0.9,0.2 planted
expect '--fanouts 10,: expected' --fanouts 10, planted
expect '--model mlp: expected one of' --model mlp planted
expect '--project is not an option of the model gat' --model gat --project planted
expect '--project is not an option of the model gat' --project --model gat planted
expect '--heads is not an option of the model sage' --heads 2 planted
expect '--output-heads is not an option of the model gcn' --output-heads 1 --model gcn planted
expect '--relations is not an option of the model sage' --relations 3 planted
expect '--input rows: expected one of' --input rows planted
expect '--edge-dropout 2: expected' --edge-dropout 2 planted
expect '--bases is not an option of the model gine' --model gine --bases 2 planted
expect '--aggregation is not an option of the model gcn' --model gcn --aggregation max planted
expect '--aggregation is not an option of the model pna' --model pna --aggregation mean planted
expect '--train-eps is not an option of the model sage' --train-eps planted
expect '--edge-categories 5,0: expected up to 16 integers of at least 1' --model gine --edge-categories 5,0 planted
expect '--node-categories 4294967297: expected' --node-categories 4294967297 planted
expect '--schedule-epochs needs --schedule step' --schedule-epochs 10 planted
expect '--sort-rows needs --readout sort' --readout mean --sort-rows 4 planted
expect '--resume needs --checkpoints' --resume planted
expect '--gpu-memory 80X: expected a size such as' --plan --gpu-memory 80X planted
expect '--processes needs --port' --processes 2 planted
expect '--save /nowhere/at/all.pth: No such file' --save /nowhere/at/all.pth planted

# With every node in the training part there is nothing to test, and the weights are still kept.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
output=$("$train" planted:200 --random-split 1,0 --epochs 1 --fanouts 3,3 --save "$folder/all.pth" 2>&1) || status=$?
[[ $status == 0 && -s $folder/all.pth && $output != *ERR_* ]] ||
  { echo "train --random-split 1,0 --save ended with $status: $output" && failures=$((failures + 1)); }

((failures == 0)) && echo "every one was refused, and weights are kept"
