// Copies to a device in every step, by a few pieces of pinned memory in turn. CUDA may block the
// host in a copy out of pageable memory until the device has reached the copy, which delays the
// work that is started after it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>

#include "device/owners.h"
#include "nn/torch/device.h"

namespace gnnmg::train {

// Use it on the thread of the device's queue. Destroy it after the queue's work is over.
class Sends {
 public:
  static constexpr size_t kPieces = 8;
  // CUDA copies up to so many bytes of pageable memory without blocking: they need no piece.
  static constexpr int64_t kNeverBlocks = 64 << 10;

  // Takes no memory yet.
  explicit Sends(const nn::Device& device);
  Sends(const Sends&) = delete;
  Sends& operator=(const Sends&) = delete;

  // Returns a copy on the device, for later work in its queue. The host's tensor may be freed at
  // once. Never waits for a piece: if the device has not reached the copy of kPieces before, or if
  // the system pins no memory, the copy is out of pageable memory. Not within capture().
  at::Tensor put(const at::Tensor& host);

 private:
  struct Piece {
    Piece(const device::Table& table, int device)
        : memory(table, device, device::Placement::kPinned),
          copied(device::make_owned_event(table, device)) {}
    device::Buffer memory;
    device::OwnedEvent copied;
  };
  // A piece with room for `bytes` whose last copy is over; null if there is none.
  Piece* free_piece(int64_t bytes);

  const nn::Device& device_;
  std::deque<Piece> pieces_;
  size_t next_ = 0;
};

}  // namespace gnnmg::train
