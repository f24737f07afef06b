#include "capi/object.h"

#include <utility>

#include "device/exit.h"

namespace gnnmg::capi {

const char* kind_name(Kind kind) noexcept {
  switch (kind) {
    case Kind::kContext:
      return "context";
    case Kind::kGraph:
      return "graph";
    case Kind::kDataset:
      return "dataset";
    case Kind::kSampler:
      return "sampler";
    case Kind::kSink:
      return "sink";
    case Kind::kLoader:
      return "loader";
    case Kind::kBatch:
      return "batch";
    case Kind::kModel:
      return "model";
    case Kind::kOptimizer:
      return "optimizer";
    case Kind::kComm:
      return "comm";
    case Kind::kTrainer:
      return "trainer";
    case Kind::kServer:
      return "server";
    case Kind::kPredictor:
      return "predictor";
    case Kind::kTensor:
      return "tensor";
  }
  return "object";
}

namespace {
thread_local const char* call_name = nullptr;
}  // namespace

const char* current_call() noexcept { return call_name; }
CallName::CallName(const char* name) noexcept : outer_(std::exchange(call_name, name)) {}
CallName::~CallName() { call_name = outer_; }

void drop_object(const Object* object) noexcept {
  const device::Use use;
  if (use || !object->on_device()) delete object;
}

const char* Object::keep_text(std::string_view text) const {
  std::lock_guard lock(texts_mutex_);
  auto found = texts_.find(text);
  if (found == texts_.end()) found = texts_.emplace(text).first;
  return found->c_str();
}

}  // namespace gnnmg::capi
