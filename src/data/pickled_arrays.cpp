#include "data/pickled_arrays.h"

#include <algorithm>
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
// What protocol 5 makes arrays with.
bool is_from_buffer(std::string_view module, std::string_view name) {
  return name == "_frombuffer" &&
         (module == "numpy.core.numeric" || module == "numpy._core.numeric");
}
bool is_builtin(std::string_view module) { return module == "__builtin__" || module == "builtins"; }
// By which protocols 0 and 1 make an object: (class, object, None).
bool is_reconstructor(std::string_view module, std::string_view name) {
  return name == "_reconstructor" && (module == "copy_reg" || module == "copyreg");
}
// The format of SciPy's class of sparse matrices, "csr"; empty where it is none.
std::string_view sparse_format(std::string_view module, std::string_view name) {
  constexpr std::string_view kPackage = "scipy.sparse.";
  if (!module.starts_with(kPackage)) return {};
  module.remove_prefix(kPackage.size());
  for (const std::string_view format : {"csr", "csc", "coo", "lil", "bsr", "dia"}) {
    const bool named = name.starts_with(format) && (name.substr(format.size()) == "_matrix" ||
                                                    name.substr(format.size()) == "_array");
    const bool placed = module == format || module == "_arrays" ||
                        (module.starts_with('_') && module.substr(1) == format);
    if (named && placed) return format;
  }
  return {};
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

// Bytes as they are, or as Python 3 writes them in protocol 2. The view is of the pickle or of
// `decoded`.
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
    fail(Status::kFormat, where, ": ", what, " in the encoding \"", io::printable(encoding),
         "\", expected latin1");
  return decoded = latin1_of(expect_text(*arguments[0], where, what), where);
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

std::vector<int64_t> shape_of(const PickleValue& value, const std::string& where) {
  constexpr size_t kMaxDims = 4;
  const PickleTuple& dims = expect_as<PickleTuple>(value, where, "an array's shape");
  if (dims.items.size() > kMaxDims)
    fail(Status::kFormat, where, ": an array of ", dims.items.size(), " dimensions");
  std::vector<int64_t> shape;
  for (const auto& dim : dims.items) {
    const int64_t size = pickled_int(*dim, where);
    if (size < 0) fail(Status::kFormat, where, ": an array's dimension is ", size);
    shape.push_back(size);
  }
  return shape;
}

// numpy.core.numeric._frombuffer(bytes, dtype, shape, order)
Tensor array_from_buffer(const PickleObject& object, const std::string& where) {
  const auto& arguments = expect_tuple(expect(object.arguments, where, "an array's arguments"), 4,
                                       where, "an array's arguments")
                              .items;
  const std::string_view order = expect_text(*arguments[3], where, "an array's order");
  if (order != "C" && order != "F")
    fail(Status::kFormat, where, ": an array of order \"", io::printable(order),
         "\", expected C or F; numpy.ascontiguousarray() makes one");
  std::string decoded;
  return as_tensor(dtype_descr(*arguments[1], where), order == "F", shape_of(*arguments[2], where),
                   expect_bytes(*arguments[0], where, "an array's bytes", decoded), where);
}

std::pair<std::string_view, std::string_view> class_of(const PickleObject& object,
                                                       const std::string& where) {
  if (!is_reconstructor(object.module, object.name)) return {object.module, object.name};
  const PickleTuple& arguments =
      expect_tuple(expect(object.arguments, where, "an object's class"), 3, where, "an object");
  const auto& global = expect_as<PickleGlobal>(*arguments.items[0], where, "a class");
  return {global.module, global.name};
}

// A NumPy number, as a tensor of no dimension.
Tensor pickled_scalar(const PickleValue& value, const std::string& where) {
  const auto* object = value.as<PickleObject>();
  if (!object || !is_numpy_core(object->module) || object->name != "scalar")
    fail(Status::kFormat, where, ": expected a number, found another kind of value");
  const PickleTuple& arguments = expect_tuple(expect(object->arguments, where, "a scalar's value"),
                                              2, where, "a scalar's arguments");
  std::string decoded;
  const std::string_view bytes =
      expect_bytes(*arguments.items[1], where, "a scalar's bytes", decoded);
  return as_tensor(dtype_descr(*arguments.items[0], where), false, {}, bytes, where);
}

Tensor widened(const Tensor& halves) {
  Tensor floats = Tensor::empty(base::DType::kF32, halves.shape());
  const auto* bits = static_cast<const uint16_t*>(halves.data());
  for (float& number : floats.as<float>()) number = base::f16_to_f32(*bits++);
  return floats;
}

// The numbers of a dense array that are not 0, row by row.
base::CsrMatrix csr_of(const Tensor& table, const std::string& where,
                       const io::SparseOptions& options) {
  if (table.shape().num_dims != 2)
    fail(Status::kFormat, where, ": an array of shape ", table.shape().to_string(),
         ", expected [n, columns]");
  const int64_t rows = table.rows(), columns = table.shape()[1];
  Tensor indptr = Tensor::empty(base::DType::kI64, {rows + 1});
  std::vector<int32_t> indices;
  const auto gather = [&](auto numbers) {
    using T = std::remove_cv_t<typename decltype(numbers)::element_type>;
    std::vector<T> kept;
    const auto ends = indptr.as<int64_t>();
    ends[0] = 0;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t c = 0; c < columns; ++c) {
        const T number = numbers[row * columns + c];
        if (number == T{0}) continue;
        indices.push_back(static_cast<int32_t>(c));
        kept.push_back(number);
      }
      ends[row + 1] = static_cast<int64_t>(indices.size());
    }
    return Tensor::copy_of(std::span<const T>(kept));
  };
  Tensor values;
  switch (table.dtype()) {
    case base::DType::kF16:
      return csr_of(widened(table), where, options);
    case base::DType::kF32:
      values = gather(table.as<const float>());
      break;
    case base::DType::kF64:
      values = gather(table.as<const double>());
      break;
    default:
      values = gather(to_i64(table, where).as<const int64_t>());
  }
  return io::csr_from_arrays({std::move(indptr), where},
                             {Tensor::copy_of(std::span<const int32_t>(indices)), where},
                             {std::move(values), where}, rows, columns, options);
}

// The state of a SciPy matrix, by attribute name.
class SparseState {
 public:
  SparseState(const PickleObject& object, const std::string& where)
      : state_(expect_as<PickleDict>(expect(object.state, where, "a matrix's state"), where,
                                     "a matrix's state")),
        where_(where) {}

  const PickleValue* find(std::string_view name) const {
    for (const auto& [key, item] : state_.items)
      if (const auto* text = key->as_text(); text && *text == name) return item.get();
    return nullptr;
  }
  const PickleValue& member(std::string_view name) const {
    if (const PickleValue* found = find(name)) return *found;
    fail(Status::kFormat, where_, ": the matrix has no \"", name, "\"");
  }
  // Newer versions have the ids of coo in a tuple, "coords".
  io::NamedArray array(std::string_view name) const {
    const std::string called = base::text(where_, ", ", name);
    const PickleValue* coords = find("coords");
    if (!coords || (name != "row" && name != "col"))
      return {pickled_array(member(name), called), called};
    const auto& ids = expect_tuple(*coords, 2, where_, "a matrix's coords").items;
    return {pickled_array(*ids[name == "col"], called), called};
  }
  bool has_integers() const {
    const PickleValue* dtype = find("dtype");
    return dtype &&
           std::string_view("iub").find(dtype_descr(*dtype, where_)[1]) != std::string_view::npos;
  }
  // The lists in an array of objects, one a row.
  std::vector<const io::PickleList*> lists(const char* name) const {
    const auto& object = expect_as<PickleObject>(member(name), where_, "an array of lists");
    const PickleTuple& state = expect_tuple(expect(object.state, where_, "an array's state"), 5,
                                            where_, "an array's state");
    std::vector<const io::PickleList*> rows;
    for (const io::PickleRef& row :
         expect_as<io::PickleList>(*state.items[4], where_, "an array's objects").items)
      rows.push_back(&expect_as<io::PickleList>(*row, where_, "a row's list"));
    return rows;
  }

 private:
  const PickleDict& state_;
  const std::string& where_;
};

double pickled_number(const PickleValue& value, const std::string& where) {
  if (const auto* number = value.as<double>()) return *number;
  if (const auto* flag = value.as<bool>()) return *flag;
  if (const auto* whole = value.as<int64_t>()) return static_cast<double>(*whole);
  const Tensor scalar = pickled_scalar(value, where);
  switch (scalar.dtype()) {
    case base::DType::kF32:
      return scalar.as<const float>()[0];
    case base::DType::kF64:
      return scalar.as<const double>()[0];
    default:
      return static_cast<double>(to_i64(scalar, where).as<const int64_t>()[0]);
  }
}

// Numbers that were integers, which are not rounded.
Tensor as_integers(std::span<const double> numbers) {
  Tensor whole = Tensor::empty(base::DType::kI64, {static_cast<int64_t>(numbers.size())});
  std::ranges::transform(numbers, whole.as<int64_t>().begin(),
                         [](double number) { return static_cast<int64_t>(number); });
  return whole;
}

// A matrix of the format lil: of each row a list of columns, and one of values.
base::CsrMatrix csr_of_lists(const SparseState& state, int64_t num_rows, int64_t num_cols,
                             const std::string& where, const io::SparseOptions& options) {
  const auto columns = state.lists("rows"), values = state.lists("data");
  if (columns.size() != values.size())
    fail(Status::kFormat, where, ": the matrix has ", columns.size(), " rows, and values of ",
         values.size());
  std::vector<int64_t> ends{0}, ids;
  std::vector<double> numbers;
  for (size_t row = 0; row < columns.size(); ++row) {
    const std::string in_row = base::text(where, ", row ", row);
    for (const io::PickleRef& column : columns[row]->items)
      ids.push_back(pickled_int(*column, in_row));
    for (const io::PickleRef& value : values[row]->items)
      numbers.push_back(pickled_number(*value, in_row));
    if (ids.size() != numbers.size())
      fail(Status::kFormat, in_row, ": its columns and its values differ in number");
    ends.push_back(static_cast<int64_t>(ids.size()));
  }
  return io::csr_from_arrays(
      {Tensor::copy_of(std::span<const int64_t>(ends)), where + ", rows"},
      {Tensor::copy_of(std::span<const int64_t>(ids)), where + ", rows"},
      {state.has_integers() ? as_integers(numbers)
                            : Tensor::copy_of(std::span<const double>(numbers)),
       where + ", data"},
      num_rows, num_cols, options);
}

}  // namespace

bool accept_array_globals(std::string_view module, std::string_view name) {
  if (is_numpy_core(module)) return name == "_reconstruct" || name == "scalar";
  if (module == "numpy") return name == "ndarray" || name == "dtype" || name == "matrix";
  if (module == "numpy.matrixlib.defmatrix") return name == "matrix";
  if (module == "collections") return name == "defaultdict" || name == "OrderedDict";
  if (is_builtin(module))
    return name == "list" || name == "set" || name == "frozenset" || name == "bytes" ||
           name == "object";
  if (is_reconstructor(module, name)) return true;
  if (module == "_codecs") return name == "encode";
  return !sparse_format(module, name).empty() || is_from_buffer(module, name);
}

Tensor pickled_array(const PickleValue& value, const std::string& where) {
  const PickleObject& object = expect_as<PickleObject>(value, where, "a NumPy array");
  if (is_from_buffer(object.module, object.name)) return array_from_buffer(object, where);
  if (!is_numpy_core(object.module) || object.name != "_reconstruct")
    fail(Status::kFormat, where, ": expected a NumPy array, found ", object.module, ".",
         object.name);
  const PickleTuple& state =
      expect_tuple(expect(object.state, where, "an array's state"), 5, where, "an array's state");
  const bool fortran = expect_as<bool>(*state.items[3], where, "an array's order");
  std::string decoded;
  return as_tensor(dtype_descr(*state.items[2], where), fortran, shape_of(*state.items[1], where),
                   expect_bytes(*state.items[4], where, "an array's bytes", decoded), where);
}

base::CsrMatrix pickled_sparse(const PickleValue& value, const std::string& where,
                               const io::SparseOptions& options) {
  const PickleObject& object = expect_as<PickleObject>(value, where, "a SciPy matrix");
  if (is_numpy_core(object.module) || is_from_buffer(object.module, object.name))
    return csr_of(pickled_array(value, where), where, options);
  const auto [module, name] = class_of(object, where);
  const std::string_view format = sparse_format(module, name);
  if (format.empty())
    fail(Status::kFormat, where, ": expected a SciPy matrix, found ", module, ".", name);
  const SparseState state(object, where);
  const PickleTuple& shape = expect_tuple(state.member("_shape"), 2, where, "a matrix's shape");
  const int64_t rows = pickled_int(*shape.items[0], where),
                columns = pickled_int(*shape.items[1], where);
  if (format == "lil") return csr_of_lists(state, rows, columns, where, options);
  return io::sparse_from_arrays(
      format, [&](std::string_view name) { return state.array(name); }, rows, columns,
      base::text(where, ", _shape"), options);
}

const PickleDict& pickled_dict(const PickleValue& value, const std::string& where) {
  if (const auto* dict = value.as<PickleDict>()) return *dict;
  const auto* object = value.as<PickleObject>();
  if (!object ||
      (!object->is("collections", "defaultdict") && !object->is("collections", "OrderedDict")))
    fail(Status::kFormat, where, ": expected a dict, found another kind of value");
  return object->items;
}

int64_t pickled_int(const PickleValue& value, const std::string& where) {
  if (const auto* number = value.as<int64_t>()) return *number;
  return to_i64(pickled_scalar(value, where), where).as<const int64_t>()[0];
}

std::vector<int64_t> pickled_ints(const PickleValue& value, const std::string& where) {
  std::vector<int64_t> numbers;
  const auto take = [&](const std::vector<io::PickleRef>& items) {
    numbers.reserve(items.size());
    for (const io::PickleRef& item : items) numbers.push_back(pickled_int(*item, where));
    return std::move(numbers);
  };
  if (const auto* list = value.as<io::PickleList>()) return take(list->items);
  if (const auto* tuple = value.as<PickleTuple>()) return take(tuple->items);
  const auto* object = value.as<PickleObject>();
  if (!object)
    fail(Status::kFormat, where, ": expected a list of integers, found another kind of value");
  if (is_builtin(object->module) && object->name.ends_with("set")) {  // of a list
    const PickleTuple& arguments = expect_tuple(*object->arguments, 1, where, "a set");
    return take(expect_as<io::PickleList>(*arguments.items[0], where, "a set's list").items);
  }
  const Tensor array = to_i64(pickled_array(value, where), where);
  if (array.shape().num_dims != 1)
    fail(Status::kFormat, where, ": an array of shape ", array.shape().to_string(),
         ", expected one dimension");
  const auto span = array.as<const int64_t>();
  numbers.assign(span.begin(), span.end());
  return numbers;
}

}  // namespace gnnmg::data
