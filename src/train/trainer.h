// The trainer: ranks as threads, one step after another, evaluation, the best weights kept.
#pragma once

#include <memory>
#include <optional>

#include "base/cancel.h"
#include "base/host_queue.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "comm/collectives.h"
#include "data/dataset.h"
#include "nn/model.h"
#include "sample/sampler.h"
#include "train/config.h"

namespace gnnmg::train {

// What the trainer is given from outside; all outlive it.
struct Environment {
  base::HostQueue& host;
  base::Log& log;
  base::ThreadPool& pool;
};

// Waits run on host threads, through the host queue; ranks never run there. A failure of a rank is
// thrown by the next call. After a failure or a cancel the model holds the last step that the first
// rank finished; start() makes a new group of ranks.
class Trainer {
 public:
  // The model trained is `model` itself (the first rank's replica); the others are clones. Checks
  // that model, data and sampler fit together: widths, layers against fan-outs, an empty training
  // split, labels.
  static std::unique_ptr<Trainer> create(std::shared_ptr<nn::Model> model, data::DatasetRef dataset,
                                         std::shared_ptr<const sample::Sampler> sampler,
                                         const TrainerConfig& config,
                                         const Environment& environment);
  virtual ~Trainer() = default;  // cancels and joins the ranks

  virtual void set_epoch_function(EpochFunction function) = 0;

  // Starts the ranks on what is left of the epochs; at once.
  virtual void start() = 0;
  // True when the work has ended (by itself or by stop()), false when the deadline passed. Throws a
  // rank's failure.
  virtual bool wait(const base::Deadline& deadline) = 0;
  // Ends all ranks after the same step; start() goes on from there. Any thread.
  virtual void stop() noexcept = 0;
  // Ends the work at once; wait() throws Error(kCancelled). Any thread.
  virtual void cancel() noexcept = 0;

  // One step of the plan (with the evaluation at an epoch's end). kOk with a loss, kEnd after the
  // last, kPending when the deadline passed: the same call again goes on waiting.
  virtual base::Status step(const base::Deadline& deadline, double* loss) = 0;
  // Exact metrics over one part of the split on all ranks; nullopt when the deadline passed.
  virtual std::optional<nn::Metrics> evaluate(data::SplitPart part,
                                              const base::Deadline& deadline) = 0;

  virtual Progress progress() const = 0;  // any thread
  virtual bool busy() const = 0;          // something is under way
  virtual const TrainerConfig& config() const = 0;
};

// Exact metrics of a model over one part of a split on this thread alone, full neighbourhoods.
nn::Metrics evaluate_model(nn::Model& model, const data::Dataset& dataset,
                           std::span<const int64_t> ids, nn::Loss loss, base::ThreadPool& pool);

}  // namespace gnnmg::train
