// The published node-classification sets of the data folder: counts, features, labels and splits
// against their own meta.json and against each other's formats.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "graph/transform.h"
#include "readers/support.h"
#include "support/data.h"

namespace gnnmg::data {
namespace {

using test::data_path;

nlohmann::json meta(const std::string& set) {
  return nlohmann::json::parse(std::ifstream(data_path(set + "/plain/meta.json")));
}

std::vector<int64_t> class_counts(const Dataset& dataset) {
  std::vector<int64_t> counts(dataset.num_classes);
  for (int64_t label : dense(dataset, "y").as<const int64_t>())
    if (label >= 0) ++counts[label];
  return counts;
}

// Facts that every set of the plain layout must show.
void expect_as_meta(const Dataset& dataset, const std::string& set) {
  const nlohmann::json counts = meta(set);
  EXPECT_EQ(dataset.name, counts.at("name"));
  EXPECT_EQ(dataset.graph->num_nodes(), counts.at("nodes").get<int64_t>());
  EXPECT_EQ(dataset.graph->num_edges(), 2 * counts.at("edges_stored").get<int64_t>());
  EXPECT_EQ(dataset.feature_dim(), counts.at("feat_dim").get<int64_t>());
  EXPECT_EQ(dataset.num_classes, counts.at("classes").get<int64_t>());
  EXPECT_EQ(class_counts(dataset), counts.at("class_counts").get<std::vector<int64_t>>());
  EXPECT_EQ(dataset.task, Task::kMulticlass);
}

// Equal topology, whatever the order in which the edges were listed.
void expect_same_topology(const graph::Graph& a, const graph::Graph& b) {
  EXPECT_EQ(values<int64_t>(a.csc().indptr), values<int64_t>(b.csc().indptr));
  EXPECT_EQ(values<int32_t>(a.csc().indices), values<int32_t>(b.csc().indices));
}

// Equal rows; the order of entries within a row may differ.
void expect_same_rows(const base::CsrMatrix& a, const base::CsrMatrix& b) {
  ASSERT_EQ(a.num_rows, b.num_rows);
  ASSERT_EQ(a.num_cols, b.num_cols);
  ASSERT_EQ(values<int64_t>(a.indptr), values<int64_t>(b.indptr));
  const auto rows = [](const base::CsrMatrix& matrix) {
    std::vector<std::pair<int32_t, float>> entries;
    const auto indptr = matrix.indptr.as<const int64_t>();
    for (int64_t row = 0; row < matrix.num_rows; ++row) {
      const auto begin = static_cast<int64_t>(entries.size());
      for (int64_t e = indptr[row]; e < indptr[row + 1]; ++e)
        entries.emplace_back(matrix.indices.as<const int32_t>()[e],
                             matrix.values.as<const float>()[e]);
      std::sort(entries.begin() + begin, entries.end());
    }
    return entries;
  };
  EXPECT_TRUE(rows(a) == rows(b));
}

void expect_sizes(const Split& split, size_t train, size_t validation, size_t test) {
  EXPECT_EQ(split.part(SplitPart::kTrain).size(), train) << split.name << " " << split.index;
  EXPECT_EQ(split.part(SplitPart::kValidation).size(), validation) << split.name;
  EXPECT_EQ(split.part(SplitPart::kTest).size(), test) << split.name;
}

TEST(RealData, Cora) {
  GNNMG_NEEDS_DATA("cora/plain");
  Opener opener;
  const DatasetRef dataset = opener.open(data_path("cora"));
  const std::string log = opener.log();
  EXPECT_NE(log.find("passes over"), std::string::npos) << log;
  EXPECT_NE(log.find("(planetoid)"), std::string::npos) << log;
  EXPECT_NE(log.find("as plain: 2708 nodes, 5278 edges listed, 10556 with"), std::string::npos)
      << log;
  expect_as_meta(*dataset, "cora");
  EXPECT_EQ(sparse(*dataset, "x").nnz(), meta("cora").at("feat_nnz").get<int64_t>());
  ASSERT_EQ(dataset->splits.size(), 1u);
  expect_sizes(dataset->split("public", 0), 140, 500, 1000);
  for (int64_t id = 0; id < 140; ++id)
    EXPECT_EQ(dataset->splits[0].part(SplitPart::kTrain)[id], id);
}

TEST(RealData, CoraInItsOriginalFilesIsTheSame) {
  GNNMG_NEEDS_DATA("cora/planetoid");
  Opener opener;
  const DatasetRef plain = opener.open(data_path("cora/plain"));
  OpenOptions options;
  for (const char* path : {"cora/planetoid", "cora/planetoid/ind.cora",
                           "cora/planetoid/ind.cora.allx", "cora/planetoid/ind.cora.test.index"}) {
    const DatasetRef original = opener.open(data_path(path), options);
    EXPECT_EQ(original->name, "cora");
    EXPECT_EQ(original->num_classes, 7);
    expect_same_topology(*original->graph, *plain->graph);
    expect_same_rows(sparse(*original, "x"), sparse(*plain, "x"));
    EXPECT_EQ(values<int64_t>(dense(*original, "y")), values<int64_t>(dense(*plain, "y")));
    for (SplitPart part : {SplitPart::kTrain, SplitPart::kValidation, SplitPart::kTest})
      EXPECT_EQ(ids(original->split("public", 0), part), ids(plain->split("public", 0), part));
  }
  options.format = "planetoid";
  EXPECT_EQ(opener.open(data_path("cora"), options)->source, data_path("cora/planetoid/ind.cora"));
  options.undirected = 0;
  EXPECT_EQ(opener.open(data_path("cora"), options)->graph->num_edges(),
            meta("cora").at("raw_adj_entries").get<int64_t>());
}

TEST(RealData, AmazonPhoto) {
  GNNMG_NEEDS_DATA("amazon-photo/plain");
  Opener opener;
  const DatasetRef dataset = opener.open(data_path("amazon-photo"));
  expect_as_meta(*dataset, "amazon-photo");
  EXPECT_EQ(sparse(*dataset, "x").nnz(), 1979909);
  ASSERT_EQ(dataset->splits.size(), 21u);
  expect_sizes(dataset->split("tunedgnn", 0), 4590, 1530, 1530);
  for (int32_t i = 0; i < 10; ++i) {
    expect_sizes(dataset->split("shchur20_30", i), 160, 240, 7250);
    EXPECT_EQ(dataset->split("rand602020", i).index, i);
  }
}

TEST(RealData, AmazonPhotoInItsOriginalFileIsTheSame) {
  GNNMG_NEEDS_DATA("amazon-photo/shchur_npz");
  Opener opener;
  const DatasetRef plain = opener.open(data_path("amazon-photo/plain"));
  OpenOptions options;
  options.undirected = 0;
  const DatasetRef directed = opener.open(data_path("amazon-photo/shchur_npz"), options);
  EXPECT_EQ(directed->graph->num_edges(),
            meta("amazon-photo").at("raw_directed_entries").get<int64_t>());
  const DatasetRef original =
      opener.open(data_path("amazon-photo/shchur_npz/amazon_electronics_photo.npz"));
  EXPECT_EQ(original->name, "amazon_electronics_photo");
  // The published file, without the one self-loop, which the plain files lack too.
  EXPECT_EQ(original->graph->num_edges(), 238162);
  EXPECT_NE(opener.log().find("(1 self-loops dropped)"), std::string::npos);
  expect_same_topology(*original->graph, *plain->graph);
  expect_same_rows(sparse(*original, "x"), sparse(*plain, "x"));
  EXPECT_EQ(values<int64_t>(dense(*original, "y")), values<int64_t>(dense(*plain, "y")));
  EXPECT_TRUE(original->splits.empty());
}

TEST(RealData, CoauthorPhysicsStaysSparse) {
  GNNMG_NEEDS_DATA("coauthor-physics/plain");
  Opener opener;
  const DatasetRef dataset = opener.open(data_path("coauthor-physics"));
  expect_as_meta(*dataset, "coauthor-physics");
  EXPECT_EQ(sparse(*dataset, "x").num_cols, 8415);
  EXPECT_EQ(sparse(*dataset, "x").nnz(), 1137311);
  const DatasetRef original = opener.open(data_path("coauthor-physics/shchur_npz"));
  EXPECT_EQ(original->graph->num_edges(), 495924);
  expect_same_topology(*original->graph, *dataset->graph);
  expect_same_rows(sparse(*original, "x"), sparse(*dataset, "x"));
  EXPECT_EQ(dataset->splits.size(), 21u);
  expect_sizes(dataset->split("tunedgnn", 0), 20695, 6898, 6900);
}

TEST(RealData, Minesweeper) {
  GNNMG_NEEDS_DATA("minesweeper/plain");
  Opener opener;
  const DatasetRef dataset = opener.open(data_path("minesweeper"));
  expect_as_meta(*dataset, "minesweeper");
  ASSERT_EQ(dataset->splits.size(), 10u);
  const DatasetRef original = opener.open(data_path("minesweeper/orig"));
  EXPECT_EQ(original->name, "minesweeper");
  expect_same_topology(*original->graph, *dataset->graph);
  EXPECT_EQ(values<float>(dense(*original, "x")), values<float>(dense(*dataset, "x")));
  EXPECT_EQ(values<int64_t>(dense(*original, "y")), values<int64_t>(dense(*dataset, "y")));
  for (int32_t i = 0; i < 10; ++i) {
    const Split &plain = dataset->split("published10", i), &npz = original->split("published", i);
    expect_sizes(plain, 5000, 2500, 2500);
    for (SplitPart part : {SplitPart::kTrain, SplitPart::kValidation, SplitPart::kTest})
      EXPECT_EQ(ids(plain, part), ids(npz, part)) << i;
  }
}

TEST(RealData, BitcoinAsAnEdgeList) {
  GNNMG_NEEDS_DATA("bitcoin-otc");
  Opener opener;
  const DatasetRef gaps = opener.open(data_path("bitcoin-otc"));
  const std::string log = opener.log();
  EXPECT_NE(log.find("column 2 kept as \"weight\""), std::string::npos) << log;
  EXPECT_NE(log.find("columns left out: 3 (line 1 has no integer of 64 bits)"), std::string::npos)
      << "times with fractions: " << log;
  EXPECT_EQ(gaps->graph->num_nodes(), 6006);
  EXPECT_EQ(gaps->graph->num_edges(), 35592);
  OpenOptions options;
  options.relabel = true;
  const DatasetRef dataset = opener.open(data_path("bitcoin-otc/soc-sign-bitcoinotc.csv"), options);
  EXPECT_EQ(dataset->graph->num_nodes(), 5881);
  EXPECT_EQ(dataset->graph->num_edges(), 35592);
  const auto weights =
      std::get<base::Tensor>(*dataset->graph->edge_column("weight")).as<const float>();
  EXPECT_EQ(*std::min_element(weights.begin(), weights.end()), -10);
  EXPECT_EQ(*std::max_element(weights.begin(), weights.end()), 10);
  const auto original = dense(*dataset, "original_id").as<const int64_t>();
  const auto relabeled = edges(*dataset->graph), raw = edges(*gaps->graph);
  for (size_t e = 0; e < raw.size(); ++e) {
    ASSERT_EQ(original[relabeled[e].first], raw[e].first) << e;
    ASSERT_EQ(original[relabeled[e].second], raw[e].second) << e;
  }
}

// Each set is saved in the own format and opens equal.
TEST(RealData, SavedAndOpenedAgain) {
  GNNMG_NEEDS_DATA("coauthor-physics/plain");
  test::TempDir dir;
  Opener opener;
  for (const char* set : {"cora", "coauthor-physics", "minesweeper"}) {
    const DatasetRef before = opener.open(data_path(set));
    save_dataset(*before, dir.file(set));
    const DatasetRef after = opener.open(dir.file(set));
    expect_same_topology(*after->graph, *before->graph);
    EXPECT_EQ(edges(*after->graph), edges(*before->graph));
    EXPECT_EQ(after->splits.size(), before->splits.size());
    EXPECT_EQ(after->num_classes, before->num_classes);
    if (const auto* matrix = std::get_if<base::CsrMatrix>(before->graph->node_column("x")))
      expect_same_rows(*matrix, sparse(*after, "x"));
  }
}

// The number of graphs of each class.
std::vector<int64_t> graphs_by_class(const Dataset& dataset) {
  std::vector<int64_t> counts(dataset.num_classes);
  for (int64_t label : dataset.labels()->as<const int64_t>()) ++counts[label];
  return counts;
}

TEST(RealData, ImdbBinary) {
  GNNMG_NEEDS_DATA("imdb-binary");
  Opener opener;
  const DatasetRef dataset = opener.open(data_path("imdb-binary"));
  EXPECT_EQ(dataset->name, "IMDBBINARY");
  EXPECT_EQ(dataset->num_graphs(), 1000);
  EXPECT_EQ(dataset->graph->num_nodes(), 19773);
  EXPECT_EQ(dataset->graph->num_edges(), 193062);
  EXPECT_EQ(graphs_by_class(*dataset), (std::vector<int64_t>{500, 500}));
  EXPECT_EQ(dataset->feature_dim(), 65) << "degrees that occur";
  EXPECT_EQ(dataset->splits.size(), 30u);
  expect_sizes(dataset->split("splits_fair", 0), 810, 90, 100);
  expect_sizes(dataset->split("10fold_idx", 9), 900, 0, 100);
  // The published folds are scikit-learn's with random_state 0.
  const auto folds = fold_splits(*dataset, 10, SplitPart::kValidation, 0, true);
  for (int32_t k = 0; k < 10; ++k)
    EXPECT_EQ(ids(folds[k], SplitPart::kValidation),
              ids(dataset->split("fold_of_graph", k), SplitPart::kValidation));
  // The same graphs in TU's files, where every edge is listed twice in both directions.
  const DatasetRef tu = opener.open(data_path("imdb-binary/tu"));
  EXPECT_EQ(values<int64_t>(tu->graph_ptr), values<int64_t>(dataset->graph_ptr));
  expect_same_topology(*tu->graph, *graph::coalesce(*dataset->graph, opener.pool()));
  EXPECT_EQ(values<int64_t>(*tu->labels()), values<int64_t>(*dataset->labels()));
  EXPECT_TRUE(values<int32_t>(sparse(*tu, "x").indices) ==
              values<int32_t>(sparse(*dataset, "x").indices));
}

TEST(RealData, MutagAndNci1) {
  GNNMG_NEEDS_DATA("mutag");
  GNNMG_NEEDS_DATA("nci1");
  Opener opener;
  const DatasetRef mutag = opener.open(data_path("mutag"));
  EXPECT_EQ(mutag->num_graphs(), 188);
  EXPECT_EQ(mutag->graph->num_nodes(), 3371);
  EXPECT_EQ(mutag->graph->num_edges(), 2 * 3721);
  EXPECT_EQ(mutag->feature_dim(), 7);
  EXPECT_EQ(graphs_by_class(*mutag), (std::vector<int64_t>{63, 125}));
  const DatasetRef tu = opener.open(data_path("mutag/tu"));
  EXPECT_EQ(tu->num_graphs(), 188);
  EXPECT_EQ(tu->graph->num_edges(), 2 * 3721);
  EXPECT_EQ(graphs_by_class(*tu), (std::vector<int64_t>{63, 125}));
  EXPECT_NE(tu->graph->edge_column("edge_label"), nullptr);
  const DatasetRef nci1 = opener.open(data_path("nci1"));
  EXPECT_EQ(nci1->num_graphs(), 4110);
  EXPECT_EQ(nci1->graph->num_nodes(), 122747);
  EXPECT_EQ(nci1->graph->num_edges(), 2 * 132753);
  EXPECT_EQ(nci1->feature_dim(), 37);
  EXPECT_EQ(graphs_by_class(*nci1), (std::vector<int64_t>{2053, 2057}));
  for (const DatasetRef& dataset : {mutag, nci1}) {
    const auto folds = fold_splits(*dataset, 10, SplitPart::kValidation, 0, true);
    for (int32_t k = 0; k < 10; ++k)
      EXPECT_EQ(ids(folds[k], SplitPart::kValidation),
                ids(dataset->split("fold_of_graph", k), SplitPart::kValidation));
  }
}

TEST(RealData, MolhivRebuilt) {
  GNNMG_NEEDS_DATA("ogbg-molhiv-rebuilt");
  Opener opener;
  const DatasetRef dataset = opener.open(data_path("ogbg-molhiv-rebuilt"));
  EXPECT_EQ(dataset->num_graphs(), 41127);
  EXPECT_EQ(dataset->graph->num_nodes(), 1049163);
  EXPECT_EQ(dataset->graph->num_edges(), 2 * 1129688);
  EXPECT_EQ(dataset->feature_dim(), 9);
  EXPECT_EQ(graphs_by_class(*dataset)[1], 1443);
  expect_sizes(dataset->split("scaffold", 0), 32901, 4113, 4113);
  EXPECT_EQ(graph::column_rows(*dataset->graph->edge_column("edge_attr")), 2 * 1129688);
}

// An entity's neighbors on both ends of every triple, each by a relation of its own.
TEST(RealData, Aifb) {
  GNNMG_NEEDS_DATA("aifb");
  Opener opener;
  const DatasetRef dataset = opener.open(data_path("aifb"));
  EXPECT_EQ(dataset->name, "aifb");
  EXPECT_EQ(dataset->graph->num_nodes(), 8285);
  EXPECT_EQ(dataset->graph->num_edges(), 2 * 29043);
  EXPECT_EQ(dataset->feature_dim(), 0);
  EXPECT_EQ(dataset->num_classes, 4);
  const auto column = std::get<base::Tensor>(*dataset->graph->edge_column("edge_type"));
  const auto types = column.as<const int64_t>();
  EXPECT_EQ(*std::ranges::max_element(types), 89);
  for (int64_t e = 0; e < 29043; ++e) ASSERT_EQ(types[29043 + e], types[e] + 45);
  const Split& split = dataset->split("public", 0);
  EXPECT_EQ(split.part(SplitPart::kTrain).size(), 140u);
  EXPECT_EQ(split.part(SplitPart::kValidation).size(), 0u);
  EXPECT_EQ(split.part(SplitPart::kTest).size(), 36u);
}

TEST(RealData, OtherKindsAreRefused) {
  GNNMG_NEEDS_DATA("acm-hetero");
  Opener opener;
  for (const char* set : {"acm-hetero", "gowalla", "wn18rr"})
    expect_error(base::Status::kFormat, {set, "expected a data set, found ", "supported are"},
                 [&] { opener.open(data_path(set)); });
  expect_error(base::Status::kFormat, {"acm-hetero", "edges_paper_author.npy"},
               [&] { opener.open(data_path("acm-hetero")); });
}

// The first line counts nodes and edges; the others are neighbors, some lines equally many.
TEST(RealData, MeshWing) {
  GNNMG_NEEDS_DATA("mesh-wing/wing.graph");
  Opener opener;
  const DatasetRef mesh = opener.open(data_path("mesh-wing"));
  EXPECT_EQ(mesh->graph->num_nodes(), 62032);
  EXPECT_EQ(mesh->graph->num_edges(), 2 * 121544);
  EXPECT_EQ(graph::to_undirected(*mesh->graph, opener.pool())->num_edges(), 2 * 121544);
}

}  // namespace
}  // namespace gnnmg::data
