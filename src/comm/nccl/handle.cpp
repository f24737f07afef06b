#include "comm/nccl/handle.h"

#include "base/error.h"

namespace gnnmg::comm::nccl {

std::string words(const Table& nccl, Result result, Communicator* communicator) {
  std::string text = nccl.error_text(result);
  std::string last = nccl.last_error(communicator);
  last = last.substr(0, last.find('\n'));
  if (!last.empty()) text += base::text(" (", last, ")");
  return text;
}

void check(const Table& nccl, Result result, Communicator* communicator) {
  if (result == Result::kSuccess || result == Result::kInProgress) return;
  throw Failure(result, words(nccl, result, communicator));
}

Communicator* Handle::made() const {
  Communicator* const communicator = communicator_;
  if (!communicator) throw Failure(Result::kRemoteError, "the communicator was aborted");
  return communicator;
}

Communicator* Handle::try_take() noexcept {
  const std::unique_lock lock(calls_, std::try_to_lock);
  return lock ? communicator_.exchange(nullptr) : nullptr;
}

void Handle::init(int world, const Id& id, int rank, int device) {
  const std::lock_guard lock(calls_);
  Communicator* made = nullptr;
  const Result result = nccl_->init_rank(&made, world, &id, rank, device);
  communicator_ = made;
  check(*nccl_, result, made);
}

bool Handle::ready() const {
  const std::lock_guard lock(calls_);
  Communicator* const communicator = made();
  Result state = Result::kSuccess;
  check(*nccl_, nccl_->async_error(communicator, &state), communicator);
  check(*nccl_, state, communicator);
  return state == Result::kSuccess;
}

bool Handle::usable() const noexcept {
  const std::lock_guard lock(calls_);
  Communicator* const communicator = communicator_;
  Result state = Result::kInternalError;
  return communicator && nccl_->async_error(communicator, &state) == Result::kSuccess &&
         state == Result::kSuccess;
}

void Handle::finalize() const {
  call([this](Communicator* communicator) { return nccl_->finalize(communicator); });
}

void Handle::destroy() noexcept {
  if (Communicator* const communicator = communicator_.exchange(nullptr))
    nccl_->destroy(communicator);
}

void Handle::abort() noexcept {
  if (Communicator* const communicator = communicator_.exchange(nullptr))
    nccl_->abort(communicator);
}

}  // namespace gnnmg::comm::nccl
