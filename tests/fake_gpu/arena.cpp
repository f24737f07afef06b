#include "arena.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"
#include "fake_gpu.h"
#include "recording.h"

namespace gnnmg::fake_gpu {
namespace {

constexpr int64_t kReserved = int64_t{1} << 36;  // addresses per device
constexpr int64_t kAlignment = 256;
// The host's large page size, if it has large pages: an arena is opened and closed at every kernel,
// which takes time proportional to its pages.
constexpr int64_t kPage = int64_t{1} << 21;
constexpr std::string_view kTensor = "a tensor";  // LibTorch's allocator uses this name
constexpr int kNew = 0xA5, kGone = 0xFF;          // the latter is NaN, and an invalid id

int64_t rounded(int64_t bytes, int64_t to) {
  return (std::max<int64_t>(bytes, 1) + to - 1) / to * to;
}

struct sigaction before;

void say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) std::abort();
}

// Prints the cause, and passes the fault on to the previous handler.
void on_fault(int signal, siginfo_t* info, void*) {
  if (device_of(info->si_addr) >= 0) {
    say("fake GPU: the host touched memory of a device, here:\n");
    void* frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
  }
  sigaction(signal, &before, nullptr);
}

void watch_faults() {
  void* frames[1];
  backtrace(frames, 1);  // loads its library now, which a handler must not do
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
}

std::vector<std::unique_ptr<Arena>>& arenas() {
  // Never destroyed: static objects of others may be destroyed later.
  static auto& all = *[] {
    auto* made = new std::vector<std::unique_ptr<Arena>>;
    for (int device = 0; device < kMostDevices; ++device)
      made->push_back(std::make_unique<Arena>(device));
    return made;
  }();
  return all;
}

// The arenas' first addresses, for a signal handler.
std::atomic<uint8_t*> bases[kMostDevices];

std::atomic<void (*)(const char*)> memory_watch{nullptr};

std::atomic<bool> over{false};

// Registered like LibTorch's allocator, when the file that contains it is opened.
struct End {
  ~End() { over = true; }
} at_end;

}  // namespace

void check_not_over(const char* what) noexcept {
  if (!over) return;
  say("fake GPU: the program has ended, and this comes too late: ");
  say(what);
  say("\n");
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
  std::abort();
}

Arena& arena(int device) {
  [[maybe_unused]] static const bool watched = (watch_faults(), true);
  return *arenas()[static_cast<size_t>(device)];
}

int device_of(const void* address) noexcept {
  for (int device = 0; device < kMostDevices; ++device) {
    const uint8_t* base = bases[device].load();
    const auto* byte = static_cast<const uint8_t*>(address);
    if (base && byte >= base && byte < base + kReserved) return device;
  }
  return -1;
}

Arena::Arena(int device) : device_(device) {
  void* base = mmap(nullptr, kReserved + kPage, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) base::fail(base::Status::kInternal, "mmap: ", std::strerror(errno));
  base_ = static_cast<uint8_t*>(base) + (-reinterpret_cast<uintptr_t>(base) & (kPage - 1));
  madvise(base_, kReserved, MADV_HUGEPAGE);  // a kernel without huge pages refuses, and is slower
  bases[device] = base_;
}

bool Arena::holds(const void* address) const noexcept { return device_of(address) == device_; }

void Arena::check() const {
  check_not_over("a call about a device or a queue");
  if (++uses_ == lost_at_) lost_ = true;
  if (lost_) base::fail(base::Status::kDeviceLost, "fake GPU ", device_, " is lost");
}

void Arena::check_waits(const char* what) const {
  check();
  if (recording_)
    base::fail(base::Status::kUnsupported, "fake GPU ", device_, " is captured: ", what,
               " would wait for it");
}

std::vector<std::pair<void*, int64_t>> Arena::blocks() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<void*, int64_t>> all;
  for (const auto& [place, bytes] : used_) all.emplace_back(base_ + place, bytes);
  return all;
}

int64_t Arena::place_of(int64_t bytes) {
  // The smallest gap that suffices.
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it)
    if (it->second >= bytes && (best == free_.end() || it->second < best->second)) best = it;
  if (best == free_.end()) {
    const int64_t place = top_;
    top_ += bytes;
    // The device is working: open the new pages as well.
    if (users_ > 0)
      mprotect(base_, static_cast<size_t>(rounded(top_, kPage)), PROT_READ | PROT_WRITE);
    return place;
  }
  const auto [place, length] = *best;
  free_.erase(best);
  if (length > bytes) free_[place + bytes] = length - bytes;
  return place;
}

void tell_memory(const char* what) {
  if (const auto watch = memory_watch.load()) watch(what);
}

void watch_memory(void (*watch)(const char* what)) { memory_watch = watch; }

void* Arena::allocate(int64_t bytes, std::string_view what) {
  check_not_over("memory is taken");
  check();
  tell_memory(what == kTensor ? "a tensor is made" : "memory of a device is taken");
  const Working working(*this);
  const std::lock_guard lock(mutex_);
  const int64_t length = rounded(bytes, kAlignment);
  const bool refused = fail_after_ == 0;
  if (fail_after_ > 0 || (refused && !fail_for_ever_)) --fail_after_;
  if (refused || live_bytes_ + length > size_)
    base::fail(base::Status::kNoMemory, "fake GPU ", device_, " has no ", bytes, " bytes for ",
               what, ": ", size_ - live_bytes_, " of ", size_, " are free");
  const int64_t place = place_of(length);
  used_[place] = length;
  live_bytes_ += length;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  ++num_allocations_;
  if (what == kTensor) {
    tensors_.insert(place);
    int64_t& kept = kept_[length];
    if (kept > 0)
      --kept;
    else
      ++num_without_kept_;
  }
  std::memset(base_ + place, kNew, static_cast<size_t>(length));
  return base_ + place;
}

void Arena::release(void* memory) noexcept {
  if (memory == nullptr) return;
  check_not_over("memory is given back");
  // Replays may use it.
  if (Recording* recording = recording_) return recording->keep(memory);
  const Working working(*this);
  const std::lock_guard lock(mutex_);
  const auto it = used_.find(static_cast<uint8_t*>(memory) - base_);
  if (it == used_.end()) {
    say("fake GPU: memory is given back that was not taken, or twice\n");
    std::abort();
  }
  auto [place, length] = *it;
  used_.erase(it);
  if (tensors_.erase(place) > 0) ++kept_[length];
  live_bytes_ -= length;
  std::memset(base_ + place, kGone, static_cast<size_t>(length));
  const auto next = free_.find(place + length);
  if (next != free_.end()) {
    length += next->second;
    free_.erase(next);
  }
  auto last = free_.lower_bound(place);
  if (last != free_.begin() && std::prev(last)->first + std::prev(last)->second == place)
    std::prev(last)->second += length;
  else
    free_[place] = length;
  if (used_.empty()) begin_again();
}

// Returns all pages, because otherwise every later kernel pays for those of the largest program
// before.
void Arena::begin_again() {
  const auto bytes = static_cast<size_t>(rounded(top_, kPage));
  mprotect(base_, bytes, PROT_NONE);
  madvise(base_, bytes, MADV_DONTNEED);
  free_.clear();
  top_ = 0;
}

void Arena::open() {
  check_not_over("a kernel, a copy or an operator");
  const std::lock_guard lock(mutex_);
  if (users_++ == 0 && top_ > 0)
    mprotect(base_, static_cast<size_t>(rounded(top_, kPage)), PROT_READ | PROT_WRITE);
}

void Arena::close() noexcept {
  const std::lock_guard lock(mutex_);
  if (--users_ == 0 && top_ > 0)
    mprotect(base_, static_cast<size_t>(rounded(top_, kPage)), PROT_NONE);
}

void Arena::set_size(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  size_ = bytes;
}

int64_t Arena::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

int64_t Arena::live_bytes() const {
  const std::lock_guard lock(mutex_);
  return live_bytes_;
}

int64_t Arena::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

void Arena::reset_peak() {
  const std::lock_guard lock(mutex_);
  peak_bytes_ = live_bytes_;
}

int64_t Arena::num_live() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(used_.size());
}

int64_t Arena::num_allocations() const {
  const std::lock_guard lock(mutex_);
  return num_allocations_;
}

int64_t Arena::num_without_kept() const {
  const std::lock_guard lock(mutex_);
  return num_without_kept_;
}

void Arena::forget_kept() {
  const std::lock_guard lock(mutex_);
  kept_.clear();
}

void Arena::fail_allocation(int64_t after, bool for_ever) {
  const std::lock_guard lock(mutex_);
  fail_after_ = after;
  fail_for_ever_ = for_ever;
}

}  // namespace gnnmg::fake_gpu
