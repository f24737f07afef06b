#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "io/bytes.h"
#include "io/npy.h"

namespace gnnmg::io {
namespace {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;

// Limit of rows without proof: in a matrix of coordinates the height is a single number, which must
// not cause an allocation of any size.
constexpr int64_t kFreeRows = int64_t{1} << 20;
constexpr int64_t kFreeRowsPerEntry = 16;

NamedArray array_of(const Npz& npz, const std::string& key) {
  return {npz.get(key), base::text(npz.name(), ", array \"", key, "\"")};
}

void expect_vector(const NamedArray& array) {
  if (array.tensor.shape().num_dims != 1)
    fail(Status::kFormat, array.name, ": has shape ", array.tensor.shape().to_string(),
         ", expected one dimension");
}

// An index array as int64.
Tensor index_vector(const NamedArray& array) {
  expect_vector(array);
  const Tensor& tensor = array.tensor;
  if (tensor.dtype() == DType::kI64) return tensor;
  if (tensor.dtype() != DType::kI32 && tensor.dtype() != DType::kU8)
    fail(Status::kFormat, array.name, ": has type ", base::dtype_name(tensor.dtype()),
         ", expected integers");
  Tensor wide = Tensor::empty(DType::kI64, tensor.shape());
  if (tensor.dtype() == DType::kI32)
    std::copy_n(tensor.as<int32_t>().begin(), tensor.rows(), wide.as<int64_t>().begin());
  else
    std::copy_n(tensor.as<uint8_t>().begin(), tensor.rows(), wide.as<int64_t>().begin());
  return wide;
}

// Ids in [0, limit) as int32; int32 input is checked in place.
Tensor ids(const NamedArray& array, int64_t limit) {
  expect_vector(array);
  const auto check = [&](auto values) {
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] < 0 || values[i] >= limit)
        fail(Status::kFormat, array.name, ": element ", i, " is ", values[i], ", expected 0 to ",
             limit - 1);
  };
  if (array.tensor.dtype() == DType::kI32) {
    check(array.tensor.as<int32_t>());
    return array.tensor;
  }
  const Tensor tensor = index_vector(array);
  const std::span<int64_t> wide = tensor.as<int64_t>();
  check(wide);
  Tensor narrow = Tensor::empty(DType::kI32, tensor.shape());
  std::transform(wide.begin(), wide.end(), narrow.as<int32_t>().begin(),
                 [](int64_t id) { return static_cast<int32_t>(id); });
  return narrow;
}

// The nearest float. Counts and ids keep their value, so an integer must be exact unless `round`.
template <typename T>
float to_float(T value, bool round, const std::string& name, int64_t i) {
  const auto narrow = static_cast<float>(value);
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isinf(narrow) && !std::isinf(value))
      fail(Status::kRange, name, ": element ", i, " is ", value,
           ", which is beyond the range of 32-bit floats");
  } else {
    // 2^63 as a float would not fit back.
    if (!round && !(narrow < 9.2e18f && static_cast<T>(narrow) == value))
      fail(Status::kRange, name, ": element ", i, " is ", value,
           ", which is not exact as a 32-bit float; round_values accepts it");
  }
  return narrow;
}

Tensor float_values(const NamedArray& array, bool round) {
  expect_vector(array);
  const Tensor& tensor = array.tensor;
  if (tensor.dtype() == DType::kF32) return tensor;
  Tensor out = Tensor::empty(DType::kF32, tensor.shape());
  const std::span<float> to = out.as<float>();
  const auto convert = [&](auto from) {
    for (size_t i = 0; i < from.size(); ++i) to[i] = to_float(from[i], round, array.name, i);
  };
  switch (tensor.dtype()) {
    case DType::kF64:
      convert(tensor.as<double>());
      break;
    case DType::kI64:
      convert(tensor.as<int64_t>());
      break;
    case DType::kI32:
      convert(tensor.as<int32_t>());
      break;
    case DType::kU8:
      convert(tensor.as<uint8_t>());
      break;
    case DType::kBool:
      convert(tensor.as<bool>());
      break;
    default: {  // f16; .npy files have no bf16
      const auto* bits = static_cast<const uint16_t*>(tensor.data());
      for (size_t i = 0; i < to.size(); ++i) to[i] = base::f16_to_f32(bits[i]);
    }
  }
  return out;
}

// Checks a pointer array for `count` rows (or columns) over `nnz` entries.
void check_pointers(std::span<const int64_t> pointers, int64_t count, int64_t nnz,
                    const std::string& name) {
  const auto refuse = [&](const auto&... what) { fail(Status::kFormat, name, ": ", what...); };
  if (static_cast<int64_t>(pointers.size()) != count + 1)
    refuse("has ", pointers.size(), " elements, expected ", count + 1, " by the shape");
  if (pointers.front() != 0) refuse("begins with ", pointers.front(), ", expected 0");
  for (size_t i = 1; i < pointers.size(); ++i)
    if (pointers[i] < pointers[i - 1])
      refuse("falls from ", pointers[i - 1], " to ", pointers[i], " at element ", i);
  if (pointers.back() != nnz)
    refuse("ends with ", pointers.back(), ", expected the number of entries, ", nnz);
}

void check_count(const Tensor& tensor, const std::string& name, int64_t nnz,
                 const std::string& values_name) {
  if (tensor.rows() != nnz)
    fail(Status::kFormat, name, ": has ", tensor.rows(), " elements, expected ", nnz, " as ",
         values_name, " has");
}

// Sorts entries (row, column, value), in the given order, into rows; `column_of(i)` is entry i's
// column.
template <typename ColumnOf>
base::CsrMatrix group_by_row(int64_t num_rows, int64_t num_cols, std::span<const int32_t> rows,
                             const ColumnOf& column_of, std::span<const float> values) {
  const auto nnz = static_cast<int64_t>(rows.size());
  base::CsrMatrix matrix{num_rows, num_cols, Tensor::zeros(DType::kI64, {num_rows + 1}),
                         Tensor::empty(DType::kI32, {nnz}), Tensor::empty(DType::kF32, {nnz})};
  // indptr[r + 1] first counts row r, then is the position of its next entry, and finally its end.
  const std::span<int64_t> indptr = matrix.indptr.as<int64_t>();
  for (const int32_t row : rows) ++indptr[row + 1];
  int64_t begin = 0;
  for (int64_t row = 0; row < num_rows; ++row) {
    const int64_t count = indptr[row + 1];
    indptr[row + 1] = begin;
    begin += count;
  }
  const std::span<int32_t> out_columns = matrix.indices.as<int32_t>();
  const std::span<float> out_values = matrix.values.as<float>();
  for (int64_t i = 0; i < nnz; ++i) {
    const int64_t at = indptr[rows[i] + 1]++;
    out_columns[at] = column_of(i);
    out_values[at] = values[i];
  }
  return matrix;
}

void add_up_duplicates(base::CsrMatrix& matrix) {
  const std::span<int64_t> indptr = matrix.indptr.as<int64_t>();
  const std::span<int32_t> columns = matrix.indices.as<int32_t>();
  const std::span<float> values = matrix.values.as<float>();
  std::vector<std::pair<int32_t, float>> row;
  int64_t kept = 0, begin = 0;
  for (int64_t r = 0; r < matrix.num_rows; ++r) {
    const int64_t end = indptr[r + 1];
    row.clear();
    for (int64_t i = begin; i < end; ++i) row.emplace_back(columns[i], values[i]);
    std::stable_sort(row.begin(), row.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0 && row[i].first == row[i - 1].first) {
        values[kept - 1] += row[i].second;
      } else {
        columns[kept] = row[i].first;
        values[kept++] = row[i].second;
      }
    }
    begin = end;
    indptr[r + 1] = kept;
  }
  matrix.indices = Tensor({columns.data(), DType::kI32, {kept}}, matrix.indices.owner());
  matrix.values = Tensor({values.data(), DType::kF32, {kept}}, matrix.values.owner());
}

// A matrix as stored.
struct Archive {
  const ArrayByName& array;
  int64_t num_rows, num_cols;
  const std::string& shape_name;
  const SparseOptions& options;

  // Called before a matrix is made whose arrays do not prove its rows.
  void check_rows(int64_t nnz) const {
    if (num_rows > kFreeRows + kFreeRowsPerEntry * nnz)
      fail(Status::kFormat, shape_name, ": claims ", num_rows, " rows for ", nnz, " entries");
  }
};

base::CsrMatrix read_csc(const Archive& archive) {
  const NamedArray data = archive.array("data"), indices = archive.array("indices"),
                   indptr = archive.array("indptr");
  const Tensor values = float_values(data, archive.options.round_values);
  const int64_t nnz = values.rows();
  archive.check_rows(nnz);
  const Tensor rows = ids(indices, archive.num_rows);
  check_count(rows, indices.name, nnz, data.name);
  const Tensor ends = index_vector(indptr);
  const std::span<const int64_t> pointers = ends.as<int64_t>();
  check_pointers(pointers, archive.num_cols, nnz, indptr.name);
  size_t column = 0;
  return group_by_row(
      archive.num_rows, archive.num_cols, rows.as<int32_t>(),
      [&](int64_t i) {  // called with increasing i
        while (pointers[column + 1] <= i) ++column;
        return static_cast<int32_t>(column);
      },
      values.as<float>());
}

base::CsrMatrix read_coo(const Archive& archive) {
  const NamedArray data = archive.array("data"), row = archive.array("row"),
                   col = archive.array("col");
  const Tensor values = float_values(data, archive.options.round_values);
  const int64_t nnz = values.rows();
  archive.check_rows(nnz);
  const Tensor rows = ids(row, archive.num_rows), columns = ids(col, archive.num_cols);
  check_count(rows, row.name, nnz, data.name);
  check_count(columns, col.name, nnz, data.name);
  const std::span<const int32_t> column = columns.as<int32_t>();
  return group_by_row(
      archive.num_rows, archive.num_cols, rows.as<int32_t>(), [&](int64_t i) { return column[i]; },
      values.as<float>());
}

// Concatenates the values of an array of several dimensions.
Tensor flat_values(const NamedArray& array, int num_dims, bool round) {
  const base::Shape& shape = array.tensor.shape();
  if (shape.num_dims != num_dims)
    fail(Status::kFormat, array.name, ": has shape ", shape.to_string(), ", expected ", num_dims,
         " dimensions");
  const Tensor& t = array.tensor;
  return float_values(
      {Tensor({t.data(), t.dtype(), {shape.num_elements()}}, t.owner()), array.name}, round);
}

// A CSR matrix of small dense blocks, including zeros, converted as SciPy's `tocsr()` does.
base::CsrMatrix read_bsr(const Archive& archive) {
  const NamedArray data = archive.array("data"), indices = archive.array("indices"),
                   indptr = archive.array("indptr");
  const Tensor values = flat_values(data, 3, archive.options.round_values);
  const base::Shape& shape = data.tensor.shape();
  const int64_t blocks = shape[0], height = shape[1], width = shape[2];
  if (height < 1 || width < 1 || archive.num_rows % height != 0 || archive.num_cols % width != 0)
    fail(Status::kFormat, data.name, ": has blocks of ", height, " x ", width,
         ", which do not divide a matrix of ", archive.num_rows, " x ", archive.num_cols);
  const Tensor columns = ids(indices, archive.num_cols / width), ends = index_vector(indptr);
  check_count(columns, indices.name, blocks, data.name);
  const std::span<const int64_t> pointers = ends.as<int64_t>();
  check_pointers(pointers, archive.num_rows / height, blocks, indptr.name);
  const int64_t nnz = values.rows();
  archive.check_rows(nnz);
  base::CsrMatrix matrix{archive.num_rows, archive.num_cols,
                         Tensor::zeros(DType::kI64, {archive.num_rows + 1}),
                         Tensor::empty(DType::kI32, {nnz}), Tensor::empty(DType::kF32, {nnz})};
  const auto row_ends = matrix.indptr.as<int64_t>();
  const auto column_of = columns.as<int32_t>();
  const auto from = values.as<float>();
  auto column = matrix.indices.as<int32_t>().begin();
  auto value = matrix.values.as<float>().begin();
  for (int64_t row = 0; row < archive.num_rows; ++row) {
    const int64_t first = pointers[row / height], last = pointers[row / height + 1];
    for (int64_t b = first; b < last; ++b) {
      value = std::copy_n(from.begin() + (b * height + row % height) * width, width, value);
      std::iota(column, column + width, static_cast<int32_t>(column_of[b] * width));
      column += width;
    }
    row_ends[row + 1] = row_ends[row] + (last - first) * width;
  }
  return matrix;
}

// Diagonals: element j of the diagonal with offset k is in row j - k, column j. Zeros in them are
// padding.
base::CsrMatrix read_dia(const Archive& archive) {
  const NamedArray data = archive.array("data"), offsets = archive.array("offsets");
  const Tensor values = flat_values(data, 2, archive.options.round_values);
  const int64_t length = data.tensor.shape()[1];
  const Tensor shifts = index_vector(offsets);
  check_count(shifts, offsets.name, data.tensor.rows(), data.name);
  archive.check_rows(values.rows());
  std::vector<int32_t> rows, columns;
  std::vector<float> kept;
  for (int64_t d = 0; d < shifts.rows(); ++d) {
    const int64_t offset = shifts.as<int64_t>()[d];
    if (offset <= -archive.num_rows || offset >= archive.num_cols) continue;
    const int64_t end = std::min({length, archive.num_cols, archive.num_rows + offset});
    for (int64_t j = std::max<int64_t>(0, offset); j < end; ++j) {
      const float value = values.as<float>()[d * length + j];
      if (value == 0) continue;
      rows.push_back(static_cast<int32_t>(j - offset));
      columns.push_back(static_cast<int32_t>(j));
      kept.push_back(value);
    }
  }
  return group_by_row(
      archive.num_rows, archive.num_cols, rows, [&](int64_t i) { return columns[i]; }, kept);
}

base::CsrMatrix read_csr(const Archive& archive) {
  SparseOptions as_they_are = archive.options;
  as_they_are.sum_duplicates = false;
  return csr_from_arrays(archive.array("indptr"), archive.array("indices"), archive.array("data"),
                         archive.num_rows, archive.num_cols, as_they_are);
}

struct Format {
  std::string_view name;
  base::CsrMatrix (*read)(const Archive&);
};
constexpr Format kFormats[] = {
    {"csr", read_csr}, {"csc", read_csc}, {"coo", read_coo}, {"bsr", read_bsr}, {"dia", read_dia}};

}  // namespace

base::CsrMatrix csr_from_arrays(const NamedArray& indptr, const NamedArray& indices,
                                const NamedArray& values, int64_t num_rows, int64_t num_cols,
                                const SparseOptions& options) {
  constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();
  if (num_rows < 0 || num_cols < 0 || num_rows > kMaxSize || num_cols > kMaxSize)
    fail(Status::kFormat, indptr.name, ": belongs to a matrix of ", num_rows, " x ", num_cols,
         ", expected sizes from 0 to ", kMaxSize);
  base::CsrMatrix matrix{num_rows, num_cols, index_vector(indptr), ids(indices, num_cols),
                         float_values(values, options.round_values)};
  check_count(matrix.indices, indices.name, matrix.values.rows(), values.name);
  check_pointers(matrix.indptr.as<int64_t>(), num_rows, matrix.values.rows(), indptr.name);
  if (options.sum_duplicates) add_up_duplicates(matrix);
  return matrix;
}

base::CsrMatrix sparse_from_arrays(std::string_view format, const ArrayByName& array,
                                   int64_t num_rows, int64_t num_cols,
                                   const std::string& shape_name, const SparseOptions& options) {
  const auto* known = std::ranges::find(kFormats, format, &Format::name);
  if (known == std::end(kFormats))
    fail(Status::kFormat, shape_name, ": belongs to a sparse matrix of format \"",
         printable(format),
         "\", expected csr, csc, coo, bsr or dia; matrix.tocsr() of SciPy makes the first");
  constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();
  if (num_rows < 0 || num_cols < 0 || num_rows > kMaxSize || num_cols > kMaxSize)
    fail(Status::kFormat, shape_name, ": is ", num_rows, " x ", num_cols,
         ", expected sizes from 0 to ", kMaxSize);
  base::CsrMatrix matrix = known->read({array, num_rows, num_cols, shape_name, options});
  if (options.sum_duplicates) add_up_duplicates(matrix);
  return matrix;
}

base::CsrMatrix read_scipy_sparse(const Npz& npz, std::string_view prefix,
                                  const SparseOptions& options) {
  const auto key = [prefix](std::string_view name) { return base::text(prefix, name); };
  const bool implied = !prefix.empty() && !npz.has(key("format"));
  const std::string format = implied ? "csr" : npz.get_text(key("format"));
  const NamedArray shape_array = array_of(npz, key("shape"));
  const Tensor shape = index_vector(shape_array);
  if (shape.rows() != 2)
    fail(Status::kFormat, shape_array.name, ": has ", shape.rows(), " elements, expected 2");
  return sparse_from_arrays(
      format, [&](std::string_view name) { return array_of(npz, key(name)); },
      shape.as<int64_t>()[0], shape.as<int64_t>()[1], shape_array.name, options);
}

}  // namespace gnnmg::io
