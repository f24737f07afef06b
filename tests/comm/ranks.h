// Runs a body on every rank of a new group of threads.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "comm/collectives.h"

namespace gnnmg::test {

inline comm::Wait within_ms(int64_t ms) {
  comm::Wait wait;
  wait.deadline = base::Deadline::after_ms(ms);
  return wait;
}

// What each rank threw; kOk where it threw nothing.
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

inline std::vector<Outcome> run_ranks(int world_size,
                                      const std::function<void(comm::Collectives&)>& body) {
  const auto group = comm::ThreadGroup::create(world_size);
  std::vector<Outcome> outcomes(world_size);
  std::vector<std::thread> threads;
  for (int r = 0; r < world_size; ++r)
    threads.emplace_back(
        [&, r] { outcomes[r] = attempt([&] { body(*group->connect(r, within_ms(60'000))); }); });
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

}  // namespace gnnmg::test
