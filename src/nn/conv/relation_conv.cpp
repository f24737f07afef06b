// PyG's RGCNConv and DGL's RelGraphConv. Edges are grouped by relation and target. The rows of a
// group are added first, so that each relation's matrix is multiplied by one row per group.
#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "nn/config/choices.h"
#include "nn/config/option_check.h"
#include "nn/conv/layers.h"
#include "nn/conv/make_conv.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/made_block.h"
#include "nn/ops/tensors.h"
#include "nn/torch/parallel.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;

// The groups of a block; those of relation r are [begin[r], begin[r + 1]).
struct Groups {
  std::vector<int64_t> begin;
  std::shared_ptr<const MadeBlock> edges;    // block from sources to groups
  std::shared_ptr<const MadeBlock> targets;  // block from groups to targets
  at::Tensor order;                          // order of the edges, [num_edges] i64
};

// Describes sources with one row per relation: the row of node n and relation r is
// r * num_nodes + n, and source s is node ids[s], or s if ids is null.
struct RowsByRelation {
  int64_t num_nodes = 0;  // 0: a source has one row for all relations
  const int64_t* ids = nullptr;
  int64_t row(int64_t relation, int64_t source) const {
    return relation * num_nodes + (ids ? ids[source] : source);
  }
};

[[noreturn]] void fail_type(int64_t edge, int64_t type, int64_t relations) {
  fail(Status::kRange, "edge ", edge, " has type ", type, ", expected 0 to ", relations - 1);
}

// Like group(), on a device, for `rows` rows that edges may read.
Groups group_on_device(const sample::BlockView& block, const at::Tensor& types, int64_t relations,
                       const RowsByRelation& by_relation, int64_t rows,
                       const Execution& execution) {
  Groups groups;
  const int64_t n = block.num_targets, num_edges = block.num_edges;
  const at::TensorOptions numbers = options_of(execution, at::kInt);
  groups.order = stable_order(types);
  const at::Tensor type = types.index_select(0, groups.order);
  const at::Tensor target = targets_of_edges(block, execution).index_select(0, groups.order);
  at::Tensor source = sources_of_edges(block, execution).index_select(0, groups.order);
  // A group begins where type or target changes. Number of groups up to each edge:
  const at::Tensor other =
      at::cat({type.slice(0, 1) != type.slice(0, 0, -1), at::zeros({1}, numbers.dtype(at::kBool))})
          .logical_or_(at::cat({target.slice(0, 1) != target.slice(0, 0, -1),
                                at::ones({1}, numbers.dtype(at::kBool))}));
  const at::Tensor ended = num_edges > 0 ? other.cumsum(0, at::kInt) : at::zeros({0}, numbers);
  const at::Tensor up_to = at::cat({at::zeros({1}, numbers), ended});
  // The first edge of each relation. It gives the number of groups per relation, which determines
  // the sizes of products: the only value that the host waits for.
  const at::Tensor begins = starts_of(type, relations);
  const at::Tensor found = at::cat({up_to.index_select(0, begins), begins}).cpu().to(at::kLong);
  const int64_t* begin = found.const_data_ptr<int64_t>();
  if (begin[relations + 1] != 0)
    fail_type(groups.order[0].item<int64_t>(), type[0].item<int64_t>(), relations);
  if (begin[2 * relations + 1] != num_edges)
    fail_type(groups.order[num_edges - 1].item<int64_t>(), type[num_edges - 1].item<int64_t>(),
              relations);
  groups.begin.assign(begin, begin + relations + 1);
  const int64_t num_groups = groups.begin.back();
  // A group's edges begin after the last edge of the previous group.
  const at::Tensor indptr = at::cat(
      {at::zeros({1}, numbers),
       at::searchsorted(ended, at::arange(1, num_groups + 1, numbers), /*out_int32=*/true) + 1});
  const at::Tensor target_of_group = target.index_select(0, indptr.narrow(0, 0, num_groups));
  const at::Tensor members = stable_order(target_of_group);
  if (by_relation.num_nodes > 0) {
    if (by_relation.ids)
      source = view_on(execution, by_relation.ids, {block.num_sources}).index_select(0, source);
    source = (source + type * by_relation.num_nodes).to(at::kInt);
  }
  groups.edges = std::make_shared<MadeBlock>(execution, rows, indptr, source);
  groups.targets = std::make_shared<MadeBlock>(
      execution, num_groups, starts_of(target_of_group.index_select(0, members), n),
      members.to(at::kInt));
  return groups;
}

Groups group(const sample::BlockView& block, const at::Tensor& types, int64_t relations,
             const RowsByRelation& by_relation, const Execution& execution) {
  if (!types.defined() || types.scalar_type() != at::kLong || types.numel() != block.num_edges)
    fail(Status::kInvalidArgument, "a layer of ", relations, " relations needs the type of all ",
         block.num_edges, " edges, as i64");
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  int64_t rows = block.num_sources;
  if (by_relation.num_nodes > 0)
    rows = base::checked_mul(by_relation.num_nodes, relations, "rows of all relations");
  if (rows > kMost)
    fail(Status::kUnsupported, by_relation.num_nodes, " nodes times ", relations,
         " relations make ", rows, " rows, at most ", kMost, " are supported");
  const at::Tensor flat = types.contiguous().view({-1});
  if (execution.device)
    return group_on_device(block, flat, relations, by_relation, rows, execution);
  const int64_t* type = flat.const_data_ptr<int64_t>();
  std::vector<int64_t> next(relations + 1);
  for (int64_t e = 0; e < block.num_edges; ++e) {
    if (type[e] < 0 || type[e] >= relations) fail_type(e, type[e], relations);
    ++next[type[e] + 1];
  }
  for (int64_t r = 0; r < relations; ++r) next[r + 1] += next[r];
  const std::vector<int32_t> target = target_of_edges(block);
  std::vector<int64_t> order(block.num_edges);
  for (int64_t e = 0; e < block.num_edges; ++e) order[next[type[e]]++] = e;

  Groups groups;
  groups.begin.assign(relations + 1, 0);
  std::vector<int32_t> indptr, indices(block.num_edges), group_target,
      counts(block.num_targets + 1);
  for (int64_t k = 0; k < block.num_edges; ++k) {
    const int64_t e = order[k], last = k > 0 ? order[k - 1] : e;
    if (k == 0 || target[e] != target[last] || type[e] != type[last]) {
      indptr.push_back(static_cast<int32_t>(k));
      group_target.push_back(target[e]);
      ++counts[target[e] + 1];
      ++groups.begin[type[e] + 1];
    }
    indices[k] = by_relation.num_nodes == 0
                     ? block.indices[e]
                     : static_cast<int32_t>(by_relation.row(type[e], block.indices[e]));
  }
  indptr.push_back(static_cast<int32_t>(block.num_edges));
  for (int64_t r = 0; r < relations; ++r) groups.begin[r + 1] += groups.begin[r];
  for (int64_t t = 0; t < block.num_targets; ++t) counts[t + 1] += counts[t];
  std::vector<int32_t> members(group_target.size()), place(counts.begin(), counts.end() - 1);
  for (size_t g = 0; g < group_target.size(); ++g)
    members[place[group_target[g]]++] = static_cast<int32_t>(g);
  const int64_t num_groups = static_cast<int64_t>(group_target.size());
  groups.edges = std::make_shared<MadeBlock>(rows, std::move(indptr), std::move(indices));
  groups.targets = std::make_shared<MadeBlock>(num_groups, std::move(counts), std::move(members));
  groups.order =
      at::from_blob(order.data(), {block.num_edges}, at::TensorOptions(at::kLong)).clone();
  return groups;
}

class RelationConv final : public Conv {
 public:
  explicit RelationConv(const RelationOptions& options) : o_(options) {
    if (o_.in_target == 0) o_.in_target = o_.in;
    if (o_.bases > 0 && o_.blocks > 0)
      fail(Status::kInvalidArgument, "a layer of relations has either bases or blocks");
    if (o_.blocks > 0 && (!o_.features || o_.in % o_.blocks != 0 || o_.out % o_.blocks != 0))
      fail(Status::kInvalidArgument, "block-diagonal matrices of ", o_.blocks,
           " blocks need features, and widths ", o_.in, " and ", o_.out, " that it divides");
    if (!o_.features && o_.dgl) fail(Status::kInvalidArgument, "RelGraphConv needs features");
  }

  void declare(ParameterList& list) override {
    const int64_t matrices = o_.bases > 0 ? o_.bases : o_.relations, k = o_.blocks;
    const auto glorot = [](int64_t a, int64_t b) {
      return std::sqrt(6.0 / static_cast<double>(a + b));
    };
    if (o_.dgl) {
      const double gain = std::sqrt(2.0);
      if (o_.bias) list.constant("h_bias", {o_.out}, 0, &bias_);
      if (o_.root_weight)
        list.uniform("loop_weight", {o_.in, o_.out}, gain * glorot(o_.in, o_.out), &root_);
      const double bound = 1 / std::sqrt(static_cast<double>(k > 0 ? o_.in / k : o_.in));
      if (k > 0)
        list.uniform("linear_r.W", {o_.relations, o_.in / k * o_.out}, bound, &weight_);
      else
        list.uniform("linear_r.W", {matrices, o_.in, o_.out}, bound, &weight_);
      if (o_.bases > 0)
        list.uniform("linear_r.coeff", {o_.relations, o_.bases},
                     gain * glorot(o_.relations, o_.bases), &shares_);
      if (o_.layer_norm) {
        const ParameterList::Scope scope(list, "layer_norm_weight");
        norm_.declare(list);
      }
      return;
    }
    if (k > 0)
      list.uniform("weight", {o_.relations, k, o_.in / k, o_.out / k},
                   glorot(o_.in / k, o_.out / k), &weight_);
    else
      list.uniform("weight", {matrices, o_.in, o_.out}, glorot(o_.in, o_.out), &weight_);
    if (o_.bases > 0)
      list.uniform("comp", {o_.relations, o_.bases}, glorot(o_.relations, o_.bases), &shares_);
    if (o_.root_weight)
      list.uniform("root", {o_.in_target, o_.out}, glorot(o_.in_target, o_.out), &root_);
    if (o_.bias) list.constant("bias", {o_.out}, 0, &bias_);
  }
  int64_t output_width() const override { return o_.out; }
  // Edges are grouped by relation, in the layer's own lists.
  bool reads_by_source(bool) const override { return false; }
  bool transforms(bool, const sample::BlockView&) const override { return false; }
  int64_t transformed_width() const override { return o_.out; }
  at::Tensor transform(const ConvInput& in, int64_t count,
                       const Execution& execution) const override {
    return dense_rows(in, count, execution);
  }

  at::Tensor forward(const ConvInput& in, const ConvPass& pass) const override {
    return o_.features ? Conv::forward(in, pass) : combine({}, false, 0, in, pass);
  }

  at::Tensor combine(const at::Tensor& rows, bool, int64_t first_own, const ConvInput& own,
                     const ConvPass& pass) const override {
    const sample::BlockView& block = pass.block;
    if (own.edge_weight.defined() && !o_.dgl) fail(Status::kUnsupported, "RGCN with edge weights");
    if (!o_.features && block.num_sources > o_.in)
      fail(Status::kInvalidArgument, "the layer has a row for each of ", o_.in,
           " nodes, and the block ", block.num_sources);
    const Groups groups =
        group(block, own.edge_type, o_.relations,
              o_.features ? RowsByRelation{} : RowsByRelation{o_.in, own.ids}, pass.execution);
    const Execution by_edges = pass.execution.with(groups.edges);
    at::Tensor sums;
    if (!o_.features) {
      sums = aggregate(matrices().reshape({-1, o_.out}), groups.edges->view(), o_.reduce, by_edges);
    } else if (own.edge_weight.defined()) {
      WeightedSum sum;
      sum.x = rows;
      sum.weights = own.edge_weight.index_select(0, groups.order);
      sums = multiply(weighted_sum(sum, groups.edges->view(), by_edges), groups.begin);
    } else {
      sums = multiply(
          aggregate(rows, groups.edges->view(), o_.dgl ? Reduce::kSum : o_.reduce, by_edges),
          groups.begin);
    }
    at::Tensor y =
        aggregate(sums, groups.targets->view(), Reduce::kSum, pass.execution.with(groups.targets));
    if (o_.layer_norm) norm_.apply({&y, 1}, {nullptr, {}, {}, pass.execution});
    const int64_t n = block.num_targets;
    if (root_.defined() && o_.features)
      y = at::addmm(y, target_rows(own, n, pass.execution), root_);
    else if (root_.defined())
      y = y + (own.ids ? rows_of_nodes(own.ids, n, pass.execution) : root_.narrow(0, first_own, n));
    if (bias_.defined()) y = y + bias_;
    return complete(y, own, pass);
  }

 private:
  // Returns the rows of these nodes. On a device embedding() adds its gradient in a fixed order,
  // and index_select() does not.
  at::Tensor rows_of_nodes(const int64_t* ids, int64_t count, const Execution& execution) const {
    const at::Tensor nodes = as_tensor(execution, {ids, static_cast<size_t>(count)});
    return execution.device ? at::embedding(root_, nodes) : root_.index_select(0, nodes);
  }

  // Returns one matrix per relation.
  at::Tensor matrices() const {
    if (o_.bases == 0) return weight_;
    return at::mm(shares_, weight_.view({o_.bases, -1})).view({o_.relations, o_.in, o_.out});
  }

  // Multiplies the rows of each relation's groups by its matrix.
  at::Tensor multiply(const at::Tensor& rows, const std::vector<int64_t>& begin) const {
    std::vector<int64_t> sizes;
    for (int64_t r = 0; r < o_.relations; ++r) sizes.push_back(begin[r + 1] - begin[r]);
    const std::vector<at::Tensor> parts = rows.split_with_sizes(sizes);
    const int64_t k = o_.blocks;
    const TorchThreads threads(rows, static_cast<double>(rows.numel()) *
                                         static_cast<double>(o_.out / std::max<int64_t>(k, 1)));
    const std::vector<at::Tensor> by_relation =
        (k > 0 ? weight_.view({o_.relations, k, o_.in / k, o_.out / k}) : matrices()).unbind(0);
    std::vector<at::Tensor> products;
    for (int64_t r = 0; r < o_.relations; ++r) {
      // Without any edge a product of no rows is kept, whose gradient is 0.
      const bool only = products.empty() && r + 1 == o_.relations;
      if (sizes[r] == 0 && !only) continue;
      if (k == 0)
        products.push_back(at::mm(parts[r], by_relation[r]));
      else
        products.push_back(
            at::bmm(parts[r].view({sizes[r], k, o_.in / k}).transpose(0, 1), by_relation[r])
                .transpose(0, 1)
                .reshape({sizes[r], o_.out}));
    }
    return at::cat(products);
  }

  RelationOptions o_;
  NormLayer norm_{Norm::kLayer, o_.out};
  at::Tensor weight_, shares_, root_, bias_;
};

std::unique_ptr<Conv> relation_of(const ModelConfig& c, const ConvWidths& widths, at::Tensor*) {
  RelationOptions options;
  options.in = widths.in;
  options.out = widths.out;
  options.features = !widths.nodes;
  options.relations = c.relations;
  options.bases = c.bases;
  options.blocks = c.blocks;
  options.reduce = reduce_of(c.reduction());
  options.dgl = c.framework == Framework::kDgl;
  options.layer_norm = c.inner_norm;
  options.root_weight = c.root_weight;
  options.bias = c.bias;
  return make_relation_conv(options);
}

}  // namespace

std::unique_ptr<Conv> make_relation_conv(const RelationOptions& options) {
  return std::make_unique<RelationConv>(options);
}

const MakeConv makers::kRelation = relation_of;

}  // namespace gnnmg::nn
