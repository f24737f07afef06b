// Every setting of gnnmg_setting_get_info(): by name, by field, and refusals.
#include <gmock/gmock.h>

#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "capi/support.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kSubjects = {
    "context", "dataset",    "split",   "folds",     "parts",      "served",
    "sampler", "loader",     "model",   "norm",      "trainer",    "predictor",
    "rmat",    "model_file", "planted", "optimizer", "log_normal", "erdos_renyi"};
const std::set<std::string> kWithoutText = {"context"};

struct Setting {
  std::string name, type, default_value, values, help;
  bool is_field;
};

std::vector<Setting> list(const std::string& subject) {
  std::vector<Setting> all;
  auto facts = info<gnnmg_setting_info>();
  gnnmg_status status;
  while ((status = gnnmg_setting_get_info(subject.c_str(), static_cast<int64_t>(all.size()),
                                          &facts)) == GNNMG_OK)
    all.push_back({facts.name, facts.type, facts.default_value, facts.values, facts.help,
                   facts.is_field != 0});
  EXPECT_EQ(status, GNNMG_END) << subject << ": " << gnnmg_last_error();
  return all;
}

// Configs of a call: none, of zeros, with the defaults, with no default in any field.
enum class Fields { kNone, kZeros, kDefaults, kOthers };

gnnmg_sampler_config sampler_fields(Fields fields) {
  SamplerConfig config;
  if (fields == Fields::kDefaults)
    config.num_fanouts = 2, config.fanouts[0] = config.fanouts[1] = 10;
  if (fields == Fields::kOthers)
    config.num_fanouts = 1, config.fanouts[0] = 5, config.replace = 1, config.draw = 1;
  return config;
}

gnnmg_loader_config loader_fields(Fields fields) {
  LoaderConfig config;
  if (fields == Fields::kDefaults)
    config.batch_size = 1024, config.batches_per_step = 1, config.world_size = 1;
  if (fields == Fields::kOthers) {
    config.part = GNNMG_PART_TEST;
    config.batch_size = config.batches_per_step = config.world_size = 2;
    config.rank = 1;
    config.seed = config.stream = 1;
    config.plan = GNNMG_PLAN_CONTIGUOUS;
    config.device = GNNMG_DEVICE_CPU;
    config.device_index = 1;
  }
  return config;
}

gnnmg_model_config model_fields(Fields fields) {
  ModelConfig config;
  if (fields == Fields::kDefaults)
    config.input_dim = 8, config.hidden_dim = 256, config.output_dim = 3, config.num_layers = 2,
    config.heads = 1;
  if (fields == Fields::kOthers) {
    config.architecture = GNNMG_ARCHITECTURE_GAT;
    config.input_dim = config.hidden_dim = config.output_dim = 4;
    config.num_layers = 3;
    config.aggregation = GNNMG_AGGREGATION_SUM;
    config.activation = GNNMG_ACTIVATION_ELU;
    config.norm = GNNMG_NORM_LAYER;
    config.readout = GNNMG_READOUT_SUM;
    config.framework = GNNMG_FRAMEWORK_DGL;
    config.dtype = GNNMG_DTYPE_F64;
    config.heads = 2;
    config.dropout = 0.5;
    config.seed = 1;
  }
  return config;
}

gnnmg_trainer_config trainer_fields(Fields fields) {
  TrainerConfig config;
  if (fields == Fields::kDefaults)
    config.num_ranks = 1, config.num_epochs = 10, config.batch_size = 1024,
    config.batches_per_step = 1, config.learning_rate = 0.01;
  if (fields == Fields::kOthers) {
    config.num_ranks = 2;
    config.num_epochs = config.batch_size = config.batches_per_step = 2;
    config.loss = GNNMG_LOSS_FOCAL;
    config.optimizer = GNNMG_OPTIMIZER_SGD;
    config.learning_rate = config.weight_decay = config.clip_norm = 0.5;
    config.seed = 1;
    config.plan = GNNMG_PLAN_CONTIGUOUS;
    config.device = GNNMG_DEVICE_CPU;
    config.early_stop_patience = 1;
    config.deterministic = 1;
  }
  return config;
}

gnnmg_parts_config parts_fields(Fields fields) {
  PartsConfig config;
  if (fields == Fields::kDefaults) config.num_parts = 2;
  if (fields == Fields::kOthers)
    config.num_parts = 3, config.method = GNNMG_PARTS_METHOD_HASH, config.edge_ids = 1,
    config.seed = 1, config.memory_limit = 1 << 30;
  return config;
}

gnnmg_served_config served_fields(Fields fields) {
  ServedConfig config;
  if (fields == Fields::kDefaults) config.max_in_flight = 8, config.deadline_ms = 10'000;
  if (fields == Fields::kOthers)
    config.max_in_flight = 1, config.deadline_ms = 1, config.cache_bytes = 1, config.insecure = 1;
  return config;
}

template <typename T>
std::string text_of(const std::vector<T>& values) {
  std::ostringstream out;
  for (const T& value : values) out << value << ' ';
  return out.str();
}

// A call with settings for every subject that has them as text, and the visible part of its result.
class Settings : public testing::Test {
 protected:
  World world_;
  TempDir folder_;
  gnnmg_status status_ = GNNMG_OK;

  // Notes the status; true if there is a result.
  bool ok(gnnmg_status status) { return (status_ = status) == GNNMG_OK; }

  std::string ids(const gnnmg_dataset* dataset, gnnmg_part part) {
    Tensor ids;
    EXPECT_OK(gnnmg_dataset_export_split(dataset, part, ids.out()));
    return text_of(values<int64_t>(ids));
  }
  std::string split_of(const gnnmg_dataset* dataset) {
    return ids(dataset, GNNMG_PART_TRAIN) + "| " + ids(dataset, GNNMG_PART_VALIDATION) + "| " +
           ids(dataset, GNNMG_PART_TEST);
  }
  std::string nodes_of(const gnnmg_batch* batch) {
    Tensor nodes;
    EXPECT_OK(gnnmg_batch_export_node_ids(batch, 0, nodes.out()));
    return text_of(values<int64_t>(nodes));
  }
  std::string graph_of(const gnnmg_graph* graph) {
    Tensor sources, targets;
    EXPECT_OK(gnnmg_graph_export_coo(graph, 0, sources.out(), targets.out()));
    return text_of(values<int64_t>(sources)) + "| " + text_of(values<int64_t>(targets));
  }
  std::string settings_of(const gnnmg_model* model) {
    const char* json = nullptr;
    EXPECT_OK(gnnmg_model_get_settings(model, &json));
    return json;
  }

  std::string call(const std::string& subject, const char* text, Fields fields = Fields::kNone) {
    const auto config = [&](const auto& of) { return fields == Fields::kNone ? nullptr : &of; };
    if (subject == "dataset") return open_file(text);
    if (subject == "split" || subject == "folds") return split(subject, text);
    if (subject == "parts") {
      const auto in = parts_fields(fields);
      ok(gnnmg_dataset_save_parts(world_.dataset, folder_.file("parts").c_str(), nullptr, 0,
                                  config(in), text, -1));
      return std::to_string(status_);  // the folder keeps the settings of the first call
    }
    if (subject == "served") {
      Dataset dataset;
      const auto in = served_fields(fields);
      ok(gnnmg_dataset_open_served(world_.context, "127.0.0.1:1", nullptr, config(in), text,
                                   dataset.out(), -1));
      return std::to_string(status_);
    }
    if (subject == "sampler") {
      Sampler sampler;
      Batch batch;
      const auto in = sampler_fields(fields);
      const int64_t seeds[] = {1, 2, 3};
      if (!ok(gnnmg_sampler_create(world_.graph, config(in), text, sampler.out()))) return "";
      EXPECT_OK(
          gnnmg_sampler_sample(sampler, nullptr, seeds, 3, nullptr, 0, 0, 0, batch.out(), -1));
      return nodes_of(batch);
    }
    if (subject == "loader") return load(text, config(loader_fields(fields)));
    if (subject == "model") {
      Model model;
      const auto in = model_fields(fields);
      if (!ok(gnnmg_model_create(world_.context, world_.dataset, config(in), text, model.out())))
        return "";
      return settings_of(model);
    }
    if (subject == "trainer") return train(text, config(trainer_fields(fields)));
    if (subject == "norm") return add_norm(text);
    if (subject == "model_file") {
      const std::string path = folder_.file("model.safetensors");
      const Model model = world_.make_model();
      return ok(gnnmg_model_save(model, path.c_str(), text, -1)) ? slurp(path) : "";
    }
    if (subject == "optimizer") {
      const std::string path = folder_.file("optimizer.pth");
      const Model model = world_.make_model();
      Optimizer optimizer;
      if (!ok(gnnmg_optimizer_create(model, text, optimizer.out()))) return "";
      EXPECT_OK(gnnmg_optimizer_save(optimizer, path.c_str(), nullptr, -1));
      return slurp(path);
    }
    if (subject == "predictor") {
      const Model model = world_.make_model();
      Predictor predictor;
      if (!ok(gnnmg_predictor_create(model, world_.dataset, text, predictor.out()))) return "";
      return text_of(predicted<float>(predictor, {0, 7}, GNNMG_OUTPUT_PROBABILITIES));
    }
    Graph graph;
    if (!ok(gnnmg_graph_generate(world_.context, subject.c_str(), text, graph.out()))) return "";
    return graph_of(graph);
  }

  std::string open_file(const char* text) {
    const std::string path = folder_.write("edges.txt", "0 1\n1 2\n2 0\n2 1\n");
    Dataset dataset;
    Graph graph;
    if (!ok(gnnmg_dataset_open(world_.context, path.c_str(), text, dataset.out(), -1))) return "";
    EXPECT_OK(gnnmg_dataset_get_graph(dataset, 0, graph.out()));
    return graph_of(graph);
  }

  std::string split(const std::string& subject, const char* text) {
    Dataset dataset;
    EXPECT_OK(gnnmg_dataset_create(world_.graph, "x", "y", GNNMG_TASK_NONE, 0, dataset.out()));
    if (!ok(subject == "split" ? gnnmg_dataset_add_random_split(dataset, "new", text)
                               : gnnmg_dataset_add_folds(dataset, "new", text)))
      return "";
    return split_of(dataset);
  }

  std::string load(const char* text, const gnnmg_loader_config* config) {
    Sampler sampler = world_.make_sampler();
    Loader loader;
    Batch batch;
    if (!ok(gnnmg_loader_create(world_.dataset, sampler, config, text, loader.out()))) return "";
    EXPECT_OK(gnnmg_loader_next(loader, batch.out(), -1));
    return nodes_of(batch);
  }

  std::string train(const char* text, const gnnmg_trainer_config* config) {
    Model model = world_.make_model();
    Trainer trainer;
    if (!ok(gnnmg_trainer_create(model, world_.dataset, nullptr, nullptr, config, text,
                                 trainer.out())))
      return "";
    EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    return text_of(weights(model));
  }

  std::string add_norm(const char* text) {
    ModelConfig layers;
    layers.architecture = GNNMG_ARCHITECTURE_LAYERS;
    Model model;
    EXPECT_OK(gnnmg_model_create(world_.context, world_.dataset, &layers, nullptr, model.out()));
    ModelConfig conv;
    conv.output_dim = 3;
    EXPECT_OK(gnnmg_model_add_conv(model, "conv", &conv, nullptr));
    if (!ok(gnnmg_model_add_norm(model, "norm", GNNMG_NORM_BATCH, text))) return "";
    return settings_of(model);
  }

  // Settings without which a call takes long.
  static std::string small(const std::string& subject) {
    const bool sized = subject == "planted" || subject == "log_normal" || subject == "erdos_renyi";
    return sized ? "num_nodes=200" : subject == "served" ? "meet_ms=1" : "";
  }

  // The call fails because of the word.
  void refused(const std::string& subject, const std::string& word, const std::string& part) {
    call(subject, word.c_str());
    EXPECT_EQ(status_, GNNMG_ERR_INVALID_ARGUMENT) << subject << ": " << word;
    EXPECT_THAT(gnnmg_last_error(), HasSubstr(part)) << subject << ": " << word;
  }
};

TEST_F(Settings, AreListed) {
  for (const std::string& subject : kSubjects) {
    const std::vector<Setting> all = list(subject);
    EXPECT_FALSE(all.empty()) << subject;
    std::set<std::string> names;
    for (const Setting& setting : all) {
      const std::string where = subject + " " + setting.name;
      EXPECT_TRUE(names.insert(setting.name).second) << where;
      EXPECT_TRUE(std::set<std::string>(
                      {"flag", "integer", "number", "choice", "text", "integers", "choices"})
                      .contains(setting.type))
          << where << ": " << setting.type;
      EXPECT_TRUE(setting.help.ends_with('.')) << where << ": " << setting.help;
      EXPECT_EQ(setting.help.find("Default "), std::string::npos) << where << ": " << setting.help;
      if (setting.type == "flag" || setting.type == "choice") {
        EXPECT_THAT(
            ", " + setting.values + ",",
            testing::AnyOf(HasSubstr(", " + setting.default_value + ","), testing::Eq(", 0 or 1,")))
            << where;
      }
    }
  }
}

TEST_F(Settings, TextsStay) {
  auto first = info<gnnmg_setting_info>(), again = info<gnnmg_setting_info>();
  ASSERT_OK(gnnmg_setting_get_info("model", 0, &first));
  ASSERT_OK(gnnmg_setting_get_info("model", 0, &again));
  EXPECT_EQ(first.name, again.name);
  EXPECT_EQ(first.help, again.help);
}

TEST_F(Settings, UnknownSubjects) {
  auto facts = info<gnnmg_setting_info>();
  EXPECT_FAILS(gnnmg_setting_get_info("modle", 0, &facts), GNNMG_ERR_NOT_FOUND,
               "did you mean 'model'?");
  EXPECT_FAILS(gnnmg_setting_get_info("", 0, &facts), GNNMG_ERR_INVALID_ARGUMENT, "'subject'");
  EXPECT_FAILS(gnnmg_setting_get_info(nullptr, 0, &facts), GNNMG_ERR_INVALID_ARGUMENT, "'subject'");
  EXPECT_FAILS(gnnmg_setting_get_info("model", -1, &facts), GNNMG_ERR_NOT_FOUND, "index");
  EXPECT_FAILS(gnnmg_setting_get_info("model", 0, nullptr), GNNMG_ERR_INVALID_ARGUMENT, "'info'");
}

TEST_F(Settings, WrongWordsOfAChoiceGetAHint) {
  const Model model = world_.make_model();
  refused("model", "norm=bacth", "expected one of none, batch, ");
  refused("model", "norm=bacth", "; did you mean 'batch'?");
  refused("optimizer", "optimizer=AdamV", "; did you mean 'adam' or 'adamw'?");
  refused("loader", "plan=paths", "; did you mean 'parts'?");
  refused("model", "architecture=pna reductions=mean,mxa", "; did you mean 'max'?");
  call("model", "norm=nothing_like_it");
  EXPECT_EQ(std::string(gnnmg_last_error()).find("did you mean"), std::string::npos);
}

TEST_F(Settings, DefaultsByNameChangeNothing) {
  for (const std::string& subject : kSubjects) {
    if (kWithoutText.contains(subject)) continue;
    std::string all = small(subject);
    const std::string expected = call(subject, all.empty() ? nullptr : all.c_str());
    const gnnmg_status status = status_;
    EXPECT_TRUE(status == GNNMG_OK || subject == "served") << subject << gnnmg_last_error();
    for (const Setting& setting : list(subject)) {
      if (setting.default_value.empty()) continue;  // a text that is not given
      const std::string word = setting.name + "=" + setting.default_value;
      if (!small(subject).starts_with(setting.name + "=")) all += " " + word;
      if (subject == "trainer" || subject == "served" || !small(subject).empty()) continue;
      EXPECT_EQ(call(subject, word.c_str()), expected)
          << subject << ": " << word << ": " << gnnmg_last_error();
    }
    EXPECT_EQ(call(subject, all.c_str()), expected) << subject << ": " << all;
    EXPECT_EQ(status_, status) << subject << ": " << all << ": " << gnnmg_last_error();
  }
}

TEST_F(Settings, OptionsHaveTheirDefaults) {
  for (const Setting& option : list("context")) {
    char text[64] = "";
    size_t needed = 0;
    ASSERT_OK(
        gnnmg_context_get_option(world_.context, option.name.c_str(), text, sizeof text, &needed));
    EXPECT_EQ(text, option.default_value) << option.name;
    EXPECT_OK(gnnmg_context_set_option(world_.context, option.name.c_str(),
                                       option.default_value.c_str()));
  }
}

TEST_F(Settings, UnknownNames) {
  for (const std::string& subject : kSubjects) {
    if (kWithoutText.contains(subject)) continue;
    const std::string name = list(subject)[0].name;
    refused(subject, "nonsense=1", subject + " settings: unknown name 'nonsense'; there are: ");
    refused(subject, "Seed_of_all=1", name);
    refused(subject, name + "x=1", "did you mean '" + name + "'?");
  }
}

TEST_F(Settings, TextsThatAreNoSettings) {
  const std::string longest(70'000, 'x');
  for (const std::string& subject : kSubjects) {
    if (kWithoutText.contains(subject)) continue;
    const Setting first = list(subject)[0];
    const std::string word = first.name + "=1";
    refused(subject, word + " " + word, subject + " settings: " + first.name + " is given twice");
    refused(subject, first.name, "expected name=value");
    refused(subject, "=1", "expected name=value");
    refused(subject, first.name + " = 1", "expected name=value");
    refused(subject, first.name + "=", "expected a value");
    refused(subject, first.name + "=\"\"", "expected a value");
    refused(subject, first.name + "=\"1", "no closing quote");
    refused(subject, first.name + "=\"1\"2", "closing quote");
    refused(subject, first.name + "=" + longest, "longer");
  }
}

TEST_F(Settings, WrongValues) {
  const std::map<std::string, std::vector<std::string>> wrong = {
      {"flag", {"2", "-1", "yes", "0x1", "1.0"}},
      {"integer", {"x", "1.5", "1e3", "99999999999999999999", "1x", "0x10", "nan"}},
      {"number", {"x", "nan", "inf", "1x", "1,5"}},
      {"choice", {"nothing", "0", "AUTO"}},
      {"integers", {"x", "1,", ",1", "1;2", "1.5", "99999999999999999999"}},
      {"choices", {"nothing", "0"}},
      {"text", {}}};
  for (const std::string& subject : kSubjects) {
    if (kWithoutText.contains(subject)) continue;
    for (const Setting& setting : list(subject))
      for (const std::string& value : wrong.at(setting.type)) {
        const std::string word = setting.name + "=" + value;
        refused(subject, word, subject + " settings: " + word + ", expected ");
      }
  }
}

// The texts of ranges as "1 to 64" and "0 or more".
TEST_F(Settings, ValuesOutOfRange) {
  int refusals = 0;
  for (const std::string& subject : kSubjects) {
    if (kWithoutText.contains(subject)) continue;
    for (const Setting& setting : list(subject)) {
      double low = 0, high = 0;
      char rest = 0;
      const bool closed =
          std::sscanf(setting.values.c_str(), "%lf to %lf%c", &low, &high, &rest) == 2;
      if (!closed && std::sscanf(setting.values.c_str(), "%lf or more%c", &low, &rest) != 1)
        continue;
      if (!setting.type.starts_with("integer") && setting.type != "number") continue;
      std::vector<double> values = {low - 1};
      if (closed) values.push_back(high + 1);
      for (const double value : values) {
        std::ostringstream word;
        word.precision(17);
        word << setting.name << '=' << value;
        refused(subject, word.str(), subject + " settings: " + setting.name);
        ++refusals;
      }
    }
  }
  EXPECT_GT(refusals, 50);
}

TEST_F(Settings, ByFieldAndByName) {
  for (const char* subject : {"sampler", "loader", "model", "trainer", "parts", "served"})
    for (const Setting& setting : list(subject)) {
      if (setting.default_value.empty()) continue;
      const std::string word = setting.name + "=" + setting.default_value;
      call(subject, (word + " nonsense=1").c_str(), Fields::kOthers);
      EXPECT_EQ(status_, GNNMG_ERR_INVALID_ARGUMENT) << subject << ": " << word;
      EXPECT_THAT(gnnmg_last_error(),
                  HasSubstr(setting.is_field ? "config." + setting.name + " is set too"
                                             : "unknown name 'nonsense'"))
          << subject << ": " << word;
    }
}

TEST_F(Settings, FieldsOfZeros) {
  for (const std::string subject : {"sampler", "loader", "model", "trainer", "parts", "served"}) {
    const std::string text = small(subject), expected = call(subject, text.c_str());
    for (const Fields fields : {Fields::kZeros, Fields::kDefaults})
      EXPECT_EQ(call(subject, text.c_str(), fields), expected)
          << subject << ": " << gnnmg_last_error();
  }
}

// A zero in each fan-out is the default too.
TEST_F(Settings, HopsWithoutFanouts) {
  const auto sampled = [&](const gnnmg_sampler_config* config, const char* text) -> std::string {
    Sampler sampler;
    Batch batch;
    const int64_t seeds[] = {1, 2, 3};
    if (!ok(gnnmg_sampler_create(world_.graph, config, text, sampler.out())))
      return gnnmg_last_error();
    EXPECT_OK(gnnmg_sampler_sample(sampler, nullptr, seeds, 3, nullptr, 0, 0, 0, batch.out(), -1));
    return nodes_of(batch);
  };
  SamplerConfig hops;
  hops.num_fanouts = 3;
  EXPECT_EQ(sampled(&hops, nullptr), sampled(nullptr, "fanouts=10,10,10"));
  EXPECT_EQ(sampled(nullptr, "fanouts=0,0"), "1 2 3 ");
  hops.num_fanouts = 0;
  hops.fanouts[0] = 7;
  EXPECT_THAT(sampled(&hops, nullptr),
              HasSubstr("config.fanouts[0] is 7, but config.num_fanouts is 0"));
}

// A setting that the others leave without effect is a mistake, unless it is the default.
TEST_F(Settings, WithoutEffect) {
  const auto without_effect = [&](const std::string& subject, const std::string& words,
                                  const std::string& condition) {
    const std::string last = words.substr(words.rfind(' ') + 1);
    refused(subject, words,
            subject + " settings: " + last + " has an effect only " + condition + "; leave it out");
  };
  for (const std::string subject : {"optimizer", "trainer"}) {
    without_effect(subject, "momentum=0.5", "with optimizer=sgd or rmsprop");
    without_effect(subject, "nesterov=1", "with optimizer=sgd");
    without_effect(subject, "dampening=0.5", "with optimizer=sgd and momentum above 0");
    without_effect(subject, "optimizer=sgd dampening=0.5",
                   "with optimizer=sgd and momentum above 0");
    without_effect(subject, "weight_decay_layers=1", "with weight_decay above 0");
    without_effect(subject, "alpha=0.5", "with optimizer=rmsprop");
    without_effect(subject, "centered=1", "with optimizer=rmsprop");
    without_effect(subject, "optimizer=sgd beta1=0.5", "with optimizer=adam or adamw");
    without_effect(subject, "optimizer=adagrad amsgrad=1", "with optimizer=adam or adamw");
    without_effect(subject, "optimizer=sgd epsilon=0.001",
                   "with optimizer=adam, adamw, rmsprop or adagrad");
  }
  without_effect("trainer", "focal_gamma=3", "with loss=focal");
  without_effect("trainer", "huber_delta=2", "with loss=huber");
  without_effect("trainer", "schedule_factor=0.25", "with schedule=step or plateau");
  without_effect("trainer", "schedule_step_epochs=5", "with schedule=step");
  without_effect("trainer", "schedule_minimum=0.5", "with schedule=cosine, step or plateau");
  without_effect("trainer", "schedule=step schedule_patience=3", "with schedule=plateau");
  without_effect("trainer", "loss=focal label_smoothing=0.1", "with loss=cross_entropy");
  without_effect("trainer", "average_decay=0.5", "with average=ema");
  without_effect("trainer", "average=swa average_decay=0.5", "with average=ema");
  without_effect("trainer", "average_from=1", "with average=ema or swa");
  without_effect("trainer", "evaluate_every=0 best_by=loss", "with evaluate_every above 0");
  without_effect("trainer", "loader_threads=0 prefetch=5", "with loader_threads above 0");
  without_effect("loader", "num_threads=0 prefetch=5", "with num_threads above 0");
  for (const char* word : {"graph_placement=host", "feature_placement=pinned", "feature_form=f16",
                           "hotness=degree", "cache_bytes=4096", "gather_multiprocessors=2"}) {
    without_effect("loader", word, "with device=cuda");
    without_effect("trainer", std::string("device=cpu ") + word, "with device=auto or cuda");
  }
  without_effect("trainer", "device=cpu capture=off", "with device=auto or cuda");
  without_effect("trainer", "device=cpu devices=0", "with device=auto or cuda");
  for (const char* word : {"center_scale=2", "noise=2"})
    without_effect("planted", std::string("num_features=0 ") + word, "with num_features above 0");
  for (const char* word : {"zipf=2", "homophily=0.25", "label_noise=0.25"})
    without_effect("log_normal", std::string("num_classes=0 ") + word, "with num_classes above 0");
  without_effect("split", "validation_per_class=3", "with train_per_class");
  for (const char* word : {"train_fraction=0.5", "validation_fraction=0.5", "numpy_legacy=1"})
    without_effect("split", std::string("train_per_class=2 ") + word, "without train_per_class");
  for (const char* word : {"passes=3", "refine_passes=3", "node_slack=2"})
    without_effect("parts", std::string("method=hash ") + word,
                   word[0] == 'p' ? "with method=cluster and without `given`"
                                  : "with method=cluster or metis and without `given`");
  without_effect("parts", "method=range seed=3",
                 "with method=cluster, metis or hash and without `given`");
  without_effect("parts", "fanouts=none batch_size=3", "with fanouts");
  without_effect("predictor", "seed=3", "with fanouts");
  for (const char* word : {"dict=model", "partial=1"})
    without_effect("model_file", word,
                   word[0] == 'd' ? "when a file is loaded" : "when weights are loaded");
  call("optimizer", "optimizer=sgd momentum=0.5 nesterov=1");
  EXPECT_EQ(status_, GNNMG_OK) << gnnmg_last_error();
}

TEST_F(Settings, WithoutEffectOnAFile) {
  const Model model = world_.make_model();
  const std::string weights = folder_.file("w.safetensors"), state = folder_.file("o.pth");
  ASSERT_OK(gnnmg_model_save(model, weights.c_str(), nullptr, -1));
  const auto load = [&](const char* text) {
    return gnnmg_model_load(model, weights.c_str(), text, -1);
  };
  EXPECT_FAILS(load("first_layer=conv1"), GNNMG_ERR_INVALID_ARGUMENT, "when weights are saved");
  EXPECT_FAILS(load("torch_modules=1"), GNNMG_ERR_INVALID_ARGUMENT,
               "when weights are saved, and for optimizers");
  EXPECT_FAILS(load("loaded_names=1"), GNNMG_ERR_INVALID_ARGUMENT, "when weights are saved");
  EXPECT_OK(load("partial=1"));
  Optimizer optimizer;
  ASSERT_OK(gnnmg_optimizer_create(model, nullptr, optimizer.out()));
  EXPECT_FAILS(gnnmg_optimizer_save(optimizer, state.c_str(), "dict=state", -1),
               GNNMG_ERR_INVALID_ARGUMENT, "model_file settings: dict=state has an effect only");
  EXPECT_FAILS(gnnmg_optimizer_save(optimizer, state.c_str(), "first_layer=conv1", -1),
               GNNMG_ERR_INVALID_ARGUMENT, "when weights are saved");
  EXPECT_OK(gnnmg_optimizer_save(optimizer, state.c_str(), "torch_modules=1", -1));
  EXPECT_FAILS(gnnmg_optimizer_load(optimizer, state.c_str(), "partial=1", -1),
               GNNMG_ERR_INVALID_ARGUMENT, "when weights are loaded");
}

// Options for one format and a file of another.
TEST_F(Settings, WithoutEffectOnAFormat) {
  const std::string graph = folder_.write("one.graph", "3 2\n2\n1 3\n2\n"),
                    matrix = folder_.write("matrix.mtx",
                                           "%%MatrixMarket matrix coordinate pattern general\n"
                                           "3 3 2\n1 2\n2 3\n");
  const std::string edges = folder_.write("edges.txt", "0 1\n1 2\n2 0\n2 1\n");
  const auto refuse = [&](const std::string& path, const char* text, const std::string& why) {
    Dataset dataset;
    EXPECT_FAILS(gnnmg_dataset_open(world_.context, path.c_str(), text, dataset.out(), -1),
                 GNNMG_ERR_INVALID_ARGUMENT, "dataset settings: " + why);
  };
  const std::string only_edges = " has an effect only with format=edges, and ";
  refuse(graph, "relabel=1",
         "relabel" + only_edges + graph + " has the format metis; leave it out");
  refuse(matrix, "separator=;",
         "separator" + only_edges + matrix + " has the format matrix_market; leave it out");
  refuse(matrix, "num_nodes=9", "num_nodes" + only_edges);
  refuse(matrix, "source_column=1 target_column=0", "source_column" + only_edges);
  refuse(matrix, "header_lines=1", "header_lines" + only_edges);
  refuse(edges, "degree_features=1", "degree_features has an effect only with format=gin or tu");
  refuse(edges, "sum_duplicates=1",
         "sum_duplicates has an effect only with format=planetoid, plain or shchur");
  refuse(edges, "map_files=0", "map_files has an effect only with format=gnnmg or parts");
  refuse(edges, "round_values=1",
         "round_values has no effect with format=edges, matrix_market or metis");
  const std::string own = folder_.file("own");
  ASSERT_OK(gnnmg_dataset_save(world_.dataset, own.c_str(), -1));
  refuse(own, "undirected=1", "undirected has no effect with format=gnnmg or parts");
}

TEST_F(Settings, ContextAndCommOfZeros) {
  ContextConfig zeros;
  Context context, plain;
  ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, &zeros, context.out()));
  ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, plain.out()));
  auto facts = info<gnnmg_context_info>(), others = info<gnnmg_context_info>();
  ASSERT_OK(gnnmg_context_get_info(context, &facts));
  ASSERT_OK(gnnmg_context_get_info(plain, &others));
  EXPECT_EQ(facts.num_threads, others.num_threads);
  EXPECT_EQ(facts.memory_limit, 0u);

  CommConfig alone;
  Comm comm;
  int32_t size = 0;
  ASSERT_OK(gnnmg_comm_create(context, nullptr, nullptr, nullptr, &alone, comm.out(), -1));
  ASSERT_OK(gnnmg_comm_world_size(comm, &size));
  EXPECT_EQ(size, 1);
  ASSERT_OK(gnnmg_comm_shutdown(comm, -1));

  gnnmg_comm* ranks[2] = {};
  for (const int64_t interval : {9, 600'001}) {
    alone.heartbeat_ms = interval;
    EXPECT_EQ(gnnmg_comm_create_group(context, 2, &alone, ranks), GNNMG_ERR_INVALID_ARGUMENT);
    EXPECT_THAT(gnnmg_last_error(), HasSubstr("expected 10 to 600000"));
  }
}

TEST_F(Settings, DataSetsOfGenerators) {
  Dataset made, drawn;
  ASSERT_OK(gnnmg_dataset_generate(world_.context, "planted",
                                   "num_nodes=300 num_classes=3 num_features=8 mean_degree=6 "
                                   "seed=5 train_fraction=0.5 validation_fraction=0.25",
                                   made.out()));
  Graph graph;
  ASSERT_OK(gnnmg_graph_generate(world_.context, "planted",
                                 "num_nodes=300 num_classes=3 num_features=8 mean_degree=6 seed=5",
                                 graph.out()));
  ASSERT_OK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_NONE, 0, drawn.out()));
  ASSERT_OK(gnnmg_dataset_add_random_split(drawn, "random",
                                           "seed=5 train_fraction=0.5 validation_fraction=0.25"));
  EXPECT_EQ(split_of(made), split_of(drawn));
  Graph of_made;
  ASSERT_OK(gnnmg_dataset_get_graph(made, 0, of_made.out()));
  EXPECT_EQ(graph_of(of_made), graph_of(graph));
  const char* name = nullptr;
  auto facts = info<gnnmg_split_info>();
  ASSERT_OK(gnnmg_dataset_get_split_info(made, 0, &name, &facts));
  EXPECT_STREQ(name, "random");
  EXPECT_EQ(facts.num_train, 150);

  const auto generate = [&](const char* generator, const char* settings) {
    return gnnmg_dataset_generate(world_.context, generator, settings, made.out());
  };
  EXPECT_FAILS(generate("rmat", nullptr), GNNMG_ERR_NOT_FOUND, "makes no labels");
  EXPECT_FAILS(generate("planed", nullptr), GNNMG_ERR_NOT_FOUND, "did you mean 'planted'?");
  EXPECT_FAILS(generate("log_normal", "num_nodes=100 num_classes=0"), GNNMG_ERR_NOT_FOUND,
               "no labels");
  EXPECT_FAILS(generate("planted", "train_fractoin=0.5"), GNNMG_ERR_INVALID_ARGUMENT,
               "did you mean 'train_fraction'?");
  EXPECT_FAILS(generate("planted", "train_fraction=2"), GNNMG_ERR_INVALID_ARGUMENT,
               "planted settings: train_fraction=2, expected a number, 0 to 1");
  EXPECT_FAILS(generate("planted", "noise=-1"), GNNMG_ERR_INVALID_ARGUMENT,
               "planted settings: noise=-1");
  EXPECT_EQ(made.get(), nullptr);
}

TEST_F(Settings, Separators) {
  const std::string path = folder_.write("columns.txt", "0\t1\n1\t2\n");
  const auto open = [&](const char* settings) {
    Dataset dataset;
    return gnnmg_dataset_open(world_.context, path.c_str(), settings, dataset.out(), -1);
  };
  EXPECT_OK(open("format=edges separator=tab"));
  EXPECT_OK(open("format=edges separator=\"\t\""));
  EXPECT_OK(open("format=edges separator=auto"));
  EXPECT_EQ(open("format=edges separator=;"), GNNMG_ERR_FORMAT);
  EXPECT_FAILS(open("separator=::"), GNNMG_ERR_INVALID_ARGUMENT,
               "dataset settings: separator=::, expected a separator");
}

TEST_F(Settings, FormatsHaveReaders) {
  const std::string path = folder_.write(
      "matrix.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n");
  const auto open = [&](const std::string& format) {
    Dataset dataset;
    return gnnmg_dataset_open(world_.context, path.c_str(), ("format=" + format).c_str(),
                              dataset.out(), -1);
  };
  EXPECT_OK(open("auto"));
  EXPECT_OK(open("matrix_market"));
  std::istringstream formats(list("dataset")[0].values);
  int count = 0;
  for (std::string format; std::getline(formats >> std::ws, format, ','); ++count)
    EXPECT_NE(open(format), GNNMG_ERR_INVALID_ARGUMENT) << format << ": " << gnnmg_last_error();
  EXPECT_EQ(count, 15);
}

TEST_F(Settings, QuotedPaths) {
  const std::string path = folder_.write("a b.pem", "nothing");
  Dataset dataset;
  const std::string text = "meet_ms=60000 tls_certificate=\"" + path + "\" tls_key=\"" + path +
                           "\" tls_authority=\"" + path + "\"";
  const gnnmg_status status = gnnmg_dataset_open_served(world_.context, "127.0.0.1:1", nullptr,
                                                        nullptr, text.c_str(), dataset.out(), -1);
  GNNMG_NEEDS(status != GNNMG_ERR_DEPENDENCY, "a build with gRPC");
  EXPECT_EQ(status, GNNMG_ERR_FORMAT);
  EXPECT_THAT(gnnmg_last_error(), HasSubstr(path));
  EXPECT_FAILS(gnnmg_dataset_open_served(world_.context, "127.0.0.1:1", nullptr, nullptr,
                                         "tls_certificate=/a b/c.pem", dataset.out(), -1),
               GNNMG_ERR_INVALID_ARGUMENT, "served settings: 'b/c.pem', expected name=value");
}

TEST_F(Settings, TimesAndTypesOfBatches) {
  const Sampler sampler = world_.make_sampler();
  const int64_t seeds[] = {1, 2}, times[] = {0, 0};
  Batch batch;
  Loader loader;
  const std::string why = "temporal sampling";
  EXPECT_FAILS(gnnmg_sampler_sample(sampler, nullptr, seeds, 2, times, 0, 0, 0, batch.out(), -1),
               GNNMG_ERR_UNSUPPORTED, why);
  EXPECT_FAILS(gnnmg_loader_create_from_seeds(nullptr, sampler, 0, seeds, 2, times, nullptr,
                                              nullptr, loader.out()),
               GNNMG_ERR_UNSUPPORTED, why);
  EXPECT_FAILS(gnnmg_loader_create_from_seeds(nullptr, sampler, 1, seeds, 2, nullptr, nullptr,
                                              nullptr, loader.out()),
               GNNMG_ERR_NOT_FOUND, "node type 1 does not exist, mini-batches have 1");
  ASSERT_OK(
      gnnmg_sampler_sample(sampler, world_.dataset, seeds, 2, nullptr, 0, 0, 0, batch.out(), -1));
  Tensor a, b, c;
  auto block = info<gnnmg_block_info>();
  EXPECT_FAILS(gnnmg_batch_export_node_ids(batch, -1, a.out()), GNNMG_ERR_NOT_FOUND,
               "node type -1");
  EXPECT_FAILS(gnnmg_batch_export_features(batch, 1, a.out()), GNNMG_ERR_NOT_FOUND, "node type 1");
  EXPECT_FAILS(gnnmg_batch_export_sparse_features(batch, 1, a.out(), b.out(), c.out()),
               GNNMG_ERR_NOT_FOUND, "node type 1");
  EXPECT_FAILS(gnnmg_batch_export_block(batch, 0, 1, a.out(), b.out(), nullptr),
               GNNMG_ERR_NOT_FOUND, "edge type 1");
  EXPECT_FAILS(gnnmg_batch_get_block_info(batch, 0, 1, &block), GNNMG_ERR_NOT_FOUND, "edge type 1");
}

}  // namespace
}  // namespace gnnmg::test
