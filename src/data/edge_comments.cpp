#include "data/edge_comments.h"

#include <algorithm>
#include <string>

#include "base/lower.h"
#include "io/fields.h"
#include "io/text.h"

namespace gnnmg::data {
namespace {

constexpr std::string_view kMatrixMarket = "matrixmarket ";

// The number after a word such as "nodes:"; -1 where there is none.
int64_t number_after(std::string_view text, std::string_view word) {
  const size_t found = text.find(word);
  if (found == text.npos) return -1;
  text.remove_prefix(found + word.size());
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  if (text.substr(end).starts_with(',')) return -1;  // 1,005 or 1, 5
  return io::parse_int(text.substr(0, end)).value_or(-1);
}

// A comment without its marks.
std::string_view without_marks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of("%#/ \t"), text.size()));
}

// "undirected" where nothing denies it.
bool says_undirected(std::string_view text) {
  for (const std::string_view denial :
       {"not ", "false", "undirected: no", "undirected: 0", "undirected=0"})
    if (text.find(denial) != text.npos) return false;
  return text.find("undirected") != text.npos;
}

}  // namespace

void EdgeComments::read(std::string_view line) {
  constexpr int64_t kMostLooked = 200;
  constexpr size_t kMostBytes = 1000;
  if (++lines_ > kMostLooked) return;
  const std::string text = base::lower(line.substr(0, kMostBytes));
  const std::string_view said = without_marks(text);
  const bool counts = said.starts_with("nodes:") || said.starts_with("edges:");
  if (num_nodes < 0 && counts) num_nodes = number_after(said, "nodes:");
  if (num_edges < 0 && counts) num_edges = number_after(said, "edges:");
  undirected |= says_undirected(said);
  adjacency |= text.starts_with("# gmt ");
  matrix_market |= said.starts_with(kMatrixMarket);
  if (lines_ > 1) return;
  const std::string_view kind = io::trim_blanks(std::string_view(text).substr(1));
  if (!text.starts_with('%')) return;
  undirected |= kind.starts_with("sym ");
  bipartite |= kind.starts_with("bip ");
}

}  // namespace gnnmg::data
