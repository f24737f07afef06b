// Training of a job whose processes have some parts of a graph each, serve them and ask for the
// rest, against the same training with all of it in one process: the same bits. The processes are
// threads of this one, which nothing above the control connections can tell, but for the last test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <csignal>
#include <functional>
#include <map>

#include "comm/jobs.h"
#include "dist/part_fixture.h"
#include "dist/parts_of.h"
#include "dist/peers.h"
#include "server/graph_server.h"
#include "server/worker.h"
#include "support/part_subset.h"
#include "support/temp_dir.h"
#include "train/job/team.h"

namespace gnnmg::test {
namespace {

using loader::Partition;
using testing::Contains;
using testing::HasSubstr;

constexpr int64_t kNodes = 600;
using Bits = std::vector<uint64_t>;

void append(const std::vector<double>& values, Bits& bits) {
  for (const double value : values) bits.push_back(std::bit_cast<uint64_t>(value));
}

// Four mini-batches of 32 seeds a step, with exact evaluation between the epochs.
Recipe strict_recipe(nn::Architecture architecture, Partition partition) {
  Recipe setup;
  setup.model.architecture = architecture;
  setup.trainer.partition = partition;
  setup.trainer.batches_per_step = 4;
  setup.trainer.num_epochs = 2;
  setup.trainer.deterministic = true;
  setup.trainer.evaluation = train::EvaluationMode::kFull;
  if (architecture == nn::Architecture::kGine) {
    setup.model.edge_dim = 3;
    setup.sampler.edge_ids = true;
  }
  setup.wrap_sampler = [](std::shared_ptr<const sample::Sampler> sampler) {
    const std::shared_ptr<const sample::Sampler> telling = sampler->with_degrees();
    return telling ? telling : sampler;
  };
  return setup;
}

Bits bits_after(const Recipe& setup, Host& host) {
  Trial run(setup, host);
  Bits bits;
  run->set_epoch_function([&](const train::EpochReport& report) {
    append({report.train_loss, report.validation.loss, report.validation.accuracy}, bits);
    return 0;
  });
  run.train();
  append(run.weights(), bits);
  append({run->evaluate(data::SplitPart::kTest, {})->loss}, bits);
  return bits;
}

class WorkerTraining : public testing::Test {
 protected:
  // All parts, read by one process.
  data::DatasetRef open_whole(int32_t num_parts) {
    base::Log log;
    base::ThreadPool pool(1);
    return data::open_dataset(folder_of(num_parts), {}, {pool, log, {}});
  }
  // The folder of process `process`, which has neighboring parts, and perhaps none.
  std::string share_of(int32_t num_parts, int num_processes, int process) {
    const std::string path =
        folder_.file(base::text("share-", num_parts, "-", num_processes, ".", process));
    std::vector<int32_t> parts;
    for (int32_t part = 0; part < num_parts; ++part)
      if (part * num_processes / std::max(num_parts, num_processes) == process)
        parts.push_back(part);
    if (!std::filesystem::exists(path)) link_parts(folder_of(num_parts), path, parts);
    return path;
  }
  // Runs the body in each process of a job, with its share open.
  using Body = std::function<void(Host& host, const data::DatasetRef& dataset)>;
  void run_workers(int32_t num_parts, int num_processes, const Body& body) {
    std::vector<std::string> shares;
    for (int p = 0; p < num_processes; ++p) shares.push_back(share_of(num_parts, num_processes, p));
    const auto outcomes =
        run_job(num_processes, [&](const std::shared_ptr<comm::Processes>& processes) {
          Host host;
          host.processes = processes;
          processes->set_excuse([&queue = host.queue] { return queue.has_calls(); });
          server::WorkerConfig config;
          config.folder = shares[processes->process()];
          body(host, server::open_worker_dataset(config, {processes,
                                                          [] { return within_ms(60'000); },
                                                          std::make_shared<base::Log>(),
                                                          host.pool,
                                                          {},
                                                          []() -> const dist::Engine& {
                                                            return dist::open_engine_at(
                                                                GNNMG_GRPC_PLUGIN);
                                                          }}));
          processes->shutdown(within_ms(60'000));
        });
    for (const Outcome& outcome : outcomes)
      EXPECT_EQ(outcome.status, base::Status::kOk) << outcome.text;
  }
  // The bits of one process with the whole graph.
  const Bits& expected_bits(nn::Architecture architecture, Partition partition, int32_t num_parts) {
    Bits& expected =
        expected_[{architecture, partition, partition == Partition::kParts ? num_parts : 0}];
    if (expected.empty()) {
      Recipe setup = strict_recipe(architecture, partition);
      Host alone;
      setup.dataset = partition == Partition::kParts ? open_whole(num_parts) : whole_;
      expected = bits_after(setup, alone);
    }
    return expected;
  }
  void expect_equal(nn::Architecture architecture, Partition partition, int32_t num_parts,
                    int num_processes) {
    const Bits& expected = expected_bits(architecture, partition, num_parts);
    run_workers(num_parts, num_processes, [&](Host& host, const data::DatasetRef& dataset) {
      Recipe own = strict_recipe(architecture, partition);
      own.dataset = dataset;
      EXPECT_TRUE(bits_after(own, host) == expected)
          << num_parts << " parts, process " << host.processes->process() << " of "
          << num_processes;
    });
  }
  // One process without parts, whose rows come from two servers, or one of the only part.
  void expect_equal_served(nn::Architecture architecture, Partition partition, int32_t num_parts,
                           int num_ranks) {
    const dist::Engine& engine = dist::open_engine_at(GNNMG_GRPC_PLUGIN);
    base::Log log;
    std::vector<std::unique_ptr<server::GraphServer>> servers;
    std::string addresses;
    for (int32_t first = 0; first < std::min(num_parts, 2); ++first) {
      server::ServerConfig config;
      config.folder = folder_of(num_parts);
      config.parts = dist::parts_of_process(num_parts, first, 2);
      servers.push_back(std::make_unique<server::GraphServer>(config, log, base::CancelToken()));
      servers.back()->start(engine);
      addresses += base::text(first > 0 ? "," : "", "127.0.0.1:", servers.back()->info().port);
    }
    const auto peers =
        dist::Peers::meet(engine, addresses, {}, log, base::Deadline::after_ms(60'000), {});
    base::ThreadPool pool(1);
    dist::PartDatasetConfig opening;
    opening.own = [](int32_t) { return std::vector<int32_t>(); };
    opening.open_channel = [&](const std::vector<int32_t>&, uint64_t) { return peers->channel(); };
    Recipe setup = strict_recipe(architecture, partition);
    setup.dataset = dist::open_part_dataset(dist::source_of(peers->files(), "served"), opening,
                                            {pool, log, {}});
    setup.trainer.num_ranks = num_ranks;
    Host host;
    EXPECT_TRUE(bits_after(setup, host) == expected_bits(architecture, partition, num_parts))
        << num_parts << " parts, " << num_ranks << " ranks";
    for (const auto& server : servers) EXPECT_GT(server->info().reads, 0);
  }
  std::string folder_of(int32_t num_parts) {
    const std::string path = folder_.file(std::to_string(num_parts));
    if (!std::filesystem::exists(path))
      save_in_parts(*whole_, hashed_parts(kNodes, num_parts, 3), num_parts, path, {5, 5});
    return path;
  }

  const data::DatasetRef whole_ = [] {
    const data::DatasetRef small = make_small();
    return data::make_dataset(with_edge_columns(*small->graph), "x", "y", false, small->splits,
                              small->num_classes);
  }();
  const TempDir folder_;

 private:
  std::map<std::tuple<nn::Architecture, Partition, int32_t>, Bits> expected_;
};

TEST_F(WorkerTraining, AnyNumberOfProcessesAndPartsHasTheBitsOfOne) {
  for (const Partition partition : {Partition::kGlobal, Partition::kParts})
    for (const int32_t num_parts : {1, 2, 4})
      for (const int num_processes : {1, 2, 4})
        expect_equal(nn::Architecture::kSage, partition, num_parts, num_processes);
}

TEST_F(WorkerTraining, AnyModelHasTheBitsOfOneProcess) {
  for (const auto architecture :
       {nn::Architecture::kGcn, nn::Architecture::kGat, nn::Architecture::kGine}) {
    expect_equal(architecture, Partition::kGlobal, 4, 2);
    expect_equal(architecture, Partition::kParts, 4, 4);
    expect_equal(architecture, Partition::kGlobal, 2, 4);
  }
}

// Every night.
TEST_F(WorkerTraining, AnyModelOnAnyProcessesAndParts) {
  for (const auto architecture :
       {nn::Architecture::kGcn, nn::Architecture::kGat, nn::Architecture::kGine})
    for (const Partition partition : {Partition::kGlobal, Partition::kParts})
      for (const int32_t num_parts : {1, 2, 4})
        for (const int num_processes : {1, 2, 4})
          expect_equal(architecture, partition, num_parts, num_processes);
}

TEST_F(WorkerTraining, RowsFromServersHaveTheBitsOfRowsAtHand) {
  expect_equal_served(nn::Architecture::kGine, Partition::kGlobal, 4, 2);
  expect_equal_served(nn::Architecture::kGcn, Partition::kParts, 2, 1);
}

// Every night.
TEST_F(WorkerTraining, AnyModelOnAnyServedPartsAndRanks) {
  for (const auto architecture : {nn::Architecture::kSage, nn::Architecture::kGcn,
                                  nn::Architecture::kGat, nn::Architecture::kGine})
    for (const Partition partition : {Partition::kGlobal, Partition::kParts})
      for (const int32_t num_parts : {1, 2, 4})
        for (const int num_ranks : {1, 2})
          expect_equal_served(architecture, partition, num_parts, num_ranks);
}

// Training reads sums of weights, or lists of neighbors; the exact evaluation also norms over all
// rows, and how many edges leave a node.
TEST_F(WorkerTraining, ModelsThatReadTheWholeGraphHaveTheBitsOfOneProcess) {
  const std::function<void(Recipe&)> changes[] = {
      [](Recipe& setup) {
        setup.model.architecture = nn::Architecture::kGcn;
        setup.model.edge_weights = setup.sampler.edge_ids = true;
        setup.model.norm = nn::Norm::kGraph;
      },
      [](Recipe& setup) {
        setup.model.architecture = nn::Architecture::kGcn;
        setup.model.framework = nn::Framework::kDgl;
      },
      [](Recipe& setup) { setup.model.aggregation = nn::Aggregation::kLstm; }};
  for (const auto& change : changes) {
    const auto recipe = [&](const data::DatasetRef& dataset) {
      Recipe setup = strict_recipe(nn::Architecture::kSage, Partition::kGlobal);
      change(setup);
      setup.dataset = dataset;
      return setup;
    };
    Host alone;
    const Bits expected = bits_after(recipe(whole_), alone);
    run_workers(4, 2, [&](Host& host, const data::DatasetRef& dataset) {
      EXPECT_TRUE(bits_after(recipe(dataset), host) == expected) << &change - changes;
    });
  }
}

// Validation and results for all nodes, with the rows of stages in files.
TEST_F(WorkerTraining, RowsInFilesHaveTheBitsOfRowsInMemory) {
  Host alone;
  Recipe setup = strict_recipe(nn::Architecture::kGcn, Partition::kGlobal);
  setup.dataset = whole_;
  const Bits expected = bits_after(setup, alone);
  run_workers(4, 2, [&](Host& host, const data::DatasetRef& dataset) {
    host.rows = {1, folder_.path()};
    Recipe own = strict_recipe(nn::Architecture::kGcn, Partition::kGlobal);
    own.dataset = dataset;
    own.trainer.num_ranks = 2;
    EXPECT_TRUE(bits_after(own, host) == expected);
  });
}

// The training moves from workers into one process in the middle of an epoch, and back.
TEST_F(WorkerTraining, GoesOnInMidEpochWhereTheOtherStopped) {
  const auto recipe = [](const data::DatasetRef& dataset) {
    Recipe setup = strict_recipe(nn::Architecture::kGcn, Partition::kParts);
    setup.trainer.evaluate_every = 0;
    setup.dataset = dataset;
    return setup;
  };
  const auto step_and_save = [](Trial& run, const std::string& path) {
    EXPECT_EQ(run->step({}, nullptr), base::Status::kOk);  // an epoch has two
    run->save(path);
  };
  const data::DatasetRef whole = open_whole(4);
  const std::vector<double> expected = weights_after(recipe(whole));
  const std::string by_workers = folder_.file("workers"), by_one = folder_.file("one");
  run_workers(4, 2, [&](Host& host, const data::DatasetRef& dataset) {
    Trial run(recipe(dataset), host);
    step_and_save(run, by_workers);
  });
  Host host;
  Trial one(recipe(whole), host);
  one->load(by_workers);
  one.train();
  EXPECT_TRUE(one.weights() == expected);
  Trial first(recipe(whole), host);
  step_and_save(first, by_one);
  run_workers(4, 4, [&](Host& own, const data::DatasetRef& dataset) {
    Trial run(recipe(dataset), own);
    run->load(by_one);
    run.train();
    EXPECT_TRUE(run.weights() == expected);
  });
}

// Real processes: the error of the others names the lost one, not its missing answers.
TEST_F(WorkerTraining, AKilledWorkerIsLostToAll) {
  for (int p = 0; p < 3; ++p) share_of(4, 3, p);
  for (const int victim : {1, 0}) {
    Team team({"epochs=1000", "by=step", "batch=8", "heartbeat=100", "sampled=1",
               "parts=" + folder_.file("share-4-3")},
              {1, 1, 1});
    ASSERT_NE(team[victim].wait_for("step 6 ", 60'000), "") << team[victim].all();
    const int64_t killed = monotonic_ms();
    team[victim].signal(SIGKILL);
    for (int p = 0; p < 3; ++p) {
      if (p == victim) continue;
      EXPECT_EQ(team[p].wait_end(60'000), 3) << team[p].all();
      const End end = end_of(team[p]);
      EXPECT_EQ(end.status, "ERR_PEER_LOST") << end.text;
      EXPECT_THAT(end.text, HasSubstr(base::text("process ", victim, " on host ")));
      EXPECT_LE(end.at_ms - killed, kSoon);
      EXPECT_THAT(team[p].lines(), Contains("left threads 0 files 0"));
      EXPECT_EQ(team[p].errors(), "");
    }
  }
}

}  // namespace
}  // namespace gnnmg::test
