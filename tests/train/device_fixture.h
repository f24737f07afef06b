// Trainers on GPUs that are not there, with the fake NCCL among them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "comm/background.h"
#include "fake_gpu.h"
#include "fake_nccl/fake_nccl.h"
#include "train/fixture.h"

namespace gnnmg::test {

// `count` of them, 1, 2, 3, 4 or 8; nothing planned. One at a time.
class Gpus {
 public:
  explicit Gpus(int count) : count_(count), table_(table_of(count)) {
    fake_nccl::reset();
    for (int device = 0; device < count; ++device) {
      fake_gpu::find_again(device);
      fake_gpu::fail_allocation(device, -1);
    }
    table_.nccl = &fake_nccl::table(table_);
  }
  const base::DeviceTable& table() const { return table_; }
  int count() const { return count_; }

  // The recipe with a rank on each.
  Recipe train(Recipe setup) const {
    setup.trainer.devices.resize(count_);
    std::iota(setup.trainer.devices.begin(), setup.trainer.devices.end(), 0);
    setup.trainer.num_ranks = 0;
    return setup;
  }
  std::vector<double> weights_after(const Recipe& setup) const {
    Host host;
    host.devices = &table_;
    Trial run(train(setup), host);
    run.train();
    return run.weights();
  }
  // Every communicator ended once, nothing of the GPUs is held, no rule of NCCL's was broken.
  void expect_clean() const {
    for (int i = 0; i < 2000 && comm::pending_background() > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(comm::pending_background(), 0);
    const fake_nccl::Count count = fake_nccl::count();
    EXPECT_EQ(count.made, count.aborted + count.destroyed);
    EXPECT_EQ(count.streams, 0);
    EXPECT_THAT(fake_nccl::violations(), testing::IsEmpty());
    for (int device = 0; device < count_; ++device)
      EXPECT_EQ(fake_gpu::num_live(device), 0) << "GPU " << device;
  }

 private:
  // Communicators name the table that they were made with.
  static base::DeviceTable& table_of(int count) {
    static base::DeviceTable tables[9];
    return tables[count] = fake_gpu::make_table(count);
  }
  const int count_;
  base::DeviceTable& table_;
};

struct Caught {
  base::Status status = base::Status::kOk;
  std::string text;
};
template <typename F>
Caught caught(const F& f) {
  try {
    f();
  } catch (const base::Error& error) {
    return {error.status(), error.what()};
  }
  return {};
}

inline std::vector<std::string> lines_of(base::Log& log) {
  std::vector<std::string> lines;
  while (const auto record = log.next()) lines.push_back(record->text);
  return lines;
}

}  // namespace gnnmg::test
