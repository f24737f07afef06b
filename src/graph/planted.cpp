#include "graph/planted.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace gnnmg::graph {
namespace {

using base::DType;
using base::Key;
using base::Tensor;

// Adds N(0, scale^2) to each of `values`, four from each Philox block of item `id` (Box and
// Muller).
void add_normals(std::span<float> values, float scale, Key key, uint64_t id) {
  constexpr float kTurn = 2 * std::numbers::pi_v<float>;
  for (size_t i = 0; i < values.size(); i += 4) {
    const base::Counter words =
        base::philox({static_cast<uint32_t>(id), static_cast<uint32_t>(id >> 32),
                      static_cast<uint32_t>(i / 4), 0},
                     key);
    float normals[4];
    for (int pair = 0; pair < 4; pair += 2) {
      const float u = (static_cast<float>(words[pair]) + 1.0f) * 0x1p-32f;
      const float radius = scale * std::sqrt(-2.0f * std::log(u));
      const float angle = kTurn * base::unit_float(words[pair + 1]);
      normals[pair] = radius * std::cos(angle);
      normals[pair + 1] = radius * std::sin(angle);
    }
    for (size_t j = 0; j < 4 && i + j < values.size(); ++j) values[i + j] += normals[j];
  }
}

}  // namespace

Key generator_key(uint64_t seed, Generator generator, Part part) {
  return base::stream_key(seed, base::Purpose::kGenerator, static_cast<uint64_t>(generator),
                          static_cast<uint64_t>(part));
}

Tensor make_centres(int32_t num_classes, int32_t num_features, double scale, Key key) {
  Tensor centres = Tensor::zeros(DType::kF32, {num_classes, num_features});
  const std::span<float> values = centres.as<float>();
  for (int32_t c = 0; c < num_classes; ++c)
    add_normals(values.subspan(int64_t{c} * num_features, num_features), static_cast<float>(scale),
                key, c);
  return centres;
}

Tensor make_features(int64_t num_nodes, std::span<const int32_t> classes, const Tensor& centres,
                     int32_t num_features, double noise, Key key, base::ThreadPool& pool) {
  Tensor features = Tensor::empty(DType::kF32, {num_nodes, num_features});
  const std::span<float> values = features.as<float>();
  pool.parallel_for(num_nodes, kNodeGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const std::span<float> row = values.subspan(i * num_features, num_features);
      if (classes.empty()) {
        std::fill(row.begin(), row.end(), 0.0f);
      } else {
        const auto from = centres.as<float>().subspan(int64_t{classes[i]} * num_features);
        std::copy_n(from.begin(), num_features, row.begin());
      }
      add_normals(row, static_cast<float>(noise), key, i);
    }
  });
  return features;
}

Tensor make_labels(std::span<const int32_t> classes, int32_t num_classes, double share, bool other,
                   Key key, base::ThreadPool& pool) {
  const auto num_nodes = static_cast<int64_t>(classes.size());
  Tensor labels = Tensor::empty(DType::kI64, {num_nodes});
  const std::span<int64_t> values = labels.as<int64_t>();
  const bool no_other = other && num_classes == 1;
  pool.parallel_for(num_nodes, kNodeGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      base::Stream stream(key, i);
      values[i] = classes[i];
      if (no_other || stream.uniform() >= share) continue;
      auto drawn = static_cast<int64_t>(stream.below(num_classes - (other ? 1 : 0)));
      if (other && drawn >= classes[i]) ++drawn;
      values[i] = drawn;
    }
  });
  return labels;
}

void check_field(const char* field, double value, double low, double high) {
  if (!(value >= low && value <= high) || !std::isfinite(value))
    base::fail(base::Status::kInvalidArgument, field, " is ", value, ", expected ", low, " to ",
               high);
}

void check_field(const char* field, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high)
    base::fail(base::Status::kInvalidArgument, field, " is ", value, ", expected ", low, " to ",
               high);
}

}  // namespace gnnmg::graph
