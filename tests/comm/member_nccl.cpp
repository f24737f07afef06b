// Members over NCCL: the fake one, with host GPUs per process, or the real one if GNNMG_TEST_PLUGIN
// names the plug-in.
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "comm/collective_checks.h"
#include "comm/device_buffer.h"
#include "comm/member_engine.h"
#include "comm/nccl/thread_group.h"
#include "comm/ranks.h"
#include "device/plugin.h"
#include "fake_gpu/fake_gpu.h"
#include "fake_nccl/fake_nccl.h"

namespace gnnmg::test::member {
namespace {

int64_t number_of(const char* variable, int64_t otherwise) {
  const char* value = std::getenv(variable);
  return value ? std::atoll(value) : otherwise;
}

const device::Table* the_table = nullptr;
const comm::nccl::Table* the_nccl = nullptr;
int the_first = 0;

// Returns this process's devices, as indices of the table.
std::vector<int> own_devices(int first_device, int num_ranks) {
  int first = static_cast<int>(number_of("GNNMG_TEST_FIRST_GPU", first_device));
  if (const char* plugin = std::getenv("GNNMG_TEST_PLUGIN")) {
    static const device::Plugin opened = device::open_plugin_at(plugin);
    if (!opened.table) base::fail(base::Status::kDependency, opened.why);
    the_table = opened.table;
    the_nccl = the_table->of<comm::nccl::Table>();
  } else {
    fake_gpu::set_devices(num_ranks, std::exchange(first, 0));
    if (const int64_t gib = number_of("GNNMG_TEST_GPU_GIB", 0); gib > 0)
      fake_gpu::set_memory(0, gib << 30);
    the_table = &fake_gpu::devices();
    the_nccl = &fake_nccl::table(*the_table);
  }
  std::vector<int> devices(static_cast<size_t>(num_ranks));
  std::iota(devices.begin(), devices.end(), first);
  return devices;
}

}  // namespace

std::shared_ptr<comm::Processes> join(const comm::JoinConfig& config, const comm::Wait& wait) {
  return comm::Processes::join(config, wait);
}

std::shared_ptr<comm::ThreadGroup> make_group(const std::shared_ptr<comm::Processes>& job,
                                              int num_ranks, int first_device,
                                              const comm::Wait& wait) {
  const std::vector<int> devices = own_devices(first_device, num_ranks);
  auto group = comm::nccl::make_group(job, {}, *the_nccl, *the_table, devices, wait);
  the_first = devices[0] - group->first_rank();
  return group;
}

void warm_up() {}

void check_everything(comm::Collectives& comm) {
  for (const int64_t count : {1, 1000, 70'001})
    check_collectives(comm, count, [] { return within_ms(60'000); });
  check_queued(comm, *the_table, the_first + comm.rank(), [] { return within_ms(60'000); });
}

}  // namespace gnnmg::test::member
