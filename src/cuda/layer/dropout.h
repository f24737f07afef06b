// The bits of dropout, as defined in nn/kernels/kernels.h.
#pragma once

#include "cuda/layer/row.h"

namespace gnnmg::cuda {

// Columns that take their bits from sixteen blocks of random words; kSharing columns, sixteen
// apart, share a block.
constexpr int64_t kDropoutGroup = 128;
constexpr int kBlocksAGroup = 16, kSharing = 8;

// nn::kernels::Dropout for kernels.
struct DropoutBits {
  uint32_t key0 = 0, key1 = 0, threshold = 0;
  const uint32_t* device_key = nullptr;  // two words that replace the key; null: none

  struct Block {
    uint32_t words[4];
    // Returns the bits of the column 16 * half, half < kSharing, after the first that shares the
    // block.
    GNNMG_BOTH uint32_t half_word(int half) const {
      return words[half / 2] >> (half % 2 * 16) & 0xffffu;
    }
  };

  GNNMG_BOTH bool active() const { return threshold != 0; }
  // Returns block `number` of a row: a Philox4x32-10 block.
  GNNMG_BOTH Block draw(int64_t row, uint32_t number) const {
    uint32_t c0 = static_cast<uint32_t>(row);
    uint32_t c1 = static_cast<uint32_t>(static_cast<uint64_t>(row) >> 32);
    uint32_t c2 = number, c3 = 0;
    uint32_t k0 = device_key ? device_key[0] : key0, k1 = device_key ? device_key[1] : key1;
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * c0, p1 = uint64_t{0xCD9E8D57u} * c2;
      c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c1 = static_cast<uint32_t>(p1);
      c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c3 = static_cast<uint32_t>(p0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return {{c0, c1, c2, c3}};
  }
  // True if the element of this row and column is kept.
  GNNMG_BOTH bool keeps(int64_t row, uint32_t column) const {
    const Block block = draw(row, column / 128 * kBlocksAGroup + column % kBlocksAGroup);
    const uint32_t half = column % 128 / 16, pair = half / 2;
    const uint32_t low = pair % 2 ? block.words[1] : block.words[0];
    const uint32_t high = pair % 2 ? block.words[3] : block.words[2];
    return ((pair / 2 ? high : low) >> (half % 2 * 16) & 0xffffu) >= threshold;
  }
};

inline DropoutBits bits_of(const nn::kernels::Dropout& dropout) {
  return {dropout.key[0], dropout.key[1], dropout.threshold, dropout.device_key};
}

}  // namespace gnnmg::cuda
