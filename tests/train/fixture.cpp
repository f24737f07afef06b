#include "train/fixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "data/split.h"
#include "graph/generate.h"
#include "nn/model/model.h"

namespace gnnmg::test {
namespace {

uint64_t mix(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * 0x9E3779B97F4A7C15u;
  return sum ^ sum >> 29;
}

uint64_t checksum(const sample::Sample& sample) {
  uint64_t sum = static_cast<uint64_t>(sample.num_seeds);
  for (int64_t id : sample.node_ids) sum = mix(sum, static_cast<uint64_t>(id));
  for (const sample::BlockView& block : sample.blocks) {
    for (int64_t t = 0; t <= block.num_targets; ++t)
      sum = mix(sum, static_cast<uint64_t>(block.indptr[t]));
    for (int64_t e = 0; e < block.num_edges; ++e)
      sum = mix(sum, static_cast<uint64_t>(block.indices[e]));
  }
  return sum;
}

// Features above 0, the others not stored.
base::CsrMatrix positive_part(const graph::Column& dense) {
  const base::Tensor& x = std::get<base::Tensor>(dense);
  const int64_t cols = x.shape().row_elements();
  const auto from = x.as<const float>();
  std::vector<int64_t> indptr{0};
  std::vector<int32_t> indices;
  std::vector<float> values;
  for (int64_t r = 0; r < x.rows(); ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      if (from[r * cols + c] <= 0) continue;
      indices.push_back(static_cast<int32_t>(c));
      values.push_back(from[r * cols + c]);
    }
    indptr.push_back(static_cast<int64_t>(indices.size()));
  }
  base::CsrMatrix sparse;
  sparse.num_rows = x.rows();
  sparse.num_cols = cols;
  sparse.indptr = base::Tensor::copy_of(std::span<const int64_t>(indptr));
  sparse.indices = base::Tensor::copy_of(std::span<const int32_t>(indices));
  sparse.values = base::Tensor::copy_of(std::span<const float>(values));
  return sparse;
}

}  // namespace

data::DatasetRef make_small(const SmallData& c) {
  base::ThreadPool pool(1);
  const graph::GraphRef planted =
      graph::planted_partition({.num_nodes = c.num_nodes,
                                .num_classes = c.num_classes,
                                .mean_degree = std::min(10.0, static_cast<double>(c.num_nodes)),
                                .intra_probability = 0.8,
                                .num_features = c.num_features,
                                .center_scale = c.center_scale,
                                .label_noise = c.label_noise,
                                .seed = 7},
                               pool);
  graph::GraphParts parts = planted->parts();
  graph::Columns& columns = parts.node_columns[0];
  // Every 7th node in turn, so that classes are spread over the parts.
  std::vector<int64_t> order(c.num_nodes);
  for (int64_t i = 0; i < c.num_nodes; ++i) order[i] = i * 7 % c.num_nodes;
  const std::span<const int64_t> all(order);
  const auto train = all.first(c.num_train);
  const auto validation = all.subspan(c.num_train, c.num_validation);
  const auto test = all.subspan(c.num_train + c.num_validation, c.num_test);

  const auto labels = std::get<base::Tensor>(columns.at("y")).as<const int64_t>();
  if (c.regression) {
    base::Tensor targets = base::Tensor::empty(base::DType::kF32, {c.num_nodes, 1});
    const auto x = std::get<base::Tensor>(columns.at("x")).as<const float>();
    for (int64_t i = 0; i < c.num_nodes; ++i)
      targets.as<float>()[i] = 0.5f * static_cast<float>(labels[i]) + x[i * c.num_features];
    if (c.huge_target) targets.as<float>()[train[0]] = 3e38f;
    columns.insert_or_assign("y", targets);
  } else if (c.unlabeled > 0 || c.withheld) {
    base::Tensor fewer = base::Tensor::copy_of(labels);
    for (int64_t i = 0; i < c.unlabeled; ++i) fewer.as<int64_t>()[train[i]] = -1;
    if (c.withheld)
      for (const int64_t node : validation) fewer.as<int64_t>()[node] = -1;
    columns.insert_or_assign("y", fewer);
  }
  if (c.validation_class >= 0) {
    base::Tensor same = base::Tensor::copy_of(labels);
    for (const int64_t node : validation) same.as<int64_t>()[node] = c.validation_class;
    columns.insert_or_assign("y", same);
  }
  if (c.nan_features >= 0) {
    base::Tensor x =
        base::Tensor::copy_of(std::get<base::Tensor>(columns.at("x")).as<const float>());
    base::Tensor shaped({x.data(), base::DType::kF32, {c.num_nodes, c.num_features}}, x.owner());
    std::ranges::fill(shaped.as<float>().subspan(c.nan_features * c.num_features, c.num_features),
                      std::numeric_limits<float>::quiet_NaN());
    columns.insert_or_assign("x", shaped);
  }
  if (c.sparse) columns.insert_or_assign("x", positive_part(columns.at("x")));
  std::vector<data::Split> splits{
      data::split_from_ids(train, validation, test, c.num_nodes, "main", 0, "the test's split")};
  return data::make_dataset(graph::Graph::create(std::move(parts)), "x", "y", false,
                            std::move(splits), c.regression ? 0 : c.num_classes);
}

Recipe::Recipe() {
  model.hidden_dim = 16;
  model.num_layers = 2;
  model.dropout = 0.3;
  model.seed = 3;
  sampler.fanouts = {5, 5};
  sampler.transpose = true;
  trainer.num_epochs = 3;
  trainer.batch_size = 32;
  trainer.seed = 11;
  trainer.torch_threads = 1;
  trainer.eval_batch_size = 64;
  trainer.keep_best = false;
}

Trial::Trial(const Recipe& setup, Host& host) {
  nn::ModelConfig config = setup.model;
  config.input_dim =
      config.reads_features() ? setup.dataset->feature_dim() : setup.dataset->graph->num_nodes();
  config.output_dim = setup.dataset->num_classes;
  model_ = nn::make_model(config);
  std::shared_ptr<const sample::Sampler> sampler;
  if (setup.dataset->of_graphs())
    sampler = sample::make_graphs_sampler(
        setup.dataset->graph, setup.dataset->graph_ptr,
        {.num_layers = static_cast<int>(config.num_layers), .transpose = true});
  else
    sampler = sample::make_neighbor_sampler(setup.dataset->graph, setup.sampler);
  if (setup.wrap_sampler) sampler = setup.wrap_sampler(sampler);
  trainer_ =
      train::Trainer::create(model_, setup.dataset, sampler, setup.trainer, host.environment());
}

Trial::~Trial() = default;

void Trial::train() {
  trainer_->start();
  trainer_->wait({});
}

std::vector<double> Trial::weights() const {
  std::vector<double> out;
  const auto append = [&](const at::Tensor& tensor) {
    const at::Tensor wide = tensor.detach().to(at::kDouble).contiguous().view(-1);
    out.insert(out.end(), wide.data_ptr<double>(), wide.data_ptr<double>() + wide.numel());
  };
  append(model_->flat_parameters());
  for (const nn::NamedTensor& buffer : model_->buffers()) append(buffer.tensor);
  return out;
}

std::vector<double> weights_after(const Recipe& setup) {
  Host host;
  Trial run(setup, host);
  run.train();
  return run.weights();
}

void set_steps(Recipe& setup, int64_t steps) {
  const int64_t ids =
      static_cast<int64_t>(setup.dataset->split("", 0).part(data::SplitPart::kTrain).size());
  const int64_t batches = (ids + setup.trainer.batch_size - 1) / setup.trainer.batch_size;
  const int64_t per_step = setup.trainer.batches_per_step;
  const int64_t per_epoch = (batches + per_step - 1) / per_step;
  setup.trainer.num_epochs = (steps + per_epoch - 1) / per_epoch;
  setup.trainer.evaluate_every = 0;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    largest = difference <= largest ? largest : difference;  // NaN counts
  }
  return largest;
}

void WatchedSampler::sample(std::span<const int64_t> seeds, const sample::BatchKey& key,
                            sample::Workspace& workspace, sample::Sample& out,
                            const base::CancelToken& cancel) const {
  if (before_ && !seeds.empty()) before_(key, cancel);
  inner_->sample(seeds, key, workspace, out, cancel);
  if (seeds.empty() || key.purpose != base::Purpose::kSample) return;
  std::lock_guard lock(notes_->mutex);
  const std::pair id(key.epoch, key.batch);
  notes_->seeds[id].assign(seeds.begin(), seeds.end());
  notes_->checksums[id] = checksum(out);
}

std::vector<int64_t> seeds_of(const std::vector<std::shared_ptr<WatchedSampler::Notes>>& notes,
                              int64_t epoch) {
  std::vector<int64_t> used;
  for (const auto& own : notes)
    for (const auto& [id, seeds] : own->seeds)
      if (static_cast<int64_t>(id.first) == epoch)
        used.insert(used.end(), seeds.begin(), seeds.end());
  return used;
}

std::shared_ptr<WatchedSampler::Notes> watch(Recipe& setup, WatchedSampler::Before before) {
  auto notes = std::make_shared<WatchedSampler::Notes>();
  setup.wrap_sampler = [notes, before](std::shared_ptr<const sample::Sampler> inner) {
    return std::make_shared<WatchedSampler>(std::move(inner), notes, before);
  };
  return notes;
}

}  // namespace gnnmg::test
