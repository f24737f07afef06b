// Columns of a list of edges besides the two ends: what each becomes in the data set, and what is
// said of one that becomes nothing. Whether a column holds numbers is decided by all of its rows.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "data/assemble.h"
#include "data/numbers.h"
#include "data/table_header.h"

namespace gnnmg::data {

// A line of a text, for errors.
struct TextPlace {
  const std::string& file;
  int64_t line = 0;
  std::string where() const { return base::text(file, ", line ", line); }
};

// What is told of a list once all of it is read.
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
  virtual void finish(Found& found, EdgeNotes& notes) = 0;

 protected:
  const std::string title_;
};

// By what a column is called. Null for one that becomes nothing.
std::unique_ptr<EdgeColumn> make_edge_column(ColumnRole role, std::string title);
// By where one without a name stands: the first is the weight, and times of Unix are the time. Null
// beyond the second.
std::unique_ptr<EdgeColumn> make_edge_column(size_t position, std::string title);

}  // namespace gnnmg::data
