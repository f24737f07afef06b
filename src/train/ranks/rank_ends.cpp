#include "train/ranks/rank_ends.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

#include "base/background.h"
#include "device/exit.h"

namespace gnnmg::train {
namespace {

using std::chrono::milliseconds;

// Time for a rank to report its own failure before its device is quarantined.
constexpr milliseconds kSlack(500);
// The longest time for a thread that is blocked in the driver without a busy queue.
constexpr std::chrono::seconds kLongest(120);

double in_seconds(milliseconds time) { return static_cast<double>(time.count()) / 1000; }

}  // namespace

// Asks repeatedly, on a thread of its own, whether a queue is busy: a driver that hangs blocks the
// thread that asks.
class RankEnds::Watch {
 public:
  Watch(const device::Table& table, device::Queue* queue)
      : table_(table), queue_(queue), thread_(base::start_thread([this] { run(); })) {}
  ~Watch() {
    leaving_ = true;
    thread_.join();
  }
  // Time since when the queue has been busy, or the driver has not answered.
  Clock::time_point busy_since() const { return Clock::time_point(Clock::duration(since_)); }

 private:
  void run() {
    for (; !leaving_; std::this_thread::sleep_for(milliseconds(10))) {
      const device::Use use;
      if (!use || device::drain(table_, queue_, {}))
        since_ = Clock::now().time_since_epoch().count();
    }
  }

  const device::Table& table_;
  device::Queue* const queue_;
  std::atomic<bool> leaving_{false};
  std::atomic<Clock::rep> since_{Clock::now().time_since_epoch().count()};
  std::thread thread_;
};

RankEnds::RankEnds(const device::Table& table, int num_ranks, milliseconds limit)
    : table_(table), limit_(limit), ranks_(num_ranks) {}

RankEnds::~RankEnds() = default;

void RankEnds::open(int number, int device, const std::string& name, device::Queue* queue) {
  const std::lock_guard lock(mutex_);
  One& one = ranks_[number];
  one.device = device;
  one.name = name;
  one.queue = queue;
  one.opened = true;
}

void RankEnds::set_at_work(int number, bool at_work) {
  const std::lock_guard lock(mutex_);
  ranks_[number].state = at_work ? State::kAtWork : State::kIdle;
}

void RankEnds::quarantine(int number) {
  const std::lock_guard lock(mutex_);
  quarantine(ranks_[number]);
}

void RankEnds::close(int number) {
  std::unique_ptr<Watch> watch;
  const std::lock_guard lock(mutex_);
  ranks_[number].queue = nullptr;
  watch = std::move(ranks_[number].watch);
}

void RankEnds::set_gone(int number) {
  const std::lock_guard lock(mutex_);
  ranks_[number].state = State::kGone;
}

void RankEnds::quarantine(const One& one) const {
  device::quarantine(table_, one.device,
                     base::text("has not come to its end within ", in_seconds(limit_),
                                " s of a training that was called off"));
}

bool RankEnds::in_quarantine(One& one, Clock::time_point since) {
  if (!one.opened) return false;
  if (device::quarantined(table_, one.device)) return true;
  if (!one.queue) {  // the thread may be blocked while it opens the device
    if (one.state != State::kAtWork || Clock::now() < since + kLongest) return false;
    device::quarantine(table_, one.device, "does not let itself be opened");
    return true;
  }
  if (!one.watch) try {
      one.watch = std::make_unique<Watch>(table_, one.queue);
    } catch (const std::system_error&) {  // no thread: the next call tries again
      return false;
    }
  if (Clock::now() < std::max(since, one.watch->busy_since()) + limit_ + kSlack) return false;
  quarantine(one);
  return true;
}

// Threads on other devices count as quarantined after a while: calls of the driver for one device
// may wait for all.
template <typename Counts>
bool RankEnds::only_quarantined(const Counts& counts, Clock::time_point since) {
  const std::lock_guard lock(mutex_);
  bool any = false, others = false;
  for (One& one : ranks_)
    if (counts(one)) (in_quarantine(one, since) ? any : others) = true;
  return any && (!others || Clock::now() > since + 2 * (limit_ + kSlack));
}

bool RankEnds::only_quarantined_work(Clock::time_point since) {
  return only_quarantined([](const One& one) { return one.state == State::kAtWork; }, since);
}

bool RankEnds::only_quarantined_left(Clock::time_point since) {
  return only_quarantined([](const One& one) { return one.state != State::kGone; }, since) ||
         Clock::now() > since + kLongest;
}

std::string RankEnds::text_of_left(int first_rank) const {
  const std::lock_guard lock(mutex_);
  std::string all;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    const One& one = ranks_[r];
    if (!one.opened || one.state == State::kGone) continue;
    all += base::text("; rank ", first_rank + static_cast<int>(r), ": ", one.name);
    all += device::quarantined(table_, one.device)
               ? base::text(" has not come to its end within ", in_seconds(limit_),
                            " s of it and is used no more in this process")
               : " and its memory are still held, as a call of its driver does not end";
    all += ": end the process, and go on in another one";
  }
  return all;
}

}  // namespace gnnmg::train
