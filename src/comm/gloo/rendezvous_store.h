// The store through which Gloo's ranks find each other's addresses: LibTorch's interface to a
// board.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "comm/address_board.h"
#include "comm/group_state.h"
#include "comm/join/token.h"

namespace gnnmg::comm::gloo {

class RendezvousStore final : public c10d::Store {
 public:
  // Waits give up a moment after `state` has ended, or when `deadline` has passed.
  RendezvousStore(std::shared_ptr<AddressBoard> board, std::shared_ptr<GroupState> state,
                  base::Deadline deadline)
      : board_(std::move(board)), state_(std::move(state)), deadline_(deadline) {}

  // Values that were set through this store and its clones.
  const std::vector<std::string>& told() const { return words_->told; }
  // A digest of all values that were set or read, the addresses of all ranks: the same on every
  // connected rank, unless somebody has changed an address on the way.
  Proof transcript() const;

  c10::intrusive_ptr<c10d::Store> clone() override;
  void set(const std::string& key, const std::vector<uint8_t>& value) override;
  std::vector<uint8_t> get(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override;
  // Unused by a rendezvous; these throw.
  int64_t add(const std::string& key, int64_t value) override;
  bool deleteKey(const std::string& key) override;
  int64_t getNumKeys() override;

 private:
  std::shared_ptr<AddressBoard> board_;
  std::shared_ptr<GroupState> state_;
  base::Deadline deadline_;
  struct Words {
    std::vector<std::string> told;
    std::map<std::string, Proof> seen;  // digests of values, by key
  };
  std::shared_ptr<Words> words_ = std::make_shared<Words>();
};

}  // namespace gnnmg::comm::gloo
