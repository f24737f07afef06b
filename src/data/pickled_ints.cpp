#include "data/pickled_ints.h"

#include <algorithm>

#include "base/tensor.h"
#include "data/arrays.h"
#include "io/pickle_expect.h"
#include "io/pickled_array.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;
using io::expect_as;
using io::expect_tuple;
using io::is_builtin;
using io::PickleDict;
using io::PickleList;
using io::PickleObject;
using io::PickleRef;
using io::PickleTuple;
using io::PickleValue;

constexpr const char* kInts = "a list of integers";

// The items of a list or tuple; null for another value.
const std::vector<PickleRef>* items_of(const PickleValue& value) {
  if (const auto* list = value.as<PickleList>()) return &list->items;
  const auto* tuple = value.as<PickleTuple>();
  return tuple ? &tuple->items : nullptr;
}

void append_ints(const std::vector<PickleRef>& items, const std::string& where,
                 std::vector<int64_t>& numbers) {
  numbers.reserve(numbers.size() + items.size());
  for (const PickleRef& item : items) numbers.push_back(pickled_int(*item, where));
}

// xrange of Python 2 and range of Python 3: (start, stop, step).
bool is_range(const PickleObject& object) {
  return is_builtin(object.module) && object.name.ends_with("range");
}
std::vector<int64_t> ints_of_range(const PickleObject& object, const std::string& where,
                                   RangeRoom& room) {
  const auto& arguments = expect_tuple(*object.arguments, 3, where, "a range").items;
  const int64_t start = pickled_int(*arguments[0], where), stop = pickled_int(*arguments[1], where),
                step = pickled_int(*arguments[2], where);
  if (step == 0) fail(Status::kFormat, where, ": a range of step 0");
  const __int128 length =
      step > 0 ? static_cast<__int128>(stop) - start : static_cast<__int128>(start) - stop;
  const __int128 size = step > 0 ? step : -static_cast<__int128>(step);
  const __int128 count = length > 0 ? (length + size - 1) / size : 0;
  room.take(static_cast<int64_t>(std::min<__int128>(count, INT64_MAX)), where);
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = start + static_cast<int64_t>(i) * step;
  return numbers;
}

// A set is made from a list, and so is a deque of Python 2; one of Python 3 has its items appended.
std::vector<int64_t> ints_of_list_in(const PickleObject& object, const std::string& where) {
  std::vector<int64_t> numbers;
  const auto& arguments = expect_as<PickleTuple>(*object.arguments, where, kInts).items;
  if (!arguments.empty()) {
    const auto* items = items_of(*arguments[0]);
    if (!items)
      fail(Status::kFormat, where, ": expected ", kInts, ", found ", io::kind_of(*arguments[0]));
    append_ints(*items, where, numbers);
  }
  append_ints(object.list.items, where, numbers);
  return numbers;
}

bool is_set_or_deque(const PickleObject& object) {
  return (is_builtin(object.module) && object.name.ends_with("set")) ||
         object.is("collections", "deque");
}

}  // namespace

void RangeRoom::take(int64_t count, const std::string& where) {
  if (count > room_)
    fail(Status::kRange, where, ": a range of ", count, " integers, expected at most ", room_,
         " in the ranges of this file; write lists");
  room_ -= count;
}

bool accept_collection_globals(std::string_view module, std::string_view name) {
  if (module == "collections")
    return name == "defaultdict" || name == "OrderedDict" || name == "Counter" || name == "deque";
  constexpr std::string_view kBuiltins[] = {"dict",   "list",  "set",   "frozenset",
                                            "xrange", "range", "object"};
  return is_builtin(module) && std::ranges::find(kBuiltins, name) != std::end(kBuiltins);
}

const PickleDict* as_pickled_dict(const PickleValue& value) {
  if (const auto* dict = value.as<PickleDict>()) return dict;
  const auto* object = value.as<PickleObject>();
  if (!object || object->module != "collections") return nullptr;
  if (object->name == "defaultdict" || object->name == "OrderedDict") return &object->items;
  const auto* arguments = object->arguments->as<PickleTuple>();
  return object->name == "Counter" && arguments && arguments->items.size() == 1
             ? arguments->items[0]->as<PickleDict>()
             : nullptr;
}

const PickleDict& pickled_dict(const PickleValue& value, const std::string& where) {
  const PickleDict* dict = as_pickled_dict(value);
  if (!dict) fail(Status::kFormat, where, ": expected a dict, found ", io::kind_of(value));
  return *dict;
}

int64_t pickled_int(const PickleValue& value, const std::string& where) {
  if (const auto* number = value.as<int64_t>()) return *number;
  return to_i64(io::pickled_scalar(value, where), where).as<const int64_t>()[0];
}

std::vector<int64_t> pickled_ints(const PickleValue& value, const std::string& where,
                                  RangeRoom& room) {
  std::vector<int64_t> numbers;
  if (const auto* items = items_of(value)) {
    append_ints(*items, where, numbers);
    return numbers;
  }
  const auto* object = value.as<PickleObject>();
  if (!object) fail(Status::kFormat, where, ": expected ", kInts, ", found ", io::kind_of(value));
  if (is_range(*object)) return ints_of_range(*object, where, room);
  if (is_set_or_deque(*object)) return ints_of_list_in(*object, where);
  const base::Tensor array = to_i64(io::pickled_array(value, where), where);
  if (array.shape().num_dims != 1)
    fail(Status::kFormat, where, ": an array of shape ", array.shape().to_string(),
         ", expected one dimension");
  const auto span = array.as<const int64_t>();
  numbers.assign(span.begin(), span.end());
  return numbers;
}

}  // namespace gnnmg::data
