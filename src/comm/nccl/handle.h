// The life of one ncclComm: made, used, and destroyed or aborted, once. Apart from the engine,
// because NCCL's rules are kept here: one thread at a time, no call while one is in progress, never
// destroyed after an error.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <string>

#include "comm/nccl/table.h"

namespace gnnmg::comm::nccl {

// What a call of NCCL's answered.
class Failure : public std::exception {
 public:
  Failure(Result result, std::string text) : result_(result), text_(std::move(text)) {}
  Result result() const { return result_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  Result result_;
  std::string text_;
};

// "unhandled system error (what NCCL said last)", in one line.
std::string words(const Table& nccl, Result result, Communicator* communicator);
// Throws Failure unless the answer is kSuccess or kInProgress.
void check(const Table& nccl, Result result, Communicator* communicator);

// Of one thread, but for get() and try_take().
class Handle {
 public:
  explicit Handle(const Table& nccl) : nccl_(&nccl) {}
  ~Handle() { abort(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  const Table& nccl() const { return *nccl_; }
  // Null: there is none yet, or it has come to its end.
  Communicator* get() const { return communicator_; }
  // For who aborts it, outside of the thread's calls, who finds that it is gone then. Null when
  // there is none, or the thread is in one.
  Communicator* try_take() noexcept;
  // Starts making it; ready() tells when it is made.
  void init(int world, const Id& id, int rank, int device);
  // One call, or a group of calls, of NCCL's on the communicator. Failure(kRemoteError) where it
  // was taken.
  template <typename Call>
  void call(const Call& call) const {
    const std::lock_guard lock(calls_);
    Communicator* const communicator = made();
    check(*nccl_, call(communicator), communicator);
  }
  template <typename Calls>
  void group(const Calls& calls) const {
    const std::lock_guard lock(calls_);
    Communicator* const communicator = made();
    check(*nccl_, nccl_->group_start(), communicator);
    try {
      calls();
    } catch (...) {
      nccl_->group_end();  // starts nothing
      throw;
    }
    check(*nccl_, nccl_->group_end(), communicator);
  }
  // Whether what was called is under way. Throws Failure when it has failed.
  bool ready() const;
  // Nothing is in progress and nothing has failed.
  bool usable() const noexcept;
  void finalize() const;
  void destroy() noexcept;  // after finalize() is through
  void abort() noexcept;

 private:
  Communicator* made() const;
  const Table* nccl_;
  mutable std::recursive_mutex calls_;  // while the thread is in one
  std::atomic<Communicator*> communicator_{nullptr};
};

}  // namespace gnnmg::comm::nccl
