// Hotness by counting equals the reads of a loader.
#include "loader/hotness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sample/reference.h"

namespace gnnmg {
namespace {

using loader::LoaderConfig;

struct Training {
  graph::GraphRef graph = test::skewed_graph(2000, 5000, 1);
  std::vector<int64_t> ids = std::vector<int64_t>(100);
  std::shared_ptr<const sample::Sampler> sampler;
  LoaderConfig config;

  Training() {
    std::iota(ids.begin(), ids.end(), 300);
    sample::NeighborConfig neighbors;
    neighbors.fanouts = {5, 3};
    sampler = sample::make_neighbor_sampler(graph, neighbors);
    config.plan.batch_size = 16;
    config.plan.seed = 3;
    config.sample_seed = 9;
  }
  std::vector<double> count(int64_t num_batches, int num_threads) const {
    base::ThreadPool pool(num_threads);
    return loader::hotness_by_sampling(ids, *sampler, config, num_batches, pool,
                                       base::CancelToken());
  }
};

TEST(HotnessBySampling, IsWhatTheLoaderReads) {
  const Training training;
  loader::Loader loader(training.ids, training.sampler, nullptr, training.config, nullptr);
  for (const int64_t num_batches : {1, 7, 10, 14}) {  // an epoch has 7
    std::vector<double> read(2000);
    for (int64_t batch = 0; batch < num_batches; ++batch) {
      if (batch % 7 == 0) loader.start_epoch(static_cast<uint64_t>(batch / 7));
      const loader::BatchRef made = loader.next(base::Deadline::after_ms(60000)).value();
      ASSERT_NE(made, nullptr);
      for (const int64_t node : made->sample.node_ids) ++read[node];
    }
    for (double& rows : read) rows /= static_cast<double>(num_batches);
    EXPECT_EQ(training.count(num_batches, 1), read);
    EXPECT_EQ(training.count(num_batches, 3), read);
  }
}

template <typename F>
void expect_error(base::Status status, const char* text, const F& f) {
  try {
    f();
    ADD_FAILURE() << "nothing thrown";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), status);
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

TEST(HotnessBySampling, NamesWhatIsWrong) {
  Training training;
  expect_error(base::Status::kInvalidArgument, "number of mini-batches to count is 0",
               [&] { training.count(0, 2); });
  training.ids[50] = 2000;
  expect_error(base::Status::kRange, "is node 2000", [&] { training.count(7, 2); });
  training.ids.clear();
  expect_error(base::Status::kInvalidArgument, "an epoch of 0 ids has no mini-batches to count",
               [&] { training.count(3, 2); });
}

}  // namespace
}  // namespace gnnmg
