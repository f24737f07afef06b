// Confusion matrices and top-k accuracy of models and trainers, the optimizer of a trainer, and the
// end of all handles of a context.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

// The matrix of a model's rows for the ids of a part, by its definition.
std::vector<int64_t> counted(const Tensor& rows, const Tensor& labels, const Tensor& ids,
                             int64_t classes) {
  const auto scores = values<float>(rows);
  const auto wanted = values<int64_t>(labels);
  std::vector<int64_t> matrix(static_cast<size_t>(classes * classes));
  for (const int64_t id : values<int64_t>(ids)) {
    const auto row = scores.begin() + id * classes;
    const int64_t predicted = std::max_element(row, row + classes) - row;
    ++matrix[static_cast<size_t>(wanted[static_cast<size_t>(id)] * classes + predicted)];
  }
  return matrix;
}

TEST(EvaluationTest, TheConfusionMatrixHasEveryRow) {
  World world;
  world.training.num_ranks = 3;
  world.training.set("top_k=2 eval_batch_size=16");
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  auto of_model = info<gnnmg_metrics>(), of_trainer = info<gnnmg_metrics>();
  Tensor matrix, by_ranks, rows, labels, ids;
  ASSERT_OK(
      gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TEST, 2, &of_model, matrix.out(), -1));
  ASSERT_OK(until_done([&] {
    return gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &of_trainer, by_ranks.out(), 1);
  }));
  ASSERT_OK(gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), -1));
  ASSERT_OK(gnnmg_dataset_export_labels(world.dataset, labels.out()));
  ASSERT_OK(gnnmg_dataset_export_split(world.dataset, GNNMG_PART_TEST, ids.out()));

  const int64_t classes = shape_of(rows)[1];
  EXPECT_EQ(shape_of(matrix), (std::vector<int64_t>{classes, classes}));
  const std::vector<int64_t> found = values<int64_t>(matrix);
  EXPECT_EQ(found, counted(rows, labels, ids, classes));
  EXPECT_EQ(found, values<int64_t>(by_ranks));
  EXPECT_EQ(of_model.top_k_accuracy, of_trainer.top_k_accuracy);
  EXPECT_GT(of_model.top_k_accuracy, of_model.accuracy);
  EXPECT_LT(of_model.top_k_accuracy, 1);
  EXPECT_EQ(std::accumulate(found.begin(), found.end(), int64_t{0}), of_model.count);

  // The functions of gnnmg_util.h agree with the mean that the library computes.
  double f1 = 0;
  int64_t correct = 0, present = 0;
  for (int64_t c = 0; c < classes; ++c) {
    const double precision = gnnmg_precision(found.data(), classes, c);
    const double recall = gnnmg_recall(found.data(), classes, c);
    const double of_class = gnnmg_f1(found.data(), classes, c);
    if (precision + recall > 0) {
      EXPECT_NEAR(of_class, 2 * precision * recall / (precision + recall), 1e-12);
    }
    f1 += of_class;
    correct += found[static_cast<size_t>(c * classes + c)];
    int64_t seen = 0;
    for (int64_t other = 0; other < classes; ++other)
      seen += found[static_cast<size_t>(c * classes + other)] +
              found[static_cast<size_t>(other * classes + c)];
    present += seen > 0;
  }
  EXPECT_EQ(correct, of_model.correct);
  EXPECT_NEAR(f1 / static_cast<double>(present), of_model.f1_macro, 1e-12);

  EXPECT_OK(gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TEST, 1, &of_model, nullptr, -1));
  EXPECT_EQ(of_model.top_k_accuracy, of_model.accuracy);
  EXPECT_FAILS(
      gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TEST, -1, &of_model, nullptr, -1),
      GNNMG_ERR_INVALID_ARGUMENT, "top_k is -1");
}

TEST(EvaluationTest, OfOtherTasks) {
  World world(60);
  std::vector<float> targets(120);
  for (size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<float>(i % 3 == 0);
  targets[5] = NAN;
  const int64_t shape[] = {60, 2};
  Graph graph;
  const std::vector<int64_t> ends(1, 0);
  ASSERT_OK(gnnmg_graph_create_from_coo(world.context, 60, ends.data(), ends.data(),
                                        GNNMG_DTYPE_I64, 1, graph.out()));
  std::vector<float> x(60, 1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 5);
  const int64_t sizes[] = {60, 1};
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "x", x.data(), GNNMG_DTYPE_F32, 2, sizes));
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "y", targets.data(), GNNMG_DTYPE_F32, 2, shape));
  for (const gnnmg_task task : {GNNMG_TASK_BINARY, GNNMG_TASK_REGRESSION}) {
    Dataset dataset;
    ASSERT_OK(gnnmg_dataset_create(graph, "x", "y", task, 0, dataset.out()));
    ASSERT_OK(gnnmg_dataset_add_random_split(dataset, "half", "train_fraction=0.5"));
    Model model;
    ASSERT_OK(gnnmg_model_create(world.context, dataset, nullptr, nullptr, model.out()));
    Tensor matrix;
    auto metrics = info<gnnmg_metrics>();
    const gnnmg_status status =
        gnnmg_model_evaluate(model, dataset, GNNMG_PART_TRAIN, 0, &metrics, matrix.out(), -1);
    if (task == GNNMG_TASK_REGRESSION) {
      EXPECT_EQ(status, GNNMG_ERR_UNSUPPORTED);
      EXPECT_STREQ(gnnmg_last_error(),
                   "the labels are numbers, and a confusion matrix is of classes");
      continue;
    }
    ASSERT_OK(status);
    EXPECT_EQ(shape_of(matrix), (std::vector<int64_t>{2, 2, 2}));
    const auto found = values<int64_t>(matrix);
    EXPECT_EQ(std::accumulate(found.begin(), found.end(), int64_t{0}), metrics.count);
    EXPECT_EQ(found[0] + found[3] + found[4] + found[7], metrics.correct);
    EXPECT_TRUE(std::isnan(metrics.top_k_accuracy));
  }
}

TEST(EvaluationTest, RowsGoToOnePlace) {
  World world(60);
  const Model model = world.make_model();
  const TempDir folder;
  const std::string file = folder.file("rows.npy");
  Tensor rows;
  EXPECT_FAILS(gnnmg_model_embed(model, world.dataset, 0, file.c_str(), rows.out(), -1),
               GNNMG_ERR_INVALID_ARGUMENT, "argument 'rows' is not NULL");
  EXPECT_FAILS(gnnmg_model_embed(model, world.dataset, 0, nullptr, nullptr, -1),
               GNNMG_ERR_INVALID_ARGUMENT, "argument 'rows' is NULL");
  EXPECT_TRUE(folder.list().empty());
}

TEST(EvaluationTest, TheOptimizerOfATrainerOnlySavesAndLoads) {
  World world;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Trainer trainer = world.make_trainer(model, sampler);
  const Optimizer optimizer = optimizer_of(trainer);
  const TempDir folder;
  ASSERT_OK(gnnmg_trainer_step(trainer, nullptr, -1));
  ASSERT_OK(gnnmg_optimizer_save(optimizer, folder.file("adam.pth").c_str(), nullptr, -1));
  double rate = 0;
  EXPECT_FAILS(gnnmg_optimizer_step(optimizer), GNNMG_ERR_UNSUPPORTED, "that of a trainer");
  EXPECT_FAILS(gnnmg_optimizer_set_learning_rate(optimizer, 1), GNNMG_ERR_UNSUPPORTED,
               "gnnmg_trainer_set_learning_rate()");
  EXPECT_FAILS(gnnmg_optimizer_learning_rate(optimizer, &rate), GNNMG_ERR_UNSUPPORTED,
               "gnnmg_epoch_info");
  trainer.reset();  // the optimizer keeps the trainer
  EXPECT_OK(gnnmg_optimizer_load(optimizer, folder.file("adam.pth").c_str(), nullptr, -1));
}

TEST(ContextTest, CloseFreesAllThatWasMadeFromIt) {
  World world(2000), other(60);
  world.training.num_epochs = 1000000;
  Sampler sampler = world.make_sampler();
  Model model = world.make_model();
  const Model kept = other.make_model();
  Trainer trainer = world.make_trainer(model, sampler);
  Tensor x;
  ASSERT_OK(gnnmg_graph_export_node_tensor(world.graph, 0, "x", x.out()));
  const std::vector<float> before = values<float>(x);
  ASSERT_OK(gnnmg_trainer_start(trainer, nullptr, nullptr, nullptr));
  gnnmg_context_close(world.context);
  auto facts = info<gnnmg_model_info>();
  EXPECT_EQ(gnnmg_model_get_info(model, &facts), GNNMG_ERR_HANDLE);
  auto progress = info<gnnmg_progress_info>();
  EXPECT_EQ(gnnmg_trainer_progress(trainer, &progress), GNNMG_ERR_HANDLE);
  auto of_context = info<gnnmg_context_info>();
  EXPECT_EQ(gnnmg_context_get_info(world.context, &of_context), GNNMG_ERR_HANDLE);
  EXPECT_EQ(values<float>(x), before) << "tensors stay";
  gnnmg_context_close(world.context);  // nothing happens
  gnnmg_context_close(nullptr);
  trainer.reset();
  model.reset();
  EXPECT_OK(gnnmg_model_get_info(kept, &facts)) << "another context's";
}

}  // namespace
}  // namespace gnnmg::test
