// The object of a trainer's handle: it holds its model while it works.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "capi/callback.h"
#include "capi/comm.h"
#include "capi/job.h"
#include "capi/model.h"
#include "capi/object.h"
#include "capi/resume.h"
#include "train/trainer.h"

namespace gnnmg::capi {

class Trainer : public Object {
 public:
  static constexpr Kind kKind = Kind::kTrainer;
  // `comm` connects the ranks of several processes, or is null.
  Trainer(std::shared_ptr<Model> model, std::shared_ptr<Comm> comm,
          std::unique_ptr<train::Trainer> made, const data::Dataset& data);
  ~Trainer() override;

  void cancel_work() noexcept override;
  bool ends_slowly() const noexcept override { return true; }
  bool idle() const noexcept override { return !trainer_->busy(); }
  bool on_device() const noexcept override { return !trainer_->config().devices.empty(); }

  train::Trainer& get() const { return *trainer_; }
  const std::shared_ptr<Model>& model() const { return model_; }
  // A copy of the model, also while the trainer works on it. Error(kBusy) while something else
  // does.
  std::shared_ptr<nn::Model> snapshot();
  bool freed() const noexcept { return freed_; }
  data::Task task() const { return task_; }
  int64_t num_classes() const { return num_classes_; }

  Suspension suspension;
  Pendings pendings;

  // With a hold. Work that outlasts the call that began it keeps the model held.
  bool running = false;  // started, and no wait has reported the end
  void begin_work();
  void end_work() noexcept;
  void check_not_running() const;
  void end_training() noexcept;         // ends the training that a start began
  std::string json_lines, tensorboard;  // targets of records
  std::shared_ptr<UserData> user;       // argument of the epoch callback

 private:
  std::shared_ptr<Model> model_;
  const Model::Use use_;
  std::shared_ptr<Comm> comm_;  // a job that nobody has a share in any more would be an aborted one
  std::atomic<bool> left_{false};  // the use of comm_ has ended
  std::atomic<bool> freed_{false};
  std::mutex work_mutex_;  // guards at_work_: work neither begins nor ends during a snapshot
  bool at_work_ = false;
  const data::Task task_;
  const int64_t num_classes_;
  std::unique_ptr<train::Trainer> trainer_;
};

// Runs `work` as a job that has trainer and model to itself.
gnnmg_status run_at_rest(const std::shared_ptr<Trainer>& trainer, const std::string& key,
                         int64_t timeout_ms, const std::function<void(train::Trainer&)>& work);

}  // namespace gnnmg::capi
