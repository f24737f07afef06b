// Builds CSC topology and compares it with a plain reference; checks the errors for bad ids.
#include "graph/csc.h"

#include <gtest/gtest.h>

#include <limits>

#include "graph/support.h"
#include "support/sanitized.h"

namespace gnnmg::graph {
namespace {

using base::DType;
using base::Status;
using base::Tensor;
using base::ThreadPool;
using Ids = std::vector<int64_t>;

struct Sizes {
  int64_t num_sources, num_targets, num_edges;
};

class FromCoo : public testing::TestWithParam<Sizes> {};

TEST_P(FromCoo, EqualsTheReferenceForEveryNumberOfThreads) {
  const auto [num_sources, num_targets, num_edges] = GetParam();
  const EdgeList edges = random_edges(num_sources, num_targets, num_edges, 7);
  ThreadPool one(1);
  const Csc expected = csc_of(edges, num_sources, num_targets, one);
  EXPECT_EQ(adjacency_of(expected), adjacency_of(edges, num_targets));
  EXPECT_EQ(expected.num_sources, num_sources);
  EXPECT_EQ(expected.num_targets, num_targets);
  EXPECT_EQ(expected.indices.dtype(), DType::kI32);
  for (int threads : {2, 5}) {
    ThreadPool pool(threads);
    EXPECT_TRUE(same_bytes(csc_of(edges, num_sources, num_targets, pool), expected)) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, FromCoo,
                         testing::Values(Sizes{5, 5, 0}, Sizes{1, 1, 10}, Sizes{3, 7, 40},
                                         Sizes{100, 2, 1000}, Sizes{2, 100000, 5000},
                                         Sizes{1000, 1000, 20000}, Sizes{50, 3, 700000},
                                         Sizes{70000, 70000, 900000}));

TEST(FromCooTypes, ThirtyTwoBitListsGiveTheSameTopology) {
  const EdgeList edges = random_edges(60, 40, 500, 3);
  ThreadPool pool(2);
  const std::vector<int32_t> sources(edges.sources.begin(), edges.sources.end());
  const std::vector<int32_t> targets(edges.targets.begin(), edges.targets.end());
  EXPECT_TRUE(
      same_bytes(csc_from_coo(tensor_of(sources).view(), tensor_of(targets).view(), 60, 40, pool),
                 csc_of(edges, 60, 40, pool)));
}

TEST(FromCooTypes, SourcesAreWideOnlyWhereTheyMustBe) {
  ThreadPool pool(1);
  const EdgeList edges{{int64_t{1} << 40, 3}, {1, 0}};
  const Csc wide = csc_of(edges, (int64_t{1} << 40) + 1, 2, pool);
  EXPECT_TRUE(wide.wide());
  EXPECT_EQ(wide.edge_ids.dtype(), DType::kI32);
  EXPECT_EQ(adjacency_of(wide), adjacency_of(edges, 2));
  const int64_t most = std::numeric_limits<int32_t>::max();
  const EdgeList last{{most - 1}, {0}};
  EXPECT_FALSE(csc_of(last, most, 1, pool).wide());
  EXPECT_TRUE(csc_of(last, most + 1, 1, pool).wide());
  EXPECT_EQ(csc_of(last, most + 1, 1, pool).source(0), most - 1);
}

TEST(FromCooOrder, EdgeIdsAreLeftOutWhereTheyAreTheIdentity) {
  ThreadPool pool(2);
  const Csc sorted = csc_of({{4, 2, 2, 0}, {0, 0, 2, 3}}, 5, 6, pool);
  EXPECT_FALSE(sorted.edge_ids.defined());
  EXPECT_EQ(values_of<int64_t>(sorted.indptr), (Ids{0, 2, 2, 3, 4, 4, 4}));
  EXPECT_EQ(ids_of(sorted.indices), (Ids{4, 2, 2, 0}));
  EXPECT_EQ(sorted.edge_id(3), 3);
  EXPECT_EQ(sorted.in_degree(0), 2);

  EdgeList edges = random_edges(400, 400, 600000, 5);
  std::sort(edges.targets.begin(), edges.targets.end());
  const Csc large = csc_of(edges, 400, 400, pool);
  EXPECT_FALSE(large.edge_ids.defined());
  EXPECT_EQ(adjacency_of(large), adjacency_of(edges, 400));
  // A single descent, at the border of two ranges of the parallel loop, is detected.
  std::swap(edges.targets.front(), edges.targets.back());
  EXPECT_EQ(adjacency_of(csc_of(edges, 400, 400, pool)), adjacency_of(edges, 400));
  EdgeList two_runs = random_edges(9, 9, 1 << 19, 6);
  for (int64_t e = 0; e < 1 << 19; ++e) two_runs.targets[e] = e < 1 << 18 ? 8 : 1;
  EXPECT_TRUE(csc_of(two_runs, 9, 9, pool).edge_ids.defined());
  EXPECT_EQ(adjacency_of(csc_of(two_runs, 9, 9, pool)), adjacency_of(two_runs, 9));
}

TEST(FromCooOdd, EmptyGraphsSelfLoopsDuplicatesAndOneHub) {
  ThreadPool pool(2);
  const Csc none = csc_of({}, 0, 0, pool);
  EXPECT_EQ(none.num_edges(), 0);
  EXPECT_EQ(values_of<int64_t>(none.indptr), (Ids{0}));
  const Csc isolated = csc_of({}, 3, 3, pool);
  EXPECT_EQ(values_of<int64_t>(isolated.indptr), (Ids{0, 0, 0, 0}));
  constexpr int64_t kMany = 5'000'000;
  const Csc many = csc_of({}, kMany, kMany, pool);
  EXPECT_EQ(values_of<int64_t>(many.indptr), Ids(kMany + 1, 0));
  const EdgeList loops{{1, 1, 0, 1}, {1, 0, 0, 1}};
  EXPECT_EQ(adjacency_of(csc_of(loops, 2, 2, pool)), adjacency_of(loops, 2));
  EdgeList star = random_edges(1000, 1, 400000, 11);
  star.targets.back() = 999;
  star.targets.front() = 500;
  EXPECT_EQ(adjacency_of(csc_of(star, 1000, 1000, pool)), adjacency_of(star, 1000));
}

TEST(FromCooErrors, TheFirstBadIdIsNamed) {
  EdgeList edges = random_edges(10, 20, 800000, 1);
  edges.targets[700000] = 20;
  edges.sources[700001] = -1;
  edges.targets[790000] = std::numeric_limits<int64_t>::min();
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    const auto [status, text] = error_of([&] { csc_of(edges, 10, 20, pool); });
    EXPECT_EQ(status, Status::kRange);
    EXPECT_EQ(text, "targets[700000] is 20, expected an id in [0, 20)");
  }
  ThreadPool pool(1);
  EXPECT_EQ(error_of([&] { csc_of({{0, -5}, {0, 7}}, 1, 1, pool); }).second,
            "sources[1] is -5, expected an id in [0, 1)");
  EXPECT_EQ(error_of([&] { csc_of({{0}, {0}}, 1, 0, pool); }).second,
            "targets[0] is 0, expected an id in [0, 0)");
}

TEST(FromCooErrors, ListsMustAgree) {
  ThreadPool pool(1);
  const Tensor wide = tensor_of(Ids{0, 0});
  const Tensor narrow = tensor_of(std::vector<int32_t>{0, 0});
  const Tensor other = tensor_of(Ids{0});
  const Tensor floats = tensor_of(std::vector<float>{0, 0});
  const Tensor square = Tensor::zeros(DType::kI64, {1, 2});
  const auto status = [&](const Tensor& sources, const Tensor& targets, int64_t n, int64_t m) {
    return error_of([&] { csc_from_coo(sources.view(), targets.view(), n, m, pool); }).first;
  };
  EXPECT_EQ(status(wide, narrow, 1, 1), Status::kInvalidArgument);
  EXPECT_EQ(status(wide, other, 1, 1), Status::kInvalidArgument);
  EXPECT_EQ(status(floats, floats, 1, 1), Status::kInvalidArgument);
  EXPECT_EQ(status(square, square, 1, 1), Status::kInvalidArgument);
  EXPECT_EQ(status(wide, wide, -1, 1), Status::kInvalidArgument);
  EXPECT_EQ(status(wide, wide, 1, -1), Status::kInvalidArgument);
  EXPECT_EQ(status(other, other, 1, std::numeric_limits<int64_t>::max()), Status::kUnsupported);
  EXPECT_EQ(status(wide, wide, 1, 1), Status::kOk);
}

// The sources of each target by the rules, one edge after the other.
std::vector<Ids> ruled(const EdgeList& edges, int64_t num_nodes, const CscRules& rules) {
  std::vector<Ids> rows(num_nodes);
  for (size_t e = 0; e < edges.sources.size(); ++e) {
    const int64_t source = edges.sources[e], target = edges.targets[e];
    if (source != target || !rules.drop_loops) rows[target].push_back(source);
    if (source != target && rules.reverses) rows[source].push_back(target);
  }
  for (Ids& row : rows) {
    if (!rules.once) continue;
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return rows;
}

std::vector<Ids> rows_of(const Csc& csc) {
  std::vector<Ids> rows;
  for (const auto& row : adjacency_of(csc)) {
    rows.emplace_back();
    for (const auto& [source, id] : row) rows.back().push_back(source);
  }
  return rows;
}

TEST(FromLists, EdgesFollowTheRulesForEveryNumberOfThreads) {
  // Many repeats; few; ascending targets; none at all.
  const int64_t many = test::kSanitized ? 100000 : 600000;
  std::vector<std::pair<int64_t, EdgeList>> lists = {{300, random_edges(300, 300, many, 1)},
                                                     {70000, random_edges(70000, 70000, many, 2)},
                                                     {90, random_edges(90, 90, 5000, 3)},
                                                     {7, {}}};
  std::sort(lists[2].second.targets.begin(), lists[2].second.targets.end());
  for (const auto& [num_nodes, edges] : lists)
    for (const CscRules& rules :
         {CscRules{}, CscRules{.edge_ids = false}, CscRules{.edge_ids = false, .drop_loops = true},
          CscRules{.edge_ids = false, .once = true},
          CscRules{.edge_ids = false, .reverses = true, .once = true},
          CscRules{.edge_ids = false, .drop_loops = true, .reverses = true, .once = true}}) {
      const auto expected = ruled(edges, num_nodes, rules);
      for (const int threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        const Csc wide = csc_from_lists(tensor_of(edges.sources), tensor_of(edges.targets),
                                        num_nodes, num_nodes, rules, pool);
        EXPECT_EQ(rows_of(wide), expected) << num_nodes << " " << threads;
        EXPECT_FALSE(wide.edge_ids.defined() && !rules.edge_ids);
        const std::vector<int32_t> sources(edges.sources.begin(), edges.sources.end());
        const std::vector<int32_t> targets(edges.targets.begin(), edges.targets.end());
        EXPECT_TRUE(same_bytes(csc_from_lists(tensor_of(sources), tensor_of(targets), num_nodes,
                                              num_nodes, rules, pool),
                               wide));
        if (rules.reverses && !rules.drop_loops) {
          EXPECT_TRUE(
              same_bytes(undirected(csc_of(edges, num_nodes, num_nodes, pool), pool), wide));
        }
        if (rules.edge_ids) {
          EXPECT_TRUE(same_bytes(csc_of(edges, num_nodes, num_nodes, pool), wide));
        }
      }
    }
}

TEST(FromLists, ListsThatOthersHoldStayAsTheyAre) {
  const EdgeList edges = random_edges(5000, 5000, 1500000, 4);
  const Tensor sources = tensor_of(edges.sources), targets = tensor_of(edges.targets);
  ThreadPool pool(2);
  csc_from_lists(sources, targets, 5000, 5000, {.edge_ids = false}, pool);
  EXPECT_EQ(values_of<int64_t>(sources), edges.sources);
  EXPECT_EQ(values_of<int64_t>(targets), edges.targets);
}

TEST(FromArrays, NarrowsOrSharesAndKeepsEverything) {
  ThreadPool pool(2);
  const Csc narrowed = csc_from_arrays(tensor_of(Ids{0, 2, 2, 3}), tensor_of(Ids{4, 0, 1}),
                                       tensor_of(Ids{2, 0, 1}), 5, pool);
  EXPECT_EQ(narrowed.indices.dtype(), DType::kI32);
  EXPECT_EQ(narrowed.edge_ids.dtype(), DType::kI32);
  EXPECT_EQ(narrowed.num_targets, 3);
  EXPECT_EQ(adjacency_of(narrowed), (Adjacency{{{4, 2}, {0, 0}}, {}, {{1, 1}}}));

  const Tensor indptr = tensor_of(Ids{0, 1});
  const Tensor indices = tensor_of(std::vector<int32_t>{2});
  const Csc shared = csc_from_arrays(indptr, indices, {}, 3, pool);
  EXPECT_EQ(shared.indptr.data(), indptr.data());
  EXPECT_EQ(shared.indices.data(), indices.data());
  EXPECT_FALSE(shared.edge_ids.defined());

  const Csc widened =
      csc_from_arrays(tensor_of(std::vector<int32_t>{0, 1}), indices, {}, int64_t{1} << 33, pool);
  EXPECT_TRUE(widened.wide());
  EXPECT_EQ(widened.source(0), 2);
}

TEST(FromArrays, RefusesWhatDoesNotFit) {
  ThreadPool pool(2);
  const auto error = [&](const Ids& indptr, const Ids& indices, const Ids& edge_ids) {
    return error_of([&] {
      csc_from_arrays(tensor_of(indptr), tensor_of(indices),
                      edge_ids.empty() ? Tensor() : tensor_of(edge_ids), 3, pool);
    });
  };
  using Result = std::pair<Status, std::string>;
  EXPECT_EQ(error({1, 2}, {0, 0}, {}), Result(Status::kRange, "indptr[0] is 1, expected 0"));
  EXPECT_EQ(error({0, 2, 1, 2}, {0, 0}, {}),
            Result(Status::kRange, "indptr[2] is 1, expected at least 2, the pointer before it"));
  EXPECT_EQ(error({0, 1}, {0, 0}, {}),
            Result(Status::kRange, "indptr[1] is 1, expected 2, the number of indices"));
  EXPECT_EQ(error({0, 2}, {0, 3}, {}),
            Result(Status::kRange, "indices[1] is 3, expected an id in [0, 3)"));
  EXPECT_EQ(error({0, 2}, {0, -1}, {}).first, Status::kRange);
  EXPECT_EQ(error({0, 2}, {0, 1}, {0, 2}).first, Status::kRange);
  EXPECT_EQ(
      error({0, 3}, {0, 1, 2}, {2, 0, 2}),
      Result(Status::kRange, "edge_ids[2] repeats the id 2, expected each id in [0, 3) once"));
  EXPECT_EQ(error({0, 2}, {0, 1}, {0}).first, Status::kInvalidArgument);
  EXPECT_EQ(error({}, {}, {}).first, Status::kInvalidArgument);
  EXPECT_EQ(error({0}, {}, {}).first, Status::kOk);
  EXPECT_EQ(error_of([&] { csc_from_arrays({}, tensor_of(Ids{}), {}, 0, pool); }).second,
            "indptr is missing");
  EXPECT_EQ(error_of([&] { csc_from_arrays(tensor_of(Ids{0}), {}, {}, 0, pool); }).second,
            "indices are missing");
}

TEST(CooOf, GivesBackTheCallersOrder) {
  for (const auto& [nodes, count] :
       {std::pair<int64_t, int64_t>{0, 0}, {6, 0}, {30, 200}, {500, 600000}}) {
    const EdgeList edges = nodes ? random_edges(nodes, nodes, count, 2) : EdgeList{};
    for (int threads : {1, 2, 5}) {
      ThreadPool pool(threads);
      const auto [sources, targets] = coo_of(csc_of(edges, nodes, nodes, pool), pool);
      EXPECT_EQ(values_of<int64_t>(sources), edges.sources);
      EXPECT_EQ(values_of<int64_t>(targets), edges.targets);
    }
  }
}

TEST(CooOf, NarrowListsOnlyWhereIdsFit) {
  ThreadPool pool(1);
  const Csc wide = csc_of({{int64_t{1} << 33, 1}, {0, 0}}, (int64_t{1} << 33) + 1, 1, pool);
  EXPECT_EQ(ids_of(coo_of(wide, pool).first), (Ids{int64_t{1} << 33, 1}));
  EXPECT_EQ(error_of([&] { coo_of(wide, pool, DType::kI32); }).first, Status::kInvalidArgument);
  const Csc narrow = csc_of({{1, 0}, {1, 0}}, 2, 2, pool);
  EXPECT_EQ(coo_of(narrow, pool, DType::kI32).second.dtype(), DType::kI32);
  EXPECT_EQ(ids_of(coo_of(narrow, pool, DType::kI32).second), (Ids{1, 0}));
  EXPECT_EQ(error_of([&] { coo_of(narrow, pool, DType::kF32); }).first, Status::kInvalidArgument);
}

TEST(VisitIndices, GivesTheStoredType) {
  ThreadPool pool(1);
  const auto width = [](const Csc& csc) {
    return visit_indices(csc, [](auto sources) { return sizeof(sources[0]) * sources.size(); });
  };
  EXPECT_EQ(width(csc_of({{0, 1}, {0, 0}}, 2, 1, pool)), 8u);
  EXPECT_EQ(width(csc_of({{0, 1}, {0, 0}}, int64_t{1} << 32, 1, pool)), 16u);
}

}  // namespace
}  // namespace gnnmg::graph
