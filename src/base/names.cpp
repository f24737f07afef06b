#include "base/names.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"

namespace gnnmg::base {
namespace {

// Insertions, deletions, replacements and swaps of neighbors that lead from one text to the other.
size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<size_t> before, last, row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (from[i - 1] != to[j - 1])});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

bool matches(std::string_view name, std::string_view pattern) {
  size_t at = 0, in_pattern = 0;
  size_t star = std::string_view::npos, after_star = 0;  // the last one, and where its text ends
  while (at < name.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      after_star = at;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == name[at]) {
      ++in_pattern;
      ++at;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      at = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

std::string known_names(std::string_view unknown, std::span<const std::string_view> known) {
  std::string names, meant;
  size_t nearest = std::min<size_t>(3, unknown.size());  // a slip is nearer
  for (const std::string_view name : known) {
    names += text(names.empty() ? "" : ", ", name);
    const size_t distance = edit_distance(unknown, name);
    if (distance >= nearest) continue;
    nearest = distance;
    meant = text("; did you mean '", name, "'?");
  }
  return text(meant, meant.empty() ? "; there are: " : " There are: ", names);
}

}  // namespace gnnmg::base
