#!/usr/bin/env bash
# Checks the includes between rooms: fails on every #include line below a source folder that leads to a room of the same or a
# higher level, and on LibTorch's headers below the torch line.
#   layers.sh <src folder>
set -euo pipefail
cd "$1"

# room, level, and "torch" if LibTorch may be included: a folder's own line takes precedence over its room's. Folders of one room
# are in the order of their includes: none includes a later one.
table='
cmake        0
base         0
device       1
io           1
graph        2
data         3
sample       3
feature      3
partition    3
comm         3
comm/gloo    3 torch
dist         4
grpc         5
loader       5
nn           6 torch
nn/kernels   6
nn/config    6
nn/torch     6 torch
nn/state     6 torch
nn/ops       6 torch
nn/layers    6 torch
nn/conv      6 torch
nn/model     6 torch
nn/inference 6 torch
train        7 torch
predict      8 torch
capi         9 torch
server       6
cuda         9 torch
'

find . -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.c' -o -name '*.cu' -o -name '*.cuh' \) -printf '%P\n' | sort |
  xargs -r grep -HnE '^[[:space:]]*#[[:space:]]*include' /dev/null |
  awk -v table="$table" '
    BEGIN {
      count = split(table, rows, "\n")
      for (i = 1; i <= count; i++) {
        if (split(rows[i], field, " ") < 2) continue
        level[field[1]] = field[2]
        torch[field[1]] = field[3] == "torch"
        row[field[1]] = i
      }
    }
    function area_of(path) {
      do sub("/[^/]*$", "", path); while (path ~ "/" && !(path in level))
      return path
    }
    function complain(text) { print place ": " text; bad++ }
    {
      split($0, part, ":")
      place = part[1] ":" part[2]
      file = part[1]
      line = substr($0, length(place) + 2)
      room = file; sub("/.*", "", room)
      if (file !~ "/") { complain("lies in no room"); next }
      if (!(room in level)) { complain("the room \"" room "\" is not in the table of layers.sh"); next }
      area = area_of(file)

      quoted = line ~ /include[ \t]*"/
      target = line
      if (!match(target, /["<][^">]*[">]/)) next
      target = substr(target, RSTART + 1, RLENGTH - 2)
      first = target; sub("/.*", "", first)

      if (first ~ /^(torch|ATen|c10|caffe2)$/ || target ~ /^gloo\//) {
        if (!torch[area]) complain("\"" room "\" lies below the torch line and includes " target)
      } else if (target == "gnnmg.h") {
        if (room != "capi") complain("only \"capi\" may include gnnmg.h")
      } else if (first in level && target ~ "/") {
        if (first != room && level[first] >= level[room])
          complain("\"" room "\" (level " level[room] ") includes " target " (level " level[first] ")")
        if (first == room && area ~ "/" && area_of(target) ~ "/" && row[area_of(target)] > row[area])
          complain("\"" area "\" includes " target ", of a folder that comes after it")
        if (first == "capi" && room != "capi") complain("nothing includes \"capi\"")
        if (room == "server" && torch[first]) complain("the server holds torch-free rooms only, not " target)
        if (!quoted && first != "grpc") complain("rooms are included in quotes: " target)  # <grpc/...> belongs to gRPC
      } else if (quoted) {
        complain("\"" target "\" is no path from src/, as \"room/file.h\"")
      }
    }
    END { if (bad) { print bad " includes break the layers"; exit 1 } print NR " includes, all downwards" }'
