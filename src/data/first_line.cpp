#include "data/first_line.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace gnnmg::data {
namespace {

struct Ends {
  int64_t first = 0;                                               // the first line's
  int64_t least = std::numeric_limits<int64_t>::max(), most = -1;  // the others'
};

Ends look_at(const IdColumn& column) {
  Ends ends;
  bool begun = false;
  column.for_each([&](int64_t id) {
    if (!begun) {
      ends.first = id;
      begun = true;
      return;
    }
    ends.least = std::min(ends.least, id);
    ends.most = std::max(ends.most, id);
  });
  return ends;
}

}  // namespace

bool may_count(const IdColumn& sources, const IdColumn& targets) {
  const int64_t others = sources.size() - 1;
  if (others < 1) return false;
  const Ends source = look_at(sources), target = look_at(targets);
  const int64_t least = std::min(source.least, target.least);
  const int64_t most = std::max(source.most, target.most);
  const auto [fewer, more] = std::minmax(source.first, target.first);
  if (more > most) return fewer > 0;
  // True if one number counts the nodes, and the other the edges.
  const auto are_counts = [&](int64_t nodes, int64_t edges) {
    const bool alike =
        edges == others + 1 || std::max(edges, others) - std::min(edges, others) <= others / 4;
    return nodes == most && alike;
  };
  return least == 1 &&
         (are_counts(source.first, target.first) || are_counts(target.first, source.first));
}

bool may_name_columns(const IdColumn& sources, const IdColumn& targets) {
  const Ends source = look_at(sources), target = look_at(targets);
  // Nodes 0 and 1 are those of the first line.
  return sources.size() > 1 && target.first == 1 && std::min(source.least, target.least) > 1;
}

bool repeats_first(const IdColumn& sources, const IdColumn& targets) {
  for (int64_t i = 1; i < sources.size(); ++i)
    if (sources.at(i) == sources.at(0) && targets.at(i) == targets.at(0)) return true;
  return false;
}

bool may_count_entries(const IdColumn& sources, const IdColumn& targets, int64_t third) {
  if (sources.size() < 2 || third != sources.size() - 1) return false;
  const Ends source = look_at(sources), target = look_at(targets);
  return source.least >= 1 && target.least >= 1 && source.most <= source.first &&
         target.most <= target.first;
}

bool may_number_lines(const IdColumn& sources, const IdColumn& targets) {
  const int64_t count = sources.size(), first = count > 0 ? sources.at(0) : -1;
  if (count == 0) return false;
  int64_t along = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (sources.at(i) != first + i) return false;
    const int64_t step = targets.at(i) - sources.at(i);
    along += step == 1 || step == -1;
  }
  return 2 * along < count;
}

}  // namespace gnnmg::data
