// The location of a store's rows for kernels, and the copy of pieces of a row.
#pragma once

#include <cstdint>

#include "cuda/feature/convert.h"

namespace gnnmg::cuda {

inline constexpr int64_t kBusLine = 128;  // bytes that one aligned request over the bus transfers

// Counts on the device that gathers add to.
struct TrafficCounts {
  uint64_t rows, host_rows, host_lines, out_of_range;
};
// Rows of peers arrive as fast as memory delivers them: several counters keep atomic additions to
// one address from limiting the speed.
inline constexpr int kPeerCounts = 8;
struct alignas(128) PeerCount {
  uint64_t rows;
};

// Rows on the device are aligned to 16 bytes, with padding; rows in host memory are aligned to the
// size of their elements.
struct StoreRows {
  const uint8_t* device = nullptr;
  const uint8_t* host = nullptr;   // null: all rows are on the device
  const int32_t* slots = nullptr;  // position of each row on the device, -1: on the host; null: all
                                   // rows are in one place
  // For a split cache: the rows of each device, [num_parts], readable from this one, which is
  // number own_part. Position p is row p / num_parts of device p % num_parts. Null: positions are
  // rows of `device`.
  const uint8_t* const* parts = nullptr;
  uint32_t num_parts = 1, own_part = 0;
  PeerCount* peer_counts = nullptr;  // [kPeerCounts]; only with a split cache
  const float* scales = nullptr;     // one per row, on the device; only with int8
  TrafficCounts* counts = nullptr;
  int64_t num_rows = 0;
  int64_t cols = 0;
  int64_t device_stride = 0, host_stride = 0;  // bytes
  int64_t host_bytes = 0;                      // size of the host's table

  struct Place {
    const uint8_t* row;
    bool on_host, on_peer;
  };
  GNNMG_BOTH Place place(int64_t id) const {
    if (host == nullptr) return {device + id * device_stride, false, false};
    if (slots != nullptr) {
      const int32_t slot = slots[id];
      if (slot >= 0 && parts == nullptr) return {device + slot * device_stride, false, false};
      if (slot >= 0) {
        const auto place = static_cast<uint32_t>(slot);
        const uint32_t row = place / num_parts, part = place - row * num_parts;
        return {parts[part] + row * device_stride, false, part != own_part};
      }
    }
    return {host + id * host_stride, true, false};
  }
  // True if all of [first, last) is in the host's table.
  GNNMG_BOTH bool in_table(const uint8_t* first, const uint8_t* last) const {
    return first >= host && last <= host + host_bytes;
  }
};

// A type that one instruction moves.
template <int kBytes>
struct RawOf;
template <>
struct RawOf<4> {
  using Type = uint32_t;
};
template <>
struct RawOf<8> {
  using Type = uint64_t;
};
template <>
struct RawOf<16> {
  using Type = Line;
};

GNNMG_BOTH bool aligned(const void* at, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(at) % static_cast<uintptr_t>(bytes) == 0;
}

// A load by one instruction on a GPU, where a misaligned address is a fatal error; on the host it
// ends the program too. 16-byte loads are written explicitly, because the compiler would split them
// and request a line over the bus four times.
template <typename T>
GNNMG_BOTH T load_raw(const void* at) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 16) {
    T value;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.words[0]), "=r"(value.words[1]), "=r"(value.words[2]),
                   "=r"(value.words[3])
                 : "l"(__cvta_generic_to_global(at)));
    return value;
  } else {
    return *static_cast<const T*>(at);
  }
#else
  if (!aligned(at, alignof(T))) __builtin_trap();
  T value;
  __builtin_memcpy(&value, at, sizeof(T));
  return value;
#endif
}
template <typename T>
GNNMG_BOTH void store_raw(void* at, const T& value) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 16)
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(at)),
                 "r"(value.words[0]), "r"(value.words[1]), "r"(value.words[2]), "r"(value.words[3])
                 : "memory");
  else
    *static_cast<T*>(at) = value;
#else
  if (!aligned(at, alignof(T))) __builtin_trap();
  __builtin_memcpy(at, &value, sizeof(T));
#endif
}

// Returns element k of a piece in registers; k must be a compile-time constant.
template <typename T, typename Raw>
GNNMG_BOTH T element(const Raw& raw, int k) {
  T value;
  __builtin_memcpy(&value, reinterpret_cast<const char*>(&raw) + k * sizeof(T), sizeof(T));
  return value;
}
template <typename T, typename Raw>
GNNMG_BOTH void set_element(Raw& raw, int k, T value) {
  __builtin_memcpy(reinterpret_cast<char*>(&raw) + k * sizeof(T), &value, sizeof(T));
}

// Pieces of kSize elements, whose wider side is 16 bytes, copied between rows of two types:
// neighboring lanes then read and write neighboring bytes, whatever the types.
template <typename C>
struct Piece {
  using In = typename C::In;
  using Out = typename C::Out;
  static constexpr int kSize =
      16 / static_cast<int>(sizeof(In) > sizeof(Out) ? sizeof(In) : sizeof(Out));
  static constexpr int kInBytes = kSize * static_cast<int>(sizeof(In));
  static constexpr int kOutBytes = kSize * static_cast<int>(sizeof(Out));
  using RawIn = typename RawOf<kInBytes>::Type;
  using RawOut = typename RawOf<kOutBytes>::Type;

  // Loads elements at .. at + kSize - 1 of a row with elements [low, high), of which some may be
  // outside, but not all. `whole`: loads all by one instruction, including those outside.
  static GNNMG_BOTH RawIn load(const uint8_t* row, bool whole, int at, int low, int high) {
    const uint8_t* from = row + int64_t{at} * static_cast<int64_t>(sizeof(In));
    if (whole) return load_raw<RawIn>(from);
    RawIn raw{};
    GNNMG_UNROLL
    for (int k = 0; k < kSize; ++k)
      if (at + k >= low && at + k < high) set_element(raw, k, load_raw<In>(from + k * sizeof(In)));
    return raw;
  }

  // `lines`: whole pieces may be written at once.
  static GNNMG_BOTH void store(const RawIn& raw, float scale, Out* row, bool lines, int at, int low,
                               int high) {
    Out* to = row + at;
    if (lines && at >= low && at + kSize <= high) {
      RawOut out{};
      GNNMG_UNROLL
      for (int k = 0; k < kSize; ++k) set_element(out, k, C::convert(element<In>(raw, k), scale));
      return store_raw(to, out);
    }
    GNNMG_UNROLL
    for (int k = 0; k < kSize; ++k)
      if (at + k >= low && at + k < high) store_raw(to + k, C::convert(element<In>(raw, k), scale));
  }
};

}  // namespace gnnmg::cuda
