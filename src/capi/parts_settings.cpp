#include "capi/parts_settings.h"

#include <array>
#include <charconv>

#include "capi/arguments.h"
#include "partition/book.h"

namespace gnnmg::capi {
namespace {

constexpr int32_t kHotParts = 64;  // more parts have no hotness unless fan-outs are given
constexpr size_t kMostHops = 16;

struct Word {
  std::string_view name, value;
  [[noreturn]] void refuse(std::string_view expected) const {
    fail(Status::kInvalidArgument, "settings: ", name, "=", value, ", expected ", expected);
  }
  double number(double least, double most, std::string_view expected) const {
    double found = 0;
    const auto [end, error] = std::from_chars(value.begin(), value.end(), found);
    if (error != std::errc() || end != value.end() || !(found >= least && found <= most))
      refuse(expected);
    return found;
  }
  int64_t integer(std::string_view text, int64_t least, int64_t most,
                  std::string_view expected) const {
    int64_t found = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), found);
    if (error != std::errc() || end != text.end() || found < least || found > most)
      refuse(expected);
    return found;
  }
  double slack() const { return number(1, 1000, "1 to 1000"); }
  int32_t passes(int32_t least) const {
    return static_cast<int32_t>(
        integer(value, least, 1000, least ? "an integer from 1 to 1000" : "0 to 1000"));
  }
  std::vector<int64_t> fanouts() const {
    std::vector<int64_t> list;
    if (value == "none") return list;
    for (size_t begin = 0; begin <= value.size();) {
      const size_t end = std::min(value.find(',', begin), value.size());
      list.push_back(integer(value.substr(begin, end - begin), -1, INT32_MAX,
                             "none, or up to 16 integers of -1 or more with commas"));
      begin = end + 1;
    }
    if (list.size() > kMostHops) refuse("up to 16 fan-outs");
    return list;
  }
};

struct Setting {
  const char* name;
  void (*set)(PartsSettings& settings, const Word& word);
};

constexpr std::array kSettings = {
    Setting{"node_slack",
            [](PartsSettings& s, const Word& w) { s.assign.slack.nodes = w.slack(); }},
    Setting{"edge_slack",
            [](PartsSettings& s, const Word& w) { s.assign.slack.edges = w.slack(); }},
    Setting{"train_slack",
            [](PartsSettings& s, const Word& w) { s.assign.slack.train = w.slack(); }},
    Setting{"passes", [](PartsSettings& s, const Word& w) { s.assign.passes = w.passes(1); }},
    Setting{"refine_passes",
            [](PartsSettings& s, const Word& w) { s.assign.refine_passes = w.passes(0); }},
    Setting{"fanouts", [](PartsSettings& s, const Word& w) { s.fanouts = w.fanouts(); }},
    Setting{"batch_size",
            [](PartsSettings& s, const Word& w) {
              s.batch_size = w.integer(w.value, 1, INT64_MAX, "an integer of 1 or more");
            }},
};

void apply(PartsSettings& settings, std::string_view text) {
  const size_t equals = text.find('=');
  const Word word{text.substr(0, equals),
                  equals == text.npos ? std::string_view() : text.substr(equals + 1)};
  for (const Setting& setting : kSettings)
    if (word.name == setting.name) return setting.set(settings, word);
  std::string known;
  for (const Setting& setting : kSettings)
    known += base::text(known.empty() ? "" : ", ", setting.name);
  fail(Status::kInvalidArgument, "settings: unknown name '", word.name, "'; there are: ", known);
}

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
  constexpr std::string_view kBlanks = " \t\n";
  for (size_t begin = words.find_first_not_of(kBlanks); begin != words.npos;) {
    const size_t end = std::min(words.find_first_of(kBlanks, begin), words.size());
    apply(settings, words.substr(begin, end - begin));
    begin = words.find_first_not_of(kBlanks, end);
  }
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
