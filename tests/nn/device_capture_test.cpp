// Captured and replayed passes over padded mini-batches: sampling, forward and backward pass
// compared with individual launches for the true counts.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstring>

#include "nn/config/fixed_shape.h"
#include "nn/device_fixture.h"
#include "nn/torch/tensor.h"
#include "sample/device.h"

namespace gnnmg::nn {
namespace {

constexpr int64_t kSeeds = 6, kMostKeys = 16;

// The host's input for each mini-batch, which is copied to the device.
struct Inputs {
  int64_t seeds[kSeeds];
  double weights[kSeeds];  // weights of the result's rows, 0 without a seed
  uint32_t keys[sample::kMaxHops][2];
  uint32_t dropout[kMostKeys][2];
  int32_t num_seeds;
};

struct Given {
  std::vector<int64_t> seeds;
  uint64_t seed = 0;  // seed of the sample
  DropoutKey dropout;
};

// A pass of a model on a device that serves any mini-batch.
class KeptPass {
 public:
  KeptPass(Model& model, const graph::GraphRef& graph, std::vector<int64_t> fanouts,
           sample::Expansion expansion, bool by_ids)
      : model_(model), device_(*model.device()), graph_(graph), by_ids_(by_ids) {
    const device::Table& table = *device_.table;
    sample::NeighborConfig config;
    config.fanouts = std::move(fanouts);
    config.expansion = expansion;
    config.transpose = config.edge_ids = true;
    device_graph_ = table.of<sample::DeviceSampling>()->open_graph(
        device_.queue, sample::csc_for_device(graph->csc(), true), device::Placement::kDevice);
    sampler_ =
        table.of<sample::DeviceSampling>()->create(device_.queue, device_graph_, config, kSeeds, 1);
    inputs_ = static_cast<Inputs*>(
        table.allocate(device_.index, device::Placement::kPinned, sizeof(Inputs)));
    there_ = static_cast<Inputs*>(
        table.allocate(device_.index, device::Placement::kDevice, sizeof(Inputs)));
    keys_ = DropoutKeys(&there_->dropout[0][0], kMostKeys);
    rows_ = to_torch(std::get<base::Tensor>(*graph->node_column("x"))).to(device_.torch());
    logits_ = at::zeros({kSeeds, model.config().output_width()},
                        model.flat_parameters().options().requires_grad(false));
  }
  ~KeptPass() {
    const device::Table& table = *device_.table;
    if (kept_) table.free_graph(kept_);
    table.of<sample::DeviceSampling>()->free(sampler_);
    table.of<sample::DeviceSampling>()->close_graph(device_graph_);
    table.release(device_.index, device::Placement::kPinned, inputs_);
    table.release(device_.index, device::Placement::kDevice, there_);
  }
  KeptPass(const KeptPass&) = delete;
  KeptPass& operator=(const KeptPass&) = delete;

  // Runs the pass once for first-call setup, then captures it.
  void keep(const Given& given) {
    device_.table->use(device_.queue);
    write(given);
    work();
    kept_ = device_.table->capture(
        device_.queue, [](void* self) { static_cast<KeptPass*>(self)->work(); }, this);
  }
  PassResult run(const Given& given) {
    write(given);
    device_.table->replay(device_.queue, kept_);
    return {logits_.narrow(0, 0, static_cast<int64_t>(given.seeds.size())).cpu(),
            model_.flat_gradients().cpu().clone(),
            {}};
  }

 private:
  void write(const Given& given) {
    std::memset(inputs_, 0, sizeof *inputs_);
    inputs_->num_seeds = static_cast<int32_t>(given.seeds.size());
    std::ranges::copy(given.seeds, inputs_->seeds);
    for (size_t i = 0; i < given.seeds.size(); ++i)
      inputs_->weights[i] = 1 + static_cast<double>(i);
    const sample::BatchKey key{given.seed};
    for (int hop = 0; hop < model_.config().num_layers; ++hop)
      std::ranges::copy(key.hop(hop), inputs_->keys[hop]);
    keys_.write(given.dropout, {&inputs_->dropout[0][0], 2 * kMostKeys});
  }

  void work() {
    const device::Table& table = *device_.table;
    table.copy(device_.queue, there_, inputs_, sizeof(Inputs));
    sample::DeviceBatches batches{
        1, there_->seeds, kSeeds, &there_->num_seeds, &there_->keys[0][0], false, true};
    const sample::DeviceSample& sample =
        *table.of<sample::DeviceSampling>()->sample(sampler_, batches);
    std::vector<sample::BlockView> blocks;
    for (int i = 0; i < sample.num_layers; ++i) {
      const sample::DeviceLayer& layer = sample.layers[i];
      sample::BlockView block;
      block.num_targets = layer.max_targets;
      block.num_sources = layer.max_sources;
      block.num_edges = layer.max_edges;
      block.indptr = layer.indptr;
      block.indices = layer.indices;
      block.edge_ids = layer.edge_ids;
      block.out_indptr = layer.out_indptr;
      block.out_targets = layer.out_targets;
      blocks.push_back(block);
    }
    ForwardArgs args;
    args.graph = graph_;
    args.node_ids = {sample.node_ids, static_cast<size_t>(blocks[0].num_sources)};
    if (by_ids_) {
      args.input.table = rows_;
      args.input.ids = args.node_ids;
    } else {
      args.input.dense = rows_.index_select(0, on_device(sample.node_ids, blocks[0].num_sources));
    }
    args.blocks = blocks;
    args.training = true;
    args.dropout.on_device = &keys_;
    model_.zero_gradients();
    const at::Tensor logits = model_.forward(args).narrow(0, 0, kSeeds);
    (logits * on_device(there_->weights, kSeeds).unsqueeze(1)).pow(3).sum().backward();
    const c10::NoGradGuard no_grad;
    logits_.copy_(logits.detach());
  }

  template <typename T>
  at::Tensor on_device(const T* data, int64_t count) const {
    return at::for_blob(const_cast<T*>(data), {count})
        .options(at::TensorOptions(c10::CppTypeToScalarType<T>::value).device(device_.torch()))
        .target_device(device_.torch())
        .make_tensor();
  }

  Model& model_;
  const Device& device_;
  const graph::GraphRef graph_;
  const bool by_ids_;
  sample::DeviceGraph* device_graph_ = nullptr;
  sample::DeviceSampler* sampler_ = nullptr;
  Inputs *inputs_ = nullptr, *there_ = nullptr;
  DropoutKeys keys_{nullptr, 0};
  at::Tensor rows_, logits_;
  device::Graph* kept_ = nullptr;
};

class CapturedPass : public testing::Test {
 protected:
  const graph::GraphRef graph_ = make_graph();
  TestDevices devices_;

  // Runs the same pass on the CPU for the true counts.
  PassResult expected(const Model& on_cpu, const Given& given, const std::vector<int64_t>& fanouts,
                      sample::Expansion expansion) const {
    const auto model = on_cpu.clone_on(nullptr);
    const Batch batch = sample_batch(graph_, fanouts, given.seeds, expansion, given.seed);
    ForwardArgs args = args_of(batch, false, true);
    args.dropout = given.dropout;
    const at::Tensor logits = model->forward(args);
    const auto count = static_cast<int64_t>(given.seeds.size());
    at::Tensor weights = at::ones({count, 1}, at::TensorOptions(at::kDouble)).cumsum(0);
    (logits * weights).pow(3).sum().backward();
    return {logits.detach(), model->flat_gradients().clone(), {}};
  }

  void check(const ModelConfig& config, const std::vector<int64_t>& fanouts,
             sample::Expansion expansion, bool by_ids) const {
    const auto on_cpu = make_model(config);
    const auto model = on_cpu->clone_on(&devices_[1]);
    KeptPass pass(*model, graph_, fanouts, expansion, by_ids);
    pass.keep({{3, 50, 9}, 4, {1, 2, 3}});
    for (const Given& given :
         {Given{{4, 0, 59, 17, 33, 8}, 1, {1, 2, 3}}, Given{{21}, 2, {1, 2, 4}},
          Given{{5, 6, 7, 40}, 77, {9, 0, 0}}, Given{{4, 0, 59, 17, 33, 8}, 1, {1, 2, 4}}}) {
      const PassResult found = pass.run(given),
                       one_by_one = expected(*on_cpu, given, fanouts, expansion);
      EXPECT_TRUE(near(found.logits, one_by_one.logits, 1e-10)) << "logits";
      EXPECT_TRUE(
          near(found.gradients, one_by_one.gradients, 1e-10, 0.01 * largest(one_by_one.gradients)))
          << "gradients";
      const PassResult again = pass.run(given);
      EXPECT_TRUE(again.logits.equal(found.logits));
      EXPECT_TRUE(again.gradients.equal(found.gradients));
    }
  }
};

TEST_F(CapturedPass, IsThatOfTheTrueCounts) {
  int models = 0;
  for (ModelConfig config : configs()) {
    if (!why_not_of_one_shape(config).empty()) continue;
    SCOPED_TRACE(describe(config));
    for (const bool drops : {false, true}) {
      if (drops) config.dropout = 0.3;
      if (drops) config.input_dropout = 0.2;
      if (!why_not_of_one_shape(config).empty()) continue;
      SCOPED_TRACE(drops ? "with dropout" : "");
      const auto layers = static_cast<size_t>(make_model(config)->config().num_layers);
      const bool once = models++ % 3 != 0;  // varies with each model; with dropout or without
      check(config, std::vector<int64_t>(layers, once ? 3 : 2),
            once ? sample::Expansion::kOnce : sample::Expansion::kEveryLayer, once);
    }
  }
  EXPECT_GE(models, 40);
}

TEST_F(CapturedPass, ModelsThatAreNotOfOneShapeSayWhy) {
  const auto why = [](const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = small_config();
    change(config);
    return why_not_of_one_shape(config);
  };
  EXPECT_EQ(why([](ModelConfig&) {}), "");
  EXPECT_EQ(why([](ModelConfig& c) { c.norm = Norm::kBatch; }),
            "batch norm takes statistics over all rows");
  EXPECT_EQ(why([](ModelConfig& c) { c.norm = Norm::kInstance; }),
            "the norm takes statistics over all rows");
  EXPECT_EQ(why([](ModelConfig& c) { c.norm = Norm::kLayer; }), "");
  EXPECT_EQ(why([](ModelConfig& c) { c.readout = Readout::kSum; }), "readouts go over graphs");
  EXPECT_EQ(why([](ModelConfig& c) { c.edge_dropout = 0.1; }), "edges or nodes are dropped");
  EXPECT_EQ(why([](ModelConfig& c) { c.aggregation = Aggregation::kLstm; }),
            "the aggregation is made of operations along edges");
  EXPECT_EQ(why([](ModelConfig& c) {
              c.architecture = Architecture::kGat;
              c.dropout = 0.5;
            }),
            "attention with loops and dropout depends on how many edges there are");
  EXPECT_EQ(why([](ModelConfig& c) {
              c.architecture = Architecture::kGcn;
              c.block_degrees = true;
            }),
            "degrees are those of the block");
  EXPECT_EQ(why([](ModelConfig& c) { c.architecture = Architecture::kPna; }),
            "layers of this kind read lists of edges on the host");
}

}  // namespace
}  // namespace gnnmg::nn
