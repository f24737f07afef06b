#include "train/eval/graph_inference.h"

#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>

#include "nn/model/graph_facts.h"
#include "nn/torch/tensor.h"
#include "sample/sampler.h"
#include "train/ranks/device.h"
#include "train/tensors.h"

namespace gnnmg::train {
namespace {

constexpr int64_t kGraphs = 1024;  // graphs of a mini-batch

class GraphInference final : public nn::Inference {
 public:
  GraphInference(nn::Model& model, const data::Dataset& dataset, base::ThreadPool* pool)
      : model_(model),
        dataset_(dataset),
        pool_(pool),
        store_(features_for(model, dataset)),
        sampler_(make_graphs_sampler_for(model, dataset)) {}

  int num_stages() const override { return 1; }
  int64_t width(int) const override { return model_.config().output_width(); }

  at::Tensor run(int, int64_t begin, int64_t end) override {
    if (begin < 0 || begin > end || end > dataset_.num_graphs())
      base::fail(base::Status::kRange, "rows ", begin, " to ", end, " of ", dataset_.num_graphs(),
                 " graphs");
    const c10::NoGradGuard no_grad;
    at::Tensor out = at::empty({end - begin, width(0)},
                               at::TensorOptions(nn::scalar_type(model_.config().dtype)));
    if (model_.device()) {
      run_on(*model_.device(), begin, end, out);
      return out;
    }
    for (int64_t low = begin; low < end; low += kGraphs) {
      const int64_t high = std::min(low + kGraphs, end);
      out.narrow(0, low - begin, high - low).copy_(rows_of(low, high));
    }
    return out;
  }

  void set_rows(int, at::Tensor) override {}  // no stage follows

 private:
  at::Tensor rows_of(int64_t begin, int64_t end) {
    batch_.seeds.resize(end - begin);
    std::iota(batch_.seeds.begin(), batch_.seeds.end(), begin);
    sampler_->sample(batch_.seeds, {}, workspace_, batch_.sample, {});
    gather_features(store_.get(), pool_, {}, batch_);
    nn::ForwardArgs args;
    args.input = input_of(batch_, store_.get());
    args.blocks = batch_.sample.blocks;
    args.graph = dataset_.graph;
    args.node_ids = batch_.sample.node_ids.span();
    args.graph_ptr = batch_.sample.graph_ptr.span();
    args.pool = pool_;
    return model_.forward(args);
  }

  void run_on(const nn::Device& device, int64_t begin, int64_t end, at::Tensor& out) {
    std::vector<int64_t> ids(end - begin);
    std::iota(ids.begin(), ids.end(), begin);
    loader::LoaderConfig config;
    config.plan.batch_size = kGraphs;
    config.plan.shuffle = false;
    config.num_threads = 0;
    if (!source_)
      source_ = loader::DeviceSource::open({.table = device.table, .device = device.index},
                                           sampler_, store_, ids, config, pool_);
    loader::Loader loader(ids, sampler_, store_, config, nullptr, source_);
    loader.start_epoch(0);
    int64_t low = 0;
    while (const loader::BatchRef batch = *loader.next({})) {
      nn::SparseView sparse;
      nn::ForwardArgs args = args_on(*batch, device, sparse);
      args.graph = dataset_.graph;
      const at::Tensor rows = model_.forward(args);
      out.narrow(0, low, rows.size(0)).copy_(rows);
      low += rows.size(0);
    }
  }

  nn::Model& model_;
  const data::Dataset& dataset_;
  base::ThreadPool* pool_;
  std::shared_ptr<const feature::FeatureStore> store_;
  std::shared_ptr<const sample::Sampler> sampler_;
  std::shared_ptr<const loader::DeviceSource> source_;  // null for the CPU
  sample::Workspace workspace_;
  loader::Batch batch_;
};

}  // namespace

bool gives_graphs(const nn::Model& model, const data::Dataset& dataset) {
  return dataset.of_graphs() && model.config().readout != nn::Readout::kNone;
}

std::unique_ptr<nn::Inference> make_graph_inference(nn::Model& model, const data::Dataset& dataset,
                                                    base::ThreadPool* pool) {
  return std::make_unique<GraphInference>(model, dataset, pool);
}

std::shared_ptr<const sample::Sampler> make_graphs_sampler_for(const nn::Model& model,
                                                               const data::Dataset& dataset) {
  return sample::make_graphs_sampler(dataset.graph, dataset.graph_ptr,
                                     {.num_layers = static_cast<int>(model.config().num_layers),
                                      .edge_ids = nn::edge_needs(model.config()).any()});
}

}  // namespace gnnmg::train
