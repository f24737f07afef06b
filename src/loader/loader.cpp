#include "loader/loader.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/background.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/thread_end.h"
#include "device/exit.h"
#include "device/launch_order.h"
#include "device/wait.h"
#include "loader/batch_pool.h"
#include "loader/device_feed.h"
#include "loader/device_source_parts.h"
#include "loader/item.h"

namespace gnnmg::loader {

using base::fail;
using base::Status;

namespace {

// A place in the ring of mini-batches in flight.
struct Slot {
  bool done = false;
  BatchRef batch;
  std::exception_ptr error;
};

// One epoch in flight. Workers hold a reference while they work on it, so that the next epoch can
// start at once. The plan is constant; the loader's mutex guards all other members.
struct Epoch {
  Epoch(std::span<const int64_t> ids, const PlanConfig& config, uint64_t epoch, int64_t first_step,
        int64_t window, uint64_t its_serial)
      : plan(ids, config, epoch), serial(its_serial), ring(window) {
    if (first_step < 0 || first_step > plan.num_steps())
      fail(Status::kInvalidArgument, "first step is ", first_step, ", expected 0 to ",
           plan.num_steps());
    next = first = first_item(plan, first_step);
  }

  bool may_begin() const {
    return next.step < plan.num_steps() && !failed && !cancel.cancelled() &&
           next.place - handed_out < static_cast<int64_t>(ring.size());
  }
  Item begin() { return std::exchange(next, item_after(plan, next)); }
  bool ended() const { return next.step == plan.num_steps() && handed_out == next.place; }
  Slot& slot(int64_t place) { return ring[place % static_cast<int64_t>(ring.size())]; }

  const EpochPlan plan;
  const uint64_t serial;  // larger than the numbers of all earlier epochs
  Item first;
  const base::CancelToken cancel;
  Item next;  // the next item to begin
  int64_t handed_out = 0;
  bool failed = false;  // no further items begin
  std::exception_ptr thrown;
  std::vector<Slot> ring;
};

double seconds_since(base::SteadyClock::time_point start) {
  return std::chrono::duration<double>(base::SteadyClock::now() - start).count();
}

}  // namespace

struct Loader::State {
  State(std::span<const int64_t> all_ids, std::shared_ptr<const sample::Sampler> the_sampler,
        std::shared_ptr<const feature::FeatureStore> the_store, const LoaderConfig& the_config,
        base::HostQueue* the_host, std::shared_ptr<const DeviceSource> the_device)
      : ids(all_ids.begin(), all_ids.end()),
        sampler(std::move(the_sampler)),
        store(std::move(the_store)),
        config(the_config),
        host(the_host),
        device(std::move(the_device)) {}

  void check() const {
    if (config.num_threads < 0)
      fail(Status::kInvalidArgument, "num_threads is ", config.num_threads, ", expected 0 or more");
    if (config.prefetch < 0)
      fail(Status::kInvalidArgument, "prefetch is ", config.prefetch, ", expected 0 or more");
    if (device && (device->parts().sampler != sampler || device->parts().store != store))
      fail(Status::kInvalidArgument,
           "the source of the device was opened for another sampler or other features");
    const int64_t num_nodes = sampler->num_nodes();
    if ((gathers() || (device && store)) && store->num_rows() != num_nodes)
      fail(Status::kInvalidArgument, "features have ", store->num_rows(), " rows, expected ",
           num_nodes, ", the number of nodes");
    const int64_t num_ids = sampler->num_ids();
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] < 0 || ids[i] >= num_ids)
        fail(Status::kRange, "ids[", i, "] is ", ids[i], ", expected 0 to ", num_ids - 1);
    }
  }

  bool gathers() const { return !device && config.gather && store != nullptr; }
  int64_t at_once() const {
    const bool several =
        config.in_turns && config.num_threads == 0 && !device && sampler->neighbors().has_value();
    return several ? std::max(1, config.at_once) : 1;
  }
  int64_t window() const {
    return std::max<int64_t>({1, config.prefetch, config.num_threads, at_once()});
  }

  std::shared_ptr<Epoch> new_epoch(uint64_t number, int64_t first_step) {
    return std::make_shared<Epoch>(ids, config.plan, number, first_step, window(), ++num_epochs);
  }

  void open_feed() {
    if (!device) return;
    // No mini-batch has more seeds than there are ids.
    const int64_t num_ids = static_cast<int64_t>(ids.size());
    feed.emplace(device, config, std::min(config.plan.batch_size, num_ids));
  }

  void prepare(const base::CancelToken& cancel) {
    const std::lock_guard lock(preparing);
    if (prepared) return;
    if (config.prepare) config.prepare(cancel);
    prepared = true;
  }

  BatchRef make(const Epoch& from, const Item& item, sample::Workspace& workspace) {
    prepare(from.cancel);
    BatchRef batch = pool->take();
    const std::span<const int64_t> seeds = from.plan.batch(item.number);
    batch->epoch = from.plan.epoch();
    batch->number = item.number;
    batch->step = item.step;
    batch->last_of_step = item.last_of_step;
    from.plan.step_ids(item.step, batch->step_ids);
    batch->seeds.assign(seeds.begin(), seeds.end());

    const auto start = base::SteadyClock::now();
    if (feed && !batch->device) batch->device = std::make_unique<DeviceArrays>();
    if (feed && feed->samples()) {
      feed->sampling().sample(from.plan, from.serial, from.first, item, from.cancel, *batch);
    } else {
      const sample::BatchKey key{config.sample_seed, config.purpose, batch->epoch,
                                 static_cast<uint64_t>(item.number)};
      sampler->sample(seeds, key, workspace, batch->sample, from.cancel);
      if (feed) feed->copy_sample(*batch);
    }
    batch->sample_seconds = seconds_since(start);

    batch->has_features = gathers();
    batch->sparse = batch->has_features && store->sparse();
    batch->gather_seconds = 0;
    if (!batch->has_features && !feed) return batch;
    from.cancel.check("gathering");
    const auto gather_start = base::SteadyClock::now();
    if (feed) {
      feed->add_rows(*batch, from.cancel);
      batch->gather_seconds = seconds_since(gather_start);
      return batch;
    }
    const std::span<const int64_t> nodes = batch->sample.node_ids.span();
    batch->feature_dtype = store->dtype();
    batch->feature_cols = store->num_cols();
    if (batch->sparse) {
      store->gather_sparse(nodes, batch->sparse_features, nullptr, from.cancel);
    } else {
      batch->features.resize_discard(batch->sample.num_nodes() * store->num_cols() *
                                     base::dtype_size(store->dtype()));
      store->gather(nodes, batch->features.data(), nullptr, from.cancel);
    }
    batch->gather_seconds = seconds_since(gather_start);
    return batch;
  }

  // Makes the item's mini-batch and stores it, or its error.
  Slot run(const Epoch& from, const Item& item, sample::Workspace& workspace) {
    Slot slot;
    try {
      slot.batch = make(from, item, workspace);
    } catch (const base::ThreadEnd&) {
      throw;
    } catch (...) {
      slot.error = std::current_exception();
    }
    slot.done = true;
    return slot;
  }

  void work(sample::Workspace& workspace) {
    std::unique_lock lock(mutex);
    while (true) {
      work_to_do.wait(lock, [&] { return stopping || epoch->may_begin(); });
      if (stopping) return;
      std::shared_ptr<Epoch> from = epoch;
      const Item item = from->begin();
      ++making;
      lock.unlock();
      std::optional<device::TimeoutScope> patience;
      if (feed && wait_ms) patience.emplace(*wait_ms, from->cancel);
      Slot slot = run(*from, item, workspace);
      patience.reset();
      lock.lock();
      --making;
      from->failed |= slot.error != nullptr;
      from->slot(item.place) = std::move(slot);
      lock.unlock();
      from.reset();
      tell_consumers();
      lock.lock();
    }
  }

  // Makes the next mini-batches on the calling thread and its own. The caller holds the lock.
  void make_here(Epoch& from, std::unique_lock<std::mutex>& lock) {
    items.assign(1, from.begin());
    while (items.size() < workspaces.size() && from.may_begin()) items.push_back(from.begin());
    lock.unlock();
    const auto make_one = [&](int64_t i) {
      from.slot(items[i].place) = run(from, items[i], workspaces[i]);
    };
    try {
      if (items.size() > 1)
        config.in_turns(std::ssize(items), make_one);
      else
        make_one(0);
    } catch (const base::ThreadEnd&) {  // the end of a host thread inside its sampler: the
                                        // mini-batch is lost
      cancel();
      throw;
    }
    lock.lock();
  }

  void tell_consumers() noexcept {
    batch_ready.notify_all();
    if (host) host->notify();
  }

  // True if next() can return or throw. The caller holds the mutex.
  bool answer_ready() const {
    return cancelled || epoch->thrown || epoch->ended() || epoch->slot(epoch->handed_out).done;
  }

  bool wait(const base::Deadline& deadline) {
    if (host && host->entered_here()) {
      return host->wait(
          [this] {
            std::lock_guard lock(mutex);
            return answer_ready();
          },
          deadline);
    }
    std::unique_lock lock(mutex);
    const auto ready = [this] { return answer_ready(); };
    if (!deadline.never()) return batch_ready.wait_until(lock, deadline.at(), ready);
    batch_ready.wait(lock, ready);
    return true;
  }

  // The caller holds the mutex.
  void throw_if_spent() const {
    if (cancelled) fail(Status::kCancelled, "the loader was canceled");
    if (!started) fail(Status::kInvalidArgument, "the loader was used before an epoch was started");
    if (epoch->thrown) std::rethrow_exception(epoch->thrown);
  }

  void cancel() noexcept {
    {
      std::lock_guard lock(mutex);
      cancelled = true;
      epoch->cancel.cancel();
    }
    tell_consumers();
  }

  bool idle() {
    std::lock_guard lock(mutex);
    return making == 0;
  }

  // A worker that waits for the callback that exits the program waits forever, which does no harm.
  bool idle_for_exit() {
    return idle() || (base::HostQueue::inside_callback() && host && host->has_calls());
  }

  void stop() noexcept {
    {
      std::lock_guard lock(mutex);
      stopping = true;
      epoch->cancel.cancel();
    }
    work_to_do.notify_all();
    tell_consumers();
    for (std::thread& worker : workers) worker.join();
    workers.clear();
  }

  const std::vector<int64_t> ids;
  const std::shared_ptr<const sample::Sampler> sampler;
  const std::shared_ptr<const feature::FeatureStore> store;
  const LoaderConfig config;
  base::HostQueue* const host;
  const std::shared_ptr<const DeviceSource> device;
  std::optional<DeviceFeed> feed;
  // Workers use the timeout for devices of the thread that makes the loader.
  const std::optional<int64_t> wait_ms =
      device::TimeoutScope::current() ? std::optional(device::TimeoutScope::current()->limit_ms())
                                      : std::nullopt;
  uint64_t num_epochs = 0;  // used by the thread that starts epochs
  // The ring, the caller's mini-batch, and one per worker.
  const std::shared_ptr<BatchPool> pool = BatchPool::create(window() + config.num_threads + 2);

  std::mutex mutex;  // guards the members up to the empty line
  std::condition_variable work_to_do;
  std::condition_variable batch_ready;
  std::shared_ptr<Epoch> epoch;
  bool started = false;
  bool cancelled = false;
  bool stopping = false;
  int making = 0;  // number of workers that make a mini-batch

  std::mutex preparing;
  bool prepared = false;  // guarded by `preparing`

  // Without workers: one for each mini-batch that next() makes at once.
  std::vector<sample::Workspace> workspaces{static_cast<size_t>(at_once())};
  std::vector<Item> items;
  std::vector<std::thread> workers;
  std::optional<device::ExitGuard> exit_guard;
};

Loader::Loader(std::span<const int64_t> ids, std::shared_ptr<const sample::Sampler> sampler,
               std::shared_ptr<const feature::FeatureStore> store, const LoaderConfig& config,
               base::HostQueue* host, std::shared_ptr<const DeviceSource> device)
    : state_(std::make_unique<State>(ids, std::move(sampler), std::move(store), config, host,
                                     std::move(device))) {
  state_->check();
  state_->open_feed();
  state_->epoch = state_->new_epoch(0, 0);
  state_->epoch->cancel.cancel();  // start_epoch() replaces this epoch before any work
  State* const state = state_.get();
  state->exit_guard.emplace([state] { state->cancel(); },
                            [state] { return state->idle_for_exit(); });
  try {
    state->workers.reserve(config.num_threads);  // no exception after a thread's start
    for (int i = 0; i < config.num_threads; ++i)
      state->workers.push_back(base::start_thread(
          [state, budget = base::current_budget(), count = base::HostQueue::current_count(),
           gate = device::LaunchOrder::current(), workspace = sample::Workspace()]() mutable {
            const base::BudgetScope charged(std::move(budget));
            const base::HostQueue::Counting counting(std::move(count));
            device::LaunchOrder::set_current(std::move(gate));
            state->work(workspace);
          }));
  } catch (...) {  // the existing workers do the work, or next() does
  }
}

Loader::~Loader() {
  if (!state_->host || !base::HostQueue::inside_callback() || state_->workers.empty()) {
    state_->stop();
    return;
  }
  cancel();
  struct Leftover {
    State* state;
    void operator()() const {
      if (base::HostQueue::inside_callback()) return state->host->defer(*this);
      state->stop();
      delete state;
    }
  };
  State* const state = state_.release();
  try {
    state->host->defer(Leftover{state});
  } catch (const std::exception&) {  // no memory for a deferred end: leak the state
  }
}

bool Loader::idle() const noexcept { return state_->idle(); }

void Loader::start_epoch(uint64_t epoch, int64_t first_step) {
  std::shared_ptr<Epoch> fresh = state_->new_epoch(epoch, first_step);
  {
    std::lock_guard lock(state_->mutex);
    state_->epoch->cancel.cancel();
    state_->epoch.swap(fresh);
    state_->started = true;
    state_->cancelled = false;
  }
  state_->work_to_do.notify_all();
  state_->tell_consumers();  // cancels calls that are queued for the old epoch
}

const EpochPlan& Loader::plan() const { return state_->epoch->plan; }

std::optional<BatchRef> Loader::next(const base::Deadline& deadline) {
  State& state = *state_;
  if (!state.workers.empty()) {
    {
      std::lock_guard lock(state.mutex);
      state.throw_if_spent();
    }
    if (!state.wait(deadline)) return std::nullopt;
  }
  std::unique_lock lock(state.mutex);
  state.throw_if_spent();
  Epoch& epoch = *state.epoch;
  if (epoch.ended()) return BatchRef();
  if (!epoch.slot(epoch.handed_out).done) {
    state.make_here(epoch, lock);
    if (state.cancelled) state.throw_if_spent();
  }
  Slot slot = std::exchange(epoch.slot(epoch.handed_out), {});
  ++epoch.handed_out;
  if (slot.error) {
    epoch.failed = true;
    epoch.thrown = slot.error;
    std::rethrow_exception(slot.error);
  }
  lock.unlock();
  state.work_to_do.notify_one();
  return std::move(slot.batch);
}

void Loader::cancel() noexcept { state_->cancel(); }

}  // namespace gnnmg::loader
