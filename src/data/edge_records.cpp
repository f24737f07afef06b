#include "data/edge_records.h"

#include <algorithm>

#include "data/edge_attributes.h"
#include "data/table_header.h"
#include "io/bytes.h"

namespace gnnmg::data {

using base::fail;
using base::Status;

namespace {

constexpr std::string_view kDoubleColon = "::";  // the separator of MovieLens

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// True if runs of blanks and tabs cut a line that holds both as tabs alone do.
bool blanks_separate(std::string_view line, const std::vector<std::string_view>& by_tabs) {
  if (line.find(' ') == line.npos) return false;
  io::FieldCutter cutter(EdgeRecords::kMostFields);
  return cutter.cut(line, ' ') == io::FieldCutter::Result::kWhole && cutter.fields() == by_tabs;
}

// True for "1::1193::5": fields without other separators, none of which is empty.
bool is_cut_by_double_colons(std::string_view line) {
  if (line.find_first_of(" \t,;|") != line.npos) return false;
  size_t begin = 0, end = line.find(kDoubleColon);
  if (end == line.npos) return false;
  while (end != line.npos) {
    if (end == begin) return false;
    begin = end + kDoubleColon.size();
    end = line.find(kDoubleColon, begin);
  }
  return begin < line.size();
}

// Returns the position of the blanks before the first mark of a comment with blanks around it; a
// name may begin with #.
size_t find_comment(std::string_view line) {
  for (size_t at = line.find_first_of("#%/", 1); at != line.npos;
       at = line.find_first_of("#%/", at + 1)) {
    const size_t end = at + (line.substr(at).starts_with("//") ? 2 : 1);
    const bool mark = line[at] != '/' || end == at + 2;
    if (mark && is_blank(line[at - 1]) && (end == line.size() || is_blank(line[end])))
      return at - 1;
  }
  return line.npos;
}

// Returns the line without the comment of "0 1 # why", as NetworkX and NumPy read it. After another
// separator than blanks the comment follows a number, since names may hold its mark.
std::string_view before_comment(std::string_view line, char separator) {
  const size_t end = find_comment(line);
  if (end == line.npos || line.find('"') < end) return line;
  const std::string_view before = line.substr(0, end);
  if (separator == ' ') return before;
  const size_t last = before.rfind(separator);
  return last != line.npos && io::parse_double(before.substr(last + 1)) ? before : line;
}

// True if a field besides the ends has a comma, and each comma is the point of a number: 1,5, and
// 1.234,5 too.
bool has_decimal_commas(const std::vector<std::string_view>& fields, size_t source, size_t target) {
  constexpr std::string_view kDigits = "0123456789";
  bool any = false;
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string_view field = fields[i];
    const size_t comma = field.find(',');
    if (comma == field.npos) continue;
    any = true;
    if (i == source || i == target || comma == 0 || comma + 1 == field.size() ||
        kDigits.find(field[comma - 1]) == field.npos ||
        kDigits.find(field[comma + 1]) == field.npos ||
        field.find_first_not_of("0123456789+-.,eE") != field.npos)
      return false;
  }
  return any;
}

// True if no quoted field has been cut in two.
bool has_whole_quotes(const std::vector<std::string_view>& fields) {
  return std::none_of(fields.begin(), fields.end(), [](std::string_view field) {
    return field.starts_with('"') || field.ends_with('"');
  });
}

// True for a comment that a name with a mark at its begin may have made: "#ml,#ai,5", "#a #b", and
// not "# why" or "# 1 2".
bool is_like_edge(std::string_view line) {
  const size_t second = line.starts_with("//") ? 2 : 1;
  return line.size() > second && !is_blank(line[second]) && line[second] != line[0] &&
         line.find_first_of(" \t,;|") != line.npos;
}

}  // namespace

char choose_separator(std::string_view line, size_t source, size_t target) {
  io::FieldCutter cutter(EdgeRecords::kMostFields);
  char named = 0, clean = 0;
  for (const char candidate : {'\t', ',', ';', '|', ' '}) {
    if (line.find(candidate) == line.npos && candidate != ' ') continue;
    if (cutter.cut(line, candidate) != io::FieldCutter::Result::kWhole) continue;
    const auto& fields = cutter.fields();
    if (candidate == '\t' && blanks_separate(line, fields)) continue;
    if (std::max(source, target) < fields.size() && io::parse_int(fields[source]) &&
        io::parse_int(fields[target]))
      return candidate;
    if (named == 0 && find_ends(fields)) named = candidate;
    if (fields.size() <= std::max(source, target) || !has_whole_quotes(fields)) continue;
    if (clean == 0 || (clean == ',' && has_decimal_commas(fields, source, target)))
      clean = candidate;
  }
  return named != 0 ? named : clean != 0 ? clean : io::guess_separator(line);
}

bool reads_as_number(std::string_view field) {
  std::string with_point(field);
  std::ranges::replace(with_point, ',', '.');
  return io::parse_double(with_point).has_value();
}

std::optional<char> common_separator(std::string_view header, std::string_view line,
                                     char preferred) {
  const auto count = [](std::string_view text, char separator) {
    io::FieldCutter cutter(EdgeRecords::kMostFields);
    return cutter.cut(text, separator) == io::FieldCutter::Result::kTooMany
               ? EdgeRecords::kMostFields + 1
               : cutter.fields().size();
  };
  for (const char candidate : {preferred, '\t', ',', ';', '|', ' '})
    if (const size_t fields = count(header, candidate);
        fields > 1 && fields <= EdgeRecords::kMostFields && fields == count(line, candidate))
      return candidate;
  return std::nullopt;
}

void EdgeRecords::skip(int64_t count) {
  std::string_view line;
  for (int64_t i = 0; i < count; ++i)
    if (!lines_.next(line)) return;
}

void EdgeRecords::cut_at_tabs(std::string_view& line) {
  with_tabs_ = line;
  for (size_t at = with_tabs_.find(kDoubleColon); at != with_tabs_.npos;
       at = with_tabs_.find(kDoubleColon, at + 1))
    with_tabs_.replace(at, kDoubleColon.size(), "\t");
  line = with_tabs_;
}

bool EdgeRecords::read(std::string_view& line) {
  constexpr size_t kMostOfComment = 4096, kMostComments = 32;
  while (lines_.next(line)) {
    if (is_comment(line)) {
      comments_.read(line);
      if (!begun_) comments_before_.emplace_front(line.substr(0, kMostOfComment));
      if (comments_before_.size() > kMostComments) comments_before_.pop_back();
      if (begun_ && lone_mark_line_ == 0 && io::trim_blanks(line) == "#")
        lone_mark_line_ = lines_.line_number();
      if (begun_ && comment_inside_.empty() && is_like_edge(line)) {
        comment_inside_ = line.substr(0, kMostOfComment);
        comment_inside_line_ = lines_.line_number();
      }
    } else if (!is_blank_row(line)) {
      if (!begun_) double_colons_ = may_guess_ && is_cut_by_double_colons(line);
      if (double_colons_) cut_at_tabs(line);
      begun_ = true;
      return true;
    }
  }
  return false;
}

bool EdgeRecords::next() {
  if (peeked_) {
    held_ = std::move(*peeked_);
    peeked_.reset();
    line_ = held_;
    number_ = peeked_number_;
    return true;
  }
  if (!read(line_)) return false;
  number_ = lines_.line_number();
  return true;
}

std::optional<std::string_view> EdgeRecords::peek() {
  if (!peeked_) {
    if (line_.data() != held_.data()) held_ = line_;
    line_ = held_;
    std::string_view following;
    if (!read(following)) return std::nullopt;
    peeked_ = following;
    peeked_number_ = lines_.line_number();
  }
  return *peeked_;
}

std::span<const std::string_view> EdgeRecords::cut(char separator) {
  for (int64_t lines = 1;; ++lines) {
    std::string_view table = before_comment(line_, separator);
    attributes_ = take_attributes(table);
    const auto result = cutter_.cut(table, separator);
    if (result == io::FieldCutter::Result::kWhole) return cutter_.fields();
    if (result == io::FieldCutter::Result::kTooMany)
      fail(Status::kFormat, where(), ": more than ", kMostFields,
           " columns, expected an edge a line");
    if (line_.data() != held_.data()) held_ = line_;
    std::string_view more;
    if (peeked_ || lines == kMostLines || static_cast<int64_t>(held_.size()) > kMostBytesOfEdge ||
        !lines_.next(more))
      fail(Status::kFormat, where(), ": a field begins with \" and has no end in ", lines,
           lines == 1 ? " line: \"" : " lines: \"", io::printable(held_), "\"");
    held_ += '\n';
    held_ += more;
    line_ = held_;
  }
}

}  // namespace gnnmg::data
