// Stores of features on devices: counts of a cache, sharing and freeing, and errors without memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>

#include "feature_support.h"

namespace gnnmg::cuda {
namespace {

using base::DType;
using base::Status;
using feature::DeviceStoreConfig;
using feature::DeviceTraffic;
using feature::Form;
using feature::RowPlacement;

constexpr uint32_t kSeeds[] = {0, 1, 2, 7, 12345};

DeviceStoreConfig config_of(const base::Tensor& features, RowPlacement placement,
                            Form form = Form::kAsGiven) {
  DeviceStoreConfig config;
  config.table = features;
  config.placement = placement;
  config.form = form;
  return config;
}

// Gathers as f32 and compares with the CPU's gather.
void gather_and_check(DeviceTwin& queue, const StoreOwner& store, const base::Tensor& features,
                      Form form, const std::vector<int64_t>& ids) {
  const int64_t cols = features.shape().row_elements();
  std::vector<float> out(ids.size() * cols);
  feature::DeviceGather gather;
  gather.ids = ids.data();
  gather.max_count = static_cast<int64_t>(ids.size());
  gather.out = out.data();
  gather.out_stride = cols;
  table().gather(handle_of(queue), store.get(), gather);
  const std::vector<uint8_t> expected = expected_rows(features, form, DType::kF32, ids);
  ASSERT_EQ(std::memcmp(out.data(), expected.data(), expected.size()), 0);
}

template <typename F>
void expect_error(Status status, const std::vector<std::string>& texts, const F& f) {
  try {
    f();
    ADD_FAILURE() << "nothing thrown";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), status) << error.what();
    for (const std::string& text : texts) EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

// Returns the lines of a row, for rows read in host memory.
int64_t lines_of(const base::Tensor& features, int64_t row) {
  const int64_t bytes = features.view().row_bytes();
  const uintptr_t begin = reinterpret_cast<uintptr_t>(features.data()) + row * bytes;
  return static_cast<int64_t>((begin + bytes + 127) / 128 - begin / 128);
}

TEST(DeviceStore, CountsHitsMissesAndLinesExactly) {
  for (const uint32_t seed : kSeeds)
    for (const int64_t cols : {2, 25, 100, 602, 3000}) {
      const base::Tensor features = make_table(DType::kF32, {200, cols}, 1, false);
      const std::vector<int64_t> ids = some_ids(333, 200);
      std::vector<int64_t> all(200);
      for (int64_t r = 0; r < 200; ++r) all[r] = (r * 7) % 200;
      for (const int64_t num_cached : {0, 50, 200}) {
        HostMemory pinned;
        DeviceTwin queue(pinned, seed);
        DeviceStoreConfig config = config_of(features, RowPlacement::kCached);
        config.cached = {all.data(), static_cast<size_t>(num_cached)};
        const StoreOwner store = open_store(queue, config);
        const std::set<int64_t> cached(all.begin(), all.begin() + num_cached);
        int64_t misses = 0, lines = 0;
        for (const int64_t id : ids) {
          if (cached.count(id)) continue;
          ++misses;
          lines += lines_of(features, id);
        }
        for (int64_t times = 1; times <= 2; ++times) {
          gather_and_check(queue, store, features, Form::kAsGiven, ids);
          const DeviceTraffic traffic = table().traffic(handle_of(queue), store.get());
          ASSERT_EQ(traffic.rows, 333 * times);
          ASSERT_EQ(traffic.host_rows, misses * times);
          ASSERT_EQ(traffic.host_bytes, lines * 128 * times);
          ASSERT_EQ(traffic.hit_rate(), static_cast<double>(333 - misses) / 333);
        }
        table().reset_traffic(handle_of(queue), store.get());
        EXPECT_EQ(table().traffic(handle_of(queue), store.get()).rows, 0);
        EXPECT_EQ(table().traffic(handle_of(queue), store.get()).hit_rate(), 0);
      }
      HostMemory pinned;
      DeviceTwin queue(pinned, seed);
      const StoreOwner store = open_store(queue, config_of(features, RowPlacement::kDevice));
      gather_and_check(queue, store, features, Form::kAsGiven, ids);
      EXPECT_EQ(table().traffic(handle_of(queue), store.get()).hit_rate(), 1);
    }
}

// The steady state: gathers neither allocate nor wait.
TEST(DeviceStore, GathersWithoutAllocatingOrWaiting) {
  HostMemory pinned;
  DeviceTwin queue(pinned, 1);
  const base::Tensor features = make_table(DType::kF32, {200, 100}, 0, false);
  const std::vector<int64_t> cached = {1, 2, 3};
  DeviceStoreConfig config = config_of(features, RowPlacement::kCached);
  config.cached = cached;
  const StoreOwner store = open_store(queue, config);
  const int64_t allocations = queue.device.num_allocations, waits = queue.num_synchronizations;
  for (int i = 0; i < 3; ++i)
    gather_and_check(queue, store, features, Form::kAsGiven, some_ids(50, 200));
  EXPECT_EQ(queue.device.num_allocations, allocations);
  EXPECT_EQ(queue.num_synchronizations, waits);
}

// Large enough for several stages on the way to the device.
TEST(DeviceStore, UploadsInStages) {
  const base::Tensor features = make_table(DType::kF32, {9000, 301}, 0, true);
  base::ThreadPool pool(3);
  for (const Form form : {Form::kAsGiven, Form::kInt8, Form::kBF16})
    for (const RowPlacement placement : {RowPlacement::kDevice, RowPlacement::kCached}) {
      HostMemory pinned;
      DeviceTwin queue(pinned, 2);
      DeviceStoreConfig config = config_of(features, placement, form);
      config.pool = &pool;
      std::vector<int64_t> cached;
      for (int64_t r = 0; r < 8000; ++r) cached.push_back(8999 - r);
      if (placement == RowPlacement::kCached) config.cached = cached;
      const StoreOwner store = open_store(queue, config);
      gather_and_check(queue, store, features, form, some_ids(2000, 9000));
    }
}

TEST(DeviceStore, PinsATableOnceAProcess) {
  const base::Tensor features = make_table(DType::kF32, {50, 7}, 3, true);
  const base::Tensor others = make_table(DType::kF32, {50, 7}, 0, true);
  const std::vector<int64_t> ids = some_ids(99, 50), cached = {4, 9};
  HostMemory pinned;
  DeviceTwin first(pinned, 0), second(pinned, 7);
  {
    StoreOwner a = open_store(first, config_of(features, RowPlacement::kPinned));
    DeviceStoreConfig config = config_of(features, RowPlacement::kCached);
    config.cached = cached;
    StoreOwner b = open_store(second, config);
    EXPECT_EQ(pinned.adopted, std::set<void*>{features.data()});
    StoreOwner other = open_store(second, config_of(others, RowPlacement::kPinned));
    EXPECT_EQ(pinned.adopted, (std::set<void*>{features.data(), others.data()}));
    EXPECT_EQ(pinned.num_allocations, 0) << "tables are pinned where they lie";
    // Narrowed rows are a separate copy, which is shared as well.
    StoreOwner narrow = open_store(first, config_of(features, RowPlacement::kPinned, Form::kInt8));
    config.form = Form::kInt8;
    StoreOwner too = open_store(second, config);
    EXPECT_EQ(pinned.num_live, 1);
    EXPECT_EQ(PinnedTables::instance().size(), 3);
    a.reset();
    EXPECT_EQ(pinned.adopted.size(), 2u);
    gather_and_check(second, b, features, Form::kAsGiven, ids);
    b.reset();
    EXPECT_EQ(pinned.adopted, std::set<void*>{others.data()});
    narrow.reset();
    gather_and_check(second, too, features, Form::kInt8, ids);
  }
  EXPECT_TRUE(pinned.adopted.empty());
  EXPECT_EQ(pinned.num_live, 0);
  EXPECT_EQ(first.device.num_live + second.device.num_live, 0);
  EXPECT_EQ(PinnedTables::instance().size(), 0);
}

// The source of a gather outlives its owner.
TEST(DeviceStore, HoldsAShareOfWhatItReads) {
  HostMemory pinned;
  DeviceTwin queue(pinned, 0);
  StoreOwner store;
  base::Tensor copy;
  {
    const base::Tensor features = make_table(DType::kF32, {50, 7}, 0, true);
    copy = make_table(DType::kF32, {50, 7}, 0, true);  // equal numbers
    store = open_store(queue, config_of(features, RowPlacement::kPinned));
  }
  gather_and_check(queue, store, copy, Form::kAsGiven, {0, 49, 25});
}

TEST(DeviceStore, OutlivesTheQueueThatOpenedIt) {
  const base::Tensor features = make_table(DType::kF32, {50, 7}, 0, true);
  const std::vector<int64_t> cached = {4, 9};
  HostMemory pinned, of_device;
  for (const RowPlacement placement : {RowPlacement::kDevice, RowPlacement::kCached}) {
    DeviceTwin second(pinned, 2);
    StoreOwner store;
    {
      DeviceTwin first(pinned, 1);
      first.lasting = &of_device;
      DeviceStoreConfig config = config_of(features, placement, Form::kInt8);
      if (placement == RowPlacement::kCached) config.cached = cached;
      store = open_store(first, config);
      EXPECT_EQ(first.device.num_allocations, 0);
    }
    gather_and_check(second, store, features, Form::kInt8, some_ids(70, 50));
    EXPECT_EQ(table().traffic(handle_of(second), store.get()).rows, 70);
  }
  EXPECT_EQ(of_device.num_live, 0);
}

// A table that its owner has pinned is read in place; a partly pinned or small one is copied.
TEST(DeviceStore, OfATableThatIsPinnedAlready) {
  const base::Tensor features = make_table(DType::kF32, {50, 7}, 0, true);
  for (const int64_t bytes : {int64_t{50 * 7 * 4}, int64_t{64}, int64_t{0}}) {
    HostMemory pinned;
    if (bytes > 0) pinned.pin_by_owner(features.data(), bytes);
    if (bytes == 0) pinned.adopts_from = 1 << 20;
    DeviceTwin queue(pinned, 0);
    StoreOwner store = open_store(queue, config_of(features, RowPlacement::kPinned));
    EXPECT_EQ(pinned.num_live, bytes == 50 * 7 * 4 ? 0 : 1);
    EXPECT_TRUE(pinned.adopted.empty()) << "left to who pinned it";
    gather_and_check(queue, store, features, Form::kAsGiven, some_ids(70, 50));
    store.reset();
    EXPECT_EQ(pinned.num_live, 0);
  }
}

// Ranks that open and close concurrently pin once and lose nothing.
TEST(DeviceStore, OpensFromSeveralThreads) {
  const base::Tensor features = make_table(DType::kF32, {500, 33}, 0, true);
  HostMemory pinned;
  DeviceTwin keeper(pinned, 0);
  const StoreOwner kept =
      open_store(keeper, config_of(features, RowPlacement::kPinned, Form::kInt8));
  std::vector<std::thread> ranks;
  for (uint32_t rank = 0; rank < 4; ++rank)
    ranks.emplace_back([&, rank] {
      DeviceTwin queue(pinned, rank);
      for (int i = 0; i < 20; ++i) {
        const StoreOwner store =
            open_store(queue, config_of(features, RowPlacement::kPinned, Form::kInt8));
        gather_and_check(queue, store, features, Form::kInt8, some_ids(20, 500));
      }
    });
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(pinned.num_allocations, 1);
  EXPECT_EQ(PinnedTables::instance().size(), 1);
}

TEST(DeviceStore, EveryAllocationThatFails) {
  const base::Tensor features = make_table(DType::kF32, {50, 7}, 0, true);
  const std::vector<int64_t> cached = {4, 9};
  for (const RowPlacement placement :
       {RowPlacement::kDevice, RowPlacement::kPinned, RowPlacement::kCached})
    for (const Form form : {Form::kAsGiven, Form::kInt8}) {
      HostMemory pinned;
      DeviceTwin queue(pinned, 1);
      DeviceStoreConfig config = config_of(features, placement, form);
      if (placement == RowPlacement::kCached) config.cached = cached;
      int64_t failures = 0;
      for (HostMemory* memory : {&queue.device, &pinned})
        for (int64_t k = 0;; ++k) {
          memory->fail_after = k;
          try {
            open_store(queue, config);
            memory->fail_after = -1;
            break;
          } catch (const base::Error& error) {
            ++failures;
            EXPECT_EQ(error.status(), Status::kNoMemory);
            EXPECT_THAT(error.what(), testing::HasSubstr("no memory "));
            EXPECT_THAT(error.what(), testing::HasSubstr("; ")) << "the remedy";
          }
          EXPECT_EQ(queue.device.num_live, 0);
          EXPECT_EQ(pinned.num_live, 0);
          EXPECT_TRUE(pinned.adopted.empty());
          EXPECT_EQ(PinnedTables::instance().size(), 0);
          memory->fail_after = -1;
          const StoreOwner store = open_store(queue, config);
          gather_and_check(queue, store, features, form, some_ids(70, 50));
        }
      const int64_t on_device = 1 + (form == Form::kInt8) +
                                (placement == RowPlacement::kDevice   ? 1
                                 : placement == RowPlacement::kCached ? 2
                                                                      : 0);
      EXPECT_EQ(failures, on_device + (placement != RowPlacement::kDevice));
    }
}

TEST(DeviceStore, SaysWhatHelpsWhereThereIsNoRoom) {
  const base::Tensor features = make_table(DType::kF32, {50, 7}, 0, true);
  const std::vector<int64_t> cached = {4, 9};
  HostMemory pinned;
  DeviceTwin queue(pinned, 1);
  queue.device.fail_after = 1;
  expect_error(Status::kNoMemory,
               {"no memory for features of 1600 bytes", "pinned in the host's memory",
                "cached with the hottest rows"},
               [&] { open_store(queue, config_of(features, RowPlacement::kDevice)); });
  DeviceStoreConfig config = config_of(features, RowPlacement::kCached);
  config.cached = cached;
  queue.device.fail_after = 2;
  expect_error(Status::kNoMemory, {"no memory for cached features of 64 bytes", "cache fewer rows"},
               [&] { open_store(queue, config); });
  queue.device.fail_after = -1;
  pinned.fail_after = 0;
  expect_error(Status::kNoMemory,
               {"no memory to pin a table of features of 1400 bytes", "ulimit -l"},
               [&] { open_store(queue, config); });
}

TEST(DeviceStore, NamesWhatIsWrong) {
  HostMemory pinned;
  DeviceTwin queue(pinned, 0);
  const base::Tensor features = make_table(DType::kF32, {50, 7}, 0, true);
  const auto refuse = [&](Status status, const char* text, const DeviceStoreConfig& config) {
    expect_error(status, {text}, [&] { open_store(queue, config); });
    EXPECT_EQ(queue.device.num_live, 0);
    EXPECT_TRUE(pinned.adopted.empty());
  };
  DeviceStoreConfig config = config_of(features, RowPlacement::kCached);
  std::vector<int64_t> cached = {3, 50};
  config.cached = cached;
  refuse(Status::kRange, "row 1 to be cached is 50, expected 0 to 49", config);
  cached = {3, -1};
  refuse(Status::kRange, "row 1 to be cached is -1, expected 0 to 49", config);
  cached = {3, 3};
  refuse(Status::kInvalidArgument, "row 3 is listed twice", config);
  config.placement = RowPlacement::kPinned;
  refuse(Status::kInvalidArgument, "2 rows are listed to be cached", config);
  refuse(Status::kInvalidArgument, "at least one dimension",
         config_of(base::Tensor(), RowPlacement::kDevice));
  refuse(Status::kInvalidArgument, "features of type i64 cannot be kept as bf16",
         config_of(make_table(DType::kI64, {5, 5}, 0, false), RowPlacement::kDevice, Form::kBF16));
  const base::Tensor wild = make_table(DType::kF32, {50, 7}, 1, true);
  wild.as<float>()[20] = std::nanf("");
  for (const RowPlacement placement : {RowPlacement::kDevice, RowPlacement::kPinned})
    refuse(Status::kInvalidArgument, "at row 2, column 6", config_of(wild, placement, Form::kInt8));
  EXPECT_EQ(pinned.num_live, 0);

  const StoreOwner floats = open_store(queue, config_of(features, RowPlacement::kDevice));
  const StoreOwner labels = open_store(
      queue, config_of(make_table(DType::kI64, {5, 5}, 0, false), RowPlacement::kDevice));
  feature::DeviceGather gather;
  gather.out_stride = 6;
  expect_error(Status::kInvalidArgument, {"rows of 7 features were asked for 6 apart"},
               [&] { table().gather(handle_of(queue), floats.get(), gather); });
  gather.out_stride = 7;
  gather.out_type = DType::kI64;
  expect_error(Status::kInvalidArgument, {"f32 were asked for as i64, expected f32, f16 or bf16"},
               [&] { table().gather(handle_of(queue), floats.get(), gather); });
  gather.out_type = DType::kF32;
  expect_error(Status::kInvalidArgument, {"i64 were asked for as f32, expected i64"},
               [&] { table().gather(handle_of(queue), labels.get(), gather); });
  table().close(nullptr);
}

}  // namespace
}  // namespace gnnmg::cuda
