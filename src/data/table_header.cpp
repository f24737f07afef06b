#include "data/table_header.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/lower.h"

namespace gnnmg::data {
namespace {

using NameList = std::vector<std::string_view>;

// Lower case, letters and digits alone: "Source ID", "source_id" and ":SOURCE-ID(Person)" are one
// name. A bracket or a colon begins the kind of the column.
std::string plain_name(std::string_view name) {
  std::string plain;
  if (const size_t end = name.find_first_of("(:", 1); end != name.npos) name = name.substr(0, end);
  for (const char c : base::lower(name))
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<uint8_t>(c) >= 0x80)
      plain += c;
  return plain;
}

constexpr std::array<std::string_view, 18> kIdSuffixes = {
    "nodeid",    "vertexid",  "userid", "paperid", "entityid", "accountid",
    "stationid", "airportid", "node",   "vertex",  "index",    "idx",
    "id",        "key",       "user",   "account", "address",  "ip"};
constexpr std::array<std::string_view, 7> kNameSuffixes = {"name",    "paper", "entity", "station",
                                                           "airport", "city",  "label"};

// "sourceid", "fromnode" without the ending of a node.
std::string_view without(std::string_view name, std::span<const std::string_view> suffixes) {
  for (const std::string_view suffix : suffixes)
    if (name.size() > suffix.size() && name.ends_with(suffix))
      return name.substr(0, name.size() - suffix.size());
  return name;
}

// "edgesrc", "nodefrom" without the beginning of an end.
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
  bool weak = false;       // two values of a row may have these names too
};
// Any of the sources goes with any of the targets of its row. Earlier rows count first: names that
// say nothing else come before those that may say when an edge begins and ends.
const std::array<EndNames, 21>& known_ends() {
  static const std::array<EndNames, 21> ends{{
      {{"source", "src"}, {"target", "tgt", "trg", "dst", "dest", "destination", "sink"}, true},
      {{"endnodes1"}, {"endnodes2"}, true},  // MATLAB's writetable(G.Edges)
      {{"u"}, {"v"}, false, false, true},
      {{"i"}, {"j"}, false, false, true},
      {{"head"}, {"tail"}, false, false, true},
      {{"h"}, {"t"}, false, false, true},
      {{"subject", "subj"}, {"object", "obj"}},
      {{"citing"}, {"cited"}},
      {{"parent"}, {"child"}},
      {{"follower"}, {"followee", "followed"}},
      {{"caller"}, {"callee"}},
      {{"ego"}, {"alter"}},
      {{"payer"}, {"payee"}},
      {{"user", "person"}, {"friend"}},
      {{"user"},
       {"item", "movie", "product", "book", "artist", "business", "track", "song"},
       false,
       true},
      {{"u"}, {"i"}, false, true, true},
      {{"node"}, {"neighbor", "neighbour"}},
      {{"from"}, {"to"}, true},
      {{"row", "rows"}, {"col", "cols", "column", "columns"}, false, false, true},
      {{"left"}, {"right"}, false, false, true},
      {{"source", "src", "from", "origin", "orig", "start", "sender", "initiator"},
       {"target", "tgt", "trg", "dst", "dest", "destination", "to", "end", "stop", "receiver",
        "recipient", "sink"},
       true},
  }};
  return ends;
}

// The names of a header in all forms in which they are looked up, made once: as they stand, as ids,
// as names, without a prefix, and as labels, which stand beside names too.
class NameForms {
 public:
  explicit NameForms(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      forms_[0].push_back(name);
      forms_[1].push_back(without(name, kIdSuffixes));
      forms_[2].push_back(without(name, std::span(kNameSuffixes).first(kNameSuffixes.size() - 1)));
      forms_[3].push_back(without(without_prefix(name), kIdSuffixes));
      forms_[4].push_back(without(name, std::span(kNameSuffixes).last(1)));
    }
  }
  // The first column whose name is in `wanted`, by the first form that has one.
  std::optional<size_t> find(const NameList& wanted) const {
    for (const NameList& form : forms_)
      for (size_t i = 0; i < form.size(); ++i)
        if (is_among(wanted, form[i])) return i;
    return std::nullopt;
  }

 private:
  std::array<NameList, 5> forms_;  // views of the names
};

// True for names of coordinates, moments or features, never of nodes.
bool is_measure(std::string_view stem) {
  static const NameList measures{
      "lat",  "lon",  "long", "latitude", "longitude", "date",   "time",  "feature", "feat",
      "attr", "pos",  "dim",  "w",        "weight",    "value",  "f",     "emb",     "embedding",
      "pc",   "tsne", "umap", "pca",      "component", "latent", "factor"};
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

// True for things that nodes represent, also with an ending: gene, user, userid.
bool is_entity(std::string_view stem) {
  static const NameList entities{
      "actor",     "agent",    "animal",  "atom",     "author",  "bank",       "cell",
      "character", "chemical", "company", "exporter", "firm",    "importer",   "city",
      "compound",  "country",  "drug",    "gene",     "host",    "individual", "interactor",
      "member",    "neuron",   "org",     "page",     "person",  "player",     "protein",
      "residue",   "site",     "species", "stop",     "student", "symbol",     "team",
      "wallet",    "word"};
  const auto ends_in = [&](std::span<const std::string_view> suffixes) {
    return std::ranges::any_of(suffixes, [&](auto suffix) { return stem.ends_with(suffix); });
  };
  return stem == "n" || stem == "v" || ends_in(kIdSuffixes) || ends_in(kNameSuffixes) ||
         ends_in(entities);
}

// True for the name of a first column whose rows are no edges: "student" before "exam1", "chrom"
// before "start" and "end". A moment, a number or a note may stand before an edge.
bool is_subject(std::string_view name) {
  static const NameList ids{"node", "nodeid", "name", "title"};
  static const NameList of_edges{
      "year",        "month", "week",    "day",   "hour",   "minute",   "step",    "period",
      "frame",       "slice", "session", "round", "wave",   "snapshot", "batch",   "network",
      "dataset",     "kind",  "chain",   "line",  "sample", "note",     "comment", "text",
      "description", "start", "begin",   "onset", "end",    "duration"};
  return is_among(ids, name) ||
         (role_of(name) == ColumnRole::kUnknown && !is_among(of_edges, name) && name.size() > 1);
}

// True for a column that edges alone have.
bool is_of_edges(std::string_view name) {
  return name.starts_with("edge") || name == "eid" || is_called_weight(name);
}

// True if names of this stem, with a mark that counts them, may be those of nodes.
bool may_count_nodes(std::string_view stem, bool letters) {
  const bool named = stem.find_first_not_of("0123456789") != stem.npos;
  return (named || (stem.empty() && letters)) && !is_value(stem) && !is_any_column(stem);
}

struct CountedPair {
  EndColumns columns;
  std::string_view stem;
};

// All pairs of names that differ in one of these marks, which count them; of three and more names
// none.
std::vector<CountedPair> counted_pairs(const NameList& names, std::string_view marks) {
  std::map<std::string_view, int> counted;                    // columns of each stem
  std::array<std::map<std::string_view, size_t>, 3> columns;  // the first of each stem, by mark
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    const std::string_view stem = names[i].substr(0, names[i].size() - 1);
    const size_t mark = marks.find(names[i].back());
    if (names[i].back() <= '9') ++counted[stem];
    if (mark != marks.npos) columns[mark].try_emplace(stem, i);
  }
  std::vector<CountedPair> pairs;
  for (const auto& [stem, column] : columns[0]) {
    const auto second = columns[1].find(stem);
    if (second != columns[1].end() && !columns[2].contains(stem) && counted[stem] <= 2 &&
        may_count_nodes(stem, marks[0] == 'a'))
      pairs.push_back({{column, second->second}, stem});
  }
  return pairs;
}

// Two names that differ in the mark that counts them: node1 and node2, Gene_A and Gene_B. Of two
// such pairs that of things that nodes represent; of age1, age2, rank1, rank2 neither. Beside the
// id of a row only names of such things are ends.
std::optional<EndColumns> find_counted(const std::vector<std::string>& names) {
  const bool beside_id =
      (names[0] == "id" || is_subject(names[0])) && std::ranges::none_of(names, is_of_edges);
  NameList plain;
  for (const std::string& name : names)
    plain.push_back(without(without(name, kIdSuffixes), kNameSuffixes));
  for (const std::string_view marks : {"123", "012", "abc"}) {
    const std::vector<CountedPair> pairs = counted_pairs(plain, marks);
    if (pairs.empty()) continue;
    const auto first = std::ranges::min_element(pairs, {}, [](const CountedPair& pair) {
      return std::pair(!is_entity(pair.stem), pair.columns.source);
    });
    const EndColumns& ends = first->columns;
    const bool doubtful = pairs.size() > 1 || (beside_id && ends.source > 0 && ends.target > 0);
    if (doubtful && !is_entity(first->stem)) return std::nullopt;
    return ends;
  }
  return std::nullopt;
}

// True if nothing but a value of the edge stands between its ends: "head,relation,tail", and not
// "left,top,right,bottom".
bool are_adjacent(const std::vector<std::string>& names, size_t source, size_t target) {
  const auto [first, last] = std::minmax(source, target);
  return std::all_of(names.begin() + static_cast<ptrdiff_t>(first) + 1,
                     names.begin() + static_cast<ptrdiff_t>(last), [](const std::string& name) {
                       const ColumnRole role = role_of(name);
                       return name == "r" ||
                              (role != ColumnRole::kUnknown && role != ColumnRole::kBeside);
                     });
}

// True for ends whose names, as they stand, may be those of two values: "u" and "v", "start" and
// "end".
bool may_be_values(const EndNames& ends, std::string_view source, std::string_view target) {
  const bool span = source == "start" && (target == "end" || target == "stop");
  return span || (ends.weak && is_among(ends.sources, source) && is_among(ends.targets, target));
}

// Returns the two columns of one name for a node, as in "layer node node weight".
std::optional<EndColumns> find_equal(const std::vector<std::string>& names) {
  for (const std::string_view wanted : {"nodeid", "node", "vertexid", "vertex", "id"}) {
    if (std::ranges::count(names, wanted) != 2) continue;
    const auto first = std::ranges::find(names, wanted);
    const auto second = std::find(first + 1, names.end(), wanted);
    return EndColumns{static_cast<size_t>(first - names.begin()),
                      static_cast<size_t>(second - names.begin())};
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
  static const NameList labels{"label",      "edgelabel",    "edgetype",  "relation", "rel",
                               "relationid", "relationtype", "predicate", "class",    "category",
                               "etype",      "layer",        "layerid"};
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

bool may_be_ends(std::string_view source, std::string_view target, size_t columns) {
  const auto is_id = [](std::string_view name) {
    const std::string plain = plain_name(name);
    return without(plain, kIdSuffixes) != plain && role_of(name) == ColumnRole::kUnknown;
  };
  // Names that programs give to columns without names: V1, x1.
  const auto stem_of = [](std::string_view name) {
    std::string stem = plain_name(name);
    stem.resize(stem.find_last_not_of("0123456789") + 1);
    return stem.size() < name.size() ? stem : std::string();
  };
  const std::string stem = stem_of(source);
  const bool any =
      stem == stem_of(target) && (stem == "v" || (columns == 2 && is_any_column(stem)));
  return any || (is_id(source) && is_id(target));
}

bool may_name_nodes(std::string_view first, std::string_view second) {
  const auto is_id = [](std::string_view name) {
    const std::string plain = plain_name(name);
    return is_among({"id", "node", "vertex"}, plain) || without(plain, kIdSuffixes) != plain;
  };
  const auto is_word = [](std::string_view name) {
    return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && !name.ends_with(':');
  };
  return is_word(first) && is_word(second) && is_id(first) != is_id(second);
}

bool is_called_weight(std::string_view name) {
  const std::string plain = plain_name(name);
  return plain == "weight" || plain == "edgeweight" || plain == "weights";
}

std::optional<EndColumns> find_ends(std::span<const std::string_view> names) {
  if (names.empty()) return std::nullopt;
  std::vector<std::string> plain;
  for (const std::string_view name : names) plain.push_back(plain_name(name));
  const NameForms forms(plain);
  const bool of_edges = std::ranges::any_of(plain, is_of_edges);
  const bool of_subject = is_subject(plain[0]) && !of_edges;
  const auto find = [&](const EndNames& ends) -> std::optional<EndColumns> {
    const auto source = forms.find(ends.sources);
    const auto target = source ? forms.find(ends.targets) : std::nullopt;
    if (!source || !target || *source == *target) return std::nullopt;
    if (may_be_values(ends, plain[*source], plain[*target]) &&
        ((*source > 0 && *target > 0 && of_subject) ||
         (ends.weak && !of_edges && !are_adjacent(plain, *source, *target))))
      return std::nullopt;
    return EndColumns{*source, *target, ends.sure, ends.two_kinds};
  };
  const std::span<const EndNames> known = known_ends();
  for (const EndNames& ends : known.first(known.size() - 1))
    if (const auto found = find(ends)) return found;
  if (const auto counted = find_counted(plain)) return counted;
  // Names that may also say when an edge begins and ends.
  if (const auto found = find(known.back())) return found;
  return find_equal(plain);
}

}  // namespace gnnmg::data
