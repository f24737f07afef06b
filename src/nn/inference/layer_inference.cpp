// Inference of a user's own stack over a whole graph. A stage is a convolution, its first step
// (which works row by row), or other layers only; a norm over all rows ends a stage. As in
// stack_inference.cpp, a stage may end with the first step of the next convolution.
#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "nn/inference/whole_graph.h"
#include "nn/model/layer_model.h"
#include "nn/torch/linear.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {
namespace {

using Kind = LayerConfig::Kind;

// Layers [begin, end), of which the first may be a convolution; with `transform` only its first
// step. `norms` are the norms over all rows among the layers before the convolution after them.
struct LayerStage {
  int begin = 0, end = 0, norms = 0;
  bool transform = false;
  int64_t width = 0;
  bool ends = false;  // the rows are those of the next convolution's Conv::ends()
};

bool over_all_rows(const Layer& layer) {
  return layer.config.kind == Kind::kNorm && over_graph(layer.config.options.norm);
}

}  // namespace

class LayerInference final : public WholeInference {
 public:
  LayerInference(LayerModel& model, const graph::Graph& graph, const graph::Column* features,
                 base::ThreadPool* pool, const GraphPiece* piece)
      : model_(model),
        execution_{pool, model.scratch_, false, {}, used(model.device())},
        graph_(graph, model.config_, no_categories_, execution_, piece) {
    const c10::NoGradGuard no_grad;
    const Layer& first = model.layers_.front();
    graph_.take_input(features, {no_categories_, model.embedding_,
                                 first.conv ? first.conv->transforms(true, graph_.sizes())
                                            : first.config.kind == Kind::kLinear});
    sparse_ = graph_.sparse();
    input_ = graph_.rows();
    plan();
  }

  int num_stages() const override { return static_cast<int>(stages_.size()); }
  int64_t width(int stage) const override { return stages_.at(stage).width; }

  int first_read(int stage) const override {
    int first = stage - 1;
    while (first >= 0 && stages_[first].transform) --first;
    return first;
  }
  bool reads_neighbors(int stage) const override {
    const LayerStage& s = stages_.at(stage);
    return s.end > s.begin && model_.layers_[s.begin].conv && !s.transform;
  }
  bool normalizes_all_rows(int stage) const override {
    const LayerStage& s = stages_.at(stage);
    return s.norms > s.end;
  }

  void run_into(int stage, int64_t begin, int64_t end, const at::Tensor& out) override {
    const LayerStage& s = stages_.at(stage);
    used(execution_.device);
    lay_features();
    const Conv* conv = s.end > s.begin ? model_.layers_[s.begin].conv.get() : nullptr;
    if (conv && !s.transform && conv->normalizes_all_rows())
      return graph_.rows_at_once(begin, end, out, at_once_,
                                 [&] { return rows_of(s, 0, graph_.num_nodes()); });
    graph_.rows_of_stage(begin, end, out,
                         [&](int64_t low, int64_t high) { return rows_of(s, low, high); });
  }

  void set_rows(int stage, at::Tensor rows) override {
    const LayerStage& s = stages_.at(stage);
    used(execution_.device);
    const c10::NoGradGuard no_grad;
    lay_features();
    rows = graph_.stage_rows(stage, s.width, rows);
    at_once_ = at::Tensor();
    if (s.transform) {
      prepared_ = rows;
      return;
    }
    sparse_ = false;
    prepared_ = s.ends ? rows : at::Tensor();
    input_ = s.ends ? at::Tensor() : rows;
    for (int i = s.end; i < s.norms; ++i)
      model_.layers_[i].norm.apply({&input_, 1}, norms_of(stage, execution_));
  }

 private:
  at::ScalarType type() const override { return scalar_type(model_.config_.dtype); }

  void lay_features() {
    const c10::NoGradGuard no_grad;
    if (graph_.lay_features(features_)) input_ = graph_.rows();
  }

  void plan() {
    const std::vector<Layer>& layers = model_.layers_;
    const int count = static_cast<int>(layers.size());
    bool sparse = sparse_;
    for (int i = 0; i < count || stages_.back().norms > stages_.back().end;) {
      LayerStage stage{.begin = i, .end = i};
      const Conv* conv = i < count ? layers[i].conv.get() : nullptr;
      if (conv && conv->transforms(sparse, graph_.sizes())) {
        LayerStage* const before = stages_.empty() ? nullptr : &stages_.back();
        if (before && before->norms == before->end && conv->own_linear()) {
          before->ends = true;
          before->width = conv->ends_width();
        } else {
          stages_.push_back({i, i + 1, i + 1, true, conv->transformed_width()});
        }
      }
      if (conv) ++stage.end;
      while (stage.end < count && !layers[stage.end].conv && !over_all_rows(layers[stage.end]))
        ++stage.end;
      for (stage.norms = stage.end; stage.norms < count && over_all_rows(layers[stage.norms]);)
        ++stage.norms;
      stage.width = stage.end > 0 ? layers[stage.end - 1].out : model_.config_.first_width();
      i = stage.norms;
      stages_.push_back(stage);
      sparse = false;
    }
  }

  at::Tensor rows_of(const LayerStage& s, int64_t begin, int64_t end) {
    const int64_t n = end - begin;
    WholeGraph::SparseRange sparse;
    ConvInput own;
    own.sparse = sparse_;
    own.type = scalar_type(model_.config_.dtype);
    if (sparse_) {
      sparse = graph_.sparse_rows(begin, end);
      own.rows = sparse.view;
    } else if (input_.defined()) {
      own.x = input_.narrow(0, begin, n);
    }
    int i = s.begin;
    at::Tensor x = own.x;
    if (i < s.end && model_.layers_[i].conv) {
      const Layer& layer = model_.layers_[i++];
      if (s.transform) return layer.conv->transform(own, n, execution_);
      x = convolve(layer, own, begin, end);
    } else if (sparse_) {
      x = times(own, n, model_.layers_[i++].linear, execution_);
    }
    for (; i < s.end; ++i) x = row_by_row(model_.layers_[i], x);
    if (!s.ends) return x;
    ConvInput next;
    next.x = x;
    next.type = own.type;
    return model_.layers_[s.end].conv->ends(next, n, execution_);
  }

  at::Tensor convolve(const Layer& layer, ConvInput& own, int64_t begin, int64_t end) {
    const WholeGraph::Range range = graph_.edges_into(begin, end);
    own.largest_degree = graph_.largest_degree();
    own.degrees = graph_.degrees(layer.conv->degrees(), layer.config.options.edge_weights);
    if (layer.config.options.edge_weights) own.edge_weight = range.edges.weight;
    if (layer.config.options.edge_dim > 0) own.edge_attr = range.edges.features;
    own.edge_type = range.edges.type;
    const ConvPass pass{range.block, execution_, {}, {}, {}};
    const bool transformed = prepared_.defined();
    const at::Tensor rows =
        transformed ? layer.conv->take_ends(prepared_, begin, end - begin, own) : input_;
    return layer.conv->combine(rows, transformed, begin, own, pass);
  }

  at::Tensor row_by_row(const Layer& layer, at::Tensor x) const {
    switch (layer.config.kind) {
      case Kind::kLinear:
        return torch_linear(x, layer.linear.weight, layer.linear.bias);
      case Kind::kActivation:
        return activate(layer.config.options.activation, x, layer.prelu);
      case Kind::kNorm:
        layer.norm.apply({&x, 1}, {nullptr, {}, {}, execution_});
        return x;
      default:
        return x;  // dropout does nothing in inference
    }
  }

  LayerModel& model_;
  const CategoryEncoder no_categories_;
  Execution execution_;
  WholeGraph graph_;
  std::vector<LayerStage> stages_;
  bool sparse_ = false;  // the features are sparse, and `input_` is undefined
  at::Tensor input_;     // input of the current layer, for all nodes
  at::Tensor at_once_;   // all rows of a stage that computes them together
  at::Tensor prepared_;  // transformed rows for the edges, if a stage computes them
};

std::unique_ptr<Inference> LayerModel::inference(const graph::Graph& graph,
                                                 const graph::Column* features,
                                                 base::ThreadPool* pool, const GraphPiece* piece) {
  return std::make_unique<LayerInference>(*this, graph, features, pool, piece);
}

}  // namespace gnnmg::nn
