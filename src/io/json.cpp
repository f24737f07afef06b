#include "io/json.h"

#include "io/json_events.h"

namespace gnnmg::io {
namespace {

using base::fail;
using base::Status;
using nlohmann::json;

// Receives the parser's events and builds the value, with what the library itself does not check:
// duplicate keys, depth, and integers that would silently become floating-point numbers.
class Builder : public JsonHandler {
 public:
  Builder(std::string_view name, const JsonLimits& limits) : JsonHandler(name), limits_(limits) {}
  json take() { return std::move(root_); }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(int64_t value) { return put(value); }
  bool number_unsigned(uint64_t value) { return put(value); }
  bool number_float(double value, const std::string& text) {
    if (text.find_first_of(".eE") == std::string::npos)
      fail(Status::kFormat, name_, ": the integer ", printable(text), " does not fit 64 bits");
    return put(value);
  }
  bool string(std::string& value) { return put(std::move(value)); }
  bool start_object(size_t) { return open(json::object()); }
  bool start_array(size_t) { return open(json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& value) {
    if (open_.back()->contains(value))
      fail(Status::kFormat, name_, ": the key \"", printable(value),
           "\" occurs twice in one object");
    key_ = std::move(value);
    return true;
  }

 private:
  bool put(json value) {
    place(std::move(value));
    return true;
  }
  bool open(json container) {
    if (static_cast<int>(open_.size()) >= limits_.max_depth)
      fail(Status::kFormat, name_, ": nested more than ", limits_.max_depth, " levels deep");
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  // Where values of an open container lie does not change while it is being filled: only the
  // innermost one grows, and its own place is in its parent, which does not.
  json* place(json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    json& parent = *open_.back();
    if (parent.is_object()) return &(parent[key_] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }

  const JsonLimits& limits_;
  json root_;
  std::vector<json*> open_;
  std::string key_;
};

}  // namespace

json parse_json(std::span<const uint8_t> text, std::string_view name, const JsonLimits& limits) {
  if (static_cast<int64_t>(text.size()) > limits.max_bytes)
    fail(Status::kFormat, name, ": has ", text.size(), " bytes, at most ", limits.max_bytes,
         " are accepted");
  Builder builder(name, limits);
  parse_json_events(text, name, builder);
  return builder.take();
}

}  // namespace gnnmg::io
