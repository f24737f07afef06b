// Generated graphs and data sets.
#include <algorithm>

#include "base/names.h"
#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/dataset_settings.h"
#include "capi/graph.h"
#include "graph/generate.h"
#include "io/bytes.h"

namespace gnnmg::capi {
namespace {

using Planted = graph::PlantedPartitionConfig;
using LogNormal = graph::LogNormalConfig;
using Rmat = graph::RmatConfig;
using ErdosRenyi = graph::ErdosRenyiConfig;

constexpr const char* kSeedHelp = "The graph depends only on seed and settings.";
constexpr const char* kLabelNoiseHelp = "Share of labels replaced by another class.";

constexpr const char *kFeatures = "with num_features above 0",
                     *kClasses = "with num_classes above 0";
bool has_features(const Planted& c) { return c.num_features > 0; }
bool has_features(const LogNormal& c) { return c.num_features > 0 && c.num_classes > 0; }
bool has_classes(const LogNormal& c) { return c.num_classes > 0; }

constexpr SettingRow<Planted> kPlantedRows[] = {
    GNNMG_SETTING(Planted, num_nodes, "2 to 2147483647",
                  "Number of nodes, at least 2 of each class."),
    GNNMG_SETTING(Planted, num_classes, "1 to 1048576", "Number of classes, of equal size."),
    GNNMG_SETTING(Planted, mean_degree, "0 or more",
                  "Directed edges per node; each edge exists in both directions."),
    GNNMG_SETTING(Planted, intra_probability, "0 to 1",
                  "Probability that an edge joins two nodes of one class."),
    GNNMG_SETTING(Planted, num_features, "0 to 1048576",
                  "Columns of the features. 0: no features."),
    GNNMG_SETTING(Planted, center_scale, "0 to 1000000",
                  "Standard deviation of the coordinates of a class center.")
        .only(has_features, kFeatures),
    GNNMG_SETTING(Planted, noise, "0 to 1000000",
                  "Standard deviation of a feature around its center.")
        .only(has_features, kFeatures),
    GNNMG_SETTING(Planted, label_noise, "0 to 1", kLabelNoiseHelp),
    GNNMG_SETTING(Planted, seed, nullptr, kSeedHelp),
};

constexpr SettingRow<LogNormal> kLogNormalRows[] = {
    GNNMG_SETTING(LogNormal, num_nodes, "0 to 2147483647", "Number of nodes."),
    GNNMG_SETTING(LogNormal, mean_degree, "1e-6 to 1e9",
                  "Mean number of incoming edges; no node has more than num_nodes / 20."),
    GNNMG_SETTING(LogNormal, sigma, "0 to 10",
                  "Standard deviation of the logarithm of the degrees."),
    GNNMG_SETTING(LogNormal, num_features, "0 to 1048576",
                  "Columns of the features. 0: no features."),
    GNNMG_SETTING(LogNormal, num_classes, "0 to 1048576",
                  "Number of classes. 0: no labels and no communities."),
    GNNMG_SETTING(LogNormal, zipf, "0 to 100", "Exponent of the community sizes.")
        .only(has_classes, kClasses),
    GNNMG_SETTING(LogNormal, homophily, "0 to 1",
                  "Probability that an edge comes from the target's community.")
        .only(has_classes, kClasses),
    GNNMG_SETTING(LogNormal, center_scale, "0 to 1000000",
                  "Scale of a class center; features are center plus N(0, 1).")
        .only(has_features, "with num_features and num_classes above 0"),
    GNNMG_SETTING(LogNormal, label_noise, "0 to 1", "Share of labels replaced at random.")
        .only(has_classes, kClasses),
    GNNMG_SETTING(LogNormal, seed, nullptr, kSeedHelp),
};

constexpr SettingRow<Rmat> kRmatRows[] = {
    GNNMG_SETTING(Rmat, scale, "0 to 30", "The graph has 2^scale nodes."),
    GNNMG_SETTING(Rmat, num_edges, "0 or more", "Number of directed edges."),
    GNNMG_SETTING(Rmat, a, "0 to 1", "Probability of the quadrant (0, 0)."),
    GNNMG_SETTING(Rmat, b, "0 to 1", "Probability of the quadrant (0, 1)."),
    GNNMG_SETTING(Rmat, c, "0 to 1", "Probability of the quadrant (1, 0); (1, 1) has the rest."),
    GNNMG_SETTING(Rmat, seed, nullptr, kSeedHelp),
};

constexpr SettingRow<ErdosRenyi> kErdosRenyiRows[] = {
    GNNMG_SETTING(ErdosRenyi, num_nodes, "0 to 2147483647", "Number of nodes."),
    GNNMG_SETTING(ErdosRenyi, num_edges, "0 or more", "Number of directed edges."),
    GNNMG_SETTING(ErdosRenyi, seed, nullptr, kSeedHelp),
};

bool has_name(const auto& rows, std::string_view name) {
  return std::ranges::any_of(rows, [&](const auto& row) { return name == row.name; });
}

// Applies each word to the config, to the split if there is one, or to both if they share its name.
template <typename Config, size_t N>
Config read_generator(const char* generator, const char* settings,
                      const SettingRow<Config> (&rows)[N], SplitSettings* split) {
  std::vector<Word> of_config, of_split;
  for (Word& word : split_words(generator, settings)) {
    const bool splits = split != nullptr && has_name(split_rows(), word.name);
    if (split != nullptr && !splits && !has_name(rows, word.name)) {
      std::vector<std::string_view> names;
      for (const auto& row : rows) names.emplace_back(row.name);
      for (const auto& row : split_rows())
        if (!has_name(rows, row.name)) names.emplace_back(row.name);
      refuse_setting(word, names);
    }
    if (splits) of_split.push_back(word);
    if (!splits || has_name(rows, word.name)) of_config.push_back(word);
  }
  Config config;
  apply_words<Config>(of_config, rows, config);
  if (split != nullptr) apply_words<SplitSettings>(of_split, split_rows(), *split);
  return config;
}

struct Generator {
  const char* name;
  bool has_labels;
  graph::GraphRef (*make)(const char* generator, const char* settings, SplitSettings* split,
                          base::ThreadPool& pool);
  std::vector<SettingFacts> (*list)();

  graph::GraphRef generate(const char* settings, SplitSettings* split,
                           base::ThreadPool& pool) const {
    return make(name, settings, split, pool);
  }
};

template <const auto& kRows, auto kGenerate>
constexpr Generator generator(const char* name, bool has_labels) {
  return {name, has_labels,
          [](const char* from, const char* settings, SplitSettings* split, base::ThreadPool& pool) {
            return kGenerate(read_generator(from, settings, kRows, split), pool);
          },
          [] {
            const decltype(read_generator(nullptr, nullptr, kRows, nullptr)) defaults;
            return list_settings<std::remove_const_t<decltype(defaults)>>(kRows, defaults);
          }};
}

constexpr Generator kGenerators[] = {
    generator<kPlantedRows, graph::planted_partition>("planted", true),
    generator<kLogNormalRows, graph::log_normal>("log_normal", true),
    generator<kRmatRows, graph::rmat>("rmat", false),
    generator<kErdosRenyiRows, graph::erdos_renyi>("erdos_renyi", false),
};

const Generator* known_generator(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kGenerators, [&](const Generator& g) { return name == g.name; });
  return found == std::end(kGenerators) ? nullptr : found;
}

const Generator& find_generator(const char* name) {
  const std::string_view wanted = read_name(name, "generator");
  if (const Generator* found = known_generator(wanted)) return *found;
  std::vector<std::string_view> names;
  for (const Generator& g : kGenerators) names.emplace_back(g.name);
  fail(Status::kNotFound, "there is no generator '", io::printable(wanted), "'",
       base::known_names(wanted, names));
}

}  // namespace

std::vector<SettingFacts> generator_settings(std::string_view generator) {
  const Generator* found = known_generator(generator);
  return found == nullptr ? std::vector<SettingFacts>() : found->list();
}

}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_graph_generate(const gnnmg_context* context, const char* generator,
                                  const char* settings, gnnmg_graph** graph) {
  return guard(outs(Out{graph, "graph"}), [&] {
    const auto c = find<Context>(context, "context");
    *graph = new_open_graph(c, find_generator(generator).generate(settings, nullptr, c->pool));
  });
}

gnnmg_status gnnmg_dataset_generate(const gnnmg_context* context, const char* generator,
                                    const char* settings, gnnmg_dataset** dataset) {
  return guard(outs(Out{dataset, "dataset"}), [&] {
    const auto c = find<Context>(context, "context");
    const Generator& from = find_generator(generator);
    if (!from.has_labels)
      fail(Status::kNotFound, "the generator '", from.name,
           "' makes no labels; gnnmg_graph_generate() makes its graph");
    SplitSettings split;
    const gnnmg::graph::GraphRef graph = from.generate(settings, &split, c->pool);
    const auto name_of = [&](const char* column) {
      return std::string(graph->node_column(column) == nullptr ? "" : column);
    };
    auto made = std::make_shared<Dataset>(
        c, gnnmg::data::make_dataset(graph, name_of("x"), name_of("y"), false, {}));
    made->need_labels();
    made->add_split(draw_split(*made->data(), split, "random"));
    *dataset = new_handle<gnnmg_dataset>(std::move(made));
  });
}

}  // extern "C"
