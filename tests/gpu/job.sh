#!/usr/bin/env bash
# Trainings of several processes on the GPUs of this machine, by the example program train: compares with the CPU's losses, with
# captured steps, for one GPU per process, all GPUs in one process of a job, and half of them in each of two processes; then
# kills a process, restarts the job and compares the bits.
#   tests/gpu/job.sh <train> <number of GPUs, at least 2> [<epochs of the training with the kill>]
set -euo pipefail
train=$1 gpus=$2 epochs=${3:-60}
processes=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../examples/c" && pwd)/processes.sh
((gpus >= 2)) || { echo "job.sh: $gpus GPUs: expected at least 2" >&2 && exit 2; }
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

options=(planted:2500 --batch-size 32 --batches-per-step "$((gpus * 4))" --optimizer sgd --lr 0.05 --dropout 0
  --hidden 32 --epochs 6 --torch-threads 1 --quiet)
fail() { echo "$1" && cat "$folder/out" && exit 1; }
losses() { sed -nE 's/.*"train_loss": ?([0-9.e+-]+).*/\1/p' "$1"; }

"$train" "${options[@]}" --device cpu --log "$folder/cpu" >"$folder/out" 2>&1 || fail "on the CPU"
(($(losses "$folder/cpu" | wc -l) == 6)) || fail "no losses in the log"
shapes=("$gpus 1" "1 $gpus")
((gpus < 4)) || shapes+=("2 $((gpus / 2))")
for shape in "${shapes[@]}"; do
  read -r count ranks <<<"$shape"
  rm -f "$folder/gpu"
  bash "$processes" "$train" "$count" "${options[@]}" --device cuda --capture on --ranks "$ranks" --log "$folder/gpu" >"$folder/out" 2>&1 ||
    fail "$count processes of $ranks GPUs"
  paste <(losses "$folder/cpu") <(losses "$folder/gpu") | awk -v name="$count processes of $ranks GPUs" '
    { d = ($1 - $2) / $1; if (d < 0) d = -d; if (d > most) most = d }
    END { printf "%s: losses differ from the CPU'"'"'s by %.1e at most\n", name, most; exit !(NR == 6 && most < 1e-3) }' ||
    fail "losses"
done

# Adam, bit for bit; the last process is killed once a checkpoint exists.
run=(bash "$processes" "$train" "$gpus" "${options[@]}" --optimizer adam --epochs "$epochs" --deterministic --device cuda)
"${run[@]}" --save "$folder/whole.safetensors" >"$folder/out" 2>&1 || fail "the training that nobody kills"
"${run[@]}" --checkpoints "$folder/run" --checkpoint-steps 3 >"$folder/out" 2>&1 &
job=$!
for ((poll = 0; poll < 24000; ++poll)); do
  [[ ! -e $folder/run/latest ]] || break
  kill -0 $job 2>/dev/null || break
  sleep 0.005
done
[[ -e $folder/run/latest ]] || fail "no checkpoint was written"
victim=$(pgrep -P $job | sort -n | tail -n 1)
kill -KILL "$victim" || fail "it had ended"
start=$(date +%s%N) status=0
wait $job || status=$?
took=$((($(date +%s%N) - start) / 1000000))
((status != 0)) || fail "the others went on without the one that was killed"
grep -q "lost process" "$folder/out" || fail "nobody says that a process was lost"
((took < 31000)) || fail "the others took $took ms to end"
"${run[@]}" --checkpoints "$folder/run" --checkpoint-steps 3 --resume --save "$folder/again.safetensors" >"$folder/out" 2>&1 ||
  fail "the training that goes on"
grep -q ^resumed "$folder/out" || fail "it did not go on from a checkpoint"
cmp "$folder/whole.safetensors" "$folder/again.safetensors"
echo "[ FIGURE   ] a process of $gpus killed: the others ended within $took ms; gone on from its checkpoint with the same bits"
