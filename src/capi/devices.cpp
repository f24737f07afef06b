#include "capi/devices.h"

#include <cstdlib>

#include "base/error.h"
#include "capi/arguments.h"
#include "capi/context.h"
#include "comm/nccl/table.h"
#include "device/exit.h"
#include "device/plugin.h"
#include "device/wait.h"

namespace gnnmg::capi {
namespace {

constexpr int64_t kLongestCopy = 60'000;  // milliseconds

// Returns the number of GPUs that the driver shows this process; if 0, `why` gets the reason.
int ask(const device::Table& table, std::string& why) {
  try {
    const int count = table.num_devices();
    if (count > 0) return count;
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    why = visible == nullptr ? std::string(
                                   "the NVIDIA driver shows this process no GPU; nvidia-smi lists "
                                   "those of the machine, and a "
                                   "container has to be given them")
                             : base::text(
                                   "the NVIDIA driver shows this process no GPU, for the variable "
                                   "CUDA_VISIBLE_DEVICES is '",
                                   visible, "'; unset it, or name the GPUs that nvidia-smi lists");
  } catch (const base::Error& error) {
    why = error.what();
  }
  return 0;
}

}  // namespace

Devices::Devices() {
  if (!device::has_driver()) {
    why_ =
        "this machine has no NVIDIA driver (there is no libcuda.so.1); GPUs need one for CUDA 13, "
        "580 "
        "or newer";
    return;
  }
  const device::Plugin& plugin = device::open_plugin();
  table_ = plugin.table;
  why_ = plugin.why;
  if (table_ != nullptr) device::watch_exit();  // the libraries that it has opened exist
}

Devices::~Devices() {
  if (queues_.empty()) return;
  const device::Use use;
  if (!use) return;  // the program ends
  for (const auto& [device, queue] : queues_)
    if (device::drain(*table_, queue, {}))
      table_->close_queue(queue);
    else
      try {
        device::free_in_background([table = table_, device = device, queue = queue] {
          device::wait_to_free(*table, device, queue);
          table->close_queue(queue);
        });
      } catch (const std::exception&) {  // no memory for a thread: the queue stays
      }
}

void Devices::copy(int device, void* to, const void* from, int64_t bytes) const {
  if (bytes == 0) return;
  const device::Use use;
  use.require();
  device::check_not_quarantined(*table(), device);
  const device::TimeoutScope patience(kLongestCopy, base::CancelToken());
  const std::lock_guard lock(copies_);
  auto found = queues_.find(device);
  if (found == queues_.end())
    found = queues_.emplace(device, table()->open_queue(device, 0, nullptr)).first;
  table()->copy(found->second, to, from, bytes);
  try {
    device::wait_for(*table(), device, found->second);
  } catch (const base::Error& error) {
    if (error.status() == Status::kTimeout)
      device::quarantine(
          *table(), device,
          base::text("has not come to the end of a copy within ", kLongestCopy / 1000, " s"));
    throw;
  }
}

int Devices::count() const {
  if (table_ == nullptr) return 0;
  std::call_once(asked_, [this] { count_ = ask(*table_, why_); });
  return count_;
}

const std::string& Devices::why() const {
  count();
  return why_;
}

std::vector<std::string> Devices::bus_ids() const {
  std::vector<std::string> ids;
  const device::Use use;
  use.require();
  for (int device = 0; device < count(); ++device) try {
      char id[16] = {};
      if (table_->of<comm::nccl::Table>()) table_->of<comm::nccl::Table>()->bus_id(device, id);
      ids.emplace_back(id);
    } catch (const base::Error&) {  // the use of that GPU reports the error
      ids.emplace_back();
    }
  return ids;
}

void Devices::check(int64_t index, const std::string& name) const {
  const int n = count();
  if (index >= 0 && index < n) return;
  if (n == 0) fail(Status::kNotFound, name, " is ", index, ", but there is no GPU: ", why());
  fail(Status::kNotFound, name, " is ", index, ", but this process sees ", n,
       n == 1 ? " GPU, number 0" : base::text(" GPUs, 0 to ", n - 1));
}

}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_context_num_devices(const gnnmg_context* context, int64_t* count,
                                       const char** why) {
  if (why != nullptr) *why = nullptr;
  return guard(outs(Out{count, "count"}), [&] {
    const auto c = find<Context>(context, "context");
    *count = c->devices.count();
    if (why != nullptr) *why = c->devices.why().c_str();
  });
}

gnnmg_status gnnmg_context_get_device_info(const gnnmg_context* context, int64_t index,
                                           gnnmg_device_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto c = find<Context>(context, "context");
    use_devices();
    c->devices.check(index, "argument 'index'");
    gnnmg::device::check_not_quarantined(*c->devices.table(), static_cast<int>(index));
    const gnnmg::device::Info found = c->devices.table()->info(static_cast<int>(index));
    gnnmg_device_info facts{};
    facts.device_type = GNNMG_DEVICE_CUDA;
    copy_text(found.name, facts.name, sizeof facts.name);
    copy_text(found.bus_id, facts.bus_id, sizeof facts.bus_id);
    facts.total_memory = static_cast<size_t>(found.total_memory);
    facts.free_memory = static_cast<size_t>(found.free_memory);
    facts.capability_major = found.major;
    facts.capability_minor = found.minor;
    facts.multiprocessors = found.multiprocessors;
    facts.driver_version = found.driver_version;
    facts.runtime_version = found.runtime_version;
    give(info, facts);
  });
}

}  // extern "C"
