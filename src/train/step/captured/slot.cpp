#include "train/step/captured/slot.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "feature/device.h"
#include "nn/torch/tensor.h"
#include "train/step/loss.h"

namespace gnnmg::train {
namespace {

using device::Placement;

// The type of gathered rows, by the same rule as DeviceFeed.
base::DType type_of_rows(const loader::DeviceSource::Parts& source) {
  const base::DType given = source.store->dtype();
  const bool converts = given == base::DType::kF32 || given == base::DType::kF16 ||
                        given == base::DType::kBF16 ||
                        source.config.form != feature::Form::kAsGiven;
  return converts ? source.config.row_type : given;
}

}  // namespace

CapturedSlot::CapturedSlot(const CapturedParts& parts)
    : parts_(parts),
      job_(parts.job),
      model_(parts.model),
      device_(*parts.model.device()),
      source_(parts.source),
      num_hops_(static_cast<int32_t>(source_.sampler->neighbors()->config->fanouts.size())),
      width_(classes() ? 1 : job_.dataset->labels()->shape().row_elements()),
      host_(*device_.table, device_.index, Placement::kPinned),
      there_(*device_.table, device_.index, Placement::kDevice),
      rows_(*device_.table, device_.index, Placement::kDevice) {
  const auto room = [&](int64_t count, int64_t size) {
    const int64_t at = bytes_;
    bytes_ += (count * size + 15) / 16 * 16;
    return at;
  };
  seeds_ = room(parts_.max_seeds, sizeof(int64_t));
  labels_ = room(parts_.max_seeds * width_, sizeof(int64_t));
  weights_ = room(parts_.max_seeds * width_, sizeof(double));
  keys_ = room(int64_t{num_hops_} * 2, sizeof(uint32_t));
  dropout_ = room(kMostDropoutKeys * 2, sizeof(uint32_t));
  num_seeds_ = room(1, sizeof(int32_t));
  const int64_t counts = (2 * num_hops_ + 1) * static_cast<int64_t>(sizeof(int32_t));
  std::memset(host_.reserve(bytes_ + counts), 0, static_cast<size_t>(bytes_ + counts));
  uint8_t* const there = there_.reserve(bytes_);
  dropout_keys_ = nn::DropoutKeys(in<uint32_t>(there, dropout_), kMostDropoutKeys);
  sampler_ = device_.table->of<sample::DeviceSampling>()->create(
      parts_.sampling, source_.topology->graph(), *source_.sampler->neighbors()->config,
      parts_.max_seeds, 1);
}

CapturedSlot::~CapturedSlot() { device_.table->of<sample::DeviceSampling>()->free(sampler_); }

bool CapturedSlot::gathers() const { return source_.gathers(); }

void CapturedSlot::write_labels(uint8_t* to, const nn::Targets& targets, int64_t count) {
  const int64_t filled = count * width_, all = parts_.max_seeds * width_;
  if (classes()) {
    int64_t* const labels = in<int64_t>(to, labels_);
    std::copy_n(targets.labels.const_data_ptr<int64_t>(), count, labels);
    const int64_t num_classes = model_.config().output_dim;
    for (int64_t i = 0; i < count; ++i)
      if (labels[i] < -1 || labels[i] >= num_classes)
        base::fail(base::Status::kRange, "label of row ", i, " is ", labels[i],
                   ", expected -1 (none) or below ", num_classes,
                   ", the number of columns of the logits");
    std::fill(labels + filled, labels + all, -1);
    labeled_ = (targets.labels >= 0).sum().item<int64_t>();
  } else {
    double* const labels = in<double>(to, labels_);
    const at::Tensor wide = targets.labels.to(at::kDouble).contiguous();
    std::copy_n(wide.const_data_ptr<double>(), filled, labels);
    std::fill(labels + filled, labels + all, std::numeric_limits<double>::quiet_NaN());
    labeled_ = job_.dataset->task == data::Task::kBinary
                   ? wide.isnan().logical_not().sum().item<int64_t>()
                   : 0;
  }
  double* const weights = in<double>(to, weights_);
  const at::Tensor given = nn::weights_of(targets).contiguous();
  std::copy_n(given.const_data_ptr<double>(), filled, weights);
  std::fill(weights + filled, weights + all, 0.0);
  weight_ = nn::label_weight(targets);
}

void CapturedSlot::write(std::span<const int64_t> seeds, const sample::BatchKey& sample_key,
                         const nn::DropoutKey& dropout_key) {
  uint8_t* const to = host_.data();
  const auto count = static_cast<int64_t>(seeds.size());
  std::ranges::copy(seeds, in<int64_t>(to, seeds_));
  *in<int32_t>(to, num_seeds_) = static_cast<int32_t>(count);
  write_labels(to, nn::gather_targets(*job_.dataset, seeds, model_.flat_parameters().scalar_type()),
               count);
  for (int32_t hop = 0; hop < num_hops_; ++hop)
    std::ranges::copy(sample_key.hop(hop, source_.sampler->neighbors()->edge_type),
                      in<uint32_t>(to, keys_) + int64_t{2} * hop);
  dropout_keys_.write(dropout_key, {in<uint32_t>(to, dropout_), 2 * kMostDropoutKeys});
}

void CapturedSlot::put_sample() {
  uint8_t* const there = there_.data();
  device_.table->copy(parts_.sampling, there, host_.data(), bytes_);
  sample_ = device_.table->of<sample::DeviceSampling>()->sample(
      sampler_, {.num_batches = 1,
                 .seeds = in<int64_t>(there, seeds_),
                 .seed_stride = parts_.max_seeds,
                 .num_seeds = in<int32_t>(there, num_seeds_),
                 .keys = in<uint32_t>(there, keys_),
                 .pad = true});
}

void CapturedSlot::put_counts() {
  auto* const to = in<int32_t>(host_.data(), bytes_);
  const int64_t size = sizeof(int32_t);
  device_.table->copy(parts_.sampling, to, sample_->hop_ends, (num_hops_ + 1) * size);
  device_.table->copy(parts_.sampling, to + num_hops_ + 1, sample_->num_edges, num_hops_ * size);
}

PassCounts CapturedSlot::counts() const {
  const auto* const from = in<const int32_t>(host_.data(), bytes_);
  const auto hops = static_cast<size_t>(num_hops_);
  return {{from, hops + 1}, {from + hops + 1, hops}};
}

PassShape CapturedSlot::bound() const {
  PassShape bound;
  bound.hop_ends.resize(static_cast<size_t>(num_hops_) + 1);
  for (int32_t i = 0; i < num_hops_; ++i) {
    const sample::DeviceLayer& layer = sample_->layers[i];
    bound.hop_ends[layer.hop] = static_cast<int32_t>(layer.max_targets);
    bound.hop_ends[layer.hop + 1] = static_cast<int32_t>(layer.max_sources);
    bound.num_edges.push_back(static_cast<int32_t>(layer.max_edges));
  }
  return bound;
}

void CapturedSlot::reserve_rows() {
  if (!gathers()) return;
  row_type_ = type_of_rows(source_);
  const int64_t size = base::dtype_size(row_type_), a_line = feature::kRowAlignment / size;
  row_stride_ = (source_.store->num_cols() + a_line - 1) / a_line * a_line;
  rows_.reserve(base::checked_mul(
      base::checked_mul(sample_->layers[0].max_sources, row_stride_, "rows of a mini-batch"), size,
      "rows of a mini-batch"));
}

void CapturedSlot::put_gather() {
  device_.table->of<feature::DeviceFeatures>()->gather(parts_.gathering, source_.table->store(),
                                                       rows_of(sample_->layers[0].max_sources));
}

feature::DeviceGather CapturedSlot::rows_of(int64_t most) const {
  return {.ids = sample_->node_ids,
          .max_count = most,
          .count = sample_->hop_ends + num_hops_,
          .out = rows_.data(),
          .out_type = row_type_,
          .out_stride = row_stride_};
}

at::Tensor CapturedSlot::view(const void* data, at::IntArrayRef sizes, at::ScalarType type,
                              int64_t stride) const {
  const at::TensorOptions options = at::TensorOptions(type).device(device_.torch());
  auto made = at::for_blob(const_cast<void*>(data), sizes);
  if (stride > 0) {
    const int64_t strides[] = {stride, 1};
    return made.strides(strides).options(options).target_device(device_.torch()).make_tensor();
  }
  return made.options(options).target_device(device_.torch()).make_tensor();
}

void CapturedSlot::add_rows(nn::RowInput& input, int64_t num_nodes) const {
  const int64_t cols = source_.store->num_cols();
  if (gathers()) {
    input.dense = view(rows_.data(), {num_nodes, cols}, nn::scalar_type(row_type_), row_stride_);
    return;
  }
  const feature::DeviceRows rows = source_.table->rows();
  input.table =
      view(rows.data, {source_.store->num_rows(), cols}, nn::scalar_type(rows.dtype), rows.stride);
  input.ids = {sample_->node_ids, static_cast<size_t>(num_nodes)};
}

at::Tensor CapturedSlot::add_counts(const at::Tensor& logits) const {
  uint8_t* const there = there_.data();
  const int64_t rows = parts_.max_seeds;
  at::Tensor weights = view(in<double>(there, weights_), {rows * width_}, at::kDouble);
  at::Tensor labels, known;
  if (classes()) {
    labels = view(in<int64_t>(there, labels_), {rows}, at::kLong);
  } else {
    weights = weights.view({rows, width_});
    const at::Tensor given = view(in<double>(there, labels_), {rows, width_}, at::kDouble);
    known = given.isnan().logical_not();
    labels = at::where(known, given, at::zeros_like(given)).to(logits.scalar_type());
  }
  const PassLoss loss = loss_on_device(job_, logits, labels, known, weights);
  const c10::NoGradGuard no_grad;
  parts_.counts.add_(loss.counts);
  return loss.sum;
}

void CapturedSlot::put_pass(const PassShape& shape) {
  const sample::DeviceSample& sample = *sample_;
  std::vector<sample::BlockView> blocks(num_hops_);
  for (int32_t i = 0; i < num_hops_; ++i) {
    const sample::DeviceLayer& layer = sample.layers[i];
    sample::BlockView& block = blocks[i];
    block.num_targets = shape.hop_ends[layer.hop];
    block.num_sources = shape.hop_ends[layer.hop + 1];
    block.num_edges = shape.num_edges[i];
    block.indptr = layer.indptr;
    block.indices = layer.indices;
    block.edge_ids = layer.edge_ids;
    block.out_indptr = layer.out_indptr;
    block.out_targets = layer.out_targets;
  }
  const int64_t num_nodes = shape.rows();
  if (gathers())  // the pass reads the empty rows, too: they must hold numbers
    device_.table->of<feature::DeviceFeatures>()->clear(device_.queue, source_.table->store(),
                                                        rows_of(num_nodes));
  nn::ForwardArgs args;
  add_rows(args.input, num_nodes);
  args.blocks = blocks;
  args.graph = job_.dataset->graph;
  args.node_ids = {sample.node_ids, static_cast<size_t>(num_nodes)};
  args.training = true;
  args.dropout.on_device = &dropout_keys_;
  add_counts(model_.forward(args)).backward();
}

}  // namespace gnnmg::train
