// Metrics from counts, sums and scores. Separate from the losses because nothing here is
// differentiated.
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "nn/loss.h"

namespace gnnmg::nn {

using base::fail;
using base::Status;

namespace {

// Layout of counts(): the number of labeled rows (or targets), of correct ones, of those with the
// label among the first k, and three numbers per class (or target): labeled so, predicted so, both.
// Tasks with scores append the number of pairs of each target.
constexpr int64_t kCount = 0, kCorrect = 1, kFound = 2, kClasses = 3;
// Layout of sums(): losses, their weight, squared errors, absolute errors.
constexpr int64_t kLoss = 0, kWeight = 1, kSquares = 2, kAbsolutes = 3, kNumSums = 4;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// Tasks that keep scores: binary targets, and two classes as one target.
int64_t num_score_lists(data::Task task, int64_t num_classes) {
  if (task == data::Task::kBinary) return num_classes;
  return task == data::Task::kMulticlass && num_classes == 2 ? 1 : 0;
}

struct Ranked {
  double roc_auc = kUndefined, average_precision = kUndefined;
};

// Area under the ROC curve with ties counted half, and average precision with equal scores taken
// together. `pairs` holds (score, label) and is reordered.
Ranked rank(std::vector<std::pair<double, float>> pairs) {
  int64_t positives = 0;
  for (const auto& pair : pairs) positives += pair.second > 0.5f;
  const int64_t negatives = static_cast<int64_t>(pairs.size()) - positives;
  Ranked result;
  if (positives == 0) return result;
  for (const auto& pair : pairs)
    if (std::isnan(pair.first)) return result;
  std::sort(pairs.begin(), pairs.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  // Twice the number of ordered pairs, so that a tie is a whole number.
  int64_t above = 0, taken = 0, twice_ordered = 0;
  double precision_sum = 0;
  for (size_t i = 0; i < pairs.size();) {
    int64_t tied_positives = 0, tied = 0;
    for (const double score = pairs[i].first; i < pairs.size() && pairs[i].first == score; ++i) {
      tied_positives += pairs[i].second > 0.5f;
      ++tied;
    }
    twice_ordered += (tied - tied_positives) * (2 * above + tied_positives);
    above += tied_positives;
    taken += tied;
    precision_sum += static_cast<double>(tied_positives) * static_cast<double>(above) /
                     static_cast<double>(taken);
  }
  result.average_precision = precision_sum / static_cast<double>(positives);
  if (negatives > 0)
    result.roc_auc = static_cast<double>(twice_ordered) /
                     (2.0 * static_cast<double>(positives) * static_cast<double>(negatives));
  return result;
}

double mean_of_defined(const std::vector<double>& values) {
  double sum = 0;
  int64_t count = 0;
  for (double value : values)
    if (!std::isnan(value)) sum += value, ++count;
  return count ? sum / static_cast<double>(count) : kUndefined;
}

// Tells if a class is among the first k by score; of equal scores the first classes count, as for
// the predicted class.
bool found(const double* score, int64_t columns, int64_t label, int32_t k) {
  if (std::isnan(score[label])) return false;
  int64_t before = 0;
  for (int64_t c = 0; c < columns; ++c)
    before += c < label ? !(score[c] < score[label]) : c > label && !(score[c] <= score[label]);
  return before < k;
}

double quotient(double a, double b) { return b > 0 ? a / b : 0; }

}  // namespace

MetricSum::MetricSum(data::Task task, LossRule loss, int64_t num_classes, int32_t top_k)
    : task_(task),
      loss_(loss.kind == Loss::kAuto ? LossRule(loss_for(task)) : loss),
      num_classes_(num_classes),
      top_k_(top_k),
      counts_(kClasses + (task == data::Task::kRegression ? 0 : 3 * num_classes)),
      sums_(kNumSums),
      scores_(num_score_lists(task, num_classes)) {}

void MetricSum::add(const at::Tensor& logits, const Targets& targets,
                    std::span<int64_t> confusion) {
  const c10::NoGradGuard no_grad;
  // The only wait for a device.
  const at::Tensor values = logits.detach().cpu().to(at::kDouble).contiguous();
  const at::Tensor& labels = targets.labels;
  const LossSum loss = loss_sum(loss_, values, targets);
  sums_[kLoss] += loss.sum.item<double>();
  sums_[kWeight] += loss.weight;
  const int64_t rows = values.size(0), columns = values.size(1);
  if (columns != num_classes_)
    fail(Status::kInvalidArgument, "the logits have ", columns, " columns, expected ",
         num_classes_);
  const double* score = values.const_data_ptr<double>();

  if (task_ == data::Task::kMulticlass) {
    const at::Tensor flat = labels.contiguous();
    const int64_t* label = flat.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < rows; ++i, score += columns) {
      if (label[i] < 0) continue;
      const int64_t predicted = std::max_element(score, score + columns) - score;
      const bool defined = !std::isnan(score[predicted]);
      const bool correct = predicted == label[i] && defined;
      ++counts_[kCount];
      counts_[kCorrect] += correct;
      counts_[kFound] += found(score, columns, label[i], top_k_);
      if (!confusion.empty() && defined) ++confusion[label[i] * columns + predicted];
      ++counts_[kClasses + 3 * label[i]];
      ++counts_[kClasses + 3 * predicted + 1];
      counts_[kClasses + 3 * predicted + 2] += correct;
      if (!scores_.empty())
        scores_[0].emplace_back(score[1] - score[0], static_cast<float>(label[i]));
    }
    return;
  }
  const at::Tensor wanted = labels.to(at::kDouble).contiguous();
  const double* target = wanted.const_data_ptr<double>();
  for (int64_t i = 0; i < rows * columns; ++i) {
    if (std::isnan(target[i])) continue;
    ++counts_[kCount];
    if (task_ == data::Task::kRegression) {
      const double error = score[i] - target[i];
      sums_[kSquares] += error * error;
      sums_[kAbsolutes] += std::abs(error);
      continue;
    }
    const int64_t c = i % columns;
    const bool labeled = target[i] > 0.5, predicted = score[i] > 0;
    counts_[kCorrect] += labeled == predicted && !std::isnan(score[i]);
    counts_[kClasses + 3 * c] += labeled;
    counts_[kClasses + 3 * c + 1] += predicted;
    counts_[kClasses + 3 * c + 2] += labeled && predicted;
    scores_[c].emplace_back(score[i], static_cast<float>(target[i]));
  }
}

std::vector<int64_t> MetricSum::counts() const {
  std::vector<int64_t> all = counts_;
  for (const auto& list : scores_) all.push_back(static_cast<int64_t>(list.size()));
  return all;
}

std::vector<double> MetricSum::sums() const { return sums_; }

std::vector<double> MetricSum::scores() const {
  std::vector<double> all;
  for (const auto& list : scores_)
    for (const auto& [score, label] : list) {
      all.push_back(score);
      all.push_back(label);
    }
  return all;
}

void MetricSum::merge(std::span<const int64_t> counts, std::span<const double> sums,
                      std::span<const double> scores) {
  if (counts.size() != counts_.size() + scores_.size() || sums.size() != sums_.size())
    fail(Status::kInvalidArgument, "metrics to merge have ", counts.size(), " counts and ",
         sums.size(), " sums, expected ", counts_.size() + scores_.size(), " and ", sums_.size());
  const std::span<const int64_t> lengths = counts.subspan(counts_.size());
  if (std::accumulate(lengths.begin(), lengths.end(), int64_t{0}) * 2 !=
      static_cast<int64_t>(scores.size()))
    fail(Status::kInvalidArgument, "metrics to merge have ", scores.size() / 2,
         " scores, which do not match their counts");
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += counts[i];
  for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += sums[i];
  for (size_t list = 0; list < scores_.size(); ++list)
    for (int64_t i = 0; i < lengths[list]; ++i) {
      scores_[list].emplace_back(scores[0], static_cast<float>(scores[1]));
      scores = scores.subspan(2);
    }
}

std::vector<int64_t> MetricSum::target_confusion() const {
  std::vector<int64_t> all;
  for (int64_t c = 0; c < num_classes_; ++c) {
    const int64_t* k = &counts_[kClasses + 3 * c];
    const auto count = static_cast<int64_t>(scores_[c].size());
    all.insert(all.end(), {count - k[0] - k[1] + k[2], k[1] - k[2], k[0] - k[2], k[2]});
  }
  return all;
}

Metrics MetricSum::result() const {
  Metrics m;
  m.count = counts_[kCount];
  m.correct = counts_[kCorrect];
  m.loss = sums_[kWeight] > 0 ? sums_[kLoss] / sums_[kWeight] : kUndefined;
  m.roc_auc = m.average_precision = m.rmse = m.mae = m.top_k_accuracy = kUndefined;
  const double count = static_cast<double>(m.count);
  if (task_ == data::Task::kRegression) {
    if (m.count) {
      m.rmse = std::sqrt(sums_[kSquares] / count);
      m.mae = sums_[kAbsolutes] / count;
    }
    return m;
  }
  m.accuracy = quotient(static_cast<double>(m.correct), count);
  if (task_ == data::Task::kMulticlass && m.count)
    m.top_k_accuracy = static_cast<double>(counts_[kFound]) / count;
  int64_t labeled = 0, predicted = 0, both = 0, present = 0;
  double f1_sum = 0;
  for (int64_t c = 0; c < num_classes_; ++c) {
    const int64_t* k = &counts_[kClasses + 3 * c];
    labeled += k[0];
    predicted += k[1];
    both += k[2];
    if (k[0] + k[1] == 0) continue;
    ++present;
    f1_sum += 2.0 * static_cast<double>(k[2]) / static_cast<double>(k[0] + k[1]);
  }
  m.f1_micro = quotient(2.0 * static_cast<double>(both), static_cast<double>(labeled + predicted));
  m.f1_macro = quotient(f1_sum, static_cast<double>(present));
  if (m.count == 0) m.accuracy = m.f1_micro = m.f1_macro = kUndefined;  // undefined, not bad
  std::vector<double> areas, precisions;
  for (const auto& list : scores_) {
    const Ranked ranked = rank(list);
    areas.push_back(ranked.roc_auc);
    if (!std::isnan(ranked.roc_auc)) precisions.push_back(ranked.average_precision);
  }
  m.roc_auc = mean_of_defined(areas);
  m.average_precision = mean_of_defined(precisions);
  return m;
}

}  // namespace gnnmg::nn
