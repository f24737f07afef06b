// A small graph with planted classes, and a trainer around it in few lines.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"
#include "comm/processes.h"
#include "data/dataset.h"
#include "nn/config/config.h"
#include "sample/sampler.h"
#include "train/trainer.h"

namespace gnnmg::test {

struct SmallData {
  int64_t num_nodes = 600;
  int32_t num_classes = 4;
  int32_t num_features = 8;
  double center_scale = 0.5;
  double label_noise = 0;
  int64_t num_train = 129;  // the default makes four mini-batches of 32 and one of a single seed
  int64_t num_validation = 100;
  int64_t num_test = 150;
  int64_t unlabeled = 0;          // number of training nodes without a label
  bool withheld = false;          // the labels of the validation part
  int32_t validation_class = -1;  // class of all validation nodes, -1: drawn
  bool regression = false;        // f32 [N, 1] in place of classes
  int64_t nan_features = -1;      // a node whose features are NaN
  bool huge_target = false;  // the first training node's, of a regression: its square is infinite
  bool sparse = false;       // features above 0 alone, as a sparse matrix
};
data::DatasetRef make_small(const SmallData& config = {});

// The objects of a host program.
struct Host {
  base::Log log;
  base::HostQueue queue;
  base::ThreadPool pool{1};
  std::shared_ptr<comm::Processes> processes;  // null: trains alone
  const device::Table* devices = nullptr;
  train::Environment environment() {
    return {queue,   log, pool, processes, meet_timeout_ms, devices, stay_beside_devices,
            nullptr, rows};
  }
  int64_t meet_timeout_ms = 60'000;
  bool stay_beside_devices = true;
  train::RowStorage rows = {};
};

// Everything a training is made of. GraphSAGE of two layers, fan-outs 5 and 5.
struct Recipe {
  data::DatasetRef dataset = make_small();
  nn::ModelConfig model;
  sample::NeighborConfig sampler;
  train::TrainerConfig trainer;
  std::function<std::shared_ptr<const sample::Sampler>(std::shared_ptr<const sample::Sampler>)>
      wrap_sampler;
  Recipe();
};

// A model, and a trainer for it.
class Trial {
 public:
  Trial(const Recipe& setup, Host& host);
  ~Trial();
  train::Trainer* operator->() { return trainer_.get(); }
  train::Trainer& trainer() { return *trainer_; }
  nn::Model& model() { return *model_; }
  // start() and wait() without a deadline of the caller's.
  void train();
  std::vector<double> weights() const;  // flat parameters, then buffers

 private:
  std::shared_ptr<nn::Model> model_;
  std::unique_ptr<train::Trainer> trainer_;
};

std::vector<double> weights_after(const Recipe& setup);
// Enough epochs for at least `steps` steps, and no validation.
void set_steps(Recipe& setup, int64_t steps);
double largest_difference(const std::vector<double>& a, const std::vector<double>& b);

// A sampler that records its requests, and may do something first.
class WatchedSampler final : public sample::Sampler {
 public:
  struct Notes {
    std::mutex mutex;
    // Training mini-batches: (epoch, number), the seeds, and a checksum of all that was sampled.
    std::map<std::pair<uint64_t, uint64_t>, std::vector<int64_t>> seeds;
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> checksums;
  };
  using Before = std::function<void(const sample::BatchKey&, const base::CancelToken&)>;
  WatchedSampler(std::shared_ptr<const sample::Sampler> inner, std::shared_ptr<Notes> notes,
                 Before before = {})
      : inner_(std::move(inner)), notes_(std::move(notes)), before_(std::move(before)) {}
  int num_layers() const override { return inner_->num_layers(); }
  int64_t num_nodes() const override { return inner_->num_nodes(); }
  int64_t num_ids() const override { return inner_->num_ids(); }
  bool of_graphs() const override { return inner_->of_graphs(); }
  std::string describe() const override { return inner_->describe(); }
  void sample(std::span<const int64_t> seeds, const sample::BatchKey& key,
              sample::Workspace& workspace, sample::Sample& out,
              const base::CancelToken& cancel) const override;

 private:
  std::shared_ptr<const sample::Sampler> inner_;
  std::shared_ptr<Notes> notes_;
  Before before_;
};

// Has a setup's sampler watched.
std::shared_ptr<WatchedSampler::Notes> watch(Recipe& setup, WatchedSampler::Before before = {});
// The seeds of an epoch's mini-batches, of all these notes together, in no order.
std::vector<int64_t> seeds_of(const std::vector<std::shared_ptr<WatchedSampler::Notes>>& notes,
                              int64_t epoch);

}  // namespace gnnmg::test
