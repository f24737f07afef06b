// Python's collections of integers as they lie in pickles.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/pickle.h"

namespace gnnmg::data {

// The globals of dict, list, set, range and similar types of the module collections.
bool accept_collection_globals(std::string_view module, std::string_view name);

// A bound for the integers in the ranges of one file, because they take no bytes of it.
class RangeRoom {
 public:
  explicit RangeRoom(int64_t file_bytes) : room_(kFree + file_bytes) {}
  // Error(kRange) naming `where` when there is no room for so many more.
  void take(int64_t count, const std::string& where);

 private:
  static constexpr int64_t kFree = int64_t{1} << 20;
  int64_t room_;
};

// Each throws Error(kFormat) naming `where`, expected and found, when the value is something else.

// A dict, defaultdict, OrderedDict or Counter; null for another value.
const io::PickleDict* as_pickled_dict(const io::PickleValue& value);
const io::PickleDict& pickled_dict(const io::PickleValue& value, const std::string& where);
// An int, or a NumPy scalar of an integer type.
int64_t pickled_int(const io::PickleValue& value, const std::string& where);
// The integers of a list, a tuple, a set, a deque, a range or an array of one dimension.
std::vector<int64_t> pickled_ints(const io::PickleValue& value, const std::string& where,
                                  RangeRoom& room);

}  // namespace gnnmg::data
