#!/usr/bin/env bash
# Trains GraphSAGE on real data with published recipes and prints one row a recipe: mean and standard error of the test
# metric over runs, with the graph and without its edges. The rows stand in docs/accuracy.md.
#
#   tests/accuracy.sh [--runs N] [NAME...]      NAME: a recipe below; default: all
#
# GNNMG_BUILD is the build folder (default: build/release), GNNMG_DATA the folder with the data sets.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
train=${GNNMG_BUILD:-$root/build/release}/examples/c/train
data=${GNNMG_DATA:-$root/../shared/data}
runs=
if [ "${1:-}" = --runs ]; then runs=$2; shift 2; fi
wanted=" $* "
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT

# recipe NAME RUNS OPTION... : one row with edges, one without.
recipe() {
  local name=$1 count=${runs:-$2}; shift 2
  case "$wanted" in "  " | *" $name "*) ;; *) return 0 ;; esac
  local start=$SECONDS graph features
  "$train" --quiet --runs "$count" "$@" > "$out/$name"
  graph=$(sed -n 's/^result *//p' "$out/$name")
  "$train" --quiet --runs "$count" --no-edges "$@" > "$out/$name.none"
  features=$(sed -n 's/^result *//p' "$out/$name.none")
  printf '| %s | %s | %s | %d s |\n' "$name" "$graph" "$features" $((SECONDS - start))
}

printf '| recipe | with the graph | without edges | time, both |\n|---|---|---|---|\n'

sage="--aggregation mean --activation relu --layers 2 --hidden 64"
skip="--skip linear --norm layer --fanouts full --batch-size all --lr 0.003"

recipe cora-full 10 "$data/cora" --split public $sage --fanouts full --batch-size all --normalize-rows --init glorot \
  --input-dropout 0.5 --dropout 0.5 --lr 0.01 --weight-decay 5e-4 --epochs 200
recipe cora-sampled 10 "$data/cora" --split public $sage --fanouts 10,10 --batch-size 64 --normalize-rows \
  --dropout 0.5 --lr 0.01 --weight-decay 5e-4 --epochs 30
recipe photo-sampled 5 "$data/amazon-photo" --split tunedgnn $sage --fanouts 10,10 --batch-size 512 \
  --dropout 0.5 --lr 0.003 --epochs 30
recipe photo-skip 5 "$data/amazon-photo" --split tunedgnn $sage $skip --dropout 0.3 --weight-decay 5e-5 --epochs 150
recipe physics-skip 5 "$data/coauthor-physics" --split tunedgnn $sage $skip --dropout 0.3 --epochs 40
recipe physics-sampled 5 "$data/coauthor-physics" --split tunedgnn --layers 3 --hidden 256 --skip linear --norm layer \
  --fanouts 15,10,5 --batch-size 1024 --dropout 0.3 --lr 0.003 --epochs 10
recipe minesweeper 5 "$data/minesweeper" --split published10 --vary-split --layers 5 --hidden 64 --skip residual --norm layer \
  --activation gelu --fanouts full --batch-size all --dropout 0.2 --lr 0.003 --epochs 500 --metric auc
recipe products 5 products --random-split 0.0803,0.0161 --layers 3 --hidden 256 --fanouts 15,10,5 --batch-size 1024 \
  --dropout 0.5 --lr 0.003 --epochs 10
