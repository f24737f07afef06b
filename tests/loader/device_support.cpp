#include "device_support.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/philox.h"
#include "cuda/grid/entries.h"
#include "lazy_queue.h"
#include "loader/device_slot.h"
#include "sample/reference.h"

namespace gnnmg::test {

using base::DType;
using loader::BatchRef;
using loader::DeviceArrays;
using loader::DeviceSource;
using loader::Loader;
using loader::LoaderConfig;

namespace {

template <typename T>
void add(std::string& to, const T* data, int64_t count) {
  to += std::to_string(count) + ":";
  if (count > 0)
    to.append(reinterpret_cast<const char*>(data), static_cast<size_t>(count) * sizeof(T));
}

void add_header(std::string& to, const loader::Batch& batch) {
  const int64_t numbers[] = {static_cast<int64_t>(batch.epoch), batch.number, batch.step,
                             batch.last_of_step, batch.sample.num_seeds};
  add(to, numbers, 5);
  add(to, batch.seeds.data(), static_cast<int64_t>(batch.seeds.size()));
  add(to, batch.step_ids.data(), batch.step_seeds());
  add(to, batch.sample.graph_ptr.data(), batch.sample.graph_ptr.size());
}

void add_sample(std::string& to, const int64_t* node_ids, int64_t num_nodes,
                const std::vector<sample::BlockView>& blocks) {
  add(to, node_ids, num_nodes);
  for (const sample::BlockView& block : blocks) {
    const int64_t numbers[] = {block.num_targets, block.num_sources, block.num_edges};
    add(to, numbers, 3);
    add(to, block.indptr, block.num_targets + 1);
    add(to, block.indices, block.num_edges);
    add(to, block.edge_ids, block.edge_ids ? block.num_edges : 0);
    add(to, block.out_indptr, block.out_indptr ? block.num_sources + 1 : 0);
    add(to, block.out_targets, block.out_indptr ? block.out_indptr[block.num_sources] : 0);
  }
}

float element(const void* row, DType dtype, int64_t col) {
  if (dtype == DType::kF32) return static_cast<const float*>(row)[col];
  const uint16_t bits = static_cast<const uint16_t*>(row)[col];
  return dtype == DType::kF16 ? base::f16_to_f32(bits) : base::bf16_to_f32(bits);
}

// Kernels of the reader, which record the arrays when they run.
struct ReadArrays {
  DeviceArrays from;
  std::shared_ptr<std::string> to;

  void operator()(int64_t) const {
    add_sample(*to, from.node_ids, from.num_nodes, from.blocks);
    if (from.sparse_indptr) {
      add(*to, from.sparse_indptr, from.num_nodes + 1);
      add(*to, from.sparse_indices, from.num_entries);
      add(*to, from.sparse_values, from.num_entries);
    }
    const bool named = from.table != nullptr;
    if (!named && !from.rows) return;
    for (int64_t i = 0; i < from.num_nodes; ++i) {
      const int64_t row = named ? from.node_ids[i] : i;
      const auto* bytes = static_cast<const uint8_t*>(named ? from.table : from.rows) +
                          row * from.stride * base::dtype_size(from.dtype);
      if (!base::is_floating(from.dtype) || from.dtype == DType::kF64) {
        add(*to, bytes, from.cols * base::dtype_size(from.dtype));
        continue;
      }
      std::vector<float> values(static_cast<size_t>(from.cols));
      for (int64_t c = 0; c < from.cols; ++c) values[c] = element(bytes, from.dtype, c);
      add(*to, values.data(), from.cols);
    }
  }
};

}  // namespace

DeviceWorld::DeviceWorld(const sample::NeighborConfig& config)
    : graph(skewed_graph(kNodes, 3000, 1)),
      ids(400),
      sampler(sample::make_neighbor_sampler(graph, config)),
      x(base::Tensor::empty(DType::kF32, {kNodes, kCols})) {
  std::iota(ids.begin(), ids.end(), 300);
  base::Stream stream({1, 2}, 3);
  for (float& value : x.as<float>()) value = static_cast<float>(stream.normal());
  store = feature::make_store(x);
}

DeviceWorld::DeviceWorld()
    : DeviceWorld(sample::NeighborConfig{.fanouts = {5, 3}, .edge_ids = true, .transpose = true}) {}

std::shared_ptr<DeviceSource> DeviceWorld::open(const loader::DeviceSourceConfig& config) const {
  return DeviceSource::open(config, sampler, store, ids, device_loader_config(), nullptr);
}
std::unique_ptr<Loader> DeviceWorld::on_device(const LoaderConfig& config,
                                               std::shared_ptr<DeviceSource> source) const {
  return std::make_unique<Loader>(ids, sampler, store, config, nullptr, std::move(source));
}
std::unique_ptr<Loader> DeviceWorld::on_cpu(const LoaderConfig& config) const {
  return std::make_unique<Loader>(ids, sampler, store, config, nullptr);
}

loader::DeviceSourceConfig on_lazy_gpu(loader::GraphPlacement graph,
                                       loader::FeaturePlacement features) {
  loader::DeviceSourceConfig config;
  config.table = &lazy_gpu::table();
  config.graph = graph;
  config.features = features;
  config.cache_bytes = 4000;
  return config;
}

LoaderConfig device_loader_config(int32_t num_threads) {
  LoaderConfig config;
  config.plan.batch_size = 16;
  config.plan.seed = 3;
  config.num_threads = num_threads;
  config.prefetch = 3;
  config.sample_seed = 9;
  return config;
}

std::vector<float> rows_in(feature::Form form, DType gathered, const base::Tensor& x) {
  const int64_t rows = x.rows(), cols = x.shape().row_elements();
  std::vector<float> out(x.as<float>().begin(), x.as<float>().end());
  std::vector<float> scales(static_cast<size_t>(rows));
  if (form == feature::Form::kInt8) {
    const int64_t stride = feature::packed_stride(cols, form, DType::kF32);
    std::vector<uint8_t> packed(static_cast<size_t>(rows * stride));
    feature::pack_rows(x.view(), form, {}, 0, rows, packed.data(), scales.data(), nullptr);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < cols; ++c)
        out[r * cols + c] =
            static_cast<float>(static_cast<int8_t>(packed[r * stride + c])) * scales[r];
  }
  for (float& value : out) {
    if (form == feature::Form::kF16) value = base::f16_to_f32(base::f32_to_f16(value));
    if (form == feature::Form::kBF16) value = base::bf16_to_f32(base::f32_to_bf16(value));
    if (gathered == DType::kF16) value = base::f16_to_f32(base::f32_to_f16(value));
    if (gathered == DType::kBF16) value = base::bf16_to_f32(base::f32_to_bf16(value));
  }
  return out;
}

Contents by_cpu(const DeviceWorld& world, LoaderConfig config, uint64_t epoch, int64_t first_step,
                const std::vector<float>& rows, int64_t cols) {
  config.num_threads = 0;
  config.gather = false;
  const auto loader = world.on_cpu(config);
  loader->start_epoch(epoch, first_step);
  Contents contents;
  while (const BatchRef batch = loader->next({}).value()) {
    std::string& all = contents[static_cast<int64_t>(contents.size())];
    add_header(all, *batch);
    add_sample(all, batch->sample.node_ids.data(), batch->sample.num_nodes(), batch->sample.blocks);
    if (rows.empty()) continue;
    for (const int64_t node : batch->sample.node_ids.span())
      add(all, rows.data() + node * cols, cols);
  }
  return contents;
}

LazyReader::LazyReader(int device, Reads reads)
    : queue_(lazy_gpu::table().open_queue(device, 0, nullptr)), reads_(reads) {}
LazyReader::~LazyReader() { lazy_gpu::table().close_queue(queue_); }

void LazyReader::read(int64_t place, loader::Batch& batch) {
  auto contents = std::make_shared<std::string>();
  add_header(*contents, batch);
  DeviceArrays& arrays = *batch.device;
  if (reads_ == Reads::kNamed)
    lazy_gpu::table().wait(queue_, arrays.made_in);
  else
    loader::precede(arrays, queue_);
  DeviceArrays from = arrays;
  from.slots = {};  // the late reader does not hold the batch
  cuda::queue_of<lazy_gpu::LazyQueue>(queue_).each(1, ReadArrays{std::move(from), contents});
  if (reads_ == Reads::kNamed)
    arrays.read_in = queue_;
  else
    loader::follow(arrays, queue_);
  read_[place] = std::move(contents);
}

Contents LazyReader::finish() {
  lazy_gpu::table().synchronize(queue_);
  Contents contents;
  for (const auto& [place, bytes] : read_) contents[place] = *bytes;
  return contents;
}

Contents by_device(Loader& loader, Reads reads) {
  LazyReader reader(0, reads);
  int64_t place = 0;
  while (const BatchRef batch = loader.next({}).value()) reader.read(place++, *batch);
  EXPECT_EQ(loader.next({}).value(), nullptr);
  return reader.finish();
}

}  // namespace gnnmg::test
