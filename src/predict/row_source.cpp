#include "predict/row_source.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <functional>

#include "base/free_list.h"
#include "loader/loader.h"
#include "nn/model/graph_facts.h"
#include "nn/torch/tensor.h"
#include "sample/sampler.h"
#include "train/eval/graph_inference.h"
#include "train/tensors.h"
#include "train/trainer.h"

namespace gnnmg::predict {
namespace {

// The memory of one call. Sampling and gathering write no fresh pages once it has grown.
struct WorkArea {
  sample::Workspace workspace;
  loader::Batch batch;
};

using SamplerRef = std::shared_ptr<const sample::Sampler>;

// Passes over mini-batches of the ids.
class SampledSource final : public RowSource {
 public:
  // The sampler is of the model's data. The first pass, during which no other may run, is over the
  // id of `first`, which has few neighbors; its sampler may draw less.
  struct First {
    SamplerRef sampler;
    int64_t id = 0;
  };
  SampledSource(const Subject& subject, SamplerRef sampler, uint64_t seed, double work,
                const First& first, const base::CancelToken& cancel)
      : subject_(subject), sampler_(std::move(sampler)), work_(work) {
    key_.seed = seed;
    if (first.id < sampler_->num_ids()) pass(*first.sampler, {&first.id, 1}, false, cancel);
  }

  at::Tensor rows(std::span<const int64_t> ids, bool hidden,
                  const base::CancelToken& cancel) const override {
    return pass(*sampler_, ids, hidden, cancel);
  }
  int64_t hidden_width() const override { return subject_.model->hidden_width(); }
  double work_of_id() const override { return work_; }

 private:
  at::Tensor pass(const sample::Sampler& sampler, std::span<const int64_t> ids, bool hidden,
                  const base::CancelToken& cancel) const {
    std::unique_ptr<WorkArea> area = areas_.borrow();
    loader::Batch& batch = area->batch;
    sampler.sample(ids, key_, area->workspace, batch.sample, cancel);
    train::gather_features(subject_.store.get(), nullptr, cancel, batch);
    const std::vector<nn::EdgeValues> edges =
        nn::told_edges(subject_.model->config(), batch.sample, nullptr);
    at::Tensor embeddings;
    nn::ForwardArgs args;
    args.input = train::input_of(batch, subject_.store.get());
    args.blocks = batch.sample.blocks;
    args.graph = subject_.dataset->graph;
    args.node_ids = batch.sample.node_ids.span();
    args.degrees = batch.sample.degrees.span();
    args.weight_sums = batch.sample.weight_sums.span();
    args.edges = edges;
    args.graph_ptr = batch.sample.graph_ptr.span();
    if (hidden) args.hidden = &embeddings;
    const at::Tensor result = subject_.model->forward(args);
    areas_.give_back(std::move(area));
    return hidden ? embeddings : result;
  }

  const Subject subject_;
  const SamplerRef sampler_;
  const double work_;
  sample::BatchKey key_;
  mutable base::FreeList<WorkArea> areas_;
};

class TableSource final : public RowSource {
 public:
  TableSource(const Subject& subject, const base::CancelToken& cancel)
      : memory_(train::embed_model(*subject.model, *subject.dataset, cancel)),
        table_(nn::view_of(memory_.view())) {}

  at::Tensor rows(std::span<const int64_t> ids, bool, const base::CancelToken&) const override {
    const auto count = static_cast<int64_t>(ids.size());
    return table_.index_select(0,
                               at::from_blob(const_cast<int64_t*>(ids.data()), {count}, at::kLong));
  }
  int64_t hidden_width() const override { return 0; }
  double work_of_id() const override { return static_cast<double>(table_.size(1)); }

 private:
  const base::Tensor memory_;
  const at::Tensor table_;  // a view of memory_
};

SamplerRef neighbor_sampler(const Subject& subject, std::span<const int64_t> fanouts) {
  const nn::Model& model = *subject.model;
  sample::NeighborConfig config;
  config.fanouts.assign(fanouts.begin(), fanouts.end());
  config.edge_ids = nn::edge_needs(model.config()).any();
  return nn::training_sampler(model, sample::make_neighbor_sampler(subject.dataset->graph, config),
                              subject.store && subject.store->sparse());
}

// Multiplications of a layer's matrices for one of its targets; `layer` counts from the input.
double work_of_target(const nn::ModelConfig& config, int layer) {
  const auto width = [&](int64_t dim) { return static_cast<double>(dim); };
  const double in = width(layer == 0 ? config.first_width() : config.hidden_dim);
  const double out =
      width(layer + 1 == config.num_layers ? config.output_width() : config.hidden_dim);
  return in * out;
}

double work_of_node(const Subject& subject, std::span<const int64_t> fanouts) {
  const graph::Graph& graph = *subject.dataset->graph;
  const nn::ModelConfig& config = subject.model->config();
  const double nodes = std::max(1.0, static_cast<double>(graph.num_nodes()));
  const double mean_degree = static_cast<double>(graph.num_edges()) / nodes;
  double work = 0, new_nodes = 1, targets = 1;
  for (int layer = config.num_layers - 1; layer >= 0; --layer) {
    work += targets * work_of_target(config, layer);
    const int64_t fanout = fanouts[static_cast<size_t>(config.num_layers - 1 - layer)];
    new_nodes *= fanout < 0 ? mean_degree : std::min(mean_degree, static_cast<double>(fanout));
    targets = std::min(nodes, targets + new_nodes);
  }
  return work;
}

double work_of_graph(const Subject& subject) {
  const data::Dataset& data = *subject.dataset;
  const nn::ModelConfig& config = subject.model->config();
  double work = 0;
  for (int layer = 0; layer < config.num_layers; ++layer) work += work_of_target(config, layer);
  return work * static_cast<double>(data.graph->num_nodes()) /
         static_cast<double>(std::max<int64_t>(data.num_graphs(), 1));
}

// The first graph with nodes; num_graphs() if there is none.
int64_t first_graph(const data::Dataset& dataset) {
  const auto bounds = dataset.graph_ptr.as<const int64_t>();
  const auto larger = std::ranges::adjacent_find(bounds, std::less<>());
  return larger == bounds.end() ? dataset.num_graphs() : larger - bounds.begin();
}

}  // namespace

std::unique_ptr<RowSource> make_neighborhood_source(const Subject& subject,
                                                    std::span<const int64_t> fanouts, uint64_t seed,
                                                    const base::CancelToken& cancel) {
  const std::vector<int64_t> one_each(fanouts.size(), 1);
  return std::make_unique<SampledSource>(
      subject, neighbor_sampler(subject, fanouts), seed, work_of_node(subject, fanouts),
      SampledSource::First{neighbor_sampler(subject, one_each)}, cancel);
}

std::unique_ptr<RowSource> make_graph_source(const Subject& subject,
                                             const base::CancelToken& cancel) {
  const SamplerRef sampler = train::make_graphs_sampler_for(*subject.model, *subject.dataset);
  return std::make_unique<SampledSource>(
      subject, sampler, 0, work_of_graph(subject),
      SampledSource::First{sampler, first_graph(*subject.dataset)}, cancel);
}

std::unique_ptr<RowSource> make_table_source(const Subject& subject,
                                             const base::CancelToken& cancel) {
  return std::make_unique<TableSource>(subject, cancel);
}

}  // namespace gnnmg::predict
