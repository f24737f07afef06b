// A fake GPU, for tests of the benchmark's own code. Its times are those of the host's
// implementation of the kernels, which mean nothing.
#include <chrono>

#include "bench/gpu/lane.h"
#include "fake_gpu.h"

namespace gnnmg::bench {
namespace {

int64_t waits = 0;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

const device::Table& gpu_table() {
  static const device::Table table = fake_gpu::make_table(1);
  return table;
}

bool is_measurement() { return false; }

struct Lane::Clock {
  double begin = 0;
};

Lane::Lane(int max_multiprocessors)
    : clock_(new Clock), queue_(gpu_table().open_queue(0, max_multiprocessors, nullptr)) {}

Lane::~Lane() {
  gpu_table().close_queue(queue_);
  delete clock_;
}

void Lane::start() { clock_->begin = now(); }

double Lane::stop() {
  gpu_table().synchronize(queue_);
  ++waits;
  return now() - clock_->begin;
}

Calls calls() { return {waits, fake_gpu::num_allocations(0), 0}; }

}  // namespace gnnmg::bench
