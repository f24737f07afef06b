#include "data/edge_head.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "data/edge_hints.h"
#include "data/edge_values.h"
#include "io/bytes.h"

namespace gnnmg::data {

using base::fail;
using base::Status;

// Columns of a list of edges that names none of them; a wider table is one of features.
constexpr int64_t kMostUnnamed = 4;

namespace {

// True for a name of values of nodes or edges.
bool has_value(std::string_view name) {
  const ColumnRole role = role_of(name);
  return role == ColumnRole::kWeight || role == ColumnRole::kTime || role == ColumnRole::kLabel;
}

}  // namespace

EdgeHead::EdgeHead(EdgeRecords& records, const OpenOptions& options, base::Log& log)
    : records_(records),
      options_(options),
      log_(log),
      source_(options.source_column),
      target_(options.target_column) {
  if (options_.source_column < 0 || options_.target_column < 0 || source_ == target_)
    fail(Status::kInvalidArgument, "source_column ", options_.source_column, ", target_column ",
         options_.target_column, ": expected two different columns, counted from 0");
  if (options_.separator.size() > 1)
    fail(Status::kInvalidArgument, "separator \"", io::printable(options_.separator),
         "\": expected one character, or \"\" to guess it");
  if (!options_.separator.empty()) separator_ = options_.separator[0];
}

bool EdgeHead::find(bool may_have_header) {
  if (may_have_header && take_separator_line() && !records_.next()) return false;
  if (may_have_header) take_lines_before_header();
  if (separator_ == 0) separator_ = choose_separator(records_.line(), source_, target_);
  if (!names_.empty()) {  // read already: one name a line
  } else if (may_have_header && take_header()) {
    if (!records_.next()) return false;
    if (options_.separator.empty()) compare_with_header();
    if (is_line_of_units(records_.cut(separator_))) {
      warn(base::text(records_.where(), ": is passed over, for it has all columns in brackets"));
      if (!records_.next()) return false;
    }
  } else if (may_have_header) {
    take_header_in_comment();
  }
  return true;
}

void EdgeHead::fit(size_t columns) {
  // R leaves out the name of the column of row names.
  if (says_ends_ && !two_kinds_ && columns == names_.size() + 1) {
    check_row_names(columns);
    names_.insert(names_.begin(), "");
    if (ends_are_default()) ++source_, ++target_;
  }
  const size_t needed = std::max(source_, target_) + 1;
  if (columns < needed)
    fail(Status::kFormat, records_.where(), ": ", columns, " columns, expected at least ", needed,
         hint_of_separator(records_.line(), separator_));
  if (says_ends_ && names_.size() != columns) check_length(columns);
  if (names_.empty()) check_width(records_.cut(separator_));
  if (!names_.empty() && !says_ends_) check_unknown(columns);
}

// Keeps the names of the line at hand if it is a header.
bool EdgeHead::take_header() {
  const Fields fields = records_.cut(separator_);
  line_ = records_.line();
  names_.assign(fields.begin(), fields.end());
  refuse_matrix_with_names();
  if (is_header(records_.cut(separator_))) return true;
  names_.clear();
  line_.clear();
  return false;
}

// "# source target weight", as numpy.savetxt() writes a header. The last comment may also name the
// columns of a table of nodes: "# id,label".
void EdgeHead::take_header_in_comment() {
  for (const std::string& line : records_.comments_before()) {
    std::string_view comment = line;
    comment.remove_prefix(std::min(comment.find_first_not_of("#%/ \t"), comment.size()));
    const auto common = common_separator(comment, records_.line(), separator_);
    if (!common || *common != separator_) continue;
    io::FieldCutter cutter(EdgeRecords::kMostFields);
    cutter.cut(comment, separator_);
    const auto ends = find_ends(cutter.fields());
    const bool of_nodes =
        !ends && &line == &records_.comments_before().front() && ends_are_default() &&
        options_.format.empty() &&
        (may_name_nodes(cutter.fields()[0], cutter.fields()[1]) ||
         (separator_ != ' ' && has_value(cutter.fields()[0]) != has_value(cutter.fields()[1])));
    if (of_nodes && separator_ == ' ')
      return warn(base::text(records_.name(), ": the comment ", in_quotes(comment),
                             " may name the columns of a table of nodes, but the lines are taken "
                             "for edges"));
    if (!ends && !of_nodes) continue;
    names_.assign(cutter.fields().begin(), cutter.fields().end());
    return take_ends(ends);
  }
}

// Finds the separator that the header and the line at hand, the first edge, show together.
void EdgeHead::compare_with_header() {
  const auto common = common_separator(line_, records_.line(), separator_);
  if (!common && records_.cut(separator_).size() < names_.size())
    separator_ = choose_separator(records_.line(), source_, target_);
  if (!common || *common == separator_) return;
  separator_ = *common;
  io::FieldCutter cutter(EdgeRecords::kMostFields);
  cutter.cut(line_, separator_);
  names_.assign(cutter.fields().begin(), cutter.fields().end());
  take_ends(find_ends(cutter.fields()));
}

// Takes the columns of the ends from the header; without `ends` it names none.
void EdgeHead::take_ends(const std::optional<EndColumns>& ends) {
  says_ends_ = ends.has_value();
  is_sure_ = ends && ends->sure;
  two_kinds_ = ends && ends->two_kinds && ends_are_default();
  if (ends && ends_are_default()) std::tie(source_, target_) = std::tie(ends->source, ends->target);
}

// A title, names of columns below each other, or of groups of columns above them. Each such line
// would be an edge of names, or none.
void EdgeHead::take_lines_before_header() {
  constexpr size_t kMost = 64;
  std::vector<std::string> words;
  const int64_t first = records_.place().line;
  const auto at_one_word = [&] {
    const std::string_view line = records_.line();
    return is_one_word(line) && (separator_ == 0 || line.find(separator_) == line.npos);
  };
  while (words.size() < kMost && at_one_word() && records_.peek()) {
    words.emplace_back(io::trim_blanks(records_.line()));
    records_.next();
  }
  const auto title = [&](std::string_view why) {
    warn(base::text(records_.name(), ", line ", first, ": is passed over, for ", why));
  };
  if (words.size() == 1) return title("it has one word");
  if (!words.empty() && at_one_word())
    fail(Status::kFormat, records_.name(), ", line ", first, ": \"", io::printable(words[0]),
         "\", as all lines, has no tab, comma, semicolon, | or blank, which separate columns; "
         "separator says another character that does");
  if (!words.empty()) {
    const char separator =
        separator_ ? separator_ : choose_separator(records_.line(), source_, target_);
    if (records_.cut(separator).size() != words.size())
      fail(Status::kFormat, records_.where(), ": ", records_.cut(separator).size(),
           " columns after ", words.size(),
           " lines of one word each, expected as many if these "
           "are their names; header_lines=",
           records_.place().line - 1, " passes over them");
    names_ = std::move(words);
    take_ends(find_ends(std::vector<std::string_view>(names_.begin(), names_.end())));
    return warn(base::text(records_.name(), ": the names of the columns stand in lines ", first,
                           " to ", records_.place().line - 1));
  }
  if (above_header()) {
    records_.next();
    title("names of columns follow");
  }
}

// True if the next line, and not this one, surely names the ends. A number in this line, which may
// be an edge, stands in a title only if the header's separator does not cut it.
bool EdgeHead::above_header() {
  const auto separator_of = [&](std::string_view line) {
    return separator_ ? separator_ : choose_separator(line, source_, target_);
  };
  // First, as peek() ends the lines of a quoted field.
  const bool numbers =
      std::ranges::any_of(records_.cut(separator_of(records_.line())), begins_like_number);
  const auto following = records_.peek();
  if (!following) return false;
  io::FieldCutter cutter(EdgeRecords::kMostFields);
  const auto names_ends = [&](std::string_view line) {
    cutter.cut(line, separator_of(line));
    const auto ends = find_ends(cutter.fields());
    return ends && ends->sure;
  };
  if (!names_ends(*following) || names_ends(records_.line())) return false;
  cutter.cut(records_.line(), separator_of(*following));
  return !numbers || cutter.fields().size() == 1;
}

bool EdgeHead::take_separator_line() {
  const char said = separator_line(records_.line());
  if (said != 0 && separator_ == 0) separator_ = said;
  return said != 0;
}

bool EdgeHead::is_header(Fields fields) {
  const auto ends = find_ends(fields);
  if (is_numbered_header()) {
    source_ = 1, target_ = 2;
    return says_ends_ = true;
  }
  take_ends(ends);
  if (is_sure_) return true;
  // Names of nodes look like those of columns, unless numbers follow.
  const size_t needed = std::max(source_, target_) + 1;
  const bool numbers =
      fields.size() < needed
          ? std::any_of(fields.begin(), fields.end(), begins_like_number)
          : begins_like_number(fields[source_]) || begins_like_number(fields[target_]);
  const bool alone = ends && !options_.relabel && !records_.peek();
  if (!numbers && (alone || numbers_follow() || names_a_label())) return true;
  if (ends && ends_are_default()) source_ = 0, target_ = 1;
  take_ends(std::nullopt);
  return false;
}

// ",a,b" or "name,a,b" above "a,0,1": an adjacency matrix with the names of its rows and columns.
void EdgeHead::refuse_matrix_with_names() {
  if (names_.size() < 3 || io::parse_double(names_[1])) return;
  const auto following = records_.peek();
  if (!following) return;
  io::FieldCutter cutter(EdgeRecords::kMostFields);
  cutter.cut(*following, separator_);
  const auto& next = cutter.fields();
  if (next.size() != names_.size() || next[0] != names_[1] || !io::parse_double(next[1])) return;
  fail(Status::kUnsupported, records_.name(),
       ": the first row has the name of the first column, as in an adjacency matrix, which is not "
       "read; write an edge a line");
}

// ",0,1" above a line that does not begin with an empty field too: pandas' index, and columns
// without names.
bool EdgeHead::is_numbered_header() {
  if (!ends_are_default() || names_.size() < 3 || !names_[0].empty()) return false;
  for (size_t i = 1; i < names_.size(); ++i)
    if (names_[i] != std::to_string(i - 1)) return false;
  const auto following = records_.peek();
  return !following || !following->starts_with(separator_);
}

// "id,class" above "7,unknown": a table of nodes with labels that are words.
bool EdgeHead::names_a_label() {
  const auto following = records_.peek();
  if (!following || names_.size() != 2 || role_of(names_[target_]) != ColumnRole::kLabel)
    return false;
  io::FieldCutter cutter(EdgeRecords::kMostFields);
  cutter.cut(*following, separator_);
  const auto& next = cutter.fields();
  return next.size() == 2 && begins_like_number(next[source_]);
}

// True if the line after that of names_ has numbers at both ends, or in another column that has
// none there.
bool EdgeHead::numbers_follow() {
  const auto following = records_.peek();
  if (!following) return false;
  io::FieldCutter cutter(EdgeRecords::kMostFields);
  const char separator =
      options_.separator.empty() ? choose_separator(*following, source_, target_) : separator_;
  cutter.cut(*following, separator);
  const auto& next = cutter.fields();
  if (std::max(source_, target_) < next.size() && begins_like_number(next[source_]) &&
      begins_like_number(next[target_]))
    return true;
  for (size_t i = 0; i < next.size() && next.size() == names_.size(); ++i)
    if (i != source_ && i != target_ && !names_[i].empty() && !begins_like_number(names_[i]) &&
        reads_as_number(next[i]))
      return true;
  return false;
}

// R counts rows from 1, or gives each a name of its own. Any other column without a name, such as
// the empty one after a separator at the end of each line, would move the ends.
void EdgeHead::check_row_names(size_t columns) {
  const Fields fields = records_.cut(separator_);
  const std::string first(fields.front());
  const bool ends_in_separator = fields.back().empty();
  std::string second;
  if (const auto following = records_.peek()) {
    io::FieldCutter cutter(EdgeRecords::kMostFields);
    cutter.cut(*following, separator_);
    second = cutter.fields().front();
  }
  // pandas counts from 0, below a header that begins with the separator.
  const char* const next = line_.starts_with(' ') && first == "0" ? "1" : "2";
  const bool counts = (first == "1" || *next == '1') && (second.empty() || second == next);
  const bool names = !io::parse_double(first) && first != second;
  if ((counts || names) && !ends_in_separator) return;
  fail(Status::kFormat, records_.where(), ": ", columns, " columns, and the header has ",
       names_.size(), " names; ",
       ends_in_separator ? "remove the separator at the end of the lines"
                         : "name every column (only row names as R writes them, from 1 or "
                           "different texts, need no name)");
}

// A header of users and items may end with one name for all features, as in JODIE's tables.
void EdgeHead::check_length(size_t columns) {
  const bool of_list = names_.back().find("list") != names_.back().npos;
  if (!two_kinds_ || names_.size() + !of_list >= columns)
    fail(Status::kFormat, records_.where(), ": ", columns, " columns, expected ", names_.size(),
         " as in the header",
         has_line_end(records_.line()) || records_.line().find('\n') != std::string_view::npos
             ? base::text("; ", kMixedLineEnds)
             : "");
  warn(base::text(records_.name(), ": the header has ", names_.size(), " names for ", columns,
                  " columns, and is taken for the names of the first"));
}

// A header that does not name the ends.
void EdgeHead::check_unknown(size_t columns) {
  const size_t needed = std::max(source_, target_) + 1;
  const std::string found = base::text(records_.name(), ": the header has ", names_.size(),
                                       " names for ", columns, " columns");
  if (names_.size() > columns || names_.size() < needed) {
    warn(found + " and is passed over");
    return names_.clear();
  }
  if (names_.size() + 1 == columns && ends_are_default())
    fail(Status::kFormat, found,
         ", the first or the last of which has none; say source_column, target_column and "
         "header_lines");
  if (names_.size() < columns) warn(found + ", and is taken for the names of the first");
  if (!ends_are_default()) return;
  const std::string names =
      base::text(in_quotes(names_[source_]), " and ", in_quotes(names_[target_]));
  if (options_.format.empty() && !may_be_ends(names_[source_], names_[target_], columns))
    fail(Status::kFormat, records_.name(), ": the header does not say that ", names,
         " are ends of edges; format=edges takes the first two columns for them, "
         "source_column and target_column others");
  warn(base::text(records_.name(),
                  ": the header does not say which columns are the ends of edges; taken are ",
                  names, "; source_column and target_column choose others"));
}

// A table of features has no ends, whatever its first two columns hold.
void EdgeHead::check_width(Fields fields) const {
  const int64_t filled = std::ranges::count_if(fields, [](auto field) { return !field.empty(); });
  if (filled <= kMostUnnamed || options_.header >= 0 || !options_.format.empty() ||
      !ends_are_default())
    return;
  fail(Status::kFormat, records_.where(), ": ", filled,
       " columns without names, as in a table of features or a list of neighbors; format=edges "
       "takes the first two for the ends of edges, source_column and target_column others");
}

}  // namespace gnnmg::data
