#include "train/step/captured/shape.h"

#include <algorithm>

#include "base/error.h"

namespace gnnmg::train {
namespace {

constexpr int64_t kStep = 128;       // counts of a shape are multiples, for the matrix products
constexpr int64_t kSpare = 105;      // percent of the largest counts of the first mini-batches
constexpr int64_t kNext = 125;       // percent of a shape: the next larger one
constexpr int64_t kWorthwhile = 90;  // a shape below this percentage of the next one is kept

int32_t grown(int64_t count, int64_t percent, int32_t bound) {
  const int64_t wide = (std::max<int64_t>(count, 1) * percent + 99) / 100;
  return static_cast<int32_t>(std::min<int64_t>((wide + kStep - 1) / kStep * kStep, bound));
}

PassShape grown(const PassShape& from, int64_t percent, const PassShape& bound) {
  PassShape shape = bound;
  for (size_t h = 1; h < shape.hop_ends.size(); ++h)
    shape.hop_ends[h] =
        std::max(grown(from.hop_ends[h], percent, bound.hop_ends[h]), shape.hop_ends[h - 1]);
  for (size_t i = 0; i < shape.num_edges.size(); ++i)
    shape.num_edges[i] = grown(from.num_edges[i], percent, bound.num_edges[i]);
  return shape;
}

// Compares the layer next to the input, which has most of the work.
bool worthwhile(const PassShape& shape, const PassShape& next) {
  const auto less = [](int64_t count, int64_t than) { return count * 100 < than * kWorthwhile; };
  return less(shape.rows(), next.rows()) || less(shape.num_edges.front(), next.num_edges.front());
}

bool within(std::span<const int32_t> counts, std::span<const int32_t> bounds) {
  return std::ranges::equal(counts, bounds, std::ranges::less_equal());
}

void raise(std::vector<int32_t>& to, std::span<const int32_t> counts) {
  for (size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], counts[i]);
}

}  // namespace

bool PassShape::holds(const PassCounts& counts) const {
  return within(counts.hop_ends, hop_ends) && within(counts.num_edges, num_edges);
}

void PassShape::include(const PassCounts& counts) {
  hop_ends.resize(counts.hop_ends.size());
  num_edges.resize(counts.num_edges.size());
  raise(hop_ends, counts.hop_ends);
  raise(num_edges, counts.num_edges);
}

std::vector<PassShape> choose_shapes(const PassShape& most, const PassShape& bound) {
  std::vector<PassShape> shapes{bound};
  PassShape usual = grown(most, kSpare, bound);
  PassShape larger = grown(usual, kNext, bound);
  for (PassShape* shape : {&larger, &usual})
    if (worthwhile(*shape, shapes.front())) shapes.insert(shapes.begin(), std::move(*shape));
  return shapes;
}

size_t smallest_for(std::span<const PassShape> shapes, const PassCounts& counts) {
  for (size_t i = 0; i + 1 < shapes.size(); ++i)
    if (shapes[i].holds(counts)) return i;
  return shapes.size() - 1;
}

std::string list_sizes(std::span<const PassShape> shapes) {
  std::string text;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (i > 0) text += i + 1 < shapes.size() ? ", " : ", or ";
    text += base::text(shapes[i].rows(), i == 0 ? " nodes and " : " and ",
                       shapes[i].num_edges.front(), i == 0 ? " edges" : "");
  }
  return text;
}

}  // namespace gnnmg::train
