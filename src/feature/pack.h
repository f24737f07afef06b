// Rows in the format of a device store: elements as given or narrower, each row aligned to 16
// bytes.
#pragma once

#include <cstdint>
#include <span>

#include "base/tensor.h"
#include "base/thread_pool.h"

namespace gnnmg::feature {

// The stored form of elements. Narrower forms take less memory and bus bandwidth, and are widened
// when rows are gathered.
enum class Form : int32_t {
  kAsGiven = 0,
  kF16 = 1,   // rounded to nearest even
  kBF16 = 2,  // rounded to nearest even
  // q in [-127, 127] and one f32 scale per row, max|row| / 127; a read gives q * scale. With a
  // normal scale it differs from x by at most 0.50002 scales, and equals x if x is a multiple of
  // the scale.
  kInt8 = 3,
};

inline constexpr int64_t kRowAlignment = 16;  // bytes

int64_t form_size(Form form, base::DType dtype) noexcept;  // bytes of one element
// Bytes from one row to the next in a device store.
int64_t packed_stride(int64_t cols, Form form, base::DType dtype) noexcept;

// Writes rows [begin, end) of `table`, whose rows may have any shape, to `out`, packed_stride()
// bytes apart, with zeros after each row. If `ids` is not empty, writes row ids[i] for i in [begin,
// end) instead. `scales` [end - begin] is only for kInt8. Error(kInvalidArgument) for narrowing a
// type other than f32, f16 or bf16, or f16 to bf16 and back; for an infinity or a NaN in int8,
// naming row and column. `pool` may be null.
void pack_rows(const base::TensorView& table, Form form, std::span<const int64_t> ids,
               int64_t begin, int64_t end, uint8_t* out, float* scales, base::ThreadPool* pool);

// The checks of pack_rows() that depend only on the types.
void check_form(Form form, base::DType dtype);

}  // namespace gnnmg::feature
