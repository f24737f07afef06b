// The trainer runs ranks as threads, step after step, evaluates, and keeps the best weights.
// Without torch headers: code that only drives a trainer compiles fast.
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

// Context of a trainer. Objects given by reference outlive it.
struct Environment {
  base::HostQueue& host;
  base::Log& log;
  base::ThreadPool& pool;
  // The job whose processes train together; null: this process trains alone.
  std::shared_ptr<comm::Processes> processes = nullptr;
  int64_t meet_timeout_ms = 300'000;       // limit for all processes to arrive at a start
  const device::Table* devices = nullptr;  // GPUs numbered by TrainerConfig::devices
  // True: the threads of a rank on a device, and of its loaders, stay on the cores next to it if
  // the system reports them.
  bool stay_beside_devices = true;
  // Keeps the referenced objects alive for ranks abandoned on a hung device; null: they live until
  // the process ends.
  std::shared_ptr<const void> keeps = nullptr;
  RowStorage rows = {};
};

// Each of several processes has its own trainer, and load, save, start, step and evaluate are
// collective: all processes make the same calls in the same order. Process 0 alone writes
// checkpoints and records; the others take over its state when a group of ranks is made. The next
// call of all processes replaces a group that has ended, unless a process was lost: then
// Error(kAborted).
//
// One host thread at a time, except for functions marked otherwise; a call during another kind of
// work is Error(kBusy). Waits run on host threads, through the host queue; ranks never run there.
// The next call that waits or starts throws a rank's failure. After a failure or a cancel the model
// holds the last step that the first rank finished; the next call that needs ranks makes a new
// group, which continues from there.
class Trainer {
 public:
  // The first rank trains `model` itself; the other ranks train clones. With devices all ranks
  // train clones, and `model`, on the CPU, is updated from the first rank at the end of each
  // command and before each host callback. If that rank's device is lost, the model and all state
  // of the trainer stay as last updated. Checks that model, data, sampler and devices fit together:
  // widths, layers and fan-outs, a non-empty training split, labels.
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
  // Replaces the config's rate and schedule for all processes, from the next step() or epoch on.
  // Processes that set different rates fail there with kMismatch. Any thread.
  virtual void set_learning_rate(double rate) noexcept = 0;
  // Files for the results of epochs, from the next start on, in place of the config's; empty: none.
  virtual void set_records(std::string jsonl_path, std::string tensorboard_folder) = 0;

  // Writes checkpoints from the next start on; nullopt: no more.
  virtual void set_checkpoints(const std::optional<CheckpointConfig>& config) = 0;
  // Writes a checkpoint now, as a folder that must not exist.
  virtual void save(const std::string& path) = 0;
  // Continues from a checkpoint, or from the newest complete one in a folder (see find_checkpoint);
  // returns its path. All or nothing. If the config leaves the mini-batches per step open, the
  // number of the checkpoint applies.
  virtual std::string load(const std::string& path) = 0;

  // Writes or reads the optimizer's state as a PyTorch file (see optim/torch_optimizer.h), in the
  // first process. All or nothing; position, rates and weights stay.
  virtual void save_optimizer(const std::string& path, const TorchFile& file) = 0;
  virtual void load_optimizer(const std::string& path, const TorchFile& file) = 0;

  // Starts the ranks on the remaining epochs and returns at once.
  virtual void start() = 0;
  // True when the work has ended (by itself or by stop()); false after the deadline. Throws a
  // rank's failure.
  virtual bool wait(const base::Deadline& deadline) = 0;
  // Ends all ranks after the same step; start() continues from there. Any thread.
  virtual void stop() noexcept = 0;
  // Ends the work as soon as the ranks have left their current kernels; wait() throws
  // Error(kCancelled). Returns when other processes have been notified, after 0.2 s at most. Any
  // thread.
  virtual void cancel() noexcept = 0;

  // One step of the plan, with the evaluation at an epoch's end. kOk with a loss (NaN if it was not
  // finite); kEnd after the last step; kPending after the deadline: the same call waits again.
  virtual base::Status step(const base::Deadline& deadline, double* loss) = 0;
  // Exact metrics over one part of the split on all ranks, with the confusion matrix if a process
  // asks for it; nullopt after the deadline.
  virtual std::optional<nn::Metrics> evaluate(data::SplitPart part, const base::Deadline& deadline,
                                              bool confusion = false) = 0;

  // Result of the model for all nodes, with full neighborhoods, on all ranks: [number of nodes,
  // output width]; nullopt after the deadline.
  virtual std::optional<base::Tensor> embed(const base::Deadline& deadline) = 0;
  // embed() into a .npy file that the first rank writes, whole or not at all; false after the
  // deadline.
  virtual bool embed_to_file(const std::string& path, const base::Deadline& deadline) = 0;

  // Memory of a rank on an empty GPU of `gpu_bytes` bytes; 0: on the first rank's GPU with its free
  // memory, Error(kNotFound) if the rank has none. A number needs no GPU. Any thread.
  virtual MemoryPlan memory_plan(int64_t gpu_bytes) const = 0;

  // A new model on the CPU with weights and buffers of the last complete step; for ranks on
  // devices, those that last came to the host. Any thread, while only this trainer changes the
  // model.
  virtual std::unique_ptr<nn::Model> snapshot() const = 0;

  virtual Progress progress() const = 0;  // any thread
  // Times of this process's ranks in the current epoch or, before its first step is complete, in
  // the previous one. Any thread.
  virtual std::vector<RankTimes> rank_times() const = 0;
  virtual bool busy() const = 0;  // work is running; any thread
  virtual const TrainerConfig& config() const = 0;
};

// Exact metrics of a model over one part of a split, with full neighborhoods or whole graphs,
// without ranks.
nn::Metrics evaluate_model(nn::Model& model, const data::Dataset& dataset,
                           std::span<const int64_t> ids, nn::Loss loss, base::ThreadPool& pool,
                           const base::CancelToken& cancel, const RowStorage& storage = {},
                           const nn::MetricChoice& choice = {});

// Result of the model for all nodes, with full neighborhoods, without ranks; to memory or to a
// file.
base::Tensor embed_model(nn::Model& model, const data::Dataset& dataset,
                         const base::CancelToken& cancel, const RowStorage& storage = {});
void embed_model_to_file(nn::Model& model, const data::Dataset& dataset, const std::string& path,
                         const base::CancelToken& cancel, const RowStorage& storage = {});

}  // namespace gnnmg::train
