// Files of weights that open alone: in a fresh process, for every architecture and option, in every
// layout; and the errors of files that do not fit or do not open.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

constexpr int64_t kNodes = 40, kEdges = 160;

// Nodes with features and two classes; edges with rows of three numbers, weights and types.
struct OpenWorld {
  OpenWorld() {
    EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
    std::vector<int64_t> sources, targets, types, labels;
    std::vector<float> features, rows, weights;
    for (int64_t e = 0; e < kEdges; ++e) {
      sources.push_back(e * 37 % kNodes);
      targets.push_back((e * 23 + e / 7 + 1) % kNodes);
      if (sources.back() == targets.back()) targets.back() = (targets.back() + 1) % kNodes;
      types.push_back(e * e % 5);
      weights.push_back(0.25f + static_cast<float>(e % 9));
      for (int64_t k = 0; k < 3; ++k) rows.push_back(static_cast<float>((e * 3 + k) % 11) / 7 - 1);
    }
    for (int64_t i = 0; i < kNodes; ++i) {
      labels.push_back(i % 2);
      for (int64_t k = 0; k < 6; ++k)
        features.push_back(static_cast<float>((i * 6 + k) % 13) / 5 - 1);
    }
    const int64_t x[] = {kNodes, 6}, y[] = {kNodes}, attr[] = {kEdges, 3}, one[] = {kEdges};
    EXPECT_OK(gnnmg_graph_create_from_coo(context, kNodes, sources.data(), targets.data(),
                                          GNNMG_DTYPE_I64, kEdges, graph.out()));
    EXPECT_OK(gnnmg_graph_set_node_tensor(graph, 0, "x", features.data(), GNNMG_DTYPE_F32, 2, x));
    EXPECT_OK(gnnmg_graph_set_node_tensor(graph, 0, "y", labels.data(), GNNMG_DTYPE_I64, 1, y));
    EXPECT_OK(
        gnnmg_graph_set_edge_tensor(graph, 0, "edge_attr", rows.data(), GNNMG_DTYPE_F32, 2, attr));
    EXPECT_OK(gnnmg_graph_set_edge_tensor(graph, 0, "edge_weight", weights.data(), GNNMG_DTYPE_F32,
                                          1, one));
    EXPECT_OK(
        gnnmg_graph_set_edge_tensor(graph, 0, "edge_type", types.data(), GNNMG_DTYPE_I64, 1, one));
    EXPECT_OK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 2, data.out()));
    EXPECT_OK(gnnmg_dataset_add_random_split(data, "random", nullptr));
    layers.set("hidden_dim=8");
  }

  gnnmg_status create(const ModelConfig& config, Model& model) const {
    return gnnmg_model_create(context, data, &config, config.text(), model.out());
  }
  Model model() const {
    Model made;
    EXPECT_OK(create(layers, made));
    return made;
  }
  Model open(const std::string& path) const {
    Model opened;
    EXPECT_OK(gnnmg_model_open(context, path.c_str(), opened.out()));
    return opened;
  }
  gnnmg_status try_open(const std::string& path) const {
    Model opened;
    return gnnmg_model_open(context, path.c_str(), opened.out());
  }
  std::vector<char> results(const gnnmg_model* model) const {
    Tensor rows;
    EXPECT_OK(gnnmg_model_embed(const_cast<gnnmg_model*>(model), data, 0, nullptr, rows.out(), -1));
    auto facts = info<gnnmg_tensor_info>();
    EXPECT_OK(gnnmg_tensor_get_info(rows, &facts));
    const auto* bytes = static_cast<const char*>(facts.data);
    return {bytes, bytes + facts.num_elements * (facts.dtype == GNNMG_DTYPE_F64 ? 8 : 4)};
  }

  Context context;
  Graph graph;
  Dataset data;
  ModelConfig layers;
};

std::string save(const gnnmg_model* model, const std::string& path,
                 const char* settings = nullptr) {
  EXPECT_OK(gnnmg_model_save(const_cast<gnnmg_model*>(model), path.c_str(), settings, -1));
  return path;
}

std::string settings_of(const gnnmg_model* model) {
  const char* text = nullptr;
  EXPECT_OK(gnnmg_model_get_settings(model, &text));
  return text;
}

// Each changes one thing; those that an architecture does not have are refused by it.
const char* const kChanges[] = {
    "",
    "num_layers=1",
    "num_layers=3",
    "output_dim=-1",
    "dtype=f64",
    "bias=0",
    "root_weight=0",
    "normalize=1",
    "project=1",
    "activation=tanh",
    "activation=prelu",
    "norm=batch",
    "norm=pair_rows norm_scale=2",
    "norm=layer norm_affine=off norm_epsilon=0.1 act_first=1",
    "skip=linear",
    "skip=residual",
    "jumping=cat",
    "jumping=lstm",
    "aggregation=max",
    "aggregation=mean",
    "aggregation=sum",
    "aggregation=lstm",
    "aggregation=pool",
    "aggregation=gcn",
    "reductions=mean,variance",
    "scalers=attenuation",
    "heads=2 output_heads=3 negative_slope=0.1",
    "heads=2 concat=0",
    "residual=1",
    "share_weights=1",
    "self_loops=0",
    "block_degrees=1",
    "edge_weights=1",
    "edge_weights=1 improved=1",
    "degree_norm=none self_loops=0",
    "degree_norm=right",
    "beta=1",
    "edge_dim=-1",
    "edge_dim=-1 loop_fill=constant loop_value=0.5",
    "input=embedding hidden_dim=3 plain_edges=1",
    "mlp_layers=1",
    "mlp_layers=3",
    "mlp_layers=0",
    "eps=0.3",
    "train_eps=1",
    "num_bases=2",
    "num_blocks=2",
    "inner_norm=1",
    "towers=2",
    "pre_layers=2 post_layers=2",
    "towers=2 divide_input=1",
    "train_norm=1",
    "input=embedding",
    "input=nodes",
    "dropout=0.5 input_dropout=0.25 edge_dropout=0.25 node_dropout=0.25 weight_init=glorot seed=77",
};

// All that gnnmg_model_create() takes, by architecture, framework and change.
template <typename Changes>
std::vector<Model> all_models(const OpenWorld& world, const Changes& changes) {
  std::vector<Model> all;
  for (gnnmg_architecture architecture = GNNMG_ARCHITECTURE_SAGE;
       architecture <= GNNMG_ARCHITECTURE_EDGE; ++architecture) {
    if (architecture == GNNMG_ARCHITECTURE_LAYERS) continue;
    for (const gnnmg_framework framework : {GNNMG_FRAMEWORK_PYG, GNNMG_FRAMEWORK_DGL})
      for (const char* change : changes) {
        ModelConfig config = world.layers;
        config.architecture = architecture;
        config.framework = framework;
        config.set(change);
        Model model;
        if (world.create(config, model) == GNNMG_OK) all.push_back(std::move(model));
      }
  }
  return all;
}

// The caller's own layers.
Model stack(const OpenWorld& world) {
  ModelConfig config;
  config.architecture = GNNMG_ARCHITECTURE_LAYERS;
  Model model;
  EXPECT_OK(world.create(config, model));
  EXPECT_OK(gnnmg_model_add_conv(
      model, "first", nullptr,
      "architecture=gatv2 heads=2 output_dim=6 edge_dim=3 negative_slope=0.3"));
  EXPECT_OK(gnnmg_model_add_norm(model, "norm", GNNMG_NORM_LAYER, "epsilon=0.01"));
  EXPECT_OK(gnnmg_model_add_activation(model, nullptr, GNNMG_ACTIVATION_ELU));
  EXPECT_OK(gnnmg_model_add_dropout(model, 0.5));
  EXPECT_OK(gnnmg_model_add_conv(model, "second", nullptr, "output_dim=4 aggregation=max"));
  EXPECT_OK(gnnmg_model_add_linear(model, "last", 2, 0));
  return model;
}

TEST(ModelOpenTest, EveryModelOpensInAFreshProcessWithTheSameBits) {
  const OpenWorld world;
  const TempDir folder;
  const std::string data = folder.file("data");
  ASSERT_OK(gnnmg_dataset_save(world.data, data.c_str(), -1));
  std::vector<Model> models = all_models(world, kChanges);
  models.push_back(stack(world));
  EXPECT_GT(models.size(), 350u);
  const char* const ends[] = {".safetensors", ".pth", "/"};
  std::string list, expected;
  for (size_t i = 0; i < models.size(); ++i) {
    list += save(models[i], folder.file(std::to_string(i) + ends[i % 3])) + "\n";
    const std::vector<char> rows = world.results(models[i]);
    expected.append(rows.begin(), rows.end());
  }
  folder.write("list", list);
  const std::string command = std::string("'") + GNNMG_OPEN_CHILD + "' '" + data + "' '" +
                              folder.file("list") + "' '" + folder.file("rows") + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  EXPECT_TRUE(slurp(folder.file("rows")) == expected);
}

TEST(ModelOpenTest, EveryLayoutOfKeysOpens) {
  OpenWorld world;
  const TempDir folder;
  world.layers.norm = GNNMG_NORM_BATCH;
  world.layers.activation = GNNMG_ACTIVATION_ELU;
  for (const gnnmg_framework framework : {GNNMG_FRAMEWORK_PYG, GNNMG_FRAMEWORK_DGL})
    for (const gnnmg_architecture architecture :
         {GNNMG_ARCHITECTURE_SAGE, GNNMG_ARCHITECTURE_GAT, GNNMG_ARCHITECTURE_GIN}) {
      world.layers.framework = framework;
      world.layers.architecture = architecture;
      if (architecture == GNNMG_ARCHITECTURE_GIN) world.layers.norm = GNNMG_NORM_NONE;
      const Model model = world.model();
      const std::vector<char> expected = world.results(model);
      const auto opens = [&](const char* name, const char* form) {
        SCOPED_TRACE(testing::Message() << name << " " << framework << " " << architecture);
        for (const char* end : {".safetensors", ".pth"}) {
          const Model opened = world.open(save(model, folder.file(name + std::string(end)), form));
          EXPECT_EQ(world.results(opened), expected);
          EXPECT_EQ(settings_of(opened), settings_of(model));
        }
      };
      opens("own", nullptr);
      opens("named", "first_layer=conv1");
      opens("other", "first_layer=conv1 other_framework=1");
      opens("modules", "torch_modules=1");
      ASSERT_OK(gnnmg_model_load(model, folder.file("named.pth").c_str(), nullptr, -1));
      opens("loaded", "loaded_names=1");
    }
}

// The accuracy of such a model fell without a word.
TEST(ModelOpenTest, LoadingListsTheSettingsThatDiffer) {
  OpenWorld world;
  const TempDir folder;
  world.layers.aggregation = GNNMG_AGGREGATION_MAX;
  world.layers.activation = GNNMG_ACTIVATION_TANH;
  world.layers.dropout = 0.5;
  const Model model = world.model();
  const std::string path = save(model, folder.file("m.pth"));
  world.layers = OpenWorld().layers;
  Model other = world.model();
  const std::vector<char> before = world.results(other);
  EXPECT_FAILS(gnnmg_model_load(other, path.c_str(), nullptr, -1), GNNMG_ERR_MISMATCH,
               path +
                   ": a model of other settings wrote it: aggregation is mean, the file's is "
                   "max; activation is relu, the file's is tanh; make the model");
  EXPECT_EQ(world.results(other), before);

  // Settings of training may differ; opening restores them.
  world.layers.aggregation = GNNMG_AGGREGATION_MAX;
  world.layers.activation = GNNMG_ACTIVATION_TANH;
  world.layers.seed = 5;
  other = world.model();
  ASSERT_OK(gnnmg_model_load(other, path.c_str(), nullptr, -1));
  EXPECT_EQ(world.results(other), world.results(model));
  EXPECT_NE(settings_of(other), settings_of(model));
  EXPECT_EQ(settings_of(world.open(path)), settings_of(model));
  world.layers.dtype = GNNMG_DTYPE_F64;
  other = world.model();
  ASSERT_OK(gnnmg_model_load(other, path.c_str(), nullptr, -1));

  // Nothing is left to warn of.
  auto facts = info<gnnmg_log_info>();
  char text[512];
  size_t needed = 0;
  while (gnnmg_log_next(world.context, &facts, text, sizeof text, &needed) == GNNMG_OK)
    EXPECT_NE(facts.level, GNNMG_LOG_WARNING) << text;
}

TEST(ModelOpenTest, AFileOfTheOtherFrameworksLayersNeedsNoSetting) {
  OpenWorld world;
  const TempDir folder;
  const Model model = world.model();
  const std::string path = save(model, folder.file("m.pth"), "other_framework=1");
  world.layers.seed = 5;
  const Model other = world.model();
  ASSERT_OK(gnnmg_model_load(other, path.c_str(), nullptr, -1));
  EXPECT_EQ(world.results(other), world.results(model));
}

TEST(ModelOpenTest, TheStructMakesAnEqualModel) {
  const OpenWorld world;
  const char* const fields[] = {"",
                                "num_layers=3",
                                "output_dim=-1",
                                "dtype=f64",
                                "activation=prelu",
                                "norm=batch",
                                "aggregation=max",
                                "heads=2",
                                "input_dim=6 output_dim=4 dropout=0.5 seed=77"};
  for (const Model& model : all_models(world, fields)) {
    ModelConfig config;
    ASSERT_OK(gnnmg_model_get_config(model, &config));
    Model same;
    ASSERT_OK(gnnmg_model_create(world.context, world.data, &config, nullptr, same.out()));
    EXPECT_EQ(settings_of(same), settings_of(model));
  }
}

TEST(ModelOpenTest, SettingsTellTheTask) {
  OpenWorld world;
  const Model model = world.model();
  EXPECT_NE(settings_of(model).find(R"("task":"multiclass","num_classes":2,"of_graphs":false)"),
            std::string::npos)
      << settings_of(model);
  Model copy;
  ASSERT_OK(gnnmg_model_create_copy(model, copy.out()));
  EXPECT_EQ(settings_of(copy), settings_of(model));
  // A model that was made without data learns of them when it is trained.
  world.layers.input_dim = 6;
  world.layers.output_dim = 2;
  Model alone;
  ASSERT_OK(
      gnnmg_model_create(world.context, nullptr, &world.layers, world.layers.text(), alone.out()));
  EXPECT_NE(settings_of(alone).find(R"("task":"none")"), std::string::npos);
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(world.graph, nullptr, nullptr, sampler.out()));
  Trainer trainer;
  ASSERT_OK(
      gnnmg_trainer_create(alone, world.data, sampler, nullptr, nullptr, nullptr, trainer.out()));
  EXPECT_NE(settings_of(alone).find(R"("task":"multiclass")"), std::string::npos);
  Model snapshot;
  ASSERT_OK(gnnmg_trainer_snapshot(trainer, snapshot.out()));
  EXPECT_EQ(settings_of(snapshot), settings_of(alone));
}

// --- Folders ------------------------------------------------------------------------------------

void replace_in(const std::string& path, const std::string& from, const std::string& to) {
  std::string text = slurp(path);
  const size_t at = text.find(from);
  ASSERT_NE(at, text.npos) << from << " in " << text.substr(0, 2000);
  std::ofstream(path, std::ios::binary) << text.replace(at, from.size(), to);
}

TEST(ModelOpenTest, AFolderHasTheLayoutOfModelHubs) {
  const OpenWorld world;
  const TempDir folder;
  const Model model = world.model();
  const std::string hub = folder.file("hub");
  save(model, hub + "/");
  EXPECT_EQ(folder.list(),
            (std::vector<std::string>{"hub", "hub/config.json", "hub/model.safetensors"}));
  const std::string config = slurp(hub + "/config.json");
  for (const char* part : {"\"format\": \"gnnmg model\"", "\"file\": \"model.safetensors\"",
                           "\"sha256\": \"", "\"architecture\": \"sage\"", "\"hidden_dim\": 8"})
    EXPECT_NE(config.find(part), std::string::npos) << part;
  EXPECT_EQ(settings_of(world.open(hub)), settings_of(model));
  Model other = world.model();
  ASSERT_OK(gnnmg_model_load(other, hub.c_str(), nullptr, -1));
  EXPECT_EQ(world.results(world.open(hub + "/model.safetensors")), world.results(model));

  // Settings of training may be edited.
  replace_in(hub + "/config.json", "\"dropout\": 0.0", "\"dropout\": 0.25");
  EXPECT_NE(settings_of(world.open(hub)).find("\"dropout\":0.25"), std::string::npos);
  replace_in(hub + "/config.json", "\"normalize\": false", "\"normalize\": true");
  EXPECT_FAILS(world.try_open(hub), GNNMG_ERR_MISMATCH,
               "config.json and the weights describe different models: normalize is yes");
  // A save that was cut off: the weights alone.
  std::remove((hub + "/config.json").c_str());
  EXPECT_EQ(settings_of(world.open(hub)), settings_of(model));
  save(model, hub);
  std::string weights = slurp(hub + "/model.safetensors");
  weights.back() = static_cast<char>(weights.back() ^ 1);
  std::ofstream(hub + "/model.safetensors", std::ios::binary) << weights;
  EXPECT_FAILS(world.try_open(hub), GNNMG_ERR_CHECKSUM, "model.safetensors");

  save(model, hub, "format=pth");
  EXPECT_EQ(settings_of(world.open(hub)), settings_of(model));
  std::remove((hub + "/config.json").c_str());
  EXPECT_FAILS(world.try_open(hub), GNNMG_ERR_FORMAT, "has model.safetensors and model.pth");
  const TempDir empty;
  EXPECT_FAILS(world.try_open(empty.path()), GNNMG_ERR_NOT_FOUND, "has no model.safetensors");
  EXPECT_FAILS(world.try_open(empty.file("none")), GNNMG_ERR_NOT_FOUND, "none");
  EXPECT_EQ(gnnmg_model_save(other, empty.file("no/such/").c_str(), nullptr, -1),
            GNNMG_ERR_NOT_FOUND);
}

// Opens the folder again and again while another process saves to it, and after that was killed.
TEST(ModelOpenTest, AFolderOpensBesideASaverAndAfterItWasKilled) {
  const OpenWorld world;
  const TempDir folder;
  const std::string hub = folder.file("hub");
  save(world.model(), hub + "/");
  int narrow = 0, wide = 0;
  const auto open = [&] {
    auto facts = info<gnnmg_model_info>();
    ASSERT_OK(gnnmg_model_get_info(world.open(hub), &facts));
    ASSERT_TRUE(facts.hidden_dim == 8 || facts.hidden_dim == 12);
    ++(facts.hidden_dim == 8 ? narrow : wide);
  };
  for (int round = 0; round < 3; ++round) {
    const pid_t saver = fork();
    if (saver == 0) {
      execl(GNNMG_SAVE_CHILD, GNNMG_SAVE_CHILD, hub.c_str(), nullptr);
      _exit(127);
    }
    narrow = wide = 0;
    EXPECT_TRUE(eventually([&] {
      open();
      return HasFatalFailure() || (narrow > 5 && wide > 5 + 3 * round);
    }));
    EXPECT_EQ(kill(saver, SIGKILL), 0);
    int status = 0;
    EXPECT_EQ(waitpid(saver, &status, 0), saver);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the saver ended by itself";
    open();
  }
  save(world.model(), hub);
  open();
}

TEST(ModelOpenTest, AConfigOfAnotherProgramIsKept) {
  const OpenWorld world;
  const TempDir folder;
  const std::string theirs = R"({"model_type": "bert", "hidden_size": 768})";
  folder.write("config.json", theirs);
  const Model model = world.model();
  EXPECT_FAILS(gnnmg_model_save(model, folder.path().c_str(), nullptr, -1),
               GNNMG_ERR_INVALID_ARGUMENT, "another program wrote it");
  EXPECT_EQ(slurp(folder.file("config.json")), theirs);
  EXPECT_EQ(folder.list(), std::vector<std::string>{"config.json"});
  EXPECT_FAILS(gnnmg_model_save(model, folder.file("no/file.pth").c_str(), nullptr, -1),
               GNNMG_ERR_NOT_FOUND, "no/file.pth: ");
  ModelConfig config = world.layers;
  config.input_dim = 6;
  Model none;
  EXPECT_FAILS(gnnmg_model_create(world.context, nullptr, &config, config.text(), none.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "set it, or pass a data set");
}

TEST(ModelOpenTest, CheckpointsOpen) {
  OpenWorld world;
  const TempDir folder;
  Model model = world.model();
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(world.graph, nullptr, nullptr, sampler.out()));
  TrainerConfig training;
  training.num_epochs = 2;
  Trainer trainer;
  ASSERT_OK(gnnmg_trainer_create(model, world.data, sampler, nullptr, &training, training.text(),
                                 trainer.out()));
  ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  const std::string path = folder.file("checkpoint");
  ASSERT_OK(gnnmg_trainer_save(trainer, path.c_str(), -1));
  trainer.reset();
  const Model opened = world.open(path);
  EXPECT_EQ(settings_of(opened), settings_of(model));
  EXPECT_EQ(settings_of(world.open(path + "/best.safetensors")), settings_of(model));
  folder.write("series/latest", "000000-step-1\n");
  EXPECT_FAILS(world.try_open(folder.file("series")), GNNMG_ERR_NOT_FOUND,
               "but checkpoints: name the folder of one of them");
}

// --- Files that do not open ---------------------------------------------------------------------

// A file of safetensors with such a header.
std::string safetensors(const std::string& header, const std::string& data) {
  const auto size = static_cast<uint64_t>(header.size());
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + header + data;
}

// Replaces a part of the settings in a file of safetensors, where quotes are escaped.
void alter(const std::string& path, const std::string& from, const std::string& to) {
  const std::string file = slurp(path);
  uint64_t size = 0;
  std::memcpy(&size, file.data(), sizeof size);
  std::string header = file.substr(sizeof size, size);
  const size_t at = header.find(from);
  ASSERT_NE(at, header.npos) << from << " in " << header.substr(0, 2000);
  header.replace(at, from.size(), to);
  std::ofstream(path, std::ios::binary) << safetensors(header, file.substr(sizeof size + size));
}

TEST(ModelOpenTest, AFileWithoutSettingsSaysWhatItHolds) {
  const OpenWorld world;
  const TempDir folder;
  const std::string plain =
      folder.write("plain.safetensors",
                   safetensors(R"({"a.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                               R"("b.weight":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                               std::string(8, '\0')));
  EXPECT_FAILS(world.try_open(plain), GNNMG_ERR_FORMAT,
               plain + ": holds 2 tensors (a.weight, b.weight) and no settings");
  EXPECT_NE(std::string(gnnmg_last_error()).find("gnnmg_model_load()"), std::string::npos);
  const std::string hub = folder.file("hub");
  folder.write("hub/model.safetensors", slurp(plain));
  folder.write("hub/config.json", R"({"in_channels": 3})");
  EXPECT_FAILS(world.try_open(hub), GNNMG_ERR_FORMAT, "holds 2 tensors");
  folder.write("text", "no weights at all");
  EXPECT_FAILS(world.try_open(folder.file("text")), GNNMG_ERR_FORMAT, "begins with");
}

TEST(ModelOpenTest, SettingsThatDoNotFitAreRefused) {
  const OpenWorld world;
  const TempDir folder;
  const Model model = world.model();
  const std::string path = folder.file("m.safetensors");
  const auto refused = [&](const char* from, const std::string& to, gnnmg_status status,
                           const char* part) {
    SCOPED_TRACE(to.substr(0, 100));
    save(model, path);
    alter(path, from, to);
    EXPECT_FAILS(world.try_open(path), status, part);
    EXPECT_EQ(std::string(gnnmg_last_error()).find(path), 0u) << gnnmg_last_error();
  };
  const char* const width = R"(\"hidden_dim\":8)";
  refused(width, R"(\"hidden_dim\":9)", GNNMG_ERR_FORMAT, "convs.0.lin_l.weight is [8, 6]");
  refused(width, R"(\"hidden_dim\":16777216)", GNNMG_ERR_FORMAT,
          "the settings describe a model of");
  refused(R"(\"num_layers\":2)", R"(\"num_layers\":3)", GNNMG_ERR_FORMAT, "missing: convs.2");
  refused(R"(\"num_layers\":2)", R"(\"num_layers\":1000000000)", GNNMG_ERR_FORMAT, "1 to 10");
  refused(R"(\"keys\":\"pyg\")", R"(\"keys\":\"dgl\")", GNNMG_ERR_FORMAT, "does not fit");
  refused(R"(\"project\")", R"(\"projekt\")", GNNMG_ERR_VERSION, "the setting \"projekt\"");
  refused(R"(\"version\":1)", R"(\"version\":99)", GNNMG_ERR_VERSION, "is of version 99");
  refused(width, R"(\"hidden_dim\":)", GNNMG_ERR_FORMAT, "not valid JSON");
  refused(width, width + std::string(5 << 20, ' '), GNNMG_ERR_FORMAT, "bytes, at most");
  // Loading into a model checks the same text.
  Model other = world.model();
  save(model, path);
  alter(path, R"(\"project\")", R"(\"projekt\")");
  EXPECT_FAILS(gnnmg_model_load(other, path.c_str(), nullptr, -1), GNNMG_ERR_VERSION, "projekt");
}

TEST(ModelOpenTest, ACutFileIsRefused) {
  const OpenWorld world;
  const TempDir folder;
  const Model model = world.model();
  for (const char* name : {"m.safetensors", "m.pth"}) {
    const std::string whole = slurp(save(model, folder.file(name)));
    for (size_t size = 0; size < whole.size(); size += whole.size() / 97 + 1) {
      folder.write(name, whole.substr(0, size));
      EXPECT_EQ(world.try_open(folder.file(name)), GNNMG_ERR_FORMAT) << size;
    }
  }
}

}  // namespace
}  // namespace gnnmg::test
