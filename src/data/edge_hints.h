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

// Error(kFormat) for "e 0 1", as in files of DIMACS and gSpan: a word before the two ends.
void refuse_marks(std::span<const std::string_view> fields, const TextPlace& place);

// The end of an error about a line of one column: a remedy, which is another separator if the line
// falls into integers at it, as "0-1" and "0->1".
std::string hint_of_separator(std::string_view line);

}  // namespace gnnmg::data
