#!/usr/bin/env bash
# A training of four processes under torchrun, one of which is killed at random every few seconds, ends with the weights of
# one that nobody killed, and every start takes the same memory and descriptors. The short form kills for more than three
# minutes.
#   soak_test.sh <the example program train> <torchrun or nothing> [<seconds of training> [<seconds between kills>]]
set -euo pipefail
train=$1 torchrun=${2:-} seconds=${3:-165} interval=${4:-20}
if [[ -z $torchrun ]] || ! "$torchrun" --help >/dev/null 2>&1; then
  echo "needs torchrun of a complete torch"
  [[ ${CI:-} != true ]] || exit 1
  exit 77
fi
folder=$(mktemp -d)
agent=
trap '[[ -z $agent ]] || kill -KILL $agent 2>/dev/null || true; rm -r "$folder"' EXIT
export OMP_NUM_THREADS=1
launch=("$torchrun" --standalone --nproc-per-node 4 --max-restarts 1000 --monitor-interval 0.2 --no-python "$train" planted:4000 --batch-size 64
  --torch-threads 1 --quiet)

# The number of epochs that take that long here.
"${launch[@]}" --epochs 20 >"$folder/first.txt" 2>&1
epochs=$(awk -v seconds="$seconds" '/^time/ { print int(20 * seconds / $2) + 1 }' "$folder/first.txt")
"${launch[@]}" --epochs "$epochs" --save "$folder/whole.safetensors" >"$folder/whole.txt" 2>&1

"${launch[@]}" --epochs "$epochs" --checkpoints "$folder/run" --checkpoint-steps 10 --resume --save "$folder/killed.safetensors" \
  >"$folder/killed.txt" 2>&1 &
agent=$!
running() { kill -0 $agent 2>/dev/null; }
written() { [[ ! -e $folder/run/latest ]] || cat "$folder/run/latest"; }
begin=$SECONDS RANDOM=7 kills=0 first_memory=0 most_memory=0 first_files=0 most_files=0
while running; do
  # A kill costs the steps since the last checkpoint; a kill before the first checkpoint would be no progress.
  before=$(written)
  sleep "$interval"
  while running && [[ $(written) == "$before" ]]; do sleep 0.1; done
  mapfile -t members < <(pgrep -P $agent -x train | sort -n)
  ((${#members[@]} == 4)) || continue
  memory=$(awk '/^VmRSS/ { print $2 }' "/proc/${members[0]}/status" 2>/dev/null) || continue
  files=$(find "/proc/${members[0]}/fd" -mindepth 1 2>/dev/null | wc -l)
  kill -KILL "${members[RANDOM % 4]}" 2>/dev/null || continue
  ((kills++ > 0)) || first_memory=$memory first_files=$files
  ((memory <= most_memory)) || most_memory=$memory
  ((files <= most_files)) || most_files=$files
done
status=0
wait $agent || status=$?
agent=
((status == 0)) || { tail -40 "$folder/killed.txt" && echo "torchrun ended with $status" && exit 1; }

echo "$epochs epochs in $((SECONDS - begin)) s, $kills kills; process 0: first $first_memory kB, $first_files descriptors, at most $most_memory kB, $most_files"
((kills > 0))
cmp "$folder/whole.safetensors" "$folder/killed.safetensors"
# After a kill past the end the last start says it again.
grep ^test "$folder/whole.txt"
[[ $(grep ^test "$folder/whole.txt") == "$(grep ^test "$folder/killed.txt" | tail -n 1)" ]]
left=$(find "$folder/run" -maxdepth 1 -name '.*.tmp-*' | wc -l)
((left == 0)) || { echo "$left unfinished folders are left" && exit 1; }
((most_memory <= first_memory * 5 / 4 && most_files <= first_files + 4))
