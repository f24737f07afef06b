#include "capi/guard.h"

#include <c10/util/Exception.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <list>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "base/callback.h"
#include "base/give_back.h"
#include "base/never_destroyed.h"
#include "base/thread_room.h"
#include "capi/arguments.h"
#include "io/bytes.h"
#include "nn/torch/failure.h"

namespace gnnmg::capi {
namespace {

// A page that a child finds empty; -1 for systems without such pages.
std::atomic<const volatile int32_t*> fork_page{nullptr};
std::atomic<pid_t> first_process{0};

thread_local int call_depth = 0;
thread_local CallScope* present = nullptr;

using Works = std::list<std::function<void()>>;  // an empty one takes no memory

// Work that the present thread has to run at the end of its call. A pointer, so that the order in
// which a thread's variables end does not matter.
thread_local Works* collected = nullptr;

// Work that the thread it came up on can no longer run: the next call on any thread runs it.
struct Left {
  std::mutex mutex;
  Works works;
  std::atomic<bool> any{false};
};
Left& left() noexcept {
  static base::NeverDestroyed<Left> instance;
  return *instance;
}

void leave(Works& works) noexcept {
  if (works.empty()) return;
  Left& l = left();
  std::lock_guard lock(l.mutex);
  l.works.splice(l.works.end(), works);
  l.any.store(true, std::memory_order_release);
}

// Runs them one after the other. When the thread ends inside of one, the next call runs the others.
void run_works(Works works) {
  struct Rest {
    Works& works;
    ~Rest() { leave(works); }
  } const rest{works};
  while (!works.empty()) {
    const std::function<void()> work = std::move(works.front());
    works.pop_front();
    base::give_back(work);
  }
}

void run_left() {
  Left& l = left();
  if (!l.any.load(std::memory_order_acquire)) return;
  Works taken;
  {
    std::lock_guard lock(l.mutex);
    taken.swap(l.works);
    l.any = false;
  }
  run_works(std::move(taken));
}

void run_collected() {
  while (collected != nullptr && !collected->empty()) {
    Works taken;
    taken.swap(*collected);
    run_works(std::move(taken));
  }
}

void collect(std::function<void()> work) {
  if (collected == nullptr) collected = new Works;
  collected->push_back(std::move(work));
}

// On a thread of the host: runs the queue's remaining work, then deletes the queue.
void finish_queue(base::HostQueue* queue) {
  try {
    base::HostQueue::Entry drain(*queue);
  } catch (const base::ThreadEnd&) {
    Works again;
    again.emplace_back([queue] { finish_queue(queue); });
    leave(again);
    throw;
  }
  delete queue;
}

void drop_queue(base::HostQueue* queue) noexcept {
  try {
    if (call_depth > 0) return collect([queue] { finish_queue(queue); });
    Works works;
    works.emplace_back([queue] { finish_queue(queue); });
    leave(works);
  } catch (const std::bad_alloc&) {
    delete queue;  // there is no memory to keep it for later
  }
}

// A call of the host's is not cancelled: the library's locks, files and threads would be left as
// they are. A cancellation that came meanwhile acts at the end, or after it.
class NotCancelled {
 public:
  NotCancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  // For a host that lets itself be cancelled at any moment this is such a one.
  ~NotCancelled() noexcept(false) { pthread_setcancelstate(before_, nullptr); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Without a destructor, so that it is there as long as its thread is.
struct Failure {
  LastError error;
  char text[512] = "";
  bool ending = false;  // the thread's variables that have a destructor are gone, or nearly
};
constinit thread_local Failure failure;

// A text that the failure has no room for.
struct LongText {
  std::string text;
  ~LongText() {
    failure.error.text = failure.text;
    failure.ending = true;
  }
};
thread_local LongText long_text;

void keep_text(const char* text) noexcept {
  try {
    std::string line = io::one_line(text);
    copy_text(line, failure.text, sizeof failure.text);
    failure.error.text = failure.text;
    if (line.size() < sizeof failure.text || failure.ending) return;
    long_text.text = std::move(line);
    failure.error.text = long_text.text;
  } catch (...) {
    failure.error.text = "";  // no memory for the text; the status tells
  }
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

}  // namespace

bool forked() noexcept {
  const volatile int32_t* page = fork_page.load(std::memory_order_acquire);
  if (page == nullptr) {
    const pid_t process = first_process.load(std::memory_order_relaxed);
    return process != 0 && process != getpid();
  }
  return *page == 0;
}

void watch_for_fork() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    first_process = getpid();
    const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, size, MADV_WIPEONFORK) != 0) {
      munmap(page, size);
      return;
    }
    *static_cast<int32_t*>(page) = 1;
    fork_page.store(static_cast<const volatile int32_t*>(page), std::memory_order_release);
  });
}

CallScope::CallScope() noexcept
    : outer_(std::exchange(present, this)),
      left_a_callback_(base::callback_was_left()),
      outer_log_(base::set_give_back_log(nullptr)) {
  ++call_depth;
}

CallScope::~CallScope() {
  base::set_give_back_log(outer_log_);
  present = outer_;
  if (--call_depth > 0) return;
  if (collected != nullptr) leave(*collected);
  delete collected;
  collected = nullptr;
}

void CallScope::begin() {
  if (call_depth == 1) run_left();
}

void CallScope::end() {
  if (const std::shared_ptr<base::HostQueue> queue = std::move(visited_))
    base::HostQueue::Entry drain(*queue);
  run_collected();
}

namespace {

// The exception that the work has thrown.
std::exception_ptr run_in_scope(void (*work)(void* closure), void* closure) {
  const NotCancelled guarded;
  CallScope scope;
  scope.begin();
  std::exception_ptr failure;
  try {
    work(closure);
  } catch (const base::ThreadEnd&) {
    throw;
  } catch (...) {
    failure = std::current_exception();
  }
  scope.end();
  return failure;
}

}  // namespace

// Thrown once the thread can be cancelled again, which must not be while an exception is on its
// way.
void in_call(void (*work)(void* closure), void* closure) {
  if (const std::exception_ptr failure = run_in_scope(work, closure))
    std::rethrow_exception(failure);
}

void OutCheck::require() const {
  if (missing != nullptr)
    base::fail(base::Status::kInvalidArgument, "argument '", missing,
               "' is NULL; it must point to where the result goes");
  if (unaligned != nullptr)
    base::fail(base::Status::kInvalidArgument, "argument '", unaligned, "' is not aligned to ",
               expected_size, " bytes");
  if (wrong_size != nullptr)
    base::fail(base::Status::kInvalidArgument, "argument '", wrong_size, "': struct_size is ", size,
               ", expected ", expected_size, "; set it to the size of the struct before the call");
}

void visit_queue(const std::shared_ptr<base::HostQueue>& queue) noexcept {
  if (present != nullptr && present->visited_ == nullptr) present->visited_ = queue;
}

bool left_a_callback() noexcept { return present != nullptr && present->left_a_callback_; }

void visit_log(const std::shared_ptr<base::Log>& log) noexcept {
  if (present == nullptr || present->log_ != nullptr) return;
  present->log_ = log;
  base::set_give_back_log(log.get());
}

void charge_call(const std::shared_ptr<base::MemoryBudget>& budget) noexcept {
  if (present != nullptr && !present->charged_) present->charged_.emplace(budget);
}

void use_devices() {
  if (present == nullptr) return;
  if (!present->devices_) present->devices_.emplace();
  present->devices_->require();
}

void run_on_host(base::HostQueue* queue, std::function<void()> work) noexcept {
  try {
    if (call_depth == 0 && queue == nullptr) return base::give_back(work);
    if (call_depth == 0) return queue->defer(std::move(work));
    collect(std::move(work));
  } catch (const std::bad_alloc&) {
    if (work) base::give_back(work);  // there is no memory to keep it for later
  }
}

std::shared_ptr<base::HostQueue> make_host_queue() {
  return std::shared_ptr<base::HostQueue>(new base::HostQueue, drop_queue);
}

const LastError& last_error() noexcept { return failure.error; }

gnnmg_status set_last_error(base::Status status, const char* text, int rank,
                            int system_error) noexcept {
  LastError& error = failure.error;
  error.status = static_cast<gnnmg_status>(status);
  error.rank = rank;
  error.system_error = system_error;
  error.when = std::chrono::steady_clock::now();
  keep_text(text);
  return error.status;
}

gnnmg_status status_of_current_exception() noexcept {
  using base::Status;
  try {
    try {
      throw;
    } catch (const base::Error& error) {
      return set_last_error(error.status(), error.what(), error.rank(), error.system_error());
    } catch (const std::bad_alloc&) {
      return set_last_error(Status::kNoMemory, "no memory", -1, 0);
    } catch (const std::length_error&) {  // more elements than any memory holds
      return set_last_error(Status::kNoMemory, "no memory", -1, 0);
    } catch (const c10::Error& error) {
      const nn::TorchFailure failure = nn::failure_of(error);
      return set_last_error(failure.status, failure.text.c_str(), -1, 0);
    } catch (const std::system_error& error) {
      const base::Error refused = base::refused_resource(error);
      return set_last_error(refused.status(), refused.what(), -1, refused.system_error());
    } catch (const std::exception& error) {
      const std::string text(first_line(error.what()));
      return set_last_error(Status::kInternal, text.c_str(), -1, 0);
    } catch (...) {
      return set_last_error(Status::kInternal, "an exception of unknown type", -1, 0);
    }
  } catch (...) {
    return set_last_error(Status::kNoMemory, "no memory", -1, 0);
  }
}

}  // namespace gnnmg::capi
