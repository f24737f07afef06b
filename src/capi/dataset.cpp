#include "capi/dataset.h"

#include <algorithm>

#include "base/file.h"
#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/dataset_settings.h"
#include "capi/tensor.h"
#include "data/arrays.h"
#include "data/edge_tensors.h"
#include "data/split.h"
#include "data/weights.h"
#include "graph/homogeneous.h"

namespace gnnmg::capi {

Dataset::Dataset(std::shared_ptr<Context> owner, data::DatasetRef made)
    : Object(kKind, owner, owner->queue),
      data_(std::move(made)),
      graph_(std::make_shared<Graph>(owner, data_->graph)),
      store_(std::make_shared<Store>()) {}

Dataset::Dataset(const Dataset& other, std::string_view split, int32_t index)
    : Object(kKind, other.context, other.queue),
      data_(other.data_),
      graph_(other.graph_),
      split_(static_cast<size_t>(&data_->split(split, index) - data_->splits.data())),
      store_(other.store_) {}

const data::Split& Dataset::split() const {
  if (data_->splits.empty())
    fail(Status::kNotFound, data_->title(),
         " has no split; gnnmg_dataset_add_split() and gnnmg_dataset_add_random_split() make one");
  return data_->splits[split_];
}

std::span<const int64_t> Dataset::part(gnnmg_part part) const {
  GNNMG_CHECK_CONSTANT(part, GNNMG_PART_TRAIN, GNNMG_PART_TEST, "part");
  return split().part(static_cast<data::SplitPart>(part));
}

void Dataset::add_split(data::Split split) {
  auto next = std::make_shared<data::Dataset>(*data_);
  split.index = static_cast<int32_t>(
      std::count_if(next->splits.begin(), next->splits.end(),
                    [&](const data::Split& other) { return other.name == split.name; }));
  next->splits.push_back(std::move(split));
  split_ = next->splits.size() - 1;
  data_ = std::move(next);
}

void Dataset::add_splits(std::vector<data::Split> splits) {
  auto next = std::make_shared<data::Dataset>(*data_);
  for (const data::Split& other : next->splits)
    if (other.name == splits[0].name)
      fail(Status::kInvalidArgument, "the data set has a split '", other.name, "' already");
  split_ = next->splits.size();
  for (data::Split& split : splits) next->splits.push_back(std::move(split));
  data_ = std::move(next);
}

void Dataset::set_class_weights(base::Tensor weights) {
  auto next = std::make_shared<data::Dataset>(*data_);
  next->class_weights = std::move(weights);
  data_ = std::move(next);
}

void Dataset::set_sample_weights(base::Tensor weights) {
  auto next = std::make_shared<data::Dataset>(*data_);
  next->sample_weights = std::move(weights);
  data_ = std::move(next);
}

std::shared_ptr<const feature::FeatureStore> Dataset::features() const {
  if (data_->feature.empty()) return nullptr;
  std::lock_guard lock(store_->mutex);
  if (store_->made == nullptr) {
    store_->made = feature::make_store(*data_->graph, data_->feature, data_->node_type);
    if (store_->made == nullptr)
      fail(Status::kNotFound, "the graph has no node tensor '", data_->feature, "'");
  }
  return store_->made;
}

std::shared_ptr<const feature::FeatureStore> Dataset::need_features() const {
  auto store = features();
  if (store == nullptr) fail(Status::kNotFound, data_->title(), " has no features");
  return store;
}

void Dataset::need_labels() const {
  if (data_->task == data::Task::kNone) fail(Status::kNotFound, data_->title(), " has no labels");
}

namespace {

// The name of a node tensor of a graph with one node type; empty for NULL.
std::string tensor_name(const graph::Graph& graph, const char* text, const char* name) {
  if (text == nullptr) return {};
  std::string key(read_name(text, name));
  if (graph.node_column(key) == nullptr)
    fail(Status::kNotFound, "argument '", name, "': the graph has no node tensor '", key, "'");
  return key;
}

// The rules for files hold for arrays too. A mapped file was checked when it was opened.
void check_finite(const graph::Column& column, const std::string& what, base::ThreadPool& pool) {
  const auto* dense = std::get_if<base::Tensor>(&column);
  if (dense != nullptr && base::MappedFile::of(dense->owner()) != nullptr) return;
  data::check_finite(column, what, pool);
}

// Checks the features of nodes, if any, and the edge tensors that models read.
void check_features(const graph::Graph& graph, const std::string& name, base::ThreadPool& pool) {
  if (!name.empty())
    check_finite(*graph.node_column(name), base::text("features '", name, "'"), pool);
  for (const graph::Columns& columns : graph.parts().edge_columns)
    for (const auto& [edge_name, column] : columns)
      if (data::is_edge_input(edge_name))
        check_finite(column, base::text("edge tensor '", edge_name, "'"), pool);
}

std::string task_name(gnnmg_task task) { return nn::choices_of(data::Task()).constant(task); }

void check_task(base::DType labels, std::string_view name, gnnmg_task task) {
  const bool floats = base::is_floating(labels);
  if ((task == GNNMG_TASK_MULTICLASS && floats) || (task == GNNMG_TASK_REGRESSION && !floats))
    fail(Status::kInvalidArgument, "task is ", task_name(task), ", but the labels '", name,
         "' are ", base::dtype_name(labels));
}

void check_task(const graph::Graph& graph, const std::string& labels, gnnmg_task task) {
  GNNMG_CHECK_CONSTANT(task, GNNMG_TASK_NONE, GNNMG_TASK_REGRESSION, "task");
  if (labels.empty()) {
    if (task != GNNMG_TASK_NONE)
      fail(Status::kInvalidArgument, "task is ", task_name(task), ", but there are no labels");
    return;
  }
  const auto* tensor = std::get_if<base::Tensor>(graph.node_column(labels));
  if (tensor == nullptr)
    fail(Status::kInvalidArgument, "the node tensor '", labels,
         "' is sparse; labels must be dense");
  check_task(tensor->dtype(), labels, task);
}

Export export_weights(const Dataset& dataset, const base::Tensor& weights, const char* kind) {
  if (!weights.defined())
    fail(Status::kNotFound, dataset.data()->title(), " has no ", kind, " weights");
  return export_tensor(weights, true);
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;
using gnnmg::data::DatasetRef;

extern "C" {

gnnmg_status gnnmg_dataset_open(const gnnmg_context* context, const char* path,
                                const char* settings, gnnmg_dataset** dataset, int64_t timeout_ms) {
  return guard(outs(Out{dataset, "dataset"}), [&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto c = find<Context>(context, "context");
    const std::string file(read_name(path, "path"));
    gnnmg::data::OpenOptions options = read_open_options(settings);
    options.max_bytes = c->options().max_file_bytes;
    const std::string key =
        gnnmg::base::text("open ", file, '\0', settings == nullptr ? "" : settings);
    const Outcome outcome = wait_for_job(
        c->pendings, key, *c->queue, timeout_ms,
        [&] {
          return start_job(c, [context = c.get(), file, options, token = c->work_token()] {
            return std::make_shared<DatasetRef>(
                gnnmg::data::open_dataset(file, options, {context->pool, context->log, token}));
          });
        },
        [] {});
    if (outcome.pending) return GNNMG_PENDING;
    *dataset = new_handle<gnnmg_dataset>(std::make_shared<Dataset>(c, outcome.as<DatasetRef>()));
    return GNNMG_OK;
  });
}

gnnmg_status gnnmg_dataset_create(const gnnmg_graph* graph, const char* features,
                                  const char* labels, gnnmg_task task, int64_t num_classes,
                                  gnnmg_dataset** dataset) {
  return guard(outs(Out{dataset, "dataset"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    check_least(num_classes, 0, "num_classes");
    const gnnmg::graph::GraphRef made = g->made();
    if (made->schema().node_types.size() != 1)
      fail(Status::kUnsupported, "the graph has ", made->schema().node_types.size(),
           " node types; data sets are made around graphs with one");
    const std::string x = tensor_name(*made, features, "features");
    const std::string y = tensor_name(*made, labels, "labels");
    check_task(*made, y, task);
    check_features(*made, x, g->context->pool);
    *dataset = new_handle<gnnmg_dataset>(std::make_shared<Dataset>(
        g->context,
        gnnmg::data::make_dataset(made, x, y, task == GNNMG_TASK_BINARY, {}, num_classes)));
    g->freeze();
  });
}

gnnmg_status gnnmg_dataset_create_graphs(const gnnmg_graph* graph, const int64_t* graph_ptr,
                                         int64_t num_graphs, const char* features,
                                         const gnnmg_tensor* labels, gnnmg_task task,
                                         int64_t num_classes, gnnmg_dataset** dataset) {
  return guard(outs(Out{dataset, "dataset"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    gnnmg::base::Tensor given;
    if (labels != nullptr) given = borrow_tensor(labels, "labels");
    check_least(num_graphs, 1, "num_graphs");
    check_least(num_classes, 0, "num_classes");
    GNNMG_CHECK_CONSTANT(task, GNNMG_TASK_NONE, GNNMG_TASK_REGRESSION, "task");
    const gnnmg::graph::GraphRef made = g->made();
    gnnmg::graph::expect_homogeneous(*made, "sets of many graphs");
    const auto starts = read_list(graph_ptr, num_graphs + 1, "graph_ptr");
    gnnmg::base::Tensor rows;
    if (labels != nullptr) {
      const gnnmg::base::TensorView& view = given.view();
      check_task(view.dtype, "labels", task);
      gnnmg::data::check_bools(view, "labels");
      rows = copy_array(view.data, view.dtype, view.shape, "labels");
    } else if (task != GNNMG_TASK_NONE) {
      fail(Status::kInvalidArgument, "task is ", task_name(task), ", but there are no labels");
    }
    const std::string x = tensor_name(*made, features, "features");
    check_features(*made, x, g->context->pool);
    *dataset = new_handle<gnnmg_dataset>(std::make_shared<Dataset>(
        g->context,
        gnnmg::data::make_dataset_of_graphs(made, gnnmg::base::Tensor::copy_of<int64_t>(starts), x,
                                            labels != nullptr ? "y" : "", std::move(rows),
                                            task == GNNMG_TASK_BINARY, {}, num_classes)));
    g->freeze();
  });
}

void gnnmg_dataset_free(gnnmg_dataset* dataset) { free_handle(dataset, Kind::kDataset); }

gnnmg_status gnnmg_dataset_save(const gnnmg_dataset* dataset, const char* path,
                                int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto d = read<Dataset>(dataset, "dataset");
    const std::string folder(read_name(path, "path"));
    const Outcome outcome = wait_for_job(
        d->pendings, "save " + folder, *d->queue, timeout_ms,
        [&] {
          return start_job(d->context, [data = d->data(), folder]() -> Job::Result {
            gnnmg::data::save_dataset(*data, folder);
            return nullptr;
          });
        },
        [] {});
    return outcome.pending ? GNNMG_PENDING : GNNMG_OK;
  });
}

gnnmg_status gnnmg_dataset_get_info(const gnnmg_dataset* dataset, gnnmg_dataset_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    const gnnmg::data::Dataset& data = *d->data();
    gnnmg_dataset_info facts{};
    facts.task = static_cast<gnnmg_task>(data.task);
    facts.num_graphs = data.num_graphs();
    for (const int64_t count : data.graph->parts().num_nodes) facts.num_nodes += count;
    for (size_t type = 0; type < data.graph->schema().edge_types.size(); ++type)
      facts.num_edges += data.graph->num_edges(static_cast<int32_t>(type));
    facts.feature_dim = data.feature_dim();
    facts.num_classes = data.num_classes;
    facts.num_splits = static_cast<int64_t>(data.splits.size());
    give(info, facts);
  });
}

gnnmg_status gnnmg_dataset_get_names(const gnnmg_dataset* dataset, const char** name,
                                     const char** features, const char** labels) {
  return guard(outs(Out{name, "name"}, Out{features, "features"}, Out{labels, "labels"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    *name = d->keep_text(d->data()->name);
    *features = d->keep_text(d->data()->feature);
    *labels = d->keep_text(d->data()->label);
  });
}

gnnmg_status gnnmg_dataset_get_graph(const gnnmg_dataset* dataset, int64_t index,
                                     gnnmg_graph** graph) {
  return guard(outs(Out{graph, "graph"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    if (index != 0)
      fail(Status::kNotFound, "graph ", index, " does not exist; ",
           d->data()->of_graphs() ? "that with all graphs side by side is graph 0"
                                  : "the data set has 1");
    *graph = new_handle<gnnmg_graph>(d->graph());
  });
}

gnnmg_status gnnmg_dataset_get_split_info(const gnnmg_dataset* dataset, int64_t position,
                                          const char** name, gnnmg_split_info* info) {
  return guard(outs(Out{name, "name"}, Out{info, "info"}), [&]() -> gnnmg_status {
    const auto d = read<Dataset>(dataset, "dataset");
    check_listed(position, "position");
    const auto& splits = d->data()->splits;
    if (position >= static_cast<int64_t>(splits.size())) return GNNMG_END;
    const gnnmg::data::Split& split = splits[static_cast<size_t>(position)];
    *name = d->keep_text(split.name);
    gnnmg_split_info facts{};
    facts.index = split.index;
    facts.num_train = split.ids[0].rows();
    facts.num_validation = split.ids[1].rows();
    facts.num_test = split.ids[2].rows();
    give(info, facts);
    return GNNMG_OK;
  });
}

gnnmg_status gnnmg_dataset_select_split(const gnnmg_dataset* dataset, const char* name,
                                        int32_t index, gnnmg_dataset** selected) {
  return guard(outs(Out{selected, "selected"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    *selected = new_handle<gnnmg_dataset>(std::make_shared<Dataset>(
        *d, name == nullptr ? std::string_view() : read_name(name, "name"), index));
  });
}

gnnmg_status gnnmg_dataset_add_split(gnnmg_dataset* dataset, const char* name, const int64_t* train,
                                     int64_t num_train, const int64_t* validation,
                                     int64_t num_validation, const int64_t* test,
                                     int64_t num_test) {
  return guard([&] {
    const auto d = hold<Dataset>(dataset, "dataset");
    const std::string key(read_new_name(name, "name"));
    d->add_split(gnnmg::data::split_from_ids(
        read_list(train, num_train, "train"), read_list(validation, num_validation, "validation"),
        read_list(test, num_test, "test"), d->num_samples(), key, 0, "split '" + key + "'",
        d->data()->sample_name()));
  });
}

gnnmg_status gnnmg_dataset_add_random_split(gnnmg_dataset* dataset, const char* name,
                                            const char* settings) {
  return guard([&] {
    const auto d = hold<Dataset>(dataset, "dataset");
    const std::string key(read_new_name(name, "name"));
    std::vector<Word> words = split_words("split", settings);
    SplitSettings split;
    apply_words<SplitSettings>(words, split_rows(), split);
    gnnmg::data::Split drawn = draw_split(*d->data(), split, key);
    d->context->log.add(
        gnnmg::base::LogLevel::kInfo,
        gnnmg::base::text(d->data()->title(), ": the split \"", key,
                          "\" is drawn at random: ", drawn.ids[0].rows(), " train, ",
                          drawn.ids[1].rows(), " validation, ", drawn.ids[2].rows(), " test"));
    d->add_split(std::move(drawn));
  });
}

gnnmg_status gnnmg_dataset_add_folds(gnnmg_dataset* dataset, const char* name,
                                     const char* settings) {
  return guard([&] {
    const auto d = hold<Dataset>(dataset, "dataset");
    const std::string key(read_new_name(name, "name"));
    std::vector<gnnmg::data::Split> splits = make_folds(*d->data(), settings);
    for (gnnmg::data::Split& split : splits) split.name = key;
    d->add_splits(std::move(splits));
  });
}

gnnmg_status gnnmg_dataset_export_labels(const gnnmg_dataset* dataset, gnnmg_tensor** labels) {
  return guard(outs(Out{labels, "labels"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    d->need_labels();
    *labels = export_tensor(*d->data()->labels(), true).release();
  });
}

gnnmg_status gnnmg_dataset_export_graph_ptr(const gnnmg_dataset* dataset,
                                            gnnmg_tensor** graph_ptr) {
  return guard(outs(Out{graph_ptr, "graph_ptr"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    if (!d->data()->of_graphs())
      fail(Status::kNotFound, d->data()->title(), " is one graph, not many");
    *graph_ptr = export_tensor(d->data()->graph_ptr, true).release();
  });
}

gnnmg_status gnnmg_dataset_set_class_weights(gnnmg_dataset* dataset, const double* weights,
                                             int64_t num_weights) {
  return guard([&] {
    const auto d = hold<Dataset>(dataset, "dataset");
    const auto list = read_list(weights, num_weights, "weights");
    d->set_class_weights(list.empty() ? gnnmg::base::Tensor()
                                      : gnnmg::data::make_class_weights(*d->data(), list));
  });
}

gnnmg_status gnnmg_dataset_balance_classes(gnnmg_dataset* dataset) {
  return guard([&] {
    const auto d = hold<Dataset>(dataset, "dataset");
    d->set_class_weights(
        gnnmg::data::balanced_class_weights(*d->data(), d->part(GNNMG_PART_TRAIN)));
  });
}

gnnmg_status gnnmg_dataset_set_sample_weights(gnnmg_dataset* dataset, const gnnmg_tensor* weights) {
  return guard([&] {
    const auto d = hold<Dataset>(dataset, "dataset");
    d->set_sample_weights(weights == nullptr
                              ? gnnmg::base::Tensor()
                              : gnnmg::data::make_sample_weights(
                                    *d->data(), borrow_tensor(weights, "weights").view()));
  });
}

gnnmg_status gnnmg_dataset_export_class_weights(const gnnmg_dataset* dataset,
                                                gnnmg_tensor** weights) {
  return guard(outs(Out{weights, "weights"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    *weights = export_weights(*d, d->data()->class_weights, "class").release();
  });
}

gnnmg_status gnnmg_dataset_export_sample_weights(const gnnmg_dataset* dataset,
                                                 gnnmg_tensor** weights) {
  return guard(outs(Out{weights, "weights"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    *weights = export_weights(*d, d->data()->sample_weights, "sample").release();
  });
}

gnnmg_status gnnmg_dataset_export_split(const gnnmg_dataset* dataset, gnnmg_part part,
                                        gnnmg_tensor** ids) {
  return guard(outs(Out{ids, "ids"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    const std::span<const int64_t> list = d->part(part);
    *ids = export_list(list.data(), static_cast<int64_t>(list.size()),
                       std::const_pointer_cast<gnnmg::data::Dataset>(d->data()))
               .release();
  });
}

}  // extern "C"
