// Errors with a remedy: each text is refused, and opens after the change that the error names.
#include <cmath>
#include <filesystem>

#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;

class Remedies : public testing::Test {
 protected:
  void refused(const std::string& path, const std::vector<std::string>& parts,
               Status status = Status::kFormat) {
    expect_error(status, parts, [&] { opener_.open(dir_.file(path)); });
  }
  int64_t edges(const std::string& path) {
    return opener_.open(dir_.file(path))->graph->num_edges();
  }
  test::TempDir dir_;
  Opener opener_;
};

TEST_F(Remedies, MatrixMarket) {
  const std::string all = "%%MatrixMarket matrix coordinate ";
  struct Case {
    std::string text, error, mended;
    Status status = Status::kFormat;
  };
  const std::vector<Case> cases = {
      {"real general\n3 3 3\n1 2 1.5\n2 3 2\n",
       "ends after 2 entries, expected 3; fetch the whole file, or write 2 as the last number of "
       "line 2",
       "real general\n3 3 2\n1 2 1.5\n2 3 2\n"},
      {"real general\n% c\n3 3 1\n1 2 1.5\n2 3 2\n",
       "line 5: expected the end after 1 entries, found another line; write the number of all as "
       "the last number of line 3",
       "real general\n% c\n3 3 2\n1 2 1.5\n2 3 2\n"},
      {"real general\n3 3 2\n0 1 1.5\n1 2 2\n",
       "row 0, expected 1 to 3; the format counts from 1: add 1 to all rows and columns",
       "real general\n3 3 2\n1 2 1.5\n2 3 2\n", Status::kRange},
      {"real general\n3 3 2\n1 4 1.5\n2 3 2\n",
       "column 4, expected 1 to 3, the numbers of rows and columns in line 2",
       "real general\n4 4 2\n1 4 1.5\n2 3 2\n", Status::kRange},
      {"real skew-symmetric\n3 3 3\n2 2 1.5\n2 1 1\n3 2 2\n",
       "none; leave it out, and write one entry less in line 2",
       "real skew-symmetric\n3 3 2\n2 1 1\n3 2 2\n"},
      {"real general\n3 3 2\n1 2 1.5D+00\n2 3 2\n",
       "value \"1.5D+00\", expected a finite number; sed -i '2,$s/[dD]/e/g' writes exponents with "
       "e",
       "real general\n3 3 2\n1 2 1.5e+00\n2 3 2\n"},
      {"real general\n3 3 3\n1 2 inf\n2 3 2\n2 1 3\n",
       "value \"inf\", expected a finite number; leave the entry out, and write one entry less in "
       "line 2",
       "real general\n3 3 2\n2 3 2\n2 1 3\n"},
      {"pattern general\n3 3 2\n1 2 0.5\n2 3 0.25\n",
       "3 numbers, expected 2, row and column; to keep values write real in place of pattern in "
       "line 1",
       "real general\n3 3 2\n1 2 0.5\n2 3 0.25\n"},
      {"real general\n3 3 2\n1 2\n2 3\n",
       "2 numbers, expected 3, row, column and value; entries without values need pattern in place "
       "of the type of values in line 1",
       "pattern general\n3 3 2\n1 2\n2 3\n"},
      {"real general\n3 3 2\n1 2 1.5 % the first\n2 3 2\n",
       "at most three; a comment has a line of its own: sed -i '2,$s/%.*//' removes those",
       "real general\n3 3 2\n1 2 1.5 \n2 3 2\n"},
      {"real general\n3 3 2\n1 2 1.5 %first\n2 3 2\n",
       "4 numbers, expected 3, row, column and value; a comment has a line of its own",
       "real general\n3 3 2\n1 2 1.5 \n2 3 2\n"}};
  for (const auto& [text, error, mended, status] : cases) {
    dir_.write("a.mtx", all + text);
    refused("a.mtx", {error}, status);
    dir_.write("a.mtx", all + mended);
    EXPECT_EQ(edges("a.mtx"), text.starts_with("real skew") ? 4 : 2) << mended;
  }
}

TEST_F(Remedies, TuDortmund) {
  dir_.write("T/T_A.txt", "1, 2\n");
  dir_.write("T/T_graph_indicator.txt", "1\n1\n2\n");
  dir_.write("T/T_graph_labels.txt", "0.5\nnan\n");
  refused("T", {"the label \"nan\", expected a number; a class may be any integer; numbers of "
                "which some are missing stand in NAME_graph_attributes.txt"});
  std::filesystem::rename(dir_.file("T/T_graph_labels.txt"), dir_.file("T/T_graph_attributes.txt"));
  const auto labels = *opener_.open(dir_.file("T"))->labels();
  EXPECT_EQ(labels.as<const float>()[0], .5f);
  EXPECT_TRUE(std::isnan(labels.as<const float>()[1])) << "none";
  std::filesystem::remove(dir_.file("T/T_graph_attributes.txt"));
  dir_.write("T/T_graph_labels.txt", "1\n\n");
  refused("T", {"T_graph_labels.txt: holds 1 rows, expected 2, the number of graphs in ",
                "; write a row for each, blank lines do not count"});
  dir_.write("T/T_graph_labels.txt", "1\n2\n");
  EXPECT_EQ(edges("T"), 2);
  dir_.write("T/T_graph_labels.txt", "# labels\n1\n2\n");
  refused("T", {"the label \"# labels\", expected a number; the format has no comments"});
  dir_.write("T/T_graph_labels.txt", "1\n2\n");
  dir_.write("T/T_node_labels.txt", "0 1\n1 1\n0 0\n");
  refused("T", {"the label \"0 1\", expected an integer; several have commas between"});
  dir_.write("T/T_node_labels.txt", "0,1\n1,1\n0,0\n");
  dir_.write("T/T_A.txt", "1, 2, 0.5\n");
  refused("T", {"\"1, 2, 0.5\", expected two nodes; numbers of edges stand in "
                "NAME_edge_attributes.txt"});
  dir_.write("T/T_A.txt", "1, 2\n");
  dir_.write("T/T_edge_attributes.txt", "0.5\n");
  EXPECT_EQ(edges("T"), 2);
  dir_.write("T/T_graph_indicator.txt", "1\n2\n1\n");
  refused("T", {"line 3: graph 1, expected 2 or more",
                "number the nodes anew, sorted by graph, in "
                "all files"});
  dir_.write("T/T_graph_indicator.txt", "1\n2\n2\n");
  refused("T",
          {"joins node 1 of graph 1 and node 2 of graph 2; nodes are counted from 1 over all "
           "graphs"},
          Status::kRange);
}

TEST_F(Remedies, MissingFilesThatArePacked) {
  dir_.write("o/raw/edge.csv", "0,1\n");
  dir_.write("o/raw/num-node-list.csv.bz2", "x");
  refused("o", {"num-node-list.csv.gz: open: ", "; num-node-list.csv.bz2 is there: unpack it"},
          Status::kNotFound);
  dir_.write("o/raw/num-node-list.csv", "2\n");
  dir_.write("o/raw/num-edge-list.csv", "1\n");
  EXPECT_EQ(edges("o"), 1);
  dir_.write("p/ind.tiny.graph", "");
  dir_.write("p/ind.tiny.y.gz", "");
  refused("p", {"ind.tiny.y: open: ", "; ind.tiny.y.gz is there: unpack it"}, Status::kNotFound);
}

TEST_F(Remedies, ConflictsOfGit) {
  for (const char* text : {"<<<<<<< HEAD\n0,1\n=======\n0,2\n>>>>>>> x\n",
                           "0,3\n<<<<<<< HEAD\n0,1\n=======\n0,2\n>>>>>>> x\n"}) {
    dir_.write("a.csv", text);
    refused("a.csv", {"is a text with a conflict of git, which is not read; resolve it"});
  }
  dir_.write("a.csv", "0,3\n0,2\n");
  EXPECT_EQ(edges("a.csv"), 2);
}

}  // namespace
}  // namespace gnnmg::data
