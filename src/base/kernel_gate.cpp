#include "base/kernel_gate.h"

#include <utility>

namespace gnnmg::base {
namespace {

// Threads without a gate do not touch it: the first touch takes memory, for its end.
thread_local std::shared_ptr<KernelGate> current_gate;
thread_local bool has_gate = false, calling = false;

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
  if (!gate && !has_gate) return;
  has_gate = gate != nullptr;
  current_gate = std::move(gate);
}

std::shared_ptr<KernelGate> KernelGate::current() noexcept {
  return has_gate ? current_gate : nullptr;
}

MemoryCall::MemoryCall() noexcept {
  if (calling || !has_gate) return;
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
