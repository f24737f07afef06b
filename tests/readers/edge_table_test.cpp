// Lists of edges as programs write them: headers, columns of values, quotes, names, attributes and
// comments, each with its meaning.
#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using EdgePairs = std::vector<std::pair<int64_t, int64_t>>;

class EdgeTable : public testing::Test {
 protected:
  DatasetRef open(const std::string& text, const OpenOptions& options = {},
                  const std::string& name = "table.csv") {
    opener_.log();
    return opener_.open(dir_.write(name, text), options);
  }
  DatasetRef relabeled(const std::string& text) {
    OpenOptions options;
    options.relabel = true;
    return open(text, options);
  }
  void refused(const std::string& text, const std::vector<std::string>& parts,
               Status status = Status::kFormat, const OpenOptions& options = {}) {
    expect_error(status, parts, [&] { open(text, options); });
  }
  static EdgePairs pairs(const DatasetRef& dataset) { return edges(*dataset->graph); }
  template <typename T = float>
  static std::vector<T> edge_values(const DatasetRef& dataset, const std::string& name = "weight") {
    const graph::Column* column = dataset->graph->edge_column(name);
    return column ? values<T>(std::get<base::Tensor>(*column)) : std::vector<T>();
  }
  static std::vector<std::string> names(const DatasetRef& dataset) {
    const base::Tensor& table = dense(*dataset, "original_name");
    std::vector<std::string> all;
    for (int64_t i = 0; i < table.rows(); ++i)
      all.emplace_back(static_cast<const char*>(table.data()) + i * table.shape()[1]);
    return all;
  }
  void expect_log(const std::string& part) {
    const std::string log = opener_.log();
    EXPECT_NE(log.find(part), std::string::npos) << "\"" << part << "\" is not in: " << log;
  }
  test::TempDir dir_;
  Opener opener_;
};

TEST_F(EdgeTable, AColumnWithoutANameIsTakenForRowNamesOnlyIfItLooksLikeThem) {
  for (const char* text :
       {"source,target\n0,1,5\n0,2,6\n2,1,7\n", "source,target\n1,0,5\n1,2,6\n",
        "source,target,weight\n0,1,0,5\n0,2,1,5\n", "source\ttarget\n10\t1\t5\n10\t2\t6\n",
        "source,target,weight\na,0,1,5\na,0,2,6\n"})
    refused(text, {"line 2", "names; name every column"});
  for (const char* text : {"source,target,weight\n0,1,5,\n1,2,6,\n", "source,target\n1,0,\n2,1,\n"})
    refused(text, {"line 2", "remove the separator at the end of the lines"});
  for (const char* text : {"source,target\n1,4,2\n2,2,0\n3,0,1\n4,1,3\n",
                           "source,target\na,4,2\nb,2,0\nc,0,1\nd,1,3\n"})
    EXPECT_EQ(pairs(open(text)), (EdgePairs{{0, 1}, {1, 3}, {2, 0}, {4, 2}})) << text;
  // Tables of pandas, whose separator is a blank.
  EXPECT_EQ(pairs(open(" source target weight\n0 4 2 0.5\n1 2 0 1.5\n")),
            (EdgePairs{{4, 2}, {2, 0}}));
  refused(" source target weight\n0 4 2 0.5\n2 2 0 1.5\n", {"line 2", "names; name every column"});
}

TEST_F(EdgeTable, TheHeaderSaysWhereTheEndsAre) {
  const EdgePairs listed{{4, 2}, {2, 0}, {0, 1}, {1, 3}};
  for (const char* text :
       {",source,target\n0,4,2\n1,2,0\n2,0,1\n3,1,3\n",
        "edge_id,src,dst\n0,4,2\n1,2,0\n2,0,1\n3,1,3\n",
        "Target;Source\n2;4\n0;2\n1;0\n3;1\n",
        "FROM_ID\tTO_ID\n4\t2\n2\t0\n0\t1\n1\t3\n",
        "u v\n4 2\n2 0\n0 1\n1 3\n",
        ":START_ID,:END_ID,:TYPE\n4,2,A\n2,0,A\n0,1,B\n1,3,A\n",
        "protein1 protein2\n4 2\n2 0\n0 1\n1 3\n",
        "id,node_1,node_2\n9,4,2\n8,2,0\n7,0,1\n6,1,3\n",
        "\"head\",\"relation\",\"tail\"\n4,x,2\n2,x,0\n0,y,1\n1,y,3\n",
        "# weight source target\n1 4 2\n1 2 0\n1 0 1\n1 1 3\n",
        ",0,1\n0,4,2\n1,2,0\n2,0,1\n3,1,3\n",
        "node_id\tnode_id\n4\t2\n2\t0\n0\t1\n1\t3\n",
        "cited_paper_id citing_paper_id\n2 4\n0 2\n1 0\n3 1\n",
        "edge_src,edge_dst\n4,2\n2,0\n0,1\n1,3\n",
        "src_label,src_name,dst_label,dst_name\n7,4,8,2\n7,2,8,0\n7,0,8,1\n7,1,8,3\n",
        "node_from;node_to\n4;2\n2;0\n0;1\n1;3\n",
        ":START_ID(Person),:END_ID(Person)\n4,2\n2,0\n0,1\n1,3\n",
        "u,v,start,end\n4,2,7,8\n2,0,7,9\n0,1,6,9\n1,3,5,9\n",
        "node1,node2,start,end\n4,2,7,8\n2,0,7,9\n0,1,6,9\n1,3,5,9\n",
        "start,end,source,target\n7,8,4,2\n7,9,2,0\n6,9,0,1\n5,9,1,3\n",
        "origin,source,target\n9,4,2\n9,2,0\n9,0,1\n9,1,3\n",
        "source,from,to\n9,4,2\n9,2,0\n9,0,1\n9,1,3\n",
        "node,neighbor,from,to\n4,2,7,8\n2,0,7,9\n0,1,6,9\n1,3,5,9\n",
        "source_label,source_id,target_label,target_id\na,4,b,2\nb,2,c,0\nc,0,d,1\nd,1,e,3\n",
        "id_a,id_b,x_1,x_2\n4,2,7,8\n2,0,7,9\n0,1,6,9\n1,3,5,9\n",
        "lat1,lat2,station_1,station_2\n7,8,4,2\n7,9,2,0\n6,9,0,1\n5,9,1,3\n",
        "trip_id,from_station_id,to_station_id\n9,4,2\n9,2,0\n9,0,1\n9,1,3\n",
        "# weight source target\n# Nodes: 5 Edges: 4\n1 4 2\n1 2 0\n1 0 1\n1 1 3\n",
        "% w u v\n1 4 2\n1 2 0\n1 0 1\n1 1 3\n",
        "4 2 # why\n2 0 # how\n0 1 # 5\n1 3\n",
        "callee,caller\n2,4\n0,2\n1,0\n3,1\n",
        "sep=;\nsource;target\n4;2\n2;0\n0;1\n1;3\n",
        "\"SEP=;\"\nsource;target\n4;2\n2;0\n0;1\n1;3\n",
        "Sep=\t\nsource\ttarget\n4\t2\n2\t0\n0\t1\n1\t3\n",
        "i,j\n4,2\n2,0\n0,1\n1,3\n",
        "\"source\" \"target\"\n\"1\" 4 2\n\"2\" 2 0\n\"3\" 0 1\n\"4\" 1 3\n"}) {
    const DatasetRef dataset = open(text);
    EXPECT_EQ(pairs(dataset), ordered(listed, *dataset->graph)) << text;
  }
  const DatasetRef weighted = open("weight,source,target\n1,4,2\n2,2,0\n1.5,0,1\n");
  EXPECT_EQ(pairs(weighted), (EdgePairs{{4, 2}, {2, 0}, {0, 1}}));
  EXPECT_EQ(edge_values(weighted), (std::vector<float>{1, 2, 1.5f}));
  const DatasetRef numbered = open(",0,1,2\n0,5,6,0.5\n1,7,8,2\n");
  EXPECT_EQ(pairs(numbered), (EdgePairs{{5, 6}, {7, 8}})) << "pandas, without names";
  EXPECT_EQ(edge_values(numbered), (std::vector<float>{0.5f, 2}));
  OpenOptions options;
  options.source_column = 2;
  EXPECT_EQ(pairs(open("source,target,other\n0,1,5\n", options)), (EdgePairs{{5, 1}}))
      << "what the caller says counts";
}

TEST_F(EdgeTable, AHeaderThatDoesNotSayIt) {
  EXPECT_EQ(pairs(open("foo_id,bar_id\n0,1\n1,2\n")), (EdgePairs{{0, 1}, {1, 2}}));
  expect_log("the header does not say which columns are the ends of edges; taken are \"foo_id\"");
  refused("foo,bar\n0,1\n1,2\n", {"\"foo\" and \"bar\"", "format=edges"});
  refused("id,label\n0,3\n1,2\n", {"\"id\" and \"label\"", "are ends of edges", "source_column"});
  refused("node_id,feat,name\n0,3,a\n", {"\"node_id\" and \"feat\""});
  refused("source,target,weight\n0,1\n", {"line 2", "2 columns, expected 3 as in the header"});
}

TEST_F(EdgeTable, ColumnsAreKeptOrNamed) {
  const DatasetRef gephi =
      open("Source,Target,Type,Id,Label,Weight\n0,1,Undirected,0,,1.0\n1,2,Undirected,1,,2.5\n");
  EXPECT_EQ(edge_values(gephi), (std::vector<float>{1, 2.5f}));
  std::string log = opener_.log();
  EXPECT_NE(log.find("columns left out: \"Id\", \"Label\" (empty)"), std::string::npos) << log;
  EXPECT_NE(log.find("says that it is undirected"), std::string::npos) << log;
  const DatasetRef timed = open("from,to,timestamp,label,year\n0,1,5,7,1999\n1,2,6,8,2000\n");
  EXPECT_EQ(edge_values<int64_t>(timed, "time"), (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(edge_values<int64_t>(timed, "edge_label"), (std::vector<int64_t>{7, 8}));
  EXPECT_EQ(timed->graph->edge_column("weight"), nullptr);
  expect_log("columns left out: \"year\"");
  const DatasetRef floats = open("source,target,ts,label\n0,1,5.0,1.0\n1,2,6.000e+00,2\n");
  EXPECT_EQ(edge_values<int64_t>(floats, "time"), (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(edge_values<int64_t>(floats, "edge_label"), (std::vector<int64_t>{1, 2}));
  open("source,target,label\n0,1,7\n1,2,NaN\n");
  expect_log("columns left out: \"label\" (line 3 has no integer of 64 bits)");
  EXPECT_EQ(edge_values(open("row,col,data\n0,1,0.5\n1,2,2\n")), (std::vector<float>{0.5f, 2}));
  EXPECT_EQ(edge_values<int64_t>(open("t i j\n5 0 1\n6 1 2\n"), "time"),
            (std::vector<int64_t>{5, 6}));
  open("source,target,time\n0,1,5\n1,2,6.5\n");
  expect_log("columns left out: \"time\" (line 3 has no integer of 64 bits)");
  open("source,target,label\n0,1,friend\n1,2,foe\n");
  expect_log("\"label\" (no number in it: \"friend\" in line 2)");
  refused("graph_id,src_id,dst_id\n0,0,1\n0,1,2\n1,0,1\n",
          {"line 4", "graph \"1\" after \"0\"", "many graphs"}, Status::kUnsupported);
  EXPECT_EQ(edge_values(open("source,target,weight,value\n0,1,2,3\n")), (std::vector<float>{2}));
  EXPECT_EQ(edge_values(open("source,target,value,weight\n0,1,2,3\n")), (std::vector<float>{3}))
      << "a synonym does not go before the name itself";
  expect_log("columns left out: \"value\"");
  EXPECT_EQ(
      edge_values(open(":START_ID(P),:END_ID(P),:TYPE,since:int,weight:float\n0,1,K,1999,0.5\n")),
      (std::vector<float>{0.5f}));
  expect_log("\"since:int\"");
  EXPECT_EQ(edge_values(open("source,target,value,weight\n0,1,2,3\n")), (std::vector<float>{3}));
  expect_log("columns left out: \"value\"");
}

TEST_F(EdgeTable, ColumnsWithoutNames) {
  const DatasetRef rated = open("6,2,4,1289241911\n6,5,2,1289241941\n");
  EXPECT_EQ(edge_values(rated), (std::vector<float>{4, 2}));
  EXPECT_EQ(edge_values<int64_t>(rated, "time"), (std::vector<int64_t>{1289241911, 1289241941}));
  open("6,2,4,1289241911.72836\n6,5,2,1289241941.53378\n");
  expect_log("columns left out: 3 (line 1 has no integer of 64 bits)");
  EXPECT_EQ(edge_values<int64_t>(open("0 1 1082040961\n1 2 1082155839\n"), "time"),
            (std::vector<int64_t>{1082040961, 1082155839}));
  EXPECT_EQ(edge_values(open("0 1 friend 2.5\n1 2 foe -1\n")), (std::vector<float>{2.5f, -1}));
  expect_log("columns left out: 2");
  open("0 1 16777217\n");
  expect_log("integers such as that in line 1 are rounded");
  OpenOptions edges;
  edges.format = "edges";
  open("0,1,2,3,4,6\n1,2,3,4,5,6\n2,3,4,5,6,7\n", edges);
  expect_log("columns left out: 4, 5, 3");
}

// "0 1 # why" has a comment for NetworkX and NumPy, whatever separates the columns.
TEST_F(EdgeTable, CommentsAfterEdges) {
  for (const char* text :
       {"0 1 # 5\n1 2 # 7\n", "0\t1\t# 5\n1\t2\t# 7\n", "0,1 # 5\n1,2 # a, b\n", "0 1 #\n1 2 #\n",
        "0 1 % 5\n1 2 % 7\n", "0;1 // five\n1;2\n", "0 1\t# 5\n1 2\n"}) {
    const DatasetRef dataset = open(text);
    EXPECT_EQ(edges(*dataset->graph), (EdgePairs{{0, 1}, {1, 2}})) << text;
    EXPECT_EQ(dataset->graph->edge_column("weight"), nullptr) << text;
    EXPECT_EQ(opener_.log().find("left out"), std::string::npos) << text;
  }
  EXPECT_EQ(edge_values(open("0,1,0.5 # 5\n1,2,0.25\n")), (std::vector<float>{0.5f, 0.25f}));
  EXPECT_EQ(edge_values(open("0 1 0.5 # a\n1 2 0.25 #\n")), (std::vector<float>{0.5f, 0.25f}));
  OpenOptions relabel;
  relabel.relabel = true;
  EXPECT_EQ(open("Main St # 5,b\nMain St # 6,b\n", relabel)->graph->num_nodes(), 3);
  open("0 1 #ff0000\n1 2 #00ff00\n");
  expect_log("columns left out: 2 (no number in it: \"#ff0000\" in line 1)");
}

TEST_F(EdgeTable, LayersOfEdges) {
  for (const char* text : {"# layer node node weight\n1 4 2 1\n1 2 3 1\n2 4 3 2\n",
                           "layerID nodeID nodeID weight\n1 4 2 1\n1 2 3 1\n2 4 3 2\n",
                           "layer,source,target,weight\n1,4,2,1\n1,2,3,1\n2,4,3,2\n"}) {
    const DatasetRef dataset = open(text);
    EXPECT_EQ(edges(*dataset->graph), ordered({{4, 2}, {2, 3}, {4, 3}}, *dataset->graph)) << text;
    EXPECT_EQ(edge_values(dataset), (std::vector<float>{1, 1, 2})) << text;
    EXPECT_EQ(edge_values<int64_t>(dataset, "edge_label"), (std::vector<int64_t>{1, 1, 2})) << text;
  }
  EXPECT_EQ(
      edges(*open("# node layer node layer weight\n1 1 2 1 1\n1 1 1 2 1\n2 1 3 1 1\n")->graph),
      (EdgePairs{{1, 2}, {1, 1}, {2, 3}}));
}

TEST_F(EdgeTable, WeightsAreNotDecidedByTheFirstRow) {
  EXPECT_EQ(edge_values(open("0\t1\t+1\n1\t2\t-1\n")), (std::vector<float>{1, -1}));
  EXPECT_EQ(edge_values(open("source;target;weight\n0;1;0,5\n1;2;1,25\n")),
            (std::vector<float>{0.5f, 1.25f}));
  EXPECT_EQ(edge_values(open("source\ttarget\tweight\n0\t1\t0,5\n")), (std::vector<float>{0.5f}));
  EXPECT_EQ(edge_values(open("0;1;0,5\n1;2;3\n")), (std::vector<float>{0.5f, 3}));
  EXPECT_EQ(edge_values(open("0 1 -0,5\n")), (std::vector<float>{-0.5f}));
  EXPECT_EQ(edge_values(open("0,1,\"0,5\"\n1,2,\"1,25\"\n")), (std::vector<float>{0.5f, 1.25f}));
  for (const char* column : {"", "oops", "1.2.3", "--1", "1,2,3"}) {
    const std::string expected = "a finite number as in other lines";
    refused(base::text("0\t1\t", column, "\n1\t2\t0.5\n"), {"line 1", "weight", expected});
    refused(base::text("1\t2\t0.5\n0\t1\t", column, "\n"), {"line 2", "weight", expected});
  }
  refused("source,target,weight\n0,1,\n1,2,0.5\n", {"line 2", "weight \"\""});
  for (const char* missing : {"", "NA", "nan", "NaN", "None", "NULL", "\\N", "#N/A"}) {
    refused(base::text("0,1,", missing, "\n1,2,0.5\n"),
            {"line 1", "a finite number as in other lines; fillna() of pandas fills gaps"});
    refused(base::text("0,1,0.5\n1,2,", missing, "\n"), {"line 2", "fillna() of pandas"});
    open(base::text("source,target,weight\n0,1,", missing, "\n1,2,", missing, "\n"));
    expect_log("columns left out: \"weight\" (empty)");
  }
  refused("0;1;0,5\n1;2;0.5\n", {"line 2", "decimal commas, as in line 1, and points"});
  open("source,target,weight\n0,1,\n1,2,\n");
  expect_log("columns left out: \"weight\" (empty)");
}

TEST_F(EdgeTable, AttributesOfNetworkX) {
  for (const char* text :
       {"0 1 {'weight': 2.5}\n1 2 {'weight': 0.5}\n", "0 1 {weight: 2.5}\n1 2 {weight: 0.5}\n",
        "0,1,{'weight': 2.5, 'c': 'a, b'}\n1,2,{'c': [1, 2], 'weight': 0.5}\n",
        "0\t1\t{\"weight\": \"2.5\"}\n1\t2\t{\"weight\": 0.5}\n"}) {
    const DatasetRef dataset = open(text);
    EXPECT_EQ(pairs(dataset), (EdgePairs{{0, 1}, {1, 2}})) << text;
    EXPECT_EQ(edge_values(dataset), (std::vector<float>{2.5f, 0.5f})) << text;
  }
  EXPECT_EQ(pairs(open("0 1 {}\n1 2 {}\n")), (EdgePairs{{0, 1}, {1, 2}}));
  open("0 1 {'color': 3}\n");
  expect_log("columns left out: \"color\"");
  refused("0 1 {'weight': ''}\n1 2 {'weight': 1}\n", {"line 1", "weight \"\""});
  refused("0 1 {'weight': 1}\n1 2 {weight}\n", {"line 2", "attributes such as"});
  refused("0 1 {'weight': 1, 'weight': 2}\n", {"line 1", "stands twice"});
}

TEST_F(EdgeTable, QuotedFields) {
  EXPECT_EQ(pairs(open("\"source\",\"target\"\n\"0\",\"1\"\n\"1\",\"2\"\n")),
            (EdgePairs{{0, 1}, {1, 2}}));
  EXPECT_EQ(pairs(open("0,1,\"x, y\"\n1,2,\"z\"\n")), (EdgePairs{{0, 1}, {1, 2}}));
  EXPECT_EQ(pairs(open("source,note,target\n0,\"two\nlines \"\"x\"\"\",1\n1,,2\n")),
            (EdgePairs{{0, 1}, {1, 2}}));
  EXPECT_EQ(names(relabeled("\"a, b\",c\nc,\"say \"\"x\"\"\"\n")),
            (std::vector<std::string>{"a, b", "c", "say \"x\""}));
  refused("0,1,\"open\n1,2,x\n", {"line 1", "has no end"});
  std::string lines;
  for (int i = 0; i < 1022; ++i) lines += "a\n";
  EXPECT_EQ(pairs(open("0,1,\"" + lines + "\"\n1,2,\"\"\n")), (EdgePairs{{0, 1}, {1, 2}}));
  refused("0,1,\"" + lines + "\n\n\"\n1,2,\"\"\n", {"line 1", "has no end in 1024 lines"});
  EXPECT_EQ(names(relabeled("\"a \\\"x\\\"\",b\nb,\"c, \\\"d\\\"\"\n")),
            (std::vector<std::string>{"a \"x\"", "b", "c, \"d\""}))
      << "as Spark writes quotes";
}

TEST_F(EdgeTable, NamesAreNumberedInOrderOfAppearance) {
  const DatasetRef people = relabeled("alice,bob\nbob,carol\ncarol,alice\n");
  EXPECT_EQ(pairs(people), (EdgePairs{{0, 1}, {1, 2}, {2, 0}}));
  EXPECT_EQ(names(people), (std::vector<std::string>{"alice", "bob", "carol"}));
  EXPECT_EQ(
      names(relabeled("76561198000000001 76561198000000002\n"
                      "76561198000000002 18446744073709551615\n")),
      (std::vector<std::string>{"76561198000000001", "76561198000000002", "18446744073709551615"}));
  // Equal integers are one node, beside names too, where a warning says so.
  const DatasetRef padded = relabeled("7 x\n007 +7\n");
  EXPECT_EQ(pairs(padded), (EdgePairs{{0, 0}, {0, 1}}));
  EXPECT_EQ(names(padded), (std::vector<std::string>{"7", "x"}));
  EXPECT_NE(opener_.log().find("has names of nodes, and \"007\", which is taken for an integer"),
            std::string::npos);
  EXPECT_EQ(pairs(relabeled("7 8\n007 +7\n")), (EdgePairs{{0, 0}, {0, 1}}));
  relabeled("0 -7\n-7 a0\n10 00a\n");
  EXPECT_EQ(opener_.log().find("taken for an integer"), std::string::npos);
  // The first edge is no header unless its names or the next line say so.
  EXPECT_EQ(names(relabeled("n1 n2\nn2 n3\n")), (std::vector<std::string>{"n1", "n2", "n3"}));
  EXPECT_EQ(names(relabeled("a b\nb c\n")), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(names(relabeled("left right\nright up\n")),
            (std::vector<std::string>{"left", "right", "up"}));
  EXPECT_EQ(names(relabeled("source,target\nx,y\n")), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(names(relabeled("Gene_A,Gene_B,score\nTP53,MDM2,0.9\n")),
            (std::vector<std::string>{"TP53", "MDM2"}));
  EXPECT_EQ(names(relabeled("Person,Friend,Closeness\nal,bo,3\n")),
            (std::vector<std::string>{"al", "bo"}));
  for (const char* text : {"alice,bob\nbob,carol\n", "a b\nb c\n", "n1 n2\nn2 n3\n"})
    refused(text, {"line 1", "expected an integer from 0; relabel=1 numbers names"});
  refused("0 18446744073709551615\n", {"below 2^63; relabel=1 numbers ids of any size"});
  OpenOptions options;
  options.relabel = true;
  refused("a,b\n,c\n", {"line 2", "expected a name"}, Status::kFormat, options);
  refused("a,b\n" + std::string(256, 'x') + ",c\n", {"line 2", "an end of 256 bytes"},
          Status::kFormat, options);
  refused("0,1\n1,x\n", {"line 2", "relabel=1 numbers names"});  // CiteSeer names its papers so
}

TEST_F(EdgeTable, NamesAreSavedWithTheDataSet) {
  save_dataset(*relabeled("alice,bob\nbob,carol\n"), dir_.file("saved"));
  EXPECT_EQ(names(opener_.open(dir_.file("saved"))),
            (std::vector<std::string>{"alice", "bob", "carol"}));
}

TEST_F(EdgeTable, ManyNames) {
  std::string text;
  constexpr int kCount = 20000;
  for (int i = 0; i < kCount; ++i)
    text += base::text("node-", i, "\tnode-", (i + 1) % kCount, "\n");
  const DatasetRef dataset = relabeled(text);
  EXPECT_EQ(dataset->graph->num_nodes(), kCount);
  const std::vector<std::string> all = names(dataset);
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(all[i], base::text("node-", i));
  // A table of names is as wide as the longest, so that one long name makes it too large.
  std::string skewed = std::string(255, 'x') + " y\n";
  for (int i = 0; i < 300'000; ++i) skewed += base::text("a", i, " y\n");
  OpenOptions options;
  options.relabel = true;
  refused(skewed, {"names of up to 255 bytes", "shorten the longest"}, Status::kRange, options);
}

TEST_F(EdgeTable, CommentsThatSaySomething) {
  const DatasetRef snap = open(
      "# Undirected graph: roads.txt\n# Nodes: 5 Edges: 3\n# "
      "FromNodeId\tToNodeId\n0\t1\n1\t2\n2\t0\n");
  EXPECT_EQ(snap->graph->num_nodes(), 5);
  expect_log("says that it is undirected; edges are taken one way");
  open("# Nodes: 3 Edges: 4\n0 1\n1 2\n");
  expect_log("its comments count 4 edges, it has 2");
  const DatasetRef konect = open("% sym weighted\n% 2 3 3\n0 1\t1\n1 2\t5\n");
  EXPECT_EQ(edge_values(konect), (std::vector<float>{1, 5}));
  expect_log("says that it is undirected");
  refused("% bip unweighted\n1 1\n2 1\n", {"bipartite network of KONECT"}, Status::kUnsupported);
}

TEST_F(EdgeTable, CommentsInOtherWords) {
  for (const char* comment :
       {"# nodes 5 edges 3", "#nodes=5", "# Number of nodes: 5", "# num_nodes: 5", "# vertices: 5",
        "# Nodes: 5, Edges: 3", "#Nodes\t5", "// num_nodes = 5; num_edges = 3"}) {
    EXPECT_EQ(open(std::string(comment) + "\n0 1\n1 2\n2 0\n")->graph->num_nodes(), 5) << comment;
    EXPECT_EQ(opener_.log().find("its comments count"), std::string::npos) << comment;
  }
  for (const char* comment :
       {"# directed=False", "# directed: no", "#directed 0", "# Directed: False, x", "% sym"}) {
    open(std::string(comment) + "\n0 1\n1 2\n2 0\n");
    expect_log("says that it is undirected");
  }
  open("# Nodes: 2 Edges: 3\n0 1\n1 2\n2 0\n");
  expect_log("its comments count 2 nodes, it has 3");
  refused("% bip\n1 1\n2 1\n", {"bipartite network of KONECT"}, Status::kUnsupported);
}

TEST_F(EdgeTable, CommentsThatSayLessThanTheySeem) {
  for (const char* text : {"# max nodes: 1000\n0 1\n", "# Nodes: 1,005 Edges: 6\n0 1\n",
                           "# nodes 5-9 are new\n0 1\n", "# nodes are authors\n0 1\n"})
    EXPECT_EQ(open(text)->graph->num_nodes(), 2) << text;
  for (const char* text :
       {"# undirected: false\n0 1\n", "# directed (not an undirected graph)\n0 1\n",
        "# directed: true\n0 1\n", "# directed graph of notes\n0 1\n"}) {
    open(text);
    EXPECT_EQ(opener_.log().find("says that it is undirected"), std::string::npos) << text;
  }
}

TEST_F(EdgeTable, IdsFromOneAndHoles) {
  open("1 2\n2 3\n");
  expect_log("ids count from 1, so that node 0 has no edge; relabel=1 numbers them from 0");
  open("0 1\n5 9\n");
  expect_log("6 of 10 nodes have no edge; relabel=1 numbers only those that have one");
  OpenOptions options;
  options.num_nodes = 20;
  open("1 2\n", options);
  EXPECT_EQ(opener_.log().find("no edge"), std::string::npos) << "as it was asked for";
  open("0 1\n1 2\n");
  EXPECT_EQ(opener_.log().find("no edge"), std::string::npos);
}

TEST_F(EdgeTable, ErrorsQuoteABoundedPart) {
  for (const std::string& text :
       {"0 1\n" + std::string(500'000, 'x') + " 1\n", "0,1,\"" + std::string(500'000, 'y') + "\n",
        "0 1 {" + std::string(500'000, 'z') + "}\n",
        "source,target," + std::string(500'000, 'w') + "\n0,1\n"}) {
    try {
      open(text);
      ADD_FAILURE() << "no error for " << text.substr(0, 20);
    } catch (const base::Error& error) {
      EXPECT_LT(std::string(error.what()).size(), 1000u);
    }
  }
}

// The ends that an error proposes, obeyed: the index before them is no weight.
TEST_F(EdgeTable, IndexesBeforeTheEnds) {
  OpenOptions options;
  options.source_column = 1;
  options.target_column = 2;
  const std::string indexed = "0,5,6,0.5\n1,6,7,0.25\n2,7,5,2\n";
  EXPECT_EQ(edge_values(open(indexed, options)), (std::vector<float>{0.5, 0.25, 2}));
  expect_log("columns left out: 0");
  for (const char* text : {"0 5 6\n1 6 7\n2 7 5\n", "1 5 6\n2 6 7\n3 7 5\n"}) {
    EXPECT_EQ(edge_values(open(text, options)), std::vector<float>()) << text;
    expect_log("columns left out: 0 (numbers the lines)");
  }
  EXPECT_EQ(edge_values(open("3 5 6\n1 6 7\n", options)), (std::vector<float>{3, 1}));
  EXPECT_EQ(edge_values(open("0.5 5 6\n1.5 6 7\n", options)), (std::vector<float>{0.5, 1.5}));
  // Lines that pandas begins with a separator have no index.
  expect_error(Status::kFormat, {"source \"\""}, [&] { open(",0,1\n,1,2\n,2,3\n"); });
}

TEST_F(EdgeTable, IntegersAsRWritesLargeOnes) {
  const auto dataset = relabeled("\"from\",\"to\"\n1e+05,7\n8,7\n100000,8\n");
  EXPECT_EQ(values<int64_t>(dense(*dataset, "original_id")), (std::vector<int64_t>{100000, 7, 8}));
  EXPECT_EQ(names(relabeled("1e5,a\n100000,a\n")),
            (std::vector<std::string>{"1e5", "a", "100000"}));
}

TEST_F(EdgeTable, NumbersOfNumPyInAttributes) {
  EXPECT_EQ(edge_values(open("0 1 {'weight': np.float64(2.5)}\n1 2 {'weight': 3}\n")),
            (std::vector<float>{2.5, 3}));
}

}  // namespace
}  // namespace gnnmg::data
