// Losses compared with their formulas, and metrics with counts by hand.
#include "nn/loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "nn/model_world.h"
#include "nn/support.h"

namespace gnnmg::nn {
namespace {

using base::Status;
using data::Task;

at::Tensor classes(std::initializer_list<int64_t> values) {
  at::Tensor t = random_tensor({static_cast<int64_t>(values.size())}, at::kLong, 1);
  std::copy(values.begin(), values.end(), t.mutable_data_ptr<int64_t>());
  return t;
}
at::Tensor numbers(std::initializer_list<double> values, at::IntArrayRef sizes) {
  at::Tensor t = random_tensor({static_cast<int64_t>(values.size())}, at::kDouble, 1);
  std::copy(values.begin(), values.end(), t.mutable_data_ptr<double>());
  return t.reshape(sizes);
}

double log_softmax(const std::vector<double>& row, size_t c) {
  double sum = 0;
  for (double v : row) sum += std::exp(v);
  return row[c] - std::log(sum);
}

TEST(LossSum, CrossEntropySkipsRowsWithoutALabel) {
  const at::Tensor logits = numbers({1, 2, 3, -1, 0, 1, 4, 4, 4}, {3, 3});
  const LossSum all = loss_sum(Loss::kCrossEntropy, logits, {classes({2, -1, 0})});
  EXPECT_EQ(all.weight, 2);
  EXPECT_NEAR(all.sum.item<double>(), -log_softmax({1, 2, 3}, 2) - log_softmax({4, 4, 4}, 0),
              1e-12);
  const LossSum weighted =
      loss_sum(Loss::kCrossEntropy, logits, {classes({2, -1, 0}), numbers({3, 0, 0.5}, {3})});
  EXPECT_EQ(weighted.weight, 3.5);
  EXPECT_NEAR(weighted.sum.item<double>(),
              -3 * log_softmax({1, 2, 3}, 2) - 0.5 * log_softmax({4, 4, 4}, 0), 1e-12);
}

TEST(LossSum, BinaryAndSquaredSkipNan) {
  const at::Tensor logits = numbers({0, 2, -3, 40, -800, 1}, {3, 2});
  const at::Tensor labels = numbers({1, NAN, 0, 1, 0, 0.25}, {3, 2});
  const auto binary = [](double x, double y) {
    return std::max(x, 0.0) - x * y + std::log1p(std::exp(-std::abs(x)));
  };
  const LossSum bce = loss_sum(Loss::kBinaryCrossEntropy, logits, {labels});
  EXPECT_EQ(bce.weight, 5);
  EXPECT_NEAR(bce.sum.item<double>(),
              binary(0, 1) + binary(-3, 0) + binary(40, 1) + binary(-800, 0) + binary(1, 0.25),
              1e-12);
  const LossSum weighted =
      loss_sum(Loss::kBinaryCrossEntropy, logits, {labels, numbers({2, 0, 2, 3, 2, 3}, {3, 2})});
  EXPECT_EQ(weighted.weight, 12);
  EXPECT_NEAR(
      weighted.sum.item<double>(),
      2 * (binary(0, 1) + binary(-3, 0) + binary(-800, 0)) + 3 * (binary(40, 1) + binary(1, 0.25)),
      1e-12);
  const LossSum squared = loss_sum(Loss::kMeanSquaredError, logits, {labels});
  EXPECT_EQ(squared.weight, 5);
  EXPECT_NEAR(squared.sum.item<double>(), 1 + 9 + 39 * 39 + 800.0 * 800 + 0.75 * 0.75, 1e-6);
  const LossSum halved =
      loss_sum(Loss::kMeanSquaredError, logits, {labels, numbers({4, 0, 0.5, 0, 0, 2}, {3, 2})});
  EXPECT_EQ(halved.weight, 6.5);
  EXPECT_NEAR(halved.sum.item<double>(), 4 + 0.5 * 9 + 2 * 0.75 * 0.75, 1e-12);
}

TEST(LossSum, SmoothedAndFocalCrossEntropy) {
  const at::Tensor logits = numbers({1, 2, 3, -1, 0, 1, 4, 4, 6}, {3, 3});
  const std::vector<double> first{1, 2, 3}, last{4, 4, 6};
  const auto smoothed = [](const std::vector<double>& row, size_t label) {
    double mean = 0;
    for (size_t c = 0; c < 3; ++c) mean -= log_softmax(row, c) / 3;
    return -0.8 * log_softmax(row, label) + 0.2 * mean;
  };
  LossRule rule(Loss::kCrossEntropy);
  rule.label_smoothing = 0.2;
  const LossSum smooth = loss_sum(rule, logits, {classes({2, -1, 0})});
  EXPECT_EQ(smooth.weight, 2);
  EXPECT_NEAR(smooth.sum.item<double>(), smoothed(first, 2) + smoothed(last, 0), 1e-12);
  const auto focal = [](double log_p) { return -std::pow(1 - std::exp(log_p), 1.5) * log_p; };
  rule = Loss::kFocal;
  rule.focal_gamma = 1.5;
  const LossSum weighted = loss_sum(rule, logits, {classes({2, -1, 0}), numbers({3, 0, 0.5}, {3})});
  EXPECT_EQ(weighted.weight, 3.5);
  EXPECT_NEAR(weighted.sum.item<double>(),
              3 * focal(log_softmax(first, 2)) + 0.5 * focal(log_softmax(last, 0)), 1e-12);
  const LossSum binary =
      loss_sum(rule, numbers({2, 0, -3}, {3, 1}), {numbers({1, NAN, 1}, {3, 1})});
  const auto log_sigmoid = [](double x) { return -std::log1p(std::exp(-x)); };
  EXPECT_NEAR(binary.sum.item<double>(), focal(log_sigmoid(2)) + focal(log_sigmoid(-3)), 1e-12);
}

// A certain answer has the gradient 0, also with a gamma below 1, whose power has none at 0.
TEST(LossSum, FocalLossOfACertainAnswerHasAGradient) {
  at::Tensor logits = numbers({900, 0, 1, 1}, {2, 2}).set_requires_grad(true);
  LossRule rule(Loss::kFocal);
  rule.focal_gamma = 0.5;
  loss_sum(rule, logits, {classes({0, -1})}).sum.backward();
  EXPECT_TRUE(near(logits.grad(), numbers({0, 0, 0, 0}, {2, 2}), 1e-9));
}

TEST(LossSum, AbsoluteAndHuber) {
  const at::Tensor logits = numbers({0, 2, -3, 1}, {2, 2});
  const at::Tensor labels = numbers({1, NAN, 0, 0.5}, {2, 2});
  const LossSum absolute = loss_sum(Loss::kMeanAbsoluteError, logits, {labels});
  EXPECT_EQ(absolute.weight, 3);
  EXPECT_NEAR(absolute.sum.item<double>(), 1 + 3 + 0.5, 1e-12);
  LossRule rule(Loss::kHuber);
  EXPECT_NEAR(loss_sum(rule, logits, {labels}).sum.item<double>(), 0.5 + 2.5 + 0.125, 1e-12);
  rule.huber_delta = 2;
  EXPECT_NEAR(loss_sum(rule, logits, {labels}).sum.item<double>(), 0.5 + 2 * (3 - 1) + 0.125,
              1e-12);
}

// A row of weight 0 has no effect, whatever its logits.
TEST(LossSum, WeightZeroIsNoRow) {
  const double inf = std::numeric_limits<double>::infinity();
  at::Tensor logits = numbers({1, 2, -inf, 5}, {2, 2});
  const Targets targets{classes({1, 0}), numbers({2, 0}, {2})};
  const LossSum sum = loss_sum(Loss::kCrossEntropy, logits, targets);
  EXPECT_EQ(sum.weight, 2);
  EXPECT_NEAR(sum.sum.item<double>(), -2 * log_softmax({1, 2}, 1), 1e-12);
  EXPECT_EQ(label_weight(targets), 2);
  EXPECT_EQ(label_weight({classes({1, -1, 0})}), 2);
  EXPECT_EQ(label_weight({numbers({1, NAN, 0}, {3, 1})}), 2);
  EXPECT_TRUE(weights_of({classes({1, -1})}).equal(numbers({1, 0}, {2})));
}

TEST(LossSum, GradientsAreThoseOfTheFormulas) {
  at::Tensor logits = numbers({0, 2, -3, 4}, {2, 2}).set_requires_grad(true);
  loss_sum(Loss::kBinaryCrossEntropy, logits, {numbers({1, NAN, 0, 1}, {2, 2})}).sum.backward();
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_TRUE(near(logits.grad(), numbers({sigmoid(0) - 1, 0, sigmoid(-3), sigmoid(4) - 1}, {2, 2}),
                   1e-12));
}

TEST(LossSum, OfNoRowsIsZeroAndDifferentiable) {
  for (const Loss loss :
       {Loss::kCrossEntropy, Loss::kBinaryCrossEntropy, Loss::kMeanSquaredError}) {
    at::Tensor logits = numbers({}, {0, 3}).set_requires_grad(true);
    const at::Tensor labels = loss == Loss::kCrossEntropy ? classes({}) : numbers({}, {0, 3});
    const LossSum sum = loss_sum(loss, logits, {labels});
    EXPECT_EQ(sum.weight, 0);
    EXPECT_EQ(sum.sum.item<double>(), 0);
    sum.sum.backward();
    EXPECT_EQ(logits.grad().numel(), 0);
  }
}

TEST(LossSum, RefusesWhatDoesNotFit) {
  const at::Tensor logits = numbers({1, 2, 3, 4}, {2, 2});
  const auto status = [&](Loss loss, const at::Tensor& labels) {
    return status_of([&] { loss_sum(loss, logits, {labels}); });
  };
  EXPECT_EQ(status(Loss::kCrossEntropy, classes({0, 2})), Status::kRange);
  EXPECT_EQ(status(Loss::kCrossEntropy, classes({0, -2})), Status::kRange);
  EXPECT_EQ(status(Loss::kCrossEntropy, classes({0})), Status::kInvalidArgument);
  EXPECT_EQ(status(Loss::kCrossEntropy, numbers({0, 1}, {2})), Status::kInvalidArgument);
  EXPECT_EQ(status(Loss::kMeanSquaredError, numbers({0, 1}, {2})), Status::kInvalidArgument);
  EXPECT_EQ(status(Loss::kAuto, numbers({0, 1, 1, 1}, {2, 2})), Status::kInvalidArgument);
  EXPECT_EQ(status_of([] { loss_for(Task::kNone); }), Status::kInvalidArgument);
}

TEST(Metrics, OfClasses) {
  MetricSum sum(Task::kMulticlass, Loss::kAuto, 3);
  //                 predicted 0       1        2        0 (tie)   1
  sum.add(numbers({9, 0, 0, 0, 9, 0, 0, 0, 9, 5, 5, 0, 0, 9, 0}, {5, 3}),
          {classes({0, 1, 1, 2, -1})});
  const Metrics m = sum.result();
  EXPECT_EQ(m.count, 4);
  EXPECT_EQ(m.correct, 2);
  EXPECT_DOUBLE_EQ(m.accuracy, 0.5);
  EXPECT_DOUBLE_EQ(m.f1_micro, 0.5);
  // Class 0: 1 of 1 labeled, 2 predicted; class 1: 1 of 2, 1 predicted; class 2: 0 of 1, 1.
  EXPECT_DOUBLE_EQ(m.f1_macro, (2.0 / 3 + 2.0 / 3 + 0) / 3);
  EXPECT_TRUE(std::isnan(m.roc_auc));
  EXPECT_TRUE(std::isnan(m.rmse));
  EXPECT_NEAR(
      m.loss,
      -(2 * log_softmax({9, 0, 0}, 0) + log_softmax({9, 0, 0}, 1) + log_softmax({5, 5, 0}, 2)) / 4,
      1e-12);
}

// The numbers of scikit-learn 1.6.1: confusion_matrix(), top_k_accuracy_score(), f1_score().
TEST(Metrics, ConfusionAndTopKAreThoseOfScikitLearn) {
  const std::vector<int64_t> labels = {4, 4, 0, 2, 3, 0, 3, 1, 4, 4, 1, 0, 2, 4, 0, 4, 1,
                                       2, 2, 0, 2, 4, 3, 1, 4, 3, 2, 2, 2, 2, 1, 3, 4, 3,
                                       2, 0, 4, 0, 3, 0, 0, 4, 2, 4, 4, 4, 0, 1, 0, 0};
  const auto rows = static_cast<int64_t>(labels.size());
  const at::Tensor logits = at::empty({rows, 5}, at::kDouble);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t c = 0; c < 5; ++c)
      logits.mutable_data_ptr<double>()[i * 5 + c] =
          static_cast<double>((i * 37 + c * 19 + i * i * c) % 97) + static_cast<double>(c) * 0.125;
  const at::Tensor wanted =
      at::from_blob(const_cast<int64_t*>(labels.data()), {rows}, at::kLong).clone();
  const double of_top[] = {0.48, 0.56, 0.68, 0.9, 1};
  for (int32_t k = 1; k <= 5; ++k) {
    MetricSum sum(Task::kMulticlass, Loss::kAuto, 5, k),
        merged(Task::kMulticlass, Loss::kAuto, 5, k);
    std::vector<int64_t> confusion(25);
    sum.add(logits.narrow(0, 0, 20), {wanted.narrow(0, 0, 20)}, confusion);
    sum.add(logits.narrow(0, 20, rows - 20), {wanted.narrow(0, 20, rows - 20)}, confusion);
    merged.merge(sum.counts(), sum.sums(), sum.scores());
    EXPECT_DOUBLE_EQ(sum.result().top_k_accuracy, of_top[k - 1]) << k;
    EXPECT_DOUBLE_EQ(merged.result().top_k_accuracy, of_top[k - 1]) << k;
    EXPECT_DOUBLE_EQ(sum.result().f1_macro, 0.4620684468510555);
    EXPECT_EQ(confusion, (std::vector<int64_t>{5, 1, 1, 2, 3, 3, 2, 0, 1, 0, 2, 3, 6,
                                               0, 0, 0, 1, 1, 3, 2, 1, 3, 2, 0, 8}));
  }
}

TEST(Metrics, OfEqualScoresTheFirstClassesAreFirst) {
  for (int32_t k = 1; k <= 3; ++k) {
    MetricSum sum(Task::kMulticlass, Loss::kAuto, 3, k);
    std::vector<int64_t> confusion(9);
    sum.add(numbers({1, 1, 1, 1, 1, 1, 1, 1, 1, NAN, 2, 1, 0, 0, 5}, {5, 3}),
            {classes({0, 1, 2, 1, -1})}, confusion);
    const Metrics m = sum.result();
    if (k == 1) {
      EXPECT_EQ(m.top_k_accuracy, m.accuracy);
    }
    // NaN comes before every number, so class 1 of row 3 is second at most.
    EXPECT_EQ(m.top_k_accuracy, (k + (k > 1)) / 4.0) << k;
    EXPECT_EQ(confusion, (std::vector<int64_t>{1, 0, 0, 1, 0, 0, 1, 0, 0}))
        << "without the row that has no label, and the one that predicts NaN";
  }
}

// scikit-learn's multilabel_confusion_matrix().
TEST(Metrics, BinaryTargetsHaveAConfusionMatrixEach) {
  at::Tensor logits = at::empty({20, 3}, at::kDouble), labels = at::empty({20, 3}, at::kDouble);
  for (int64_t i = 0; i < 20; ++i)
    for (int64_t c = 0; c < 3; ++c) {
      logits.mutable_data_ptr<double>()[i * 3 + c] =
          static_cast<double>((i * 31 + c * 41) % 13 - 6);
      labels.mutable_data_ptr<double>()[i * 3 + c] = (i * 29 + c * 17) % 11 > 5;
    }
  MetricSum sum(Task::kBinary, Loss::kAuto, 3);
  sum.add(logits, {labels});
  EXPECT_EQ(sum.target_confusion(), (std::vector<int64_t>{6, 5, 5, 4, 3, 8, 8, 1, 8, 3, 3, 6}));
  EXPECT_TRUE(std::isnan(sum.result().top_k_accuracy));
}

TEST(Metrics, OfNothingAreNoNumbers) {
  for (const Task task : {Task::kMulticlass, Task::kBinary, Task::kRegression}) {
    const Metrics m = MetricSum(task, Loss::kAuto, 3).result();
    EXPECT_EQ(m.count, 0);
    EXPECT_TRUE(std::isnan(m.loss));
    if (task != Task::kRegression) {
      EXPECT_TRUE(std::isnan(m.accuracy));
      EXPECT_TRUE(std::isnan(m.f1_micro));
      EXPECT_TRUE(std::isnan(m.f1_macro));
    } else {
      EXPECT_TRUE(std::isnan(m.rmse));
      EXPECT_TRUE(std::isnan(m.mae));
    }
  }
}

TEST(Metrics, OfTwoClassesHaveAnArea) {
  MetricSum sum(Task::kMulticlass, Loss::kAuto, 2);
  sum.add(numbers({0, 3, 0, 1, 0, 1, 0, -2}, {4, 2}), {classes({1, 0, 1, 0})});
  EXPECT_DOUBLE_EQ(sum.result().roc_auc, 3.5 / 4);
  EXPECT_DOUBLE_EQ(sum.result().average_precision, (1.0 + 2.0 / 3) / 2);
}

// The area by its definition: the share of pairs in the right order, ties counted half.
double area(const std::vector<double>& scores, const std::vector<double>& labels) {
  double right = 0, pairs = 0;
  for (size_t i = 0; i < scores.size(); ++i)
    for (size_t j = 0; j < scores.size(); ++j)
      if (labels[i] == 1 && labels[j] == 0) {
        pairs += 1;
        right += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      }
  return right / pairs;
}

TEST(Metrics, OfBinaryTargets) {
  MetricSum sum(Task::kBinary, Loss::kAuto, 3);
  const std::vector<double> s0{1, -1, 2, -1, 0.5}, l0{1, 0, 0, 1, 1};
  const std::vector<double> s1{-1, -2, 3, 1, 3}, l1{0, 1, 1, 0, 0};
  at::Tensor logits = numbers({1, -1, 5, -1, -2, 5, 2, 3, 5, -1, 1, 5, 0.5, 3, 5}, {5, 3});
  at::Tensor labels = numbers({1, 0, 1, 0, 1, 1, 0, 1, NAN, 1, 0, 1, 1, 0, 1}, {5, 3});
  sum.add(logits.narrow(0, 0, 2), {labels.narrow(0, 0, 2)});
  sum.add(logits.narrow(0, 2, 3), {labels.narrow(0, 2, 3)});
  const Metrics m = sum.result();
  EXPECT_EQ(m.count, 14);
  EXPECT_DOUBLE_EQ(m.roc_auc, (area(s0, l0) + area(s1, l1)) / 2) << "target 2 has one kind only";
  EXPECT_EQ(m.correct, 3 - 0 + 0 + 2 + 4 - 0 + 0);
  // Target 0: 3 labeled, 3 predicted, 2 both; target 1: 2, 3, 1; target 2: 4, 4, 4.
  EXPECT_DOUBLE_EQ(m.f1_micro, 2.0 * 7 / (9 + 10));
  EXPECT_DOUBLE_EQ(m.f1_macro, (4.0 / 6 + 2.0 / 5 + 1) / 3);
}

TEST(Metrics, AreaAgreesWithItsDefinition) {
  base::Stream words(base::stream_key(2, base::Purpose::kGenerator), 0);
  std::vector<double> scores, labels;
  for (int i = 0; i < 300; ++i) {
    labels.push_back(static_cast<double>(words.below(2)));
    scores.push_back(static_cast<double>(words.below(20)) / 4 + labels.back());
  }
  at::Tensor s = numbers({}, {0}).resize_({300, 1}), l = numbers({}, {0}).resize_({300, 1});
  std::copy(scores.begin(), scores.end(), s.mutable_data_ptr<double>());
  std::copy(labels.begin(), labels.end(), l.mutable_data_ptr<double>());
  MetricSum sum(Task::kBinary, Loss::kAuto, 1);
  sum.add(s, {l});
  EXPECT_DOUBLE_EQ(sum.result().roc_auc, area(scores, labels));
}

// 64-bit scores that are equal in 32 bits keep their order, also when exchanged between ranks.
TEST(Metrics, AreaHasTheScoresOwnPrecision) {
  for (const Task task : {Task::kBinary, Task::kMulticlass}) {
    const bool binary = task == Task::kBinary;
    const int64_t columns = binary ? 1 : 2;
    MetricSum sum(task, Loss::kAuto, columns), merged(task, Loss::kAuto, columns);
    if (binary)
      sum.add(numbers({1, 1 + 1e-9, 1 + 2e-9, 1 + 3e-9}, {4, 1}), {numbers({0, 0, 1, 1}, {4, 1})});
    else
      sum.add(numbers({0, 1, 0, 1 + 1e-9, 0, 1 + 2e-9, 0, 1 + 3e-9}, {4, 2}),
              {classes({0, 0, 1, 1})});
    merged.merge(sum.counts(), sum.sums(), sum.scores());
    for (const MetricSum* each : {&sum, &merged}) {
      EXPECT_EQ(each->result().roc_auc, 1);
      EXPECT_EQ(each->result().average_precision, 1);
    }
  }
}

TEST(Metrics, OfRegression) {
  MetricSum sum(Task::kRegression, Loss::kAuto, 2);
  sum.add(numbers({1, 2, 3, 4}, {2, 2}), {numbers({2, NAN, 3, 1}, {2, 2})});
  const Metrics m = sum.result();
  EXPECT_EQ(m.count, 3);
  EXPECT_DOUBLE_EQ(m.loss, 10.0 / 3);
  EXPECT_DOUBLE_EQ(m.rmse, std::sqrt(10.0 / 3));
  EXPECT_DOUBLE_EQ(m.mae, 4.0 / 3);
}

TEST(Metrics, OfNothing) {
  for (const Task task : {Task::kMulticlass, Task::kBinary, Task::kRegression}) {
    const Metrics m = MetricSum(task, Loss::kAuto, 2).result();
    EXPECT_EQ(m.count, 0);
    EXPECT_TRUE(std::isnan(m.loss));
    EXPECT_TRUE(std::isnan(m.roc_auc));
  }
}

TEST(Metrics, PartsMergeIntoTheWhole) {
  for (const Task task : {Task::kMulticlass, Task::kBinary, Task::kRegression}) {
    const at::Tensor logits = random_tensor({40, 2}, at::kFloat, 3);
    at::Tensor labels = random_tensor({40, 2}, at::kFloat, 4);
    if (task != Task::kRegression) labels = labels > 0;
    labels = task == Task::kMulticlass ? labels.select(1, 0).to(at::kLong) : labels.to(at::kFloat);
    MetricSum whole(task, Loss::kAuto, 2), merged(task, Loss::kAuto, 2);
    whole.add(logits, {labels});
    for (int64_t begin = 0; begin < 40; begin += 15) {
      const int64_t n = std::min<int64_t>(15, 40 - begin);
      MetricSum part(task, Loss::kAuto, 2);
      part.add(logits.narrow(0, begin, n), {labels.narrow(0, begin, n)});
      merged.merge(part.counts(), part.sums(), part.scores());
    }
    const Metrics a = whole.result(), b = merged.result();
    EXPECT_EQ(a.count, b.count);
    EXPECT_EQ(a.correct, b.correct);
    EXPECT_NEAR(a.loss, b.loss, 1e-12);
    if (task != Task::kRegression) {
      EXPECT_EQ(a.roc_auc, b.roc_auc);
      EXPECT_EQ(a.average_precision, b.average_precision);
      EXPECT_EQ(whole.scores(), merged.scores());
      EXPECT_FALSE(std::isnan(a.roc_auc));
    }
    MetricSum other(task, Loss::kAuto, 2);
    const std::vector<int64_t> counts = whole.counts();
    EXPECT_EQ(
        status_of([&] { other.merge(std::span(counts).subspan(1), whole.sums(), whole.scores()); }),
        Status::kInvalidArgument);
  }
}

TEST(GatherTargets, TakesThoseOfTheSeeds) {
  base::ThreadPool pool(1);
  graph::GraphParts parts;
  parts.num_nodes = {4};
  base::Tensor none = base::Tensor::empty(base::DType::kI64, {0});
  parts.topology = {graph::csc_from_coo(none.view(), none.view(), 4, 4, pool)};
  const std::vector<int64_t> y{3, -1, 2, 0};
  base::Tensor targets = base::Tensor::empty(base::DType::kF32, {4, 2});
  for (int64_t i = 0; i < 8; ++i) targets.as<float>()[i] = static_cast<float>(i);
  graph::Columns columns;
  columns.emplace("y", base::Tensor::copy_of(std::span<const int64_t>(y)));
  columns.emplace("t", targets);
  parts.node_columns.push_back(std::move(columns));
  data::Dataset dataset;
  dataset.graph = graph::Graph::create(std::move(parts));
  dataset.task = Task::kMulticlass;
  const std::vector<int64_t> seeds{2, 0, 0};
  EXPECT_TRUE(gather_targets(dataset, seeds, at::kFloat).labels.equal(classes({2, 3, 3})));
  EXPECT_EQ(status_of([&] { gather_targets(dataset, std::vector<int64_t>{4}, at::kFloat); }),
            Status::kRange);
  dataset.label = "t";
  EXPECT_EQ(status_of([&] { gather_targets(dataset, seeds, at::kFloat); }),
            Status::kInvalidArgument);
  dataset.task = Task::kBinary;
  const at::Tensor floats = gather_targets(dataset, seeds, at::kDouble).labels;
  EXPECT_EQ(floats.scalar_type(), at::kDouble);
  EXPECT_TRUE(floats.equal(numbers({4, 5, 0, 1, 0, 1}, {3, 2})));

  const std::vector<double> of_target{2, 0.5}, of_node{1, 5, 3, 7}, of_class{1, 4, 6, 8};
  dataset.class_weights = base::Tensor::copy_of(std::span(of_target));
  const auto weights = [&](const std::vector<int64_t>& ids) {
    return gather_targets(dataset, ids, at::kFloat).weights;
  };
  EXPECT_TRUE(weights({2, 0}).equal(numbers({2, 0.5, 2, 0.5}, {2, 2})));
  dataset.sample_weights = base::Tensor::copy_of(std::span(of_node));
  EXPECT_TRUE(weights({2, 0}).equal(numbers({6, 1.5, 2, 0.5}, {2, 2})));
  dataset.label = "y";
  dataset.task = Task::kMulticlass;
  dataset.class_weights = base::Tensor::copy_of(std::span(of_class));
  EXPECT_TRUE(weights({0, 1, 2, 3}).equal(numbers({8, 0, 18, 7}, {4})));
  dataset.class_weights = {};
  EXPECT_TRUE(weights({0, 1, 2, 3}).equal(numbers({1, 0, 3, 7}, {4})));

  dataset.label = "missing";
  EXPECT_EQ(status_of([&] { gather_targets(dataset, seeds, at::kFloat); }), Status::kNotFound);
}

}  // namespace
}  // namespace gnnmg::nn
