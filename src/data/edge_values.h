// The values of a list of edges besides its ends: those of its columns, and those of NetworkX's
// attributes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/edge_column.h"

namespace gnnmg::data {

// A name from a file, bounded, in quotes.
std::string in_quotes(std::string_view name);

class EdgeValues {
 public:
  // A column with a name. One of a kind is taken, and further ones are left out.
  void add_named(size_t column, std::string_view name);
  // One without, the `position`-th of those that may be numbers, and whether it stands before the
  // ends.
  void add_unnamed(size_t column, size_t position, bool before_ends);
  void leave_out(size_t column) { leave_out(base::text(column)); }
  void leave_out(std::string title) { left_out_.push_back(std::move(title)); }

  // The row of the next edge; `attributes` is "{...}" or empty. Error(kFormat) naming `place`.
  void add(std::span<const std::string_view> fields, std::string_view attributes,
           const TextPlace& place);
  // The columns whose fields add(const Number*) takes, in their order; nullopt where rows have
  // other fields too, or attributes.
  std::optional<std::vector<NumberShape::Value>> number_columns() const;
  void add_read(const Number* numbers, const TextPlace& place) {
    for (const Column& column : columns_) column.values->add_read(*numbers++, place);
    if (rows_++ == 0) first_line_ = place.line;
  }
  void finish(Found& found, EdgeNotes& notes);

 private:
  struct Column {
    size_t at;
    std::unique_ptr<EdgeColumn> values;
  };
  struct Attribute {
    std::string name;
    std::unique_ptr<EdgeColumn> values;  // null: left out
    int64_t rows = 0;
  };

  bool is_taken(ColumnRole role) const;
  void add_attributes(std::string_view text, const TextPlace& place);
  Attribute& attribute_of(std::string_view name, const TextPlace& place);

  std::vector<Column> columns_;
  std::vector<Attribute> attributes_;
  std::vector<ColumnRole> roles_;  // roles that are taken
  std::vector<std::string> left_out_;
  std::vector<std::pair<std::string_view, std::string_view>> pairs_;
  int64_t rows_ = 0, first_line_ = 0;
};

}  // namespace gnnmg::data
