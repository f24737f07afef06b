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
    layers = init(gnnmg_model_config_init);
    layers.hidden_dim = 8;
  }

  gnnmg_status create(const gnnmg_model_config& config, Model& model) const {
    return gnnmg_model_create(context, data, &config, model.out());
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
    EXPECT_OK(gnnmg_model_embed(const_cast<gnnmg_model*>(model), data, rows.out(), -1));
    auto facts = info<gnnmg_tensor_info>();
    EXPECT_OK(gnnmg_tensor_get_info(rows, &facts));
    const auto* bytes = static_cast<const char*>(facts.data);
    return {bytes, bytes + facts.num_elements * (facts.dtype == GNNMG_DTYPE_F64 ? 8 : 4)};
  }

  Context context;
  Graph graph;
  Dataset data;
  gnnmg_model_config layers;
};

std::string save(const gnnmg_model* model, const std::string& path,
                 const gnnmg_model_file_config* config = nullptr) {
  EXPECT_OK(gnnmg_model_save(const_cast<gnnmg_model*>(model), path.c_str(), config, -1));
  return path;
}

std::string settings_of(const gnnmg_model* model) {
  const char* text = nullptr;
  EXPECT_OK(gnnmg_model_get_settings(model, &text));
  return text;
}

// Each changes one thing; those that an architecture does not have are refused by it.
using Change = void (*)(gnnmg_model_config&);
const Change kChanges[] = {
    [](auto&) {},
    [](auto& c) { c.num_layers = 1; },
    [](auto& c) { c.num_layers = 3; },
    [](auto& c) { c.output_dim = -1; },
    [](auto& c) { c.dtype = GNNMG_DTYPE_F64; },
    [](auto& c) { c.bias = 0; },
    [](auto& c) { c.root_weight = 0; },
    [](auto& c) { c.normalize = 1; },
    [](auto& c) { c.project = 1; },
    [](auto& c) { c.activation = GNNMG_ACTIVATION_TANH; },
    [](auto& c) { c.activation = GNNMG_ACTIVATION_PRELU; },
    [](auto& c) { c.norm = GNNMG_NORM_BATCH; },
    [](auto& c) {
      c.norm = GNNMG_NORM_PAIR_ROWS;
      c.norm_scale = 2;
    },
    [](auto& c) {
      c.norm = GNNMG_NORM_LAYER;
      c.norm_affine = GNNMG_NORM_AFFINE_OFF;
      c.norm_epsilon = 0.1;
      c.act_first = 1;
    },
    [](auto& c) { c.skip = GNNMG_SKIP_LINEAR; },
    [](auto& c) { c.skip = GNNMG_SKIP_RESIDUAL; },
    [](auto& c) { c.jumping = GNNMG_JUMPING_CAT; },
    [](auto& c) { c.jumping = GNNMG_JUMPING_LSTM; },
    [](auto& c) { c.aggregation = GNNMG_AGGREGATION_MAX; },
    [](auto& c) { c.aggregation = GNNMG_AGGREGATION_MEAN; },
    [](auto& c) { c.aggregation = GNNMG_AGGREGATION_SUM; },
    [](auto& c) { c.aggregation = GNNMG_AGGREGATION_LSTM; },
    [](auto& c) { c.aggregation = GNNMG_AGGREGATION_POOL; },
    [](auto& c) { c.aggregation = GNNMG_AGGREGATION_GCN; },
    [](auto& c) {
      c.reductions[0] = GNNMG_PNA_REDUCTION_MEAN;
      c.reductions[1] = GNNMG_PNA_REDUCTION_VARIANCE;
    },
    [](auto& c) { c.scalers[0] = GNNMG_PNA_SCALER_ATTENUATION; },
    [](auto& c) {
      c.heads = 2;
      c.output_heads = 3;
      c.negative_slope = 0.1;
    },
    [](auto& c) {
      c.heads = 2;
      c.concat = 0;
    },
    [](auto& c) { c.residual = 1; },
    [](auto& c) { c.share_weights = 1; },
    [](auto& c) { c.self_loops = 0; },
    [](auto& c) { c.block_degrees = 1; },
    [](auto& c) { c.edge_weights = 1; },
    [](auto& c) { c.edge_weights = c.improved = 1; },
    [](auto& c) {
      c.degree_norm = GNNMG_DEGREE_NORM_NONE;
      c.self_loops = 0;
    },
    [](auto& c) { c.degree_norm = GNNMG_DEGREE_NORM_RIGHT; },
    [](auto& c) { c.beta = 1; },
    [](auto& c) { c.edge_dim = -1; },
    [](auto& c) {
      c.edge_dim = -1;
      c.loop_fill = GNNMG_LOOP_FILL_CONSTANT;
      c.loop_value = 0.5;
    },
    [](auto& c) {
      c.input = GNNMG_INPUT_EMBEDDING;
      c.hidden_dim = 3;
      c.plain_edges = 1;
    },
    [](auto& c) { c.mlp_layers = 1; },
    [](auto& c) { c.mlp_layers = 3; },
    [](auto& c) { c.mlp_layers = -1; },
    [](auto& c) { c.eps = 0.3; },
    [](auto& c) { c.train_eps = 1; },
    [](auto& c) { c.num_bases = 2; },
    [](auto& c) { c.num_blocks = 2; },
    [](auto& c) { c.inner_norm = 1; },
    [](auto& c) { c.towers = 2; },
    [](auto& c) { c.pre_layers = c.post_layers = 2; },
    [](auto& c) {
      c.towers = 2;
      c.divide_input = 1;
    },
    [](auto& c) { c.train_norm = 1; },
    [](auto& c) { c.input = GNNMG_INPUT_EMBEDDING; },
    [](auto& c) { c.input = GNNMG_INPUT_NODES; },
    [](auto& c) {
      c.dropout = 0.5;
      c.input_dropout = c.edge_dropout = c.node_dropout = 0.25;
      c.weight_init = GNNMG_WEIGHT_INIT_GLOROT;
      c.seed = 77;
    },
};

// All that gnnmg_model_create() takes, by architecture, framework and change.
std::vector<Model> all_models(const OpenWorld& world) {
  std::vector<Model> all;
  for (gnnmg_architecture architecture = GNNMG_MODEL_SAGE; architecture <= GNNMG_MODEL_EDGE;
       ++architecture) {
    if (architecture == GNNMG_MODEL_LAYERS) continue;
    for (const gnnmg_framework framework : {GNNMG_FRAMEWORK_PYG, GNNMG_FRAMEWORK_DGL})
      for (const Change change : kChanges) {
        gnnmg_model_config config = world.layers;
        config.architecture = architecture;
        config.framework = framework;
        change(config);
        Model model;
        if (world.create(config, model) == GNNMG_OK) all.push_back(std::move(model));
      }
  }
  return all;
}

// The caller's own layers.
Model stack(const OpenWorld& world) {
  gnnmg_model_config config = world.layers;
  config.architecture = GNNMG_MODEL_LAYERS;
  Model model;
  EXPECT_OK(world.create(config, model));
  auto conv = init(gnnmg_model_config_init);
  conv.architecture = GNNMG_MODEL_GATV2;
  conv.heads = 2;
  conv.output_dim = 6;
  conv.edge_dim = 3;
  conv.negative_slope = 0.3;
  EXPECT_OK(gnnmg_model_add_conv(model, "first", &conv));
  auto norm = init(gnnmg_norm_config_init);
  norm.epsilon = 0.01;
  EXPECT_OK(gnnmg_model_add_norm(model, "norm", GNNMG_NORM_LAYER, &norm));
  EXPECT_OK(gnnmg_model_add_activation(model, nullptr, GNNMG_ACTIVATION_ELU));
  EXPECT_OK(gnnmg_model_add_dropout(model, 0.5));
  conv = init(gnnmg_model_config_init);
  conv.output_dim = 4;
  conv.aggregation = GNNMG_AGGREGATION_MAX;
  EXPECT_OK(gnnmg_model_add_conv(model, "second", &conv));
  EXPECT_OK(gnnmg_model_add_linear(model, "last", 2, 0));
  return model;
}

TEST(ModelOpenTest, EveryModelOpensInAFreshProcessWithTheSameBits) {
  const OpenWorld world;
  const TempDir folder;
  const std::string data = folder.file("data");
  ASSERT_OK(gnnmg_dataset_save(world.data, data.c_str(), -1));
  std::vector<Model> models = all_models(world);
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
         {GNNMG_MODEL_SAGE, GNNMG_MODEL_GAT, GNNMG_MODEL_GIN}) {
      world.layers.framework = framework;
      world.layers.architecture = architecture;
      if (architecture == GNNMG_MODEL_GIN) world.layers.norm = GNNMG_NORM_NONE;
      const Model model = world.model();
      const std::vector<char> expected = world.results(model);
      auto config = init(gnnmg_model_file_config_init);
      const auto opens = [&](const char* name) {
        SCOPED_TRACE(testing::Message() << name << " " << framework << " " << architecture);
        for (const char* end : {".safetensors", ".pth"}) {
          const Model opened =
              world.open(save(model, folder.file(name + std::string(end)), &config));
          EXPECT_EQ(world.results(opened), expected);
          EXPECT_EQ(settings_of(opened), settings_of(model));
        }
      };
      opens("own");
      std::strcpy(config.first_layer, "conv1");
      opens("named");
      config.other_framework = 1;
      opens("other");
      config = init(gnnmg_model_file_config_init);
      config.torch_modules = 1;
      opens("modules");
      config = init(gnnmg_model_file_config_init);
      ASSERT_OK(gnnmg_model_load(model, folder.file("named.pth").c_str(), nullptr, -1));
      config.loaded_names = 1;
      opens("loaded");
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
  world.layers = init(gnnmg_model_config_init);
  world.layers.hidden_dim = 8;
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
  auto config = init(gnnmg_model_file_config_init);
  config.other_framework = 1;
  const std::string path = save(model, folder.file("m.pth"), &config);
  world.layers.seed = 5;
  const Model other = world.model();
  ASSERT_OK(gnnmg_model_load(other, path.c_str(), nullptr, -1));
  EXPECT_EQ(world.results(other), world.results(model));
}

TEST(ModelOpenTest, TheStructMakesAnEqualModel) {
  const OpenWorld world;
  for (const Model& model : all_models(world)) {
    auto config = info<gnnmg_model_config>();
    ASSERT_OK(gnnmg_model_get_config(model, &config));
    Model same;
    ASSERT_OK(gnnmg_model_create(world.context, nullptr, &config, same.out()));
    const std::string settings = settings_of(model);
    const std::string without_data = settings.substr(0, settings.find("\"data\""));
    EXPECT_EQ(settings_of(same).substr(0, without_data.size()), without_data);
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
  ASSERT_OK(gnnmg_model_create(world.context, nullptr, &world.layers, alone.out()));
  EXPECT_NE(settings_of(alone).find(R"("task":"none")"), std::string::npos);
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(world.graph, nullptr, sampler.out()));
  Trainer trainer;
  ASSERT_OK(gnnmg_trainer_create(alone, world.data, sampler, nullptr, nullptr, trainer.out()));
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

  auto pth = init(gnnmg_model_file_config_init);
  pth.format = GNNMG_MODEL_FORMAT_PTH;
  save(model, hub, &pth);
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
  gnnmg_model_config config = world.layers;
  config.input_dim = 6;
  Model none;
  EXPECT_FAILS(gnnmg_model_create(world.context, nullptr, &config, none.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "set it, or pass a data set");
}

TEST(ModelOpenTest, CheckpointsOpen) {
  OpenWorld world;
  const TempDir folder;
  Model model = world.model();
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(world.graph, nullptr, sampler.out()));
  auto training = init(gnnmg_trainer_config_init);
  training.num_epochs = 2;
  Trainer trainer;
  ASSERT_OK(gnnmg_trainer_create(model, world.data, sampler, nullptr, &training, trainer.out()));
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
