#!/usr/bin/env bash
# Simulates two machines as network namespaces joined by a virtual cable. Runs one member of a job on each.
#   unshare -rn bash two_machines.sh <member> <step or mini-batch after which the cable is cut, or -> <seconds of the cut> <arguments>...
# NEAR_NAME gives the near machine a name that resolves to 127.0.1.1 there, as on Debian, and to its network address on the
# far one (needs unshare -rnm).
# Prints the output of the members unchanged, and "cut at <ms>" and "mended at <ms>" of the monotonic clock.
set -euo pipefail
member=$1 cut_after=$2 cut_for=$3
shift 3

ip link set lo up
unshare -n sleep 300 &
far=$!
trap 'kill $far 2>/dev/null' EXIT
for _ in $(seq 1000); do # wait for its own network namespace
  network=$(readlink /proc/$far/ns/net) || true
  [[ $network && $network != $(readlink /proc/self/ns/net) ]] && break
  sleep 0.02
done
ip link add near0 type veth peer name far0 netns "$far"
ip addr add 10.77.0.1/24 dev near0
ip link set near0 up
there() { nsenter -t "$far" -n "$@"; }
there ip link set lo up
there ip addr add 10.77.0.2/24 dev far0
there ip link set far0 up

hosts=$(mktemp -d)
if [[ ${NEAR_NAME:-} ]]; then
  printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$NEAR_NAME" >"$hosts/near"
  printf '127.0.0.1 localhost\n10.77.0.1 %s\n' "$NEAR_NAME" >"$hosts/far"
  there() { nsenter -t "$far" -n unshare -m sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$hosts/far" "$@"; }
  mount --bind "$hosts/near" /etc/hosts
fi

now() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }
log=$(mktemp)
trap 'kill $far 2>/dev/null; rm -rf "$log" "$hosts"' EXIT
"$member" host="${NEAR_NAME:-10.77.0.1}" port=29500 of=2 process=0 "$@" >"$log" &
near_member=$!
there "$member" host="${NEAR_NAME:-10.77.0.1}" port=29500 of=2 process=1 "$@" &
far_member=$!
if [[ $cut_after != - ]]; then
  for _ in $(seq 1200); do
    grep -qE "^(step|batch) $cut_after " "$log" && break
    sleep 0.05
  done
  echo "cut at $(now)"
  ip link set near0 down
  sleep "$cut_for"
  ip link set near0 up
  echo "mended at $(now)"
fi
status=0
wait $near_member || status=$?
wait $far_member || status=$?
cat "$log"
exit $status
