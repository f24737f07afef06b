// Checks of the kind of a value of a pickle. Each throws Error(kFormat) naming `where`, the
// expected kind and, where it helps, the one found.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "io/pickle.h"

namespace gnnmg::io {

// Python's name for the type of a value: "a list".
std::string kind_of(const PickleValue& value);

template <typename T>
const T& expect_as(const PickleValue& value, const std::string& where, const char* what) {
  const T* found = value.as<T>();
  if (!found)
    base::fail(base::Status::kFormat, where, ": expected ", what, ", found ", kind_of(value));
  return *found;
}

// For a part that may be missing, as the state of an object.
const PickleValue& expect(const PickleRef& ref, const std::string& where, const char* what);
std::string_view expect_text(const PickleValue& value, const std::string& where, const char* what);
const PickleTuple& expect_tuple(const PickleValue& value, size_t least, const std::string& where,
                                const char* what);

// Bytes as they are, or as Python 3 writes them in protocols 0 to 2. The view is of the pickle or
// of `decoded`.
std::string_view expect_bytes(const PickleValue& value, const std::string& where, const char* what,
                              std::string& decoded);

// Python's own names, of Python 2 and 3.
inline bool is_builtin(std::string_view module) {
  return module == "__builtin__" || module == "builtins";
}

}  // namespace gnnmg::io
