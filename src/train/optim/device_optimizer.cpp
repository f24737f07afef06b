// The optimizers of a model on a device: their state is there with the parameters, and a step is
// one launch over the flat buffers.
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "device/wait.h"
#include "train/device_updates.h"
#include "train/optim/decay.h"
#include "train/optim/optimizer.h"
#include "train/optim/optimizer_file.h"

namespace gnnmg::train {
namespace {

template <typename T>
const DeviceUpdates<T>& updates_of(const device::Table& table) {
  if constexpr (std::is_same_v<T, float>)
    return *table.of<train::DeviceUpdates<float>>();
  else
    return *table.of<train::DeviceUpdates<double>>();
}

template <typename T>
class DeviceOptimizer final : public Optimizer, private QueuedUpdates {
 public:
  DeviceOptimizer(nn::Model& model, const OptimizerConfig& config)
      : Optimizer(model),
        device_(*model.device()),
        updates_(updates_of<T>(*device_.table)),
        rate_(config.learning_rate) {
    const c10::NoGradGuard no_grad;
    rule_.config = config;
    count_ = model.flat_gradients().numel();
    const at::Tensor flat = model.flat_parameters().detach().narrow(0, 0, count_);
    arrays_.parameters = flat.mutable_data_ptr<T>();
    gradients_ = model.flat_gradients().template mutable_data_ptr<T>();
    arrays_.gradients = gradients_;
    if (config.kind != OptimizerKind::kSgd || config.momentum != 0)
      for (const char* key : state_kinds(config)) {
        moments_.push_back({key, at::zeros_like(flat)});
        place_of(key) = moments_.back().tensor.template mutable_data_ptr<T>();
      }
    const at::TensorOptions options(device_.torch());
    numbers_ = at::zeros({static_cast<int64_t>(sizeof(UpdateNumbers) / sizeof(double))},
                         options.dtype(at::kDouble));
    parts_ = at::empty({num_update_parts(count_)}, options.dtype(at::kDouble));
    find_decayed(model, config);
  }

  double scale_gradients(double factor) override {
    host_.scale = factor;
    send();
    updates_.scale(device_.queue, gradients_, count_, there(),
                   parts_.template mutable_data_ptr<double>());
    settle();  // a copy to memory that is not pinned is not called off
    device_.table->copy(device_.queue, &host_, there(), sizeof host_);
    settle();
    return std::sqrt(host_.squares);
  }
  void clip(double, double limit) override { host_.clip_norm = limit; }
  void step() override {
    host_.learning_rate = rate_;
    send();
    updates_.update(device_.queue, rule_, arrays_, count_, there());
    if (std::isfinite(host_.squares)) ++host_.steps;  // the device did the same
    host_.clip_norm = host_.squares = 0;
  }

  void set_learning_rate(double rate) override { rate_ = rate; }
  double learning_rate() const override { return rate_; }
  const OptimizerConfig& config() const override { return rule_.config; }

  std::vector<nn::NamedTensor> state() const override {
    if (host_.steps == 0 || moments_.empty()) return {};
    std::vector<nn::NamedTensor> all;
    if (counts_steps(rule_.config))
      all.push_back({"step", at::full({1}, host_.steps, at::kDouble)});
    all.insert(all.end(), moments_.begin(), moments_.end());
    return all;
  }

  void load_state(const std::vector<nn::NamedTensor>& state) override {
    const c10::NoGradGuard no_grad;
    double steps = 0;
    std::vector<at::Tensor> found;
    if (!state.empty()) {
      steps = counts_steps(rule_.config) ? find(state, "step", 1).template item<double>() : 1;
      for (const nn::NamedTensor& moment : moments_)
        found.push_back(find(state, moment.key, count_));
    }
    for (size_t i = 0; i < moments_.size(); ++i) {
      if (state.empty())
        moments_[i].tensor.zero_();
      else
        moments_[i].tensor.copy_(found[i].view({count_}));
    }
    host_.steps = steps;
  }
  QueuedUpdates* queued() override { return this; }

 private:
  UpdateNumbers* there() const {
    return reinterpret_cast<UpdateNumbers*>(numbers_.mutable_data_ptr<double>());
  }

  // QueuedUpdates:
  void begin() override {
    send();
    settle();
  }
  void pack(StepNumbers* step, void* packed) override {
    updates_.pack(device_.queue, step, static_cast<T*>(packed), there());
  }
  void total(StepNumbers* step, const void* packed) override {
    updates_.total(device_.queue, step, static_cast<const T*>(packed), there());
  }
  void scale() override {
    updates_.scale(device_.queue, gradients_, count_, there(),
                   parts_.template mutable_data_ptr<double>());
  }
  void judge(StepNumbers* step) override { updates_.judge(device_.queue, step, there()); }
  void keep(StepNumbers* step, void* kept) override {
    updates_.keep(device_.queue, step, arrays_.parameters, static_cast<T*>(kept), count_);
  }
  void update() override { updates_.update(device_.queue, rule_, arrays_, count_, there()); }
  const UpdateNumbers* numbers() const override { return there(); }
  void note(const UpdateNumbers& numbers) override { host_.steps = numbers.steps; }
  std::vector<at::Tensor> arrays() const override {
    std::vector<at::Tensor> all{model_.flat_parameters().detach()};
    for (const nn::NamedTensor& moment : moments_) all.push_back(moment.tensor);
    return all;
  }

  T*& place_of(std::string_view key) {
    if (key == "exp_avg") return arrays_.exp_avg;
    if (key == "exp_avg_sq") return arrays_.exp_avg_sq;
    if (key == "max_exp_avg_sq") return arrays_.max_exp_avg_sq;
    if (key == "square_avg") return arrays_.square_avg;
    if (key == "grad_avg") return arrays_.grad_avg;
    return key == "sum" ? arrays_.sum : arrays_.momentum_buffer;
  }

  void settle() const { device::wait_for(*device_.table, device_.index, device_.queue); }
  void send() { device_.table->copy(device_.queue, there(), &host_, sizeof host_); }

  // Joins adjacent ranges.
  void find_decayed(const nn::Model& model, const OptimizerConfig& config) {
    const LayerDecay decay(model, config);
    if (config.weight_decay_layers == 0) return;
    std::vector<int64_t> bounds;
    for (const auto& [first, count] : decay.ranges()) {
      if (!bounds.empty() && bounds.back() == first) {
        bounds.back() += count;
        continue;
      }
      bounds.insert(bounds.end(), {first, first + count});
    }
    decayed_ = at::empty({static_cast<int64_t>(bounds.size())},
                         at::TensorOptions(device_.torch()).dtype(at::kLong));
    device_.table->copy(device_.queue, decayed_.mutable_data_ptr<int64_t>(), bounds.data(),
                        static_cast<int64_t>(bounds.size() * sizeof(int64_t)));
    settle();  // the bounds go
    rule_.decayed = decayed_.const_data_ptr<int64_t>();
    rule_.num_decayed = static_cast<int32_t>(bounds.size() / 2);
  }

  const nn::Device& device_;
  const DeviceUpdates<T>& updates_;
  double rate_;
  UpdateRule rule_;
  UpdateArrays<T> arrays_;
  T* gradients_ = nullptr;
  int64_t count_ = 0;
  std::vector<nn::NamedTensor> moments_;
  at::Tensor numbers_, parts_, decayed_;
  UpdateNumbers host_;  // copy of numbers_: the fields that the host reads or writes
};

}  // namespace

std::unique_ptr<Optimizer> make_device_optimizer(nn::Model& model, const OptimizerConfig& config) {
  if (model.flat_parameters().scalar_type() == at::kDouble)
    return std::make_unique<DeviceOptimizer<double>>(model, config);
  return std::make_unique<DeviceOptimizer<float>>(model, config);
}

}  // namespace gnnmg::train
