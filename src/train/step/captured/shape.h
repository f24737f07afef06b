// The few shapes of captured passes: about as many nodes and edges as mini-batches of the training
// have, and for larger mini-batches the bounds of the fan-outs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gnnmg::train {

// Counts of a mini-batch, as sample::DeviceSample counts: nodes up to each hop, the seeds first,
// and edges of each layer, the one next to the input first.
struct PassCounts {
  std::span<const int32_t> hop_ends, num_edges;  // [hops + 1], [hops]
};

// The room of a pass. Rows after a mini-batch's own are empty.
struct PassShape {
  std::vector<int32_t> hop_ends, num_edges;

  int64_t rows() const { return hop_ends.back(); }  // number of input rows
  bool holds(const PassCounts& counts) const;
  // Grows to hold the counts.
  void include(const PassCounts& counts);
  bool operator==(const PassShape&) const = default;
};

inline constexpr size_t kMostShapes = 3;

// Shapes in ascending order: each holds all mini-batches that the one before it holds. `most`: the
// largest counts of the first mini-batches. `bound`: the bounds of all, which is the last shape.
// All shapes have room for as many seeds. Shapes that would save next to nothing are left out.
std::vector<PassShape> choose_shapes(const PassShape& most, const PassShape& bound);

// The index of the first shape that holds the counts; the last one if none does.
size_t smallest_for(std::span<const PassShape> shapes, const PassCounts& counts);

// "512 nodes and 900 edges, 640 and 1125, or 1056 and 1800": input rows, and edges next to the
// input.
std::string list_sizes(std::span<const PassShape> shapes);

}  // namespace gnnmg::train
