// Data sets: opening in slices, saving, splits.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <thread>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

std::vector<int64_t> part(const gnnmg_dataset* dataset, gnnmg_part part) {
  Tensor ids;
  EXPECT_OK(gnnmg_dataset_export_split(dataset, part, ids.out()));
  return values<int64_t>(ids);
}

TEST(DatasetTest, TellsWhatItHolds) {
  World world(200);
  auto facts = info<gnnmg_dataset_info>();
  ASSERT_OK(gnnmg_dataset_get_info(world.dataset, &facts));
  EXPECT_EQ(facts.task, GNNMG_TASK_MULTICLASS);
  EXPECT_EQ(facts.num_graphs, 1);
  EXPECT_EQ(facts.num_nodes, 200);
  EXPECT_EQ(facts.feature_dim, 8);
  EXPECT_EQ(facts.num_classes, 3);
  EXPECT_EQ(facts.num_splits, 1);
  const char *name, *features, *labels;
  ASSERT_OK(gnnmg_dataset_get_names(world.dataset, &name, &features, &labels));
  EXPECT_STREQ(features, "x");
  EXPECT_STREQ(labels, "y");
  Graph graph;
  ASSERT_OK(gnnmg_dataset_get_graph(world.dataset, 0, graph.out()));
  int64_t edges = 0;
  ASSERT_OK(gnnmg_graph_num_edges(graph, 0, &edges));
  EXPECT_EQ(edges, facts.num_edges);
  EXPECT_EQ(gnnmg_dataset_get_graph(world.dataset, 1, graph.out()), GNNMG_ERR_NOT_FOUND);
}

// After any failure the graph can be changed as before; once another object was made from it, it
// cannot.
TEST(DatasetTest, AFailedCallLeavesItsGraphAsItWas) {
  const World world(30);
  const int64_t ends[2][3] = {{0, 1, 2}, {1, 2, 0}}, rows[] = {3, 1}, starts[] = {0, 1, 3};
  const float x[] = {1, 2, 3};
  std::vector<int64_t> labels{0, 1, 2}, wrong{0, 5};
  const Tensor classes = wrap(wrong);
  SamplerConfig narrow;
  narrow.num_fanouts = 99;
  Dataset dataset;
  Sampler sampler;
  Graph other;
  const gnnmg_layer_fn layer = [](const gnnmg_layer_info*, const int64_t*, int64_t, gnnmg_sink*,
                                  void*) { return int32_t{0}; };
  using Call = std::function<gnnmg_status(gnnmg_graph*)>;
  const std::vector<Call> failing{
      [&](gnnmg_graph* g) {
        return gnnmg_dataset_create(g, "X", "y", GNNMG_TASK_MULTICLASS, 3, dataset.out());
      },
      [&](gnnmg_graph* g) {
        return gnnmg_dataset_create(g, "x", "Y", GNNMG_TASK_MULTICLASS, 3, dataset.out());
      },
      [&](gnnmg_graph* g) {
        return gnnmg_dataset_create(g, "x", "y", GNNMG_TASK_MULTICLASS, 2, dataset.out());
      },
      [&](gnnmg_graph* g) {
        return gnnmg_dataset_create(g, "x", "y", static_cast<gnnmg_task>(77), 3, dataset.out());
      },
      [&](gnnmg_graph* g) {
        return gnnmg_dataset_create_graphs(g, starts, 2, "X", nullptr, GNNMG_TASK_NONE, 0,
                                           dataset.out());
      },
      [&](gnnmg_graph* g) {
        return gnnmg_dataset_create_graphs(g, starts, 2, "x", classes, GNNMG_TASK_MULTICLASS, 2,
                                           dataset.out());
      },
      [&](gnnmg_graph* g) {
        return gnnmg_dataset_create_graphs(g, ends[1], 2, "x", nullptr, GNNMG_TASK_NONE, 0,
                                           dataset.out());
      },
      [&](gnnmg_graph* g) {
        return gnnmg_sampler_create(g, &narrow, narrow.text(), sampler.out());
      },
      [&](gnnmg_graph* g) {
        return gnnmg_sampler_create(g, nullptr, "edge_type=7", sampler.out());
      },
      [&](gnnmg_graph* g) {
        return gnnmg_sampler_create_custom(g, &narrow, narrow.text(), layer, nullptr, nullptr,
                                           sampler.out());
      },
      [&](gnnmg_graph* g) {
        return gnnmg_graph_create_transformed(g, static_cast<gnnmg_transform>(99), 0, other.out());
      },
      [&](gnnmg_graph* g) { return gnnmg_graph_create_normalized(g, "none", other.out()); },
  };
  for (size_t i = 0; i < failing.size(); ++i) {
    SCOPED_TRACE(i);
    Graph graph;
    ASSERT_OK(gnnmg_graph_create_from_coo(world.context, 3, ends[0], ends[1], GNNMG_DTYPE_I64, 3,
                                          graph.out()));
    const auto set = [&](const char* name) {
      return gnnmg_graph_set_node_tensor(graph, 0, name, x, GNNMG_DTYPE_F32, 2, rows);
    };
    ASSERT_OK(set("x"));
    ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "y", labels.data(), GNNMG_DTYPE_I64, 1, rows));
    EXPECT_LT(failing[i](graph), 0);
    EXPECT_OK(set("more"));
    EXPECT_OK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 3, dataset.out()));
    EXPECT_FAILS(set("late"), GNNMG_ERR_INVALID_ARGUMENT, "cannot be changed any more");
  }
}

TEST(DatasetTest, SavedAndOpenedInSlicesOfAMillisecond) {
  World world(3000);
  const TempDir folder;
  const std::string path = folder.file("saved");
  ASSERT_EQ(until_done([&] { return gnnmg_dataset_save(world.dataset, path.c_str(), 1); }),
            GNNMG_OK)
      << gnnmg_last_error();
  EXPECT_LT(gnnmg_dataset_save(world.dataset, path.c_str(), -1), 0);  // the file exists
  Dataset opened;
  int pending = 0;
  ASSERT_EQ(until_done(
                [&] {
                  const gnnmg_status status =
                      gnnmg_dataset_open(world.context, path.c_str(), nullptr, opened.out(), 0);
                  if (status == GNNMG_PENDING) {
                    EXPECT_EQ(opened.get(), nullptr);
                  }
                  return status;
                },
                &pending),
            GNNMG_OK)
      << gnnmg_last_error();
  auto before = info<gnnmg_dataset_info>(), after = info<gnnmg_dataset_info>();
  ASSERT_OK(gnnmg_dataset_get_info(world.dataset, &before));
  ASSERT_OK(gnnmg_dataset_get_info(opened, &after));
  EXPECT_EQ(std::memcmp(&before, &after, sizeof before), 0);
  EXPECT_EQ(part(opened, GNNMG_PART_TEST), part(world.dataset, GNNMG_PART_TEST));
}

// Names of nodes as C strings, from the edges' ends; in a saved set too.
TEST(DatasetTest, NamesOfNodesAreKept) {
  const TempDir folder;
  const std::string text =
      folder.write("names.csv", "source,target\n\"Smith, J\",bob\nbob,\xc3\xa9\n");
  Context context;
  ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
  Dataset data;
  EXPECT_FAILS(gnnmg_dataset_open(context, text.c_str(), nullptr, data.out(), -1), GNNMG_ERR_FORMAT,
               "relabel=1 numbers names");
  ASSERT_OK(gnnmg_dataset_open(context, text.c_str(), "relabel=1", data.out(), -1));
  ASSERT_OK(gnnmg_dataset_save(data, folder.file("saved").c_str(), -1));
  Dataset saved;
  ASSERT_OK(gnnmg_dataset_open(context, folder.file("saved").c_str(), nullptr, saved.out(), -1));
  for (const gnnmg_dataset* each : {data.get(), saved.get()}) {
    Graph graph;
    ASSERT_OK(gnnmg_dataset_get_graph(each, 0, graph.out()));
    Tensor names, ids;
    ASSERT_OK(gnnmg_graph_export_node_tensor(graph, 0, "original_name", names.out()));
    EXPECT_EQ(shape_of(names), (std::vector<int64_t>{3, 9}));
    const std::vector<uint8_t> bytes = values<uint8_t>(names);
    const char* first = reinterpret_cast<const char*>(bytes.data());
    EXPECT_STREQ(first, "Smith, J");
    EXPECT_STREQ(first + 9, "bob");
    EXPECT_STREQ(first + 18, "\xc3\xa9");
    EXPECT_EQ(gnnmg_graph_export_node_tensor(graph, 0, "original_id", ids.out()),
              GNNMG_ERR_NOT_FOUND);
  }
}

TEST(DatasetTest, AFileThatShrinksIsAnErrorEverywhere) {
  World world(3000);
  const TempDir folder;
  const std::string path = folder.file("saved");
  ASSERT_OK(gnnmg_dataset_save(world.dataset, path.c_str(), -1));
  Dataset opened;
  ASSERT_OK(gnnmg_dataset_open(world.context, path.c_str(), nullptr, opened.out(), -1));
  std::swap(world.dataset, opened);
  Model model = world.make_model();
  auto metrics = info<gnnmg_metrics>();
  ASSERT_EQ(truncate(folder.file("saved/node-node-x.npy").c_str(), 4096), 0);

  const char* const file = "node-node-x.npy: ";
  EXPECT_FAILS(
      gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TEST, 0, &metrics, nullptr, -1),
      GNNMG_ERR_IO, file);
  Tensor rows;
  EXPECT_FAILS(gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), -1), GNNMG_ERR_IO,
               file);
  Graph graph, changed;
  ASSERT_OK(gnnmg_dataset_get_graph(world.dataset, 0, graph.out()));
  EXPECT_FAILS(gnnmg_graph_create_normalized(graph, "x", changed.out()), GNNMG_ERR_IO, file);
  EXPECT_FAILS(gnnmg_dataset_save(world.dataset, folder.file("again").c_str(), -1), GNNMG_ERR_IO,
               file);
  const Sampler sampler = world.make_sampler();
  Trainer trainer = world.make_trainer(model, sampler);
  EXPECT_FAILS(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr), GNNMG_ERR_IO, file);
  EXPECT_FAILS(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, nullptr, -1),
               GNNMG_ERR_IO, file);
}

TEST(DatasetTest, OpenedByManyThreadsAtOnce) {
  const World world(300);
  const TempDir folder;
  ASSERT_OK(gnnmg_dataset_save(world.dataset, folder.file("set").c_str(), -1));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        Dataset opened;
        EXPECT_OK(gnnmg_dataset_open(world.context, folder.file("set").c_str(), nullptr,
                                     opened.out(), -1));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(DatasetTest, NothingStaysBehindOneThatIsClosed) {
  const TempDir folder;
  std::string edges;
  for (int i = 0; i < 2000; ++i) edges += std::to_string(i) + "," + std::to_string(i / 2) + "\n";
  const std::string path = folder.write("edges.csv", edges);
  Context context;
  ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
  const auto used = [&] {
    auto facts = info<gnnmg_context_info>();
    EXPECT_OK(gnnmg_context_get_info(context, &facts));
    return facts.memory_used;
  };
  for (int i = 0; i < 100; ++i) {
    Dataset opened;
    ASSERT_OK(gnnmg_dataset_open(context, path.c_str(), nullptr, opened.out(), -1));
    EXPECT_GT(used(), 8000u);
    opened.reset();
    ASSERT_EQ(used(), 0u) << "after opening " << i;
  }
}

TEST(DatasetTest, AnOpeningThatNobodyWaitsForCanBeCancelled) {
  World world(60);
  const TempDir folder;
  std::string edges;
  for (int i = 0; i < 400000; ++i) edges += std::to_string(i) + "," + std::to_string(i / 2) + "\n";
  const std::string path = folder.write("edges.csv", edges);
  Dataset dataset;
  const gnnmg_status first =
      gnnmg_dataset_open(world.context, path.c_str(), nullptr, dataset.out(), 0);
  gnnmg_context_cancel(world.context);
  if (first == GNNMG_PENDING) {
    const gnnmg_status status =
        gnnmg_dataset_open(world.context, path.c_str(), nullptr, dataset.out(), -1);
    EXPECT_TRUE(status == GNNMG_ERR_CANCELLED || status == GNNMG_OK) << gnnmg_last_error();
  }
  // The cancel does not affect later openings.
  EXPECT_OK(gnnmg_dataset_open(world.context, path.c_str(), nullptr, dataset.out(), -1));
  auto facts = info<gnnmg_dataset_info>();
  ASSERT_OK(gnnmg_dataset_get_info(dataset, &facts));
  EXPECT_EQ(facts.num_nodes, 400000);
}

TEST(DatasetTest, WhatCannotBeOpenedSaysWhy) {
  World world(60);
  const TempDir folder;
  Dataset dataset;
  EXPECT_FAILS(gnnmg_dataset_open(world.context, "", nullptr, dataset.out(), -1),
               GNNMG_ERR_INVALID_ARGUMENT, "'path' is empty");
  EXPECT_FAILS(
      gnnmg_dataset_open(world.context, folder.file("none").c_str(), nullptr, dataset.out(), -1),
      GNNMG_ERR_NOT_FOUND, "none: no such file or folder");
  auto error = info<gnnmg_error_info>();
  ASSERT_OK(gnnmg_last_error_info(&error));
  EXPECT_EQ(error.system_error, ENOENT);  // other languages recognize their own error by it
  const std::string nothing = folder.write("nothing.bin", std::string_view("\x01\x02\x00\x03", 4));
  EXPECT_LT(gnnmg_dataset_open(world.context, nothing.c_str(), nullptr, dataset.out(), -1), 0);
  EXPECT_EQ(dataset.get(), nullptr);
  EXPECT_FAILS(gnnmg_dataset_open(world.context, nothing.c_str(), "format=99", dataset.out(), -1),
               GNNMG_ERR_INVALID_ARGUMENT,
               "settings: format=99, expected one of auto, gnnmg, planetoid");
  const std::string edges = folder.write("edges.txt", "0 1\n1 2\n");
  ASSERT_OK(gnnmg_context_set_option(world.context, "max_file_bytes", "4"));
  EXPECT_LT(gnnmg_dataset_open(world.context, edges.c_str(), nullptr, dataset.out(), -1), 0);
  ASSERT_OK(gnnmg_context_set_option(world.context, "max_file_bytes", "4096"));
  EXPECT_OK(gnnmg_dataset_open(world.context, edges.c_str(), nullptr, dataset.out(), -1));
}

TEST(DatasetTest, SplitsAreAdded) {
  World world(100);
  const int64_t train[] = {9, 3, 5}, validation[] = {1}, test[] = {7, 8};
  ASSERT_OK(gnnmg_dataset_add_split(world.dataset, "mine", train, 3, validation, 1, test, 2));
  EXPECT_EQ(part(world.dataset, GNNMG_PART_TRAIN), (std::vector<int64_t>{3, 5, 9}));
  ASSERT_OK(gnnmg_dataset_add_split(world.dataset, "mine", test, 2, nullptr, 0, train, 3));
  EXPECT_EQ(part(world.dataset, GNNMG_PART_TRAIN), (std::vector<int64_t>{7, 8}));

  const char* name = nullptr;
  auto facts = info<gnnmg_split_info>();
  ASSERT_OK(gnnmg_dataset_get_split_info(world.dataset, 2, &name, &facts));
  EXPECT_STREQ(name, "mine");
  EXPECT_EQ(facts.index, 1);
  EXPECT_EQ(facts.num_train, 2);
  EXPECT_EQ(facts.num_validation, 0);
  EXPECT_EQ(facts.num_test, 3);
  EXPECT_EQ(gnnmg_dataset_get_split_info(world.dataset, 3, &name, &facts), GNNMG_END);
  EXPECT_FAILS(gnnmg_dataset_get_split_info(world.dataset, -1, &name, &facts), GNNMG_ERR_NOT_FOUND,
               "'position' is -1");
  EXPECT_EQ(name, nullptr);

  const int64_t outside[] = {100};
  EXPECT_FAILS(gnnmg_dataset_add_split(world.dataset, "bad", outside, 1, nullptr, 0, nullptr, 0),
               GNNMG_ERR_RANGE, "100");
  EXPECT_FAILS(gnnmg_dataset_add_split(world.dataset, "\xff", train, 3, nullptr, 0, nullptr, 0),
               GNNMG_ERR_INVALID_ARGUMENT, "expected UTF-8");
  EXPECT_FAILS(gnnmg_dataset_add_random_split(world.dataset, "\xff", nullptr),
               GNNMG_ERR_INVALID_ARGUMENT, "expected UTF-8");
  EXPECT_EQ(gnnmg_dataset_add_split(world.dataset, "bad", train, 3, train, 1, nullptr, 0),
            GNNMG_ERR_FORMAT);
  EXPECT_FAILS(gnnmg_dataset_export_split(world.dataset, 4, Tensor().out()),
               GNNMG_ERR_INVALID_ARGUMENT, "part is 4");
}

// Three graphs side by side: a path of three nodes, a pair, a lone node.
struct ManyGraphs {
  World world{50};
  Graph graph;
  Dataset dataset;
  ManyGraphs() {
    const std::vector<int64_t> sources = {0, 1, 1, 2, 3, 4}, targets = {1, 0, 2, 1, 4, 3};
    const std::vector<float> x = {0, 1, 2, 3, 4, 5};
    const int64_t shape[] = {6, 1};
    EXPECT_OK(gnnmg_graph_create_from_coo(world.context, 6, sources.data(), targets.data(),
                                          GNNMG_DTYPE_I64, 6, graph.out()));
    EXPECT_OK(gnnmg_graph_set_node_tensor(graph, 0, "x", x.data(), GNNMG_DTYPE_F32, 2, shape));
  }
  gnnmg_status make(std::vector<int64_t> starts, std::vector<int64_t> classes,
                    gnnmg_task task = GNNMG_TASK_MULTICLASS) {
    const int64_t rows[] = {static_cast<int64_t>(classes.size())};
    Tensor labels;
    EXPECT_OK(gnnmg_tensor_create(classes.data(), GNNMG_DTYPE_I64, 1, rows, nullptr, nullptr,
                                  labels.out()));
    return gnnmg_dataset_create_graphs(graph, starts.data(),
                                       static_cast<int64_t>(starts.size()) - 1, "x", labels, task,
                                       0, dataset.out());
  }
};

TEST(DatasetTest, ManyGraphs) {
  ManyGraphs many;
  EXPECT_FAILS(many.make({0, 3, 2, 6}, {1, 0, 1}), GNNMG_ERR_INVALID_ARGUMENT,
               "graph_ptr[2] is 2, expected 3 or more");
  EXPECT_FAILS(many.make({0, 2, 5, 6}, {1, 0, 1}), GNNMG_ERR_RANGE,
               "edge 3 comes into graph 0 from node 2");
  EXPECT_FAILS(many.make({0, 3, 5, 6}, {1, 0}), GNNMG_ERR_INVALID_ARGUMENT, "each of 3 graphs");
  EXPECT_FAILS(many.make({0, 1, 2, 3, 4, 5, 6, 7}, {1}), GNNMG_ERR_INVALID_ARGUMENT,
               "graph_ptr[7] is 7, expected 6, the number of nodes");
  EXPECT_FAILS(many.make({0, 3, 5, 6}, {1, 0, 1}, GNNMG_TASK_REGRESSION),
               GNNMG_ERR_INVALID_ARGUMENT, "the labels 'labels' are i64");
  ASSERT_OK(many.make({0, 3, 5, 6}, {1, 0, 1}));
  auto facts = info<gnnmg_dataset_info>();
  ASSERT_OK(gnnmg_dataset_get_info(many.dataset, &facts));
  EXPECT_EQ(facts.num_graphs, 3);
  EXPECT_EQ(facts.num_nodes, 6);
  EXPECT_EQ(facts.num_classes, 2);
  Tensor labels, starts, absent;
  ASSERT_OK(gnnmg_dataset_export_labels(many.dataset, labels.out()));
  EXPECT_EQ(values<int64_t>(labels), (std::vector<int64_t>{1, 0, 1}));
  ASSERT_OK(gnnmg_dataset_export_graph_ptr(many.dataset, starts.out()));
  EXPECT_EQ(values<int64_t>(starts), (std::vector<int64_t>{0, 3, 5, 6}));
  EXPECT_FAILS(gnnmg_dataset_export_graph_ptr(many.world.dataset, absent.out()),
               GNNMG_ERR_NOT_FOUND, "is one graph");

  // Ids of splits are those of graphs.
  const int64_t ids[] = {2, 0};
  ASSERT_OK(gnnmg_dataset_add_split(many.dataset, "mine", ids, 2, nullptr, 0, nullptr, 0));
  EXPECT_EQ(part(many.dataset, GNNMG_PART_TRAIN), (std::vector<int64_t>{0, 2}));
  const int64_t beyond = 3;
  EXPECT_FAILS(gnnmg_dataset_add_split(many.dataset, "mine", &beyond, 1, nullptr, 0, nullptr, 0),
               GNNMG_ERR_RANGE, "graph 3, expected 0 to 2");
  ASSERT_OK(gnnmg_dataset_add_folds(many.dataset, "folds", "num_folds=3"));
  EXPECT_EQ(part(many.dataset, GNNMG_PART_TRAIN).size(), 2u);
  EXPECT_EQ(part(many.dataset, GNNMG_PART_VALIDATION).size(), 1u);
  EXPECT_FAILS(gnnmg_dataset_add_folds(many.dataset, "folds", "num_folds=3"),
               GNNMG_ERR_INVALID_ARGUMENT, "already");
  EXPECT_FAILS(gnnmg_dataset_add_folds(many.dataset, "more", nullptr), GNNMG_ERR_INVALID_ARGUMENT,
               "10 folds of 3");
}

TEST(DatasetTest, MiniBatchesOfGraphs) {
  ManyGraphs many;
  ASSERT_OK(many.make({0, 3, 5, 6}, {1, 0, 1}));
  Sampler sampler, nodes;
  EXPECT_FAILS(gnnmg_sampler_create_graphs(many.world.dataset, nullptr, nullptr, sampler.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "is one graph");
  ASSERT_OK(gnnmg_sampler_create_graphs(many.dataset, nullptr, nullptr, sampler.out()));
  const int64_t seeds[] = {2, 0};
  Batch batch;
  ASSERT_OK(
      gnnmg_sampler_sample(sampler, many.dataset, seeds, 2, nullptr, 0, 0, 0, batch.out(), -1));
  Tensor starts, list, features, labels;
  ASSERT_OK(gnnmg_batch_export_graph_ptr(batch, starts.out()));
  EXPECT_EQ(values<int64_t>(starts), (std::vector<int64_t>{0, 1, 4}));
  ASSERT_OK(gnnmg_batch_export_node_ids(batch, 0, list.out()));
  EXPECT_EQ(values<int64_t>(list), (std::vector<int64_t>{5, 0, 1, 2}));
  ASSERT_OK(gnnmg_batch_export_features(batch, 0, features.out()));
  EXPECT_EQ(values<float>(features), (std::vector<float>{5, 0, 1, 2}));
  ASSERT_OK(gnnmg_batch_export_labels(batch, labels.out()));
  EXPECT_EQ(values<int64_t>(labels), (std::vector<int64_t>{1, 1}));
  EXPECT_FAILS(gnnmg_sampler_sample(sampler, many.dataset, std::vector<int64_t>{3}.data(), 1,
                                    nullptr, 0, 0, 0, batch.out(), -1),
               GNNMG_ERR_RANGE, "seed 0 is graph 3");

  // Three graphs of 3, 2 and 1 nodes.
  const int64_t all[] = {0, 1, 2};
  ASSERT_OK(gnnmg_dataset_add_split(many.dataset, "all", all, 3, nullptr, 0, nullptr, 0));
  LoaderConfig plan;
  plan.set("shuffle=0 batch_nodes=3");
  Loader by_nodes;
  ASSERT_OK(gnnmg_loader_create(many.dataset, sampler, &plan, plan.text(), by_nodes.out()));
  auto steps = info<gnnmg_loader_info>();
  ASSERT_OK(gnnmg_loader_get_info(by_nodes, &steps));
  EXPECT_EQ(steps.num_batches, 2);
  ASSERT_OK(gnnmg_loader_next(by_nodes, batch.out(), -1));
  ASSERT_OK(gnnmg_loader_next(by_nodes, batch.out(), -1));
  ASSERT_OK(gnnmg_batch_export_node_ids(batch, 0, list.out()));
  EXPECT_EQ(values<int64_t>(list), (std::vector<int64_t>{3, 4, 5}));
  EXPECT_FAILS(gnnmg_loader_start(by_nodes, 0, 3), GNNMG_ERR_INVALID_ARGUMENT, "expected 0 to 2");
  plan.set("drop_last=1");
  EXPECT_FAILS(gnnmg_loader_create(many.dataset, sampler, &plan, plan.text(), by_nodes.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "not with drop_last");
  plan.set("drop_last=0 batch_nodes=-1");
  EXPECT_FAILS(gnnmg_loader_create(many.dataset, sampler, &plan, plan.text(), by_nodes.out()),
               GNNMG_ERR_INVALID_ARGUMENT,
               "settings: batch_nodes=-1, expected an integer, 0 or more");

  ASSERT_OK(gnnmg_sampler_create(many.graph, nullptr, nullptr, nodes.out()));
  ASSERT_OK(gnnmg_sampler_sample(nodes, nullptr, seeds, 2, nullptr, 0, 0, 0, batch.out(), -1));
  EXPECT_FAILS(gnnmg_batch_export_graph_ptr(batch, starts.out()), GNNMG_ERR_NOT_FOUND, "are nodes");
  EXPECT_FAILS(
      gnnmg_sampler_sample(nodes, many.dataset, seeds, 2, nullptr, 0, 0, 0, batch.out(), -1),
      GNNMG_ERR_INVALID_ARGUMENT, "gnnmg_sampler_create_graphs()");
  Loader loader;
  EXPECT_FAILS(gnnmg_loader_create(many.world.dataset, sampler, nullptr, nullptr, loader.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "a graph of 6 nodes");
}

TEST(DatasetTest, RandomSplitsFollowTheirSettings) {
  World world(100);
  ASSERT_OK(gnnmg_dataset_add_random_split(world.dataset, "classes",
                                           "train_per_class=5 validation_per_class=3 seed=7"));
  EXPECT_EQ(part(world.dataset, GNNMG_PART_TRAIN).size(), 15u);
  EXPECT_EQ(part(world.dataset, GNNMG_PART_VALIDATION).size(), 9u);
  ASSERT_OK(gnnmg_dataset_add_random_split(world.dataset, "shares",
                                           "train_fraction=0.255 validation_fraction=0.5"));
  EXPECT_EQ(part(world.dataset, GNNMG_PART_TRAIN).size(), 25u);
  EXPECT_EQ(part(world.dataset, GNNMG_PART_TEST).size(), 25u);
  EXPECT_FAILS(gnnmg_dataset_add_random_split(world.dataset, "shares",
                                              "train_fraction=0.255 validation_fraction=0.9"),
               GNNMG_ERR_INVALID_ARGUMENT, "fraction");
}

TEST(DatasetTest, WeightsAreSetAndSaved) {
  World world(100);
  Tensor weights;
  EXPECT_FAILS(gnnmg_dataset_export_class_weights(world.dataset, weights.out()),
               GNNMG_ERR_NOT_FOUND, "no class weights");
  EXPECT_FAILS(gnnmg_dataset_export_sample_weights(world.dataset, weights.out()),
               GNNMG_ERR_NOT_FOUND, "no sample weights");
  double of_class[] = {1, 0, 2.5};
  std::vector<float> of_node(100, 0.5f);
  const int64_t shape[] = {100};
  Tensor nodes;
  ASSERT_OK(gnnmg_tensor_create(of_node.data(), GNNMG_DTYPE_F32, 1, shape, nullptr, nullptr,
                                nodes.out()));
  ASSERT_OK(gnnmg_dataset_set_class_weights(world.dataset, of_class, 3));
  ASSERT_OK(gnnmg_dataset_set_sample_weights(world.dataset, nodes));
  nodes.reset();
  of_node.assign(100, NAN);  // the set has its own copy

  const TempDir folder;
  const std::string path = folder.file("saved");
  ASSERT_OK(gnnmg_dataset_save(world.dataset, path.c_str(), -1));
  Dataset opened;
  ASSERT_OK(gnnmg_dataset_open(world.context, path.c_str(), nullptr, opened.out(), -1));
  ASSERT_OK(gnnmg_dataset_export_class_weights(opened, weights.out()));
  EXPECT_EQ(values<double>(weights), (std::vector<double>{1, 0, 2.5}));
  ASSERT_OK(gnnmg_dataset_export_sample_weights(opened, weights.out()));
  EXPECT_EQ(values<double>(weights), std::vector<double>(100, 0.5));

  EXPECT_FAILS(gnnmg_dataset_set_class_weights(opened, of_class, 2), GNNMG_ERR_INVALID_ARGUMENT,
               "found 2, expected 3");
  const int64_t few[] = {3};
  Tensor three;
  ASSERT_OK(gnnmg_tensor_create(of_class, GNNMG_DTYPE_F64, 1, few, nullptr, nullptr, three.out()));
  EXPECT_FAILS(gnnmg_dataset_set_sample_weights(opened, three), GNNMG_ERR_INVALID_ARGUMENT,
               "f64 [3], expected f32 or f64 [100]");
  ASSERT_OK(gnnmg_dataset_export_class_weights(opened, weights.out()));  // unchanged
  ASSERT_OK(gnnmg_dataset_set_class_weights(opened, nullptr, 0));
  ASSERT_OK(gnnmg_dataset_set_sample_weights(opened, nullptr));
  EXPECT_EQ(gnnmg_dataset_export_class_weights(opened, weights.out()), GNNMG_ERR_NOT_FOUND);
  EXPECT_EQ(gnnmg_dataset_export_sample_weights(opened, weights.out()), GNNMG_ERR_NOT_FOUND);
}

TEST(DatasetTest, BalancedClassesCountTheSame) {
  World world(100);
  ASSERT_OK(gnnmg_dataset_balance_classes(world.dataset));
  Tensor weights, y;
  ASSERT_OK(gnnmg_dataset_export_class_weights(world.dataset, weights.out()));
  Graph graph;
  ASSERT_OK(gnnmg_dataset_get_graph(world.dataset, 0, graph.out()));
  ASSERT_OK(gnnmg_graph_export_node_tensor(graph, 0, "y", y.out()));
  const auto labels = values<int64_t>(y);
  const auto train = part(world.dataset, GNNMG_PART_TRAIN);
  std::vector<double> sums(3, 0);
  for (const int64_t id : train)
    sums[static_cast<size_t>(labels[static_cast<size_t>(id)])] +=
        values<double>(weights)[static_cast<size_t>(labels[static_cast<size_t>(id)])];
  for (const double sum : sums) EXPECT_NEAR(sum, static_cast<double>(train.size()) / 3, 1e-9);

  // A training part without two of the classes.
  ASSERT_OK(gnnmg_dataset_add_split(world.dataset, "one", &train[0], 1, nullptr, 0, nullptr, 0));
  EXPECT_FAILS(gnnmg_dataset_balance_classes(world.dataset), GNNMG_ERR_INVALID_ARGUMENT,
               "no training node is of class");
}

TEST(DatasetTest, FeaturesOfArraysAreFiniteToo) {
  World world(6);
  const int64_t shape[] = {3, 2}, starts[] = {0, 1, 3};
  const float good[] = {0, 1, 2, 3, 4, 5}, bad[] = {0, 1, 2, NAN, 4, -INFINITY};
  const double wide[] = {0, 1, 2, 3, 1e300, 5};
  const uint8_t bits[] = {0, 1, 1, 0, 3, 1};
  Graph graph;
  ASSERT_OK(gnnmg_graph_create_from_coo(world.context, 3, nullptr, nullptr, GNNMG_DTYPE_I64, 0,
                                        graph.out()));
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "good", good, GNNMG_DTYPE_F32, 2, shape));
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "bad", bad, GNNMG_DTYPE_F32, 2, shape));
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "wide", wide, GNNMG_DTYPE_F64, 2, shape));
  const int64_t indptr[] = {0, 1, 1, 2};
  const int32_t columns[] = {0, 3};
  const float entries[] = {1, INFINITY};
  ASSERT_OK(gnnmg_graph_set_node_csr(graph, 0, "sparse", 4, indptr, columns, entries, 2));
  EXPECT_FAILS(gnnmg_graph_set_node_tensor(graph, 0, "b", bits, GNNMG_DTYPE_BOOL, 2, shape),
               GNNMG_ERR_RANGE, "tensor 'b', row 2, column 0: a bool of value 3, expected 0 or 1");
  const int64_t none[] = {0, 1};
  EXPECT_OK(gnnmg_graph_set_edge_tensor(graph, 0, "b", nullptr, GNNMG_DTYPE_BOOL, 2, none));
  Dataset dataset;
  const auto create = [&](const char* x) {
    return gnnmg_dataset_create(graph, x, nullptr, GNNMG_TASK_NONE, 0, dataset.out());
  };
  const auto create_graphs = [&](const char* x) {
    return gnnmg_dataset_create_graphs(graph, starts, 2, x, nullptr, GNNMG_TASK_NONE, 0,
                                       dataset.out());
  };
  EXPECT_FAILS(create("bad"), GNNMG_ERR_NAN, "features 'bad', row 1, column 1");
  EXPECT_FAILS(create_graphs("bad"), GNNMG_ERR_NAN, "features 'bad', row 1, column 1");
  EXPECT_FAILS(create("wide"), GNNMG_ERR_RANGE, "features 'wide', row 2, column 0: 1e+300");
  EXPECT_FAILS(create("sparse"), GNNMG_ERR_NAN, "features 'sparse', row 2, column 3");
  EXPECT_OK(create("good"));
  EXPECT_OK(create_graphs("good"));
  EXPECT_OK(create(nullptr));
}

TEST(DatasetTest, WhatModelsReadOfEdgesIsFiniteToo) {
  World world(6);
  const int64_t sources[] = {0, 1, 2}, starts[] = {0, 3};
  const int64_t table[] = {3, 2}, list[] = {3};
  const float good[] = {0, 1, 2, 3, 4, 5}, bad[] = {0, 1, 2, 3, 4, -INFINITY};
  const double wide[] = {0, 1e300, 2};
  const auto create = [&](const char* name, const void* values, gnnmg_dtype dtype, int32_t num_dims,
                          const int64_t* shape, bool of_graphs) {
    Graph graph;
    EXPECT_OK(gnnmg_graph_create_from_coo(world.context, 3, sources, sources, GNNMG_DTYPE_I64, 3,
                                          graph.out()));
    EXPECT_OK(gnnmg_graph_set_edge_tensor(graph, 0, name, values, dtype, num_dims, shape));
    Dataset dataset;
    return of_graphs
               ? gnnmg_dataset_create_graphs(graph, starts, 1, nullptr, nullptr, GNNMG_TASK_NONE, 0,
                                             dataset.out())
               : gnnmg_dataset_create(graph, nullptr, nullptr, GNNMG_TASK_NONE, 0, dataset.out());
  };
  for (const bool of_graphs : {false, true}) {
    for (const char* name : {"edge_attr", "x", "feat"}) {
      EXPECT_FAILS(create(name, bad, GNNMG_DTYPE_F32, 2, table, of_graphs), GNNMG_ERR_NAN,
                   std::string("edge tensor '") + name + "', row 2, column 1");
      EXPECT_OK(create(name, good, GNNMG_DTYPE_F32, 2, table, of_graphs));
    }
    for (const char* name : {"edge_weight", "weight"})
      EXPECT_FAILS(create(name, wide, GNNMG_DTYPE_F64, 1, list, of_graphs), GNNMG_ERR_RANGE,
                   std::string("edge tensor '") + name + "', row 1, column 0: 1e+300");
    // Models do not read other columns.
    EXPECT_OK(create("time", bad, GNNMG_DTYPE_F32, 2, table, of_graphs));
  }
}

// A column of two labels as one target: a model with one logit, trained and evaluated.
TEST(DatasetTest, TheTaskOfAFileCanBeSaid) {
  World world(6);
  const TempDir folder;
  std::string text = "40\n";
  for (int g = 0; g < 40; ++g) {
    const int size = 2 + g % 4;
    text += std::to_string(size) + (size < 4 ? " 0\n" : " 1\n");
    for (int i = 0; i < size; ++i)
      text += std::to_string(i % 2) + " 1 " + std::to_string((i + 1) % size) + "\n";
  }
  folder.write("set.txt", text);
  const char* const words[] = {"none", "multiclass", "binary", "regression"};
  for (const gnnmg_task task :
       {GNNMG_TASK_NONE, GNNMG_TASK_MULTICLASS, GNNMG_TASK_BINARY, GNNMG_TASK_REGRESSION}) {
    const std::string settings = std::string("format=gin task=") + words[task];
    Dataset dataset;
    ASSERT_OK(gnnmg_dataset_open(world.context, folder.file("set.txt").c_str(), settings.c_str(),
                                 dataset.out(), -1));
    const bool classes = task <= GNNMG_TASK_MULTICLASS;
    auto facts = info<gnnmg_dataset_info>();
    ASSERT_OK(gnnmg_dataset_get_info(dataset, &facts));
    EXPECT_EQ(facts.task, classes ? GNNMG_TASK_MULTICLASS : task);
    EXPECT_EQ(facts.num_classes, classes ? 2 : 1);
    ASSERT_OK(gnnmg_dataset_add_random_split(dataset, "half", nullptr));
    ModelConfig layers;
    layers.architecture = GNNMG_ARCHITECTURE_GIN;
    layers.hidden_dim = 8;
    layers.readout = GNNMG_READOUT_SUM;
    Model model;
    ASSERT_OK(gnnmg_model_create(world.context, dataset, &layers, layers.text(), model.out()));
    auto widths = info<gnnmg_model_info>();
    ASSERT_OK(gnnmg_model_get_info(model, &widths));
    EXPECT_EQ(widths.output_dim, facts.num_classes);
    Sampler sampler;
    ASSERT_OK(gnnmg_sampler_create_graphs(dataset, nullptr, nullptr, sampler.out()));
    TrainerConfig training;
    training.num_epochs = 40;
    training.num_ranks = 1;
    training.batch_size = 8;
    training.set("keep_best=0");  // several epochs tie in validation accuracy
    Trainer trainer;
    ASSERT_OK(gnnmg_trainer_create(model, dataset, sampler, nullptr, &training, training.text(),
                                   trainer.out()));
    ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    auto metrics = info<gnnmg_metrics>();
    ASSERT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TRAIN, &metrics, nullptr, -1));
    EXPECT_EQ(metrics.task, facts.task);
    EXPECT_EQ(metrics.count, 24);
    if (task == GNNMG_TASK_REGRESSION) continue;
    // The definition of the area: the share of pairs of graphs of both classes in the right order.
    Tensor rows, ids;
    ASSERT_OK(gnnmg_model_embed(model, dataset, 0, nullptr, rows.out(), -1));
    ASSERT_OK(gnnmg_dataset_export_split(dataset, GNNMG_PART_TRAIN, ids.out()));
    const auto logits = values<float>(rows);
    std::vector<float> scores[2];
    for (const int64_t g : values<int64_t>(ids))
      scores[g % 4 >= 2].push_back(classes ? logits[2 * g + 1] - logits[2 * g] : logits[g]);
    double ordered = 0;
    for (const float no : scores[0])
      for (const float yes : scores[1]) ordered += yes > no ? 1 : yes == no ? 0.5 : 0;
    EXPECT_DOUBLE_EQ(metrics.roc_auc, ordered / static_cast<double>(scores[0].size()) /
                                          static_cast<double>(scores[1].size()));
    if (task == GNNMG_TASK_BINARY) {
      EXPECT_GT(metrics.roc_auc, 0.9);
    }
  }
  Dataset none;
  for (const char* settings : {"format=gin task=4", "format=gin task=binary,regression"})
    EXPECT_FAILS(
        gnnmg_dataset_open(world.context, folder.file("set.txt").c_str(), settings, none.out(), -1),
        GNNMG_ERR_INVALID_ARGUMENT, "settings: task=");
}

TEST(DatasetTest, TheTaskFollowsTheLabels) {
  World world(6);
  const auto open = [&] {
    Graph graph;
    EXPECT_OK(gnnmg_graph_create_from_coo(world.context, 3, nullptr, nullptr, GNNMG_DTYPE_I64, 0,
                                          graph.out()));
    return graph;
  };
  const int64_t classes[] = {0, 2, -1};
  const float numbers[] = {0.5f, 1, 2}, bits[] = {0, 1, 1};
  const int64_t rows[] = {3, 1};
  auto facts = info<gnnmg_dataset_info>();
  Dataset dataset;
  const Graph graph = open();
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "c", classes, GNNMG_DTYPE_I64, 1, rows));
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "n", numbers, GNNMG_DTYPE_F32, 1, rows));
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "b", bits, GNNMG_DTYPE_F32, 2, rows));
  ASSERT_OK(gnnmg_dataset_create(graph, nullptr, "c", GNNMG_TASK_NONE, 0, dataset.out()));
  ASSERT_OK(gnnmg_dataset_get_info(dataset, &facts));
  EXPECT_EQ(facts.task, GNNMG_TASK_MULTICLASS);
  EXPECT_EQ(facts.num_classes, 3);
  EXPECT_EQ(facts.feature_dim, 0);
  ASSERT_OK(gnnmg_dataset_create(graph, nullptr, "n", GNNMG_TASK_NONE, 0, dataset.out()));
  ASSERT_OK(gnnmg_dataset_get_info(dataset, &facts));
  EXPECT_EQ(facts.task, GNNMG_TASK_REGRESSION);
  ASSERT_OK(gnnmg_dataset_create(graph, nullptr, "b", GNNMG_TASK_BINARY, 0, dataset.out()));
  ASSERT_OK(gnnmg_dataset_get_info(dataset, &facts));
  EXPECT_EQ(facts.task, GNNMG_TASK_BINARY);
  EXPECT_FAILS(gnnmg_dataset_create(graph, nullptr, "n", GNNMG_TASK_MULTICLASS, 0, dataset.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "f32");
  EXPECT_FAILS(gnnmg_dataset_create(graph, "q", nullptr, GNNMG_TASK_NONE, 0, dataset.out()),
               GNNMG_ERR_NOT_FOUND, "'q'");
  EXPECT_FAILS(gnnmg_dataset_create(graph, nullptr, "c", GNNMG_TASK_MULTICLASS, 2, dataset.out()),
               GNNMG_ERR_RANGE, "2");
  EXPECT_FAILS(gnnmg_dataset_create(graph, nullptr, nullptr, GNNMG_TASK_BINARY, 0, dataset.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "no labels");
}

}  // namespace
}  // namespace gnnmg::test
