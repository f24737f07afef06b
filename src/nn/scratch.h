// Memory for the tensors of a step: large blocks that come back when their last user is gone and
// are handed out again, so that no step writes fresh pages. Apart from the layers, which only ask.
#pragma once

#include <cstdint>
#include <memory>

namespace gnnmg::nn {

// Copies share one store of blocks. Any thread.
class Scratch {
 public:
  Scratch();
  // At least `bytes` of uninitialised memory, aligned to 64 bytes. It returns to the store with its
  // last share, which may outlive all Scratch objects.
  std::shared_ptr<void> take(int64_t bytes);
  // Bytes of the store, handed out and idle together.
  int64_t held_bytes() const;

 private:
  struct Store;
  std::shared_ptr<Store> store_;
};

}  // namespace gnnmg::nn
