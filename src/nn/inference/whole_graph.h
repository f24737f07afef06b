// The input of inference over a whole graph: its features in any form, and its edges in ranges of
// targets, with their data.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "nn/layers/category_encoder.h"
#include "nn/layers/norm_over_rows.h"
#include "nn/model/graph_facts.h"
#include "nn/model/model.h"

namespace gnnmg::nn {

// Inference over the nodes of a graph, whose rows may stay on the model's device.
class WholeInference : public Inference {
 public:
  // Call before the first run of a model on a device if its features are there already, in the
  // given form, [num_nodes, columns], and stay there during the inference. Otherwise they are
  // copied there. Other features are not used.
  void features_lie_there(at::Tensor rows) { features_ = std::move(rows); }
  // Writes rows [begin, end) of the output of `stage` to `out`, [end - begin, width(stage)] of the
  // model's type: on the CPU, or on the model's device, in its queue.
  virtual void run_into(int stage, int64_t begin, int64_t end, const at::Tensor& out) = 0;
  // Returns the first stage whose rows `stage` reads: it needs set_rows() only for the stages from
  // there on. -1 if it reads the features too.
  virtual int first_read(int stage) const = 0;
  // True if `stage` reads rows of other nodes than the targets, from the stage before or, for
  // stage 0, from the features. All other input is the targets' own.
  virtual bool reads_neighbors(int stage) const = 0;
  // True if set_rows() for `stage` applies norms over the rows of all nodes. For a piece of a graph
  // that takes use_norms() first.
  virtual bool normalizes_all_rows(int stage) const = 0;
  // Makes set_rows() for `stage` use these norms, for rows that are some of all.
  void use_norms(int stage, NormsOverRows* norms) { norms_[stage] = norms; }
  at::Tensor run(int stage, int64_t begin, int64_t end) final;

 protected:
  virtual at::ScalarType type() const = 0;
  NormPass norms_of(int stage, const Execution& execution) const {
    const auto found = norms_.find(stage);
    return {.execution = execution, .over_rows = found == norms_.end() ? nullptr : found->second};
  }
  at::Tensor features_;

 private:
  std::map<int, NormsOverRows*> norms_;  // [stage]
};

// Returns the device, if any, and puts LibTorch's work of the calling thread into its queue.
inline const Device* used(const Device* device) {
  if (device) device->table->use(device->queue);
  return device;
}

class WholeGraph {
 public:
  // The arguments must outlive the object. Error(kUnsupported) for graphs that models cannot
  // process. For a model on a device the layers' input is there: all rows and edge data; the edges
  // are copied range by range. Error(kNoMemory) if it does not fit. `piece` as in
  // Model::inference().
  WholeGraph(const graph::Graph& graph, const ModelConfig& config, const CategoryEncoder& edges,
             const Execution& execution, const GraphPiece* piece = nullptr);

  int64_t num_nodes() const { return csc_.num_targets; }
  // Sizes of the whole graph as one block, without lists.
  const sample::BlockView& sizes() const { return sizes_; }
  // The degrees of all nodes; undefined if the layer needs none.
  at::Tensor degrees(Degrees kind, bool weighted);

  int64_t largest_degree() const { return largest_degree_; }  // largest in-degree

  // Edges into some targets; sources are all nodes.
  struct Range {
    std::vector<int32_t> indptr;
    at::Tensor indptr_on_device, indices_on_device;
    sample::BlockView block;
    EdgeValues edges;  // edge data in the layers' form
  };
  Range edges_into(int64_t begin, int64_t end) const;
  // Writes rows [begin, end) of a stage to `out`. `rows_of` computes them for pieces whose edges
  // fit into one block. Error(kRange) unless these are rows of the graph.
  void rows_of_stage(int64_t begin, int64_t end, const at::Tensor& out,
                     const std::function<at::Tensor(int64_t, int64_t)>& rows_of) const;
  // The same from all rows, which `all_rows` computes unless `all` holds them already.
  // Error(kRange) if the graph has more edges than fit into one block.
  void rows_at_once(int64_t begin, int64_t end, const at::Tensor& out, at::Tensor& all,
                    const std::function<at::Tensor()>& all_rows) const;
  // Returns all rows of a stage, given on any device, on the model's device.
  // Error(kInvalidArgument) if the shape or type does not match.
  at::Tensor stage_rows(int stage, int64_t width, const at::Tensor& rows) const;

  // The input of the first layer: features, or, for a model without features, the learned rows of
  // its `embedding`, or nothing. Dense features are converted to the model's type here, categories
  // by `nodes`; sparse ones stay sparse with `keep_sparse`. Error(kInvalidArgument) if they, or the
  // nodes, do not match the model or the graph. A piece may come without features.
  struct FirstLayer {
    const CategoryEncoder& nodes;
    const at::Tensor& embedding;
    bool keep_sparse = false;
  };
  void take_input(const graph::Column* features, const FirstLayer& layer);
  // Call before rows are read, for a model on a device: moves dense features there that were still
  // on the host. `there`: as in WholeInference::features_lie_there(). Returns false if there was
  // nothing to do.
  bool lay_features(const at::Tensor& there);
  // Features of some nodes, kept sparse.
  struct SparseRange {
    std::vector<int64_t> indptr;
    std::vector<at::Tensor> on_device;
    SparseView view;
  };
  bool sparse() const { return sparse_; }
  SparseRange sparse_rows(int64_t begin, int64_t end) const;
  // Dense features: [num_nodes, width], or undefined.
  const at::Tensor& rows() const { return rows_; }

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
  bool with_host_ = false;  // `rows_` are on the host, in the given form
  at::Tensor rows_;
};

}  // namespace gnnmg::nn
