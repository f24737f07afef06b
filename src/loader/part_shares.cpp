#include "loader/part_shares.h"

#include <algorithm>

namespace gnnmg::loader {
namespace {

constexpr int32_t kNobody = -1;

// Mini-batch number `index` of `count` in a part.
struct Place {
  int64_t index = 0;
  int64_t count = 0;
  uint16_t part = 0;

  bool operator<(const Place& other) const {
    const auto own = static_cast<unsigned __int128>(2 * index + 1) * other.count;
    const auto others = static_cast<unsigned __int128>(2 * other.index + 1) * count;
    return own != others ? own < others : part < other.part;
  }
};

}  // namespace

std::vector<std::vector<int64_t>> ids_by_part(std::span<const int64_t> ids,
                                              const partition::Book& book) {
  std::vector<uint16_t> parts(ids.size());
  book.parts_of(ids, parts);
  std::vector<std::vector<int64_t>> lists(static_cast<size_t>(book.num_parts()));
  for (size_t i = 0; i < ids.size(); ++i) lists[parts[i]].push_back(ids[i]);
  return lists;
}

std::vector<uint16_t> spread_evenly(std::span<const int64_t> counts) {
  std::vector<Place> places;
  for (size_t part = 0; part < counts.size(); ++part)
    for (int64_t index = 0; index < counts[part]; ++index)
      places.push_back({index, counts[part], static_cast<uint16_t>(part)});
  std::sort(places.begin(), places.end());
  std::vector<uint16_t> parts;
  parts.reserve(places.size());
  for (const Place& place : places) parts.push_back(place.part);
  return parts;
}

std::vector<int32_t> ranks_of_batches(std::span<const uint16_t> parts, int32_t world_size,
                                      std::span<const int32_t> process_of_rank,
                                      std::span<const int32_t> process_of_part) {
  const auto process_of = [&](int32_t rank) {
    return process_of_rank.empty() ? rank : process_of_rank[rank];
  };
  const int32_t processes =
      process_of_rank.empty() ? world_size : 1 + std::ranges::max(process_of_rank);
  const auto count = static_cast<int64_t>(parts.size());
  std::vector<int64_t> left(world_size);  // number of mini-batches that each rank still takes
  std::vector<std::vector<int32_t>> ranks_of_process(processes);
  for (int32_t rank = 0; rank < world_size; ++rank) {
    left[rank] = count > rank ? (count - rank - 1) / world_size + 1 : 0;
    ranks_of_process[process_of(rank)].push_back(rank);
  }
  std::vector<int32_t> ranks(parts.size(), kNobody);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::vector<int32_t>& near =
        ranks_of_process[process_near(parts[i], processes, process_of_part)];
    const auto most = std::ranges::max_element(near, {}, [&](int32_t rank) { return left[rank]; });
    if (most == near.end() || left[*most] == 0) continue;
    ranks[i] = *most;
    --left[*most];
  }
  int32_t next = 0;
  for (int32_t& rank : ranks) {
    if (rank != kNobody) continue;
    while (left[next] == 0) ++next;
    rank = next;
    --left[next];
  }
  return ranks;
}

}  // namespace gnnmg::loader
