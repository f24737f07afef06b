#include "train/eval/pinned_copies.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "device/wait.h"

namespace gnnmg::train {
namespace {

constexpr int64_t kSlice = int64_t{4} << 20;  // bytes of a slot

}  // namespace

PinnedCopies::PinnedCopies(const nn::Device& device)
    : device_(device),
      slots_(new Slots{{*device.table, device.index, device::Placement::kPinned},
                       {Slot{device::make_owned_event(*device.table, device.index)},
                        Slot{device::make_owned_event(*device.table, device.index)}}}) {
  take();
}

bool PinnedCopies::idle(const device::Table& table, const Slots& slots) noexcept {
  try {
    return std::ranges::all_of(slots.each,
                               [&](const Slot& slot) { return table.reached(slot.over.get()); });
  } catch (const std::exception&) {  // a device that is lost writes nothing
    return true;
  }
}

PinnedCopies::~PinnedCopies() {
  if (idle(*device_.table, *slots_)) return;
  try {
    device::free_in_background([slots = slots_, table = device_.table] {
      while (!idle(*table, *slots)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    });
  } catch (const std::exception&) {  // no memory, no thread
    (void)new std::shared_ptr<Slots>(slots_);
  }
}

void PinnedCopies::take() {
  try {
    uint8_t* const memory = slots_->memory.reserve(2 * kSlice);
    slots_->each[0].memory = memory;
    slots_->each[1].memory = memory + kSlice;
    pinned_ = true;
  } catch (const base::Error& error) {
    if (error.status() != base::Status::kNoMemory && error.status() != base::Status::kUnsupported)
      throw;
  }
}

// Like device::wait_for(), but for one copy instead of the whole queue.
void PinnedCopies::wait(const Slot& slot) const {
  const device::TimeoutScope* const patience = device::TimeoutScope::current();
  if (!patience) {
    if (!device_.table->reached(slot.over.get()))
      device::wait_for(*device_.table, device_.index, device_.queue);
    return;
  }
  device::check_not_quarantined(*device_.table, device_.index);
  const base::Deadline deadline = base::Deadline::after_ms(patience->limit_ms());
  for (int turn = 0; !device_.table->reached(slot.over.get()); ++turn) {
    patience->cancel().check("waiting for a GPU");
    if (deadline.passed() && !device_.table->reached(slot.over.get()))
      base::fail(base::Status::kTimeout, "GPU ", device_.index,
                 " has not come to the end of a copy within ",
                 static_cast<double>(patience->limit_ms()) / 1000, " s");
    if (turn < 200)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

void PinnedCopies::bring(Slot& slot) const {
  if (slot.bytes == 0) return;
  wait(slot);
  std::memcpy(slot.here, slot.memory, static_cast<size_t>(slot.bytes));
  slot.bytes = 0;
}

void PinnedCopies::to_host(void* here, const void* there, int64_t bytes) {
  const device::Table& table = *device_.table;
  if (bytes == 0) return;
  if (!pinned_) {
    table.copy(device_.queue, here, there, bytes);
    return device::wait_for(table, device_.index, device_.queue);
  }
  for (Slot& slot : slots_->each) slot.bytes = 0;  // an earlier call may have failed
  size_t turn = 0;
  for (int64_t done = 0; done < bytes; done += kSlice, turn ^= 1) {
    Slot& slot = slots_->each[turn];
    bring(slot);
    const int64_t part = std::min(kSlice, bytes - done);
    table.copy(device_.queue, slot.memory, static_cast<const uint8_t*>(there) + done, part);
    table.record(device_.queue, slot.over.get());
    slot.here = static_cast<uint8_t*>(here) + done;
    slot.bytes = part;
  }
  bring(slots_->each[turn]);
  bring(slots_->each[turn ^ 1]);
}

void PinnedCopies::to_device(void* there, const void* here, int64_t bytes) {
  const device::Table& table = *device_.table;
  if (bytes == 0) return;
  if (!pinned_) {
    table.copy(device_.queue, there, here, bytes);
    return device::wait_for(table, device_.index, device_.queue);
  }
  size_t turn = 0;
  for (int64_t done = 0; done < bytes; done += kSlice, turn ^= 1) {
    Slot& slot = slots_->each[turn];
    wait(slot);
    const int64_t part = std::min(kSlice, bytes - done);
    std::memcpy(slot.memory, static_cast<const uint8_t*>(here) + done, static_cast<size_t>(part));
    table.copy(device_.queue, static_cast<uint8_t*>(there) + done, slot.memory, part);
    table.record(device_.queue, slot.over.get());
  }
}

}  // namespace gnnmg::train
