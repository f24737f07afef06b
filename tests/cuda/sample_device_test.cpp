// Sampling by the device table: the CPU's samples on every device.
#include <gtest/gtest.h>

#include <iterator>
#include <set>

#include "chosen_cases.h"
#include "devices.h"
#include "graph/generate.h"
#include "sample/device.h"
#include "sample_compare.h"

namespace gnnmg::cuda {
namespace {

using sample::Expansion;
using sample::NeighborConfig;
using DeviceSamples = OnDevices;

TEST_P(DeviceSamples, AreTheCpus) {
  ASSERT_NE(table().of<sample::DeviceSampling>(), nullptr);
  const sample::DeviceSampling& sampling = *table().of<sample::DeviceSampling>();
  base::ThreadPool pool;
  graph::LogNormalConfig hubs;
  hubs.num_nodes = 6000;
  hubs.num_features = hubs.num_classes = 0;
  const graph::GraphRef graph = log_normal(hubs, pool);
  constexpr int kBatches = 4;
  constexpr int64_t kSeeds = 100;
  base::Stream stream({4, 2}, 0);
  const std::vector<std::vector<int64_t>> all_fanouts = {{15, 10, 5}, {8, 4},  {32, 16},
                                                         {60, 3},     {-1, 2}, {1000}};
  std::vector<Haves> cases;  // each fan-out, and each placement with each option
  for (int64_t place = 0; place < 2; ++place)
    for (int64_t f = 0; f < std::ssize(all_fanouts); ++f)
      for (int64_t bits = 0; bits < 6; ++bits)
        cases.push_back({{0, f}, {1, place, bits & 1}, {2, place, bits / 2}});
  const std::vector<size_t> numbers = taken_of(cases);
  const std::set<size_t> taken(numbers.begin(), numbers.end());
  size_t number = 0;
  for (const device::Placement placement :
       {device::Placement::kDevice, device::Placement::kPinned}) {
    sample::DeviceGraph* there =
        sampling.open_graph(queue(), sample::csc_for_device(graph->csc(), true), placement);
    for (const auto& fanouts : all_fanouts) {
      for (int bits = 0; bits < 6; ++bits) {
        if (!taken.contains(number++)) continue;
        NeighborConfig config;
        config.fanouts = fanouts;
        config.expansion = bits & 1 ? Expansion::kEveryLayer : Expansion::kOnce;
        config.replace = bits / 2 == 1;
        if (bits / 2 == 2) config.draw = sample::Draw::kLabor;
        config.edge_ids = config.transpose = true;
        SCOPED_TRACE(testing::PrintToString(fanouts) + " bits " + std::to_string(bits));
        std::vector<std::vector<int64_t>> lists(kBatches);
        for (auto& list : lists) {
          list.resize(stream.below(kSeeds + 1));
          for (int64_t& seed : list)
            seed = static_cast<int64_t>(stream.below(graph->num_nodes() / 20)) * 20;
        }
        const Batches batches(lists, kSeeds, config);
        sample::DeviceSampler* sampler = sampling.create(queue(), there, config, kSeeds, kBatches);
        const auto cpu = sample::make_neighbor_sampler(graph, config);
        sample::Workspace workspace;
        sample::Sample found, expected;
        for (int turn = 0; turn < 2; ++turn) {
          const sample::DeviceSample* view = sampling.sample(sampler, batches.view(true));
          for (int m = 0; m < kBatches; ++m) {
            read_sample(table(), queue(), *view, m, found);
            cpu->sample(lists[m], batches.batch_keys[m], workspace, expected, {});
            expect_same(found, expected, config);
          }
        }
        sampling.free(sampler);
        if (HasFailure()) break;
      }
    }
    sampling.close_graph(there);
  }
}

TEST_P(DeviceSamples, TellOfBadSeeds) {
  ASSERT_NE(table().of<sample::DeviceSampling>(), nullptr);
  const sample::DeviceSampling& sampling = *table().of<sample::DeviceSampling>();
  base::ThreadPool pool;
  graph::ErdosRenyiConfig config;
  config.num_nodes = 100;
  config.num_edges = 1000;
  const graph::GraphRef graph = erdos_renyi(config, pool);
  sample::DeviceGraph* there = sampling.open_graph(
      queue(), sample::csc_for_device(graph->csc(), false), device::Placement::kDevice);
  NeighborConfig neighbors;
  neighbors.fanouts = {3, 3};
  sample::DeviceSampler* sampler = sampling.create(queue(), there, neighbors, 4, 2);
  const Batches bad({{5, 6}, {7, 100, -1}}, 4, 2);
  const DeviceArray<int64_t> seeds(device(), queue(), bad.seeds);
  const DeviceArray<int32_t> num_seeds(device(), queue(), bad.num_seeds);
  const DeviceArray<uint32_t> keys(device(), queue(), bad.keys);
  const sample::DeviceSample* view =
      sampling.sample(sampler, {2, seeds.data(), 4, num_seeds.data(), keys.data(), false});
  sample::DeviceCounts counts;
  try {
    read_counts(table(), queue(), *view, counts);
    ADD_FAILURE() << "nothing thrown";
  } catch (const base::Error& error) {
    EXPECT_STREQ(error.what(),
                 "seed 1 of mini-batch 1 is no node or one too many; nodes are 0 to 99");
    EXPECT_EQ(error.status(), base::Status::kRange);
  }
  sampling.free(sampler);
  sampling.close_graph(there);
}

INSTANTIATE_TEST_SUITE_P(, DeviceSamples, testing::ValuesIn(test_devices()), name_of_device);

}  // namespace
}  // namespace gnnmg::cuda
