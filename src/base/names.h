// Names that users write: patterns of them, and the name that a misspelled one was meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gnnmg::base {

// True if `*` in the pattern can stand for texts so that it becomes the name.
bool matches(std::string_view name, std::string_view pattern);

// The known names that an unknown one is most like, or else those that have its words or only words
// of it, as "'heads'" or "'a' or 'b'"; empty if there are none.
std::string meant_names(std::string_view unknown, std::span<const std::string_view> known);

// The end of an error text about an unknown name: "; did you mean 'heads'? There are: ..." or
// "; there are: ...".
std::string known_names(std::string_view unknown, std::span<const std::string_view> known);

}  // namespace gnnmg::base
