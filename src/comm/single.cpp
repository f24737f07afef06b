#include "comm/single.h"

#include <cstring>

#include "comm/check.h"

namespace gnnmg::comm {
namespace {

class Single final : public Collectives {
 public:
  explicit Single(std::shared_ptr<GroupState> state) : state_(std::move(state)) {}
  ~Single() override { state_->leave(0); }
  int rank() const override { return 0; }
  int world_size() const override { return 1; }

  void all_reduce(const base::TensorView& tensor, ReduceOp op, const Wait& wait) override {
    check_reduce(tensor, op);
    pass("all_reduce", wait);
  }
  void broadcast(const base::TensorView&, int root, const Wait& wait) override {
    check_root(root, 1);
    pass("broadcast", wait);
  }
  void all_gather(const base::TensorView& input, std::span<const base::TensorView> outputs,
                  const Wait& wait) override {
    check_gather(input, outputs, 0, 1);
    pass("all_gather", wait);
    copy(outputs[0], input);
  }
  void all_to_all(std::span<const base::TensorView> inputs,
                  std::span<const base::TensorView> outputs, const Wait& wait) override {
    check_exchange(inputs, outputs, 0, 1);
    pass("all_to_all", wait);
    copy(outputs[0], inputs[0]);
  }
  void barrier(const Wait& wait) override { pass("barrier", wait); }
  void shutdown(const Wait& wait) override { pass("shutdown", wait); }
  void abort(const std::string& why) noexcept override { state_->end(abort_cause(why, -1, 0)); }
  bool spent() const noexcept override { return state_->ended(); }
  void set_position(const Position& position) noexcept override {
    state_->set_position(0, position);
  }

 private:
  // Enters an operation, to notice cancel and abort as the engines do.
  void pass(const char* what, const Wait& wait) {
    state_->enter(0, ++operation_);
    state_->wait(0, operation_, what, wait, [] { return true; });
  }
  static void copy(const base::TensorView& to, const base::TensorView& from) {
    if (to.data != from.data && from.num_bytes() > 0)
      std::memcpy(to.data, from.data, from.num_bytes());
  }
  std::shared_ptr<GroupState> state_;
  uint64_t operation_ = 0;
};

}  // namespace

std::unique_ptr<Collectives> make_single(std::shared_ptr<GroupState> state) {
  return std::make_unique<Single>(std::move(state));
}

}  // namespace gnnmg::comm
