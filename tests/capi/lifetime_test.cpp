// Handles may be freed in any order: remaining objects keep working, and nothing is left at the
// end.
#include <algorithm>
#include <numeric>

#include "capi/support.h"
#include "support/leftovers.h"

namespace gnnmg::test {
namespace {

struct Everything {
  World world{80, 1};
  Sampler sampler = world.make_sampler();
  Loader loader = world.make_loader(sampler);
  Batch batch;
  Model model = world.make_model();
  Optimizer optimizer;
  Trainer trainer;
  Tensor features, parameters;

  Everything() {
    world.training.num_epochs = 1;
    EXPECT_OK(gnnmg_loader_next(loader, batch.out(), -1));
    EXPECT_OK(gnnmg_optimizer_create(model, nullptr, optimizer.out()));
    trainer = world.make_trainer(model, sampler);
    EXPECT_OK(gnnmg_batch_export_features(batch, 0, features.out()));
    EXPECT_OK(gnnmg_model_export_parameters(model, parameters.out()));
  }
  static constexpr int kParts = 11;
  void drop(int part) {
    switch (part) {
      case 0:
        return world.context.reset();
      case 1:
        return world.graph.reset();
      case 2:
        return world.dataset.reset();
      case 3:
        return sampler.reset();
      case 4:
        return loader.reset();
      case 5:
        return batch.reset();
      case 6:
        return model.reset();
      case 7:
        return optimizer.reset();
      case 8:
        return trainer.reset();
      case 9:
        return features.reset();
      default:
        return parameters.reset();
    }
  }
  // Uses the remaining objects.
  void use() {
    if (trainer) {
      // GNNMG_END after enough training.
      EXPECT_GE(gnnmg_trainer_step(trainer, nullptr, -1), 0) << gnnmg_last_error();
    }
    if (model && batch) {
      EXPECT_OK(gnnmg_model_forward(model, batch, nullptr));
    }
    if (optimizer) {
      EXPECT_OK(gnnmg_optimizer_step(optimizer));
    }
    if (loader) {
      Batch next;
      EXPECT_GE(gnnmg_loader_next(loader, next.out(), -1), 0) << gnnmg_last_error();
    }
    if (features) {
      EXPECT_FALSE(values<float>(features).empty());
    }
    if (parameters) {
      EXPECT_FALSE(values<float>(parameters).empty());
    }
  }
};

TEST(Lifetime, AnyOrderOfFreesIsFine) {
  std::vector<int> order(Everything::kParts);
  std::iota(order.begin(), order.end(), 0);
  uint64_t state = 1;
  for (int round = 0; round < 30; ++round) {
    for (size_t i = order.size(); i-- > 1;) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::swap(order[i], order[(state >> 33) % (i + 1)]);
    }
    Everything everything;
    for (int part : order) {
      everything.drop(part);
      if (round % 3 == 0) everything.use();
    }
  }
}

TEST(Lifetime, ParentsFirst) {
  Everything everything;
  for (int part : {0, 1, 2, 3}) everything.drop(part);
  everything.use();
  EXPECT_GE(until_done([&] { return gnnmg_trainer_step(everything.trainer, nullptr, 1); }), 0);
}

TEST(Lifetime, ThreadsAndDescriptorsGoBackToWhereTheyWere) {
  { Everything warm_up; }
  const Leftovers left;
  for (int i = 0; i < 20; ++i) {
    Everything everything;
    everything.use();
    gnnmg_comm* ends[2];
    ASSERT_OK(gnnmg_comm_create_group(everything.world.context, 2, nullptr, ends));
    const Comm a(ends[0]), b(ends[1]);
    std::thread peer([&] { EXPECT_OK(gnnmg_comm_barrier(b, -1)); });
    EXPECT_OK(gnnmg_comm_barrier(a, -1));
    peer.join();
  }
  EXPECT_EQ(left.count(), Leftovers::kNone);
}

}  // namespace
}  // namespace gnnmg::test
