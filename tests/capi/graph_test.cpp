// Graphs through the C interface: construction, refusals, reading, transforms.
#include "capi/support.h"

namespace gnnmg::test {
namespace {

class GraphTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out())); }
  // 0 -> 1, 2 -> 1, 1 -> 0, 3 -> 3, in this order.
  Graph small(gnnmg_dtype dtype = GNNMG_DTYPE_I64) {
    Graph graph;
    if (dtype == GNNMG_DTYPE_I64) {
      const int64_t sources[] = {0, 2, 1, 3}, targets[] = {1, 1, 0, 3};
      EXPECT_OK(gnnmg_graph_create_from_coo(context, 4, sources, targets, dtype, 4, graph.out()));
    } else {
      const int32_t sources[] = {0, 2, 1, 3}, targets[] = {1, 1, 0, 3};
      EXPECT_OK(gnnmg_graph_create_from_coo(context, 4, sources, targets, dtype, 4, graph.out()));
    }
    return graph;
  }
  // Without edges.
  Graph nodes(int64_t count) {
    Graph graph;
    EXPECT_OK(gnnmg_graph_create(context, graph.out()));
    EXPECT_OK(gnnmg_graph_add_node_type(graph, "node", count, nullptr));
    EXPECT_OK(gnnmg_graph_add_edge_type(graph, 0, "edge", 0, nullptr));
    return graph;
  }
  std::pair<std::vector<int64_t>, std::vector<int64_t>> edges(const gnnmg_graph* graph) {
    Tensor sources, targets;
    EXPECT_OK(gnnmg_graph_export_coo(graph, 0, sources.out(), targets.out()));
    return {values<int64_t>(sources), values<int64_t>(targets)};
  }
  Context context;
};

TEST_F(GraphTest, EdgesComeOutAsTheyWentIn) {
  for (gnnmg_dtype dtype : {GNNMG_DTYPE_I64, GNNMG_DTYPE_I32}) {
    const Graph graph = small(dtype);
    int64_t count = 0;
    ASSERT_OK(gnnmg_graph_num_nodes(graph, 0, &count));
    EXPECT_EQ(count, 4);
    ASSERT_OK(gnnmg_graph_num_edges(graph, 0, &count));
    EXPECT_EQ(count, 4);
    const auto [sources, targets] = edges(graph);
    EXPECT_EQ(sources, (std::vector<int64_t>{0, 2, 1, 3}));
    EXPECT_EQ(targets, (std::vector<int64_t>{1, 1, 0, 3}));

    Tensor indptr, indices, ids;
    ASSERT_OK(gnnmg_graph_export_csc(graph, 0, indptr.out(), indices.out(), ids.out()));
    EXPECT_EQ(values<int64_t>(indptr), (std::vector<int64_t>{0, 1, 3, 3, 4}));
    EXPECT_EQ(values<int32_t>(indices), (std::vector<int32_t>{1, 0, 2, 3}));
    EXPECT_EQ(values<int32_t>(ids), (std::vector<int32_t>{2, 0, 1, 3}));
  }
}

TEST_F(GraphTest, CscComesOutAsItWentIn) {
  const int64_t indptr[] = {0, 1, 3, 3, 4}, indices[] = {1, 0, 2, 3};
  const Graph graph = nodes(4);
  ASSERT_OK(gnnmg_graph_set_csc(graph, 0, indptr, indices, nullptr, GNNMG_DTYPE_I64, 4));
  const auto [sources, targets] = edges(graph);
  EXPECT_EQ(sources, (std::vector<int64_t>{1, 0, 2, 3}));
  EXPECT_EQ(targets, (std::vector<int64_t>{0, 1, 1, 3}));
  Tensor a, b, ids;
  ASSERT_OK(gnnmg_graph_export_csc(graph, 0, a.out(), b.out(), ids.out()));
  EXPECT_EQ(ids.get(), nullptr);
}

TEST_F(GraphTest, BadEdgesAreRefusedWithArrayAndPosition) {
  Graph graph;
  const int64_t sources[] = {0, 4}, targets[] = {1, 1}, negative[] = {0, -1};
  EXPECT_FAILS(
      gnnmg_graph_create_from_coo(context, 4, sources, targets, GNNMG_DTYPE_I64, 2, graph.out()),
      GNNMG_ERR_RANGE, "sources[1] is 4");
  EXPECT_FAILS(
      gnnmg_graph_create_from_coo(context, 4, targets, negative, GNNMG_DTYPE_I64, 2, graph.out()),
      GNNMG_ERR_RANGE, "targets[1] is -1");
  EXPECT_FAILS(
      gnnmg_graph_create_from_coo(context, 4, targets, nullptr, GNNMG_DTYPE_I64, 2, graph.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "'targets' is NULL");
  EXPECT_FAILS(
      gnnmg_graph_create_from_coo(context, 4, targets, targets, GNNMG_DTYPE_F32, 2, graph.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "dtype");
  EXPECT_FAILS(
      gnnmg_graph_create_from_coo(context, 4, targets, targets, GNNMG_DTYPE_I64, -2, graph.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "-2");
  EXPECT_FAILS(
      gnnmg_graph_create_from_coo(context, -4, targets, targets, GNNMG_DTYPE_I64, 2, graph.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "num_nodes is -4");
  const char* odd = reinterpret_cast<const char*>(targets) + 1;
  EXPECT_FAILS(
      gnnmg_graph_create_from_coo(context, 4, odd, targets, GNNMG_DTYPE_I64, 1, graph.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "aligned");
  const int64_t falling[] = {0, 2, 1, 3, 4}, short_end[] = {0, 1, 2, 3, 3}, ids[] = {0, 1, 2, 3};
  EXPECT_EQ(graph.get(), nullptr);
  const Graph four = nodes(4);
  EXPECT_FAILS(gnnmg_graph_set_csc(four, 0, falling, ids, nullptr, GNNMG_DTYPE_I64, 4),
               GNNMG_ERR_RANGE, "indptr[2] is 1");
  EXPECT_FAILS(gnnmg_graph_set_csc(four, 0, short_end, ids, nullptr, GNNMG_DTYPE_I64, 4),
               GNNMG_ERR_RANGE, "indptr[4] is 3");
}

TEST_F(GraphTest, AnEmptyGraphIsAGraph) {
  Graph graph;
  ASSERT_OK(
      gnnmg_graph_create_from_coo(context, 0, nullptr, nullptr, GNNMG_DTYPE_I64, 0, graph.out()));
  EXPECT_TRUE(edges(graph).first.empty());
  Graph transformed;
  EXPECT_OK(
      gnnmg_graph_create_transformed(graph, GNNMG_TRANSFORM_TO_UNDIRECTED, 0, transformed.out()));
}

TEST_F(GraphTest, TypesAreBuiltUp) {
  Graph graph;
  ASSERT_OK(gnnmg_graph_create(context, graph.out()));
  int32_t paper = -1, author = -1, writes = -1, cites = -1, count = -1;
  ASSERT_OK(gnnmg_graph_add_node_type(graph, "paper", 3, &paper));
  ASSERT_OK(gnnmg_graph_add_node_type(graph, "author", 2, &author));
  EXPECT_EQ(paper, 0);
  EXPECT_EQ(author, 1);
  const float numbers[] = {1, 2, 3};
  const int64_t rows = 3;
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, paper, "year", numbers, GNNMG_DTYPE_F32, 1, &rows));
  ASSERT_OK(gnnmg_graph_add_edge_type(graph, author, "writes", paper, &writes));
  ASSERT_OK(gnnmg_graph_add_edge_type(graph, paper, "cites", paper, &cites));
  const int32_t authors[] = {0, 1, 1}, papers[] = {0, 0, 2};
  ASSERT_OK(gnnmg_graph_set_coo(graph, writes, authors, papers, GNNMG_DTYPE_I32, 3));
  const int32_t weights[] = {7, 8, 9};
  ASSERT_OK(gnnmg_graph_set_edge_tensor(graph, writes, "w", weights, GNNMG_DTYPE_I32, 1, &rows));
  ASSERT_OK(gnnmg_graph_num_node_types(graph, &count));
  EXPECT_EQ(count, 2);
  ASSERT_OK(gnnmg_graph_num_edge_types(graph, &count));
  EXPECT_EQ(count, 2);
  int32_t from = -1, to = -1;
  const char* name = nullptr;
  ASSERT_OK(gnnmg_graph_edge_type_name(graph, writes, &from, &name, &to));
  EXPECT_STREQ(name, "writes");
  EXPECT_EQ(from, author);
  EXPECT_EQ(to, paper);
  ASSERT_OK(gnnmg_graph_node_type_name(graph, author, &name));
  EXPECT_STREQ(name, "author");
  ASSERT_OK(gnnmg_graph_edge_tensor_name(graph, writes, 0, &name));
  EXPECT_STREQ(name, "w");
  EXPECT_EQ(gnnmg_graph_edge_tensor_name(graph, writes, 1, &name), GNNMG_END);
  Tensor column;
  ASSERT_OK(gnnmg_graph_export_edge_tensor(graph, writes, "w", column.out()));
  EXPECT_EQ(values<int32_t>(column), (std::vector<int32_t>{7, 8, 9}));

  EXPECT_FAILS(gnnmg_graph_add_node_type(graph, "paper", 3, nullptr), GNNMG_ERR_INVALID_ARGUMENT,
               "paper");
  EXPECT_FAILS(gnnmg_graph_add_edge_type(graph, 5, "x", 0, nullptr), GNNMG_ERR_NOT_FOUND,
               "node type 5");
  EXPECT_FAILS(gnnmg_graph_add_node_type(graph, "", 3, nullptr), GNNMG_ERR_INVALID_ARGUMENT,
               "'name' is empty");
  EXPECT_FAILS(gnnmg_graph_set_coo(graph, 9, authors, papers, GNNMG_DTYPE_I32, 3),
               GNNMG_ERR_NOT_FOUND, "edge type 9");
  // Edge tensors match the edges: another number of edges is refused.
  EXPECT_FAILS(gnnmg_graph_set_coo(graph, writes, authors, papers, GNNMG_DTYPE_I32, 2),
               GNNMG_ERR_INVALID_ARGUMENT, "'w'");
  int64_t edges_now = 0;
  ASSERT_OK(gnnmg_graph_num_edges(graph, writes, &edges_now));
  EXPECT_EQ(edges_now, 3);  // nothing is half done
  Dataset dataset;
  EXPECT_FAILS(gnnmg_dataset_create(graph, nullptr, nullptr, 0, 0, dataset.out()),
               GNNMG_ERR_UNSUPPORTED, "2 node types");
}

TEST_F(GraphTest, AnUnfinishedGraphIsNotTaken) {
  Graph graph;
  ASSERT_OK(gnnmg_graph_create(context, graph.out()));
  Sampler sampler;
  EXPECT_EQ(gnnmg_sampler_create(graph, nullptr, nullptr, sampler.out()), GNNMG_ERR_NOT_FOUND);
  ASSERT_OK(gnnmg_graph_add_node_type(graph, "node", 2, nullptr));
  Dataset dataset;
  EXPECT_FAILS(gnnmg_dataset_create(graph, nullptr, nullptr, 0, 0, dataset.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "0 edge types");
  ASSERT_OK(gnnmg_graph_add_edge_type(graph, 0, "edge", 0, nullptr));
  EXPECT_OK(gnnmg_sampler_create(graph, nullptr, nullptr, sampler.out()));  // no edges are legal
}

TEST_F(GraphTest, AGraphThatWasTakenNeverChanges) {
  const Graph graph = small();
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(graph, nullptr, nullptr, sampler.out()));
  const float numbers[] = {1, 2, 3, 4};
  const int64_t rows = 4;
  EXPECT_FAILS(gnnmg_graph_set_node_tensor(graph, 0, "x", numbers, GNNMG_DTYPE_F32, 1, &rows),
               GNNMG_ERR_INVALID_ARGUMENT, "complete");
  EXPECT_FAILS(gnnmg_graph_add_node_type(graph, "more", 1, nullptr), GNNMG_ERR_INVALID_ARGUMENT,
               "complete");
  EXPECT_EQ(gnnmg_graph_export_node_tensor(graph, 0, "x", Tensor().out()), GNNMG_ERR_NOT_FOUND);
}

TEST_F(GraphTest, TensorsThatDoNotFitAreRefused) {
  const Graph graph = small();
  const float numbers[12] = {};
  const int64_t rows3[] = {3, 2}, rows4[] = {4, 3};
  EXPECT_FAILS(gnnmg_graph_set_node_tensor(graph, 0, "x", numbers, GNNMG_DTYPE_F32, 2, rows3),
               GNNMG_ERR_INVALID_ARGUMENT, "argument 'tensor' is [3, 2], expected 4 rows");
  EXPECT_FAILS(gnnmg_graph_set_node_tensor(graph, 0, "x", nullptr, GNNMG_DTYPE_F32, 2, rows4),
               GNNMG_ERR_INVALID_ARGUMENT, "'data' is NULL");
  EXPECT_FAILS(gnnmg_graph_set_node_tensor(graph, 0, nullptr, numbers, GNNMG_DTYPE_F32, 2, rows4),
               GNNMG_ERR_INVALID_ARGUMENT, "'name' is NULL");
  EXPECT_FAILS(gnnmg_graph_set_node_tensor(graph, 0, "x", numbers, 8, 2, rows4),
               GNNMG_ERR_INVALID_ARGUMENT, "dtype is 8");
  EXPECT_FAILS(gnnmg_graph_set_node_tensor(graph, 1, "x", numbers, GNNMG_DTYPE_F32, 2, rows4),
               GNNMG_ERR_NOT_FOUND, "node type 1");
  EXPECT_FAILS(gnnmg_graph_set_node_tensor(graph, 0, "x", numbers, GNNMG_DTYPE_F32, 0, rows4),
               GNNMG_ERR_INVALID_ARGUMENT, "argument 'tensor' is [], expected 4 rows");
  EXPECT_FAILS(gnnmg_graph_set_node_tensor(graph, 0, "x\xff\n", numbers, GNNMG_DTYPE_F32, 2, rows4),
               GNNMG_ERR_INVALID_ARGUMENT, "'name' is \"x\\xff\\x0a\", expected UTF-8");
  EXPECT_FAILS(gnnmg_graph_add_node_type(graph, "\xff", 1, nullptr), GNNMG_ERR_INVALID_ARGUMENT,
               "expected UTF-8");
  EXPECT_FAILS(gnnmg_graph_add_edge_type(graph, 0, "\xff", 0, nullptr), GNNMG_ERR_INVALID_ARGUMENT,
               "expected UTF-8");
}

TEST_F(GraphTest, CountsBeyondAnyMemoryAreRefused) {
  const int64_t ids[] = {0, 1, 2, 0};
  Graph graph;
  EXPECT_FAILS(
      gnnmg_graph_create_from_coo(context, INT64_MAX, ids, ids, GNNMG_DTYPE_I64, 1, graph.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "num_nodes is 9223372036854775807");
  EXPECT_FAILS(
      gnnmg_graph_create_from_coo(context, 3, ids, ids, GNNMG_DTYPE_I64, INT64_MAX, graph.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "number of 'sources' is 9223372036854775807");
}

TEST_F(GraphTest, AnUnalignedPlaceForAHandleIsRefused) {
  const int64_t ids[] = {0, 1};
  alignas(gnnmg_graph*) char bytes[2 * sizeof(gnnmg_graph*)] = {};
  auto* place = reinterpret_cast<gnnmg_graph**>(bytes + 1);
  EXPECT_FAILS(gnnmg_graph_create_from_coo(context, 3, ids, ids, GNNMG_DTYPE_I64, 2, place),
               GNNMG_ERR_INVALID_ARGUMENT, "argument 'graph' is not aligned to 8 bytes");
  for (const char byte : bytes) EXPECT_EQ(byte, 0);
}

TEST_F(GraphTest, SparseTensorsComeOutAsTheyWentIn) {
  const Graph graph = small();
  const int64_t indptr[] = {0, 2, 2, 3, 4};
  const int32_t indices[] = {0, 5, 2, 1};
  const float entries[] = {1, 2, 3, 4};
  ASSERT_OK(gnnmg_graph_set_node_csr(graph, 0, "x", 6, indptr, indices, entries, 4));
  const char* name = nullptr;
  int32_t sparse = 0;
  ASSERT_OK(gnnmg_graph_node_tensor_name(graph, 0, 0, &name, &sparse));
  EXPECT_STREQ(name, "x");
  EXPECT_EQ(sparse, 1);
  EXPECT_EQ(gnnmg_graph_node_tensor_name(graph, 0, 1, &name, &sparse), GNNMG_END);
  int64_t columns = 0;
  Tensor a, b, c;
  ASSERT_OK(gnnmg_graph_export_node_csr(graph, 0, "x", &columns, a.out(), b.out(), c.out()));
  EXPECT_EQ(columns, 6);
  EXPECT_EQ(values<int64_t>(a), (std::vector<int64_t>{0, 2, 2, 3, 4}));
  EXPECT_EQ(values<int32_t>(b), (std::vector<int32_t>{0, 5, 2, 1}));
  EXPECT_EQ(values<float>(c), (std::vector<float>{1, 2, 3, 4}));
  Tensor dense;
  EXPECT_FAILS(gnnmg_graph_export_node_tensor(graph, 0, "x", dense.out()), GNNMG_ERR_UNSUPPORTED,
               "sparse");
  EXPECT_FAILS(gnnmg_graph_set_node_csr(graph, 0, "x", 5, indptr, indices, entries, 4),
               GNNMG_ERR_RANGE, "indices[1] is 5");
  EXPECT_FAILS(gnnmg_graph_set_node_csr(graph, 0, "x", 6, indptr, indices, entries, 3),
               GNNMG_ERR_INVALID_ARGUMENT, "indices is i32 [3], expected i32 [4]");
}

TEST_F(GraphTest, InEdgesOfANode) {
  const Graph graph = small();
  int64_t sources[4], ids[4], needed = 0;
  ASSERT_OK(gnnmg_graph_get_in_edges(graph, 0, 1, sources, ids, 4, &needed));
  ASSERT_EQ(needed, 2);
  EXPECT_EQ(sources[0], 0);
  EXPECT_EQ(sources[1], 2);
  EXPECT_EQ(ids[0], 0);
  EXPECT_EQ(ids[1], 1);
  sources[1] = 99;
  ASSERT_OK(gnnmg_graph_get_in_edges(graph, 0, 1, sources, nullptr, 1, &needed));
  EXPECT_EQ(needed, 2);
  EXPECT_EQ(sources[1], 99);
  EXPECT_FAILS(gnnmg_graph_get_in_edges(graph, 0, 4, sources, ids, 4, &needed), GNNMG_ERR_NOT_FOUND,
               "target is 4");
}

TEST_F(GraphTest, TransformsMakeNewGraphs) {
  const Graph graph = small();
  const auto transformed = [&](gnnmg_transform transform) {
    Graph result;
    EXPECT_OK(gnnmg_graph_create_transformed(graph, transform, 0, result.out()));
    return edges(result);
  };
  EXPECT_EQ(transformed(GNNMG_TRANSFORM_ADD_REVERSE_EDGES).first,
            (std::vector<int64_t>{0, 2, 1, 3, 1, 1, 0}));
  EXPECT_EQ(transformed(GNNMG_TRANSFORM_TO_UNDIRECTED).first.size(), 5u);
  EXPECT_EQ(transformed(GNNMG_TRANSFORM_COALESCE).first.size(), 4u);
  EXPECT_EQ(transformed(GNNMG_TRANSFORM_REMOVE_SELF_LOOPS).first.size(), 3u);
  EXPECT_EQ(transformed(GNNMG_TRANSFORM_ADD_SELF_LOOPS).first.size(), 8u);
  EXPECT_EQ(transformed(GNNMG_TRANSFORM_ADD_REMAINING_SELF_LOOPS).first.size(), 7u);
  EXPECT_EQ(transformed(GNNMG_TRANSFORM_REMOVE_EDGES).first.size(), 0u);
  const auto forward = edges(graph), back = transformed(GNNMG_TRANSFORM_REVERSE_EDGES);
  EXPECT_EQ(back.first, forward.second);
  EXPECT_EQ(back.second, forward.first);
  Graph result;
  EXPECT_FAILS(gnnmg_graph_create_transformed(graph, 8, 0, result.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "transform is 8");
  EXPECT_FAILS(gnnmg_graph_create_transformed(graph, 0, 1, result.out()), GNNMG_ERR_NOT_FOUND,
               "edge type 1");
}

TEST_F(GraphTest, RowsAreNormalised) {
  const Graph graph = small();
  const float numbers[] = {1, 3, 0, 0, 2, 2, 5, 5};
  const int64_t shape[] = {4, 2};
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "x", numbers, GNNMG_DTYPE_F32, 2, shape));
  Graph result;
  ASSERT_OK(gnnmg_graph_create_normalized(graph, "x", result.out()));
  Tensor out;
  ASSERT_OK(gnnmg_graph_export_node_tensor(result, 0, "x", out.out()));
  EXPECT_EQ(values<float>(out), (std::vector<float>{0.25f, 0.75f, 0, 0, 0.5f, 0.5f, 0.5f, 0.5f}));
  EXPECT_EQ(gnnmg_graph_create_normalized(graph, "z", result.out()), GNNMG_ERR_NOT_FOUND);
}

TEST_F(GraphTest, GeneratorsHaveDefaultsAndRefuseNonsense) {
  Graph graph;
  ASSERT_OK(
      gnnmg_graph_generate(context, "log_normal", "num_nodes=2000 num_features=4", graph.out()));
  Tensor x;
  ASSERT_OK(gnnmg_graph_export_node_tensor(graph, 0, "x", x.out()));
  EXPECT_EQ(shape_of(x), (std::vector<int64_t>{2000, 4}));
  EXPECT_FAILS(gnnmg_graph_generate(context, "log_normal", "num_nodes=-5", graph.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "-5");
  int64_t count = 0;
  ASSERT_OK(gnnmg_graph_generate(context, "rmat", "scale=8 num_edges=1000", graph.out()));
  ASSERT_OK(gnnmg_graph_num_edges(graph, 0, &count));
  EXPECT_EQ(count, 1000);
  ASSERT_OK(gnnmg_graph_generate(context, "erdos_renyi", nullptr, graph.out()));
  ASSERT_OK(gnnmg_graph_num_nodes(graph, 0, &count));
  EXPECT_EQ(count, 10000);
  EXPECT_FAILS(gnnmg_graph_generate(context, "planted", "scale=8", graph.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "num_nodes");
  EXPECT_FAILS(gnnmg_graph_generate(context, "barabasi", nullptr, graph.out()), GNNMG_ERR_NOT_FOUND,
               "planted");
}

}  // namespace
}  // namespace gnnmg::test
