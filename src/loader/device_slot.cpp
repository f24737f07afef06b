#include "loader/device_slot.h"

#include "base/device_wait.h"

namespace gnnmg::loader {

DeviceSlot::DeviceSlot(const base::DeviceTable& table, int device, int max_multiprocessors)
    : table_(table),
      device_(device),
      queue_(table, device, max_multiprocessors),
      read_(table, device) {}

void DeviceSlot::begin() {
  const std::lock_guard lock(mutex_);
  if (failed_) std::rethrow_exception(failed_);
  base::wait_for(table_, device_, queue_.get());
  table_.wait(queue_.get(), read_.get());
}

void DeviceSlot::precede(base::DeviceQueue* queue) {
  const std::lock_guard lock(mutex_);
  table_.wait(queue, queue_.get());
}

void DeviceSlot::follow(base::DeviceQueue* queue) {
  const std::lock_guard lock(mutex_);
  table_.wait(read_.get(), queue);
}

void DeviceSlot::read(void* to, const void* from, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > 0) table_.copy(queue_.get(), to, from, bytes);
  base::wait_for(table_, device_, queue_.get());
}

void DeviceSlot::let_go(std::initializer_list<base::DeviceQueue*> readers) noexcept {
  {
    const std::lock_guard lock(mutex_);
    try {
      for (base::DeviceQueue* reader : readers)
        if (reader != nullptr) table_.wait(read_.get(), reader);
    } catch (...) {
      failed_ = std::current_exception();
    }
  }
  users_.fetch_sub(1, std::memory_order_release);
}

bool DeviceSlot::at_rest() noexcept {
  return base::comes_to_rest(table_, queue_.get(), {}) &&
         base::comes_to_rest(table_, read_.get(), {});
}

void DeviceSlot::finish() noexcept {
  for (base::DeviceQueue* queue : {queue_.get(), read_.get()})
    base::wait_to_free(table_, device_, queue);
}

ArraySlot::ArraySlot(const base::DeviceTable& table, int device, int max_multiprocessors,
                     std::shared_ptr<const void> keeps)
    : DeviceSlot(table, device, max_multiprocessors),
      keeps_(std::move(keeps)),
      memory_(table, device, base::Placement::kDevice),
      staging_(table, device, base::Placement::kPinned) {}

uint8_t* ArraySlot::reserve(int64_t bytes) {
  // For readers of the old memory.
  if (!memory_.holds(bytes)) base::wait_for(table_, device_, queue());
  return memory_.reserve(bytes);
}

void give_back(DeviceArrays& arrays) noexcept {
  base::DeviceQueue* const reader = arrays.read_in;
  // Rows may have been gathered by ids of the sample, which nobody need have waited for.
  base::DeviceQueue* const rows = arrays.slots[1] ? arrays.slots[1]->queue() : nullptr;
  if (arrays.slots[0]) arrays.slots[0]->let_go({reader, rows});
  if (arrays.slots[1]) arrays.slots[1]->let_go({reader});
  for (std::shared_ptr<DeviceSlot>& slot : arrays.slots) slot.reset();
  arrays.read_in = arrays.made_in = nullptr;
  arrays.bus_bytes = 0;
}

void precede(const DeviceArrays& arrays, base::DeviceQueue* queue) {
  for (const std::shared_ptr<DeviceSlot>& slot : arrays.slots)
    if (slot) slot->precede(queue);
}

void follow(const DeviceArrays& arrays, base::DeviceQueue* queue) {
  for (const std::shared_ptr<DeviceSlot>& slot : arrays.slots)
    if (slot) slot->follow(queue);
}

void wait_for(const DeviceArrays& arrays) {
  for (const std::shared_ptr<DeviceSlot>& slot : arrays.slots)
    if (slot) slot->read(nullptr, nullptr, 0);
}

bool at_rest(const DeviceArrays& arrays) noexcept {
  for (const std::shared_ptr<DeviceSlot>& slot : arrays.slots)
    if (slot && !slot->at_rest()) return false;
  return true;
}

}  // namespace gnnmg::loader
