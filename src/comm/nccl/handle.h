// The life of one ncclComm: created, used, and destroyed or aborted once. It keeps NCCL's rules:
// one thread at a time, no call while one is in progress, no destroy after an error.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <string>

#include "comm/nccl/table.h"

namespace gnnmg::comm::nccl {

// A failed call of NCCL.
class Failure : public std::exception {
 public:
  Failure(Result result, std::string text) : result_(result), text_(std::move(text)) {}
  Result result() const { return result_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  Result result_;
  std::string text_;
};

// "unhandled system error (NCCL's last message)", in one line.
std::string words(const Table& nccl, Result result, Communicator* communicator);
// Throws Failure unless the result is kSuccess or kInProgress.
void check(const Table& nccl, Result result, Communicator* communicator);

// One thread, except get() and try_take().
class Handle {
 public:
  explicit Handle(const Table& nccl) : nccl_(&nccl) {}
  ~Handle() { abort(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  const Table& nccl() const { return *nccl_; }
  // Null before init() and after the end.
  Communicator* get() const { return communicator_; }
  // Takes the communicator away, for another thread that aborts it while the owner makes no call;
  // the owner finds null afterwards. Returns null if there is none, or if the owner is in a call.
  Communicator* try_take() noexcept;
  // Starts the connection; ready() is true once it is done.
  void init(int world, const Id& id, int rank, int device);
  // Makes one call of NCCL on the communicator, or a group of calls. Failure(kRemoteError) if
  // another thread has taken the communicator.
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
      nccl_->group_end();  // starts none of the calls
      throw;
    }
    check(*nccl_, nccl_->group_end(), communicator);
  }
  // True once NCCL has started all calls. Throws Failure if one has failed.
  bool ready() const;
  // True if nothing is in progress and nothing has failed.
  bool usable() const noexcept;
  void finalize() const;
  void destroy() noexcept;  // only after finalize() has completed
  void abort() noexcept;

 private:
  Communicator* made() const;
  const Table* nccl_;
  mutable std::recursive_mutex calls_;  // held during calls of the owner
  std::atomic<Communicator*> communicator_{nullptr};
};

}  // namespace gnnmg::comm::nccl
