// A data set of which this process has some parts, against the whole.
#include "dist/part_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/philox.h"
#include "data/fingerprint.h"
#include "data/split.h"
#include "dist/held_parts.h"
#include "dist/part_fixture.h"
#include "dist/parts_of.h"
#include "graph/transform.h"
#include "loader/hotness.h"
#include "loader/keep_rows.h"
#include "sample/reference.h"
#include "support/temp_dir.h"

namespace gnnmg {
namespace {

using base::DType;
using base::Tensor;
using testing::HasSubstr;

constexpr int64_t kNodes = 400;
constexpr int32_t kParts = 4;
constexpr sample::BatchKey kBatch{7, base::Purpose::kSample, 1, 5};

// Numbers that no two rows share.
Tensor features(DType dtype, int64_t cols) {
  Tensor table = Tensor::empty(dtype, {kNodes, cols});
  for (int64_t i = 0; i < kNodes * cols; ++i) table.as<float>()[i] = static_cast<float>(i);
  return table;
}

data::DatasetRef whole() {
  graph::GraphParts parts = test::skewed_graph(kNodes, 700, 1)->parts();
  Tensor labels = Tensor::empty(DType::kI64, {kNodes});
  std::vector<int64_t> train, validation;
  for (int64_t v = 0; v < kNodes; ++v) {
    labels.as<int64_t>()[v] = v % 5;
    if (v % 3 != 0) (v % 3 == 1 ? train : validation).push_back(v);
  }
  parts.node_columns = {
      {{"x", features(DType::kF32, 7)}, {"more", features(DType::kF32, 2)}, {"y", labels}}};
  return data::make_dataset(
      graph::Graph::create(std::move(parts)), "x", "y", false,
      {data::split_from_ids(train, validation, {}, kNodes, "main", 0, "the test's split")});
}

class PartDataset : public testing::Test {
 protected:
  // Saves it in four parts, the last of which has no nodes.
  explicit PartDataset(const std::vector<int64_t>& fanouts = {4, 4})
      : part_of_(test::hashed_parts(kNodes, kParts - 1, 3)) {
    test::save_in_parts(*whole_, part_of_, kParts, folder_.file("parts"), fanouts);
  }
  data::DatasetRef open(std::vector<int32_t> own, dist::CacheConfig cache = {.bytes = 0}) {
    return test::open_in_parts(folder_.file("parts"), {.own = std::move(own), .cache = cache},
                               &log_);
  }
  // The line of the log about the rows that opening keeps.
  std::string logged() {
    std::string text;
    while (const auto record = log_.next()) text += record->text + "\n";
    return text;
  }

  const test::TempDir folder_;
  const data::DatasetRef whole_ = whole();
  const std::vector<uint16_t> part_of_;
  base::Log log_;
};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<uint8_t> rows_of(const feature::FeatureStore& store, std::span<const int64_t> ids) {
  std::vector<uint8_t> rows(ids.size() * store.num_cols() * base::dtype_size(store.dtype()));
  store.gather(ids, rows.data(), nullptr);
  return rows;
}

TEST_F(PartDataset, SaysOfItselfWhatTheWholeSays) {
  for (const auto& own : std::vector<std::vector<int32_t>>{{}, {0}, {1, 3}, {0, 1, 2, 3}}) {
    const data::DatasetRef some = open(own);
    EXPECT_EQ(some->graph->num_nodes(), kNodes);
    EXPECT_EQ(some->graph->num_edges(), whole_->graph->num_edges());
    EXPECT_TRUE(some->graph->homogeneous());
    EXPECT_EQ(some->feature_dim(), 7);
    EXPECT_EQ(some->num_classes, 5);
    EXPECT_EQ(some->task, data::Task::kMulticlass);
    EXPECT_EQ(some->name, whole_->name);
    ASSERT_NE(some->labels(), nullptr);
    EXPECT_EQ(std::memcmp(some->labels()->data(), whole_->labels()->data(), kNodes * 8), 0);
    const data::Split& split = some->split("main", 0);
    for (const auto part : {data::SplitPart::kTrain, data::SplitPart::kValidation})
      EXPECT_TRUE(std::ranges::equal(split.part(part), whole_->splits[0].part(part)));
    EXPECT_EQ(data::fingerprint(*some, split), data::fingerprint(*whole_, whole_->splits[0]));
    ASSERT_NE(some->parts, nullptr);
    EXPECT_EQ(some->parts->book, part_of_);
    const auto book = dist::book_of(some->parts);
    for (int64_t v = 0; v < kNodes; ++v) EXPECT_EQ(book->part_of(v), part_of_[v]);
  }
}

TEST_F(PartDataset, RowsAndMiniBatchesAreThoseOfTheWhole) {
  sample::NeighborConfig config;
  config.fanouts = {5, -1};
  config.edge_ids = false;
  const std::vector<int64_t> seeds = {17, 0, 399, 5};
  sample::Workspace workspace;
  for (const auto& own : std::vector<std::vector<int32_t>>{{}, {2}, {0, 1, 2, 3}}) {
    const data::DatasetRef some = open(own, {.share = 0.1});
    sample::Sample sample;
    sample::make_neighbor_sampler(some->graph, config)
        ->sample(seeds, kBatch, workspace, sample, {});
    test::expect_equal(sample, test::reference_sample(whole_->graph->csc(), config, seeds, kBatch),
                       config);
    EXPECT_EQ(sample.degrees.size(), 0);
    for (const char* column : {"x", "more"})
      EXPECT_EQ(rows_of(*feature::make_store(*some->graph, column), sample.node_ids.span()),
                rows_of(*feature::make_store(*whole_->graph, column), sample.node_ids.span()));
    EXPECT_EQ(feature::make_store(*some->graph, "z"), nullptr);
  }
}

TEST_F(PartDataset, NeighborsOfOneHopAreThoseOfTheWhole) {
  const std::vector<int64_t> targets = {17, 0, 399, 5, 17};
  for (const auto& own : std::vector<std::vector<int32_t>>{{}, {2}}) {
    const data::DatasetRef some = open(own);
    for (const auto& [fanout, replace] : {std::pair{-1, false}, {3, false}, {3, true}}) {
      sample::EdgeSink expected, found;
      sample::sample_neighbors(*whole_->graph, targets, fanout, replace, {1, 2}, expected);
      for (int turn = 0; turn < 2; ++turn)  // blocks that exist stay
        sample::sample_neighbors(*some->graph, targets, fanout, replace, {1, 2}, found);
      EXPECT_GT(expected.sources.size(), 4);
      for (const auto list :
           {&sample::EdgeSink::sources, &sample::EdgeSink::targets, &sample::EdgeSink::edge_ids}) {
        const auto once = (expected.*list).span(), twice = (found.*list).span();
        ASSERT_EQ(twice.size(), 2 * once.size());
        EXPECT_TRUE(std::ranges::equal(twice.first(once.size()), once));
        EXPECT_TRUE(std::ranges::equal(twice.subspan(once.size()), once));
      }
    }
    sample::EdgeSink sink;
    EXPECT_EQ(test::status_of([&] {
                sample::sample_neighbors(*some->graph, std::vector<int64_t>{kNodes}, 3, false, {},
                                         sink);
              }),
              base::Status::kRange);
  }
}

// A custom sampler that draws as the built-in one.
TEST_F(PartDataset, CustomSamplersAskForNeighbors) {
  const data::DatasetRef some = open({1});
  sample::NeighborConfig config;
  config.fanouts = {4, 3};
  config.expansion = sample::Expansion::kEveryLayer;
  config.edge_ids = true;
  const auto custom = sample::make_custom_sampler(
      some->graph, 2, true, false, [&](const sample::LayerRequest& request, sample::EdgeSink& to) {
        sample::sample_neighbors(*some->graph, request.targets, config.fanouts[request.layer],
                                 false, request.key, to);
      });
  const std::vector<int64_t> seeds = {17, 0, 399, 5};
  sample::Workspace workspace;
  sample::Sample sample;
  custom->sample(seeds, kBatch, workspace, sample, {});
  test::expect_equal(sample, test::reference_sample(whole_->graph->csc(), config, seeds, kBatch),
                     config);
}

TEST_F(PartDataset, SamplersTellTheDegreesOfTheWhole) {
  const data::DatasetRef some = open({1});
  sample::NeighborConfig config;
  config.fanouts = {3, 2};
  const auto sampler = sample::make_neighbor_sampler(some->graph, config)->with_degrees();
  ASSERT_NE(sampler, nullptr);
  EXPECT_EQ(sample::make_neighbor_sampler(whole_->graph, config)->with_degrees(), nullptr);
  const std::vector<int64_t> seeds = {0, 1, 2, 3, 100, 200, 300, 1};
  sample::Workspace workspace;
  sample::Sample sample;
  sampler->without_input_lists()->sample(seeds, kBatch, workspace, sample, {});
  ASSERT_EQ(sample.degrees.size(), sample.num_nodes());
  const graph::Csc& csc = whole_->graph->csc();
  const int64_t* starts = static_cast<const int64_t*>(csc.indptr.data());
  int64_t loops = 0;
  for (int64_t i = 0; i < sample.num_nodes(); ++i) {
    const int64_t node = sample.node_ids[i];
    int64_t own_loops = 0;
    for (int64_t e = starts[node]; e < starts[node + 1]; ++e) own_loops += csc.source(e) == node;
    EXPECT_EQ(sample.degrees[i].edges, csc.in_degree(node)) << node;
    EXPECT_EQ(sample.degrees[i].loops, own_loops) << node;
    loops += own_loops;
  }
  EXPECT_GT(loops, 0);
}

TEST_F(PartDataset, WhatNeedsTheWholeGraphIsRefused) {
  const data::DatasetRef some = open({0, 2});
  base::ThreadPool pool(1);
  const graph::Graph& graph = *some->graph;
  const auto error = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const base::Error& thrown) {
      EXPECT_EQ(thrown.status(), base::Status::kUnsupported);
      return thrown.what();
    }
    return "nothing thrown";
  };
  EXPECT_THAT(error([&] { (void)graph.csc(); }), HasSubstr("parts 0, 2 of 4"));
  EXPECT_THAT(error([&] { graph::to_undirected(graph, pool); }), HasSubstr("needs all of it"));
  EXPECT_THAT(error([&] { graph::remove_edges(graph); }), HasSubstr("a transform needs"));
  EXPECT_THAT(error([&] { graph::normalize_rows(graph, "x", pool); }),
              HasSubstr("a transform needs"));
  EXPECT_THAT(error([&] { data::save_dataset(*some, folder_.file("again")); }),
              HasSubstr("needs all of it"));
  sample::NeighborConfig outgoing;
  outgoing.fanouts = {2};
  outgoing.outgoing = true;
  EXPECT_THAT(error([&] { sample::make_neighbor_sampler(some->graph, outgoing); }),
              HasSubstr("outgoing"));
}

// These files are read whatever parts are opened.
TEST_F(PartDataset, EveryChangedFileIsFound) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.file("parts"))) {
    if (!entry.is_regular_file() || entry.path().filename() == "manifest.json") continue;
    const std::string path = entry.path(), bytes = read(path);
    for (const bool cut : {false, true}) {
      std::string changed = bytes;
      changed.back() = static_cast<char>(changed.back() ^ 1);
      if (cut) changed.pop_back();
      std::ofstream(path, std::ios::binary) << changed;
      try {
        open({0, 1, 2, 3});
        ADD_FAILURE() << path << " was read";
      } catch (const base::Error& error) {
        EXPECT_TRUE(error.status() == base::Status::kChecksum ||
                    error.status() == base::Status::kFormat);
        EXPECT_THAT(error.what(), HasSubstr(entry.path().filename()));
      }
    }
    std::ofstream(path, std::ios::binary) << bytes;
    ++files;
  }
  EXPECT_EQ(files, 5);  // metadata.json, whole.json, book, labels, split
  open({0, 1, 2, 3});
}

TEST_F(PartDataset, ProcessesShareAllParts) {
  using Parts = std::vector<int32_t>;
  EXPECT_EQ(dist::parts_of_process(5, 0, 2), (Parts{0, 2, 4}));
  EXPECT_EQ(dist::parts_of_process(5, 1, 2), (Parts{1, 3}));
  EXPECT_EQ(dist::parts_of_process(2, 2, 3), Parts{});
  EXPECT_FALSE(dist::parts_here(*whole_).has_value());
}

// A folder of the own format, as part 0 of 1, which is here or asked for.
TEST_F(PartDataset, AnUndividedDataSetIsPartZeroOfOne) {
  const data::DatasetRef whole =
      data::make_dataset(test::with_edge_columns(*whole_->graph), "x", "y", false, whole_->splits,
                         whole_->num_classes);
  data::save_dataset(*whole, folder_.file("own"));
  const auto held = dist::hold_parts(folder_.file("own"), {});
  EXPECT_EQ(test::status_of([&] { held->read(1); }), base::Status::kNotFound);
  sample::NeighborConfig config;
  config.fanouts = {5, -1};
  config.edge_ids = true;
  const std::vector<int64_t> seeds = {17, 0, 399, 5};
  for (const bool here : {true, false}) {
    dist::PartDatasetConfig opening;
    opening.own = [&](int32_t) { return std::vector<int32_t>(here ? 1 : 0, 0); };
    opening.read_part = [&](int32_t part) { return held->read(part); };
    opening.open_channel = [&](const std::vector<int32_t>& others, uint64_t stamp) {
      return dist::make_part_channel(opening.read_part, others, stamp);
    };
    base::ThreadPool pool(1);
    const data::DatasetRef some =
        dist::open_part_dataset(held->source(), opening, {pool, log_, {}});
    EXPECT_EQ(some->parts->arguments.num_parts, 1);
    EXPECT_EQ(data::fingerprint(*some, some->splits[0]),
              data::fingerprint(*whole, whole->splits[0]));
    sample::Workspace workspace;
    sample::Sample sample;
    sample::make_neighbor_sampler(some->graph, config)
        ->sample(seeds, kBatch, workspace, sample, {});
    test::expect_equal(sample, test::reference_sample(whole->graph->csc(), config, seeds, kBatch),
                       config);
    for (const char* column : {"x", "more"})
      EXPECT_EQ(rows_of(*feature::make_store(*some->graph, column), sample.node_ids.span()),
                rows_of(*feature::make_store(*whole->graph, column), sample.node_ids.span()));
    ASSERT_NE(sample.edge_columns, nullptr);
    const std::span<const int64_t> edges = std::as_const(sample.stores[0].edge_ids).span();
    for (size_t i = 0; i < sample.edge_columns->size(); ++i) {
      const auto& column = *whole->graph->edge_column((*sample.edge_columns)[i].name);
      EXPECT_TRUE(std::ranges::equal(sample.stores[0].edge_rows[i].span(),
                                     rows_of(*feature::make_store(column), edges)));
    }
  }
}

TEST_F(PartDataset, PartsThatThereAreNotAreNamed) {
  for (const int32_t part : {-1, kParts})
    EXPECT_EQ(test::status_of([&] { open({part}); }), base::Status::kNotFound);
}

// Mini-batches hit the rows kept by the formula's hotness as often as the log foretells, and rows
// kept are not asked for.
TEST_F(PartDataset, TheCacheIsHitAsOftenAsItSays) {
  for (const auto& [share, plan] : {std::pair{0.05, loader::Partition::kParts},
                                    {0.2, loader::Partition::kParts},
                                    {0.05, loader::Partition::kGlobal},
                                    {0.2, loader::Partition::kGlobal}}) {
    const bool global = plan == loader::Partition::kGlobal;
    const data::DatasetRef some = open({0}, {.share = share});
    EXPECT_THAT(logged(), HasSubstr("mini-batches of the training ids of part 0 read"));
    loader::keep_rows(some, {.partition = loader::Partition::kGlobal}, log_)({});
    std::string said = logged();
    EXPECT_THAT(said, HasSubstr("mini-batches of all training ids read"));
    if (!global) {
      loader::keep_rows(some, {.partition = plan}, log_)({});  // the last call counts
      said = logged();
      EXPECT_THAT(said, HasSubstr("mini-batches of the training ids of part 0 read"));
    }
    loader::keep_rows(some, {.partition = plan}, log_)({});
    EXPECT_THAT(logged(), testing::IsEmpty()) << "the same choice again";
    const auto kept_rows = static_cast<int64_t>(share * kNodes);
    EXPECT_THAT(said, HasSubstr(base::text("keeps ", kept_rows, " rows of other parts, ",
                                           kept_rows * 28, " bytes")));
    const size_t at = said.find("expected to be ");
    ASSERT_NE(at, said.npos);
    const double expected = std::stod(said.substr(at + 15)) / 100;

    std::vector<int64_t> seeds;
    for (const int64_t id : whole_->splits[0].part(data::SplitPart::kTrain))
      if (global || part_of_[id] == 0) seeds.push_back(id);
    sample::NeighborConfig config;
    config.fanouts = {4, 4};
    loader::LoaderConfig loading;
    loading.plan.batch_size = 32;
    const std::shared_ptr<const sample::Sampler> sampler =
        sample::make_neighbor_sampler(some->graph, config);
    const auto here = dist::parts_here(*some);
    ASSERT_TRUE(here.has_value());
    EXPECT_EQ(here->kept_rows, kept_rows);
    const auto store = feature::make_store(*some->graph, "x");
    // The best possible, for mini-batches that it was fitted to.
    base::ThreadPool pool(1);
    std::vector<double> counted =
        loader::hotness_by_sampling(seeds, *sampler, loading, 60, pool, {});
    double all = 0, best = 0;
    for (int64_t v = 0; v < kNodes; ++v) {
      if (part_of_[v] == 0) counted[v] = -1;
      all += std::max(counted[v], 0.0);
    }
    for (const int64_t node : feature::hottest(counted, kept_rows)) best += counted[node];

    const dist::Traffic& traffic = here->parts->traffic();
    const int64_t asked_before = traffic.remote_rows, hit_before = traffic.cached_rows;
    loader::Loader loader(seeds, sampler, store, loading, nullptr);
    for (uint64_t epoch = 0; epoch < 20; ++epoch) {
      loader.start_epoch(epoch);
      while (*loader.next({})) {
      }
    }
    const auto asked = static_cast<double>(traffic.remote_rows - asked_before);
    const auto hit = static_cast<double>(traffic.cached_rows - hit_before);
    EXPECT_NEAR(hit / (hit + asked), expected, 0.04) << share;
    EXPECT_GE(hit / (hit + asked), 0.9 * best / all) << share;
  }
}

TEST_F(PartDataset, RowsToKeepAreCountedInBytesOrNodes) {
  open({0}, {.bytes = 28 * 10 + 27});
  EXPECT_THAT(logged(), HasSubstr("keeps 10 rows"));
  open({0, 1}, {.share = 1});  // all others'
  EXPECT_THAT(logged(), HasSubstr(base::text("keeps ", std::ranges::count(part_of_, 2), " rows")));
  EXPECT_THAT(logged(), testing::IsEmpty());
  open({0, 1, 2, 3}, {.share = 1});
  EXPECT_THAT(logged(), testing::IsEmpty());
}

// A client of servers has no parts; under the plan by parts it reads for those of its process.
TEST_F(PartDataset, RowsAreKeptForThePartsOfAProcess) {
  const data::DatasetRef some = open({}, {.share = 0.2});
  const auto said = [&](int32_t rank, std::vector<int32_t> process_of_part) {
    logged();
    loader::keep_rows(some,
                      {.rank = rank,
                       .world_size = 3,
                       .partition = loader::Partition::kParts,
                       .process_of_rank = {0, 0, 1},
                       .process_of_part = std::move(process_of_part)},
                      log_)({});
    return logged();
  };
  EXPECT_THAT(said(1, {}), HasSubstr("the training ids of parts 0, 2 read"));
  EXPECT_THAT(said(0, {}), testing::IsEmpty());
  EXPECT_THAT(said(2, {}), HasSubstr("the training ids of parts 1, 3 read"));
  EXPECT_THAT(said(2, {1, 0, 1, 1}), HasSubstr("the training ids of parts 0, 2, 3 read"));
  EXPECT_THAT(said(2, {0, 0, 0, 0}), HasSubstr("all training ids read")) << "it has none";
  EXPECT_FALSE(loader::keep_rows(whole_, {}, log_));
}

class WithoutHotness : public PartDataset {
 protected:
  WithoutHotness() : PartDataset({}) {}
};
TEST_F(WithoutHotness, NothingIsKept) {
  const data::DatasetRef some = open({0}, {.share = 0.5});
  EXPECT_THAT(logged(), HasSubstr("no hotness was kept"));
  loader::keep_rows(some, {}, log_)({});
  EXPECT_THAT(logged(), testing::IsEmpty());
}

}  // namespace
}  // namespace gnnmg
