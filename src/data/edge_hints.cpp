#include "data/edge_hints.h"

#include <algorithm>
#include <cmath>

#include "data/missing_number.h"
#include "io/bytes.h"
#include "io/fields.h"
#include "io/text.h"

namespace gnnmg::data {

bool begins_like_number(std::string_view field) {
  const size_t begin = field.find_first_not_of(" \t\"'+-.");
  return begin != field.npos && field[begin] >= '0' && field[begin] <= '9';
}

char separator_line(std::string_view line) {
  while (line.size() > 5 && line.ends_with(' ')) line.remove_suffix(1);
  if (line.size() == 7 && line.starts_with('"') && line.ends_with('"')) line = line.substr(1, 5);
  if (line.size() != 5 || line[3] != '=') return 0;
  std::string word(line.substr(0, 3));
  for (char& c : word) c = static_cast<char>(c | 0x20);  // lower case
  return word == "sep" ? line[4] : '\0';
}

bool is_one_word(std::string_view line) {
  line = io::trim_blanks(line);
  return line.find_first_of(" \t,;|:-") == line.npos && !begins_like_number(line);
}

bool is_line_of_units(std::span<const std::string_view> fields) {
  return std::ranges::all_of(fields, [](std::string_view field) {
    return field.size() > 1 && ((field.front() == '(' && field.back() == ')') ||
                                (field.front() == '[' && field.back() == ']'));
  });
}

bool is_list_of_neighbors(std::string_view field) {
  const size_t end = std::min(field.find_first_not_of("0123456789"), field.size());
  const std::string_view rest = field.substr(end);
  return end > 0 && (rest == ":" || rest.starts_with(": ") || rest.find('[') != rest.npos);
}

bool is_sign(std::string_view field) {
  return std::ranges::all_of(field, [](char c) {
    return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9') &&
           !((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  });
}

bool has_line_end(std::string_view text) {
  for (const std::string_view end : {"\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"})
    if (text.find(end) != text.npos) return true;
  return false;
}

bool has_open_bracket(std::string_view field) {
  return (field.starts_with('(') && field.find(')') == field.npos) ||
         (field.starts_with('[') && field.find(']') == field.npos);
}

std::string hint_of_end(std::string_view field, const OddEnd& end) {
  if (field.empty() && end.pipes)
    return "; where a line begins with | or holds ||, source_column and target_column choose the "
           "columns of the ends, counted from 0";
  if (is_missing_number(field))
    return base::text("; dropna(subset=[", end.column, "]) of pandas leaves out lines without one");
  if (has_line_end(field)) return base::text("; ", kMixedLineEnds);
  if (io::has_invisible_end(field)) return "; remove the character that does not show";
  if (field.size() > 18 && field.find_first_not_of("0123456789") == field.npos)
    return " below 2^63; relabel=1 numbers ids of any size";
  if (const auto number = io::parse_double(field))
    return std::trunc(*number) == *number
               ? "; write ids without a decimal point: fmt=\"%d\" in numpy.savetxt(), "
                 "astype(\"int64\") in pandas"
               : "; if it is a name, relabel=1 numbers names";
  if (field.front() == '\'') return "; quotes of fields have to be double ones";
  if (std::string_view("([{<").find(field.front()) != std::string_view::npos)
    return "; remove the brackets; NetworkX numbers nodes by convert_node_labels_to_integers()";
  if (is_sign(field) && end.columns > 3)
    return "; if it is a sign between two ends, target_column chooses the column after it";
  if (end.relation)
    return "; target_column=2 takes the third column, as of triples of subject, relation and "
           "object";
  if (field.find_first_not_of("0123456789.:;,- ") == field.npos)
    return "; if it is a name, relabel=1 numbers names, else write an edge a line, its two ends "
           "with a blank between";
  if (end.triple)
    return "; relabel=1 numbers names, target_column=2 takes the third column, as of triples of "
           "subject, relation and object";
  if (end.header) return "; relabel=1 numbers names, header_lines=1 passes over a header";
  return "; if it is a name, relabel=1 numbers names";
}

const char* hint_of_length(std::string_view line, bool after_counts, bool numbered, bool blanks) {
  if (line.find('\n') != line.npos || has_line_end(line)) return kMixedLineEnds;
  if (blanks) return "separator=\" \" cuts at blanks and tabs";
  if (!after_counts)
    return "lines of different lengths are no list of edges, but may be an adjacency list, which "
           "is "
           "not read";
  if (numbered)
    return "if the first line holds counts, header_lines=1 passes over it; where a number stands "
           "before each edge, as in Triangle's files, source_column=1 and target_column=2 take the "
           "ends";
  return "if the first line holds counts, header_lines=1 passes over it; other lines of different "
         "lengths may be an adjacency list, which is not read";
}

void refuse_marks(std::span<const std::string_view> fields, const TextPlace& place) {
  const std::string_view word = fields[0];
  const char c = word.size() == 1 ? static_cast<char>(word[0] | 0x20) : '\0';
  if (fields.size() < 3 || !io::parse_int(fields[1]) || !io::parse_int(fields[2]) ||
      !((c >= 'a' && c <= 'z') || word == "edge" || word == "arc" || word == "link"))
    return;
  base::fail(base::Status::kFormat, place.where(), ": \"", word,
             "\" stands before two numbers, as in files of DIMACS; source_column=1 and "
             "target_column=2 take these for the ends of edges, format=edges takes the first "
             "two columns");
}

std::string hint_to_keep(int64_t id) {
  constexpr int64_t kLargest = int64_t{1} << 40;
  if (id > kLargest) return {};
  return base::text(", num_nodes=", id + 1, " keeps them, with 8 bytes for each number below");
}

std::string hint_of_separator(std::string_view line, char separator) {
  if (has_line_end(line)) return base::text("; ", kMixedLineEnds);
  line = io::trim_blanks(line);
  const size_t end = std::min(line.find_first_not_of("0123456789"), line.size());
  const size_t next = std::min(line.find_first_of("0123456789", end), line.size());
  if (end == 0 || next == line.size() || line[end] == separator || io::parse_double(line))
    return "; write an edge a line, source and target";
  const std::string between = io::printable(line.substr(end, next - end));
  return next - end > 1 ? base::text("; put a blank in place of \"", between, '"')
                        : base::text("; separator=\"", between, "\" cuts them there");
}

}  // namespace gnnmg::data
