// Work that may take longer than ranks wait for each other, such as that of a slow disk: one rank
// has a thread do it, and meets the others meanwhile.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "base/cancel.h"
#include "comm/collectives.h"

namespace gnnmg::train {

// Runs a function on a thread of its own, within the memory budget of the thread that made it.
class Background {
 public:
  explicit Background(std::function<void()> body);
  ~Background();  // waits for its end, and forgets its failure
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // True if it has ended; waits up to `most`.
  bool over(std::chrono::milliseconds most = {}) const;
  // After its end: rethrows the exception of the function.
  void finish();

 private:
  std::future<void> end_;
  std::thread thread_;
};

// Collective: returns when no rank is `busy` any more, and meets the others once in a `slice` until
// then. Empty: this rank has nothing to do.
void meet_while(comm::Collectives& comm, const std::function<comm::Wait()>& wait,
                const base::CancelToken& cancel, std::chrono::milliseconds slice,
                const std::function<bool()>& busy);

}  // namespace gnnmg::train
