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

// Element types of files beyond the library's own types; the caller chooses whether they are
// converted or refused.
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

// Reads a header from the first bytes of a .npy and checks it against `file_bytes`, the size of the
// file. `start` has the whole file or at least kNpyStart bytes. Nothing is evaluated; object,
// structured, complex and date types are refused. Error(kFormat) naming `name`.
inline constexpr int64_t kNpyStart = 12 + (int64_t{64} << 10);
NpyHeader parse_npy_header(std::span<const uint8_t> start, int64_t file_bytes,
                           std::string_view name);

// Meaning of two-byte unsigned integers. NumPy has no bfloat16, so write_npy stores it as '<u2',
// and a caller that knows this from another source requests it when reading.
enum class U2 : uint8_t { kInteger, kBFloat16 };

// The array in native byte order and row-major order. Types that the library lacks (i8, u16, u32,
// u64, ...) are widened without loss if possible (u8 and bool stay; i8, i16, u16 -> i32; u32 ->
// i64; u64 -> i64, kRange if a value does not fit); byte and unicode strings are refused.
base::Tensor parse_npy(std::span<const uint8_t> bytes, std::string_view name, U2 u2 = U2::kInteger);
// parse_npy() of data that does not follow its header.
base::Tensor parse_npy(std::span<const uint8_t> header, std::span<const uint8_t> data,
                       std::string_view name);
base::Tensor read_npy(const std::string& path, U2 u2 = U2::kInteger);
// The array as a view of the mapped file if type and order are the library's own, else a copy as
// from read_npy. The owner of a view is the base::MappedFile.
base::Tensor map_npy(const std::string& path, U2 u2 = U2::kInteger);

// Writes version 1.0, data at a multiple of 64, atomically. f16 is written as '<f2', bf16 as '<u2'.
void write_npy(const std::string& path, const base::TensorView& tensor);
// Header bytes for streaming writers (the data follows).
std::string npy_header(base::DType dtype, const base::Shape& shape);

// An open .npz: entries by name without ".npy". The archive is validated when it is opened (zip.h),
// an entry when it is read. Copies share the archive; several threads may read at once.
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

// SciPy's sparse matrices in the form of scipy.sparse.save_npz: csr; csc, coo, bsr and dia are
// converted, with rows in the order of the columns, the file, the blocks or the diagonals. A file
// without the key "format" (files with a prefix, such as "adj_") is csr. Ids are checked against
// the shape. Values become f32: f64 are rounded to the nearest. A value that would become infinite
// is refused (kRange), and so is an inexact integer, unless `round_values`. Duplicates are kept, or
// added up with `sum_duplicates`, which also sorts each row by column.
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
// A matrix of the format csr, csc, coo, bsr or dia from SciPy's arrays for it ("data", "indices",
// "row", ...), from any source. `shape_name` names its shape in errors.
using ArrayByName = std::function<NamedArray(std::string_view name)>;
base::CsrMatrix sparse_from_arrays(std::string_view format, const ArrayByName& array,
                                   int64_t num_rows, int64_t num_cols,
                                   const std::string& shape_name, const SparseOptions& options);
base::CsrMatrix read_scipy_sparse(const Npz& npz, std::string_view prefix,
                                  const SparseOptions& options = {});

}  // namespace gnnmg::io
