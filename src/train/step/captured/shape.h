// The few shapes that passes of captured steps have: about as many nodes and edges as mini-batches
// of the training turn out to have, and for those that have more the bounds of the fan-outs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gnnmg::train {

// Of a mini-batch, as sample::DeviceSample counts: nodes up to each hop, the seeds first, and edges
// of each layer, that next to the input first.
struct PassCounts {
  std::span<const int32_t> hop_ends, num_edges;  // [hops + 1], [hops]
};

// What a pass has room for; rows behind a mini-batch's own are empty.
struct PassShape {
  std::vector<int32_t> hop_ends, num_edges;

  int64_t rows() const { return hop_ends.back(); }  // of the input
  bool holds(const PassCounts& counts) const;
  // Becomes as large as the counts.
  void include(const PassCounts& counts);
  bool operator==(const PassShape&) const = default;
};

inline constexpr size_t kMostShapes = 3;

// For mini-batches of which the first ones have at most `most`, and all of them at most `bound`:
// each shape holds what the one before it does, the last is `bound`, and all have room for as many
// seeds. Shapes that would save next to nothing are left out.
std::vector<PassShape> choose_shapes(const PassShape& most, const PassShape& bound);

// The number of the first that holds the counts, which are at most the last's: that one for any
// others.
size_t smallest_for(std::span<const PassShape> shapes, const PassCounts& counts);

// "512 nodes and 900 edges, 640 and 1125, or 1056 and 1800": rows, and edges next to the input.
std::string list_sizes(std::span<const PassShape> shapes);

}  // namespace gnnmg::train
