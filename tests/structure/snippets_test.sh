#!/usr/bin/env bash
# Plants one mistake after another and checks that snippets.sh finds each, and nothing in a correct header.
#   snippets_test.sh <scratch folder>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
failures=0

# expect <ok|text of the complaint> <the comment's @snippet line> [<lines between the example's marks>]
expect() {
  local want=$1 line=$2 body=${3:-'CHECK(gnnmg_graph_free(graph));'} output status=0
  rm -rf "$scratch"
  mkdir -p "$scratch"
  printf '%s\n' 'gnnmg_add_example(run EXPECT "all is well")' 'add_executable(idle idle.c)' >"$scratch/CMakeLists.txt"
  printf '%s\n' 'int main(void) {' '  /*! [free] */' "  $body" '  /*! [free] */' '  /*! [open] */' \
    '  gnnmg_graph_free(graph);' '}' | tee "$scratch/idle.c" >"$scratch/run.c"
  printf '%s\n' '/**' ' * @brief Frees it.' "$line" ' * @param[in] graph a handle' ' */' \
    'GNNMG_API void' 'gnnmg_graph_free(gnnmg_graph* graph);' >"$scratch/gnnmg.h"
  output=$(bash "$here/snippets.sh" "$scratch/gnnmg.h" "$scratch" 2>&1) || status=$?
  if [[ $want == ok && $status == 0 ]] || [[ $want != ok && $status != 0 && $output == *"$want"* ]]; then return; fi
  echo "'$line' with '$body': wanted '$want', got status $status: $output"
  failures=$((failures + 1))
}

expect ok ' * @snippet run.c free'
expect 'gnnmg_graph_free: no @snippet' ' *'
expect 'there is no example gone.c' ' * @snippet gone.c free'
expect 'no test runs the example idle.c' ' * @snippet idle.c free'
expect 'has the mark [close] 0 times' ' * @snippet run.c close'
expect 'has the mark [open] 1 times' ' * @snippet run.c open'
expect 'has no call of it' ' * @snippet run.c free' 'gnnmg_context_free(context);'
expect 'has no call of it' ' * @snippet run.c free' 'my_gnnmg_graph_free(graph);'
expect 'has no call of it' ' * @snippet run.c free' '/* gnnmg_graph_free(graph) would free it. */'
expect ok ' * @snippet run.c free' '/* here */ gnnmg_graph_free(graph); /* and there */'

# The snippet of one comment does not count for the next function.
expect ok ' * @snippet run.c free'
printf '%s\n' '/** @brief Nothing. */' 'GNNMG_API void gnnmg_graph_use(void);' >>"$scratch/gnnmg.h"
if bash "$here/snippets.sh" "$scratch/gnnmg.h" "$scratch" >"$scratch/output"; then
  echo "a function without a snippet was passed over"
  failures=$((failures + 1))
fi

rm -rf "$scratch"
((failures == 0)) && echo "every planted mistake was found"
