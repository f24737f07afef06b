#!/usr/bin/env bash
# Checks that every public function of the header shows its use: a @snippet of its comment names an example that is built and
# run as a test, and the marked lines of that example call the function.
#   snippets.sh <header> <folder of the examples>
set -euo pipefail
header=$1
examples=$2

awk -v examples="$examples" -v header="$header" '
  function complain(text) { print text; bad++ }

  # Stores the lines between the two marks in a file, without comments, in marked[file, mark], and the number of marks in
  # marks[].
  function read_example(file,    path, line, text, mark, open, i, in_comment) {
    if (file in seen) return
    seen[file] = 1
    path = examples "/" file
    while ((getline line < path) > 0) {
      exists[file] = 1
      if (match(line, /\/\*! \[[^]]+\] \*\//)) {
        mark = substr(line, RSTART + 5, RLENGTH - 9)
        marks[file, mark]++
        if (marks[file, mark] == 1) open[mark] = 1; else delete open[mark]
        continue
      }
      text = line
      if (in_comment) {
        if (!(i = index(text, "*/"))) continue
        text = substr(text, i + 2)
        in_comment = 0
      }
      while (i = index(text, "/*")) {
        line = substr(text, i + 2)
        text = substr(text, 1, i - 1)
        if (!index(line, "*/")) { in_comment = 1; break }
        text = text " " substr(line, index(line, "*/") + 2)
      }
      for (mark in open) marked[file, mark] = marked[file, mark] text "\n"
    }
    close(path)
  }

  function check(place, file, mark) {
    read_example(file)
    if (!(file in exists)) complain(place ": there is no example " file)
    else if (!(substr(file, 1, length(file) - 2) in tested)) complain(place ": no test runs the example " file)
    else if (marks[file, mark] != 2)
      complain(place ": " file " has the mark [" mark "] " marks[file, mark] + 0 " times, expected 2")
  }

  FILENAME == examples "/CMakeLists.txt" {
    if (match($0, /^ *gnnmg_add_example\([a-z0-9_]+/)) {
      name = substr($0, 1, RLENGTH)
      sub(/.*\(/, "", name)
      tested[name] = 1
    }
    next
  }
  match($0, /@snippet +[^ ]+ +/) {
    split(substr($0, RSTART, RLENGTH), names, " +")
    count++
    file[count] = names[2]
    mark[count] = substr($0, RSTART + RLENGTH)
    sub(/ +$/, "", mark[count])
    check(FILENAME ":" FNR, file[count], mark[count])
  }
  /^\/\*\*/ && !/@snippet/ { count = 0 }
  /^GNNMG_API / { declaration = "" ; declares = 1 }
  declares { declaration = declaration " " $0 }
  declares && /;/ {
    declares = 0
    match(declaration, /gnnmg_[a-z0-9_]+\(/)
    name = substr(declaration, RSTART, RLENGTH - 1)
    functions++
    if (count == 0) complain(name ": no @snippet shows how it is used")
    for (i = 1; i <= count; i++)
      if (marked[file[i], mark[i]] !~ ("(^|[^A-Za-z0-9_])" name "\\("))
        complain(name ": [" mark[i] "] of " file[i] " has no call of it")
    count = 0
  }
  END {
    if (functions == 0) complain(header ": no function was found")
    if (!bad) print functions " functions, each used in an example that a test runs"
    exit bad > 0
  }' "$examples/CMakeLists.txt" "$header"
