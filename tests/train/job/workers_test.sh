#!/usr/bin/env bash
# Divides a graph, gives each of two processes a folder with some of the parts, as if they were machines, and trains on them by
# the commands of docs/guide/parts.md: the weights are those of one process with all parts. So are those of the processes that
# torchrun starts, and those of a training that has no folder and asks a server.
#   workers_test.sh <the example program partition> <the example program train> <examples/c/processes.sh> <gnnmg-server>
#     <torchrun or nothing>
set -euo pipefail
partition=$1 train=$2 processes=$3 server=$4 torchrun=${5:-}
if [[ -z $torchrun ]] || ! "$torchrun" --help >/dev/null 2>&1; then
  echo "needs torchrun of a complete torch"
  [[ ${CI:-} != true ]] || exit 1
  exit 77
fi
folder=$(mktemp -d)
serving=
trap '[[ -z $serving ]] || kill -KILL "$serving"; rm -r "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1
"$partition" >partition.txt

share() {  # <folder> <part>...
  mkdir "$1"
  cp parts/*.* "$1"
  for part in "${@:2}"; do cp -r "parts/part-000$part" "$1"; done
}
share machine-0 1 3
share machine-1 0 2
share lacking-0 1
share lacking-1 0 2

# The hidden width is below that of the features: the order of sums and products must not depend on where rows are.
run=(--partition parts --batches-per-step 4 --batch-size 64 --epochs 2 --fanouts 5,5 --hidden 32 --deterministic --torch-threads 1)
"$train" parts "${run[@]}" --save whole.safetensors >whole.txt
bash "$processes" "$train" 2 machine-%rank "${run[@]}" --save shares.safetensors >shares.txt
cmp whole.safetensors shares.safetensors
[[ $(grep '^test' whole.txt) == "$(grep '^test' shares.txt)" ]]
grep '^test' shares.txt
# The same where all processes share the folder, and are told not to use that.
bash "$processes" "$train" 2 parts "${run[@]}" --reading asked --save asked.safetensors >asked.txt
cmp whole.safetensors asked.safetensors

# The whole command for a folder that all processes share.
"$torchrun" --standalone --nproc-per-node 2 --no-python "$train" parts "${run[@]}" --save torchrun.safetensors >torchrun.txt 2>&1 ||
  { cat torchrun.txt && exit 1; }
cmp whole.safetensors torchrun.safetensors
# No folder: a server has the parts.
"$server" --data parts --listen 127.0.0.1:0 >served.txt &
serving=$!
until [[ -s served.txt ]]; do sleep 0.02; done
"$train" "served:$(sed 's/.* at //' served.txt)" "${run[@]}" --save served.safetensors >asking.txt
cmp whole.safetensors served.safetensors
kill -TERM "$serving"
wait "$serving"
serving=

if bash "$processes" "$train" 2 lacking-%rank "${run[@]}" >lacking.txt 2>&1; then
  cat lacking.txt && echo "a part is missing, and nobody said so" && exit 1
fi
(($(grep -c 'part 3 of 4 is at no process' lacking.txt) == 2)) || { cat lacking.txt && exit 1; }
echo "two shares of a graph, by hand and by torchrun, and a server: weights and accuracy are those of the whole"
