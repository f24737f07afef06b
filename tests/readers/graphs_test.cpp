// Sets of many small graphs: the three foreign formats, the own one, folds, and everything that is
// refused in them.
#include "data/graphs.h"

#include <filesystem>

#include "data/gin.h"
#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using Ids = std::vector<int64_t>;
using Edges = std::vector<std::pair<int64_t, int64_t>>;

// A path of three nodes with label 7, a pair with label -1, a lone node with label 7.
constexpr const char* kGin = "3\n3 7\n5 1 1\n2 2 0 2\n5 1 1\n2 -1\n5 1 1\n5 1 0\n1 7\n2 0\n";

class Graphs : public testing::Test {
 protected:
  DatasetRef gin(const std::string& text, const OpenOptions& options = {}) {
    OpenOptions all = options;
    all.format = "gin";
    return opener_.open(dir_.write("set.txt", text), all);
  }
  void refuse_gin(const std::string& text, const std::vector<std::string>& parts,
                  Status status = Status::kFormat) {
    std::vector<std::string> all = parts;
    all.push_back("set.txt");
    expect_error(status, all, [&] { gin(text); });
  }
  // The three graphs above in TU's files, every edge listed twice, with labels of nodes and edges.
  void write_tu() {
    dir_.write("tu/S_graph_indicator.txt", "1\n1\n1\n2\n2\n3\n");
    dir_.write("tu/S_A.txt", "1, 2\n2, 1\n2, 3\n3, 2\n1, 2\n2, 1\n4, 5\n5, 4\n");
    dir_.write("tu/S_graph_labels.txt", "1\n-1\n1\n");
    dir_.write("tu/S_node_labels.txt", "0\n4\n0\n0\n0\n4\n");
    dir_.write("tu/S_edge_labels.txt", "3\n3\n1\n1\n3\n3\n1\n1\n");
  }
  void refuse_tu(const std::string& file, const std::string& text,
                 const std::vector<std::string>& parts, Status status = Status::kFormat) {
    write_tu();
    dir_.write("tu/S" + file, text);
    std::vector<std::string> all = parts;
    all.push_back("S" + file);
    expect_error(status, all, [&] { opener_.open(dir_.file("tu")); });
  }
  using Arrays = std::vector<std::pair<std::string, std::string>>;
  Arrays packed() {
    return {{"node_ptr", npy_of<int64_t>({0, 3, 5, 6}, "(4,)")},
            {"edge_ptr", npy_of<int64_t>({0, 2, 3, 3}, "(4,)")},
            {"node_feat", npy_of<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, "(6, 2)")},
            {"edges", npy_of<int32_t>({0, 1, 1, 2, 0, 1}, "(3, 2)")},
            {"edge_feat", npy_of<uint8_t>({10, 11, 12}, "(3, 1)")},
            {"labels", npy_of<uint8_t>({1, 0, 1}, "(3,)")},
            {"split_scaffold", npy_of<uint8_t>({1, 2, 3}, "(3,)")}};
  }
  DatasetRef open(const Arrays& arrays) {
    write_npz(dir_.file("set.npz"), arrays);
    return opener_.open(dir_.file("set.npz"));
  }
  void refuse_packed(const std::string& name, const std::string& array,
                     const std::vector<std::string>& parts, Status status = Status::kFormat) {
    Arrays arrays = packed();
    for (auto& [key, bytes] : arrays)
      if (key == name) bytes = array;
    std::vector<std::string> all = parts;
    all.push_back("array \"" + name + "\"");
    expect_error(status, all, [&] { open(arrays); });
  }
  // The facts that all three formats tell about the graphs above.
  void expect_graphs(const Dataset& dataset) {
    EXPECT_EQ(dataset.num_graphs(), 3);
    EXPECT_EQ(dataset.num_samples(), 3);
    EXPECT_EQ(values<int64_t>(dataset.graph_ptr), (Ids{0, 3, 5, 6}));
    EXPECT_EQ(dataset.task, Task::kMulticlass);
    EXPECT_EQ(dataset.num_classes, 2);
    EXPECT_EQ(values<int64_t>(*dataset.labels()), (Ids{1, 0, 1}));
    EXPECT_EQ(values<int64_t>(dataset.graph->csc().indptr), (Ids{0, 1, 3, 4, 5, 6, 6}));
    EXPECT_EQ(values<int32_t>(dataset.graph->csc().indices),
              (std::vector<int32_t>{1, 0, 2, 1, 4, 3}));
  }
  // `count` ones; 0: one a row.
  std::vector<int32_t> hot(const Dataset& dataset, int64_t count = 0) {
    const base::CsrMatrix& x = sparse(dataset, "x");
    EXPECT_EQ(values<float>(x.values), std::vector<float>(count ? count : x.num_rows, 1.0f));
    return values<int32_t>(x.indices);
  }
  test::TempDir dir_;
  Opener opener_;
};

TEST_F(Graphs, Gin) {
  const DatasetRef dataset = gin(kGin);
  expect_graphs(*dataset);
  EXPECT_EQ(dataset->name, "set");
  EXPECT_EQ(dataset->feature_dim(), 2);
  EXPECT_EQ(hot(*dataset), (std::vector<int32_t>{1, 0, 1, 1, 1, 0})) << "tags 2 and 5";
  EXPECT_EQ(values<int64_t>(dense(*dataset, "tag")), (Ids{5, 2, 5, 5, 5, 2}));
  const std::string log = opener_.log();
  EXPECT_NE(log.find("label -1 is class 0, 7 is class 1"), std::string::npos) << log;
  EXPECT_NE(log.find("as gin: 3 graphs, 6 nodes, 6 edges"), std::string::npos) << log;
  EXPECT_EQ(gin("1\r\n2 0\r\n0  1\t1 \r\n0 1 0\r\n\r\n")->graph->num_edges(), 2)
      << "other line ends and blanks";
}

TEST_F(Graphs, DegreesAreFeaturesWhereTagsSayNothing) {
  OpenOptions options;
  options.degree_features = 1;
  const DatasetRef asked = gin(kGin, options);
  EXPECT_EQ(asked->feature_dim(), 3) << "degrees 0, 1 and 2";
  EXPECT_EQ(hot(*asked), (std::vector<int32_t>{1, 2, 1, 1, 1, 0}));
  const std::string equal = "2\n2 0\n9 1 1\n9 1 0\n1 1\n9 0\n";
  EXPECT_EQ(hot(*gin(equal)), (std::vector<int32_t>{1, 1, 0}));
  options.degree_features = -1;
  EXPECT_EQ(gin(equal, options)->feature_dim(), 1);
  options.degree_features = 2;
  expect_error(Status::kInvalidArgument, {"degree_features 2"}, [&] { gin(equal, options); });
}

TEST_F(Graphs, GinWithAttributes) {
  const std::string text = "2\n2 0\n9 1 1 0.5 -3\n8 1 0 1e-3 4\n1 1\n9 0 7 0\n";
  EXPECT_TRUE(looks_like_gin(text));
  const DatasetRef dataset = gin(text);
  EXPECT_EQ(values<float>(dense(*dataset, "x")), (std::vector<float>{0.5F, -3, 1e-3F, 4, 7, 0}));
  EXPECT_EQ(dataset->feature_dim(), 2);
  EXPECT_EQ(values<int64_t>(dense(*dataset, "tag")), (Ids{9, 8, 9}));
  EXPECT_EQ(dataset->graph->num_edges(), 2);
  OpenOptions options;
  for (const int32_t other : {1, -1}) {  // features from degrees, from tags
    options.degree_features = other;
    const DatasetRef asked = gin(text, options);
    EXPECT_EQ(hot(*asked),
              other == 1 ? (std::vector<int32_t>{1, 1, 0}) : (std::vector<int32_t>{1, 0, 1}));
    EXPECT_EQ(values<float>(dense(*asked, "attributes")), values<float>(dense(*dataset, "x")));
  }
  EXPECT_EQ(gin("1\n1 0\n3 0 2\n")->feature_dim(), 1) << "equal tags do not matter then";
  EXPECT_FALSE(looks_like_gin("2\n2 0\n9 1 1 0.5 x\n"));
  EXPECT_FALSE(looks_like_gin("2\n2 0\n9 1.5 1 0.5\n"));
}

TEST_F(Graphs, GinRefused) {
  refuse_gin("", {"ends at line 0", "the number of graphs"});
  refuse_gin("x\n", {"line 1", "the number of graphs \"x\""});
  refuse_gin("0\n", {"line 1", "the number of graphs 0, expected 1 or more"}, Status::kRange);
  refuse_gin("1 2\n", {"line 1", "the end of the line, found \"2\""});
  refuse_gin("2\n1 0\n0 0\n", {"ends at line 3", "graph 1 of 2"});
  refuse_gin("1\n0 0\n", {"no graph has a node"});
  refuse_gin("1\n1\n0 0\n", {"line 2", "the line ends, expected the label"});
  refuse_gin("1\n1 a\n0 0\n", {"line 2", "the label \"a\", expected an integer"});
  refuse_gin("1\n1 0.5\n0 0\n", {"line 2", "the label \"0.5\""});
  refuse_gin("1\n1 0 0\n0 0\n", {"line 2", "found \"0\""});
  refuse_gin("1\n2 0\n0 1 1\n", {"ends at line 3", "node 1 of 2 of graph 0"});
  refuse_gin("1\n2 0\n0 1 1\n0 1 2\n", {"line 4", "the neighbor 2, expected 0 to 1"},
             Status::kRange);
  refuse_gin("1\n2 0\n0 1 -1\n0 0\n", {"line 3", "the neighbor -1"}, Status::kRange);
  refuse_gin("1\n2 0\n0 2 1\n0 0\n", {"line 3", "the line ends, expected the neighbor"});
  refuse_gin("1\n2 0\n0 1 1 1\n0 0\n",
             {"line 4", "0 attributes after the neighbors, expected 1, as the first node has"});
  refuse_gin("1\n2 0\n0 0\n0 0 1\n", {"line 4", "the end of the line, found \"1\""});
  refuse_gin("1\n2 0\n0 0 1 2\n0 0 1 2 3\n", {"line 4", "3 attributes", "expected 2"});
  refuse_gin("1\n2 0\n0 1 1 .5 x\n0 0\n", {"line 3", "the attribute \"x\", expected a number"});
  refuse_gin("1\n1 0\n0 0 1 nan\n", {"row 0, column 1"}, Status::kNan);
  refuse_gin("1\n2 0\n0 -1\n0 0\n", {"line 3", "the degree -1"}, Status::kRange);
  refuse_gin("1\n2 0\nx 0\n0 0\n", {"line 3", "the tag \"x\""});
  refuse_gin("1\n2 0\n\n0 0\n", {"line 3", "expected the tag"});
  refuse_gin("1\n1 0\n0 0\n1 0\n", {"line 4", "the end after 1 graphs, found \"1 0\""});
  refuse_gin("1\n1099511627776 0\n0 0\n", {"line 2", "the number of nodes"}, Status::kRange);
  refuse_gin("9000000000000000000\n1 0\n0 0\n", {"ends at line 3", "graph 1 of 9000000000"});
}

// A text that cannot be a list of edges gets this reader's error, however damaged.
TEST_F(Graphs, GinIsKnownByItsFirstThreeLines) {
  EXPECT_TRUE(looks_like_gin(kGin));
  EXPECT_TRUE(looks_like_gin("1\n2 0\n0 1 1 0.5 -2\n0 1 0"));
  EXPECT_FALSE(looks_like_gin("1\n1 0\n0 9223372036854775807 1\n")) << "a degree without neighbors";
  EXPECT_FALSE(looks_like_gin("3\n0 1\n1 2\n2 0\n")) << "a count and edges";
  EXPECT_FALSE(looks_like_gin("2\n0 1 0.5\n1 2 0.5\n")) << "a count and edges with weights";
  EXPECT_FALSE(looks_like_gin("1\n2 0"));
  // Packed, too, by itself and in its folder.
  const std::string packed = dir_.write("gz/set.txt.gz", gzip(kGin));
  dir_.write("gz/README.md", "what it is");
  for (const std::string& path : {packed, dir_.file("gz")}) expect_graphs(*opener_.open(path));
}

TEST_F(Graphs, GinGraphsWithoutNodes) {
  const DatasetRef dataset = gin("3\n1 0\n0 0\n0 4\n1 0\n0 0\n");
  EXPECT_EQ(values<int64_t>(dataset->graph_ptr), (Ids{0, 1, 1, 2}));
  EXPECT_EQ(values<int64_t>(*dataset->labels()), (Ids{0, 1, 0}));
  refuse_gin("2\n0 1\n0 2\n", {"no graph has a node"});
}

TEST_F(Graphs, GinWhoseFirstGraphsAreWithoutNodes) {
  const std::string text = "3\n0 5\n0 4\n2 5\n0 1 1\n0 1 0\n";
  EXPECT_TRUE(looks_like_gin(text));
  const DatasetRef dataset = opener_.open(dir_.write("set.txt", text));
  EXPECT_EQ(values<int64_t>(dataset->graph_ptr), (Ids{0, 0, 0, 2}));
  EXPECT_EQ(values<int64_t>(*dataset->labels()), (Ids{1, 0, 1}));
  EXPECT_EQ(values<int64_t>(gin("2\n0 1\n1 2\n2 0\n")->graph_ptr), (Ids{0, 0, 1}));
  expect_error(Status::kFormat, {"may be edges after a count", "format=gin", "header_lines=1"},
               [&] { opener_.open(dir_.write("pairs.txt", "2\n0 1\n1 2\n2 0\n")); });
}

TEST_F(Graphs, DamagedGinIsNoListOfEdges) {
  const auto refused = [&](const std::string& text, const std::vector<std::string>& parts) {
    std::vector<std::string> all = {"as edges line 1 has 1 column, expected at least 2"};
    all.insert(all.end(), parts.begin(), parts.end());
    for (const bool compressed : {false, true})
      expect_error(Status::kFormat, all, [&] {
        opener_.open(compressed ? dir_.write("set.txt.gz", gzip(text))
                                : dir_.write("damaged.txt", text));
      });
  };
  refused("1:\n2 0\n0 1 1\n0 1 0\n", {"line 1", "the number of graphs \"1:\""});
  refused("1\n2x 0\n0 1 1\n0 1 0\n", {"line 2", "the number of nodes \"2x\""});
  refused("1\n2 0\n0 q 1\n0 1 0\n", {"line 3", "the degree \"q\""});
  refused("1\n2 0\n0 2 1\n0 1 0\n", {"line 3", "the line ends"});
  refused("7\n0 1\n", {"ends at line 2", "graph 1 of 7", "header_lines"});
  refused(std::string("1\n2 \0\n0 1 1\n0 1 0\n", 18), {"line 2", "NUL byte at column 3"});
  OpenOptions options;
  options.header = 1;
  const std::string counted = dir_.write("counted.txt", "7\n0 1\n");
  EXPECT_EQ(opener_.open(counted, options)->graph->num_edges(), 1);
}

TEST_F(Graphs, ValuesThatAreNoCategories) {
  std::string text = "1\n40000 0\n";
  for (int i = 0; i < 40000; ++i) text += base::text(i, " 0\n");
  refuse_gin(text, {"line 32771", "32768 is a different value too many"}, Status::kRange);
}

TEST_F(Graphs, Tu) {
  write_tu();
  const DatasetRef dataset = opener_.open(dir_.file("tu"));
  expect_graphs(*dataset);
  EXPECT_EQ(dataset->name, "S");
  EXPECT_EQ(hot(*dataset), (std::vector<int32_t>{0, 4, 0, 0, 0, 4}));
  EXPECT_EQ(dataset->feature_dim(), 5) << "from the smallest label to the largest";
  EXPECT_EQ(values<int64_t>(dense(*dataset, "tag")), (Ids{0, 4, 0, 0, 0, 4}));
  const auto& labels = std::get<base::Tensor>(*dataset->graph->edge_column("edge_label"));
  std::vector<std::pair<std::pair<int64_t, int64_t>, int64_t>> found;
  const Edges list = edges(*dataset->graph);
  for (size_t e = 0; e < list.size(); ++e)
    found.push_back({list[e], labels.as<const int64_t>()[e]});
  EXPECT_EQ(found.size(), 6u);
  for (const auto& [edge, label] : found)
    EXPECT_EQ(label, edge.first + edge.second == 1 ? 2 : 0) << edge.first << " " << edge.second;
  const auto& rows = std::get<base::Tensor>(*dataset->graph->edge_column("edge_attr"));
  ASSERT_EQ(rows.shape(), (base::Shape{6, 3}));
  for (size_t e = 0; e < list.size(); ++e)
    for (int64_t k = 0; k < 3; ++k)
      EXPECT_EQ(rows.as<const float>()[3 * e + k], labels.as<const int64_t>()[e] == k) << e;
  for (const char* name : {"tu/S_A.txt", "tu/S"})
    EXPECT_EQ(opener_.open(dir_.file(name))->num_graphs(), 3) << name;
  OpenOptions options;
  options.undirected = 0;
  EXPECT_EQ(opener_.open(dir_.file("tu"), options)->graph->num_edges(), 8) << "as listed";
}

// Gaps, negative labels, several columns, and labels too far apart for a column each.
TEST_F(Graphs, TuLabelsOfAnyKind) {
  write_tu();
  dir_.write("tu/S_graph_labels.txt", "7\n-1\n3\n");
  dir_.write("tu/S_node_labels.txt", "-2, 9\n1, 9\n0, 8\n0, 9\n0, 9\n0, 9\n");
  dir_.write("tu/S_edge_labels.txt", "-3, 1\n-3, 1\n5, 1\n5, 1\n-3, 1\n-3, 1\n5, 1\n5, 1\n");
  const DatasetRef dataset = opener_.open(dir_.file("tu"));
  EXPECT_EQ(values<int64_t>(*dataset->labels()), (Ids{2, 0, 1}));
  EXPECT_EQ(hot(*dataset, 12), (std::vector<int32_t>{0, 5, 3, 5, 2, 4, 2, 5, 2, 5, 2, 5}));
  EXPECT_EQ(dataset->feature_dim(), 6);
  EXPECT_EQ(values<int64_t>(dense(*dataset, "tag")), (Ids{-2, 9, 1, 9, 0, 8, 0, 9, 0, 9, 0, 9}));
  const auto& codes = std::get<base::Tensor>(*dataset->graph->edge_column("edge_label"));
  ASSERT_EQ(codes.shape(), (base::Shape{6, 2}));
  EXPECT_EQ(std::get<base::Tensor>(*dataset->graph->edge_column("edge_attr")).shape(),
            (base::Shape{6, 10}));
  dir_.write("tu/S_node_labels.txt", "-9223372036854775808\n9223372036854775807\n0\n0\n0\n0\n");
  EXPECT_EQ(hot(*opener_.open(dir_.file("tu"))), (std::vector<int32_t>{0, 2, 1, 1, 1, 1}));
  dir_.write("tu/S_node_labels.txt", "0\n32767\n0\n0\n0\n0\n");
  EXPECT_EQ(opener_.open(dir_.file("tu"))->feature_dim(), 32768);
  dir_.write("tu/S_node_labels.txt", "0\n32768\n0\n0\n0\n0\n");
  EXPECT_EQ(opener_.open(dir_.file("tu"))->feature_dim(), 2);
}

// macOS puts a file "._NAME" beside each NAME.
TEST_F(Graphs, FilesOfTheSystemAreNoData) {
  write_tu();
  const int64_t edges = opener_.open(dir_.file("tu"))->graph->num_edges();
  for (const char* part : {"A", "graph_indicator", "graph_labels", "node_labels", "edge_labels"})
    dir_.write(base::text("tu/._S_", part, ".txt"), std::string_view("\0\5\26\7", 4));
  EXPECT_EQ(opener_.open(dir_.file("tu"))->graph->num_edges(), edges);
}

// Half of the published sets are written so.
TEST_F(Graphs, TuNumbersMayHaveAPlusSign) {
  write_tu();
  dir_.write("tu/S_graph_labels.txt", "+1\n-1\n+1\n");
  dir_.write("tu/S_node_attributes.txt", "+1, 2\n3, +4e+0\n5, 6\n7, 1e-400\n9, 10\n11, 12\n");
  const DatasetRef dataset = opener_.open(dir_.file("tu"));
  EXPECT_EQ(dataset->task, Task::kMulticlass);
  EXPECT_EQ(values<int64_t>(*dataset->labels()), (Ids{1, 0, 1}));
  const std::vector<float> x = values<float>(dense(*dataset, "x"));
  const size_t width = x.size() / 6;
  EXPECT_EQ(x[0], 1.0f);
  EXPECT_EQ(x[width + 1], 4.0f);
  EXPECT_EQ(x[3 * width + 1], 0.0f);
}

TEST_F(Graphs, TuAttributesAndNumbers) {
  write_tu();
  dir_.write("tu/S_graph_labels.txt", "1\n0.5\n-2\n");
  dir_.write("tu/S_node_attributes.txt", "1, 2\n3, 4\n5, 6\n7, 8\n9, 10\n11, 12\n");
  const DatasetRef dataset = opener_.open(dir_.file("tu"));
  EXPECT_EQ(dataset->task, Task::kRegression);
  EXPECT_EQ(values<float>(*dataset->labels()), (std::vector<float>{1, 0.5f, -2}));
  EXPECT_EQ(values<float>(dense(*dataset, "x")),
            (std::vector<float>{1, 2, 1, 0, 0, 0, 0, 3, 4,  0, 0, 0, 0, 1, 5,  6,  1, 0, 0, 0, 0,
                                7, 8, 1, 0, 0, 0, 0, 9, 10, 1, 0, 0, 0, 0, 11, 12, 0, 0, 0, 0, 1}))
      << "labels beside attributes";
  OpenOptions tags;
  tags.degree_features = -1;
  const DatasetRef of_tags = opener_.open(dir_.file("tu"), tags);
  EXPECT_EQ(hot(*of_tags), (std::vector<int32_t>{0, 4, 0, 0, 0, 4}));
  EXPECT_EQ(values<float>(dense(*of_tags, "attributes"))[3], 4);
  dir_.write("tu/S_edge_attributes.txt", "1\n1\n2\n2\n1\n1\n2\n2\n");
  const DatasetRef carrying = opener_.open(dir_.file("tu"));
  const auto numbers = std::get<base::Tensor>(*carrying->graph->edge_column("edge_attr"));
  ASSERT_EQ(numbers.shape(), (base::Shape{6, 4})) << "beside labels";
  const auto row = numbers.as<const float>().first(4);
  EXPECT_EQ(std::vector<float>(row.begin(), row.end()), (std::vector<float>{1, 0, 0, 1}));
  std::filesystem::remove(dir_.file("tu/S_node_attributes.txt"));
  std::filesystem::remove(dir_.file("tu/S_node_labels.txt"));
  std::filesystem::remove(dir_.file("tu/S_graph_labels.txt"));
  dir_.write("tu/S_graph_attributes.txt", "1, 2\n3, 4\n5, 6\n");
  const DatasetRef bare = opener_.open(dir_.file("tu"));
  EXPECT_EQ(bare->num_classes, 2) << "targets";
  EXPECT_EQ(hot(*bare), (std::vector<int32_t>{1, 2, 1, 1, 1, 0})) << "degrees without repeats";
}

TEST_F(Graphs, TuRefused) {
  refuse_tu("_graph_indicator.txt", "", {"holds no nodes"});
  refuse_tu("_graph_indicator.txt", "2\n9000000\n", {"9000000 graphs for 2 nodes"}, Status::kRange);
  refuse_tu("_graph_indicator.txt", "1\n2\n1\n", {"line 3", "stand together"});
  refuse_tu("_graph_indicator.txt", "1\nx\n", {"line 2", "the graph \"x\""});
  refuse_tu("_A.txt", "1, 2\n1, 7\n", {"line 2", "node 7, expected 1 to 6"}, Status::kRange);
  refuse_tu("_A.txt", "0, 2\n", {"line 1", "node 0"}, Status::kRange);
  refuse_tu("_A.txt", "1, 2\n3, 4\n", {"line 2", "node 3 of graph 1 and node 4 of graph 2"},
            Status::kRange);
  refuse_tu("_A.txt", "1 2\n", {"line 1", "expected \"node, node\""});
  refuse_tu("_A.txt", "1, 2, 3\n", {"line 1", "\"1, 2, 3\", expected two nodes"});
  refuse_tu("_A.txt", "1, 2\n", {"S_edge_labels.txt, line 2", "1 rows, the number of edges"});
  refuse_tu("_graph_labels.txt", "1\n0\n", {"2 rows, expected 3", "S_graph_indicator.txt"});
  refuse_tu("_graph_labels.txt", "1\none\n1\n", {"line 2", "the label \"one\", expected a number"});
  refuse_tu("_graph_labels.txt", "1\nnan\n1\n", {"line 2", "the label \"nan\""});
  refuse_tu("_node_labels.txt", "1\n", {"1 rows, expected 6, the number of nodes"});
  refuse_tu("_node_labels.txt", "1\n1\n1\n1\n1\n1.5\n", {"line 6", "the label \"1.5\""});
  refuse_tu("_node_labels.txt", "1, 2\n1\n1\n1\n1\n1\n",
            {"line 2", "1 labels, expected 2, as in the first line"});
  std::string wide = "1";
  for (int k = 0; k < 32; ++k) wide += ", 1";
  refuse_tu("_node_labels.txt", wide + "\n", {"line 1", "33 labels, expected at most 32"});
  refuse_tu("_edge_labels.txt", "1\n", {"1 rows, expected 8, the number of edges"});
  refuse_tu("_edge_attributes.txt", "1\n", {"1 rows, expected 8"});
  refuse_tu("_node_attributes.txt", "1\n2\n3\n4\n5\n6\n7\n", {"7 rows, expected 6"});
}

TEST_F(Graphs, Packed) {
  const DatasetRef dataset = open(packed());
  expect_graphs(*dataset);
  EXPECT_EQ(values<float>(dense(*dataset, "x"))[5], 6);
  const auto& bonds = std::get<base::Tensor>(*dataset->graph->edge_column("edge_attr"));
  const Edges list = edges(*dataset->graph);
  for (size_t e = 0; e < list.size(); ++e)
    EXPECT_EQ(bonds.as<const uint8_t>()[e],
              9 + (list[e].first + list[e].second + 1) / 2 - (list[e].first + list[e].second == 7))
        << list[e].first << " " << list[e].second;
  const Split& split = dataset->split("scaffold", 0);
  EXPECT_EQ(ids(split, SplitPart::kTrain), (Ids{0}));
  EXPECT_EQ(ids(split, SplitPart::kTest), (Ids{2}));
  Arrays bare = packed();
  bare.erase(bare.begin() + 2);
  EXPECT_EQ(hot(*open(bare)), (std::vector<int32_t>{1, 2, 1, 1, 1, 0})) << "degrees";
}

// One column of 0 and 1 is two classes, or one target, or a number.
TEST_F(Graphs, TheTaskCanBeSaid) {
  write_npz(dir_.file("set.npz"), packed());
  OpenOptions options;
  const auto opened = [&](Task task) {
    options.task = task;
    return opener_.open(dir_.file("set.npz"), options);
  };
  EXPECT_EQ(opened(Task::kNone)->task, Task::kMulticlass);
  EXPECT_EQ(opened(Task::kMulticlass)->num_classes, 2);
  for (const Task task : {Task::kBinary, Task::kRegression}) {
    const DatasetRef dataset = opened(task);
    EXPECT_EQ(dataset->task, task);
    EXPECT_EQ(dataset->num_classes, 1);
    EXPECT_EQ(dataset->labels()->shape(), (base::Shape{3, 1}));
    EXPECT_EQ(values<float>(*dataset->labels()), (std::vector<float>{1, 0, 1}));
  }
  Arrays arrays = packed();
  arrays[5].second = npy_of<uint8_t>({1, 2, 1}, "(3,)");
  write_npz(dir_.file("set.npz"), arrays);
  expect_error(Status::kRange, {"array \"labels\"", "row 1: label 2, expected 0, 1 or none"},
               [&] { opened(Task::kBinary); });
  arrays[5].second = npy_of<float>({1, 0.5F, 1}, "(3,)");
  write_npz(dir_.file("set.npz"), arrays);
  expect_error(Status::kInvalidArgument, {"array \"labels\"", "f32 are no classes"},
               [&] { opened(Task::kMulticlass); });
  arrays.erase(arrays.begin() + 5);
  write_npz(dir_.file("set.npz"), arrays);
  expect_error(Status::kInvalidArgument, {"set.npz", "there are no labels"},
               [&] { opened(Task::kBinary); });

  const std::string own = dir_.file("own");
  save_dataset(*open(packed()), own);
  options.task = Task::kMulticlass;
  EXPECT_EQ(opener_.open(own, options)->task, Task::kMulticlass);
  options.task = Task::kBinary;
  expect_error(Status::kInvalidArgument,
               {"metadata.json", "its labels are for task=multiclass, not task=binary"},
               [&] { opener_.open(own, options); });
}

TEST_F(Graphs, PackedEdgeFeaturesAreFinite) {
  Arrays arrays = packed();
  arrays[4].second = npy_of<float>({1, NAN, 2}, "(3, 1)");
  expect_error(Status::kNan, {"set.npz", "edge tensor 'edge_attr', row 1, column 0"},
               [&] { open(arrays); });
  OpenOptions options;
  options.check_finite = false;
  EXPECT_NO_THROW(opener_.open(dir_.file("set.npz"), options));
}

TEST_F(Graphs, PackedRefused) {
  refuse_packed("node_ptr", npy_of<int64_t>({0, 3, 2, 6}, "(4,)"),
                {"row 2", "2 after 3", "expected no less"});
  refuse_packed("node_ptr", npy_of<int64_t>({1, 3, 5, 6}, "(4,)"), {"begins with 1"});
  refuse_packed("node_ptr", npy_of<int64_t>({0, 3, 5, 7}, "(4,)"),
                {"ends with 7, expected 6", "\"node_feat\""});
  refuse_packed("node_ptr", npy_of<int64_t>({0}, "(1,)"), {"expected [graphs + 1]"});
  refuse_packed("edge_ptr", npy_of<int64_t>({0, 2, 1, 3}, "(4,)"), {"row 2", "1 after 2"});
  refuse_packed("edge_ptr", npy_of<int64_t>({0, 2, 3, 4}, "(4,)"), {"ends with 4, expected 3"});
  refuse_packed("edge_ptr", npy_of<int64_t>({0, 2, 3}, "(3,)"), {"3 rows, expected 4"});
  refuse_packed("edges", npy_of<int32_t>({0, 1, 1, 3, 0, 1}, "(3, 2)"),
                {"row 1: node 3, expected 0 to 2 in graph 0"}, Status::kRange);
  refuse_packed("edges", npy_of<int32_t>({0, 1, 1, 2, 0, -1}, "(3, 2)"),
                {"row 2: node -1, expected 0 to 1 in graph 1"}, Status::kRange);
  refuse_packed("edge_feat", npy_of<uint8_t>({1, 2}, "(2, 1)"), {"each of 3 edges"});
  refuse_packed("labels", npy_of<uint8_t>({1, 2}, "(2,)"), {"each of 3 graphs"});
  refuse_packed("split_scaffold", npy_of<uint8_t>({1, 2, 4}, "(3,)"), {"graph 2: found 4"});
  refuse_packed("split_scaffold", npy_of<uint8_t>({1, 2}, "(2,)"),
                {"shape [2], expected [S, 3], [3, S] or [3]"});
  Arrays bare = packed();
  bare.erase(bare.begin() + 2);
  bare[0].second = npy_of<int64_t>({0, 3, 5, int64_t{1} << 30}, "(4,)");
  expect_error(Status::kRange, {"array \"node_ptr\"", "1073741824 nodes without features"},
               [&] { open(bare); });
}

TEST_F(Graphs, GivenFolds) {
  dir_.write("set/gin/S.txt", kGin);
  const std::string path = dir_.file("set");
  EXPECT_TRUE(opener_.open(path)->splits.empty());
  dir_.write("set/gin/fold_of_graph.txt", "1\n0\n1\n");
  dir_.write("set/gin/10fold_idx/train_idx-1.txt", "0\n2\n");
  dir_.write("set/gin/10fold_idx/test_idx-1.txt", "1\n");
  dir_.write("set/splits_fair/S_splits.json",
             R"([{"test": [0], "model_selection": [{"train": [1], "validation": [2]}]}])");
  const DatasetRef dataset = opener_.open(path);
  EXPECT_EQ(dataset->splits.size(), 4u);
  EXPECT_EQ(ids(dataset->split("fold_of_graph", 1), SplitPart::kTrain), (Ids{1}));
  EXPECT_EQ(ids(dataset->split("fold_of_graph", 1), SplitPart::kValidation), (Ids{0, 2}));
  EXPECT_EQ(ids(dataset->split("10fold_idx", 0), SplitPart::kTest), (Ids{1}));
  EXPECT_EQ(ids(dataset->split("splits_fair", 0), SplitPart::kTest), (Ids{0}));
  EXPECT_EQ(ids(dataset->split("splits_fair", 0), SplitPart::kValidation), (Ids{2}));

  const auto refuse = [&](const std::string& file, const std::string& text,
                          const std::vector<std::string>& parts, Status status = Status::kFormat) {
    const std::string before = test::slurp(dir_.file("set/" + file));
    dir_.write("set/" + file, text);
    expect_error(status, parts, [&] { opener_.open(path); });
    dir_.write("set/" + file, before);
  };
  refuse("gin/fold_of_graph.txt", "0\n1\n", {"fold_of_graph.txt", "2 graphs, expected 3"});
  refuse("gin/fold_of_graph.txt", "0\n1\n0\n1\n", {"line 4", "the end after 3 graphs"});
  refuse("gin/fold_of_graph.txt", "0\n1\n100\n", {"line 3", "fold 100"}, Status::kRange);
  refuse("gin/fold_of_graph.txt", "0\nb\n0\n", {"line 2", "found \"b\""});
  refuse("gin/10fold_idx/test_idx-1.txt", "3\n", {"test_idx-1.txt, line 1", "graph 3"},
         Status::kRange);
  refuse("gin/10fold_idx/test_idx-1.txt", "2\n", {"graph 2 is already in train"});
  refuse("gin/10fold_idx/train_idx-1.txt", "0\n0\n0\n0\n", {"line 4", "at most 3 graphs"});
  for (const char* bad :
       {"{}", "[1]", R"([{"test": [0], "model_selection": []}])",
        R"([{"model_selection": [{"train": [1], "validation": [2]}]}])",
        R"([{"test": ["0"], "model_selection": [{"train": [1], "validation": [2]}]}])",
        R"([{"test": [1], "model_selection": [{"train": [1], "validation": [2]}]}])"})
    refuse("splits_fair/S_splits.json", bad, {"S_splits.json"});
}

TEST_F(Graphs, FoldsAreEvenInEveryClass) {
  std::vector<int64_t> labels(103);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = i % 7 == 0 ? 2 : i % 3 == 0 ? -1 : 0;
  graph::GraphParts parts;
  parts.num_nodes = {static_cast<int64_t>(labels.size())};
  const base::Tensor none = base::Tensor::empty(base::DType::kI64, {0});
  parts.topology.push_back(graph::csc_from_coo(none.view(), none.view(), parts.num_nodes[0],
                                               parts.num_nodes[0], opener_.pool()));
  parts.node_columns.push_back({{"y", base::Tensor::copy_of<int64_t>(labels)}});
  const DatasetRef dataset =
      make_dataset(graph::Graph::create(std::move(parts)), "", "y", false, {});
  for (const bool legacy : {false, true}) {
    const auto folds = fold_splits(*dataset, 5, SplitPart::kTest, 3, legacy);
    ASSERT_EQ(folds.size(), 5u);
    std::vector<int> held(labels.size());
    for (int32_t k = 0; k < 5; ++k) {
      EXPECT_EQ(folds[k].index, k);
      int64_t twos = 0, zeros = 0;
      for (const int64_t id : folds[k].part(SplitPart::kTest)) {
        ++held[id];
        ++(labels[id] == 2 ? twos : zeros);
      }
      EXPECT_TRUE(twos == 3) << twos;
      EXPECT_TRUE(zeros == 11 || zeros == 12) << zeros;
      EXPECT_TRUE(folds[k].part(SplitPart::kValidation).empty());
    }
    for (size_t i = 0; i < labels.size(); ++i) EXPECT_EQ(held[i], labels[i] >= 0) << i;
    EXPECT_EQ(ids(fold_splits(*dataset, 5, SplitPart::kTest, 3, legacy)[2], SplitPart::kTest),
              ids(folds[2], SplitPart::kTest));
    EXPECT_NE(ids(fold_splits(*dataset, 5, SplitPart::kTest, 4, legacy)[2], SplitPart::kTest),
              ids(folds[2], SplitPart::kTest));
  }
  for (const int32_t bad : {-1, 0, 1, 101})
    expect_error(Status::kInvalidArgument, {base::text(bad, " folds")},
                 [&] { fold_splits(*dataset, bad, SplitPart::kTest, 0, false); });
  expect_error(Status::kInvalidArgument, {"held_out is the training part"},
               [&] { fold_splits(*dataset, 5, SplitPart::kTrain, 0, false); });
}

TEST_F(Graphs, SavedAndOpenedAgain) {
  Dataset dataset = *open(packed());
  dataset.splits.push_back(random_split(dataset, 0.4, 0.4, 1, false));
  save_dataset(dataset, dir_.file("saved"));
  const DatasetRef again = opener_.open(dir_.file("saved"));
  expect_graphs(*again);
  EXPECT_EQ(values<float>(dense(*again, "x")), values<float>(dense(dataset, "x")));
  EXPECT_EQ(again->label, "y");
  ASSERT_EQ(again->splits.size(), 2u);
  EXPECT_EQ(ids(again->split("random", 0), SplitPart::kTrain).size(), 1u);
  EXPECT_NE(test::slurp(dir_.file("saved/metadata.json")).find("\"version\": 2"),
            std::string::npos);

  const auto refuse = [&](const std::string& from, const std::string& to,
                          const std::vector<std::string>& parts) {
    const std::string before = test::slurp(dir_.file("saved/metadata.json"));
    std::string text = before;
    ASSERT_NE(text.find(from), std::string::npos) << from;
    dir_.write("saved/metadata.json", text.replace(text.find(from), from.size(), to));
    expect_error(Status::kFormat, parts, [&] { opener_.open(dir_.file("saved")); });
    dir_.write("saved/metadata.json", before);
  };
  refuse("\"version\": 2", "\"version\": 1", {"graphs are known from version 2 on"});
  refuse("\"label\": \"y\"", "\"label\": \"\"", {"label", "expected a name with graph_labels"});
  dir_.write("saved/graph_ptr.npy", npy_of<int64_t>({0, 3, 2, 6}, "(4,)"));
  expect_error(Status::kFormat, {"graph_ptr.npy", "graph_ptr[2] is 2, expected 3 or more"},
               [&] { opener_.open(dir_.file("saved")); });
  dir_.write("saved/graph_ptr.npy", npy_of<int64_t>({0, 2, 5, 6}, "(4,)"));
  expect_error(Status::kRange, {"comes into graph 0 from node 2, expected 0 to 1"},
               [&] { opener_.open(dir_.file("saved")); });
}

TEST_F(Graphs, AroundAGraphOfOnesOwn) {
  const graph::GraphRef graph = open(packed())->graph;
  const auto ptr = [](const Ids& starts) { return base::Tensor::copy_of<int64_t>(starts); };
  const DatasetRef dataset = make_dataset_of_graphs(graph, ptr({0, 5, 6}), "x", "solubility",
                                                    tensor<float>({0.5f, 2}, {2, 1}), false, {});
  EXPECT_EQ(dataset->task, Task::kRegression);
  EXPECT_EQ(dataset->num_samples(), 2);
  EXPECT_EQ(dataset->label, "solubility");
  const auto refuse = [&](const Ids& starts, const std::string& part,
                          Status status = Status::kInvalidArgument) {
    expect_error(status, {part},
                 [&] { make_dataset_of_graphs(graph, ptr(starts), "x", "", {}, false, {}); });
  };
  refuse({0}, "at least one graph");
  refuse({1, 6}, "graph_ptr[0] is 1");
  refuse({0, 3, 2, 6}, "graph_ptr[2] is 2");
  refuse({0, 3, 5}, "graph_ptr[2] is 5, expected 6, the number of nodes");
  refuse({0, 4, 6}, "comes into graph 0 from node 4", Status::kRange);
  expect_error(Status::kInvalidArgument, {"labels \"y\"", "each of 3 graphs"}, [&] {
    make_dataset_of_graphs(graph, ptr({0, 3, 5, 6}), "x", "y",
                           base::Tensor::copy_of<int64_t>(Ids{0, 1}), false, {});
  });
  expect_error(Status::kInvalidArgument, {"a tensor and its name, or neither"},
               [&] { make_dataset_of_graphs(graph, ptr({0, 3, 5, 6}), "x", "y", {}, false, {}); });
}

}  // namespace
}  // namespace gnnmg::data
