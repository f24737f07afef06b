#!/usr/bin/env bash
# Checks that files compiled with LibTorch in a linked folder, as with a .deps that is a symbolic link, name no folder of the
# builder. The compiler writes such a folder with the link or without, whichever is shorter, and ccache writes it from the build
# folder; so the link is once longer and once shorter than the path of its target, and the path is once relative.
#   linked_test.sh <cmake> <folder of LibTorch, with include and lib> <scratch folder>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cmake=$1 scratch=$3
rm -rf "$scratch" && mkdir -p "$scratch/long"
outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
fail() { printf '%s\n' "$*" && exit 1; }
torch=$outside/elsewhere/torch # not below the checkout, whose folder the compiler removes anyway
mkdir -p "$torch/include/torch/csrc/api/include"
cp -r "$2/include/c10" "$torch/include" && cp -r "$2/include/torch/headeronly" "$torch/include/torch" && ln -s "$2/lib" "$torch/lib"
cat >"$scratch/names.cpp" <<'END'
#include <c10/core/Scalar.h>
long value(const c10::Scalar& scalar) { return scalar.toLong(); }
END

# compile <object> <sed expression>: with the flags of a file of the project that LibTorch's headers are for
compile() {
  local flags words
  flags=$(python3 -c 'import json, sys
print(next(e["command"] for e in json.load(open("compile_commands.json")) if "-fmacro-prefix-map" in e["command"]))' |
    grep -oE '(^| )(-isystem |-I|-D|-f(macro-prefix-map|visibility)|-std=|-O)[^ ]+')
  words=$(sed -E "$2" <<<"$flags")
  [[ -z $2 || $words != "$flags" ]] || fail "no flag is changed by $2"
  # shellcheck disable=SC2086 # several words
  c++ $words -c "$scratch/names.cpp" -o "$1"
  grep -qF c10/core/Scalar.h "$1" || fail "the object names no header of LibTorch"
}
unnamed() { bash "$here/unnamed.sh" "$1" "$top" "$scratch" "$link" "$outside"; }

long=$scratch/long/$(printf 'longer%.0s' {1..30})
for link in "$long" "$outside/t"; do
  ln -s "$torch" "$link"
  build=$scratch/build-$(basename "$link" | cut -c1-4)
  "$cmake" -S "$top" -B "$build" -G Ninja -DGNNMG_TORCH_DIR="$link" -DGNNMG_TESTS=OFF -DGNNMG_EXAMPLES=OFF -DGNNMG_CUDA=OFF \
    >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "the project cannot be configured with $link"; }
  cd "$build" && mkdir objects
  compile objects/absolute.o ''
  compile objects/relative.o "s|-isystem $link|-isystem $(realpath --relative-to=. -s "$link")|"
  unnamed objects || fail "with the link $link"
  mkdir planted
  compile planted/names.o '/-fmacro-prefix-map/d'
  ! unnamed planted >"$scratch/log" || fail "a folder of the builder is not found"
done
tree=$scratch/tree
mkdir "$tree" && cp "$top/.gitignore" "$tree" && ln -s "$torch" "$tree/.deps"
if command -v git >"$scratch/log"; then
  git -C "$tree" init -q
  [[ $(git -C "$tree" status --porcelain) == "?? .gitignore" ]] || fail ".gitignore lets a linked .deps in"
fi
echo "objects name no folder of a linked LibTorch, and git ignores a linked .deps"
