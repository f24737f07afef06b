#include "loader/device_graph.h"

#include <tuple>

#include "loader/shared_by_key.h"

namespace gnnmg::loader {
namespace {

using TopologyKey =
    std::tuple<const void*, int, device::Placement, const void*, const void*, const void*>;

TopologyKey key_of(const device::Table& table, int device, const sample::NeighborLaw& law,
                   device::Placement placement) {
  const graph::Csc& csc = *law.csc;
  const void* const ids = law.config->edge_ids ? csc.edge_ids.data() : nullptr;
  return {&table, device, placement, csc.indptr.data(), csc.indices.data(), ids};
}

// Never destroyed, because loaders in static objects may be destroyed later.
SharedByKey<TopologyKey, const DeviceTopology>& topologies() {
  static auto& shared = *new SharedByKey<TopologyKey, const DeviceTopology>;
  return shared;
}

}  // namespace

std::shared_ptr<const DeviceTopology> DeviceTopology::find(const device::Table& table, int device,
                                                           const sample::NeighborLaw& law,
                                                           device::Placement placement) {
  return topologies().find(key_of(table, device, law, placement));
}

std::shared_ptr<const DeviceTopology> DeviceTopology::open(const device::Table& table, int device,
                                                           const sample::NeighborLaw& law,
                                                           device::Placement placement) {
  return topologies().open(key_of(table, device, law, placement), [&] {
    return std::shared_ptr<const DeviceTopology>(new DeviceTopology(table, device, law, placement));
  });
}

DeviceTopology::DeviceTopology(const device::Table& table, int device,
                               const sample::NeighborLaw& law, device::Placement placement)
    : table_(table), arrays_(*law.csc), queue_(table, device) {
  const sample::HostCsc csc = sample::csc_for_device(arrays_, law.config->edge_ids);
  num_nodes_ = csc.num_nodes;
  num_edges_ = csc.num_edges;
  graph_ = table.of<sample::DeviceSampling>()->open_graph(queue_.get(), csc, placement);
}

DeviceTopology::~DeviceTopology() { table_.of<sample::DeviceSampling>()->close_graph(graph_); }

}  // namespace gnnmg::loader
