// Collectives in a queue of the caller, on memory of a device, for any device table.
#pragma once

#include <vector>

#include "comm/collective_checks.h"
#include "comm/collectives.h"
#include "device/table.h"

namespace gnnmg::test {

// Numbers in device memory, and a queue that reads and writes them.
class DeviceBuffer {
 public:
  DeviceBuffer(const device::Table& table, int device, int64_t count)
      : table_(table), device_(device), count_(count) {
    queue_ = table.open_queue(device, 0, nullptr);
    memory_ = static_cast<float*>(
        table.allocate(device, device::Placement::kDevice, count * int64_t{sizeof(float)}));
  }
  ~DeviceBuffer() {
    table_.close_queue(queue_);
    table_.release(device_, device::Placement::kDevice, memory_);
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  device::Queue* queue() const { return queue_; }
  base::TensorView view() const { return view(count_); }
  base::TensorView view(int64_t count) const { return {memory_, base::DType::kF32, {count}}; }
  // Queued; `values` must stay valid until the copy is done.
  void write(const std::vector<float>& values) const { copy(memory_, values.data()); }
  void read(std::vector<float>& values) const { copy(values.data(), memory_); }

 private:
  void copy(void* to, const void* from) const {
    table_.copy(queue_, to, from, count_ * int64_t{sizeof(float)});
  }
  const device::Table& table_;
  const int device_;
  const int64_t count_;
  device::Queue* queue_ = nullptr;
  float* memory_ = nullptr;
};

// Steps like a trainer's: earlier work of the queue writes the summands, later work reads the sum,
// and the host waits once per step. Some steps have two exchanges, and some also call collectives
// of the host.
template <typename MakeWait>
void check_queued(comm::Collectives& comm, const device::Table& table, int device,
                  const MakeWait& wait) {
  comm::QueuedCollectives* queued = comm.queued();
  if (!queued)
    throw base::Error(base::Status::kInternal, "the engine has no collectives in queues");
  constexpr int64_t kCount = 5000;
  const int world = comm.world_size();
  const DeviceBuffer buffer(table, device, kCount), other(table, device, 1);
  std::vector<float> mine(kCount), found(kCount), word(1), word_found(1);
  for (int step = 0; step < 40; ++step) {
    std::fill(mine.begin(), mine.end(), static_cast<float>(step + comm.rank()));
    buffer.write(mine);
    queued->all_reduce(buffer.view(), comm::ReduceOp::kSum, buffer.queue(), wait());
    buffer.read(found);
    if (step % 3 == 0) {
      word[0] = static_cast<float>(comm.rank());
      table.wait(other.queue(), buffer.queue());
      other.write(word);
      queued->all_reduce(other.view(), comm::ReduceOp::kMax, other.queue(), wait());
      other.read(word_found);
      table.wait(buffer.queue(), other.queue());
    }
    queued->finish(buffer.queue(), wait());
    expect_each(found, static_cast<float>(world * step + world * (world - 1) / 2), "queued sum");
    if (step % 3 == 0) expect_each(word_found, static_cast<float>(world - 1), "queued maximum");
    if (step % 5 == 0) comm.barrier(wait());
  }
}

}  // namespace gnnmg::test
