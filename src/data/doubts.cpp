#include "data/doubts.h"

#include <algorithm>
#include <cmath>

namespace gnnmg::data {
namespace {

using base::Tensor;

void warn(base::Log& log, std::string text) { log.add(base::LogLevel::kWarning, std::move(text)); }

// Labels of floats as f64; others are undefined.
Tensor as_f64(const Tensor& labels) {
  Tensor given = widen_halves(labels);
  if (!base::is_floating(given.dtype())) return {};
  if (given.dtype() == base::DType::kF64) return given;
  Tensor wide = Tensor::empty(base::DType::kF64, given.shape());
  std::ranges::copy(given.as<const float>(), wide.as<double>().data());
  return wide;
}

// True if each row of several columns has one 1 among zeros.
bool is_one_hot(const Tensor& labels) {
  const int64_t columns = labels.shape().row_elements();
  const auto values = labels.as<const double>();
  if (columns < 2 || values.empty()) return false;
  for (int64_t row = 0; row < labels.rows(); ++row) {
    const auto of_row = values.subspan(row * columns, columns);
    if (std::ranges::count(of_row, 1.0) != 1 || std::ranges::count(of_row, 0.0) != columns - 1)
      return false;
  }
  return true;
}

// True if the first of several columns counts the rows, from 0 or 1, as an index does.
bool begin_with_index(const Tensor& labels) {
  constexpr int64_t kFewest = 4;  // rows: fewer are counted by chance
  const int64_t columns = labels.shape().row_elements();
  const auto values = labels.as<const double>();
  if (columns < 2 || labels.rows() < kFewest || (values[0] != 0 && values[0] != 1)) return false;
  for (int64_t row = 0; row < labels.rows(); ++row)
    if (values[row * columns] != values[0] + static_cast<double>(row)) return false;
  return true;
}

}  // namespace

std::optional<Tensor> whole_classes(const Tensor& labels) {
  constexpr double kMost = 1 << 30;
  const Tensor numbers = as_f64(labels);
  if (!numbers.defined() || numbers.shape().row_elements() != 1) return std::nullopt;
  Tensor classes = Tensor::empty(base::DType::kI64, {numbers.rows()});
  int64_t* out = classes.as<int64_t>().data();
  for (const double number : numbers.as<const double>()) {
    const double label = std::isnan(number) ? -1 : number;
    if (std::trunc(label) != label || label < -1 || label > kMost) return std::nullopt;
    *out++ = static_cast<int64_t>(label);
  }
  return classes;
}

void doubt_numbers(const Found& found, base::Log& log) {
  if (found.binary || !base::is_floating(found.labels.dtype())) return;
  if (begin_with_index(as_f64(found.labels)))
    warn(log, base::text(found.labels_from,
                         ": the first column numbers the rows, as an index does, but is taken for "
                         "labels"));
  if (found.regression) return;
  if (const auto classes = whole_classes(found.labels)) {
    const auto values = classes->as<const int64_t>();
    if (std::ranges::any_of(values, [](int64_t label) { return label > 0; }))
      warn(log, base::text(found.labels_from, ": labels of type ",
                           base::dtype_name(found.labels.dtype()),
                           " are taken for numbers, and all are whole; task=multiclass takes them "
                           "for classes, NaN for none"));
  } else if (is_one_hot(as_f64(found.labels))) {
    warn(log, base::text(found.labels_from, ": labels of shape ", found.labels.shape().to_string(),
                         " are taken for ", found.labels.shape().row_elements(),
                         " numbers each, but each row is one-hot; numpy.argmax(labels, 1) gives "
                         "classes"));
  }
}

void doubt_classes(const Found& found, const Labels& labels, const char* of, base::Log& log) {
  if (labels.task != Task::kMulticlass || found.num_classes > 0) return;
  std::vector<bool> has_label(labels.num_classes);
  for (const int64_t label : labels.values.as<const int64_t>())
    if (label >= 0) has_label[label] = true;
  const auto empty = std::ranges::count(has_label, false);
  if (empty == 0) return;
  const int64_t last = labels.num_classes - 1;
  std::string text = base::text(found.labels_from, ": ", empty, " of ", labels.num_classes,
                                " classes have no ", of, ", the first of them ",
                                std::ranges::find(has_label, false) - has_label.begin());
  if (last > 0 && !has_label[last - 1])
    text += base::text("; if ", last, " stands for no label, write -1 in its place");
  warn(log, std::move(text));
}

void doubt_splits(const Found& found, int64_t num_samples, base::Log& log) {
  for (const Split& split : found.splits) {
    const int64_t train = split.ids[0].rows(), validation = split.ids[1].rows();
    if (train + validation + split.ids[2].rows() == 0 && num_samples > 0)
      return warn(log, base::text(found.source, ": the split ", split.name, " ", split.index,
                                  " has no id in any part"));
    if (train == 0 || validation == 0 || split.ids[2].rows() > 0 ||
        train + validation == num_samples)
      continue;
    return warn(log, base::text(found.source, ": the split ", split.name, " ", split.index,
                                " has no test part, and ", num_samples - train - validation,
                                " ids in no part; codes are 0 (unused), 1 (train), 2 (validation) "
                                "and 3 (test)"));
  }
}

}  // namespace gnnmg::data
