// File descriptors that ranks need while and after they connect. Gloo accepts connections on a
// thread of its own, and ends the program if it gets no descriptor for one, so the number of free
// descriptors is checked first.
#pragma once

#include <cstdint>
#include <string>

namespace gnnmg::comm::gloo {

// Need of `ranks` ranks of one process: each has a connection to every other rank, four for its
// device, and two for a moment.
constexpr int64_t descriptors_needed(int64_t ranks, int64_t world) {
  return world < 2 ? 0 : ranks * (world - 1 + 4 + 2);
}

struct Descriptors {
  int64_t limit = 0;  // current limit of this process; -1: none
  int64_t free = 0;   // excludes claims of groups that are connecting
};
Descriptors count_descriptors();

// Error(kUnavailable, EMFILE) with numbers and remedies if there are too few for `ranks` ranks.
// `who` begins the text: "32 ranks of one process".
void check_descriptors(const std::string& who, int64_t ranks, int64_t world,
                       const Descriptors& found);

// Reserves a group's descriptors until its ranks are connected.
class DescriptorClaim {
 public:
  explicit DescriptorClaim(int64_t count);
  ~DescriptorClaim();
  DescriptorClaim(const DescriptorClaim&) = delete;
  DescriptorClaim& operator=(const DescriptorClaim&) = delete;

 private:
  const int64_t count_;
};

}  // namespace gnnmg::comm::gloo
