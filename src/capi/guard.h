// The guard around every exported function: an exception becomes a status and a text, a forked
// child is refused, and the host's deleters and releases run when nothing of ours is in the way.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/host_queue.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread_end.h"
#include "capi/object.h"
#include "device/exit.h"
#include "gnnmg.h"

namespace gnnmg::capi {

// True in a child of a process that had used the library. One load.
bool forked() noexcept;
// Children forked from here on are told from this process. Idempotent.
void watch_for_fork() noexcept;

// Marks the calling thread, which is the host's, as being inside a call of the library.
class CallScope {
 public:
  CallScope() noexcept;
  // If the end of the thread keeps end() from running, a later call runs the remaining work.
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // Called before and after the work of a call. They run the work that other calls and this one
  // have collected for the host (run_on_host()). The end of the thread inside of that passes.
  void begin();
  void end();

 private:
  friend void charge_call(const std::shared_ptr<base::MemoryBudget>& budget) noexcept;
  friend void visit_queue(const std::shared_ptr<base::HostQueue>& queue) noexcept;
  friend void visit_log(const std::shared_ptr<base::Log>& log) noexcept;
  friend bool left_a_callback() noexcept;
  friend void use_devices();
  CallScope* const outer_;  // the call around a callback that makes this one
  const bool left_a_callback_;
  std::shared_ptr<base::HostQueue> visited_;  // queue of the context of this call
  std::shared_ptr<base::Log> log_;
  base::Log* const outer_log_;
  base::BudgetScope own_{nullptr};  // no budget counts until the call's context is known
  std::optional<base::BudgetScope> charged_;
  std::optional<device::Use> devices_;
};

// Runs `work` on this thread of the host's as a call of the library: it is marked as such, it is
// not cancelled (pthread_cancel()) before the call is over, and work collected for the host runs
// around it. Throws the exception of the work, once that has run.
void in_call(void (*work)(void* closure), void* closure);
template <typename Work>
void in_call(Work&& work) {
  using Closure = std::remove_reference_t<Work>;
  in_call([](void* closure) { (*static_cast<Closure*>(closure))(); }, &work);
}

// Runs `work`, in which the host takes something back (base::give_back()), on a thread of the
// host's inside a call: at the end of the present call, or, on a thread of ours, by `queue` in a
// later one. Without a queue the thread is taken to be the host's.
void run_on_host(base::HostQueue* queue, std::function<void()> work) noexcept;

// Makes the queue of a context the present call's: its waiting work is run at the end of the call.
void visit_queue(const std::shared_ptr<base::HostQueue>& queue) noexcept;
// Makes that context's log the present call's, for exceptions of the host's deleters and releases.
void visit_log(const std::shared_ptr<base::Log>& log) noexcept;

// The thread of the present call has left a callback by longjmp() (base/callback.h).
bool left_a_callback() noexcept;

// The present call uses GPUs from here on, to its end: Error(kCancelled) once the program ends.
void use_devices();

// Charges allocations of the present call from here on to this context's budget, unless they are
// charged to one already.
void charge_call(const std::shared_ptr<base::MemoryBudget>& budget) noexcept;

// A queue whose remaining work is run by a host thread, whichever thread drops the last reference.
std::shared_ptr<base::HostQueue> make_host_queue();

struct LastError {
  gnnmg_status status = GNNMG_OK;
  int32_t rank = -1;
  int32_t system_error = 0;
  std::chrono::steady_clock::time_point when;
  std::string_view text = "";  // one line of UTF-8, terminated by NUL
};
// The last error of the calling thread. At the end of the program, which destroys the variables of
// threads first, a long text is cut to its beginning.
const LastError& last_error() noexcept;
// Keeps the failure as the thread's last error and returns its status.
gnnmg_status set_last_error(base::Status status, const char* text, int rank,
                            int system_error) noexcept;
// The same for the exception that is being handled.
gnnmg_status status_of_current_exception() noexcept;

// The outputs of a call, already cleared, and the first thing that is wrong with one of them.
struct OutCheck {
  const char* missing = nullptr;     // an output that is NULL
  const char* unaligned = nullptr;   // an argument with a wrong alignment
  const char* wrong_size = nullptr;  // a struct with an impossible struct_size
  uint32_t size = 0, expected_size = 0;
  void require() const;
};

// Runs the body of an exported function, which is the caller. It returns a gnnmg_status, or nothing
// for GNNMG_OK. An exception becomes a status; the end of the thread inside of a function of the
// host's passes.
template <typename Body>
gnnmg_status guard(const OutCheck& outs, Body&& body, const char* call = __builtin_FUNCTION()) {
  if (forked())
    return set_last_error(base::Status::kForked,
                          "this process was forked from one that had used the library; start a "
                          "new process instead",
                          -1, 0);
  try {
    gnnmg_status status = GNNMG_OK;
    in_call([&] {
      const CallName named(call);
      outs.require();
      if constexpr (std::is_void_v<decltype(body())>)
        body();
      else
        status = body();
    });
    return status;
  } catch (const base::ThreadEnd&) {
    throw;
  } catch (...) {
    return status_of_current_exception();
  }
}

template <typename Body>
gnnmg_status guard(Body&& body, const char* call = __builtin_FUNCTION()) {
  return guard(OutCheck{}, std::forward<Body>(body), call);
}

}  // namespace gnnmg::capi
