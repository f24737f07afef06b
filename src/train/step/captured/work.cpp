#include "train/step/captured/work.h"

#include <c10/util/Exception.h>

#include <utility>

#include "base/error.h"
#include "nn/torch/failure.h"

namespace gnnmg::train {

CapturedWork::~CapturedWork() {
  if (graph_) table_->free_graph(graph_);
}

std::string CapturedWork::capture() {
  try {
    graph_ = table_->capture(
        queue_, [](void* context) { static_cast<CapturedWork*>(context)->put_(); }, this);
  } catch (const base::Error& error) {
    using base::Status;
    if (error.status() == Status::kDeviceLost || error.status() == Status::kNoMemory) throw;
    return error.what();
  } catch (const c10::Error& error) {
    nn::TorchFailure failure = nn::failure_of(error);
    if (failure.status == base::Status::kNoMemory) throw;
    return std::move(failure.text);
  }
  return {};
}

void CapturedWork::run() const {
  if (graph_)
    table_->replay(queue_, graph_);
  else
    put_();
}

}  // namespace gnnmg::train
