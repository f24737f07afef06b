// Rows as a device keeps them: elements as given or narrower, each row beginning on 16 bytes.
#pragma once

#include <cstdint>
#include <span>

#include "base/tensor.h"
#include "base/thread_pool.h"

namespace gnnmg::feature {

// How elements are kept. Narrower ones take less memory and less of the bus, and are widened when
// rows are gathered.
enum class Form : int32_t {
  kAsGiven = 0,
  kF16 = 1,   // rounded to nearest even
  kBF16 = 2,  // the same
  // q in [-127, 127] and one f32 scale a row, max|row| / 127; q * scale is read back. With a normal
  // scale it differs from x by at most 0.50002 scales, and is x where x is a multiple of it.
  kInt8 = 3,
};

inline constexpr int64_t kRowAlignment = 16;  // bytes

int64_t form_size(Form form, base::DType dtype) noexcept;  // bytes of one element
// Bytes from row to row where a device keeps them.
int64_t packed_stride(int64_t cols, Form form, base::DType dtype) noexcept;

// Writes rows [begin, end) of `table`, whose rows may have any shape, to `out`, packed_stride()
// bytes apart, with zeros behind each row; `ids`, when it is not empty, are the rows instead:
// row ids[i] for i in [begin, end). `scales` [end - begin] is for kInt8 alone.
// Error(kInvalidArgument) for narrowing what is no f32, f16 or bf16, or f16 to bf16 and back; for
// an infinity or a NaN in int8, naming row and column. `pool` may be null.
void pack_rows(const base::TensorView& table, Form form, std::span<const int64_t> ids,
               int64_t begin, int64_t end, uint8_t* out, float* scales, base::ThreadPool* pool);

// What pack_rows() throws for the types alone.
void check_form(Form form, base::DType dtype);

}  // namespace gnnmg::feature
