#include "base/kernel_gate.h"

#include <utility>

namespace gnnmg::base {
namespace {

thread_local std::shared_ptr<KernelGate> current_gate;
thread_local bool calling = false;

}  // namespace

bool KernelGate::try_start() noexcept {
  const std::lock_guard lock(mutex_);
  // Who follows another rank's kernel must not wait for a call that waits for that kernel.
  if (kernels_ == 0 && (calls_ > 0 || waiting_ > 0)) return false;
  ++kernels_;
  return true;
}

void KernelGate::finish() noexcept {
  const std::lock_guard lock(mutex_);
  if (--kernels_ == 0) free_.notify_all();
}

void KernelGate::begin_call() noexcept {
  std::unique_lock lock(mutex_);
  ++waiting_;
  free_.wait(lock, [this] { return kernels_ == 0; });
  --waiting_;
  ++calls_;
}

void KernelGate::end_call() noexcept {
  const std::lock_guard lock(mutex_);
  --calls_;
}

void KernelGate::set_current(std::shared_ptr<KernelGate> gate) noexcept {
  current_gate = std::move(gate);
}

std::shared_ptr<KernelGate> KernelGate::current() noexcept { return current_gate; }

MemoryCall::MemoryCall() noexcept {
  if (calling || !current_gate) return;
  gate_ = current_gate.get();
  gate_->begin_call();
  calling = true;
}

MemoryCall::~MemoryCall() {
  if (!gate_) return;
  calling = false;
  gate_->end_call();
}

}  // namespace gnnmg::base
