// A piece of work for a queue of a device: started kernel by kernel, or captured once and repeated
// by one call.
#pragma once

#include <functional>
#include <string>

#include "device/table.h"

namespace gnnmg::train {

class CapturedWork {
 public:
  // `put` puts the same work over the same memory into the queue, each time it is called.
  CapturedWork(const device::Table& table, device::Queue* queue, std::function<void()> put)
      : table_(&table), queue_(queue), put_(std::move(put)) {}
  ~CapturedWork();  // the queue must be past it
  CapturedWork(const CapturedWork&) = delete;
  CapturedWork& operator=(const CapturedWork&) = delete;

  // Captures the work; call it after the work has run once, and takes the same memory again.
  // Returns the reason if the device refuses, one line; empty: it is captured. Throws Error or
  // c10::OutOfMemoryError for missing memory and for a lost device.
  std::string capture();
  // Repeats the captured work, or else starts it kernel by kernel.
  void run() const;

 private:
  const device::Table* table_;
  device::Queue* queue_;
  std::function<void()> put_;
  device::Graph* graph_ = nullptr;
};

}  // namespace gnnmg::train
