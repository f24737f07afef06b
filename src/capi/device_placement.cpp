#include "capi/device_placement.h"

#include "capi/arguments.h"

namespace gnnmg::capi {
namespace {

static_assert(static_cast<int32_t>(loader::GraphPlacement::kAuto) == GNNMG_GRAPH_PLACEMENT_AUTO &&
              static_cast<int32_t>(loader::GraphPlacement::kDevice) ==
                  GNNMG_GRAPH_PLACEMENT_DEVICE &&
              static_cast<int32_t>(loader::GraphPlacement::kPinned) ==
                  GNNMG_GRAPH_PLACEMENT_PINNED &&
              static_cast<int32_t>(loader::GraphPlacement::kHost) == GNNMG_GRAPH_PLACEMENT_HOST);
static_assert(
    static_cast<int32_t>(loader::FeaturePlacement::kAuto) == GNNMG_FEATURE_PLACEMENT_AUTO &&
    static_cast<int32_t>(loader::FeaturePlacement::kDevice) == GNNMG_FEATURE_PLACEMENT_DEVICE &&
    static_cast<int32_t>(loader::FeaturePlacement::kPinned) == GNNMG_FEATURE_PLACEMENT_PINNED &&
    static_cast<int32_t>(loader::FeaturePlacement::kCached) == GNNMG_FEATURE_PLACEMENT_CACHED &&
    static_cast<int32_t>(loader::FeaturePlacement::kHost) == GNNMG_FEATURE_PLACEMENT_HOST &&
    static_cast<int32_t>(loader::FeaturePlacement::kSplit) == GNNMG_FEATURE_PLACEMENT_SPLIT);
static_assert(static_cast<int32_t>(feature::Form::kAsGiven) == GNNMG_FEATURE_FORM_AS_GIVEN &&
              static_cast<int32_t>(feature::Form::kF16) == GNNMG_FEATURE_FORM_F16 &&
              static_cast<int32_t>(feature::Form::kBF16) == GNNMG_FEATURE_FORM_BF16 &&
              static_cast<int32_t>(feature::Form::kInt8) == GNNMG_FEATURE_FORM_INT8);
static_assert(static_cast<int32_t>(loader::CacheBy::kProbability) == GNNMG_HOTNESS_PROBABILITY &&
              static_cast<int32_t>(loader::CacheBy::kDegree) == GNNMG_HOTNESS_DEGREE &&
              static_cast<int32_t>(loader::CacheBy::kCounting) == GNNMG_HOTNESS_COUNTING);

}  // namespace

loader::DeviceSourceConfig device_placement(const PlacementFields& in) {
  GNNMG_CHECK_CONSTANT(in.graph, GNNMG_GRAPH_PLACEMENT_AUTO, GNNMG_GRAPH_PLACEMENT_HOST,
                       "config.graph_placement");
  GNNMG_CHECK_CONSTANT(in.features, GNNMG_FEATURE_PLACEMENT_AUTO, GNNMG_FEATURE_PLACEMENT_SPLIT,
                       "config.feature_placement");
  GNNMG_CHECK_CONSTANT(in.form, GNNMG_FEATURE_FORM_AS_GIVEN, GNNMG_FEATURE_FORM_INT8,
                       "config.feature_form");
  GNNMG_CHECK_CONSTANT(in.hotness, GNNMG_HOTNESS_PROBABILITY, GNNMG_HOTNESS_COUNTING,
                       "config.hotness");
  check_choice(in.gather_multiprocessors, 0, 65536, "config.gather_multiprocessors");
  if (in.cache_bytes > INT64_MAX)
    fail(Status::kInvalidArgument, "config.cache_bytes is ", in.cache_bytes, ", expected at most ",
         INT64_MAX);
  if (in.cache_bytes > 0 && in.features != GNNMG_FEATURE_PLACEMENT_AUTO &&
      in.features != GNNMG_FEATURE_PLACEMENT_CACHED && in.features != GNNMG_FEATURE_PLACEMENT_SPLIT)
    fail(Status::kInvalidArgument, "config.cache_bytes is ", in.cache_bytes,
         ", but config.feature_placement asks for features that are not cached; leave one of them "
         "0");
  constexpr const char* kForms[] = {"GNNMG_FEATURE_FORM_AS_GIVEN", "GNNMG_FEATURE_FORM_F16",
                                    "GNNMG_FEATURE_FORM_BF16", "GNNMG_FEATURE_FORM_INT8"};
  if (in.form != GNNMG_FEATURE_FORM_AS_GIVEN && in.features == GNNMG_FEATURE_PLACEMENT_HOST)
    fail(Status::kInvalidArgument, "config.feature_form is ", kForms[in.form],
         ", but config.feature_placement leaves the features with the host, as they are given; "
         "leave one of them 0");
  loader::DeviceSourceConfig placement;
  placement.graph = static_cast<loader::GraphPlacement>(in.graph);
  placement.features = static_cast<loader::FeaturePlacement>(in.features);
  placement.form = static_cast<feature::Form>(in.form);
  placement.cache_by = static_cast<loader::CacheBy>(in.hotness);
  placement.cache_bytes = static_cast<int64_t>(in.cache_bytes);
  placement.gather_pinned = true;
  placement.gather_multiprocessors = in.gather_multiprocessors;
  return placement;
}

}  // namespace gnnmg::capi
