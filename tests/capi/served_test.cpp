// A data set on servers, from outside: trained to the weights of the whole, without a folder here;
// servers that are gone, have other parts, or need another token.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

constexpr int32_t kParts = 3;

class ServedTest : public testing::Test {
 protected:
  ServedTest() {
    PartsConfig config;
    config.num_parts = kParts;
    EXPECT_OK(gnnmg_dataset_save_parts(World(300).dataset, path().c_str(), nullptr, 0, &config,
                                       "fanouts=10,10 batch_size=32", -1));
  }
  std::string path() const { return folder_.file("parts"); }

  // Adds a server of these parts, and its address.
  void serve(std::vector<int32_t> parts, const char* token_file = nullptr) {
    serve(path(), std::move(parts), token_file);
  }
  void serve(const std::string& folder, std::vector<int32_t> parts,
             const char* token_file = nullptr) {
    Server server;
    ASSERT_OK(gnnmg_server_create(home_.context, folder.c_str(), parts.data(),
                                  static_cast<int64_t>(parts.size()), "127.0.0.1:0", token_file,
                                  nullptr, server.out(), -1));
    ASSERT_OK(gnnmg_server_start(server));
    auto facts = info<gnnmg_server_info>();
    ASSERT_OK(gnnmg_server_get_info(server, &facts));
    addresses_ += (addresses_.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(facts.port);
    servers_.push_back(std::move(server));
  }
  gnnmg_status open(World& world, const char* settings = nullptr,
                    const char* token_file = nullptr) const {
    world.graph.reset();
    return gnnmg_dataset_open_served(world.context, addresses_.c_str(), token_file, nullptr,
                                     settings, world.dataset.out(), -1);
  }

  static std::vector<float> trained(World& world, int32_t ranks, gnnmg_plan plan) {
    EXPECT_OK(gnnmg_dataset_get_graph(world.dataset, 0, world.graph.out()));
    world.training.deterministic = 1;
    world.training.num_epochs = 2;
    world.training.num_ranks = ranks;
    world.training.batch_size = 32;
    world.training.batches_per_step = 4;
    world.training.set("torch_threads=1");
    world.training.plan = plan;
    const Sampler sampler = world.make_sampler();
    const Model model = world.make_model();
    const Trainer trainer = world.make_trainer(model, sampler);
    EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    auto metrics = info<gnnmg_metrics>();  // exact
    EXPECT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, nullptr, -1));
    std::vector<float> results = weights(model);
    results.push_back(static_cast<float>(metrics.loss));
    return results;
  }

  const TempDir folder_;
  World home_{200};
  std::vector<Server> servers_;
  std::string addresses_;
};

TEST_F(ServedTest, TrainsToTheWeightsOfTheWhole) {
  serve({0});
  serve({1, 2});
  for (const gnnmg_plan plan : {GNNMG_PLAN_GLOBAL, GNNMG_PLAN_PARTS}) {
    World whole;
    whole.graph.reset();
    ASSERT_OK(gnnmg_dataset_open(whole.context, path().c_str(), nullptr, whole.dataset.out(), -1));
    const std::vector<float> expected = trained(whole, 1, plan);
    for (const int32_t ranks : {1, 2}) {
      World world;
      ASSERT_OK(open(world));
      EXPECT_EQ(trained(world, ranks, plan), expected) << ranks << " ranks";
      auto facts = info<gnnmg_parts_info>();
      ASSERT_OK(gnnmg_dataset_get_parts_info(world.dataset, &facts));
      EXPECT_EQ(facts.num_parts, kParts);
      EXPECT_EQ(facts.own_parts, 0);
      EXPECT_EQ(facts.kept_rows, 30);  // chosen by the hotness that the servers have
      EXPECT_EQ(facts.own_rows, 0);
      EXPECT_GT(facts.hit_rows, 0);
      EXPECT_GT(facts.asked_rows, 0);
    }
  }
}

TEST_F(ServedTest, ACancelEndsNoLaterRead) {
  serve({0, 1, 2});
  World world;
  ASSERT_OK(open(world));
  gnnmg_context_cancel(world.context);
  auto of_part = info<gnnmg_part_info>();
  EXPECT_OK(gnnmg_dataset_get_part_info(world.dataset, 1, 30, &of_part));
  EXPECT_GT(of_part.batch_rows, 0);
}

TEST_F(ServedTest, ASelectedSplitOutlivesTheFirstDataSet) {
  serve({0, 1, 2});
  World whole, world;
  whole.graph.reset();
  ASSERT_OK(gnnmg_dataset_open(whole.context, path().c_str(), nullptr, whole.dataset.out(), -1));
  ASSERT_OK(open(world));
  for (World* w : {&whole, &world}) {
    ASSERT_OK(gnnmg_dataset_add_folds(w->dataset, "folds", "held_out=test"));
    Dataset fold;
    ASSERT_OK(gnnmg_dataset_select_split(w->dataset, "folds", 9, fold.out()));
    w->dataset = std::move(fold);
  }
  EXPECT_EQ(trained(world, 1, GNNMG_PLAN_GLOBAL), trained(whole, 1, GNNMG_PLAN_GLOBAL));
}

TEST_F(ServedTest, ADataSetThatIsNotDividedIsServedToo) {
  World whole;
  const std::string own = folder_.file("own");
  ASSERT_OK(gnnmg_dataset_save(whole.dataset, own.c_str(), -1));
  const std::vector<float> expected = trained(whole, 1, GNNMG_PLAN_GLOBAL);
  serve(own, {});
  World world;
  ASSERT_OK(open(world));
  EXPECT_EQ(trained(world, 2, GNNMG_PLAN_GLOBAL), expected);
  auto facts = info<gnnmg_parts_info>();
  ASSERT_OK(gnnmg_dataset_get_parts_info(world.dataset, &facts));
  EXPECT_EQ(facts.num_parts, 1);
  EXPECT_EQ(facts.cut_edges, 0);
}

TEST_F(ServedTest, SaysOfItselfWhatTheFolderSays) {
  serve({0, 1, 2});
  World world, whole;
  ASSERT_OK(open(world));
  whole.graph.reset();
  ASSERT_OK(gnnmg_dataset_open(whole.context, path().c_str(), nullptr, whole.dataset.out(), -1));
  auto a = info<gnnmg_dataset_info>(), b = info<gnnmg_dataset_info>();
  ASSERT_OK(gnnmg_dataset_get_info(world.dataset, &a));
  ASSERT_OK(gnnmg_dataset_get_info(whole.dataset, &b));
  EXPECT_EQ(a.num_nodes, b.num_nodes);
  EXPECT_EQ(a.num_edges, b.num_edges);
  EXPECT_EQ(a.feature_dim, b.feature_dim);
  EXPECT_EQ(a.num_classes, b.num_classes);
  auto of_part = info<gnnmg_part_info>();
  ASSERT_OK(gnnmg_dataset_get_part_info(world.dataset, 1, 30, &of_part));
  EXPECT_EQ(of_part.hotness, 1);
  EXPECT_GT(of_part.batch_rows, 0);
}

TEST_F(ServedTest, OpensInSlices) {
  serve({0, 1, 2});
  World world;
  world.graph.reset();
  const gnnmg_status status = until_done([&] {
    return gnnmg_dataset_open_served(world.context, addresses_.c_str(), nullptr, nullptr, nullptr,
                                     world.dataset.out(), 0);
  });
  EXPECT_OK(status);
}

TEST_F(ServedTest, WhatIsWrongIsNamed) {
  serve({0, 2});
  World world;
  EXPECT_FAILS(open(world), GNNMG_ERR_MISMATCH, "parts 1 are served by nobody");
  EXPECT_FAILS(open(world, "patience=3"), GNNMG_ERR_INVALID_ARGUMENT, "patience_ms");
  EXPECT_FAILS(open(world, "hedge_ms=-1"), GNNMG_ERR_INVALID_ARGUMENT, "hedge_ms=-1");
  addresses_ = "127.0.0.1:1";
  const gnnmg_status status = open(world, "meet_ms=200");
  EXPECT_TRUE(status == GNNMG_ERR_TIMEOUT || status == GNNMG_ERR_UNAVAILABLE) << status;
  EXPECT_NE(std::string(gnnmg_last_error()).find("127.0.0.1:1"), std::string::npos);
  addresses_ = "192.0.2.1:7300";
  EXPECT_FAILS(open(world), GNNMG_ERR_INVALID_ARGUMENT, "TLS");
}

TEST_F(ServedTest, NeedsTheServersToken) {
  const std::string token = folder_.file("token"), other = folder_.file("other");
  folder_.write("token", "a token of enough bytes for anyone");
  folder_.write("other", "another token of as many bytes as that");
  for (const std::string& file : {token, other}) ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  serve({0, 1, 2}, token.c_str());
  World world;
  EXPECT_OK(open(world, nullptr, token.c_str()));
  EXPECT_FAILS(open(world, "meet_ms=2000", other.c_str()), GNNMG_ERR_AUTH, "127.0.0.1");
  const std::string none = folder_.file("none");
  EXPECT_FAILS(open(world, nullptr, none.c_str()), GNNMG_ERR_NOT_FOUND, none.c_str());
}

// Ends with servers, a loader's threads and a thread of the host's at work.
TEST_F(ServedTest, TheProgramEndsWithReadsUnderWay) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end_program = [&] {
    alarm(20);  // a hang has another exit code
    serve({0, 1, 2});
    World world;
    EXPECT_OK(open(world));
    EXPECT_OK(gnnmg_dataset_get_graph(world.dataset, 0, world.graph.out()));
    world.plan.batch_size = 4;
    const Sampler sampler = world.make_sampler();
    const Loader loader = world.make_loader(sampler);
    EXPECT_OK(gnnmg_loader_start(loader, 0, 0));
    std::thread asking([&] {
      const int64_t seeds[] = {1, 2, 3};
      Batch batch;
      for (uint64_t epoch = 0; epoch < 1'000'000; ++epoch)
        if (gnnmg_sampler_sample(sampler, nullptr, seeds, 3, nullptr, 9, epoch, 0, batch.out(),
                                 -1) < 0)
          break;
      while (true) pause();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    std::exit(7);
  };
  for (int round = 0; round < 3; ++round)
    EXPECT_EXIT(end_program(), testing::ExitedWithCode(7), testing::IsEmpty()) << round;
}

TEST_F(ServedTest, AServerThatEndsIsNamedAndAReplicaStandsIn) {
  serve({0, 1, 2});
  World alone;
  ASSERT_OK(open(alone));
  ASSERT_OK(gnnmg_dataset_get_graph(alone.dataset, 0, alone.graph.out()));
  const Sampler sampler = alone.make_sampler();
  const int64_t seeds[] = {1, 2, 3};
  Batch batch;
  ASSERT_OK(gnnmg_sampler_sample(sampler, nullptr, seeds, 3, nullptr, 9, 0, 0, batch.out(), -1));
  const std::string first = addresses_;
  serve({0, 1, 2});  // a replica that `alone` does not know
  World both;
  ASSERT_OK(open(both));
  ASSERT_OK(gnnmg_dataset_get_graph(both.dataset, 0, both.graph.out()));
  const Sampler second = both.make_sampler();
  ASSERT_OK(gnnmg_server_shutdown(servers_[0], -1));
  EXPECT_FAILS(gnnmg_sampler_sample(sampler, nullptr, seeds, 3, nullptr, 9, 1, 0, batch.out(), -1),
               GNNMG_ERR_UNAVAILABLE, first);
  for (uint64_t epoch = 0; epoch < 3; ++epoch)
    EXPECT_OK(
        gnnmg_sampler_sample(second, nullptr, seeds, 3, nullptr, 9, epoch, 0, batch.out(), -1));
}

}  // namespace
}  // namespace gnnmg::test
