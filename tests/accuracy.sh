#!/usr/bin/env bash
# Trains GraphSAGE on real data with published recipes and prints one row a recipe: mean and standard error of the test
# metric over runs, those of PyTorch Geometric with the same recipe, and the same runs without edges. The rows stand in
# docs/accuracy.md. Fails when a mean is lower than PyG's by more than half a point and by more than three standard
# errors of the difference.
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
failed=0

# measure OPTION... : mean and standard error of the runs of one command.
measure() {
  local out
  out=$("$train" --quiet "$@")
  sed -n 's/^result .* \([0-9.]*\) +- \([0-9.]*\) .*/\1 \2/p' <<<"$out"
}

# recipe NAME RUNS MEAN ERROR OPTION... : MEAN and ERROR are PyG's; "-": there are none.
recipe() {
  local name=$1 count=${runs:-$2} mean=$3 error=$4 start=$SECONDS with without verdict
  shift 4
  [[ $wanted == "  " || $wanted == *" $name "* ]] || return 0
  with=$(measure --runs "$count" "$@")
  without=$(measure --runs "$count" --no-edges "$@")
  verdict=$(awk -v found="$with" -v mean="$mean" -v error="$error" 'BEGIN {
    split(found, f)
    allowed = 3 * sqrt(f[2] ^ 2 + error ^ 2)
    if (allowed < 0.005) allowed = 0.005
    print (mean != "-" && f[1] < mean - allowed) ? "lower" : "" }')
  printf '| %s | %d | %s | %s | %s | %d s |\n' "$name" "$count" "${with/ / ± }" "$mean ± $error" "${without/ / ± }" \
    $((SECONDS - start))
  [[ -z $verdict ]] || { echo "accuracy.sh: $name is lower than PyG's" >&2 && failed=1; }
}

printf '| recipe | runs | test | PyG 2.8.1 | without edges | time, both |\n|---|---|---|---|---|---|\n'

sparse="--normalize-rows --init glorot --input-dropout 0.5 --dropout 0.5 --lr 0.01 --weight-decay 5e-4"
whole="--fanouts full --batch-size all"
skip="$whole --skip linear --norm layer --dropout 0.3 --lr 0.003"

recipe cora-full 10 0.8105 0.0010 "$data/cora" --split public $whole $sparse --epochs 200
recipe cora-sampled 10 0.8108 0.0042 "$data/cora" --split public --fanouts 10,10 --batch-size 64 --normalize-rows \
  --dropout 0.5 --lr 0.01 --weight-decay 5e-4 --epochs 30
recipe photo-sampled 5 0.9524 0.0014 "$data/amazon-photo" --split tunedgnn --fanouts 10,10 --batch-size 512 \
  --dropout 0.5 --lr 0.003 --epochs 30
recipe photo-skip 5 0.9649 0.0013 "$data/amazon-photo" --split tunedgnn $skip --weight-decay 5e-5 --epochs 150
recipe physics-full 5 0.9315 0.0026 "$data/coauthor-physics" --split shchur20_30 --vary-split $whole $sparse --epochs 60
recipe physics-skip 5 0.9675 0.0004 "$data/coauthor-physics" --split tunedgnn $skip --epochs 40
recipe physics-sampled 5 - - "$data/coauthor-physics" --split tunedgnn --layers 3 --hidden 256 --fanouts 15,10,5 \
  --batch-size 1024 --skip linear --norm layer --dropout 0.3 --lr 0.003 --epochs 15
recipe minesweeper 10 0.9404 0.0010 "$data/minesweeper" --split published10 --vary-split $whole --layers 5 --skip residual \
  --norm layer --activation gelu --dropout 0.2 --lr 0.003 --epochs 500 --metric auc
recipe products 5 0.6625 0.0082 products --random-split 0.0803,0.0161 --layers 3 --hidden 256 --fanouts 15,10,5 \
  --batch-size 1024 --dropout 0.5 --lr 0.003 --epochs 10
exit $failed
