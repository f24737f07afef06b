#include "sample/uniformity.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/philox.h"

namespace gnnmg::test {
namespace {

double normal_deviate(double chi_square, double degrees) {
  const double spread = 2.0 / (9.0 * degrees);
  return (std::cbrt(chi_square / degrees) - (1.0 - spread)) / std::sqrt(spread);
}

}  // namespace

Uniformity measure_uniformity(int64_t degree, int64_t fanout, int64_t num_rows,
                              const DrawRow& draw_row) {
  const int64_t classes = std::min<int64_t>(degree, 40);
  const auto class_of = [&](int64_t position) { return position * classes / degree; };
  std::vector<int64_t> singles(degree), pairs(classes * classes), picks(fanout), last_row(degree);
  base::Stream stream({0x5eed, 0x5eed}, static_cast<uint64_t>(degree));
  Uniformity result;
  for (int64_t row = 1; row <= num_rows; ++row) {
    draw_row(picks.data());
    for (const int64_t pick : picks) {
      result.distinct &= std::exchange(last_row[pick], row) != row;
      ++singles[pick];
    }
    if (fanout < 2) continue;
    const auto a = static_cast<int64_t>(stream.below(fanout));
    auto b = static_cast<int64_t>(stream.below(fanout - 1));
    b += b >= a;
    const auto [low, high] = std::minmax({class_of(picks[a]), class_of(picks[b])});
    ++pairs[low * classes + high];
  }

  // Counts of a sample without replacement are correlated; the factor (d - 1) / d corrects that.
  const double share = static_cast<double>(fanout) / static_cast<double>(degree);
  const double rows = static_cast<double>(num_rows), d = static_cast<double>(degree);
  double chi_square = 0;
  for (const int64_t count : singles) {
    const double off = static_cast<double>(count) - rows * share;
    chi_square += off * off / (rows * share * (1 - share)) * (d - 1) / d;
  }
  result.single = normal_deviate(chi_square, d - 1);
  if (fanout < 2) return result;

  std::vector<double> sizes(classes);
  for (int64_t position = 0; position < degree; ++position) ++sizes[class_of(position)];
  chi_square = 0;
  double cells = 0;
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = i; j < classes; ++j) {
      const double ways = i == j ? sizes[i] * (sizes[i] - 1) : 2 * sizes[i] * sizes[j];
      const double expected = rows * ways / (d * (d - 1));
      if (expected == 0) continue;  // a count here would mean a repeated pick
      const double off = static_cast<double>(pairs[i * classes + j]) - expected;
      chi_square += off * off / expected;
      ++cells;
    }
  }
  result.pair = cells > 1 ? normal_deviate(chi_square, cells - 1) : 0;
  return result;
}

}  // namespace gnnmg::test
