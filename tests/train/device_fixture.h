// Trainers on GPUs (support/test_gpus.h): fake GPUs with the fake NCCL (fake_gpus.cpp), or real
// ones with NCCL (tests/gpu/train_gpus.cpp).
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

// `wanted` fake GPUs (1, 2, 3, 4 or 8) with nothing planned, or as many real ones as exist, up to
// `wanted`. One object at a time.
class Gpus {
 public:
  explicit Gpus(int wanted);
  const device::Table& table() const { return *gpus_.table; }
  int count() const { return gpus_.count; }

  // The recipe with one rank per GPU.
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
  // Expects that every communicator ended once, fake GPUs hold nothing, and no rule of NCCL was
  // broken.
  void expect_clean() const;

 private:
  TestGpus gpus_;
};

// Available GPUs for each wanted number, each result once: on a machine with one GPU, 1, 2 and 4
// are the same training.
inline std::vector<int> worlds(const std::vector<int>& wanted) {
  std::vector<int> there;
  for (const int count : wanted) {
    const int found = test_gpus(count).count;
    if (std::ranges::find(there, found) == there.end()) there.push_back(found);
  }
  return there;
}

// Occupies all memory of a GPU but `left` bytes; on real GPUs a few megabytes more or less.
class FullGpu {
 public:
  FullGpu(const Gpus& gpus, int device, int64_t left);
  ~FullGpu();
  FullGpu(const FullGpu&) = delete;
  FullGpu& operator=(const FullGpu&) = delete;

 private:
  const device::Table& table_;
  const int device_;
  std::vector<void*> taken_;  // allocations on a real GPU
  int64_t size_ = 0;          // bytes on a fake GPU
};

// Makes a kernel fail so that the GPU becomes unusable: a real one until the process ends, a fake
// one until the next Gpus.
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

// Seconds since an arbitrary moment.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A recipe with the same result on any number of ranks, up to rounding.
inline Recipe in_f64(int64_t num_epochs = 3) {
  Recipe setup;
  setup.model.dtype = base::DType::kF64;
  setup.trainer.batches_per_step = 4;
  setup.trainer.num_epochs = num_epochs;
  return setup;
}

// Continues and expects the weights of an undisturbed training.
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
