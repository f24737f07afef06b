// GPUs of this process that work later than requested, and NCCL among them: the fake GPU and the
// fake NCCL, with faults for one test.
#pragma once

#include <string>
#include <vector>

#include "fake_gpu/fake_gpu.h"
#include "fake_gpu/late.h"
#include "fake_nccl/fake_nccl.h"

namespace gnnmg::test {

using Fault = fake_nccl::Fault;

// One at a time. Settings are made before the ranks start.
class FakeGpus {
 public:
  explicit FakeGpus(int count) : late_(make(count)), table_(late_.table()) {
    fake_nccl::put_off_operations(fake_gpu::Late::put, /*delayed=*/true);
    fake_nccl::check_memory(fake_gpu::holds);
    table_.release = release;
    current() = this;
  }
  FakeGpus(const FakeGpus&) = delete;
  FakeGpus& operator=(const FakeGpus&) = delete;

  static const comm::nccl::Table& nccl() { return fake_nccl::table(fake_gpu::devices()); }
  static const device::Table& devices() { return current()->table_; }
  static int calls(int rank) { return fake_nccl::calls(rank); }
  static void plan(const Fault& fault) { fake_nccl::plan(fault); }

 private:
  static FakeGpus*& current() {
    static FakeGpus* instance = nullptr;
    return instance;
  }
  static const device::Table& make(int count) {
    fake_nccl::reset();
    fake_gpu::set_devices(count);
    return fake_gpu::devices();
  }
  static void release(int device, device::Placement placement, void* memory) noexcept {
    if (memory && current()->late_.busy(device))
      fake_nccl::note_violation("memory released while the device is at work");
    fake_gpu::devices().release(device, placement, memory);
  }

  fake_gpu::Late late_;
  device::Table table_;
};

}  // namespace gnnmg::test
