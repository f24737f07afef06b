// JSON output: text that is built piece by piece, without a tree of values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gnnmg::io {

// Calls follow the structure: begin_object(), key("a"), value(1), end_object(). The writer adds
// commas, quotes and escapes. Text that is not UTF-8 is Error(kInvalidArgument).
class JsonWriter {
 public:
  // `indent`: blanks per level, with each value on its own line; negative: all on one line.
  explicit JsonWriter(int indent = -1) : indent_(indent) {}

  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_list() { return begin('['); }
  JsonWriter& end_list() { return end(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(int64_t number);
  JsonWriter& value(double number);  // writes null for a number that is not finite
  JsonWriter& value(bool truth);
  template <typename T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  // The text; afterwards the writer cannot be used again.
  std::string finish() { return std::move(out_); }

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  void next();  // writes the separator before a value
  void break_line();
  void quote(std::string_view text);

  std::string out_;
  int indent_;
  int depth_ = 0;
  bool first_ = true;       // the innermost object or list is empty so far
  bool after_key_ = false;  // the next value belongs to a key
};

}  // namespace gnnmg::io
