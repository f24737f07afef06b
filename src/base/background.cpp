#include "base/background.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>

#include "base/memory.h"

namespace gnnmg::base {
namespace {
std::atomic<int> threads_left{0};
}  // namespace

struct Background::State {
  std::mutex mutex;  // guards all below
  std::condition_variable ended;
  bool over = false, left = false;
  std::exception_ptr error;
};

Background::Background(std::function<void()> work) : state_(std::make_shared<State>()) {
  auto body = [state = state_, work = std::move(work), budget = current_budget()]() mutable {
    std::exception_ptr error;
    {
      const BudgetScope charged(budget);
      try {
        work();
      } catch (...) {
        error = std::current_exception();
      }
      work = nullptr;
    }
    const std::lock_guard lock(state->mutex);
    state->over = true;
    state->error = error;
    if (state->left) --threads_left;
    state->ended.notify_all();
  };
  try {
    thread_ = start_thread(std::move(body));
  } catch (const std::system_error& error) {
    throw refused_resource(error);
  }
}

Background::~Background() {
  if (thread_.joinable()) thread_.join();
}

bool Background::over(std::chrono::milliseconds most) const {
  std::unique_lock lock(state_->mutex);
  return state_->ended.wait_for(lock, most, [this] { return state_->over; });
}

bool Background::over_unless(const std::function<bool()>& stop) const {
  while (!over(std::chrono::milliseconds(5)))
    if (stop()) return over();
  return true;
}

void Background::finish() {
  thread_.join();
  if (state_->error) std::rethrow_exception(state_->error);
}

void Background::leave() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->over) ++threads_left;
    state_->left = true;
  }
  thread_.detach();
}

void leave_in_background(std::function<void()> work) { Background(std::move(work)).leave(); }

int num_left() noexcept { return threads_left; }

}  // namespace gnnmg::base
