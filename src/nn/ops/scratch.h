// Memory for the tensors of a step: large blocks return to a store after their last use and are
// reused, so that no step writes fresh pages.
#pragma once

#include <cstdint>
#include <memory>

namespace gnnmg::nn {

// Copies share one store of blocks. Any thread.
class Scratch {
 public:
  Scratch();
  // Returns at least `bytes` of uninitialized memory, aligned to 64 bytes. It returns to the store
  // with its last reference, which may outlive all Scratch objects.
  std::shared_ptr<void> take(int64_t bytes);
  // Bytes of the store, in use and idle together.
  int64_t held_bytes() const;

 private:
  struct Store;
  std::shared_ptr<Store> store_;
};

}  // namespace gnnmg::nn
