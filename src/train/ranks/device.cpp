#include "train/ranks/device.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <cstring>

#include "device/affinity.h"
#include "device/launch_order.h"
#include "device/wait.h"
#include "nn/torch/tensor.h"
#include "train/ranks/exit.h"

namespace gnnmg::train {
namespace {

template <size_t N>
std::string bounded(const char (&text)[N]) {
  return {text, strnlen(text, N)};
}

c10::DeviceAllocator* allocator_of(const device::Table& table) {
  c10::Allocator* all = c10::GetAllocator(static_cast<c10::DeviceType>(table.torch_device_type));
  return dynamic_cast<c10::DeviceAllocator*>(all);
}

// Unused bytes in LibTorch's cache of a device.
int64_t kept_by_torch(const device::Table& table, int device) {
  c10::DeviceAllocator* const own = allocator_of(table);
  if (!own) return 0;
  const auto stats = own->getDeviceStats(static_cast<c10::DeviceIndex>(device));
  constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return stats.reserved_bytes[kAll].current - stats.allocated_bytes[kAll].current;
}

}  // namespace

std::string usable_device(const device::Table& table, int index) {
  device::check_not_quarantined(table, index);
  const device::Info info = table.info(index);
  std::string name =
      base::text("GPU ", index, " (", bounded(info.name), " at ", bounded(info.bus_id), ")");
  if (info.major < 8)
    base::fail(base::Status::kUnsupported, name, " has compute capability ", info.major, ".",
               info.minor, ", and 8.0 or later is needed; train on other GPUs, or on the CPU");
  return name;
}

void empty_cache(const device::Table& table) noexcept {
  if (device::any_quarantined(table)) return;  // emptyCache() would wait for that device
  const device::MemoryCall call;
  try {
    if (c10::DeviceAllocator* own = allocator_of(table)) own->emptyCache();
  } catch (const std::exception&) {  // a lost device has nothing to return
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
  device_.queue = device_.table->open_urgent_queue(device_.index);
  try {
    device_.table->use(device_.queue);
    sends_ = std::make_unique<Sends>(device_);
    watch_exit();  // called once CUDA has made its own objects
    if (job.environment.stay_beside_devices)
      stay_beside(bounded(device_.table->info(device_.index).bus_id));
  } catch (...) {
    sends_.reset();
    device_.table->close_queue(device_.queue);
    throw;
  }
}

// LibTorch's threads for devices exist by now (exit.cpp) and keep their cores; threads that this
// one starts, also its loaders', share its cores.
void RankDevice::stay_beside(const std::string& bus_id) {
  const std::optional<device::NodeCores> cores = device::stay_beside(bus_id);
  if (!cores) return;
  job_.environment.log.add(
      base::LogLevel::kInfo,
      base::text("GPU ", device_.index, "'s threads stay on ",
                 cores->cores.size() == 1 ? "core " : "cores ", device::text_of_cores(cores->cores),
                 ", beside it (memory node ", cores->node, ")"));
}

RankDevice::~RankDevice() {
  device::wait_to_free(*device_.table, device_.index, device_.queue);
  sends_.reset();
  device_.table->close_queue(device_.queue);
}

std::shared_ptr<const loader::DeviceSource> RankDevice::open_source(
    const loader::LoaderConfig& training, int num_gpus) {
  const device::Info info = device_.table->info(device_.index);
  MemoryRequest request = memory_request(job_, num_gpus, reserve_beside_driver(info.total_memory));
  loader::DeviceSourceConfig config = job_.config.placement;
  config.table = device_.table;
  config.device = device_.index;
  config.devices = job_.config.devices;
  config.gather_pinned = true;
  const MemoryPlan wanted = plan_memory(request, info.free_memory);
  config.kept = wanted.working() + wanted.reserve;
  const std::shared_ptr<const loader::DeviceSource> source =
      loader::DeviceSource::open(config, job_.sampler, job_.store,
                                 job_.split->part(data::SplitPart::kTrain), training, nullptr);
  request.placement.graph = source->graph();
  request.placement.features = source->features();
  plan_ = plan_memory(request, info.free_memory);
  reserve(plan_);
  return source;
}

std::string RankDevice::why_no_capture() const {
  if (plan_.capture == plan_.capture_wanted) return {};
  return base::text("padded they take up to ", plan_.capture_wanted,
                    " bytes more, and all else takes ", plan_.total, " of ", plan_.memory,
                    " that were free");
}

void RankDevice::reserve(const MemoryPlan& plan) {
  // LibTorch's allocator grows during passes. At that time no other rank of the training has a
  // kernel that waits for one of this process's (comm/nccl/runner.h), and the allocator waits for
  // other trainings (device/launch_order.h).
  if (!plan.bounded) return;
  const int64_t transient = std::max(plan.pass, plan.evaluation);
  // The copy of the parameters is not done yet; that of the optimizer's state is.
  const int64_t of_torch = transient + plan.parameters / 3;
  const int64_t capture = job_.config.capture == Capture::kOn ? plan.capture : 0;
  const int64_t needed = capture + plan.sampler + plan.rows + plan.communication + plan.reserve +
                         of_torch -
                         std::min(kept_by_torch(*device_.table, device_.index), of_torch);
  const int64_t free = device_.table->info(device_.index).free_memory;
  const auto refuse = [&](const std::string& found) {
    base::fail(base::Status::kNoMemory, name_,
               " has no room for the training, which takes at most ", plan.total, " bytes (",
               list_parts(plan), "): ", found, "; ", remedies(plan));
  };
  if (needed > free)
    refuse(base::text(needed, " of them are still to come, and ", free, " are free"));
  try {
    set_aside(transient);
  } catch (const c10::OutOfMemoryError&) {
    refuse(base::text("another program has taken what was free"));
  }
}

void RankDevice::set_aside_for_evaluations() const {
  if (plan_.bounded) set_aside(plan_.evaluation);
}

// The memory goes back to the allocator at once, which cuts later tensors out of it.
void RankDevice::set_aside(int64_t bytes) const {
  (void)at::empty({bytes}, at::TensorOptions(at::kByte).device(device_.torch()));
}

std::optional<base::Error> RankDevice::lost() const noexcept {
  try {
    device_.table->finished(device_.queue);
  } catch (base::Error& error) {
    if (error.status() == base::Status::kDeviceLost) return std::move(error);
  } catch (const std::exception&) {  // no memory for the text: state unknown
  }
  return std::nullopt;
}

void receive(const loader::Batch& batch, const nn::Device& device) {
  loader::DeviceArrays& there = *batch.device;
  device.table->wait(device.queue, there.made_in);
  there.read_in = device.queue;
}

nn::ForwardArgs args_on(const loader::Batch& batch, const nn::Device& device,
                        nn::SparseView& sparse) {
  receive(batch, device);
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
