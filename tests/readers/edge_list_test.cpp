// Lists of edges in text: separators, headers, comments, endings, relabeling, weights, and every
// line that cannot be read.
#include "base/memory.h"
#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using Edges = std::vector<std::pair<int64_t, int64_t>>;

class EdgeList : public testing::Test {
 protected:
  DatasetRef open(const std::string& text, const OpenOptions& options = {},
                  const std::string& name = "list.txt") {
    return opener_.open(dir_.write(name, text), options);
  }
  void expect_refused(const std::string& text, const std::vector<std::string>& parts,
                      const OpenOptions& options = {}, Status status = Status::kFormat) {
    expect_error(status, parts, [&] { open(text, options); });
  }
  std::vector<float> weights(const Dataset& dataset) {
    return values<float>(std::get<base::Tensor>(*dataset.graph->edge_column("weight")));
  }
  test::TempDir dir_;
  Opener opener_;
};

TEST_F(EdgeList, AnySeparator) {
  const Edges expected = {{0, 1}, {1, 2}, {3, 0}};
  for (const char* text :
       {"0 1\n1 2\n3 0\n", "0\t1\n1\t2\n3\t0\n", "0,1\n1,2\n3,0\n", "0;1\n1;2\n3;0\n",
        "0|1\n1|2\n3|0", "0, 1\r\n1, 2\r\n3, 0\r\n", "  0   1\n 1\t2 \n3 0\n",
        "\xef\xbb\xbf"
        "0 1\n1 2\n3 0\n"}) {
    const DatasetRef dataset = open(text);
    EXPECT_EQ(edges(*dataset->graph), expected) << text;
    EXPECT_EQ(dataset->graph->num_nodes(), 4) << text;
    EXPECT_EQ(dataset->graph->edge_column("weight"), nullptr);
  }
  OpenOptions options;
  options.separator = "x";
  EXPECT_EQ(edges(*open("0x1\n1x2\n3x0\n", options)->graph), expected);
  options.separator = "ab";
  expect_refused("0 1\n", {"separator \"ab\"", "one character"}, options, Status::kInvalidArgument);
}

TEST_F(EdgeList, CompressedAndNamed) {
  const DatasetRef dataset = open(gzip("0 1\n") + gzip("2 1\n"), {}, "roads.edges.gz");
  EXPECT_EQ(edges(*dataset->graph), (Edges{{0, 1}, {2, 1}}));
  EXPECT_EQ(dataset->name, "roads");
  EXPECT_EQ(dataset->task, Task::kNone);
  std::string cut = gzip("0 1\n2 1\n");
  cut[cut.size() - 6] ^= 1;
  expect_error(Status::kChecksum, {"bad.gz"}, [&] { open(cut, {}, "bad.gz"); });
}

TEST_F(EdgeList, CommentsBlanksAndHeaders) {
  const Edges expected = {{0, 1}, {1, 2}};
  for (const char* text :
       {"# nodes 3\n% edges 2\n// the end\n\n0 1\n   \n1 2\n", "source target\n0 1\n1 2\n",
        "# a\n\"from\",\"to\"\n0,1\n1,2\n", "header\n0 1\n1 2\n"})
    EXPECT_EQ(edges(*open(text)->graph), expected) << text;
  OpenOptions options;
  options.header = 2;
  EXPECT_EQ(edges(*open("3 1\n7 7\n0 1\n1 2\n", options)->graph), expected)
      << "METIS-like first lines that hold numbers";
  options.header = 0;
  expect_refused("source target\n0 1\n", {"line 1", "source \"source\""}, options);
  expect_refused("a b\nc d\n0 1\n", {"line 1", "source \"a\"", "relabel=1 numbers names"});
}

TEST_F(EdgeList, WeightsAndFurtherColumns) {
  const DatasetRef dataset = open("0,1,0.5,x\n1,2,-2,y\n");
  EXPECT_EQ(weights(*dataset), (std::vector<float>{0.5f, -2}));
  const std::string log = opener_.log();
  EXPECT_NE(log.find("column 2 kept as \"weight\""), std::string::npos) << log;
  EXPECT_NE(log.find("columns left out: 3"), std::string::npos) << log;
  EXPECT_EQ(open("0,1,x\n1,2,y\n")->graph->edge_column("weight"), nullptr);
  OpenOptions options;
  options.source_column = 2;
  options.target_column = 0;
  const DatasetRef moved = open("1,9,0\n2,8,1\n", options);
  EXPECT_EQ(edges(*moved->graph), (Edges{{0, 1}, {1, 2}}));
  EXPECT_EQ(weights(*moved), (std::vector<float>{9, 8}));
  options.target_column = 2;
  expect_refused("1,9,0\n", {"source_column 2, target_column 2"}, options,
                 Status::kInvalidArgument);
  for (const char* bad : {"nan", "inf", "1e400", "", "x"})
    expect_refused(std::string("0,1,1\n1,2,") + bad + "\n", {"line 2", "weight", "finite"});
  expect_refused("0,1,1\n1,2,1e300\n",
                 {"line 2", "weight \"1e300\"", "beyond the range of 32-bit floats"});
}

TEST_F(EdgeList, LinesThatCannotBeRead) {
  expect_refused("0 1\n-1 2\n", {"list.txt, line 2", "source -1", "an integer from 0"}, {},
                 Status::kRange);
  expect_refused("0 1\n1 2.0\n", {"line 2", "target \"2.0\""});
  expect_refused("0 1\n1 99999999999999999999\n", {"line 2", "target \"99999999999999999999\""});
  expect_refused("0 1\n1\n", {"line 2", "1 columns, expected 2 as in the first edge"});
  expect_refused("0 1\n1 2 3\n", {"line 2", "3 columns, expected 2"});
  expect_refused("0 1\n1 x\n", {"line 2", "target \"x\""});
  OpenOptions options;
  options.format = "edges";
  expect_refused(std::string("0 1\n1 \0 2\n", 10), {"line 2", "NUL"}, options);
  expect_refused("", {"list.txt", "holds no edges"});
  expect_refused("# nothing\n", {"holds no edges", "num_nodes"});
  expect_refused(std::string("0 1\n1 \0 2\n", 10), {"list.txt, line 2", "NUL byte at column 3"});
}

TEST_F(EdgeList, LinesMayEndWithCrAlone) {
  const Edges expected{{0, 1}, {1, 2}};
  EXPECT_EQ(edges(*open("0,1\r1,2\r")->graph), expected);
  EXPECT_EQ(edges(*open("source,target\r0,1\r1,2")->graph), expected);
}

// A line is passed over as a header only if nothing in it could be meant as a number.
TEST_F(EdgeList, NoEdgeIsTakenForAHeader) {
  for (const char* first : {"+-1,2", "0x0,0x1", "'0','1'", "1st,2nd", "1_000,2_000", "0:1", ".5,a"})
    expect_refused(base::text(first, "\n1,2\n"), {"line 1"});
  EXPECT_EQ(edges(*open("\"0\",\"1\"\n1,2\n")->graph), (Edges{{0, 1}, {1, 2}}));
  OpenOptions options;
  options.header = 1;
  EXPECT_EQ(edges(*open("1st,2nd\n1,2\n", options)->graph), (Edges{{1, 2}}));
}

TEST_F(EdgeList, PaddedAndSurplusGzip) {
  const std::string good = gzip("0 1\n2 1\n");
  EXPECT_EQ(open(good + std::string(200'000, '\0'), {}, "a.gz")->graph->num_edges(), 2);
  EXPECT_EQ(open(good + std::string(1, '\0'), {}, "a.gz")->graph->num_edges(), 2);
  for (const size_t zeros : {1, 200'000})
    expect_error(Status::kFormat, {"a.gz", "zeros and then other bytes"},
                 [&] { open(good + std::string(zeros, '\0') + good, {}, "a.gz"); });
}

TEST_F(EdgeList, NoTextByItsName) {
  OpenOptions options;
  options.num_nodes = 3;
  for (const char* name : {"empty.npz", "empty.npy"})
    expect_error(Status::kFormat, {name, "nothing that is known"},
                 [&] { open("", options, name); });
}

// Memory that grows while a list is read counts for the memory limit.
TEST_F(EdgeList, KeepsToTheMemoryLimit) {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += "0 1 2\n";
  const std::string path = dir_.write("long.txt.gz", gzip(text));
  const auto budget = std::make_shared<base::MemoryBudget>(int64_t{2} << 20);
  {
    const base::BudgetScope charged(budget);
    for (const bool relabel : {false, true}) {
      OpenOptions options;
      options.relabel = relabel;
      expect_error(Status::kNoMemory, {"memory limit of 2097152"},
                   [&] { opener_.open(path, options); });
      EXPECT_EQ(budget->used(), 0);
    }
    const std::string line = dir_.write("line.txt.gz", gzip(std::string(16 << 20, '1')));
    expect_error(Status::kFormat, {"line.txt.gz, line 1: has more than 1048576 bytes"},
                 [&] { opener_.open(line); });
  }
  EXPECT_EQ(opener_.open(path)->graph->num_edges(), 400'000);
}

TEST_F(EdgeList, NumberOfNodes) {
  OpenOptions options;
  options.num_nodes = 10;
  EXPECT_EQ(open("0 1\n", options)->graph->num_nodes(), 10);
  EXPECT_EQ(open("# none\n", options)->graph->num_nodes(), 10);
  options.num_nodes = 2;
  expect_refused("0 1\n1 2\n", {"line 2", "target 2", "expected 0 to 1"}, options, Status::kRange);
  // Ids out of proportion are names, not numbers.
  expect_refused("0 3000000000\n", {"id 3000000000, expected less than", "relabel"}, {},
                 Status::kRange);
  expect_refused("0 1\n0 9223372036854775807\n1 1\n",
                 {"list.txt, line 2: ", "9223372036854775807", "relabel"}, {}, Status::kRange);
  expect_refused("0 1\n-9223372036854775808 1\n", {"line 2", "source -9223372036854775808"}, {},
                 Status::kRange);
  expect_refused("0 1\n9223372036854775808 1\n", {"line 2", "source \"9223372036854775808\""});
  EXPECT_EQ(open("0 100000\n")->graph->num_nodes(), 100001);
}

TEST_F(EdgeList, Relabeling) {
  OpenOptions options;
  options.relabel = true;
  const DatasetRef dataset =
      open("9223372036854775807 -5\n-5 70\n70 9223372036854775807\n", options);
  EXPECT_EQ(dataset->graph->num_nodes(), 3);
  EXPECT_EQ(edges(*dataset->graph), (Edges{{0, 1}, {1, 2}, {2, 0}}));
  EXPECT_EQ(values<int64_t>(dense(*dataset, "original_id")),
            (std::vector<int64_t>{INT64_MAX, -5, 70}));
  options.num_nodes = 3;
  expect_refused("1 2\n", {"num_nodes 3", "relabel"}, options, Status::kInvalidArgument);
}

TEST_F(EdgeList, RelabelingManyIds) {
  OpenOptions options;
  options.relabel = true;
  std::string text;
  constexpr int64_t kCount = 20000, kStep = 64;  // multiples collide in a poor table
  for (int64_t i = 0; i < kCount; ++i)
    text += std::to_string(i * kStep) + " " + std::to_string((i + 1) % kCount * kStep) + "\n";
  const DatasetRef dataset = open(text, options);
  EXPECT_EQ(dataset->graph->num_nodes(), kCount);
  const auto original = dense(*dataset, "original_id").as<const int64_t>();
  for (const auto& [source, target] : edges(*dataset->graph))
    ASSERT_EQ((original[source] + kStep) % (kCount * kStep), original[target]);
}

TEST_F(EdgeList, DirectedUnlessAsked) {
  OpenOptions options;
  EXPECT_EQ(open("0 1\n1 0\n0 1\n", options)->graph->num_edges(), 3) << "kept as listed";
  options.undirected = 1;
  const DatasetRef dataset = open("0 1 5\n2 1 6\n0 1 7\n", options);
  EXPECT_EQ(edges(*dataset->graph), (Edges{{1, 0}, {0, 1}, {2, 1}, {1, 2}}));
  EXPECT_EQ(weights(*dataset), (std::vector<float>{5, 5, 6, 6})) << "that of the first";
}

TEST_F(EdgeList, CancelAndLimits) {
  std::string text;
  for (int i = 0; i < 400000; ++i) text += "1 2\n";
  OpenOptions options;
  options.max_bytes = 100000;
  const std::string path = dir_.write("long.txt.gz", gzip(text));
  expect_error(Status::kInvalidArgument, {"long.txt.gz", "max_file_bytes"},
               [&] { opener_.open(path, options); });
  opener_.cancel().cancel();
  expect_error(Status::kCancelled, {}, [&] { opener_.open(path); });
}

}  // namespace
}  // namespace gnnmg::data
