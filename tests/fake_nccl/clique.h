// The memory in which the ranks of one communicator meet, of whatever processes: pages of a file
// that goes once all have it. Atomic words and no locks, so that a rank which is killed anywhere
// holds nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "comm/nccl/table.h"

namespace gnnmg::fake_nccl {

enum class Stage : int32_t { kAbsent, kJoined, kFinalized, kAborted };

// What a rank brings to a meeting, a piece at a time.
struct Piece {
  int32_t kind, type, op;
  int64_t count, offset;  // of the whole, and where the piece begins; elements and bytes
};

inline constexpr int64_t kPiece = 256 * 1024, kParcel = 64 * 1024;  // bytes

// A rank's side of the meetings of all ranks, one after another. When it has come to meeting n, its
// piece lies at n % 2: who comes to n has done with n - 1, so nobody reads n - 2 any more.
struct Place {
  std::atomic<Stage> stage;
  char bus_id[32];
  alignas(64) std::atomic<int64_t> come;  // meetings
  Piece piece[2];
  alignas(64) uint8_t bytes[2][kPiece];
};

// From one rank to another, parcel by parcel.
struct Box {
  alignas(64) std::atomic<int64_t> sent, taken;  // parcels
  int64_t whole;                                 // of the message that the parcel is of, bytes
  alignas(64) uint8_t bytes[kParcel];
};

class Clique {
 public:
  // A name for a clique that is not there yet; the file is.
  static comm::nccl::Id make_id();
  // Null when there is none of this name. `world` is everyone's.
  static std::unique_ptr<Clique> join(const comm::nccl::Id& id, int world, int rank,
                                      const char* bus_id);
  ~Clique();
  Clique(const Clique&) = delete;
  Clique& operator=(const Clique&) = delete;

  int world() const { return world_; }
  Place& place(int rank) const { return places_[rank]; }
  // Of messages, or of broadcasts.
  Box& box(bool broadcast, int from, int to) const;
  // Whether all have come as far; an aborted one never has.
  bool all_at(Stage stage) const;
  bool broken() const;  // one has aborted

 private:
  Clique(void* memory, int64_t bytes, int world);
  void* memory_;
  int64_t bytes_;
  int world_;
  Place* places_;
  Box* boxes_;
};

}  // namespace gnnmg::fake_nccl
