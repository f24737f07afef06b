#include "io/pickle_expect.h"

#include "io/bytes.h"

namespace gnnmg::io {

using base::fail;
using base::Status;

namespace {

// The bytes that codecs.encode(text, "latin1") makes: a character each.
std::string latin1_of(std::string_view text, const std::string& where) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<uint8_t>(text[i]);
    if (first < 0x80) {
      bytes += text[i];
    } else if ((first == 0xc2 || first == 0xc3) && i + 1 < text.size()) {
      const auto second = static_cast<uint8_t>(text[++i]);
      bytes += static_cast<char>((first & 3) << 6 | (second & 0x3f));
    } else {
      fail(Status::kFormat, where, ": bytes that are no latin-1 text, at byte ", i);
    }
  }
  return bytes;
}

}  // namespace

std::string kind_of(const PickleValue& value) {
  const auto object_of = [](std::string_view module, std::string_view name) {
    const bool vowel = !module.empty() && std::string_view("aeiou").find(module[0]) != module.npos;
    return base::text(vowel ? "an " : "a ", printable(module), ".", printable(name));
  };
  if (value.as<PickleNone>()) return "None";
  if (value.as<bool>()) return "a bool";
  if (value.as<int64_t>()) return "an int";
  if (value.as<double>()) return "a float";
  if (value.as_text()) return "a str";
  if (value.as<PickleList>()) return "a list";
  if (value.as<PickleTuple>()) return "a tuple";
  if (value.as<PickleDict>()) return "a dict";
  if (const auto* opaque = value.as<PickleOpaque>()) return object_of(opaque->module, opaque->name);
  if (const auto* object = value.as<PickleObject>()) return object_of(object->module, object->name);
  const auto* global = value.as<PickleGlobal>();
  return global ? object_of(global->module, global->name) : "a storage";
}

const PickleValue& expect(const PickleRef& ref, const std::string& where, const char* what) {
  if (!ref) fail(Status::kFormat, where, ": ", what, " is missing");
  return *ref;
}

std::string_view expect_text(const PickleValue& value, const std::string& where, const char* what) {
  const std::string_view* text = value.as_text();
  if (!text) fail(Status::kFormat, where, ": expected ", what, ", found ", kind_of(value));
  return *text;
}

const PickleTuple& expect_tuple(const PickleValue& value, size_t least, const std::string& where,
                                const char* what) {
  const PickleTuple& tuple = expect_as<PickleTuple>(value, where, what);
  if (tuple.items.size() < least)
    fail(Status::kFormat, where, ": ", what, " has ", tuple.items.size(),
         " elements, expected at least ", least);
  return tuple;
}

std::string_view expect_bytes(const PickleValue& value, const std::string& where, const char* what,
                              std::string& decoded) {
  const PickleObject* object = value.as<PickleObject>();
  if (!object) return expect_text(value, where, what);
  const auto& arguments = expect_as<PickleTuple>(*object->arguments, where, what).items;
  if (is_builtin(object->module) && object->name == "bytes" && arguments.empty()) return {};
  if (!object->is("_codecs", "encode") || arguments.size() != 2)
    fail(Status::kFormat, where, ": expected ", what, ", found ", object->module, ".",
         object->name);
  const std::string_view encoding = expect_text(*arguments[1], where, "an encoding");
  if (encoding != "latin1")
    fail(Status::kFormat, where, ": ", what, " in the encoding \"", printable(encoding),
         "\", expected latin1");
  return decoded = latin1_of(expect_text(*arguments[0], where, what), where);
}

}  // namespace gnnmg::io
