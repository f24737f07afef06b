// Faults: files that claim more than they hold may not cost memory, every allocation and every call
// on files may fail, and power may go while a data set is saved.
#include <array>
#include <filesystem>

#include "readers/pickles.h"
#include "readers/support.h"
#include "support/alloc_faults.h"
#include "support/file_faults.h"
#include "support/power_loss.h"

namespace gnnmg::data {
namespace {

using base::Status;
namespace fs = std::filesystem;

int64_t bytes_below(const std::string& path) {
  if (!fs::is_directory(path)) return static_cast<int64_t>(fs::file_size(path));
  int64_t total = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) total += static_cast<int64_t>(entry.file_size());
  return total;
}

// One small valid data set in each format.
void write_sets(const test::TempDir& dir, base::ThreadPool& pool) {
  dir.write("plain/edges.npy", npy_of<int32_t>({0, 1, 1, 2}, "(2, 2)"));
  dir.write("plain/labels.npy", npy_of<int32_t>({0, 1, 2}, "(3,)"));
  dir.write("plain/feat.npy", npy_of<float>({1, 2, 3}, "(3, 1)"));
  dir.write("plain/split_a.npy", npy_of<uint8_t>({1, 2, 3}, "(1, 3)"));
  dir.write("plain/meta.json", R"({"nodes": 3})");
  dir.write("list.csv", "a,b,w\n0,1,5\n1,2,6\n");
  dir.write("ogb/raw/num-node-list.csv.gz", gzip("3\n"));
  dir.write("ogb/raw/num-edge-list.csv.gz", gzip("2\n"));
  dir.write("ogb/raw/edge.csv.gz", gzip("0,1\n1,2\n"));
  dir.write("ogb/raw/node-feat.csv.gz", gzip("1\n2\n3\n"));
  dir.write("ogb/raw/node-label.csv.gz", gzip("1\n0\n1\n"));
  dir.write("ogb/split/s/train.csv.gz", gzip("0\n"));
  dir.write("ogb/split/s/valid.csv.gz", gzip("1\n"));
  dir.write("ogb/split/s/test.csv.gz", gzip("2\n"));
  using pickles::finish;
  const auto one_hot = [](int64_t rows, const std::vector<int32_t>& values) {
    return finish(pickles::array("i4", {rows, 2}, raw(values)));
  };
  dir.write("planetoid/ind.t.y", one_hot(1, {1, 0}));
  dir.write("planetoid/ind.t.ally", one_hot(2, {1, 0, 0, 1}));
  dir.write("planetoid/ind.t.ty", one_hot(1, {1, 0}));
  dir.write("planetoid/ind.t.allx", finish(pickles::csr(2, 2, {0, 1, 2}, {0, 1}, {1, 1})));
  dir.write("planetoid/ind.t.tx", finish(pickles::csr(1, 2, {0, 1}, {0}, {1})));
  dir.write("planetoid/ind.t.test.index", "2\n");
  dir.write("planetoid/ind.t.graph",
            finish(pickles::dict_of_lists({{0, {1}}, {1, {0, 2}}, {2, {1}}})));
  write_npz(dir.file("hetero.npz"), {{"node_features", npy_of<float>({1, 2, 3}, "(3, 1)")},
                                     {"node_labels", npy_of<int64_t>({1, 0, 1}, "(3,)")},
                                     {"edges", npy_of<int64_t>({0, 1, 1, 2}, "(2, 2)")}});
  write_npz(dir.file("shchur.npz"), {{"adj_data", npy_of<float>({1, 2}, "(2,)")},
                                     {"adj_indices", npy_of<int32_t>({1, 2}, "(2,)")},
                                     {"adj_indptr", npy_of<int32_t>({0, 1, 2, 2}, "(4,)")},
                                     {"adj_shape", npy_of<int64_t>({3, 3}, "(2,)")},
                                     {"labels", npy_of<int64_t>({1, 0, 1}, "(3,)")}});
  dir.write("gin/s.txt", "2\n2 0\n1 1 1\n2 1 0\n1 1\n1 0\n");
  dir.write("gin/fold_of_graph.txt", "0\n1\n");
  dir.write("gin/splits_fair/s.json",
            R"([{"test": [0], "model_selection": [{"train": [1], "validation": []}]}])");
  dir.write("tu/s_A.txt", "1, 2\n2, 1\n");
  dir.write("tu/s_graph_indicator.txt", "1\n1\n2\n");
  dir.write("tu/s_graph_labels.txt", "0\n1\n");
  dir.write("tu/s_node_attributes.txt", "1\n2\n3\n");
  write_npz(dir.file("packed.npz"), {{"node_ptr", npy_of<int64_t>({0, 2, 3}, "(3,)")},
                                     {"edge_ptr", npy_of<int64_t>({0, 1, 1}, "(3,)")},
                                     {"edges", npy_of<int32_t>({0, 1}, "(1, 2)")},
                                     {"labels", npy_of<uint8_t>({0, 1}, "(2,)")}});
  Dataset dataset = *make_dataset(small_graph(pool), "x", "y", false,
                                  {split_from_codes(std::vector<uint8_t>{1, 2, 3, 0}, "s", 0, "")});
  save_dataset(dataset, dir.file("native"));
}

const char* const kSets[] = {"plain",      "list.csv", "ogb", "planetoid", "hetero.npz",
                             "shchur.npz", "native",   "gin", "tu",        "packed.npz"};

// Files whose headers claim terabytes cost no more than twice their own size and a mebibyte.
TEST(Memory, ClaimsAreNotBelieved) {
  test::TempDir dir;
  Opener opener(1);
  write_sets(dir, opener.pool());
  const std::string huge_shape = "(1099511627776,)", huge_matrix = "(1099511627776, 2)";
  const auto attack = [&](const std::string& set, const std::string& file,
                          const std::string& bytes) {
    const fs::path copy = dir.file("attacked");
    fs::remove_all(copy);
    fs::create_directories(copy);
    fs::copy(dir.file(set), copy / "set", fs::copy_options::recursive);
    const std::string target = copy / "set" / file;
    ASSERT_TRUE(fs::exists(target)) << target;
    dir.write("attacked/set/" + file, bytes);
    const int64_t limit = 2 * bytes_below(copy) + (1 << 20);
    test::AllocationFaults watch;
    EXPECT_THROW(opener.open(copy / "set"), base::Error) << file;
    EXPECT_LE(watch.peak_bytes(), limit) << file;
  };
  attack("plain", "labels.npy", npy_text("<i4", huge_shape, "x"));
  attack("plain", "edges.npy", npy_text("<i4", huge_matrix, "x"));
  attack("plain", "feat.npy", npy_text("<f4", huge_matrix, "x"));
  attack("plain", "split_a.npy", npy_text("|u1", "(1099511627776, 3)", "x"));
  attack("native", "node-node-x.npy", npy_text("<f4", huge_matrix, "x"));
  attack("native", "edge-edge.indices.npy", npy_text("<i4", huge_shape, "x"));
  std::string metadata = test::slurp(dir.file("native/metadata.json"));
  const std::string small = "\"num_nodes\": 4,", huge = "\"num_nodes\": 4398046511104,";
  metadata.replace(metadata.find(small), small.size(), huge);
  attack("native", "metadata.json", metadata);
  attack("ogb", "raw/num-node-list.csv.gz", gzip("1099511627776\n"));
  attack("ogb", "raw/num-edge-list.csv.gz", gzip("1099511627776\n"));
  attack("ogb", "raw/edge.csv.gz", gzip("0,1\n1,1099511627776\n"));
  attack("ogb", "split/s/train.csv.gz", gzip("1099511627776\n"));
  attack("planetoid", "ind.t.test.index", "1099511627776\n");
  attack("planetoid", "ind.t.allx",
         pickles::finish(pickles::csr(int64_t{1} << 30, 2, {0, 1, 2}, {0, 1}, {1, 1})));
  attack("planetoid", "ind.t.ally",
         pickles::finish(pickles::array("i4", {int64_t{1} << 40, 2}, "x")));
}

TEST(Memory, OneFileClaims) {
  test::TempDir dir;
  Opener opener(1);
  const auto attack = [&](const std::string& path) {
    const int64_t limit = 2 * bytes_below(path) + (1 << 20);
    test::AllocationFaults watch;
    EXPECT_THROW(opener.open(path), base::Error) << path;
    EXPECT_LE(watch.peak_bytes(), limit) << path;
  };
  attack(dir.write("ids.txt", "0 3000000000\n"));
  write_npz(dir.file("shchur.npz"),
            {{"adj_data", npy_of<float>({1}, "(1,)")},
             {"adj_indices", npy_of<int32_t>({1}, "(1,)")},
             {"adj_indptr", npy_text("<i8", "(1099511627776,)", raw<int64_t>({0, 1}))},
             {"adj_shape", npy_of<int64_t>({int64_t{1} << 30, int64_t{1} << 30}, "(2,)")}});
  attack(dir.file("shchur.npz"));
  write_npz(dir.file("hetero.npz"), {{"node_features", npy_text("<f4", "(1099511627776, 1)", "x")},
                                     {"node_labels", npy_of<int64_t>({1}, "(1,)")},
                                     {"edges", npy_of<int64_t>({0, 0}, "(1, 2)")}});
  attack(dir.file("hetero.npz"));
  attack(dir.write("claims.txt", "1000000000000\n1 0\n0 0\n"));
  attack(dir.write("claims.txt", "1\n2000000000 0\n0 1 1\n"));
  write_npz(dir.file("packed.npz"), {{"node_ptr", npy_of<int64_t>({0, int64_t{1} << 30}, "(2,)")},
                                     {"edge_ptr", npy_of<int64_t>({0, 1}, "(2,)")},
                                     {"edges", npy_of<int32_t>({0, 1}, "(1, 2)")}});
  attack(dir.file("packed.npz"));
}

// While a text is read, memory stays below twice its bytes and a mebibyte; the finished graph may
// take more, for by then every line has been checked.
TEST(Memory, TextsAreHeldInFourBytesANumber) {
  test::TempDir dir;
  Opener opener(1);
  std::string text;
  for (int i = 0; i < 1000000; ++i) text += "0,1\n";
  text += "x,1\n";
  const int64_t size = static_cast<int64_t>(text.size());
  const std::string path = dir.write("list.csv", text);
  test::AllocationFaults watch;
  EXPECT_THROW(opener.open(path), base::Error);
  EXPECT_LE(watch.peak_bytes(), 2 * size + (1 << 20));
}

// A line of millions of columns, which gzip makes small, takes no more than the longest line may.
TEST(Memory, WideLines) {
  test::TempDir dir;
  Opener opener(1);
  std::string wide;
  for (int i = 0; i < 8'000'000; ++i) wide += "0,";
  const std::string path = dir.write("wide.csv.gz", gzip(wide + "0\n"));
  {
    test::AllocationFaults watch;
    EXPECT_THROW(opener.open(path), base::Error);
    EXPECT_LE(watch.peak_bytes(), 6 << 20);
  }
  OpenOptions gin;
  gin.format = "gin";
  std::replace(wide.begin(), wide.end(), ',', ' ');
  const std::string graphs = dir.write("gin.txt.gz", gzip("1\n1 0\n0 0 " + wide + "\n"));
  test::AllocationFaults watch;
  EXPECT_THROW(opener.open(graphs, gin), base::Error);
  EXPECT_LE(watch.peak_bytes(), 3 * static_cast<int64_t>(wide.size()) + (8 << 20));
}

TEST(Memory, TextsOfGraphsAreHeldInTwiceTheirSize) {
  test::TempDir dir;
  Opener opener(1);
  OpenOptions options;
  options.format = "gin";
  std::string small = "500001\n", large = "1\n1001 0\n";
  for (int i = 0; i < 500000; ++i) small += "1 0\n0 0\n";
  for (int i = 0; i < 1000; ++i) {
    large += "0 1000";
    for (int k = 0; k < 1000; ++k) large += " 1";
    large += "\n";
  }
  for (const std::string& text : {small, large}) {
    const std::string path = dir.write("set.txt", text);
    test::AllocationFaults watch;
    EXPECT_THROW(opener.open(path, options), base::Error);
    EXPECT_LE(watch.peak_bytes(), 2 * static_cast<int64_t>(text.size()) + (1 << 20));
  }
}

TEST(Memory, EveryAllocationMayFail) {
  test::TempDir dir;
  base::ThreadPool pool(1);
  write_sets(dir, pool);
  for (const char* set : kSets) {
    const std::string path = dir.file(set);
    const int64_t runs = test::fail_each_allocation([&] {
      base::Log log;
      open_dataset(path, {}, {pool, log, {}});
    });
    EXPECT_GT(runs, 20) << set;
  }
}

TEST(Files, EveryCallMayFailWhileReading) {
  test::TempDir dir;
  base::ThreadPool pool(1);
  write_sets(dir, pool);
  for (const char* set : kSets) {
    const std::string path = dir.file(set);
    int64_t edges = -1;
    const auto read = [&] {
      base::Log log;
      edges = -1;
      edges = open_dataset(path, {}, {pool, log, {}})->graph->num_edges();
    };
    read();
    const int64_t expected = edges;
    const int64_t runs =
        test::fail_each_file_call({}, read, [&](int64_t n, const base::Error* error) {
          if (!error) {  // a failing close loses nothing that was read
            EXPECT_EQ(edges, expected) << set << " " << n;
            return;
          }
          EXPECT_EQ(error->status(), Status::kIo) << set << " " << n << ": " << error->what();
          EXPECT_EQ(error->system_error(), EIO) << set << " " << n;
        });
    EXPECT_GT(runs, 3) << set;
  }
}

TEST(Files, ReadsMayComeShortAndBeInterrupted) {
  test::TempDir dir;
  base::ThreadPool pool(1);
  write_sets(dir, pool);
  test::FileFaults faults({.chunk = 3, .interrupts = true});
  for (const char* set : kSets) {
    base::Log log;
    EXPECT_GT(open_dataset(dir.file(set), {}, {pool, log, {}})->graph->num_edges(), 0) << set;
  }
}

TEST(Files, EveryCallMayFailWhileSaving) {
  test::TempDir dir;
  Opener opener(1);
  const DatasetRef dataset = make_dataset(small_graph(opener.pool()), "x", "y", false, {});
  for (const int error : {EIO, ENOSPC}) {
    const int64_t runs = test::fail_each_file_call(
        {.error = error},
        [&] {
          fs::remove_all(dir.file("set"));
          save_dataset(*dataset, dir.file("set"));
        },
        [&](int64_t n, const base::Error* failure) {
          // The set under the name is whole, whether or not the call says so.
          if (!failure || fs::exists(dir.file("set"))) {
            EXPECT_EQ(opener.open(dir.file("set"))->graph->num_edges(), 5) << n;
          }
          if (!failure) return;
          EXPECT_EQ(failure->status(), Status::kIo) << n << ": " << failure->what();
          EXPECT_EQ(failure->system_error(), error) << n;
        });
    EXPECT_GT(runs, 50);
  }
}

// A power failure at any write leaves no data set, or the whole of it.
TEST(Files, PowerLossWhileSaving) {
  Opener opener(1);
  const DatasetRef dataset = make_dataset(small_graph(opener.pool()), "x", "y", false, {});
  constexpr uint64_t kOutcomes = 6;
  int64_t complete = 0;
  bool lost = true;
  for (int64_t calls = 1; lost; ++calls) {
    std::array<test::TempDir, kOutcomes> after;
    bool saved = false;
    {
      const test::TempDir before;
      const test::PowerLoss power(before.path(), calls);
      try {
        save_dataset(*dataset, before.file("set"));
        saved = true;
      } catch (const base::Error&) {
      }
      lost = power.lost();
      for (uint64_t seed = 0; seed < kOutcomes; ++seed) power.restart(seed, after[seed].path());
    }
    for (const test::TempDir& machine : after) {
      if (!fs::exists(machine.file("set"))) {
        EXPECT_FALSE(saved) << "after " << calls << " calls";
        continue;
      }
      ++complete;
      EXPECT_EQ(opener.open(machine.file("set"))->graph->num_edges(), 5) << calls;
    }
  }
  EXPECT_GT(complete, 0);
}

}  // namespace
}  // namespace gnnmg::data
