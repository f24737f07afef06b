#include "train/ranks/replica.h"

#include <c10/core/GradMode.h>

#include "device/wait.h"
#include "train/optim/average.h"
#include "train/ranks/take_over.h"

namespace gnnmg::train {
namespace {

class HostReplica final : public Replica {
 public:
  HostReplica(const Job& job, Training& training, bool leads)
      : Replica(job, training, leads, nullptr) {
    if (leads) {
      model_ = job.model;
      optimizer_ = training.optimizer.get();
      average_ = training.average;
    } else {
      clone();
    }
  }

  void settle() const override {}
  bool drain(std::chrono::milliseconds) const override { return true; }
  void set_position(const Position& position) override {
    done_ = position;
    if (leads_) training_.position = position;
  }
  void show_host(const Position&, const std::function<void()>& look) override { look(); }
  void keep_best() override { training_.best.take(evaluated()); }

 private:
  Snapshot& good() override { return training_.last_good; }
};

class DeviceReplica final : public Replica {
 public:
  DeviceReplica(const Job& job, Training& training, HostLatch& latch, bool leads,
                RankDevice* device)
      : Replica(job, training, leads, device), latch_(latch) {
    clone();
  }

  void settle() const override { device::wait_for(*on().table, on().index, on().queue); }
  bool drain(std::chrono::milliseconds limit) const override {
    return device::drain(*on().table, on().queue, limit);
  }
  void set_position(const Position& position) override { done_ = position; }

  void show_host(const Position& position, const std::function<void()>& look) override {
    const c10::NoGradGuard no_grad;
    settle();  // a copy to the host has no deadline
    Snapshot now, average;
    now.take_to_host(*model_);  // everything is read before anything is changed
    if (position.num_averaged > 0) average.take_to_host(*average_);
    std::vector<nn::NamedTensor> state = optimizer_->state();
    for (nn::NamedTensor& part : state) part.tensor = part.tensor.cpu();
    done_ = position;
    latch_.pass([&] {
      training_.optimizer->load_state(state);
      training_.optimizer->set_learning_rate(optimizer_->learning_rate());
      const std::lock_guard lock(training_.weights_mutex);
      now.restore(*job_.model);
      if (average.taken()) average.restore(*training_.average);
      training_.position = done_;
      look();
    });
  }

  void keep_best() override {
    Snapshot best;
    best.take_to_host(evaluated());
    latch_.pass([&] { training_.best = std::move(best); });
  }

 private:
  const nn::Device& on() const { return device_->get(); }
  Snapshot& good() override { return good_; }

  HostLatch& latch_;
  Snapshot good_;
};

}  // namespace

std::unique_ptr<Replica> Replica::create(const Job& job, Training& training, HostLatch& latch,
                                         bool leads, RankDevice* device) {
  if (device) return std::make_unique<DeviceReplica>(job, training, latch, leads, device);
  return std::make_unique<HostReplica>(job, training, leads);
}

void Replica::clone() {
  const nn::Device* const on = device_ ? &device_->get() : nullptr;
  model_ = job_.model->clone_on(on);
  if (training_.average) average_ = training_.average->clone_on(on);
  own_optimizer_ = Optimizer::create(*model_, job_.config.optimizer);
  own_optimizer_->load_state(training_.optimizer->state());
  optimizer_ = own_optimizer_.get();
}

void Replica::hand_to_host() {
  show_host(done_, [&] { handed_.take(*job_.model); });
}

void Replica::follow_host(const RankComm& comm) {
  if (leads_) good() = {};
  take_over_weights(job_, training_, *model_, comm.get(), leads_, comm.waits());
}

void Replica::keep_good() {
  if (leads_) good().take(*model_);
}

void Replica::restore_good() {
  if (good().taken()) good().restore(*model_);
}

void Replica::average(int64_t count) {
  const TrainerConfig& c = job_.config;
  if (count == 0)
    copy_weights(*model_, *average_);
  else if (c.average == Average::kEma)
    average_ema(*model_, c.average_decay, *average_);
  else
    average_swa(*model_, count, *average_);
}

void Replica::end() {
  if (training_.best.taken())
    training_.best.restore(*model_);
  else if (done_.num_averaged > 0)
    copy_weights(*average_, *model_);
}

}  // namespace gnnmg::train
