#include "data/table_header.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gnnmg::data {
namespace {

using NameList = std::vector<std::string_view>;

// Lower case, letters and digits alone: "Source ID", "source_id" and ":SOURCE-ID(Person)" are one
// name. The text after a bracket or a colon tells the kind.
std::string plain_name(std::string_view name) {
  std::string plain;
  if (const size_t end = name.find_first_of("(:", 1); end != name.npos) name = name.substr(0, end);
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z')
      plain += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<uint8_t>(c) >= 0x80)
      plain += c;
  }
  return plain;
}

constexpr std::array<std::string_view, 18> kIdSuffixes = {
    "nodeid",    "vertexid",  "userid", "paperid", "entityid", "accountid",
    "stationid", "airportid", "node",   "vertex",  "index",    "idx",
    "id",        "key",       "user",   "account", "address",  "ip"};
constexpr std::array<std::string_view, 7> kNameSuffixes = {"name",    "label",   "paper", "entity",
                                                           "station", "airport", "city"};

// "sourceid", "fromnode" without the word that only calls it a node.
std::string_view without(std::string_view name, std::span<const std::string_view> suffixes) {
  for (const std::string_view suffix : suffixes)
    if (name.size() > suffix.size() && name.ends_with(suffix))
      return name.substr(0, name.size() - suffix.size());
  return name;
}

// "edgesrc", "nodefrom" without the word that only calls it an end.
std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"edge", "node", "vertex"})
    if (name.size() > prefix.size() && name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

bool is_among(const NameList& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct EndNames {
  NameList sources, targets;
  bool sure = false;       // nobody would call two nodes so
  bool two_kinds = false;  // sources and targets are of different kinds, each with ids of its own
};
// Any of the sources goes with any of the targets of its row. Earlier rows count first: names that
// say nothing else come before those that may say when an edge begins and ends.
const std::array<EndNames, 19>& known_ends() {
  static const std::array<EndNames, 19> ends{{
      {{"source", "src"}, {"target", "tgt", "trg", "dst", "dest", "destination", "sink"}, true},
      {{"u"}, {"v"}},
      {{"i"}, {"j"}},
      {{"head", "h"}, {"tail", "t"}},
      {{"subject", "subj"}, {"object", "obj"}},
      {{"citing"}, {"cited"}},
      {{"parent"}, {"child"}},
      {{"follower"}, {"followee", "followed"}},
      {{"caller"}, {"callee"}},
      {{"ego"}, {"alter"}},
      {{"payer"}, {"payee"}},
      {{"user"}, {"friend"}},
      {{"user"},
       {"item", "movie", "product", "book", "artist", "business", "track", "song"},
       false,
       true},
      {{"u"}, {"i"}, false, true},
      {{"node"}, {"neighbor", "neighbour"}},
      {{"from"}, {"to"}, true},
      {{"row", "rows"}, {"col", "cols", "column", "columns"}},
      {{"left"}, {"right"}},
      {{"source", "src", "from", "origin", "orig", "start", "sender", "initiator"},
       {"target", "tgt", "trg", "dst", "dest", "destination", "to", "end", "stop", "receiver",
        "recipient", "sink"},
       true},
  }};
  return ends;
}

// The first column whose name is in `wanted`: as it stands or, if none, as an id, or as a name, or
// without its prefix.
std::optional<size_t> find_column(const std::vector<std::string>& names, const NameList& wanted) {
  const auto find = [&](auto&& form) -> std::optional<size_t> {
    for (size_t i = 0; i < names.size(); ++i)
      if (is_among(wanted, form(names[i]))) return i;
    return std::nullopt;
  };
  const auto as_id = [](std::string_view name) { return without(name, kIdSuffixes); };
  const auto as_name = [](std::string_view name) { return without(name, kNameSuffixes); };
  if (const auto found = find([](std::string_view name) { return name; })) return found;
  if (const auto found = find(as_id)) return found;
  if (const auto found = find(as_name)) return found;
  return find([&](std::string_view name) { return as_id(without_prefix(name)); });
}

// True for names of coordinates, moments or features, never of nodes.
bool is_measure(std::string_view stem) {
  static const NameList measures{"lat",  "lon",  "long",    "latitude", "longitude",
                                 "date", "time", "feature", "feat",     "attr",
                                 "pos",  "dim",  "w",       "weight",   "value"};
  return is_among(measures, stem);
}
// True for names that programs give to columns without names.
bool is_any_column(std::string_view stem) {
  return is_among({"x", "y", "z", "var", "col", "column"}, stem);
}
// True for names of values of edges or nodes: label1, score_b. One letter is not enough.
bool is_value(std::string_view stem) {
  const ColumnRole role = stem.size() > 1 ? role_of(stem) : ColumnRole::kUnknown;
  return is_measure(stem) || (role != ColumnRole::kUnknown && role != ColumnRole::kBeside);
}

// Two names that differ in the mark that counts them: node1 and node2, Gene_A and Gene_B; not one
// of three and more.
std::optional<EndColumns> find_counted(const std::vector<std::string>& names) {
  const auto stem_of = [](std::string_view name, char mark) -> std::string_view {
    return !name.empty() && name.back() == mark ? name.substr(0, name.size() - 1)
                                                : std::string_view("\n");
  };
  const auto plain = [](std::string_view name) {
    return without(without(name, kIdSuffixes), kNameSuffixes);
  };
  for (const std::string_view marks : {"123", "abc"})
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string_view stem = stem_of(plain(names[i]), marks[0]);
      const bool letters = stem.find_first_not_of("0123456789") != stem.npos;
      if (stem == "\n" || !(letters || (stem.empty() && marks[0] == 'a')) || is_value(stem) ||
          is_any_column(stem))
        continue;
      const auto with = [&](char mark) {
        return std::ranges::find_if(
            names, [&](const std::string& name) { return stem_of(plain(name), mark) == stem; });
      };
      if (const auto second = with(marks[1]);
          second != names.end() && with(marks[2]) == names.end())
        return EndColumns{i, static_cast<size_t>(second - names.begin())};
    }
  return std::nullopt;
}

}  // namespace

ColumnRole role_of(std::string_view name) {
  static const NameList weights{
      "weight",     "weights",       "w",         "wt",           "wgt",
      "edgeweight", "strength",      "value",     "val",          "score",
      "count",      "combinedscore", "rating",    "cost",         "numcalls",
      "sign",       "freq",          "frequency", "amount",       "similarity",
      "confidence", "probability",   "prob",      "multiplicity", "data"};
  static const NameList times{"time",   "timestamp", "ts",   "unixtime", "t",
                              "unixts", "datetime",  "date", "epoch"};
  static const NameList labels{"label", "edgelabel",  "edgetype",     "relation",
                               "rel",   "relationid", "relationtype", "predicate",
                               "class", "category",   "etype"};
  static const NameList graphs{"graphid", "graph", "graphidx", "graphindex"};
  static const NameList beside{"",     "id",         "index",  "idx",   "edgeid",   "eid",
                               "edge", "rowid",      "feat",   "feats", "features", "feature",
                               "attr", "attributes", "x",      "y",     "nodeid",   "node",
                               "name", "title",      "unnamed"};
  const std::string plain = plain_name(name);
  if (is_among(weights, plain)) return ColumnRole::kWeight;
  if (is_among(times, plain)) return ColumnRole::kTime;
  if (plain == "type") return ColumnRole::kDirection;
  if (is_among(labels, plain)) return ColumnRole::kLabel;
  if (is_among(graphs, plain)) return ColumnRole::kGraph;
  return is_among(beside, plain) ? ColumnRole::kBeside : ColumnRole::kUnknown;
}

bool is_no_end(std::string_view name) {
  if (role_of(name) != ColumnRole::kUnknown) return true;
  std::string stem = plain_name(name);
  const size_t letters = stem.find_last_not_of("0123456789");
  if (letters != stem.npos && letters + 1 < stem.size())
    stem.resize(letters + 1);
  else if (stem.ends_with('a') || stem.ends_with('b'))
    stem.pop_back();
  return is_value(stem);
}

bool is_called_weight(std::string_view name) {
  const std::string plain = plain_name(name);
  return plain == "weight" || plain == "edgeweight" || plain == "weights";
}

std::optional<EndColumns> find_ends(std::span<const std::string_view> names) {
  std::vector<std::string> plain;
  for (const std::string_view name : names) plain.push_back(plain_name(name));
  const auto find = [&](const EndNames& ends) -> std::optional<EndColumns> {
    const auto source = find_column(plain, ends.sources), target = find_column(plain, ends.targets);
    if (!source || !target || *source == *target) return std::nullopt;
    return EndColumns{*source, *target, ends.sure, ends.two_kinds};
  };
  const std::span<const EndNames> known = known_ends();
  for (const EndNames& ends : known.first(known.size() - 1))
    if (const auto found = find(ends)) return found;
  if (const auto counted = find_counted(plain)) return counted;
  // Names that may also say when an edge begins and ends.
  if (const auto found = find(known.back())) return found;
  if (plain.size() == 2 && plain[0] == plain[1] && is_among({"nodeid", "node", "id"}, plain[0]))
    return EndColumns{0, 1};
  return std::nullopt;
}

}  // namespace gnnmg::data
