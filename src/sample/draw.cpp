#include "sample/draw.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gnnmg::sample {
namespace {

// Handles one row at a time, for CPUs without a vector kernel.
struct Scalar {
  static constexpr int kWidth = 1;
  using Mask = bool;
  uint32_t v;

  static Scalar load(const uint32_t* from) { return {*from}; }
  static Scalar load_any(const void* from) { return {*static_cast<const uint32_t*>(from)}; }
  static Scalar splat(uint32_t value) { return {value}; }
  void store(uint32_t* to) const { *to = v; }
  friend Scalar operator+(Scalar a, Scalar b) { return {a.v + b.v}; }
  friend Scalar operator-(Scalar a, Scalar b) { return {a.v - b.v}; }
  friend Scalar operator^(Scalar a, Scalar b) { return {a.v ^ b.v}; }
  static void multiply(Scalar a, Scalar b, Scalar& low, Scalar& high) {
    const uint64_t product = uint64_t{a.v} * b.v;
    low.v = static_cast<uint32_t>(product);
    high.v = static_cast<uint32_t>(product >> 32);
  }
  static Mask equal(Scalar a, Scalar b) { return a.v == b.v; }
  static uint32_t below(Scalar a, Scalar b) { return a.v < b.v; }
  static Scalar select(Mask mask, Scalar yes, Scalar no) { return mask ? yes : no; }
};

}  // namespace

#ifdef __x86_64__
void draw_lanes_avx512(const uint32_t* key, const LaneRows& rows, int fanout, bool replace,
                       uint32_t* picks);
void draw_lanes_avx2(const uint32_t* key, const LaneRows& rows, int fanout, bool replace,
                     uint32_t* picks);
int keep_avx512(const uint32_t* key, const int32_t* sources, int count, uint32_t threshold,
                uint32_t* kept);
int keep_avx2(const uint32_t* key, const int32_t* sources, int count, uint32_t threshold,
              uint32_t* kept);
#endif

std::span<const NamedKernel> lane_kernels() noexcept {
  static constexpr NamedKernel kKernels[] = {
#ifdef __x86_64__
      {"avx512", draw_lanes_avx512, kMaxLaneFanout, keep_avx512},
      {"avx2", draw_lanes_avx2, kMaxLaneFanout, keep_avx2},
#endif
      {"portable", draw_lanes<Scalar>, 24, keep_below<Scalar>},
  };
  std::span<const NamedKernel> all(kKernels);
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return all;
  if (__builtin_cpu_supports("avx2")) return all.subspan(1);
  return all.subspan(2);
#else
  return all;
#endif
}

void PickSet::begin(int64_t capacity) {
  const int bits = std::bit_width(static_cast<uint64_t>(2 * capacity));
  if (int64_t{1} << bits > slots_.size() || stamp_ == UINT32_MAX) {
    if (int64_t{1} << bits > slots_.size()) slots_.resize_discard(int64_t{1} << bits);
    std::memset(slots_.data(), 0, slots_.size() * sizeof(uint64_t));
    shift_ = 64 - std::bit_width(static_cast<uint64_t>(slots_.size() - 1));
    stamp_ = 0;
  }
  ++stamp_;
}

bool PickSet::insert(uint32_t pick) {
  const uint64_t entry = uint64_t{stamp_} << 32 | pick;
  const uint64_t mask = slots_.size() - 1;
  for (uint64_t at = pick * 0x9E3779B97F4A7C15u >> shift_;; at = (at + 1) & mask) {
    if (slots_[at] == entry) return false;
    if (slots_[at] >> 32 != stamp_) {
      slots_[at] = entry;
      return true;
    }
  }
}

void draw_row(base::Key key, int64_t node, uint32_t degree, int64_t fanout, bool replace,
              PickSet& set, int64_t first, int64_t* out) {
  const uint64_t id = node;
  if (!replace) set.begin(fanout);
  base::Counter words{};
  for (int64_t slot = 0; slot < fanout; ++slot) {
    if (slot % 4 == 0)
      words = base::philox({static_cast<uint32_t>(id), static_cast<uint32_t>(id >> 32),
                            static_cast<uint32_t>(slot / 4), 0},
                           key);
    if (replace) {
      out[slot] = first + base::bounded(words[slot % 4], degree);
      continue;
    }
    const uint32_t last = static_cast<uint32_t>(degree - fanout + slot);
    const uint32_t pick = base::bounded(words[slot % 4], last + 1);
    if (set.insert(pick)) {
      out[slot] = first + pick;
    } else {
      set.insert(last);
      out[slot] = first + last;
    }
  }
}

}  // namespace gnnmg::sample
