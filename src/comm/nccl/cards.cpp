#include "comm/nccl/cards.h"

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
  return base::text(
      static_cast<double>(static_cast<int64_t>(static_cast<double>(bytes) / kGiB * 10 + 0.5)) / 10,
      " GiB");
}

}  // namespace

std::string version_text(int version) {
  const int unit = version < 10'000 ? 1000 : 10'000;  // up to 2.8; later ones have two more digits
  return base::text(version / unit, ".", version % unit / 100, ".", version % 100);
}

Card make_card(const Table& nccl, const base::DeviceTable& table, int device) {
  Card card;
  check(nccl, nccl.version(&card.version), nullptr);
  const base::DeviceInfo info = table.info(device);
  card.machine = machine_id();
  card.bus_id = bounded(info.bus_id);
  card.device = bounded(info.name);
  card.total_memory = info.total_memory;
  return card;
}

std::string pack(const Card& card) {
  FrameWriter out;
  out.i64(card.version);
  for (const std::string* text : {&card.machine, &card.place, &card.bus_id, &card.device})
    out.text(*text);
  out.i64(card.total_memory);
  return out.fields();
}

Card unpack(const std::string& bytes) {
  FrameReader in(bytes);
  Card card;
  card.version = static_cast<int>(in.i64());
  for (std::string* text : {&card.machine, &card.place, &card.bus_id, &card.device})
    *text = in.text();
  card.total_memory = in.i64();
  in.finish();
  return card;
}

void check_cards(const std::vector<Card>& cards, int built) {
  for (size_t r = 1; r < cards.size(); ++r)
    if (cards[r].version != cards[0].version)
      throw base::Error(
          Status::kMismatch,
          base::text("rendezvous: rank ", r, cards[r].place, " has loaded NCCL ",
                     version_text(cards[r].version), ", but rank 0", cards[0].place, " NCCL ",
                     version_text(cards[0].version), ": all ranks need the same version"),
          static_cast<int>(r));
  if (cards[0].version < built)
    base::fail(Status::kDependency, "rendezvous: NCCL ", version_text(cards[0].version),
               " is loaded, expected ", version_text(built),
               " or later; if another library of this program has brought it, let gnnmg load its "
               "own first");
  for (size_t r = 1; r < cards.size(); ++r)
    for (size_t other = 0; other < r; ++other)
      if (cards[r].bus_id == cards[other].bus_id && cards[r].machine == cards[other].machine)
        throw base::Error(
            Status::kInvalidArgument,
            base::text("rendezvous: ranks ", other, " and ", r, " are both on the GPU at ",
                       cards[r].bus_id, cards[r].place, " (", cards[r].device,
                       "): NCCL needs a GPU of its own for each rank, because its kernels wait for "
                       "each other and would never run side by side on one; start at most as many "
                       "ranks as there are GPUs"),
            static_cast<int>(r));
}

std::vector<std::string> remarks_on(const std::vector<Card>& cards) {
  const auto describe = [&](size_t r) {
    return base::text("rank ", r, cards[r].place, " has ", cards[r].device, " with ",
                      memory_text(cards[r].total_memory));
  };
  std::vector<std::string> remarks;
  for (size_t r = 1; r < cards.size(); ++r) {
    if (cards[r].device == cards[0].device && cards[r].total_memory == cards[0].total_memory)
      continue;
    remarks.push_back(base::text("GPUs differ: ", describe(0), ", ", describe(r),
                                 "; the slowest sets the pace, and mini-batches must fit the "
                                 "smallest"));
    break;
  }
  return remarks;
}

}  // namespace gnnmg::comm::nccl
