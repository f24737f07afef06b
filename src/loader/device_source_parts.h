// The resolved parts of a source.
#pragma once

#include "loader/device_features.h"
#include "loader/device_graph.h"
#include "loader/device_source.h"

namespace gnnmg::loader {

struct DeviceSource::Parts {
  DeviceSourceConfig config;
  std::shared_ptr<const sample::Sampler> sampler;
  std::shared_ptr<const feature::FeatureStore> store;
  GraphPlacement graph = GraphPlacement::kHost;
  FeaturePlacement features = FeaturePlacement::kHost;
  std::shared_ptr<const DeviceTopology> topology;  // null: sampled on the host
  std::shared_ptr<const DeviceTableOfRows> table;  // null: no features, or on the host
  int gather_multiprocessors = 0;
  std::string description;

  // True if the rows of each mini-batch are gathered, for rows that the device reads.
  bool gathers() const {
    return table->rows().data == nullptr || config.gather ||
           (config.gather_pinned && features == FeaturePlacement::kPinned);
  }
};

}  // namespace gnnmg::loader
