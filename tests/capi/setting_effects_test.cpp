// No setting is accepted without effect: each one, set alone to another value, is refused or
// changes a result.
#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>
#include <sstream>

#include "capi/support.h"

namespace gnnmg::test::effects {
namespace {

constexpr int64_t kNodes = 60, kColumns = 8;

struct Setting {
  std::string name, type, default_value, values;
};

std::vector<Setting> list(const std::string& subject) {
  std::vector<Setting> all;
  auto facts = info<gnnmg_setting_info>();
  while (gnnmg_setting_get_info(subject.c_str(), static_cast<int64_t>(all.size()), &facts) ==
         GNNMG_OK)
    all.push_back({facts.name, facts.type, facts.default_value, facts.values});
  return all;
}

std::vector<std::string> words_in(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in >> std::ws, word, ',');) words.push_back(word);
  return words;
}

// Values to try in place of the default: the first that is accepted counts, and all of a choice.
std::vector<std::string> others_of(const Setting& setting) {
  const std::string& standard = setting.default_value;
  if (setting.type == "flag") return {standard == "1" ? "0" : "1"};
  if (setting.type == "choice" || setting.type == "choices") {
    std::vector<std::string> words = words_in(setting.values);
    std::erase(words, standard);
    return words;
  }
  std::vector<std::string> values;
  if (setting.type == "number") values = {"0.5", "0.25", "3"};
  if (setting.type == "integers") values = {"3", "8,8,8,8,8,8,8,8", "8,8,8"};
  if (setting.type == "integer") values = {"2", "4", "1", "8", "60"};
  std::erase(values, standard);
  return values;
}

// Nodes with features "x" and classes "y", edges with loops, weights, features and types.
class SettingEffects : public testing::Test {
 protected:
  SettingEffects() {
    std::mt19937 random(7);
    const auto draw = [&](int64_t below) { return static_cast<int64_t>(random() % below); };
    std::vector<int64_t> from, to, types, y;
    std::vector<float> x, weights, features;
    for (int64_t i = 0; i < kNodes; ++i) {
      const int64_t label = i % 3;
      y.push_back(label);
      for (int64_t c = 0; c < kColumns; ++c)
        x.push_back((c == label ? 1.0F : 0.0F) + static_cast<float>(draw(1000)) / 400);
      for (int64_t k = draw(6); k >= 0; --k) from.push_back(draw(kNodes)), to.push_back(i);
      if (i % 7 == 0) from.push_back(i), to.push_back(i);
    }
    const auto edges = static_cast<int64_t>(from.size());
    for (int64_t e = 0; e < edges; ++e) {
      types.push_back(draw(3));
      weights.push_back(0.5F + static_cast<float>(draw(100)) / 100);
      for (int c = 0; c < kColumns; ++c) features.push_back(static_cast<float>(draw(100)) / 100);
    }
    const int64_t of_x[] = {kNodes, kColumns}, of_y[] = {kNodes}, of_edges[] = {edges, kColumns};
    EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context_.out()));
    EXPECT_OK(gnnmg_graph_create_from_coo(context_, kNodes, from.data(), to.data(), GNNMG_DTYPE_I64,
                                          edges, graph_.out()));
    EXPECT_OK(gnnmg_graph_set_node_tensor(graph_, 0, "x", x.data(), GNNMG_DTYPE_F32, 2, of_x));
    EXPECT_OK(gnnmg_graph_set_node_tensor(graph_, 0, "y", y.data(), GNNMG_DTYPE_I64, 1, of_y));
    EXPECT_OK(gnnmg_graph_set_edge_tensor(graph_, 0, "edge_attr", features.data(), GNNMG_DTYPE_F32,
                                          2, of_edges));
    EXPECT_OK(gnnmg_graph_set_edge_tensor(graph_, 0, "edge_weight", weights.data(), GNNMG_DTYPE_F32,
                                          1, of_edges));
    EXPECT_OK(gnnmg_graph_set_edge_tensor(graph_, 0, "edge_type", types.data(), GNNMG_DTYPE_I64, 1,
                                          of_edges));
    EXPECT_OK(gnnmg_dataset_create(graph_, "x", "y", GNNMG_TASK_NONE, 0, dataset_.out()));
    EXPECT_OK(gnnmg_dataset_add_random_split(dataset_, "random",
                                             "train_fraction=0.5 validation_fraction=0.25 seed=1"));
  }

  // Weights after some steps, and predictions; empty if the settings are refused.
  std::string train(const std::string& model_text, const std::string& text) {
    Model model;
    const std::string full = with_words("hidden_dim=8", model_text);
    if (gnnmg_model_create(context_, dataset_, nullptr, full.c_str(), model.out()) != GNNMG_OK)
      return "";
    if (full.find("architecture=layers") != full.npos) {
      ModelConfig conv;
      conv.output_dim = 8;
      if (gnnmg_model_add_conv(model, "conv1", &conv, nullptr) != GNNMG_OK) return "";
      EXPECT_OK(gnnmg_model_add_activation(model, nullptr, GNNMG_ACTIVATION_RELU));
      conv.output_dim = 3;
      EXPECT_OK(gnnmg_model_add_conv(model, "conv2", &conv, nullptr));
    }
    const int32_t layers = full.find("num_layers=4") != full.npos ? 4 : 2;
    SamplerConfig sampling;
    sampling.num_fanouts = layers;
    for (int32_t i = 0; i < layers; ++i) sampling.fanouts[i] = 3;
    Sampler sampler;
    Trainer trainer;
    EXPECT_OK(gnnmg_sampler_create(graph_, &sampling, "edge_ids=1", sampler.out()));
    const std::string training = with_words(
        "torch_threads=1 loader_threads=0 num_epochs=3 batch_size=16 eval_batch_size=32", text);
    std::ostringstream result;
    const auto add_epoch = [](const gnnmg_epoch_info* epoch, void* text) {
      auto& out = *static_cast<std::ostringstream*>(text);
      out << epoch->train_loss << ' ' << epoch->best;
      if (epoch->validation != nullptr)
        out << ' ' << epoch->validation->loss << ' ' << epoch->validation->top_k_accuracy;
      out << '|';
      return 0;
    };
    if (gnnmg_trainer_create(model, dataset_, sampler, nullptr, nullptr, training.c_str(),
                             trainer.out()) != GNNMG_OK ||
        gnnmg_trainer_run(trainer, add_epoch, &result, nullptr) != GNNMG_OK)
      return "";
    result.precision(17);
    for (const float weight : weights(model)) result << weight << ' ';
    Predictor predictor;
    EXPECT_OK(gnnmg_predictor_create(model, dataset_, nullptr, predictor.out()));
    std::vector<int64_t> ids(kNodes);
    for (int64_t i = 0; i < kNodes; ++i) ids[i] = i;
    const auto rows = predicted<float>(predictor, ids, GNNMG_OUTPUT_PROBABILITIES);
    for (const float value : rows) result << value << ' ';
    return result.str();
  }

  // Settings that are accepted beside `base`, and change nothing.
  template <typename Run>
  void note_idle(const std::string& subject, const std::string& base, const Run& run) {
    const std::string standard = run(base);
    ASSERT_EQ(run(base), standard) << base;
    ASSERT_NE(standard, "") << base << ": " << gnnmg_last_error();
    for (const Setting& setting : list(subject)) {
      const bool in_base = (" " + base).find(" " + setting.name + "=") != base.npos;
      if (in_base || setting.name == "deadline_ms" || setting.name == "stall_limit_ms") continue;
      for (const std::string& value : others_of(setting)) {
        const std::string word = setting.name + "=" + value;
        const std::string result = run(base + " " + word);
        if (result == standard) idle_.insert(word + " (" + base + ")");
        if (result.empty() || setting.type.starts_with("choice")) continue;
        break;
      }
    }
  }

  Context context_;
  Graph graph_;
  Dataset dataset_;
  // Expects that only words that begin so are idle.
  void expect_only(const std::set<std::string>& meant) const {
    for (const std::string& word : idle_)
      EXPECT_TRUE(std::ranges::any_of(meant, [&](const auto& m) { return word.starts_with(m); }))
          << word << " is accepted and changes nothing";
    for (const std::string& m : meant)
      EXPECT_TRUE(std::ranges::any_of(idle_, [&](const auto& word) { return word.starts_with(m); }))
          << m << " has an effect";
  }

  std::set<std::string> idle_;
};

TEST_F(SettingEffects, OfModels) {
  for (const char* architecture : {"sage", "gcn", "gat", "gatv2", "gin", "gine", "graphconv",
                                   "rgcn", "transformer", "pna", "edge", "layers"})
    for (const char* framework : {"pyg", "dgl"}) {
      const std::string base = std::string("architecture=") + architecture +
                               (framework == std::string("dgl") ? " framework=dgl" : "");
      if (train(base, "").empty()) continue;
      note_idle("model", base, [&](const std::string& text) { return train(text, ""); });
    }
  expect_only({
      "aggregation=",        // the default's own name
      "average_degree=",     // only other scalers read it
      "concat=0",            // the models here have one head
      "edge_dim=8",          // the data set's, which GINE takes
      "input_dim=8",         // the data set's
      "self_loops=0",        // true of DGL's layers anyway
      "num_blocks=1",        // the whole matrix
      "weight_init=dgl",     // DGL's layers and GCN begin so
      "weight_init=glorot",  // GCN and attention begin so
  });
}

TEST_F(SettingEffects, OfTrainers) {
  for (const char* optimizer : {"adam", "adamw", "sgd", "rmsprop", "adagrad learning_rate=0.5"})
    note_idle("trainer", std::string("num_epochs=8 loader_threads=1 optimizer=") + optimizer,
              [&](const std::string& text) { return train("", text); });
  expect_only({
      // Speed, and limits that are not reached.
      "prefetch=",
      "torch_threads=",
      "eval_batch_size=",
      "schedule=step",
      "schedule=plateau",
      // Names of defaults, and settings that change nothing for one rank on the CPU and these data.
      "best_by=",
      "loss=cross_entropy",
      "loss_average=ranks",
      "plan=",
      "device=cpu",
      "deterministic=1",
      "precision=tf32",
      "sync_batch_norm=1",
      // GPU settings wait for one while device=auto.
      "capture=",
      "cache_bytes=",
      "feature_form=",
      "feature_placement=",
      "gather_multiprocessors=",
      "graph_placement=",
      "hotness=",
  });
}

TEST_F(SettingEffects, OfLoaders) {
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(graph_, nullptr, nullptr, sampler.out()));
  const auto load = [&](const std::string& text) -> std::string {
    Loader loader;
    if (gnnmg_loader_create(dataset_, sampler, nullptr, text.c_str(), loader.out()) != GNNMG_OK)
      return "";
    std::ostringstream result;
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (Batch batch; gnnmg_loader_next(loader, batch.out(), -1) == GNNMG_OK;) {
        Tensor nodes, rows;
        EXPECT_OK(gnnmg_batch_export_node_ids(batch, 0, nodes.out()));
        for (const int64_t id : values<int64_t>(nodes)) result << id << ' ';
        if (gnnmg_batch_export_features(batch, 0, rows.out()) != GNNMG_OK) result << "none";
        result << '|';
      }
      result << '#';
    }
    return result.str();
  };
  note_idle("loader", "batch_size=16", load);
  expect_only({"batches_per_step=", "device=cpu", "num_threads=", "prefetch=", "plan="});
}

TEST_F(SettingEffects, OfSamplers) {
  const auto sample = [&](const std::string& text) -> std::string {
    Sampler sampler;
    Batch batch;
    std::vector<int64_t> seeds(kNodes / 2);
    for (size_t i = 0; i < seeds.size(); ++i) seeds[i] = static_cast<int64_t>(2 * i);
    if (gnnmg_sampler_create(graph_, nullptr, text.c_str(), sampler.out()) != GNNMG_OK ||
        gnnmg_sampler_sample(sampler, nullptr, seeds.data(), static_cast<int64_t>(seeds.size()),
                             nullptr, 0, 0, 0, batch.out(), -1) != GNNMG_OK)
      return "";
    std::ostringstream result;
    Tensor nodes;
    EXPECT_OK(gnnmg_batch_export_node_ids(batch, 0, nodes.out()));
    for (const int64_t id : values<int64_t>(nodes)) result << id << ' ';
    for (int32_t layer = 0; layer < 4; ++layer) {
      auto facts = info<gnnmg_block_info>();
      if (gnnmg_batch_get_block_info(batch, layer, 0, &facts) != GNNMG_OK) break;
      result << facts.num_sources << ' ' << facts.num_targets << ' ' << facts.num_edges << '|';
    }
    return result.str();
  };
  note_idle("sampler", "fanouts=3,4", sample);
  expect_only({"edge_ids=1", "transpose=0"});  // seen in blocks, and in backward passes
}

// Settings of models are of architectures, norms and readouts, by field too.
TEST(SettingRefusals, WithoutEffectOnAModel) {
  World world(60);
  const auto refused = [&](const std::string& words, const std::string& part) {
    Model none;
    EXPECT_FAILS(
        gnnmg_model_create(world.context, world.dataset, nullptr, words.c_str(), none.out()),
        GNNMG_ERR_INVALID_ARGUMENT, part);
  };
  const auto without_effect = [&](const std::string& words, const std::string& condition) {
    refused(words, "model: " + words.substr(words.rfind(' ') + 1) + " has an effect only " +
                       condition + "; leave it out");
  };
  without_effect("act_first=1", "with a norm");
  without_effect("norm_epsilon=0.5", "with a norm");
  without_effect("norm=layer norm_momentum=0.5", "with norm=batch");
  without_effect("norm=batch norm_scale=2", "with norm=pair or pair_rows");
  without_effect("norm=graph norm_affine=off", "with norm=batch, layer, layer_graph or instance");
  without_effect("architecture=gcn improved=1", "with edge_weights=1 and self_loops=1");
  without_effect("architecture=gat loop_value=2", "with loop_fill=constant");
  without_effect("architecture=gat loop_fill=max",
                 "with self_loops=1 and edge features, whose columns are edge_dim");
  without_effect("architecture=pna divide_input=1", "with towers above 1");
  without_effect("readout_steps=2", "with readout=set2set");
  without_effect("sort_rows=2", "with readout=sort");
  refused("architecture=gcn framework=dgl block_degrees=1", "is an option of PyG's GCN");
  for (const char* word : {"num_layers=3", "output_dim=2", "readout=sum", "hidden_dim=2"})
    refused(std::string("architecture=layers ") + word,
            " has an effect only without architecture=layers");
  ModelConfig config;
  config.architecture = GNNMG_ARCHITECTURE_LAYERS;
  config.num_layers = 3;
  Model model;
  EXPECT_FAILS(gnnmg_model_create(world.context, world.dataset, &config, nullptr, model.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "config.num_layers has an effect only without");
}

TEST(SettingRefusals, APartHasNoEffectBesideSeeds) {
  World world(60);
  const Sampler sampler = world.make_sampler();
  const int64_t seeds[] = {1, 2};
  Loader loader;
  EXPECT_FAILS(gnnmg_loader_create_from_seeds(world.dataset, sampler, 0, seeds, 2, nullptr, nullptr,
                                              "part=test", loader.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "part=test has an effect only without seeds");
}

// Numbers of ranks and types that do not exist are not found, by field and by name.
TEST(SettingRefusals, NumbersThatDoNotExist) {
  World world(60);
  Sampler sampler;
  for (const char* type : {"edge_type=-1", "edge_type=1"})
    EXPECT_FAILS(gnnmg_sampler_create(world.graph, nullptr, type, sampler.out()),
                 GNNMG_ERR_NOT_FOUND, "edge type");
  sampler = world.make_sampler();
  Loader loader;
  for (const int32_t rank : {-1, 2}) {
    LoaderConfig config;
    config.world_size = 2;
    config.rank = rank;
    EXPECT_FAILS(gnnmg_loader_create(world.dataset, sampler, &config, nullptr, loader.out()),
                 GNNMG_ERR_NOT_FOUND, "rank is");
    const std::string text = "world_size=2 rank=" + std::to_string(rank);
    EXPECT_FAILS(gnnmg_loader_create(world.dataset, sampler, nullptr, text.c_str(), loader.out()),
                 GNNMG_ERR_NOT_FOUND, "rank is");
  }
}

}  // namespace
}  // namespace gnnmg::test::effects
