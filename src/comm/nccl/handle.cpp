#include "comm/nccl/handle.h"

#include <utility>

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

void Handle::init(int world, const Id& id, int rank, int device) {
  call(nccl_->init_rank(&communicator_, world, &id, rank, device));
}

bool Handle::ready() const {
  Result state = Result::kSuccess;
  call(nccl_->async_error(communicator_, &state));
  call(state);
  return state == Result::kSuccess;
}

bool Handle::usable() const noexcept {
  Result state = Result::kInternalError;
  return communicator_ && nccl_->async_error(communicator_, &state) == Result::kSuccess &&
         state == Result::kSuccess;
}

void Handle::destroy() noexcept { nccl_->destroy(std::exchange(communicator_, nullptr)); }

void Handle::abort() noexcept {
  if (communicator_) nccl_->abort(std::exchange(communicator_, nullptr));
}

}  // namespace gnnmg::comm::nccl
