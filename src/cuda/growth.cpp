// LibTorch asks whoever has registered whether he can free something of its memory when its cache
// has nothing that fits: nobody of ours can, and that is when it is about to call CUDA, first to
// take memory, then to give back what it has cached. When it is through with that it tells of the
// memory that it hands out, or that there is none; of any other failure it does not
// (base/kernel_gate.h). Both happen on the thread that wants memory, with the lock of the device's
// cache held.
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
    } catch (const c10::Error&) {  // it calls nobody before it either
    }
    the_before = before;  // last, so that what is begun is ended
  });
}

Growing::Growing() noexcept {
  if (const auto before = the_before.load()) before();
}

Growing::~Growing() {
  if (const auto after = the_after.load()) after();
}

}  // namespace gnnmg::cuda

// When the plug-in is opened: LibTorch reads its list of these without a lock.
namespace c10 {
namespace {
REGISTER_FREE_MEMORY_CALLBACK("gnnmg_before_growth", gnnmg::cuda::BeforeGrowth)
}
}  // namespace c10
