#!/usr/bin/env bash
# One training with a rank on each of 1, 2, 4, ... GPUs of one process: the losses of all epochs are equal up to rounding, for
# every placement of the features, with captured steps, and on one GPU with eager steps over unpadded mini-batches; eager steps
# with the shapes of captured ones give their losses and weights to the last bit, on one GPU and on two. Prints the speed-up.
# (Several processes: job.sh.)
#   ranks.sh <train> <number of GPUs> <nodes> [<word>...]     words precede each command
set -euo pipefail
shopt -s inherit_errexit
train=$1 gpus=$2 nodes=$3 machine=("${@:4}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0

# The same steps for any number of ranks; single precision, SGD, no dropout.
options=(--quiet --epochs 4 --batch-size 256 --batches-per-step "$gpus" --optimizer sgd --lr 0.05 --dropout 0
  --fanouts 10,5 --evaluate-every 4 --torch-threads 1 "planted:$nodes")
losses() { sed -nE 's/.*"train_loss": *([0-9.eE+-]+).*/\1/p' "$1"; }
# The fastest of the epochs after the first.
seconds() { sed -nE 's/.*"seconds": *([0-9.eE+-]+).*/\1/p' "$1" | tail -n +2 | sort -g | sed -n 1p; }

# expect <name> <log>: compares with the losses of `one`.
expect() {
  if [[ $(losses "$2" | wc -l) -ne 4 ]] || ! paste <(losses "$folder/one") <(losses "$2") |
    awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-4 * ($1 > 1 ? $1 : 1)) bad = 1 } END { exit bad }'; then
    echo "$1: the losses are $(losses "$2" | paste -sd ' '), of one GPU $(losses "$folder/one" | paste -sd ' ')"
    status=1
    return
  fi
  awk -v name="$1" -v s="$(seconds "$2")" -v one="$(seconds "$folder/one")" \
    'BEGIN { printf "[ FIGURE   ] %s: %.3f s an epoch, %.2f times as fast as one\n", name, s, one / s }'
}

# same <name> <log> <log>: compares losses and weights to the last bit.
same() {
  cmp "$2.safetensors" "$3.safetensors" && cmp <(losses "$2") <(losses "$3") && echo "$1: the bits of captured ones" && return
  echo "$1: the losses are $(losses "$3" | paste -sd ' '), of captured ones $(losses "$2" | paste -sd ' ')"
  status=1
}
# run <name> <GPUs> [<option>...]
run() {
  "${machine[@]}" "$train" --device "cuda:$(seq -s , 0 $(($2 - 1)))" --log "$folder/$1" --save "$folder/$1.safetensors" \
    "${options[@]}" "${@:3}" >/dev/null
}

run one 1 --capture on
run eager 1 --capture off
same "1 GPU, eager steps" "$folder/one" "$folder/eager"
expect "1 GPU, eager steps" "$folder/eager"
run unpadded 1 --capture unpadded
expect "1 GPU, eager steps without padding" "$folder/unpadded"
for ((ranks = 2; ranks <= gpus; ranks *= 2)); do
  for place in device pinned cached split; do
    cache=()
    [[ $place != cached && $place != split ]] || cache=(--cache-mib 1)
    run "$ranks.$place" $ranks --capture on --feature-placement $place "${cache[@]}" 2>"$folder/err" || {
      [[ $place == split ]] && grep -q 'cannot read memory of GPU' "$folder/err" &&
        echo "$ranks GPUs, features split: not shown, as they cannot read each other's memory" && continue
      cat "$folder/err" >&2 && exit 1
    }
    expect "$ranks GPUs of one process, features $place" "$folder/$ranks.$place"
  done
  ((ranks == 2)) || continue # NCCL may add in another order with more ranks
  run 2.eager 2 --capture off --feature-placement device
  same "2 GPUs of one process, eager steps" "$folder/2.device" "$folder/2.eager"
done
exit $status
