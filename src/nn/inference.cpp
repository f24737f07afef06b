// Inference of GraphSAGE over a whole graph, layer by layer. A layer is one stage, or two where the
// rows of all nodes have to be multiplied before they are aggregated.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/mapped_tensor.h"
#include "nn/sage.h"
#include "nn/tensors.h"

namespace gnnmg::nn {

using base::fail;
using base::Status;

namespace {

enum class Step {
  kInput,      // linear input of residual blocks
  kProject,    // relu(lin x)
  kTransform,  // [lin_l x | own weight x], to be aggregated by the convolution
  kConv,       // convolution with what stands behind it
  kOutput      // linear output
};

struct Stage {
  Step step;
  int layer;
  int64_t width;
};

// Edges into the targets [begin, end) as a block whose sources are all nodes.
struct RangeBlock {
  std::vector<int32_t> indptr;
  sample::BlockView view;

  RangeBlock(const graph::Csc& csc, int64_t begin, int64_t end) : indptr(end - begin + 1) {
    const int64_t* pointers = static_cast<const int64_t*>(csc.indptr.data());
    for (int64_t t = begin; t <= end; ++t)
      indptr[t - begin] = static_cast<int32_t>(pointers[t] - pointers[begin]);
    view.num_targets = end - begin;
    view.num_sources = csc.num_sources;
    view.num_edges = indptr.back();
    view.indptr = indptr.data();
    view.indices = static_cast<const int32_t*>(csc.indices.data()) + pointers[begin];
  }
};

}  // namespace

class SageInference final : public Inference {
 public:
  SageInference(SageModel& model, const graph::Graph& graph, const graph::Column& features,
                base::ThreadPool* pool)
      : model_(model), csc_(graph.csc()), execution_{pool, model.scratch_, false} {
    if (!graph.homogeneous())
      fail(Status::kUnsupported, "GraphSAGE runs on graphs of one node type and one edge type");
    if (csc_.wide())
      fail(Status::kUnsupported, "inference over a graph of ", csc_.num_sources, " nodes, at most ",
           std::numeric_limits<int32_t>::max(), " are supported");
    num_nodes_ = graph.num_nodes();
    take_features(features);
    plan();
  }

  int num_stages() const override { return static_cast<int>(stages_.size()); }
  int64_t width(int stage) const override { return stages_.at(stage).width; }

  at::Tensor run(int stage, int64_t begin, int64_t end) override {
    if (begin < 0 || begin > end || end > num_nodes_)
      fail(Status::kRange, "rows ", begin, " to ", end, " of ", num_nodes_, " nodes");
    const c10::NoGradGuard no_grad;
    const Stage& s = stages_.at(stage);
    at::Tensor out =
        at::empty({end - begin, s.width}, at::TensorOptions(scalar_type(model_.config_.dtype)));
    // The row pointers of a block have 32 bits.
    const int64_t* pointers = static_cast<const int64_t*>(csc_.indptr.data());
    for (int64_t low = begin; low < end;) {
      const int64_t limit = pointers[low] + std::numeric_limits<int32_t>::max();
      const int64_t high =
          std::upper_bound(pointers + low + 1, pointers + end + 1, limit) - pointers - 1;
      if (high == low)
        fail(Status::kUnsupported, "node ", low, " has more than ",
             std::numeric_limits<int32_t>::max(), " incoming edges");
      out.narrow(0, low - begin, high - low).copy_(rows_of(s, low, high));
      low = high;
    }
    return out;
  }

  void set_rows(int stage, at::Tensor rows) override {
    const Stage& s = stages_.at(stage);
    if (rows.dim() != 2 || rows.size(0) != num_nodes_ || rows.size(1) != s.width)
      fail(Status::kInvalidArgument, "stage ", stage, " has ", num_nodes_, " rows of ", s.width,
           " columns, found ", rows.dim() == 2 ? rows.size(0) : 0, " of ",
           rows.dim() == 2 ? rows.size(1) : 0);
    const c10::NoGradGuard no_grad;
    if (s.step == Step::kProject || s.step == Step::kTransform) {
      prepared_ = rows;
      return;
    }
    if (s.step == Step::kConv && norm_over_graph()) rows = behind_conv(s.layer, rows);
    sparse_ = false;
    prepared_ = at::Tensor();
    input_ = rows;
    if (model_.config_.skip != Skip::kResidual) return;
    residual_ = rows;
    const int next = s.step == Step::kInput ? 0 : s.layer + 1;
    input_ = model_.apply_norm(
        next < model_.config_.num_layers ? model_.layers_[next].norm : model_.output_norm_, rows,
        false);
  }

 private:
  void take_features(const graph::Column& features) {
    const int64_t expected = model_.config_.input_dim;
    int64_t columns = 0;
    if (const auto* sparse = std::get_if<base::CsrMatrix>(&features)) {
      columns = sparse->num_cols;
      sparse_ = true;
      csr_ = *sparse;
    } else {
      // Every row is read many times, and each layer's rows of all nodes are in memory as well.
      const base::Tensor dense = base::in_memory(std::get<base::Tensor>(features));
      columns = dense.shape().row_elements();
      if (!base::is_floating(dense.dtype()))
        fail(Status::kInvalidArgument, "features have elements of type ",
             base::dtype_name(dense.dtype()), ", expected floats");
      features_ = dense;
      input_ = at::from_blob(dense.data(), {dense.rows(), columns},
                             at::TensorOptions(scalar_type(dense.dtype())));
    }
    if (graph::column_rows(features) != num_nodes_)
      fail(Status::kInvalidArgument, "features have ", graph::column_rows(features),
           " rows, the graph has ", num_nodes_, " nodes");
    if (columns != expected)
      fail(Status::kInvalidArgument, "features have ", columns,
           " columns, the model has input_dim ", expected);
    const at::ScalarType type = scalar_type(model_.config_.dtype);
    if (sparse_ && (reduce() == Reduce::kMax || model_.config_.project) &&
        model_.config_.skip != Skip::kResidual) {
      input_ = densify(sparse_rows(0, num_nodes_).view, {}, type, execution_);
      sparse_ = false;
    } else if (!sparse_) {
      input_ = input_.to(type);
    }
  }

  void plan() {
    const SageConfig& c = model_.config_;
    sample::BlockView all;
    all.num_sources = all.num_targets = num_nodes_;
    all.num_edges = csc_.num_edges();
    bool sparse = sparse_;
    if (c.skip == Skip::kResidual) {
      stages_.push_back({Step::kInput, 0, c.hidden_dim});
      sparse = false;
    }
    for (int i = 0; i < c.num_layers; ++i) {
      const SageConvWeights& w = model_.layers_[i].conv;
      const int64_t in = w.lin_l.size(1), out = w.lin_l.size(0);
      if (c.project)
        stages_.push_back({Step::kProject, i, in});
      else if (i == 0 && sparse ? true : transforms_first(reduce(), all, in, out))
        stages_.push_back({Step::kTransform, i, out * (1 + num_own(w))});
      stages_.push_back({Step::kConv, i, out});
    }
    if (c.skip != Skip::kNone) stages_.push_back({Step::kOutput, c.num_layers, c.output_width()});
  }

  Reduce reduce() const { return model_.conv_options().reduce; }
  // Norm over all rows together has to wait until they are there.
  bool norm_over_graph() const {
    return model_.config_.norm == Norm::kLayerGraph && model_.config_.skip != Skip::kResidual;
  }
  at::Tensor behind_conv(int layer, const at::Tensor& y) const {
    SagePass pass{};
    pass.in.x = y;
    model_.after_conv(layer, {&pass, 1}, execution_, false, {});
    return pass.in.x;
  }
  // With normalised rows, root and skip weights act apart.
  int64_t num_own(const SageConvWeights& w) const {
    return model_.config_.normalize ? w.lin_r.defined() + w.skip.defined()
                                    : w.lin_r.defined() || w.skip.defined();
  }

  struct SparseRange {
    std::vector<int64_t> indptr;
    SparseView view;
  };
  SparseRange sparse_rows(int64_t begin, int64_t end) const {
    const int64_t* pointers = static_cast<const int64_t*>(csr_.indptr.data());
    SparseRange range;
    range.indptr.resize(end - begin + 1);
    for (int64_t r = begin; r <= end; ++r) range.indptr[r - begin] = pointers[r] - pointers[begin];
    range.view = {end - begin, csr_.num_cols, range.indptr.data(),
                  static_cast<const int32_t*>(csr_.indices.data()) + pointers[begin],
                  static_cast<const float*>(csr_.values.data()) + pointers[begin]};
    return range;
  }

  // Rows [begin, end) of the layer's input times weight^T + bias.
  at::Tensor linear(int64_t begin, int64_t end, const at::Tensor& weight,
                    const at::Tensor& bias) const {
    if (!sparse_) return at::linear(input_.narrow(0, begin, end - begin), weight, bias);
    const at::Tensor y =
        sparse_linear(sparse_rows(begin, end).view, end - begin, {}, weight, execution_);
    return bias.defined() ? y + bias : y;
  }

  at::Tensor rows_of(const Stage& s, int64_t begin, int64_t end) {
    const SageConfig& c = model_.config_;
    switch (s.step) {
      case Step::kInput:
        return linear(begin, end, model_.input_weight_, model_.input_bias_);
      case Step::kOutput: {
        const at::Tensor rows = input_.narrow(0, begin, end - begin);
        return model_.output_weight_.defined()
                   ? at::linear(rows, model_.output_weight_, model_.output_bias_)
                   : rows;
      }
      case Step::kProject: {
        const SageConvWeights& w = model_.layers_[s.layer].conv;
        return at::relu(linear(begin, end, w.lin, w.lin_bias));
      }
      case Step::kTransform: {
        const SageConvWeights& w = model_.layers_[s.layer].conv;
        std::vector<at::Tensor> weights;
        weights.push_back(w.lin_l);
        if (c.normalize) {
          if (w.lin_r.defined()) weights.push_back(w.lin_r);
          if (w.skip.defined()) weights.push_back(w.skip);
        } else if (num_own(w)) {
          weights.push_back(own_weight(w));
        }
        return linear(begin, end, at::cat(weights), {});
      }
      case Step::kConv:
        break;
    }
    const RangeBlock block(csc_, begin, end);
    at::Tensor y = convolved(s.layer, block.view, begin);
    if (!norm_over_graph()) y = behind_conv(s.layer, y);
    return residual_.defined() ? residual_.narrow(0, begin, end - begin) + y : y;
  }

  at::Tensor convolved(int layer, const sample::BlockView& block, int64_t begin) const {
    const SageConvWeights& w = model_.layers_[layer].conv;
    const int64_t n = block.num_targets, out = w.lin_l.size(0);
    const Finish finish = model_.finish_of_conv(layer, {});
    if (transformed(layer)) {
      at::Tensor y = aggregate(prepared_.narrow(1, 0, out), block, reduce(), execution_);
      const auto own = [&](int64_t k) {
        return prepared_.narrow(0, begin, n).narrow(1, k * out, out);
      };
      int64_t k = 1;
      if (model_.config_.normalize) {
        if (w.lin_r.defined()) y = y + own(k++);
        if (w.lin_l_bias.defined()) y = y + w.lin_l_bias;
        y = normalize_rows(y, execution_);
        if (w.skip.defined()) y = y + own(k) + w.skip_bias;
      } else {
        if (num_own(w)) y = y + own(k);
        const at::Tensor bias = whole_bias(w);
        if (bias.defined()) y = y + bias;
      }
      return apply_finish(y, finish, execution_);
    }
    // A projection has been made already.
    SageConvWeights weights = w;
    weights.lin = weights.lin_bias = at::Tensor();
    SageConvInput in;
    in.x = prepared_.defined() ? prepared_ : input_;
    in.x_target = input_.narrow(0, begin, n);
    return sage_conv(weights, in, block, model_.conv_options(), finish, execution_);
  }

  bool transformed(int layer) const {
    return std::any_of(stages_.begin(), stages_.end(), [&](const Stage& s) {
      return s.step == Step::kTransform && s.layer == layer;
    });
  }

  SageModel& model_;
  const graph::Csc& csc_;
  Execution execution_;
  int64_t num_nodes_ = 0;
  std::vector<Stage> stages_;
  // What the convolution under way reads, for all nodes: dense, or sparse features in the first.
  bool sparse_ = false;
  base::CsrMatrix csr_;
  base::Tensor features_;  // keeps the memory of dense features
  at::Tensor input_;
  at::Tensor prepared_;  // its projected or multiplied rows, where a stage makes them
  at::Tensor residual_;  // of residual blocks: the rows before the norm
};

std::unique_ptr<Inference> SageModel::inference(const graph::Graph& graph,
                                                const graph::Column& features,
                                                base::ThreadPool* pool) {
  return std::make_unique<SageInference>(*this, graph, features, pool);
}

}  // namespace gnnmg::nn
