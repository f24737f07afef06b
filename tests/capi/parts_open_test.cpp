// A process's share of a graph in parts, from outside: it trains to the weights of the whole, with
// a shared folder or with parts of its own in each process. Operations on the whole are refused.
#include <functional>

#include "support.h"
#include "support/part_subset.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

constexpr int32_t kParts = 3;

class PartsOpen : public testing::Test {
 protected:
  PartsOpen() {
    PartsConfig config;
    config.num_parts = kParts;
    EXPECT_OK(gnnmg_dataset_save_parts(World(300).dataset, folder_.file("parts").c_str(), nullptr,
                                       0, &config, "fanouts=10,10 batch_size=32", -1));
  }
  std::string path() const { return folder_.file("parts"); }

  static void set_up(World& world, gnnmg_plan plan) {
    world.training.deterministic = 1;
    world.training.num_epochs = 2;
    world.training.num_ranks = 2;
    world.training.batch_size = 32;
    world.training.batches_per_step = 4;
    world.training.set("torch_threads=1");
    world.training.plan = plan;
  }
  void open(World& world, const gnnmg_comm* comm = nullptr) { open(world, comm, path()); }
  void open(World& world, const gnnmg_comm* comm, const std::string& folder) {
    world.graph.reset();
    ASSERT_OK(gnnmg_dataset_open_parts(world.context, comm, folder.c_str(), nullptr,
                                       world.dataset.out(), -1));
    ASSERT_OK(gnnmg_dataset_get_graph(world.dataset, 0, world.graph.out()));
  }
  static std::string logged(const World& world) {
    auto facts = info<gnnmg_log_info>();
    char text[4096];
    size_t needed = 0;
    std::string all;
    while (gnnmg_log_next(world.context, &facts, text, sizeof text, &needed) == GNNMG_OK)
      all += std::string(text) + "\n";
    return all;
  }
  // Results of a training and its exact evaluation.
  struct Results {
    std::vector<float> weights, rows;
    double loss = 0;
    bool operator==(const Results&) const = default;
  };
  static Results results_of(const Model& model, const Trainer& trainer) {
    EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    auto metrics = info<gnnmg_metrics>();
    EXPECT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, nullptr, -1));
    Tensor rows;
    EXPECT_OK(gnnmg_trainer_embed(trainer, 0, nullptr, rows.out(), -1));
    return {weights(model), values<float>(rows), metrics.loss};
  }
  // Results with all parts in one process.
  Results expected_results(gnnmg_plan plan) {
    World whole;
    whole.graph.reset();
    EXPECT_OK(gnnmg_dataset_open(whole.context, path().c_str(), nullptr, whole.dataset.out(), -1));
    EXPECT_OK(gnnmg_dataset_get_graph(whole.dataset, 0, whole.graph.out()));
    set_up(whole, plan);
    const Sampler sampler = whole.make_sampler();
    const Model model = whole.make_model();
    const Trainer trainer = whole.make_trainer(model, sampler);
    return results_of(model, trainer);
  }

  // Runs the body on two processes of a job.
  using Body = std::function<void(int32_t process, World& world, const Comm& comm)>;
  static void run_job(const Body& body) {
    const int32_t port = free_port();
    const auto process = [&](int32_t p) {
      World own;
      CommConfig config;
      config.port = port;
      config.process_rank = p;
      config.num_processes = 2;
      config.join_ms = 20000;
      Comm comm;
      ASSERT_OK(gnnmg_comm_create(own.context, nullptr, nullptr, nullptr, &config, comm.out(), -1));
      body(p, own, comm);
      EXPECT_OK(gnnmg_comm_shutdown(comm, -1));
    };
    std::thread other(process, 1);
    process(0);
    other.join();
  }

  // Trains on two processes; `folders` are theirs.
  void expect_equal(gnnmg_plan plan, const std::vector<std::string>& folders,
                    int32_t own_parts_of_first) {
    const Results expected = expected_results(plan);
    run_job([&](int32_t p, World& own, const Comm& comm) {
      set_up(own, plan);
      open(own, comm, folders[p]);
      const Sampler sampler = own.make_sampler();
      const Model model = own.make_model();
      Trainer trainer;
      ASSERT_OK(gnnmg_trainer_create(model, own.dataset, sampler, comm, &own.training,
                                     own.training.text(), trainer.out()));
      EXPECT_TRUE(results_of(model, trainer) == expected) << p;
      auto facts = info<gnnmg_parts_info>();
      ASSERT_OK(gnnmg_dataset_get_parts_info(own.dataset, &facts));
      EXPECT_EQ(facts.num_parts, kParts);
      EXPECT_EQ(facts.own_parts, p == 0 ? own_parts_of_first : kParts - own_parts_of_first);
      EXPECT_EQ(facts.kept_rows, 30);
      const bool for_all =
          logged(own).find("mini-batches of all training ids read") != std::string::npos;
      EXPECT_EQ(for_all, plan == GNNMG_PLAN_GLOBAL) << "which rows are kept";
      EXPECT_GT(facts.own_rows, 0);
      EXPECT_GT(facts.hit_rows, 0);
      EXPECT_GT(facts.asked_rows, 0);
      EXPECT_GT(facts.questions, 0);
      EXPECT_GT(facts.answer_bytes, facts.asked_bytes);
      for (int32_t part = 0; part < kParts; ++part) {  // also of parts that are not here
        auto of_part = info<gnnmg_part_info>();
        ASSERT_OK(gnnmg_dataset_get_part_info(own.dataset, part, 30, &of_part));
        EXPECT_GT(of_part.batch_rows, 0);
      }
    });
  }

  const TempDir folder_;
};

TEST_F(PartsOpen, TwoProcessesTrainToTheWeightsOfOne) {
  for (const gnnmg_plan plan : {GNNMG_PLAN_GLOBAL, GNNMG_PLAN_PARTS})
    expect_equal(plan, {path(), path()}, 2);
}

#ifdef GNNMG_HAS_GRPC
TEST_F(PartsOpen, TwoProcessesWithPartsOfTheirOwnTrainToTheWeightsOfOne) {
  const std::string first = folder_.file("first"), second = folder_.file("second");
  link_parts(path(), first, {2});
  link_parts(path(), second, {0, 1});
  for (const gnnmg_plan plan : {GNNMG_PLAN_GLOBAL, GNNMG_PLAN_PARTS})
    expect_equal(plan, {first, second}, 1);
}

TEST_F(PartsOpen, ServesOnWhenItIsFreed) {
  const std::string first = folder_.file("first"), second = folder_.file("second");
  link_parts(path(), first, {2});
  link_parts(path(), second, {0, 1});
  run_job([&](int32_t p, World& own, const Comm& comm) {
    open(own, comm, p == 0 ? first : second);
    ASSERT_OK(gnnmg_comm_barrier(comm, -1));
    if (p == 0) {
      own.graph.reset();
      own.dataset.reset();
      return;
    }
    const Sampler sampler = own.make_sampler();
    const int64_t seeds[] = {1, 2, 3};
    Batch batch;
    for (uint64_t epoch = 0; epoch < 50; ++epoch)
      EXPECT_OK(
          gnnmg_sampler_sample(sampler, nullptr, seeds, 3, nullptr, 9, epoch, 0, batch.out(), -1));
  });
}

TEST_F(PartsOpen, ProcessesThatReadDifferentlyAreNamed) {
  run_job([&](int32_t p, World& own, const Comm& comm) {
    ServedConfig config;
    config.reading = p == 0 ? GNNMG_PARTS_READING_ASKED : GNNMG_PARTS_READING_SHARED;
    EXPECT_FAILS(
        gnnmg_dataset_open_parts(own.context, comm, path().c_str(), &config, own.dataset.out(), -1),
        GNNMG_ERR_MISMATCH, "'reading' is asked at process 0 on host ");
    config.reading = GNNMG_PARTS_READING_ASKED;  // the job goes on
    EXPECT_OK(gnnmg_dataset_open_parts(own.context, comm, path().c_str(), &config,
                                       own.dataset.out(), -1));
  });
}
#endif

TEST_F(PartsOpen, APartThatNobodyHasIsNamedOnAll) {
  const std::string first = folder_.file("first");
  link_parts(path(), first, {0, 2});
  run_job([&](int32_t, World& own, const Comm& comm) {
    EXPECT_FAILS(
        gnnmg_dataset_open_parts(own.context, comm, first.c_str(), nullptr, own.dataset.out(), -1),
        GNNMG_ERR_MISMATCH, "part 1 of 3 is at no process");
  });
}

TEST_F(PartsOpen, AProcessAloneHasAllParts) {
  World world;
  open(world);
  auto facts = info<gnnmg_parts_info>();
  ASSERT_OK(gnnmg_dataset_get_parts_info(world.dataset, &facts));
  EXPECT_EQ(facts.own_parts, kParts);
  EXPECT_EQ(facts.kept_rows, 0);
  auto data = info<gnnmg_dataset_info>();
  ASSERT_OK(gnnmg_dataset_get_info(world.dataset, &data));
  EXPECT_EQ(data.num_nodes, 300);
  EXPECT_EQ(data.num_edges, facts.num_edges);
  EXPECT_GT(data.feature_dim, 0);
  int64_t edges = 0;
  ASSERT_OK(gnnmg_graph_num_edges(world.graph, 0, &edges));
  EXPECT_EQ(edges, facts.num_edges);
  // Mini-batches from each process's own parts, part by part.
  world.plan.batch_size = 32;
  world.plan.plan = GNNMG_PLAN_PARTS;
  const Sampler sampler = world.make_sampler();
  const Loader loader = world.make_loader(sampler);
  ASSERT_OK(gnnmg_loader_start(loader, 0, 0));
  Tensor book;
  ASSERT_OK(gnnmg_dataset_export_book(world.dataset, book.out()));
  const std::vector<int32_t> part_of = values<int32_t>(book);
  Batch batch;
  int64_t seen = 0;
  while (gnnmg_loader_next(loader, batch.out(), -1) == GNNMG_OK) {
    Tensor seeds;
    ASSERT_OK(gnnmg_batch_export_seeds(batch, seeds.out()));
    const std::vector<int64_t> ids = values<int64_t>(seeds);
    for (const int64_t id : ids) EXPECT_EQ(part_of[id], part_of[ids[0]]);
    seen += static_cast<int64_t>(ids.size());
    batch.reset();
  }
  EXPECT_EQ(seen, 180);
}

TEST_F(PartsOpen, APredictorAnswersWithTheBitsOfTheWhole) {
  World parts, whole;
  open(parts);
  whole.graph.reset();
  ASSERT_OK(gnnmg_dataset_open(whole.context, path().c_str(), nullptr, whole.dataset.out(), -1));
  const auto expect_equal = [&](const char* settings) {
    const auto rows = [&](World& world) {
      Predictor predictor;
      EXPECT_OK(
          gnnmg_predictor_create(world.make_model(), world.dataset, settings, predictor.out()));
      return predicted<float>(predictor, {7, 42, 7, 299}, GNNMG_OUTPUT_LOGITS);
    };
    whole.layers = parts.layers;
    EXPECT_EQ(rows(parts), rows(whole)) << parts.layers.architecture << settings;
  };
  for (const gnnmg_architecture architecture : {GNNMG_ARCHITECTURE_SAGE, GNNMG_ARCHITECTURE_GCN}) {
    parts.layers.architecture = architecture;
    for (const char* settings : {"fanouts=4,3 seed=2", ""}) expect_equal(settings);
  }
  parts.layers.norm = GNNMG_NORM_GRAPH;  // needs all rows, which are computed once
  expect_equal("");
  parts.layers.architecture = GNNMG_ARCHITECTURE_EDGE;
  Predictor refused;
  EXPECT_FAILS(gnnmg_predictor_create(parts.make_model(), parts.dataset, nullptr, refused.out()),
               GNNMG_ERR_UNSUPPORTED, "add fan-outs to the settings");
}

TEST_F(PartsOpen, ADataSetThatIsNotDividedIsOnePart) {
  World world;
  const std::string own = folder_.file("own");
  ASSERT_OK(gnnmg_dataset_save(world.dataset, own.c_str(), -1));
  set_up(world, GNNMG_PLAN_GLOBAL);
  const auto results = [&] {
    const Sampler sampler = world.make_sampler();
    const Model model = world.make_model();
    const Trainer trainer = world.make_trainer(model, sampler);
    return results_of(model, trainer);
  };
  const Results expected = results();
  world.graph.reset();
  ASSERT_OK(gnnmg_dataset_open_parts(world.context, nullptr, own.c_str(), nullptr,
                                     world.dataset.out(), -1));
  ASSERT_OK(gnnmg_dataset_get_graph(world.dataset, 0, world.graph.out()));
  auto facts = info<gnnmg_parts_info>();
  ASSERT_OK(gnnmg_dataset_get_parts_info(world.dataset, &facts));
  EXPECT_EQ(facts.num_parts, 1);
  EXPECT_EQ(facts.own_parts, 1);
  EXPECT_TRUE(results() == expected);
  // The plan by parts has the mini-batches of the one part.
  world.training.plan = GNNMG_PLAN_PARTS;
  EXPECT_FALSE(results().weights.empty());
}

TEST_F(PartsOpen, WhatNeedsTheWholeGraphIsRefused) {
  World world;
  open(world);
  Tensor a, b, c;
  EXPECT_FAILS(gnnmg_graph_export_csc(world.graph, 0, a.out(), b.out(), c.out()),
               GNNMG_ERR_UNSUPPORTED, "parts 0, 1, 2 of 3");
  EXPECT_FAILS(gnnmg_graph_export_coo(world.graph, 0, a.out(), b.out()), GNNMG_ERR_UNSUPPORTED,
               "list of edges");
  EXPECT_FAILS(gnnmg_graph_export_node_tensor(world.graph, 0, "x", a.out()), GNNMG_ERR_UNSUPPORTED,
               "a tensor of all nodes");
  EXPECT_OK(gnnmg_graph_export_node_tensor(world.graph, 0, "y", a.out()));
  int64_t needed = 0;
  EXPECT_FAILS(gnnmg_graph_get_in_edges(world.graph, 0, 0, nullptr, nullptr, 0, &needed),
               GNNMG_ERR_UNSUPPORTED, "list of edges");
  Graph other;
  for (const gnnmg_transform transform :
       {GNNMG_TRANSFORM_ADD_REVERSE_EDGES, GNNMG_TRANSFORM_REMOVE_EDGES})
    EXPECT_FAILS(gnnmg_graph_create_transformed(world.graph, transform, 0, other.out()),
                 GNNMG_ERR_UNSUPPORTED, "needs all of it");
  EXPECT_FAILS(gnnmg_graph_create_normalized(world.graph, "x", other.out()), GNNMG_ERR_UNSUPPORTED,
               "needs all of it");
  EXPECT_FAILS(gnnmg_dataset_save(world.dataset, folder_.file("again").c_str(), -1),
               GNNMG_ERR_UNSUPPORTED, "needs all of it");
  const Sampler sampler = world.make_sampler();
  world.layers.architecture = GNNMG_ARCHITECTURE_EDGE;
  world.layers.norm = GNNMG_NORM_GRAPH;
  const Model model = world.make_model();
  Trainer trainer;
  EXPECT_FAILS(gnnmg_trainer_create(model, world.dataset, sampler, nullptr, &world.training,
                                    world.training.text(), trainer.out()),
               GNNMG_ERR_UNSUPPORTED, "evaluation=sampled");
  auto metrics = info<gnnmg_metrics>();
  EXPECT_FAILS(
      gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TEST, 0, &metrics, nullptr, -1),
      GNNMG_ERR_UNSUPPORTED, "evaluation=sampled");
}

// Draws the built-in sampler's edges, so it trains to the same weights.
TEST_F(PartsOpen, ACustomSamplerDrawsFromTheParts) {
  const auto weights_by = [&](bool custom) {
    World world;
    open(world);
    set_up(world, GNNMG_PLAN_GLOBAL);
    world.sampling.set("expansion=every_layer");
    Sampler sampler = world.make_sampler();
    if (custom) {
      EXPECT_OK(gnnmg_sampler_create_custom(
          world.graph, &world.sampling, world.sampling.text(),
          [](const gnnmg_layer_info* layer, const int64_t* targets, int64_t count, gnnmg_sink* sink,
             void* user) -> int32_t {
            const World& asked = *static_cast<const World*>(user);
            return gnnmg_graph_sample_neighbors(asked.graph, 0, targets, count,
                                                asked.sampling.fanouts[layer->layer], 0, layer->key,
                                                sink);
          },
          &world, nullptr, sampler.out()));
    }
    const Model model = world.make_model();
    const Trainer trainer = world.make_trainer(model, sampler);
    EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    return weights(model);
  };
  EXPECT_EQ(weights_by(true), weights_by(false));
}

TEST_F(PartsOpen, WrongArgumentsAreNamed) {
  World world;
  Dataset data;
  ServedConfig config;
  config.max_in_flight = 1025;
  EXPECT_FAILS(
      gnnmg_dataset_open_parts(world.context, nullptr, path().c_str(), &config, data.out(), -1),
      GNNMG_ERR_INVALID_ARGUMENT, "config.max_in_flight");
  config.max_in_flight = 0;
  config.deadline_ms = -1;
  EXPECT_FAILS(
      gnnmg_dataset_open_parts(world.context, nullptr, path().c_str(), &config, data.out(), -1),
      GNNMG_ERR_INVALID_ARGUMENT, "config.deadline_ms");
  config.deadline_ms = 0;
  config.reading = static_cast<gnnmg_parts_reading>(3);
  EXPECT_FAILS(
      gnnmg_dataset_open_parts(world.context, nullptr, path().c_str(), &config, data.out(), -1),
      GNNMG_ERR_INVALID_ARGUMENT, "config.reading");
  config.reading = GNNMG_PARTS_READING_AUTO;
  config.port = 65536;
  EXPECT_FAILS(
      gnnmg_dataset_open_parts(world.context, nullptr, path().c_str(), &config, data.out(), -1),
      GNNMG_ERR_INVALID_ARGUMENT, "config.port");
  const std::string none = folder_.file("none"), file = folder_.write("file", "no folder");
  EXPECT_FAILS(
      gnnmg_dataset_open_parts(world.context, nullptr, none.c_str(), nullptr, data.out(), -1),
      GNNMG_ERR_NOT_FOUND, (none + ": no such folder").c_str());
  EXPECT_FAILS(
      gnnmg_dataset_open_parts(world.context, nullptr, file.c_str(), nullptr, data.out(), -1),
      GNNMG_ERR_NOT_FOUND, (file + ": is a file").c_str());
  EXPECT_FAILS(gnnmg_dataset_open_parts(world.context, nullptr, nullptr, nullptr, data.out(), -1),
               GNNMG_ERR_INVALID_ARGUMENT, "folder");
  // A data set without parts.
  world.training.plan = GNNMG_PLAN_PARTS;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Trainer trainer;
  EXPECT_FAILS(gnnmg_trainer_create(model, world.dataset, sampler, nullptr, &world.training,
                                    world.training.text(), trainer.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "does not lie in parts");
}

}  // namespace
}  // namespace gnnmg::test
