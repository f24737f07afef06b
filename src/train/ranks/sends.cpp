#include "train/ranks/sends.h"

#include <ATen/ops/empty.h>

#include <cstring>

#include "base/error.h"

namespace gnnmg::train {

Sends::Sends(const nn::Device& device) : device_(device) {
  for (size_t i = 0; i < kPieces; ++i) pieces_.emplace_back(*device.table, device.index);
}

Sends::Piece* Sends::free_piece(int64_t bytes) {
  Piece& piece = pieces_[next_ % kPieces];
  if (!device_.table->reached(piece.copied.get())) return nullptr;
  try {
    piece.memory.reserve(bytes);
  } catch (const base::Error& error) {
    if (error.status() == base::Status::kDeviceLost) throw;
    return nullptr;
  }
  ++next_;
  return &piece;
}

at::Tensor Sends::put(const at::Tensor& host) {
  const at::Tensor from = host.contiguous();
  const auto bytes = static_cast<int64_t>(from.nbytes());
  if (bytes <= kNeverBlocks) return from.to(device_.torch(), /*non_blocking=*/true);
  const at::Tensor to = at::empty(from.sizes(), from.options().device(device_.torch()));
  const device::Table& table = *device_.table;
  Piece* const piece = free_piece(bytes);
  if (piece == nullptr) {
    table.copy(device_.queue, to.mutable_data_ptr(), from.const_data_ptr(), bytes);
    return to;
  }
  std::memcpy(piece->memory.data(), from.const_data_ptr(), from.nbytes());
  table.copy(device_.queue, to.mutable_data_ptr(), piece->memory.data(), bytes);
  table.record(device_.queue, piece->copied.get());
  return to;
}

}  // namespace gnnmg::train
