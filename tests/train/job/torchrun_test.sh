#!/usr/bin/env bash
# Trains on Coauthor Physics with two processes under torchrun, kills each of them once, and expects that torchrun's
# restarts end in the weights and the accuracy of a training that nobody interrupted.
#   torchrun_test.sh <the example program train> <torchrun or nothing>
set -euo pipefail
train=$1 torchrun=${2:-}
data=${GNNMG_DATA:-$(dirname "$0")/../../../../shared/data}/coauthor-physics
missing=
[[ -d $data ]] || missing="$data"
[[ -n $torchrun ]] && "$torchrun" --help >/dev/null 2>&1 || missing="torchrun of a complete torch"
if [[ -n $missing ]]; then
  echo "needs $missing"
  [[ ${CI:-} != true ]] || exit 1
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
run=(--nproc-per-node 2 --no-python "$train" "$data" --random-split 0.6,0.2 --seed 3 --epochs 3 --batch-size 512
  --hidden 32 --torch-threads 1)
export OMP_NUM_THREADS=1

"$torchrun" --standalone "${run[@]}" --save "$folder/whole.safetensors" >"$folder/whole.txt" 2>&1

"$torchrun" --standalone --max-restarts 3 --monitor-interval 0.2 "${run[@]}" --checkpoints "$folder/run" --checkpoint-steps 3 --resume \
  --save "$folder/killed.safetensors" >"$folder/killed.txt" 2>&1 &
agent=$!
written() { [[ ! -e $folder/run/latest ]] || sed 's/-.*//; s/^0*//; s/^$/0/' "$folder/run/latest"; }
# The first process once it has written a few checkpoints, the second one after some more.
for kill in 1 2; do
  goal=$((kill * 6))
  for ((poll = 0; poll < 60000; ++poll)); do
    found=$(written)
    ((${found:-0} < goal)) || break
    kill -0 $agent 2>/dev/null || break
    sleep 0.005
  done
  pgrep -P $agent -x train | sort -n | sed -n "${kill}p" >"$folder/victim"
  kill -KILL "$(<"$folder/victim")"
done
status=0
wait $agent || status=$?
((status == 0)) || { cat "$folder/killed.txt" && echo "torchrun ended with $status" && exit 1; }

grep '^resumed' "$folder/killed.txt"
(($(grep -c '^resumed' "$folder/killed.txt") == 2))
cmp "$folder/whole.safetensors" "$folder/killed.safetensors"
# The line says which part was tested, and the accuracy.
[[ $(grep '^test' "$folder/whole.txt") == "$(grep '^test' "$folder/killed.txt")" ]]
grep '^test' "$folder/killed.txt"
grep -o 'ERR_PEER_LOST.*\|lost process.*' "$folder/killed.txt" | head -2
echo "killed twice; weights and accuracy are equal"
