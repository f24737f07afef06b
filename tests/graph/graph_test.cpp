// Schemas and graphs: valid input, and the text of each refusal.
#include "graph/graph.h"

#include <gtest/gtest.h>

#include "graph/support.h"

namespace gnnmg::graph {
namespace {

using base::CsrMatrix;
using base::DType;
using base::Status;
using base::Tensor;
using base::ThreadPool;
using Ids = std::vector<int64_t>;

TEST(SchemaTest, HomogeneousHasOneOfEach) {
  const Schema schema = Schema::homogeneous();
  schema.check();
  EXPECT_TRUE(schema.is_homogeneous());
  EXPECT_EQ(schema.node_types, std::vector<std::string>{"node"});
  EXPECT_EQ(schema.edge_types, (std::vector<EdgeType>{{0, 0, "edge"}}));
}

TEST(SchemaTest, RefusesWhatIsNotASchema) {
  const auto text = [](const Schema& schema) {
    const auto [status, what] = error_of([&] { schema.check(); });
    EXPECT_TRUE(status == Status::kOk || status == Status::kInvalidArgument);
    return what;
  };
  EXPECT_EQ(text({{}, {{0, 0, "edge"}}}), "schema has no node type, expected one");
  EXPECT_EQ(text({{"a"}, {}}), "schema has no edge type, expected one");
  EXPECT_EQ(text({{"a", ""}, {{0, 0, "e"}}}), "schema: node type 1 has an empty name");
  EXPECT_EQ(text({{"a", "b", "a"}, {{0, 0, "e"}}}), "schema: node type 2 repeats the name 'a'");
  EXPECT_EQ(text({{"a"}, {{0, 0, ""}}}), "schema: edge type 0 has an empty name");
  EXPECT_EQ(text({{"a"}, {{0, 1, "e"}}}),
            "schema: edge type 0 'e' has target node type 1, expected a type in [0, 1)");
  EXPECT_EQ(text({{"a"}, {{-1, 0, "e"}}}),
            "schema: edge type 0 'e' has source node type -1, expected a type in [0, 1)");
  EXPECT_EQ(text({{"a", "b"}, {{0, 1, "e"}, {0, 1, "e"}}}),
            "schema: edge type 1 repeats 'a -e-> b'");
  EXPECT_EQ(text({{"a", "b"}, {{0, 1, "e"}, {1, 0, "e"}}}), "");
}

class GraphTest : public testing::Test {
 protected:
  // Users rate films; films are similar to films.
  GraphParts typed() {
    GraphParts parts;
    parts.schema = {{"user", "film"}, {{0, 1, "rates"}, {1, 1, "like"}}};
    parts.num_nodes = {3, 2};
    parts.topology = {csc_of({{2, 0, 1}, {1, 0, 1}}, 3, 2, pool), csc_of({{0}, {1}}, 2, 2, pool)};
    return parts;
  }
  CsrMatrix sparse() {
    return {2, 9, tensor_of(Ids{0, 1, 3}), tensor_of(std::vector<int32_t>{8, 0, 3}),
            tensor_of(std::vector<float>{1, 2, 3})};
  }
  std::string refusal(GraphParts parts, Status expected = Status::kInvalidArgument) {
    const auto [status, text] = error_of([&] { Graph::create(std::move(parts)); });
    EXPECT_EQ(status, expected) << text;
    return text;
  }
  ThreadPool pool{1};
};

TEST_F(GraphTest, TypedGraphsKeepTheirParts) {
  GraphParts parts = typed();
  parts.node_columns = {{}, {{"x", sparse()}, {"y", Tensor::zeros(DType::kI64, {2})}}};
  parts.edge_columns = {{{"stars", Tensor::zeros(DType::kF32, {3, 1})}}};
  const GraphRef graph = Graph::create(std::move(parts));
  EXPECT_FALSE(graph->homogeneous());
  EXPECT_EQ(graph->num_nodes(0), 3);
  EXPECT_EQ(graph->num_nodes(1), 2);
  EXPECT_EQ(graph->num_edges(0), 3);
  EXPECT_EQ(graph->num_edges(1), 1);
  EXPECT_EQ(graph->csc(0).in_degree(1), 2);
  ASSERT_NE(graph->node_column("x", 1), nullptr);
  EXPECT_EQ(column_rows(*graph->node_column("x", 1)), 2);
  EXPECT_EQ(graph->node_column("x", 0), nullptr);
  EXPECT_NE(graph->edge_column("stars", 0), nullptr);
  EXPECT_EQ(graph->edge_column("stars", 1), nullptr);
  EXPECT_TRUE(graph->edge_columns(1).empty());
}

TEST_F(GraphTest, EmptyGraphsAreGraphs) {
  GraphParts parts;
  parts.num_nodes = {0};
  parts.topology = {csc_of({}, 0, 0, pool)};
  parts.node_columns = {{{"x", Tensor::zeros(DType::kF32, {0, 4})}}};
  const GraphRef graph = Graph::create(std::move(parts));
  EXPECT_TRUE(graph->homogeneous());
  EXPECT_EQ(graph->num_nodes(), 0);
  EXPECT_EQ(graph->num_edges(), 0);
}

TEST_F(GraphTest, CountsMustMatchTheSchema) {
  GraphParts parts = typed();
  parts.num_nodes = {3};
  EXPECT_EQ(refusal(parts), "graph has node counts for 1 node types, the schema has 2");
  parts = typed();
  parts.num_nodes[1] = -2;
  EXPECT_EQ(refusal(parts), "node type 'film' has -2 nodes, expected 0 or more");
  parts = typed();
  parts.topology.pop_back();
  EXPECT_EQ(refusal(parts), "graph has topology for 1 edge types, the schema has 2");
  parts = typed();
  parts.edge_columns.resize(3);
  EXPECT_EQ(refusal(parts), "graph has tensors for 3 edge types, the schema has 2");
  parts = typed();
  parts.node_columns.resize(3);
  EXPECT_EQ(refusal(parts), "graph has tensors for 3 node types, the schema has 2");
  parts = typed();
  parts.schema.edge_types[0].name = "";
  refusal(parts);
}

TEST_F(GraphTest, TopologyMustMatchTheNodes) {
  GraphParts parts = typed();
  parts.num_nodes[0] = 4;
  EXPECT_EQ(refusal(parts),
            "edge type 'user -rates-> film': topology has 3 sources, expected 4, the nodes of the "
            "source type");
  parts = typed();
  std::swap(parts.topology[0].num_targets, parts.topology[0].num_sources);
  refusal(parts);
  parts = typed();
  parts.topology[1].num_targets = 3;
  EXPECT_EQ(refusal(parts),
            "edge type 'film -like-> film': topology has 3 targets, expected 2, the nodes of the "
            "target type");
  parts = typed();
  parts.topology[1] = Csc{2, 2, {}, {}, {}};
  EXPECT_EQ(refusal(parts), "edge type 'film -like-> film': indptr is missing");
  parts = typed();
  parts.topology[0].indices = Tensor::zeros(DType::kI32, {2});
  EXPECT_EQ(refusal(parts), "edge type 'user -rates-> film': indices is i32 [2], expected i32 [3]");
  parts = typed();
  parts.topology[0].edge_ids = Tensor::zeros(DType::kI64, {3});
  EXPECT_EQ(refusal(parts),
            "edge type 'user -rates-> film': edge_ids is i64 [3], expected i32 [3]");
}

TEST_F(GraphTest, TensorsNeedARowForEachItem) {
  GraphParts parts = typed();
  parts.node_columns = {{{"x", Tensor::zeros(DType::kF32, {2, 5})}}};
  EXPECT_EQ(refusal(parts),
            "node type 'user': tensor 'x' has 2 rows, expected 3, the number of nodes");
  parts.node_columns = {{{"x", Tensor::zeros(DType::kF32, {})}}};
  EXPECT_EQ(refusal(parts),
            "node type 'user': tensor 'x' has shape [], expected a row for each of 3 nodes");
  parts.node_columns = {{{"x", Tensor()}}};
  EXPECT_EQ(refusal(parts), "node type 'user': tensor 'x' is missing");
  parts.node_columns = {{{"", Tensor::zeros(DType::kF32, {3})}}};
  EXPECT_EQ(refusal(parts), "node type 'user': a tensor has an empty name");
  parts = typed();
  parts.edge_columns = {{}, {{"w", Tensor::zeros(DType::kF32, {2})}}};
  EXPECT_EQ(refusal(parts),
            "edge type 'film -like-> film': tensor 'w' has 2 rows, expected 1, the number of "
            "edges");
}

TEST_F(GraphTest, SparseTensorsAreCheckedWhole) {
  const auto with = [&](auto change) {
    CsrMatrix matrix = sparse();
    change(matrix);
    GraphParts parts = typed();
    parts.node_columns = {{}, {{"x", matrix}}};
    return parts;
  };
  const std::string where = "node type 'film': tensor 'x'";
  EXPECT_EQ(refusal(with([](CsrMatrix& m) { m.indptr = tensor_of(Ids{0, 2, 1}); })),
            where + ".indptr[2] is 1, expected at least 2, the pointer before it");
  EXPECT_EQ(refusal(with([](CsrMatrix& m) { m.indptr = tensor_of(Ids{1, 2, 3}); })),
            where + ".indptr[0] is 1, expected 0");
  EXPECT_EQ(refusal(with([](CsrMatrix& m) { m.indptr = tensor_of(Ids{0, 3}); })),
            where + ".indptr is i64 [2], expected i64 [3]");
  EXPECT_EQ(refusal(with([](CsrMatrix& m) { m.indptr = tensor_of(Ids{0, 1, 4}); })),
            where + ".indices is i32 [3], expected i32 [4]");
  EXPECT_EQ(refusal(with([](CsrMatrix& m) { m.num_cols = 8; }), Status::kRange),
            where + ".indices[0] is 8, expected a column in [0, 8)");
  EXPECT_EQ(refusal(with([](CsrMatrix& m) { m.values = tensor_of(Ids{0, 1, 4}); })),
            where + ".values is i64 [3], expected f32 [3]");
  EXPECT_EQ(refusal(with([](CsrMatrix& m) { m.values = {}; })), where + ".values is missing");
  refusal(with([](CsrMatrix& m) { m.num_rows = -1; }));
  refusal(with([](CsrMatrix& m) {
    m.num_rows = 1;
    m.indptr = tensor_of(Ids{0, 3});
  }));
}

}  // namespace
}  // namespace gnnmg::graph
