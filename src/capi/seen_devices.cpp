#include "capi/seen_devices.h"

#include <algorithm>

#include "capi/arguments.h"
#include "comm/join/frame.h"
#include "comm/machine.h"

namespace gnnmg::capi {

std::vector<SeenDevices> tell_devices(comm::Processes& processes, const Devices& own,
                                      const comm::Wait& wait) {
  comm::FrameWriter out;
  out.text(comm::machine_id());
  const std::vector<std::string> ids = own.bus_ids();
  out.u32(static_cast<uint32_t>(ids.size()));
  for (const std::string& id : ids) out.text(id);
  std::vector<SeenDevices> seen;
  for (const std::string& told : processes.gather("GPUs of the processes", out.fields(), wait)) {
    const auto process = static_cast<int>(seen.size());
    comm::FrameReader in(told);
    SeenDevices& its = seen.emplace_back();
    its.machine = in.text();
    its.process = base::text("process ", process, " on host ", processes.host(process));
    for (uint32_t left = in.count(4); left > 0; --left) its.bus_ids.push_back(in.text());
    in.finish();
  }
  return seen;
}

std::vector<int> device_share(std::span<const SeenDevices> processes, int process) {
  const SeenDevices& mine = processes[process];
  const auto sees = [](const SeenDevices& one, const std::string& id) {
    return !id.empty() && std::ranges::find(one.bus_ids, id) != one.bus_ids.end();
  };
  const auto n = static_cast<int64_t>(mine.bus_ids.size());
  int64_t sharing = 0, before = 0;
  for (int p = 0; p < static_cast<int>(processes.size()); ++p) {
    const SeenDevices& other = processes[p];
    const bool shared =
        other.machine == mine.machine &&
        std::ranges::any_of(mine.bus_ids, [&](const std::string& id) { return sees(other, id); });
    if (!shared && p != process) continue;
    if (other.bus_ids != mine.bus_ids)
      fail(Status::kInvalidArgument, processes[std::min(process, p)].process, " and ",
           processes[std::max(process, p)].process,
           " see some of the same GPUs, but not the same list; give all of them the same "
           "CUDA_VISIBLE_DEVICES, or each its own GPUs, or name them in the setting `devices`");
    ++sharing;
    before += p < process;
  }
  std::vector<int> share;
  for (int64_t i = before * n / sharing; i < (before + 1) * n / sharing; ++i)
    share.push_back(static_cast<int>(i));
  return share;
}

}  // namespace gnnmg::capi
