#include "capi/parts_settings.h"

#include "capi/settings.h"
#include "partition/book.h"
#include "sample/sampler.h"

namespace gnnmg::capi {
namespace {

constexpr int32_t kHotParts = 64;  // more parts have no hotness unless fan-outs are given

void read_fanouts(const Word& word, PartsSettings& settings) {
  settings.fanouts.clear();
  settings.default_fanouts = false;
  if (word.value == "none") return;
  read_value(word, settings.fanouts);
  bool valid = settings.fanouts.size() <= sample::kMaxHops;
  for (const int64_t fanout : settings.fanouts) valid &= fanout >= -1 && fanout <= INT32_MAX;
  if (!valid) word.refuse("fan-outs");
}

bool clusters(const PartsSettings& settings) {
  return settings.assigns(partition::Method::kCluster);
}
bool weighs(const PartsSettings& settings) {
  return clusters(settings) || settings.assigns(partition::Method::kMetis);
}
bool draws(const PartsSettings& settings) {
  return weighs(settings) || settings.assigns(partition::Method::kHash);
}
constexpr const char* kClusters = "with method=cluster and without `given`";
constexpr const char* kWeighs = "with method=cluster or metis and without `given`";

static_assert(partition::kMaxParts == 65535 && sample::kMaxHops == 16);
constexpr SettingRow<PartsSettings> kPartsRows[] = {
    GNNMG_SETTING_AS(PartsSettings, "num_parts", assign.num_parts, "1 to 65535", "Number of parts.",
                     true),
    GNNMG_SETTING_AS(PartsSettings, "method", assign.method, nullptr,
                     "Method that divides nodes into parts; see gnnmg_parts_method.", true)
        .only([](const PartsSettings& s) { return !s.given; }, "without `given`"),
    GNNMG_SETTING(PartsSettings, edge_ids, nullptr,
                  "1: store the id of each edge even if ids equal positions.", true),
    GNNMG_SETTING_AS(PartsSettings, "seed", assign.seed, nullptr,
                     "The parts depend only on seed, data and settings.", true)
        .only(draws, "with method=cluster, metis or hash and without `given`"),
    GNNMG_SETTING_AS(PartsSettings, "memory_limit", assign.memory_limit, "0 or more",
                     "Bytes for dividing, in addition to the data set; with less memory "
                     "method=cluster keeps fewer edges between clusters. 0: as many as the method "
                     "needs.",
                     true)
        .only([](const PartsSettings& s) { return !s.given; }, "without `given`"),
    GNNMG_SETTING_AS(PartsSettings, "node_slack", assign.slack.nodes, "1 to 1000",
                     "Nodes of the largest part, divided by the mean.")
        .only(weighs, kWeighs),
    GNNMG_SETTING_AS(PartsSettings, "edge_slack", assign.slack.edges, "1 to 1000",
                     "Edges of the largest part, divided by the mean.")
        .only(weighs, kWeighs),
    GNNMG_SETTING_AS(PartsSettings, "train_slack", assign.slack.train, "1 to 1000",
                     "Training ids of the largest part, divided by the mean.")
        .only(weighs, kWeighs),
    GNNMG_SETTING_AS(PartsSettings, "passes", assign.passes, "1 to 1000",
                     "Maximum passes of clustering.")
        .only(clusters, kClusters),
    GNNMG_SETTING_AS(PartsSettings, "refine_passes", assign.refine_passes, "0 to 1000",
                     "Maximum passes of moves.")
        .only(weighs, kWeighs),
    {"fanouts", "none, or up to 16 integers of -1 or more",
     "Neighbors per hop of the mini-batches that define the hotness of nodes. -1: all; none: store "
     "no hotness. Each part stores the hotness of all nodes, 4 bytes per node. The default is none "
     "for more than 64 parts.",
     false, nullptr, read_fanouts,
     [](const PartsSettings& defaults, SettingFacts& facts) {
       describe_type(defaults.fanouts, facts);
       facts.default_value = value_text(defaults.fanouts);
     }},
    GNNMG_SETTING(PartsSettings, batch_size, "1 or more",
                  "Seeds per mini-batch, for the hotness of nodes.")
        .only([](const PartsSettings& s) { return !s.fanouts.empty(); }, "with fanouts"),
};

}  // namespace

PartsSettings read_parts_settings(const gnnmg_parts_config* config, const char* text,
                                  bool given_parts) {
  const gnnmg_parts_config in = read_config(config);
  check_choice(in.num_parts, 0, partition::kMaxParts, "config.num_parts");
  if (in.memory_limit > static_cast<size_t>(INT64_MAX))
    fail(Status::kInvalidArgument, "config.memory_limit is ", in.memory_limit,
         ", more than any memory holds");
  PartsSettings settings;
  settings.given = given_parts;
  partition::Config& assign = settings.assign;
  FieldNames given;
  take_field(in.num_parts, "num_parts", assign.num_parts, given);
  take_field(in.method, "method", assign.method, given);
  take_field(in.edge_ids, "edge_ids", settings.edge_ids, given);
  take_field(in.seed, "seed", assign.seed, given);
  take_field(in.memory_limit, "memory_limit", assign.memory_limit, given);
  std::vector<Word> words = split_words("parts", text);
  apply_words<PartsSettings>(words, kPartsRows, settings, given);
  if (settings.default_fanouts && assign.num_parts > kHotParts) settings.fanouts.clear();
  return settings;
}

std::vector<SettingFacts> parts_settings() { return list_settings<PartsSettings>(kPartsRows, {}); }

std::string assignment_text(const PartsSettings& settings) {
  const partition::Config& config = settings.assign;
  if (config.method == partition::Method::kRange || config.method == partition::Method::kHash)
    return {};
  return base::text("node_slack=", config.slack.nodes, " edge_slack=", config.slack.edges,
                    " train_slack=", config.slack.train, " passes=", config.passes,
                    " refine_passes=", config.refine_passes, " memory_limit=", config.memory_limit);
}

}  // namespace gnnmg::capi
