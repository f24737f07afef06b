#include "comm/nccl/comm_stream.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/background.h"
#include "base/cancel.h"
#include "base/error.h"
#include "device/exit.h"

namespace gnnmg::comm::nccl {

void CommStream::Open::close() const noexcept {
  if (queue) devices->close_queue(queue);
  if (stream) nccl->close_stream(device, stream);
  for (const Buffer& buffer : buffers)
    if (buffer.memory) devices->release(device, buffer.placement, buffer.memory);
}

CommStream::CommStream(const Table& nccl, const device::Table& devices, int device) {
  open_.nccl = &nccl;
  open_.devices = &devices;
  open_.device = device;
  for (const Use use : {kPinnedWords, kPinnedDigests})
    open_.buffers[use].placement = device::Placement::kPinned;
  open_.stream = nccl.open_stream(device);
  try {
    open_.queue = devices.open_queue(device, 0, open_.stream);
  } catch (...) {
    open_.close();
    throw;
  }
}

CommStream::~CommStream() {
  constexpr std::chrono::milliseconds kPatience(20);
  if (drain(kPatience)) {
    open_.close();
    return;
  }
  try {
    base::leave_in_background(
        [open = open_] { device::free_unless_exit([open] { open.close(); }); });
  } catch (const std::exception&) {  // no thread: memory that the device may write stays allocated
  }
}

void* CommStream::reserve(Use use, int64_t bytes) {
  Buffer& buffer = open_.buffers[use];
  if (bytes > buffer.capacity || !buffer.memory) {
    buffer.capacity = 0;
    if (void* old = std::exchange(buffer.memory, nullptr))
      open_.devices->release(open_.device, buffer.placement, old);
    buffer.memory =
        open_.devices->allocate(open_.device, buffer.placement, std::max<int64_t>(bytes, 1));
    buffer.capacity = bytes;
  }
  return buffer.memory;
}

uint8_t* CommStream::stage(int64_t bytes) {
  return static_cast<uint8_t*>(reserve(kStaging, bytes));
}

CommStream::WordBuffer CommStream::word_buffer(int64_t bytes) {
  return {static_cast<uint8_t*>(reserve(kWords, bytes)),
          static_cast<int64_t*>(reserve(kPinnedWords, bytes))};
}

CommStream::WordBuffer CommStream::digests(int64_t world) {
  const auto bytes = static_cast<int64_t>(kMostDigests * sizeof(int64_t)) * (world + 1);
  return {static_cast<uint8_t*>(reserve(kDigests, bytes)),
          static_cast<int64_t*>(reserve(kPinnedDigests, bytes))};
}

void CommStream::copy(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) open_.devices->copy(open_.queue, to, from, bytes);
}

void CommStream::use_device() noexcept {
  try {
    open_.devices->use(open_.queue);
  } catch (const std::exception&) {  // the device is lost
  }
}

bool CommStream::drain(std::chrono::milliseconds limit) noexcept {
  const auto end = base::SteadyClock::now() + limit;
  try {
    while (!finished()) {
      if (base::SteadyClock::now() >= end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  } catch (const base::Error&) {     // a lost device runs nothing any more
  } catch (const std::exception&) {  // out of memory for the error text
    return false;
  }
  return true;
}

}  // namespace gnnmg::comm::nccl
