// Files with the oddities of published sets, which cannot be kept here: TU Dortmund's, those of the
// heterophilous benchmark, and OGB's as its own tools and pandas write them; and files that cannot
// be reached.
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "io/zip_writer.h"
#include "readers/python3.h"
#include "readers/support.h"

namespace gnnmg::data {
namespace {

namespace fs = std::filesystem;
using base::Status;
using Ids = std::vector<int64_t>;
using Edges = std::vector<std::pair<int64_t, int64_t>>;

class Published : public testing::Test {
 protected:
  DatasetRef open(const std::string& name, const OpenOptions& options = {}) {
    opener_.log();
    return opener_.open(dir_.file(name), options);
  }
  void expect_log(const std::vector<std::string>& parts) {
    const std::string log = opener_.log();
    for (const std::string& part : parts) EXPECT_NE(log.find(part), std::string::npos) << log;
  }
  void expect_no_warning() { EXPECT_EQ(opener_.log().find("left out"), std::string::npos); }
  void link(const std::string& name) {
    fs::remove(dir_.file(name));
    fs::create_symlink("../annex/objects/gone", dir_.file(name));
  }
  void expect_link_named(const std::string& folder, const std::string& name) {
    SCOPED_TRACE(name);
    link(name);
    expect_error(Status::kNotFound, {fs::path(name).filename(), "link to ../annex/objects/gone"},
                 [&] { open(folder); });
    fs::remove(dir_.file(name));
  }
  test::TempDir dir_;
  Opener opener_;
};

// Fingerprint: 651 of its 2 800 graphs have no nodes. Here the first, one in the middle, the last.
TEST_F(Published, TuGraphsWithoutNodes) {
  dir_.write("F/F_graph_indicator.txt", "2\n2\n4\n");
  dir_.write("F/F_A.txt", "1, 2\n2, 1\n");
  dir_.write("F/F_graph_labels.txt", "0\n1\n0\n2\n1\n");
  dir_.write("F/F_node_attributes.txt", "0.5, 1\n2, 3\n4, 5\n");
  dir_.write("F/fold_of_graph.txt", "0\n1\n0\n1\n0\n");
  const DatasetRef dataset = open("F");
  EXPECT_EQ(values<int64_t>(dataset->graph_ptr), (Ids{0, 0, 2, 2, 3, 3}));
  EXPECT_EQ(values<int64_t>(*dataset->labels()), (Ids{0, 1, 0, 2, 1})) << "a label each";
  EXPECT_EQ(ids(dataset->split("fold_of_graph", 0), SplitPart::kValidation), (Ids{0, 2, 4}))
      << "folds count all graphs";
  expect_log({"F_graph_indicator.txt: 3 of 5 graphs have no nodes"});
  save_dataset(*dataset, dir_.file("saved"));
  EXPECT_EQ(values<int64_t>(open("saved")->graph_ptr), (Ids{0, 0, 2, 2, 3, 3}));
}

// BZR_MD, the sets of Tox21 and others: signs, padding, line ends, labels that do not start at 0.
TEST_F(Published, TuNumbersInEveryForm) {
  dir_.write("B/B_graph_indicator.txt", "1\r\n1\r\n2\r\n2");
  dir_.write("B/B_A.txt", "  1,   2\r\n  2,   1\r\n  3,   4\r\n  4,   3\r\n");
  dir_.write("B/B_graph_labels.txt", "+1\n-1");
  dir_.write("B/B_node_labels.txt", "  7\n  9\n  7\n  8\n\n");
  dir_.write("B/B_node_attributes.txt", " 1.0000e+00,-2\n+.5, 1e-400\n 3,4\n5,6");
  dir_.write("B/B_edge_labels.txt", "2, 0\n2, 0\n5, 1\n5, 1\n");
  dir_.write("B/B_edge_attributes.txt", "0.25\n0.25\n-1\n-1\n");
  dir_.write("B/README.txt", "what it is\n");
  dir_.write("B/B_label_readme.txt", "node labels: 7 is carbon\n");
  const DatasetRef dataset = open("B");
  EXPECT_EQ(values<int64_t>(*dataset->labels()), (Ids{1, 0}));
  EXPECT_EQ(values<int64_t>(dense(*dataset, "tag")), (Ids{7, 9, 7, 8}));
  EXPECT_EQ(values<float>(dense(*dataset, "x")),
            (std::vector<float>{1, -2, 1, 0, 0, .5f, 0, 0, 0, 1, 3, 4, 1, 0, 0, 5, 6, 0, 1, 0}));
  EXPECT_EQ(values<int64_t>(std::get<base::Tensor>(*dataset->graph->edge_column("edge_label"))),
            (Ids{0, 0, 0, 0, 3, 1, 3, 1}));
  expect_no_warning();
}

// numpy.savetxt() writes labels so.
TEST_F(Published, TuLabelsWithAPoint) {
  dir_.write("S/S_graph_indicator.txt", "1\n2\n3\n");
  dir_.write("S/S_A.txt", "");
  dir_.write("S/S_graph_labels.txt", "1.000000000000000000e+00\n-1.0\n+1\n");
  EXPECT_EQ(values<int64_t>(*open("S")->labels()), (Ids{1, 0, 1}));
  OpenOptions options;
  options.task = Task::kRegression;
  EXPECT_EQ(values<float>(*open("S", options)->labels()), (std::vector<float>{1, -1, 1}))
      << "the numbers themselves";
  dir_.write("S/S_graph_labels.txt", "1.0\n-1.0\n0.5\n");
  EXPECT_EQ(open("S")->task, Task::kRegression);
  // Ids and labels of nodes and edges, too.
  dir_.write("F/F_graph_indicator.txt", "1.0\n1.0\n2e0\n");
  dir_.write("F/F_A.txt", "1.0, 2.0\n2.000e+00, 1.0\n");
  dir_.write("F/F_node_labels.txt", "3.0\n4.0\n3\n");
  dir_.write("F/F_edge_labels.txt", "1.0\n1.0\n");
  dir_.write("F/F_graph_labels.txt", "1.0\n2.0\n");
  const DatasetRef whole = open("F");
  EXPECT_EQ(edges(*whole->graph).size(), 2u);
  EXPECT_EQ(values<int64_t>(dense(*whole, "tag")), (Ids{3, 4, 3}));
  dir_.write("F/F_node_labels.txt", "3.0\n4.5\n3\n");
  expect_error(Status::kFormat, {"F_node_labels.txt, line 2", "\"4.5\", expected an integer"},
               [&] { open("F"); });
}

TEST_F(Published, TuFilesInGzip) {
  dir_.write("G/G_graph_indicator.txt.gz", gzip("1\n1\n2\n"));
  dir_.write("G/G_A.txt.gz", gzip("1, 2\n2, 1\n"));
  dir_.write("G/G_graph_labels.txt", "0\n1\n");
  for (const char* path : {"G", "G/G", "G/G_A.txt.gz"}) {
    EXPECT_EQ(open(path)->num_graphs(), 2) << path;
    EXPECT_EQ(open(path)->num_classes, 2) << path;
  }
  dir_.write("G/G_A.txt", "");
  EXPECT_EQ(open("G")->graph->num_edges(), 0) << "the unpacked file counts";
  fs::remove(dir_.file("G/G_graph_indicator.txt.gz"));
  link("G/G_graph_indicator.txt.gz");
  expect_error(Status::kNotFound, {"link to ../annex/objects/gone"}, [&] { open("G"); });
}

TEST_F(Published, TuFilesThatAreNoText) {
  using namespace std::string_literals;
  dir_.write("U/U_graph_indicator.txt", "\xff\xfe"s + "1\0\n\0"s + "1\0\n\0"s);
  dir_.write("U/U_A.txt", "1, 2\n");
  expect_error(Status::kFormat, {"U_graph_indicator.txt, line 1", "text in UTF-16", "as UTF-8"},
               [&] { open("U"); });
  dir_.write("U/U_graph_indicator.txt", "1\n1\n");
  dir_.write("U/U_graph_labels.txt", "P\0K"s);
  expect_error(Status::kFormat, {"U_graph_labels.txt, line 1", "so this is no text file"},
               [&] { open("U"); });
}

// Either labels or numbers are read of a graph; unknown files are named.
TEST_F(Published, TuFilesThatAreNotRead) {
  dir_.write("Q/Q_graph_indicator.txt", "1\n2\n");
  dir_.write("Q/Q_A.txt", "");
  dir_.write("Q/Q_graph_labels.txt", "4\n2\n");
  dir_.write("Q/Q_graph_attributes.txt", "0.5, 1\n1.5, 2\n");
  dir_.write("Q/Q_coordinates.txt", "1, 2\n3, 4\n");
  EXPECT_EQ(values<int64_t>(*open("Q")->labels()), (Ids{1, 0}));
  expect_log({"Q_graph_attributes.txt: is left out beside", "Q_graph_labels.txt; task=regression",
              "left out: Q_coordinates.txt"});
  OpenOptions options;
  options.task = Task::kRegression;
  EXPECT_EQ(values<float>(*open("Q", options)->labels()), (std::vector<float>{.5f, 1, 1.5f, 2}));
  expect_log({"Q_graph_labels.txt: is left out beside"});
}

TEST_F(Published, TuIntegersThatNoFloatHolds) {
  dir_.write("R/R_graph_indicator.txt", "1\n1\n");
  dir_.write("R/R_A.txt", "1, 2\n");
  dir_.write("R/R_node_attributes.txt", "0.5\n16777217\n");
  open("R");
  expect_log({"R_node_attributes.txt: integers beyond 16777216 are rounded to 32-bit floats"});
}

// Integers beyond 64 bits, such as -1 without its sign, are no numbers to regress.
TEST_F(Published, TuLabelsBeyond64Bits) {
  const std::string beyond = "18446744073709551615\n";
  dir_.write("U/U_graph_indicator.txt", "1\n2\n");
  dir_.write("U/U_A.txt", "");
  dir_.write("U/U_graph_labels.txt", "1\n" + beyond);
  expect_error(Status::kRange, {"U_graph_labels.txt, line 2", "18446744073709551615", "regression"},
               [&] { open("U"); });
  OpenOptions options;
  options.task = Task::kRegression;
  EXPECT_EQ(open("U", options)->labels()->as<const float>()[1], 18446744073709551616.f);
  dir_.write("U/U_graph_labels.txt", "9223372036854775807\n-9223372036854775808\n");
  EXPECT_EQ(values<int64_t>(*open("U")->labels()), (Ids{1, 0}));
  dir_.write("U/U_node_labels.txt", beyond + "1\n");
  expect_error(Status::kFormat, {"U_node_labels.txt, line 1", "expected an integer of 64 bits"},
               [&] { open("U"); });
}

TEST_F(Published, TuSplitsThatAreNotRead) {
  dir_.write("W/W_graph_indicator.txt", "1\n2\n");
  dir_.write("W/W_A.txt", "");
  dir_.write("W/W_graph_labels.txt", "1\n2\n");
  dir_.write("W/readme_of_splits.md", "words\n");
  open("W");
  expect_no_warning();
  for (const char* path : {"train_idx.txt", "idx_train.txt.gz", "data_splits.json", "folds.pkl",
                           "test.index", "split/scaffold/train.csv", "10folds/fold-1.txt"}) {
    dir_.write(base::text("W/", path), "0\n");
    open("W");
    const std::string name = path;
    expect_log(
        {"W: files that the format does not know are left out: ", name.substr(0, name.find('/'))});
    fs::remove_all(dir_.file("W/" + name.substr(0, name.find('/'))));
  }
  dir_.write("W/train_idx.npy", npy_of<int64_t>({0}, "(1,)"));
  open("W");
  expect_log({"W: files that the format does not know are left out: train_idx.npy"});
  dir_.write("R/raw/R_graph_indicator.txt", "1\n2\n");
  dir_.write("R/raw/R_A.txt", "");
  dir_.write("R/raw/R_graph_labels.txt", "1\n2\n");
  dir_.write("R/split/train.csv", "0\n");
  open("R");
  expect_log({"R: files that the format does not know are left out: split/\n"});
  for (const char* part : {"graph_indicator", "A", "graph_labels"})
    dir_.write(base::text("P/train/P_", part, ".txt"), part[0] == 'A' ? "" : "1\n2\n");
  open("P");
  expect_no_warning();
}

using Arrays = std::vector<std::pair<std::string, std::string>>;

Arrays heterophilous() {
  return {{"node_features", npy_of<float>({1, 2, 3, 4}, "(4, 1)")},
          {"node_labels", npy_of<int64_t>({1, 0, 1, 0}, "(4,)")},
          {"edges", npy_of<int64_t>({0, 1, 2, 3}, "(2, 2)")},
          {"train_masks", npy_text("|b1", "(1, 4)", raw<uint8_t>({1, 1, 0, 0}))},
          {"val_masks", npy_text("|b1", "(1, 4)", raw<uint8_t>({0, 0, 1, 0}))},
          {"test_masks", npy_text("|b1", "(1, 4)", raw<uint8_t>({0, 0, 0, 1}))}};
}

TEST_F(Published, ArraysThatAreNotRead) {
  Arrays arrays = heterophilous();
  write_npz(dir_.file("texas.npz"), arrays);
  open("texas.npz");
  expect_no_warning();
  arrays.emplace_back("edge_weights", npy_of<float>({1, 2}, "(2,)"));
  arrays.emplace_back("names", npy_text("<U1", "(1,)", raw<int32_t>({65})));
  write_npz(dir_.file("more.npz"), arrays);
  open("more.npz");
  expect_log({"more.npz: arrays that the format does not know are left out: edge_weights\n"});
}

// The same set in the types that NumPy's users come to: masks of numbers as Geom-GCN's splits have
// them, narrow integers, doubles, columns one after another, labels as a column, loops and repeats.
TEST_F(Published, HeterophilousInEveryType) {
  for (const bool wide : {false, true}) {
    Arrays arrays = {
        {"node_features",
         wide ? npy_text("<f8", "(4, 2)", raw<double>({1, 3, 5, 7, 2, 4, 6, 8}), true)
              : npy_of<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8}, "(4, 2)")},
        {"node_labels", wide ? npy_of<int64_t>({1, 0, -1, 0}, "(4, 1)")
                             : npy_text("<i2", "(4,)", raw<int16_t>({1, 0, -1, 0}))},
        {"edges", wide ? npy_text(">i8", "(3, 2)",
                                  std::string(7, 0) + '\0' + std::string(7, 0) + '\1' +
                                      std::string(7, 0) + '\1' + std::string(7, 0) + '\0' +
                                      std::string(7, 0) + '\2' + std::string(7, 0) + '\2')
                       : npy_of<int32_t>({0, 1, 1, 0, 2, 2}, "(3, 2)")},
        {"train_masks", wide ? npy_of<double>({1, 0, 0, 0, 0, 1, 0, 0}, "(2, 4)")
                             : npy_of<uint8_t>({1, 0, 0, 0, 0, 1, 0, 0}, "(2, 4)")},
        {"val_masks", npy_of<int64_t>({0, 1, 0, 0, 1, 0, 0, 0}, "(2, 4)")},
        {"test_masks", npy_text("|b1", "(2, 4)", raw<uint8_t>({0, 0, 1, 1, 0, 0, 1, 1}))}};
    write_npz(dir_.file("set.npz"), arrays);
    const DatasetRef dataset = open("set.npz");
    EXPECT_EQ(values<int64_t>(dense(*dataset, "y")), (Ids{1, 0, -1, 0}));
    EXPECT_EQ(dense(*dataset, "x").shape(), base::Shape({4, 2}));
    if (!wide) {
      EXPECT_EQ(values<float>(dense(*dataset, "x")), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
    } else {
      EXPECT_EQ(values<double>(dense(*dataset, "x")),
                (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}));
    }
    EXPECT_EQ(dataset->graph->num_edges(), 3) << "both directions, and the loop once";
    EXPECT_EQ(ids(dataset->split("published", 1), SplitPart::kTrain), (Ids{1}));
    EXPECT_EQ(ids(dataset->split("published", 0), SplitPart::kTest), (Ids{2, 3}));
    arrays[3].second = npy_of<int64_t>({2, 0, 0, 0, 0, 1, 0, 0}, "(2, 4)");
    write_npz(dir_.file("set.npz"), arrays);
    expect_error(Status::kFormat, {"array \"train_masks\": element 0 is 2, expected 0 or 1"},
                 [&] { open("set.npz"); });
  }
}

TEST_F(Published, BoolsAreNoNodes) {
  Arrays arrays = heterophilous();
  arrays[2].second = npy_text("|b1", "(2, 2)", raw<uint8_t>({0, 1, 1, 0}));
  write_npz(dir_.file("bools.npz"), arrays);
  expect_error(Status::kFormat, {"array \"edges\"", "elements of type bool, expected integers"},
               [&] { open("bools.npz"); });
}

class PublishedOgb : public Published {
 protected:
  void SetUp() override {
    put("raw/num-node-list.csv", "5\n");
    put("raw/num-edge-list.csv", "2\n");
    put("raw/edge.csv", "0,1\n3,2\n");
    put("raw/node-feat.csv", "1,2\n3,4\n5,6\n7,8\n9,0\n");
    put("raw/node-label.csv", "1\n\"\"\n0\n\n2\n");
  }
  void put(const std::string& name, const std::string& text) {
    dir_.write("ogbn-own/" + name, text);
  }
  DatasetRef own() { return open("ogbn-own"); }
};

// Missing labels as pandas writes them and as empty lines; blank lines after the table are none.
TEST_F(PublishedOgb, MissingLabels) {
  EXPECT_EQ(values<int64_t>(*own()->labels()), (Ids{1, -1, 0, -1, 2}));
  for (const char* text : {"\n\n0\n1\n2\n", "\n\n0\n1\n2\n\n\n", "NA\nNone\n+0\n\"1\"\n 2\n"}) {
    put("raw/node-label.csv", text);
    EXPECT_EQ(values<int64_t>(*own()->labels()), (Ids{-1, -1, 0, 1, 2})) << text;
  }
  put("raw/node-label.csv", "\r\n0\r\n\r\n1\r\n\r\n");
  EXPECT_EQ(values<int64_t>(*own()->labels()), (Ids{-1, 0, -1, 1, -1}));
  put("raw/node-label.csv", "0\n1\n\n2\n0\n\n1\n");
  EXPECT_EQ(values<int64_t>(*own()->labels()), (Ids{0, 1, 2, 0, 1})) << "nothing is missing";
  put("raw/node-label.csv", "0.5\n\n1.5\n\"\"\n2\n");
  const DatasetRef regression = own();
  EXPECT_EQ(regression->task, Task::kRegression);
  const auto numbers = regression->labels()->as<const float>();
  EXPECT_TRUE(std::isnan(numbers[1]) && std::isnan(numbers[3]));
  EXPECT_EQ(numbers[2], 1.5f);
  put("raw/node-label.csv", "0\n1\n\n\n\n\n2\n");
  expect_error(Status::kFormat, {"node-label.csv: 3 rows, expected 5"}, [&] { own(); });
}

// OGB's DatasetSaver: tensors or arrays under three names.
TEST_F(PublishedOgb, SplitsOfTorchSave) {
  const auto save = [&](const std::string& pickle,
                        const std::vector<std::pair<std::string, std::string>>& storages = {}) {
    fs::create_directories(dir_.file("ogbn-own/split/time"));
    base::AtomicFile file(dir_.file("ogbn-own/split/time/split_dict.pt"));
    io::ZipWriter zip(file);
    const auto add = [&](const std::string& name, const std::string& bytes) {
      zip.add("archive/" + name, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    };
    add("data.pkl", pickle);
    for (const auto& [name, bytes] : storages) add("data/" + name, bytes);
    add("version", "3\n");
    zip.finish();
    file.commit();
  };
  // PyTorch before 1.6 saved so, without storages.
  const auto old_torch_save = [](const std::string& pickle) {
    return "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.M\xe9\x03.}." + pickle + "].";
  };
  const auto expect_split = [&] {
    const DatasetRef dataset = own();
    const Split& split = dataset->split("time", 0);
    EXPECT_EQ(ids(split, SplitPart::kTrain), (Ids{2, 4}));
    EXPECT_EQ(ids(split, SplitPart::kValidation), (Ids{0}));
    EXPECT_EQ(ids(split, SplitPart::kTest), (Ids{}));
  };
  for (const int protocol : {0, 1, 2, 3, 4, 5})
    for (const bool new_names : {false, true}) {
      const Python3 python(protocol, new_names);
      const std::string pickle = python.finish(
          python.dict({{python.text("train"), python.array("i8", {2}, raw<int64_t>({4, 2}))},
                       {python.text("valid"), python.list({python.integer(0)})},
                       {python.text("test"), python.array("i4", {0}, "")}}));
      save(pickle);
      expect_split();
      put("split/time/split_dict.pt", pickle);  // pickle.dump()
      expect_split();
      put("split/time/split_dict.pt", old_torch_save(pickle));
      expect_split();
    }
  // A tensor of torch's, which wins over tables, as OGB reads the dict first.
  const Python3 python(2, false);
  const auto tensor_of = [&](const std::string& storage, int64_t count) {
    const std::string id =
        python.tuple({python.text("storage"), python.global("torch", "LongStorage"),
                      python.text(storage), python.text("cpu"), python.integer(count)});
    return python.global("torch._utils", "_rebuild_tensor_v2") +
           python.tuple({id + "Q", python.integer(0), python.tuple({python.integer(count)}),
                         python.tuple({python.integer(1)}), "\x89",
                         python.global("collections", "OrderedDict") + ")R"}) +
           "R";
  };
  put("split/time/train.csv", "1\n");
  save(python.finish(python.dict({{python.text("train"), tensor_of("0", 2)},
                                  {python.text("valid"), tensor_of("1", 1)},
                                  {python.text("test"), python.list({})}})),
       {{"0", raw<int64_t>({2, 4})}, {"1", raw<int64_t>({0})}});
  expect_split();

  opener_.log();
  save(python.finish(python.dict({{python.text("train"), python.list({python.integer(1)})},
                                  {python.text("valid"), python.list({})},
                                  {python.text("test"), python.list({})},
                                  {python.text("seeds"), python.list({python.integer(3)})}})));
  own();
  expect_log({"\"seeds\": is no part of a split, and is left out"});
  save(python.finish(python.dict({{python.text("train"), tensor_of("0", 2)}})),
       {{"0", raw<int64_t>({2, 4})}});
  expect_error(Status::kFormat, {"split_dict.pt", "holds no \"valid\""}, [&] { own(); });
  save(python.finish(python.list({})));
  expect_error(Status::kFormat, {"split_dict.pt", "expected a dict"}, [&] { own(); });
  save(python.finish(python.global("os", "system")));
  expect_error(Status::kFormat, {"split_dict.pt", "names os.system"}, [&] { own(); });
}

TEST_F(PublishedOgb, UnpackedSplitsAndBothForms) {
  put("split/time/train.csv", "2\n4\n");
  put("split/time/valid.csv", "\n");
  put("split/time/test.csv", "0\n1\n3");
  EXPECT_EQ(ids(own()->split("time", 0), SplitPart::kTest), (Ids{0, 1, 3}));
  expect_no_warning();
  put("raw/node-label.csv.gz", gzip("0\n0\n0\n0\n1\n"));
  EXPECT_EQ(values<int64_t>(*own()->labels()), (Ids{0, 0, 0, 0, 1})) << "what OGB reads";
  expect_log({"raw: files that the format does not know are left out: node-label.csv\n"});
  put("split/time/valid.csv", "");
  expect_error(Status::kFormat, {"valid.csv: has 0 bytes"}, [&] { own(); });
}

TEST_F(PublishedOgb, TablesBesideTheFoldersOfSplits) {
  put("split/train.csv", "2\n4\n");
  EXPECT_TRUE(own()->splits.empty());
  expect_log({"split: files that the format does not know are left out: train.csv"});
}

// A clone without the files that Git LFS, git-annex or DVC keep elsewhere.
TEST_F(PublishedOgb, FilesThatWereNotFetched) {
  put("raw/node-label.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 5\n");
  expect_error(Status::kFormat,
               {"expected a number", "raw/node-label.csv is a pointer of Git LFS", "git lfs pull"},
               [&] { own(); });
  dir_.write("npz/set.npz", "../.git/annex/objects/x/SHA256E-s1--x\n");
  expect_error(Status::kFormat, {"no zip archive", "set.npz is a pointer of git-annex"},
               [&] { open("npz"); });
}

TEST_F(PublishedOgb, TablesThatAreNotRead) {
  put("raw/relations.csv", "1\n2\n");
  own();
  expect_log({"raw: files that the format does not know are left out: relations"});
}

// DatasetSaver writes many graphs so.
TEST_F(Published, OgbArchivesOfGraphs) {
  fs::create_directories(dir_.file("ogbg-own/raw"));
  write_npz(dir_.file("ogbg-own/raw/data.npz"),
            {{"edge_index", npy_of<int64_t>({0, 1, 0, 1, 0, 1}, "(2, 3)")},
             {"num_nodes_list", npy_of<int64_t>({2, 0, 2}, "(3,)")},
             {"num_edges_list", npy_of<int64_t>({2, 0, 1}, "(3,)")},
             {"node_feat", npy_of<float>({1, 2, 3, 4}, "(4, 1)")},
             {"edge_feat", npy_of<float>({5, 6, 7}, "(3, 1)")}});
  write_npz(dir_.file("ogbg-own/raw/graph-label.npz"),
            {{"graph_label", npy_of<int64_t>({1, 0, 1}, "(3, 1)")}});
  OpenOptions options;
  options.undirected = 0;
  const DatasetRef dataset = open("ogbg-own", options);
  EXPECT_EQ(values<int64_t>(dataset->graph_ptr), (Ids{0, 2, 2, 4}));
  EXPECT_EQ(edges(*dataset->graph), (Edges{{0, 1}, {1, 0}, {2, 3}}));
  EXPECT_EQ(values<int64_t>(*dataset->labels()), (Ids{1, 0, 1}));
}

// git-annex, DVC, a disk that is not mounted: a link in the place of a file that may be missing.
TEST_F(PublishedOgb, LinksThatLeadNowhere) {
  for (const char* name : {"raw/node-feat.csv.gz", "raw/node-label.csv.gz", "raw/edge-feat.csv.gz",
                           "raw/node_year.csv", "raw/graph-label.csv.gz", "split"})
    expect_link_named("ogbn-own", std::string("ogbn-own/") + name);
  put("split/time/train.csv", "0\n");
  put("split/time/valid.csv", "1\n");
  put("split/time/test.csv", "2\n");
  expect_link_named("ogbn-own", "ogbn-own/split/time/split_dict.pt");
  expect_link_named("ogbn-own", "ogbn-own/split/other");
}

TEST_F(Published, LinksThatLeadNowhereInTextSets) {
  dir_.write("T/T_graph_indicator.txt", "1\n1\n2\n");
  dir_.write("T/T_A.txt", "1, 2\n");
  for (const char* part : {"graph_labels", "graph_attributes", "node_labels", "node_attributes",
                           "edge_labels", "edge_attributes"})
    expect_link_named("T", std::string("T/T_") + part + ".txt");
  for (const char* name : {"T/fold_of_graph.txt", "T/10fold_idx", "T/splits_fair"})
    expect_link_named("T", name);
  dir_.write("T/10fold_idx/train_idx-1.txt", "0\n");
  expect_link_named("T", "T/10fold_idx/test_idx-1.txt");
  dir_.write("T/10fold_idx/test_idx-1.txt", "");
  expect_error(Status::kFormat, {"test_idx-1.txt: has 0 bytes"}, [&] { open("T"); });
}

}  // namespace
}  // namespace gnnmg::data
