// Texts that open as lists of edges though something in them may be none, and texts that may not:
// the lines of the log, and the hints of errors.
#include <algorithm>
#include <cstring>

#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;

class EdgeDoubts : public testing::Test {
 protected:
  DatasetRef open(const std::string& text, const OpenOptions& options = {},
                  const std::string& name = "list.txt") {
    opener_.log();
    return opener_.open(dir_.write(name, text), options);
  }
  DatasetRef relabeled(const std::string& text) {
    OpenOptions options;
    options.relabel = true;
    return open(text, options);
  }
  void refused(const std::string& text, const std::vector<std::string>& parts,
               Status status = Status::kFormat) {
    expect_error(status, parts, [&] { open(text); });
  }
  bool log_says(const std::string& part) { return opener_.log().find(part) != std::string::npos; }
  test::TempDir dir_;
  Opener opener_;
};

constexpr const char* kMayCount = "may be the numbers of nodes and edges";

// "nodes edges" above lines that it does not count right: an edge, with a warning.
TEST_F(EdgeDoubts, CountsThatDoNotFit) {
  for (const char* text :
       {"5 8\n0 1\n1 2\n2 3\n3 4\n4 0\n",  // repeated edges were dropped
        "4 5\n0 1\n1 2\n2 3\n0 3\n",       // too many counted
        "40 3\n0 1\n1 2\n2 3\n5 39\n",     // too few
        "3 4\n0 1\n1 2\n2 3\n",            // edges before nodes
        "4 3 1\n0 1 7\n1 2 7\n2 3 7\n",    // a flag in place of a weight
        "# counts\n9,20\n0,1\n1,2\n",      // counts below a comment
        "10 9\n1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n7 8\n8 9\n9 10\n1 10\n1 9\n",  // ids from 1
        "4 4\n1 2\n2 3\n3 4\n",     // one edge too many counted
        "3 4 2\n1 2 3.5\n2 4 4\n",  // rows, columns and entries of a matrix
        "2 3\n1 2\n2 3\n"}) {       // a hypergraph of hMETIS
    open(text);
    const std::string log = opener_.log();
    EXPECT_NE(log.find(kMayCount), std::string::npos) << text << log;
    EXPECT_NE(log.find("header_lines=1 passes over it"), std::string::npos) << log;
  }
  OpenOptions options;
  options.header = 1;
  EXPECT_EQ(open("5 8\n0 1\n1 2\n2 3\n3 4\n4 0\n", options)->graph->num_edges(), 5);
  EXPECT_FALSE(log_says(kMayCount));
  EXPECT_EQ(relabeled("9223372036854775807 1\n1 2\n")->graph->num_edges(), 2) << "no count";
  relabeled("100 250\n7 8\n8 9\n9 7\n");
  EXPECT_TRUE(log_says("\"100 250\" is taken for an edge, but may be the numbers"));
}

TEST_F(EdgeDoubts, FirstEdgesThatAreNoCounts) {
  for (const char* text : {"0 1\n1 2\n2 0\n", "0 9\n1 2\n2 3\n", "1 2\n2 3\n3 1\n",
                           "5 6\n0 5\n2 6\n", "3 1 0.5\n1 2 2\n2 3 1\n", "3 4 2\n0 2 3.5\n2 4 4\n",
                           "3 2 2\n1 2 1\n2 4 4\n", "2 1\n", "source,target\n9,8\n1,2\n"}) {
    open(text);
    EXPECT_FALSE(log_says(kMayCount)) << text;
  }
}

// DataFrame(edges).to_csv(index=False): the numbers of columns, where these have no names.
TEST_F(EdgeDoubts, NumbersOfColumnsInTheFirstLine) {
  const std::string doubt = "is taken for an edge, but may be what pandas calls columns";
  for (const char* text :
       {"0,1\n4,2\n2,0\n0,1\n", "0,1,2\n4,2,0.5\n2,0,0.25\n", "0\t1\t2\t3\n4\t2\t1\t1\n"}) {
    open(text);
    EXPECT_TRUE(log_says(doubt)) << text;
  }
  for (const char* text : {"0,1\n4,2\n2,0\n", "0 1 2\n4 2 1\n", "0,1,1\n4,2,0.5\n",
                           "0,2\n4,2\n0,2\n", "a,b\n0,1\n0,1\n"}) {
    open(text);
    EXPECT_FALSE(log_says(doubt)) << text;
  }
}

TEST_F(EdgeDoubts, ErrorsThatCountsExplain) {
  const std::string hint = "if the first line holds counts, header_lines=1 passes over it";
  refused("4 3 0\n0 1\n1 2\n2 3\n", {"line 2: 2 columns, expected 3", hint});
  refused("100000 300000\n0 1\n1 2\n", {"line 1: id 300000", hint, "else relabel=1"},
          Status::kRange);
  refused("0 1\n0 300000\n", {"line 2: id 300000", "bytes; relabel=1 numbers"}, Status::kRange);
  refused("from,to\n300000,1\n", {"line 2: id 300000", "num_nodes=300001 keeps"}, Status::kRange);
}

TEST_F(EdgeDoubts, NamesThatMayBeOfColumns) {
  for (const char* text :
       {"person,friend_of\nann,bob\nbob,cat\n", "name1 name2\nann bob\nbob ann\n"}) {
    EXPECT_EQ(relabeled(text)->graph->num_edges(), 3);
    EXPECT_TRUE(
        log_says("may be the names of columns, for they stand in no other line; "
                 "header_lines=1 passes over it"))
        << text;
  }
  for (const char* text : {"ann bob\nbob cat\n", "ann ann\nbob cat\n", "ann bob\n"}) {
    relabeled(text);
    EXPECT_FALSE(log_says("names of columns")) << text;
  }
}

TEST_F(EdgeDoubts, HintsThatLeadOn) {
  refused("1.0 2.0\n2.0 3.0\n", {"source \"1.0\"", "fmt=\"%d\" in numpy.savetxt()"});
  refused("0 1e+00\n", {"target \"1e+00\"", "without a decimal point"});
  refused("1 a\na 2\n", {"target \"a\"", "relabel=1 numbers names"});
  refused("0 -1\n", {"target -1", "relabel=1 numbers ids of any size"}, Status::kRange);
  refused("'0','1'\n'1','2'\n", {"source \"'0'\"", "quotes of fields have to be double ones"});
  refused("0 1\n0704.0001 2\n", {"source \"0704.0001\"", "if it is a name, relabel=1"});
  for (const char* missing : {"NULL", "NA", "nan", "\\N"})
    refused(base::text("0,1\n1,", missing, "\n"),
            {"line 2: target", "dropna(subset=[1]) of pandas"});
  refused("_id,_start,_end\n7,,\n8,0,1\n",
          {"line 2: source \"\"", "dropna(subset=[\"_start\"]) of pandas"});
  refused("0 1\r\n1 2\n2 3\r3 4\n", {"line 3: 3 columns", "a line end of another kind"});
}

// "0 -> 1": the hint for names would make the sign a node.
TEST_F(EdgeDoubts, SignsBetweenEnds) {
  for (const char* sign : {"->", "--", "&"}) {
    relabeled(base::text("0 ", sign, " 1\n1 ", sign, " 2\n"));
    EXPECT_TRUE(log_says(
        base::text("every target is \"", sign, "\", as a sign between two ends; target_column=2")));
  }
  for (const char* text : {"a - 5\nb c 6\n", "a -> x\n-> b y\n", "a b 1\nc b 2\n", "a -\nb -\n"}) {
    relabeled(text);
    EXPECT_FALSE(log_says("a sign between two ends")) << text;
  }
  refused("0 & 1 x\n1 & 2 x\n", {"target \"&\"", "target_column chooses the column after it"});
}

// A table of many columns without a name has no column of ends.
TEST_F(EdgeDoubts, TablesOfFeatures) {
  std::string row = "0,1";
  for (int i = 2; i < 17; ++i) row += ",0";
  for (const char* matrix : {",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n", ";x;y\nx;0;1\ny;1;0\n"})
    refused(matrix, {"an adjacency matrix"}, Status::kUnsupported);
  refused("x1,x2,x3\n0,1,2\n1,2,3\n", {"does not say that", "are ends of edges"});
  std::string papers;  // lines like Cora's: a number, words of 0 and 1, a class
  for (int i = 0; i < 5; ++i)
    papers += base::text(31336 + 7 * i, "\t0\t1\t0\t", i % 2, "\tTheory\n");
  for (const std::string& text : {papers, std::string("7 1 0 2 5\n7 0 1 1 5\n7 1 2 2 5\n")})
    refused(text, {"columns without names, as in a table of features", "format=edges"});
  refused(row + "\n" + row + "\n" + row + "\n",
          {"17 columns without names, as in a table of features"});
  OpenOptions options;
  options.format = "edges";
  EXPECT_EQ(open(row + "\n", options)->graph->num_edges(), 1);
  options.format = "";
  options.header = 0;
  EXPECT_EQ(open(row + "\n", options)->graph->num_edges(), 1);
}

TEST_F(EdgeDoubts, OneLineOfManyNumbers) {
  for (const char* text : {"0 1 1 2 2 3 3 0\n", "0,1,2,3,4\n", "# edges\n0\t1\t0.5\t2\t7\n\n"})
    refused(text, {"one line of more numbers than an edge has", "write an edge a line"},
            Status::kUnsupported);
  for (const char* text :
       {"0 1\n", "0 1 0.5\n", "0 1 1 1217567877\n", "source,target,a,b,c\n0,1,2,3,4\n"})
    EXPECT_EQ(open(text)->graph->num_edges(), 1) << text;
}

// A node and its neighbors, equally many in each line, look like an edge with weights.
TEST_F(EdgeDoubts, AdjacencyListsOfRegularGraphs) {
  const std::string ring = "0 1 4\n1 0 2\n2 1 3\n3 2 4\n4 3 0\n",
                    from_one = "1,2,5\n2,1,3\n3,2,4\n4,3,5\n5,4,1\n",
                    cube =
                        "0 1 2 4\n1 0 3 5\n2 0 3 6\n3 1 2 7\n4 0 5 6\n5 1 4 7\n6 2 4 7\n7 3 5 6\n";
  for (const std::string& text : {ring, from_one, cube})
    refused(text, {"each line has a node and its neighbors, as an adjacency list"},
            Status::kUnsupported);
  OpenOptions options;
  options.format = "edges";
  EXPECT_EQ(open(ring, options)->graph->num_edges(), 5);
  open("0 1 2 3\n1 0 2 3\n2 0 1 3\n3 0 1 2\n");
  EXPECT_TRUE(log_says("lists each node with two or more that list it, as an adjacency list"));
  for (const char* text :
       {"0 1 3\n1 2 4\n2 3 0\n3 4 1\n4 0 2\n", "0 1 1\n1 2 1\n2 3 1\n3 4 1\n4 0 1\n",
        "0 1 4\n1 0 2\n2 1 3\n3 2 4\n4 3 1\n"}) {
    EXPECT_GE(open(text)->graph->num_edges(), 5) << text;
    EXPECT_FALSE(log_says("adjacency list")) << text;
  }
}

// "0: 1 4" and "0 [1, 4]" are not names, even with relabel.
TEST_F(EdgeDoubts, AdjacencyListsWithMarks) {
  for (const char* text :
       {"0: 1 4\n1: 0 2\n2: 1 3\n", "0 [1, 4]\n1 [0, 2]\n", "0:[1,4]\n1:[0,2]\n"}) {
    refused(text, {"line 1", "as in an adjacency list"}, Status::kUnsupported);
    expect_error(Status::kUnsupported, {"line 1", "as in an adjacency list"},
                 [&] { relabeled(text); });
  }
  EXPECT_EQ(relabeled("0:1 4:2\n4:2 0:1\n")->graph->num_nodes(), 2);
}

// A first column that numbers the lines may be an index, or nodes beside their labels.
TEST_F(EdgeDoubts, FirstColumnsThatNumberTheLines) {
  const std::string doubt = "the first column numbers the lines",
                    hint = "source_column=1 and target_column=2 take the next two";
  for (const char* text :
       {"0,4,2\n1,2,0\n2,0,1\n3,1,3\n", "1 3 4 1\n2 4 1 1\n3 1 2 2\n4 2 2 1\n"}) {
    refused(text, {doubt, hint, "format=edges"});
    OpenOptions edges;
    edges.format = "edges";
    open(text, edges);
    EXPECT_TRUE(log_says(doubt)) << text;
  }
  open("0 1\n1 1\n2 21\n3 21\n4 21\n5 25\n");  // SNAP's email-Eu-core-department-labels.txt
  EXPECT_TRUE(log_says(doubt));
  for (const char* text : {"0 1\n1 2\n2 3\n3 4\n", "0 4\n1 2\n3 0\n2 1\n", "0 5\n1 3\n2 0\n",
                           "source,target\n0,4\n1,5\n2,0\n3,9\n"}) {
    open(text);
    EXPECT_FALSE(log_says(doubt)) << text;
  }
  OpenOptions next;
  next.source_column = 1;
  next.target_column = 2;
  EXPECT_EQ(edges(*open("0,4,2\n1,2,0\n2,0,1\n3,1,3\n", next)->graph),
            (std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {1, 3}, {2, 0}, {4, 2}}));
  EXPECT_FALSE(log_says(doubt));
  refused("3 1\n0 0 1 1\n1 1 2 0\n2 2 0 1\n",  // the .edge of Triangle
          {"line 2: 4 columns, expected 2", "source_column=1 and target_column=2"});
}

// Names of columns of values and of measures, never of nodes.
TEST_F(EdgeDoubts, NamesOfValues) {
  for (const char* header :
       {"class_a,class_b", "feature_1,feature_2,label", "lat1,lat2,w", "date1,date2,p",
        "score1,score2,z", "weight_a,weight_b,c", "lat,lon,h"})
    refused(std::string(header) + (std::count(header, header + std::strlen(header), ',') == 1
                                       ? "\n0,1\n1,0\n"
                                       : "\n0,1,2\n1,0,3\n"),
            {"are ends of edges", "source_column"});
  for (const char* header : {"gene_a,gene_b", "x1,x2", "V1,V2", "node1,node2", "t1,t2", "a,b"})
    EXPECT_EQ(open(std::string(header) + "\n0,1\n1,0\n")->graph->num_edges(), 2) << header;
}

TEST_F(EdgeDoubts, EndsOfTwoKinds) {
  const std::string doubt = "are of two kinds, but equal ids are taken for one node";
  for (const char* text :
       {",u,i,ts,label,idx\n0,0,5,1.0,0,0\n1,1,6,2.0,0,1\n",
        "timestamp,user_id,item_id\n3,0,5\n4,1,6\n", "userId,movieId,rating\n0,5,1\n1,6,2\n"}) {
    const DatasetRef dataset = open(text);
    EXPECT_EQ(edges(*dataset->graph), (std::vector<std::pair<int64_t, int64_t>>{{0, 5}, {1, 6}}));
    EXPECT_TRUE(log_says(doubt)) << text;
  }
  open("user,friend\n0,5\n1,6\n");
  EXPECT_FALSE(log_says(doubt));
}

TEST_F(EdgeDoubts, HeadersOfOtherLengths) {
  const DatasetRef jodie =
      open("user_id,item_id,timestamp,state_label,features\n0,0,5,0,-0.1,0.2,1\n1,1,6,0,0.1,0,1\n");
  const auto* time = jodie->graph->edge_column("time");
  ASSERT_NE(time, nullptr);
  EXPECT_EQ(values<int64_t>(std::get<base::Tensor>(*time)), (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(jodie->graph->edge_column("weight"), nullptr) << "the time is no weight";
  refused("user_id,item_id\n0,0,1\n1,1,2\n", {"3 columns, expected 2 as in the header"});
  refused("who,whom\n1,0,1\n2,1,2\n",
          {"2 names for 3 columns", "the first or the last", "source_column"});
}

TEST_F(EdgeDoubts, TimesAndThousands) {
  const auto tensor = [](const DatasetRef& dataset, const char* name) {
    const auto* column = dataset->graph->edge_column(name);
    return column ? std::get<base::Tensor>(*column) : base::Tensor();
  };
  const DatasetRef ms = open("0 1 1289241911000\n1 2 1289241941000\n");
  EXPECT_EQ(values<int64_t>(tensor(ms, "time")),
            (std::vector<int64_t>{1289241911000, 1289241941000}));
  EXPECT_FALSE(tensor(ms, "weight").defined());
  EXPECT_FALSE(tensor(open("0 1 1289241911.5\n1 2 1289241941\n"), "weight").defined());
  EXPECT_TRUE(log_says("columns left out: 2 (Unix times with fractions"));
  EXPECT_TRUE(tensor(open("0 1 1289241911.5\n1 2 0.5\n"), "weight").defined());
  EXPECT_EQ(values<float>(tensor(open("0;1;1,000\n1;2;20,500\n"), "weight")),
            (std::vector<float>{1, 20.5f}));
  EXPECT_TRUE(log_says("commas before three digits, as in line 1, are taken for decimal commas"));
  open("0;1;1,000\n1;2;20,5\n");
  EXPECT_FALSE(log_says("three digits"));
}

// A weight by its name goes before a column without one, and a column left out is named.
TEST_F(EdgeDoubts, WeightsByNameComeFirst) {
  const auto weights = [&](const std::string& text) {
    const DatasetRef dataset = open(text);
    const auto* column = dataset->graph->edge_column("weight");
    return column ? values<float>(std::get<base::Tensor>(*column)) : std::vector<float>();
  };
  EXPECT_EQ(weights("0 1 0 {'weight': 2}\n0 1 1 {'weight': 3}\n"), (std::vector<float>{2, 3}));
  EXPECT_TRUE(log_says("columns left out: 2"));
  EXPECT_EQ(weights("# FromNodeId\tToNodeId\tSign\n0\t1\t-1\n1\t2\t1\n"),
            (std::vector<float>{-1, 1}));
}

TEST_F(EdgeDoubts, TriplesAndComments) {
  relabeled("ann\tknows\tbob\nbob\tlikes\tcat\n");
  EXPECT_TRUE(log_says("three columns of names, as triples"));
  relabeled("ann bob 2\nbob cat 3\n");
  EXPECT_FALSE(log_says("three columns"));
  refused("ann\tknows\tbob\n", {"target_column=2 takes the third column"});
  refused("0 pp 1\n1 pp 2\n", {"target \"pp\"", "from 0; target_column=2 takes the third column"});
  OpenOptions third;
  third.target_column = 2;
  EXPECT_EQ(open("0 pp 1\n1 pp 2\n", third)->graph->num_edges(), 2);
  refused("#a b\n#b c\n", {"holds no edges, for its lines are comments"});
  refused("source,target\n",
          {"holds no edges, but a line that is taken for a header; header_lines=0 takes "
           "it for an edge; num_nodes opens a graph without any"});
}

TEST_F(EdgeDoubts, OtherFormatsInText) {
  refused("1 10\n2 20\n#\n1 2\n", {"line 3", "Trivial Graph Format", "format=edges"});
  EXPECT_EQ(open("# a\n#\n0 1\n# b\n1 2\n")->graph->num_edges(), 2);
  refused("%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n",
          {"says that it is a Matrix Market file", "%%MatrixMarket"});
  for (const char* before : {"\n", " ", "\r\n\r\n"})
    EXPECT_EQ(open(std::string(before) +
                   "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n")
                  ->graph->num_edges(),
              2)
        << "both ways";
  open("3 2\n2 3\n\n\n", {}, "one_way.graph");
  EXPECT_TRUE(log_says("is taken for a list of edges; as a METIS graph"));
}

// A first column that names no edge, beside columns that may have the names of ends.
TEST_F(EdgeDoubts, TablesOfNodesWithColumnsLikeEnds) {
  for (const char* header : {"node,f0,f1,f2",
                             "paper,word0,word1,word2",
                             "id,target_1,target_2",
                             "id,split_1,split_2",
                             "node,community_a,community_b",
                             "student,exam1,exam2",
                             "node,left,right",
                             "user,start,end",
                             "chrom,start,end,score",
                             "station,t,h",
                             "lat,lon,u,v",
                             "well,row,column,value",
                             "id,group_a,group_b",
                             "id,left,top,right,bottom",
                             "left,top,right,bottom",
                             "f1,f2",
                             "emb_0,emb_1",
                             "umap_1,umap_2",
                             "index,PC1,PC2",
                             "#id,label",
                             "# node,label",
                             "% label,node",
                             "// Node ID,Degree",
                             "# node,f1,f2",
                             "# user,score",
                             "# key, value",
                             "goals1,goals2,rank1,rank2"}) {
    const auto columns = std::count(header, header + std::strlen(header), ',') + 1;
    std::string text = std::string(header) + "\n";
    for (int row = 0; row < 5; ++row)
      for (int64_t i = 0; i < columns; ++i)
        text += std::to_string(row * 3 + i) + (i + 1 < columns ? "," : "\n");
    refused(text, {"the header does not say that", "source_column"});
  }
  for (const char* header :
       {"layer,node1,node2", "day,i,j", "id,u,v", "time,u,i", "species,protein1,protein2",
        "edge_id,left,right", "ride,start_station_id,end_station_id", "id,gene_a,gene_b",
        "t,head,tail", "x,source,target", "#BioGRID ID,Gene Interactor A,Gene Interactor B",
        "# weight,source,target"}) {
    const auto dataset = open(std::string(header) + "\n1,3,4\n2,4,5\n3,5,3\n");
    EXPECT_EQ(edges(*dataset->graph)[0], std::pair(int64_t{3}, int64_t{4})) << header;
  }
}

// The pair of counted names that is of nodes has the ends.
TEST_F(EdgeDoubts, TwoPairsOfCountedNames) {
  for (const char* header : {"age1,age2,person1,person2", "rank1,rank2,team1,team2",
                             "community1,community2,n1,n2", "start,end,u,v", "start,end,a,b",
                             "degree_a,degree_b,gene_a,gene_b", "class1,class2,node1,node2"}) {
    const auto dataset = open(std::string(header) + "\n7,8,0,1\n7,9,1,2\n");
    EXPECT_EQ(edges(*dataset->graph)[0], std::pair(int64_t{0}, int64_t{1})) << header;
    EXPECT_TRUE(log_says("columns left out: ")) << header;
  }
  const auto matlab = relabeled("EndNodes_1,EndNodes_2\nanna,bert\nbert,carl\n");
  EXPECT_EQ(matlab->graph->num_edges(), 2);
}

TEST_F(EdgeDoubts, CommentsThatNameTablesOfNodes) {
  constexpr const char* kMayName = "may name the columns of a table of nodes";
  for (const char* comment : {"# node label", "#id class", "% vertex community", "# label node"}) {
    open(std::string(comment) + "\n0 1\n1 2\n2 0\n3 1\n");
    EXPECT_TRUE(log_says(kMayName)) << comment;
  }
  for (const char* comment :
       {"# Directed graph", "# edge list", "# Date: 2020", "# node label\n# x", "# source target",
        "# Nodes: 4", "# node_id user_id"}) {
    open(std::string(comment) + "\n0 1\n1 2\n2 0\n3 1\n");
    EXPECT_FALSE(log_says(kMayName)) << comment;
  }
  OpenOptions options;
  options.format = "edges";
  EXPECT_EQ(open("# id,label\n0,1\n1,2\n", options)->graph->num_edges(), 2);
}

// Ids of edges after the ends, and the code for a missing node.
TEST_F(EdgeDoubts, NumbersThatMayBeNoValues) {
  constexpr const char* kNumbers = "column 2 numbers the lines, as ids of edges do, but is taken";
  for (const char* text : {"0 1 0\n1 2 1\n2 0 2\n0 2 3\n", "5,1,1\n3,2,2\n2,0,3\n0,2,4\n"}) {
    EXPECT_EQ(open(text)->graph->edge_columns(0).count("weight"), 1u);
    EXPECT_TRUE(log_says(kNumbers)) << text;
  }
  for (const char* text :
       {"0 1 0\n1 2 1\n2 0 2\n", "0 1 5\n1 2 6\n2 0 7\n0 2 8\n", "0 1 0\n1 2 1\n2 0 2\n0 2 2\n",
        "source,target,weight\n0,1,1\n1,2,2\n2,0,3\n0,2,4\n"}) {
    open(text);
    EXPECT_FALSE(log_says(kNumbers)) << text;
  }
  relabeled("0 1\n1 2\n2 -1\n");
  EXPECT_TRUE(log_says("line 3: target -1 is taken for a node, but may stand for a missing one"));
}

// Tables of nodes open as edges if names are numbered.
TEST_F(EdgeDoubts, TablesOfNamesOfNodes) {
  OpenOptions options;
  options.relabel = true;
  expect_error(Status::kFormat, {"the header does not say that \"txId\" and \"class\""},
               [&] { open("txId,class\n7,unknown\n8,1\n9,2\n", options); });
  constexpr const char* kApart = "in a table of nodes with their names or labels";
  for (const char* text : {"0 Smith\n1 Miller\n2 Jones\n", "n1 0\nn2 1\nn3 1\n"}) {
    relabeled(text);
    EXPECT_TRUE(log_says(kApart)) << text;
  }
  for (const char* text : {"a b\nb c\n", "0 a\na 1\n", "1 2\n2 3\n", "source,target\n0,a\n1,b\n"}) {
    relabeled(text);
    EXPECT_FALSE(log_says(kApart)) << text;
  }
}

TEST_F(EdgeDoubts, SourcesThatBeginAsCommentsDo) {
  EXPECT_EQ(relabeled("source,target,n\nphd,#ai,2\n#ml,#ai,5\n#ai,#gnn,3\n")->graph->num_edges(),
            1);
  EXPECT_TRUE(log_says("line 3: \"#ml,#ai,5\" is passed over as a comment, but has as many"));
  for (const char* text : {"0 1\n# one two\n1 2\n", "0,1\n#why\n1,2\n", "0,1\n# 1,2\n1,2\n"}) {
    open(text);
    EXPECT_FALSE(log_says("passed over as a comment")) << text;
  }
  for (const char* text : {"0 1\n  # indented\n1 2\n", "0,1\n\t# indented\n1,2\n"})
    EXPECT_EQ(open(text)->graph->num_edges(), 2) << text;
}

TEST_F(EdgeDoubts, LineEndsOfMoreThanOneKind) {
  constexpr const char* kMixed = "it holds a line end of another kind";
  const std::vector<std::string> texts{"# of mine\n0\t1\r1\t2\r2\t0\r", "0 1\u20281 2\u20282 0\n",
                                       "0 1\u00851 2\u00852 0\n", "source,target\n0,1\r1,2\r2,0\r",
                                       "source,target\r0,1\n1,2\n2,0\n"};
  OpenOptions options;
  for (options.relabel = false;; options.relabel = true) {
    for (const std::string& text : texts)
      expect_error(Status::kFormat, {"line ", kMixed}, [&] { open(text, options); });
    if (options.relabel) break;
  }
}

TEST_F(EdgeDoubts, SeparatorsThatTheHintsName) {
  refused("0\t1\n1 2\n2 0\n", {"line 2", "separator=\" \" cuts at blanks and tabs"});
  OpenOptions options;
  options.separator = " ";
  EXPECT_EQ(open("0\t1\n1 2\n2 0\n", options)->graph->num_edges(), 3);
  options = {};
  options.target_column = 5;
  try {
    open("0,1,5\n1,2,6\n", options);
    ADD_FAILURE() << "no error";
  } catch (const base::Error& error) {
    EXPECT_EQ(std::string(error.what()).find("separator="), std::string::npos) << error.what();
  }
  for (const char* text : {"0.5\n0.25\n1.5\n", "-1.5\n2.5\n"}) try {
      open(text);
      ADD_FAILURE() << "no error";
    } catch (const base::Error& error) {
      EXPECT_EQ(std::string(error.what()).find("separator="), std::string::npos) << error.what();
    }
  options = {};
  options.relabel = true;
  const char* names = "anna/bert\nbert/carl\ncarl/anna\n";
  expect_error(Status::kFormat,
               {"line 1: \"anna/bert\", as all lines, has no tab", "separator says another"},
               [&] { open(names, options); });
  options.separator = "/";
  EXPECT_EQ(open(names, options)->graph->num_edges(), 3);
  options = {};
  options.num_nodes = 0;
  expect_error(Status::kRange, {"source 0, expected no edge of no nodes (num_nodes=0)"},
               [&] { open("0 1\n", options); });
}

// A triangle below its counts is a METIS graph too, but for loops, which METIS does not allow.
TEST_F(EdgeDoubts, CountsAboveATriangle) {
  EXPECT_EQ(edges(*open("3 3\n1 2\n1 3\n2 3\n")->graph),
            (std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {0, 2}, {1, 2}}));
}

}  // namespace
}  // namespace gnnmg::data
