#include "base/philox.h"

#include <cmath>
#include <numbers>

namespace gnnmg::base {

Key stream_key(uint64_t seed, Purpose purpose, uint64_t a, uint64_t b, uint64_t c,
               uint64_t d) noexcept {
  const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  Counter block =
      philox({static_cast<uint32_t>(purpose), low(a), high(a), low(b)}, {low(seed), high(seed)});
  block = philox({block[2] ^ high(b), block[3] ^ low(c), high(c), low(d)}, {block[0], block[1]});
  if (high(d)) block = philox({block[2], block[3], high(d), 0}, {block[0], block[1]});
  return {block[0], block[1]};
}

uint64_t Stream::below(uint64_t bound) noexcept {
  unsigned __int128 product = static_cast<unsigned __int128>(next64()) * bound;
  if (static_cast<uint64_t>(product) < bound) {
    const uint64_t threshold = -bound % bound;
    while (static_cast<uint64_t>(product) < threshold)
      product = static_cast<unsigned __int128>(next64()) * bound;
  }
  return static_cast<uint64_t>(product >> 64);
}

double Stream::normal() noexcept {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace gnnmg::base
