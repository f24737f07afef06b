#include "loader/batch_pool.h"

#include <utility>

#include "loader/device_slot.h"

namespace gnnmg::loader {

struct BatchPool::Node {
  Batch batch;
  Node* next = nullptr;
  alignas(std::max_align_t) unsigned char count[96];
};

// Puts a shared_ptr's reference count into the node and returns the node to the pool after the
// count's destruction. A deleter would run too early, while the count is still in the node.
template <typename T>
struct BatchPool::CountAllocator {
  using value_type = T;
  std::shared_ptr<BatchPool> pool;
  Node* node;

  CountAllocator(std::shared_ptr<BatchPool> p, Node* n) : pool(std::move(p)), node(n) {}
  template <typename U>
  CountAllocator(const CountAllocator<U>& other) : pool(other.pool), node(other.node) {}
  T* allocate(size_t n) {
    static_assert(sizeof(T) <= sizeof(node->count) && alignof(T) <= alignof(std::max_align_t));
    if (n != 1) throw std::bad_array_new_length();
    return reinterpret_cast<T*>(node->count);
  }
  void deallocate(T*, size_t) noexcept { pool->give_back(node); }
  template <typename U>
  bool operator==(const CountAllocator<U>& other) const {
    return node == other.node;
  }
};

std::shared_ptr<BatchPool> BatchPool::create(int64_t most_kept) {
  return std::shared_ptr<BatchPool>(new BatchPool(most_kept));
}

BatchPool::~BatchPool() {
  while (free_) delete std::exchange(free_, free_->next);
}

BatchRef BatchPool::take() {
  Node* node = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (free_) {
      node = std::exchange(free_, free_->next);
      --num_free_;
    }
  }
  if (!node) node = new Node;
  const auto let_go = [](Batch* batch) noexcept {
    if (batch->device) loader::give_back(*batch->device);
  };
  return BatchRef(&node->batch, let_go, CountAllocator<Batch>(shared_from_this(), node));
}

void BatchPool::give_back(Node* node) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (num_free_ < most_kept_) {
      node->next = free_;
      free_ = node;
      ++num_free_;
      return;
    }
  }
  delete node;
}

}  // namespace gnnmg::loader
