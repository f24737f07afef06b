#include "data/table_header.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gnnmg::data {
namespace {

using NameList = std::vector<std::string_view>;

// Lower case, letters and digits alone: "Source ID", "source_id" and ":SOURCE-ID(Person)" are one
// name. What begins with a bracket after the name says what it counts.
std::string plain_name(std::string_view name) {
  std::string plain;
  if (const size_t bracket = name.find('('); bracket != name.npos && bracket > 0)
    name = name.substr(0, bracket);
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z')
      plain += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<uint8_t>(c) >= 0x80)
      plain += c;
  }
  return plain;
}

// "sourceid", "fromnode" without what says only that it is a node.
std::string_view without_suffix(std::string_view name) {
  for (const std::string_view suffix :
       {"nodeid", "vertexid", "userid", "paperid", "entityid", "accountid", "node",
        "vertex", "index",    "idx",    "id",      "name",     "label",     "key",
        "user",   "paper",    "entity", "account", "address",  "ip"})
    if (name.size() > suffix.size() && name.ends_with(suffix))
      return name.substr(0, name.size() - suffix.size());
  return name;
}

// "edgesrc", "nodefrom" without what says only that it is an end.
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
};
// Any of the sources goes with any of the targets of its row. Earlier rows count first.
const std::array<EndNames, 14>& known_ends() {
  static const std::array<EndNames, 14> ends{{
      {{"source", "src", "from", "origin", "orig", "start", "sender", "initiator"},
       {"target", "tgt", "trg", "dst", "dest", "destination", "to", "end", "stop", "receiver",
        "recipient", "sink"}},
      {{"u"}, {"v"}},
      {{"head", "h"}, {"tail", "t"}},
      {{"subject", "subj"}, {"object", "obj"}},
      {{"citing"}, {"cited"}},
      {{"parent"}, {"child"}},
      {{"follower"}, {"followee", "followed"}},
      {{"row", "rows"}, {"col", "cols", "column", "columns"}},
      {{"i"}, {"j"}},
      {{"left"}, {"right"}},
      {{"caller"}, {"callee"}},
      {{"ego"}, {"alter"}},
      {{"payer"}, {"payee"}},
      {{"user"}, {"friend"}},
  }};
  return ends;
}

// The first column whose name is in `wanted`, as it stands or, if none, without its suffix, or its
// prefix.
std::optional<size_t> find_column(const std::vector<std::string>& names, const NameList& wanted) {
  for (size_t i = 0; i < names.size(); ++i)
    if (is_among(wanted, names[i])) return i;
  for (size_t i = 0; i < names.size(); ++i)
    if (is_among(wanted, without_suffix(names[i]))) return i;
  for (size_t i = 0; i < names.size(); ++i)
    if (is_among(wanted, without_suffix(without_prefix(names[i])))) return i;
  return std::nullopt;
}

// Two names that differ in the mark that counts them: node1 and node2, Gene_A and Gene_B.
std::optional<EndColumns> find_counted(const std::vector<std::string>& names) {
  for (const auto& [first, second] : {std::pair('1', '2'), std::pair('a', 'b')})
    for (size_t i = 0; i < names.size(); ++i)
      for (size_t j = 0; j < names.size(); ++j) {
        const std::string_view a = without_suffix(names[i]), b = without_suffix(names[j]);
        if (a.empty() || a.size() != b.size() || a.back() != first || b.back() != second) continue;
        const std::string_view stem = a.substr(0, a.size() - 1);
        const bool letters = stem.find_first_not_of("0123456789") != stem.npos;
        if (stem == b.substr(0, b.size() - 1) && (letters || (stem.empty() && first == 'a')))
          return EndColumns{i, j};
      }
  return std::nullopt;
}

}  // namespace

ColumnRole role_of(std::string_view name) {
  static const NameList weights{
      "weight",   "weights",    "w",          "wt",          "wgt",   "edgeweight",
      "strength", "value",      "val",        "score",       "count", "combinedscore",
      "rating",   "cost",       "numcalls",   "sign",        "freq",  "frequency",
      "amount",   "similarity", "confidence", "probability", "prob",  "multiplicity"};
  static const NameList times{"time",   "timestamp", "ts",   "unixtime",
                              "unixts", "datetime",  "date", "epoch"};
  static const NameList labels{"label", "edgelabel",  "edgetype",     "relation",
                               "rel",   "relationid", "relationtype", "predicate",
                               "class", "category",   "etype"};
  static const NameList graphs{"graphid", "graph", "graphidx", "graphindex"};
  static const NameList beside{"",     "id",         "index",   "idx",   "edgeid",   "eid",
                               "edge", "rowid",      "feat",    "feats", "features", "feature",
                               "attr", "attributes", "x",       "y",     "nodeid",   "node",
                               "name", "title",      "unnamed0"};
  const std::string plain = plain_name(name);
  if (is_among(weights, plain)) return ColumnRole::kWeight;
  if (is_among(times, plain)) return ColumnRole::kTime;
  if (plain == "type") return ColumnRole::kDirection;
  if (is_among(labels, plain)) return ColumnRole::kLabel;
  if (is_among(graphs, plain)) return ColumnRole::kGraph;
  return is_among(beside, plain) ? ColumnRole::kBeside : ColumnRole::kUnknown;
}

std::optional<EndColumns> find_ends(std::span<const std::string_view> names) {
  std::vector<std::string> plain;
  for (const std::string_view name : names) plain.push_back(plain_name(name));
  for (const EndNames& ends : known_ends()) {
    const auto source = find_column(plain, ends.sources), target = find_column(plain, ends.targets);
    if (source && target && *source != *target)
      return EndColumns{*source, *target, &ends == &known_ends()[0]};
  }
  if (plain.size() == 2 && plain[0] == plain[1] && is_among({"nodeid", "node", "id"}, plain[0]))
    return EndColumns{0, 1};
  return find_counted(plain);
}

}  // namespace gnnmg::data
