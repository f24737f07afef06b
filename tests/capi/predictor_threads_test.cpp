// Many threads at one predictor, and snapshots of a trainer at work: no call is refused, and every
// answer is one that some thread alone would have got.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "capi/support.h"

namespace gnnmg::test {
namespace {

constexpr int kThreads = 4;

std::vector<std::vector<int64_t>> requests() {
  std::vector<std::vector<int64_t>> lists;
  for (int64_t i = 0; i < 12; ++i) lists.push_back({i * 23 % 300, i * 71 % 300, i, i * 23 % 300});
  return lists;
}

std::vector<float> answer_of(const gnnmg_predictor* predictor, const std::vector<int64_t>& ids) {
  std::vector<float> rows(3 * ids.size());
  EXPECT_OK(gnnmg_predictor_run(predictor, ids.data(), static_cast<int64_t>(ids.size()),
                                GNNMG_OUTPUT_LOGITS, rows.data(), rows.size() * sizeof(float),
                                nullptr));
  return rows;
}

TEST(PredictorThreads, GetTheAnswersOfOne) {
  struct Case {
    gnnmg_architecture architecture;
    const char* settings;
  };
  for (const Case& c :
       {Case{GNNMG_ARCHITECTURE_SAGE, "fanouts=4,3"}, Case{GNNMG_ARCHITECTURE_GCN, nullptr},
        Case{GNNMG_ARCHITECTURE_GAT, "fanouts=4,3 seed=2"},
        Case{GNNMG_ARCHITECTURE_GIN, nullptr}}) {
    World world;
    world.layers.architecture = c.architecture;
    world.layers.norm = GNNMG_NORM_BATCH;
    Predictor predictor;
    ASSERT_OK(
        gnnmg_predictor_create(world.make_model(), world.dataset, c.settings, predictor.out()));
    std::vector<std::vector<float>> expected;
    for (const auto& ids : requests()) expected.push_back(answer_of(predictor, ids));
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        const auto lists = requests();
        for (size_t i = 0; i < 8 * lists.size(); ++i) {
          const size_t k = (i + static_cast<size_t>(t)) % lists.size();
          if (answer_of(predictor, lists[k]) != expected[k]) ++wrong;
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0) << c.architecture;
    auto facts = info<gnnmg_predictor_info>();
    ASSERT_OK(gnnmg_predictor_get_info(predictor, &facts));
    EXPECT_EQ(facts.num_calls, 12 + kThreads * 8 * 12);
  }
}

// A training with snapshots.
struct Training {
  World world;
  Model model;
  Trainer trainer;
  explicit Training(int64_t epochs, gnnmg_norm norm = GNNMG_NORM_BATCH) {
    world.layers.norm = norm;
    world.training.num_epochs = epochs;
    world.training.set("torch_threads=1 keep_best=0");
    model = world.make_model();
    trainer = world.make_trainer(model, world.make_sampler());
  }
};

// Weights and buffers.
std::vector<float> state_of(const gnnmg_model* model) {
  std::vector<float> all;
  const char* key = nullptr;
  int32_t trained = 0;
  for (int64_t i = 0; gnnmg_model_tensor_key(model, i, &key, &trained) == GNNMG_OK; ++i) {
    Tensor tensor;
    EXPECT_OK(gnnmg_model_export_tensor(model, key, tensor.out())) << key;
    auto facts = info<gnnmg_tensor_info>();
    EXPECT_OK(gnnmg_tensor_get_info(tensor, &facts));
    if (facts.dtype != GNNMG_DTYPE_F32) continue;
    const auto part = values<float>(tensor);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

TEST(Snapshot, InACallbackIsTheModelOfThatEpoch) {
  Training training(3);
  struct Seen {
    const gnnmg_trainer* trainer;
    std::vector<std::vector<float>> states;
  } seen{training.trainer, {}};
  ASSERT_OK(gnnmg_trainer_run(
      training.trainer,
      [](const gnnmg_epoch_info*, void* user) {
        auto& s = *static_cast<Seen*>(user);
        Model now;
        EXPECT_OK(gnnmg_trainer_snapshot(s.trainer, now.out()));
        s.states.push_back(state_of(now));
        return int32_t{0};
      },
      &seen, nullptr));
  ASSERT_EQ(seen.states.size(), 3u);
  EXPECT_NE(seen.states[0], seen.states[1]);
  EXPECT_EQ(seen.states[2], state_of(training.model));  // running statistics too
  Model after;
  ASSERT_OK(gnnmg_trainer_snapshot(training.trainer, after.out()));
  EXPECT_EQ(state_of(after), seen.states[2]);
  // A snapshot and the model do not change together.
  std::vector<float> three{1, 2, 3};
  ASSERT_OK(gnnmg_model_set_tensor(after, "convs.1.lin_l.bias", wrap(three)));
  EXPECT_EQ(state_of(training.model), seen.states[2]);
}

TEST(Snapshot, OfStepsOnAnotherThreadIsWhole) {
  // All weights of a step, or none: the states of a training of the same settings, step by step.
  Training again(2);
  std::vector<std::vector<float>> states = {state_of(again.model)};
  double loss = 0;
  while (gnnmg_trainer_step(again.trainer, &loss, -1) == GNNMG_OK)
    states.push_back(state_of(again.model));

  Training training(2);
  std::atomic<bool> over{false};
  std::thread trains([&] {
    EXPECT_OK(gnnmg_trainer_run(training.trainer, nullptr, nullptr, nullptr));
    over = true;
  });
  int unknown = 0;
  do {
    Model now;
    EXPECT_OK(gnnmg_trainer_snapshot(training.trainer, now.out()));
    if (std::find(states.begin(), states.end(), state_of(now)) == states.end()) ++unknown;
  } while (!over);
  trains.join();
  EXPECT_EQ(unknown, 0);
}

TEST(Snapshot, IsRefusedWhileSomethingElseWorksOnTheModel) {
  Training training(1);
  const Trainer other = training.world.make_trainer(training.model, training.world.make_sampler());
  ASSERT_OK(gnnmg_trainer_start(other, nullptr, nullptr, nullptr));
  Model now;
  EXPECT_FAILS(gnnmg_trainer_snapshot(training.trainer, now.out()), GNNMG_ERR_BUSY,
               "trainer's model");
  EXPECT_OK(gnnmg_trainer_snapshot(other, now.out()));
  Predictor predictor;
  EXPECT_FAILS(
      gnnmg_predictor_create(training.model, training.world.dataset, nullptr, predictor.out()),
      GNNMG_ERR_BUSY, "gnnmg_trainer_snapshot()");
  ASSERT_OK(gnnmg_predictor_create(now, training.world.dataset, nullptr, predictor.out()));
  ASSERT_OK(until_done([&] { return gnnmg_trainer_wait(other, 100); }));
  EXPECT_OK(gnnmg_trainer_snapshot(training.trainer, now.out()));
}

// A service while another thread trains: the newest predictor, and all snapshots so far.
struct Service {
  const gnnmg_trainer* trainer;
  const gnnmg_dataset* data;
  std::mutex mutex;
  std::vector<std::shared_ptr<Predictor>> published;
  std::atomic<int> failures{0};

  std::shared_ptr<Predictor> newest() {
    const std::lock_guard lock(mutex);
    return published.back();
  }
  void publish() {
    Model now;
    auto next = std::make_shared<Predictor>();
    if (gnnmg_trainer_snapshot(trainer, now.out()) != GNNMG_OK ||
        gnnmg_predictor_create(now, data, "fanouts=4,3", next->out()) != GNNMG_OK) {
      ++failures;
      return;
    }
    const std::lock_guard lock(mutex);
    published.push_back(std::move(next));
  }
};

TEST(Snapshot, AnswersWhileTrainingGoesOnAreThoseOfSnapshots) {
  Training training(8);
  Service service{training.trainer, training.world.dataset, {}, {}};
  service.publish();
  std::atomic<bool> over{false};
  std::thread trains([&] {
    EXPECT_OK(gnnmg_trainer_run(
        training.trainer,
        [](const gnnmg_epoch_info*, void* user) {
          static_cast<Service*>(user)->publish();
          return int32_t{0};
        },
        &service, nullptr));
    over = true;
  });
  struct Answer {
    const Predictor* by;
    size_t request;
    std::vector<float> rows;
  };
  std::vector<Answer> answers[2];
  std::vector<std::thread> threads;
  for (auto& own : answers)
    threads.emplace_back([&] {
      const auto lists = requests();
      for (size_t i = 0; !over || i < lists.size(); ++i) {
        const std::shared_ptr<Predictor> predictor = service.newest();
        own.push_back(
            {predictor.get(), i % lists.size(), answer_of(*predictor, lists[i % lists.size()])});
      }
    });
  for (std::thread& thread : threads) thread.join();
  trains.join();
  EXPECT_EQ(service.failures, 0);
  ASSERT_EQ(service.published.size(), 9u);
  std::map<std::pair<const Predictor*, size_t>, std::vector<float>> expected;
  for (const auto& predictor : service.published)
    for (size_t k = 0; k < requests().size(); ++k)
      expected[{predictor.get(), k}] = answer_of(*predictor, requests()[k]);
  int wrong = 0;
  for (const auto& own : answers)
    for (const Answer& answer : own) wrong += answer.rows != expected[{answer.by, answer.request}];
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace gnnmg::test
