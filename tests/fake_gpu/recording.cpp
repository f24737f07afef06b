#include "recording.h"

#include <cstring>

#include "base/error.h"

namespace gnnmg::fake_gpu {

Recording::~Recording() {
  steps_.clear();  // frees the memory of its tensors
  for (void* memory : kept_) arena_.release(memory);
}

void Recording::capture(const std::function<void()>& work) {
  if (arena_.recording())
    base::fail(base::Status::kInternal, "fake GPU: a device is captured already");
  const Working working(arena_);
  std::vector<std::pair<void*, std::vector<uint8_t>>> before;
  for (const auto& [memory, bytes] : arena_.blocks()) {
    const auto* begin = static_cast<const uint8_t*>(memory);
    before.emplace_back(memory, std::vector<uint8_t>(begin, begin + bytes));
  }
  const auto end = [&] {
    arena_.set_recording(nullptr);
    for (const auto& [memory, bytes] : before) std::memcpy(memory, bytes.data(), bytes.size());
  };
  arena_.set_recording(this);
  try {
    work();
  } catch (...) {
    end();
    throw;
  }
  end();
}

}  // namespace gnnmg::fake_gpu
