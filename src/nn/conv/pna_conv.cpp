// PyG's PNAConv. The linear layer before the reductions is split into parts for target, source and
// edge. Without edge features, and without further layers in between, the reductions run over the
// sources' parts alone, and no row of an edge is stored.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/relu.h>

#include <cmath>

#include "base/error.h"
#include "nn/conv/layers.h"
#include "nn/conv/make_conv.h"
#include "nn/conv/reductions.h"

namespace gnnmg::nn {
namespace {

using Scaler = PnaOptions::Scaler;

class PnaConv final : public Conv {
 public:
  explicit PnaConv(const PnaOptions& options) : o_(options) {
    const auto check = [&](bool good, const char* what, int64_t value) {
      if (!good) base::fail(base::Status::kInvalidArgument, "PNA: ", what, value);
    };
    check(o_.towers > 0 && o_.out % o_.towers == 0,
          "out is no multiple of the towers: ", o_.towers);
    check(!o_.divide_input || o_.in % o_.towers == 0,
          "in is no multiple of the towers that share it: ", o_.towers);
    check(!o_.reductions.empty() && !o_.scalers.empty(),
          "expected a reduction and a scaler at least, reductions: ",
          static_cast<int64_t>(o_.reductions.size()));
    width_ = o_.divide_input ? o_.in / o_.towers : o_.in;
    before_.assign(o_.towers, std::vector<Linear>(o_.pre_layers));
    after_.assign(o_.towers, std::vector<Linear>(o_.post_layers));
  }

  void declare(ParameterList& list) override {
    const auto average = [&](const char* key, double value, at::Tensor* slot) {
      if (o_.train_norm)
        list.constant(key, {1}, value, slot);
      else
        list.buffer(key, {1}, value, slot);
    };
    average("aggr_module.avg_deg_lin", o_.average_degree, &average_);
    average("aggr_module.avg_deg_log", o_.average_log_degree, &average_log_);
    if (o_.edge_dim) list.linear("edge_encoder", width_, o_.edge_dim, true, encoder_);
    const int64_t parts = o_.edge_dim ? 3 : 2;
    const int64_t sums = static_cast<int64_t>(o_.reductions.size() * o_.scalers.size());
    for (int64_t t = 0; t < o_.towers; ++t)
      declare_network(list, base::text("pre_nns.", t), width_, parts * width_, before_[t]);
    for (int64_t t = 0; t < o_.towers; ++t)
      declare_network(list, base::text("post_nns.", t), o_.out / o_.towers, (sums + 1) * width_,
                      after_[t]);
    list.linear("lin", o_.out, o_.out, true, last_);
  }
  int64_t output_width() const override { return o_.out; }

  // Computes the sources' parts, tower by tower.
  bool transforms(bool, const sample::BlockView&) const override { return true; }
  int64_t transformed_width() const override { return o_.towers * width_; }
  at::Tensor transform(const ConvInput& in, int64_t count,
                       const Execution& execution) const override {
    return parts(dense_rows(in, count, execution), 1, false, execution);
  }

  at::Tensor combine(const at::Tensor& rows, bool, int64_t, const ConvInput& own,
                     const ConvPass& pass) const override {
    const sample::BlockView& block = pass.block;
    if (own.edge_weight.defined()) base::fail(base::Status::kUnsupported, "PNA with edge weights");
    const int64_t n = block.num_targets;
    const at::Tensor targets = target_rows(own, n, pass.execution);
    const at::Tensor degree = in_degrees(block, rows, pass.execution);
    at::Tensor messages = rows, shift = parts(targets, 0, true, pass.execution);
    if (o_.edge_dim || o_.pre_layers > 1) {
      messages = rows_of_edges(rows, shift, block, pass.execution);
      shift = at::Tensor();
    }
    if (o_.edge_dim) {
      if (!own.edge_attr.defined())
        base::fail(base::Status::kInvalidArgument, "PNA with edge_dim ", o_.edge_dim,
                   " was given no edge features");
      const at::Tensor encoded =
          linear(own.edge_attr, encoder_.weight, encoder_.bias, pass.execution);
      messages = messages + parts(encoded, 2, false, pass.execution, true);
    }
    if (o_.pre_layers > 1) messages = deeper(messages, before_, pass.execution);
    const std::vector<at::Tensor> sums =
        reduce_messages({messages, !shift.defined(), shift}, o_.reductions, block, pass.execution);
    std::vector<at::Tensor> scales;
    for (Scaler scaler : o_.scalers) scales.push_back(scale(scaler, degree));

    std::vector<at::Tensor> towers;
    const int64_t block_width = static_cast<int64_t>(sums.size()) * width_;
    for (int64_t t = 0; t < o_.towers; ++t) {
      std::vector<at::Tensor> of_tower;
      for (const at::Tensor& sum : sums) of_tower.push_back(sum.narrow(1, t * width_, width_));
      const at::Tensor all = at::cat(of_tower, 1);
      const Linear& first_layer = after_[t][0];
      const at::Tensor& weight = first_layer.weight;
      at::Tensor y = linear(columns(targets, t), weight.narrow(1, 0, width_), first_layer.bias,
                            pass.execution);
      for (size_t s = 0; s < scales.size(); ++s) {
        const int64_t first = width_ + static_cast<int64_t>(s) * block_width;
        const at::Tensor part =
            linear(all, weight.narrow(1, first, block_width), {}, pass.execution);
        y = y + (scales[s].defined() ? scales[s] * part : part);
      }
      towers.push_back(y);
    }
    at::Tensor y = at::cat(towers, 1);
    if (o_.post_layers > 1) y = deeper(y, after_, pass.execution);
    return complete(linear(y, last_.weight, last_.bias, pass.execution), own, pass);
  }

 private:
  // Returns the input columns of a tower.
  at::Tensor columns(const at::Tensor& x, int64_t tower) const {
    return o_.divide_input ? x.narrow(1, tower * width_, width_) : x;
  }

  // Applies the first layer's part 0 (target), 1 (source) or 2 (edge) to that part of its input.
  // Rows of edges are the same for all towers.
  at::Tensor parts(const at::Tensor& x, int64_t part, bool bias, const Execution& execution,
                   bool shared = false) const {
    std::vector<at::Tensor> all;
    for (int64_t t = 0; t < o_.towers; ++t)
      all.push_back(linear(shared ? x : columns(x, t),
                           before_[t][0].weight.narrow(1, part * width_, width_),
                           bias ? before_[t][0].bias : at::Tensor(), execution));
    return at::cat(all, 1);
  }

  // Applies each tower's network after its first layer to the tower's columns.
  static at::Tensor deeper(const at::Tensor& x, const std::vector<std::vector<Linear>>& networks,
                           const Execution& execution) {
    std::vector<at::Tensor> towers = x.chunk(static_cast<int64_t>(networks.size()), 1);
    for (size_t t = 0; t < networks.size(); ++t)
      for (size_t k = 1; k < networks[t].size(); ++k)
        towers[t] =
            linear(at::relu(towers[t]), networks[t][k].weight, networks[t][k].bias, execution);
    return at::cat(towers, 1);
  }

  // Declares linear layers, with numbers left for parameterless functions between them.
  static void declare_network(ParameterList& list, const std::string& name, int64_t out, int64_t in,
                              std::vector<Linear>& layers) {
    for (size_t k = 0; k < layers.size(); ++k)
      list.linear(base::text(name, ".", 2 * k), out, k == 0 ? in : out, true, layers[k]);
  }

  // Returns [num_targets, 1], or undefined for ones.
  at::Tensor scale(Scaler scaler, const at::Tensor& degree) const {
    switch (scaler) {
      case Scaler::kIdentity:
        return {};
      case Scaler::kAmplification:
        return (degree + 1).log() / average_log_;
      case Scaler::kAttenuation:
        return average_log_ / (degree.clamp_min(1) + 1).log();
      case Scaler::kLinear:
        return degree / average_;
      case Scaler::kInverseLinear:
        return average_ / degree.clamp_min(1);
    }
    base::fail(base::Status::kInternal, "PNA: scaler ", static_cast<int>(scaler));
  }

  PnaOptions o_;
  int64_t width_;
  at::Tensor average_, average_log_;
  Linear encoder_, last_;
  std::vector<std::vector<Linear>> before_, after_;  // per tower, layer by layer
};

std::unique_ptr<Conv> pna_of(const ModelConfig& c, const ConvWidths& widths, at::Tensor*) {
  PnaOptions options;
  options.in = widths.in;
  options.out = widths.out;
  options.edge_dim = c.edge_dim;
  options.reductions = c.pna_reductions();
  options.scalers = c.scalers;
  options.pre_layers = c.pre_layers;
  options.post_layers = c.post_layers;
  options.towers = c.towers;
  options.divide_input = c.divide_input;
  options.average_degree = c.average_degree;
  options.average_log_degree = c.average_log_degree;
  options.train_norm = c.train_norm;
  return make_pna_conv(options);
}

}  // namespace

std::unique_ptr<Conv> make_pna_conv(const PnaOptions& options) {
  return std::make_unique<PnaConv>(options);
}

const MakeConv makers::kPna = pna_of;

}  // namespace gnnmg::nn
