// The plan of a GPU's memory against the peak of trainings on fake ones: never less, and not much
// more; and that a training which cannot fit is refused before it begins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "fake_gpu.h"
#include "graph/generate.h"
#include "nn/model/model.h"
#include "train/device_fixture.h"
#include "train/hubs.h"
#include "train/small_graphs.h"

namespace gnnmg::test {
namespace {

using base::Status;
using loader::FeaturePlacement;
using loader::GraphPlacement;
using nn::Architecture;
using testing::HasSubstr;

// Nodes of many neighbors, so that fan-outs are all drawn; edges carry a weight, 16 features and
// one of four types.
data::DatasetRef make_data() {
  static const data::DatasetRef plain = [] {
    base::ThreadPool pool(1);
    const graph::GraphRef planted = graph::planted_partition(
        {.num_nodes = 6000, .num_classes = 4, .mean_degree = 24, .num_features = 64, .seed = 5},
        pool);
    graph::GraphParts parts = planted->parts();
    const int64_t edges = planted->num_edges();
    base::Tensor weights = base::Tensor::empty(base::DType::kF32, {edges});
    base::Tensor features = base::Tensor::empty(base::DType::kF32, {edges, 16});
    base::Tensor types = base::Tensor::empty(base::DType::kI64, {edges});
    std::ranges::fill(weights.as<float>(), 1.0f);
    std::ranges::fill(features.as<float>(), 0.5f);
    for (int64_t e = 0; e < edges; ++e) types.as<int64_t>()[e] = e % 4;
    parts.edge_columns[0].insert_or_assign("edge_weight", weights);
    parts.edge_columns[0].insert_or_assign("edge_attr", features);
    parts.edge_columns[0].insert_or_assign("edge_type", types);
    std::vector<int64_t> ids(6000);
    for (int64_t i = 0; i < 6000; ++i) ids[i] = i * 7 % 6000;
    const std::span<const int64_t> all(ids);
    return data::make_dataset(
        graph::Graph::create(std::move(parts)), "x", "y", false,
        {data::split_from_ids(all.first(64), all.subspan(256, 200), all.subspan(456, 100), 6000,
                              "main", 0, "the test's split")},
        4);
  }();
  return plain;
}

struct Taken {
  train::MemoryPlan plan;
  int64_t planned = 0, peak = 0;
};
// Memory taken by the second epoch, when all that is made once exists, and the reserve is cut up.
Taken take(Recipe setup) {
  const Gpus gpus(1);
  Host host;
  host.devices = &gpus.table();
  setup.trainer.num_epochs = 2;
  setup.trainer.batches_per_step = 1;
  Taken taken;
  {
    Trial run(gpus.train(setup), host);
    taken.plan = run->memory_plan(int64_t{16} << 30);
    taken.planned = taken.plan.total - taken.plan.reserve;
    run->set_epoch_function([](const train::EpochReport& report) {
      if (report.epoch == 0) fake_gpu::reset_peak(0);
      return 0;
    });
    run.train();
    taken.peak = fake_gpu::peak_bytes(0);
  }
  gpus.expect_clean();
  return taken;
}

Recipe recipe() {
  Recipe setup;
  setup.dataset = make_data();
  setup.model.hidden_dim = 64;
  setup.sampler.fanouts = {4, 4};
  setup.sampler.edge_ids = true;
  setup.trainer.batch_size = 64;
  setup.trainer.evaluate_every = 0;
  return setup;
}

void expect_bound(const char* name, const Recipe& setup, double most) {
  const Taken taken = take(setup);
  SCOPED_TRACE(base::text(name, ": planned ", taken.planned, " (", list_parts(taken.plan),
                          "), taken ", taken.peak));
  if (std::getenv("GNNMG_PRINT_PLANS"))
    std::printf("%-18s %10ld %10ld %5.2f  %s\n", name, static_cast<long>(taken.planned),
                static_cast<long>(taken.peak),
                static_cast<double>(taken.planned) / static_cast<double>(taken.peak),
                list_parts(taken.plan).c_str());
  EXPECT_LE(taken.peak, taken.planned);
  EXPECT_LE(static_cast<double>(taken.planned), most * static_cast<double>(taken.peak));
}

TEST(MemoryBound, HoldsForEveryArchitecture) {
  const struct {
    const char* name;
    std::function<void(nn::ModelConfig&)> change;
  } cases[] = {
      {"sage", [](nn::ModelConfig&) {}},
      {"sage max", [](nn::ModelConfig& c) { c.aggregation = nn::Aggregation::kMax; }},
      {"sage project", [](nn::ModelConfig& c) { c.project = c.normalize = true; }},
      {"sage of DGL", [](nn::ModelConfig& c) { c.framework = nn::Framework::kDgl; }},
      {"gcn", [](nn::ModelConfig& c) { c.architecture = Architecture::kGcn; }},
      {"gcn weights",
       [](nn::ModelConfig& c) {
         c.architecture = Architecture::kGcn;
         c.edge_weights = true;
       }},
      {"gat",
       [](nn::ModelConfig& c) {
         c.architecture = Architecture::kGat;
         c.heads = 4;
       }},
      {"gat mean, edges",
       [](nn::ModelConfig& c) {
         c.architecture = Architecture::kGat;
         c.heads = 4;
         c.concat = false;
         c.edge_dim = 16;
       }},
      {"gatv2 edges",
       [](nn::ModelConfig& c) {
         c.architecture = Architecture::kGatv2;
         c.heads = 4;
         c.edge_dim = 16;
       }},
      {"gin", [](nn::ModelConfig& c) { c.architecture = Architecture::kGin; }},
      {"gine",
       [](nn::ModelConfig& c) {
         c.architecture = Architecture::kGine;
         c.edge_dim = 16;
       }},
      {"rgcn",
       [](nn::ModelConfig& c) {
         c.architecture = Architecture::kRelation;
         c.relations = 4;
       }},
      {"transformer",
       [](nn::ModelConfig& c) {
         c.architecture = Architecture::kTransformer;
         c.heads = 4;
         c.beta = true;
         c.edge_dim = 16;
       }},
      {"pna",
       [](nn::ModelConfig& c) {
         c.architecture = Architecture::kPna;
         c.average_degree = 20;
         c.average_log_degree = 3;
       }},
      {"pna edges",
       [](nn::ModelConfig& c) {
         c.architecture = Architecture::kPna;
         c.average_degree = 20;
         c.average_log_degree = 3;
         c.edge_dim = 16;
       }},
      {"graphconv", [](nn::ModelConfig& c) { c.architecture = Architecture::kGraphConv; }},
      {"edge", [](nn::ModelConfig& c) { c.architecture = Architecture::kEdge; }},
  };
  for (const auto& c : cases) {
    Recipe setup = recipe();
    c.change(setup.model);
    expect_bound(c.name, setup, 4);
  }
}

TEST(MemoryBound, HoldsForWhatStandsBetweenLayers) {
  const struct {
    const char* name;
    std::function<void(Recipe&)> change;
  } cases[] = {
      {"batch norm", [](Recipe& r) { r.model.norm = nn::Norm::kBatch; }},
      {"graph norm", [](Recipe& r) { r.model.norm = nn::Norm::kGraph; }},
      {"linear skip, gelu",
       [](Recipe& r) {
         r.model.skip = nn::Skip::kLinear;
         r.model.activation = nn::Activation::kGelu;
       }},
      {"residual",
       [](Recipe& r) {
         r.model.skip = nn::Skip::kResidual;
         r.model.norm = nn::Norm::kLayer;
       }},
      {"jumping", [](Recipe& r) { r.model.jumping = nn::Jumping::kCat; }},
      {"jumping lstm", [](Recipe& r) { r.model.jumping = nn::Jumping::kLstm; }},
      {"dropout", [](Recipe& r) { r.model.input_dropout = r.model.edge_dropout = 0.2; }},
      {"embedding", [](Recipe& r) { r.model.input = nn::Input::kEmbedding; }},
      {"double", [](Recipe& r) { r.model.dtype = base::DType::kF64; }},
      {"sgd", [](Recipe& r) { r.trainer.optimizer = {.kind = train::OptimizerKind::kSgd}; }},
      {"strict", [](Recipe& r) { r.trainer.deterministic = true; }},
      {"bf16", [](Recipe& r) { r.trainer.precision = train::Precision::kBf16; }},
  };
  for (const auto& c : cases) {
    Recipe setup = recipe();
    c.change(setup);
    expect_bound(c.name, setup, 4);
  }
}

TEST(MemoryBound, HoldsForDepthsAndPlacements) {
  for (const std::vector<int64_t>& fanouts :
       {std::vector<int64_t>{6}, {3, 3, 2}, {2, 2, 2, 2}, {-1, 2}})
    for (const auto expansion : {sample::Expansion::kOnce, sample::Expansion::kEveryLayer}) {
      Recipe setup = recipe();
      setup.sampler.fanouts = fanouts;
      setup.sampler.expansion = expansion;
      setup.model.num_layers = static_cast<int32_t>(fanouts.size());
      expect_bound(base::text(fanouts.size(), " layers").c_str(), setup, 4);
    }
  for (const auto graph : {GraphPlacement::kDevice, GraphPlacement::kPinned, GraphPlacement::kHost})
    for (const auto features : {FeaturePlacement::kDevice, FeaturePlacement::kPinned,
                                FeaturePlacement::kCached, FeaturePlacement::kHost}) {
      Recipe setup = recipe();
      setup.trainer.placement.graph = graph;
      setup.trainer.placement.features = features;
      setup.trainer.placement.cache_bytes = 40000;
      expect_bound(
          base::text("graph ", static_cast<int>(graph), ", features ", static_cast<int>(features))
              .c_str(),
          setup, 3);
    }
}

TEST(MemoryBound, HoldsForCapturedStepsOfSeveralShapes) {
  for (const bool gather : {false, true}) {
    Recipe setup = hub_recipe();
    setup.model.hidden_dim = 64;
    setup.trainer.placement.gather = gather;
    setup.trainer.capture = train::Capture::kOn;
    expect_bound(gather ? "shapes, gathered" : "shapes", setup, 4);
    // Planned as these, so that both are padded or neither; a fake's captures keep their passes.
    setup.trainer.capture = train::Capture::kOff;
    expect_bound(gather ? "not captured, gathered" : "not captured", setup, 6);
  }
}

// Steps over the same shapes take the same, whether or not they are captured, and others nothing.
TEST(MemoryBound, CountsShapesAndNotGraphs) {
  const Gpus gpus(1);
  Host host;
  host.devices = &gpus.table();
  const auto plan = [&](train::Capture capture) {
    Recipe setup = hub_recipe();
    setup.trainer.capture = capture;
    return Trial(gpus.train(setup), host)->memory_plan(int64_t{16} << 30);
  };
  const train::MemoryPlan on = plan(train::Capture::kOn), off = plan(train::Capture::kOff),
                          unpadded = plan(train::Capture::kUnpadded);
  EXPECT_GT(on.capture, 0);
  EXPECT_EQ(off.capture, on.capture);
  EXPECT_EQ(off.total, on.total);
  EXPECT_EQ(unpadded.capture, 0);
  EXPECT_EQ(unpadded.total, on.total - on.capture);
}

TEST(MemoryBound, HoldsWithEvaluations) {
  for (const auto mode : {train::EvaluationMode::kFull, train::EvaluationMode::kSampled}) {
    Recipe setup = recipe();
    setup.trainer.evaluate_every = 1;
    setup.trainer.evaluation = mode;
    setup.trainer.eval_batch_size = 512;
    expect_bound(mode == train::EvaluationMode::kFull ? "full" : "sampled", setup,
                 mode == train::EvaluationMode::kFull ? 3 : 5);
  }
  Recipe graphs = gin(rings_and_stars(100));
  graphs.model.hidden_dim = 128;
  graphs.model.dtype = base::DType::kF32;
  graphs.trainer.batch_size = 50;
  graphs.trainer.eval_batch_size = 20;
  expect_bound("graphs", graphs, 6);  // the largest graphs are not in one mini-batch
}

TEST(MemoryBound, HoldsWithAverages) {
  for (const auto average : {train::Average::kEma, train::Average::kSwa}) {
    Recipe setup = recipe();
    setup.trainer.evaluate_every = 1;
    setup.trainer.average = average;
    expect_bound(average == train::Average::kEma ? "ema" : "swa", setup, 4);
  }
}

// Free memory does not suffice: the call that begins says so, and a smaller training works.
TEST(MemoryBound, RefusesWhatCannotFit) {
  const Gpus gpus(1);
  Host host;
  host.devices = &gpus.table();
  Recipe setup = gpus.train(recipe());
  setup.trainer.num_epochs = 1;
  {
    Trial run(setup, host);
    const train::MemoryPlan plan = run->memory_plan(0);
    EXPECT_TRUE(plan.fits);
    EXPECT_EQ(plan.reserve, int64_t{16} << 20);  // 1/64 of 1 GiB
    fake_gpu::set_memory(
        0, plan.total - plan.reserve - plan.capture - plan.graph - plan.features - plan.pass / 2);
    EXPECT_FALSE(run->memory_plan(0).fits);
    const Caught found = caught([&] { run.train(); });
    EXPECT_EQ(found.status, Status::kNoMemory);
    EXPECT_THAT(found.text, HasSubstr("GPU 0 (fake GPU at 0000:01:00.0) has no room"));
    EXPECT_THAT(found.text, HasSubstr("a step "));
    EXPECT_THAT(found.text, HasSubstr("take smaller mini-batches"));
    EXPECT_EQ(run->progress().step, 0);
    EXPECT_EQ(fake_gpu::num_live(0), 0);
  }
  setup.trainer.batch_size = 16;
  Trial smaller(setup, host);
  smaller.train();
  fake_gpu::set_memory(0, int64_t{1} << 30);
}

}  // namespace
}  // namespace gnnmg::test
