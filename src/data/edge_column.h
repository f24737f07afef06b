// Columns of a list of edges besides the two ends: the tensor that each becomes in the data set,
// and the warning about each that is left out. All rows of a column decide whether it holds
// numbers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "data/assemble.h"
#include "data/number_lines.h"
#include "data/numbers.h"
#include "data/table_header.h"

namespace gnnmg::data {

// A line of a text, for errors.
struct TextPlace {
  const std::string& file;
  int64_t line = 0;
  std::string where() const { return base::text(file, ", line ", line); }
};

// Notes about a list, for the log once all of it is read.
struct EdgeNotes {
  std::vector<std::string> left_out;  // columns, each with the reason
  std::vector<std::string> kept;
  std::vector<std::string> warnings;
  bool undirected = false;  // the file says that its edges are
};

class EdgeColumn {
 public:
  // `title` names the column in texts: "\"Weight\"", "2".
  explicit EdgeColumn(std::string title) : title_(std::move(title)) {}
  virtual ~EdgeColumn() = default;
  // The field of the next edge; empty where there is none.
  virtual void add(std::string_view field, const TextPlace& place) = 0;
  // So many edges of a list of NetworkX lack the attribute.
  virtual void add_missing(int64_t count, const TextPlace& place) {
    if (count > 0) add({}, place);
  }
  // The numbers that add_read() takes in place of their fields.
  enum class Numbers { kNone, kIntegers, kAll };
  virtual Numbers takes() const { return Numbers::kNone; }
  virtual void add_read(const Number&, const TextPlace&) {}
  virtual void finish(Found& found, EdgeNotes& notes) = 0;

 protected:
  const std::string title_;
};

// Makes the column of a role that its name tells. Null for a column that is left out.
std::unique_ptr<EdgeColumn> make_edge_column(ColumnRole role, std::string title);
// Makes a column without a name by its position: the first is the weight, and times of Unix are the
// time. One before the ends that numbers the lines is neither. Null beyond the second.
std::unique_ptr<EdgeColumn> make_edge_column(size_t position, bool before_ends, std::string title);

}  // namespace gnnmg::data
