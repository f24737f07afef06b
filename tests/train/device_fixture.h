// Trainers on GPUs (support/test_gpus.h): fake ones with the fake NCCL among them (fake_gpus.cpp),
// or real ones with NCCL (tests/gpu/train_gpus.cpp).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/test_gpus.h"
#include "train/fixture.h"

namespace gnnmg::test {

// `wanted` of them, 1, 2, 3, 4 or 8, and real ones as many of these as there are; of fakes nothing
// is planned. One at a time.
class Gpus {
 public:
  explicit Gpus(int wanted);
  const device::Table& table() const { return *gpus_.table; }
  int count() const { return gpus_.count; }

  // The recipe with a rank on each.
  Recipe train(Recipe setup) const {
    setup.trainer.devices.resize(count());
    std::iota(setup.trainer.devices.begin(), setup.trainer.devices.end(), 0);
    setup.trainer.num_ranks = 0;
    return setup;
  }
  std::vector<double> weights_after(const Recipe& setup) const {
    Host host;
    host.devices = &table();
    Trial run(train(setup), host);
    run.train();
    return run.weights();
  }
  // Every communicator ended once, nothing of fake GPUs is held, no rule of NCCL's was broken.
  void expect_clean() const;

 private:
  TestGpus gpus_;
};

// How many GPUs there are where so many are wanted, each number once: where a program sees one, a
// training on two or four of them is that on one again.
inline std::vector<int> worlds(const std::vector<int>& wanted) {
  std::vector<int> there;
  for (const int count : wanted) {
    const int found = test_gpus(count).count;
    if (std::ranges::find(there, found) == there.end()) there.push_back(found);
  }
  return there;
}

// While it lives somebody else has all memory of a GPU but `left` bytes, of real ones some
// megabytes more or less.
class FullGpu {
 public:
  FullGpu(const Gpus& gpus, int device, int64_t left);
  ~FullGpu();
  FullGpu(const FullGpu&) = delete;
  FullGpu& operator=(const FullGpu&) = delete;

 private:
  const device::Table& table_;
  const int device_;
  std::vector<void*> taken_;  // of real ones
  int64_t size_ = 0;          // of fake ones
};

// A kernel of the GPU's fails as those do that leave it unusable. A real one stays so until the
// process ends; fake ones are mended where Gpus says so, by the next of these.
void break_gpu(const Gpus& gpus, int device);

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

// In seconds, from some moment on.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The same on any number of ranks, but for the order of sums.
inline Recipe in_f64(int64_t num_epochs = 3) {
  Recipe setup;
  setup.model.dtype = base::DType::kF64;
  setup.trainer.batches_per_step = 4;
  setup.trainer.num_epochs = num_epochs;
  return setup;
}

// As a training that nothing happened to.
inline void expect_goes_on(Trial& run, const std::vector<double>& expected) {
  run.train();
  EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
}

inline std::vector<std::string> lines_of(base::Log& log) {
  std::vector<std::string> lines;
  while (const auto record = log.next()) lines.push_back(record->text);
  return lines;
}

}  // namespace gnnmg::test
