// Columns of numbers that grow while a text is read. They hold four bytes a value as long as that
// is exact, and grow without copying, so that memory stays below twice the text.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/memory.h"
#include "base/tensor.h"
#include "base/thread_pool.h"

namespace gnnmg::data {

// True if a 32-bit float holds the integer without rounding.
bool exact_as_float(int64_t value);

// A growing array in pieces, which count for the thread's memory budget. For numbers.
template <typename T>
class Pieces {
 public:
  void push_back(T value) {
    if (size_ == kCount * static_cast<int64_t>(pieces_.size()))
      pieces_.push_back(base::allocate_pages(kBytes, "a piece of a column"));
    at(size_++) = value;
  }
  void append(std::span<const T> values) {
    while (!values.empty()) {
      push_back(values[0]);
      const auto room = static_cast<size_t>(kCount * static_cast<int64_t>(pieces_.size()) - size_);
      const std::span<const T> here = values.subspan(1, std::min(room, values.size() - 1));
      if (!here.empty()) std::copy(here.begin(), here.end(), &at(size_));
      size_ += static_cast<int64_t>(here.size());
      values = values.subspan(1 + here.size());
    }
  }
  int64_t size() const { return size_; }
  T operator[](int64_t i) const { return const_cast<Pieces*>(this)->at(i); }
  void clear() {
    pieces_.clear();
    size_ = 0;
  }
  // Calls take(value) for each of a range.
  template <typename F>
  void for_each(int64_t begin, int64_t end, F&& take) const {
    for (int64_t next; begin < end; begin = next) {
      next = std::min(end, (begin / kCount + 1) * kCount);
      const T* values = static_cast<const T*>(pieces_[begin / kCount].get()) + begin % kCount;
      for (int64_t i = 0; i < next - begin; ++i) take(values[i]);
    }
  }
  // Hands over the values in order, and frees each piece once it is empty.
  template <typename F>
  void drain(F&& take) {
    for (int64_t begin = 0; begin < size_; begin += kCount) {
      std::shared_ptr<void>& piece = pieces_[begin / kCount];
      const T* values = static_cast<const T*>(piece.get());
      for (int64_t i = 0; i < std::min(kCount, size_ - begin); ++i) take(values[i]);
      free_piece(piece);
    }
    clear();
  }
  // The same into `out`, which has room for all.
  template <typename To>
  void drain_into(std::span<To> out) {
    To* to = out.data();
    drain([&to](T value) { *to++ = static_cast<To>(value); });
  }
  template <typename To>
  void drain_into(std::span<To> out, base::ThreadPool& pool) {
    constexpr int64_t kPieces = 32;  // pieces in one task
    pool.parallel_for(
        static_cast<int64_t>(pieces_.size()), kPieces, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            std::shared_ptr<void>& piece = pieces_[i];
            const T* values = static_cast<const T*>(piece.get());
            std::copy_n(values, std::min(kCount, size_ - i * kCount), out.data() + i * kCount);
            free_piece(piece);
          }
        });
    clear();
  }

 private:
  static constexpr int64_t kBytes = int64_t{64} << 10;
  static constexpr int64_t kCount = kBytes / static_cast<int64_t>(sizeof(T));
  static void free_piece(std::shared_ptr<void>& piece) {
    base::forget_pages(piece.get(), kBytes);  // free() alone may keep them for the process
    piece.reset();
  }
  T& at(int64_t i) { return static_cast<T*>(pieces_[i / kCount].get())[i % kCount]; }

  std::vector<std::shared_ptr<void>> pieces_;
  int64_t size_ = 0;
};

// Non-negative ids.
class IdColumn {
 public:
  void push(int64_t id) {
    if (!wide_ && id > std::numeric_limits<int32_t>::max()) widen();
    if (wide_)
      large_.push_back(id);
    else
      small_.push_back(static_cast<int32_t>(id));
  }
  void append(std::span<const int32_t> ids) {
    if (!wide_) return small_.append(ids);
    for (const int32_t id : ids) large_.push_back(id);
  }
  void append(std::span<const int64_t> ids) {
    for (const int64_t id : ids) push(id);
  }
  int64_t size() const { return wide_ ? large_.size() : small_.size(); }
  bool wide() const { return wide_; }
  // i32 or, when `wide` or an id needs it, i64. Empties the column.
  base::Tensor take(bool wide, base::ThreadPool& pool);
  base::Tensor take(bool wide) {
    base::ThreadPool self(1);
    return take(wide, self);
  }
  int64_t at(int64_t i) const { return wide_ ? large_[i] : int64_t{small_[i]}; }
  // Calls take(id) for each, or for each of a range.
  template <typename F>
  void for_each(F&& take) const {
    for_each(0, size(), take);
  }
  template <typename F>
  void for_each(int64_t begin, int64_t end, F&& take) const {
    const auto widened = [&take](auto id) { take(int64_t{id}); };
    if (wide_)
      large_.for_each(begin, end, widened);
    else
      small_.for_each(begin, end, widened);
  }

 private:
  void widen();
  bool wide_ = false;
  Pieces<int32_t> small_;
  Pieces<int64_t> large_;  // begins at the first id that 32 bits do not hold
};

// The number of different ids in both columns, all below `bound`.
int64_t count_different(const IdColumn& a, const IdColumn& b, int64_t bound,
                        base::ThreadPool& pool);

// Numbers of any kind; remembers whether all were integers, and keeps those exactly.
class NumberColumn {
 public:
  void push(int64_t value);
  // A whole number below 2^53 in size counts as an integer. NaN goes with integers too.
  void push(double value);
  // NaN before each of these rows, ascending; as often as a row is named, and at the end by size().
  void insert_nan(std::span<const int64_t> before);
  int64_t size() const { return wide_ ? large_.size() : small_.size(); }
  // Every value so far is an integer that is held exactly, or NaN.
  bool integral() const { return integral_; }
  // Every value so far is an integer of whatever size, or NaN.
  bool whole() const { return whole_; }
  bool has_nan() const { return has_nan_; }
  // f32 of `shape`, values rounded to the nearest. Empties the column.
  base::Tensor take_f32(base::Shape shape);
  // The same, with a warning that names `file` if integers are rounded.
  base::Tensor take_f32(base::Shape shape, std::string_view file, base::Log& log);
  // i64 of `shape`, NaN as -1; for integral columns.
  base::Tensor take_i64(base::Shape shape);

 private:
  void push_float(float value);
  void widen();
  bool integral_ = true, whole_ = true;
  bool has_nan_ = false;
  bool wide_ = false;
  bool rounded_ = false;   // an integer is held as another number
  Pieces<float> small_;    // exact while the column is integral, else rounded
  Pieces<int64_t> large_;  // values of an integral column, from the first on that no float holds
};

}  // namespace gnnmg::data
