// Reading JSON documents by their keys, with errors that say where in the document they are.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/arrays.h"
#include "io/bytes.h"
#include "io/json.h"

namespace gnnmg::data {

// A value in the document and the way to it, which every error names.
class Node {
 public:
  Node(const io::JsonValue& value, std::string path) : value_(value), path_(std::move(path)) {}

  template <typename... Args>
  [[noreturn]] void refuse(const Args&... args) const {
    base::fail(base::Status::kFormat, path_, ": ", args...);
  }

  // An object with exactly these keys; those that start with '?' may be missing.
  void expect_keys(std::initializer_list<std::string_view> keys) const {
    const auto* object = value_.as<io::JsonValue::Object>();
    if (!object) refuse("expected an object, found ", value_.kind());
    size_t known = 0;
    for (std::string_view key : keys) {
      const bool optional = key.front() == '?';
      if (optional) key.remove_prefix(1);
      if (value_.find(key))
        ++known;
      else if (!optional)
        refuse("the key \"", key, "\" is missing");
    }
    if (known == object->size()) return;
    for (const auto& [name, member] : *object) {
      bool found = false;
      for (std::string_view key : keys)
        found |= key == name || (key.front() == '?' && key.substr(1) == name);
      if (!found) refuse("unknown key \"", io::printable(name), "\"");
    }
  }
  bool has(const char* key) const { return value_.find(key) != nullptr; }
  Node at(const char* key) const {
    const io::JsonValue* member = value_.find(key);
    if (!member) refuse("the key \"", key, "\" is missing");
    return {*member, path_ + "." + key};
  }
  std::vector<Node> items() const {
    const auto* list = value_.as<io::JsonValue::Array>();
    if (!list) refuse("expected a list, found ", value_.kind());
    std::vector<Node> nodes;
    nodes.reserve(list->size());
    for (size_t i = 0; i < list->size(); ++i)
      nodes.emplace_back((*list)[i], base::text(path_, "[", i, "]"));
    return nodes;
  }
  std::string string() const {
    const auto* text = value_.as<std::string>();
    if (!text) refuse("expected a string, found ", value_.kind());
    check_name(*text, path_);
    return *text;
  }
  int64_t integer(int64_t smallest, int64_t largest) const {
    if (const auto* large = value_.as<uint64_t>())
      refuse(*large, ", expected ", smallest, " to ", largest);
    const auto* number = value_.as<int64_t>();
    if (!number) refuse("expected an integer, found ", value_.kind());
    if (*number < smallest || *number > largest)
      refuse(*number, ", expected ", smallest, " to ", largest);
    return *number;
  }
  int64_t size() const { return integer(0, std::numeric_limits<int64_t>::max()); }
  const std::string& path() const { return path_; }

 private:
  const io::JsonValue& value_;
  std::string path_;
};

}  // namespace gnnmg::data
