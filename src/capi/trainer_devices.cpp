#include "capi/trainer_devices.h"

#include <algorithm>
#include <numeric>

#include "capi/settings.h"

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

// The GPUs that the settings name, rank by rank.
std::vector<int> named_devices(const TrainerSettings& asked, const Devices& devices) {
  if (devices.count() == 0)
    fail(Status::kDependency, "the setting `devices` names GPUs: ", devices.why(), kOnCpu);
  std::vector<int> named;
  for (const int32_t device : asked.devices) {
    devices.check(device, base::text("trainer settings: entry ", named.size(), " of devices"));
    if (std::find(named.begin(), named.end(), device) != named.end())
      fail(Status::kInvalidArgument, "trainer settings: devices=", value_text(asked.devices),
           " has GPU ", device,
           " twice: a GPU takes one rank, as NCCL refuses two and they would share its time; name "
           "each once");
    named.push_back(device);
  }
  if (asked.num_ranks != 0 && asked.num_ranks != static_cast<int32_t>(named.size()))
    fail(Status::kInvalidArgument, "num_ranks is ", asked.num_ranks, ", but devices has ",
         named.size(), " entries, one a rank; leave num_ranks 0");
  return named;
}

std::vector<int> own_share(const Devices& devices, std::span<const SeenDevices> job, int process) {
  if (!job.empty()) return device_share(job, process);
  std::vector<int> all(static_cast<size_t>(devices.count()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Says why another process of the job with the same settings cannot take GPUs; empty if all can.
std::string obstacle_elsewhere(const TrainerSettings& asked, std::span<const SeenDevices> job,
                               int process) {
  const auto needed = static_cast<size_t>(std::max(asked.num_ranks, 1));
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

DeviceChoice choose_devices(const TrainerSettings& asked, const Devices& devices,
                            std::span<const SeenDevices> job, int process) {
  if (asked.device == DeviceType::kCpu) {
    if (!asked.devices.empty())
      fail(Status::kInvalidArgument, "trainer settings: devices=", value_text(asked.devices),
           ", but device is the CPU; leave one of them out");
    return {std::max(asked.num_ranks, 1), {}, ""};
  }
  if (!asked.devices.empty()) {
    std::vector<int> named = named_devices(asked, devices);
    return {static_cast<int32_t>(named.size()), named,
            base::text("training on GPU ", list_of(named))};
  }
  std::vector<int> share = own_share(devices, job, process);
  const size_t wanted = asked.num_ranks > 0 ? static_cast<size_t>(asked.num_ranks)
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
  } else if (asked.device == DeviceType::kAuto) {
    obstacle = obstacle_elsewhere(asked, job, process);
  }
  if (obstacle.empty()) {
    share.resize(wanted);
    std::string note = base::text("training on GPU ", list_of(share));
    return {static_cast<int32_t>(wanted), std::move(share), std::move(note)};
  }
  if (asked.device == DeviceType::kCuda) {
    if (devices.count() == 0)
      fail(Status::kDependency, "config.device asks for GPUs: ", obstacle, kOnCpu);
    fail(Status::kInvalidArgument, "config.device asks for GPUs: ", obstacle,
         "; lower config.num_ranks, or leave it 0 for all GPUs");
  }
  return {std::max(asked.num_ranks, 1), {}, base::text("training on the CPU: ", obstacle)};
}

}  // namespace gnnmg::capi
