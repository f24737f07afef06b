#!/usr/bin/env bash
# How run.sh runs the parts of a package: each has a time limit and ends in a verdict, whatever happens in it. Sourced by run.sh,
# which sets
#   scratch    a folder that is deleted at the end
#   build      the package's build folder
#   budget     seconds that all parts together may take, counted from the start of the script
#   silence    seconds after which a test program that prints nothing counts as hanging
#   match      a regular expression; a part whose name does not match is left out
#   results    a file that gets each verdict, with figures and rows of tables; or empty
#   full       a file that gets everything that each part printed; or empty
# and `status`, which becomes 1 when a part did not pass.

said=$scratch/said # output of the running part
verdicts=()        # name, words, name, words, ...
mkfifo "$scratch/nothing" && exec {nothing}<>"$scratch/nothing"
pause() { read -rt "$1" -u "$nothing" || true; } # sleeps without a process

# verdict <name> <words> <seconds>: records the verdict of the part with the output $said. Printed at once, and again at the
# end.
verdict() {
  local line="VERDICT $1: $2, $3 s"
  verdicts+=("$1" "$2")
  cp "$said" "$scratch/$1.said"
  [[ $2 == passed ]] || status=1
  echo "$line"
  [[ -z $results ]] || { echo "$line" && grep -E 'FIGURE|^(\||Machine:|case that)' "$said" || true; } >>"$results"
  [[ -z $full ]] || { printf '\n=== %s\n' "$line" && cat "$said"; } >>"$full"
}

# words <exit code>: prints its words in a verdict.
words() {
  case $1 in
    0) echo passed ;;
    77) echo "skipped ($(grep -m 1 -oE 'skipped: .*|no driver, hence no GPU' "$said" || true))" ;;
    124) echo "timed out" ;;
    *) echo "failed $1" ;;
  esac
}

# begin <name> <seconds>: sets `limit` to the seconds that the part may take, `start`, and empties $said; fails if the part must
# not run, with a verdict if one is due. Time that earlier parts have saved extends it, up to twice its seconds.
due=0
begin() {
  [[ $1 =~ $match ]] || return 1
  : >"$said"
  start=$SECONDS
  ((due += $2))
  limit=$((due - SECONDS))
  ((limit <= 2 * $2)) || limit=$((2 * $2))
  ((limit <= budget - SECONDS)) || limit=$((budget - SECONDS))
  ((limit >= 3)) || { verdict "$1" "not run, for the time was over" 0 && return 1; }
}

# end_session <id>: kills every process of the session.
end_session() {
  local stat fields
  for stat in /proc/[0-9]*/stat; do
    { read -r fields <"$stat"; } 2>/dev/null || continue
    read -ra fields <<<"${fields##*) }" # state, parent, group, session
    [[ ${fields[3]} != "$1" ]] || kill -KILL "${stat//[!0-9]/}" 2>/dev/null || true
  done
}

running= # session of the running part
# end_running: call if the script itself is ended.
end_running() { [[ -z $running ]] || end_session "$running"; }

# watched <seconds> <seconds of silence> <command>...: returns its exit code, or 124 and 125 if it ran or was silent longer and
# was killed, with all processes that it had started. A process that cannot be killed because it waits in a driver is left
# alone.
watched() {
  local most=$1 quiet=$2 begun=$SECONDS spoke=$SECONDS looked=$SECONDS size=0 now rc=0 over=0 id i
  shift 2
  setsid "$@" </dev/null >>"$said" 2>&1 &
  id=$! running=$!
  while kill -0 "$id" 2>/dev/null; do
    pause 0.02
    ((looked != SECONDS)) || continue
    looked=$SECONDS now=$(stat -c %s "$said")
    ((now == size)) || { size=$now && spoke=$SECONDS; }
    ((SECONDS - spoke <= quiet)) || over=125 # SECONDS are whole seconds, of which the first may be nearly over
    ((SECONDS - begun <= most)) || over=124
    ((!over)) || break
  done
  end_session "$id"
  running=
  for ((i = 0; i < 50; i++)); do kill -0 "$id" 2>/dev/null && pause 0.1 || break; done
  ((i == 50)) || { wait "$id" || rc=$?; } 2>/dev/null
  return $((over ? over : rc))
}

# piece <name> <seconds> <command>...: runs a part that is one command.
piece() {
  local limit start rc=0
  begin "$1" "$2" || return 0
  watched "$limit" "$limit" "${@:3}" || rc=$?
  verdict "$1" "$(words $rc)" $((SECONDS - start))
}

# packed <test> [<seconds> [<argument>...]]: runs one of the package's tests within its time.
packed() {
  local line seconds command
  line=$(grep "^$1"$'\t' "$build/tests.tsv") || { : >"$said" && verdict "$1" "not in the package" 0 && return; }
  seconds=${2:-$(cut -f 2 <<<"$line")}
  command="$(cut -f 3 <<<"${line//@HERE@/$PWD}") ${*:3}"
  if [[ $1 == gpu_*_test ]]; then
    cases "$1" "$seconds" "$command"
  else
    piece "$1" "$seconds" bash -c "$command"
  fi
}

# filter_of <program>: prints the test cases that work on one GPU, or those of GTEST_FILTER.
filter_of() {
  if [[ -n ${GTEST_FILTER:-} ]]; then echo "$GTEST_FILTER"; elif [[ -e $1.filter ]]; then cat "$1.filter"; else echo '*'; fi
}
# without <filter> <cases>: prints the filter without cases that are separated by colons.
without() {
  if [[ -z $2 ]]; then echo "$1"; elif [[ $1 == *-* ]]; then echo "$1:$2"; else echo "$1-$2"; fi
}
# ended: prints the test cases of $said, one per line: passed, failed or died, and the name. Skipped cases have no line.
ended() {
  awk '/^\[ RUN      \] / { if (name) print "died", name; name = $4 }
    /^\[       OK \] / && name { print "passed", name; name = "" }
    /^\[  FAILED  \] .* ms\)$/ && name { print "failed", name; name = "" }
    /^\[  SKIPPED \] / { name = "" }
    END { if (name) print "died", name }' "$said"
}

# cases <name> <seconds> <command>: runs a part that is a program of GoogleTest. A case that fails may have lost its process the
# GPU, and one that crashes or hangs ends the process: the later cases run in another process. After $most such cases the rest
# runs in one process in any case.
cases() {
  local limit start rc most=5 number before now= base flags wrong late=
  begin "$1" "$2" || return 0
  base=$(filter_of "$build/tests/gpu/$1")
  for ((number = 0; number <= most; number++)); do
    flags="--gtest_filter='$(without "$base" "$(cut -d ' ' -f 2 <<<"$now" | paste -sd :)")'"
    ((number == most)) || flags+=" --gtest_fail_fast"
    rc=0
    watched $((limit - SECONDS + start)) "$silence" bash -c "$3 $flags" || rc=$?
    before=$now now=$(ended)
    ((rc == 0 || rc == 77)) || echo "the process ended with $rc$( ((rc != 125)) || echo ", for it printed nothing for $silence s")" >>"$said"
    [[ $rc != 0 && $rc != 77 && $rc != 124 && $now != "$before" ]] || break
    ((limit - SECONDS + start >= 3)) || { late=late && break; }
  done
  wrong=$(grep -v '^passed' <<<"$now" || true)
  ((rc != 124)) || { late=late && wrong=$(sed '$ { /^died/d }' <<<"$wrong"); } # the script killed it
  [[ -z $wrong ]] || sed 's/^/case that /' <<<"$wrong" >>"$said"
  verdict "$1" "$(words_of_cases $rc "$wrong" "$(grep -c . <<<"$now" || true)" $late)" $((SECONDS - start))
}
# words_of_cases <exit code> <cases that failed or died> <number of cases> [late]
words_of_cases() {
  if [[ -n $2 ]]; then
    echo "failed in $(wc -l <<<"$2") of $3 cases${4:+, timed out}"
  elif (($# == 4)); then
    echo "timed out after $3 cases"
  else
    words "$1"
  fi
}

# sanitize <tool> <test> <seconds>: runs the test under a tool of compute-sanitizer, if the tool accepts the machine.
sanitize() {
  local limit start words name=$1_$2
  begin "$name" "$3" || return 0
  if [[ -z ${tools_work:-} ]]; then
    match='' piece sanitizer_accepts_gpu 30 compute-sanitizer --tool memcheck --error-exitcode 9 "$build/tests/gpu/gpu_one_kernel"
    tools_work=${verdicts[-1]}
    begin "$name" "$3" || return 0
  fi
  if [[ $tools_work != passed ]]; then
    verdict "$name" "not run, for compute-sanitizer does not work here" 0
    return
  fi
  sanitized "$build/tests/gpu/$2" "$1" >"$said" 2>&1 || true
  words=$(sed -nE 's/^SANITIZED [^:]*: //p' "$said")
  verdict "$name" "${words/clean/passed}" $((SECONDS - start))
}

# The last lines, because readers look at the end of a long output first: for each part that did not pass its messages, then the
# verdicts.
report() {
  local i name
  ((${#verdicts[@]})) || return 0
  for ((i = 0; i < ${#verdicts[@]}; i += 2)); do
    name=${verdicts[i]}
    [[ ${verdicts[i + 1]} != passed && -s $scratch/$name.said ]] || continue
    printf '\n== %s\n' "$name"
    grep -m 5 '^case that ' "$scratch/$name.said" | cut -c1-150 || true
    first_failure "$scratch/$name.said" | cut -c1-150
  done
  echo
  for ((i = 0; i < ${#verdicts[@]}; i += 2)); do echo "VERDICT ${verdicts[i]}: ${verdicts[i + 1]}"; done
}
# first_failure <file>: prints five lines of it.
first_failure() {
  grep -m 1 -A 4 -E ': Failure|[eE]rror|findings|terminate|FAILED|differs|MISSED' \
    < <(grep -vE '^\[ (RUN|      OK| SKIPPED)|: Skipped$|^case that ' "$1") || tail -n 5 "$1"
}
