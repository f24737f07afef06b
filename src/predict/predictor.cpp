#include "predict/predictor.h"

#include <c10/core/GradMode.h>

#include <chrono>
#include <cstring>

#include "base/error.h"
#include "graph/homogeneous.h"
#include "train/eval/evaluation.h"
#include "train/eval/graph_inference.h"

namespace gnnmg::predict {
namespace {

using base::Status;

// About a millisecond of one core. More justifies threads.
constexpr double kFewOperations = 16e6;

void check_features(const nn::ModelConfig& model, const data::Dataset& dataset) {
  if (!model.reads_features()) {
    const int64_t nodes = dataset.graph->num_nodes(dataset.node_type);
    if (nodes != model.input_dim)
      base::fail(Status::kInvalidArgument, "the model has weights for ", model.input_dim,
                 " nodes, the data set has ", nodes);
    return;
  }
  if (dataset.feature_dim() == 0)
    base::fail(Status::kNotFound, "the model reads ", model.input_dim,
               " columns of features, the data set has no features");
  if (dataset.feature_dim() != model.input_dim)
    base::fail(Status::kInvalidArgument, "the model reads ", model.input_dim,
               " columns, the data set's '", dataset.feature, "' has ", dataset.feature_dim());
}

void check_fit(const nn::Model& model, const data::Dataset& dataset,
               const PredictorConfig& config) {
  graph::expect_homogeneous(*dataset.graph, "models");
  check_features(model.config(), dataset);
  const bool reads_out = model.config().readout != nn::Readout::kNone;
  if (reads_out && !dataset.of_graphs())
    base::fail(Status::kInvalidArgument, "the model has a readout, so its results are of graphs, ",
               "and the data set is one graph");
  if (config.fanouts.empty()) return;
  if (reads_out)
    base::fail(
        Status::kInvalidArgument,
        "predictor settings: fanouts: the model's results are of graphs, which are read whole");
  if (static_cast<int64_t>(config.fanouts.size()) != model.config().num_layers)
    base::fail(Status::kInvalidArgument, "predictor settings: fanouts: ", config.fanouts.size(),
               config.fanouts.size() == 1 ? " number" : " numbers", ", and the model has ",
               model.config().num_layers, " layers");
}

void expect_whole(const nn::Model& model, const data::Dataset& dataset) {
  const char* const obstacle = model.piece_needs().obstacle;
  if (!dataset.graph->elsewhere() || !obstacle) return;
  base::fail(Status::kUnsupported, "exact results of a model with ", obstacle,
             " need the whole graph in one place, and the data set lies in parts; add fan-outs to "
             "the settings, as fanouts=10,10");
}

std::unique_ptr<const RowSource> make_source(const Subject& subject, const PredictorConfig& config,
                                             const base::CancelToken& cancel) {
  const nn::Model& model = *subject.model;
  if (train::gives_graphs(model, *subject.dataset)) return make_graph_source(subject, cancel);
  if (needs_all_rows(model, *subject.dataset, config)) {
    expect_whole(model, *subject.dataset);
    return make_table_source(subject, cancel);
  }
  const std::vector<int64_t> all(static_cast<size_t>(model.config().num_layers), -1);
  return make_neighborhood_source(subject, config.fanouts.empty() ? all : config.fanouts,
                                  config.seed, cancel);
}

ResultForm form_of(const Subject& subject, const RowSource& source, data::Task task) {
  const nn::ModelConfig& model = subject.model->config();
  return {model.dtype, model.output_width(), source.hidden_width(),
          task == data::Task::kNone ? subject.dataset->task : task};
}

}  // namespace

bool needs_all_rows(const nn::Model& model, const data::Dataset& dataset,
                    const PredictorConfig& config) {
  if (!config.fanouts.empty() || train::gives_graphs(model, dataset)) return false;
  const nn::PieceNeeds needs = model.piece_needs();
  // Degrees that a layer takes from its block are smaller there than in the graph.
  return needs.obstacle || needs.all_nodes ||
         ((needs.degrees || needs.sent) && !model.reads_degrees());
}

Predictor::Predictor(const Subject& subject, const PredictorConfig& config,
                     const base::CancelToken& cancel)
    : of_graphs_(train::gives_graphs(*subject.model, *subject.dataset)),
      exact_(config.fanouts.empty()),
      num_ids_(train::num_results(*subject.model, *subject.dataset)) {
  check_fit(*subject.model, *subject.dataset, config);
  const c10::NoGradGuard no_grad;
  source_ = make_source(subject, config, cancel);
  form_ = form_of(subject, *source_, config.task);
}

bool Predictor::few(int64_t num_ids) const {
  return static_cast<double>(num_ids) * source_->work_of_id() < kFewOperations;
}

void Predictor::check_ids(std::span<const int64_t> ids) const {
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= num_ids_)
      base::fail(Status::kRange, "ids[", i, "] is ", ids[i], ", expected 0 to ", num_ids_ - 1,
                 ", the ", of_graphs_ ? "graphs" : "nodes", " of the data set");
}

void Predictor::run(std::span<const int64_t> ids, const OutputKind& kind, void* out,
                    const base::CancelToken& cancel) const {
  const auto start = std::chrono::steady_clock::now();
  kind.require(form_);
  check_ids(ids);
  if (!ids.empty()) {
    const c10::NoGradGuard no_grad;
    const at::Tensor made =
        kind.make(source_->rows(ids, kind.of_hidden_rows(), cancel), form_).contiguous();
    std::memcpy(out, made.const_data_ptr(), made.nbytes());
  }
  const auto took = std::chrono::steady_clock::now() - start;
  latencies_.add(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  calls_.fetch_add(1, std::memory_order_relaxed);
  rows_.fetch_add(static_cast<int64_t>(ids.size()), std::memory_order_relaxed);
}

}  // namespace gnnmg::predict
