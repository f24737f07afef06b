// The pool of mini-batches. It lives as long as any of them, so that batches outlive their loader.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "loader/loader.h"

namespace gnnmg::loader {

class BatchPool : public std::enable_shared_from_this<BatchPool> {
 public:
  // Keeps at most `most_kept` unused mini-batches.
  static std::shared_ptr<BatchPool> create(int64_t most_kept);
  ~BatchPool();
  BatchPool(const BatchPool&) = delete;
  BatchPool& operator=(const BatchPool&) = delete;

  // Returns the mini-batch that came back last, with its old contents, or a new one. It returns to
  // the pool with its last reference. Allocates nothing if there is one to reuse. Any thread.
  BatchRef take();

 private:
  // A mini-batch with room for its reference count.
  struct Node;
  template <typename T>
  struct CountAllocator;

  explicit BatchPool(int64_t most_kept) : most_kept_(most_kept) {}
  void give_back(Node* node) noexcept;

  const int64_t most_kept_;
  std::mutex mutex_;  // guards the members below
  Node* free_ = nullptr;
  int64_t num_free_ = 0;
};

}  // namespace gnnmg::loader
