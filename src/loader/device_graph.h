// Topology that kernels of a device read, shared by all samplers of the same topology.
#pragma once

#include <memory>

#include "device/owners.h"
#include "device/table.h"
#include "sample/device.h"
#include "sample/sampler.h"

namespace gnnmg::loader {

class DeviceTopology {
 public:
  // Returns the existing topology for these arrays on this device, or null. Any thread.
  static std::shared_ptr<const DeviceTopology> find(const device::Table& table, int device,
                                                    const sample::NeighborLaw& law,
                                                    device::Placement placement);
  // Returns the existing topology or opens one. Errors are those of DeviceSampling::open_graph()
  // and csc_for_device(). Any thread.
  static std::shared_ptr<const DeviceTopology> open(const device::Table& table, int device,
                                                    const sample::NeighborLaw& law,
                                                    device::Placement placement);
  ~DeviceTopology();
  DeviceTopology(const DeviceTopology&) = delete;
  DeviceTopology& operator=(const DeviceTopology&) = delete;

  const sample::DeviceGraph* graph() const { return graph_; }
  int64_t num_edges() const { return num_edges_; }
  int64_t num_nodes() const { return num_nodes_; }

 private:
  DeviceTopology(const device::Table& table, int device, const sample::NeighborLaw& law,
                 device::Placement placement);

  const device::Table& table_;
  const graph::Csc arrays_;  // keeps the arrays alive
  device::OwnedQueue queue_;
  int64_t num_nodes_ = 0, num_edges_ = 0;
  sample::DeviceGraph* graph_ = nullptr;
};

}  // namespace gnnmg::loader
