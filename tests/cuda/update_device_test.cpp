// The optimizers' updates on every device, by the device table: compared with their published
// formulas over hundreds of steps, including skipped steps, clipping and elements without decay.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "devices.h"
#include "train/device_updates.h"

namespace gnnmg::cuda {
namespace {

using train::OptimizerConfig;
using train::OptimizerKind;
using train::UpdateNumbers;
using Updates = OnDevices;

template <typename T>
const train::DeviceUpdates<T>& updates_of(const device::Table& table) {
  if constexpr (sizeof(T) == 4)
    return *table.of<train::DeviceUpdates<float>>();
  else
    return *table.of<train::DeviceUpdates<double>>();
}

// One element, with the formulas of the papers and PyTorch's documentation.
struct Reference {
  double m = 0, v = 0, max_v = 0, mean = 0;
  int t = 0;
  double step(const OptimizerConfig& c, bool decays, double p, double g) {
    ++t;
    const double decay = decays ? c.weight_decay : 0;
    if (c.kind == OptimizerKind::kSgd) {
      g += decay * p;
      if (c.momentum != 0) {
        m = t == 1 ? g : c.momentum * m + (1 - c.dampening) * g;
        g = c.nesterov ? g + c.momentum * m : m;
      }
      return p - c.learning_rate * g;
    }
    if (c.kind == OptimizerKind::kRmsProp) {
      g += decay * p;
      v = c.alpha * v + (1 - c.alpha) * g * g;
      mean = c.alpha * mean + (1 - c.alpha) * g;
      m = c.momentum * m + g / (std::sqrt(c.centered ? v - mean * mean : v) + c.epsilon);
      return p - c.learning_rate * m;
    }
    if (c.kind == OptimizerKind::kAdagrad) {
      g += decay * p;
      v += g * g;
      return p - c.learning_rate * g / (std::sqrt(v) + c.epsilon);
    }
    if (c.kind == OptimizerKind::kAdamW)
      p -= c.learning_rate * decay * p;
    else
      g += decay * p;
    m = c.beta1 * m + (1 - c.beta1) * g;
    v = c.beta2 * v + (1 - c.beta2) * g * g;
    max_v = std::max(max_v, v);
    const double root = std::sqrt((c.amsgrad ? max_v : v) / (1 - std::pow(c.beta2, t)));
    return p - c.learning_rate / (1 - std::pow(c.beta1, t)) * m / (root + c.epsilon);
  }
};

std::vector<OptimizerConfig> all_kinds() {
  std::vector<OptimizerConfig> configs;
  for (const OptimizerKind kind : {OptimizerKind::kAdam, OptimizerKind::kAdamW})
    for (const bool amsgrad : {false, true}) {
      OptimizerConfig c;
      c.kind = kind;
      c.weight_decay = 0.05;
      c.amsgrad = amsgrad;
      configs.push_back(c);
    }
  for (const double momentum : {0.0, 0.9})
    for (const double dampening : {0.0, 0.3}) {
      OptimizerConfig c;
      c.kind = OptimizerKind::kSgd;
      c.momentum = momentum;
      c.dampening = momentum == 0 ? 0 : dampening;
      c.nesterov = momentum != 0 && dampening == 0;
      c.weight_decay = 0.02;
      configs.push_back(c);
    }
  for (const bool centered : {false, true})
    for (const double momentum : {0.0, 0.9})
      configs.push_back({.kind = OptimizerKind::kRmsProp,
                         .weight_decay = 0.02,
                         .momentum = momentum,
                         .alpha = 0.9,
                         .centered = centered});
  configs.push_back({.kind = OptimizerKind::kAdagrad, .weight_decay = 0.02});
  return configs;
}

// A flat buffer of weights with the optimizer's state for it.
template <typename T>
class Flat {
 public:
  Flat(const TestDevice& on, device::Queue* queue, const OptimizerConfig& config, int64_t count)
      : on_(on),
        queue_(queue),
        count_(count),
        parameters_(on, queue, std::vector<T>(count)),
        gradients_(on, queue, std::vector<T>(count)),
        first_(on, queue, std::vector<T>(count)),
        second_(on, queue, std::vector<T>(count)),
        third_(on, queue, std::vector<T>(count)),
        parts_(on, queue, train::num_update_parts(count)),
        numbers_(on, queue, std::vector<UpdateNumbers>(1)) {
    rule_.config = config;
    arrays_.parameters = parameters_.data();
    arrays_.gradients = gradients_.data();
    if (config.kind == OptimizerKind::kSgd) {
      if (config.momentum != 0) arrays_.momentum_buffer = first_.data();
    } else if (config.kind == OptimizerKind::kRmsProp) {
      arrays_.square_avg = first_.data();
      if (config.momentum > 0) arrays_.momentum_buffer = second_.data();
      if (config.centered) arrays_.grad_avg = third_.data();
    } else if (config.kind == OptimizerKind::kAdagrad) {
      arrays_.sum = first_.data();
    } else {
      arrays_.exp_avg = first_.data();
      arrays_.exp_avg_sq = second_.data();
      if (config.amsgrad) arrays_.max_exp_avg_sq = third_.data();
    }
  }
  train::UpdateRule& rule() { return rule_; }
  void set(const std::vector<T>& weights) { write(parameters_, weights); }
  void set_gradients(const std::vector<T>& values) { write(gradients_, values); }
  void set_numbers(UpdateNumbers numbers) {
    const std::vector<UpdateNumbers> one{numbers};
    write(numbers_, one);
  }
  void scale() {
    updates_of<T>(*on_.table)
        .scale(queue_, gradients_.data(), count_, numbers_.data(), parts_.data());
  }
  void update() {
    updates_of<T>(*on_.table).update(queue_, rule_, arrays_, count_, numbers_.data());
  }
  UpdateNumbers numbers() const { return numbers_.read()[0]; }
  std::vector<T> weights() const { return parameters_.read(); }
  std::vector<T> gradients() const { return gradients_.read(); }
  std::vector<T> moments() const { return first_.read(); }

 private:
  template <typename E>
  void write(DeviceArray<E>& to, const std::vector<E>& values) {
    on_.table->copy(queue_, to.data(), values.data(),
                    static_cast<int64_t>(values.size() * sizeof(E)));
    on_.table->synchronize(queue_);
  }
  const TestDevice& on_;
  device::Queue* queue_;
  int64_t count_;
  DeviceArray<T> parameters_, gradients_, first_, second_, third_;
  DeviceArray<double> parts_;
  DeviceArray<UpdateNumbers> numbers_;
  train::UpdateRule rule_;
  train::UpdateArrays<T> arrays_;
};

template <typename T>
std::vector<T> gradient(int64_t step, int64_t count) {
  std::vector<T> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(std::sin(0.7 * static_cast<double>((i % 97 + 1) * (step + 1))));
  return values;
}

// Two hundred steps with a different rate each, some of them skipped, and decay in two places.
template <typename T>
void follows_the_formulas(const TestDevice& device, device::Queue* queue, double tolerance) {
  constexpr int64_t kCount = 2100;
  const DeviceArray<int64_t> decayed(device, queue, std::vector<int64_t>{3, 40, 2000, 2100});
  for (const bool everywhere : {true, false}) {
    for (OptimizerConfig config : all_kinds()) {
      Flat<T> flat(device, queue, config, kCount);
      if (!everywhere) {
        flat.rule().decayed = decayed.data();
        flat.rule().num_decayed = 2;
      }
      std::vector<T> weights(kCount);
      for (int64_t i = 0; i < kCount; ++i)
        weights[i] = static_cast<T>(0.01 * static_cast<double>(i % 31) - 0.1);
      flat.set(weights);
      std::vector<double> expected(weights.begin(), weights.end());
      std::vector<Reference> references(kCount);
      UpdateNumbers numbers;
      for (int64_t step = 0; step < 200; ++step) {
        const std::vector<T> g = gradient<T>(step, kCount);
        flat.set_gradients(g);
        config.learning_rate = 0.01 / static_cast<double>(1 + step % 3);
        numbers = flat.numbers();
        numbers.scale = 0.5;
        numbers.learning_rate = config.learning_rate;
        numbers.skip = step % 10 == 7 ? 1 : 0;
        flat.set_numbers(numbers);
        flat.scale();
        flat.update();
        if (numbers.skip != 0) continue;
        for (int64_t i = 0; i < kCount; ++i) {
          const bool decays = everywhere || (i >= 3 && i < 40) || i >= 2000;
          expected[i] =
              references[i].step(config, decays, expected[i], 0.5 * static_cast<double>(g[i]));
        }
      }
      EXPECT_EQ(flat.numbers().steps, 180);
      const std::vector<T> found = flat.weights();
      double worst = 0;
      for (int64_t i = 0; i < kCount; ++i)
        worst = std::max(worst, std::abs(static_cast<double>(found[i]) - expected[i]) /
                                    std::max(1.0, std::abs(expected[i])));
      EXPECT_LE(worst, tolerance) << "kind " << static_cast<int>(config.kind) << ", amsgrad "
                                  << config.amsgrad << ", momentum " << config.momentum
                                  << ", everywhere " << everywhere;
    }
  }
}

TEST_P(Updates, FollowTheFormulasInDoublePrecision) {
  follows_the_formulas<double>(device(), queue(), 1e-12);
}
TEST_P(Updates, FollowTheFormulasInSinglePrecision) {
  follows_the_formulas<float>(device(), queue(), 1e-4);
}

// All sizes around those of parts; the same bits in a second run.
TEST_P(Updates, SumSquaresInF64AndScale) {
  for (const int64_t count : {1, 31, 32, 2047, 2048, 2049, 5000, 70'000}) {
    Flat<float> flat(device(), queue(), {}, count);
    UpdateNumbers numbers;
    numbers.scale = 0.25;
    double first = 0;
    for (int turn = 0; turn < 2; ++turn) {
      flat.set_gradients(gradient<float>(3, count));
      flat.set_numbers(numbers);
      flat.scale();
      double expected = 0;
      const std::vector<float> scaled = flat.gradients(), given = gradient<float>(3, count);
      for (int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(scaled[i], given[i] * 0.25F);
        expected += static_cast<double>(scaled[i]) * static_cast<double>(scaled[i]);
      }
      const double squares = flat.numbers().squares;
      EXPECT_NEAR(squares, expected, 1e-12 * expected) << count;
      if (turn == 0) first = squares;
      EXPECT_EQ(squares, first);
    }
  }
}

TEST_P(Updates, ClipToANorm) {
  OptimizerConfig config;
  config.kind = OptimizerKind::kSgd;
  for (const double limit : {0.0, 1.0, 1e6}) {
    Flat<double> flat(device(), queue(), config, 100);
    UpdateNumbers numbers;
    numbers.clip_norm = limit;
    numbers.learning_rate = 1;
    flat.set_gradients(gradient<double>(0, 100));
    flat.set_numbers(numbers);
    flat.scale();
    flat.update();
    double squares = 0;
    for (const double g : gradient<double>(0, 100)) squares += g * g;
    double moved = 0;
    for (const double weight : flat.weights()) moved += weight * weight;
    EXPECT_NEAR(std::sqrt(moved), limit == 1 ? 1 : std::sqrt(squares), 1e-6) << limit;
  }
}

TEST_P(Updates, LeaveAllAsItWasWhereAGradientIsNotFinite) {
  for (const OptimizerConfig& config : all_kinds()) {
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      Flat<double> flat(device(), queue(), config, 300);
      UpdateNumbers numbers;
      numbers.learning_rate = 0.1;
      flat.set(gradient<double>(9, 300));
      flat.set_gradients(gradient<double>(1, 300));
      flat.set_numbers(numbers);
      flat.scale();
      flat.update();
      const std::vector<double> weights = flat.weights(), moments = flat.moments();
      std::vector<double> gradients = gradient<double>(2, 300);
      gradients[123] = bad;
      flat.set_gradients(gradients);
      flat.scale();
      flat.update();
      EXPECT_EQ(flat.weights(), weights);
      EXPECT_EQ(flat.moments(), moments);
      EXPECT_EQ(flat.numbers().steps, 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Updates, testing::ValuesIn(test_devices()), name_of_device);

}  // namespace
}  // namespace gnnmg::cuda
