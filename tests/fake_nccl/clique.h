// The memory in which the ranks of one communicator meet, within or across processes: pages of a
// file that is removed once all ranks have opened it. Atomic words and no locks, so that a rank
// that is killed anywhere holds nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "comm/nccl/table.h"

namespace gnnmg::fake_nccl {

enum class Stage : int32_t { kAbsent, kJoined, kFinalized, kAborted };

// A rank's contribution to a meeting, one piece at a time.
struct Piece {
  int32_t kind, type, op;
  int64_t count, offset;  // elements of the whole, and first byte of the piece
};

inline constexpr int64_t kPiece = 256 * 1024, kParcel = 64 * 1024;  // bytes

// A rank's side of consecutive meetings of all ranks. At meeting n its piece is at n % 2: a rank
// that arrives at n is done with n - 1, so nobody reads n - 2 any more.
struct Place {
  std::atomic<Stage> stage;
  char bus_id[32];
  alignas(64) std::atomic<int64_t> come;  // number of meetings
  Piece piece[2];
  alignas(64) uint8_t bytes[2][kPiece];
};

// Messages from one rank to another, parcel by parcel.
struct Box {
  alignas(64) std::atomic<int64_t> sent, taken;  // numbers of parcels
  int64_t whole;                                 // bytes of the parcel's message
  alignas(64) uint8_t bytes[kParcel];
};

class Clique {
 public:
  // Returns a name for a new clique and creates its file.
  static comm::nccl::Id make_id();
  // Returns null if no clique has this name. All ranks pass the same `world`.
  static std::unique_ptr<Clique> join(const comm::nccl::Id& id, int world, int rank,
                                      const char* bus_id);
  ~Clique();
  Clique(const Clique&) = delete;
  Clique& operator=(const Clique&) = delete;

  int world() const { return world_; }
  Place& place(int rank) const { return places_[rank]; }
  // Returns the box for messages or for broadcasts.
  Box& box(bool broadcast, int from, int to) const;
  // True if all ranks have reached the stage; an aborted rank never does.
  bool all_at(Stage stage) const;
  bool broken() const;  // true if a rank has aborted

 private:
  Clique(void* memory, int64_t bytes, int world);
  void* memory_;
  int64_t bytes_;
  int world_;
  Place* places_;
  Box* boxes_;
};

}  // namespace gnnmg::fake_nccl
