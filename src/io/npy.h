// NumPy's array files: .npy versions 1 to 3, and .npz archives of them.
#pragma once

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
  int64_t data_offset = 0;  // from the start of the file
  int64_t num_elements() const;
  int64_t num_bytes() const;  // of the data
};

// Reads a header out of the first bytes of a .npy (`file_bytes` is the size of the whole), checks
// it against the size. Nothing is evaluated; object and structured types are refused.
// Error(kFormat) naming `name`.
NpyHeader parse_npy_header(std::span<const uint8_t> start, int64_t file_bytes,
                           std::string_view name);

// The array in native byte order and row-major order. Types without a twin (i8, u16, u32, u64, ...)
// are widened without loss where possible (u8 and bool stay; i8, i16, u16 -> i32; u32 -> i64; u64
// -> i64, kRange when a value does not fit); byte and unicode strings are refused here.
base::Tensor parse_npy(std::span<const uint8_t> bytes, std::string_view name);
base::Tensor read_npy(const std::string& path);
// The array as a view of the mapped file where type and order are the library's own, else read as
// read_npy does.
base::Tensor map_npy(const std::string& path);

// Writes version 1.0, data at a multiple of 64, atomically. f16 is written as '<f2', bf16 as '<u2'.
void write_npy(const std::string& path, const base::TensorView& tensor);
// Header bytes for streaming writers (the data follows).
std::string npy_header(base::DType dtype, const base::Shape& shape);

// An .npz opened for reading: entries by name without ".npy". The archive is validated on opening
// (zip.h).
class Npz {
 public:
  static Npz open(const std::string& path);
  static Npz parse(std::span<const uint8_t> bytes,
                   std::string name);  // `bytes` must outlive the object
  bool has(std::string_view key) const;
  std::vector<std::string> keys() const;
  base::Tensor get(std::string_view key) const;  // kNotFound naming key and file
  NpyHeader header(std::string_view key) const;  // reads no more than the start of the entry
  std::string get_text(
      std::string_view key) const;  // 0-d byte or unicode string, e.g. SciPy's "format"

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// SciPy's sparse matrices as scipy.sparse.save_npz writes them (format csr; csc and coo are
// converted). Values become f32; f64 that is not exactly representable is refused unless
// `round_values`. Duplicates are kept or, asked for, added up.
struct SparseOptions {
  bool round_values = false;
  bool sum_duplicates = false;
};
base::CsrMatrix read_scipy_sparse(const Npz& npz, std::string_view prefix,
                                  const SparseOptions& options = {});

}  // namespace gnnmg::io
