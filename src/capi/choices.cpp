#include "capi/choices.h"

#include "gnnmg.h"

namespace gnnmg::nn {

const Choices& choices_of(capi::DeviceType) {
  static constexpr const char* kWords[] = {"auto", "cpu", "cuda"};
  static const Choices choices{"GNNMG_DEVICE_", 0, kWords};
  return choices;
}

const Choices& choices_of(capi::Format) {
  static constexpr const char* kWords[] = {
      "auto", "gnnmg", "planetoid", "plain",         "shchur", "heterophilous", "ogb",     "edges",
      "gin",  "tu",    "packed",    "matrix_market", "metis",  "parts",         "geom_gcn"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(data::Task) {
  static constexpr const char* kWords[] = {"none", "multiclass", "binary", "regression"};
  static const Choices choices{"GNNMG_TASK_", 0, kWords};
  return choices;
}
static_assert(static_cast<int32_t>(data::Task::kMulticlass) == GNNMG_TASK_MULTICLASS &&
              static_cast<int32_t>(data::Task::kBinary) == GNNMG_TASK_BINARY &&
              static_cast<int32_t>(data::Task::kRegression) == GNNMG_TASK_REGRESSION);

const Choices& choices_of(data::SplitPart) {
  static constexpr const char* kWords[] = {"train", "validation", "test"};
  static const Choices choices{"GNNMG_PART_", 0, kWords};
  return choices;
}
static_assert(static_cast<int32_t>(data::SplitPart::kTrain) == GNNMG_PART_TRAIN &&
              static_cast<int32_t>(data::SplitPart::kValidation) == GNNMG_PART_VALIDATION &&
              static_cast<int32_t>(data::SplitPart::kTest) == GNNMG_PART_TEST);

const Choices& choices_of(sample::Expansion) {
  static constexpr const char* kWords[] = {"once", "every_layer"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(sample::Draw) {
  static constexpr const char* kWords[] = {"uniform", "labor", "labor_once"};
  static const Choices choices{"GNNMG_DRAW_", 0, kWords};
  return choices;
}
static_assert(static_cast<int32_t>(sample::Draw::kUniform) == GNNMG_DRAW_UNIFORM &&
              static_cast<int32_t>(sample::Draw::kLabor) == GNNMG_DRAW_LABOR &&
              static_cast<int32_t>(sample::Draw::kLaborOnce) == GNNMG_DRAW_LABOR_ONCE);

const Choices& choices_of(loader::GraphPlacement) {
  static constexpr const char* kWords[] = {"auto", "device", "pinned", "host"};
  static const Choices choices{"GNNMG_GRAPH_PLACEMENT_", 0, kWords};
  return choices;
}
static_assert(static_cast<int32_t>(loader::GraphPlacement::kAuto) == GNNMG_GRAPH_PLACEMENT_AUTO &&
              static_cast<int32_t>(loader::GraphPlacement::kDevice) ==
                  GNNMG_GRAPH_PLACEMENT_DEVICE &&
              static_cast<int32_t>(loader::GraphPlacement::kPinned) ==
                  GNNMG_GRAPH_PLACEMENT_PINNED &&
              static_cast<int32_t>(loader::GraphPlacement::kHost) == GNNMG_GRAPH_PLACEMENT_HOST);

const Choices& choices_of(loader::FeaturePlacement) {
  static constexpr const char* kWords[] = {"auto", "device", "pinned", "cached", "host", "split"};
  static const Choices choices{"GNNMG_FEATURE_PLACEMENT_", 0, kWords};
  return choices;
}
static_assert(
    static_cast<int32_t>(loader::FeaturePlacement::kAuto) == GNNMG_FEATURE_PLACEMENT_AUTO &&
    static_cast<int32_t>(loader::FeaturePlacement::kDevice) == GNNMG_FEATURE_PLACEMENT_DEVICE &&
    static_cast<int32_t>(loader::FeaturePlacement::kPinned) == GNNMG_FEATURE_PLACEMENT_PINNED &&
    static_cast<int32_t>(loader::FeaturePlacement::kCached) == GNNMG_FEATURE_PLACEMENT_CACHED &&
    static_cast<int32_t>(loader::FeaturePlacement::kHost) == GNNMG_FEATURE_PLACEMENT_HOST &&
    static_cast<int32_t>(loader::FeaturePlacement::kSplit) == GNNMG_FEATURE_PLACEMENT_SPLIT);

const Choices& choices_of(loader::CacheBy) {
  static constexpr const char* kWords[] = {"probability", "degree", "counting"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(feature::Form) {
  static constexpr const char* kWords[] = {"as_given", "f16", "bf16", "int8"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(partition::Method) {
  static constexpr const char* kWords[] = {"cluster", "metis", "range", "hash"};
  static const Choices choices{"GNNMG_PARTS_METHOD_", 0, kWords};
  return choices;
}
static_assert(static_cast<int32_t>(partition::Method::kCluster) == GNNMG_PARTS_METHOD_CLUSTER &&
              static_cast<int32_t>(partition::Method::kMetis) == GNNMG_PARTS_METHOD_METIS &&
              static_cast<int32_t>(partition::Method::kRange) == GNNMG_PARTS_METHOD_RANGE &&
              static_cast<int32_t>(partition::Method::kHash) == GNNMG_PARTS_METHOD_HASH);

const Choices& choices_of(server::Reading) {
  static constexpr const char* kWords[] = {"auto", "shared", "asked"};
  static const Choices choices{"GNNMG_PARTS_READING_", 0, kWords};
  return choices;
}
static_assert(static_cast<int32_t>(server::Reading::kAuto) == GNNMG_PARTS_READING_AUTO &&
              static_cast<int32_t>(server::Reading::kShared) == GNNMG_PARTS_READING_SHARED &&
              static_cast<int32_t>(server::Reading::kAsked) == GNNMG_PARTS_READING_ASKED);

}  // namespace gnnmg::nn
