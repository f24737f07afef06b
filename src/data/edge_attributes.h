// The attributes that NetworkX writes after an edge: {'weight': 2.5}.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace gnnmg::data {

// Cuts the "{...}" off that a line of edges ends with, and the separator in front of it. Empty
// where there is none.
std::string_view take_attributes(std::string_view& line);

// The names and values in "{...}", without their quotes. False when it is no such text.
bool parse_attributes(std::string_view text,
                      std::vector<std::pair<std::string_view, std::string_view>>& out);

}  // namespace gnnmg::data
