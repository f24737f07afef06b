#include "train/background.h"

#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "base/signals.h"

namespace gnnmg::train {

Background::Background(std::function<void()> body) {
  std::packaged_task<void()> task([body = std::move(body), budget = base::current_budget()] {
    const base::BudgetScope charged(budget);
    body();
  });
  end_ = task.get_future();
  try {
    thread_ = base::start_thread(std::move(task));
  } catch (const std::system_error& error) {
    base::fail(base::Status::kNoMemory, "cannot start a thread for a file: ", error.what());
  }
}

Background::~Background() { thread_.join(); }

bool Background::over(std::chrono::milliseconds most) const {
  return end_.wait_for(most) == std::future_status::ready;
}

void Background::finish() { end_.get(); }

void meet_while(comm::Collectives& comm, const std::function<comm::Wait()>& wait,
                const base::CancelToken& cancel, std::chrono::milliseconds slice,
                const std::function<bool()>& busy) {
  double any = 0;
  do {
    any = 0;
    if (busy) {
      const auto until = std::chrono::steady_clock::now() + slice;
      while (busy() && std::chrono::steady_clock::now() < until) {
        cancel.check("writing");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      any = busy() ? 1 : 0;
    }
    comm.all_reduce({&any, base::DType::kF64, {1}}, comm::ReduceOp::kMax, wait());
  } while (any > 0);
}

}  // namespace gnnmg::train
