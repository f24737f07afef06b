#include "nn/ops/scratch.h"

#include <bit>
#include <map>
#include <mutex>
#include <new>

#include "base/memory.h"

namespace gnnmg::nn {

struct Scratch::Store {
  std::mutex mutex;
  std::multimap<int64_t, std::shared_ptr<void>> idle;  // blocks by capacity
  int64_t held = 0;
};

namespace {
// Eight capacities between a power of two and the next, so that consecutive mini-batches of
// slightly different sizes share blocks.
int64_t capacity_for(int64_t bytes) {
  constexpr int64_t kSmallest = 4096;
  if (bytes <= kSmallest) return kSmallest;
  const int64_t step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes - 1))) / 8;
  return (bytes + step - 1) / step * step;
}
}  // namespace

Scratch::Scratch() : store_(std::make_shared<Store>()) {}

std::shared_ptr<void> Scratch::take(int64_t bytes) {
  const int64_t wanted = capacity_for(bytes);
  std::shared_ptr<void> block, outgrown;
  int64_t capacity = wanted;
  {
    std::lock_guard lock(store_->mutex);
    auto found = store_->idle.lower_bound(wanted);
    if (found != store_->idle.end() && found->first <= wanted + wanted / 2) {
      capacity = found->first;
      block = std::move(found->second);
      store_->idle.erase(found);
    } else if (found != store_->idle.begin()) {
      // Batches have grown: drop the largest idle block that is too small in favor of its
      // successor.
      --found;
      outgrown = std::move(found->second);
      store_->held -= found->first;
      store_->idle.erase(found);
    }
  }
  outgrown.reset();
  if (!block) {
    block = base::allocate_pages(capacity);
    std::lock_guard lock(store_->mutex);
    store_->held += capacity;
  }
  void* memory = block.get();
  return {memory, [store = store_, block = std::move(block), capacity](void*) mutable {
            std::lock_guard lock(store->mutex);
            try {
              store->idle.emplace(capacity, block);
            } catch (const std::bad_alloc&) {  // free the block
              store->held -= capacity;
            }
            block.reset();
          }};
}

int64_t Scratch::held_bytes() const {
  std::lock_guard lock(store_->mutex);
  return store_->held;
}

}  // namespace gnnmg::nn
