// What inference over a whole graph reads: its features in any form, and its edges in ranges of
// targets, with what they carry.
#pragma once

#include <functional>
#include <vector>

#include "nn/category_encoder.h"
#include "nn/graph_facts.h"
#include "nn/model.h"

namespace gnnmg::nn {

// Inference over the nodes of a graph, whose rows may stay where the model lies.
class WholeInference : public Inference {
 public:
  // Before the first run, of a model on a device: its features lie there as they are given,
  // [num_nodes, columns], and stay so for as long as it runs. Else they are copied there. Others
  // than these are not used.
  void features_lie_there(at::Tensor rows) { features_ = std::move(rows); }
  // Rows [begin, end) of the output of `stage` into `out`, [end - begin, width(stage)] of the
  // model's type: on the CPU, or where the model lies, made in its queue.
  virtual void run_into(int stage, int64_t begin, int64_t end, const at::Tensor& out) = 0;
  // The first stage whose rows are read by `stage`: set_rows() of it and of those up to `stage` is
  // all that it needs. -1: it reads the features too.
  virtual int first_read(int stage) const = 0;
  // Whether rows of `stage` are read from other nodes than the targets: of the stage before, or,
  // of stage 0, of the features. All else that a stage reads is the targets' own.
  virtual bool reads_neighbors(int stage) const = 0;
  at::Tensor run(int stage, int64_t begin, int64_t end) final;

 protected:
  virtual at::ScalarType type() const = 0;
  at::Tensor features_;
};

// The device, if any, with LibTorch's work of the calling thread in its queue.
inline const Device* used(const Device* device) {
  if (device) device->table->use(device->queue);
  return device;
}

class WholeGraph {
 public:
  // What it is given must outlive it. Error(kUnsupported) for graphs that models do not run on.
  // Of a model on a device, what layers read lies there: all rows, and what edges carry; the edges
  // themselves come range by range. Error(kNoMemory) where there is no room. `piece` as of
  // Model::inference().
  WholeGraph(const graph::Graph& graph, const ModelConfig& config, const CategoryEncoder& edges,
             const Execution& execution, const GraphPiece* piece = nullptr);

  int64_t num_nodes() const { return csc_.num_targets; }
  // Sizes of the whole graph as one block, without lists.
  const sample::BlockView& sizes() const { return sizes_; }
  // Of all nodes; undefined where the layer asks for none.
  at::Tensor degrees(Degrees kind, bool weighted);

  int64_t largest_degree() const { return largest_degree_; }  // of edges into a node

  // Edges into some targets; sources are all nodes.
  struct Range {
    std::vector<int32_t> indptr;
    at::Tensor indptr_on_device, indices_on_device;
    sample::BlockView block;
    EdgeValues edges;  // as the layers read them
  };
  Range edges_into(int64_t begin, int64_t end) const;
  // Rows [begin, end) of a stage into `out`, from those that `rows_of` makes of pieces whose edges
  // one block can count. Error(kRange) unless these are rows of the graph.
  void rows_of_stage(int64_t begin, int64_t end, const at::Tensor& out,
                     const std::function<at::Tensor(int64_t, int64_t)>& rows_of) const;
  // The same from all rows, which `all_rows` makes where `all` does not hold them yet.
  // Error(kRange) where the graph has more edges than one block can count.
  void rows_at_once(int64_t begin, int64_t end, const at::Tensor& out, at::Tensor& all,
                    const std::function<at::Tensor()>& all_rows) const;
  // All rows of a stage, which come from anywhere, where the model lies. Error(kInvalidArgument)
  // unless that is what they are.
  at::Tensor stage_rows(int stage, int64_t width, const at::Tensor& rows) const;

  // What the first layer reads: features, or where the model reads none, the learned rows of its
  // `embedding`, or nothing. Dense features are made rows of the model's type here, categories by
  // `nodes`; sparse ones are kept so where `keep_sparse`. Error(kInvalidArgument) where they, or
  // the nodes, fit not the model or the graph. Of a piece features may be left out.
  struct FirstLayer {
    const CategoryEncoder& nodes;
    const at::Tensor& embedding;
    bool keep_sparse = false;
  };
  void take_input(const graph::Column* features, const FirstLayer& layer);
  // Before rows are read where the model lies on a device: dense features come to lie there, which
  // have stayed with the host so far. `there`: as of WholeInference::features_lie_there(). False
  // where nothing was to be done.
  bool lay_features(const at::Tensor& there);
  // Features that were kept sparse, of some nodes.
  struct SparseRange {
    std::vector<int64_t> indptr;
    std::vector<at::Tensor> on_device;
    SparseView view;
  };
  bool sparse() const { return sparse_; }
  SparseRange sparse_rows(int64_t begin, int64_t end) const;
  const at::Tensor& rows() const { return rows_; }  // else: [num_nodes, width], or undefined

 private:
  void take_features(const graph::Column& features, const CategoryEncoder& nodes, bool keep_sparse);
  void take_learned(const at::Tensor& embedding);

  const GraphPiece* const piece_;  // null: the graph is the whole
  const graph::Graph& graph_;
  const graph::Csc& csc_;
  const ModelConfig& config_;
  const CategoryEncoder& edges_;
  Execution execution_;
  GraphFacts facts_;
  bool carries_;
  sample::BlockView sizes_;
  int64_t largest_degree_ = 0;
  bool sparse_ = false;
  base::CsrMatrix csr_;
  base::Tensor features_;   // keeps the memory of dense features
  bool with_host_ = false;  // `rows_` are those of the host's, as they are given
  at::Tensor rows_;
};

}  // namespace gnnmg::nn
