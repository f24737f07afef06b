// The pool that mini-batches come from and go back to. Lives as long as any of them, so that
// batches outlive their loader.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "loader/loader.h"

namespace gnnmg::loader {

class BatchPool : public std::enable_shared_from_this<BatchPool> {
 public:
  // Keeps at most `most_kept` mini-batches that nobody holds.
  static std::shared_ptr<BatchPool> create(int64_t most_kept);
  ~BatchPool();
  BatchPool(const BatchPool&) = delete;
  BatchPool& operator=(const BatchPool&) = delete;

  // The mini-batch that was given back last, as it was left, or a new one. Goes back when its last
  // reference goes. Allocates nothing when there is one to reuse. Any thread.
  BatchRef take();

 private:
  // A mini-batch with room for the reference count that it is handed out under.
  struct Node;
  template <typename T>
  struct CountAllocator;

  explicit BatchPool(int64_t most_kept) : most_kept_(most_kept) {}
  void give_back(Node* node) noexcept;

  const int64_t most_kept_;
  std::mutex mutex_;  // guards what follows
  Node* free_ = nullptr;
  int64_t num_free_ = 0;
};

}  // namespace gnnmg::loader
