// Choices of the tests that write a format in many random legal ways. They follow from the number
// of the way, so that a failure is made again by its number.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace gnnmg::data {

class Dice {
 public:
  explicit Dice(int way) : engine_(static_cast<uint32_t>(way) * 7919 + 17) {}
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(engine_() % static_cast<uint64_t>(bound));
  }
  int64_t from(int64_t least, int64_t most) { return least + below(most - least + 1); }
  bool coin() { return below(2) == 1; }
  template <typename T>
  T of(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(below(static_cast<int64_t>(choices.size())))];
  }

 private:
  std::mt19937 engine_;
};

}  // namespace gnnmg::data
