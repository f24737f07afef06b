// Samplers, loaders and batches: order, epochs, slices, cancel, and the contents of batches.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

struct Seen {
  std::vector<std::vector<int64_t>> seeds, nodes;
};

// All mini-batches of an epoch.
Seen epoch_of(gnnmg_loader* loader) {
  Seen seen;
  Batch batch;
  gnnmg_status status;
  while ((status = gnnmg_loader_next(loader, batch.out(), -1)) == GNNMG_OK) {
    Tensor seeds, nodes;
    EXPECT_OK(gnnmg_batch_export_seeds(batch, seeds.out()));
    EXPECT_OK(gnnmg_batch_export_node_ids(batch, 0, nodes.out()));
    seen.seeds.push_back(values<int64_t>(seeds));
    seen.nodes.push_back(values<int64_t>(nodes));
  }
  EXPECT_EQ(status, GNNMG_END) << gnnmg_last_error();
  return seen;
}

TEST(LoaderTest, EpochsFollowEachOtherWithOneEndBetween) {
  World world;
  const Sampler sampler = world.make_sampler();
  const Loader loader = world.make_loader(sampler);
  const Seen first = epoch_of(loader), second = epoch_of(loader);
  EXPECT_NE(first.seeds, second.seeds);  // another order
  std::multiset<int64_t> all;
  for (const auto& seeds : first.seeds) all.insert(seeds.begin(), seeds.end());
  Tensor train;
  ASSERT_OK(gnnmg_dataset_export_split(world.dataset, GNNMG_PART_TRAIN, train.out()));
  const auto expected = values<int64_t>(train);
  EXPECT_EQ(all, std::multiset<int64_t>(expected.begin(), expected.end()));

  auto facts = info<gnnmg_loader_info>();
  ASSERT_OK(gnnmg_loader_get_info(loader, &facts));
  EXPECT_EQ(facts.epoch, 2);
  EXPECT_EQ(facts.num_seeds, 180);
  EXPECT_EQ(facts.num_batches, 6);
  EXPECT_EQ(facts.num_steps, 6);

  ASSERT_OK(gnnmg_loader_start(loader, 0, 0));
  EXPECT_EQ(epoch_of(loader).nodes, first.nodes);  // equal numbers give equal samples
  ASSERT_OK(gnnmg_loader_start(loader, 1, 4));
  EXPECT_EQ(epoch_of(loader).seeds, (std::vector(second.seeds.begin() + 4, second.seeds.end())));
  EXPECT_FAILS(gnnmg_loader_start(loader, 0, 7), GNNMG_ERR_INVALID_ARGUMENT, "step is 7");
  EXPECT_FAILS(gnnmg_loader_start(loader, -1, 0), GNNMG_ERR_INVALID_ARGUMENT, "epoch is -1");
}

TEST(LoaderTest, AnyNumberOfThreadsAndSlicesGiveTheSame) {
  World world;
  const Sampler sampler = world.make_sampler();
  world.plan.set("num_threads=0");
  const Seen plain = epoch_of(world.make_loader(sampler));
  for (int32_t threads : {1, 4}) {
    world.plan.set("num_threads=" + std::to_string(threads));
    EXPECT_EQ(epoch_of(world.make_loader(sampler)).nodes, plain.nodes);
  }
  const Loader loader = world.make_loader(sampler);
  std::vector<std::vector<int64_t>> nodes;
  Batch batch;
  gnnmg_status status;
  while ((status = until_done([&] { return gnnmg_loader_next(loader, batch.out(), 0); })) ==
         GNNMG_OK) {
    Tensor ids;
    EXPECT_OK(gnnmg_batch_export_node_ids(batch, 0, ids.out()));
    nodes.push_back(values<int64_t>(ids));
  }
  EXPECT_EQ(status, GNNMG_END);
  EXPECT_EQ(nodes, plain.nodes);
}

TEST(LoaderTest, RanksShareAStepAndAllTakePart) {
  World world(100);  // 60 seeds
  const Sampler sampler = world.make_sampler();
  world.plan.batch_size = 16;  // 4 mini-batches over 3 ranks: 2 steps, of which one is mostly empty
  world.plan.world_size = 3;
  std::multiset<int64_t> all;
  int64_t empty = 0;
  for (int32_t rank = 0; rank < 3; ++rank) {
    world.plan.rank = rank;
    const Loader loader = world.make_loader(sampler);
    Batch batch;
    double weight = 0;
    int64_t steps = 0;
    while (gnnmg_loader_next(loader, batch.out(), -1) == GNNMG_OK) {
      auto facts = info<gnnmg_batch_info>();
      ASSERT_OK(gnnmg_batch_get_info(batch, &facts));
      EXPECT_EQ(facts.last_of_step, 1);
      EXPECT_EQ(facts.step_seeds, facts.step == 0 ? 48 : 12);
      EXPECT_EQ(facts.loss_weight,
                static_cast<double>(facts.num_seeds) / static_cast<double>(facts.step_seeds));
      weight += facts.loss_weight;
      ++steps;
      if (facts.num_seeds == 0) {
        ++empty;
        EXPECT_EQ(facts.number, -1);
        EXPECT_EQ(facts.num_nodes, 0);
      }
      Tensor seeds;
      ASSERT_OK(gnnmg_batch_export_seeds(batch, seeds.out()));
      for (int64_t id : values<int64_t>(seeds)) all.insert(id);
    }
    EXPECT_EQ(steps, 2);
    EXPECT_GT(weight, 0);
  }
  EXPECT_EQ(empty, 2);
  EXPECT_EQ(all.size(), 60u);
  EXPECT_EQ(std::set<int64_t>(all.begin(), all.end()).size(), 60u);
}

TEST(LoaderTest, CancelLastsUntilTheNextStart) {
  World world;
  const Sampler sampler = world.make_sampler();
  const Loader loader = world.make_loader(sampler);
  gnnmg_loader_cancel(loader);  // earlier than any request
  Batch batch;
  EXPECT_EQ(gnnmg_loader_next(loader, batch.out(), -1), GNNMG_ERR_CANCELLED);
  ASSERT_OK(gnnmg_loader_start(loader, 0, 0));
  EXPECT_OK(gnnmg_loader_next(loader, batch.out(), -1));
  gnnmg_loader_cancel(loader);
  EXPECT_EQ(gnnmg_loader_next(loader, batch.out(), -1), GNNMG_ERR_CANCELLED);
  EXPECT_EQ(gnnmg_loader_next(loader, batch.out(), -1), GNNMG_ERR_CANCELLED);
  ASSERT_OK(gnnmg_loader_start(loader, 0, 0));
  EXPECT_EQ(epoch_of(loader).seeds.size(), 6u);
  gnnmg_loader_cancel(nullptr);
}

// A custom sampler that blocks until it is released.
struct Gate {
  std::atomic<bool> open{false};
  std::atomic<int> inside{0};
  static int32_t sample(const gnnmg_layer_info*, const int64_t*, int64_t, gnnmg_sink*, void* data) {
    auto* gate = static_cast<Gate*>(data);
    ++gate->inside;
    while (!gate->open) std::this_thread::yield();
    return 0;
  }
};

TEST(LoaderTest, FreeingItEndsTheCallThatWaits) {
  World world;
  Gate gate;
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create_custom(world.graph, nullptr, nullptr, Gate::sample, &gate, nullptr,
                                        sampler.out()));
  Loader loader = world.make_loader(sampler);
  gnnmg_loader* raw = loader;
  gnnmg_status answer = GNNMG_OK;
  // Thread A runs the callback, which is slow; B waits for the same loader and gets BUSY; the main
  // thread frees the loader, which ends A's call once the callback returns.
  std::thread a([&] {
    Batch batch;
    answer = gnnmg_loader_next(raw, batch.out(), -1);
  });
  ASSERT_TRUE(eventually([&] { return gate.inside > 0; }));
  Batch batch;
  EXPECT_EQ(gnnmg_loader_next(raw, batch.out(), -1), GNNMG_ERR_BUSY);
  auto facts = info<gnnmg_loader_info>();
  EXPECT_EQ(gnnmg_loader_get_info(raw, &facts), GNNMG_ERR_BUSY);
  EXPECT_EQ(gnnmg_loader_start(raw, 0, 0), GNNMG_ERR_BUSY);
  loader.reset();
  EXPECT_EQ(gnnmg_loader_get_info(raw, &facts), GNNMG_ERR_HANDLE);
  gate.open = true;
  a.join();
  EXPECT_EQ(answer, GNNMG_ERR_CANCELLED);
}

TEST(LoaderTest, ACallThatIsPendingHoldsTheLoader) {
  World world;
  Gate gate;
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create_custom(world.graph, nullptr, nullptr, Gate::sample, &gate, nullptr,
                                        sampler.out()));
  const Loader loader = world.make_loader(sampler);
  std::atomic<bool> stop{false};
  std::thread lent([&] {  // runs the callback, so that the caller itself can give up
    while (!stop) EXPECT_OK(gnnmg_context_lend(world.context, 5));
  });
  ASSERT_OK(gnnmg_loader_start(loader, 0, 0));  // the loader's thread asks for the first layer
  ASSERT_TRUE(eventually([&] { return gate.inside == 1; }));
  Batch batch;
  ASSERT_EQ(gnnmg_loader_next(loader, batch.out(), 1), GNNMG_PENDING);
  EXPECT_FAILS(gnnmg_loader_start(loader, 0, 0), GNNMG_ERR_BUSY,
               "gnnmg_loader_next() returned GNNMG_PENDING");
  EXPECT_FAILS(gnnmg_loader_start(loader, 0, 0), GNNMG_ERR_BUSY, "gnnmg_loader_cancel()");
  auto facts = info<gnnmg_loader_info>();
  EXPECT_EQ(gnnmg_loader_get_info(loader, &facts), GNNMG_ERR_BUSY);
  gate.open = true;
  EXPECT_OK(until_done([&] { return gnnmg_loader_next(loader, batch.out(), 1); }));
  EXPECT_OK(gnnmg_loader_get_info(loader, &facts));
  stop = true;
  lent.join();
}

TEST(BatchTest, ItsTensorsOutliveEverything) {
  Tensor features, nodes, seeds, labels, indptr, indices;
  std::vector<float> all;
  std::vector<int64_t> all_labels;
  {
    World world;
    const Sampler sampler = world.make_sampler();
    Loader loader = world.make_loader(sampler);
    Tensor x, y;
    ASSERT_OK(gnnmg_graph_export_node_tensor(world.graph, 0, "x", x.out()));
    ASSERT_OK(gnnmg_graph_export_node_tensor(world.graph, 0, "y", y.out()));
    all = values<float>(x);
    all_labels = values<int64_t>(y);
    Batch batch;
    ASSERT_OK(gnnmg_loader_next(loader, batch.out(), -1));
    ASSERT_OK(gnnmg_batch_export_features(batch, 0, features.out()));
    ASSERT_OK(gnnmg_batch_export_node_ids(batch, 0, nodes.out()));
    ASSERT_OK(gnnmg_batch_export_seeds(batch, seeds.out()));
    ASSERT_OK(gnnmg_batch_export_labels(batch, labels.out()));
    ASSERT_OK(gnnmg_batch_export_block(batch, 1, 0, indptr.out(), indices.out(), nullptr));
    batch.reset();
    // The memory of unused batches is used again, but not that of this one.
    for (int i = 0; i < 5; ++i) ASSERT_OK(gnnmg_loader_next(loader, batch.out(), -1));
  }
  const auto ids = values<int64_t>(nodes);
  const auto rows = values<float>(features);
  EXPECT_EQ(shape_of(features), (std::vector<int64_t>{static_cast<int64_t>(ids.size()), 8}));
  for (size_t i = 0; i < ids.size(); ++i)
    for (size_t f = 0; f < 8; ++f)
      ASSERT_EQ(rows[i * 8 + f], all[static_cast<size_t>(ids[i]) * 8 + f]);
  const auto first = values<int64_t>(seeds);
  const auto classes = values<int64_t>(labels);
  ASSERT_EQ(first.size(), 32u);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(ids[i], first[i]);
    EXPECT_EQ(classes[i], all_labels[static_cast<size_t>(first[i])]);
  }
  EXPECT_EQ(values<int32_t>(indptr).size(), first.size() + 1);
  auto facts = info<gnnmg_tensor_info>();
  ASSERT_OK(gnnmg_tensor_get_info(features, &facts));
  EXPECT_EQ(facts.read_only, 1);
}

TEST(BatchTest, BlocksAreEdgesOfTheGraph) {
  World world;
  world.sampling.set("edge_ids=1");
  const Sampler sampler = world.make_sampler();
  Tensor from, to;
  ASSERT_OK(gnnmg_graph_export_coo(world.graph, 0, from.out(), to.out()));
  const auto sources = values<int64_t>(from), targets = values<int64_t>(to);
  const int64_t seeds[] = {5, 6, 7};
  Batch batch;
  ASSERT_OK(
      gnnmg_sampler_sample(sampler, world.dataset, seeds, 3, nullptr, 1, 2, 3, batch.out(), -1));
  auto facts = info<gnnmg_batch_info>();
  ASSERT_OK(gnnmg_batch_get_info(batch, &facts));
  EXPECT_EQ(facts.num_layers, 2);
  EXPECT_EQ(facts.num_seeds, 3);
  EXPECT_EQ(facts.epoch, 2);
  EXPECT_EQ(facts.number, 3);
  EXPECT_EQ(facts.loss_weight, 1);
  EXPECT_EQ(facts.feature_dim, 8);
  Tensor nodes;
  ASSERT_OK(gnnmg_batch_export_node_ids(batch, 0, nodes.out()));
  const auto ids = values<int64_t>(nodes);
  int64_t edges = 0;
  for (int32_t layer = 0; layer < 2; ++layer) {
    auto sizes = info<gnnmg_block_info>();
    ASSERT_OK(gnnmg_batch_get_block_info(batch, layer, 0, &sizes));
    Tensor pointers, rows, edge_ids;
    ASSERT_OK(
        gnnmg_batch_export_block(batch, layer, 0, pointers.out(), rows.out(), edge_ids.out()));
    const auto indptr = values<int32_t>(pointers), indices = values<int32_t>(rows);
    const auto named = values<int64_t>(edge_ids);
    ASSERT_EQ(static_cast<int64_t>(indices.size()), sizes.num_edges);
    for (int64_t t = 0; t < sizes.num_targets; ++t)
      for (int32_t e = indptr[static_cast<size_t>(t)]; e < indptr[static_cast<size_t>(t) + 1];
           ++e) {
        const auto edge = static_cast<size_t>(named[static_cast<size_t>(e)]);
        EXPECT_EQ(targets[edge], ids[static_cast<size_t>(t)]);
        EXPECT_EQ(sources[edge], ids[static_cast<size_t>(indices[static_cast<size_t>(e)])]);
        ++edges;
      }
  }
  EXPECT_GT(edges, 0);
  auto sizes = info<gnnmg_block_info>();
  EXPECT_FAILS(gnnmg_batch_get_block_info(batch, 2, 0, &sizes), GNNMG_ERR_NOT_FOUND, "layer 2");
}

// An id is a place in the data set's own list of edges, whatever the order of the file.
TEST(BatchTest, EdgeIdsOfOpenedSetsGoByTheirOwnLists) {
  const World world;
  const TempDir dir;
  const std::string text = dir.write("list.txt", "3 0\n0 2\n1 0\n2 1\n0 1\n");
  const std::string weighted = dir.write("weighted.txt", "3 0 1\n0 2 2\n1 0 3\n2 1 4\n0 1 5\n");
  Dataset listed;
  ASSERT_OK(gnnmg_dataset_open(world.context, text.c_str(), nullptr, listed.out(), -1));
  const std::string saved = dir.file("saved");
  ASSERT_OK(gnnmg_dataset_save(listed, saved.c_str(), -1));
  for (const std::string& path : {text, weighted, saved}) {
    SCOPED_TRACE(path);
    Dataset opened;
    ASSERT_OK(gnnmg_dataset_open(world.context, path.c_str(), nullptr, opened.out(), -1));
    Graph graph;
    ASSERT_OK(gnnmg_dataset_get_graph(opened, 0, graph.out()));
    Tensor from, to;
    ASSERT_OK(gnnmg_graph_export_coo(graph, 0, from.out(), to.out()));
    const auto sources = values<int64_t>(from), targets = values<int64_t>(to);
    ASSERT_EQ(sources.size(), 5u);
    if (path == weighted) {  // the weights need the order of the file
      EXPECT_EQ(sources, (std::vector<int64_t>{3, 0, 1, 2, 0}));
      EXPECT_EQ(targets, (std::vector<int64_t>{0, 2, 0, 1, 1}));
    }
    for (int64_t node = 0; node < 4; ++node) {
      int64_t from_node[5], ids[5], count = 0;
      ASSERT_OK(gnnmg_graph_get_in_edges(graph, 0, node, from_node, ids, 5, &count));
      for (int64_t e = 0; e < count; ++e) {
        EXPECT_EQ(sources[static_cast<size_t>(ids[e])], from_node[e]);
        EXPECT_EQ(targets[static_cast<size_t>(ids[e])], node);
      }
    }
    Sampler sampler;
    ASSERT_OK(gnnmg_sampler_create(graph, nullptr, "fanouts=-1 edge_ids=1", sampler.out()));
    const int64_t seeds[] = {0, 1, 2, 3};
    Batch batch;
    ASSERT_OK(gnnmg_sampler_sample(sampler, nullptr, seeds, 4, nullptr, 0, 0, 0, batch.out(), -1));
    Tensor nodes, indptr, indices, edge_ids;
    ASSERT_OK(gnnmg_batch_export_node_ids(batch, 0, nodes.out()));
    ASSERT_OK(gnnmg_batch_export_block(batch, 0, 0, indptr.out(), indices.out(), edge_ids.out()));
    const auto nodes_of = values<int64_t>(nodes);
    const auto starts = values<int32_t>(indptr), rows = values<int32_t>(indices);
    const auto ids = values<int64_t>(edge_ids);
    ASSERT_EQ(ids.size(), 5u);
    for (size_t t = 0; t + 1 < starts.size(); ++t)
      for (auto e = static_cast<size_t>(starts[t]); e < static_cast<size_t>(starts[t + 1]); ++e) {
        EXPECT_EQ(sources[static_cast<size_t>(ids[e])], nodes_of[static_cast<size_t>(rows[e])]);
        EXPECT_EQ(targets[static_cast<size_t>(ids[e])], nodes_of[t]);
      }
  }
}

TEST(BatchTest, WhatIsNotThereIsNotFound) {
  World world(50);
  const Sampler sampler = world.make_sampler();
  const int64_t seed = 3, outside = 50;
  Batch batch;
  ASSERT_OK(gnnmg_sampler_sample(sampler, nullptr, &seed, 1, nullptr, 0, 0, 0, batch.out(), -1));
  Tensor out, more, third;
  EXPECT_EQ(gnnmg_batch_export_features(batch, 0, out.out()), GNNMG_ERR_NOT_FOUND);
  EXPECT_EQ(gnnmg_batch_export_labels(batch, out.out()), GNNMG_ERR_NOT_FOUND);
  ASSERT_OK(gnnmg_batch_export_block(batch, 0, 0, out.out(), more.out(), third.out()));
  EXPECT_EQ(third.get(), nullptr);  // the sampler keeps no edge ids
  EXPECT_FAILS(
      gnnmg_sampler_sample(sampler, nullptr, &outside, 1, nullptr, 0, 0, 0, batch.out(), -1),
      GNNMG_ERR_RANGE, "50");
  Loader loader;
  EXPECT_FAILS(gnnmg_loader_create_from_seeds(nullptr, sampler, 0, &outside, 1, nullptr, nullptr,
                                              nullptr, loader.out()),
               GNNMG_ERR_RANGE, "50");
  ASSERT_OK(
      gnnmg_sampler_sample(sampler, world.dataset, &seed, 1, nullptr, 0, 0, 0, batch.out(), -1));
  EXPECT_EQ(gnnmg_batch_export_sparse_features(batch, 0, out.out(), more.out(), third.out()),
            GNNMG_ERR_UNSUPPORTED);
}

TEST(BatchTest, AGraphOfOneTypeHasNoOther) {
  World world(50);
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  const int64_t seed = 3, time = 0;
  Batch batch;
  ASSERT_OK(
      gnnmg_sampler_sample(sampler, world.dataset, &seed, 1, nullptr, 0, 0, 0, batch.out(), -1));
  Tensor out, more, third;
  Loader loader;
  auto block = info<gnnmg_block_info>();
  for (const int32_t type : {1, -1}) {
    EXPECT_EQ(gnnmg_batch_export_node_ids(batch, type, out.out()), GNNMG_ERR_NOT_FOUND);
    EXPECT_EQ(gnnmg_batch_export_features(batch, type, out.out()), GNNMG_ERR_NOT_FOUND);
    EXPECT_EQ(gnnmg_batch_export_block(batch, 0, type, out.out(), more.out(), third.out()),
              GNNMG_ERR_NOT_FOUND);
    EXPECT_EQ(gnnmg_batch_get_block_info(batch, 0, type, &block), GNNMG_ERR_NOT_FOUND);
    EXPECT_EQ(gnnmg_loader_create_from_seeds(world.dataset, sampler, type, &seed, 1, nullptr,
                                             nullptr, nullptr, loader.out()),
              GNNMG_ERR_NOT_FOUND);
    EXPECT_EQ(gnnmg_model_embed(model, world.dataset, type, nullptr, out.out(), -1),
              GNNMG_ERR_NOT_FOUND);
    EXPECT_FAILS(gnnmg_trainer_embed(trainer, type, nullptr, out.out(), -1), GNNMG_ERR_NOT_FOUND,
                 "the model's graph has 1");
  }
  EXPECT_FAILS(gnnmg_sampler_sample(sampler, nullptr, &seed, 1, &time, 0, 0, 0, batch.out(), -1),
               GNNMG_ERR_UNSUPPORTED, "times");
  EXPECT_FAILS(gnnmg_loader_create_from_seeds(world.dataset, sampler, 0, &seed, 1, &time, nullptr,
                                              nullptr, loader.out()),
               GNNMG_ERR_UNSUPPORTED, "times");
}

TEST(BatchTest, SparseFeaturesStaySparse) {
  World world(20);
  Graph graph;
  const int64_t sources[] = {0, 1, 2}, targets[] = {1, 2, 0};
  ASSERT_OK(gnnmg_graph_create_from_coo(world.context, 3, sources, targets, GNNMG_DTYPE_I64, 3,
                                        graph.out()));
  const int64_t indptr[] = {0, 2, 2, 3};
  const int32_t indices[] = {0, 5, 2};
  const float entries[] = {1, 2, 3};
  ASSERT_OK(gnnmg_graph_set_node_csr(graph, 0, "x", 6, indptr, indices, entries, 3));
  Dataset dataset;
  ASSERT_OK(gnnmg_dataset_create(graph, "x", nullptr, 0, 0, dataset.out()));
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(graph, nullptr, "fanouts=10", sampler.out()));
  const int64_t seeds[] = {2, 0};
  Batch batch;
  ASSERT_OK(gnnmg_sampler_sample(sampler, dataset, seeds, 2, nullptr, 0, 0, 0, batch.out(), -1));
  auto facts = info<gnnmg_batch_info>();
  ASSERT_OK(gnnmg_batch_get_info(batch, &facts));
  EXPECT_EQ(facts.sparse_features, 1);
  EXPECT_EQ(facts.feature_dim, 6);
  Tensor a, b, c;
  ASSERT_OK(gnnmg_batch_export_sparse_features(batch, 0, a.out(), b.out(), c.out()));
  EXPECT_EQ(values<int64_t>(a), (std::vector<int64_t>{0, 1, 3, 3}));  // nodes 2, 0, 1
  EXPECT_EQ(values<int32_t>(b), (std::vector<int32_t>{2, 0, 5}));
  EXPECT_EQ(values<float>(c), (std::vector<float>{3, 1, 2}));
  EXPECT_EQ(gnnmg_batch_export_features(batch, 0, a.out()), GNNMG_ERR_UNSUPPORTED);
}

TEST(SamplerTest, FanoutsInEitherOrder) {
  World world;
  world.sampling.fanouts[0] = 2;
  world.sampling.fanouts[1] = 5;
  const Sampler near_first = world.make_sampler();
  world.sampling.fanouts[0] = 5;
  world.sampling.fanouts[1] = 2;
  world.sampling.set("fanouts_reversed=1");
  const Sampler far_first = world.make_sampler();
  const int64_t seeds[] = {1, 2};
  Batch a, b;
  ASSERT_OK(gnnmg_sampler_sample(near_first, nullptr, seeds, 2, nullptr, 9, 0, 0, a.out(), -1));
  ASSERT_OK(gnnmg_sampler_sample(far_first, nullptr, seeds, 2, nullptr, 9, 0, 0, b.out(), -1));
  Tensor x, y;
  ASSERT_OK(gnnmg_batch_export_node_ids(a, 0, x.out()));
  ASSERT_OK(gnnmg_batch_export_node_ids(b, 0, y.out()));
  EXPECT_EQ(values<int64_t>(x), values<int64_t>(y));
  Sampler bad;
  world.sampling.fanouts[1] = -2;
  EXPECT_EQ(gnnmg_sampler_create(world.graph, &world.sampling, world.sampling.text(), bad.out()),
            GNNMG_ERR_INVALID_ARGUMENT);
  world.sampling.num_fanouts = 17;
  EXPECT_FAILS(gnnmg_sampler_create(world.graph, &world.sampling, world.sampling.text(), bad.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "config.num_fanouts is 17");
}

TEST(SamplerTest, LaborHasFewerNodes) {
  World world(2000);
  world.sampling.fanouts[0] = world.sampling.fanouts[1] = 4;
  std::vector<int64_t> seeds(200);
  for (size_t i = 0; i < seeds.size(); ++i) seeds[i] = static_cast<int64_t>(7 * i);
  size_t nodes[3];
  for (const gnnmg_draw draw : {GNNMG_DRAW_UNIFORM, GNNMG_DRAW_LABOR, GNNMG_DRAW_LABOR_ONCE}) {
    world.sampling.draw = draw;
    const Sampler sampler = world.make_sampler();
    Batch batch;
    Tensor ids;
    ASSERT_OK(gnnmg_sampler_sample(sampler, nullptr, seeds.data(),
                                   static_cast<int64_t>(seeds.size()), nullptr, 9, 0, 0,
                                   batch.out(), -1));
    ASSERT_OK(gnnmg_batch_export_node_ids(batch, 0, ids.out()));
    nodes[draw] = values<int64_t>(ids).size();
  }
  EXPECT_LT(nodes[GNNMG_DRAW_LABOR], nodes[GNNMG_DRAW_UNIFORM]);
  EXPECT_LT(nodes[GNNMG_DRAW_LABOR_ONCE], nodes[GNNMG_DRAW_LABOR]);
  Sampler bad;
  world.sampling.replace = 1;
  EXPECT_FAILS(gnnmg_sampler_create(world.graph, &world.sampling, world.sampling.text(), bad.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "replace");
  world.sampling.draw = 3;
  EXPECT_FAILS(gnnmg_sampler_create(world.graph, &world.sampling, world.sampling.text(), bad.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "config.draw");
}

}  // namespace
}  // namespace gnnmg::test
