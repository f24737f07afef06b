#!/usr/bin/env bash
# Kills a training with SIGKILL at many points, starts it again each time, and expects the weights of one that nobody
# killed, bit for bit.
#   kill_test.sh <the example program train> [<kills>]
set -euo pipefail
train=$1
kills=${2:-20}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
run=("$train" planted:4000 --epochs 60 --batch-size 128 --ranks 2 --torch-threads 1 --quiet)

"${run[@]}" --save "$folder/whole.safetensors" >"$folder/whole.txt"

# Each start is killed once it has written so many checkpoints more, and a moment later.
written() { [[ ! -e $folder/run/latest ]] || sed 's/-.*//; s/^0*//; s/^$/0/' "$folder/run/latest"; }
random=1
for ((i = 0; i < kills; ++i)); do
  random=$(((random * 1103515245 + 12345) % 2147483648))
  goal=$(($(written) + i % 4 + 1))
  "${run[@]}" --checkpoints "$folder/run" --checkpoint-steps 1 --resume >"$folder/out.txt" 2>&1 &
  process=$!
  for ((poll = 0; poll < 10000; ++poll)); do
    found=$(written)
    ((${found:-0} < goal)) || break
    kill -0 $process 2>/dev/null || break
    sleep 0.005
  done
  sleep "0.0$((random / 65536 % 10))"
  kill -KILL $process 2>/dev/null || true
  status=0
  wait $process 2>/dev/null || status=$?
  ((status != 0 || i < kills / 2)) || break # the training ended before the kill
  ((status == 137)) || { cat "$folder/out.txt" && echo "start $i ended with $status" && exit 1; }
done
"${run[@]}" --checkpoints "$folder/run" --checkpoint-steps 1 --resume --save "$folder/killed.safetensors" >"$folder/killed.txt"

left=$(find "$folder/run" -maxdepth 1 -name '.*.tmp-*' | wc -l)
cmp "$folder/whole.safetensors" "$folder/killed.safetensors"
grep ^test "$folder/whole.txt"
[[ $(grep ^test "$folder/whole.txt") == "$(grep ^test "$folder/killed.txt")" ]]
((left == 0)) || { echo "$left unfinished folders are left" && exit 1; }
sed -n 's/^resumed/the last start resumed/p' "$folder/killed.txt"
echo "$i kills; the weights are equal"
