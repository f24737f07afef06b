// Means along the edges of sampled blocks, and the input of the first layer's product read directly
// from the table of all rows: bar 16. Peers read the same blocks from files (gpu_peer.py).
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "bench/gpu/tasks.h"
#include "nn/kernels/device.h"

namespace gnnmg::bench {
namespace {

using nn::kernels::Lists;
using nn::kernels::Matrix;
using nn::kernels::Reduce;

const nn::kernels::DeviceLayers<float>& layers() {
  return *gpu_table().of<nn::kernels::DeviceLayers<float>>();
}

std::vector<float> random_rows(int64_t rows, int64_t cols) {
  std::vector<float> values(static_cast<size_t>(rows * cols));
  base::Stream stream({5, 6}, 7);
  for (float& value : values) value = static_cast<float>(stream.below(2001)) * 1e-3f - 1;
  return values;
}

// A block of mini-batch 0 on the GPU, with its lists in both orders.
struct Block {
  Block(const Lane& lane, const sample::BlockView& view)
      : host(view),
        indptr(lane, view.indptr, view.num_targets + 1),
        indices(lane, view.indices, view.num_edges),
        out_indptr(lane, view.out_indptr, view.num_sources + 1),
        out_targets(lane, view.out_targets, view.out_indptr[view.num_sources]) {}
  Lists by_target() const { return {indptr.as<int32_t>(), indices.as<int32_t>()}; }
  Lists by_source() const { return {out_indptr.as<int32_t>(), out_targets.as<int32_t>()}; }
  const sample::BlockView host;
  const GpuArray indptr, indices, out_indptr, out_targets;
};

// Compares the mean of the rows from `row_of`, target by target, with the first `cols` columns of
// the computed rows with stride `stride`: returns the largest difference relative to the largest
// mean.
template <typename F>
double mean_error(const sample::BlockView& block, const std::vector<float>& found, int64_t cols,
                  int64_t stride, const F& row_of) {
  double largest = 0, scale = 0;
  std::vector<double> sum(static_cast<size_t>(cols));
  for (int64_t t = 0; t < block.num_targets; ++t) {
    std::ranges::fill(sum, 0);
    for (int32_t e = block.indptr[t]; e < block.indptr[t + 1]; ++e) {
      const float* row = row_of(block.indices[e]);
      for (int64_t c = 0; c < cols; ++c) sum[c] += row[c];
    }
    const int32_t count = std::max(1, block.indptr[t + 1] - block.indptr[t]);
    for (int64_t c = 0; c < cols; ++c) {
      scale = std::max(scale, std::abs(sum[c] / count));
      largest = std::max(largest, std::abs(found[t * stride + c] - sum[c] / count));
    }
  }
  return largest / scale;
}

class Mean {
 public:
  Mean(const World& world, int64_t cols, size_t layer)
      : sample_(world.sample(0)),
        cols_(cols),
        block_(lane_, sample_.blocks.at(layer)),
        rows_(random_rows(block_.host.num_sources, cols)),
        x_(lane_, rows_.data(), block_.host.num_sources * cols),
        y_(bytes(block_.host.num_targets)),
        dy_rows_(random_rows(block_.host.num_targets, cols)),
        dy_(lane_, dy_rows_.data(), block_.host.num_targets * cols),
        dx_(bytes(block_.host.num_sources)),
        scale_(block_.host.num_targets * static_cast<int64_t>(sizeof(float))) {}

  const sample::BlockView& block() const { return block_.host; }
  Timing time(bool backward) {
    return timed(lane_, 50, [&] { backward ? this->backward() : forward(); });
  }
  double error(bool of_backward) {
    if (!of_backward) {
      forward();
      return mean_error(block(), y_.read<float>(lane_, block().num_targets * cols_), cols_, cols_,
                        [&](int32_t source) { return rows_.data() + source * cols_; });
    }
    backward();
    const std::vector<float> found = dx_.read<float>(lane_, block().num_sources * cols_);
    std::vector<double> wanted(found.size());
    for (int64_t t = 0; t < block().num_targets; ++t) {
      const double count = block().indptr[t + 1] - block().indptr[t];
      for (int32_t e = block().indptr[t]; e < block().indptr[t + 1]; ++e)
        for (int64_t c = 0; c < cols_; ++c)
          wanted[block().indices[e] * cols_ + c] += dy_rows_[t * cols_ + c] / count;
    }
    double largest = 0, scale = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      scale = std::max(scale, std::abs(wanted[i]));
      largest = std::max(largest, std::abs(found[i] - wanted[i]));
    }
    return largest / scale;
  }

 private:
  int64_t bytes(int64_t rows) const { return rows * cols_ * static_cast<int64_t>(sizeof(float)); }
  void forward() {
    layers().aggregate(lane_.queue(), Reduce::kMean, block_.by_target(),
                       {x_.as<const float>(), cols_, nullptr}, cols_, {y_.as<float>(), cols_},
                       block().num_targets);
  }
  // The steps of a training's backward pass: the targets' counts, then the lists by source.
  void backward() {
    layers().mean_scale(lane_.queue(), block_.by_target(), scale_.as<float>(), block().num_targets);
    layers().aggregate_transposed(lane_.queue(), block_.by_source(), block().num_targets,
                                  scale_.as<const float>(), {dy_.as<const float>(), cols_}, {},
                                  cols_, {dx_.as<float>(), cols_}, block().num_sources);
  }

  const sample::Sample sample_;
  const int64_t cols_;
  Lane lane_;
  const Block block_;
  const std::vector<float> rows_;
  const GpuArray x_, y_;
  const std::vector<float> dy_rows_;
  const GpuArray dy_, dx_, scale_;
};

// The input of the first layer's product, [mean | own row] of each target, with rows read from the
// table of all nodes: the two kernels of a training (nn/ops/aggregate_linear.cpp). Peers that
// gather first have the own rows among the gathered ones.
class First {
 public:
  First(const World& world, int64_t cols)
      : sample_(world.sample(0)),
        cols_(cols),
        block_(lane_, sample_.blocks.front()),
        rows_(random_rows(world.size.num_nodes, cols)),
        table_(lane_, rows_.data(), world.size.num_nodes * cols),
        ids_(lane_, sample_.node_ids.data(), sample_.num_nodes()),
        y_(block_.host.num_targets * 2 * cols * static_cast<int64_t>(sizeof(float))) {}
  const sample::BlockView& block() const { return block_.host; }
  Timing time() {
    return timed(lane_, 50, [&] { run(); });
  }
  // Returns 1 if an own row is wrong.
  double error() {
    run();
    const std::vector<float> found = y_.read<float>(lane_, block().num_targets * 2 * cols_);
    const auto row_of = [&](int32_t source) {
      return rows_.data() + sample_.node_ids[source] * cols_;
    };
    for (int64_t t = 0; t < block().num_targets; ++t)
      if (!std::equal(row_of(static_cast<int32_t>(t)), row_of(static_cast<int32_t>(t)) + cols_,
                      found.data() + t * 2 * cols_ + cols_))
        return 1;
    return mean_error(block(), found, cols_, 2 * cols_, row_of);
  }

 private:
  void run() {
    const nn::kernels::StoredRows rows{table_.as<const float>(), base::DType::kF32, cols_,
                                       ids_.as<const int64_t>()};
    layers().aggregate(lane_.queue(), Reduce::kMean, block_.by_target(),
                       {table_.as<const float>(), cols_, ids_.as<const int64_t>()}, cols_,
                       {y_.as<float>(), 2 * cols_}, block().num_targets);
    layers().gather_rows(lane_.queue(), rows, cols_, {y_.as<float>() + cols_, 2 * cols_},
                         block().num_targets);
  }
  const sample::Sample sample_;
  const int64_t cols_;
  Lane lane_;
  const Block block_;
  const std::vector<float> rows_;
  const GpuArray table_, ids_, y_;
};

std::string json_of(const sample::BlockView& block, const Timing& timing, double error) {
  return base::text(json_of(timing), ", \"edges\": ", block.num_edges,
                    ", \"targets\": ", block.num_targets, ", \"sources\": ", block.num_sources,
                    ", \"error\": ", error);
}

}  // namespace

void add_layer_tasks(Tasks& tasks, const World& world) {
  auto means = std::make_shared<std::map<std::string, std::unique_ptr<Mean>>>();
  tasks["mean"] = [means, &world](const Words& words) {
    const int64_t cols = std::stoll(words.at(1));
    const bool backward = words.at(2) == "backward";
    std::unique_ptr<Mean>& found = (*means)[base::text(cols, " ", words.at(3))];
    if (!found) found = std::make_unique<Mean>(world, cols, std::stoull(words[3]));
    const Timing timing = found->time(backward);
    return json_of(found->block(), timing, found->error(backward));
  };
  auto firsts = std::make_shared<std::map<int64_t, std::unique_ptr<First>>>();
  tasks["first"] = [firsts, &world](const Words& words) {
    const int64_t cols = std::stoll(words.at(1));
    std::unique_ptr<First>& found = (*firsts)[cols];
    if (!found) found = std::make_unique<First>(world, cols);
    const Timing timing = found->time();
    return json_of(found->block(), timing, found->error());
  };
}

}  // namespace gnnmg::bench
