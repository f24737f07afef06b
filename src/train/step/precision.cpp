#include "train/step/pass.h"

#include <ATen/Context.h>

#include <mutex>

#include "base/error.h"

namespace gnnmg::train {
namespace {

// The trainings on GPUs of this process, which share LibTorch's settings.
struct Holders {
  std::mutex mutex;
  int count = 0;  // trainings
  bool tf32 = false, before = false;
  // Trainings in bf16. By default cuBLAS may round partial sums of a product, such as gradients of
  // weights, to bf16.
  int in_bf16 = 0;
  at::CuBLASReductionOption sums_before{};
};
Holders& holders() {
  static auto& all = *new Holders;
  return all;
}

void hold(bool tf32) {
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  if (all.count > 0 && all.tf32 != tf32)
    base::fail(base::Status::kUnsupported,
               "precision: another trainer of this process works on GPUs ",
               all.tf32 ? "with" : "without",
               " TF32, which LibTorch has one setting of for all of a "
               "process; let one of them end first, or give both the same");
  if (all.count++ > 0) return;
  all.tf32 = tf32;
  all.before = at::globalContext().float32Precision(
                   at::Float32Backend::CUDA, at::Float32Op::MATMUL) == at::Float32Precision::TF32;
  if (all.before != tf32) at::globalContext().setAllowTF32CuBLAS(tf32);
}

void release() noexcept {
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  if (--all.count > 0 || all.before == all.tf32) return;
  at::globalContext().setAllowTF32CuBLAS(all.before);
}

void hold_sums() {
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  if (all.in_bf16++ > 0) return;
  all.sums_before = at::globalContext().allowBF16ReductionCuBLAS();
  at::globalContext().setAllowBF16ReductionCuBLAS(false, /*allow_splitk=*/true);
}

void release_sums() noexcept {
  using Option = at::CuBLASReductionOption;
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  if (--all.in_bf16 > 0) return;
  at::globalContext().setAllowBF16ReductionCuBLAS(
      all.sums_before == Option::AllowReducedPrecisionWithSplitK,
      all.sums_before != Option::DisallowReducedPrecisionDisallowSplitK);
}

}  // namespace

InPrecision::InPrecision(nn::Model& model, Precision precision)
    : model_(model), precision_(precision) {
  if (model.device()) {
    hold(precision == Precision::kTf32);
    if (precision == Precision::kBf16) hold_sums();
  }
  model.train_in_bf16(precision == Precision::kBf16);
}

InPrecision::~InPrecision() {
  model_.train_in_bf16(false);
  if (!model_.device()) return;
  if (precision_ == Precision::kBf16) release_sums();
  release();
}

}  // namespace gnnmg::train
