// Results of evaluations as they cross the border.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capi/arguments.h"
#include "capi/tensor.h"
#include "data/dataset.h"
#include "gnnmg.h"
#include "nn/metrics.h"
#include "train/report.h"

namespace gnnmg::capi {

inline gnnmg_metrics metrics_of(const nn::Metrics& in, data::Task task) {
  gnnmg_metrics out{};
  out.struct_size = sizeof out;
  out.task = static_cast<gnnmg_task>(task);
  out.count = in.count;
  out.correct = in.correct;
  out.loss = in.loss;
  out.accuracy = in.accuracy;
  out.f1_micro = in.f1_micro;
  out.f1_macro = in.f1_macro;
  out.roc_auc = in.roc_auc;
  out.average_precision = in.average_precision;
  out.rmse = in.rmse;
  out.mae = in.mae;
  out.top_k_accuracy = in.top_k_accuracy;
  return out;
}

// Error(kUnsupported) where there is no confusion matrix.
inline void check_confusion(data::Task task, int64_t num_classes) {
  constexpr int64_t kMost = 10'000;
  if (task == data::Task::kRegression)
    fail(Status::kUnsupported, "the labels are numbers, and a confusion matrix is of classes");
  if (task == data::Task::kMulticlass && num_classes > kMost)
    fail(Status::kUnsupported, "the data set has ", num_classes,
         " classes, and a confusion matrix has at most ", kMost);
}

inline Export confusion_of(const nn::Metrics& in, data::Task task, int64_t num_classes) {
  const auto owner = std::make_shared<std::vector<int64_t>>(in.confusion);
  const base::Shape shape = task == data::Task::kBinary ? base::Shape{num_classes, 2, 2}
                                                        : base::Shape{num_classes, num_classes};
  return export_tensor({owner->data(), base::DType::kI64, shape}, owner, false);
}

inline gnnmg_times times_of(const train::StepSeconds& in) {
  return {in.seconds,         in.wait_seconds,   in.sample_seconds,    in.gather_seconds,
          in.compute_seconds, in.reduce_seconds, in.optimizer_seconds, in.peer_wait_seconds};
}

// The target of the rows of all nodes: a file or a tensor.
class RowsPlace {
 public:
  RowsPlace(const char* path, gnnmg_tensor** rows) : path_(path), rows_(rows) {
    if (rows != nullptr) *rows = nullptr;
  }
  OutCheck check() const { return path_ == nullptr ? outs(Out{rows_, "rows"}) : OutCheck{}; }
  // Empty: to a tensor.
  std::string file() const {
    if (path_ == nullptr) return {};
    if (rows_ != nullptr)
      fail(Status::kInvalidArgument,
           "argument 'rows' is not NULL, but the rows go to the file of argument 'path'");
    return std::string(read_name(path_, "path"));
  }

 private:
  const char* path_;
  gnnmg_tensor** rows_;
};

}  // namespace gnnmg::capi
