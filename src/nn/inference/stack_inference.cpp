// Inference over a whole graph, layer by layer. A layer is one stage, or two if the rows of all
// nodes are multiplied before the aggregation; more if norms over all rows are inside it. The
// product before an aggregation belongs to the stage before it if nothing else reads that stage's
// rows: of these only the products are kept.
#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>

#include "nn/inference/whole_graph.h"
#include "nn/model/stack.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {

namespace {

enum class Step {
  kInput,      // linear input of residual blocks
  kTransform,  // first step of a convolution with two steps
  kInner,      // a convolution up to a norm over all rows inside it
  kConv,       // convolution or the rest of it, with the operations after it
  kOutput      // linear output
};

struct StackStage {
  Step step;
  int layer;
  int64_t width;
  int inner = 0;      // number of the kInner stage in the layer
  bool ends = false;  // the rows are those of the next convolution's Conv::ends()
};

}  // namespace

class StackInference final : public WholeInference {
 public:
  StackInference(StackModel& model, const graph::Graph& graph, const graph::Column* features,
                 base::ThreadPool* pool, const GraphPiece* piece)
      : model_(model),
        execution_{pool, model.scratch_, false, {}, used(model.device())},
        graph_(graph, model.config_, model.edges_, execution_, piece) {
    const c10::NoGradGuard no_grad;
    const Conv& first = *model.layers_[0].conv;
    degrees_ = graph_.degrees(first.degrees(), model.config_.edge_weights);
    graph_.take_input(features, {model.nodes_, model.embedding_,
                                 model.config_.skip == Skip::kResidual ||
                                     first.transforms(true, graph_.sizes())});
    sparse_ = graph_.sparse();
    input_ = graph_.rows();
    plan();
  }

  int num_stages() const override { return static_cast<int>(stages_.size()); }
  int64_t width(int stage) const override { return stages_.at(stage).width; }

  int first_read(int stage) const override {
    int first = stage - 1;
    while (first >= 0 && inside_layer(first)) --first;
    return first > 0 && model_.config_.jumping != Jumping::kNone ? 0 : first;
  }
  bool reads_neighbors(int stage) const override {
    const StackStage& s = stages_.at(stage);
    if (s.step == Step::kInner) return s.inner == 0;
    return s.step == Step::kConv && !model_.layers_[s.layer].conv->staged();
  }
  bool normalizes_all_rows(int stage) const override {
    const StackStage& s = stages_.at(stage);
    if (s.step == Step::kInner) return true;
    if (!over_graph(model_.config_.norm)) return false;
    if (model_.config_.skip == Skip::kResidual)
      return s.step == Step::kInput || s.step == Step::kConv;
    return s.step == Step::kConv && !model_.plain_output(s.layer);
  }

  void run_into(int stage, int64_t begin, int64_t end, const at::Tensor& out) override {
    const StackStage& s = stages_.at(stage);
    used(execution_.device);
    lay_features();
    if (s.step == Step::kConv && in_one(*model_.layers_[s.layer].conv))
      return graph_.rows_at_once(begin, end, out, at_once_,
                                 [&] { return rows_of(s, 0, graph_.num_nodes()); });
    graph_.rows_of_stage(begin, end, out,
                         [&](int64_t low, int64_t high) { return rows_of(s, low, high); });
  }

  void set_rows(int stage, at::Tensor rows) override {
    const StackStage& s = stages_.at(stage);
    used(execution_.device);
    const c10::NoGradGuard no_grad;
    lay_features();
    rows = graph_.stage_rows(stage, s.width, rows);
    at_once_ = at::Tensor();
    if (s.step == Step::kTransform) {
      prepared_ = rows;
      return;
    }
    if (s.step == Step::kInner) {
      inner_ = model_.layers_[s.layer].conv->staged()->together(s.inner, rows,
                                                                norms_of(stage, execution_));
      prepared_ = at::Tensor();
      return;
    }
    inner_ = at::Tensor();
    if (s.ends) {
      sparse_ = false;
      prepared_ = rows;
      input_ = at::Tensor();
      return;
    }
    if (s.step == Step::kConv && norm_over_graph())
      rows = after_conv(s.layer, rows, norms_of(stage, execution_));
    sparse_ = false;
    prepared_ = at::Tensor();
    input_ = rows;
    if (model_.config_.jumping != Jumping::kNone && s.step == Step::kConv) outputs_.push_back(rows);
    if (model_.config_.skip != Skip::kResidual) return;
    residual_ = rows;
    const int next = s.step == Step::kInput ? 0 : s.layer + 1;
    (next < model_.config_.num_layers ? model_.layers_[next].norm : model_.output_norm_)
        .apply({&input_, 1}, norms_of(stage, execution_));
  }

 private:
  at::ScalarType type() const override { return scalar_type(model_.config_.dtype); }

  void lay_features() {
    const c10::NoGradGuard no_grad;
    if (graph_.lay_features(features_)) input_ = graph_.rows();
  }

  void plan() {
    const ModelConfig& c = model_.config_;
    bool sparse = sparse_;
    if (c.skip == Skip::kResidual) {
      stages_.push_back({Step::kInput, 0, c.hidden_dim});
      sparse = false;
    }
    for (int i = 0; i < c.num_layers; ++i) {
      const Conv& conv = *model_.layers_[i].conv;
      const bool transforms = conv.transforms(i == 0 && sparse, graph_.sizes());
      if (transforms && i > 0 && only_convolutions() && conv.own_linear())
        stages_.back() = {Step::kConv, i - 1, conv.ends_width(), 0, true};
      else if (transforms)
        stages_.push_back({Step::kTransform, i, conv.transformed_width()});
      if (const StagedConv* staged = conv.staged())
        for (int k = 0; k < staged->num_stages(); ++k)
          stages_.push_back({Step::kInner, i, staged->stage_width(k), k});
      stages_.push_back({Step::kConv, i, conv.output_width()});
    }
    if (c.skip != Skip::kNone || c.jumping != Jumping::kNone)
      stages_.push_back({Step::kOutput, c.num_layers, c.output_width()});
  }

  // True if only the next convolution reads the rows of a layer, and it needs no other rows for it.
  bool only_convolutions() const {
    return model_.config_.skip == Skip::kNone && model_.config_.jumping == Jumping::kNone &&
           !norm_over_graph();
  }

  // True for stages inside a layer, whose rows the next layer does not read.
  bool inside_layer(int stage) const {
    const Step step = stages_[stage].step;
    return step == Step::kTransform || step == Step::kInner;
  }

  // Norms over the rows of all edges, which are made together.
  static bool in_one(const Conv& conv) { return conv.normalizes_all_rows() && !conv.staged(); }

  // True if a norm over all rows must wait until all are computed.
  bool norm_over_graph() const {
    return over_graph(model_.config_.norm) && model_.config_.skip != Skip::kResidual;
  }
  at::Tensor after_conv(int layer, const at::Tensor& y, const NormPass& norms) const {
    StackPass pass{};
    pass.in.x = y;
    model_.after_conv(layer, {&pass, 1}, execution_, norms);
    return pass.in.x;
  }

  at::Tensor rows_of(const StackStage& s, int64_t begin, int64_t end) {
    const int64_t n = end - begin;
    if (s.step == Step::kOutput) {
      std::vector<at::Tensor> all;
      for (const at::Tensor& rows : outputs_) all.push_back(rows.narrow(0, begin, n));
      return model_.output(input_.narrow(0, begin, n), all, {}, execution_);
    }
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
    if (s.step == Step::kInput) return times(own, n, model_.input_, execution_);
    const StackLayer& layer = model_.layers_[s.layer];
    if (s.step == Step::kTransform) return layer.conv->transform(own, n, execution_);
    const StagedConv* staged = layer.conv->staged();
    const Finish finish = model_.finish_of_conv(s.layer, {});
    at::Tensor y;
    if (inner_.defined()) {
      const at::Tensor rows = inner_.narrow(0, begin, n);
      if (s.step == Step::kInner) return staged->next_stage(s.inner, rows);
      sample::BlockView targets;
      targets.num_targets = n;
      y = staged->after_stages(rows, own, {targets, execution_, finish, {}, layer.skip});
    } else {
      const WholeGraph::Range range = graph_.edges_into(begin, end);
      own.largest_degree = graph_.largest_degree();
      own.degrees = degrees_;
      own.edge_weight = range.edges.weight;
      own.edge_attr = range.edges.features;
      own.edge_type = range.edges.type;
      const ConvPass pass{range.block, execution_, finish, {}, layer.skip};
      const bool transformed = prepared_.defined();
      const at::Tensor rows =
          transformed ? layer.conv->take_ends(prepared_, begin, n, own) : input_;
      if (s.step == Step::kInner) return staged->first_stage(rows, transformed, begin, own, pass);
      y = layer.conv->combine(rows, transformed, begin, own, pass);
    }
    if (!norm_over_graph()) y = after_conv(s.layer, y, {.execution = execution_});
    if (s.ends) {
      ConvInput next;
      next.x = y;
      next.type = own.type;
      return model_.layers_[s.layer + 1].conv->ends(next, n, execution_);
    }
    return residual_.defined() ? residual_.narrow(0, begin, n) + y : y;
  }

  StackModel& model_;
  Execution execution_;
  WholeGraph graph_;
  std::vector<StackStage> stages_;
  // Input of the current convolution for all nodes: dense, or sparse features in the first.
  bool sparse_ = false;
  at::Tensor input_;
  at::Tensor prepared_;              // transformed rows for the edges, if a stage computes them
  at::Tensor at_once_;               // all rows of a stage that computes them together
  at::Tensor inner_;                 // rows after a norm inside the current convolution
  at::Tensor degrees_;               // degrees of the nodes, if the layers need them
  std::vector<at::Tensor> outputs_;  // outputs of the layers so far, if the result needs all
  at::Tensor residual_;              // residual blocks: the rows before the norm
};

std::unique_ptr<Inference> StackModel::inference(const graph::Graph& graph,
                                                 const graph::Column* features,
                                                 base::ThreadPool* pool, const GraphPiece* piece) {
  return std::make_unique<StackInference>(*this, graph, features, pool, piece);
}

}  // namespace gnnmg::nn
