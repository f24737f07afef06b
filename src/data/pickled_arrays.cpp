#include "data/pickled_arrays.h"

#include <array>
#include <utility>
#include <vector>

#include "data/arrays.h"
#include "io/bytes.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;
using base::Tensor;
using io::PickleDict;
using io::PickleGlobal;
using io::PickleObject;
using io::PickleTuple;
using io::PickleValue;

bool is_numpy_core(std::string_view module) {
  return module == "numpy.core.multiarray" || module == "numpy._core.multiarray";
}
bool is_csr(std::string_view module, std::string_view name) {
  return name == "csr_matrix" && (module == "scipy.sparse.csr" || module == "scipy.sparse._csr");
}

const PickleValue& expect(const io::PickleRef& ref, const std::string& where, const char* what) {
  if (!ref) fail(Status::kFormat, where, ": ", what, " is missing");
  return *ref;
}

template <typename T>
const T& expect_as(const PickleValue& value, const std::string& where, const char* what) {
  const T* found = value.as<T>();
  if (!found) fail(Status::kFormat, where, ": expected ", what, ", found another kind of value");
  return *found;
}

std::string_view expect_text(const PickleValue& value, const std::string& where, const char* what) {
  const std::string_view* text = value.as_text();
  if (!text) fail(Status::kFormat, where, ": expected ", what, ", found another kind of value");
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

// "<f4" and the like, as a .npy header has it.
std::string dtype_descr(const PickleValue& value, const std::string& where) {
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
  constexpr std::string_view kCodes[] = {"b1", "i1", "i2", "i4", "i8", "u1",
                                         "u2", "u4", "u8", "f2", "f4", "f8"};
  for (std::string_view known : kCodes)
    if (code == known && (order == "<" || order == ">" || order == "|"))
      return base::text(order, code);
  fail(Status::kFormat, where, ": NumPy dtype \"", io::printable(base::text(order, code)),
       "\", expected a number type");
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
  io::append_little(header, static_cast<uint16_t>(dict.size()));
  header += dict;
  return io::parse_npy(io::as_bytes(header), io::as_bytes(data), where);
}

}  // namespace

bool accept_array_globals(std::string_view module, std::string_view name) {
  if (is_numpy_core(module)) return name == "_reconstruct" || name == "scalar";
  if (module == "numpy") return name == "ndarray" || name == "dtype";
  if (module == "collections") return name == "defaultdict";
  if (module == "__builtin__" || module == "builtins") return name == "list";
  return is_csr(module, name);
}

Tensor pickled_array(const PickleValue& value, const std::string& where) {
  const PickleObject& object = expect_as<PickleObject>(value, where, "a NumPy array");
  if (!is_numpy_core(object.module) || object.name != "_reconstruct")
    fail(Status::kFormat, where, ": expected a NumPy array, found ", object.module, ".",
         object.name);
  const PickleTuple& state =
      expect_tuple(expect(object.state, where, "an array's state"), 5, where, "an array's state");
  constexpr size_t kMaxDims = 4;
  const PickleTuple& dims = expect_as<PickleTuple>(*state.items[1], where, "an array's shape");
  if (dims.items.size() > kMaxDims)
    fail(Status::kFormat, where, ": an array of ", dims.items.size(), " dimensions");
  std::vector<int64_t> shape;
  for (const auto& dim : dims.items) {
    const int64_t size = pickled_int(*dim, where);
    if (size < 0) fail(Status::kFormat, where, ": an array's dimension is ", size);
    shape.push_back(size);
  }
  const bool fortran = expect_as<bool>(*state.items[3], where, "an array's order");
  return as_tensor(dtype_descr(*state.items[2], where), fortran, shape,
                   expect_text(*state.items[4], where, "an array's bytes"), where);
}

base::CsrMatrix pickled_csr(const PickleValue& value, const std::string& where,
                            const io::SparseOptions& options) {
  const PickleObject& object = expect_as<PickleObject>(value, where, "a SciPy CSR matrix");
  if (!is_csr(object.module, object.name))
    fail(Status::kFormat, where, ": expected a SciPy CSR matrix, found ", object.module, ".",
         object.name);
  const PickleDict& state = expect_as<PickleDict>(expect(object.state, where, "a matrix's state"),
                                                  where, "a matrix's state");
  const auto member = [&](const char* name) -> const PickleValue& {
    for (const auto& [key, item] : state.items)
      if (const auto* text = key->as_text(); text && *text == name) return *item;
    fail(Status::kFormat, where, ": the matrix has no \"", name, "\"");
  };
  const auto array = [&](const char* name) {
    const std::string called = base::text(where, ", ", name);
    return io::NamedArray{pickled_array(member(name), called), called};
  };
  const PickleTuple& shape = expect_tuple(member("_shape"), 2, where, "a matrix's shape");
  return io::csr_from_arrays(array("indptr"), array("indices"), array("data"),
                             pickled_int(*shape.items[0], where),
                             pickled_int(*shape.items[1], where), options);
}

const PickleDict& pickled_dict(const PickleValue& value, const std::string& where) {
  if (const auto* dict = value.as<PickleDict>()) return *dict;
  const auto* object = value.as<PickleObject>();
  if (!object || !object->is("collections", "defaultdict"))
    fail(Status::kFormat, where, ": expected a dict, found another kind of value");
  return object->items;
}

int64_t pickled_int(const PickleValue& value, const std::string& where) {
  if (const auto* number = value.as<int64_t>()) return *number;
  const auto* object = value.as<PickleObject>();
  if (!object || !is_numpy_core(object->module) || object->name != "scalar")
    fail(Status::kFormat, where, ": expected an integer, found another kind of value");
  const PickleTuple& arguments = expect_tuple(expect(object->arguments, where, "a scalar's value"),
                                              2, where, "a scalar's arguments");
  const Tensor scalar =
      to_i64(as_tensor(dtype_descr(*arguments.items[0], where), false, {},
                       expect_text(*arguments.items[1], where, "a scalar's bytes"), where),
             where);
  return scalar.as<const int64_t>()[0];
}

}  // namespace gnnmg::data
