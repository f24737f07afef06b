// The store in which Gloo's ranks find each other's addresses, over the job's control connections:
// they are told to processes that have proven to belong to the job, and no port of its own listens
// for them.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "comm/group_state.h"
#include "comm/join/control.h"

namespace gnnmg::comm::gloo {

class ControlStore final : public c10d::Store {
 public:
  // Waits give up when `state` has ended or `deadline` has passed.
  ControlStore(std::shared_ptr<Control> control, uint64_t group, std::shared_ptr<GroupState> state,
               base::Deadline deadline)
      : control_(std::move(control)),
        group_(group),
        state_(std::move(state)),
        deadline_(deadline) {}

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
  std::shared_ptr<Control> control_;
  uint64_t group_;
  std::shared_ptr<GroupState> state_;
  base::Deadline deadline_;
};

}  // namespace gnnmg::comm::gloo
