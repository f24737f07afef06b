#!/usr/bin/env bash
# Runs the commands of the page of the packages for each language, in a folder each below the current one: every first program
# must be built and print its result. Below /usr, as the Debian packages install it, the library must be found without variables.
#   languages.sh <docs/guide/packages.md> <prefix> <language>...
set -euo pipefail
page=$1 prefix=$2
unset GNNMG_DIR PKG_CONFIG_PATH LD_LIBRARY_PATH
change=(-e "s|\$GNNMG_DIR|$prefix|g")
if [[ $prefix == /usr ]]; then
  change+=(-e '/^export PKG_CONFIG_PATH=/d' -e 's/ --define-prefix//')
else
  export GNNMG_DIR=$prefix
fi
for language in "${@:3}"; do
  commands=$(awk -v title="**$language**" '$0 == title { found = 1 } found && /^```$/ { exit } inside; found && /^```sh$/ { inside = 1 }' \
    "$page" | sed "${change[@]}")
  [[ -n $commands ]] || { echo "$page has no commands for $language" && exit 1; }
  begin=$SECONDS
  mkdir -p "$language"
  output=$(cd "$language" && bash -euo pipefail -c "$commands" 2>log) && [[ $output == *"test accuracy 0.745 on 400 nodes" ]] ||
    { printf '%s with %s printed:\n%s\n' "$language" "$prefix" "$output" && cat "$language/log" && exit 1; }
  echo "$language: ${output##*$'\n'}, after $((SECONDS - begin)) s"
done
