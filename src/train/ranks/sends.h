// What the host sends to a device in every step, by pinned memory of a few pieces in turn: CUDA may
// hold up the host at a copy out of pageable memory until the device has come to it, and what is
// started behind that comes late.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>

#include "base/marks.h"
#include "loader/device_memory.h"
#include "nn/device.h"

namespace gnnmg::train {

// On the thread that works with the device's queue. When it goes, the device is through.
class Sends {
 public:
  static constexpr size_t kPieces = 8;
  // So many bytes CUDA takes at once, and needs no piece for.
  static constexpr int64_t kTakenAtOnce = 64 << 10;

  // Takes nothing yet.
  explicit Sends(const nn::Device& device);
  Sends(const Sends&) = delete;
  Sends& operator=(const Sends&) = delete;

  // A copy of a tensor of the host's, which may go at once, there for what comes into the queue
  // from here on. Never waits for a piece: out of pageable memory where the device has yet to come
  // to the copy of kPieces before, or the system pins no memory. Not within capture().
  at::Tensor put(const at::Tensor& host);

 private:
  struct Piece {
    Piece(const base::DeviceTable& table, int device)
        : memory(table, device, base::Placement::kPinned), copied(base::make_mark(table, device)) {}
    loader::DeviceBuffer memory;
    base::Mark copied;
  };
  // With room for `bytes`, of which nothing is copied any more; null: none.
  Piece* free_piece(int64_t bytes);

  const nn::Device& device_;
  std::deque<Piece> pieces_;
  size_t next_ = 0;
};

}  // namespace gnnmg::train
