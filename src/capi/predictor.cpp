// Predictors: a trained model in use, by any number of threads.
#include "predict/predictor.h"

#include <algorithm>
#include <limits>

#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/device_place.h"
#include "capi/model.h"
#include "capi/settings.h"
#include "capi/tensor.h"

namespace gnnmg::capi {
namespace {

static_assert(static_cast<int32_t>(predict::Output::kLogits) == GNNMG_OUTPUT_LOGITS &&
              static_cast<int32_t>(predict::Output::kProbabilities) == GNNMG_OUTPUT_PROBABILITIES &&
              static_cast<int32_t>(predict::Output::kClasses) == GNNMG_OUTPUT_CLASSES &&
              static_cast<int32_t>(predict::Output::kEmbeddings) == GNNMG_OUTPUT_EMBEDDINGS);

class Predictor : public Object {
 public:
  static constexpr Kind kKind = Kind::kPredictor;
  Predictor(const std::shared_ptr<Context>& owner, const predict::Subject& subject,
            const predict::PredictorConfig& config)
      : Object(kKind, owner, owner->queue),
        core(subject, config, owner->work_token()),
        waits(subject.dataset->graph->elsewhere() != nullptr) {}

  const predict::Predictor core;
  const bool waits;  // calls may wait for other processes
};

constexpr SettingRow<predict::PredictorConfig> kPredictorRows[] = {
    GNNMG_SETTING(predict::PredictorConfig, fanouts, "-1 to 2147483647",
                  "Neighbors that each node draws, one number a layer, next to the ids first; -1: "
                  "all. Without it, neighborhoods are whole."),
    GNNMG_SETTING(predict::PredictorConfig, seed, nullptr, "Seed of the draws.")
        .only([](const predict::PredictorConfig& c) { return !c.fanouts.empty(); }, "with fanouts"),
    GNNMG_SETTING(predict::PredictorConfig, task, nullptr,
                  "Meaning of the results. none: that of the data set's labels, or without labels "
                  "that of the data the model was made for or trained on, which its file tells; "
                  "without any there are neither probabilities nor classes."),
};

predict::PredictorConfig read_predictor(const char* settings) {
  predict::PredictorConfig config;
  std::vector<Word> words = split_words("predictor", settings);
  apply_words<predict::PredictorConfig>(words, kPredictorRows, config);
  return config;
}

// In main memory, and nobody else's.
std::shared_ptr<nn::Model> own_copy(const Model& model) {
  const std::shared_ptr<DevicePlace> place = model.place();
  return work_at(place, [&] {
    if (place) place->synchronize();
    return std::shared_ptr<nn::Model>(model.get()->clone_on(nullptr));
  });
}

// Embeddings of other data are of use, so a difference is no error.
void warn_of_other_classes(Context& context, const nn::Model& model, const data::Dataset& data) {
  const int64_t outputs = model.config().output_width();
  if (data.task == data::Task::kNone || outputs == data.num_classes) return;
  context.log.add(
      base::LogLevel::kWarning,
      base::text("the model has ", outputs, " outputs, and ", data.title(), " has ",
                 data.num_classes, data.task == data::Task::kMulticlass ? " classes" : " targets",
                 ": the predictor's classes are not those of the data set"));
}

// Bytes of the output for so many ids.
size_t size_of_output(const predict::ResultForm& form, const predict::OutputKind& kind,
                      int64_t num_ids) {
  const int64_t row = kind.cols(form) * base::dtype_size(kind.dtype(form));
  if (num_ids > std::numeric_limits<int64_t>::max() / std::max<int64_t>(row, 1))
    fail(Status::kInvalidArgument, "output takes ", num_ids, " rows of ", row,
         " bytes, more than any memory holds");
  return static_cast<size_t>(num_ids * row);
}

void check_room(const predict::ResultForm& form, const predict::OutputKind& kind, int64_t num_ids,
                const void* out, size_t capacity, size_t size) {
  const base::DType dtype = kind.dtype(form);
  if (capacity < size)
    fail(Status::kInvalidArgument, "output takes ", size, " bytes (", num_ids, " x ",
         kind.cols(form), " ", base::dtype_name(dtype), "), the array has ", capacity);
  if (out == nullptr && size > 0) fail(Status::kInvalidArgument, "argument 'out' is NULL");
  if (reinterpret_cast<uintptr_t>(out) % static_cast<size_t>(base::dtype_size(dtype)) != 0)
    fail(Status::kInvalidArgument, "argument 'out' is not aligned to ", base::dtype_size(dtype),
         " bytes");
}

}  // namespace

std::vector<SettingFacts> predictor_settings() {
  return list_settings<predict::PredictorConfig>(kPredictorRows, {});
}

}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_predictor_create(const gnnmg_model* model, const gnnmg_dataset* dataset,
                                    const char* settings, gnnmg_predictor** predictor) {
  return guard(outs(Out{predictor, "predictor"}), [&] {
    const auto m = read<Model>(model, "model");
    const auto d = read<Dataset>(dataset, "dataset");
    check_same_context(*m, *d);
    gnnmg::predict::PredictorConfig config = read_predictor(settings);
    const gnnmg::data::DatasetRef& data = d->data();
    if (config.task == gnnmg::data::Task::kNone && data->task == gnnmg::data::Task::kNone)
      config.task = m->facts().task;
    if (data->graph->elsewhere()) check_may_wait();
    const bool all = gnnmg::predict::needs_all_rows(*m->get(), *data, config);
    TorchScope scope(*m->context, all ? gnnmg::nn::Loops::kMany : gnnmg::nn::Loops::kOne);
    gnnmg::predict::Subject subject{own_copy(*m), data, nullptr};
    if (subject.model->config().reads_features()) subject.store = d->features();
    warn_of_other_classes(*m->context, *subject.model, *data);
    *predictor = new_handle<gnnmg_predictor>(make_object<Predictor>(m->context, subject, config));
  });
}

gnnmg_status gnnmg_predictor_run(const gnnmg_predictor* predictor, const int64_t* ids,
                                 int64_t num_ids, gnnmg_output output, void* out, size_t capacity,
                                 size_t* needed) {
  if (needed != nullptr) *needed = 0;
  return guard([&] {
    const auto p = read<Predictor>(predictor, "predictor");
    GNNMG_CHECK_CONSTANT(output, GNNMG_OUTPUT_LOGITS, GNNMG_OUTPUT_EMBEDDINGS, "output");
    const auto list = read_list(ids, num_ids, "ids");
    const auto& kind = gnnmg::predict::kind_of(static_cast<gnnmg::predict::Output>(output));
    kind.require(p->core.form());
    const size_t size = size_of_output(p->core.form(), kind, num_ids);
    if (needed != nullptr) *needed = size;
    if (out == nullptr && capacity == 0 && needed != nullptr) return;
    check_room(p->core.form(), kind, num_ids, out, capacity, size);
    if (p->waits) check_may_wait();
    TorchScope scope(*p->context,
                     p->core.few(num_ids) ? gnnmg::nn::Loops::kOne : gnnmg::nn::Loops::kMany);
    p->core.run(list, kind, out, p->context->work_token());
  });
}

gnnmg_status gnnmg_predictor_get_info(const gnnmg_predictor* predictor,
                                      gnnmg_predictor_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto p = find<Predictor>(predictor, "predictor");
    const gnnmg::predict::ResultForm& form = p->core.form();
    const auto cols = [&](gnnmg::predict::Output output) {
      return gnnmg::predict::kind_of(output).cols(form);
    };
    gnnmg_predictor_info facts{};
    facts.dtype = dtype_code(form.dtype);
    facts.task = static_cast<int32_t>(form.task);
    facts.exact = p->core.exact();
    facts.num_ids = p->core.num_ids();
    facts.output_dim = cols(gnnmg::predict::Output::kLogits);
    facts.classes_dim = cols(gnnmg::predict::Output::kClasses);
    facts.embedding_dim = cols(gnnmg::predict::Output::kEmbeddings);
    facts.num_calls = p->core.num_calls();
    facts.num_rows = p->core.num_rows();
    facts.p50_seconds = p->core.latencies().quantile(0.5);
    facts.p99_seconds = p->core.latencies().quantile(0.99);
    give(info, facts);
  });
}

void gnnmg_predictor_free(gnnmg_predictor* predictor) { free_handle(predictor, Kind::kPredictor); }

}  // extern "C"
