// The memory of answers that were read, for later answers, because fresh pages cost more than the
// copy of an answer.
#pragma once

#include <utility>
#include <vector>

#include "dist/message.h"

namespace gnnmg::dist {

// One thread at a time.
class SpareMessages {
 public:
  // One without memory if there is none.
  Message take() {
    if (all_.empty()) return {};
    Message message = std::move(all_.back());
    all_.pop_back();
    return message;
  }
  // Keeps the memory, unless it is large: large buffers have huge pages.
  void give(Message&& message) {
    constexpr int64_t kMostBytes = 4 << 20;
    constexpr size_t kMostMessages = 64;
    if (message.capacity() > 0 && message.capacity() < kMostBytes && all_.size() < kMostMessages)
      all_.push_back(std::move(message));
  }

 private:
  std::vector<Message> all_;
};

}  // namespace gnnmg::dist
