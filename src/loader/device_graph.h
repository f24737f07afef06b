// Topology that kernels of a device read, shared by all samplers of the same topology.
#pragma once

#include <memory>

#include "base/device.h"
#include "loader/device_memory.h"
#include "sample/device.h"
#include "sample/sampler.h"

namespace gnnmg::loader {

class DeviceTopology {
 public:
  // Returns the existing topology for these arrays on this device, or null. Any thread.
  static std::shared_ptr<const DeviceTopology> find(const base::DeviceTable& table, int device,
                                                    const sample::NeighborLaw& law,
                                                    base::Placement placement);
  // Returns the existing topology or opens one. Errors are those of DeviceSampling::open_graph()
  // and csc_for_device(). Any thread.
  static std::shared_ptr<const DeviceTopology> open(const base::DeviceTable& table, int device,
                                                    const sample::NeighborLaw& law,
                                                    base::Placement placement);
  ~DeviceTopology();
  DeviceTopology(const DeviceTopology&) = delete;
  DeviceTopology& operator=(const DeviceTopology&) = delete;

  const sample::DeviceGraph* graph() const { return graph_; }
  int64_t num_edges() const { return num_edges_; }
  int64_t num_nodes() const { return num_nodes_; }

 private:
  DeviceTopology(const base::DeviceTable& table, int device, const sample::NeighborLaw& law,
                 base::Placement placement);

  const base::DeviceTable& table_;
  const graph::Csc arrays_;  // keeps the arrays alive
  OpenQueue queue_;
  int64_t num_nodes_ = 0, num_edges_ = 0;
  sample::DeviceGraph* graph_ = nullptr;
};

}  // namespace gnnmg::loader
