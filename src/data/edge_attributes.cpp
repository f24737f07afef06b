#include "data/edge_attributes.h"

#include <algorithm>

#include "io/fields.h"

namespace gnnmg::data {
namespace {

constexpr std::string_view kOpening = "([{", kClosing = ")]}";

// The end of a name or value: the first of `ends` outside of quotes and brackets; npos if none.
size_t end_of_item(std::string_view text, std::string_view ends) {
  char quote = 0;
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == '\\') ++at;
      if (c == quote) quote = 0;
    } else if (depth == 0 && ends.find(c) != ends.npos) {
      return at;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (kOpening.find(c) != kOpening.npos) {
      ++depth;
    } else if (kClosing.find(c) != kClosing.npos) {
      --depth;
    }
  }
  return std::string_view::npos;
}

std::string_view without_quotes(std::string_view text) {
  text = io::trim_blanks(text);
  const bool quoted =
      text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0];
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// The number of "np.float64(2.5)", as NumPy 2 prints its scalars.
std::string_view without_type(std::string_view text) {
  const size_t open = text.find('(');
  const bool typed = text.starts_with("np.") && text.ends_with(')') && open != text.npos;
  return typed ? text.substr(open + 1, text.size() - open - 2) : text;
}

}  // namespace

std::string_view take_attributes(std::string_view& line) {
  const std::string_view text = io::trim_blanks(line);
  if (!text.ends_with('}')) return {};
  const size_t open = text.find('{');
  if (open == text.npos || open == 0) return {};
  if (std::string_view(" \t,;|").find(text[open - 1]) == std::string_view::npos) return {};
  line = io::trim_blanks(text.substr(0, open));
  if (!line.empty() && std::string_view(",;|").find(line.back()) != std::string_view::npos)
    line.remove_suffix(1);
  return text.substr(open);
}

bool parse_attributes(std::string_view text,
                      std::vector<std::pair<std::string_view, std::string_view>>& out) {
  out.clear();
  std::string_view rest = io::trim_blanks(text.substr(1, text.size() - 2));
  while (!rest.empty()) {
    const size_t colon = end_of_item(rest, ":");
    if (colon == rest.npos) return false;
    const std::string_view name = without_quotes(rest.substr(0, colon));
    rest.remove_prefix(colon + 1);
    const size_t end = std::min(end_of_item(rest, ","), rest.size());
    out.emplace_back(name, without_type(without_quotes(rest.substr(0, end))));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    rest = io::trim_blanks(rest);
  }
  return true;
}

}  // namespace gnnmg::data
