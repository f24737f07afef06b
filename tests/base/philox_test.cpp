#include "base/philox.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <vector>

namespace gnnmg::base {
namespace {

// Known answers for Philox4x32-10 that accompany the paper (Random123, kat_vectors).
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Samples are part of the definition of an epoch: these words must never change.
TEST(Philox, KeepsItsStreamsFromVersionToVersion) {
  const Key key = stream_key(42, Purpose::kSample, 3, 17, 1, 0);
  EXPECT_EQ(key, (Key{0x1ab2afcc, 0xa895a7b8}));
  EXPECT_EQ(draw(key, 1234567890123, 0), 204501219u);
  Stream stream(key, 5);
  EXPECT_EQ(stream.next64(), 3268182599309742931ull);
  EXPECT_EQ(stream_key(42, Purpose::kGenerator, 3, 17, 1, uint64_t{1} << 40),
            (Key{0xc7f64daf, 0x8c6a9db3}));
}

TEST(StreamKey, DependsOnEveryBitOfEveryInput) {
  const uint64_t base[5] = {0x0123456789abcdef, 5, 77, 2, 1};
  const auto key_of = [](const uint64_t* v, Purpose purpose) {
    return stream_key(v[0], purpose, v[1], v[2], v[3], v[4]);
  };
  const Key from = key_of(base, Purpose::kSample);
  int64_t flipped = 0, trials = 0;
  for (int input = 0; input < 5; ++input) {
    for (int bit = 0; bit < 64; ++bit) {
      uint64_t changed[5];
      std::copy(base, base + 5, changed);
      changed[input] ^= uint64_t{1} << bit;
      const Key to = key_of(changed, Purpose::kSample);
      const int bits = std::popcount(from[0] ^ to[0]) + std::popcount(from[1] ^ to[1]);
      EXPECT_GT(bits, 10) << "input " << input << " bit " << bit;
      flipped += bits;
      ++trials;
    }
  }
  EXPECT_NEAR(static_cast<double>(flipped) / trials, 32.0, 1.0);  // standard error 0.22
}

TEST(StreamKey, NeverMeetsForNearbyEpochsBatchesHopsTypesAndPurposes) {
  std::set<Key> keys;
  int64_t made = 0;
  for (uint32_t purpose = 1; purpose <= 8; ++purpose)
    for (uint64_t seed = 0; seed < 3; ++seed)
      for (uint64_t epoch = 0; epoch < 10; ++epoch)
        for (uint64_t batch = 0; batch < 40; ++batch)
          for (uint64_t hop = 0; hop < 4; ++hop)
            for (uint64_t type = 0; type < 4; ++type, ++made)
              keys.insert(stream_key(seed, static_cast<Purpose>(purpose), epoch, batch, hop, type));
  EXPECT_EQ(static_cast<int64_t>(keys.size()), made);
}

TEST(Streams, OfNeighboringKeysAreUncorrelated) {
  constexpr int kWords = 100000;
  const auto correlation = [](Key a, Key b, uint64_t id_a, uint64_t id_b) {
    Stream x(a, id_a), y(b, id_b);
    double sum = 0;
    for (int i = 0; i < kWords; ++i) sum += (x.uniform() - 0.5) * (y.uniform() - 0.5);
    return sum / kWords * 12.0;
  };
  const double limit = 5.0 / std::sqrt(kWords);  // five standard deviations
  const Key key = stream_key(1, Purpose::kSample, 0, 0);
  EXPECT_LT(std::abs(correlation(key, stream_key(1, Purpose::kSample, 0, 1), 0, 0)), limit);
  EXPECT_LT(std::abs(correlation(key, stream_key(1, Purpose::kSample, 1, 0), 0, 0)), limit);
  EXPECT_LT(std::abs(correlation(key, stream_key(2, Purpose::kSample, 0, 0), 0, 0)), limit);
  EXPECT_LT(std::abs(correlation(key, stream_key(1, Purpose::kDropout, 0, 0), 0, 0)), limit);
  EXPECT_LT(std::abs(correlation(key, key, 0, 1)), limit);
  EXPECT_GT(correlation(key, key, 0, 0), 0.9);  // shows that the measure works
}

TEST(Stream, GivesTheWordsOfDraw) {
  const Key key = stream_key(9, Purpose::kGenerator);
  const uint64_t id = 0x100000002;
  Stream stream(key, id);
  for (uint32_t slot = 0; slot < 1000; ++slot)
    ASSERT_EQ(stream.next(), draw(key, id, slot)) << slot;
}

double chi_square(const std::vector<int64_t>& counts, double expected) {
  double sum = 0;
  for (int64_t count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}
// The chi-square value that is exceeded with a probability of one in a million (Wilson and
// Hilferty's approximation).
double chi_square_limit(double degrees) {
  const double t = 1.0 - 2.0 / (9.0 * degrees) + 4.75 * std::sqrt(2.0 / (9.0 * degrees));
  return degrees * t * t * t;
}

TEST(Bounded, IsUniformAndInRange) {
  for (const uint32_t bound : {1u, 2u, 3u, 6u, 20u, 500u}) {
    const Key key = stream_key(bound, Purpose::kSample);
    std::vector<int64_t> counts(bound);
    constexpr int kDraws = 400000;
    for (int i = 0; i < kDraws; ++i) ++counts.at(bounded(draw(key, i, 0), bound));
    EXPECT_LT(chi_square(counts, static_cast<double>(kDraws) / bound), chi_square_limit(bound))
        << bound;
  }
  EXPECT_EQ(bounded(~0u, ~0u), ~0u - 1);
  EXPECT_EQ(bounded(0, ~0u), 0u);
}

TEST(Bounded, IsToldFromABiasedDraw) {  // the same test fails for a modulo of 10 bits
  std::vector<int64_t> counts(6);
  const Key key = stream_key(6, Purpose::kSample);
  for (int i = 0; i < 400000; ++i) ++counts[(draw(key, i, 0) & 31) % 6];
  EXPECT_GT(chi_square(counts, 400000.0 / 6), chi_square_limit(6));
}

TEST(Stream, BelowIsUniformForSmallAndHugeBounds) {
  Stream stream(stream_key(3, Purpose::kPermutation), 0);
  for (const uint64_t bound : {uint64_t{1}, uint64_t{3}, uint64_t{10}, uint64_t{1000}}) {
    std::vector<int64_t> counts(bound);
    for (int i = 0; i < 200000; ++i) ++counts.at(stream.below(bound));
    EXPECT_LT(chi_square(counts, 200000.0 / static_cast<double>(bound)),
              chi_square_limit(static_cast<double>(bound)));
  }
  // Three quarters of 2^64: without rejection the thirds would be hit 2 : 1 : 1.
  const uint64_t bound = uint64_t{3} << 62;
  std::vector<int64_t> counts(3);
  for (int i = 0; i < 200000; ++i) ++counts.at(stream.below(bound) >> 62);
  EXPECT_LT(chi_square(counts, 200000.0 / 3), chi_square_limit(3));
}

TEST(Stream, UniformAndNormalHaveTheirMoments) {
  Stream stream(stream_key(4, Purpose::kInitialWeights), 0);
  constexpr int kDraws = 400000;
  double sum = 0, squares = 0, fourth = 0, least = 1, most = 0, total = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = stream.normal();
    ASSERT_TRUE(std::isfinite(z));
    sum += z;
    squares += z * z;
    fourth += z * z * z * z;
    const double u = stream.uniform();
    least = std::min(least, u);
    most = std::max(most, u);
    total += u;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 5.0 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0, 5.0 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(fourth / kDraws, 3.0, 5.0 * std::sqrt(96.0 / kDraws));
  EXPECT_NEAR(total / kDraws, 0.5, 5.0 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_GE(least, 0.0);
  EXPECT_LT(most, 1.0);
}

TEST(UnitFloat, StaysBelowOne) {
  EXPECT_LT(unit_float(~0u), 1.0f);
  EXPECT_EQ(unit_float(0), 0.0f);
  EXPECT_EQ(unit_float(0x80000000u), 0.5f);
  EXPECT_LT(unit_double(~0u, ~0u), 1.0);
  EXPECT_EQ(unit_double(0x80000000u, 0), 0.5);
  EXPECT_EQ(unit_double(0, 0), 0.0);
}

}  // namespace
}  // namespace gnnmg::base
