// The descriptors that ranks need while and after they connect. Gloo takes connections on a thread
// of its own, and ends the program when it gets no descriptor for one: so it is asked beforehand
// whether there are enough.
#pragma once

#include <cstdint>
#include <string>

namespace gnnmg::comm::gloo {

// Of `ranks` ranks of one process in a world: each has a connection to every other rank, four that
// its device works with, and two for a moment.
constexpr int64_t descriptors_needed(int64_t ranks, int64_t world) {
  return world < 2 ? 0 : ranks * (world - 1 + 4 + 2);
}

struct Descriptors {
  int64_t limit = 0;  // of this process, as it is now; -1: none
  int64_t free = 0;   // less those that groups that are connecting have claimed
};
Descriptors count_descriptors();

// Error(kUnavailable, EMFILE) with numbers and remedies, unless there are enough for so many ranks.
// `who` begins the text: "32 ranks of one process".
void check_descriptors(const std::string& who, int64_t ranks, int64_t world,
                       const Descriptors& found);

// What a group needs until its ranks are connected, kept from other groups meanwhile.
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
