// Mini-batches that a loader makes on a GPU, read back over the bus: identical to the CPU's, id for
// id and row for row, for five graphs and every placement of graph and features. A thousand of each
// graph on real GPUs, some on GPUs that defer work.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <tuple>

#include "base/error.h"
#include "base/philox.h"
#include "graph/generate.h"
#include "loader/device_source.h"
#include "loader/loader.h"
#include "sample/reference.h"
#include "support/test_gpus.h"

namespace gnnmg {
namespace {

using base::DType;
using loader::FeaturePlacement;
using loader::GraphPlacement;
using sample::Expansion;
using sample::NeighborConfig;

// Twelve placements, so 1 008 of each graph.
int64_t num_batches() { return test::gpus_are_fake() ? 10 : 84; }
int64_t size(int64_t real) { return test::gpus_are_fake() ? real / 50 : real; }

struct World {
  const char* name;
  std::function<graph::GraphRef(base::ThreadPool&)> make;
  NeighborConfig law;
  int64_t cols;  // columns of the features
};

const World kWorlds[] = {
    {"products-shaped",
     [](base::ThreadPool& pool) {
       return graph::log_normal(
           {.num_nodes = size(100'000), .num_features = 0, .num_classes = 0, .seed = 4}, pool);
     },
     {.fanouts = {15, 10, 5}, .expansion = Expansion::kEveryLayer, .transpose = true},
     100},
    {"planted classes, edge ids",
     [](base::ThreadPool& pool) {
       return graph::planted_partition({.num_nodes = size(50'000), .seed = 2}, pool);
     },
     {.fanouts = {10, 10}, .edge_ids = true, .transpose = true},
     7},
    {"a hub, with replacement",
     [](base::ThreadPool&) { return test::skewed_graph(size(60'000), size(200'000), 3); },
     {.fanouts = {20, 3}, .replace = true, .edge_ids = true},
     32},
    {"loops and duplicates, the other way",
     [](base::ThreadPool& pool) {
       return graph::rmat(
           {.scale = test::gpus_are_fake() ? 10 : 16, .num_edges = size(1'000'000), .seed = 5},
           pool);
     },
     {.fanouts = {4, 4, 4, 4}, .transpose = true, .outgoing = true},
     1},
    {"sparse, whole neighborhoods",
     [](base::ThreadPool& pool) {
       return graph::erdos_renyi(
           {.num_nodes = size(100'000), .num_edges = size(150'000), .seed = 6}, pool);
     },
     {.fanouts = {-1, 5, -1}, .expansion = Expansion::kEveryLayer},
     33},
};

// Reads GPU memory after the work that made it.
class Reader {
 public:
  explicit Reader(const device::Table& table)
      : table_(table), queue_(table.open_queue(0, 0, nullptr)) {}
  ~Reader() { table_.close_queue(queue_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  void wait_for(loader::DeviceArrays& arrays) {
    table_.wait(queue_, arrays.made_in);
    arrays.read_in = queue_;
  }
  template <typename T>
  bool same(const T* device, const T* host, int64_t count) {
    if ((device == nullptr) != (host == nullptr)) return false;
    if (host == nullptr || count == 0) return true;
    std::vector<T> found(static_cast<size_t>(count));
    read(found.data(), device, count * static_cast<int64_t>(sizeof(T)));
    return std::memcmp(found.data(), host, found.size() * sizeof(T)) == 0;
  }
  void read(void* to, const void* from, int64_t bytes) {
    table_.copy(queue_, to, from, bytes);
    table_.synchronize(queue_);
  }

 private:
  const device::Table& table_;
  device::Queue* queue_;
};

void expect_same_blocks(Reader& reader, const std::vector<sample::BlockView>& found,
                        const std::vector<sample::BlockView>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t layer = 0; layer < wanted.size(); ++layer) {
    const sample::BlockView &a = wanted[layer], &b = found[layer];
    SCOPED_TRACE(testing::Message() << "layer " << layer);
    ASSERT_EQ(b.num_targets, a.num_targets);
    ASSERT_EQ(b.num_sources, a.num_sources);
    ASSERT_EQ(b.num_edges, a.num_edges);
    EXPECT_TRUE(reader.same(b.indptr, a.indptr, a.num_targets + 1)) << "indptr";
    EXPECT_TRUE(reader.same(b.indices, a.indices, a.num_edges)) << "indices";
    EXPECT_TRUE(reader.same(b.edge_ids, a.edge_ids, a.num_edges)) << "edge ids";
    EXPECT_TRUE(reader.same(b.out_indptr, a.out_indptr, a.out_indptr ? a.num_sources + 1 : 0))
        << "by source";
    EXPECT_TRUE(
        reader.same(b.out_targets, a.out_targets, a.out_indptr ? a.out_indptr[a.num_sources] : 0))
        << "targets by source";
  }
}

class DeviceBatches
    : public testing::TestWithParam<std::tuple<int, GraphPlacement, FeaturePlacement>> {
 protected:
  const World& world() const { return kWorlds[std::get<0>(GetParam())]; }
  // Rows that distinguish nodes, f32.
  static base::Tensor rows_for(int64_t nodes, int64_t cols) {
    base::Tensor x = base::Tensor::empty(DType::kF32, {nodes, cols});
    base::Stream stream({1, 2}, 3);
    for (float& value : x.as<float>()) value = static_cast<float>(stream.normal());
    return x;
  }
  // Row i belongs to node ids[i].
  static void expect_rows(Reader& reader, const loader::DeviceArrays& arrays, const base::Tensor& x,
                          std::span<const int64_t> ids) {
    const int64_t cols = x.shape().row_elements();
    const float* rows = x.as<float>().data();
    ASSERT_EQ(arrays.dtype, DType::kF32);
    ASSERT_EQ(arrays.cols, cols);
    const bool all = arrays.table != nullptr;
    ASSERT_TRUE(all || arrays.rows != nullptr);
    const auto count = all ? x.rows() : static_cast<int64_t>(ids.size());
    std::vector<float> found(static_cast<size_t>(((count - 1) * arrays.stride) + cols));
    reader.read(found.data(), all ? arrays.table : arrays.rows,
                static_cast<int64_t>(found.size() * sizeof(float)));
    int64_t wrong = 0;
    for (int64_t i = 0; i < static_cast<int64_t>(ids.size()); ++i)
      wrong += std::memcmp(found.data() + (all ? ids[i] : i) * arrays.stride, rows + ids[i] * cols,
                           static_cast<size_t>(cols) * sizeof(float)) != 0;
    EXPECT_EQ(wrong, 0) << "rows of " << ids.size();
  }
};

TEST_P(DeviceBatches, AreTheCpusIdForIdAndRowForRow) {
  const test::TestGpus gpus = test::test_gpus(1);
  base::ThreadPool pool(4);
  const graph::GraphRef graph = world().make(pool);
  const std::shared_ptr<const sample::Sampler> sampler =
      sample::make_neighbor_sampler(graph, world().law);
  const base::Tensor x = rows_for(graph->num_nodes(), world().cols);
  const std::shared_ptr<const feature::FeatureStore> store = feature::make_store(x);
  std::vector<int64_t> ids(static_cast<size_t>(graph->num_nodes()));
  std::iota(ids.begin(), ids.end(), 0);

  loader::LoaderConfig config;
  config.plan.batch_size = test::gpus_are_fake() ? 24 : 512;
  config.plan.seed = 3;
  config.num_threads = 2;
  config.prefetch = 3;
  config.sample_seed = 9;
  loader::DeviceSourceConfig places;
  places.table = gpus.table;
  places.graph = std::get<1>(GetParam());
  places.features = std::get<2>(GetParam());
  places.cache_bytes = x.rows() * world().cols;  // a quarter of the rows
  const auto source = loader::DeviceSource::open(places, sampler, store, ids, config, &pool);
  SCOPED_TRACE(testing::Message() << world().name << ", " << source->describe());
  EXPECT_EQ(source->graph(), places.graph);
  EXPECT_EQ(source->features(), places.features);

  Reader reader(*gpus.table);
  loader::Loader there(ids, sampler, store, config, nullptr, source);
  config.gather = false;
  loader::Loader here(ids, sampler, nullptr, config, nullptr);
  int64_t compared = 0;
  const void* whole = nullptr;  // a table of all rows that has been checked
  for (uint64_t epoch = 0; compared < num_batches(); ++epoch) {
    there.start_epoch(epoch);
    here.start_epoch(epoch);
    for (; compared < num_batches(); ++compared) {
      const loader::BatchRef wanted = here.next({}).value(), found = there.next({}).value();
      ASSERT_EQ(found == nullptr, wanted == nullptr);
      if (wanted == nullptr) break;
      SCOPED_TRACE(testing::Message() << "epoch " << epoch << ", mini-batch " << wanted->number);
      ASSERT_EQ(found->seeds, wanted->seeds);
      loader::DeviceArrays& arrays = *found->device;
      reader.wait_for(arrays);
      ASSERT_EQ(arrays.num_nodes, wanted->sample.num_nodes());
      ASSERT_TRUE(reader.same(arrays.node_ids, wanted->sample.node_ids.data(), arrays.num_nodes));
      expect_same_blocks(reader, arrays.blocks, wanted->sample.blocks);
      if (arrays.table == nullptr || arrays.table != whole)
        expect_rows(reader, arrays, x, wanted->sample.node_ids.span());
      whole = arrays.table;
      if (HasFailure()) return;
    }
  }
}

std::string name_of(
    const testing::TestParamInfo<std::tuple<int, GraphPlacement, FeaturePlacement>>& info) {
  const char* const graphs[] = {"", "Device", "Pinned", "Host"};
  const char* const features[] = {"", "Device", "Pinned", "Cached", "Host"};
  return base::text("World", std::get<0>(info.param), "Graph",
                    graphs[static_cast<int>(std::get<1>(info.param))], "Features",
                    features[static_cast<int>(std::get<2>(info.param))]);
}

INSTANTIATE_TEST_SUITE_P(
    Places, DeviceBatches,
    testing::Combine(testing::Range(0, 5),
                     testing::Values(GraphPlacement::kDevice, GraphPlacement::kPinned,
                                     GraphPlacement::kHost),
                     testing::Values(FeaturePlacement::kDevice, FeaturePlacement::kPinned,
                                     FeaturePlacement::kCached, FeaturePlacement::kHost)),
    name_of);

}  // namespace
}  // namespace gnnmg
