// Transforms compared with plain edge lists, including the rows of edge tensors.
#include "graph/transform.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "graph/support.h"

namespace gnnmg::graph {
namespace {

using base::CsrMatrix;
using base::DType;
using base::Status;
using base::Tensor;
using base::ThreadPool;
using Ids = std::vector<int64_t>;

// An edge with its number in the original graph (-1: none), as recorded in the edge tensor as
// number + 1.
struct Edge {
  int64_t source, target, origin;
  auto operator<=>(const Edge&) const = default;
};
using Edges = std::vector<Edge>;

Edges plain(const EdgeList& list) {
  Edges out;
  for (size_t e = 0; e < list.sources.size(); ++e)
    out.push_back({list.sources[e], list.targets[e], static_cast<int64_t>(e)});
  return out;
}

// Makes a graph with a dense and a sparse edge tensor that both hold the edge's number + 1, and
// with a node tensor.
GraphRef graph_of(const EdgeList& list, int64_t num_nodes, ThreadPool& pool) {
  const auto num_edges = static_cast<int64_t>(list.sources.size());
  Ids numbers, pointers{0};
  std::vector<float> values;
  for (int64_t e = 0; e < num_edges; ++e) {
    numbers.push_back(e + 1);
    numbers.push_back(-e - 1);
    pointers.push_back(e + 1);
    values.push_back(static_cast<float>(e + 1));
  }
  Tensor wide = Tensor::copy_of<int64_t>(numbers);
  GraphParts parts;
  parts.num_nodes = {num_nodes};
  parts.topology = {csc_of(list, num_nodes, num_nodes, pool)};
  parts.node_columns = {{{"x", Tensor::zeros(DType::kF32, {num_nodes, 2})}}};
  parts.edge_columns = {
      {{"number", Tensor({wide.data(), DType::kI64, {num_edges, 2}}, wide.owner())},
       {"sparse", CsrMatrix{num_edges, 3, tensor_of(pointers),
                            tensor_of(std::vector<int32_t>(num_edges, 2)), tensor_of(values)}}}};
  return Graph::create(std::move(parts));
}

// Returns the edges in edge-id order; checks that both edge tensors agree.
Edges edges_of(const Graph& graph, ThreadPool& pool) {
  const auto [sources, targets] = coo_of(graph.csc(), pool);
  const auto& numbers = std::get<Tensor>(*graph.edge_column("number"));
  const auto& sparse = std::get<CsrMatrix>(*graph.edge_column("sparse"));
  const auto* number = numbers.as<int64_t>().data();
  const auto* begin = sparse.indptr.as<int64_t>().data();
  const auto* value = sparse.values.as<float>().data();
  Edges out;
  int64_t disagree = 0;
  for (int64_t e = 0; e < graph.num_edges(); ++e) {
    const int64_t at = number[2 * e];
    disagree += number[2 * e + 1] != -at || begin[e + 1] - begin[e] != (at ? 1 : 0);
    for (int64_t i = begin[e]; i < begin[e + 1]; ++i)
      disagree += value[i] != static_cast<float>(at);
    out.push_back({sources.as<int64_t>()[e], targets.as<int64_t>()[e], at - 1});
  }
  EXPECT_EQ(disagree, 0);
  return out;
}

Edges reversed_too(Edges edges) {
  const size_t count = edges.size();
  for (size_t e = 0; e < count; ++e)
    if (edges[e].source != edges[e].target)
      edges.push_back({edges[e].target, edges[e].source, edges[e].origin});
  return edges;
}

Edges turned(Edges edges) {
  for (Edge& edge : edges) std::swap(edge.source, edge.target);
  return edges;
}

// Returns the first of equal edges, by target and then source.
Edges merged(const Edges& edges) {
  std::map<std::pair<int64_t, int64_t>, int64_t> first;
  for (const Edge& edge : edges) first.try_emplace({edge.target, edge.source}, edge.origin);
  Edges out;
  for (const auto& [ends, origin] : first) out.push_back({ends.second, ends.first, origin});
  return out;
}

Edges without_loops(Edges edges) {
  std::erase_if(edges, [](const Edge& edge) { return edge.source == edge.target; });
  return edges;
}

Edges with_loops(Edges edges, int64_t num_nodes, bool remaining) {
  std::set<int64_t> have;
  for (const Edge& edge : edges)
    if (edge.source == edge.target) have.insert(edge.source);
  for (int64_t i = 0; i < num_nodes; ++i)
    if (!remaining || !have.contains(i)) edges.push_back({i, i, -1});
  return edges;
}

struct NodesAndEdges {
  int64_t num_nodes, num_edges;
};
class Transforms : public testing::TestWithParam<NodesAndEdges> {};

TEST_P(Transforms, EqualTheReferenceForEveryNumberOfThreads) {
  const int64_t n = GetParam().num_nodes;
  const int64_t num_edges = GetParam().num_edges;
  const EdgeList list = n ? random_edges(n, n, num_edges, 4) : EdgeList{};
  const Edges edges = plain(list);
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    const GraphRef graph = graph_of(list, n, pool);
    const auto after = [&](const GraphRef& made) {
      EXPECT_EQ(made->num_nodes(), n);
      EXPECT_EQ(std::get<Tensor>(*made->node_column("x")).data(),
                std::get<Tensor>(*graph->node_column("x")).data());
      return edges_of(*made, pool);
    };
    EXPECT_EQ(after(add_reverse_edges(*graph, false, pool)), reversed_too(edges));
    EXPECT_EQ(after(add_reverse_edges(*graph, true, pool)), merged(reversed_too(edges)));
    EXPECT_EQ(after(to_undirected(*graph, pool)), merged(reversed_too(edges)));
    EXPECT_EQ(after(coalesce(*graph, pool)), merged(edges));
    EXPECT_EQ(after(remove_self_loops(*graph, pool)), without_loops(edges));
    EXPECT_EQ(after(add_self_loops(*graph, pool)), with_loops(edges, n, false));
    EXPECT_EQ(after(add_remaining_self_loops(*graph, pool)), with_loops(edges, n, true));
    EXPECT_EQ(after(reverse_edges(*graph, pool)), turned(edges));
    EXPECT_EQ(after(remove_edges(*graph)), Edges());
    EXPECT_EQ(edges_of(*graph, pool), edges);  // the original graph is unchanged
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Transforms,
                         testing::Values(NodesAndEdges{0, 0}, NodesAndEdges{1, 3},
                                         NodesAndEdges{4, 0}, NodesAndEdges{5, 60},
                                         NodesAndEdges{40, 300}, NodesAndEdges{700, 2000},
                                         NodesAndEdges{300, 70000}));

TEST(TransformsPlain, GraphsWithoutEdgeTensorsGetTheSameTopology) {
  ThreadPool pool(2);
  const EdgeList list = random_edges(90, 90, 5000, 8);
  const GraphRef with = graph_of(list, 90, pool);
  GraphParts parts = with->parts();
  parts.edge_columns.clear();
  const GraphRef without = Graph::create(std::move(parts));
  EXPECT_TRUE(same_bytes(to_undirected(*with, pool)->csc(), to_undirected(*without, pool)->csc()));
  EXPECT_TRUE(same_bytes(coalesce(*with, pool)->csc(), coalesce(*without, pool)->csc()));
  EXPECT_TRUE(
      same_bytes(add_self_loops(*with, pool)->csc(), add_self_loops(*without, pool)->csc()));
}

TEST(TransformsPlain, TheFirstOfEqualEdgesIsTheOneOfSmallestId) {
  ThreadPool pool(1);
  GraphParts parts;
  parts.num_nodes = {2};
  parts.topology = {csc_from_arrays(tensor_of(Ids{0, 3, 3}), tensor_of(Ids{1, 0, 1}),
                                    tensor_of(Ids{2, 1, 0}), 2, pool)};
  parts.edge_columns = {{{"w", tensor_of(Ids{10, 11, 12})}}};
  const GraphRef out = coalesce(*Graph::create(std::move(parts)), pool);
  EXPECT_EQ(ids_of(out->csc().indices), (Ids{0, 1}));
  EXPECT_FALSE(out->csc().edge_ids.defined());
  EXPECT_EQ(ids_of(std::get<Tensor>(*out->edge_column("w"))), (Ids{11, 10}));
}

TEST(TransformsTyped, OneEdgeTypeIsChangedAndTheOthersShared) {
  ThreadPool pool(1);
  GraphParts parts;
  parts.schema = {{"user", "film"}, {{0, 1, "rates"}, {1, 1, "like"}}};
  parts.num_nodes = {3, 2};
  parts.topology = {csc_of({{2, 0, 1}, {1, 0, 1}}, 3, 2, pool), csc_of({{0}, {1}}, 2, 2, pool)};
  const GraphRef graph = Graph::create(std::move(parts));
  const GraphRef made = to_undirected(*graph, pool, 1);
  EXPECT_EQ(made->num_edges(1), 2);
  EXPECT_EQ(made->csc(0).indices.data(), graph->csc(0).indices.data());
  EXPECT_EQ(error_of([&] { to_undirected(*graph, pool, 0); }).second,
            "edge type 'user -rates-> film': source and target types differ, expected one type");
  EXPECT_EQ(error_of([&] { add_self_loops(*graph, pool, 2); }).second,
            "edge_type is 2, expected a type in [0, 2)");
  EXPECT_EQ(error_of([&] { coalesce(*graph, pool, -1); }).first, Status::kInvalidArgument);
  const GraphRef bare = remove_edges(*graph);
  EXPECT_EQ(bare->num_edges(0) + bare->num_edges(1), 0);
  EXPECT_EQ(bare->num_nodes(0), 3);
}

class NormalizeRows : public testing::Test {
 protected:
  GraphRef with(Column column, int64_t rows) {
    GraphParts parts;
    parts.num_nodes = {rows};
    parts.topology = {csc_of({}, rows, rows, pool)};
    parts.node_columns = {{{"x", std::move(column)}}};
    return Graph::create(std::move(parts));
  }
  ThreadPool pool{2};
};

TEST_F(NormalizeRows, DenseRowsSumToOneOrStay) {
  Tensor x = Tensor::zeros(DType::kF32, {3, 2});
  const std::vector<float> values{1, 3, 0, 0, 5, -5};
  std::copy(values.begin(), values.end(), x.as<float>().begin());
  const GraphRef out = normalize_rows(*with(x, 3), "x", pool);
  EXPECT_EQ(values_of<float>(std::get<Tensor>(*out->node_column("x"))),
            (std::vector<float>{0.25, 0.75, 0, 0, 5, -5}));
  EXPECT_EQ(values_of<float>(x), values);
}

TEST_F(NormalizeRows, SumsAreTakenInDoublePrecision) {
  // In single precision the ones would vanish next to 2^24.
  Tensor x = Tensor::empty(DType::kF32, {1, 1025});
  std::fill(x.as<float>().begin(), x.as<float>().end(), 1.0f);
  x.as<float>()[0] = 0x1p24f;
  const GraphRef out = normalize_rows(*with(x, 1), "x", pool);
  EXPECT_EQ(std::get<Tensor>(*out->node_column("x")).as<float>()[0],
            static_cast<float>(0x1p24 / (0x1p24 + 1024)));
}

TEST_F(NormalizeRows, SparseRowsKeepTheirPattern) {
  const CsrMatrix matrix{3, 9, tensor_of(Ids{0, 2, 2, 3}), tensor_of(std::vector<int32_t>{8, 0, 3}),
                         tensor_of(std::vector<float>{1, 4, 2})};
  const GraphRef out = normalize_rows(*with(matrix, 3), "x", pool);
  const auto& made = std::get<CsrMatrix>(*out->node_column("x"));
  EXPECT_EQ(values_of<float>(made.values), (std::vector<float>{0.2f, 0.8f, 1}));
  EXPECT_EQ(made.indices.data(), matrix.indices.data());
  EXPECT_EQ(values_of<float>(matrix.values), (std::vector<float>{1, 4, 2}));
}

TEST_F(NormalizeRows, OtherTypesAndNamesAreRefused) {
  const GraphRef graph = with(Tensor::zeros(DType::kI64, {3, 2}), 3);
  EXPECT_EQ(error_of([&] { normalize_rows(*graph, "x", pool); }),
            std::pair(Status::kInvalidArgument,
                      std::string("node type 'node': tensor 'x' has elements of type i64, "
                                  "expected f32")));
  EXPECT_EQ(
      error_of([&] { normalize_rows(*graph, "z", pool); }),
      std::pair(Status::kNotFound, std::string("node tensor 'z' is on no node type of the graph")));
}

}  // namespace
}  // namespace gnnmg::graph
