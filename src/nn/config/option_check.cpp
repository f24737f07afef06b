#include "nn/config/option_check.h"

#include <cmath>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "nn/config/choices.h"
#include "nn/config/setting_list.h"

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
    fail(Status::kInvalidArgument, "model: ", field, " is ", value, ", expected ", low, " to ",
         high);
}

namespace {

[[noreturn]] void refuse_option(const Setting& setting, const ModelConfig& config) {
  if (config.architecture == kLayers && setting.pyg == setting_list::kReadyMade)
    fail(Status::kInvalidArgument, "model: ", setting.name,
         " is an option of ready-made models and of single layers: in a custom stack, set it for "
         "the added layers");
  fail(Status::kInvalidArgument, "model: ", setting.name, " is an option of ",
       names_of(setting.pyg, setting.dgl), ", and this is ",
       config.framework == Framework::kDgl ? "DGL's " : "", name_of(config.architecture));
}

template <typename T>
std::string value_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "1" : "0";
  else if constexpr (std::is_arithmetic_v<T>)
    return base::text(value);
  else if constexpr (std::is_enum_v<T>)
    return word_of(value);
  else
    return "(a list)";
}

// The same text as that of settings by name, in the C API.
[[noreturn]] void refuse_idle(const std::string& name, const std::string& value,
                              const char* condition) {
  fail(Status::kInvalidArgument, name, "=", value, " has an effect only ", condition,
       "; leave it out");
}

// Settings that have an effect only beside others, besides those of the norm.
struct Condition {
  std::string_view setting;
  bool (*holds)(const ModelConfig& config);
  const char* text;
};
constexpr Condition kConditions[] = {
    {"act_first", [](const ModelConfig& c) { return c.norm != Norm::kNone; }, "with a norm"},
    {"divide_input", [](const ModelConfig& c) { return c.towers > 1; }, "with towers above 1"},
    {"improved", [](const ModelConfig& c) { return c.edge_weights && c.self_loops; },
     "with edge_weights=1 and self_loops=1"},
    {"loop_fill", [](const ModelConfig& c) { return c.edge_dim > 0 && c.self_loops; },
     "with self_loops=1 and edge features, whose columns are edge_dim"},
    {"loop_value", [](const ModelConfig& c) { return c.loop_fill == LoopFill::kConstant; },
     "with loop_fill=constant"},
    {"readout_steps", [](const ModelConfig& c) { return c.readout == Readout::kSet2Set; },
     "with readout=set2set"},
    {"sort_rows", [](const ModelConfig& c) { return c.readout == Readout::kSort; },
     "with readout=sort"},
};

}  // namespace

void check_options(const ModelConfig& c) {
  const ModelConfig d;
  visit_settings(
      [&](const Setting& setting, const auto& value, const auto& standard) {
        if (value != standard && !setting.belongs_to(c)) refuse_option(setting, c);
      },
      c, d);
  check_norm_options(c.norm, c.norm_options, "model: norm_");
  visit_settings(
      [&](const Setting& setting, const auto& value, const auto& standard) {
        if (value == standard) return;
        for (const Condition& condition : kConditions)
          if (condition.setting == setting.name && !condition.holds(c))
            refuse_idle(base::text("model: ", setting.name), value_text(value), condition.text);
      },
      c, d);
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
  const auto refuse = [&](const char* name, const auto& value, const char* condition) {
    refuse_idle(base::text(field, name), value_text(value), condition);
  };
  const bool affine = norm == Norm::kBatch || norm == Norm::kLayer || norm == Norm::kLayerGraph ||
                      norm == Norm::kInstance;
  if (o.scale != plain.scale && norm != Norm::kPair && norm != Norm::kPairRows)
    refuse("scale", o.scale, "with norm=pair or pair_rows");
  if (o.epsilon != plain.epsilon && norm == Norm::kNone)
    refuse("epsilon", o.epsilon, "with a norm");
  if (o.momentum != plain.momentum && norm != Norm::kBatch)
    refuse("momentum", o.momentum, "with norm=batch");
  if (o.affine != plain.affine && !affine)
    refuse("affine", o.affine, "with norm=batch, layer, layer_graph or instance");
}

}  // namespace gnnmg::nn
