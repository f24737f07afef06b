// JSON in and out on nlohmann::json, with the limits that untrusted files need.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace gnnmg::io {

struct JsonLimits {
  int64_t max_bytes = int64_t{16} << 20;
  int max_depth = 64;
};

// Parses one JSON value. Duplicate keys, invalid UTF-8, numbers out of range, too great a size or
// depth: Error(kFormat) naming `name` and the byte. Allocates a bounded multiple of the size of the
// text.
nlohmann::json parse_json(std::span<const uint8_t> text, std::string_view name,
                          const JsonLimits& limits = {});

}  // namespace gnnmg::io
