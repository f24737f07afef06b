#!/usr/bin/env bash
# Member of a job for comm/two_machines.sh: the far machine has a server of parts, the near one a client, whose output
# worker_member.cpp describes. The server keeps connections that are silent for 0.2 s no longer than it has to.
#   server_beyond.sh process=<p> server=<gnnmg-server> client=<server_worker_member> folder=<parts> token=<file> pid=<file>
#     [enough=<file>, which ends the client's reads once the cut cable is mended] [<word of the client>...]
set -euo pipefail
words=()
for word in "$@"; do
  case $word in
    process=* | server=* | client=* | folder=* | token=* | pid=* | enough=*) declare "${word%%=*}=${word#*=}" ;;
    host=* | port=* | of=*) ;;
    *) words+=("$word") ;;
  esac
done
address=10.77.0.2:7300

if ((process == 1)); then
  echo $$ >"$pid"
  exec "$server" --data "$folder" --listen $address --token-file "$token" --insecure --patience-ms 200
fi

now() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }
files() { find "/proc/$(<"$pid")/fd" -mindepth 1 | wc -l; }
while [[ ! -s $pid ]]; do sleep 0.01; done
ask() { "$client" servers=$address token="$token" insecure=1 "$@"; }
ask batches=1 >/dev/null # until the server is there
before=$(files)
status=0
if [[ -z ${enough:-} ]]; then
  ask "${words[@]}" || status=$?
else
  ask until="$enough" "${words[@]}" &
  for goal in DOWN UP; do
    while [[ $(ip -o link show near0) != *"state $goal"* ]]; do sleep 0.01; done
  done
  sleep 1
  touch "$enough"
  wait $! || status=$?
fi
ended=$(now)
for ((poll = 0; poll < 1000 && $(files) > before; ++poll)); do sleep 0.01; done
echo "the server has $(($(files) - before)) descriptors more, $(($(now) - ended)) ms after the client's end"
kill -TERM "$(<"$pid")"
exit $status
