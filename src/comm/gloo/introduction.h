// Mutual verification of ranks. Gloo accepts any connection, with any rank number in it. So each
// pair of ranks shows a proof over the same connection that will carry data: HMAC-SHA-256 under the
// job's key of both ranks' nonces from the board, both rank numbers, and the addresses that all
// ranks have exchanged.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/address_board.h"
#include "comm/join/token.h"

namespace gnnmg::comm::gloo {

// One proof per rank; the own one is unused.
struct Proofs {
  std::vector<Proof> shown, expected;
};

class Introduction {
 public:
  // Puts this rank's nonce on the board; `key` may be empty among ranks of one process.
  Introduction(std::shared_ptr<AddressBoard> board, std::string key, int rank, int world_size);
  // Returns the proofs once all nonces are on the board; nothing if `over` becomes true first.
  // `addresses`: a digest of all exchanged addresses.
  std::optional<Proofs> proofs(const Proof& addresses, const std::function<bool()>& over) const;

 private:
  const std::shared_ptr<AddressBoard> board_;
  const std::string key_;
  const int rank_, world_size_;
  const Nonce own_;
};

}  // namespace gnnmg::comm::gloo
