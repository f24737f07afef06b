// A server's description of itself: its version of the library, its data, and the parts of them
// that it serves. Bytes in, values out; nothing here knows a socket.
//
// Body of the answer: a text with the library's version; i32 number of parts; i32 how many of them
// are served, and their numbers, i32 each; u32 how many facts there are, and a name and a text for
// each. A text has its length before it, u32.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dist/message.h"

namespace gnnmg::dist {

// Two texts a fact, in an order that all servers of the data share. Facts tell one data set, and
// one division of it into parts, from another.
using Facts = std::vector<std::pair<std::string, std::string>>;

struct Hello {
  std::string version;         // version of the library
  uint64_t stamp = 0;          // stamp that questions about these data repeat
  int32_t num_parts = 0;       // number of parts of the data
  std::vector<int32_t> parts;  // parts that are served here, ascending
  Facts facts;
};

void write_hello_question(uint64_t request, Message& out);
void write_hello(uint64_t request, const Hello& hello, Message& out);
// The answer to request `request`. Error(kProtocol) for a message that is none or makes no sense,
// kUnsupported for another version of the messages; a refusal is thrown with its status and text.
Hello read_hello(uint64_t request, std::span<const uint8_t> message);

// "" where both are of the same data, else the first difference: "the fact 'edges' is 12 at
// 10.0.0.7:7300 and 13 at 10.0.0.8:7300".
std::string difference(const Hello& a, std::string_view a_name, const Hello& b,
                       std::string_view b_name);

}  // namespace gnnmg::dist
