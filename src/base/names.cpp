#include "base/names.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/lower.h"

namespace gnnmg::base {
namespace {

// Insertions, deletions, replacements and swaps of neighbors that lead from one text to the other;
// the case of letters does not count.
size_t edit_distance(std::string_view from, std::string_view to) {
  const auto same = [&](size_t i, size_t j) { return lower(from[i]) == lower(to[j]); };
  std::vector<size_t> before, last, row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + !same(i - 1, j - 1)});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

size_t common_start(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) { return lower(x) == lower(y); };
  return static_cast<size_t>(std::ranges::mismatch(a, b, same).in1 - a.begin());
}

// True for "hidden_dim" and "hidden", or "num_heads" and "heads".
bool has_words_of(std::string_view name, std::string_view part) {
  return text('_', name, '_').find(text('_', part, '_')) != std::string::npos;
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

std::string meant_names(std::string_view unknown, std::span<const std::string_view> known) {
  std::string meant;
  // A slip is nearer. Of equally near names those with the same start are meant.
  size_t nearest = std::min<size_t>(3, unknown.size()), start = 0;
  for (const std::string_view name : known) {
    const size_t distance = edit_distance(unknown, name), common = common_start(unknown, name);
    const bool tied = distance == nearest && !meant.empty();
    if (distance > nearest || (distance == nearest && (!tied || common < start))) continue;
    meant = tied && common == start ? text(meant, " or '", name, "'") : text("'", name, "'");
    nearest = distance;
    start = common;
  }
  if (!meant.empty() || unknown.size() < 3) return meant;
  for (const std::string_view name : known)
    if (has_words_of(name, unknown) || has_words_of(unknown, name))
      meant = meant.empty() ? text("'", name, "'") : text(meant, " or '", name, "'");
  return meant;
}

std::string known_names(std::string_view unknown, std::span<const std::string_view> known) {
  std::string names;
  for (const std::string_view name : known) names += text(names.empty() ? "" : ", ", name);
  const std::string meant = meant_names(unknown, known);
  return meant.empty() ? text("; there are: ", names)
                       : text("; did you mean ", meant, "? There are: ", names);
}

}  // namespace gnnmg::base
