#!/usr/bin/env bash
# Trains the same recipes with the same seeds on the CPU and on a GPU and compares the accuracy: the GPU's mean must not be
# lower by both half a point and three standard errors of the difference. Prints one line per recipe.
#   accuracy.sh <train> generated [<nodes> [<word>...]]   a generated graph; the words precede the GPU's command
#   accuracy.sh <train> real                              Coauthor Physics, Amazon Photo, IMDB-BINARY in $GNNMG_DATA, or the
#                                                         sets in GNNMG_ACCURACY_SETS
# Skipped (77) without a GPU, or without the data sets.
set -euo pipefail
shopt -s inherit_errexit
train=$1 kind=$2 nodes=${3:-20000} machine=("${@:4}") failed=0 count=0

if ((${#machine[@]} == 0)) && ! nvidia-smi -L >/dev/null 2>&1; then
  echo "skipped: no driver, hence no GPU" && exit 77
fi

# mean_of <command>...: prints mean and standard error of its runs.
mean_of() {
  local out
  out=$("$@") || { echo "$out" >&2 && return 1; }
  sed -nE 's/^result .* ([0-9.]+) \+- ([0-9.]+) .*/\1 \2/p' <<<"$out"
}

# recipe <name> <option>...
recipe() {
  local name=$1 cpu gpu start=$SECONDS
  shift
  count=$((count + 1))
  cpu=$(mean_of "$train" --quiet --runs 3 --device cpu "$@")
  local half=$((SECONDS - start))
  gpu=$(mean_of "${machine[@]}" "$train" --quiet --runs 3 --device cuda:0 "$@")
  [[ -n $cpu && -n $gpu ]] || { echo "$name: no result" && failed=1 && return; }
  if awk -v c="$cpu" -v g="$gpu" 'BEGIN {
    split(c, a); split(g, b)
    allowed = 3 * sqrt(a[2] ^ 2 + b[2] ^ 2)
    if (allowed < 0.005) allowed = 0.005
    exit !(b[1] >= a[1] - allowed) }'; then
    echo "[ FIGURE   ] $name: CPU ${cpu/ / +- } ($half s), GPU ${gpu/ / +- } ($((SECONDS - start - half)) s)"
  else
    echo "$name: on the GPU ${gpu/ / +- }, lower than on the CPU, ${cpu/ / +- }"
    failed=1
  fi
}

if [[ $kind == generated ]]; then
  recipe "planted classes, GraphSAGE" "planted:$nodes" --fanouts 10,5 --batch-size 512 --dropout 0.3 --epochs 4
  recipe "planted classes, GAT" "planted:$nodes" --model gat --heads 2 --fanouts 5,5 --batch-size 512 --epochs 2
  exit $failed
fi
data=${GNNMG_DATA:-$(cd "$(dirname "$0")/../.." && pwd)/../shared/data}
sets=${GNNMG_ACCURACY_SETS:-coauthor-physics amazon-photo imdb-binary}
of() { [[ " $sets " == *" $1 "* ]]; }
for name in $sets; do
  [[ -d $data/$name ]] || { echo "skipped: needs the data set $name, which is not in $data (GNNMG_DATA)" && exit 77; }
done
! of coauthor-physics || recipe "Coauthor Physics, GraphSAGE, whole graph" "$data/coauthor-physics" --split shchur20_30 --vary-split --normalize-rows \
  --fanouts full --batch-size all --init glorot --input-dropout 0.5 --dropout 0.5 --lr 0.01 --weight-decay 5e-4 --epochs 60
! of amazon-photo || recipe "Amazon Photo, GraphSAGE, sampled" "$data/amazon-photo" --split tunedgnn --fanouts 10,10 --batch-size 512 --dropout 0.5 \
  --lr 0.003 --epochs 30
! of imdb-binary || recipe "IMDB-BINARY, GIN-0" "$data/imdb-binary" --model gin --layers 4 --norm batch --readout sum --jumping scores --dropout 0 \
  --output-dropout 0.5 --lr 0.01 --schedule step --drop-last --split fold_of_graph --vary-split --batch-size 32 --epochs 125 \
  --evaluate-every 2 --schedule-epochs 89
((count > 0)) || { echo "there is no recipe for any of: $sets" && exit 1; }
exit $failed
