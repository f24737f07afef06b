#include "data/edge_hints.h"

#include <algorithm>

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

void refuse_marks(std::span<const std::string_view> fields, const TextPlace& place) {
  const std::string_view word = fields[0];
  const char c = word.size() == 1 ? static_cast<char>(word[0] | 0x20) : '\0';
  if (fields.size() < 3 || !io::parse_int(fields[1]) || !io::parse_int(fields[2]) ||
      !((c >= 'a' && c <= 'z') || word == "edge" || word == "arc" || word == "link"))
    return;
  base::fail(base::Status::kFormat, place.where(), ": \"", word,
             "\" stands before two numbers, as in files of DIMACS; source_column = 1 and "
             "target_column = 2 take these for the ends of edges, format = edges takes the first "
             "two columns");
}

std::string hint_of_separator(std::string_view line) {
  line = io::trim_blanks(line);
  const size_t end = std::min(line.find_first_not_of("0123456789"), line.size());
  const size_t next = std::min(line.find_first_of("0123456789", end), line.size());
  if (end == 0 || next == line.size()) return "; write an edge a line, source and target";
  const std::string between = io::printable(line.substr(end, next - end));
  return next - end > 1 ? base::text("; put a blank in place of \"", between, '"')
                        : base::text("; separator = \"", between, "\" cuts them there");
}

}  // namespace gnnmg::data
