// The settings of models: in files, from which a model opens that computes the same bits, and
// compared with one another.
#include "nn/config/settings.h"

#include <gmock/gmock.h>

#include <cstring>
#include <set>

#include "nn/config/choices.h"
#include "nn/config/setting_list.h"
#include "nn/layers/parameter_limit.h"
#include "nn/model_world.h"
#include "nn/state/file_settings.h"

namespace gnnmg::nn {
namespace {

using base::Status;
using testing::HasSubstr;
using testing::IsEmpty;

std::string written(const ModelConfig& config) {
  return write_file_settings(
      {config, config.framework, {"planted", data::Task::kBinary, 4, true}, "0.1.0"});
}

ModelConfig read_back(const ModelConfig& config) {
  return read_file_settings(written(config), "file").config;
}

// Further settings, which tests of passes have no use for.
std::vector<ModelConfig> more_configs() {
  std::vector<ModelConfig> all;
  ModelConfig config = small_config();
  config.input_dim = 2;
  config.node_vocabulary = {4, 3};
  config.dropout = 0.1;
  config.input_dropout = 0.2;
  config.seed = 18446744073709551615u;
  config.init = Init::kGlorot;
  config.dtype = base::DType::kF32;
  all.push_back(config);
  config = small_config();
  config.architecture = Architecture::kGine;
  config.edge_dim = kEdgeColumns;
  config.edge_vocabulary = {5, 6, 7};
  config.jumping = Jumping::kScores;
  config.readout = Readout::kMean;
  config.output_dropout = 0.3;
  all.push_back(config);
  config = small_config();
  config.jumping = Jumping::kCat;
  config.readout = Readout::kSet2Set;
  config.readout_steps = 5;
  all.push_back(config);
  config.readout = Readout::kSort;
  config.readout_steps = 3;
  config.sort_rows = 7;
  config.norm = Norm::kPair;
  config.norm_options.scale = -1;
  all.push_back(config);
  config = small_config();
  config.architecture = Architecture::kGat;
  config.heads = 3;
  config.slope = 0.1 + 1e-17;
  all.push_back(config);
  config = small_config();
  config.architecture = Architecture::kGcn;
  config.block_degrees = true;
  all.push_back(config);
  return all;
}

std::vector<ModelConfig> all_configs() {
  std::vector<ModelConfig> all = configs();
  for (ModelConfig& config : more_configs()) all.push_back(std::move(config));
  return all;
}

// Adds the names of settings that are not at their defaults.
void note_changed(const ModelConfig& config, std::set<std::string>& names) {
  const ModelConfig standard;
  visit_settings(
      [&](const Setting& setting, const auto& value, const auto& plain) {
        if (value != plain) names.insert(setting.name);
      },
      config, standard);
}

TEST(Settings, OfEveryKindAreWrittenAndReadBack) {
  std::set<std::string> changed;
  for (const ModelConfig& config : all_configs()) {
    SCOPED_TRACE(describe(config));
    const ModelConfig whole = make_model(config)->config();
    EXPECT_EQ(setting_texts(read_back(whole)), setting_texts(whole));
    EXPECT_EQ(written(read_back(whole)), written(whole));
    EXPECT_THAT(differences(read_back(whole), whole), IsEmpty());
    note_changed(config, changed);
  }
  std::set<std::string> names;
  const ModelConfig any;
  visit_settings([&](const Setting& setting, const auto&) { names.insert(setting.name); }, any);
  EXPECT_EQ(changed, names);  // none goes untested
}

// Evaluation, inference and a training pass with dropout of its own.
TEST(Settings, AModelFromItsFileComputesTheSameBits) {
  const graph::GraphRef graph = make_graph();
  const Batch batch = sample_batch(graph, {3, 3, 3}, {1, 2, 3, 40});
  for (const ModelConfig& config : configs()) {
    SCOPED_TRACE(describe(config));
    const auto model = make_model(config);
    ModelConfig read = read_back(model->config());
    read.seed += 1;
    const auto opened = make_model(read);
    opened->load_state(model->state());
    EXPECT_TRUE(infer(*opened, *graph, "x", kNodes).equal(infer(*model, *graph, "x", kNodes)));
    if (model->config().num_layers != 3) continue;
    for (const bool training : {false, true})
      EXPECT_TRUE(opened->forward(args_of(batch, false, training))
                      .equal(model->forward(args_of(batch, false, training))));
  }
}

TEST(Settings, DifferencesAreThoseOfResults) {
  ModelConfig model = small_config(), file = small_config();
  file.dropout = file.input_dropout = file.edge_dropout = 0.5;
  file.seed = 9;
  file.init = Init::kDgl;
  file.dtype = base::DType::kF32;
  file.aggregation = Aggregation::kMean;  // the default's meaning
  EXPECT_THAT(differences(model, file), IsEmpty());
  file.aggregation = Aggregation::kMax;
  file.activation = Activation::kTanh;
  EXPECT_EQ(differences(model, file),
            "aggregation is mean, the file's is max; activation is relu, the file's is tanh");
  model = file = small_config();
  model.output_dim = 0;
  file.output_dim = model.hidden_dim;
  model.norm = file.norm = Norm::kBatch;
  file.norm_options.affine = NormAffine::kOn;
  file.norm_options.momentum = 0.4;
  EXPECT_THAT(differences(model, file), IsEmpty());
  file.norm_options.epsilon = 0.1;
  EXPECT_EQ(differences(model, file), "norm_epsilon is 1e-05, the file's is 0.1");
  model = file = small_config();
  model.architecture = file.architecture = Architecture::kGin;
  file.eps = 0.5;
  EXPECT_EQ(differences(model, file), "eps is 0, the file's is 0.5");
  model.train_eps = file.train_eps = true;  // the number is a parameter then
  EXPECT_THAT(differences(model, file), IsEmpty());
  const std::vector<ModelConfig> all = configs();
  for (const ModelConfig& stack : all) {
    if (stack.layers.size() < 3) continue;
    file = stack;
    file.layers.pop_back();
    EXPECT_THAT(differences(stack, file), HasSubstr("layers is "));
    file = stack;
    file.layers[0].options.bias = !file.layers[0].options.bias;
    EXPECT_THAT(differences(stack, file), HasSubstr("layer 0 bias is "));
  }
}

TEST(Settings, TheRestOfTheTextIsReadBack) {
  const FileSettings file = read_file_settings(written(small_config()), "file");
  EXPECT_EQ(file.keys, Framework::kPyg);
  EXPECT_EQ(file.library, "0.1.0");
  EXPECT_EQ(file.data.name, "planted");
  EXPECT_EQ(file.data.task, data::Task::kBinary);
  EXPECT_EQ(file.data.num_classes, 4);
  EXPECT_TRUE(file.data.of_graphs);
  const WeightsSum sum{"model.pth", 12, "ab"};
  const FolderSettings folder =
      read_folder_settings(write_file_settings(file, &sum, {}, 2), "config.json");
  EXPECT_TRUE(folder.ours);
  EXPECT_EQ(folder.weights.file, "model.pth");
  EXPECT_EQ(folder.weights.bytes, 12);
  EXPECT_EQ(folder.weights.sha256, "ab");
  EXPECT_EQ(written(folder.settings.config), written(small_config()));
  EXPECT_FALSE(read_folder_settings(R"({"in_channels": 3})", "config.json").ours);
  const WeightsSum outside{"../model.pth", 12, "ab"};
  EXPECT_EQ(
      status_of([&] { read_folder_settings(write_file_settings(file, &outside), "config.json"); }),
      Status::kFormat);
}

// The text of a GraphSAGE, or of a model of three listed layers, with one part replaced.
struct Damage {
  const char* from;
  const char* to;
  Status status;
  const char* text;
};
const Damage kDamages[] = {
    {"\"version\":1", "\"version\":2", Status::kVersion,
     "is of version 2, this library reads up to 1"},
    {"\"version\":1", "\"version\":0", Status::kFormat, "version is 0"},
    {"\"version\":1", "\"version\":\"1\"", Status::kFormat,
     "version is \"1\", expected an integer"},
    {"gnnmg model", "other model", Status::kFormat, "format: expected \"gnnmg model\""},
    {"\"library\":\"0.1.0\",", "", Status::kFormat, "has no member \"library\""},
    {"\"normalize\":false", "\"normalise\":false", Status::kVersion,
     "has the setting \"normalise\", which this version of the library does not know; version "
     "0.1.0"},
    {"\"normalize\":false,", "", Status::kFormat, "has no setting \"normalize\""},
    {"\"normalize\":false", "\"normalize\":0", Status::kFormat,
     "normalize is an integer, expected true or false"},
    {"\"normalize\":false", "\"normalize\":false,\"normalize\":true", Status::kFormat,
     "the key \"normalize\" occurs twice"},
    {"\"activation\":\"relu\"", "\"activation\":\"selu\"", Status::kFormat,
     "activation is \"selu\", expected one of relu, none, elu"},
    {"\"activation\":\"relu\"", "\"activation\":null", Status::kFormat, "activation is null"},
    {"\"num_layers\":3", "\"num_layers\":1000000000", Status::kFormat,
     "num_layers is 1000000000, expected 1 to 10"},
    {"\"num_layers\":3", "\"num_layers\":10000000000", Status::kFormat,
     "expected an integer of at most 2147483647"},
    {"\"num_layers\":3", "\"num_layers\":3.0", Status::kFormat, "num_layers is a number"},
    {"\"hidden_dim\":12", "\"hidden_dim\":9223372036854775807", Status::kFormat,
     "hidden_dim is 9223372036854775807, expected 1 to 16777216"},
    {"\"hidden_dim\":12", "\"hidden_dim\":18446744073709551616", Status::kFormat, "64 bits"},
    {"\"dropout\":0.0", "\"dropout\":1e999", Status::kFormat, ""},
    {"\"dropout\":0.0", "\"dropout\":-0.5", Status::kFormat, "dropout is -0.5"},
    {"\"dropout\":0.0", "\"dropout\":\"0\"", Status::kFormat, "expected a number"},
    {"\"seed\":\"3\"", "\"seed\":3", Status::kFormat, "seed is an integer"},
    {"\"seed\":\"3\"", "\"seed\":\"3x\"", Status::kFormat, "seed is \"3x\""},
    {"\"reductions\":[]", "\"reductions\":[1]", Status::kFormat, "reductions is an integer"},
    {"\"node_vocabulary\":[]", "\"node_vocabulary\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
     Status::kFormat, "node_vocabulary has 17 entries, at most 16"},
    {"\"keys\":\"pyg\"", "\"keys\":\"jax\"", Status::kFormat, "keys is \"jax\""},
    {"\"settings\":{", "\"settings\":{\"heads\":2,", Status::kFormat, "heads is an option of GAT"},
    {"\"settings\":{", "\"layers\":[],\"settings\":{", Status::kFormat, "architecture is sage"},
    {"\"task\":\"binary\"", "\"task\":\"guess\"", Status::kFormat, "task is \"guess\""},
    {"\"data\":{", "\"facts\":{", Status::kFormat, "has no member \"data\""},
    {"\"data\":{", "\"data\":[],\"facts\":{", Status::kFormat, "has no member \"name\""},
};

std::string with(std::string text, const Damage& damage) {
  const size_t at = text.find(damage.from);
  EXPECT_NE(at, text.npos) << damage.from << " in " << text;
  return at == text.npos ? text : text.replace(at, std::strlen(damage.from), damage.to);
}

void expect_refused(const std::string& text, const Damage& damage) {
  SCOPED_TRACE(damage.to);
  std::string found;
  EXPECT_EQ(status_of([&] { read_file_settings(text, "a file"); }, &found), damage.status) << found;
  EXPECT_THAT(found, testing::StartsWith("a file"));
  EXPECT_THAT(found, HasSubstr(damage.text));
}

TEST(Settings, WrongTextsAreRefusedByName) {
  const std::string text = written(small_config());
  for (const Damage& damage : kDamages) expect_refused(with(text, damage), damage);
  ModelConfig stack = small_config();
  stack.architecture = Architecture::kLayers;
  for (const char* name : {"a", "b"}) {
    LayerConfig layer{LayerConfig::Kind::kConv, name, {}};
    layer.options.output_dim = 4;
    stack.layers.push_back(layer);
  }
  const std::string listed = written(make_model(stack)->config());
  for (const Damage& damage : std::initializer_list<Damage>{
           {"\"name\":\"b\"", "\"name\":\"a\"", Status::kFormat, "there is a layer 'a' already"},
           {"\"name\":\"b\"", "\"nome\":\"b\"", Status::kVersion, "the setting \"nome\""},
           {"\"kind\":\"convolution\"", "\"kind\":\"magic\"", Status::kFormat, "kind is \"magic\""},
           {"\"output_dim\":4}", "\"output_dim\":0}", Status::kFormat, "output_dim is 0"},
           {"\"layers\":[", "\"layers\":[7,", Status::kFormat, "layer 0 is an integer"},
           {"\"layers\":[", "\"layers\":{},\"more\":[", Status::kFormat, "layers is an object"}})
    expect_refused(with(listed, damage), damage);
  std::string many = listed;
  const size_t at = many.find("\"layers\":[") + 10;
  for (int i = 0; i < 600; ++i) many.insert(at, R"({"kind":"dropout","name":"","dropout":0.5},)");
  expect_refused(many, {"", "600 layers", Status::kFormat, "has 602 layers, at most 500"});
}

TEST(Settings, ACutTextIsRefusedWhereverItIsCut) {
  const std::string text = written(configs().back());
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_EQ(status_of([&] { read_file_settings(text.substr(0, size), "cut"); }), Status::kFormat);
  const std::string long_text(kMostFileSettings + 1, ' ');
  EXPECT_EQ(status_of([&] { read_file_settings(long_text, "long"); }), Status::kFormat);
}

// A few bytes that describe a model of terabytes.
TEST(Settings, ALimitStopsAModelBeforeItsMemory) {
  ModelConfig config = small_config();
  config.hidden_dim = int64_t{1} << 24;
  std::string text;
  {
    const ParameterLimit limit(1000);
    EXPECT_EQ(status_of([&] { make_model(config); }, &text), Status::kFormat);
    EXPECT_THAT(text, HasSubstr("the file's tensors are those of at most 1000"));
    make_model(small_config());
  }
  config.hidden_dim = 64;
  make_model(config);
}

TEST(Settings, EveryWordIsFoundAgain) {
  const Choices& choices = choices_of(Aggregation());
  EXPECT_EQ(choices.constant(0), "GNNMG_AGGREGATION_DEFAULT");
  EXPECT_EQ(choices.find("gcn"), 6);
  EXPECT_EQ(choices.find("GCN"), std::nullopt);
  EXPECT_STREQ(choices.word(7), "?");
  EXPECT_EQ(choices_of(Framework()).list(), "pyg, dgl");
}

}  // namespace
}  // namespace gnnmg::nn
