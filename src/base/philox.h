// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011). A draw is a pure function of key and counter, so samples, masks and generated
// graphs do not depend on threads or order.
#pragma once

#include <array>
#include <cstdint>

namespace gnnmg::base {

using Counter = std::array<uint32_t, 4>;
using Key = std::array<uint32_t, 2>;

// Ten rounds of Philox4x32.
inline Counter philox(Counter c, Key k) noexcept {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p0)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

// The purpose of a stream of random numbers. Streams of different purposes never overlap. The
// values are part of file formats and of the definition of every sample, so they are never reused.
enum class Purpose : uint32_t {
  kSample = 1,  // neighbors of a training mini-batch
  kEvaluationSample = 2,
  kPermutation = 3,  // order of the ids in an epoch
  kDropout = 4,
  kInitialWeights = 5,
  kSplit = 6,
  kGenerator = 7,  // synthetic graphs, features, labels
  kCustomSampler = 8,
};

// Derives the key of a stream from (seed, purpose, a, b, c, d) by two chained Philox blocks. For
// sampling the four are epoch, mini-batch, hop and edge type; the draws of a node then use the
// counters (node, slot).
Key stream_key(uint64_t seed, Purpose purpose, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0,
               uint64_t d = 0) noexcept;

// Returns word `slot` of the stream for item `id` (a node, row or graph).
inline uint32_t draw(Key key, uint64_t id, uint32_t slot) noexcept {
  return philox({static_cast<uint32_t>(id), static_cast<uint32_t>(id >> 32), slot / 4, 0},
                key)[slot % 4];
}

// Maps 32 random bits to a uniform integer in [0, bound), bound in [1, 2^32), by multiply and
// shift. The deviation from uniform is below bound / 2^32.
inline uint32_t bounded(uint32_t bits, uint32_t bound) noexcept {
  return static_cast<uint32_t>(uint64_t{bits} * bound >> 32);
}
// Map random bits to a uniform number in [0, 1), with 24 bits and with 53 bits.
inline float unit_float(uint32_t bits) noexcept { return static_cast<float>(bits >> 8) * 0x1p-24f; }
inline double unit_double(uint32_t high, uint32_t low) noexcept {
  return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

// The words of one stream in order, for code that draws an unknown number of words (permutations,
// generators).
class Stream {
 public:
  Stream(Key key, uint64_t id) : key_(key), id_(id) {}
  uint32_t next() noexcept {
    if (slot_ % 4 == 0)
      block_ = philox({static_cast<uint32_t>(id_), static_cast<uint32_t>(id_ >> 32),
                       static_cast<uint32_t>(slot_ / 4), static_cast<uint32_t>(slot_ / 4 >> 32)},
                      key_);
    return block_[slot_++ % 4];
  }
  uint64_t next64() noexcept {
    const uint64_t high = next();
    return high << 32 | next();
  }
  // Exactly uniform in [0, bound), bound >= 1 (Lemire's rejection, "Fast random integer generation
  // in an interval", 2019).
  uint64_t below(uint64_t bound) noexcept;
  double uniform() noexcept {
    const uint32_t high = next();
    return unit_double(high, next());
  }
  double normal() noexcept;  // standard normal, Box and Muller

 private:
  Key key_;
  uint64_t id_;
  uint64_t slot_ = 0;
  Counter block_{};
};

}  // namespace gnnmg::base
