#include "comm/gloo/introduction.h"

#include <algorithm>

#include "base/error.h"

namespace gnnmg::comm::gloo {
namespace {

std::string key_of(int rank) { return base::text("introduction/", rank); }

// Names one direction, so that a proof cannot be sent back to its author.
std::string role(int from, int to, const Proof& addresses) {
  return base::text("rank ", from, " to rank ", to, " at ", bytes_of(addresses));
}

}  // namespace

Introduction::Introduction(std::shared_ptr<AddressBoard> board, std::string key, int rank,
                           int world_size)
    : board_(std::move(board)),
      key_(std::move(key)),
      rank_(rank),
      world_size_(world_size),
      own_(make_nonce()) {
  board_->put(key_of(rank), std::string(own_.begin(), own_.end()));
}

std::optional<Proofs> Introduction::proofs(const Proof& addresses,
                                           const std::function<bool()>& over) const {
  Proofs proofs;
  for (int r = 0; r < world_size_; ++r) {
    const auto words = board_->get(key_of(r), over);
    if (!words) return std::nullopt;
    Nonce theirs;
    if (words->size() != theirs.size())
      base::fail(base::Status::kProtocol, "rank ", r, " introduces itself with ", words->size(),
                 " bytes, expected ", theirs.size());
    std::ranges::copy(*words, theirs.begin());
    proofs.shown.push_back(make_proof(key_, role(rank_, r, addresses), own_, theirs));
    proofs.expected.push_back(make_proof(key_, role(r, rank_, addresses), theirs, own_));
  }
  return proofs;
}

}  // namespace gnnmg::comm::gloo
