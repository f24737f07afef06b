#include "data/edge_comments.h"

#include <algorithm>
#include <string>

#include "base/lower.h"
#include "io/fields.h"
#include "io/text.h"

namespace gnnmg::data {
namespace {

constexpr std::string_view kMatrixMarket = "matrixmarket ";

// The text after a word and ":", "=" or blanks: "false" in "directed: false".
std::string_view value_of(std::string_view text, std::string_view word) {
  const size_t found = text.find(word);
  if (found == text.npos) return {};
  text.remove_prefix(found + word.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t:="), text.size()));
  return text;
}

// The number after a word such as "nodes:"; -1 where there is none.
int64_t number_after(std::string_view text, std::string_view word) {
  text = value_of(text, word);
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view rest = text.substr(end, 2);
  const bool ends = rest.empty() || rest[0] == ' ' || rest[0] == '\t' || rest[0] == ';' ||
                    rest == "," || rest == ", ";  // 1,005 and 1-5 are no counts
  return ends ? io::parse_int(text.substr(0, end)).value_or(-1) : -1;
}

// A comment from the word of its count on: "nodes: 5" of "number of nodes: 5".
std::string_view without_number_of(std::string_view said) {
  for (const std::string_view start : {"number of ", "num_", "num "})
    if (said.starts_with(start)) return said.substr(start.size());
  return said;
}

// A comment without its marks.
std::string_view without_marks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of("%#/ \t"), text.size()));
}

// "undirected" where nothing denies it, or "directed: false".
bool says_undirected(std::string_view text) {
  if (text.find("undirected") == text.npos) {
    const std::string_view value = value_of(text, "directed");
    const std::string_view word = value.substr(0, value.find_first_of(" \t,;"));
    return word == "false" || word == "no" || word == "0";
  }
  for (const std::string_view denial :
       {"not ", "false", "undirected: no", "undirected: 0", "undirected=0"})
    if (text.find(denial) != text.npos) return false;
  return true;
}

}  // namespace

void EdgeComments::read(std::string_view line) {
  constexpr int64_t kMostLooked = 200;
  constexpr size_t kMostBytes = 1000;
  if (++lines_ > kMostLooked) return;
  const std::string text = base::lower(line.substr(0, kMostBytes));
  const std::string_view said = without_marks(text);
  const std::string_view counts = without_number_of(said);
  if (counts.starts_with("nodes") || counts.starts_with("vertices") || counts.starts_with("edges"))
    for (const std::string_view nodes : {"nodes", "vertices"})
      if (num_nodes < 0) num_nodes = number_after(counts, nodes);
  if (num_edges < 0 && (counts.starts_with("edges") || num_nodes >= 0))
    num_edges = number_after(counts, "edges");
  undirected |= says_undirected(said);
  adjacency |= text.starts_with("# gmt ");
  matrix_market |= said.starts_with(kMatrixMarket);
  if (lines_ > 1) return;
  const std::string_view kind = io::trim_blanks(std::string_view(text).substr(1));
  if (!text.starts_with('%')) return;
  undirected |= kind == "sym" || kind.starts_with("sym ");
  bipartite |= kind == "bip" || kind.starts_with("bip ");
}

}  // namespace gnnmg::data
