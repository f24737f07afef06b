// LibTorch asks registered callbacks to free some of its memory if no block of its cache fits. The
// library's callback frees nothing, but learns that LibTorch is about to call CUDA, first to
// allocate memory, then to free its cache. Afterwards LibTorch reports the memory that it
// returns, or that there is none; it reports no other failure (device/launch_order.h). All this
// happens on the allocating thread, with the lock of the device's cache held.
#include "cuda/growth.h"

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <atomic>
#include <mutex>

namespace gnnmg::cuda {
namespace {

using c10::CachingDeviceAllocator::TraceEntry;

std::atomic<void (*)() noexcept> the_before{nullptr}, the_after{nullptr};

class BeforeGrowth final : public c10::FreeMemoryCallback {
 public:
  bool Execute() override {
    if (const auto before = the_before.load()) before();
    return false;
  }
};

}  // namespace

void watch_growth(void (*before)() noexcept, void (*after)() noexcept) {
  static std::once_flag once;
  std::call_once(once, [&] {
    the_after = after;
    try {
      at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
      c10::cuda::CUDACachingAllocator::attachAllocatorTraceTracker(
          [after](const TraceEntry& entry) {
            if (entry.action_ == TraceEntry::ALLOC || entry.action_ == TraceEntry::OOM) after();
          });
    } catch (const c10::Error&) {  // LibTorch does not call the other callback either
    }
    the_before = before;  // set last, so that every beginning has an end
  });
}

Growing::Growing() noexcept {
  if (const auto before = the_before.load()) before();
}

Growing::~Growing() {
  if (const auto after = the_after.load()) after();
}

}  // namespace gnnmg::cuda

// Registered when the plug-in is opened, because LibTorch reads its list of callbacks without a
// lock.
namespace c10 {
namespace {
REGISTER_FREE_MEMORY_CALLBACK("gnnmg_before_growth", gnnmg::cuda::BeforeGrowth)
}
}  // namespace c10
