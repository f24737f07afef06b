// Descriptions of ranks and their GPUs, exchanged before the first call of NCCL: NCCL's own errors
// about unsuitable ranks are vague or late.
#pragma once

#include <string>
#include <vector>

#include "comm/nccl/table.h"
#include "device/table.h"

namespace gnnmg::comm::nccl {

struct RankInfo {
  int version = 0;           // NCCL's
  std::string machine;       // the same for all processes of one machine
  std::string place;         // " on host b" in texts, or empty
  std::string bus_id;        // PCI address of the device
  std::string device;        // name of the device
  int64_t total_memory = 0;  // bytes of the device
};

// "2.28.9"
std::string version_text(int version);
RankInfo make_rank_info(const Table& nccl, const device::Table& table, int device);
std::string pack(const RankInfo& info);
RankInfo unpack(const std::string& bytes);

// Checks all ranks and throws the same error on every rank: kMismatch for different
// versions of NCCL, kDependency for one older than `built`, kInvalidArgument for two ranks on one
// GPU.
void check_ranks(const std::vector<RankInfo>& ranks, int built);
// Findings for the log that are no errors: GPUs of different kinds or memory sizes.
std::vector<std::string> remarks_on(const std::vector<RankInfo>& ranks);

}  // namespace gnnmg::comm::nccl
