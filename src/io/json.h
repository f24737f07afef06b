// JSON input: the library's own values, read with limits for untrusted files. json_writer.h writes
// JSON. (The tree of nlohmann::json, whose parser is used, allocates when it is destroyed, which
// ends the program if memory is exhausted.)
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gnnmg::io {

struct JsonValue {
  using Array = std::vector<JsonValue>;
  using Object = std::map<std::string, JsonValue, std::less<>>;
  // Integers are int64_t if they fit, else uint64_t.
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> value;

  // The value as a T, or null for another type: value.as<JsonValue::Object>().
  template <typename T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  // The member of an object; null if it is absent or this is not an object.
  const JsonValue* find(std::string_view key) const;
  // "an object", "a string", ... for error texts.
  const char* kind() const noexcept;
};

struct JsonLimits {
  int64_t max_bytes = int64_t{16} << 20;
  int max_depth = 64;
};

// Parses one JSON value. Duplicate keys, invalid UTF-8, numbers out of range, excessive size or
// depth are Error(kFormat) naming `name` and the byte; so is a text whose values need more than 16
// times its size plus one mebibyte. Counts toward the thread's memory budget as it reads.
JsonValue parse_json(std::span<const uint8_t> text, std::string_view name,
                     const JsonLimits& limits = {});

}  // namespace gnnmg::io
