#include "train/rank_device.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <cstring>

#include "base/affinity.h"
#include "nn/torch_tensor.h"

namespace gnnmg::train {
namespace {

template <size_t N>
std::string bounded(const char (&text)[N]) {
  return {text, strnlen(text, N)};
}

}  // namespace

std::string usable_device(const base::DeviceTable& table, int index) {
  const base::DeviceInfo info = table.info(index);
  std::string name =
      base::text("GPU ", index, " (", bounded(info.name), " at ", bounded(info.bus_id), ")");
  if (info.major < 8)
    base::fail(base::Status::kUnsupported, name, " has compute capability ", info.major, ".",
               info.minor, ", and 8.0 or later is needed; train on other GPUs, or on the CPU");
  return name;
}

void empty_cache(const base::DeviceTable& table) noexcept {
  try {
    c10::Allocator* all = c10::GetAllocator(static_cast<c10::DeviceType>(table.torch_device_type));
    if (auto* own = dynamic_cast<c10::DeviceAllocator*>(all)) own->emptyCache();
  } catch (const std::exception&) {  // a device that is lost has nothing to give
  }
}

nn::RowInput input_on(const loader::DeviceArrays& batch, const nn::Device& device,
                      nn::SparseView& sparse) {
  nn::RowInput input;
  const auto rows = [&](const void* data, int64_t count) {
    return at::from_blob(
        const_cast<void*>(data), {count, batch.cols}, {batch.stride, 1}, [](void*) {},
        at::TensorOptions(nn::scalar_type(batch.dtype)).device(device.torch()), device.torch());
  };
  if (batch.rows) {
    input.dense = rows(batch.rows, batch.num_nodes);
  } else if (batch.table) {
    input.table = rows(batch.table, batch.num_graph_nodes);
    input.ids = {batch.node_ids, static_cast<size_t>(batch.num_nodes)};
  } else if (batch.sparse_indptr) {
    sparse = {batch.num_nodes,     batch.cols,           batch.num_entries,
              batch.sparse_indptr, batch.sparse_indices, batch.sparse_values};
    input.sparse_on_device = &sparse;
  }
  return input;
}

RankDevice::RankDevice(const Job& job, int number) : job_(job) {
  device_.table = job.environment.devices;
  device_.index = job.config.devices[number];
  name_ = usable_device(*device_.table, device_.index);
  device_.queue = device_.table->open_queue(device_.index, 0, nullptr);
  try {
    device_.table->use(device_.queue);
    if (job.environment.stay_beside_devices) stay_beside(bounded(info.bus_id));
  } catch (...) {
    device_.table->close_queue(device_.queue);
    throw;
  }
}

// LibTorch's threads for devices are there by now (train/exit.cpp), and stay where they are; those
// that this one starts, its loaders' too, stay where it does.
void RankDevice::stay_beside(const std::string& bus_id) {
  const std::optional<base::NodeCores> cores = base::stay_beside(bus_id);
  if (!cores) return;
  job_.environment.log.add(
      base::LogLevel::kInfo,
      base::text("GPU ", device_.index, "'s threads stay on ",
                 cores->cores.size() == 1 ? "core " : "cores ", base::text_of_cores(cores->cores),
                 ", beside it (memory node ", cores->node, ")"));
}

RankDevice::~RankDevice() { device_.table->close_queue(device_.queue); }

std::shared_ptr<const loader::DeviceSource> RankDevice::open_source(
    const loader::LoaderConfig& training) {
  loader::DeviceSourceConfig config = job_.config.placement;
  config.table = device_.table;
  config.device = device_.index;
  config.devices = job_.config.devices;
  return loader::DeviceSource::open(config, job_.sampler, job_.store,
                                    job_.split->part(data::SplitPart::kTrain), training, nullptr);
}

std::optional<std::string> RankDevice::lost() const noexcept {
  try {
    device_.table->finished(device_.queue);
  } catch (const base::Error& error) {
    if (error.status() == base::Status::kDeviceLost) return error.what();
  }
  return std::nullopt;
}

nn::ForwardArgs args_on(const loader::Batch& batch, const nn::Device& device,
                        nn::SparseView& sparse) {
  loader::DeviceArrays& there = *batch.device;
  device.table->wait(device.queue, there.made_in);
  there.read_in = device.queue;
  return made_args_on(batch, device, sparse);
}

nn::ForwardArgs made_args_on(const loader::Batch& batch, const nn::Device& device,
                             nn::SparseView& sparse) {
  const loader::DeviceArrays& there = *batch.device;
  nn::ForwardArgs args;
  args.input = input_on(there, device, sparse);
  args.blocks = there.blocks;
  args.node_ids = {there.node_ids, static_cast<size_t>(there.num_nodes)};
  args.graph_ptr = batch.sample.graph_ptr.span();
  return args;
}

}  // namespace gnnmg::train
