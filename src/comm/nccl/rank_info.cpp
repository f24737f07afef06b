#include "comm/nccl/rank_info.h"

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "comm/join/frame.h"
#include "comm/machine.h"
#include "comm/nccl/handle.h"

namespace gnnmg::comm::nccl {
namespace {

using base::Status;

template <size_t N>
std::string bounded(const char (&text)[N]) {
  return {text, strnlen(text, N)};
}

std::string memory_text(int64_t bytes) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  return base::text(std::round(static_cast<double>(bytes) / kGiB * 10) / 10, " GiB");
}

}  // namespace

std::string version_text(int version) {
  const int unit = version < 10'000 ? 1000 : 10'000;  // up to 2.8; later ones have two more digits
  return base::text(version / unit, ".", version % unit / 100, ".", version % 100);
}

RankInfo make_rank_info(const Table& nccl, const device::Table& table, int device) {
  RankInfo info;
  check(nccl, nccl.version(&info.version), nullptr);
  const device::Info gpu = table.info(device);
  info.machine = machine_id();
  info.bus_id = bounded(gpu.bus_id);
  info.device = bounded(gpu.name);
  info.total_memory = gpu.total_memory;
  return info;
}

std::string pack(const RankInfo& info) {
  FrameWriter out;
  out.i64(info.version);
  for (const std::string* text : {&info.machine, &info.place, &info.bus_id, &info.device})
    out.text(*text);
  out.i64(info.total_memory);
  return out.fields();
}

RankInfo unpack(const std::string& bytes) {
  FrameReader in(bytes);
  RankInfo info;
  info.version = static_cast<int>(in.i64());
  for (std::string* text : {&info.machine, &info.place, &info.bus_id, &info.device})
    *text = in.text();
  info.total_memory = in.i64();
  in.finish();
  return info;
}

void check_ranks(const std::vector<RankInfo>& ranks, int built) {
  for (size_t r = 1; r < ranks.size(); ++r)
    if (ranks[r].version != ranks[0].version)
      throw base::Error(
          Status::kMismatch,
          base::text("rendezvous: rank ", r, ranks[r].place, " has loaded NCCL ",
                     version_text(ranks[r].version), ", but rank 0", ranks[0].place, " NCCL ",
                     version_text(ranks[0].version), ": all ranks need the same version"),
          static_cast<int>(r));
  if (ranks[0].version < built)
    base::fail(Status::kDependency, "rendezvous: NCCL ", version_text(ranks[0].version),
               " is loaded, expected ", version_text(built),
               " or later; if another library of this program has brought it, let gnnmg load its "
               "own first");
  for (size_t r = 1; r < ranks.size(); ++r)
    for (size_t other = 0; other < r; ++other)
      if (ranks[r].bus_id == ranks[other].bus_id && ranks[r].machine == ranks[other].machine)
        throw base::Error(
            Status::kInvalidArgument,
            base::text("rendezvous: ranks ", other, " and ", r, " are both on the GPU at ",
                       ranks[r].bus_id, ranks[r].place, " (", ranks[r].device,
                       "): NCCL needs a GPU of its own for each rank, because its kernels wait for "
                       "each other and would never run side by side on one; start at most as many "
                       "ranks as there are GPUs"),
            static_cast<int>(r));
}

std::vector<std::string> remarks_on(const std::vector<RankInfo>& ranks) {
  const auto describe = [&](size_t r) {
    return base::text("rank ", r, ranks[r].place, " has ", ranks[r].device, " with ",
                      memory_text(ranks[r].total_memory));
  };
  std::vector<std::string> remarks;
  for (size_t r = 1; r < ranks.size(); ++r) {
    if (ranks[r].device == ranks[0].device && ranks[r].total_memory == ranks[0].total_memory)
      continue;
    remarks.push_back(base::text("GPUs differ: ", describe(0), ", ", describe(r),
                                 "; the slowest sets the pace, and mini-batches must fit the "
                                 "smallest"));
    break;
  }
  return remarks;
}

}  // namespace gnnmg::comm::nccl
