#include "nn/option_check.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "nn/choices.h"
#include "nn/setting_list.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;
using enum Architecture;

// Returns text such as "GCN, PyG's GraphSAGE and GAT".
std::string names_of(Architectures pyg, Architectures dgl) {
  std::vector<std::string> names;
  for (int i = 0; i <= choices_of(Architecture()).last(); ++i) {
    const auto architecture = static_cast<Architecture>(i);
    const Architectures one = of(architecture);
    if (((pyg | dgl) & one) == 0) continue;
    const bool of_pyg_alone = (dgl & one) == 0 && of_dgl(architecture);
    names.push_back(base::text(of_pyg_alone ? "PyG's " : "", name_of(architecture)));
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += base::text(i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  return text;
}

}  // namespace

const char* name_of(Architecture architecture) {
#define GNNMG_KIND(constant, word, end, name, ...) name,
  static constexpr const char* kNames[] = {GNNMG_LAYER_KINDS(GNNMG_KIND)};
#undef GNNMG_KIND
  return kNames[static_cast<int>(architecture)];
}

bool of_dgl(Architecture architecture) {
#define GNNMG_KIND(constant, word, end, name, dgl, ...) dgl,
  static constexpr bool kOfDgl[] = {GNNMG_LAYER_KINDS(GNNMG_KIND)};
#undef GNNMG_KIND
  return kOfDgl[static_cast<int>(architecture)];
}

void check_range(const char* field, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high)
    fail(Status::kInvalidArgument, "model config: ", field, " is ", value, ", expected ", low,
         " to ", high);
}

namespace {

[[noreturn]] void refuse_option(const Setting& setting, const ModelConfig& config) {
  if (config.architecture == kLayers && setting.pyg == setting_list::kReadyMade)
    fail(Status::kInvalidArgument, "model config: ", setting.name,
         " is an option of ready-made models and of single layers: in a custom stack, set it for "
         "the added layers");
  fail(Status::kInvalidArgument, "model config: ", setting.name, " is an option of ",
       names_of(setting.pyg, setting.dgl), ", and this is ",
       config.framework == Framework::kDgl ? "DGL's " : "", name_of(config.architecture));
}

}  // namespace

void check_options(const ModelConfig& c) {
  const ModelConfig d;
  visit_settings(
      [&](const Setting& setting, const auto& value, const auto& standard) {
        if (value != standard && !setting.belongs_to(c)) refuse_option(setting, c);
      },
      c, d);
  check_norm_options(c.norm, c.norm_options, "model config: norm_");
  if (c.loop_value != d.loop_value && c.loop_fill != LoopFill::kConstant)
    fail(Status::kInvalidArgument,
         "model config: loop_value is an option of loops filled with a constant");
  if (c.readout_steps != d.readout_steps && c.readout != Readout::kSet2Set)
    fail(Status::kInvalidArgument,
         "model config: readout_steps is an option of the readout Set2Set");
  if (c.sort_rows != d.sort_rows && c.readout != Readout::kSort)
    fail(Status::kInvalidArgument,
         "model config: sort_rows is an option of the readout by sorting");
}

void check_norm_options(Norm norm, const NormOptions& o, const char* field) {
  if (o.scale != -1 && !(std::isfinite(o.scale) && o.scale > 0))
    fail(Status::kInvalidArgument, field, "scale is ", o.scale,
         ", expected a number above 0, or -1");
  if (!(std::isfinite(o.epsilon) && o.epsilon > 0))
    fail(Status::kInvalidArgument, field, "epsilon is ", o.epsilon, ", expected a number above 0");
  if (o.momentum != -1 && !(o.momentum > 0 && o.momentum <= 1))
    fail(Status::kInvalidArgument, field, "momentum is ", o.momentum,
         ", expected a number above 0 and at most 1, or -1");
  if (o.affine < NormAffine::kDefault || o.affine > NormAffine::kOff)
    fail(Status::kInvalidArgument, field, "affine is ", static_cast<int>(o.affine),
         ", expected 0 to 2");
  const NormOptions plain;
  if (o.scale != plain.scale && norm != Norm::kPair && norm != Norm::kPairRows)
    fail(Status::kInvalidArgument, field, "scale is an option of the pair norms");
  if (o.epsilon != plain.epsilon && norm == Norm::kNone)
    fail(Status::kInvalidArgument, field, "epsilon is an option of norms, and the layer has none");
  if (o.momentum != plain.momentum && norm != Norm::kBatch)
    fail(Status::kInvalidArgument, field, "momentum is an option of batch norm");
  if (o.affine != plain.affine && norm != Norm::kBatch && norm != Norm::kLayer &&
      norm != Norm::kLayerGraph && norm != Norm::kInstance)
    fail(Status::kInvalidArgument, field, "affine is an option of batch, layer and instance norms");
}

}  // namespace gnnmg::nn
