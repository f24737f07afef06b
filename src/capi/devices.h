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
  // Opens the plug-in where there is a driver, which has to be before LibTorch is used: it looks
  // for its CUDA half once. Asks the driver nothing yet.
  Devices();
  ~Devices();
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  // How many this process sees; the driver is asked once. Any thread.
  int count() const;
  // Why there is none: one line with the remedy; empty when there are some. Any thread.
  const std::string& why() const;
  // Null where count() is 0.
  const device::Table* table() const { return count() > 0 ? table_ : nullptr; }
  // Of each, by its number; of one that the driver does not tell of, empty. Any thread.
  std::vector<std::string> bus_ids() const;
  // Error(kNotFound) unless there is a GPU of that number. `name`: of the argument or field.
  void check(int64_t index, const std::string& name) const;
  // Copies, where one side or both lie on GPU `device` or another one, and waits for that. What
  // made `from` is over. Any thread.
  void copy(int device, void* to, const void* from, int64_t bytes) const;

 private:
  const device::Table* table_ = nullptr;
  mutable std::once_flag asked_;
  mutable int count_ = 0;
  mutable std::string why_;
  mutable std::mutex copies_;  // guards what follows
  mutable std::map<int, device::Queue*> queues_;
};

}  // namespace gnnmg::capi
