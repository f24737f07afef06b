#!/usr/bin/env bash
# Checks examples/deploy: the manifests against the schemas of Kubernetes, the unit by systemd, and all options of the programs
# against the lists that they print. A wrong manifest and a wrong unit have to be found.
#   deploy_test.sh <examples/deploy> <gnnmg-server> <the example program train> <kubernetes-validate or nothing>
set -euo pipefail
folder=$1 server=$2 train=$3 validate=${4:-}
if [[ -z $validate ]] || ! "$validate" --help >/dev/null 2>&1; then
  echo "needs kubernetes-validate (src/cmake/setup.sh --tests installs it)"
  [[ ${CI:-} != true ]] || exit 1
  exit 77
fi
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

"$validate" --strict "$folder"/kubernetes/*.yaml
sed 's/replicas: 2/replicas: two/' "$folder/kubernetes/servers.yaml" >"$work/wrong.yaml"
! "$validate" --strict "$work/wrong.yaml" >"$work/said" 2>&1 || { echo "a wrong manifest passes" && exit 1; }

# options <file> <program> <option for help>: fails for an option in the file that the program does not list
options() {
  local known option count=0
  known=$("$2" "$3")
  while read -r option; do
    count=$((count + 1))
    grep -qwFe "$option" <<<"$known" || { echo "$1: ${2##*/} has no option $option" && return 1; }
  done < <(sed 's/#.*//' "$1" | grep -oE -- '(^|[ "])--[a-z][a-z-]*' | tr -d ' "' | sort -u)
  ((count > 0)) || { echo "$1: no option was found" && return 1; }
}
options "$folder/server.conf" "$server" --help
options "$folder/kubernetes/servers.yaml" "$server" --help
options "$folder/kubernetes/trainers.yaml" "$train" --help=all
echo 'PARTS="--no-such-option"' >"$work/wrong.conf"
! options "$work/wrong.conf" "$server" --help >"$work/said" || { echo "a wrong option passes" && exit 1; }

if ! command -v systemd-analyze >/dev/null; then
  echo "needs systemd-analyze for the unit"
  [[ ${CI:-} != true ]] || exit 1
  exit 77
fi
# verify <unit>: systemd's remarks about it, with the program of this build
verify() {
  sed "s|/usr/bin/gnnmg-server|$server|" "$1" >"$work/gnnmg-server.service"
  systemd-analyze verify --man=no "$work/gnnmg-server.service" 2>&1 || true
}
remarks=$(verify "$folder/gnnmg-server.service")
[[ -z $remarks ]] || { echo "$remarks" && exit 1; }
sed 's/^ProtectHome=/ProtectHouse=/' "$folder/gnnmg-server.service" >"$work/wrong.service"
[[ $(verify "$work/wrong.service") == *ProtectHouse* ]] || { echo "a wrong unit passes" && exit 1; }
echo "manifests, unit and options are right"
