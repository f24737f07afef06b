// GCNConv of PyG and GraphConv of DGL: a weighted sum with weights from the degrees.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "nn/config/choices.h"
#include "nn/conv/device_weights.h"
#include "nn/conv/layers.h"
#include "nn/conv/make_conv.h"
#include "nn/conv/sage_conv.h"
#include "nn/ops/tensors.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;

// Product and weighted sum, in the cheaper order.
class WeightedConv : public Conv {
 public:
  int64_t output_width() const override { return out_; }
  int64_t transformed_width() const override { return out_; }
  bool reads_by_source(bool sparse) const override {
    return sparse || may_transform_first(Reduce::kSum, in_, out_);
  }
  bool transforms(bool sparse, const sample::BlockView& block) const override {
    return sparse || transforms_first(Reduce::kSum, block, in_, out_);
  }
  at::Tensor transform(const ConvInput& in, int64_t count,
                       const Execution& execution) const override {
    return times(in, count, {as_linear(), {}}, execution);
  }
  std::optional<Linear> own_linear() const override { return Linear{}; }
  at::Tensor combine(const at::Tensor& rows, bool transformed, int64_t first_own,
                     const ConvInput& own, const ConvPass& pass) const override {
    const int64_t n = pass.block.num_targets;
    WeightedSum sum = weights(rows.scalar_type(), first_own, own, pass);
    sum.x = rows;
    if (first_own != 0) sum.x_target = rows.narrow(0, first_own, n);
    const bool skips = pass.skip.weight.defined();
    if (transformed && !skips) {
      sum.bias = bias_;
      sum.finish = pass.finish;
    }
    at::Tensor y = weighted_sum(sum, pass.block, pass.execution);
    if (!transformed && !skips) return linear(y, as_linear(), bias_, pass.execution, pass.finish);
    if (!transformed) y = linear(y, as_linear(), {}, pass.execution);
    return skips ? complete(y, own, pass, bias_) : y;
  }

 protected:
  WeightedConv(int64_t in, int64_t out) : in_(in), out_(out) {}
  virtual WeightedSum weights(at::ScalarType type, int64_t first_own, const ConvInput& own,
                              const ConvPass& pass) const = 0;
  virtual at::Tensor as_linear() const { return weight_; }  // [out, in]

  int64_t in_, out_;
  at::Tensor weight_, bias_;
};

class GcnConv final : public WeightedConv {
 public:
  explicit GcnConv(const GcnOptions& options)
      : WeightedConv(options.in, options.out), options_(options) {
    if (options.add_self_loops && !options.normalize)
      fail(Status::kInvalidArgument, "GCN: self-loops are added only if edges are normalized");
  }

  void declare(ParameterList& list) override {
    if (options_.bias) list.constant("bias", {out_}, 0, &bias_);
    // PyG's and DGL's initializations are equal, since DGL's gain is 1 here.
    list.uniform("lin.weight", {out_, in_}, std::sqrt(6 / static_cast<double>(in_ + out_)),
                 &weight_);
  }

  Degrees degrees() const override {
    if (!options_.normalize) return Degrees::kNone;
    return options_.add_self_loops ? Degrees::kWithoutLoops : Degrees::kAll;
  }

 protected:
  WeightedSum weights(at::ScalarType type, int64_t first_own, const ConvInput& own,
                      const ConvPass& pass) const override {
    WeightedSum sum;
    if (!options_.normalize) {
      sum.weights = own.edge_weight;
    } else if (pass.execution.device) {
      return gcn_weights_on_device(options_, type, first_own, own, pass);
    } else if (own.edge_weight.defined() && own.degrees.defined()) {
      visit_type(type,
                 [&]<typename T>() { weighted_by_graph<T>(sum, type, first_own, own, pass); });
    } else if (own.edge_weight.defined()) {
      weighted(sum, own, pass.block);
    } else {
      visit_type(type, [&]<typename T>() { unweighted<T>(sum, type, first_own, own, pass); });
    }
    return sum;
  }

 private:
  static int64_t node(const ConvInput& own, int64_t source) {
    return own.node_ids ? own.node_ids[source] : source;
  }
  template <typename T>
  void unweighted(WeightedSum& sum, at::ScalarType type, int64_t first_own, const ConvInput& own,
                  const ConvPass& pass) const {
    const sample::BlockView& block = pass.block;
    const bool loops = options_.add_self_loops;
    const auto root = [&](T degree) {
      if (loops) degree += 1;
      return degree > 0 ? 1 / std::sqrt(degree) : T{0};
    };
    // Counts the entries that are not dropped loops.
    const auto counted = [&](int64_t t) {
      T count = 0;
      for (int64_t e = block.indptr[t]; e < block.indptr[t + 1]; ++e)
        count += loops && block.indices[e] == first_own + t ? T{0} : T{1};
      return count;
    };
    const T* whole = own.degrees.defined() ? own.degrees.const_data_ptr<T>() : nullptr;
    std::vector<T> in_block(whole ? 0 : block.num_sources);
    for (int64_t s = 0; s < static_cast<int64_t>(in_block.size()); ++s)
      in_block[s] = root(s < block.num_targets ? counted(s) : T{0});
    const auto r = [&](int64_t s) { return whole ? root(whole[s]) : in_block[s]; };
    sum.weights = scratch_tensor(pass.execution, {block.num_edges}, type);
    T* weight = sum.weights.mutable_data_ptr<T>();
    T* self = nullptr;
    if (loops) {
      sum.self_weights = scratch_tensor(pass.execution, {block.num_targets}, type);
      self = sum.self_weights.mutable_data_ptr<T>();
    }
    for (int64_t t = 0; t < block.num_targets; ++t) {
      const int64_t id = first_own + t;
      const T here = counted(t);
      // With degrees of the whole graph, the drawn edges stand for all.
      const T share = whole && here > 0 ? r(id) * (whole[id] / here) : r(id);
      for (int64_t e = block.indptr[t]; e < block.indptr[t + 1]; ++e)
        weight[e] = loops && block.indices[e] == id ? T{0} : r(block.indices[e]) * share;
      if (self) self[t] = r(id) * r(id);
    }
  }

  // With weights, by their known sums over the whole graph.
  template <typename T>
  void weighted_by_graph(WeightedSum& sum, at::ScalarType type, int64_t first_own,
                         const ConvInput& own, const ConvPass& pass) const {
    const sample::BlockView& block = pass.block;
    const bool loops = options_.add_self_loops;
    const T fill = options_.improved ? T{2} : T{1};
    const T* whole = own.degrees.const_data_ptr<T>();  // sum, number, loop
    const auto loop = [&](int64_t s) {
      return std::isnan(whole[3 * s + 2]) ? fill : whole[3 * s + 2];
    };
    const auto root = [&](int64_t s) {
      const T degree = whole[3 * s] + (loops ? loop(s) : T{0});
      if (degree < 0) check_degree(node(own, s), degree, loops);
      return degree > 0 ? 1 / std::sqrt(degree) : T{0};
    };
    const at::Tensor given = own.edge_weight.contiguous();
    const T* weight = given.const_data_ptr<T>();
    sum.weights = scratch_tensor(pass.execution, {block.num_edges}, type);
    T* out = sum.weights.mutable_data_ptr<T>();
    if (loops) sum.self_weights = scratch_tensor(pass.execution, {block.num_targets}, type);
    for (int64_t t = 0; t < block.num_targets; ++t) {
      const int64_t id = first_own + t, begin = block.indptr[t], end = block.indptr[t + 1];
      T drawn = 0;
      for (int64_t e = begin; e < end; ++e) drawn += loops && block.indices[e] == id ? T{0} : T{1};
      const T here = root(id);
      // The drawn edges stand for all.
      const T share = drawn > 0 ? here * (whole[3 * id + 1] / drawn) : here;
      for (int64_t e = begin; e < end; ++e)
        out[e] =
            loops && block.indices[e] == id ? T{0} : root(block.indices[e]) * weight[e] * share;
      if (loops) sum.self_weights.mutable_data_ptr<T>()[t] = loop(id) * here * here;
    }
  }

  // With weights, by LibTorch's operations, which track their gradient.
  void weighted(WeightedSum& sum, const ConvInput& own, const sample::BlockView& block) const {
    const at::Tensor& given = own.edge_weight;
    const bool loops = options_.add_self_loops;
    const auto ids = at::TensorOptions(at::kLong);
    at::Tensor sources = at::empty({block.num_edges}, ids), targets = at::empty_like(sources);
    const auto flags = at::TensorOptions(at::kBool);
    at::Tensor others = at::empty({block.num_edges}, flags);
    at::Tensor kept = at::zeros({block.num_edges}, flags);  // marks the last loop of each target
    at::Tensor no_loop = at::ones({block.num_targets}, flags);
    for (int64_t t = 0; t < block.num_targets; ++t) {
      int64_t last = -1;
      for (int64_t e = block.indptr[t]; e < block.indptr[t + 1]; ++e) {
        const bool loop = loops && block.indices[e] == t;
        if (loop) last = e;
        sources.mutable_data_ptr<int64_t>()[e] = block.indices[e];
        targets.mutable_data_ptr<int64_t>()[e] = t;
        others.mutable_data_ptr<bool>()[e] = !loop;
      }
      if (last < 0) continue;
      kept.mutable_data_ptr<bool>()[last] = true;
      no_loop.mutable_data_ptr<bool>()[t] = false;
    }
    const at::Tensor zero = at::zeros({}, given.options().requires_grad(false));
    const at::Tensor weights = at::where(others, given, zero);
    at::Tensor degree =
        at::zeros({block.num_targets}, zero.options()).index_add(0, targets, weights);
    at::Tensor loop_weights;
    if (loops) {
      loop_weights =
          at::where(no_loop, at::full({}, options_.improved ? 2 : 1, zero.options()), zero)
              .index_add(0, targets, at::where(kept, given, zero));
      degree = degree + loop_weights;
    }
    const at::Tensor lowest = degree.detach();
    visit_type(given.scalar_type(), [&]<typename T>() {
      for (int64_t t = 0; t < block.num_targets; ++t)
        check_degree(node(own, t), lowest.const_data_ptr<T>()[t], loops);
    });
    const at::Tensor positive = degree > 0;
    at::Tensor root =
        at::where(positive, at::where(positive, degree, at::ones_like(degree)).rsqrt(), zero);
    if (loops) sum.self_weights = loop_weights * root * root;
    const at::Tensor at_targets = root.index_select(0, targets);
    if (block.num_sources > block.num_targets) {
      const double alone = !loops ? 0 : options_.improved ? std::sqrt(0.5) : 1;
      root =
          at::cat({root, at::full({block.num_sources - block.num_targets}, alone, zero.options())});
    }
    sum.weights = root.index_select(0, sources) * weights * at_targets;
  }

  GcnOptions options_;
};

class DglGraphConv final : public WeightedConv {
 public:
  explicit DglGraphConv(const DglGraphOptions& options)
      : WeightedConv(options.in, options.out), options_(options) {}

  void declare(ParameterList& list) override {
    list.uniform("weight", {in_, out_}, std::sqrt(6 / static_cast<double>(in_ + out_)), &weight_);
    if (options_.bias) list.constant("bias", {out_}, 0, &bias_);
  }

  Degrees degrees() const override {
    using Norm = DglGraphOptions::Norm;
    return options_.norm == Norm::kBoth || options_.norm == Norm::kLeft ? Degrees::kOut
                                                                        : Degrees::kNone;
  }

 protected:
  at::Tensor as_linear() const override { return weight_.t(); }

  WeightedSum weights(at::ScalarType type, int64_t, const ConvInput& own,
                      const ConvPass& pass) const override {
    using Norm = DglGraphOptions::Norm;
    const sample::BlockView& block = pass.block;
    WeightedSum sum;
    sum.weights = own.edge_weight;
    if (options_.norm == Norm::kNone) return sum;
    if (pass.execution.device) {
      const at::Tensor scales = dgl_scales_on_device(options_.norm, type, own, pass);
      sum.weights = own.edge_weight.defined() ? own.edge_weight * scales : scales;
      return sum;
    }
    at::Tensor scales = scratch_tensor(pass.execution, {block.num_edges}, type);
    // In inference, edges into some of the targets do not give the number of edges of a source.
    const bool whole = own.degrees.defined();
    std::vector<int32_t> sent(whole ? 0 : block.num_sources);
    if (!whole)
      for (int64_t e = 0; e < block.num_edges; ++e) ++sent[block.indices[e]];
    visit_type(type, [&]<typename T>() {
      const T* degrees = whole ? own.degrees.const_data_ptr<T>() : nullptr;
      T* scale = scales.mutable_data_ptr<T>();
      for (int64_t t = 0; t < block.num_targets; ++t) {
        const int64_t first = block.indptr[t], last = block.indptr[t + 1];
        const T received = static_cast<T>(std::max<int64_t>(1, last - first));
        for (int64_t e = first; e < last; ++e) {
          const int32_t source = block.indices[e];
          const T out = std::max(T{1}, degrees ? degrees[source] : static_cast<T>(sent[source]));
          scale[e] = options_.norm == Norm::kBoth    ? 1 / std::sqrt(out) / std::sqrt(received)
                     : options_.norm == Norm::kRight ? 1 / received
                                                     : 1 / out;
        }
      }
    });
    sum.weights = own.edge_weight.defined() ? own.edge_weight * scales : scales;
    return sum;
  }

 private:
  DglGraphOptions options_;
};

DglGraphOptions::Norm norm_of(DegreeNorm norm) {
  using Norm = DglGraphOptions::Norm;
  switch (norm) {
    case DegreeNorm::kRight:
      return Norm::kRight;
    case DegreeNorm::kLeft:
      return Norm::kLeft;
    case DegreeNorm::kNone:
      return Norm::kNone;
    case DegreeNorm::kBoth:
      break;
  }
  return Norm::kBoth;
}

std::unique_ptr<Conv> gcn_of(const ModelConfig& c, const ConvWidths& widths, at::Tensor*) {
  if (c.framework == Framework::kDgl) {
    DglGraphOptions options;
    options.in = widths.in;
    options.out = widths.out;
    options.norm = norm_of(c.degree_norm);
    options.bias = c.bias;
    return make_dgl_graph_conv(options);
  }
  GcnOptions options;
  options.in = widths.in;
  options.out = widths.out;
  options.improved = c.improved;
  options.normalize = c.degree_norm == DegreeNorm::kBoth;
  options.add_self_loops = c.self_loops;
  options.bias = c.bias;
  return make_gcn_conv(options);
}

}  // namespace

void check_degree(int64_t node, double degree, bool loops) {
  if (degree < 0)
    fail(Status::kInvalidArgument, "GCN: the weights of the edges into node ", node,
         loops ? ", its loop included," : "", " add up to ", degree,
         ", expected 0 or more, of which the layer takes the root");
}

std::unique_ptr<Conv> make_gcn_conv(const GcnOptions& options) {
  return std::make_unique<GcnConv>(options);
}
std::unique_ptr<Conv> make_dgl_graph_conv(const DglGraphOptions& options) {
  return std::make_unique<DglGraphConv>(options);
}

const MakeConv makers::kGcn = gcn_of;

}  // namespace gnnmg::nn
