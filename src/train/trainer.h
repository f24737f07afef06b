// The trainer: ranks as threads, one step after another, evaluation, the best weights kept. Without
// a torch header, so that whoever only drives a trainer compiles fast.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/cancel.h"
#include "base/host_queue.h"
#include "base/log.h"
#include "base/tensor.h"
#include "base/thread_pool.h"
#include "data/dataset.h"
#include "device/table.h"
#include "sample/sampler.h"
#include "train/checkpoint/writer.h"
#include "train/config.h"
#include "train/memory/plan.h"
#include "train/report.h"

namespace gnnmg::nn {
class Model;
}
namespace gnnmg::comm {
class Processes;
}

namespace gnnmg::train {

struct TorchFile;

// What the trainer is given from outside; what it is given by reference outlives it.
struct Environment {
  base::HostQueue& host;
  base::Log& log;
  base::ThreadPool& pool;
  // The job of many processes whose ranks train together; null: this process trains alone.
  std::shared_ptr<comm::Processes> processes = nullptr;
  int64_t meet_timeout_ms = 300'000;       // how long processes wait for each other at a start
  const device::Table* devices = nullptr;  // GPUs that TrainerConfig::devices number
  // Whether a rank's thread for a device, and its loaders', stay on the cores next to it where the
  // system tells which these are.
  bool stay_beside_devices = true;
  // Keeps alive what is given by reference, for ranks that are left behind with a device that
  // hangs; null: that is there until the end of the process.
  std::shared_ptr<const void> keeps = nullptr;
  RowStorage rows = {};
};

// Among several processes, each has a trainer of its own, and load, save, start, step and evaluate
// are collective: all make the same calls in the same order. Process 0 alone writes checkpoints and
// records, and what it holds when a group of ranks is made, all take over. A group that has ended
// is made anew by the next call of all processes, unless one of them was lost: then
// Error(kAborted).
//
// One host thread at a time, but for the functions that say otherwise; a call while another kind of
// work is under way is Error(kBusy). Waits run on host threads, through the host queue; ranks never
// run there. A failure of a rank is thrown by the next call that waits or starts. After a failure
// or a cancel the model holds the last step that the first rank finished, and the next call that
// needs ranks makes a new group of them, which goes on from there.
class Trainer {
 public:
  // The model trained is `model` itself (the first rank's replica); the others are clones. With
  // devices all ranks have clones there, and the model, which is on the CPU, is what the first
  // rank's was at the end of the last command, or before a function of the host's is called. Where
  // that rank's device is lost, it and all that the trainer holds stay what they were then. Checks
  // that model, data, sampler and devices fit together: widths, layers against fan-outs, an empty
  // training split, labels.
  static std::unique_ptr<Trainer> create(std::shared_ptr<nn::Model> model, data::DatasetRef dataset,
                                         std::shared_ptr<const sample::Sampler> sampler,
                                         const TrainerConfig& config,
                                         const Environment& environment);
  virtual ~Trainer() = default;  // cancels and joins the ranks

  // Before start().
  virtual void set_epoch_function(EpochFunction function) = 0;
  // Replaces the config's loss in training; empty: the config's again. Before the ranks are made:
  // Error(kBusy) once something was trained or evaluated.
  virtual void set_loss_function(LossFunction function) = 0;
  // Replaces the config's rate and schedule, from the next step() or the next epoch on: among
  // several processes for all. Processes that ask for different rates fail with kMismatch there.
  // Any thread.
  virtual void set_learning_rate(double rate) noexcept = 0;
  // Files that epochs are written to from the next start on, in place of the config's; empty: none.
  virtual void set_records(std::string jsonl_path, std::string tensorboard_folder) = 0;

  // Checkpoints from the next start on; nullopt: none any more.
  virtual void set_checkpoints(const std::optional<CheckpointConfig>& config) = 0;
  // Writes one now, as a folder that must not exist.
  virtual void save(const std::string& path) = 0;
  // Goes on from a checkpoint, or from the newest whole one of a folder of them (see
  // find_checkpoint); returns its path. All or nothing. Where the trainer's config leaves the
  // number of mini-batches a step open, the checkpoint's holds.
  virtual std::string load(const std::string& path) = 0;

  // What the optimizer has gathered, to and from files of PyTorch's (see optim/torch_optimizer.h);
  // the first process writes and reads. All or nothing; position, rates and weights stay.
  virtual void save_optimizer(const std::string& path, const TorchFile& file) = 0;
  virtual void load_optimizer(const std::string& path, const TorchFile& file) = 0;

  // Starts the ranks on what is left of the epochs; at once.
  virtual void start() = 0;
  // True when the work has ended (by itself or by stop()), false when the deadline passed. Throws a
  // rank's failure.
  virtual bool wait(const base::Deadline& deadline) = 0;
  // Ends all ranks after the same step; start() goes on from there. Any thread.
  virtual void stop() noexcept = 0;
  // Ends the work, as soon as the ranks have left the kernels they are in; wait() throws
  // Error(kCancelled). Other processes have been told when it returns, or it has taken a fifth of a
  // second. Any thread.
  virtual void cancel() noexcept = 0;

  // One step of the plan (with the evaluation at an epoch's end). kOk with a loss (NaN where it was
  // not finite), kEnd after the last, kPending when the deadline passed: the same call again goes
  // on waiting.
  virtual base::Status step(const base::Deadline& deadline, double* loss) = 0;
  // Exact metrics over one part of the split on all ranks; nullopt when the deadline passed.
  virtual std::optional<nn::Metrics> evaluate(data::SplitPart part,
                                              const base::Deadline& deadline) = 0;

  // The model's result for all nodes, full neighbourhoods, on all ranks: [number of nodes, output
  // width]; nullopt when the deadline passed.
  virtual std::optional<base::Tensor> embed(const base::Deadline& deadline) = 0;
  // The same straight into a .npy file, which the first rank writes, whole or not at all; false
  // when the deadline passed.
  virtual bool embed_to_file(const std::string& path, const base::Deadline& deadline) = 0;

  // What a rank takes of a GPU of so many bytes, none of which are taken; 0: of what is free on the
  // first rank's now, Error(kNotFound) where it has none. Nothing of a GPU is needed with a number.
  // Any thread.
  virtual MemoryPlan memory_plan(int64_t gpu_bytes) const = 0;

  // A model of its own, on the CPU, with the weights and buffers of the last step that was done; of
  // ranks on devices those that came to the host last. Any thread, while nobody but this trainer
  // changes the model.
  virtual std::unique_ptr<nn::Model> snapshot() const = 0;

  virtual Progress progress() const = 0;  // any thread
  // Of the ranks of this process, and of the epoch that runs or, before its first step is done, of
  // the one before. Any thread.
  virtual std::vector<RankTimes> rank_times() const = 0;
  virtual bool busy() const = 0;  // something is under way; any thread
  virtual const TrainerConfig& config() const = 0;
};

// Exact metrics of a model over one part of a split, full neighbourhoods or whole graphs, without
// ranks.
nn::Metrics evaluate_model(nn::Model& model, const data::Dataset& dataset,
                           std::span<const int64_t> ids, nn::Loss loss, base::ThreadPool& pool,
                           const base::CancelToken& cancel, const RowStorage& storage = {});

// The model's result for all nodes, full neighbourhoods, without ranks; to memory or to a file.
base::Tensor embed_model(nn::Model& model, const data::Dataset& dataset,
                         const base::CancelToken& cancel, const RowStorage& storage = {});
void embed_model_to_file(nn::Model& model, const data::Dataset& dataset, const std::string& path,
                         const base::CancelToken& cancel, const RowStorage& storage = {});

}  // namespace gnnmg::train
