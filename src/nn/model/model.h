// Models: parameters under PyG's keys, a forward pass on the blocks of a mini-batch, and inference
// layer by layer over a whole graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "feature/store.h"
#include "graph/graph.h"
#include "io/state_file.h"
#include "nn/config/config.h"
#include "nn/layers/parameters.h"
#include "nn/layers/step_norm.h"
#include "nn/ops/dropout_keys.h"
#include "nn/ops/sparse_view.h"
#include "nn/state/file_names.h"
#include "nn/torch/device.h"
#include "sample/mini_batch.h"
#include "sample/sampler.h"

namespace gnnmg::nn {

struct MatchedState;

// Rows of the nodes of a mini-batch: dense [num_nodes, F] of any float type, or of integers if the
// config has a node_vocabulary; or sparse; or,
// instead of gathered rows, a table that the first layer reads itself: node i has row ids[i].
struct RowInput {
  at::Tensor dense;
  const feature::SparseRows* sparse = nullptr;
  at::Tensor table;
  std::span<const int64_t> ids;
  // Replaces `sparse` for a model on a device; null: none.
  const SparseView* sparse_on_device = nullptr;
};

// Weights [num_edges], features [num_edges, D] and types [num_edges] i64 of a block's edges; data
// that the model does not read may be undefined. Features are i64 if the config has an
// edge_vocabulary.
struct EdgeValues {
  at::Tensor weight, features, type;
};

// For a model on a device, rows, ids, blocks and edge data are in memory that the device can read,
// and were made in its queue or before; graph_ptr is on the host. Ids are in range.
struct ForwardArgs {
  RowInput input;  // none if the model reads no features
  std::span<const sample::BlockView>
      blocks;  // one per layer, with out_* lists for gradients, except blocks[0] of a model that
               // does not read them there: reads_input_by_source()
  bool training = false;
  bool gradients = false;  // keep the data that backward() needs; implied by training
  DropoutKey dropout;
  // The graph of the blocks, and its ids of the nodes of blocks[0]: for layers with weights from
  // degrees (without it, the block's degrees), for edge data, and for models without features.
  graph::GraphRef graph;
  std::span<const int64_t> node_ids;
  // Degrees of these nodes, on the host: if the graph does not have them because parts of it are
  // elsewhere. Otherwise empty.
  std::span<const sample::NodeDegree> degrees;
  std::span<const graph::WeightSums> weight_sums;  // the same
  // Data of the edges of each block, in its order. Empty: the model reads the data that its config
  // needs from the graph's edge tensors, by the blocks' edge ids.
  std::span<const EdgeValues> edges;
  // A batch of graphs: graph g has the nodes graph_ptr[g] .. graph_ptr[g + 1] - 1, and every block
  // has all these nodes. Read during the call. Empty: no batch of graphs.
  std::span<const int64_t> graph_ptr;
  // For the library's kernels; null: LibTorch's intra-op threads of the calling thread, which then
  // also share the products (the faster way: two sets of threads would compete).
  base::ThreadPool* pool = nullptr;
  // In an evaluation pass receives the rows that the last layer makes the result from: [rows of the
  // result, Model::hidden_width()]. Null: not wanted.
  at::Tensor* hidden = nullptr;
};

// Inference over all nodes of a graph with full neighborhoods. The rows of each stage are computed
// in any ranges, by any number of ranks, and the caller combines them before the next stage begins.
class Inference {
 public:
  virtual ~Inference() = default;
  virtual int num_stages() const = 0;
  virtual int64_t width(int stage) const = 0;  // columns of the stage's output
  // Returns rows [begin, end) of the output of `stage`, on the CPU, whatever the model's device.
  // Stage 0 reads the features; stage k reads the rows that set_rows() received for stage k-1.
  virtual at::Tensor run(int stage, int64_t begin, int64_t end) = 0;
  // Sets the whole output of `stage`, [num_nodes, width(stage)], on the CPU or on the model's
  // device.
  virtual void set_rows(int stage, at::Tensor rows) = 0;
};

// The needs of a model for inference over a graph by pieces (GraphPiece).
struct PieceNeeds {
  const char* obstacle =
      nullptr;                  // the reason against it, "norms over ..."; null if it is possible
  bool degrees = false;         // the degrees of the piece's nodes are needed
  bool weight_sums = false;     // the sums of their edges' weights are needed
  bool sent = false;            // the nodes' numbers of outgoing edges are needed
  bool largest_degree = false;  // the largest degree of the larger graph is needed
  // Results depend on other nodes than those within the model's number of hops.
  bool all_nodes = false;
};

// A piece of a larger graph: inference runs over a graph of these nodes, first the targets, then
// the other sources of edges into targets, and the edges into targets in their order.
struct GraphPiece {
  int64_t num_nodes = 0, num_edges = 0;         // numbers of the larger graph
  std::span<const int64_t> node_ids;            // ids of the piece's nodes in the larger graph
  std::span<const sample::NodeDegree> degrees;  // degrees there; empty if not needed
  std::span<const graph::WeightSums> weight_sums = {};  // the same
  std::span<const int64_t> sent = {};                   // numbers of outgoing edges there; the same
  int64_t largest_degree = 0;  // largest in-degree there; 0: that of the piece
  bool sparse = false;         // the features are sparse, given or not
};

// Blocks, node ids and sparse rows of a training pass must stay until backward() has run.
//
// One replica of a model. Parameters are views of one flat buffer, gradients of another, so that
// ranks exchange a single tensor; gradients accumulate until zero_gradients(). One thread at a
// time, except evaluation passes of a model on the CPU: after the first one over a graph any number
// of threads may run them over that graph.
class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelConfig& config() const = 0;
  // Returns logits [num_seeds, output width], or, with a readout, [num_graphs, output width], with
  // an autograd graph if gradients are wanted.
  virtual at::Tensor forward(const ForwardArgs& args) = 0;
  // Collective: runs the training passes of a rank's mini-batches of one step; there may be none.
  // Batch norms take their statistics from the rows of all mini-batches on all ranks, as if these
  // were one mini-batch. Returns the logits of each. Every rank must then run one backward pass
  // through all of them together, or absent_backward(); `sum` is kept until then.
  virtual std::vector<at::Tensor> forward_step(std::span<const ForwardArgs> batches,
                                               const SumOverRanks& sum) = 0;
  // Collective: takes part in the other ranks' backward pass after forward_step().
  virtual void absent_backward(const SumOverRanks& sum) = 0;
  // True if backward passes may read the lists by source of blocks[0], for dense or `sparse`
  // feature rows: false if the first layer aggregates the unchanged rows.
  virtual bool reads_input_by_source([[maybe_unused]] bool sparse) const { return true; }
  // True if layers read degrees of nodes in the whole graph.
  virtual bool reads_degrees() const = 0;
  // True if these are sums of the weights of edges.
  virtual bool reads_weight_sums() const = 0;
  // Columns of ForwardArgs::hidden: of the input of the last layer with weights, or of the result
  // if that is a hidden layer's (output_dim 0). 0: there are no such rows, because the layer reads
  // features, is not the only last one, or has rows of nodes where the result has those of graphs.
  virtual int64_t hidden_width() const = 0;
  // The model and the graph must outlive it; `features` are read unless the config says otherwise;
  // `pool` as in ForwardArgs. Error(kUnsupported) with a readout: batches of graphs have no
  // neighbors outside, so forward() covers them. With `piece`, which must outlive it, the graph is
  // that piece; features are needed only for stages that read them (WholeInference::first_read()).
  virtual std::unique_ptr<Inference> inference(const graph::Graph& graph,
                                               const graph::Column* features,
                                               base::ThreadPool* pool,
                                               const GraphPiece* piece = nullptr) = 0;
  virtual PieceNeeds piece_needs() const = 0;

  // In the framework's order. Tensors share memory with the model.
  virtual const std::vector<NamedTensor>& parameters() const = 0;
  virtual const std::vector<NamedTensor>& buffers() const = 0;
  virtual at::Tensor flat_parameters() const = 0;  // 1-d, frozen parameters last
  // 1-d, the layout of flat_parameters() without the frozen ones; zero for parameters that no
  // gradient reached.
  virtual at::Tensor flat_gradients() const = 0;
  // Parameters that training does not change, in the order of parameters(). They have no gradient.
  virtual const std::vector<bool>& frozen() const = 0;
  // Moves the parameters to new memory; gradients become zero. Nothing may work on the model.
  virtual void set_frozen(const std::vector<bool>& frozen) = 0;
  // Makes products of f32 matrices in training passes round their factors to bf16.
  virtual void train_in_bf16(bool on) = 0;
  void zero_gradients() {
    use_device();
    flat_gradients().zero_();
  }

  // Parameters, buffers, and second names under which layers save them, in the order of the
  // framework's state dict.
  virtual const std::vector<NamedTensor>& state_tensors() const = 0;

  // Returns the state dict in the key layout of the config's framework, layers in layer_list().
  io::StateFile state() const;
  // The same in the other framework's form. Error(kUnsupported) names a layer or option without a
  // counterpart there.
  io::StateFile state_of_other_framework() const;
  // Writes state() to `state`, which is empty or the result of this function of an equal model; in
  // the second case without an allocation.
  void copy_state(io::StateFile& state) const;
  // Copies values in. Strict: Error(kFormat) has one list of missing, unexpected and misshapen
  // keys; kNan names the first element that is not finite, kRange the first that the model's type
  // cannot hold or a negative variance or count; nothing changes then. Keys of older versions of
  // the framework are known, and so are layers that are not a list but numbered modules, "conv1",
  // "conv2", ....
  void load_state(const io::StateFile& state);
  void load_state_of_other_framework(const io::StateFile& state);
  // Copies those values in whose keys and shapes fit; the other tensors stay. Returns the lists of
  // keys that do not fit, empty if all do. Error(kFormat) if none does.
  std::string load_part_of_state(const io::StateFile& state);
  // The keys of the last state that was loaded.
  const FileNames& file_names() const { return file_names_; }
  void set_file_names(const FileNames& names) { file_names_ = names; }

  // Training passes take batch norm's statistics from their rows. The running statistics (buffers)
  // change only when the trainer folds statistics in, in the order of the plan. A single row has no
  // statistics: it is normalized by the running ones, which the pass then does not move.
  virtual int64_t batch_statistics_width() const = 0;  // 0 without batch norm
  // Returns the statistics of the training passes since the last call, one row each: [passes,
  // width], on the model's device. Those of forward_step() are one row, the same on all ranks.
  virtual at::Tensor take_batch_statistics() = 0;
  // running <- 0.9 running + 0.1 statistics, row after row. The rows may be on any device.
  virtual void fold_batch_statistics(const at::Tensor& rows) = 0;
  // True if a batch norm has had a single row in a training pass since the last call.
  virtual bool take_lone_row() = 0;

  // The model's device; null: the CPU. States may be loaded from and copied to any device.
  virtual const Device* device() const = 0;
  // Returns a separate model with equal parameters and buffers and zero gradients, on this device,
  // or, if null, on the CPU. The device outlives it.
  virtual std::unique_ptr<Model> clone_on(const Device* device) const = 0;
  std::unique_ptr<Model> clone() const { return clone_on(device()); }

 private:
  void copy_in(const MatchedState& matched);

 protected:
  // Puts LibTorch's later work of the calling thread on the model's device into the model's queue.
  void use_device() const;
  FileNames file_names_;
};

std::unique_ptr<Model> make_model(const ModelConfig& config);

// Returns the sampler for training a model: the same, but without lists by source that the model
// does not read, if `sampler` can omit them, and, if the graph is in parts, with only the degrees
// and edge columns that the model reads. `sparse`: the features are sparse.
std::shared_ptr<const sample::Sampler> training_sampler(
    const Model& model, std::shared_ptr<const sample::Sampler> sampler, bool sparse);

}  // namespace gnnmg::nn
