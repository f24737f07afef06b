// A test of uniformity for samplers without replacement: chi-square of the frequency of each
// neighbor, and of pairs of neighbors.
#pragma once

#include <cstdint>
#include <functional>

namespace gnnmg::test {

// Both statistics as standard normal deviates (Wilson and Hilferty's approximation); a uniform
// sampler stays within a few units on either side.
struct Uniformity {
  double single = 0;
  double pair = 0;
  bool distinct = true;  // no row had a repeated pick
  bool passed() const {
    const auto near = [](double z) { return z > -4.5 && z < 4.5; };
    return distinct && near(single) && near(pair);
  }
};

// Fills `picks` with the next row's picks, positions among its neighbors.
using DrawRow = std::function<void(int64_t* picks)>;

// Measures `num_rows` rows of `fanout` picks out of `degree`. One random pair of picks per row is
// counted, so that the counts come from independent trials; pairs are of up to 40 classes of
// neighboring positions.
Uniformity measure_uniformity(int64_t degree, int64_t fanout, int64_t num_rows,
                              const DrawRow& draw_row);

}  // namespace gnnmg::test
