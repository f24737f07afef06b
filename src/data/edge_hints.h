// Recognizes fields and lines of an edge list that are no edges.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "data/edge_column.h"

namespace gnnmg::data {

// True if a field might be meant as a number in any notation: 1, "1", +1, 0x1, .5, 1st. The
// first line is passed over as a header only when none is, so that no edge is lost.
bool begins_like_number(std::string_view field);

// The separator of "sep=;", as spreadsheets write it, in any case and in quotes; 0 for other lines.
char separator_line(std::string_view line);

// True for a word that nothing separates, as in a title.
bool is_one_word(std::string_view line);

// "(id),(id),(km)" below a header.
bool is_line_of_units(std::span<const std::string_view> fields);

// "0: 1 4", "0 [1, 4]": a node before its neighbors.
bool is_list_of_neighbors(std::string_view field);

// "->", "--", "&": signs of ASCII without a letter or digit.
bool is_sign(std::string_view field);

// True if a line or field holds a character that ends lines elsewhere: CR, or one of Unicode's.
bool has_line_end(std::string_view text);
inline constexpr const char* kMixedLineEnds =
    "it holds a line end of another kind than that of the first line; write all alike";

// True for "(0", which was cut off "(0, 1)".
bool has_open_bracket(std::string_view field);

// The line of an end that is no integer. A header may be such a line; a triple has two names at its
// end, a relation is a name between two integers, pipes separate fields at "|".
struct OddEnd {
  std::string column;  // name of the column in pandas
  size_t columns = 0;
  bool header = false, triple = false, relation = false, pipes = false;
};

// The end of an error about such an end: a remedy that fits the field.
std::string hint_of_end(std::string_view field, const OddEnd& end);

// The end of an error about a line with another number of columns than the first edge. The first
// line may have been one of counts, and this one may have a number before each edge. `blanks`:
// blanks cut this line into as many.
const char* hint_of_length(std::string_view line, bool after_counts, bool numbered, bool blanks);

// Error(kFormat) for "e 0 1", as in files of DIMACS and gSpan: a word before the two ends.
void refuse_marks(std::span<const std::string_view> fields, const TextPlace& place);

// The end of an error about an id out of proportion: how to keep it. Empty where num_nodes would
// take more memory than there is.
std::string hint_to_keep(int64_t id);

// The end of an error about a line with too few columns at `separator`: a remedy, which is another
// separator if the line falls into integers at it, as "0-1" and "0->1".
std::string hint_of_separator(std::string_view line, char separator);

}  // namespace gnnmg::data
