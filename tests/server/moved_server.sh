#!/usr/bin/env bash
# A server that starts again at another address, under the name that it had: a client that asked for it by name reads on. The
# name is in a file of hosts that only this script and its programs see.
#   unshare -rm bash moved_server.sh <gnnmg-server> <server_worker_member> <folder of parts>
set -euo pipefail
server=$1 client=$2 parts=$3
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -r "$work"' EXIT
name_is() { printf '127.0.0.1 localhost\n%s graph-0\n' "$1" >"$work/hosts"; }
serve() { # <address and port>
  rm -f "$work/serving"
  "$server" --data "$parts" --listen "$1" >"$work/serving" &
  serving=$!
  until [[ -s $work/serving ]]; do sleep 0.01; done
}
name_is 127.0.0.2
mount --bind "$work/hosts" /etc/hosts
serve 127.0.0.2:0
port=$(sed 's/.*://' "$work/serving")

"$client" servers="graph-0:$port" patience=20000 until="$work/enough" >"$work/client" &
reading=$!
until grep -q '^batch 5 ' "$work/client"; do sleep 0.01; done
kill -KILL $serving
wait $serving || true
before=$(wc -l <"$work/client")
name_is 127.0.0.3
serve "127.0.0.3:$port"
for ((poll = 0; poll < 2000; ++poll)); do
  (($(wc -l <"$work/client") <= before + 5)) || break
  sleep 0.01
done
(($(wc -l <"$work/client") > before + 5)) || { echo "it does not read on" && exit 1; }
touch "$work/enough"
wait $reading
tail -n 2 "$work/client"
echo "read on after $before mini-batches, from 127.0.0.3"
