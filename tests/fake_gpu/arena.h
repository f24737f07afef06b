// The memory of a fake GPU: apart from the host's, which may touch it only while the device works.
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
  // Of device `device`; a host's loop over it dies with a word of why.
  explicit Arena(int device);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Fills what it gives, and what it takes back, with bytes that no program expects.
  void* allocate(int64_t bytes, std::string_view what) override;
  void release(void* memory) noexcept override;

  // The device works from open() to close(), which count.
  void open();
  void close() noexcept;
  bool holds(const void* address) const noexcept;

  // Error(kDeviceLost) where it is.
  void check() const;
  void lose() noexcept { lost_ = true; }
  void find_again() noexcept { lost_ = false; }
  bool lost() const noexcept { return lost_; }

  // Devices, a bit each, whose memory its kernels may read.
  void let_read(int peer) noexcept { peers_ |= 1u << peer; }
  uint32_t peers() const noexcept { return peers_; }

  // Copies from the host's memory, and to it.
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

  // What work of the device is added to; null: it is not captured.
  Recording* recording() const noexcept { return recording_; }
  void set_recording(Recording* recording) noexcept { recording_ = recording; }
  // Error(kUnsupported) where it is captured: what waits for the device cannot be.
  void check_waits(const char* what) const;
  std::vector<std::pair<void*, int64_t>> blocks() const;  // allocations and their bytes

  void set_size(int64_t bytes);
  int64_t size() const;
  int64_t live_bytes() const;
  int64_t peak_bytes() const;  // the most that was live since the last reset_peak()
  void reset_peak();
  int64_t num_live() const;
  int64_t num_allocations() const;
  int64_t num_without_kept() const;
  void forget_kept();
  // The allocation behind the next `after` fails, or, `for_ever`, that one and all others; -1:
  // none.
  void fail_allocation(int64_t after, bool for_ever);

 private:
  // With the lock held.
  int64_t place_of(int64_t bytes);
  void begin_again();  // nothing is used

  const int device_;
  uint8_t* base_ = nullptr;
  std::atomic<bool> lost_{false};
  std::atomic<uint32_t> peers_{0};
  std::atomic<Recording*> recording_{nullptr};
  Copied copied_to_, copied_from_;
  mutable std::mutex mutex_;
  std::map<int64_t, int64_t> free_;  // place -> bytes
  std::map<int64_t, int64_t> used_;
  std::set<int64_t> tensors_;        // places of them, of those that are used
  std::map<int64_t, int64_t> kept_;  // bytes -> tensors that were given back
  int64_t top_ = 0;                  // nothing beyond is used
  int64_t size_ = int64_t{1} << 30, live_bytes_ = 0, peak_bytes_ = 0;
  int64_t num_allocations_ = 0, num_without_kept_ = 0;
  int64_t fail_after_ = -1;
  bool fail_for_ever_ = false;
  int users_ = 0;
};

// Dies with a word of `what` where the program has come to the end of LibTorch's CUDA half, whose
// objects are destroyed behind what was registered for the end after it was opened.
void check_not_over(const char* what) noexcept;

// What watch_memory() of fake_gpu.h names is called with `what`.
void tell_memory(const char* what);

// Device `device`, of 0 to kMostDevices - 1; lives as long as the program.
Arena& arena(int device);
// The device that the address is of; -1: the host.
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
