#!/usr/bin/env bash
# Checks that the first page shows the same program in every language, and that each is the file that the tests run: between the
# lines ```<language> and ``` is the file's text, without its opening comment.
#   readme.sh <page> <language>=<file>...
set -euo pipefail
page=$1
bad=0
for pair in "${@:2}"; do
  language=${pair%%=*} file=${pair#*=}
  shown=$(awk -v fence="\`\`\`$language" '$0 == fence && !seen { inside = seen = 1; next } /^```/ { inside = 0 } inside' "$page")
  if [[ -z $shown ]]; then
    echo "$page shows no program in $language, expected that of $file"
    bad=1
  elif ! difference=$(diff <(printf '%s\n' "$shown") <(sed '1{/^\(\/\*\|\/\/\|#\)/d}' "$file" | sed '1{/^$/d}')); then
    printf '%s shows another program in %s (<) than %s (>):\n%s\n' "$page" "$language" "$file" "$difference"
    bad=1
  fi
done
((bad == 0)) && echo "$(($# - 1)) programs, each the one that is tested"
exit $bad
