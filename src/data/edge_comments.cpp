#include "data/edge_comments.h"

#include <algorithm>
#include <string>

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
  const auto number = io::parse_int(text.substr(0, text.find_first_not_of("0123456789")));
  return number.value_or(-1);
}

}  // namespace

void EdgeComments::read(std::string_view line) {
  constexpr int64_t kMostLooked = 200;
  constexpr size_t kMostBytes = 1000;
  if (++lines_ > kMostLooked) return;
  std::string text(line.substr(0, kMostBytes));
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (num_nodes < 0) num_nodes = number_after(text, "nodes:");
  if (num_edges < 0) num_edges = number_after(text, "edges:");
  undirected |= text.find("undirected") != text.npos && text.find("not undirected") == text.npos;
  adjacency |= text.starts_with("# gmt ");
  const size_t word = std::min(text.find_first_not_of("%#/ \t"), text.size());
  matrix_market |= text.compare(word, kMatrixMarket.size(), kMatrixMarket) == 0;
  if (lines_ > 1) return;
  const std::string_view kind = io::trim_blanks(std::string_view(text).substr(1));
  if (!text.starts_with('%')) return;
  undirected |= kind.starts_with("sym ");
  bipartite |= kind.starts_with("bip ");
}

}  // namespace gnnmg::data
