#include "capi/device_placement.h"

namespace gnnmg::capi {

void check_placement(const char* subject, const loader::DeviceSourceConfig& placement) {
  using enum loader::FeaturePlacement;
  const auto features = placement.features;
  if (placement.cache_bytes > 0 && features != kAuto && features != kCached && features != kSplit)
    fail(Status::kInvalidArgument, subject, " settings: cache_bytes=", placement.cache_bytes,
         ", but feature_placement=", value_text(features),
         " caches no rows; leave one of them out");
  if (placement.form != feature::Form::kAsGiven && features == kHost)
    fail(Status::kInvalidArgument, subject, " settings: feature_form=", value_text(placement.form),
         ", but feature_placement=host leaves the features as they are given; leave one of them "
         "out");
}

}  // namespace gnnmg::capi
