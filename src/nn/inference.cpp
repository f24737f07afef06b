// Inference over a whole graph, layer by layer. A layer is one stage, or two where the
// rows of all nodes have to be multiplied before they are aggregated.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>

#include <limits>

#include "base/error.h"
#include "base/mapped_tensor.h"
#include "nn/stack.h"
#include "nn/tensors.h"
#include "nn/torch_tensor.h"

namespace gnnmg::nn {

using base::fail;
using base::Status;

namespace {

enum class Step {
  kInput,      // linear input of residual blocks
  kTransform,  // the first step of a convolution that has two
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

class StackInference final : public Inference {
 public:
  StackInference(StackModel& model, const graph::Graph& graph, const graph::Column& features,
                 base::ThreadPool* pool)
      : model_(model), csc_(graph.csc()), execution_{pool, model.scratch_, false} {
    if (!graph.homogeneous())
      fail(Status::kUnsupported, "models run on graphs of one node type and one edge type");
    if (model.config_.readout != Readout::kNone)
      fail(Status::kUnsupported,
           "a model with a readout has results for graphs: run it on batches of them");
    if (csc_.wide())
      fail(Status::kUnsupported, "inference over a graph of ", csc_.num_sources, " nodes, at most ",
           std::numeric_limits<int32_t>::max(), " are supported");
    num_nodes_ = graph.num_nodes();
    const Degrees degrees = model.layers_[0].conv->degrees();
    if (degrees != Degrees::kNone)
      degrees_ = whole_degrees(csc_, degrees, scalar_type(model.config_.dtype));
    whole_.num_sources = whole_.num_targets = num_nodes_;
    whole_.num_edges = csc_.num_edges();
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
    if (s.step == Step::kTransform) {
      prepared_ = rows;
      return;
    }
    if (s.step == Step::kConv && norm_over_graph()) rows = behind_conv(s.layer, rows);
    sparse_ = false;
    prepared_ = at::Tensor();
    input_ = rows;
    if (model_.config_.jumping != Jumping::kNone && s.step == Step::kConv) outputs_.push_back(rows);
    if (model_.config_.skip != Skip::kResidual) return;
    residual_ = rows;
    const int next = s.step == Step::kInput ? 0 : s.layer + 1;
    (next < model_.config_.num_layers ? model_.layers_[next].norm : model_.output_norm_)
        .apply({&input_, 1}, {nullptr, {}, {}, execution_});
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
      const base::Tensor& dense = std::get<base::Tensor>(features);
      columns = dense.shape().row_elements();
      if (!base::is_floating(dense.dtype()))
        fail(Status::kInvalidArgument, "features have elements of type ",
             base::dtype_name(dense.dtype()), ", expected floats");
      features_ = base::in_memory(dense);
      input_ = at::from_blob(features_.data(), {dense.rows(), columns},
                             at::TensorOptions(scalar_type(dense.dtype())));
    }
    if (graph::column_rows(features) != num_nodes_)
      fail(Status::kInvalidArgument, "features have ", graph::column_rows(features),
           " rows, the graph has ", num_nodes_, " nodes");
    if (columns != expected)
      fail(Status::kInvalidArgument, "features have ", columns,
           " columns, the model has input_dim ", expected);
    const at::ScalarType type = scalar_type(model_.config_.dtype);
    if (sparse_ && model_.config_.skip != Skip::kResidual &&
        !model_.layers_[0].conv->transforms(true, whole_)) {
      input_ = densify(sparse_rows(0, num_nodes_).view, {}, type, execution_);
      sparse_ = false;
    } else if (!sparse_) {
      input_ = input_.to(type);
    }
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
      if (conv.transforms(i == 0 && sparse, whole_))
        stages_.push_back({Step::kTransform, i, conv.transformed_width()});
      stages_.push_back({Step::kConv, i, conv.output_width()});
    }
    if (c.skip != Skip::kNone || c.jumping != Jumping::kNone)
      stages_.push_back({Step::kOutput, c.num_layers, c.output_width()});
  }

  // Norm over all rows together has to wait until they are there.
  bool norm_over_graph() const {
    return over_graph(model_.config_.norm) && model_.config_.skip != Skip::kResidual;
  }
  at::Tensor behind_conv(int layer, const at::Tensor& y) const {
    StackPass pass{};
    pass.in.x = y;
    model_.after_conv(layer, {&pass, 1}, execution_, {nullptr, {}, {}, execution_});
    return pass.in.x;
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

  at::Tensor rows_of(const Stage& s, int64_t begin, int64_t end) {
    const int64_t n = end - begin;
    if (s.step == Step::kOutput) {
      std::vector<at::Tensor> all;
      for (const at::Tensor& rows : outputs_) all.push_back(rows.narrow(0, begin, n));
      return model_.output(input_.narrow(0, begin, n), all, {}, execution_);
    }
    SparseRange range;
    ConvInput own;
    own.sparse = sparse_;
    own.type = scalar_type(model_.config_.dtype);
    if (sparse_) {
      range = sparse_rows(begin, end);
      own.rows = range.view;
    } else {
      own.x = input_.narrow(0, begin, n);
    }
    if (s.step == Step::kInput) return times(own, n, model_.input_, execution_);
    const StackLayer& layer = model_.layers_[s.layer];
    if (s.step == Step::kTransform) return layer.conv->transform(own, n, execution_);
    const RangeBlock block(csc_, begin, end);
    own.degrees = degrees_;
    const ConvPass pass{block.view, execution_, model_.finish_of_conv(s.layer, {}), {}, layer.skip};
    at::Tensor y = layer.conv->combine(prepared_.defined() ? prepared_ : input_,
                                       prepared_.defined(), begin, own, pass);
    if (!norm_over_graph()) y = behind_conv(s.layer, y);
    return residual_.defined() ? residual_.narrow(0, begin, n) + y : y;
  }

  StackModel& model_;
  const graph::Csc& csc_;
  Execution execution_;
  int64_t num_nodes_ = 0;
  std::vector<Stage> stages_;
  // What the convolution under way reads, for all nodes: dense, or sparse features in the first.
  bool sparse_ = false;
  base::CsrMatrix csr_;
  base::Tensor features_;  // keeps the memory of dense features
  at::Tensor input_;
  at::Tensor prepared_;              // what the edges read, where a stage makes it
  at::Tensor degrees_;               // of the nodes, where the layers ask for them
  std::vector<at::Tensor> outputs_;  // of the layers so far, where the result is made of all
  sample::BlockView whole_;          // sizes of the whole graph, without lists
  at::Tensor residual_;              // of residual blocks: the rows before the norm
};

std::unique_ptr<Inference> StackModel::inference(const graph::Graph& graph,
                                                 const graph::Column& features,
                                                 base::ThreadPool* pool) {
  return std::make_unique<StackInference>(*this, graph, features, pool);
}

}  // namespace gnnmg::nn
