#include "train/exit.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <c10/core/GradMode.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "base/device_wait.h"

namespace gnnmg::train {

struct ExitGuard::Entry {
  std::function<void()> call_off;
  std::function<bool()> at_rest;
};

namespace {

struct Registry {
  std::mutex mutex;
  std::vector<ExitGuard::Entry*> entries;
};
// Never destroyed: it is used while all else is.
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

// LibTorch's first backward pass makes objects that its later ones use. Here it is a small one, so
// that they are there, and outlive the ranks, before a rank needs them.
void use_torch_once() {
  const c10::AutoGradMode with_gradients(true);
  const at::Tensor x = at::ones({8, 8}).requires_grad_(true);
  at::relu(at::mm(x, x)).sum().backward();
}

constexpr auto kLongest = std::chrono::seconds(2);

}  // namespace

std::chrono::steady_clock::time_point exit_deadline() noexcept {
  static const auto deadline = std::chrono::steady_clock::now() + kLongest;
  return deadline;
}

ExitGuard::ExitGuard(std::function<void()> call_off, std::function<bool()> at_rest)
    : entry_(new Entry{std::move(call_off), std::move(at_rest)}) {
  std::lock_guard lock(registry().mutex);
  registry().entries.push_back(entry_);
}

ExitGuard::~ExitGuard() {
  {
    std::lock_guard lock(registry().mutex);
    std::erase(registry().entries, entry_);
  }
  delete entry_;
}

void ExitGuard::renew() noexcept {
  static std::atomic<int> calls{0};
  if (calls.fetch_add(1) >= 8) return;
  static std::once_flag used;
  try {
    std::call_once(used, use_torch_once);
  } catch (...) {  // the ranks will meet the same failure and report it
  }
  static const pid_t process = getpid();
  std::atexit([] {
    if (getpid() != process) return;  // a child has none of the ranks
    std::lock_guard lock(registry().mutex);
    const auto deadline = exit_deadline();
    for (ExitGuard::Entry* entry : registry().entries) entry->call_off();
    for (ExitGuard::Entry* entry : registry().entries)
      while (!entry->at_rest() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    base::wait_for_ever();
  });
}

}  // namespace gnnmg::train
