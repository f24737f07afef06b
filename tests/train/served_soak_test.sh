#!/usr/bin/env bash
# A training of four processes under torchrun that asks two servers with the same parts. One of the six, by turns a server and
# a process, is killed every few seconds; the server starts again at its port, and torchrun starts the processes again. The
# weights are those of a training from the folder that nobody disturbs, and every start takes the same memory and descriptors.
# The short form kills for more than three minutes.
#   served_soak_test.sh <the example program partition> <the example program train> <gnnmg-server> <torchrun or nothing>
#     [<seconds of training> [<seconds between kills>]]
set -euo pipefail
partition=$1 train=$2 server=$3 torchrun=${4:-} seconds=${5:-165} interval=${6:-20}
if [[ -z $torchrun ]] || ! "$torchrun" --help >/dev/null 2>&1; then
  echo "needs torchrun of a complete torch"
  [[ ${CI:-} != true ]] || exit 1
  exit 77
fi
folder=$(mktemp -d)
agent= servers=()
cleanup() {
  for process in $agent "${servers[@]}"; do kill -KILL "$process" 2>/dev/null || true; done
  rm -r "$folder"
}
trap cleanup EXIT
export OMP_NUM_THREADS=1
cd "$folder"
"$partition" >partition.txt

# start_server <its number>: at a free port the first time, and at the same one after that
ports=(0 0)
start_server() {
  rm -f "served-$1"
  "$server" --data parts --listen "127.0.0.1:${ports[$1]}" >"served-$1" 2>>"errors-$1" &
  servers[$1]=$!
  until [[ -s served-$1 ]] || ! kill -0 "${servers[$1]}" 2>/dev/null; do sleep 0.02; done
  ports[$1]=$(sed 's/.*://' "served-$1")
  [[ -n ${ports[$1]} ]] || { cat "errors-$1" && exit 1; }
}
start_server 0
start_server 1
run=(--fanouts 10,10 --batch-size 64 --batches-per-step 4 --deterministic --torch-threads 1 --quiet)
launch=("$torchrun" --standalone --nproc-per-node 4 --max-restarts 1000 --monitor-interval 0.2 --no-python "$train"
  "served:127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}" --server-patience 60 "${run[@]}")

# Epochs for that many seconds on this machine.
"${launch[@]}" --epochs 20 >first.txt 2>&1
epochs=$(awk -v seconds="$seconds" '/^time/ { print int(20 * seconds / $2) + 1 }' first.txt)
"$train" parts "${run[@]}" --epochs "$epochs" --save whole.safetensors >whole.txt 2>&1

"${launch[@]}" --epochs "$epochs" --checkpoints run --checkpoint-steps 100 --resume --save killed.safetensors >killed.txt 2>&1 &
agent=$!
running() { kill -0 $agent 2>/dev/null; }
written() { [[ ! -e run/latest ]] || cat run/latest; }

# measure <kind> <process>: keeps the first and the largest memory and number of descriptors of a kind of process
declare -A first_memory most_memory first_files most_files
measure() {
  local memory files
  memory=$(awk '/^VmRSS/ { print $2 }' "/proc/$2/status" 2>/dev/null) || return 1
  files=$(find "/proc/$2/fd" -mindepth 1 2>/dev/null | wc -l)
  : "${first_memory[$1]:=$memory}" "${first_files[$1]:=$files}" "${most_memory[$1]:=0}" "${most_files[$1]:=0}"
  ((memory <= most_memory[$1])) || most_memory[$1]=$memory
  ((files <= most_files[$1])) || most_files[$1]=$files
}

begin=$SECONDS RANDOM=7 kills=0 of_servers=0
while running; do
  # A kill costs the steps since the last checkpoint; without a new one there would be no progress.
  before=$(written)
  sleep "$interval"
  while running && [[ $(written) == "$before" ]]; do sleep 0.1; done
  mapfile -t members < <(pgrep -P $agent -x train | sort -n)
  ((${#members[@]} == 4)) || continue
  measure process "${members[0]}" && measure server "${servers[0]}" && measure server "${servers[1]}" || continue
  if ((kills++ % 2)); then
    kill -KILL "${members[RANDOM % 4]}" 2>/dev/null || true
  else
    victim=$((RANDOM % 2)) of_servers=$((of_servers + 1))
    kill -KILL "${servers[victim]}"
    wait "${servers[victim]}" 2>/dev/null || true
    start_server $victim
  fi
done
status=0
wait $agent || status=$?
agent=
((status == 0)) || { tail -40 killed.txt && echo "torchrun ended with $status" && exit 1; }

echo "$epochs epochs in $((SECONDS - begin)) s, $kills kills, $of_servers of them of servers"
for kind in process server; do
  echo "$kind: first ${first_memory[$kind]} kB, ${first_files[$kind]} descriptors, at most ${most_memory[$kind]} kB, ${most_files[$kind]}"
done
((kills > 0))
cmp whole.safetensors killed.safetensors
# A kill after the end has the last start print it again.
grep ^test whole.txt
[[ $(grep ^test whole.txt) == "$(grep ^test killed.txt | tail -n 1)" ]]
cat errors-0 errors-1
[[ ! -s errors-0 && ! -s errors-1 ]]
for kind in process server; do ((most_files[$kind] <= first_files[$kind] + 4)); done
((most_memory[process] <= first_memory[process] * 5 / 4))
# A server's memory follows the number of answers asked for at one moment; 26 MB between two starts have been seen, and none after
# the first minute of one that ran for five.
((most_memory[server] <= first_memory[server] + 50000))
