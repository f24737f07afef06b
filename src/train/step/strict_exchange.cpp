// The exchange of strict mode, which determines the order in which gradients are added: the order
// of the mini-batches in the plan (add_in_order()). Sums of floats depend on their order, so no
// rank adds up the gradients of its own mini-batches. Ranks gather them in rounds of one mini-batch
// per rank, and every rank adds up all of them.
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <type_traits>

#include "train/step/exchange.h"

namespace gnnmg::train {
namespace {

// The head of a rank's message in a round; gradients and statistics follow.
struct Numbers {
  StepSums sums;
  int64_t place = -1;  // number of the mini-batch in the step; -1: none this round
  bool has_statistics = false;
  double busy = 0;  // seconds before the round
};
static_assert(std::is_trivially_copyable_v<Numbers>);

constexpr int64_t kAlignment = 64;
constexpr int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

class StrictExchange final : public StepExchange {
 public:
  StrictExchange(nn::Model& model, RankComm& comm, int64_t batches_per_step)
      : StepExchange(model, comm, batches_per_step),
        gradients_at_(aligned(sizeof(Numbers))),
        statistics_at_(gradients_at_ + aligned(gradients_ * element_size())),
        row_bytes_(statistics_at_ + aligned(width_ * element_size())),
        total_(at::zeros_like(model.flat_gradients())) {
    const at::TensorOptions bytes = total_.options().dtype(at::kByte);
    own_ = at::empty({row_bytes_}, bytes).zero_();
    if (comm.world_size() > 1) all_ = at::empty({comm.world_size(), row_bytes_}, bytes);
  }

  void begin(int64_t batches) override {
    rounds_left_ = (batches + comm_.world_size() - 1) / comm_.world_size();
    total_.zero_();
    sums_ = {};
    early_.clear();
    next_ = {};
    waited_ = 0;
    next_place_ = 0;
    rows_.clear();
    model_.zero_gradients();
  }

  void add(const StepSums& batch, const DeviceCounts& counts, int64_t place,
           const at::Tensor& statistics) override {
    next_ = {batch, place, statistics.defined()};
    add_counts(counts, next_.sums);
    next_statistics_ = statistics;
    if (rounds_left_ > 1) send(comm_.wait());  // reduce() sends the last one, with `stop`
  }

  void reduce(StepSums& sums, const DeviceCounts&) override {
    const comm::Wait wait = comm_.wait();
    while (rounds_left_ > 1) send(wait);
    next_.sums.stop = sums.stop;
    next_.sums.write_failed = sums.write_failed;
    send(wait);
    c10::NoGradGuard no_grad;
    model_.flat_gradients().copy_(total_);
    sums = sums_;
  }

 private:
  int64_t element_size() const { return model_.flat_gradients().element_size(); }
  at::Tensor values(uint8_t* at, int64_t count) const {
    return at::from_blob(at, {count}, total_.options());
  }

  // One round: sends this rank's mini-batch, or none, and takes those of all ranks.
  void send(const comm::Wait& wait) {
    c10::NoGradGuard no_grad;
    uint8_t* row = own_.data_ptr<uint8_t>();
    if (next_.place >= 0) values(row + gradients_at_, gradients_).copy_(model_.flat_gradients());
    if (next_.has_statistics) values(row + statistics_at_, width_).copy_(next_statistics_);
    settle();  // the busy time of this rank ends here
    const double own = next_.busy = comm_.busy_seconds();
    copy(row, &next_, sizeof next_);
    settle();
    next_ = {};
    --rounds_left_;
    model_.zero_gradients();
    if (comm_.world_size() == 1) return take({row});
    std::vector<base::TensorView> outputs;
    std::vector<uint8_t*> rows;
    for (int r = 0; r < comm_.world_size(); ++r) {
      rows.push_back(all_.data_ptr<uint8_t>() + r * row_bytes_);
      outputs.push_back({rows.back(), base::DType::kU8, {row_bytes_}});
    }
    comm_.get().all_gather({row, base::DType::kU8, {row_bytes_}}, outputs, wait);
    most_busy_ = 0;
    take(rows);
    note_waiting(own, most_busy_);
  }

  // One mini-batch of a message.
  struct Sent {
    StepSums sums;
    at::Tensor gradients, statistics;
  };

  // Takes the messages of one round, by rank.
  void take(const std::vector<uint8_t*>& rows) {
    std::vector<Numbers> numbers(rows.size());
    for (size_t r = 0; r < rows.size(); ++r) copy(&numbers[r], rows[r], sizeof(Numbers));
    settle();
    for (size_t r = 0; r < rows.size(); ++r) {
      most_busy_ = std::max(most_busy_, numbers[r].busy);
      Sent sent{numbers[r].sums, {}, {}};
      if (numbers[r].place < 0) {
        sums_.add(sent.sums);
        continue;
      }
      sent.gradients = values(rows[r] + gradients_at_, gradients_);
      if (numbers[r].has_statistics)
        sent.statistics = values(rows[r] + statistics_at_, width_).clone();
      add_in_order(numbers[r].place, std::move(sent));
    }
    if (rounds_left_ > 0) return;
    for (const auto& [place, sent] : early_) add(sent);
    early_.clear();
  }

  // Adds a mini-batch once all with lower numbers are added. With plan=parts some arrive too early,
  // because each rank prefers the parts that are near to it: they wait in early_.
  void add_in_order(int64_t place, Sent sent) {
    if (place != next_place_) {
      sent.gradients = sent.gradients.clone();
      early_.emplace(place, std::move(sent));
      return;
    }
    add(sent);
    ++next_place_;
    for (auto next = early_.begin(); next != early_.end() && next->first == next_place_;
         next = early_.erase(next), ++next_place_)
      add(next->second);
  }

  void add(const Sent& sent) {
    sums_.add(sent.sums);
    total_.add_(sent.gradients);
    if (sent.statistics.defined()) rows_.push_back(sent.statistics);
  }

  void copy(void* to, const void* from, int64_t bytes) const {
    if (const nn::Device* device = model_.device())
      device->table->copy(device->queue, to, from, bytes);
    else
      std::memcpy(to, from, static_cast<size_t>(bytes));
  }

  const int64_t gradients_at_, statistics_at_, row_bytes_;
  at::Tensor total_;
  at::Tensor own_, all_;  // rows as sent: [row bytes], [world size, row bytes]
  Numbers next_;          // this rank's next message
  at::Tensor next_statistics_;
  StepSums sums_;
  int64_t next_place_ = 0;         // number of the mini-batch that is added next
  std::map<int64_t, Sent> early_;  // [place]
  double most_busy_ = 0;           // longest busy time of the round
  int64_t rounds_left_ = 0;
};

}  // namespace

std::unique_ptr<StepExchange> make_strict_exchange(nn::Model& model, RankComm& comm,
                                                   int64_t batches_per_step) {
  return std::make_unique<StrictExchange>(model, comm, batches_per_step);
}

}  // namespace gnnmg::train
