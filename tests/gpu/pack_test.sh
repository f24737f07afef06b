#!/usr/bin/env bash
# Packs a build folder and runs the package in a separate root, which has the system's programs and the wheels of LibTorch and
# nothing of this tree or of the environment.
#   pack_test.sh <build folder> <scratch folder> <folder of wheels> [<argument of run.sh>...]
# First every test of a GPU is skipped, since there is none. Then the same package runs with a fake GPU: its plug-in, the driver
# and nvidia-smi are replaced; it runs the parts of --light that are quick, and one in which test cases fail. With arguments
# only this second run takes place, with them, and its output is printed: for a rehearsal of --light first, for example.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1 scratch=$2 wheels=$3 rehearsed=("${@:4}")
if ! unshare -rm true 2>/dev/null; then
  echo "skipped: this user may not make a root of his own"
  [[ ${CI:-} != true ]] || exit 1
  exit 77
fi
root=$scratch/root
rm -rf "$scratch" && mkdir -p "$root/tests/gpu" "$scratch/fake"
bash "$here/pack.sh" --build "$build" --built "$scratch/package"
cp "$here"/{run,parts}.sh "$root/tests/gpu"

cat >"$scratch/inside.sh" <<'INSIDE'
set -euo pipefail
root=$1 package=$2 wheels=$3
for folder in bin sbin lib lib64 usr etc; do
  [[ -e /$folder ]] || continue
  mkdir -p "$root/$folder" && mount --rbind "/$folder" "$root/$folder"
done
mkdir -p "$root"/{proc,dev,tmp,package,wheels,machine}
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$package" "$root/package"
mount --bind "$wheels" "$root/wheels"
exec chroot "$root" /usr/bin/env -i PATH=/machine:/usr/bin:/bin:/usr/sbin PYTHONPATH=/wheels GNNMG_FAKE_GPUS=1 \
  bash /tests/gpu/run.sh --from /package --results /tmp/results --log /tmp/log "${@:4}"
INSIDE
# inside <package> <argument of run.sh>...
inside() {
  rm -f "$root"/tmp/{results,log}
  unshare -rm bash "$scratch/inside.sh" "$root" "$1" "$wheels" "${@:2}"
}
wrong() { echo "pack_test.sh: $1" && cat "$scratch/said" && exit 1; }
# expect <exit code> <package> <argument of run.sh>...: the output is in $scratch/said.
expect() {
  local status=0
  inside "${@:2}" >"$scratch/said" 2>&1 || status=$?
  ((status == $1)) || wrong "it ended with $status, expected $1"
}
# said <regular expression> <message otherwise>: checks the output, and the results.
said() {
  grep -qE "^VERDICT $1" "$scratch/said" || wrong "$2"
  grep -qE "^VERDICT $1" "$root/tmp/results" || wrong "$2, say the results"
}

if ((${#rehearsed[@]} == 0)); then
  expect 1 "$scratch/package" --light first --match 'gpu|memcheck'
  for test in gpu_table_test gpu_loader_test gpu_nn_test gpu_train_test gpu_nccl_test gpu_program_gpu gpu_program_train \
    gpu_capture_test; do
    said "$test: skipped \(.*no driver, hence no GPU\)" "$test was not skipped for want of a driver"
  done
  said "memcheck_gpu_table_test: not run, for compute-sanitizer does not work here" "memcheck ran without compute-sanitizer"
fi

tree=$scratch/tree
mkdir "$tree" && tar -xzf "$scratch/package/gnnmg-gpu.tar.gz" -C "$tree"
cp "$build/tests/fake_machine/libgnnmg_fake_cuda.so" "$tree/build/gpu/libgnnmg_cuda.so"
cp "$build/tests/fake_machine/libgnnmg_fake_driver.so" "$tree/build/gpu/lib/libcuda.so.1"
mkdir -p "$root/machine" && printf '#!/bin/sh\necho "GPU 0: a fake one"\n' >"$root/machine/nvidia-smi" && chmod +x "$root/machine/nvidia-smi"
fake() { tar -C "$tree" -I 'gzip -1' -cf "$scratch/fake/gnnmg-gpu.tar.gz" .; }
if ((${#rehearsed[@]})); then
  fake
  inside "$scratch/fake" "${rehearsed[@]}"
  exit
fi
(cd "$tree" && rm -r data build/gpu/tests/{bench,capi} build/gpu/tests/gpu/gpu_{loader,nn,train,capture,full,lost}_test && mkdir data)
# A GPU with too little memory for one of the cases: the later ones still run.
sed -i '/^gpu_table_test\t/ s/\tenv /&GNNMG_FAKE_MEMORY=1000000 /' "$tree/build/gpu/tests.tsv"
echo 'Device.*-*Marks*' >"$tree/build/gpu/tests/gpu/gpu_table_test.filter"
fake
expect 1 "$scratch/fake" --light first --match '^gpu_(table|nccl|program_gpu)'
said "gpu_table_test: failed in 1 of 6 cases" "the cases of gpu_table_test did not end as they do"
said "gpu_nccl_test: passed" "gpu_nccl_test did not pass"
said "gpu_program_gpu: passed" "the program did not train on the GPU"
grep -q "case that failed Device.RefusesWhatIsTooLargeAndGoesOn/Gpu0" "$scratch/said" || wrong "the case that failed is not named"
grep -q "OK . Device.CapturesWorkAndDoesItAgain/Gpu0" "$root/tmp/log" || wrong "no case passed after the one that failed"
echo "8 tests run as far as they can without a GPU, 3 on a fake one"
