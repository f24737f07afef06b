#include "loader/device_slot.h"

#include <algorithm>

#include "device/wait.h"

namespace gnnmg::loader {

DeviceSlot::DeviceSlot(const device::Table& table, int device, int max_multiprocessors)
    : table_(table), device_(device), queue_(table, device, max_multiprocessors) {}

void DeviceSlot::begin() {
  const std::lock_guard lock(mutex_);
  {
    const std::lock_guard readers(readers_mutex_);
    if (failed_) std::rethrow_exception(failed_);
  }
  device::wait_for(table_, device_, queue_.get());
  const std::lock_guard readers(readers_mutex_);
  wait_for_readers();
}

void DeviceSlot::precede(device::Queue* queue) {
  const std::lock_guard lock(mutex_);
  table_.wait(queue, queue_.get());
}

void DeviceSlot::follow(device::Queue* queue) {
  const std::lock_guard lock(readers_mutex_);
  reserve_readers(num_readers_ + 1);
  mark_reader(queue);
}

// Counts the readers that may still arrive by let_go() in addition.
void DeviceSlot::reserve_readers(size_t count) {
  count += kMostReaders * static_cast<size_t>(users_.load(std::memory_order_relaxed));
  while (readers_.size() < count)
    readers_.push_back({nullptr, device::make_owned_event(table_, device_)});
}

void DeviceSlot::mark_reader(device::Queue* queue) {
  size_t at = 0;
  while (at < num_readers_ && readers_[at].queue != queue) ++at;
  if (at == readers_.size()) reserve_readers(at + 1);
  readers_[at].queue = queue;
  table_.record(queue, readers_[at].mark.get());
  num_readers_ = std::max(num_readers_, at + 1);
}

// The events may be recorded again after this.
void DeviceSlot::wait_for_readers() {
  for (size_t i = 0; i < num_readers_; ++i) table_.wait_event(queue_.get(), readers_[i].mark.get());
  num_readers_ = 0;
}

void DeviceSlot::hold(int count) {
  const std::lock_guard lock(readers_mutex_);
  reserve_readers(num_readers_ + kMostReaders * static_cast<size_t>(count));
  users_.fetch_add(count, std::memory_order_relaxed);
}

void DeviceSlot::read(void* to, const void* from, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > 0) table_.copy(queue_.get(), to, from, bytes);
  device::wait_for(table_, device_, queue_.get());
}

void DeviceSlot::let_go(std::initializer_list<device::Queue*> readers) noexcept {
  {
    const std::lock_guard lock(readers_mutex_);
    try {
      for (device::Queue* reader : readers)
        if (reader != nullptr) mark_reader(reader);
    } catch (...) {
      failed_ = std::current_exception();
    }
  }
  users_.fetch_sub(1, std::memory_order_release);
}

bool DeviceSlot::at_rest() noexcept {
  try {
    const std::lock_guard lock(readers_mutex_);
    for (size_t i = 0; i < num_readers_; ++i)
      if (!table_.reached(readers_[i].mark.get())) return false;
  } catch (const std::exception&) {  // a lost device does no work
  }
  return device::drain(table_, queue_.get(), {});
}

void DeviceSlot::finish() noexcept {
  try {
    const std::lock_guard lock(readers_mutex_);
    wait_for_readers();
  } catch (const std::exception&) {  // the device is lost
  }
  device::wait_to_free(table_, device_, queue_.get());
}

ArraySlot::ArraySlot(const device::Table& table, int device, int max_multiprocessors,
                     std::shared_ptr<const void> keeps)
    : DeviceSlot(table, device, max_multiprocessors),
      keeps_(std::move(keeps)),
      memory_(table, device, device::Placement::kDevice),
      staging_(table, device, device::Placement::kPinned) {}

uint8_t* ArraySlot::reserve(int64_t bytes) {
  // Readers may still use the old memory.
  if (!memory_.holds(bytes)) device::wait_for(table_, device_, queue());
  return memory_.reserve(bytes);
}

void give_back(DeviceArrays& arrays) noexcept {
  device::Queue* const reader = arrays.read_in;
  // Rows may have been gathered by the sample's ids in a queue that nobody has waited for.
  device::Queue* const rows = arrays.slots[1] ? arrays.slots[1]->queue() : nullptr;
  if (arrays.slots[0]) arrays.slots[0]->let_go({reader, rows});
  if (arrays.slots[1]) arrays.slots[1]->let_go({reader});
  for (std::shared_ptr<DeviceSlot>& slot : arrays.slots) slot.reset();
  arrays.read_in = arrays.made_in = nullptr;
  arrays.bus_bytes = 0;
}

void precede(const DeviceArrays& arrays, device::Queue* queue) {
  for (const std::shared_ptr<DeviceSlot>& slot : arrays.slots)
    if (slot) slot->precede(queue);
}

void follow(const DeviceArrays& arrays, device::Queue* queue) {
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
