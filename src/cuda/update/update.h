// The optimizers' kernels: the table of train/device_updates.h.
#pragma once

#include <math.h>

#include "cuda/layer/normalize.h"
#include "cuda/update/table.h"

namespace gnnmg::cuda {

using train::StepNumbers;
using train::UpdateNumbers;

GNNMG_BOTH bool is_finite(double x) { return x - x == 0; }

// Item: a part of the elements.
template <typename T>
struct ScaleParts {
  T* gradients;
  int64_t count;
  const UpdateNumbers* numbers;
  double* parts;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t part) const {
    const T factor = static_cast<T>(numbers->scale);
    const int64_t first = part * train::kUpdatePart;
    const int64_t last = least(count, first + train::kUpdatePart);
    const auto shares = tile.template make<double>([&](int lane) {
      double sum = 0;
      for (int64_t i = first + lane; i < last; i += Tile::kLanes) {
        const T value = gradients[i] * factor;
        gradients[i] = value;
        sum = multiply_add(static_cast<double>(value), static_cast<double>(value), sum);
      }
      return sum;
    });
    const double sum = tile.sum(shares);
    tile.each([&](int lane) {
      if (lane == 0) parts[part] = sum;
    });
  }
};

// One item.
struct SumSquares {
  const double* parts;
  int64_t num_parts;
  UpdateNumbers* numbers;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t) const {
    const auto shares = tile.template make<double>([&](int lane) {
      double sum = 0;
      for (int64_t i = lane; i < num_parts; i += Tile::kLanes) sum += parts[i];
      return sum;
    });
    const double sum = tile.sum(shares);
    tile.each([&](int lane) {
      if (lane == 0) numbers->squares = sum;
    });
  }
};

// One item: computes the step's values before the update.
struct PrepareUpdate {
  double beta1, beta2;
  UpdateNumbers* numbers;

  GNNMG_BOTH void operator()(int64_t) const {
    UpdateNumbers n = *numbers;
    n.updates = n.skip == 0 && is_finite(n.squares) ? 1 : 0;
    // The formula of torch.nn.utils.clip_grad_norm_, including its 1e-6.
    const double most = n.clip_norm / (root(n.squares) + 1e-6);
    n.factor = n.clip_norm > 0 && most < 1 ? most : 1;
    n.first = n.steps == 0 ? 1 : 0;
    n.steps += n.updates;
    n.step_size = n.learning_rate / (1 - pow(beta1, n.steps));
    n.root = root(1 - pow(beta2, n.steps));
    *numbers = n;
  }
};

template <typename T>
struct Update {
  // For f64 nvcc's own choice of registers spills on sm_80.
  static constexpr int kLeastBlocks = sizeof(T) == 4 ? 0 : 6;
  train::UpdateRule rule;
  train::UpdateArrays<T> at;
  const UpdateNumbers* numbers;

  GNNMG_BOTH T decay(int64_t i) const {
    if (rule.decayed == nullptr) return static_cast<T>(rule.config.weight_decay);
    for (int32_t r = 0; r < rule.num_decayed; ++r)
      if (i >= rule.decayed[2 * r] && i < rule.decayed[2 * r + 1])
        return static_cast<T>(rule.config.weight_decay);
    return T{0};
  }

  GNNMG_BOTH void operator()(int64_t i) const {
    if (numbers->updates == 0) return;
    const T gradient = at.gradients[i] * static_cast<T>(numbers->factor);
    switch (rule.config.kind) {
      case train::OptimizerKind::kSgd:
        return sgd(i, gradient);
      case train::OptimizerKind::kRmsProp:
        return rms_prop(i, gradient);
      case train::OptimizerKind::kAdagrad:
        return adagrad(i, gradient);
      default:
        return adam(i, gradient);
    }
  }

  GNNMG_BOTH void sgd(int64_t i, T gradient) const {
    const T weight = at.parameters[i];
    gradient += decay(i) * weight;
    if (at.momentum_buffer != nullptr) {
      const T momentum = static_cast<T>(rule.config.momentum);
      T buffer = gradient;
      if (numbers->first == 0)
        buffer =
            momentum * at.momentum_buffer[i] + static_cast<T>(1 - rule.config.dampening) * gradient;
      at.momentum_buffer[i] = buffer;
      gradient = rule.config.nesterov ? gradient + momentum * buffer : buffer;
    }
    at.parameters[i] = weight - static_cast<T>(numbers->learning_rate) * gradient;
  }

  GNNMG_BOTH void rms_prop(int64_t i, T gradient) const {
    const T weight = at.parameters[i];
    gradient += decay(i) * weight;
    const T keep = static_cast<T>(rule.config.alpha);
    const T take = static_cast<T>(1 - rule.config.alpha);
    const T square = keep * at.square_avg[i] + take * gradient * gradient;
    at.square_avg[i] = square;
    T spread = square;
    if (at.grad_avg != nullptr) {
      const T mean = keep * at.grad_avg[i] + take * gradient;
      at.grad_avg[i] = mean;
      spread -= mean * mean;
    }
    T change = gradient / (root(spread) + static_cast<T>(rule.config.epsilon));
    if (at.momentum_buffer != nullptr) {
      change += static_cast<T>(rule.config.momentum) * at.momentum_buffer[i];
      at.momentum_buffer[i] = change;
    }
    at.parameters[i] = weight - static_cast<T>(numbers->learning_rate) * change;
  }

  GNNMG_BOTH void adagrad(int64_t i, T gradient) const {
    const T weight = at.parameters[i];
    gradient += decay(i) * weight;
    const T sum = at.sum[i] + gradient * gradient;
    at.sum[i] = sum;
    at.parameters[i] = weight - static_cast<T>(numbers->learning_rate) * gradient /
                                    (root(sum) + static_cast<T>(rule.config.epsilon));
  }

  GNNMG_BOTH void adam(int64_t i, T gradient) const {
    T weight = at.parameters[i];
    const T decay = this->decay(i);
    if (rule.config.kind == train::OptimizerKind::kAdamW)
      weight *= T{1} - static_cast<T>(numbers->learning_rate) * decay;
    else
      gradient += decay * weight;
    const T mean = static_cast<T>(rule.config.beta1) * at.exp_avg[i] +
                   static_cast<T>(1 - rule.config.beta1) * gradient;
    const T square = static_cast<T>(rule.config.beta2) * at.exp_avg_sq[i] +
                     static_cast<T>(1 - rule.config.beta2) * gradient * gradient;
    at.exp_avg[i] = mean;
    at.exp_avg_sq[i] = square;
    T largest = square;
    if (at.max_exp_avg_sq != nullptr) {
      largest = greatest(at.max_exp_avg_sq[i], square);
      at.max_exp_avg_sq[i] = largest;
    }
    const T divisor =
        root(largest) / static_cast<T>(numbers->root) + static_cast<T>(rule.config.epsilon);
    at.parameters[i] = weight - static_cast<T>(numbers->step_size) * (mean / divisor);
  }
};

// One item: pairs of T whose sums are the rank's sums, up to rounding T twice.
template <typename T>
struct PackStep {
  const StepNumbers* step;
  T* out;
  UpdateNumbers* numbers;

  GNNMG_BOTH void put(int64_t place, double value) const {
    const T high = static_cast<T>(value);
    out[2 * place] = high;
    out[2 * place + 1] = static_cast<T>(value - static_cast<double>(high));
  }
  GNNMG_BOTH void operator()(int64_t) const {
    put(0, step->loss);
    put(1, step->weight);
    put(2, step->correct);
    put(3, step->labeled);
    put(4, step->seeds);
    put(5, step->stop);
    put(6, step->write_failed);
    numbers->scale = step->own_share;
  }
};

// One item.
template <typename T>
struct TotalStep {
  StepNumbers* step;
  const T* packed;  // null: one rank
  UpdateNumbers* numbers;

  GNNMG_BOTH double sum(int64_t place, double own) const {
    if (packed == nullptr) return own;
    return static_cast<double>(packed[2 * place]) + static_cast<double>(packed[2 * place + 1]);
  }
  GNNMG_BOTH void operator()(int64_t) const {
    StepNumbers& s = *step;
    s.all_loss = sum(0, s.loss);
    s.all_weight = sum(1, s.weight);
    s.all_correct = sum(2, s.correct);
    s.all_labeled = sum(3, s.labeled);
    s.all_seeds = sum(4, s.seeds);
    s.any_stop = sum(5, s.stop);
    s.any_write_failed = sum(6, s.write_failed);
    numbers->scale = s.share > 0 ? s.share : s.all_weight > 0 ? 1 / s.all_weight : 1;
    numbers->clip_norm = s.clip_norm;
    numbers->learning_rate = s.learning_rate;
  }
};

// One item.
struct JudgeStep {
  StepNumbers* step;
  UpdateNumbers* numbers;

  GNNMG_BOTH void operator()(int64_t) const {
    StepNumbers& s = *step;
    const bool ended = s.bad_steps >= static_cast<double>(train::kBadSteps);
    const bool finite = is_finite(s.all_loss) && is_finite(numbers->squares);
    if (!ended) s.bad_steps = finite ? 0 : s.bad_steps + 1;
    s.good = finite && !ended ? 1 : 0;
    numbers->skip = s.good != 0 && s.all_weight > 0 ? 0 : 1;
  }
};

template <typename T>
struct KeepGood {
  const StepNumbers* step;
  const T* parameters;
  T* kept;

  GNNMG_BOTH void operator()(int64_t i) const {
    if (step->good != 0) kept[i] = parameters[i];
  }
};

template <typename Queue, typename T>
void scale_gradients(device::Queue* handle, T* gradients, int64_t count, UpdateNumbers* numbers,
                     double* parts) {
  Queue& queue = queue_of<Queue>(handle);
  const int64_t num_parts = train::num_update_parts(count);
  queue.template tiles<32>(num_parts, ScaleParts<T>{gradients, count, numbers, parts});
  queue.template tiles<32>(1, SumSquares{parts, num_parts, numbers});
}

template <typename Queue, typename T>
void update_parameters(device::Queue* handle, const train::UpdateRule& rule,
                       const train::UpdateArrays<T>& arrays, int64_t count,
                       UpdateNumbers* numbers) {
  Queue& queue = queue_of<Queue>(handle);
  queue.each(1, PrepareUpdate{rule.config.beta1, rule.config.beta2, numbers});
  queue.each(count, Update<T>{rule, arrays, numbers});
}

template <typename Queue, typename T>
void pack_step(device::Queue* handle, const StepNumbers* step, T* out, UpdateNumbers* numbers) {
  queue_of<Queue>(handle).each(1, PackStep<T>{step, out, numbers});
}

template <typename Queue, typename T>
void total_step(device::Queue* handle, StepNumbers* step, const T* packed, UpdateNumbers* numbers) {
  queue_of<Queue>(handle).each(1, TotalStep<T>{step, packed, numbers});
}

template <typename Queue>
void judge_step(device::Queue* handle, StepNumbers* step, UpdateNumbers* numbers) {
  queue_of<Queue>(handle).each(1, JudgeStep{step, numbers});
}

template <typename Queue, typename T>
void keep_good(device::Queue* handle, const StepNumbers* step, const T* parameters, T* kept,
               int64_t count) {
  queue_of<Queue>(handle).each(count, KeepGood<T>{step, parameters, kept});
}

template <typename Queue, typename T>
const train::DeviceUpdates<T>& updates_table() {
  static constexpr train::DeviceUpdates<T> table = {
      scale_gradients<Queue, T>, update_parameters<Queue, T>, pack_step<Queue, T>,
      total_step<Queue, T>,      judge_step<Queue>,           keep_good<Queue, T>};
  return table;
}

}  // namespace gnnmg::cuda
