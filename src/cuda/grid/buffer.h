// Memory that a GPU can read, and buffers in it.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace gnnmg::cuda {

// A source of memory. Any thread.
class Memory {
 public:
  virtual ~Memory() = default;
  // Returns memory aligned to 256 bytes; never null. Error(kNoMemory) names `what` and the size.
  virtual void* allocate(int64_t bytes, std::string_view what) = 0;
  // Work that uses the memory must be done, or be earlier in the only queue that uses it.
  virtual void release(void* memory) noexcept = 0;
};

// Host memory that kernels read over the bus.
class PinnedMemory : public Memory {
 public:
  // Pins existing memory in place for kernels of every device, until as many calls of give_back()
  // for it; returns its address for kernels. Memory that its owner has pinned stays the owner's,
  // and must stay pinned. Error(kNoMemory) or kUnsupported, naming `what`, if the system refuses;
  // Error(kInvalidArgument) if part of it is pinned already.
  virtual void* adopt(void* memory, int64_t bytes, std::string_view what) = 0;
  virtual void give_back(void* memory) noexcept = 0;
  // For smaller arrays a copy is better: the system pins whole pages, which hold other data too,
  // one by one.
  virtual int64_t least_to_adopt() const { return 1 << 20; }
};

// A growing array in such memory. The Memory object outlives it.
template <typename T>
class Buffer {
 public:
  explicit Buffer(Memory& memory) : memory_(&memory) {}
  Buffer(Buffer&& other) noexcept
      : memory_(other.memory_),
        data_(std::exchange(other.data_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) memory_->release(data_);
  }
  // Makes room for `count` elements; growth loses the contents. Returns a non-null pointer.
  T* reserve(int64_t count, std::string_view what) {
    if (count > capacity_ || data_ == nullptr) {
      const int64_t elements = count > 0 ? count : 1;
      const int64_t bytes = base::checked_mul(elements, sizeof(T), what);
      if (data_ != nullptr) memory_->release(std::exchange(data_, nullptr));
      capacity_ = 0;
      data_ = static_cast<T*>(memory_->allocate(bytes, what));
      capacity_ = elements;
    }
    return data_;
  }
  T* data() const { return data_; }
  int64_t capacity() const { return capacity_; }

 private:
  Memory* memory_;
  T* data_ = nullptr;
  int64_t capacity_ = 0;
};

}  // namespace gnnmg::cuda
