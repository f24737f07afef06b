// The readout of a model: sum, mean and maximum by readout.h, and readouts that learn or sort.
#pragma once

#include <span>

#include "nn/config/config.h"
#include "nn/layers/sequence.h"
#include "nn/ops/readout.h"

namespace gnnmg::nn {

class ReadoutLayer {
 public:
  ReadoutLayer() = default;
  // Makes the config's readout for rows of `width` columns; see readout_width().
  ReadoutLayer(const ModelConfig& config, int64_t width);
  // PyG's names: gate_nn.* of AttentionalAggregation, lstm.* of Set2Set.
  void declare(ParameterList& list);
  bool any() const { return kind_ != Readout::kNone; }
  // [num_graphs, readout_width()]
  at::Tensor apply(const at::Tensor& x, std::span<const int64_t> graph_ptr,
                   const Execution& execution) const;

 private:
  at::Tensor attention(const at::Tensor& x, std::span<const int64_t> graph_ptr,
                       const Execution& execution) const;
  at::Tensor set2set(const at::Tensor& x, std::span<const int64_t> graph_ptr,
                     const Execution& execution) const;
  at::Tensor sorted(const at::Tensor& x, std::span<const int64_t> graph_ptr,
                    const Execution& execution) const;
  at::Tensor places_on_device(const at::Tensor& last, std::span<const int64_t> graph_ptr,
                              const Execution& execution) const;

  Readout kind_ = Readout::kNone;
  Ties ties_ = Ties::kSplit;
  int64_t width_ = 0, steps_ = 0, rows_ = 0;
  Linear gate_;
  Lstm lstm_;
};

}  // namespace gnnmg::nn
