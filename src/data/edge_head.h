// The head of a list of edges: its separator, the names of its columns, and which of them hold the
// ends.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "data/edge_records.h"
#include "data/table_header.h"

namespace gnnmg::data {

class EdgeHead {
 public:
  // Records, options and log outlive it. Error(kInvalidArgument) for columns or a separator that
  // cannot be.
  EdgeHead(EdgeRecords& records, const OpenOptions& options, base::Log& log);
  // Looks at the first line, passes over a header where there may be one, and is at the first edge;
  // false when there is none.
  bool find(bool may_have_header);
  // Compares the header with the columns of the first edge, which is at hand. Error(kFormat) where
  // the columns of the ends cannot be known.
  void fit(size_t columns);

  char separator() const { return separator_; }
  size_t source() const { return source_; }
  size_t target() const { return target_; }
  // Names of columns; empty: none.
  const std::vector<std::string>& names() const { return names_; }
  // True if the header names the ends; two_kinds(): by names of different kinds.
  bool says_ends() const { return says_ends_; }
  bool two_kinds() const { return two_kinds_; }
  // Tables that were put together keep the header of each.
  bool is_header_again(std::string_view line) const { return !line_.empty() && line == line_; }
  // Ends that the caller chose stay chosen.
  bool ends_are_default() const {
    return options_.source_column == 0 && options_.target_column == 1;
  }

 private:
  using Fields = std::span<const std::string_view>;

  bool take_separator_line();
  void take_lines_before_header();
  bool above_header();
  bool take_header();
  void take_header_in_comment();
  void compare_with_header();
  void take_ends(const std::optional<EndColumns>& ends);
  bool is_header(Fields fields);
  bool names_a_label();
  bool is_numbered_header();
  bool numbers_follow();
  void refuse_matrix_with_names();
  void check_row_names(size_t columns);
  void check_length(size_t columns);
  void check_unknown(size_t columns);
  void check_width(Fields fields) const;
  void warn(std::string text) { log_.add(base::LogLevel::kWarning, std::move(text)); }

  EdgeRecords& records_;
  const OpenOptions& options_;
  base::Log& log_;
  size_t source_, target_;
  char separator_ = 0;
  std::string line_;  // the header, if it is a line
  std::vector<std::string> names_;
  bool says_ends_ = false;
  bool is_sure_ = false;  // nobody would give these names to two nodes
  bool two_kinds_ = false;
};

}  // namespace gnnmg::data
