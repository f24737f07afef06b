// The GPUs of this process, or why there are none.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "device/table.h"

namespace gnnmg::capi {

class Devices {
 public:
  // Opens the plug-in if there is a driver. Must run before the first use of LibTorch, which looks
  // for its CUDA half once. Does not ask the driver yet.
  Devices();
  ~Devices();
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  // Returns the number of GPUs that this process sees. Asks the driver once. Any thread.
  int count() const;
  // Says in one line why there are none, with the remedy; empty if there are some. Any thread.
  const std::string& why() const;
  // Null if count() is 0.
  const device::Table* table() const { return count() > 0 ? table_ : nullptr; }
  // Returns the bus id of each GPU, empty if the driver does not tell it. Any thread.
  std::vector<std::string> bus_ids() const;
  // Error(kNotFound), naming the argument or field, if there is no GPU of that number.
  void check(int64_t index, const std::string& name) const;
  // Copies through a queue of GPU `device` and waits. Each side is in main memory or on any GPU;
  // the work that wrote `from` must be complete. Any thread.
  void copy(int device, void* to, const void* from, int64_t bytes) const;

 private:
  const device::Table* table_ = nullptr;
  mutable std::once_flag asked_;
  mutable int count_ = 0;
  mutable std::string why_;
  mutable std::mutex copies_;  // guards queues_
  mutable std::map<int, device::Queue*> queues_;
};

}  // namespace gnnmg::capi
