// Dropout keys that kernels read when they run, compared with keys that are fixed at launch.
#include <functional>

#include "layer_cases.h"

namespace gnnmg::cuda {

template <typename T>
void check_dropout_keys(const DeviceLayers<T>& device, Random& random) {
  constexpr int64_t kRows = 70, kWidth = 257;
  const Grid<T> x = random_grid<T>(random, kRows, kWidth),
                y = random_grid<T>(random, kRows, kWidth);
  Array<int64_t> indptr;
  Array<int32_t> indices;
  Array<float> values;
  for (int64_t r = 0; r <= kRows; ++r) indptr.push_back(r * 3);
  for (int64_t k = 0; k < kRows * 3; ++k) {
    indices.push_back(static_cast<int32_t>(random() % kWidth));
    values.push_back(1);
  }
  const kernels::SparseMatrix<float> sparse{indptr.data(), indices.data(), values.data()};

  using Run = std::function<void(const kernels::Dropout&, Grid<T>&)>;
  const auto check = [&](const char* what, const Run& run) {
    const kernels::Dropout fixed = some_dropout(0.4);
    KeyInMemory kept(fixed);
    Grid<T> by_value(kRows, kWidth), by_place(kRows, kWidth), changed(kRows, kWidth);
    run(fixed, by_value);
    run(kept.dropout, by_place);
    wait();
    EXPECT_TRUE(same_bits(by_place.data, by_value.data)) << what;
    kept.words[0] ^= 1;
    run(kept.dropout, changed);
    wait();
    EXPECT_FALSE(same_bits(changed.data, by_value.data)) << what;
  };
  check("finish", [&](const kernels::Dropout& dropout, Grid<T>& out) {
    device.finish(running_queue(), x.in(), kWidth, nullptr, false, dropout, out.out(), kRows);
  });
  check("finish_backward", [&](const kernels::Dropout& dropout, Grid<T>& out) {
    Array<T> bias(kWidth), parts(kWidth * kernels::num_parts(kRows));
    device.finish_backward(running_queue(), x.in(), y.in(), kWidth, false, dropout, out.out(),
                           bias.data(), parts.data(), kRows);
    wait();
  });
  check("sparse_dropout", [&](const kernels::Dropout& dropout, Grid<T>& out) {
    device.sparse_dropout(running_queue(), sparse, dropout, out.at(), kRows);
  });
}
GNNMG_INSTANTIATE_CASE(dropout_keys)

}  // namespace gnnmg::cuda
