// How the ranks of a communicator make sure of each other. Gloo takes whoever connects first and
// says a rank's number for that rank. So each pair of ranks, once connected, shows a proof over the
// very connection that data will take: HMAC-SHA-256 under a key of this job alone, of random
// numbers that both have left on the board, of both ranks' numbers, and of the addresses that all
// ranks have told each other there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/address_board.h"
#include "comm/join/token.h"

namespace gnnmg::comm::gloo {

// By rank; what stands at the own one is of no use.
struct Proofs {
  std::vector<Proof> shown, expected;
};

class Introduction {
 public:
  // Leaves this rank's number on the board; `key` may be empty, among ranks of one process.
  Introduction(std::shared_ptr<AddressBoard> board, std::string key, int rank, int world_size);
  // Once all have left theirs; nothing when `over` became true first. `addresses`: a digest of
  // those that this rank has told and was told.
  std::optional<Proofs> proofs(const Proof& addresses, const std::function<bool()>& over) const;

 private:
  const std::shared_ptr<AddressBoard> board_;
  const std::string key_;
  const int rank_, world_size_;
  const Nonce own_;
};

}  // namespace gnnmg::comm::gloo
