#include "train/step/exchange.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "device/wait.h"

namespace gnnmg::train {
namespace {

// Each number is sent as two of the model's type; the second holds the rounding error of the first.
// So counts up to 2^24 a rank and step are exact in f32, and sums keep more digits than f32 has.
constexpr int kNumbers = 8;

template <typename T>
void pack(const StepSums& sums, T* out) {
  const std::array<double, kNumbers> values{sums.loss,
                                            sums.weight,
                                            static_cast<double>(sums.correct),
                                            static_cast<double>(sums.labeled),
                                            static_cast<double>(sums.seeds),
                                            sums.stop ? 1.0 : 0.0,
                                            sums.bad ? 1.0 : 0.0,
                                            sums.write_failed ? 1.0 : 0.0};
  for (double value : values) {
    const T high = static_cast<T>(value);
    *out++ = high;
    *out++ = static_cast<T>(value - static_cast<double>(high));
  }
}

// Reads the sums of all ranks. `world` numbers follow, the busy seconds of each rank: returns the
// largest.
template <typename T>
double unpack(const T* in, int64_t world, StepSums& sums) {
  std::array<double, kNumbers> values;
  for (double& value : values) {
    value = static_cast<double>(in[0]) + static_cast<double>(in[1]);
    in += 2;
  }
  sums.loss = values[0];
  sums.weight = values[1];
  sums.correct = std::llround(values[2]);
  sums.labeled = std::llround(values[3]);
  sums.seeds = std::llround(values[4]);
  sums.stop = values[5] > 0;
  sums.bad = values[6] > 0;
  sums.write_failed = values[7] > 0;
  return static_cast<double>(*std::max_element(in, in + world));
}

class AllReduce final : public StepExchange {
 public:
  AllReduce(nn::Model& model, RankComm& comm, int64_t batches_per_step)
      : StepExchange(model, comm, batches_per_step), places_(width_ == 0 ? 0 : batches_per_step) {
    const int64_t table = places_ * (1 + width_);
    const auto options = model.flat_gradients().options().requires_grad(false);
    if (comm.world_size() == 1) {
      table_ = at::zeros({places_, 1 + width_}, options);
      return;
    }
    const int64_t numbers = 2 * kNumbers + comm.world_size();
    buffer_ = at::zeros({gradients_ + table + numbers}, options);
    table_ = buffer_.narrow(0, gradients_, table).view({places_, 1 + width_});
    numbers_ = buffer_.narrow(0, gradients_ + table, numbers);
    own_ = model.device() ? at::zeros({numbers}, options.device(at::kCPU)) : numbers_;
  }

  void begin(int64_t) override {
    model_.zero_gradients();
    table_.zero_();
    waited_ = 0;
  }

  void add(const StepSums&, const DeviceCounts&, int64_t place,
           const at::Tensor& statistics) override {
    if (!statistics.defined()) return;
    c10::NoGradGuard no_grad;
    at::Tensor out = table_[place];
    out[0].fill_(1);
    out.narrow(0, 1, width_).copy_(statistics);
  }

  void reduce(StepSums& sums, const DeviceCounts& counts) override {
    const comm::Wait wait = comm_.wait();
    c10::NoGradGuard no_grad;
    if (comm_.world_size() > 1) {
      at::Tensor gradients = model_.flat_gradients();
      buffer_.narrow(0, 0, gradients_).copy_(gradients);
      const bool wide = buffer_.scalar_type() == at::kDouble;
      settle();  // the busy time of this rank ends here
      const double own = comm_.busy_seconds();
      own_.zero_();
      if (wide)
        pack(sums, own_.data_ptr<double>());
      else
        pack(sums, own_.data_ptr<float>());
      own_[2 * kNumbers + comm_.rank()].fill_(own);
      if (model_.device()) send_numbers(counts);
      comm_.get().all_reduce(
          {buffer_.data_ptr(), wide ? base::DType::kF64 : base::DType::kF32, {buffer_.numel()}},
          comm::ReduceOp::kSum, wait);
      if (model_.device()) own_.copy_(numbers_);
      const int64_t world = comm_.world_size();
      note_waiting(own, wide ? unpack(own_.data_ptr<double>(), world, sums)
                             : unpack(own_.data_ptr<float>(), world, sums));
      gradients.copy_(buffer_.narrow(0, 0, gradients_));
      if (model_.device()) sums.bad = sums.bad || !std::isfinite(sums.loss);
    } else {
      add_counts(counts, sums);
    }
    rows_.clear();
    if (places_ == 0) return;
    const at::Tensor present = table_.select(1, 0).to(at::kCPU, at::kDouble).contiguous();
    for (int64_t place = 0; place < places_; ++place)
      if (present.data_ptr<double>()[place] > 0)
        rows_.push_back(table_[place].narrow(0, 1, width_).clone());
  }

 private:
  // Sends the host's numbers to the device, and puts the device's counts in their places there.
  void send_numbers(const DeviceCounts& counts) {
    numbers_.copy_(own_);
    if (counts.defined()) {
      const at::Tensor high = counts.to(numbers_.scalar_type());
      const at::Tensor pairs =
          at::stack({high, counts.sub(high.to(at::kDouble)).to(numbers_.scalar_type())}, 1);
      numbers_.narrow(0, 0, 2).copy_(pairs[0]);  // the loss
      numbers_.narrow(0, 4, 2).copy_(pairs[1]);  // right answers
    }
    settle();
  }

  const int64_t places_;
  at::Tensor buffer_;  // gradients | places x (present, statistics) | numbers, busy by rank
  at::Tensor table_;   // [places, 1 + width], a view of buffer_
  at::Tensor numbers_;
  at::Tensor own_;  // the host's numbers_
};

}  // namespace

void StepSums::add(const StepSums& other) {
  LossSums::add(other);
  stop = stop || other.stop;
  bad = bad || other.bad;
  write_failed = write_failed || other.write_failed;
}

void add_counts(const DeviceCounts& counts, StepSums& sums) {
  if (!counts.defined()) return;
  const at::Tensor read = counts.cpu();
  const double* values = read.const_data_ptr<double>();
  sums.loss += values[0];
  sums.correct += std::llround(values[1]);
  sums.bad = sums.bad || !std::isfinite(values[0]);
}

StepExchange::StepExchange(nn::Model& model, RankComm& comm, int64_t batches_per_step)
    : model_(model),
      comm_(comm),
      batches_per_step_(batches_per_step),
      gradients_(model.flat_gradients().numel()),
      width_(model.batch_statistics_width()) {}

void StepExchange::settle() const {
  if (const nn::Device* device = model_.device())
    device::wait_for(*device->table, device->index, device->queue);
}

void StepExchange::note_waiting(double own, double most) {
  waited_ += std::max(0.0, most - own);
  comm_.restart_busy();
}

std::unique_ptr<StepExchange> StepExchange::create(bool strict, nn::Model& model, RankComm& comm,
                                                   int64_t batches_per_step) {
  if (strict) return make_strict_exchange(model, comm, batches_per_step);
  return std::make_unique<AllReduce>(model, comm, batches_per_step);
}

}  // namespace gnnmg::train
