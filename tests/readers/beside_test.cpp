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

// No list of endings decides.
TEST_F(Beside, NamesOfAnyEndingSayWhatIsLost) {
  for (const std::string set : kSets)
    for (const char* name : {"feat.npy.gz",
                             "feat.npy.bz2",
                             "feat.tar.gz",
                             "features.txt",
                             "features.feather",
                             "x.txt",
                             "y.dat",
                             "weights.txt",
                             "edge_weight.npy.gz",
                             "features.pkl",
                             "LABELS.BIN",
                             "FEAT.NPY",
                             "features.xlsx",
                             "nodeFeatures.jsonl",
                             "embeddings.vec",
                             "train_mask.json",
                             "0.attrs",
                             "split_a.npy.gz",
                             "edge_type.safetensors",
                             "features/0.npy",
                             "Masks/a",
                             "node.dat"}) {
      make(set);
      dir_.write(set + "/" + name, "x");
      const std::string inner = name;
      open(set);
      const size_t slash = inner.find('/');
      expect_log(base::text(set, ": files that the format does not know are left out: ",
                            inner.substr(0, slash == inner.npos ? slash : slash + 1), "\n"));
      std::filesystem::remove_all(dir_.file(set));
    }
  dir_.write("list/edges.csv", "0,1\n");
  dir_.write("list/node_features.csv", "0,1\n");
  dir_.write("list/more_edges.csv", "0,1\n");
  open("list/edges.csv");
  expect_log("are left out: node_features.csv\n");
}

TEST_F(Beside, NamesStandAsTheyAre) {
  plain("plain");
  dir_.write("plain/свойства.npy", "x");
  dir_.write("plain/z\xe2\x80\xaey.npy", "x");  // a change of direction
  open("plain");
  expect_log("are left out: z\\xe2\\x80\\xaey.npy, свойства.npy\n");
}

TEST_F(Beside, OtherNamesAreNotNamed) {
  for (const std::string set : kSets) {
    make(set);
    for (const char* name : {"notes.md", "README_labels.txt", "tests/a.py", "run.sh", "max.py",
                             ".features.npy", "train.py", "Labels.PDF"})
      dir_.write(set + "/" + name, "x");
    // About a file that was read.
    dir_.write("plain/labels.npy.dvc", "x");
    dir_.write("tu/T_A.txt.sha256", "x");
    open(set);
    const std::string log = opener_.log();
    EXPECT_EQ(log.find("left out"), std::string::npos) << log;
  }
  std::filesystem::rename(dir_.file("plain/labels.npy.dvc"), dir_.file("plain/feat.npy.dvc"));
  open("plain");
  expect_log("are left out: feat.npy.dvc\n");
}

TEST_F(Beside, TablesOfOgbThatAreNotRead) {
  ogb("o");
  for (const char* name : {"node-feat.csv.bz2", "node-feat.csv.zip", "node_species.txt"})
    dir_.write(base::text("o/raw/", name), "x");
  EXPECT_EQ(open("o")->feature_dim(), 0);
  expect_log(
      "o/raw: files that the format does not know are left out: node-feat.csv.bz2, "
      "node-feat.csv.zip, node_species.txt\n");
}

// A link in the place of a file that would be read is an error, optional or not.
TEST_F(Beside, LinksToNowhere) {
  const auto link = [&](const std::string& path) {
    std::filesystem::create_symlink(".git/annex/objects/gone", dir_.file(path));
  };
  for (const std::string set : kSets) {
    make(set);
    for (const char* name : {"README", "README.txt", "LICENSE", "notes.md", "other.txt", "more"})
      link(set + "/" + name);
    link(set + "/features.csv");
    EXPECT_EQ(open(set)->graph->num_nodes(), 4) << set;
    expect_log("are left out: features.csv\n");
    link(set + "/split.npz");
    expect_error(Status::kNotFound,
                 {"split.npz: open the link to .git/annex/objects/gone: ",
                  "git annex get, dvc pull", "mount its disk, or remove the link"},
                 [&] { open(set); });
  }
  link("plain/feat.npy");
  expect_error(Status::kNotFound, {"feat.npy: open the link to "}, [&] { open("plain"); });
  link("ogb/raw/node-feat.csv.gz");
  expect_error(Status::kNotFound, {"node-feat.csv.gz: open the link to "}, [&] { open("ogb"); });
  link("tu/T_node_labels.txt");
  expect_error(Status::kNotFound, {"T_node_labels.txt: open the link to "}, [&] { open("tu"); });
  dir_.write("list/a.csv", "0,1\n");
  link("list/b.csv");
  link("list/notes.md");
  EXPECT_EQ(open("list/a.csv")->graph->num_edges(), 1);
  EXPECT_EQ(opener_.log().find("left out"), std::string::npos);
  shchur("archives/a.npz");
  link("archives/b.npz");
  EXPECT_EQ(open("archives/a.npz")->graph->num_nodes(), 4);
  expect_log("are left out: b.npz\n");
}

// Without a set the link may stand in its place.
TEST_F(Beside, LinksToNowhereWithoutASet) {
  for (const char* name : {"a/set.npz", "b/edges.csv", "c/sub/set.npz", "d/metadata.json"}) {
    dir_.write(base::text(name[0], "/README"), "words");
    std::filesystem::create_directories(dir_.file(name).substr(0, dir_.file(name).rfind('/')));
    std::filesystem::create_symlink("gone", dir_.file(name));
    expect_error(Status::kNotFound, {base::text(name, ": open the link to gone: ")},
                 [&] { open(std::string(1, name[0])); });
  }
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
