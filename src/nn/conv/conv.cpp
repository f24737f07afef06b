#include "nn/conv/conv.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "base/error.h"
#include "nn/ops/tensors.h"
#include "nn/torch/parallel.h"

namespace gnnmg::nn {

at::Tensor Conv::forward(const ConvInput& in, const ConvPass& pass) const {
  const sample::BlockView& block = pass.block;
  // With two input matrices, targets that are not sources are needed in the second step only.
  const bool first = transforms(in.sparse, block);
  const at::Tensor rows = first ? transform(in, block.num_sources, pass.execution)
                                : dense_rows(in, block.num_sources, pass.execution);
  return combine(rows, first, 0, in, pass);
}

std::vector<at::Tensor> Conv::forward_all(std::span<const ConvInput> in,
                                          std::span<const ConvPass> passes, const NormPass&) const {
  std::vector<at::Tensor> all;
  for (size_t i = 0; i < in.size(); ++i) all.push_back(forward(in[i], passes[i]));
  return all;
}

int64_t Conv::ends_width() const {
  const Linear own = own_linear().value();
  return transformed_width() + (own.weight.defined() ? own.weight.size(0) : 0);
}

at::Tensor Conv::ends(const ConvInput& in, int64_t count, const Execution& execution) const {
  const Linear own = own_linear().value();
  const at::Tensor rows = transform(in, count, execution);
  return own.weight.defined() ? at::cat({rows, times(in, count, own, execution)}, 1) : rows;
}

at::Tensor Conv::take_ends(const at::Tensor& rows, int64_t first_own, int64_t count,
                           ConvInput& own) const {
  const int64_t width = transformed_width();
  if (rows.size(1) > width)
    own.own_product = rows.narrow(0, first_own, count).narrow(1, width, rows.size(1) - width);
  return rows.narrow(1, 0, width);
}

at::Tensor Conv::complete(at::Tensor y, const ConvInput& own, const ConvPass& pass,
                          const at::Tensor& bias) const {
  if (pass.skip.weight.defined())
    y = y + target_times(own, pass.block.num_targets, pass.skip, pass.execution);
  return apply_finish(y, pass.finish, pass.execution, bias);
}

at::Tensor dense_rows(const ConvInput& in, int64_t count, const Execution& execution) {
  if (in.sparse) return densify(in.rows, in.rows_dropout, in.type, execution).narrow(0, 0, count);
  if (in.ids) return rows_of_table(in.x, {in.ids, static_cast<size_t>(count)}, in.type, execution);
  return in.x.size(0) == count ? in.x : in.x.narrow(0, 0, count);
}

at::Tensor target_rows(const ConvInput& in, int64_t count, const Execution& execution) {
  return in.x_target.defined() ? in.x_target.narrow(0, 0, count) : dense_rows(in, count, execution);
}

at::Tensor times(const ConvInput& in, int64_t count, const Linear& linear,
                 const Execution& execution) {
  if (in.sparse) {
    const at::Tensor y =
        sparse_linear(in.rows, count, in.rows_dropout, linear.weight, execution, in.by_column);
    return apply_finish(y, {}, execution, linear.bias);
  }
  return nn::linear(dense_rows(in, count, execution), linear.weight, linear.bias, execution);
}

at::Tensor target_times(const ConvInput& in, int64_t count, const Linear& linear,
                        const Execution& execution) {
  if (in.own_product.defined()) return in.own_product;
  if (in.x_target.defined())
    return nn::linear(in.x_target.narrow(0, 0, count), linear.weight, linear.bias, execution);
  return times(in, count, linear, execution);
}

at::Tensor whole_degrees(const graph::Csc& csc, Degrees kind, at::ScalarType type) {
  if (kind == Degrees::kOut) {
    at::Tensor sent = at::zeros({csc.num_sources}, at::TensorOptions(type));
    visit_type(type, [&]<typename T>() {
      T* out = sent.mutable_data_ptr<T>();
      for (int64_t e = 0; e < csc.num_edges(); ++e) out[csc.source(e)] += 1;
    });
    return sent;
  }
  at::Tensor degrees = at::empty({csc.num_targets}, at::TensorOptions(type));
  const int64_t* indptr = static_cast<const int64_t*>(csc.indptr.data());
  visit_type(type, [&]<typename T>() {
    T* out = degrees.mutable_data_ptr<T>();
    for_ranges(nullptr, csc.num_targets, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        int64_t count = csc.in_degree(t);
        if (kind == Degrees::kWithoutLoops)
          for (int64_t e = indptr[t]; e < indptr[t + 1]; ++e) count -= csc.source(e) == t;
        out[t] = static_cast<T>(count);
      }
    });
  });
  return degrees;
}

at::Tensor node_degrees(std::span<const sample::NodeDegree> nodes, Degrees kind,
                        at::ScalarType type) {
  if (kind == Degrees::kOut)
    base::fail(base::Status::kUnsupported,
               "a layer reads out-degrees of nodes, which parts of a graph do not have");
  at::Tensor degrees = at::empty({static_cast<int64_t>(nodes.size())}, at::TensorOptions(type));
  visit_type(type, [&]<typename T>() {
    T* out = degrees.mutable_data_ptr<T>();
    for (const sample::NodeDegree& node : nodes)
      *out++ =
          static_cast<T>(kind == Degrees::kWithoutLoops ? node.edges - node.loops : node.edges);
  });
  return degrees;
}

}  // namespace gnnmg::nn
