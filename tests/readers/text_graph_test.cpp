// Graphs in text that are no lists of edges: Matrix Market, METIS, lines of counts, and files of
// other kinds, which are named.
#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using TextEdges = std::vector<std::pair<int64_t, int64_t>>;

class TextGraph : public testing::Test {
 protected:
  DatasetRef open(const std::string& text, const std::string& name = "graph.txt",
                  const std::string& format = "") {
    OpenOptions options;
    options.format = format;
    return opener_.open(dir_.write(name, text), options);
  }
  void refused(const std::string& text, const std::vector<std::string>& parts,
               Status status = Status::kFormat, const std::string& name = "graph.txt",
               const std::string& format = "") {
    expect_error(status, parts, [&] { open(text, name, format); });
  }
  static TextEdges pairs(const DatasetRef& dataset) { return edges(*dataset->graph); }
  static std::vector<float> weights(const DatasetRef& dataset) {
    const graph::Column* column = dataset->graph->edge_column("weight");
    return column ? values<float>(std::get<base::Tensor>(*column)) : std::vector<float>();
  }
  test::TempDir dir_;
  Opener opener_;
};

constexpr const char* kSymmetric =
    "%%MatrixMarket matrix coordinate real symmetric\n% by hand\n5 5 6\n1 1 2.5\n2 1 1\n3 2 1\n"
    "4 3 1\n5 4 1\n5 1 3\n";

TEST_F(TextGraph, MatrixMarket) {
  for (const std::string& text : {std::string(kSymmetric), gzip(kSymmetric)}) {
    const DatasetRef dataset = open(text);
    EXPECT_EQ(dataset->graph->num_nodes(), 5);
    EXPECT_EQ(pairs(dataset), (TextEdges{{0, 0},
                                         {1, 0},
                                         {0, 1},
                                         {2, 1},
                                         {1, 2},
                                         {3, 2},
                                         {2, 3},
                                         {4, 3},
                                         {3, 4},
                                         {4, 0},
                                         {0, 4}}));
    EXPECT_EQ(weights(dataset), (std::vector<float>{2.5f, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3}));
  }
  const DatasetRef pattern =
      open("%%matrixmarket MATRIX Coordinate pattern general\r\n\r\n3 3 2\r\n1 2\r\n3 1\r\n");
  EXPECT_EQ(pairs(pattern), (TextEdges{{0, 1}, {2, 0}}));
  EXPECT_EQ(pattern->graph->edge_column("weight"), nullptr);
  const DatasetRef skew =
      open("%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 1 -2\n");
  EXPECT_EQ(pairs(skew), (TextEdges{{1, 0}, {0, 1}, {2, 0}, {0, 2}}));
  EXPECT_EQ(weights(skew), (std::vector<float>{5, -5, -2, 2}));
  EXPECT_EQ(open("%%MatrixMarket matrix coordinate pattern general\n4 4 0\n")->graph->num_edges(),
            0);
}

// Numbers that change, and edges that may count twice, are told.
TEST_F(TextGraph, MatrixMarketDoubts) {
  const std::string coordinate = "%%MatrixMarket matrix coordinate ";
  const auto warns = [&](const std::string& text, const std::string& part) {
    opener_.log();
    open(text);
    return opener_.log().find(part) != std::string::npos;
  };
  const std::string rounded = "line 4 are rounded to 32-bit floats";
  EXPECT_TRUE(warns(coordinate + "integer general\n2 2 2\n1 2 5\n2 1 16777217\n", rounded));
  EXPECT_FALSE(warns(coordinate + "integer general\n2 2 2\n1 2 5\n2 1 16777218\n", "rounded"));
  EXPECT_FALSE(warns(coordinate + "real general\n2 2 1\n1 2 0.1\n", "rounded"));
  EXPECT_TRUE(warns("2 1 1\n2 16777217\n1 16777217\n", "line 2 are rounded to 32-bit floats"));
  EXPECT_FALSE(warns("2 1 1\n2 16777216\n1 16777216\n", "rounded"));
  const std::string both = "on both sides of the diagonal";
  EXPECT_TRUE(warns(coordinate + "pattern symmetric\n2 2 2\n1 2\n2 1\n", both));
  EXPECT_FALSE(warns(coordinate + "pattern symmetric\n3 3 2\n1 2\n2 3\n", both));
  EXPECT_FALSE(warns(coordinate + "pattern general\n2 2 2\n1 2\n2 1\n", both));
}

TEST_F(TextGraph, MatrixMarketRefused) {
  const std::string coordinate = "%%MatrixMarket matrix coordinate ";
  refused("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", {"\"array\""},
          Status::kUnsupported);
  refused("%%MatrixMarket vector coordinate real general\n", {"\"vector\""}, Status::kUnsupported);
  refused(coordinate + "complex general\n1 1 0\n", {"\"complex\""}, Status::kUnsupported);
  refused(coordinate + "real hermitian\n1 1 0\n", {"\"hermitian\""}, Status::kUnsupported);
  refused(coordinate + "pattern skew-symmetric\n1 1 0\n", {"skew"}, Status::kUnsupported);
  refused(coordinate + "\n1 1 0\n", {"expected real, integer or pattern"}, Status::kUnsupported);
  refused(coordinate + "pattern general\n3 2 1\n1 2\n", {"line 2", "3 rows and 2 columns"});
  refused(coordinate + "pattern general\n3 3\n", {"line 2", "2 numbers, expected rows"});
  refused(coordinate + "pattern general\n3 3 2\n1 2\n", {"ends after 1 entries, expected 2"});
  refused(coordinate + "pattern general\n3 3 1\n1 2\n2 3\n", {"line 4", "the end after 1 entries"});
  refused(coordinate + "pattern general\n3 3 1\n1 2 3\n", {"line 3", "3 numbers, expected 2"});
  refused(coordinate + "real general\n3 3 1\n1 2\n", {"line 3", "2 numbers, expected 3"});
  refused(coordinate + "real general\n3 3 1\n1 2 x\n", {"line 3", "value \"x\""});
  refused(coordinate + "real general\n3 3 1\n1 2 1e300\n", {"line 3", "beyond the range"});
  refused(coordinate + "real general\n3 3 1\n0 2 1\n", {"line 3", "row 0, expected 1 to 3"},
          Status::kRange);
  refused(coordinate + "real general\n3 3 1\n1 4 1\n", {"line 3", "column 4"}, Status::kRange);
  refused(coordinate + "real skew-symmetric\n3 3 1\n2 2 1\n", {"line 3", "diagonal"});
  refused(coordinate + "pattern general\n", {"ends before the line of sizes"});
  refused(coordinate + "pattern general\n999999999 999999999 0\n", {"999999999 nodes"},
          Status::kRange);
  refused(kSymmetric, {"is a Matrix Market file; its format is matrix_market"}, Status::kFormat,
          "graph.txt", "edges");
}

TEST_F(TextGraph, Metis) {
  const DatasetRef ring = open("6 6\n2 6\n1 3\n2 4\n3 5\n4 6\n5 1\n");
  EXPECT_EQ(ring->graph->num_nodes(), 6);
  EXPECT_EQ(ring->graph->num_edges(), 12);
  EXPECT_NE(opener_.log().find("METIS"), std::string::npos);
  for (const std::string& text : {std::string("% alone\n4 3\n2 3\n1 3\n1 2\n\n"),
                                  gzip("4 3 0\r\n2 3\r\n1 3\r\n% third\r\n1 2\r\n\r\n\r\n")}) {
    const DatasetRef isolated = open(text, "a.graph");
    EXPECT_EQ(isolated->graph->num_nodes(), 4);
    EXPECT_EQ(pairs(isolated), (TextEdges{{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}}));
  }
  const DatasetRef weighted = open("3 2 111 2\n9 5 50 2 7\n8 6 60 1 7 3 8\n7 4 40 2 8\n");
  EXPECT_EQ(pairs(weighted), (TextEdges{{0, 1}, {1, 0}, {1, 2}, {2, 1}}));
  EXPECT_EQ(weights(weighted), (std::vector<float>{7, 7, 8, 8}));
  EXPECT_EQ(values<int64_t>(dense(*weighted, "vertex_size")), (std::vector<int64_t>{9, 8, 7}));
  EXPECT_EQ(values<int64_t>(dense(*weighted, "vertex_weight")),
            (std::vector<int64_t>{5, 50, 6, 60, 4, 40}));
  EXPECT_EQ(open("2 0\n\n\n", "a.graph", "metis")->graph->num_nodes(), 2);
  EXPECT_EQ(open("3 0\n\n\n\n")->graph->num_edges(), 0) << "a blank line for each node";
  EXPECT_EQ(open("2 2\n1 2\n1\n", "a.graph", "metis")->graph->num_edges(), 3) << "a loop";
}

TEST_F(TextGraph, MetisRefused) {
  const auto no = [&](const std::string& text, const std::vector<std::string>& parts,
                      Status status = Status::kFormat) {
    refused(text, parts, status, "a.graph", "metis");
  };
  no("", {"ends before the line"});
  no("3\n", {"line 1", "the numbers of nodes and edges"});
  no("3 2 2\n", {"line 1", "a format of up to three digits 0 and 1"});
  no("3 2\n2\n1 3\n1\n", {"node 2 lists 3, but 3 does not list 2"});
  no("3 2 1\n2 5\n1 5 3 4\n2 9\n", {"with the same weight"});
  no("3 5\n2\n1 3\n2\n", {"4 neighbors, expected 10"});
  no("3 1\n2 3\n1\n1\n", {"neighbors, expected 2"});
  no("2 1\n3\n1\n", {"line 2", "the neighbor 3, expected 1 to 2"}, Status::kRange);
  no("2 1\n0\n1\n", {"line 2", "the neighbor \"0\""});
  no("2 1\n2\n1\n2\n", {"line 4", "the end after 2 nodes"});
  no("2 1 1\n2\n1 1\n", {"line 2", "the weight of an edge"});
  no("2 1 11\n1 2 4\n", {"neighbors, expected 2"});
  no("999999999 1\n2\n1\n", {"999999999 nodes"}, Status::kRange);
  refused("3 2\n2\n1 3\n1\n", {"1 columns, expected 2", "as a METIS graph", "3 does not list 2"},
          Status::kFormat, "a.graph");
}

// A first line that counts both directions; obeyed, the error's remedies open the graph.
TEST_F(TextGraph, MetisCountedTwice) {
  const std::vector<std::string> hints{"line counts 8 edges", "write 4 in place of 8",
                                       "format=edges takes the lines for edges"};
  for (const char* text : {"4 8\n2 4\n1 3\n2 4\n3 1\n",
                           "% c\n4 8 1\n2 5 4 5\n1 5 3 6\n2 6 4 7\n"
                           "3 7 1 5\n"})
    refused(text, hints, Status::kMismatch, "a.graph");
  refused("4 8\n2 4\n1 3\n2 4\n3 1\n", hints, Status::kMismatch, "a.txt", "metis");
  refused("3 6\n2 3\n3\n1\n", {"as a METIS graph"}, Status::kFormat, "a.graph");
  const DatasetRef graph = open("4 4\n2 4\n1 3\n2 4\n3 1\n");
  EXPECT_EQ(graph->graph->num_edges(), 8);
}

TEST_F(TextGraph, CountsInTheFirstLine) {
  const TextEdges expected{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 0}};
  for (const char* text :
       {"5 6\n0 1\n0 2\n1 3\n2 3\n3 4\n4 0\n", "5,6\n0,1\n0,2\n1,3\n2,3\n3,4\n4,0\n",
        "5 6\n1 2\n1 3\n2 4\n3 4\n4 5\n5 1\n"}) {
    const DatasetRef dataset = open(text);
    EXPECT_EQ(dataset->graph->num_nodes(), 5) << text;
    EXPECT_EQ(pairs(dataset), expected) << text;
    EXPECT_NE(opener_.log().find("is taken for the numbers of nodes and edges"), std::string::npos);
  }
  const DatasetRef weighted = open("4 2\n0 1 0.5\n1 2 0.25\n");
  EXPECT_EQ(weighted->graph->num_nodes(), 4);
  EXPECT_EQ(weights(weighted), (std::vector<float>{0.5f, 0.25f}));
  EXPECT_EQ(pairs(open("3 3 2\n1 2 0.5\n2 3 0.25\n")), (TextEdges{{0, 1}, {1, 2}}));
  EXPECT_EQ(pairs(open("4 4 2\n1 2 3.5\n2 3 4\n")), (TextEdges{{0, 1}, {1, 2}}))
      << "of ids from 1, as in Matrix Market";
  EXPECT_EQ(open("3 2\n0 1\n1 0\n1 2\n2 1\n")->graph->num_edges(), 4) << "each edge both ways";
  // No counts: other numbers of lines, or ids beyond.
  EXPECT_EQ(open("5 7\n0 1\n0 2\n1 3\n2 3\n3 4\n4 0\n")->graph->num_edges(), 7);
  EXPECT_EQ(open("5 2\n0 1\n0 6\n")->graph->num_edges(), 3);
  refused("5 0\n", {"the only line", "format=metis"});
  OpenOptions options;
  options.header = 0;
  EXPECT_EQ(opener_.open(dir_.write("e.txt", "3 2\n0 1\n1 2\n"), options)->graph->num_edges(), 3);
  options = {};
  options.relabel = true;
  const DatasetRef named = opener_.open(dir_.write("e.txt", "3 2\n1 2\n2 3\n"), options);
  EXPECT_EQ(values<int64_t>(dense(*named, "original_id")), (std::vector<int64_t>{1, 2, 3}));
}

TEST_F(TextGraph, MatricesAreNoEdges) {
  refused("0,1,0,0,1\n1,0,1,0,0\n0,1,0,1,0\n0,0,1,0,1\n1,0,0,1,0\n", {"an adjacency matrix"},
          Status::kUnsupported);
  refused("0 1 1\n1 0 1\n1 1 0\n", {"an adjacency matrix"}, Status::kUnsupported);
  // Three or four columns, weights that are equal both ways, and 0 at the diagonal.
  for (const char* text : {"0,2,3\n2,0,4\n3,4,0\n", "0 2.5 0\n2.5 0 1e-3\n0 0.001 0\n",
                           "0,2,3,1\n2,0,4,2\n3,4,0,1\n1,2,1,0\n"})
    refused(text, {"an adjacency matrix", "header_lines of a list of edges"}, Status::kUnsupported);
  refused(",0,1,2\n0,0,1,0\n1,1,0,1\n2,0,1,0\n", {"an adjacency matrix"}, Status::kUnsupported);
  for (const char* corner : {"", "name", "id"})
    refused(base::text(corner, ",a,b\na,0,1\nb,1,0\n"), {"as in an adjacency matrix"},
            Status::kUnsupported);
  refused(",0,1,2,3,4\n0,0,1,2,3,4\n1,1,2,3,4,0\n", {"an array [2, E]"}, Status::kUnsupported);
  refused("0,1,2,3,4\n0,1,2,3,4\n1,2,3,4,0\n", {"an array [2, E]"}, Status::kUnsupported);
  const auto doubts = [&](const std::string& text, const std::string& part) {
    opener_.log();
    EXPECT_GE(open(text)->graph->num_edges(), 2) << text;
    return opener_.log().find(part) != std::string::npos;
  };
  for (const char* text : {"0,2,3\n2,0,4\n3,5,0\n", "0 3 1 2\n4 0 1 1\n2 2 0 3\n1 1 1 0\n"})
    EXPECT_TRUE(doubts(text, "0 on the diagonal, as an adjacency matrix")) << text;
  for (const char* text :
       {"0,2,3\n2,0,4\n3,4,1\n", "0,2,3\n2,0,4\n", "0,2,3\n2,0,4\n3,4,0\n4,1,0\n"})
    EXPECT_FALSE(doubts(text, "an adjacency matrix")) << text;
  // Two lines may be sources and targets if their numbers are the ids of all nodes.
  for (const char* text : {"0,1,2\n1,2,0\n", "0 1 2 3\n1 2 3 0\n", "1 2 3\n2 3 1\n"})
    EXPECT_TRUE(doubts(text, "as an array [2, E]")) << text;
  for (const char* text : {"0 1 0.5\n1 2 0.25\n", "0 1 5\n1 2 7\n", "4 2 9\n2 3 1\n"})
    EXPECT_FALSE(doubts(text, "as an array [2, E]")) << text;
  OpenOptions no_header;
  no_header.header = 0;
  const std::string small = dir_.write("e.txt", "0,2,3\n2,0,4\n3,4,0\n");
  EXPECT_EQ(opener_.open(small, no_header)->graph->num_edges(), 3);
  refused("0 1 2 3 4\n1 2 3 4 0\n", {"an array [2, E]"}, Status::kUnsupported);
  refused("0 1 2 3\n1 2\n2 3\n3\n", {"line 2", "2 columns, expected 4", "adjacency list"});
  EXPECT_EQ(open("0 1 5\n2 1 6\n0 1 7\n")->graph->num_edges(), 3);
}

TEST_F(TextGraph, OtherKindsAreNamed) {
  using namespace std::string_literals;
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"BZh91AY&SY\xff\xa0\x41\0\0"s, "bzip2"},
      {"\xfd"s + "7zXZ\0\0\x04"s, "xz"},
      {"\x28\xb5\x2f\xfd\x04\x58"s, "Zstandard"},
      {"\x04\x22\x4d\x18\x64"s, "LZ4"},
      {"7z\xbc\xaf\x27\x1c\0"s, "7-Zip"},
      {"\xff\xfe"s + "0\0 \0"s, "UTF-16"},
      {"\xfe\xff\0"s + "0\0 "s, "UTF-16"},
      {"0\0 \0001\0\n\0"s, "UTF-16"},
      {"\x89HDF\r\n\x1a\n"s, "HDF5"},
      {"PAR1\x15\0"s, "Parquet"},
      {"HDF5-based Julia Data Format, version 0.1.0\0\0"s, "JLD2"},
      {"\1\2\3\4\5\6\7\10DUCK\0\0"s, "DuckDB"},
      {"\xff\x06\0\0sNaPpY\0"s, "Snappy"},
      {"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"s, "PNG"},
      {"\xff\xd8\xff\xe0\0\x10JFIF"s, "JPEG"},
      {"GIF89a\0\1"s, "GIF"},
      {"  (0, 1)\t0.5\n  (1, 2)\t1.0\n", "a sparse matrix as print() shows it"},
      {"<COOrdinate sparse matrix of dtype 'float64'\n  Coords\tValues\n", "scipy.io.mmwrite"},
      {"<Compressed Sparse Row sparse matrix of dtype 'int64'\n", "scipy.io.mmwrite"},
      {"1 1:0.5 3:2\n-1 2:1\n", "SVMlight"},
      {"\x80\x04\x95\0\0"s, "pickle"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 5\n", "git lfs pull"},
      {"/annex/objects/SHA256E-s1--x\n", "git annex get"},
      {"../.git/annex/objects/a/b/SHA256E-s1--x\n", "git annex get"},
      {"outs:\n- md5: 3f\n  path: edges.csv\n", "dvc pull"},
      {"\x5d\0\0\x80\0\xff"s, "LZMA"},
      {"\x78\x9c\x01\x02\x01"s, "zlib"},
      {"\x3f\xa1\xb4\x46\xf0\x4f\x2e\xdd\1\0"s, "DGL"},
      {"(dp0\nS'a'\np1\nI1\ns.", "pickle"},
      {"ccopy_reg\n_reconstructor\np0\n(", "pickle"},
      {"}q\0X\1\0\0\0aK\1s."s, "pickle"},
      {"LEDA.GRAPH\nstring\nint\n-1\n2\n", "LEDA"},
      {"*Node data\nID\n1\n*Tie data\nfrom to\n1 2\n", "VNA"},
      {"<!DOCTYPE html>\n<html>404</html>\n", "HTML"},
      {"<?xml version=\"1.0\"?>\n<graphml></graphml>\n", "GraphML"},
      {"<?xml version=\"1.0\"?>\n<gexf></gexf>\n", "GEXF"},
      {"Creator \"x\"\ngraph\n[\n  node [ id 0 ]\n]\n", "GML"},
      {"graph [\n directed 0\n]\n", "GML"},
      {"digraph g {\n a -> b;\n}\n", "Graphviz"},
      {"% x\n*Vertices 3\n1 \"a\"\n*Edges\n1 2\n", "Pajek"},
      {"c hi\np sp 3 2\na 1 2 3\n", "DIMACS"},
      {"p ds 4 2\n1 2\n3 4\n", "DIMACS"},
      {"c a formula\np cnf 3 1\n1 -3 0\n", "DIMACS"},
      {"p aux sp co 2\nv 1 -73 41\nv 2 -74 42\n", "DIMACS"},
      {"#a.py\n# GMT Tue Jan  1\n# \n0 1 2\n", "adjacency list of NetworkX"},
      {"{\"nodes\": []}\n", "JSON"},
      {"dl n=3 format=fullmatrix\n", "UCINET"},
      {"DL n = 4 format = edgelist1\ndata:\n1 2\n", "UCINET"},
      {"(tlp \"2.0\"\n(nodes 0 1)\n(edge 0 0 1)\n)\n", "Tulip"},
      {"/* by hand */\ndigraph g {\n a -> b;\n}\n", "Graphviz"},
      {"format-version: 1.2\n[Term]\nid: GO:1\n", "OBO"},
      {"[edges]\n0 1\n1 2\n", "a file of settings"},
      {"AdjacencyGraph\n2\n2\n0\n1\n1\n0\n", "PBBS"},
      {"WeightedAdjacencyGraph\n1\n1\n0\n0\n7\n", "Ligra"},
      {"| source | target |\n|--------|:------:|\n| 0 | 1 |\n", "a table drawn with lines"},
      {" source | target \n--------+--------\n      0 |      1\n", "a table drawn with lines"},
      {"+---+---+\n| a | b |\n+---+---+\n| 0 | 1 |\n+---+---+\n", "a table drawn with lines"},
      {"FEA1\0\0\0\0"s, "a Feather file"},
      {"<stata_dta><header>\0"s, "Stata"},
      {"$FL2@(#) SPSS\0"s, "SPSS"},
      {"\xe2\x9b\xbe gt\x01\0"s, "graph-tool"},
      {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0"s, "Excel"},
      {"ORC\x11\0"s, "an ORC file"},
      {"Obj\x01\x04\x16"s, "an Avro file"},
      {"RDX3\nX\n\0\0\0\3"s, "a data file of R"},
      {"X\n\0\0\0\3"s, "an object of R"},
      {"nodedef>name VARCHAR\ns1\nedgedef>node1,node2\ns1,s1\n", "a GDF file"},
      {"@RELATION edges\n@ATTRIBUTE a NUMERIC\n@DATA\n0,1\n", "an ARFF file"},
      {"404: Not Found", "fetch the file itself"},
      {"Not Found\n", "what a server answers"},
      {"Access denied\n", "what a server answers"},
      {"Found. Redirecting to https://x\n", "what a server answers"},
      {"<Error><Code>AccessDenied</Code></Error>", "what a server answers"},
      {"429 Too Many Requests\n", "what a server answers"},
      {"<head><title>Sign in</title>\n", "an HTML page"},
      {"<!-- saved -->\n<HTML>\n", "an HTML page"},
      {"/* of two\n lines */ graph {\n a -- b;\n}\n", "Graphviz"},
      {"# Created by Octave 8.4\n# name: A\n# type: matrix\n# rows: 2\n 0 1\n 1 0\n", "Octave"},
      {"tensor([[0, 1],\n        [1, 2]])\n", "a printed array"},
      {"{\\rtf1\\ansi 0 1\\par}\n", "a document (RTF)"},
      {"\xff\xff\xff\xff\x18\x01\0\0"s, "a stream of Arrow"},
      {"INSERT INTO edges VALUES (0, 1);\n", "a script of SQL"},
      {"%!PS-Adobe-3.0\n0 0 moveto\n1 2 lineto\n", "PostScript"},
      {"A mesh                             KEY\n             3             1             1\n"
       "RSA                        3             3             4             0\n"
       "(16I5)          (16I5)          (5E16.8)\n    1    3\n",
       "a Harwell-Boeing matrix, which is not read; write it in Matrix Market's form"},
      {"title\n 3 1 1 1\npua 3 3 4 0\n(26i3) (26i3)\n 1 3\n", "Harwell-Boeing"},
      {"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "fetch the file itself"},
      {"<http://a> <http://b> <http://c> .\n", "RDF"},
      {">>graph6<<DQc\n", "graph6"},
      {"DQc\nDqK\nCF\n", "a graph6 file"},
      {":Fa@x^\n:An\n", "a sparse6 file"},
      {"&B\\o\n", "a digraph6 file"},
      {"edges:\n- [0, 1]\n- [1, 2]\n", "a YAML file"},
      {"# of mine\n---\nnodes: 3\n", "a YAML file"},
      {"- source: 0\n  target: 1\n", "a YAML file"},
      {"# 0\n1 5\n2 3\n# 1\n2 7\n", "an LGL file"},
      {"# A\nB 1.5\nC\n# B\nC 7\n", "an LGL file"},
      {"# of a box\n4 2 1 0\n 1 0 0 0\n 2 1 0 0\n 3 0 1 0\n 4 1 1 0\n",
       "a mesh of Triangle or TetGen"},
      {"900 2 0 1\n1 0.5 1.25 0\n2 1 0 1\n3 0 1 1\n", "a mesh of Triangle or TetGen"},
      {"2 3 0\n1 1 2 3\n2 2 3 4\n", "a mesh of Triangle or TetGen"},
      {"d41d8cd98f00b204e9800998ecf8427e  edges.csv\n", "a list of checksums"},
      {"DA39A3EE5E6B4B0D3255BFEF95601890AFD80709 *a.npy\n", "a list of checksums"},
      {"ply\nformat ascii 1.0\nelement vertex 3\n", "a PLY file"},
      {"HEADER    HYDROLASE               01-JAN-90   1ABC\nTITLE     X\n", "a PDB file"},
      {"ATOM      1  N   MET A   1      27.340  24.430   2.614  1.00  9.67\n", "a PDB file"},
      {"(a:0.1,(b:0.2,c:0.3):0.4);\n", "a tree in Newick's format"}};
  for (const auto& [text, kind] : kinds)
    for (const char* name : {"graph.txt", "graph.csv", "graph"}) {
      refused(text, {kind}, Status::kFormat, name);
      refused(gzip(text), {kind}, Status::kFormat, name);
    }
  refused(gzip(gzip("0 1\n1 2\n")), {"gzip more than once"});
  refused(gzip("PK\x03\x04\x14\0"s), {"a zip archive that gzip has compressed"});
  std::string tar(512, '\0');
  tar.replace(0, 5, "a.csv");
  tar.replace(257, 5, "ustar");
  refused(gzip(tar), {"a tar archive"}, Status::kFormat, "a.tar.gz");
  write_npz(dir_.file("adj.npz"), {{"indices", npy_of<int32_t>({0}, "(1,)")}});
  expect_error(Status::kFormat, {"an .npz of the arrays indices"},
               [&] { opener_.open(dir_.file("adj.npz")); });
}

// Lists of edges whose first lines are those of other kinds.
TEST_F(TextGraph, EdgesThatLookLikeOtherKinds) {
  for (const char* text :
       {"# 1\n0 1\n1 2\n", "# train\n0 1\n# test\n1 2\n", "# 5 edges\n0 1\n# more\n1 2\n",
        "4 2 1 0\n1 0 0 0\n", "5 2 0 1\n1 3 0 1\n3 4 0 1\n", "3 3 1\n1 2 1\n2 3 1\n"})
    EXPECT_NO_THROW(open(text)) << text;
}

// Words that begin as other kinds do are still names of nodes.
TEST_F(TextGraph, NamesThatLookLikeOtherKinds) {
  OpenOptions options;
  options.relabel = true;
  for (const char* text :
       {"BZh PAR1\nPAR1 LZIP\n", "D|b\nD|c\n", "a: b\nb: c\n", "graph node\nnode edge\n",
        "p edge 5\np q 6\n", "c d\nd e\n", "dl x\nx y\n", "strict graph\ngraph x\n", "a|b\n--|b\n",
        "-- ++\n++ --\n",
        "d41d8cd98f00b204e9800998ecf8427e  d41d8cd98f00b204e9800998ecf8427f\na b\n",
        "ply file\nheader ply\n", "atom molecule\natom ion\n"})
    EXPECT_EQ(opener_.open(dir_.write("names.txt", text), options)->graph->num_edges(), 2) << text;
}

}  // namespace
}  // namespace gnnmg::data
