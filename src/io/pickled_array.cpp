#include "io/pickled_array.h"

#include <algorithm>
#include <vector>

#include "io/bytes.h"
#include "io/npy.h"
#include "io/pickle_expect.h"

namespace gnnmg::io {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

bool is_numpy_core(std::string_view module) {
  return module == "numpy.core.multiarray" || module == "numpy._core.multiarray";
}
// The function by which protocol 5 makes arrays.
bool is_from_buffer(std::string_view module, std::string_view name) {
  return name == "_frombuffer" &&
         (module == "numpy.core.numeric" || module == "numpy._core.numeric");
}
bool is_reconstruct(const PickleObject& object) {
  return is_numpy_core(object.module) && object.name == "_reconstruct";
}

bool is_number_code(std::string_view code) {
  constexpr std::string_view kCodes[] = {"b1", "i1", "i2", "i4", "i8", "u1",
                                         "u2", "u4", "u8", "f2", "f4", "f8"};
  return std::ranges::find(kCodes, code) != std::end(kCodes);
}

// A shape and raw elements as a tensor, by way of the .npy reader, which knows all types and
// orders.
Tensor as_tensor(const std::string& descr, bool fortran, const std::vector<int64_t>& shape,
                 std::string_view data, const std::string& where) {
  std::string dict = base::text("{'descr': '", descr,
                                "', 'fortran_order': ", fortran ? "True" : "False", ", 'shape': (");
  for (int64_t size : shape) dict += base::text(size, ",");
  dict += ")}\n";
  std::string header("\x93NUMPY\x01\x00", 8);
  append_little(header, static_cast<uint16_t>(dict.size()));
  header += dict;
  return parse_npy(as_bytes(header), as_bytes(data), where);
}

std::vector<int64_t> shape_of(const PickleValue& value, const std::string& where) {
  constexpr size_t kMaxDims = 4;
  const PickleTuple& dims = expect_as<PickleTuple>(value, where, "an array's shape");
  if (dims.items.size() > kMaxDims)
    fail(Status::kFormat, where, ": an array of ", dims.items.size(), " dimensions");
  std::vector<int64_t> shape;
  for (const auto& dim : dims.items) {
    const int64_t size = expect_as<int64_t>(*dim, where, "an array's dimension");
    if (size < 0) fail(Status::kFormat, where, ": an array's dimension is ", size);
    shape.push_back(size);
  }
  return shape;
}

const PickleTuple& arguments_of(const PickleObject& object, const std::string& where) {
  constexpr size_t kLeast = 4;
  return expect_tuple(expect(object.arguments, where, "an array's arguments"), kLeast, where,
                      "an array's arguments");
}
const PickleTuple& state_of(const PickleObject& object, const std::string& where) {
  constexpr size_t kLeast = 5;
  return expect_tuple(expect(object.state, where, "an array's state"), kLeast, where,
                      "an array's state");
}

// numpy.core.numeric._frombuffer(bytes, dtype, shape, order)
Tensor array_from_buffer(const PickleObject& object, const std::string& where) {
  const auto& arguments = arguments_of(object, where).items;
  const std::string_view order = expect_text(*arguments[3], where, "an array's order");
  if (order != "C" && order != "F")
    fail(Status::kFormat, where, ": an array of order \"", printable(order),
         "\", expected C or F; numpy.ascontiguousarray() makes one");
  std::string decoded;
  return as_tensor(pickled_dtype(*arguments[1], where), order == "F",
                   shape_of(*arguments[2], where),
                   expect_bytes(*arguments[0], where, "an array's bytes", decoded), where);
}

// The dtype of an array; null for another value, and for an array without one.
const PickleValue* dtype_of(const PickleValue& value) {
  if (!is_pickled_array(value)) return nullptr;
  const auto& object = *value.as<PickleObject>();
  const bool reconstructed = is_reconstruct(object);
  const PickleRef& holder = reconstructed ? object.state : object.arguments;
  const auto* parts = holder ? holder->as<PickleTuple>() : nullptr;
  const size_t at = reconstructed ? 2 : 1;
  return parts && at < parts->items.size() ? parts->items[at].get() : nullptr;
}

}  // namespace

bool accept_numpy_globals(std::string_view module, std::string_view name) {
  if (is_numpy_core(module)) return name == "_reconstruct" || name == "scalar";
  if (module == "numpy") return name == "ndarray" || name == "dtype";
  if (is_builtin(module)) return name == "bytes";
  if (module == "_codecs") return name == "encode";
  return is_from_buffer(module, name);
}

bool is_pickled_array(const PickleValue& value) {
  const auto* object = value.as<PickleObject>();
  return object && (is_reconstruct(*object) || is_from_buffer(object->module, object->name));
}

bool is_array_of_numbers(const PickleValue& value) {
  const PickleValue* dtype = dtype_of(value);
  const auto* object = dtype ? dtype->as<PickleObject>() : nullptr;
  const auto* arguments =
      object && object->is("numpy", "dtype") ? object->arguments->as<PickleTuple>() : nullptr;
  const auto* code =
      arguments && !arguments->items.empty() ? arguments->items[0]->as_text() : nullptr;
  return code && is_number_code(*code);
}

std::string pickled_dtype(const PickleValue& value, const std::string& where) {
  const PickleObject& object = expect_as<PickleObject>(value, where, "a NumPy dtype");
  if (!object.is("numpy", "dtype"))
    fail(Status::kFormat, where, ": expected a NumPy dtype, found ", object.module, ".",
         object.name);
  const PickleTuple& arguments = expect_tuple(expect(object.arguments, where, "a dtype's argument"),
                                              1, where, "a dtype's arguments");
  const std::string_view code = expect_text(*arguments.items[0], where, "a dtype's name");
  std::string_view order = "|";
  if (object.state) {
    const PickleTuple& state = expect_tuple(*object.state, 2, where, "a dtype's state");
    order = expect_text(*state.items[1], where, "a byte order");
  }
  if (is_number_code(code) && (order == "<" || order == ">" || order == "|"))
    return base::text(order, code);
  fail(Status::kFormat, where, ": NumPy dtype \"", printable(base::text(order, code)),
       "\", expected a number type");
}

Tensor pickled_array(const PickleValue& value, const std::string& where) {
  const bool list = value.as<PickleList>() || value.as<PickleTuple>();
  if (!is_pickled_array(value))
    fail(Status::kFormat, where, ": expected a NumPy array, found ", kind_of(value),
         list ? "; numpy.array() makes one of it" : "");
  const PickleObject& object = *value.as<PickleObject>();
  if (!is_reconstruct(object)) return array_from_buffer(object, where);
  const PickleTuple& state = state_of(object, where);
  const bool fortran = expect_as<bool>(*state.items[3], where, "an array's order");
  std::string decoded;
  return as_tensor(pickled_dtype(*state.items[2], where), fortran, shape_of(*state.items[1], where),
                   expect_bytes(*state.items[4], where, "an array's bytes", decoded), where);
}

Tensor pickled_scalar(const PickleValue& value, const std::string& where) {
  const auto* object = value.as<PickleObject>();
  if (!object || !is_numpy_core(object->module) || object->name != "scalar")
    fail(Status::kFormat, where, ": expected a number, found ", kind_of(value));
  const PickleTuple& arguments = expect_tuple(expect(object->arguments, where, "a scalar's value"),
                                              2, where, "a scalar's arguments");
  std::string decoded;
  const std::string_view bytes =
      expect_bytes(*arguments.items[1], where, "a scalar's bytes", decoded);
  return as_tensor(pickled_dtype(*arguments.items[0], where), false, {}, bytes, where);
}

}  // namespace gnnmg::io
