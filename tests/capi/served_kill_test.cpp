// A training over two servers that have the same parts, one of which is killed in each epoch and
// started again: its weights are those of a training that nobody disturbs.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdio>
#include <random>
#include <thread>

#include "comm/children.h"
#include "support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

constexpr int kKills = 20;

// A program gnnmg-server that starts again at the port that it had first.
class Replica {
 public:
  explicit Replica(const std::string& folder) : folder_(folder) { start("127.0.0.1:0"); }
  const std::string& address() const { return address_; }
  void kill() {
    child_->signal(SIGKILL);
    EXPECT_EQ(child_->wait_end(10'000), -SIGKILL);
  }
  void start() { start(address_); }
  const std::string& errors() const { return child_->errors(); }

 private:
  void start(const std::string& address) {
    const std::vector<std::string> words = {"--data", folder_, "--listen", address};
    child_ = std::make_unique<Child>(GNNMG_SERVER_PROGRAM, words);
    const std::string line = child_->wait_for("serving parts ", 20'000);
    EXPECT_NE(line, "") << child_->all();
    address_ = line.substr(line.rfind(' ') + 1);
  }

  const std::string folder_;
  std::string address_;
  std::unique_ptr<Child> child_;
};

// Kills the servers by turns, one in each epoch, at a moment that the seed gives.
class Killer {
 public:
  explicit Killer(std::vector<Replica>& servers) : servers_(servers) {}
  ~Killer() { wait(); }
  // Once the server that was killed last has started again.
  void strike() {
    wait();
    const auto moment =
        std::chrono::microseconds(std::uniform_int_distribution(0, 15'000)(moments_));
    Replica& server = servers_[static_cast<size_t>(kills_++) % servers_.size()];
    thread_ = std::thread([&server, moment] {
      std::this_thread::sleep_for(moment);
      server.kill();
      server.start();
    });
  }
  int kills() const { return kills_; }

 private:
  void wait() {
    if (thread_.joinable()) thread_.join();
  }
  std::vector<Replica>& servers_;
  std::minstd_rand moments_{7};
  std::thread thread_;
  int kills_ = 0;
};

std::vector<float> trained(World& world, gnnmg_epoch_fn on_epoch, void* user_data) {
  EXPECT_OK(gnnmg_dataset_get_graph(world.dataset, 0, world.graph.out()));
  world.training.deterministic = 1;
  world.training.num_epochs = kKills + 1;
  world.training.batch_size = 16;
  world.training.set("torch_threads=1");
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  EXPECT_OK(gnnmg_trainer_run(trainer, on_epoch, user_data, nullptr));
  return weights(model);
}

TEST(ServedKill, TwentyInATrainingWithAReplicaChangeNoBit) {
  const TempDir dir;
  const std::string folder = dir.file("parts");
  PartsConfig config;
  config.num_parts = 2;
  ASSERT_OK(gnnmg_dataset_save_parts(World(300).dataset, folder.c_str(), nullptr, 0, &config,
                                     "fanouts=none", -1));
  World whole;
  whole.graph.reset();
  ASSERT_OK(gnnmg_dataset_open(whole.context, folder.c_str(), nullptr, whole.dataset.out(), -1));
  const std::vector<float> expected = trained(whole, nullptr, nullptr);

  std::vector<Replica> servers;
  for (int i = 0; i < 2; ++i) servers.emplace_back(folder);
  const std::string addresses = servers[0].address() + "," + servers[1].address();
  World world;
  world.graph.reset();
  ASSERT_OK(gnnmg_dataset_open_served(world.context, addresses.c_str(), nullptr, nullptr,
                                      "patience_ms=20000", world.dataset.out(), -1));
  const auto strike = [](const gnnmg_epoch_info* epoch, void* killer) {
    if (epoch->epoch < kKills) static_cast<Killer*>(killer)->strike();
    return 0;
  };
  int kills = 0;
  {
    Killer killer(servers);
    EXPECT_EQ(trained(world, strike, &killer), expected);
    kills = killer.kills();
  }
  EXPECT_EQ(kills, kKills);
  for (const Replica& server : servers) EXPECT_EQ(server.errors(), "");
  std::printf("[ FIGURE   ] %d kills in a training, the same weights\n", kills);
}

}  // namespace
}  // namespace gnnmg::test
