// The loader: equal mini-batches for every way of making them, order, resuming, errors,
// cancellation, callbacks on host threads, and ownership of mini-batches.
#include "loader/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <numeric>
#include <thread>

#include "base/philox.h"
#include "sample/reference.h"

namespace gnnmg {
namespace {

using base::Deadline;
using base::Status;
using base::Tensor;
using loader::BatchRef;
using loader::Loader;
using loader::LoaderConfig;

constexpr int64_t kNodes = 2000;

struct Fixture {
  graph::GraphRef graph = test::skewed_graph(kNodes, 5000, 1);
  std::vector<int64_t> ids;
  std::shared_ptr<const sample::Sampler> sampler;
  std::shared_ptr<const feature::FeatureStore> store;

  Fixture() {
    ids.resize(700);
    std::iota(ids.begin(), ids.end(), 300);
    sample::NeighborConfig config;
    config.fanouts = {5, 3};
    config.edge_ids = true;
    sampler = sample::make_neighbor_sampler(graph, config);
    Tensor x = Tensor::empty(base::DType::kF32, {kNodes, 7});
    std::iota(x.as<float>().begin(), x.as<float>().end(), 0.0f);
    store = feature::make_store(x);
  }

  std::unique_ptr<Loader> make(const LoaderConfig& config, base::HostQueue* host = nullptr) const {
    return std::make_unique<Loader>(ids, sampler, store, config, host);
  }
};

LoaderConfig small_batches(int32_t num_threads = 1) {
  LoaderConfig config;
  config.plan.batch_size = 16;
  config.plan.seed = 3;
  config.num_threads = num_threads;
  config.prefetch = 3;
  config.sample_seed = 9;
  return config;
}

// Returns all computed data of a mini-batch as bytes.
std::string contents(const loader::Batch& batch) {
  std::string all;
  const auto add = [&](const auto* data, int64_t count) {
    all.append(reinterpret_cast<const char*>(data), count * sizeof *data);
    all += '|';
  };
  add(batch.seeds.data(), batch.seeds.size());
  add(batch.sample.node_ids.data(), batch.sample.num_nodes());
  for (const sample::BlockView& block : batch.sample.blocks) {
    add(block.indptr, block.num_targets + 1);
    add(block.indices, block.num_edges);
    add(block.edge_ids, block.num_edges);
  }
  if (batch.has_features) add(batch.features.data(), batch.features.size());
  return all;
}

std::vector<BatchRef> rest_of(Loader& loader) {
  std::vector<BatchRef> batches;
  while (BatchRef batch = loader.next({}).value()) batches.push_back(batch);
  EXPECT_EQ(loader.next({}).value(), nullptr);
  return batches;
}

Status status_of(const auto& call, std::string_view part = "") {
  try {
    call();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
    return error.status();
  }
  ADD_FAILURE() << "nothing thrown";
  return Status::kOk;
}

TEST(Loader, PreparesOnceBeforeTheFirstBatch) {
  const Fixture fixture;
  for (const int32_t threads : {0, 1, 4}) {
    std::atomic<int> calls = 0;
    LoaderConfig config = small_batches(threads);
    config.prepare = [&](const base::CancelToken&) {
      if (++calls == 1) base::fail(Status::kUnavailable, "not yet");
    };
    const auto loader = fixture.make(config);
    EXPECT_EQ(calls, 0);
    loader->start_epoch(0);
    EXPECT_EQ(status_of([&] { rest_of(*loader); }, "not yet"), Status::kUnavailable);
    for (const uint64_t epoch : {0, 1}) {
      loader->start_epoch(epoch);
      EXPECT_EQ(rest_of(*loader).size(), 44U);
    }
    EXPECT_EQ(calls, 2);
  }
}

TEST(Loader, SameBatchesForAnyNumberOfThreadsAndRanks) {
  const Fixture fixture;
  std::map<int64_t, std::string> expected;
  {
    LoaderConfig config = small_batches(0);
    config.plan.batches_per_step = 4;
    const auto loader = fixture.make(config);
    loader->start_epoch(2);
    for (const BatchRef& batch : rest_of(*loader)) expected[batch->number] = contents(*batch);
    ASSERT_EQ(expected.size(), 44u);
  }
  for (const int32_t threads : {0, 1, 4}) {
    for (const int32_t world : {1, 2, 3, 4, 6}) {
      std::map<int64_t, std::string> found;
      for (int32_t rank = 0; rank < world; ++rank) {
        LoaderConfig config = small_batches(threads);
        config.plan.batches_per_step = 4;
        config.plan.world_size = world;
        config.plan.rank = rank;
        const auto loader = fixture.make(config);
        loader->start_epoch(2);
        int64_t step = 0;
        size_t i = 0;
        for (const BatchRef& batch : rest_of(*loader)) {
          const std::vector<int64_t> own = loader->plan().own_batches(step);
          ASSERT_EQ(batch->number, own[i]);
          ASSERT_EQ(batch->step, step);
          ASSERT_EQ(batch->epoch, 2u);
          ASSERT_EQ(batch->last_of_step, i + 1 == own.size());
          ASSERT_EQ(batch->step_seeds(), loader->plan().step_seeds(step));
          ASSERT_EQ(batch->empty(), batch->number < 0);
          if (batch->last_of_step)
            ++step, i = 0;
          else
            ++i;
          if (batch->empty()) {
            EXPECT_EQ(batch->sample.num_nodes(), 0);
            EXPECT_EQ(batch->features.size(), 0);
            ASSERT_EQ(batch->sample.blocks.size(), 2u);
            EXPECT_EQ(batch->sample.blocks[0].indptr[0], 0);
          } else {
            ASSERT_TRUE(found.emplace(batch->number, contents(*batch)).second);
          }
        }
        EXPECT_EQ(step, loader->plan().num_steps());
      }
      ASSERT_TRUE(found == expected) << threads << " threads, " << world << " ranks";
    }
  }
}

// Without workers several mini-batches at once are made on threads of the caller's, unless a
// sampler may call back into the host.
TEST(Loader, SameBatchesOnThreadsOfTheCaller) {
  const Fixture fixture;
  const auto plain = fixture.make(small_batches(0));
  plain->start_epoch(1);
  const std::vector<BatchRef> expected = rest_of(*plain);
  ASSERT_EQ(expected.size(), 44u);
  base::ThreadPool pool(3);
  std::vector<int64_t> counts;
  LoaderConfig config = small_batches(0);
  config.at_once = 5;
  config.in_turns = [&](int64_t count, const std::function<void(int64_t)>& body) {
    counts.push_back(count);
    pool.parallel_for(count, 1, [&](int64_t i, int64_t) { body(i); });
  };
  const auto loader = fixture.make(config);
  loader->start_epoch(0);
  ASSERT_NE(loader->next({}).value(), nullptr);
  counts.clear();
  loader->start_epoch(1);
  const std::vector<BatchRef> found = rest_of(*loader);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i]->number, expected[i]->number);
    EXPECT_EQ(contents(*found[i]), contents(*expected[i])) << "mini-batch " << i;
  }
  EXPECT_EQ(counts, (std::vector<int64_t>{5, 5, 5, 5, 5, 5, 5, 5, 4}));

  loader->start_epoch(2);
  ASSERT_NE(loader->next({}).value(), nullptr);
  loader->cancel();  // no other one comes, although four are made
  EXPECT_EQ(status_of([&] { (void)loader->next({}); }), Status::kCancelled);
}

TEST(Loader, FeaturesAreThoseOfTheNodes) {
  const Fixture fixture;
  const auto loader = fixture.make(small_batches());
  loader->start_epoch(0);
  const BatchRef batch = loader->next({}).value();
  ASSERT_TRUE(batch->has_features);
  EXPECT_FALSE(batch->sparse);
  EXPECT_EQ(batch->feature_cols, 7);
  EXPECT_EQ(batch->feature_dtype, base::DType::kF32);
  ASSERT_EQ(batch->features.size(), batch->sample.num_nodes() * 28);
  for (int64_t i = 0; i < batch->sample.num_nodes(); ++i) {
    float first;
    std::memcpy(&first, batch->features.data() + i * 28, sizeof first);
    EXPECT_EQ(first, static_cast<float>(batch->sample.node_ids[i] * 7));
  }

  LoaderConfig config = small_batches();
  config.gather = false;
  const auto bare = fixture.make(config);
  bare->start_epoch(0);
  EXPECT_FALSE(bare->next({}).value()->has_features);

  std::vector<int64_t> indptr(kNodes + 1);
  std::iota(indptr.begin(), indptr.end(), 0);
  const base::CsrMatrix matrix{kNodes, 40, Tensor::copy_of<int64_t>(indptr),
                               Tensor::copy_of<int32_t>(std::vector<int32_t>(kNodes, 39)),
                               Tensor::copy_of<float>(std::vector<float>(kNodes, 2.0f))};
  Loader sparse(fixture.ids, fixture.sampler, feature::make_store(matrix), small_batches(),
                nullptr);
  sparse.start_epoch(0);
  const BatchRef rows = sparse.next({}).value();
  EXPECT_TRUE(rows->has_features && rows->sparse);
  EXPECT_EQ(rows->sparse_features.num_rows, rows->sample.num_nodes());
  EXPECT_EQ(rows->sparse_features.indices.size(), rows->sample.num_nodes());
  EXPECT_EQ(rows->feature_cols, 40);
}

TEST(Loader, ResumesAtAStepAndChangesEpochAtAnyTime) {
  const Fixture fixture;
  for (const int32_t threads : {0, 1, 4}) {
    LoaderConfig config = small_batches(threads);
    config.plan.batches_per_step = 3;
    const auto loader = fixture.make(config);
    loader->start_epoch(5);
    std::vector<std::string> whole;
    for (const BatchRef& batch : rest_of(*loader)) whole.push_back(contents(*batch));
    for (const int64_t step : {0, 1, 7, 14, 15}) {
      loader->start_epoch(6);  // dropped after a few mini-batches
      for (int64_t i = 0; i < step % 4; ++i) loader->next({});
      loader->start_epoch(5, step);
      std::vector<std::string> rest;
      for (const BatchRef& batch : rest_of(*loader)) rest.push_back(contents(*batch));
      const auto from = std::min<size_t>(step * 3, whole.size());
      EXPECT_EQ(rest, std::vector<std::string>(whole.begin() + from, whole.end()));
    }
    EXPECT_EQ(status_of([&] { loader->start_epoch(5, 16); }, "first step is 16, expected 0 to 15"),
              Status::kInvalidArgument);
    EXPECT_EQ(status_of([&] { loader->start_epoch(5, -1); }), Status::kInvalidArgument);
  }
}

// A sampler for the faults and callbacks of the tests below.
std::shared_ptr<const sample::Sampler> custom(const Fixture& fixture,
                                              sample::LayerFunction function) {
  return sample::make_custom_sampler(fixture.graph, 2, false, false, std::move(function));
}

TEST(Loader, FailuresComeInPlanOrderAndStay) {
  const Fixture fixture;
  for (const int32_t threads : {0, 1, 4}) {
    const auto sampler =
        custom(fixture, [](const sample::LayerRequest& request, sample::EdgeSink&) {
          if (request.epoch == 0 && request.batch == 7)
            base::fail(Status::kCallback, "the eighth is spoilt");
        });
    Loader loader(fixture.ids, sampler, nullptr, small_batches(threads), nullptr);
    EXPECT_EQ(status_of([&] { loader.next({}); }, "before an epoch was started"),
              Status::kInvalidArgument);
    loader.start_epoch(0);
    for (int64_t i = 0; i < 7; ++i) EXPECT_EQ(loader.next({}).value()->number, i);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(status_of([&] { loader.next({}); }, "the eighth is spoilt"), Status::kCallback);
    loader.start_epoch(1);
    EXPECT_EQ(rest_of(loader).size(), 44u);
  }
}

// Blocks the threads that call it until it is opened.
class Gate {
 public:
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void wait_for_someone() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

TEST(Loader, NextGivesUpAtItsDeadlineAndGoesOnLater) {
  const Fixture fixture;
  base::HostQueue host;
  for (base::HostQueue* queue : {static_cast<base::HostQueue*>(nullptr), &host}) {
    Gate gate;
    const auto sampler =
        custom(fixture, [&](const sample::LayerRequest&, sample::EdgeSink&) { gate.pass(); });
    Loader loader(fixture.ids, sampler, nullptr, small_batches(), queue);
    const base::HostQueue::Entry entry(host);
    loader.start_epoch(0);
    EXPECT_EQ(loader.next(Deadline::after_ms(0)), std::nullopt);
    EXPECT_EQ(loader.next(Deadline::after_ms(20)), std::nullopt);
    gate.open();
    EXPECT_EQ(loader.next({}).value()->number, 0);
  }
}

TEST(Loader, CancelEndsAWaitAndStaysUntilTheNextEpoch) {
  const Fixture fixture;
  Gate gate;
  const auto sampler = custom(fixture, [&](const sample::LayerRequest& request, sample::EdgeSink&) {
    if (request.epoch == 0) gate.pass();
  });
  Loader loader(fixture.ids, sampler, nullptr, small_batches(2), nullptr);
  loader.start_epoch(0);
  std::thread canceller([&] {
    gate.wait_for_someone();
    loader.cancel();
  });
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(status_of([&] { loader.next({}); }, "canceled"), Status::kCancelled);
  canceller.join();
  gate.open();
  loader.start_epoch(1);
  EXPECT_EQ(rest_of(loader).size(), 44u);
  loader.cancel();
  EXPECT_EQ(status_of([&] { loader.next({}); }), Status::kCancelled);
}

// A sampler with a callback on host threads, like those of the C API.
std::shared_ptr<const sample::Sampler> host_sampler(const Fixture& fixture, base::HostQueue& host,
                                                    const std::function<void()>& callback) {
  return custom(fixture, [&fixture, &host, callback](const sample::LayerRequest& request,
                                                     sample::EdgeSink& sink) {
    host.call(
        [&] {
          callback();
          sample::sample_neighbors(*fixture.graph, request.targets, 2, false, request.key, sink);
        },
        *request.cancel);
  });
}

TEST(Loader, CallbacksRunOnTheHostThreadThatWaits) {
  const Fixture fixture;
  base::HostQueue host;
  std::string expected;
  for (const int32_t threads : {0, 1, 4}) {
    const std::thread::id here = std::this_thread::get_id();
    std::atomic<int> calls{0};
    const auto sampler = host_sampler(fixture, host, [&] {
      EXPECT_EQ(std::this_thread::get_id(), here);
      EXPECT_TRUE(base::HostQueue::inside_callback());
      ++calls;
    });
    Loader loader(fixture.ids, sampler, fixture.store, small_batches(threads), &host);
    const base::HostQueue::Entry entry(host);
    loader.start_epoch(0);
    std::string all;
    for (const BatchRef& batch : rest_of(loader)) {
      all.append(reinterpret_cast<const char*>(batch->sample.node_ids.data()),
                 batch->sample.num_nodes() * sizeof(int64_t));
    }
    EXPECT_EQ(calls, 2 * 44);
    if (threads == 0) expected = all;
    EXPECT_TRUE(all == expected) << threads;
  }
}

TEST(Loader, EndsAndRestartsWhileCallbacksAreQueued) {
  const Fixture fixture;
  base::HostQueue host;
  const auto sampler = host_sampler(fixture, host, [] {});
  {
    Loader loader(fixture.ids, sampler, nullptr, small_batches(3), &host);
    loader.start_epoch(0);  // no host thread ever waits
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    loader.start_epoch(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const base::HostQueue::Entry entry(host);
    EXPECT_EQ(loader.next({}).value()->epoch, 1u);
  }
  {
    Loader loader(fixture.ids, sampler, nullptr, small_batches(3), &host);
    loader.start_epoch(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST(Loader, MayBeDestroyedByTheCallbackThatItWaitsFor) {
  const Fixture fixture;
  base::HostQueue host;
  std::unique_ptr<Loader> loader;
  std::atomic<int> calls{0};
  const auto sampler = host_sampler(fixture, host, [&] {
    if (++calls == 3) {
      loader.reset();
      const base::HostQueue::Entry nested(host);  // a call of the API from the callback
    }
  });
  loader = std::make_unique<Loader>(fixture.ids, sampler, nullptr, small_batches(2), &host);
  loader->start_epoch(0);
  {
    // A host thread that waits for something else.
    const base::HostQueue::Entry entry(host);
    EXPECT_FALSE(host.wait([] { return false; }, Deadline::after_ms(300)));
  }
  EXPECT_EQ(loader, nullptr);
  { const base::HostQueue::Entry entry(host); }  // joins the workers, unless the wait has done so
  EXPECT_GE(calls, 3);
  EXPECT_LE(calls, 4);  // the other worker's call may have been queued already
}

TEST(Loader, BatchesOutliveTheLoaderAndPinTheirMemory) {
  const Fixture fixture;
  std::vector<BatchRef> kept;
  std::vector<std::string> before;
  {
    const auto loader = fixture.make(small_batches(2));
    loader->start_epoch(0);
    for (int i = 0; i < 20; ++i) {
      kept.push_back(loader->next({}).value());
      before.push_back(contents(*kept.back()));
    }
    kept[3].reset();
    while (loader->next({}).value()) {
    }
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    EXPECT_TRUE(!kept[i] || contents(*kept[i]) == before[i]);
  }
  std::weak_ptr<loader::Batch> observer = kept[5];
  kept.clear();
  EXPECT_EQ(observer.lock(), nullptr);
}

TEST(Loader, ABatchThatWasGivenBackIsTheNextOne) {
  const Fixture fixture;
  // Made in next(), so that nothing is prefetched.
  const auto loader = fixture.make(small_batches(0));
  loader->start_epoch(0);
  BatchRef batch = loader->next({}).value();
  const BatchRef kept = loader->next({}).value();
  const loader::Batch* address = batch.get();
  EXPECT_NE(kept.get(), address);
  batch.reset();
  EXPECT_EQ(loader->next({}).value().get(), address);
}

TEST(Loader, WrongArgumentsAreNamed) {
  Fixture fixture;
  EXPECT_EQ(status_of(
                [&] {
                  LoaderConfig config = small_batches();
                  config.num_threads = -1;
                  fixture.make(config);
                },
                "num_threads is -1"),
            Status::kInvalidArgument);
  EXPECT_EQ(status_of(
                [&] {
                  LoaderConfig config = small_batches();
                  config.prefetch = -1;
                  fixture.make(config);
                },
                "prefetch is -1"),
            Status::kInvalidArgument);
  EXPECT_EQ(status_of(
                [&] {
                  LoaderConfig config = small_batches();
                  config.plan.batch_size = 0;
                  fixture.make(config);
                },
                "batch_size is 0"),
            Status::kInvalidArgument);
  fixture.store = feature::make_store(Tensor::zeros(base::DType::kF32, {kNodes + 1, 7}));
  EXPECT_EQ(
      status_of([&] { fixture.make(small_batches()); }, "features have 2001 rows, expected 2000"),
      Status::kInvalidArgument);
  fixture.store = nullptr;
  for (const int64_t bad : {int64_t{-1}, kNodes}) {
    fixture.ids[17] = bad;
    EXPECT_EQ(status_of([&] { fixture.make(small_batches()); },
                        "ids[17] is " + std::to_string(bad) + ", expected 0 to 1999"),
              Status::kRange);
  }
}

TEST(Loader, NoIdsMakeAnEpochWithoutSteps) {
  Fixture fixture;
  fixture.ids.clear();
  const auto loader = fixture.make(small_batches());
  loader->start_epoch(0);
  EXPECT_EQ(loader->plan().num_steps(), 0);
  EXPECT_TRUE(rest_of(*loader).empty());
}

}  // namespace
}  // namespace gnnmg
