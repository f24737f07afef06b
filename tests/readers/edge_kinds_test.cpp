// Texts that were once read as other edges than those they have, or lost numbers: each with the
// right value, or the error that names a remedy.
#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using EdgePairs = std::vector<std::pair<int64_t, int64_t>>;

class EdgeKinds : public testing::Test {
 protected:
  DatasetRef open(const std::string& text, const OpenOptions& options = {},
                  const std::string& name = "list.csv") {
    opener_.log();
    return opener_.open(dir_.write(name, text), options);
  }
  static OpenOptions relabel() {
    OpenOptions options;
    options.relabel = true;
    return options;
  }
  static OpenOptions of_format(const char* format) {
    OpenOptions options;
    options.format = format;
    return options;
  }
  void refused(const std::string& text, const std::vector<std::string>& parts,
               const OpenOptions& options = {}, Status status = Status::kFormat) {
    expect_error(status, parts, [&] { open(text, options); });
  }
  static EdgePairs pairs(const DatasetRef& dataset) { return edges(*dataset->graph); }
  template <typename T = float>
  static std::vector<T> edge_values(const DatasetRef& dataset, const std::string& name = "weight") {
    const graph::Column* column = dataset->graph->edge_column(name);
    return column ? values<T>(std::get<base::Tensor>(*column)) : std::vector<T>();
  }
  void expect_log(const std::string& part) {
    const std::string log = opener_.log();
    EXPECT_NE(log.find(part), std::string::npos) << "\"" << part << "\" is not in: " << log;
  }
  test::TempDir dir_;
  Opener opener_;
};

// A comma between digits separates no columns if another separator leaves it in a number.
TEST_F(EdgeKinds, NamesBesideDecimalCommas) {
  for (const char* text :
       {"a;b;1,5\nb;c;-2,25\n", "a b 1,5\nb c -2,25\n", "a|b|1,5\nb|c|-2,25\n",
        "a\tb\t1,5\nb\tc\t-2,25\n", "\"a\";\"b\";\"1,5\"\n\"b\";\"c\";\"-2,25\"\n",
        "\xef\xbb\xbfsource;target;weight\r\na;b;1,5\r\nb;c;-2,25\r\n",
        "\"\";\"from\";\"to\";\"weight\"\n\"1\";\"a\";\"b\";1,5\n\"2\";\"b\";\"c\";-2,25\n",
        "sep=;\na;b;1,5\nb;c;-2,25\n"}) {
    const DatasetRef dataset = open(text, relabel());
    EXPECT_EQ(pairs(dataset), (EdgePairs{{0, 1}, {1, 2}})) << text;
    EXPECT_EQ(edge_values(dataset), (std::vector<float>{1.5f, -2.25f})) << text;
    expect_log("with decimal commas");
  }
  const DatasetRef later = open("a;b;2\nb;c;2,5\n", relabel());
  EXPECT_EQ(edge_values(later), (std::vector<float>{2, 2.5f}));
  // Commas in names separate as before.
  EXPECT_EQ(open("x;y,z;1\nz;1,x;y\n", relabel())->graph->num_nodes(), 2);
  open("a;b;1.234,5\n", relabel());
  expect_log("columns left out: 2 (no number in it: \"1.234,5\"");
}

TEST_F(EdgeKinds, MetisWithoutEdges) {
  const std::vector<std::string> both{"is an edge, or a METIS graph without edges", "format=edges",
                                      "format=metis"};
  for (const char* text : {"0 0\n", "1 0\n", "% a comment\n3 0\n"}) {
    refused(text, both);
    EXPECT_EQ(open(text, of_format("edges"))->graph->num_edges(), 1) << text;
    EXPECT_EQ(open(text, of_format("metis"))->graph->num_edges(), 0) << text;
    EXPECT_EQ(open(text, {}, "none.graph")->graph->num_edges(), 0) << text;
  }
  EXPECT_EQ(open("3 0\n\n\n\n")->graph->num_nodes(), 3);
  EXPECT_EQ(open("1 0\n0 1\n")->graph->num_edges(), 2);
}

TEST_F(EdgeKinds, AWordBeforeTwoEnds) {
  for (const char* text : {"e 0 1\ne 1 2\n", "a 1 2 7\na 2 3 8\n", "edge,0,1\nedge,1,2\n"}) {
    refused(text, {"line 1", "source_column=1 and target_column=2"});
    refused(text, {"source_column=1 and target_column=2"}, relabel());
  }
  OpenOptions columns = relabel();
  columns.source_column = 1;
  columns.target_column = 2;
  EXPECT_EQ(pairs(open("e 0 1\ne 1 2\n", columns)), (EdgePairs{{0, 1}, {1, 2}}));
  refused("t # 0\nv 0 1\nv 1 2\ne 0 1 2\n", {"a file of gSpan", "an edge a line"}, relabel());
}

TEST_F(EdgeKinds, AHeaderThatStandsAgain) {
  const DatasetRef names = open("source,target,w\na,b,1\nsource,target,w\nb,c,2\n", relabel());
  EXPECT_EQ(pairs(names), (EdgePairs{{0, 1}, {1, 2}}));
  expect_log("the header stands again in line 3, and is passed over");
  const DatasetRef ids = open("u v\n0 1\nu v\n1 2\nu v\n");
  EXPECT_EQ(pairs(ids), (EdgePairs{{0, 1}, {1, 2}}));
  expect_log("line 3 and 1 more");
  // An edge may stand twice below a header in a comment.
  EXPECT_EQ(open("# source target\n0 1\n0 1\n")->graph->num_edges(), 2);
}

TEST_F(EdgeKinds, LinesThatBeginWithAPipe) {
  for (const auto& [text, source, target] :
       {std::tuple("| 0 | 1 |\n| 1 | 2 |\n", 1, 2), std::tuple("0||1\n1||2\n", 0, 2)}) {
    refused(text, {"source_column and target_column choose the columns"});
    OpenOptions options;
    options.source_column = source;
    options.target_column = target;
    EXPECT_EQ(pairs(open(text, options)), (EdgePairs{{0, 1}, {1, 2}})) << text;
  }
}

TEST_F(EdgeKinds, TitlesWithNumbers) {
  for (const char* text : {"Exported by Foo on 2020\n\nsource,target,weight\n0,1,2\n1,2,3\n",
                           "2 nodes\nsource,target,weight\n0,1,2\n1,2,3\n"}) {
    EXPECT_EQ(pairs(open(text)), (EdgePairs{{0, 1}, {1, 2}})) << text;
    expect_log("line 1: is passed over");
  }
}

TEST_F(EdgeKinds, NamesOfColumnsInSeveralLines) {
  for (const char* text : {"source\ntarget\nweight\n0,1,2.5\n1,2,3.5\n",
                           "edge,edge,attr\nsource,target,weight\n0,1,2.5\n1,2,3.5\n",
                           "source,target,weight\n(id),(id),(km)\n0,1,2.5\n1,2,3.5\n",
                           "Trips\nsource,target,weight\n0,1,2.5\n1,2,3.5\n"}) {
    for (const OpenOptions& options : {OpenOptions(), relabel()}) {
      const DatasetRef dataset = open(text, options);
      EXPECT_EQ(pairs(dataset), (EdgePairs{{0, 1}, {1, 2}})) << text;
      EXPECT_EQ(edge_values(dataset), (std::vector<float>{2.5f, 3.5f})) << text;
      const std::string log = opener_.log();
      EXPECT_TRUE(log.find("passed over") != log.npos || log.find("in lines 1 to 3") != log.npos)
          << log;
    }
  }
  refused("source\ntarget\n0,1,2\n", {"3 columns after 2 lines of one word", "header_lines=2"});
}

TEST_F(EdgeKinds, AWeightAfterAnEmptyColumn) {
  for (const char* text :
       {"0,1,,2.5\n1,2,,3.5\n", "0,1,NA,2.5\n1,2,NA,3.5\n", "0,1,,nan,2.5\n1,2,,nan,3.5\n"})
    EXPECT_EQ(edge_values(open(text)), (std::vector<float>{2.5f, 3.5f})) << text;
  refused("0,1,NA,2.5\n1,2,4,3.5\n", {"line 1", "weight \"NA\"", "fillna()"});
}

TEST_F(EdgeKinds, TablesThatAreNoListsOfEdges) {
  refused("7,3,5.1,3.5,1.4\n3,4,4.9,3.0,1.4\n7,4,4.7,3.2,1.3\n",
          {"5 columns without names", "format=edges", "source_column"});
  refused("0 3 5\n1 4 2\n2 5 1\n3 0 5\n4 1 0\n5 2 3\n", {"a node and its neighbors"}, relabel(),
          Status::kUnsupported);
  refused("0,0,3,5\n1,1,4,2\n2,2,5,1\n3,3,0,5\n4,4,1,0\n5,5,2,3\n", {"a node and its neighbors"},
          {}, Status::kUnsupported);
  refused("0,7,3\n1,2,9\n2,7,7\n3,1,2\n", {"numbers the lines", "source_column=1"});
  for (const char* header : {"user_id,age", "name,age", "city,population", "node,community"})
    refused(std::string(header) + "\n1,34\n2,28\n",
            {"does not say that", "are ends of edges", "format=edges", "source_column"});
  EXPECT_EQ(open("drug_id,protein_id\n0,1\n2,1\n")->graph->num_edges(), 2);
  expect_log("the header does not say which columns");
  EXPECT_EQ(edge_values(open("\"V1\",\"V2\",\"V3\"\n0,1,0.5\n1,2,2\n")),
            (std::vector<float>{0.5f, 2}));
  EXPECT_EQ(edge_values(open("7,3,5\n3,4,4\n7,4,1\n")), (std::vector<float>{5, 4, 1}));
}

// NetworkX's functions take an edge without a weight for one of weight 1.
TEST_F(EdgeKinds, AttributesThatSomeEdgesLack) {
  for (const char* text : {"0 1 {}\n1 2 {'weight': 2}\n0 2 {'weight': 2.5}\n",
                           "0 1 {'weight': 1}\n1 2 {'weight': 2}\n0 2 {'weight': 2.5}\n"})
    EXPECT_EQ(edge_values(open(text)), (std::vector<float>{1, 2, 2.5f})) << text;
  open("0 1 {}\n1 2 {'weight': 2}\n0 2 {}\n");
  expect_log("2 edges have no \"weight\", the first in line 1, and get 1, as in NetworkX");
  EXPECT_TRUE(edge_values<int64_t>(open("0 1 {}\n1 2 {'label': 2}\n"), "edge_label").empty());
  expect_log("columns left out: \"label\" (line 1 has no integer");
}

TEST_F(EdgeKinds, ColumnsBetweenDoubleColons) {
  for (const char* text : {"1::3::5::978300760\n0::2::3::978302109\n",
                           "UserID::MovieID::Rating::Timestamp\n1::3::5::978300760\n"
                           "0::2::3::978302109\n"}) {
    const DatasetRef dataset = open(text, {}, "ratings.dat");
    EXPECT_EQ(pairs(dataset), (EdgePairs{{1, 3}, {0, 2}})) << text;
    EXPECT_EQ(edge_values(dataset), (std::vector<float>{5, 3}));
    EXPECT_EQ(edge_values<int64_t>(dataset, "time"), (std::vector<int64_t>{978300760, 978302109}));
    expect_log("equal ids are taken for one node");
  }
  EXPECT_EQ(open("fe80::1 fe80::2\n", relabel())->graph->num_nodes(), 2);
}

TEST_F(EdgeKinds, TablesOfJodie) {
  const std::string header =
      "user_id,item_id,timestamp,state_label,comma_separated_list_of_features\n";
  for (const char* features : {"0.1", "0.1,0.2", "0.1,0.2,0.3"}) {
    const DatasetRef dataset = open(header + "0,1,5.0,0," + features + "\n");
    EXPECT_EQ(pairs(dataset), (EdgePairs{{0, 1}})) << features;
    EXPECT_EQ(edge_values<int64_t>(dataset, "time"), (std::vector<int64_t>{5}));
    expect_log("\"comma_separated_list_of_features\"");
  }
}

// pandas makes floats of a column of ids that has a gap.
TEST_F(EdgeKinds, IdsWithAPoint) {
  for (const char* text : {"source,target\n0.0,1.0\n1,2.0\n", "# src dst\n0.000e+00 1e0\n1 2.\n"})
    EXPECT_EQ(pairs(open(text)), (EdgePairs{{0, 1}, {1, 2}})) << text;
  refused("0.0,1.0\n1.0,2.0\n", {"source \"0.0\"", "astype(\"int64\") in pandas"});
  refused("source,target\n0.0,1.5\n", {"target \"1.5\"", "if it is a name, relabel=1"});
  const DatasetRef same = open("0,1.0\n1,2.0\n-3.00,2\n", relabel());
  EXPECT_EQ(same->graph->num_nodes(), 4);
  EXPECT_TRUE(same->graph->node_column("original_id"));
  EXPECT_EQ(open("0,1.5\n1,1.50\n", relabel())->graph->num_nodes(), 4) << "names";
}

TEST_F(EdgeKinds, MissingEnds) {
  refused("source,target\n0,1\n,2\n", {"line 3: source \"\"", "dropna(subset=[\"source\"])"});
  refused("a,b\n,c\n", {"line 2: source \"\", expected a name", "dropna(subset=[0])"}, relabel());
  EXPECT_EQ(open("a,b\nNaN,c\n", relabel())->graph->num_nodes(), 4);
  expect_log("line 2: source \"NaN\" is taken for a name; dropna(subset=[0])");
}

// A character that nobody sees would make two nodes of one.
TEST_F(EdgeKinds, InvisibleCharacters) {
  for (const char* text : {"0 1\n\x0c"
                           "1 2\n",
                           "0 1\n\xe2\x80\x8b"
                           "1 2\n",
                           "0 1\n1\xc2\xa0 2\n", "0 1\n1\xe2\x80\xac 2\n"}) {
    refused(text, {"line 2: source", "remove the character that does not show"});
    refused(text, {"line 2: source", "remove the character that does not show"}, relabel());
  }
  refused("0 1\n\r1 2\n", {"line 2: source", "a line end of another kind"}, relabel());
  refused("(0, 0) (0, 1) {}\n", {"source \"(0", "convert_node_labels_to_integers()"}, relabel());
  EXPECT_EQ(open("(R)-a [b]\n", relabel())->graph->num_nodes(), 2);
  EXPECT_EQ(open("\xc3\xa4 \xe2\x88\x91\n", relabel())->graph->num_nodes(), 2);
}

// Spreadsheets write rows without a value.
TEST_F(EdgeKinds, EmptyRows) {
  for (const char* text : {"source;target;weight;;\r\n0;1;0,5;;\r\n;;;;\r\n1;2;1,5;;\r\n;;;;\r\n",
                           ",,\nsource,target,weight\n0,1,0.5\n,,\n1,2,1.5\n"}) {
    const DatasetRef dataset = open(text);
    EXPECT_EQ(pairs(dataset), (EdgePairs{{0, 1}, {1, 2}})) << text;
    EXPECT_EQ(edge_values(dataset), (std::vector<float>{0.5f, 1.5f})) << text;
  }
}

TEST_F(EdgeKinds, IndexesOfAFewLines) {
  for (const char* text : {"0,0,1,0.5\n1,1,2,1.5\n2,2,0,2.5\n", "0,4,2\n1,2,0\n2,0,1\n",
                           "10,4,2\n11,2,0\n12,0,1\n13,0,3\n"}) {
    open(text);
    expect_log("source_column=1 and target_column=2 take the next two; it is taken for the");
  }
}

TEST_F(EdgeKinds, ErrorsNameARemedy) {
  refused("0-1\n1-2\n", {"separator=\"-\""});
  refused("0:1\n1:2\n", {"separator=\":\""});
  refused("0->1\n1->2\n", {"put a blank in place of \"->\""});
  refused("(0, 1)\n(1, 2)\n", {"remove the brackets"});
  refused("alone\n", {"write an edge a line"});
  refused("", {"holds no edges, for it is empty, as after a download that failed"});
  refused("0 1:0.5\n1 2:1.5\n",
          {"if it is a name, relabel=1 numbers names, else write an edge a line"});
  refused("0,1;1,2;2,0\n", {"target \"1;1\"", "else write an edge a line"});
  refused("0,1\nTotal,2\n", {"source \"Total\"", "; if it is a name, relabel=1 numbers names"});
  for (const char* odd : {"0x1p-3",
                          "\xe2\x88\x92"
                          "0.5",
                          "1'234.5", "50%"})
    refused(base::text("source,target,weight\n0,1,2.5\n1,2,", odd, "\n"),
            {"line 3: weight", "write it as 1234.5 or 1e-3, without units"});
  refused("0 1 inf\n", {"expected a finite number; replace it"});
  refused("1082040961,1,2\n1082155839,3,4\n1082155840,3,5\n",
          {"if the first column is no end, source_column=1 and target_column=2 take the next two",
           "relabel=1 numbers ids of any size, num_nodes=1082155841 keeps them"},
          {}, Status::kRange);
  refused("C~\n", {"a graph6 file"});
  refused(std::string("\x72\x02\x01\0", 4) + std::string(60, '\0'),
          {"a file of Stata", "pandas.read_stata"});
  OpenOptions dash;
  dash.separator = "-";
  EXPECT_EQ(pairs(open("0-1\n1-2\n", dash)), (EdgePairs{{0, 1}, {1, 2}}));
}

}  // namespace
}  // namespace gnnmg::data
