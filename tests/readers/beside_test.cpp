// Files beside a data set: splits that are read, numbers that are named because nobody reads them,
// and other data sets.
#include <filesystem>

#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using Ids = std::vector<int64_t>;

class Beside : public testing::Test {
 protected:
  void edge_weight(const std::string& folder) {
    dir_.write(folder + "/edge_weight.npy", npy_of<float>({1, 2}, "(2,)"));
  }
  void plain(const std::string& folder) {
    dir_.write(folder + "/edges.npy", npy_of<int32_t>({0, 1, 1, 2}, "(2, 2)"));
    dir_.write(folder + "/labels.npy", npy_of<int32_t>({0, 1, 0, 1}, "(4,)"));
  }
  void shchur(const std::string& path) {
    dir_.write(path, "");
    write_npz(dir_.file(path), {{"adj_data", npy_of<float>({1, 1}, "(2,)")},
                                {"adj_indices", npy_of<int32_t>({1, 2}, "(2,)")},
                                {"adj_indptr", npy_of<int32_t>({0, 1, 2, 2, 2}, "(5,)")},
                                {"adj_shape", npy_of<int64_t>({4, 4}, "(2,)")},
                                {"labels", npy_of<int64_t>({0, 1, 0, 1}, "(4,)")}});
  }
  void packed(const std::string& path) {
    dir_.write(path, "");
    write_npz(dir_.file(path), {{"node_ptr", npy_of<int64_t>({0, 1, 2, 3, 4}, "(5,)")},
                                {"edge_ptr", npy_of<int64_t>({0, 0, 0, 0, 0}, "(5,)")},
                                {"edges", npy_text("<i8", "(0, 2)", "")},
                                {"labels", npy_of<int64_t>({0, 1, 0, 1}, "(4,)")}});
  }
  void ogb(const std::string& folder) {
    dir_.write(folder + "/raw/num-node-list.csv", "4\n");
    dir_.write(folder + "/raw/num-edge-list.csv", "2\n");
    dir_.write(folder + "/raw/edge.csv", "0,1\n1,2\n");
    dir_.write(folder + "/raw/node-label.csv", "0\n1\n0\n1\n");
  }
  void gin(const std::string& path) {
    dir_.write(path, "4\n1 0\n0 0\n1 1\n0 0\n1 0\n0 0\n1 1\n0 0\n");
  }
  void tu(const std::string& folder) {
    dir_.write(folder + "/T_A.txt", "");
    dir_.write(folder + "/T_graph_indicator.txt", "1\n2\n3\n4\n");
    dir_.write(folder + "/T_graph_labels.txt", "0\n1\n0\n1\n");
  }
  DatasetRef open(const std::string& name, const char* format = "") {
    opener_.log();
    OpenOptions options;
    options.format = format;
    return opener_.open(dir_.file(name), options);
  }
  void expect_log(const std::string& part) {
    const std::string log = opener_.log();
    EXPECT_NE(log.find(part), std::string::npos) << "\"" << part << "\" is not in: " << log;
  }
  void make(const std::string& name) {
    if (name == "plain") plain(name);
    if (name == "ogb") ogb(name);
    if (name == "tu") tu(name);
    if (name == "shchur") shchur(name + "/set.npz");
    if (name == "packed") packed(name + "/set.npz");
    if (name == "gin") gin(name + "/set.txt");
  }
  static constexpr const char* kSets[] = {"plain", "ogb", "tu", "shchur", "packed", "gin"};
  test::TempDir dir_;
  Opener opener_;
};

TEST_F(Beside, FilesOfNumbersAreNamed) {
  for (const std::string name : kSets) {
    make(name);
    edge_weight(name);
    dir_.write(name + "/features.h5", "x");
    dir_.write(name + "/train_idx.npy", npy_of<int64_t>({0}, "(1,)"));
    dir_.write(name + "/notes.md", "words");
    EXPECT_TRUE(open(name)->splits.empty()) << name;
    expect_log(
        ": files that the format does not know are left out: edge_weight.npy, features.h5, "
        "train_idx.npy\n");
  }
  edge_weight("ogb/raw");
  open("ogb");
  expect_log("ogb/raw: files that the format does not know are left out: edge_weight.npy\n");
  dir_.write("list/edges.csv", "0,1\n");
  dir_.write("list/others.csv", "0,1\n");
  edge_weight("list");
  open("list/edges.csv");
  expect_log("are left out: edge_weight.npy\n");
}

// The unpacked one of two is read.
TEST_F(Beside, PackedCopiesAreNamed) {
  tu("tu");
  dir_.write("tu/T_A.txt.gz", gzip("1,2\n2,1\n"));
  EXPECT_EQ(open("tu")->graph->num_edges(), 0);
  expect_log("are left out: T_A.txt.gz\n");
}

TEST_F(Beside, SetsInFoldersAreNamed) {
  for (const std::string name : {"plain", "tu", "shchur", "packed"}) {
    make(name);
    plain(name + "/older");
    dir_.write(name + "/notes/words.txt", "of no data set");
    open(name);
    expect_log(name + ": passes over the data set ");
  }
  ogb("ogb");
  plain("ogb/raw/x");
  open("ogb");
  EXPECT_EQ(opener_.log().find("passes over"), std::string::npos);
  save_dataset(*open("plain"), dir_.file("plain/saved"));
  open("plain/older");
  EXPECT_EQ(opener_.log().find("passes over"), std::string::npos);
}

TEST_F(Beside, SplitsOfAClearFormAreRead) {
  for (const std::string name : kSets) {
    make(name);
    for (const auto& [part, mask] :
         {std::pair<const char*, std::vector<uint8_t>>{"train", {1, 1, 0, 0}},
          {"val", {0, 0, 1, 0}},
          {"test", {0, 0, 0, 1}}})
      dir_.write(base::text(name, "/", part, "_mask.npy"), npy_text("|b1", "(4,)", raw(mask)));
    write_npz(dir_.file(name + "/split.npz"), {{"train", npy_of<int64_t>({3}, "(1,)")},
                                               {"valid", npy_text("<f8", "(0,)", "")},
                                               {"test", npy_of<int64_t>({0, 2}, "(2,)")}});
    const DatasetRef dataset = open(name);
    const std::string log = opener_.log();
    EXPECT_EQ(log.find("left out"), std::string::npos) << log;
    ASSERT_EQ(dataset->splits.size(), 2u) << name;
    EXPECT_EQ(ids(dataset->split("beside", 0), SplitPart::kTrain), (Ids{3}));
    EXPECT_EQ(ids(dataset->split("beside", 0), SplitPart::kTest), (Ids{0, 2}));
    EXPECT_EQ(ids(dataset->split("beside", 1), SplitPart::kTrain), (Ids{0, 1}));
    EXPECT_EQ(ids(dataset->split("beside", 1), SplitPart::kValidation), (Ids{2}));
  }
}

TEST_F(Beside, SplitsOfOtherSetsAreLeftOut) {
  for (const std::string name : kSets) {
    make(name);
    write_npz(dir_.file(name + "/split.npz"), {{"train", npy_of<int64_t>({9}, "(1,)")},
                                               {"val", npy_of<int64_t>({1}, "(1,)")},
                                               {"test", npy_of<int64_t>({0, 2}, "(2,)")}});
    write_npz(dir_.file(name + "/splits.npz"), {{"mine", npy_of<int64_t>({9}, "(1,)")}});
    EXPECT_TRUE(open(name)->splits.empty()) << name;
    const std::string log = opener_.log();
    EXPECT_NE(log.find("; the split is left out"), log.npos) << log;
    EXPECT_NE(log.find("are left out: splits.npz\n"), log.npos) << log;
  }
}

TEST_F(Beside, TablesOfOneSplitThatAreTooMany) {
  ogb("o");
  for (const char* part : {"train", "valid", "val", "test"})
    dir_.write(base::text("o/split/own/", part, ".csv"), part[0] == 't' ? "0\n" : "1\n");
  dir_.write("o/split/own/test.csv", "2\n");
  EXPECT_EQ(ids(open("o")->split("own", 0), SplitPart::kValidation), (Ids{1}));
  expect_log("split/own: files that the format does not know are left out: val.csv\n");
  std::filesystem::remove(dir_.file("o/split/own/val.csv"));
  std::filesystem::remove(dir_.file("o/split/own/valid.csv"));
  expect_error(Status::kNotFound, {"split/own/valid.csv.gz: open: no such file", "one empty line"},
               [&] { open("o"); });
}

TEST_F(Beside, TwoFormatsInAFolderAreAQuestion) {
  plain("two");
  shchur("two/photo.npz");
  expect_error(Status::kFormat,
               {"two: holds data sets of different formats: ", "two (plain) and ",
                "photo.npz (shchur)", "format=plain or format=shchur chooses one"},
               [&] { open("two"); });
  EXPECT_EQ(open("two", "shchur")->name, "photo");
  EXPECT_EQ(open("two", "plain")->name, "two");
  expect_log("photo.npz");
  plain("sub/x");
  ogb("sub/y");
  expect_error(Status::kFormat, {"x (plain) and ", "y (ogb)"}, [&] { open("sub"); });
  // Two forms of one set, and a copy in the own format.
  plain("forms/plain");
  shchur("forms/orig/a.npz");
  EXPECT_EQ(open("forms")->graph->num_nodes(), 4);
  expect_log("passes over");
  plain("copied/first");
  save_dataset(*open("forms/plain"), dir_.file("copied/saved"));
  expect_error(Status::kFormat, {"saved (gnnmg) and ", "first (plain)"}, [&] { open("copied"); });
  save_dataset(*open("copied/first"), dir_.file("copied/cache"));
  std::filesystem::remove_all(dir_.file("copied/saved"));
  EXPECT_EQ(open("copied")->graph->num_nodes(), 4);
  expect_log("copied/cache (gnnmg), passes over");
}

}  // namespace
}  // namespace gnnmg::data
