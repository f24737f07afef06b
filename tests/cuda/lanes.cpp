#include "lanes.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "lane_switch.h"

#undef threadIdx
#undef blockIdx
#undef gridDim

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

// Functions that schedule lanes are not part of the kernels.
#define GNNMG_UNWATCHED __attribute__((no_sanitize("thread"), noinline))

namespace gnnmg::cuda::lanes {
namespace {

// The sanitizer's fibers for lanes; nothing without a sanitizer.
#if defined(__SANITIZE_THREAD__)
void* new_fiber() { return __tsan_create_fiber(0); }
void* own_fiber() { return __tsan_get_current_fiber(); }
GNNMG_UNWATCHED void go_on_as(void* fiber) {
  __tsan_switch_to_fiber(fiber, __tsan_switch_to_fiber_no_sync);
}
GNNMG_UNWATCHED void release(char& token) { __tsan_release(&token); }
GNNMG_UNWATCHED void acquire(char& token) { __tsan_acquire(&token); }
#else
void* new_fiber() { return nullptr; }
void* own_fiber() { return nullptr; }
void go_on_as(void*) {}
void release(char&) {}
void acquire(char&) {}
#endif

constexpr int kWarp = 32, kWorkers = 2;
constexpr size_t kStackBytes = size_t{1} << 18;

enum class At { kRuns, kBallot, kShuffle, kSyncWarp, kSyncBlock, kLeft };
constexpr const char* kNames[] = {"running",         "at a vote",          "at a shuffle",
                                  "at __syncwarp()", "at __syncthreads()", "through"};

struct Lane {
  Context context;
  void* fiber;
  At at;
  uint32_t mask;
  uint64_t value, result;
  int from;
  uint32_t turns[2];  // passes through __syncwarp() and __syncthreads()
};

struct Job {
  int blocks, threads;
  uint32_t seed;
  void (*body)(const void*);
  const void* work;
};

// Runs blocks, one after another, on a separate thread.
class Worker {
 public:
  void run(const Job& job, int block);
  void collect(At at, uint32_t mask, uint64_t value, int from);
  void step();
  void body();
  uint64_t result() const { return lanes_[current_].result; }
  void start(Worker*& own);

  Job job_;
  int block_ = 0, current_ = 0;

 private:
  static void prepare(Lane& lane);
  void resume(int lane);
  void leave();
  void meet(At at, uint32_t mask);
  void meet_all();
  uint32_t random();
  [[noreturn]] void fail(const char* what);

  std::array<Lane, kMostThreads> lanes_;
  Context own_;
  void* fiber_ = nullptr;
  uint32_t state_ = 1;
  char begin_, end_, blocks_[2], warps_[kMostThreads][2];
};

thread_local Worker* worker;

void enter() { worker->body(); }

GNNMG_UNWATCHED void Worker::start(Worker*& own) {
  own = this;
  fiber_ = own_fiber();
  for (Lane& lane : lanes_) prepare(lane);
}

GNNMG_UNWATCHED void Worker::prepare(Lane& lane) {
  lane.fiber = new_fiber();
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) std::abort();
  lanes::prepare(lane.context, stack, kStackBytes, enter);
}

GNNMG_UNWATCHED uint32_t Worker::random() {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 17;
  state_ ^= state_ << 5;
  return state_;
}

GNNMG_UNWATCHED void Worker::fail(const char* what) {
  std::fprintf(stderr, "block %d: %s\n", block_, what);
  for (int i = 0; i < job_.threads; ++i) {
    const Lane& lane = lanes_[i];
    std::fprintf(stderr, "  lane %d %s, mask %08x%s\n", i, kNames[static_cast<int>(lane.at)],
                 lane.mask, i == current_ ? "  <" : "");
  }
  std::abort();
}

GNNMG_UNWATCHED void Worker::run(const Job& job, int block) {
  job_ = job;
  block_ = block;
  state_ = job.seed * 2654435761u + static_cast<uint32_t>(block) + 1;
  if (state_ == 0) state_ = 1;
  for (int i = 0; i < job.threads; ++i) {
    lanes_[i].at = At::kRuns;
    lanes_[i].turns[0] = lanes_[i].turns[1] = 0;
  }
  release(begin_);
  for (int left = 0; left < job.threads;) {
    bool any = false;
    const int first = static_cast<int>(random() % static_cast<uint32_t>(job.threads));
    const bool back = random() % 2 == 0;
    for (int n = 0; n < job.threads; ++n) {
      const int lane = (first + (back ? job.threads - n : n)) % job.threads;
      if (lanes_[lane].at != At::kRuns) continue;
      any = true;
      resume(lane);
      if (lanes_[lane].at == At::kLeft) ++left;
    }
    if (!any) fail("lanes wait for each other in vain");
  }
  acquire(end_);
}

GNNMG_UNWATCHED void Worker::resume(int lane) {
  current_ = lane;
  go_on_as(lanes_[lane].fiber);
  go_on(own_, lanes_[lane].context);
}

// Suspends the running lane until it is resumed.
GNNMG_UNWATCHED void Worker::leave() {
  Lane& lane = lanes_[current_];
  go_on_as(fiber_);
  go_on(lane.context, own_);
}

GNNMG_UNWATCHED void Worker::body() {
  while (true) {
    acquire(begin_);
    job_.body(job_.work);
    release(end_);
    lanes_[current_].at = At::kLeft;
    leave();
  }
}

GNNMG_UNWATCHED void Worker::step() {
  if (random() % 2 == 0) leave();
}

GNNMG_UNWATCHED void Worker::collect(At at, uint32_t mask, uint64_t value, int from) {
  const int number = current_, in_warp = number % kWarp;
  Lane& lane = lanes_[number];
  lane.at = at;
  lane.mask = mask;
  lane.value = value;
  lane.from = from;
  const bool all = at == At::kSyncBlock;
  if (!all && (mask >> in_warp & 1) == 0) fail("a lane is not of the mask that it gives");
  const uint32_t turn = all || at == At::kSyncWarp ? lane.turns[all]++ % 2 : 0;
  // The mask's lowest lane identifies the tile.
  char& token = all ? blocks_[turn] : warps_[number / kWarp * kWarp + __builtin_ctz(mask)][turn];
  if (all || at == At::kSyncWarp) release(token);
  if (all)
    meet_all();
  else
    meet(at, mask);
  while (lane.at != At::kRuns) leave();
  if (all || at == At::kSyncWarp) acquire(token);
}

// The last lane to arrive computes the common result.
GNNMG_UNWATCHED void Worker::meet(At at, uint32_t mask) {
  Lane* const warp = &lanes_[current_ / kWarp * kWarp];
  const int lanes = job_.threads - current_ / kWarp * kWarp;
  uint64_t bits = 0;
  for (int i = 0; i < kWarp; ++i) {
    if ((mask >> i & 1) == 0) continue;
    if (i >= lanes) fail("the mask has lanes that the block has not");
    if (warp[i].at == At::kRuns) return;
    if (warp[i].at != at || warp[i].mask != mask) fail("lanes of one mask went different ways");
    bits |= (warp[i].value & 1) << i;
  }
  for (int i = 0; i < kWarp; ++i) {
    if ((mask >> i & 1) == 0) continue;
    if (at == At::kShuffle) {
      if (warp[i].from < 0 || warp[i].from >= kWarp || (mask >> warp[i].from & 1) == 0)
        fail("a value is asked for of a lane that is not of the mask");
      bits = warp[warp[i].from].value;
    }
    warp[i].result = bits;
  }
  for (int i = 0; i < kWarp; ++i)
    if (mask >> i & 1) warp[i].at = At::kRuns;
}

GNNMG_UNWATCHED void Worker::meet_all() {
  uint64_t any = 0;
  for (int i = 0; i < job_.threads; ++i) {
    if (lanes_[i].at == At::kLeft) fail("a lane has left its block's barrier");
    if (lanes_[i].at != At::kSyncBlock) return;
    any |= lanes_[i].value;
  }
  for (int i = 0; i < job_.threads; ++i) {
    lanes_[i].result = any;
    lanes_[i].at = At::kRuns;
  }
}

// The threads, which last until the process ends.
class Workers {
 public:
  Workers() {
    for (int w = 0; w < kWorkers; ++w) std::thread([this, w] { work(w); }).detach();
  }
  void run(const Job& job) {
    const std::lock_guard one(turn_);
    std::unique_lock lock(mutex_);
    job_ = job;
    at_work_ = kWorkers;
    ++number_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return at_work_ == 0; });
  }

 private:
  void work(int w) {
    auto& own = *new Worker;
    own.start(worker);
    for (uint64_t done = 0;; ++done) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return number_ > done; });
        job = job_;
      }
      // Relaxed, so that the sanitizer sees no order: a lock would order one block's work after all
      // that a quicker one has done.
      fetched_.fetch_add(1, std::memory_order_relaxed);
      while (fetched_.load(std::memory_order_relaxed) < (done + 1) * kWorkers)
        std::this_thread::yield();
      for (int block = w; block < job.blocks; block += kWorkers) own.run(job, block);
      const std::lock_guard lock(mutex_);
      if (--at_work_ == 0) changed_.notify_all();
    }
  }
  std::mutex turn_, mutex_;
  std::condition_variable changed_;
  Job job_{};
  uint64_t number_ = 0;
  int at_work_ = 0;
  std::atomic<uint64_t> fetched_{0};
};

}  // namespace

GNNMG_UNWATCHED Index thread_index() { return {static_cast<unsigned>(worker->current_)}; }
GNNMG_UNWATCHED Index block_index() { return {static_cast<unsigned>(worker->block_)}; }
GNNMG_UNWATCHED Index grid_size() { return {static_cast<unsigned>(worker->job_.blocks)}; }

GNNMG_UNWATCHED uint32_t ballot(uint32_t mask, bool value) {
  worker->collect(At::kBallot, mask, value, 0);
  return static_cast<uint32_t>(worker->result());
}
GNNMG_UNWATCHED uint64_t shuffle(uint32_t mask, uint64_t value, int from) {
  worker->collect(At::kShuffle, mask, value, from);
  return worker->result();
}
GNNMG_UNWATCHED void sync_warp(uint32_t mask) { worker->collect(At::kSyncWarp, mask, 0, 0); }
GNNMG_UNWATCHED bool sync_block(bool value) {
  worker->collect(At::kSyncBlock, 0, value, 0);
  return worker->result() != 0;
}
GNNMG_UNWATCHED void step() {
  if (worker != nullptr) worker->step();  // the host's own code uses atomics too
}

void run(int blocks, int threads, uint32_t seed, void (*body)(const void*), const void* work) {
  if (threads > kMostThreads) std::abort();
  static auto& workers = *new Workers;  // never freed: threads use it until the process ends
  workers.run({blocks, threads, seed, body, work});
}

}  // namespace gnnmg::cuda::lanes
