// JSON in: values of our own, read with the limits that untrusted files need. (The tree of
// nlohmann::json, whose parser is used, allocates when it is destroyed, which ends the program
// where there is no memory. Out: json_writer.h.)
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
  // Integers are int64_t where they fit, else uint64_t.
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> value;

  // The value as a T, or null when it is something else: value.as<JsonValue::Object>().
  template <typename T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  // The member of an object; null when it is absent or this is no object.
  const JsonValue* find(std::string_view key) const;
  // "an object", "a string", ... for error texts.
  const char* kind() const noexcept;
};

struct JsonLimits {
  int64_t max_bytes = int64_t{16} << 20;
  int max_depth = 64;
};

// Parses one JSON value. Duplicate keys, invalid UTF-8, numbers out of range, too great a size or
// depth: Error(kFormat) naming `name` and the byte; so is a text whose values would take more
// than 16 times its size and a mebibyte. Counts for the thread's memory budget as it reads.
JsonValue parse_json(std::span<const uint8_t> text, std::string_view name,
                     const JsonLimits& limits = {});

}  // namespace gnnmg::io
