// Exact metrics on all ranks: ids are cut into chunks, chunk k belongs to rank k mod W, and every
// rank adds up the results of the chunks in chunk order, so they do not depend on W.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "base/thread_pool.h"
#include "comm/collectives.h"
#include "data/dataset.h"
#include "loader/loader.h"
#include "nn/inference/whole_graph.h"
#include "nn/loss.h"
#include "nn/model/model.h"
#include "train/config.h"
#include "train/eval/pinned_copies.h"

namespace gnnmg::train {

// The rows of a stage of layer-by-layer inference, in one place for all ranks of a process: each
// writes its own chunks, and after a barrier all read.
class StageRows {
 public:
  // The tensor of `stage`; the first rank to come makes it. The memory of all but results serves
  // later stages, and later evaluations, as long as this lives.
  at::Tensor get(int stage, int64_t rows, int64_t cols, base::DType dtype, bool is_result);
  // Forgets it once all have it.
  void release(int stage);

 private:
  std::mutex mutex_;
  std::vector<at::Tensor> stages_;
  std::vector<at::Tensor> kept_;  // tensors of all stages except results
};

// One rank's part in an evaluation.
struct Participant {
  comm::Collectives& comm;
  std::function<comm::Wait()> wait;  // limits of the next collective
  StageRows& rows;
  base::CancelToken cancel;
  const RowStorage& storage;
  int64_t chunk = 4096;                  // nodes or graphs at a time
  std::span<const int> leaders = {};     // [rank], first rank of its process; empty: one process
  base::ThreadPool* pool = nullptr;      // see nn::ForwardArgs
  std::chrono::milliseconds slice{500};  // longest wait for a file without a collective
  // For a model on a device: see nn::WholeInference::features_lie_there(); and copies between
  // device and host, null: made for each evaluation.
  at::Tensor features = {};
  PinnedCopies* copies = nullptr;
  std::function<void(const std::string&)> say = {};  // writes to the log; may be null
  int ranks_of_process() const;
  // The first rank of its process.
  bool leads() const {
    return leaders.empty() ? comm.rank() == 0 : leaders[comm.rank()] == comm.rank();
  }
};

// The subject of an evaluation. `ids` ascending.
struct Subject {
  nn::Model& model;
  const data::Dataset& dataset;
  nn::LossRule loss;
  std::span<const int64_t> ids;
  nn::MetricChoice choice = {};
};

// Error(kUnsupported) if the graph is in parts and exact results of this model need all of it in
// one place.
void expect_exact(const nn::Model& model, const data::Dataset& dataset);

// Rows of the model's result for the data set: its nodes, or, with a readout, its graphs.
int64_t num_results(const nn::Model& model, const data::Dataset& dataset);

// Layer by layer over the whole graph with full neighborhoods, or graph by graph where the result
// is of graphs, piece by piece on all ranks. Of a model on a device the rows of a stage stay there:
// a rank that is alone brings none of them to the host, and one of several its own, for the others,
// and takes theirs.
class LayerWalk {
 public:
  LayerWalk(nn::Model& model, const data::Dataset& dataset, const Participant& participant);
  ~LayerWalk();
  // Collective, once: runs the stages before `end`. If these are all stages, returns the rows of
  // the result, on the CPU unless an only rank made them on its device; otherwise passes the
  // results to the inference.
  at::Tensor rows_of(int end);
  nn::Inference& inference() { return *inference_; }
  // Rows of the result, or all, on the CPU.
  at::Tensor on_host(const at::Tensor& rows);
  at::Tensor on_host(const at::Tensor& rows, std::span<const int64_t> ids);

 private:
  int64_t num_pieces() const { return static_cast<int64_t>(pieces_.size()) - 1; }
  void for_own_pieces(const std::function<void(int64_t, int64_t)>& body) const;
  void exchange(const at::Tensor& rows) const;
  at::Tensor rows_there(int stage, int64_t count) const;
  void wait() const;
  at::Tensor made_alone(int stage);
  at::Tensor made_together(int stage);
  void make_own(int stage, const at::Tensor& rows, const at::Tensor& there);
  void take_others(const at::Tensor& rows, const at::Tensor& there);

  const Participant& participant_;
  const nn::Device* const device_;  // the model's; null: the CPU
  const int64_t num_rows_;
  const base::DType dtype_;
  std::unique_ptr<nn::Inference> inference_;
  nn::WholeInference* const whole_;    // the same; null: of graphs
  const std::vector<int64_t> pieces_;  // bounds; piece k is of rank k mod W
  std::optional<PinnedCopies> own_copies_;
  PinnedCopies* copies_ = nullptr;
};

// Full neighborhoods, layer by layer over the whole graph, or over its parts (part_walk.h).
nn::Metrics evaluate_full(const Subject& subject, const Participant& participant);

// Sampled neighborhoods, or whole graphs: `loader` hands out this rank's chunks of the ids in
// order. `forward` yields the logits of a mini-batch.
nn::Metrics evaluate_sampled(const Subject& subject, const Participant& participant,
                             loader::Loader& loader,
                             const std::function<at::Tensor(const loader::Batch&)>& forward);

// The model's result for every node, full neighborhoods, or for every graph if it has a readout.
// Collective. Returns [num_results(), output width], in one place for all ranks of a process; over
// parts on the first rank of each process.
base::Tensor embed(nn::Model& model, const data::Dataset& dataset, const Participant& participant);

// Collective: rank 0 writes the same to a .npy file, which appears complete or not at all, in
// rounds of one chunk a rank. The rows of the last layer are never in memory together. `path` is
// rank 0's.
void embed_to_file(nn::Model& model, const data::Dataset& dataset, const Participant& participant,
                   const std::string& path);

}  // namespace gnnmg::train
