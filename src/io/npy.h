// NumPy's array files: .npy versions 1 to 3, and .npz archives of them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/tensor.h"

namespace gnnmg::io {

// Element types that a file can have beyond the library's own; converted or refused by the caller's
// choice.
enum class NpyKind : uint8_t { kBool, kSigned, kUnsigned, kFloat, kBytes, kUnicode };

struct NpyHeader {
  NpyKind kind = NpyKind::kFloat;
  int32_t item_size = 0;  // bytes of one element as stored
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  int64_t data_offset = 0;  // relative to the start of the file
  int64_t num_elements() const;
  int64_t num_bytes() const;  // size of the data
};

// Reads a header out of the first bytes of a .npy (`file_bytes` is the size of the whole; `start`
// holds all of it or at least kNpyStart bytes), and checks it against that size. Nothing is
// evaluated; object, structured, complex and date types are refused. Error(kFormat) naming `name`.
inline constexpr int64_t kNpyStart = 12 + (int64_t{64} << 10);
NpyHeader parse_npy_header(std::span<const uint8_t> start, int64_t file_bytes,
                           std::string_view name);

// Meaning of two-byte unsigned integers. NumPy has no bfloat16, so write_npy stores it as '<u2',
// and a caller that knows this from another source requests it when reading.
enum class U2 : uint8_t { kInteger, kBFloat16 };

// The array in native byte order and row-major order. Types without a twin (i8, u16, u32, u64, ...)
// are widened without loss where possible (u8 and bool stay; i8, i16, u16 -> i32; u32 -> i64; u64
// -> i64, kRange when a value does not fit); byte and unicode strings are refused here.
base::Tensor parse_npy(std::span<const uint8_t> bytes, std::string_view name, U2 u2 = U2::kInteger);
// parse_npy() of data that does not follow its header.
base::Tensor parse_npy(std::span<const uint8_t> header, std::span<const uint8_t> data,
                       std::string_view name);
base::Tensor read_npy(const std::string& path, U2 u2 = U2::kInteger);
// The array as a view of the mapped file where type and order are the library's own, else read as
// read_npy does. The owner of a view is the base::MappedFile.
base::Tensor map_npy(const std::string& path, U2 u2 = U2::kInteger);

// Writes version 1.0, data at a multiple of 64, atomically. f16 is written as '<f2', bf16 as '<u2'.
void write_npy(const std::string& path, const base::TensorView& tensor);
// Header bytes for streaming writers (the data follows).
std::string npy_header(base::DType dtype, const base::Shape& shape);

// An .npz opened for reading: entries by name without ".npy". The archive is validated on opening
// (zip.h), an entry when it is read. Copies share; reading may be done by several threads at once.
class Npz {
 public:
  static Npz open(const std::string& path);
  static Npz parse(std::span<const uint8_t> bytes,
                   std::string name);  // `bytes` must outlive the object
  bool has(std::string_view key) const;
  std::vector<std::string> keys() const;
  base::Tensor get(std::string_view key) const;  // kNotFound naming key and file
  NpyHeader header(std::string_view key) const;  // reads no more than the start of the entry
  // A byte or unicode string of one element, as UTF-8, e.g. SciPy's "format".
  std::string get_text(std::string_view key) const;
  const std::string& name() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// SciPy's sparse matrices as scipy.sparse.save_npz writes them: csr; csc, coo, bsr and dia are
// converted, with rows in order of the columns, of the file, the blocks or the diagonals. Without
// the key "format" (files with a prefix, such as "adj_", have none) it is csr. Ids are checked
// against the shape. Values become f32: f64 are rounded to the nearest. A value that
// would become infinite is refused (kRange), and so is an inexact integer, unless `round_values`.
// Duplicates are kept or, asked for, added up, which also orders each row by column.
struct SparseOptions {
  bool round_values = false;  // integers too
  bool sum_duplicates = false;
};
// An array and its name in errors.
struct NamedArray {
  base::Tensor tensor;
  std::string name;
};
// A CSR matrix from its three arrays, checked and converted as above. Shares arrays that
// need no conversion; `sum_duplicates` changes the arrays in place.
base::CsrMatrix csr_from_arrays(const NamedArray& indptr, const NamedArray& indices,
                                const NamedArray& values, int64_t num_rows, int64_t num_cols,
                                const SparseOptions& options = {});
// A matrix of the format csr, csc, coo, bsr or dia from the arrays that SciPy has for it ("data",
// "indices", "row", ...), from any source. `shape_name` names its shape in errors.
using ArrayByName = std::function<NamedArray(std::string_view name)>;
base::CsrMatrix sparse_from_arrays(std::string_view format, const ArrayByName& array,
                                   int64_t num_rows, int64_t num_cols,
                                   const std::string& shape_name, const SparseOptions& options);
base::CsrMatrix read_scipy_sparse(const Npz& npz, std::string_view prefix,
                                  const SparseOptions& options = {});

}  // namespace gnnmg::io
