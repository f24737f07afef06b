// Models: parameters under the keys that PyG gives them, a forward pass on the blocks of a
// mini-batch, and inference layer by layer over a whole graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "feature/store.h"
#include "graph/graph.h"
#include "io/state_file.h"
#include "nn/config.h"
#include "nn/device.h"
#include "nn/dropout_keys.h"
#include "nn/file_names.h"
#include "nn/sparse_view.h"
#include "sample/mini_batch.h"
#include "sample/sampler.h"

namespace gnnmg::nn {

// Rows of the nodes of a mini-batch: dense [num_nodes, F] of any float type, or of integers where
// the config has a node_vocabulary, or sparse, or, in
// place of gathered rows, a table that the first layer reads itself: node i has row ids[i].
struct RowInput {
  at::Tensor dense;
  const feature::SparseRows* sparse = nullptr;
  at::Tensor table;
  std::span<const int64_t> ids;
  // In place of `sparse`, for a model on a device; null: none.
  const SparseView* sparse_on_device = nullptr;
};

// Weights [num_edges], features [num_edges, D] and types [num_edges] i64 of a block's edges; what
// the model does not read may be undefined. Features are i64 where the config has an
// edge_vocabulary.
struct EdgeValues {
  at::Tensor weight, features, type;
};

// Dropout bits depend on (seed, epoch, mini-batch, layer, row, column) alone.
struct DropoutKey {
  uint64_t seed = 0, epoch = 0, batch = 0;
  // For a model on a device: where kernels find what is made of the above, layer by layer, when
  // they run. Null: it is fixed when they are started.
  DropoutKeys* on_device = nullptr;
};

// For a model on a device, rows, ids, blocks and what edges carry lie in memory that the device
// reads, and have been made in its queue or before; graph_ptr is the host's. Ids are in range.
struct ForwardArgs {
  RowInput input;  // none where the model reads no features
  std::span<const sample::BlockView>
      blocks;  // one a layer, with out_* lists when gradients are wanted, but for blocks[0] of a
               // model that does not read them there: reads_input_by_source()
  bool training = false;
  bool gradients = false;  // keep what backward() needs; implied by training
  DropoutKey dropout;
  // The graph that the blocks are of, and its ids of the nodes of blocks[0]: for layers whose
  // weights come from degrees, which else are the block's, for what edges carry, and for models
  // that read no features.
  graph::GraphRef graph;
  std::span<const int64_t> node_ids;
  // Degrees of these nodes, the host's: where the graph cannot tell them, since parts of it are
  // elsewhere. Else empty.
  std::span<const sample::NodeDegree> degrees;
  // What the edges of each block carry, in its order; empty: the model reads it from the graph's
  // edge tensors by the blocks' edge ids, where its config asks for any.
  std::span<const EdgeValues> edges;
  // A batch of graphs: graph g has the nodes graph_ptr[g] .. graph_ptr[g + 1] - 1, which are all
  // nodes of every block. Read during the call. Empty: the nodes belong to no graphs of a batch.
  std::span<const int64_t> graph_ptr;
  // For our kernels; null: LibTorch's intra-op threads of the calling thread, on which products are
  // spread too (the faster way: two sets of threads get into each other's way).
  base::ThreadPool* pool = nullptr;
};

// Collective: adds a flat f64 tensor up over all ranks, in place. It lies where the model lies: of
// a model on a device it is the device's memory, made in its queue, and the sum is to be there for
// what comes into that queue behind it. In backward passes it is called on LibTorch's thread.
using SumOverRanks = std::function<void(at::Tensor&)>;

struct NamedTensor {
  std::string key;
  at::Tensor tensor;
};

// Inference over all nodes of a graph with full neighbourhoods. Each stage's rows are computed in
// any ranges, by any number of ranks, and put together by the caller before the next stage begins.
class Inference {
 public:
  virtual ~Inference() = default;
  virtual int num_stages() const = 0;
  virtual int64_t width(int stage) const = 0;  // columns of the stage's output
  // Rows [begin, end) of the output of `stage`, on the CPU wherever the model lies. Stage 0 reads
  // the features; stage k reads what set_rows gave for stage k-1.
  virtual at::Tensor run(int stage, int64_t begin, int64_t end) = 0;
  // The whole output of `stage`, [num_nodes, width(stage)], on the CPU or where the model lies.
  virtual void set_rows(int stage, at::Tensor rows) = 0;
};

// What a model asks for, so that inference can go piece by piece over a graph (GraphPiece).
struct PieceNeeds {
  const char* obstacle = nullptr;  // why it cannot: "a norm over ..."; null: it can
  bool degrees = false;            // of the piece's nodes
};

// Some nodes of a larger graph, in place of all of it: inference runs over a graph that has these,
// the targets first, then the other nodes that edges into targets come from, and the edges
// into targets in their order.
struct GraphPiece {
  int64_t num_nodes = 0, num_edges = 0;         // of the whole
  std::span<const int64_t> node_ids;            // in the whole, of the piece's nodes
  std::span<const sample::NodeDegree> degrees;  // in the whole, where they are needed
  bool sparse = false;                          // features are, also where none are given
};

// Blocks, node ids and sparse rows of a training pass must stay until backward() has run.
//
// One replica of a model. Parameters are views of one flat buffer, gradients of another, so that
// all ranks exchange a single tensor; gradients accumulate until zero_gradients(). One thread at a
// time.
class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelConfig& config() const = 0;
  // Logits [num_seeds, output width], or, with a readout, [num_graphs, output width], with a graph
  // for backward() when gradients are wanted.
  virtual at::Tensor forward(const ForwardArgs& args) = 0;
  // Collective: the training passes of a rank's mini-batches of one step, none of them included,
  // whose batch norms take their statistics from the rows of all mini-batches on all ranks, as if
  // they were one that holds them side by side. The logits of each. Every rank must run one
  // backward pass through all of them together, or absent_backward(); `sum` is kept until then.
  virtual std::vector<at::Tensor> forward_step(std::span<const ForwardArgs> batches,
                                               const SumOverRanks& sum) = 0;
  // Collective: takes part in the other ranks' backward pass behind forward_step().
  virtual void absent_backward(const SumOverRanks& sum) = 0;
  // Whether backward passes may read lists by source of blocks[0], where rows of features come
  // dense or `sparse`: not where the first layer aggregates the rows as they are.
  virtual bool reads_input_by_source([[maybe_unused]] bool sparse) const { return true; }
  // Whether layers read degrees of nodes in the whole graph.
  virtual bool reads_degrees() const = 0;
  // The model and the graph must outlive it; `features` are read unless the config says otherwise,
  // `pool` is as in ForwardArgs. Error(kUnsupported) with a readout: batches of graphs have no
  // neighbors outside, so that forward() is all there is. With `piece`, which must outlive it, the
  // graph is that; features are given for stages that read them alone (WholeInference::
  // first_read()).
  virtual std::unique_ptr<Inference> inference(const graph::Graph& graph,
                                               const graph::Column* features,
                                               base::ThreadPool* pool,
                                               const GraphPiece* piece = nullptr) = 0;
  virtual PieceNeeds piece_needs() const = 0;

  // In the framework's order. Tensors share memory with the model.
  virtual const std::vector<NamedTensor>& parameters() const = 0;
  virtual const std::vector<NamedTensor>& buffers() const = 0;
  virtual at::Tensor flat_parameters() const = 0;  // 1-d
  virtual at::Tensor flat_gradients()
      const = 0;  // 1-d, same layout; zero where a parameter got no gradient
  // Whether products of f32 matrices in training passes round their factors to bf16.
  virtual void train_in_bf16(bool on) = 0;
  void zero_gradients() {
    use_device();
    flat_gradients().zero_();
  }

  // Both, and second names that layers save them under, in the order of the framework's
  // state dict.
  virtual const std::vector<NamedTensor>& state_tensors() const = 0;

  // State dict in the key layout of the config's framework, layers in layer_list().
  io::StateFile state() const;
  // The same as the other framework's layers would have it. Error(kUnsupported) naming the layer or
  // option that has no counterpart there.
  io::StateFile state_of_other_framework() const;
  // The same into `state`, which is empty or has come from this function of an equal model: then
  // without an allocation.
  void copy_state(io::StateFile& state) const;
  // Copies values in; strict: Error(kFormat) with one list of missing, unexpected and misshapen
  // keys, kNan naming the first element that is not finite, kRange that is none of the model's type
  // or a variance or count below zero, and nothing changed. Keys of older versions of the framework
  // are known, and so are layers that are no list but modules with numbers, "conv1", "conv2", ....
  void load_state(const io::StateFile& state);
  void load_state_of_other_framework(const io::StateFile& state);
  // Of the last state that was loaded.
  const FileNames& file_names() const { return file_names_; }

  // Batch norm takes its statistics from the rows of the pass when training; its running statistics
  // (buffers) move only when the trainer folds them in, in the order of the plan. A lone row has
  // none: it is normalised by the running statistics, which the pass then does not move.
  virtual int64_t batch_statistics_width() const = 0;  // 0 without batch norm
  // Statistics of the training passes since the last call, one row each: [passes, width]. Those of
  // forward_step() are one row, the same on all ranks. They lie where the model lies.
  virtual at::Tensor take_batch_statistics() = 0;
  // running <- 0.9 running + 0.1 statistics, row after row. These may lie anywhere.
  virtual void fold_batch_statistics(const at::Tensor& rows) = 0;
  // Whether a batch norm has met a lone row in a training pass since the last call.
  virtual bool take_lone_row() = 0;

  // Where it lies; null: on the CPU. States are read from and copied to anywhere.
  virtual const Device* device() const = 0;
  // A model of its own with equal parameters and buffers, gradients zero, on this device, or, null,
  // on the CPU. The device outlives it.
  virtual std::unique_ptr<Model> clone_on(const Device* device) const = 0;
  std::unique_ptr<Model> clone() const { return clone_on(device()); }

 protected:
  // LibTorch's work of the calling thread on the model's device goes into the model's queue from
  // here on.
  void use_device() const;
  FileNames file_names_;
};

std::unique_ptr<Model> make_model(const ModelConfig& config);

// The sampler to train a model with: the same, but without the lists by source that the model does
// not read, where `sampler` can do without, and with the degrees and the columns of edges that the
// model reads, and no others, where the graph cannot tell them. `sparse`: whether features are.
std::shared_ptr<const sample::Sampler> training_sampler(
    const Model& model, std::shared_ptr<const sample::Sampler> sampler, bool sparse);

}  // namespace gnnmg::nn
