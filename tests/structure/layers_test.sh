#!/usr/bin/env bash
# Plants one bad include after another and checks that layers.sh finds each, and nothing in a correct tree.
#   layers_test.sh <scratch folder>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
failures=0

# expect <ok|text of the complaint> <file> <include line>
expect() {
  local want=$1 file=$2 line=$3 output status=0
  rm -rf "$scratch"
  mkdir -p "$scratch/base" "$scratch/$(dirname "$file")"
  echo '#include <vector>' >"$scratch/base/error.h"
  printf '%s\n' '// A file.' "$line" >"$scratch/$file"
  output=$(bash "$here/layers.sh" "$scratch") || status=$?
  if [[ $want == ok && $status == 0 ]] || [[ $want != ok && $status != 0 && $output == *"$want"* ]]; then return; fi
  echo "$file with '$line': wanted '$want', got status $status: $output"
  failures=$((failures + 1))
}

expect ok io/npy.cpp '#include "base/error.h"'
expect ok io/npy.cpp '#include "io/npy.h"'
expect ok io/npy.cpp '#include <zlib.h>'
expect ok nn/model/stack.cpp '#include <ATen/ATen.h>'
expect ok comm/gloo/engine.cpp '#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>'
expect ok capi/graph.cpp '#include "gnnmg.h"'
expect ok train/trainer.cpp '#include "loader/loader.h"'
expect ok server/main.cpp '#include "dist/server.h"'
expect 'npy.cpp:2: "io" (level 1) includes graph/graph.h (level 2)' io/npy.cpp '#include "graph/graph.h"'
expect '"sample" (level 3) includes feature/store.h' sample/neighbor.cpp '#include "feature/store.h"'
expect ok nn/kernels/mean.cpp '#include "nn/kernels/kernels.h"'
expect 'below the torch line and includes ATen/ATen.h' nn/kernels/mean.cpp '#include <ATen/ATen.h>'
expect ok nn/model/stack.cpp '#include "nn/ops/launch.h"'
expect ok nn/loss.cpp '#include "nn/model/model.h"'
expect '"nn/ops" includes nn/model/model.h, of a folder that comes after it' nn/ops/product.h '#include "nn/model/model.h"'
expect 'below the torch line and includes ATen/ATen.h' nn/config/config.h '#include <ATen/ATen.h>'
expect '"base" (level 0) includes io/npy.h' base/file.h '  #  include "io/npy.h"'
expect 'nothing includes "capi"' cuda/plugin.cpp '#include "capi/handle.h"'
expect 'below the torch line and includes ATen/ATen.h' sample/neighbor.cpp '#include <ATen/ATen.h>'
expect 'below the torch line and includes c10/core/Device.h' comm/collectives.h '#include "c10/core/Device.h"'
expect 'below the torch line and includes torch/torch.h' feature/gather.cpp '#include <torch/torch.h>'
expect 'only "capi" may include gnnmg.h' train/trainer.cpp '#include "gnnmg.h"'
expect 'is no path from src/' io/npy.cpp '#include "npy.h"'
expect 'is no path from src/' io/npy.cpp '#include "../base/error.h"'
expect 'in quotes' io/npy.cpp '#include <base/error.h>'
expect 'the room "misc" is not in the table' misc/util.h '#include <vector>'
expect 'lies in no room' loose.h '#include <vector>'
expect 'torch-free rooms only' server/main.cpp '#include "nn/model/stack.h"'

rm -rf "$scratch"
((failures == 0)) && echo "every planted include was found"
