#include "data/arrays.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/file.h"
#include "base/memory.h"
#include "io/bytes.h"

namespace gnnmg::data {
namespace {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;
using base::ThreadPool;

constexpr int64_t kGrain = 1 << 17;
constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

void lower(std::atomic<int64_t>& smallest, int64_t value) {
  int64_t seen = smallest.load(std::memory_order_relaxed);
  while (value < seen && !smallest.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

template <typename F>
decltype(auto) visit_ids(const Tensor& ids, F&& f) {
  if (ids.dtype() == DType::kI64) return f(std::span<const int64_t>(ids.as<const int64_t>()));
  return f(std::span<const int32_t>(ids.as<const int32_t>()));
}

bool is_id_type(DType dtype) { return dtype == DType::kI64 || dtype == DType::kI32; }

bool fits_i32(const Tensor& ids, ThreadPool& pool) {
  const auto values = ids.as<const int64_t>();
  std::atomic<bool> fits{true};
  pool.parallel_for(static_cast<int64_t>(values.size()), kGrain, [&](int64_t begin, int64_t end) {
    int64_t outside = 0;
    for (int64_t i = begin; i < end; ++i) outside |= values[i] ^ static_cast<int32_t>(values[i]);
    if (outside != 0) fits.store(false, std::memory_order_relaxed);
  });
  return fits.load();
}

// The first word that is `bad`, or -1. Block by block, without a way out in the middle of one: so
// the compiler makes vector code of it, which takes words as fast as memory yields them.
template <typename Word, typename Bad>
int64_t find_word(const void* data, int64_t count, Bad bad) noexcept {
  constexpr int64_t kBlock = 2048;
  const Word* words = static_cast<const Word*>(data);
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, count);
    Word any = 0;
    for (int64_t i = begin; i < end; ++i) any |= static_cast<Word>(bad(words[i]));
    if (any == 0) continue;
    for (int64_t i = begin; i < end; ++i)
      if (bad(words[i])) return i;
  }
  return -1;
}

// The first element whose bits without the sign are `kFirst` or more.
template <typename Word, Word kFirst>
int64_t find_beyond(const void* data, int64_t count) noexcept {
  return find_word<Word>(data, count, [](Word word) {
    return static_cast<Word>(word & std::numeric_limits<Word>::max()) >= kFirst;
  });
}

template <typename T>
bool exact_as_f32(T value) {
  constexpr float kBeyond = 9223372036854775808.0f;  // 2^63, which would not fit back
  const auto narrow = static_cast<float>(value);
  return narrow < kBeyond && static_cast<int64_t>(narrow) == static_cast<int64_t>(value);
}

}  // namespace

void ByteBudget::take(int64_t bytes, std::string_view path) {
  if (bytes > left_)
    fail(Status::kInvalidArgument, path, ": needs ", bytes,
         " bytes, the option max_file_bytes leaves ", left_);
  left_ -= bytes;
}

namespace {
// Names a file beside a missing one that has its name with another ending: "edge.csv.bz2".
std::string packed_beside(const std::string& path) {
  const std::filesystem::path missing(path);
  const std::string whole = missing.filename().string();
  const std::string start = (whole.ends_with(".gz") ? missing.stem().string() : whole) + ".";
  try {
    const std::string folder = missing.parent_path().string();
    for (const std::string& name : base::list_visible(folder.empty() ? "." : folder))
      if (name.starts_with(start) && name != whole)
        return base::text("; ", io::printable(name), " is there: unpack it");
  } catch (const base::Error&) {  // the folder is missing too
  }
  return {};
}
}  // namespace

int64_t ByteBudget::take_file(const std::string& path) {
  int64_t size = 0;
  try {
    size = base::File(path).size();
  } catch (const base::Error& error) {
    if (error.status() != Status::kNotFound) throw;
    throw base::Error(Status::kNotFound, error.what() + packed_beside(path), -1,
                      error.system_error());
  }
  take(size, path);
  files_.push_back(path);
  return size;
}

void check_ids(const Tensor& ids, int64_t bound, std::string_view where, ThreadPool& pool,
               int64_t stride) {
  visit_ids(ids, [&](auto values) {
    std::atomic<int64_t> first{kNone};
    pool.parallel_for(static_cast<int64_t>(values.size()), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        if (static_cast<uint64_t>(values[i]) >= static_cast<uint64_t>(bound))
          return lower(first, i);
    });
    const int64_t bad = first.load();
    if (bad == kNone) return;
    fail(Status::kRange, where, ", row ", bad / stride, ": node ", int64_t{values[bad]},
         ", expected 0 to ", bound - 1);
  });
}

std::pair<Tensor, Tensor> edge_columns(Tensor pairs, bool transposed, std::string_view where,
                                       ThreadPool& pool) {
  const base::Shape shape = pairs.shape();
  if (shape.num_dims != 2 || shape[transposed ? 0 : 1] != 2)
    fail(Status::kFormat, where, ": edges of shape ", shape.to_string(), ", expected ",
         transposed ? "[2, E]" : "[E, 2]",
         shape.num_dims == 2 && shape[transposed ? 1 : 0] == 2 ? "; transpose it" : "");
  const int64_t count = shape[transposed ? 1 : 0];
  const Tensor ids = is_id_type(pairs.dtype()) ? std::move(pairs) : to_i64(pairs, where);
  const DType type = ids.dtype() == DType::kI64 && !fits_i32(ids, pool) ? DType::kI64 : DType::kI32;
  Tensor sources = Tensor::empty(type, {count});
  Tensor targets = Tensor::empty(type, {count});
  const bool own = ids.owner().use_count() == 1;
  visit_ids(ids, [&](auto values) {
    const auto cut = [&](auto* from, auto* to) {
      using Id = std::remove_pointer_t<decltype(from)>;
      pool.parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t e = begin; e < end; ++e) {
          from[e] = static_cast<Id>(values[transposed ? e : 2 * e]);
          to[e] = static_cast<Id>(values[transposed ? count + e : 2 * e + 1]);
        }
        if (!own) return;
        const auto forget = [&](int64_t first, int64_t last) {
          base::forget_pages(static_cast<char*>(ids.data()) + first * sizeof(values[0]),
                             (last - first) * static_cast<int64_t>(sizeof(values[0])));
        };
        if (!transposed) return forget(2 * begin, 2 * end);
        forget(begin, end);
        forget(count + begin, count + end);
      });
    };
    if (type == DType::kI64)
      cut(sources.as<int64_t>().data(), targets.as<int64_t>().data());
    else
      cut(sources.as<int32_t>().data(), targets.as<int32_t>().data());
  });
  return {std::move(sources), std::move(targets)};
}

int64_t find_not_finite(const void* data, DType dtype, int64_t count, bool as_f32) noexcept {
  switch (dtype) {
    case DType::kF32:
      return find_beyond<int32_t, 0x7f800000>(data, count);
    case DType::kF64:
      if (!as_f32) return find_beyond<int64_t, 0x7ff0000000000000>(data, count);
      // Beyond half an ulp above the largest f32, values round to infinity.
      return find_beyond<int64_t, 0x47effffff0000000>(data, count);
    case DType::kF16:
      return find_beyond<int16_t, 0x7c00>(data, count);
    case DType::kBF16:
      return find_beyond<int16_t, 0x7f80>(data, count);
    default:
      return -1;
  }
}

Tensor float_features(const Tensor& table, bool round, std::string_view where, ThreadPool& pool) {
  if (base::is_floating(table.dtype())) return table;
  Tensor out = Tensor::empty(DType::kF32, table.shape());
  float* const to = out.as<float>().data();
  std::atomic<int64_t> first{kNone};
  const auto convert = [&](auto values) {
    pool.parallel_for(static_cast<int64_t>(values.size()), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (!round && !exact_as_f32(values[i])) return lower(first, i);
        to[i] = static_cast<float>(values[i]);
      }
    });
    const int64_t bad = first.load();
    if (bad == kNone) return;
    const int64_t width = table.shape().row_elements();
    fail(Status::kRange, where, ", row ", bad / width, ", column ", bad % width, ": ",
         int64_t{values[bad]}, " is not exact as a 32-bit float; round_values accepts it");
  };
  switch (table.dtype()) {
    case DType::kI64:
      convert(table.as<const int64_t>());
      break;
    case DType::kI32:
      convert(table.as<const int32_t>());
      break;
    case DType::kU8:
      convert(table.as<const uint8_t>());
      break;
    default:
      convert(table.as<const bool>());
  }
  return out;
}

void fail_not_finite(std::string_view where, int64_t row, int64_t column, const void* value,
                     DType dtype) {
  double wide = 0;
  if (dtype == DType::kF64) std::memcpy(&wide, value, sizeof wide);
  if (dtype == DType::kF64 && std::isfinite(wide))
    fail(Status::kRange, where, ", row ", row, ", column ", column, ": ", wide,
         " is beyond the range of 32-bit floats");
  fail(Status::kNan, where, ", row ", row, ", column ", column,
       ": expected a finite value, found NaN or infinity");
}

void check_bools(const base::TensorView& tensor, std::string_view where) {
  if (tensor.dtype != DType::kBool) return;
  const int64_t bad = find_word<uint8_t>(tensor.data, tensor.shape.num_elements(),
                                         [](uint8_t byte) { return byte > 1; });
  if (bad < 0) return;
  const int64_t width = tensor.shape.row_elements();
  fail(Status::kRange, where, ", row ", bad / width, ", column ", bad % width, ": a bool of value ",
       int{static_cast<const uint8_t*>(tensor.data)[bad]}, ", expected 0 or 1");
}

void check_finite(const graph::Column& column, std::string_view where, ThreadPool& pool) {
  const auto* sparse = std::get_if<base::CsrMatrix>(&column);
  const Tensor& values = sparse ? sparse->values : std::get<Tensor>(column);
  const int64_t size = base::dtype_size(values.dtype());
  const uint8_t* data = static_cast<const uint8_t*>(values.data());
  std::atomic<int64_t> first{kNone};
  pool.parallel_for(values.shape().num_elements(), kGrain, [&](int64_t begin, int64_t end) {
    const int64_t found = find_not_finite(data + begin * size, values.dtype(), end - begin);
    if (found >= 0) lower(first, begin + found);
  });
  const int64_t bad = first.load();
  if (bad == kNone) return;
  if (!sparse) {
    const int64_t width = values.shape().row_elements();
    fail_not_finite(where, bad / width, bad % width, data + bad * size, values.dtype());
  }
  const auto indptr = sparse->indptr.as<const int64_t>();
  const int64_t row = std::upper_bound(indptr.begin(), indptr.end(), bad) - indptr.begin() - 1;
  fail_not_finite(where, row, sparse->indices.as<const int32_t>()[bad], data + bad * size,
                  values.dtype());
}

void check_name(std::string_view name, std::string_view where) {
  if (const size_t nul = name.find('\0'); nul != name.npos)
    fail(Status::kFormat, where, ": the name \"", io::printable(name), "\" holds a NUL byte at ",
         nul);
}

Tensor to_i64(const Tensor& tensor, std::string_view where) {
  if (tensor.dtype() == DType::kI64) return tensor;
  Tensor out = Tensor::empty(DType::kI64, tensor.shape());
  const auto to = out.as<int64_t>();
  const auto convert = [&](auto values) { std::copy(values.begin(), values.end(), to.begin()); };
  switch (tensor.dtype()) {
    case DType::kI32:
      convert(tensor.as<const int32_t>());
      break;
    case DType::kU8:
      convert(tensor.as<const uint8_t>());
      break;
    default:
      fail(Status::kFormat, where, ": elements of type ", base::dtype_name(tensor.dtype()),
           ", expected integers",
           tensor.dtype() == DType::kBool ? "; numpy.flatnonzero() gives the ids of a mask"
                                          : "; astype(\"int64\") of NumPy converts them");
  }
  return out;
}

}  // namespace gnnmg::data
