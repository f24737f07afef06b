// Data sets of one data with different splits: at once in ten threads, freed in any order, with
// weights of their own; saved, in parts, and selected again.
#include <array>
#include <thread>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

constexpr int32_t kFolds = 10;

std::vector<int64_t> ids_of(const gnnmg_dataset* dataset, gnnmg_part part) {
  Tensor ids;
  EXPECT_OK(gnnmg_dataset_export_split(dataset, part, ids.out()));
  return values<int64_t>(ids);
}

Dataset select(const gnnmg_dataset* dataset, const char* name, int32_t index) {
  Dataset selected;
  EXPECT_OK(gnnmg_dataset_select_split(dataset, name, index, selected.out()));
  return selected;
}

// A split "random", ten "folds", and two of a few nodes each, "mine".
struct SplitWorld : World {
  explicit SplitWorld(int64_t num_nodes = 100) : World(num_nodes) {
    EXPECT_OK(gnnmg_dataset_add_folds(dataset, "folds", "num_folds=10 held_out=test"));
    const int64_t train[] = {9, 3, 5}, validation[] = {1}, test[] = {7, 8};
    EXPECT_OK(gnnmg_dataset_add_split(dataset, "mine", train, 3, validation, 1, test, 2));
    EXPECT_OK(gnnmg_dataset_add_split(dataset, "mine", test, 2, nullptr, 0, train, 3));
  }
};

struct Result {
  std::vector<float> weights;
  double loss = 0;
  bool operator==(const Result&) const = default;
};

// A training on a split of `data`, measured on the test part.
Result trained(const World& world, const gnnmg_dataset* data, int32_t fold) {
  const Dataset selected = select(data, "folds", fold);
  Model model;
  EXPECT_OK(gnnmg_model_create(world.context, selected, &world.layers, nullptr, model.out()));
  TrainerConfig config;
  config.num_epochs = 3;
  config.batch_size = 16;
  config.deterministic = 1;
  Trainer trainer;
  EXPECT_OK(gnnmg_trainer_create(model, selected, nullptr, nullptr, &config, "torch_threads=1",
                                 trainer.out()));
  EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  auto metrics = info<gnnmg_metrics>();
  EXPECT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, nullptr, -1));
  return {weights(model), metrics.loss};
}

std::array<Result, kFolds> one_after_another(const World& world, const gnnmg_dataset* data) {
  std::array<Result, kFolds> results;
  for (int32_t fold = 0; fold < kFolds; ++fold) results[fold] = trained(world, data, fold);
  return results;
}

std::array<Result, kFolds> at_once(const World& world, const gnnmg_dataset* data) {
  std::array<Result, kFolds> results;
  std::vector<std::thread> threads;
  for (int32_t fold = 0; fold < kFolds; ++fold)
    threads.emplace_back([&, fold] { results[fold] = trained(world, data, fold); });
  for (std::thread& thread : threads) thread.join();
  return results;
}

TEST(DatasetSplitTest, TenFoldsAtOnceAreTenOneAfterAnother) {
  const SplitWorld world(300);
  const auto expected = one_after_another(world, world.dataset);
  EXPECT_NE(expected[0].weights, expected[1].weights);
  EXPECT_EQ(at_once(world, world.dataset), expected);
  // The same as with only that split added.
  World alone(300);
  const Dataset fold = select(world.dataset, "folds", 3);
  const auto train = ids_of(fold, GNNMG_PART_TRAIN), test = ids_of(fold, GNNMG_PART_TEST);
  ASSERT_OK(gnnmg_dataset_add_split(alone.dataset, "folds", train.data(),
                                    static_cast<int64_t>(train.size()), nullptr, 0, test.data(),
                                    static_cast<int64_t>(test.size())));
  EXPECT_EQ(trained(alone, alone.dataset, 0), expected[3]);
}

TEST(DatasetSplitTest, SelectsByNameAndIndex) {
  const SplitWorld world;
  EXPECT_EQ(ids_of(world.dataset, GNNMG_PART_TRAIN), (std::vector<int64_t>{7, 8}));
  const Dataset mine = select(world.dataset, "mine", 0);
  EXPECT_EQ(ids_of(mine, GNNMG_PART_TRAIN), (std::vector<int64_t>{3, 5, 9}));
  EXPECT_EQ(ids_of(mine, GNNMG_PART_TEST), (std::vector<int64_t>{7, 8}));
  EXPECT_EQ(ids_of(world.dataset, GNNMG_PART_TRAIN), (std::vector<int64_t>{7, 8}));
  // Again, from a selected one.
  const Dataset first = select(mine, nullptr, 0), fold = select(first, "folds", 9);
  EXPECT_EQ(ids_of(first, GNNMG_PART_TRAIN).size(), 60u);
  EXPECT_EQ(ids_of(fold, GNNMG_PART_TEST).size(), 10u);

  Dataset none;
  EXPECT_FAILS(gnnmg_dataset_select_split(world.dataset, "nine", 0, none.out()),
               GNNMG_ERR_NOT_FOUND, "random 0, folds 0 to 9, mine 0 to 1");
  EXPECT_EQ(none.get(), nullptr);
  EXPECT_FAILS(gnnmg_dataset_select_split(mine, "mine", 2, none.out()), GNNMG_ERR_NOT_FOUND,
               "\"mine\" 2; there are: random 0");
  EXPECT_FAILS(gnnmg_dataset_select_split(mine, "mine", -1, none.out()), GNNMG_ERR_NOT_FOUND,
               "\"mine\" -1; there are: random 0");
  EXPECT_FAILS(gnnmg_dataset_select_split(mine, nullptr, INT32_MAX, none.out()),
               GNNMG_ERR_NOT_FOUND, "\"random\" 2147483647");
  EXPECT_FAILS(gnnmg_dataset_select_split(mine, "mine", 0, nullptr), GNNMG_ERR_INVALID_ARGUMENT,
               "selected");
  Dataset without;
  ASSERT_OK(gnnmg_dataset_create(world.graph, "x", "y", GNNMG_TASK_MULTICLASS, 3, without.out()));
  EXPECT_FAILS(gnnmg_dataset_select_split(without, nullptr, 0, none.out()), GNNMG_ERR_NOT_FOUND,
               "no splits");
}

TEST(DatasetSplitTest, SplitsAndWeightsAreApart) {
  SplitWorld world;
  const std::vector<double> even{1, 1, 1}, uneven{1, 2, 3};
  ASSERT_OK(gnnmg_dataset_set_class_weights(world.dataset, even.data(), 3));
  Dataset mine = select(world.dataset, "mine", 0);
  const auto class_weights = [](const gnnmg_dataset* data) {
    Tensor list;
    EXPECT_OK(gnnmg_dataset_export_class_weights(data, list.out()));
    return values<double>(list);
  };
  EXPECT_EQ(class_weights(mine), even);
  ASSERT_OK(gnnmg_dataset_set_class_weights(mine, uneven.data(), 3));
  EXPECT_EQ(class_weights(world.dataset), even);
  EXPECT_EQ(class_weights(mine), uneven);
  ASSERT_OK(gnnmg_dataset_set_class_weights(world.dataset, nullptr, 0));
  EXPECT_EQ(class_weights(mine), uneven);
  std::vector<double> rows(100, 0.5);
  ASSERT_OK(gnnmg_dataset_set_sample_weights(world.dataset, wrap(rows)));
  EXPECT_EQ(gnnmg_dataset_export_sample_weights(mine, Tensor().out()), GNNMG_ERR_NOT_FOUND);

  const auto num_splits = [](const gnnmg_dataset* data) {
    auto facts = info<gnnmg_dataset_info>();
    EXPECT_OK(gnnmg_dataset_get_info(data, &facts));
    return facts.num_splits;
  };
  const int64_t ids[] = {42};
  ASSERT_OK(gnnmg_dataset_add_split(world.dataset, "more", ids, 1, nullptr, 0, nullptr, 0));
  EXPECT_EQ(ids_of(mine, GNNMG_PART_TRAIN), (std::vector<int64_t>{3, 5, 9}));
  ASSERT_OK(gnnmg_dataset_add_random_split(mine, "drawn", nullptr));
  ASSERT_OK(gnnmg_dataset_add_folds(mine, "three", "num_folds=3"));
  EXPECT_EQ(ids_of(world.dataset, GNNMG_PART_TRAIN), (std::vector<int64_t>{42}));
  EXPECT_EQ(num_splits(world.dataset), 14);
  EXPECT_EQ(num_splits(mine), 17);
}

TEST(DatasetSplitTest, DataLiveUntilTheLastIsFreed) {
  for (const bool first_first : {true, false}) {
    SplitWorld world;
    Dataset selected = select(world.dataset, "mine", 0), other = select(selected, "mine", 1);
    world.graph.reset();
    (first_first ? world.dataset : other).reset();
    selected.reset();
    const Dataset& left = first_first ? other : world.dataset;
    EXPECT_EQ(ids_of(left, GNNMG_PART_TRAIN), (std::vector<int64_t>{7, 8}));
    EXPECT_EQ(trained(world, left, 0), trained(world, left, 0));
  }
}

// Objects of two data sets work with the split of their own, made in any order.
TEST(DatasetSplitTest, ObjectsKeepTheSplitOfTheirDataSet) {
  SplitWorld world;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  Dataset fold = select(world.dataset, "folds", 0);
  const Model small = world.make_model();
  Trainer second;
  ASSERT_OK(gnnmg_trainer_create(small, fold, sampler, nullptr, nullptr, nullptr, second.out()));
  auto metrics = info<gnnmg_metrics>();
  EXPECT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, nullptr, -1));
  EXPECT_EQ(metrics.count, 3);
  EXPECT_OK(gnnmg_trainer_evaluate(second, GNNMG_PART_TEST, &metrics, nullptr, -1));
  EXPECT_EQ(metrics.count, 10);
  fold.reset();
  EXPECT_OK(gnnmg_trainer_evaluate(second, GNNMG_PART_TEST, &metrics, nullptr, -1));
  EXPECT_EQ(metrics.count, 10);
  const Model free = world.make_model();
  EXPECT_OK(gnnmg_model_evaluate(free, world.dataset, GNNMG_PART_TEST, 0, &metrics, nullptr, -1));
  EXPECT_EQ(metrics.count, 3);
  EXPECT_OK(gnnmg_model_evaluate(free, select(world.dataset, "folds", 1), GNNMG_PART_TEST, 0,
                                 &metrics, nullptr, -1));
  EXPECT_EQ(metrics.count, 10);
}

// A checkpoint names the training ids: another split's trainer does not continue from it, and the
// same split's does, from another handle too.
TEST(DatasetSplitTest, CheckpointsTellSplitsApart) {
  const SplitWorld world;
  const TempDir folder;
  const auto make = [&](int32_t fold, Trainer& trainer, Model& own) {
    const Dataset data = select(world.dataset, "folds", fold);
    ASSERT_OK(gnnmg_model_create(world.context, data, &world.layers, nullptr, own.out()));
    ASSERT_OK(
        gnnmg_trainer_create(own, data, nullptr, nullptr, &world.training, nullptr, trainer.out()));
  };
  Model models[3];
  Trainer trainers[3];
  make(0, trainers[0], models[0]);
  make(1, trainers[1], models[1]);
  make(0, trainers[2], models[2]);
  ASSERT_OK(gnnmg_trainer_run(trainers[0], nullptr, nullptr, nullptr));
  const std::string path = folder.file("checkpoint");
  ASSERT_OK(gnnmg_trainer_save(trainers[0], path.c_str(), -1));
  EXPECT_FAILS(gnnmg_trainer_load(trainers[1], path.c_str(), -1), GNNMG_ERR_MISMATCH,
               "training ids");
  EXPECT_OK(gnnmg_trainer_load(trainers[2], path.c_str(), -1));
  EXPECT_EQ(weights(models[2]), weights(models[0]));
}

// A file has all splits, and its first is chosen.
TEST(DatasetSplitTest, SavedAndOpenedAgain) {
  const SplitWorld world;
  const TempDir folder;
  const std::string path = folder.file("saved");
  const Dataset fold = select(world.dataset, "folds", 4);
  ASSERT_OK(gnnmg_dataset_save(fold, path.c_str(), -1));
  Dataset opened;
  ASSERT_OK(gnnmg_dataset_open(world.context, path.c_str(), nullptr, opened.out(), -1));
  EXPECT_EQ(ids_of(opened, GNNMG_PART_TRAIN), ids_of(select(fold, nullptr, 0), GNNMG_PART_TRAIN));
  for (int32_t k = 0; k < kFolds; ++k)
    EXPECT_EQ(ids_of(select(opened, "folds", k), GNNMG_PART_TEST),
              ids_of(select(fold, "folds", k), GNNMG_PART_TEST));
  EXPECT_EQ(trained(world, opened, 4), trained(world, world.dataset, 4));
}

TEST(DatasetSplitTest, PartsAreSavedForTheChosenSplitAndHaveAll) {
  const SplitWorld world;
  const TempDir folder;
  const std::string path = folder.file("parts");
  PartsConfig config;
  ASSERT_OK(gnnmg_dataset_save_parts(select(world.dataset, "folds", 2), path.c_str(), nullptr, 0,
                                     &config, nullptr, -1));
  Dataset whole, divided;
  ASSERT_OK(gnnmg_dataset_open(world.context, path.c_str(), nullptr, whole.out(), -1));
  auto facts = info<gnnmg_part_info>(), other = info<gnnmg_part_info>();
  ASSERT_OK(gnnmg_dataset_get_part_info(whole, 0, 0, &facts));
  ASSERT_OK(gnnmg_dataset_get_part_info(whole, 1, 0, &other));
  EXPECT_EQ(facts.num_train + other.num_train, 90);
  EXPECT_EQ(trained(world, whole, 7), trained(world, world.dataset, 7));

  ASSERT_OK(
      gnnmg_dataset_open_parts(world.context, nullptr, path.c_str(), nullptr, divided.out(), -1));
  const auto expected = one_after_another(world, divided);
  EXPECT_EQ(at_once(world, divided), expected);
  EXPECT_EQ(expected[7], trained(world, world.dataset, 7));
  // Reads of all of them count for each.
  auto of_all = info<gnnmg_parts_info>(), of_one = info<gnnmg_parts_info>();
  ASSERT_OK(gnnmg_dataset_get_parts_info(divided, &of_all));
  ASSERT_OK(gnnmg_dataset_get_parts_info(select(divided, "folds", 0), &of_one));
  EXPECT_GT(of_all.own_rows, 0);
  EXPECT_EQ(of_all.own_rows, of_one.own_rows);
}

}  // namespace
}  // namespace gnnmg::test
