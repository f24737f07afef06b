// Ids of any size and names of nodes to numbers from 0, in order of appearance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "data/numbers.h"
#include "data/relabeler.h"
#include "graph/graph.h"
#include "io/text.h"

namespace gnnmg::data {

// Numbers texts by their bytes, each once.
class NameTable {
 public:
  static constexpr size_t kLongest = 255;  // bytes of a name

  // At most kLongest bytes.
  int64_t number(std::string_view name);
  int64_t count() const { return starts_.size(); }
  std::string_view name(int64_t number) const;

 private:
  static constexpr int64_t kPageBytes = int64_t{64} << 10;
  int64_t slot_of(std::string_view name) const;
  void grow();

  base::PageVector<int32_t> slots_;           // numbers, at most half full; -1: free
  std::vector<std::shared_ptr<void>> pages_;  // a byte with the length, and the name; none crosses
  int64_t used_ = kPageBytes;                 // bytes of the last page
  Pieces<int64_t> starts_;
};

// An integer of 64 bits, also with a point and zeros, as in 1.0, and as R writes large ones: 1e+05.
inline std::optional<int64_t> integer_key(std::string_view key) {
  if (key.find("e+") != key.npos) return io::parse_whole(key);
  const size_t point = std::min(key.find('.'), key.size());
  if (key.find_first_not_of('0', point + (point < key.size())) != key.npos) return std::nullopt;
  return io::parse_int(key.substr(0, point));
}

// Names of the nodes at the ends of edges: integers of 64 bits, which are equal however they are
// written, and any other text.
class NodeKeys {
 public:
  // Error(kFormat) naming `where` for no text, and for a name of more than NameTable::kLongest
  // bytes.
  template <typename Where>
  int64_t number(std::string_view key, const Where& where) {
    if (const auto id = integer_key(key)) {
      if (padded_.empty() && is_padded(key)) padded_ = key;
      return number(*id);
    }
    if (key.empty() || key.size() > NameTable::kLongest)
      base::fail(base::Status::kFormat, where(), ": an end of ", key.size(),
                 " bytes, expected a name of 1 to ", NameTable::kLongest);
    return number_of(names_.number(key), name_numbers_);
  }
  int64_t number(int64_t id) { return number_of(ids_.number(id), id_numbers_); }
  int64_t count() const { return count_; }
  // The first integer with zeros or a plus in front or with a point, "007", where others are names,
  // as it may have been meant to be; else empty.
  std::string padded_beside_names() const { return names_.count() > 0 ? padded_ : std::string(); }
  // Puts them into `columns`: "original_id", i64 [N], when all are integers, else "original_name",
  // u8 [N, longest + 1], each name followed by zeros, integers in decimal. Empties the table.
  // Error(kRange) naming `where` when names of very different lengths would take far more memory
  // than the `bytes` of text that they were read from.
  void take(graph::Columns& columns, int64_t bytes, const std::string& where);

 private:
  static bool is_padded(std::string_view integer) {
    const size_t at = integer[0] == '-';
    return integer[0] == '+' || integer.find_first_of(".e") != integer.npos ||
           (integer[at] == '0' && integer.size() > at + 1);
  }
  int64_t number_of(int64_t key, Pieces<int32_t>& numbers);
  base::Tensor take_names(int64_t bytes, const std::string& where);

  Relabeler ids_;
  NameTable names_;
  Pieces<int32_t> id_numbers_, name_numbers_;  // number of the node, by entries of the tables above
  int64_t count_ = 0;
  std::string padded_;
};

}  // namespace gnnmg::data
