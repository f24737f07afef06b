// JSON text as a series of events, with the checks that all users need. Only for files of this
// room: it includes all of nlohmann::json.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "base/error.h"
#include "io/bytes.h"

namespace gnnmg::io {

// The part of a handler that refuses invalid JSON. A handler derives from it, adds the events of
// nlohmann::json's SAX interface, and throws for content that it does not accept.
class JsonHandler {
 public:
  explicit JsonHandler(std::string_view name) : name_(name) {}
  bool binary(nlohmann::json::binary_t&) { return false; }  // JSON text has none
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& error) {
    // The parser's message without its prefix and without the raw bytes at which it stopped.
    std::string_view reason = error.what();
    if (const size_t at = reason.find(": "); at != reason.npos) reason.remove_prefix(at + 2);
    reason = reason.substr(0, reason.find("; last read"));
    base::fail(base::Status::kFormat, name_, ", byte ", position,
               ": not valid JSON: ", printable(reason, 200));
  }

 protected:
  std::string_view name_;
};

// Calls the handler for exactly one value; trailing blanks are allowed.
template <typename Handler>
void parse_json_events(std::span<const uint8_t> text, std::string_view name, Handler& handler) {
  // The parser would take a NUL byte for the end of the text.
  if (const size_t nul = as_text(text).find('\0'); nul != std::string_view::npos)
    base::fail(base::Status::kFormat, name, ", byte ", nul, ": not valid JSON: a NUL byte");
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
}

}  // namespace gnnmg::io
