// Runs a body on every rank of a group of threads.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "comm/collectives.h"

namespace gnnmg::test {

inline comm::Wait within_ms(int64_t ms) {
  comm::Wait wait;
  wait.deadline = base::Deadline::after_ms(ms);
  return wait;
}

// A wait of `ms` that does not run out before `known` is true, so that the actions of other ranks
// before it may take any time.
inline comm::Wait within_ms_once(int64_t ms, std::function<bool()> known) {
  comm::Wait wait = within_ms(ms);
  wait.excused = [known = std::move(known)] { return !known(); };
  wait.stall = base::Deadline::after_ms(60'000);
  return wait;
}

// The wait of one of `all` ranks that share `came`: `ms`, but not before all of them wait.
inline comm::Wait within_ms_together(int64_t ms, std::atomic<int>& came, int all) {
  return within_ms_once(ms, [&came, all, here = std::make_shared<std::atomic<bool>>(false)] {
    if (!here->exchange(true)) ++came;
    return came >= all;
  });
}

// The exception of a rank; kOk without one.
struct Outcome {
  base::Status status = base::Status::kOk;
  std::string text;
  double seconds = 0;
};

inline Outcome attempt(const std::function<void()>& body) {
  Outcome outcome;
  const auto start = std::chrono::steady_clock::now();
  try {
    body();
  } catch (const base::Error& error) {
    outcome.status = error.status();
    outcome.text = error.what();
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

inline std::vector<Outcome> run_ranks(const std::shared_ptr<comm::ThreadGroup>& group,
                                      const std::function<void(comm::Collectives&)>& body) {
  std::vector<Outcome> outcomes(group->world_size());
  std::vector<std::thread> threads;
  for (int r = 0; r < group->world_size(); ++r)
    threads.emplace_back(
        [&, r] { outcomes[r] = attempt([&] { body(*group->connect(r, within_ms(60'000))); }); });
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

}  // namespace gnnmg::test
