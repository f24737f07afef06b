#include "data/pickled_arrays.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "data/arrays.h"
#include "data/pickled_ints.h"
#include "io/pickle_expect.h"
#include "io/pickled_array.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;
using base::Tensor;
using io::expect;
using io::expect_as;
using io::expect_tuple;
using io::pickled_array;
using io::pickled_scalar;
using io::PickleDict;
using io::PickleGlobal;
using io::PickleObject;
using io::PickleTuple;
using io::PickleValue;

// The function by which protocols 0 and 1 make an object: (class, object, None).
bool is_reconstructor(std::string_view module, std::string_view name) {
  return name == "_reconstructor" && (module == "copy_reg" || module == "copyreg");
}
// The format of SciPy's class of sparse matrices, "csr"; empty where it is none.
std::string_view sparse_format(std::string_view module, std::string_view name) {
  constexpr std::string_view kPackage = "scipy.sparse.";
  if (!module.starts_with(kPackage)) return {};
  module.remove_prefix(kPackage.size());
  for (const std::string_view format : {"csr", "csc", "coo", "lil", "dok", "bsr", "dia"}) {
    const bool named = name.starts_with(format) && (name.substr(format.size()) == "_matrix" ||
                                                    name.substr(format.size()) == "_array");
    const bool placed = module == format || module == "_arrays" ||
                        (module.starts_with('_') && module.substr(1) == format);
    if (named && placed) return format;
  }
  return {};
}

std::pair<std::string_view, std::string_view> class_of(const PickleObject& object,
                                                       const std::string& where) {
  if (!is_reconstructor(object.module, object.name)) return {object.module, object.name};
  const PickleTuple& arguments =
      expect_tuple(expect(object.arguments, where, "an object's class"), 3, where, "an object");
  const auto& global = expect_as<PickleGlobal>(*arguments.items[0], where, "a class");
  return {global.module, global.name};
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
    case base::DType::kBool: {
      Tensor numbers = Tensor::empty(base::DType::kF32, table.shape());
      std::ranges::copy(table.as<const bool>(), numbers.as<float>().begin());
      return csr_of(numbers, where, options);
    }
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
    return dtype && std::string_view("iub").find(io::pickled_dtype(*dtype, where_)[1]) !=
                        std::string_view::npos;
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

// The numbers of a matrix, as integers where they were integers.
io::NamedArray values_of(const SparseState& state, const std::vector<double>& numbers,
                         const std::string& where) {
  return {state.has_integers() ? as_integers(numbers)
                               : Tensor::copy_of(std::span<const double>(numbers)),
          where + ", data"};
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
  return io::csr_from_arrays({Tensor::copy_of(std::span<const int64_t>(ends)), where + ", rows"},
                             {Tensor::copy_of(std::span<const int64_t>(ids)), where + ", rows"},
                             values_of(state, numbers, where), num_rows, num_cols, options);
}

// The entries of a matrix of the format dok, which is a dict itself: (class, dict, entries).
const PickleDict& entries_of(const PickleObject& object, const std::string& where) {
  const PickleTuple& arguments =
      expect_tuple(expect(object.arguments, where, "a matrix's entries"), 3, where, "a matrix");
  return expect_as<PickleDict>(*arguments.items[2], where, "a matrix's entries");
}

base::CsrMatrix csr_of_dict(const PickleDict& entries, const SparseState& state, int64_t num_rows,
                            int64_t num_cols, const std::string& where,
                            const io::SparseOptions& options) {
  std::vector<int64_t> rows, columns;
  std::vector<double> numbers;
  for (const auto& [key, value] : entries.items) {
    const PickleTuple& place = expect_tuple(*key, 2, where, "an entry's row and column");
    rows.push_back(pickled_int(*place.items[0], where));
    columns.push_back(pickled_int(*place.items[1], where));
    numbers.push_back(pickled_number(*value, where));
  }
  const auto array = [&](std::string_view name) -> io::NamedArray {
    if (name == "data") return values_of(state, numbers, where);
    const std::vector<int64_t>& ids = name == "row" ? rows : columns;
    return {Tensor::copy_of(std::span<const int64_t>(ids)), base::text(where, ", ", name)};
  };
  return io::sparse_from_arrays("coo", array, num_rows, num_cols, base::text(where, ", _shape"),
                                options);
}

}  // namespace

bool accept_array_globals(std::string_view module, std::string_view name) {
  if (io::accept_numpy_globals(module, name) || accept_collection_globals(module, name))
    return true;
  if (module == "numpy" || module == "numpy.matrixlib.defmatrix") return name == "matrix";
  return is_reconstructor(module, name) || !sparse_format(module, name).empty();
}

bool is_pickled_sparse(const PickleValue& value) {
  const auto* object = value.as<PickleObject>();
  if (!object) return false;
  if (!is_reconstructor(object->module, object->name))
    return !sparse_format(object->module, object->name).empty();
  const auto* arguments = object->arguments->as<PickleTuple>();
  const auto* global =
      arguments && !arguments->items.empty() ? arguments->items[0]->as<PickleGlobal>() : nullptr;
  return global && !sparse_format(global->module, global->name).empty();
}

base::CsrMatrix pickled_sparse(const PickleValue& value, const std::string& where,
                               const io::SparseOptions& options) {
  const PickleObject& object = expect_as<PickleObject>(value, where, "a SciPy matrix");
  if (io::is_pickled_array(value)) return csr_of(pickled_array(value, where), where, options);
  const auto [module, name] = class_of(object, where);
  const std::string_view format = sparse_format(module, name);
  if (format.empty())
    fail(Status::kFormat, where, ": expected a SciPy matrix, found ", module, ".", name);
  const SparseState state(object, where);
  const PickleTuple& shape = expect_tuple(state.member("_shape"), 2, where, "a matrix's shape");
  const int64_t rows = pickled_int(*shape.items[0], where),
                columns = pickled_int(*shape.items[1], where);
  if (format == "lil") return csr_of_lists(state, rows, columns, where, options);
  if (format == "dok")
    return csr_of_dict(entries_of(object, where), state, rows, columns, where, options);
  return io::sparse_from_arrays(
      format, [&](std::string_view name) { return state.array(name); }, rows, columns,
      base::text(where, ", _shape"), options);
}

}  // namespace gnnmg::data
