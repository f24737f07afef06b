// The memory of a fake GPU, separate from the host's: the host may touch it only while the device
// works.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/grid/buffer.h"

namespace gnnmg::fake_gpu {

class Recording;  // recording.h

inline constexpr int kMostDevices = 8;

// Any thread.
class Arena final : public cuda::Memory {
 public:
  // Memory of device `device`; a host's loop over it ends the program with a message.
  explicit Arena(int device);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Fills allocated and freed memory with bytes that no program expects.
  void* allocate(int64_t bytes, std::string_view what) override;
  void release(void* memory) noexcept override;

  // The device works from open() to close(); calls are counted.
  void open();
  void close() noexcept;
  bool holds(const void* address) const noexcept;

  // Counts a use of the device. Error(kDeviceLost) if it is lost.
  void check() const;
  void lose_at(int64_t use) noexcept { lost_at_ = uses_ + use; }
  int64_t uses() const noexcept { return uses_; }
  void lose() noexcept { lost_ = true; }
  void find_again() noexcept {
    lost_ = false;
    lost_at_ = -1;
  }
  bool lost() const noexcept { return lost_; }

  // Bit set of the devices whose memory its kernels may read.
  void let_read(int peer) noexcept { peers_ |= 1u << peer; }
  uint32_t peers() const noexcept { return peers_; }

  // Counts of copies from host memory and to it.
  struct Copied {
    std::atomic<int64_t> count{0}, bytes{0};
    void add(int64_t more) noexcept {
      ++count;
      bytes += more;
    }
  };
  Copied& copied_to() noexcept { return copied_to_; }
  Copied& copied_from() noexcept { return copied_from_; }
  const Copied& copied_to() const noexcept { return copied_to_; }
  const Copied& copied_from() const noexcept { return copied_from_; }

  // The recording that the device's work is added to; null: no capture.
  Recording* recording() const noexcept { return recording_; }
  void set_recording(Recording* recording) noexcept { recording_ = recording; }
  // Error(kUnsupported) during a capture, which cannot contain waits for the device.
  void check_waits(const char* what) const;
  std::vector<std::pair<void*, int64_t>> blocks() const;  // allocations and their sizes in bytes

  void set_size(int64_t bytes);
  int64_t size() const;
  int64_t live_bytes() const;
  int64_t peak_bytes() const;  // the largest number of live bytes since the last reset_peak()
  void reset_peak();
  int64_t num_live() const;
  int64_t num_allocations() const;
  int64_t num_without_kept() const;
  void forget_kept();
  // Makes the allocation after the next `after` fail, or, with `for_ever`, that one and all later
  // ones; -1: none.
  void fail_allocation(int64_t after, bool for_ever);

 private:
  // The caller holds the lock.
  int64_t place_of(int64_t bytes);
  void begin_again();  // called while no allocation is live

  const int device_;
  uint8_t* base_ = nullptr;
  mutable std::atomic<bool> lost_{false};
  mutable std::atomic<int64_t> uses_{0};
  std::atomic<int64_t> lost_at_{-1};  // number of the use; -1: none
  std::atomic<uint32_t> peers_{0};
  std::atomic<Recording*> recording_{nullptr};
  Copied copied_to_, copied_from_;
  mutable std::mutex mutex_;
  std::map<int64_t, int64_t> free_;  // position to bytes
  std::map<int64_t, int64_t> used_;
  std::set<int64_t> tensors_;        // positions of live tensors
  std::map<int64_t, int64_t> kept_;  // bytes to number of freed tensors
  int64_t top_ = 0;                  // end of all live memory
  int64_t size_ = int64_t{1} << 30, live_bytes_ = 0, peak_bytes_ = 0;
  int64_t num_allocations_ = 0, num_without_kept_ = 0;
  int64_t fail_after_ = -1;
  bool fail_for_ever_ = false;
  int users_ = 0;
};

// Ends the program with a message about `what` if LibTorch's CUDA half has ended: exit handlers
// registered after it was opened run before its objects are destroyed.
void check_not_over(const char* what) noexcept;

// Calls the function of watch_memory() of fake_gpu.h with `what`.
void tell_memory(const char* what);

// Returns device `device`, 0 to kMostDevices - 1; it lives as long as the program.
Arena& arena(int device);
// Returns the device of an address; -1: the host.
int device_of(const void* address) noexcept;

// The device works while it lives.
class Working {
 public:
  explicit Working(Arena& arena) : arena_(arena) { arena_.open(); }
  ~Working() { arena_.close(); }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

 private:
  Arena& arena_;
};

}  // namespace gnnmg::fake_gpu
