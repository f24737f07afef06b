// The format that each file is taken for, and the error when there is none.
#include "data/recognize.h"

#include <filesystem>

#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;

class Recognize : public testing::Test {
 protected:
  void plain(const std::string& folder) {
    dir_.write(folder + "/edges.npy", npy_of<int32_t>({0, 1}, "(1, 2)"));
    dir_.write(folder + "/labels.npy", npy_of<int32_t>({0, 1}, "(2,)"));
  }
  void native(const std::string& folder) {
    save_dataset(*make_dataset(small_graph(opener_.pool()), "x", "y", false, {}),
                 dir_.file(folder));
  }
  // "format path", the path without the temporary folder.
  std::string found(const std::string& name, std::string_view wanted = "") {
    std::vector<Candidate> others;
    const Candidate taken = recognize(dir_.file(name), wanted, &others);
    std::string text =
        base::text(format_name(taken.format), " ", taken.path.substr(dir_.path().size() + 1));
    for (const Candidate& other : others) text += base::text(", ", format_name(other.format));
    return text;
  }
  test::TempDir dir_;
  Opener opener_;
};

TEST_F(Recognize, WhatLiesInAFolder) {
  plain("a");
  EXPECT_EQ(found("a"), "plain a");
  native("b");
  EXPECT_EQ(found("b"), "gnnmg b");
  EXPECT_EQ(found("b/metadata.json"), "gnnmg b/");
  dir_.write("c/ind.tiny.graph", "x");
  EXPECT_EQ(found("c"), "planetoid c/ind.tiny");
  dir_.write("d/raw/edge.csv.gz", "x");
  EXPECT_EQ(found("d"), "ogb d");
  write_npz(dir_.write("e/x", "") + ".npz", {{"adj_indptr", npy_of<int32_t>({0}, "(1,)")}});
  EXPECT_EQ(found("e"), "shchur e/x.npz");
  dir_.write("f/list.tsv", "0\t1\n");
  dir_.write("f/README.txt", "about");
  EXPECT_EQ(found("f"), "edges f/list.tsv");
}

// A path of any of a set's files, packed or not.
TEST_F(Recognize, TuByAnyFile) {
  for (const char* name : {"A", "graph_indicator", "node_labels", "edge_attributes"})
    dir_.write(base::text("tu/X_", name, ".txt"), "1\n");
  dir_.write("tu/X_node_attributes.txt.gz", "1\n");
  for (const char* name : {"X", "X_A.txt", "X_graph_indicator.txt", "X_node_labels.txt",
                           "X_edge_attributes.txt", "X_node_attributes.txt.gz"})
    EXPECT_EQ(found(base::text("tu/", name)), "tu tu/X") << name;
  dir_.write("lone/X_node_labels.txt", "0 1\n");
  EXPECT_EQ(found("lone/X_node_labels.txt"), "edges lone/X_node_labels.txt");
}

TEST_F(Recognize, FilesOfWindowsAreNoData) {
  dir_.write("set/EDGES.CSV", "0,1\n");
  for (const char* name : {"Thumbs.db", "desktop.ini", "ehthumbs.db", "__MACOSX/._EDGES.CSV"})
    dir_.write(base::text("set/", name), "x");
  EXPECT_EQ(found("set"), "edges set/EDGES.CSV");
}

TEST_F(Recognize, DataOfAnotherFormatThanTheWantedOne) {
  native("set");
  expect_error(Status::kFormat,
               {"/set: expected a data set of format planetoid, found one of format gnnmg;"},
               [&] { found("set", "planetoid"); });
  dir_.write("list.txt", "0 1\n");
  expect_error(Status::kFormat,
               {"/list.txt: expected a data set of format ogb, found one of format edges;"},
               [&] { found("list.txt", "ogb"); });
}

TEST_F(Recognize, ArraysOfScipy) {
  dir_.write("a/x", "");
  write_npz(dir_.file("a/adj.npz"), {{"format", npy_string("csr")},
                                     {"shape", npy_of<int64_t>({3, 3}, "(2,)")},
                                     {"data", npy_of<float>({1}, "(1,)")}});
  expect_error(Status::kFormat,
               {"a sparse matrix of SciPy, an .npz of the arrays format.npy",
                "scipy.io.mmwrite(\"graph.mtx\""},
               [&] { found("a/adj.npz"); });
}

TEST_F(Recognize, TablesOfSparkAndHadoop) {
  dir_.write("one/_SUCCESS", "");
  dir_.write("one/.part-00000.crc", "x");
  const std::string part = "part-00000-1c2-c000.csv";
  dir_.write("one/" + part, "0,1\n");
  EXPECT_EQ(found("one"), "edges one/" + part);
  dir_.write("bare/part-00000", "0\t1\n");
  EXPECT_EQ(found("bare"), "edges bare/part-00000");
  dir_.write("one/part-00001-1c2-c000.csv", "1,2\n");
  expect_error(
      Status::kFormat,
      {"/one: expected a data set, found 2 parts of one table, as Spark and Hadoop write it", part,
       "cat part-* > edges.csv"},
      [&] { found("one"); });
  dir_.write("reduced/part-r-00000", "0\t1\n");
  EXPECT_EQ(found("reduced"), "edges reduced/part-r-00000");
  dir_.write("reduced/part-r-00001", "1\t2\n");
  expect_error(Status::kFormat, {"found 2 parts of one table"}, [&] { found("reduced"); });
  dir_.write("columns/part-00000.parquet", std::string("PAR1\x15\0", 6));
  dir_.write("columns/part-00001.parquet", std::string("PAR1\x15\0", 6));
  dir_.write("columns/_SUCCESS", "");
  expect_error(Status::kFormat,
               {"part-00000.parquet is a Parquet file, which is not read; write it as text: "
                "pandas.read_parquet(file)"},
               [&] { found("columns"); });
  dir_.write("other/readme.txt", "");
  write_npz(dir_.file("other/g.npz"), {{"mine", npy_of<float>({1}, "(1,)")}});
  expect_error(Status::kFormat, {"g.npz is an .npz of the arrays mine.npy"},
               [&] { found("other"); });
  dir_.write("odd/part-a.csv", "0 1\n");
  dir_.write("odd/part-b.csv", "0 1\n");
  expect_error(Status::kFormat, {"found part-a.csv, part-b.csv"}, [&] { found("odd"); });
}

TEST_F(Recognize, SubfoldersByPreference) {
  plain("set/plain");
  dir_.write("set/planetoid/ind.tiny.graph", "x");
  dir_.write("set/.hidden/metadata.json", R"({"format": "gnnmg-dataset"})");
  EXPECT_EQ(found("set"), "plain set/plain, planetoid");
  EXPECT_EQ(found("set", "planetoid"), "planetoid set/planetoid/ind.tiny");
  expect_error(Status::kFormat, {"/set", "of format ogb", "plain, planetoid"},
               [&] { found("set", "ogb"); });
  native("set/gnnmg");
  EXPECT_EQ(found("set"), "gnnmg set/gnnmg, plain, planetoid");
  native("set/saved");
  std::filesystem::remove_all(dir_.file("set/gnnmg"));
  expect_error(Status::kFormat,
               {"different formats", "saved (gnnmg)", "plain (plain)", "(planetoid)",
                "format=gnnmg or format=plain or format=planetoid"},
               [&] { found("set"); });
}

TEST_F(Recognize, TwoOfAKindAreAQuestion) {
  plain("sets/one");
  plain("sets/two");
  expect_error(Status::kFormat, {"holds 2 data sets of format plain", "sets/one", "sets/two"},
               [&] { found("sets"); });
}

TEST_F(Recognize, NothingThatIsKnown) {
  dir_.write("a/notes.md", "text");
  dir_.write("a/edges.npy", "no labels");
  expect_error(
      Status::kFormat,
      {"/a: expected a data set, found edges.npy, notes.md, but the names and arrays are to "
       "be edges.npy (integers [E, 2]), labels.npy",
       "supported are gnnmg (metadata.json), parts (manifest.json), plain"},
      [&] { found("a"); });
  dir_.write("b/c/list.txt", "0 1\n");
  expect_error(Status::kFormat, {"/b: expected a data set, found c"}, [&] { found("b"); });
  for (int i = 0; i < 30; ++i) dir_.write(base::text("many/", i + 10, ".npy"), "");
  expect_error(Status::kFormat, {"found 10.npy", "and 18 more"}, [&] { found("many"); });
  dir_.write("two/a.txt", "0 1\n");
  dir_.write("two/b.txt", "0 1\n");
  expect_error(Status::kFormat, {"found a.txt, b.txt", "by its own path"}, [&] { found("two"); });
  EXPECT_EQ(found("two/a.txt"), "edges two/a.txt");
  dir_.write("x.npy", npy_of<float>({1}, "(1,)"));
  expect_error(Status::kFormat, {"x.npy: is one NumPy array", "edges.npy"},
               [&] { found("x.npy"); });
  dir_.write("x.bin", std::string("a\0b", 3));
  expect_error(Status::kFormat, {"x.bin: expected a data set", "NUL at byte 1"},
               [&] { found("x.bin"); });
  EXPECT_EQ(found("x.bin", "edges"), "edges x.bin") << "when it is asked for";
  dir_.write("e/metadata.json", R"({"format": "somebody else's"})");
  expect_error(Status::kFormat, {"found metadata.json"}, [&] { found("e"); });
}

TEST_F(Recognize, PathsAndFormatsThatDoNotExist) {
  expect_error(Status::kNotFound, {"/nowhere: no such file or folder"}, [&] { found("nowhere"); });
  dir_.write("coauthor-cs.npz", "");
  expect_error(Status::kNotFound,
               {"/coauthor-sc.npz: no such", "; did you mean 'coauthor-cs.npz'?"},
               [&] { found("coauthor-sc.npz"); });
  expect_error(Status::kNotFound, {"/a/b: no such", "; there is no folder ", "/a"},
               [&] { found("a/b"); });
  expect_error(Status::kNotFound, {"no such file or folder; the current folder is /"},
               [&] { opener_.open("nowhere-at-all"); });
  std::filesystem::create_symlink("loop", dir_.file("loop"));
  expect_error(Status::kIo, {"/loop: open the link to loop: ", "symbolic links"},
               [&] { found("loop"); });
  expect_error(Status::kInvalidArgument, {"format \"csv\"", "supported are"},
               [&] { found("nowhere", "csv"); });
  expect_error(Status::kInvalidArgument, {"path", "\"\""}, [&] { opener_.open(""); });
  expect_error(Status::kIo, {"special file"}, [&] { opener_.open("/dev/null"); });
}

TEST_F(Recognize, TheLogSaysWhatWasTaken) {
  plain("set/plain");
  dir_.write("set/planetoid/ind.tiny.graph", "x");
  opener_.open(dir_.file("set"));
  const std::string log = opener_.log();
  EXPECT_NE(log.find("set/plain (plain), passes over"), std::string::npos) << log;
  EXPECT_NE(log.find("as plain: 2 nodes, 1 edges listed, 2 with reverse edges"), std::string::npos)
      << log;
}

}  // namespace
}  // namespace gnnmg::data
