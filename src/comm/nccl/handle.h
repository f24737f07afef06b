// The life of one ncclComm: made, used, and destroyed or aborted, once. Apart from the engine,
// because NCCL's rules are kept here: one thread, no call while one is in progress, never destroyed
// after an error.
#pragma once

#include <chrono>
#include <exception>
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

class Handle {
 public:
  explicit Handle(const Table& nccl) : nccl_(&nccl) {}
  ~Handle() { abort(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  const Table& nccl() const { return *nccl_; }
  Communicator* get() const { return communicator_; }
  // Starts making it; ready() tells when it is made.
  void init(int world, const Id& id, int rank, int device);
  // One call, or a group of calls, of NCCL's.
  void call(Result result) const { check(*nccl_, result, communicator_); }
  template <typename Calls>
  void group(const Calls& calls) const {
    call(nccl_->group_start());
    try {
      calls();
    } catch (...) {
      nccl_->group_end();  // starts nothing
      throw;
    }
    call(nccl_->group_end());
  }
  // Whether what was called is under way. Throws Failure when it has failed.
  bool ready() const;
  // Nothing is in progress and nothing has failed.
  bool usable() const noexcept;
  void finalize() const { call(nccl_->finalize(communicator_)); }
  void destroy() noexcept;  // after finalize() is through
  void abort() noexcept;

 private:
  const Table* nccl_;
  Communicator* communicator_ = nullptr;
};

}  // namespace gnnmg::comm::nccl
