#include "io/json.h"

#include <algorithm>
#include <utility>

#include "base/cancel.h"
#include "base/memory_charge.h"
#include "io/json_events.h"

namespace gnnmg::io {
namespace {

using base::fail;
using base::Status;

// Receives the parser's events and builds the value. Adds the checks that the parser lacks:
// duplicate keys, depth, and integers that would silently become floating-point numbers.
class Builder : public JsonHandler {
 public:
  Builder(std::string_view name, const JsonLimits& limits, int64_t text_bytes)
      : JsonHandler(name), text_bytes_(text_bytes), limits_(limits) {}
  JsonValue take() { return std::move(root_); }

  bool null() { return put({}); }
  bool boolean(bool value) { return put({value}); }
  bool number_integer(int64_t value) { return put({value}); }
  bool number_unsigned(uint64_t value) {
    if (std::in_range<int64_t>(value)) return put({static_cast<int64_t>(value)});
    return put({value});
  }
  bool number_float(double value, const std::string& text) {
    if (text.find_first_of(".eE") == std::string::npos)
      fail(Status::kFormat, name_, ": the integer ", printable(text), " does not fit 64 bits");
    return put({value});
  }
  bool string(std::string& value) { return put({std::move(value)}); }
  bool start_object(size_t) { return open({JsonValue::Object()}); }
  bool start_array(size_t) { return open({JsonValue::Array()}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& value) {
    if (open_.back()->find(value))
      fail(Status::kFormat, name_, ": the key \"", printable(value),
           "\" occurs twice in one object");
    key_ = std::move(value);
    return true;
  }

 private:
  bool put(JsonValue value) {
    cancel_.add(kUnitsPerValue);
    place(std::move(value));
    return true;
  }
  bool open(JsonValue container) {
    if (static_cast<int>(open_.size()) >= limits_.max_depth)
      fail(Status::kFormat, name_, ": nested more than ", limits_.max_depth, " levels deep");
    cancel_.add(kUnitsPerValue);
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  // The address of an open container is stable: only the innermost one grows, and it is stored in
  // its parent, which does not.
  JsonValue* place(JsonValue value) {
    if (open_.empty()) return &(root_ = std::move(value));
    JsonValue& parent = *open_.back();
    if (const auto* text = std::get_if<std::string>(&value.value)) charge_text(*text);
    if (auto* array = std::get_if<JsonValue::Array>(&parent.value)) {
      make_room(*array);
      return &array->emplace_back(std::move(value));
    }
    charge(sizeof(JsonValue::Object::value_type) + kNode);
    charge_text(key_);
    auto& object = std::get<JsonValue::Object>(parent.value);
    return &object.emplace(key_, std::move(value)).first->second;
  }

  // Called before memory is allocated.
  void charge(int64_t bytes) {
    if (memory_.bytes() + bytes > kFreeMemory + kMaxGrowth * text_bytes_)
      fail(Status::kFormat, name_, ": its values take more memory than ", kMaxGrowth,
           " times the text and a MiB");
    memory_.take(bytes, name_);
  }
  void charge_text(const std::string& text) {
    if (text.capacity() > std::string().capacity())
      charge(static_cast<int64_t>(text.capacity()) + kBlock);
  }
  void make_room(JsonValue::Array& array) {
    if (array.size() < array.capacity()) return;
    const size_t had = array.capacity(), capacity = std::max<size_t>(4, had + had / 2);
    charge(static_cast<int64_t>(capacity * sizeof(JsonValue)) + kBlock);
    array.reserve(capacity);
    memory_.give_back(had == 0 ? 0 : static_cast<int64_t>(had * sizeof(JsonValue)) + kBlock);
  }

  static constexpr int64_t kUnitsPerValue = 64;  // units of cancelable work
  static constexpr int64_t kFreeMemory = int64_t{1} << 20;
  static constexpr int64_t kMaxGrowth = 16;
  static constexpr int64_t kBlock = 16;                         // overhead of a heap block
  static constexpr int64_t kNode = 4 * sizeof(void*) + kBlock;  // overhead of a map entry

  const int64_t text_bytes_;
  base::MemoryCharge memory_;
  const JsonLimits& limits_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
  std::string key_;
  base::CancelPoll cancel_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto* object = as<Object>();
  if (!object) return nullptr;
  const auto member = object->find(key);
  return member == object->end() ? nullptr : &member->second;
}

const char* JsonValue::kind() const noexcept {
  constexpr const char* kKinds[] = {"null",     "true or false", "an integer", "an integer",
                                    "a number", "a string",      "a list",     "an object"};
  return kKinds[value.index()];
}

JsonValue parse_json(std::span<const uint8_t> text, std::string_view name,
                     const JsonLimits& limits) {
  if (static_cast<int64_t>(text.size()) > limits.max_bytes)
    fail(Status::kFormat, name, ": has ", text.size(), " bytes, at most ", limits.max_bytes,
         " are accepted");
  Builder builder(name, limits, static_cast<int64_t>(text.size()));
  parse_json_events(text, name, builder);
  return builder.take();
}

}  // namespace gnnmg::io
