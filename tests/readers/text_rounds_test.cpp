// Graphs written in a hundred random legal ways in each format of text, and read back equal. The
// seeds are fixed, so that a failure is made again by its number.
#include <algorithm>
#include <cmath>
#include <random>

#include "readers/support.h"

namespace gnnmg::data {
namespace {

constexpr int kRounds = 100;
// In header_name(); the first ones are those of columns even where names of nodes follow.
constexpr int64_t kNamesOfEnds = 8, kSureNames = 6;

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(engine_() % static_cast<uint64_t>(bound));
  }
  bool flip() { return below(2) == 0; }
  template <typename T>
  T pick(const std::vector<T>& items) {
    return items[below(static_cast<int64_t>(items.size()))];
  }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (int64_t i = static_cast<int64_t>(items.size()) - 1; i > 0; --i)
      std::swap(items[i], items[below(i + 1)]);
  }

 private:
  std::mt19937_64 engine_;
};

struct WrittenGraph {
  int64_t num_nodes = 0;
  std::vector<std::pair<int64_t, int64_t>> edges;
  std::vector<float> weights;  // quarters, so that their text is exact
};

WrittenGraph random_graph(Dice& dice) {
  WrittenGraph graph;
  graph.num_nodes = 2 + dice.below(30);
  const int64_t count = dice.below(8) == 0 ? 0 : 1 + dice.below(40);
  for (int64_t i = 0; i < count; ++i) {
    // No first edge that might be numbers of nodes and edges.
    graph.edges.emplace_back(i == 0 ? 0 : dice.below(graph.num_nodes), dice.below(graph.num_nodes));
    graph.weights.push_back(0.25f * static_cast<float>(i == 0 ? 1 : dice.below(4000) - 2000));
  }
  return graph;
}

// A number in one of the notations that mean the same.
std::string number(double value, Dice& dice) {
  std::string text = base::text(value);
  if (value >= 0 && dice.below(4) == 0) text = "+" + text;
  if (text.find_first_of(".e") == text.npos && dice.below(4) == 0)
    text += dice.pick<std::string>({".0", "e0", "."});
  return text;
}
std::string whole(int64_t value, Dice& dice) {
  return base::text(dice.below(6) == 0 ? "+" : "", dice.below(6) == 0 && value > 0 ? "0" : "",
                    value);
}
std::string blanks(Dice& dice) { return dice.pick<std::string>({" ", "  ", "\t", " \t "}); }

class TextRounds : public testing::Test {
 protected:
  DatasetRef open(std::string text, Dice& dice, const OpenOptions& options) {
    if (dice.below(4) == 0) text = gzip(text);
    const std::string name =
        dice.pick<std::string>({"a.txt", "a.csv", "a.tsv", "a", "a.gz", "a.mtx"});
    return opener_.open(dir_.write(name, text), options);
  }
  static std::vector<float> weights(const DatasetRef& dataset) {
    const graph::Column* column = dataset->graph->edge_column("weight");
    return column ? values<float>(std::get<base::Tensor>(*column)) : std::vector<float>();
  }
  test::TempDir dir_;
  Opener opener_;
};

// The style in which one list of edges is written.
struct ListStyle {
  char separator = ' ';
  std::string gap = " ";  // blanks between columns, the same in a whole file
  std::string end_of_line = "\n";
  bool header = false, weights = false, names = false, quotes = false, decimal_comma = false;
  std::vector<std::string> columns;  // kinds in order: "s", "t", "w", "n" (a note), "i" (an index)
};

ListStyle random_style(Dice& dice, bool header) {
  ListStyle style;
  style.separator = dice.pick<char>({' ', '\t', ',', ';', '|'});
  style.gap = dice.pick<std::string>({" ", "   ", " \t "});
  style.end_of_line = dice.pick<std::string>({"\n", "\r\n", "\r"});
  style.header = header;
  style.weights = dice.flip();
  style.names = dice.below(3) == 0;
  style.quotes = dice.flip();
  style.decimal_comma = style.separator != ',' && dice.below(3) == 0;
  style.columns = {"s", "t"};
  if (style.weights) style.columns.push_back("w");
  if (!header) return style;
  if (dice.flip()) style.columns.push_back("n");
  if (dice.flip()) style.columns.push_back("i");
  dice.shuffle(style.columns);
  return style;
}

std::string name_of(int64_t node) {
  return base::text(node % 3 == 0 ? "Ann, B; " : "x", node, "é");
}

std::string quoted(const std::string& field, const ListStyle& style, Dice& dice) {
  const bool needed = field.empty() || field.find_first_of(" \t,;|\"") != field.npos;
  const bool blank_note = style.separator != ' ' && field.empty();
  if (blank_note || (!needed && !(style.quotes && dice.flip()))) return field;
  std::string out = "\"";
  for (const char c : field) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string header_name(const std::string& column, size_t which, Dice& dice) {
  static const std::vector<std::pair<std::string, std::string>> ends = {
      {"source", "target"}, {"Source", "Target"},       {"SRC", "DST"},     {"src_id", "dst_id"},
      {"from", "to"},       {"FromNodeId", "ToNodeId"}, {"node1", "node2"}, {"u", "v"}};
  const auto& pair = ends[which];
  if (column == "s") return pair.first;
  if (column == "t") return pair.second;
  if (column == "w") return dice.pick<std::string>({"weight", "Weight", "edge_weight"});
  return column == "n" ? "note" : dice.pick<std::string>({"", "id", "edge_id"});
}

std::string row(const std::vector<std::string>& fields, const ListStyle& style, Dice& dice) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += style.separator == ' ' ? style.gap : std::string(1, style.separator);
    if (style.separator != ' ' && style.separator != '\t' && dice.below(5) == 0) line += ' ';
    line += quoted(fields[i], style, dice);
  }
  return line + style.end_of_line;
}

std::string field_of(const std::string& column, const WrittenGraph& graph, size_t edge,
                     const ListStyle& style, Dice& dice) {
  if (column == "n")
    return dice.pick<std::string>({"plain", "two words", "a,b;c|d", "say \"x\"", ""});
  if (column == "i") return base::text(edge);
  if (column == "w") {
    std::string text = number(static_cast<double>(graph.weights[edge]), dice);
    if (style.decimal_comma) std::replace(text.begin(), text.end(), '.', ',');
    return text;
  }
  const auto& [source, target] = graph.edges[edge];
  const int64_t node = column == "s" ? source : target;
  return style.names ? name_of(node) : whole(node, dice);
}

std::string write_list(const WrittenGraph& graph, const ListStyle& style, Dice& dice) {
  std::string text = dice.below(5) == 0 ? "\xef\xbb\xbf" : "";
  const auto pass = [&] {
    if (dice.below(6) == 0)
      text += dice.pick<std::string>({"# a, comment", "% b", "// c", "", "  "}) + style.end_of_line;
  };
  pass();
  if (style.header) {
    std::vector<std::string> names;
    const auto which = static_cast<size_t>(dice.below(style.names ? kSureNames : kNamesOfEnds));
    for (const std::string& column : style.columns)
      names.push_back(header_name(column, which, dice));
    text += row(names, style, dice);
  }
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    pass();
    std::vector<std::string> fields;
    for (const std::string& column : style.columns)
      fields.push_back(field_of(column, graph, e, style, dice));
    text += row(fields, style, dice);
  }
  if (dice.flip() && text.ends_with(style.end_of_line) && !graph.edges.empty())
    text.resize(text.size() - style.end_of_line.size());
  return text;
}

void expect_list(const Dataset& dataset, const WrittenGraph& graph, const ListStyle& style) {
  auto found = edges(*dataset.graph);
  if (!style.names) {
    EXPECT_EQ(dataset.graph->num_nodes(), graph.num_nodes);
    EXPECT_EQ(found, ordered(graph.edges, *dataset.graph));
    return;
  }
  std::vector<std::pair<std::string, std::string>> read, written;
  const base::Tensor& names = dense(dataset, "original_name");
  const auto name = [&](int64_t node) {
    return std::string(static_cast<const char*>(names.data()) + node * names.shape()[1]);
  };
  for (const auto& [source, target] : found) read.emplace_back(name(source), name(target));
  for (const auto& [source, target] : graph.edges)
    written.emplace_back(name_of(source), name_of(target));
  if (dataset.graph->edge_columns().empty()) {  // the order of the list is lost
    std::ranges::sort(read);
    std::ranges::sort(written);
  }
  EXPECT_EQ(read, written);
}

TEST_F(TextRounds, ListsOfEdges) {
  for (int seed = 0; seed < 2 * kRounds; ++seed) {
    Dice dice(seed);
    WrittenGraph graph = random_graph(dice);
    ListStyle style = random_style(dice, seed % 2 == 0);
    if (graph.edges.empty()) style.names = false;
    const std::string text = write_list(graph, style, dice);
    SCOPED_TRACE(base::text("seed ", seed, ": ", text.substr(0, 400)));
    OpenOptions options;
    options.format = "edges";
    options.relabel = style.names;
    if (!style.names) options.num_nodes = graph.num_nodes;
    DatasetRef dataset;
    ASSERT_NO_THROW(dataset = open(text, dice, options));
    expect_list(*dataset, graph, style);
    EXPECT_EQ(weights(dataset),
              style.weights && !graph.edges.empty() ? graph.weights : std::vector<float>());
    if (HasFailure()) return;
  }
}

TEST_F(TextRounds, MatrixMarketFiles) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Dice dice(seed);
    const WrittenGraph graph = random_graph(dice);
    const std::string symmetry = dice.pick<std::string>({"general", "symmetric", "skew-symmetric"});
    const std::string field = symmetry[1] == 'k'
                                  ? dice.pick<std::string>({"real", "integer"})
                                  : dice.pick<std::string>({"real", "integer", "pattern"});
    const std::string end = dice.pick<std::string>({"\n", "\r\n", "\r"});
    std::string banner = base::text("MatrixMarket matrix coordinate ", field, " ", symmetry);
    if (dice.flip()) std::transform(banner.begin(), banner.end(), banner.begin(), ::toupper);
    std::string body;
    int64_t listed = 0;
    std::vector<std::pair<int64_t, int64_t>> expected;
    std::vector<float> expected_weights;
    for (size_t e = 0; e < graph.edges.size(); ++e) {
      const auto [row, column] = graph.edges[e];
      if (symmetry[1] == 'k' && row == column) continue;
      const bool whole_weight = field == "integer";
      const float weight = whole_weight ? std::floor(graph.weights[e]) : graph.weights[e];
      ++listed;
      body += whole(row + 1, dice) + blanks(dice) + whole(column + 1, dice);
      if (field != "pattern")
        body += blanks(dice) + (whole_weight ? base::text(weight) : number(weight, dice));
      body += (dice.below(5) == 0 ? " " : "") + end;
      if (dice.below(8) == 0) body += dice.pick<std::string>({"% between", "", "  "}) + end;
      expected.emplace_back(row, column);
      expected_weights.push_back(weight);
      if (symmetry == "general" || row == column) continue;
      expected.emplace_back(column, row);
      expected_weights.push_back(symmetry[1] == 'k' ? -weight : weight);
    }
    const std::string text =
        base::text("%%", banner, end, dice.flip() ? "% by hand" + end : "", graph.num_nodes,
                   blanks(dice), graph.num_nodes, blanks(dice), listed, end, body);
    SCOPED_TRACE(base::text("seed ", seed, ": ", text.substr(0, 400)));
    DatasetRef dataset;
    ASSERT_NO_THROW(dataset = open(text, dice, {}));
    EXPECT_EQ(dataset->graph->num_nodes(), graph.num_nodes);
    EXPECT_EQ(edges(*dataset->graph), ordered(expected, *dataset->graph));
    EXPECT_EQ(weights(dataset), field == "pattern" ? std::vector<float>() : expected_weights);
    if (HasFailure()) return;
  }
}

TEST_F(TextRounds, MetisGraphs) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Dice dice(seed);
    const int64_t num_nodes = 1 + dice.below(30);
    const bool sizes = dice.below(3) == 0, weighted = dice.flip();
    const int64_t num_weights = dice.flip() ? 0 : 1 + dice.below(3);
    const std::string end = dice.pick<std::string>({"\n", "\r\n", "\r"});
    std::vector<std::vector<std::pair<int64_t, int64_t>>> lists(num_nodes);  // neighbor, weight
    int64_t num_edges = 0;
    for (int64_t a = 0; a < num_nodes; ++a)
      for (int64_t b = 0; b < a; ++b)
        if (dice.below(5) == 0) {
          const int64_t weight = 1 + dice.below(9);
          lists[a].emplace_back(b, weight);
          lists[b].emplace_back(a, weight);
          ++num_edges;
        }
    std::vector<std::pair<int64_t, int64_t>> expected;
    std::vector<float> expected_weights;
    std::vector<int64_t> node_weights;
    std::string text = dice.flip() ? "% a graph" + end : "";
    text += whole(num_nodes, dice) + blanks(dice) + whole(num_edges, dice);
    std::string format{sizes ? '1' : '0', num_weights > 0 ? '1' : '0', weighted ? '1' : '0'};
    if (dice.flip() || num_weights > 1)
      format = format.substr(std::min(format.find('1'), size_t{2}));
    if (format.find('1') != format.npos || dice.flip()) text += blanks(dice) + format;
    if (num_weights > 1) text += blanks(dice) + base::text(num_weights);
    text += end;
    for (int64_t node = 0; node < num_nodes; ++node) {
      if (dice.below(6) == 0) text += "% between" + end;
      std::vector<std::string> fields;
      if (sizes) fields.push_back(base::text(node + 5));
      for (int64_t k = 0; k < num_weights; ++k) {
        node_weights.push_back(dice.below(100));
        fields.push_back(base::text(node_weights.back()));
      }
      dice.shuffle(lists[node]);
      for (const auto& [neighbor, weight] : lists[node]) {
        fields.push_back(whole(neighbor + 1, dice));
        if (weighted) fields.push_back(base::text(weight));
        expected.emplace_back(node, neighbor);
        expected_weights.push_back(static_cast<float>(weight));
      }
      for (size_t i = 0; i < fields.size(); ++i)
        text += (i ? blanks(dice) : dice.below(5) ? "" : " ") + fields[i];
      text += end;
    }
    for (int64_t i = dice.below(3); i > 0; --i) text += end;
    SCOPED_TRACE(base::text("seed ", seed, ": ", text.substr(0, 400)));
    OpenOptions options;
    if (num_edges == 0) options.format = "metis";
    DatasetRef dataset;
    ASSERT_NO_THROW(dataset = open(text, dice, options));
    EXPECT_EQ(dataset->graph->num_nodes(), num_nodes);
    EXPECT_EQ(edges(*dataset->graph), ordered(expected, *dataset->graph));
    EXPECT_EQ(weights(dataset), weighted ? expected_weights : std::vector<float>());
    if (num_weights > 0) {
      EXPECT_EQ(values<int64_t>(dense(*dataset, "vertex_weight")), node_weights);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace gnnmg::data
