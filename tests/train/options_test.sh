#!/usr/bin/env bash
# Wrong command lines of `train`: each is refused in one line that names the option, a wrong value before anything is read, and
# a setting that does not belong to the model by the library. And one that looks wrong and is not.
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
expect '--heads 0: expected an integer, 1 to 64' --heads 0 --model gat planted
expect '--epochs -1: expected' --epochs -1 planted
expect '--dropout nan: expected' --dropout nan planted
expect '--weight-decay-layers -1: expected' --weight-decay-layers -1 planted
expect '--split NAME:INDEX with the index 4294967296' --split public:4294967296 planted
expect '--split NAME:INDEX with the index x' --split public:x planted
expect '--random-split nan,0.2: expected' --random-split nan,0.2 planted
expect '--random-split 0.6,nan: expected' --random-split 0.6,nan planted
expect '--random-split 0.9,0.2: expected' --random-split 0.9,0.2 planted
expect '--fanouts 10,: expected' --fanouts 10, planted
expect '--model mlp: expected one of sage, gcn, gat' --model mlp planted
expect "project is an option of PyG's GraphSAGE, and this is GAT" --model gat --project planted:200
expect "project is an option of PyG's GraphSAGE, and this is GAT" --project --model gat planted:200
expect 'heads is an option of GAT, GATv2 and the graph transformer, and this is GraphSAGE' --heads 2 planted:200
expect 'output_heads is an option of GAT' --output-heads 1 --model gcn planted:200
expect 'num_relations is an option of R-GCN, and this is GraphSAGE' --relations 3 planted:200
expect '--input rows: expected one of' --input rows planted
expect '--edge-dropout 2: expected' --edge-dropout 2 planted
expect 'num_bases is an option of R-GCN, and this is GIN' --model gin --bases 2 planted:200
expect 'aggregation is an option of' --model gcn --aggregation max planted:200
expect 'aggregation is an option of' --model pna --aggregation mean planted:200
expect 'train_eps is an option of GIN and GINE, and this is GraphSAGE' --train-eps planted:200
expect '--edge-categories 5,0: expected integers with commas between, 1 to 16777216' --model gine --edge-categories 5,0 planted
expect '--node-categories 4294967297: expected' --node-categories 4294967297 planted
expect '--bias 2: expected 0 or 1' --bias=2 planted
expect '--best-by auk: expected one of accuracy, loss' --best-by auk planted
expect '--schedule-epochs needs --schedule step' --schedule-epochs 10 planted
expect '--sort-rows needs --readout sort' --readout mean --sort-rows 4 planted
expect '--resume needs --checkpoints' --resume planted
expect '--gpu-memory 80X: expected a size such as' --plan --gpu-memory 80X planted
expect '--processes needs --port' --processes 2 planted
expect '--save /nowhere/at/all.pth: No such file' --save /nowhere/at/all.pth planted

# A misspelt option is completed, or named: the second line after that of the C library.
while read -r given meant; do
  output=$("$train" "$given" 0.5 planted 2>&1) && status=0 || status=$?
  [[ $status == 2 && $output == *"train: did you mean $meant?" ]] ||
    { echo "train $given ended with $status: $output" && failures=$((failures + 1)); }
done <<<"--dropuot --dropout
--hed --heads
--Heads --heads"
output=$("$train" --help=all) || failures=$((failures + 1))
for option in --hidden-dim --lr --learning-rate --fanouts --relabel --checkpoints; do
  grep -qwFe "$option" <<<"$output" || { echo "train --help=all has no $option" && failures=$((failures + 1)); }
done

# With every node in the training part there is nothing to test, and the weights are still kept.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
output=$("$train" planted:200 --random-split 1,0 --epochs 1 --fanouts 3,3 --save "$folder/all.pth" 2>&1) || status=$?
[[ $status == 0 && -s $folder/all.pth && $output != *ERR_* ]] ||
  { echo "train --random-split 1,0 --save ended with $status: $output" && failures=$((failures + 1)); }

((failures == 0)) && echo "every one was refused, and weights are kept"
