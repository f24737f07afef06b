#include "nn/conv/network.h"

#include "base/error.h"

namespace gnnmg::nn {

Network::Network(const NetworkOptions& options) : o_(options), linears_(options.widths.size() - 1) {
  if (o_.norm != Norm::kNone)
    for (size_t i = 0; i + 1 < linears_.size(); ++i)
      norms_.emplace_back(o_.norm, width(i), o_.norm_options);
}

void Network::declare(ParameterList& list) {
  if (o_.prelu && o_.mlp) list.alias(o_.name + ".act.weight", o_.prelu);
  const size_t step = norms_.empty() ? 2 : 3;  // modules of a Sequential per linear layer
  for (size_t i = 0; i < linears_.size(); ++i) {
    const std::string name = o_.mlp                 ? base::text(o_.name, ".lins.", i)
                             : linears_.size() == 1 ? o_.name
                                                    : base::text(o_.name, ".", step * i);
    list.linear(name, o_.widths[i + 1], o_.widths[i], true, linears_[i]);
    if (o_.mlp || i >= norms_.size()) continue;
    const ParameterList::Scope scope(list,
                                     base::text(o_.name, ".", step * i + (o_.act_first ? 2 : 1)));
    norms_[i].declare(list, /*plain_keys=*/true);
  }
  for (size_t i = 0; o_.mlp && i < norms_.size(); ++i) {
    const ParameterList::Scope scope(list, base::text(o_.name, ".norms.", i));
    norms_[i].declare(list);
  }
}

std::vector<NormLayer*> Network::norms() {
  std::vector<NormLayer*> all;
  for (NormLayer& norm : norms_) all.push_back(&norm);
  return all;
}

void Network::after_linear(size_t layer, std::span<at::Tensor> all, const NormPass& norms) const {
  NormPass of_rows = norms;
  of_rows.graphs.clear();
  if (!norms_.empty() && !o_.act_first) norms_[layer].apply(all, of_rows);
  for (at::Tensor& y : all)
    y = o_.activation == Activation::kRelu
            ? apply_finish(y, {true, {}}, norms.execution)
            : activate(o_.activation, y, o_.prelu ? *o_.prelu : at::Tensor());
  if (!norms_.empty() && o_.act_first) norms_[layer].apply(all, of_rows);
}

Finish Network::finish(size_t layer) const {
  return {layer + 1 < linears_.size() && norms_.empty() && o_.activation == Activation::kRelu, {}};
}

void Network::after_first(std::span<at::Tensor> all, const NormPass& norms) const {
  for (size_t i = 1; i < linears_.size(); ++i) {
    if (!finish(i - 1).any()) after_linear(i - 1, all, norms);
    for (at::Tensor& y : all)
      y = nn::linear(y, linears_[i].weight, linears_[i].bias, norms.execution, finish(i));
  }
}

}  // namespace gnnmg::nn
