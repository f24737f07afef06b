#!/usr/bin/env bash
# Trains models on real data with published recipes and prints one row per recipe: mean and standard error over runs, those of
# PyTorch Geometric with the same recipe, and the same runs without edges. docs/accuracy.md has the rows. For held-out folds the
# first mean is that of the epoch with the best mean, which is optimistic, followed by the last ten validations. Fails if a mean
# is lower than PyG's by more than half a point and by more than three standard errors of the difference.
#   tests/accuracy.sh [--runs N] [NAME...]      NAME: a recipe below; default: all
# GNNMG_BUILD is the build folder (default: build/release), GNNMG_DATA the folder with the data sets.
set -euo pipefail
shopt -s inherit_errexit
root=$(cd "$(dirname "$0")/.." && pwd)
train=${GNNMG_BUILD:-$root/build/release}/examples/c/train
data=${GNNMG_DATA:-$root/../shared/data}
runs=
if [[ ${1:-} == --runs ]]; then runs=$2 && shift 2; fi
wanted=" $* "
known=" "
failed=0
if [[ ! -d $data ]]; then
  echo "accuracy.sh: needs the data sets, which are not in $data"
  [[ ${CI:-} == true ]] && exit 1 || exit 77
fi

# measure OPTION... : prints mean and standard error of the runs of one command; for folds also those of the last validations.
measure() {
  local out
  out=$("$train" --quiet "$@")
  sed -nE 's/^(result|last) .* ([0-9.]+) \+- ([0-9.]+) .*/\2 \3/p' <<<"$out" | paste -sd ' '
}

# show "MEAN ERROR [MEAN ERROR]"
show() {
  awk '{ print $1 " ± " $2 (NF > 2 ? ", last " $3 (NF > 3 ? " ± " $4 : "") : "") }' <<<"$1"
}

# lower "MEAN ERROR [MEAN ERROR]" "MEAN ERROR [LAST]": succeeds if a mean of the first is lower than the second allows.
lower() {
  awk -v found="$1" -v expected="$2" 'BEGIN {
    split(found, f)
    count = split(expected, e)
    allowed = 3 * sqrt(f[2] ^ 2 + e[2] ^ 2)
    if (allowed < 0.005) allowed = 0.005
    exit !(f[1] < e[1] - allowed || (count > 2 && f[3] < e[3] - allowed)) }'
}

# recipe NAME RUNS PYG OPTION... : PYG is PyG's mean and standard error, for folds also the mean of its last ten validations;
# "": unknown.
recipe() {
  local name=$1 count=${runs:-$2} expected=$3 start=$SECONDS with without
  shift 3
  known+="$name "
  [[ $wanted == "  " || $wanted == *" $name "* ]] || return 0
  with=$(measure --runs "$count" "$@")
  without=$(measure --runs "$count" --no-edges "$@")
  printf '| %s | %d | %s | %s | %s | %d s |\n' "$name" "$count" "$(show "$with")" \
    "$([[ -z $expected ]] && echo none || show "$expected")" "$(show "$without")" $((SECONDS - start))
  if [[ -n $expected ]] && lower "$with" "$expected"; then
    echo "accuracy.sh: $name is lower than PyG's" >&2
    failed=1
  fi
}

printf '| recipe | runs | test | PyG 2.8.1 | without edges | time, both |\n|---|---|---|---|---|---|\n'

cora="$data/cora --split public --normalize-rows"
photo="$data/amazon-photo --split tunedgnn"
physics=$data/coauthor-physics
whole="--fanouts full --batch-size all"
sparse="--init glorot --input-dropout 0.5 --dropout 0.5 --lr 0.01 --weight-decay 5e-4"
skip="$whole --skip linear --norm layer --lr 0.003"

# GraphSAGE
recipe cora-full 10 "0.8105 0.0010" $cora $whole $sparse --epochs 200
recipe cora-sampled 10 "0.8108 0.0042" $cora --fanouts 10,10 --batch-size 64 --dropout 0.5 --lr 0.01 \
  --weight-decay 5e-4 --epochs 30
recipe photo-sampled 5 "0.9524 0.0014" $photo --fanouts 10,10 --batch-size 512 --dropout 0.5 --lr 0.003 --epochs 30
recipe photo-skip 5 "0.9649 0.0013" $photo $skip --dropout 0.3 --weight-decay 5e-5 --epochs 150
recipe physics-full 5 "0.9315 0.0026" $physics --split shchur20_30 --vary-split --normalize-rows $whole $sparse --epochs 60
recipe physics-skip 5 "0.9675 0.0004" $physics --split tunedgnn $skip --dropout 0.3 --epochs 40
recipe physics-sampled 5 "" $physics --split tunedgnn --layers 3 --hidden 256 --fanouts 15,10,5 --batch-size 1024 \
  --skip linear --norm layer --dropout 0.3 --lr 0.003 --epochs 15
recipe minesweeper 10 "0.9404 0.0010" "$data/minesweeper" --split published10 --vary-split $whole --layers 5 --skip residual \
  --norm layer --activation gelu --dropout 0.2 --lr 0.003 --epochs 500 --metric auc
recipe products 5 "0.6625 0.0082" products --random-split 0.0803,0.0161 --layers 3 --hidden 256 --fanouts 15,10,5 \
  --batch-size 1024 --dropout 0.5 --lr 0.003 --epochs 10

# GCN and GAT
recipe cora-gcn 10 "0.8175 0.0025" $cora --model gcn --hidden 16 $whole $sparse --weight-decay-layers 1 --epochs 200
recipe cora-gat 10 "0.8277 0.0023" $cora --model gat --heads 8 --output-heads 1 --hidden 64 --activation elu $whole \
  --init glorot --input-dropout 0.6 --dropout 0.6 --lr 0.005 --weight-decay 5e-4 --epochs 300
recipe photo-gcn 5 "0.9617 0.0012" $photo --model gcn --layers 3 $skip --dropout 0.5 --weight-decay 5e-5 --epochs 150
recipe photo-gat 5 "0.9690 0.0003" $photo --model gat --heads 8 $skip --dropout 0.5 --weight-decay 5e-5 --epochs 80

# Graphs: GIN-0 on folds, 3500 steps of 32 graphs and a validation every 50, in whole epochs; the rate is halved every 2500
# steps.
gin="--model gin --layers 4 --norm batch --readout sum --jumping scores --dropout 0 --output-dropout 0.5 --lr 0.01
  --schedule step --drop-last --split fold_of_graph --vary-split"
recipe imdb 10 "0.756 0.009 0.743" "$data/imdb-binary" $gin --batch-size 32 --epochs 125 --evaluate-every 2 \
  --schedule-epochs 89
recipe mutag 10 "0.872 0.023 0.858" "$data/mutag" $gin --batch-size 32 --epochs 700 --evaluate-every 10 \
  --schedule-epochs 500
recipe nci1 5 "0.811 0.002 0.794" "$data/nci1" $gin --batch-size 128 --epochs 178 --evaluate-every 2 --schedule-epochs 89
recipe molhiv 5 "0.725 0.012" "$data/ogbg-molhiv-rebuilt" --split scaffold --model gine --train-eps --layers 5 \
  --node-categories 119,5,12,12,10,6,6,2,2 --edge-categories 5,6,2 --norm batch --readout mean --dropout 0.5 --lr 0.001 \
  --batch-size 256 --epochs 15 --metric auc

# A knowledge graph without features
recipe aifb 10 "0.967 0.004" "$data/aifb" --split public --model rgcn --relations 90 $whole --hidden 16 --dropout 0 --lr 0.01 \
  --epochs 50 --evaluate-every 50
for name in "$@"; do
  [[ $known == *" $name "* ]] || { echo "accuracy.sh: no recipe is called $name" >&2 && failed=1; }
done
exit $failed
