// The texts and splits of Geom-GCN's sets, in every legal form and wrong.
#include <filesystem>
#include <random>

#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using Edges = std::vector<std::pair<int64_t, int64_t>>;

constexpr const char* kNodes = "out1_node_feature_label.txt";
constexpr const char* kEdges = "out1_graph_edges.txt";

// A set of nodes with features as numbers, or as lists of the numbers of features.
struct GeomSet {
  std::vector<std::vector<int64_t>> features;
  std::vector<int64_t> labels;
  Edges edges;
};

// The style in which a text is written.
struct Style {
  bool header = true, gz = false, gz_name = false;
  std::string end = "\n", comma = ",";
  char quote = 0;
  std::vector<size_t> order;  // order of the nodes; empty: ascending
};

std::string packed(const std::string& text, const Style& style) {
  return style.gz ? gzip(text) : text;
}

std::string nodes_of(const GeomSet& set, const Style& style) {
  std::string text = style.header ? "node_id\tfeature\tlabel" + style.end : "";
  for (size_t row = 0; row < set.labels.size(); ++row) {
    const size_t id = style.order.empty() ? row : style.order[row];
    std::string list;
    for (const int64_t feature : set.features[id])
      list += (list.empty() ? "" : style.comma) + std::to_string(feature);
    if (style.quote) list = style.quote + list + style.quote;
    text += std::to_string(id) + "\t" + list + "\t" + std::to_string(set.labels[id]) + style.end;
  }
  return packed(text, style);
}

std::string edges_of(const GeomSet& set, const Style& style) {
  std::string text = style.header ? "node_id\tnode_id" + style.end : "";
  for (const auto& [source, target] : set.edges)
    text += std::to_string(source) + "\t" + std::to_string(target) + style.end;
  return packed(text, style);
}

const GeomSet kSmall{{{0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {0, 0, 0}},
                     {2, 0, 1, 0},
                     {{0, 1}, {1, 0}, {2, 3}, {3, 3}, {0, 1}}};
const Edges kOnce{{1, 0}, {0, 1}, {2, 3}, {3, 3}};

class GeomGcn : public testing::Test {
 protected:
  void put(const GeomSet& set, const Style& style = {}) {
    const std::string ending = style.gz_name ? ".gz" : "";
    for (const char* file : {kNodes, kEdges})
      for (const char* old : {"", ".gz"}) std::filesystem::remove(dir_.file(file) + old);
    dir_.write(kNodes + ending, nodes_of(set, style));
    dir_.write(kEdges + ending, edges_of(set, style));
  }
  DatasetRef open(const OpenOptions& options = {}) { return opener_.open(dir_.path(), options); }
  void put_split(const std::string& name, uint8_t train, uint8_t validation, uint8_t test) {
    const auto mask = [](uint8_t node) {
      std::vector<uint8_t> bits(4);
      bits[node] = 1;
      return npy_text("|b1", "(4,)", raw(bits));
    };
    write_npz(
        dir_.file(name),
        {{"train_mask", mask(train)}, {"val_mask", mask(validation)}, {"test_mask", mask(test)}});
  }
  void refused(const std::vector<std::string>& parts, Status status = Status::kFormat) {
    expect_error(status, parts, [&] { open(); });
  }
  test::TempDir dir_;
  Opener opener_;
};

TEST_F(GeomGcn, FeaturesLabelsAndEdgesOnce) {
  put(kSmall);
  const DatasetRef dataset = open();
  EXPECT_EQ(values<float>(dense(*dataset, "x")),
            (std::vector<float>{0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(values<int64_t>(*dataset->labels()), (std::vector<int64_t>{2, 0, 1, 0}));
  EXPECT_EQ(dataset->num_classes, 3);
  EXPECT_EQ(edges(*dataset->graph), ordered(kOnce, *dataset->graph));
  OpenOptions options;
  options.undirected = 0;
  EXPECT_EQ(edges(*open(options)->graph), ordered(kSmall.edges, *dataset->graph));
  options.undirected = 1;
  EXPECT_EQ(edges(*open(options)->graph), (Edges{{0, 1}, {1, 0}, {2, 3}, {3, 2}, {3, 3}}));
  for (const char* file : {kNodes, kEdges})
    EXPECT_EQ(edges(*opener_.open(dir_.file(file))->graph), ordered(kOnce, *dataset->graph))
        << file;
}

TEST_F(GeomGcn, FilmListsTheNumbersOfFeatures) {
  put({{{3, 0}, {}, {7}, {2, 5, 1}}, {0, 1, 0, 1}, {{0, 1}}});
  const DatasetRef dataset = open();
  const base::CsrMatrix& film = sparse(*dataset, "x");
  EXPECT_EQ(film.num_cols, 8);
  EXPECT_EQ(values<int64_t>(film.indptr), (std::vector<int64_t>{0, 2, 2, 3, 6}));
  EXPECT_EQ(values<int32_t>(film.indices), (std::vector<int32_t>{0, 3, 7, 1, 2, 5}));
  EXPECT_EQ(values<float>(film.values), std::vector<float>(6, 1.0f));
  // Rows of equal length might be numbers; the log says so.
  opener_.log();
  put({{{3, 0}, {1, 9}}, {0, 1}, {{0, 1}}});
  EXPECT_EQ(sparse(*open(), "x").num_cols, 10);
  EXPECT_NE(opener_.log().find("numbers of the features"), std::string::npos);
}

TEST_F(GeomGcn, EveryLegalWay) {
  std::mt19937 random(5);
  const auto one_of = [&](auto... choices) {
    const std::vector<std::string> all{choices...};
    return all[random() % all.size()];
  };
  for (int way = 0; way < 100; ++way) {
    const bool film = random() % 2;
    const size_t nodes = 2 + random() % 12, width = 3 + random() % 5;
    GeomSet set;
    for (size_t id = 0; id < nodes; ++id) {
      std::vector<int64_t> row;
      for (size_t f = 0; f < width; ++f)
        if (const bool on = random() % 2; !film || on)
          row.push_back(film ? static_cast<int64_t>(f) : on);
      set.features.push_back(row);
      set.labels.push_back(static_cast<int64_t>(random() % 4));
      set.edges.emplace_back(random() % nodes, random() % nodes);
    }
    set.features[0].assign(film ? 0 : width, 1);  // lists have different lengths, numbers repeat
    set.features[1] = film ? std::vector<int64_t>{static_cast<int64_t>(width) - 1}
                           : std::vector<int64_t>(width, 0);
    Style style;
    style.header = random() % 2 == 0;
    style.gz = random() % 3 == 0;
    style.gz_name = random() % 2 == 0;
    style.end = one_of("\n", "\r\n", "\r");
    style.comma = one_of(",", ", ", ",+");
    style.quote = random() % 3 == 0 ? '"' : '\0';
    for (size_t id = 0; id < nodes; ++id) style.order.push_back(id);
    if (random() % 2) std::shuffle(style.order.begin(), style.order.end(), random);
    put(set, style);
    OpenOptions as_listed;
    as_listed.undirected = 0;
    const DatasetRef dataset = open(as_listed);
    EXPECT_EQ(edges(*dataset->graph), ordered(set.edges, *dataset->graph)) << way;
    EXPECT_EQ(values<int64_t>(*dataset->labels()), set.labels) << way;
    std::vector<float> expected;
    for (const auto& row : set.features)
      for (size_t f = 0; f < width; ++f)
        expected.push_back(!film ? static_cast<float>(row[f])
                                 : std::count(row.begin(), row.end(), static_cast<int64_t>(f)));
    std::vector<float> found(nodes * width);
    if (film) {
      const base::CsrMatrix& x = sparse(*dataset, "x");
      const auto ptr = x.indptr.as<const int64_t>();
      for (size_t id = 0; id < nodes; ++id)
        for (int64_t i = ptr[id]; i < ptr[id + 1]; ++i)
          found[id * width + x.indices.as<const int32_t>()[i]] = 1;
    } else {
      found = values<float>(dense(*dataset, "x"));
    }
    EXPECT_EQ(found, expected) << way;
  }
}

TEST_F(GeomGcn, SplitsBesideTheTexts) {
  put(kSmall);
  dir_.write("._out1_graph_edges.txt", std::string("\0\5", 2));
  dir_.write("notes.txt", "by hand\n");
  for (int i : {10, 9, 1})
    put_split("film_split_0.6_0.2_" + std::to_string(i) + ".npz", i % 3, 3, 2);
  put_split("film_split_0.48_0.32_0.npz", 3, 2, 1);
  const DatasetRef dataset = open();
  EXPECT_EQ(dataset->name, "film");
  ASSERT_EQ(dataset->splits.size(), 4u);
  EXPECT_EQ(ids(dataset->split("0.48_0.32", 0), SplitPart::kTrain), std::vector<int64_t>{3});
  EXPECT_EQ(ids(dataset->split("0.6_0.2", 1), SplitPart::kTrain), std::vector<int64_t>{0});
  EXPECT_EQ(ids(dataset->split("0.6_0.2", 2), SplitPart::kValidation), std::vector<int64_t>{3});
  const std::string log = opener_.log();
  EXPECT_NE(log.find("left out: notes.txt"), std::string::npos) << log;
}

TEST_F(GeomGcn, SplitsBesideTheFolderOfSets) {
  for (const char* file : {kNodes, kEdges})
    dir_.write(std::string("new_data/texas/") + file,
               file == kNodes ? nodes_of(kSmall, {}) : edges_of(kSmall, {}));
  dir_.write("splits/readme", "");
  put_split("splits/texas_split_0.6_0.2_0.npz", 0, 1, 2);
  put_split("splits/film_split_0.6_0.2_0.npz", 0, 1, 2);
  for (const char* end : {"", "/"}) {
    const DatasetRef dataset = opener_.open(dir_.file("new_data/texas") + end);
    EXPECT_EQ(dataset->name, "texas");
    EXPECT_EQ(dataset->splits.size(), 1u);
  }
}

TEST_F(GeomGcn, NumbersToRegressAndMissingLabels) {
  dir_.write(kEdges, "0\t1\n");
  dir_.write(kNodes, "0\t0.5,+1e-400\t0.25\n1\t-.5,2.\t\n");
  const DatasetRef dataset = open();
  EXPECT_EQ(dataset->task, Task::kRegression);
  EXPECT_EQ(values<float>(dense(*dataset, "x")), (std::vector<float>{0.5f, 0, -0.5f, 2}));
  dir_.write(kNodes, "0\t1,0\t4\n1\t1,1\t\n");
  EXPECT_EQ(values<int64_t>(*open()->labels()), (std::vector<int64_t>{4, -1}));
}

TEST_F(GeomGcn, Refused) {
  put(kSmall);
  const auto nodes = [&](const std::string& text, const std::vector<std::string>& parts,
                         Status status = Status::kFormat) {
    dir_.write(kNodes, text);
    refused(parts, status);
  };
  nodes("node_id\tfeature\tlabel\n", {kNodes, "holds no nodes"});
  nodes("0\t1,0\n", {"line 1", "expected a node, its features"});
  nodes("0\t1,x\t0\n", {"line 1", "feature \"x\"", "expected a number"});
  nodes("0\t1,1\tred\n", {"line 1", "label \"red\""});
  nodes("0\t1,1\t0\n2\t1,0\t0\n", {"node 2, expected 0 to 1"}, Status::kRange);
  nodes("0\t1,1\t0\n0\t1,0\t0\n", {"node 0 stands in two lines"});
  nodes("0\t1,1\t0\n-1\t1,0\t0\n", {"line 2", "node \"-1\""});
  nodes("0\t1,1\t0\n1\t1,0,0\t0\n",
        {"line 2: 3 features, expected 2 as in line 1", "unlike line 1"});
  nodes("0\t2147483647\t0\n1\t1,0\t0\n", {"feature 2147483647"}, Status::kRange);
  dir_.write(kEdges, "0\t1\n");
  nodes("0\t1,1\t0\n1\tnan,0\t0\n", {kNodes, "row 1, column 0"}, Status::kNan);
  put(kSmall);
  dir_.write(kEdges, "node_id\tnode_id\n0\t4\n");
  refused({kEdges, "line 2", "target 4, expected 0 to 3"}, Status::kRange);
  put(kSmall);
  write_npz(dir_.file("a_split_0.6_0.2_0.npz"), {{"mask", npy_of<uint8_t>({1, 0, 0, 0}, "(4,)")}});
  refused({"a_split_0.6_0.2_0.npz", "holds mask", "expected train"});
}

}  // namespace
}  // namespace gnnmg::data
