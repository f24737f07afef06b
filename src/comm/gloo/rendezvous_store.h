// The store in which Gloo's ranks find each other's addresses: LibTorch's view of a board.
#pragma once

#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "comm/address_board.h"
#include "comm/group_state.h"

namespace gnnmg::comm::gloo {

class RendezvousStore final : public c10d::Store {
 public:
  // Waits give up a moment after `state` has ended, or when `deadline` has passed.
  RendezvousStore(std::shared_ptr<AddressBoard> board, std::shared_ptr<GroupState> state,
                  base::Deadline deadline)
      : board_(std::move(board)), state_(std::move(state)), deadline_(deadline) {}

  // What was set through this store and its clones.
  const std::vector<std::string>& told() const { return *told_; }

  c10::intrusive_ptr<c10d::Store> clone() override;
  void set(const std::string& key, const std::vector<uint8_t>& value) override;
  std::vector<uint8_t> get(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override;
  // What a rendezvous does not need is refused.
  int64_t add(const std::string& key, int64_t value) override;
  bool deleteKey(const std::string& key) override;
  int64_t getNumKeys() override;

 private:
  std::shared_ptr<AddressBoard> board_;
  std::shared_ptr<GroupState> state_;
  base::Deadline deadline_;
  std::shared_ptr<std::vector<std::string>> told_ = std::make_shared<std::vector<std::string>>();
};

}  // namespace gnnmg::comm::gloo
