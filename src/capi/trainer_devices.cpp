#include "capi/trainer_devices.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "capi/arguments.h"

namespace gnnmg::capi {
namespace {

constexpr const char* kOnCpu = "; set config.device to GNNMG_DEVICE_CPU to train without";

std::string list_of(std::span<const int> devices) {
  std::string text;
  for (const int device : devices) text += base::text(text.empty() ? "" : ", ", device);
  return text;
}

std::string gpus(size_t count) {
  if (count == 0) return "no GPU";
  return count == 1 ? std::string("1 GPU") : base::text(count, " GPUs");
}

// The GPUs that the config names, rank by rank.
std::vector<int> named_devices(const gnnmg_trainer_config& config, const Devices& devices) {
  if (devices.count() == 0)
    fail(Status::kDependency, "config.devices names GPUs: ", devices.why(), kOnCpu);
  std::vector<int> named;
  for (int32_t i = 0; i < config.num_devices; ++i) {
    const int32_t device = config.devices[i];
    devices.check(device, base::text("config.devices[", i, "]"));
    const auto before = std::find(named.begin(), named.end(), device);
    if (before != named.end())
      fail(Status::kInvalidArgument, "config.devices[", before - named.begin(), "] and [", i,
           "] are both GPU ", device,
           ": a GPU takes one rank, as NCCL refuses two and they would share its time; name each "
           "once");
    named.push_back(device);
  }
  if (config.num_ranks != 0 && config.num_ranks != config.num_devices)
    fail(Status::kInvalidArgument, "config.num_ranks is ", config.num_ranks,
         ", but config.devices has ", config.num_devices,
         " entries, one a rank; leave num_ranks 0");
  return named;
}

std::vector<int> own_share(const Devices& devices, std::span<const SeenDevices> job, int process) {
  if (!job.empty()) return device_share(job, process);
  std::vector<int> all(static_cast<size_t>(devices.count()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Why another process of the job, with the same settings, cannot take GPUs; empty: none.
std::string obstacle_elsewhere(const gnnmg_trainer_config& config, std::span<const SeenDevices> job,
                               int process) {
  const auto needed = static_cast<size_t>(std::max(config.num_ranks, 1));
  for (int p = 0; p < static_cast<int>(job.size()); ++p) {
    if (p == process) continue;
    const size_t its = device_share(job, p).size();
    if (its < needed)
      return base::text(job[p].process, " has ", gpus(its), " for ", needed,
                        needed == 1 ? " rank" : " ranks");
  }
  return {};
}

}  // namespace

DeviceChoice choose_devices(const gnnmg_trainer_config& config, const Devices& devices,
                            std::span<const SeenDevices> job, int process) {
  GNNMG_CHECK_CONSTANT(config.device, GNNMG_DEVICE_AUTO, GNNMG_DEVICE_CUDA, "config.device");
  check_choice(config.num_devices, 0, static_cast<int32_t>(std::size(config.devices)),
               "config.num_devices");
  if (config.device == GNNMG_DEVICE_CPU) {
    if (config.num_devices > 0)
      fail(Status::kInvalidArgument, "config.num_devices is ", config.num_devices,
           ", but config.device is GNNMG_DEVICE_CPU; leave one of them 0");
    return {std::max(config.num_ranks, 1), {}, ""};
  }
  if (config.num_devices == 0 && std::ranges::any_of(config.devices, [](int d) { return d != 0; }))
    fail(Status::kInvalidArgument,
         "config.devices names GPUs, but config.num_devices is 0; set it to how many there are");
  if (config.num_devices > 0) {
    std::vector<int> named = named_devices(config, devices);
    return {config.num_devices, named, base::text("training on GPU ", list_of(named))};
  }
  std::vector<int> share = own_share(devices, job, process);
  const size_t wanted = config.num_ranks > 0 ? static_cast<size_t>(config.num_ranks)
                                             : std::max<size_t>(share.size(), 1);
  std::string obstacle;
  if (devices.count() == 0) {
    obstacle = devices.why();
  } else if (wanted > share.size()) {
    const bool shares = static_cast<int>(share.size()) < devices.count();
    obstacle = base::text(wanted, wanted == 1 ? " rank" : " ranks", " and ", gpus(share.size()),
                          shares ? base::text(" of the ", devices.count(), " that it sees, which ",
                                              "other processes see too")
                                 : "",
                          ", and a GPU takes one rank");
  } else if (config.device == GNNMG_DEVICE_AUTO) {
    obstacle = obstacle_elsewhere(config, job, process);
  }
  if (obstacle.empty()) {
    share.resize(wanted);
    std::string note = base::text("training on GPU ", list_of(share));
    return {static_cast<int32_t>(wanted), std::move(share), std::move(note)};
  }
  if (config.device == GNNMG_DEVICE_CUDA) {
    if (devices.count() == 0)
      fail(Status::kDependency, "config.device asks for GPUs: ", obstacle, kOnCpu);
    fail(Status::kInvalidArgument, "config.device asks for GPUs: ", obstacle,
         "; lower config.num_ranks, or leave it 0 for all GPUs");
  }
  return {std::max(config.num_ranks, 1), {}, base::text("training on the CPU: ", obstacle)};
}

}  // namespace gnnmg::capi
