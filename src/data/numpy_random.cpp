// NumPy's legacy generator as far as splits need it, so that a split which somebody else made with
// numpy.random.RandomState can be made here again. Apart from split.cpp because it follows NumPy's
// definition and may never change.
#include <array>
#include <bit>
#include <numeric>

#include "data/split.h"

namespace gnnmg::data {
namespace {

// MT19937 (Matsumoto and Nishimura, 1998) with the 2002 seeding by one 32-bit word.
class Mt19937 {
 public:
  explicit Mt19937(uint32_t seed) {
    state_[0] = seed;
    for (uint32_t i = 1; i < kSize; ++i)
      state_[i] = 1812433253u * (state_[i - 1] ^ state_[i - 1] >> 30) + i;
  }
  uint32_t next() {
    if (position_ == kSize) refill();
    uint32_t y = state_[position_++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
  }
  // Uniform in [0, largest]: words masked to the bits of `largest`, drawn again while above it.
  uint64_t interval(uint64_t largest) {
    if (largest == 0) return 0;
    const uint64_t mask = ~uint64_t{0} >> std::countl_zero(largest);
    uint64_t value;
    do {
      value = next();
      if (largest > 0xffffffffu) value = value << 32 | next();
      value &= mask;
    } while (value > largest);
    return value;
  }

 private:
  static constexpr uint32_t kSize = 624;
  static constexpr uint32_t kShift = 397;
  void refill() {
    for (uint32_t i = 0; i < kSize; ++i) {
      const uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7fffffffu);
      state_[i] = state_[(i + kShift) % kSize] ^ y >> 1 ^ ((y & 1u) ? 0x9908b0dfu : 0u);
    }
    position_ = 0;
  }
  std::array<uint32_t, kSize> state_;
  uint32_t position_ = kSize;
};

}  // namespace

std::vector<int64_t> numpy_legacy_permutation(uint32_t seed, int64_t n) {
  if (n < 0) base::fail(base::Status::kInvalidArgument, "permutation of ", n, " items");
  std::vector<int64_t> items(n);
  std::iota(items.begin(), items.end(), 0);
  const std::span<int64_t> list = items;
  numpy_legacy_shuffle(seed, {&list, 1});
  return items;
}

void numpy_legacy_shuffle(uint32_t seed, std::span<const std::span<int64_t>> lists) {
  Mt19937 generator(seed);
  for (const std::span<int64_t> items : lists)
    for (int64_t i = static_cast<int64_t>(items.size()) - 1; i > 0; --i)
      std::swap(items[i], items[generator.interval(i)]);
}

}  // namespace gnnmg::data
