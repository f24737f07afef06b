// A piece of work for a queue of a device: started kernel after kernel, or captured once and done
// again at one call.
#pragma once

#include <functional>
#include <string>

#include "base/device.h"

namespace gnnmg::train {

class CapturedWork {
 public:
  // `put` puts the same work into the queue each time, over the same memory.
  CapturedWork(const base::DeviceTable& table, base::DeviceQueue* queue, std::function<void()> put)
      : table_(&table), queue_(queue), put_(std::move(put)) {}
  ~CapturedWork();  // none of it is under way
  CapturedWork(const CapturedWork&) = delete;
  CapturedWork& operator=(const CapturedWork&) = delete;

  // Kernel after kernel.
  void put() const { put_(); }
  // Behind put(), whose memory it takes once more. Why the device refuses, one line; empty: it is
  // captured. What memory lacks, and a device that is lost, are thrown: Error,
  // c10::OutOfMemoryError.
  std::string capture();
  // Once more, in one of the two ways.
  void run() const;

 private:
  const base::DeviceTable* table_;
  base::DeviceQueue* queue_;
  std::function<void()> put_;
  base::DeviceReplay* kept_ = nullptr;
};

}  // namespace gnnmg::train
