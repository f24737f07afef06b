// The words of the enumerations that data sets, samplers, loaders and placements on GPUs have in
// settings, as nn/config/choices.h has them for models.
#pragma once

#include "data/dataset.h"
#include "loader/device_source.h"
#include "nn/config/choices.h"
#include "partition/assign.h"
#include "sample/sampler.h"
#include "server/worker.h"

namespace gnnmg::capi {

enum class DeviceType : int32_t { kAuto, kCpu, kCuda };

// Formats of data sets.
enum class Format : int32_t {
  kAuto,
  kGnnmg,
  kPlanetoid,
  kPlain,
  kShchur,
  kHeterophilous,
  kOgb,
  kEdges,
  kGin,
  kTu,
  kPacked,
  kMatrixMarket,
  kMetis,
  kParts,
  kGeomGcn
};

}  // namespace gnnmg::capi

namespace gnnmg::nn {

const Choices& choices_of(capi::DeviceType);
const Choices& choices_of(capi::Format);
const Choices& choices_of(data::Task);
const Choices& choices_of(data::SplitPart);
const Choices& choices_of(sample::Expansion);
const Choices& choices_of(sample::Draw);
const Choices& choices_of(loader::GraphPlacement);
const Choices& choices_of(loader::FeaturePlacement);
const Choices& choices_of(loader::CacheBy);
const Choices& choices_of(feature::Form);
const Choices& choices_of(partition::Method);
const Choices& choices_of(server::Reading);

}  // namespace gnnmg::nn
