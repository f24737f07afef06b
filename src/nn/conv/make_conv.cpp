#include "nn/conv/make_conv.h"

#include "base/error.h"

namespace gnnmg::nn {

const MakeConv makers::kLayers = [](const ModelConfig&, const ConvWidths&,
                                    at::Tensor*) -> std::unique_ptr<Conv> {
  base::fail(base::Status::kInternal, "a stack of layers is not a layer");
};

Reduce reduce_of(Aggregation aggregation) {
  switch (aggregation) {
    case Aggregation::kMean:
      return Reduce::kMean;
    case Aggregation::kMax:
      return Reduce::kMax;
    case Aggregation::kSum:
      return Reduce::kSum;
    case Aggregation::kDefault:
    case Aggregation::kPool:
    case Aggregation::kLstm:
    case Aggregation::kGcn:
      break;
  }
  base::fail(base::Status::kInternal, "aggregation ", static_cast<int>(aggregation),
             " has no kernel");
}

int64_t heads_of(const ModelConfig& c, const ConvWidths& widths) {
  return widths.mean_of_heads && c.output_heads > 0 ? c.output_heads : c.heads;
}

std::unique_ptr<Conv> make_conv(const ModelConfig& config, const ConvWidths& widths,
                                at::Tensor* prelu) {
#define GNNMG_KIND(constant, ...) &makers::constant,
  static constexpr const MakeConv* kMakers[] = {GNNMG_LAYER_KINDS(GNNMG_KIND)};
#undef GNNMG_KIND
  return (*kMakers[static_cast<int>(config.architecture)])(config, widths, prelu);
}

}  // namespace gnnmg::nn
