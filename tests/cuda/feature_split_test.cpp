// A cache that several devices share: rows equal the CPU's wherever they are; counts; and the state
// after a failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "feature_support.h"

namespace gnnmg::cuda {
namespace {

using base::DType;
using base::Status;
using feature::DeviceStoreConfig;
using feature::DeviceTraffic;
using feature::Form;
using feature::RowPlacement;

constexpr int64_t kSplitRows = 97;

// Devices of a process, each with its own order.
struct Machine {
  explicit Machine(int64_t count) {
    for (int64_t k = 0; k < count; ++k) {
      devices.emplace_back(pinned, static_cast<uint32_t>(k * 7));
      handles.push_back(handle_of(devices.back()));
    }
  }
  std::vector<StoreOwner> open(const DeviceStoreConfig& config) {
    std::vector<feature::DeviceStore*> opened(devices.size());
    table().open_split(handles, config, opened);
    return {opened.begin(), opened.end()};
  }
  int64_t num_live() const {
    int64_t count = pinned.num_live + static_cast<int64_t>(pinned.adopted.size());
    for (const DeviceTwin& device : devices) count += device.device.num_live;
    return count;
  }
  HostMemory pinned;
  std::deque<DeviceTwin> devices;
  std::vector<device::Queue*> handles;
};

// Rows in an arbitrary order of hotness.
std::vector<int64_t> hottest(int64_t count) {
  std::vector<int64_t> rows(count);
  for (int64_t p = 0; p < count; ++p) rows[p] = (p * 31 + 5) % kSplitRows;
  return rows;
}

DeviceStoreConfig split(const base::Tensor& features, Form form, std::span<const int64_t> cached) {
  DeviceStoreConfig config;
  config.table = features;
  config.placement = RowPlacement::kSplit;
  config.form = form;
  config.cached = cached;
  return config;
}

void gather_and_check(device::Queue* queue, const StoreOwner& store, const base::Tensor& features,
                      Form form, DType out_type, const std::vector<int64_t>& ids) {
  const int64_t cols = features.shape().row_elements();
  const std::vector<uint8_t> expected = expected_rows(features, form, out_type, ids);
  std::vector<uint8_t> out(expected.size() + 1, 0xEE);
  feature::DeviceGather gather;
  gather.ids = ids.data();
  gather.max_count = static_cast<int64_t>(ids.size());
  gather.out = out.data();
  gather.out_type = out_type;
  gather.out_stride = cols;
  table().gather(queue, store.get(), gather);
  ASSERT_EQ(std::memcmp(out.data(), expected.data(), expected.size()), 0);
  ASSERT_EQ(out.back(), 0xEE);
}

struct Kept {
  DType dtype;
  Form form;
};
constexpr Kept kKept[] = {{DType::kF32, Form::kAsGiven}, {DType::kF32, Form::kF16},
                          {DType::kF32, Form::kBF16},    {DType::kF32, Form::kInt8},
                          {DType::kF16, Form::kAsGiven}, {DType::kBF16, Form::kAsGiven},
                          {DType::kF16, Form::kInt8}};

TEST(SplitStore, GathersTheCpusRowsOnEveryDevice) {
  const std::vector<int64_t> ids = some_ids(211, kSplitRows);
  for (const int64_t devices : {1, 2, 3, 4, 8})
    for (const Kept& kept : kKept)
      for (const int64_t cols : {1, 3, 25, 100, 700}) {
        const base::Tensor features = make_table(kept.dtype, {kSplitRows, cols}, 1, true);
        for (const int64_t cached : {int64_t{0}, int64_t{1}, int64_t{50}, kSplitRows}) {
          SCOPED_TRACE(testing::Message()
                       << devices << " devices, form " << static_cast<int>(kept.form) << ", "
                       << cols << " columns, " << cached << " cached");
          Machine machine(devices);
          const std::vector<int64_t> rows = hottest(cached);
          std::vector<StoreOwner> stores = machine.open(split(features, kept.form, rows));
          for (int64_t k = 0; k < devices; ++k) {
            EXPECT_EQ(table().rows(stores[k].get()).data, nullptr);
            for (const DType out : {DType::kF32, DType::kBF16})
              gather_and_check(machine.handles[k], stores[k], features, kept.form, out, ids);
            if (testing::Test::HasFatalFailure()) return;
          }
          stores.clear();
          EXPECT_EQ(machine.num_live(), 0);
        }
      }
}

// Each device holds its own part and no row of another's.
TEST(SplitStore, HoldsEveryRowOnceAndCountsWhereRowsCameFrom) {
  const base::Tensor features = make_table(DType::kF32, {kSplitRows, 24}, 0, true);
  const std::vector<int64_t> ids = some_ids(500, kSplitRows), rows = hottest(50);
  for (const int64_t devices : {2, 4}) {
    Machine machine(devices);
    const std::vector<StoreOwner> stores = machine.open(split(features, Form::kAsGiven, rows));
    int64_t held = 0;
    for (int64_t k = 0; k < devices; ++k) {
      held += stores[k]->rows_memory.capacity() / (24 * 4);
      EXPECT_LE(stores[k]->rows_memory.capacity(), (50 + devices - 1) / devices * 24 * 4);
      int64_t local = 0, on_peers = 0;
      for (const int64_t id : ids)
        for (int64_t p = 0; p < 50; ++p)
          if (rows[p] == id) ++(p % devices == k ? local : on_peers);
      for (int64_t times = 1; times <= 2; ++times) {
        gather_and_check(machine.handles[k], stores[k], features, Form::kAsGiven, DType::kF32, ids);
        const DeviceTraffic traffic = table().traffic(machine.handles[k], stores[k].get());
        EXPECT_EQ(traffic.rows, 500 * times);
        EXPECT_EQ(traffic.peer_rows, on_peers * times);
        EXPECT_EQ(traffic.host_rows, (500 - local - on_peers) * times);
        EXPECT_EQ(traffic.hit_rate(), static_cast<double>(local + on_peers) / 500);
      }
      table().reset_traffic(machine.handles[k], stores[k].get());
      EXPECT_EQ(table().traffic(machine.handles[k], stores[k].get()).peer_rows, 0);
    }
    EXPECT_EQ(held, 50);
  }
}

TEST(SplitStore, NeitherAllocatesNorWaitsInGathers) {
  const base::Tensor features = make_table(DType::kF32, {kSplitRows, 24}, 0, true);
  const std::vector<int64_t> rows = hottest(40);
  Machine machine(2);
  const std::vector<StoreOwner> stores = machine.open(split(features, Form::kInt8, rows));
  const int64_t allocations = machine.devices[0].device.num_allocations;
  const int64_t waits = machine.devices[0].num_synchronizations;
  gather_and_check(machine.handles[0], stores[0], features, Form::kInt8, DType::kF32,
                   some_ids(80, kSplitRows));
  EXPECT_EQ(machine.devices[0].device.num_allocations, allocations);
  EXPECT_EQ(machine.devices[0].num_synchronizations, waits);
}

TEST(SplitStore, LeavesNothingWhereItCannotBe) {
  const base::Tensor features = make_table(DType::kF32, {kSplitRows, 24}, 0, true);
  const std::vector<int64_t> rows = hottest(40);
  Machine machine(3);
  for (size_t device = 0; device < 3; ++device)
    for (int64_t k = 0;; ++k) {
      machine.devices[device].device.fail_after = k;
      try {
        machine.open(split(features, Form::kInt8, rows));
        machine.devices[device].device.fail_after = -1;
        EXPECT_GE(k, 5);
        break;
      } catch (const base::Error& error) {
        EXPECT_EQ(error.status(), Status::kNoMemory);
      }
      EXPECT_EQ(machine.num_live(), 0);
    }
  const std::vector<StoreOwner> stores = machine.open(split(features, Form::kInt8, rows));
  gather_and_check(machine.handles[2], stores[2], features, Form::kInt8, DType::kF32,
                   some_ids(80, kSplitRows));
}

TEST(SplitStore, SaysWhatIsWrong) {
  const base::Tensor features = make_table(DType::kF32, {kSplitRows, 24}, 0, true);
  Machine machine(2);
  const auto refused = [&](const DeviceStoreConfig& config, size_t room, Status status,
                           const std::string& text) {
    std::vector<feature::DeviceStore*> opened(room);
    try {
      table().open_split(machine.handles, config, opened);
      ADD_FAILURE() << "nothing thrown";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), status);
      EXPECT_THAT(error.what(), testing::HasSubstr(text));
    }
    EXPECT_EQ(machine.num_live(), 0);
  };
  const std::vector<int64_t> twice = {4, 9, 4}, beyond = {4, kSplitRows};
  DeviceStoreConfig config = split(features, Form::kAsGiven, twice);
  refused(config, 2, Status::kInvalidArgument, "row 4 is listed twice");
  config.cached = beyond;
  refused(config, 2, Status::kRange, "row 1 to be cached is 97");
  config.cached = {};
  refused(config, 3, Status::kInvalidArgument, "over 2 devices, with room for 3 stores");
  config.placement = RowPlacement::kCached;
  refused(config, 2, Status::kInvalidArgument, "expected 3 over several devices");
  config.placement = RowPlacement::kSplit;
  EXPECT_THROW(open_store(machine.devices[0], config), base::Error);
}

}  // namespace
}  // namespace gnnmg::cuda
