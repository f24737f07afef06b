// Texts that protocols 0 and 1 of Python's pickle write as lines. Only for files of this room.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gnnmg::io {

// The bytes of a str literal of Python 2, such as 'a\x00\n', in either kind of quotes; nullopt for
// any other text.
std::optional<std::string> unquoted_bytes(std::string_view literal);

// UTF-8 of a text with characters beyond Latin-1 as \u0041 or \U0001f600; nullopt for a character
// that does not exist.
std::optional<std::string> utf8_of_escaped(std::string_view line);

}  // namespace gnnmg::io
