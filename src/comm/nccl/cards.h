// What ranks tell each other of themselves before they call NCCL, whose own words about what does
// not fit are poor or late.
#pragma once

#include <string>
#include <vector>

#include "base/device.h"
#include "comm/nccl/table.h"

namespace gnnmg::comm::nccl {

struct Card {
  int version = 0;           // of NCCL
  std::string machine;       // the same for all processes of one
  std::string place;         // " on host b" in texts, or empty
  std::string bus_id;        // of the device
  std::string device;        // its name
  int64_t total_memory = 0;  // its bytes
};

// "2.28.9"
std::string version_text(int version);
Card make_card(const Table& nccl, const base::DeviceTable& table, int device);
std::string pack(const Card& card);
Card unpack(const std::string& bytes);

// The same error on every rank, from everyone's cards: kMismatch for different versions of NCCL,
// kDependency when it is older than `built`, kInvalidArgument when two ranks are on one GPU.
void check_cards(const std::vector<Card>& cards, int built);
// What is no error and yet worth a word: GPUs of different kinds or memory.
std::vector<std::string> remarks_on(const std::vector<Card>& cards);

}  // namespace gnnmg::comm::nccl
