// A trained model in use: results for the nodes or graphs of a data set, for any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/cancel.h"
#include "base/latencies.h"
#include "predict/output.h"
#include "predict/row_source.h"

namespace gnnmg::predict {

struct PredictorConfig {
  // Neighbors that each node draws, one number a layer, that next to the ids first; -1: all. Empty:
  // whole neighborhoods, and results that are exact.
  std::vector<int64_t> fanouts;
  uint64_t seed = 0;
  data::Task task = data::Task::kNone;  // meaning of the results; kNone: the data set's
};

// True if the rows of all nodes are computed when the predictor is made, because whole
// neighborhoods do not determine those of single nodes.
bool needs_all_rows(const nn::Model& model, const data::Dataset& dataset,
                    const PredictorConfig& config);

class Predictor {
 public:
  // Error(kInvalidArgument) names a difference between model, data set and config.
  Predictor(const Subject& subject, const PredictorConfig& config, const base::CancelToken& cancel);

  const ResultForm& form() const { return form_; }
  bool exact() const { return exact_; }
  int64_t num_ids() const { return num_ids_; }
  // True if the work for so many ids does not justify a second thread.
  bool few(int64_t num_ids) const;

  // Writes the output's rows for these ids, in order, to `out`, which has room for them. Error
  // (kRange) names an id that there is not, kUnsupported an output that there is not. Any thread.
  void run(std::span<const int64_t> ids, const OutputKind& kind, void* out,
           const base::CancelToken& cancel) const;

  // Calls of run() that were answered, their ids, and how long they took.
  int64_t num_calls() const { return calls_; }
  int64_t num_rows() const { return rows_; }
  const base::Latencies& latencies() const { return latencies_; }

 private:
  void check_ids(std::span<const int64_t> ids) const;

  const bool of_graphs_, exact_;
  const int64_t num_ids_;
  std::unique_ptr<const RowSource> source_;
  ResultForm form_;
  mutable std::atomic<int64_t> calls_{0}, rows_{0};
  mutable base::Latencies latencies_;
};

}  // namespace gnnmg::predict
