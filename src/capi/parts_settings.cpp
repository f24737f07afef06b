#include "capi/parts_settings.h"

#include <algorithm>

#include "capi/arguments.h"
#include "capi/words.h"
#include "partition/book.h"

namespace gnnmg::capi {
namespace {

constexpr int32_t kHotParts = 64;  // more parts have no hotness unless fan-outs are given
constexpr size_t kMostHops = 16;

constexpr std::string_view kPasses = "an integer from 1 to 1000";

double slack_of(const Word& word) { return word.number(1, 1000, "1 to 1000"); }

std::vector<int64_t> fanouts_of(const Word& word) {
  if (word.value == "none") return {};
  std::vector<int64_t> list =
      word.integers(-1, INT32_MAX, "none, or up to 16 integers of -1 or more with commas");
  if (list.size() > kMostHops) word.refuse("up to 16 fan-outs");
  return list;
}

constexpr Setting<PartsSettings> kPartsSettings[] = {
    {"node_slack", [](auto& s, const Word& w) { s.assign.slack.nodes = slack_of(w); }},
    {"edge_slack", [](auto& s, const Word& w) { s.assign.slack.edges = slack_of(w); }},
    {"train_slack", [](auto& s, const Word& w) { s.assign.slack.train = slack_of(w); }},
    {"passes",
     [](auto& s, const Word& w) {
       s.assign.passes = static_cast<int32_t>(w.integer(1, 1000, kPasses));
     }},
    {"refine_passes",
     [](auto& s, const Word& w) {
       s.assign.refine_passes = static_cast<int32_t>(w.integer(0, 1000, "0 to 1000"));
     }},
    {"fanouts", [](auto& s, const Word& w) { s.fanouts = fanouts_of(w); }},
    {"batch_size",
     [](auto& s, const Word& w) {
       s.batch_size = w.integer(1, INT64_MAX, "an integer of 1 or more");
     }},
};

}  // namespace

PartsSettings read_parts_settings(const gnnmg_parts_config* config, std::string_view words) {
  gnnmg_parts_config defaults{};
  defaults.struct_size = sizeof defaults;
  const gnnmg_parts_config in = read_config(config, defaults);
  check_choice(in.num_parts, 0, partition::kMaxParts, "config.num_parts");
  check_choice(in.method, GNNMG_PARTS_METHOD_CLUSTER, GNNMG_PARTS_METHOD_HASH, "config.method");
  check_flag(in.edge_ids, "config.edge_ids");
  if (in.memory_limit > static_cast<size_t>(INT64_MAX))
    fail(Status::kInvalidArgument, "config.memory_limit is ", in.memory_limit,
         ", more than any memory holds");
  PartsSettings settings;
  settings.assign.num_parts = in.num_parts == 0 ? 2 : in.num_parts;
  settings.assign.method = static_cast<partition::Method>(in.method);
  settings.assign.seed = in.seed;
  settings.assign.memory_limit = static_cast<int64_t>(in.memory_limit);
  settings.edge_ids = in.edge_ids;
  if (settings.assign.num_parts <= kHotParts) settings.fanouts = {10, 10};
  apply_words<PartsSettings>(words, kPartsSettings, settings);
  return settings;
}

std::string assignment_text(const PartsSettings& settings) {
  const partition::Config& config = settings.assign;
  if (config.method == partition::Method::kRange || config.method == partition::Method::kHash)
    return {};
  return base::text("node_slack=", config.slack.nodes, " edge_slack=", config.slack.edges,
                    " train_slack=", config.slack.train, " passes=", config.passes,
                    " refine_passes=", config.refine_passes, " memory_limit=", config.memory_limit);
}

}  // namespace gnnmg::capi
