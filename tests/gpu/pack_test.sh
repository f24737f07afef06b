#!/usr/bin/env bash
# Packs what a build folder holds, and runs it in a root of its own, which has the system's programs and the wheels of LibTorch
# and nothing of this tree: every test of a GPU is skipped, since there is none.
#   pack_test.sh <build folder> <scratch folder> <folder of wheels>
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1 scratch=$2 wheels=$3
unshare -rm true 2>/dev/null || { echo "skipped: this user may not make a root of his own" && exit 77; }
rm -rf "$scratch" && mkdir -p "$scratch/root"
bash "$here/pack.sh" --build "$build" --built "$scratch/package"

cat >"$scratch/inside.sh" <<'INSIDE'
set -euo pipefail
root=$1 package=$2 wheels=$3 script=$4
for folder in bin sbin lib lib64 usr etc; do
  [[ -e /$folder ]] || continue
  mkdir -p "$root/$folder" && mount --rbind "/$folder" "$root/$folder"
done
mkdir -p "$root"/{proc,dev,tmp,package,wheels}
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$package" "$root/package"
mount --bind "$wheels" "$root/wheels"
cp "$script" "$root/run.sh"
exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin:/usr/sbin PYTHONPATH=/wheels bash /run.sh --from /package --light first \
  --results /tmp/results
INSIDE
status=0
unshare -rm bash "$scratch/inside.sh" "$scratch/root" "$scratch/package" "$wheels" "$here/run.sh" >"$scratch/said" 2>&1 || status=$?
wrong() { echo "pack_test.sh: $1" && cat "$scratch/said" && exit 1; }
((status == 1)) || wrong "it ended with $status, expected 1: nothing was shown"
for test in gpu_table_test gpu_loader_test gpu_nn_test gpu_train_test gpu_nccl_test gpu_program_gpu gpu_program_train \
  gpu_capture_test; do
  grep -qE "^VERDICT $test: skipped \(.*no driver, hence no GPU\)" "$scratch/said" || wrong "$test was not skipped for want of a driver"
  grep -q "^VERDICT $test: skipped" "$scratch/root/tmp/results" || wrong "the results do not name $test"
done
echo "8 tests run as far as they can without a GPU"
