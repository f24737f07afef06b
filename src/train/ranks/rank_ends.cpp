#include "train/ranks/rank_ends.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

#include "base/exit.h"
#include "base/signals.h"

namespace gnnmg::train {
namespace {

// What a rank finds out by itself comes first.
constexpr std::chrono::milliseconds kSlack(500);
// Behind which threads that are held up by others' devices are left as well.
constexpr std::chrono::seconds kLongest(120);

}  // namespace

// Asks again and again whether a queue has anything to do, on a thread of its own: a driver that
// does not answer holds up who asks.
class RankEnds::Watch {
 public:
  Watch(const base::DeviceTable& table, base::DeviceQueue* queue)
      : table_(table), queue_(queue), thread_(base::start_thread([this] { run(); })) {}
  ~Watch() {
    leaving_ = true;
    thread_.join();
  }
  // Since when it has had something to do, or there was no answer.
  Clock::time_point busy_since() const { return Clock::time_point(Clock::duration(since_)); }

 private:
  void run() {
    for (; !leaving_; std::this_thread::sleep_for(std::chrono::milliseconds(10)))
      if (answers()) since_ = Clock::now().time_since_epoch().count();
  }
  bool answers() const {
    const base::DeviceUse use;
    if (!use) return true;  // the program ends
    try {
      return table_.finished(queue_);
    } catch (const std::exception&) {  // the rank hears of that
      return true;
    }
  }

  const base::DeviceTable& table_;
  base::DeviceQueue* const queue_;
  std::atomic<bool> leaving_{false};
  std::atomic<Clock::rep> since_{Clock::now().time_since_epoch().count()};
  std::thread thread_;
};

RankEnds::RankEnds(const base::DeviceTable& table, int num_ranks, std::chrono::milliseconds rest)
    : table_(table), rest_(rest), ranks_(num_ranks) {}

RankEnds::~RankEnds() = default;

void RankEnds::open(int number, int device, const std::string& name, base::DeviceQueue* queue) {
  const std::lock_guard lock(mutex_);
  One& one = ranks_[number];
  one.device = device;
  one.name = name;
  one.queue = queue;
  one.opened = true;
}

void RankEnds::set_at_work(int number, bool at_work) {
  const std::lock_guard lock(mutex_);
  ranks_[number].at_work = at_work;
}

void RankEnds::give_up(int number) {
  const std::lock_guard lock(mutex_);
  const One& one = ranks_[number];
  base::give_up(
      table_, one.device,
      base::text("has not come to its end within ", static_cast<double>(rest_.count()) / 1000,
                 " s of a training that was called off"));
}

void RankEnds::close(int number) {
  std::unique_ptr<Watch> watch;
  const std::lock_guard lock(mutex_);
  ranks_[number].queue = nullptr;
  watch = std::move(ranks_[number].watch);
}

void RankEnds::set_gone(int number) {
  const std::lock_guard lock(mutex_);
  ranks_[number].gone = true;
}

bool RankEnds::stuck(One& one, Clock::time_point since) {
  if (!one.opened) return false;
  if (base::given_up(table_, one.device)) return true;
  if (!one.queue) {  // its thread may be held up while it makes one
    if (!one.at_work || Clock::now() < since + kLongest) return false;
    base::give_up(table_, one.device, "does not let itself be opened");
    return true;
  }
  if (!one.watch) try {
      one.watch = std::make_unique<Watch>(table_, one.queue);
    } catch (const std::system_error&) {  // no thread: the next one who looks tries again
      return false;
    }
  if (Clock::now() < std::max(since, one.watch->busy_since()) + rest_ + kSlack) return false;
  base::give_up(
      table_, one.device,
      base::text("has not come to its end within ", static_cast<double>(rest_.count()) / 1000,
                 " s of a training that was called off"));
  return true;
}

bool RankEnds::left_behind(Clock::time_point since) {
  const std::lock_guard lock(mutex_);
  bool any = false, others = false;
  for (One& one : ranks_) {
    if (!one.at_work) continue;
    (stuck(one, since) ? any : others) = true;
  }
  // Calls of the driver for one device may wait for all.
  return any && (!others || Clock::now() > since + 2 * (rest_ + kSlack));
}

bool RankEnds::only_left_behind(Clock::time_point since) {
  const std::lock_guard lock(mutex_);
  bool any = false, others = false;
  for (One& one : ranks_) {
    if (one.gone) continue;
    (stuck(one, since) ? any : others) = true;
  }
  return (any && !others) || Clock::now() > since + (any ? 2 * (rest_ + kSlack) : kLongest);
}

std::string RankEnds::left(int first_rank) const {
  const std::lock_guard lock(mutex_);
  std::string all;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    const One& one = ranks_[r];
    if (!one.opened || one.gone) continue;
    all += base::text("; rank ", first_rank + static_cast<int>(r), ": ", one.name);
    all += base::given_up(table_, one.device)
               ? base::text(" has not come to its end within ",
                            static_cast<double>(rest_.count()) / 1000,
                            " s of it and is used no more in this process")
               : " and its memory are still held, as a call of its driver does not end";
    all += ": end the process, and go on in another one";
  }
  return all;
}

}  // namespace gnnmg::train
