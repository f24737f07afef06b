#include "comm/nccl/settings.h"

#include <ifaddrs.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <vector>

#include "comm/nccl/engine.h"

namespace gnnmg::comm::nccl {
namespace {

using base::Status;

constexpr const char* kInterface = "NCCL_SOCKET_IFNAME";

// Interfaces of this machine with an address that NCCL can use.
std::vector<std::string> interface_names() {
  std::vector<std::string> names;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return names;
  for (const ifaddrs* each = all; each; each = each->ifa_next) {
    const int family = each->ifa_addr ? each->ifa_addr->sa_family : AF_UNSPEC;
    if (family != AF_INET && family != AF_INET6) continue;
    if (std::ranges::find(names, each->ifa_name) == names.end()) names.emplace_back(each->ifa_name);
  }
  freeifaddrs(all);
  return names;
}

std::string join(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += base::text(out.empty() ? "" : ", ", name);
  return out;
}

// The error text if the variable excludes every interface of this machine.
std::optional<std::string> wrong_interface(int rank, const char* wanted) {
  const std::vector<std::string> names = interface_names();
  if (names.empty() || fits_interface(wanted, names)) return std::nullopt;
  return base::text(kInterface, "='", wanted, "' fits no network interface of rank ", rank,
                    "'s machine, which has ", join(names), ": name one of them, or unset it");
}

}  // namespace

void check_environment(int num_local) {
  const char* mode = std::getenv("NCCL_LAUNCH_MODE");
  if (mode && num_local > 1 && strcasecmp(mode, "GROUP") == 0)
    base::fail(Status::kInvalidArgument, "NCCL_LAUNCH_MODE=", mode,
               " in the environment or NCCL's own configuration file makes NCCL start the kernels "
               "of a process's ranks together, and wait for a rank that has failed where no "
               "deadline or cancel could end it: unset it, or set it to PARALLEL");
  const char* value = std::getenv("NCCL_COMM_BLOCKING");
  if (value && std::strtoll(value, nullptr, 0) == 1)
    base::fail(Status::kInvalidArgument, "NCCL_COMM_BLOCKING=", value,
               " in the environment or NCCL's own configuration file makes NCCL wait inside its "
               "calls, where no deadline, cancel or lost rank could end it: unset it, or set it "
               "to 0");
}

bool fits_interface(const std::string& wanted, std::span<const std::string> names) {
  std::string list = wanted;
  const bool none_of = list.starts_with('^');
  if (none_of) list.erase(0, 1);
  const bool whole = list.starts_with('=');
  if (whole) list.erase(0, 1);
  std::vector<std::string> entries;
  std::istringstream in(list);
  for (std::string entry; std::getline(in, entry, ',');)
    if (entry = entry.substr(0, entry.find(':')); !entry.empty()) entries.push_back(entry);
  if (entries.empty()) return true;
  return std::ranges::any_of(names, [&](const std::string& name) {
    const bool named = std::ranges::any_of(entries, [&](const std::string& entry) {
      return whole ? name == entry : name.starts_with(entry);
    });
    return named != none_of;
  });
}

base::Error start_error(int rank, const Failure& failure, const device::Table& table, int device) {
  const std::string what =
      base::text("rendezvous: NCCL cannot start on rank ", rank, ": ", failure.what());
  const char* wanted = std::getenv(kInterface);
  if (wanted && *wanted)
    if (const auto wrong = wrong_interface(rank, wanted))
      return {Status::kUnavailable, base::text(what, "; ", *wrong), rank};
  if (failure.result() == Result::kUnhandledCudaError) {
    try {
      const device::Info info = table.info(device);
      constexpr int64_t kLittle = int64_t{1} << 29, kMiB = 1 << 20;  // NCCL's possible need
      if (info.free_memory < kLittle)
        return {
            Status::kNoMemory,
            base::text(what, "; its GPU ", device, " has only ", info.free_memory / kMiB, " of ",
                       info.total_memory / kMiB, " MiB free: does another program use it?"),
            rank};
    } catch (const base::Error& error) {
      if (error.status() == Status::kDeviceLost)
        return {Status::kDeviceLost, base::text("rank ", rank, ": its GPU is lost: ", error.what()),
                rank};
    }
    return {status_of(failure.result()),
            base::text(what,
                       "; if GPUs may not read each other's memory (containers of "
                       "their own, virtual machines), set NCCL_P2P_DISABLE=1 in all "
                       "processes; NCCL_DEBUG=WARN has NCCL say more"),
            rank};
  }
  return {status_of(failure.result()),
          base::text(what, wanted && *wanted
                               ? base::text("; is ", kInterface, "='", wanted,
                                            "' the network interface by which it reaches the "
                                            "others?")
                               : base::text("; if it cannot reach the others, name the right "
                                            "network interface in ",
                                            kInterface)),
          rank};
}

}  // namespace gnnmg::comm::nccl
