#include "nn/support.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "nn/torch/tensor.h"

namespace gnnmg::nn {

TestBlock::TestBlock(int64_t num_sources, int64_t num_targets, const Edges& edges)
    : num_sources_(num_sources),
      num_targets_(num_targets),
      indptr_(num_targets + 1),
      indices_(edges.size()),
      out_indptr_(num_sources + 1),
      out_targets_(edges.size()) {
  for (const auto& [source, target] : edges) {
    ++indptr_[target + 1];
    ++out_indptr_[source + 1];
  }
  for (int64_t t = 0; t < num_targets; ++t) indptr_[t + 1] += indptr_[t];
  for (int64_t s = 0; s < num_sources; ++s) out_indptr_[s + 1] += out_indptr_[s];
  std::vector<int32_t> next(indptr_.begin(), indptr_.end());
  for (const auto& [source, target] : edges)
    indices_[next[target]++] = static_cast<int32_t>(source);
  next.assign(out_indptr_.begin(), out_indptr_.end());
  for (int64_t t = 0; t < num_targets; ++t)
    for (int32_t e = indptr_[t]; e < indptr_[t + 1]; ++e)
      out_targets_[next[indices_[e]]++] = static_cast<int32_t>(t);
}

sample::BlockView TestBlock::view() const {
  sample::BlockView view;
  view.num_targets = num_targets_;
  view.num_sources = num_sources_;
  view.num_edges = static_cast<int64_t>(indices_.size());
  view.indptr = indptr_.data();
  view.indices = indices_.data();
  view.out_indptr = out_indptr_.data();
  view.out_targets = out_targets_.data();
  return view;
}

TestBlock::Edges random_edges(int64_t num_sources, int64_t num_targets, int64_t num_edges,
                              uint64_t seed) {
  base::Stream words(base::stream_key(seed, base::Purpose::kGenerator), 1);
  TestBlock::Edges edges;
  for (int64_t e = 0; e < num_edges; ++e) {
    if (e % 7 == 6) {
      edges.push_back(edges[words.below(edges.size())]);
      continue;
    }
    const int64_t source = words.below(std::max<int64_t>(1, num_sources - 1));
    const int64_t target = e % 3 == 0 ? 0 : words.below(std::max<int64_t>(1, num_targets - 1));
    edges.emplace_back(source, target);
  }
  return edges;
}

at::Tensor random_tensor(at::IntArrayRef sizes, at::ScalarType type, uint64_t seed) {
  base::Stream words(base::stream_key(seed, base::Purpose::kGenerator), 0);
  at::Tensor values = at::empty(sizes, at::TensorOptions(at::kDouble));
  for (int64_t i = 0; i < values.numel(); ++i)
    values.mutable_data_ptr<double>()[i] = words.normal();
  return values.to(type);
}

at::Tensor to_torch(const base::Tensor& tensor) {
  const base::Shape& shape = tensor.shape();
  return at::from_blob(tensor.data(),
                       at::IntArrayRef(shape.dims.data(), static_cast<size_t>(shape.num_dims)),
                       at::TensorOptions(scalar_type(tensor.dtype())))
      .clone();
}

double largest(const at::Tensor& t) {
  return t.numel() ? t.detach().to(at::kDouble).abs().max().item<double>() : 0;
}

testing::AssertionResult near(const at::Tensor& a, const at::Tensor& b, double tolerance,
                              double floor) {
  if (!a.defined() || !b.defined()) return testing::AssertionFailure() << "an undefined tensor";
  if (a.sizes() != b.sizes())
    return testing::AssertionFailure() << "sizes " << a.sizes() << " and " << b.sizes();
  const double difference = largest(a.detach().to(at::kDouble) - b.detach().to(at::kDouble));
  const double allowed = tolerance * std::max(largest(b), floor);
  if (difference <= allowed) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "difference " << difference << ", allowed " << allowed;
}

double largest_gradient(const io::Npz& npz) {
  double largest_so_far = 0;
  for (const std::string& key : npz.keys())
    if (key.starts_with("grad"))
      largest_so_far = std::max(largest_so_far, largest(to_torch(npz.get(key))));
  return largest_so_far;
}

void expect_gradients(const io::Npz& npz, const std::vector<NamedTensor>& parameters,
                      double tolerance) {
  const double scale = largest_gradient(npz);
  for (const NamedTensor& parameter : parameters) {
    const std::string key = "gradp." + parameter.key;
    if (npz.has(key))
      EXPECT_TRUE(near(parameter.tensor.grad(), to_torch(npz.get(key)), tolerance, 0.01 * scale))
          << parameter.key;
    else
      EXPECT_EQ(largest(parameter.tensor.grad()), 0) << parameter.key;
  }
}

PlainOptimizer::PlainOptimizer(const Options& options, const at::Tensor& weights)
    : adam_(options.at("optim") != "SGD"),
      decoupled_(options.at("optim") == "AdamW"),
      rate_(std::stod(options.at("lr"))),
      first_(at::zeros_like(weights)),
      second_(at::zeros_like(weights)) {
  if (options.contains("weight_decay")) decay_ = std::stod(options.at("weight_decay"));
  if (options.contains("momentum")) momentum_ = std::stod(options.at("momentum"));
}

void PlainOptimizer::step(at::Tensor weights, const at::Tensor& gradient) {
  ++steps_;
  if (!adam_) {
    first_.mul_(momentum_).add_(gradient);
    weights.sub_(first_, rate_);
    return;
  }
  if (decoupled_) weights.mul_(1 - rate_ * decay_);
  first_.mul_(0.9).add_(gradient, 0.1);
  second_.mul_(0.999).add_(gradient * gradient, 0.001);
  const at::Tensor root = (second_ / (1 - std::pow(0.999, steps_))).sqrt() + 1e-8;
  weights.sub_(first_ / (1 - std::pow(0.9, steps_)) / root, rate_);
}

}  // namespace gnnmg::nn
