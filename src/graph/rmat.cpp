// R-MAT: each edge descends through the adjacency matrix, one quadrant per bit of its two ids.
#include <cmath>
#include <utility>

#include "graph/generate.h"
#include "graph/planted.h"

namespace gnnmg::graph {
namespace {

// Converts a probability to the bound that 32 random bits must be below.
uint64_t bound_of(double probability) {
  return static_cast<uint64_t>(std::llround(probability * 0x1p32));
}

}  // namespace

GraphRef rmat(const RmatConfig& config, base::ThreadPool& pool) {
  check_field("scale", int64_t{config.scale}, 0, 30);
  check_field("num_edges", config.num_edges, 0, int64_t{1} << 40);
  check_field("a", config.a, 0, 1);
  check_field("b", config.b, 0, 1);
  check_field("c", config.c, 0, 1);
  // Tolerates rounding in the sum.
  check_field("a + b + c", config.a + config.b + config.c, 0, 1 + 1e-9);
  const base::Key key = generator_key(config.seed, Generator::kRmat, Part::kEdges);
  const uint64_t below_a = bound_of(config.a), below_b = bound_of(config.a + config.b),
                 below_c = bound_of(config.a + config.b + config.c);
  const int64_t num_nodes = int64_t{1} << config.scale;
  auto sources = base::Tensor::empty(base::DType::kI32, {config.num_edges});
  auto targets = base::Tensor::empty(base::DType::kI32, {config.num_edges});
  int32_t* source = sources.as<int32_t>().data();
  int32_t* target = targets.as<int32_t>().data();
  pool.parallel_for(config.num_edges, kEdgeGrain, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) {
      base::Stream stream(key, e);
      int32_t row = 0, column = 0;
      for (int32_t level = 0; level < config.scale; ++level) {
        const uint32_t bits = stream.next();
        const bool right = bits >= below_a && (bits < below_b || bits >= below_c);
        row = row << 1 | (bits >= below_b ? 1 : 0);
        column = column << 1 | (right ? 1 : 0);
      }
      source[e] = row;
      target[e] = column;
    }
  });
  GraphParts parts;
  parts.num_nodes = {num_nodes};
  // Edges have no other order that ids could refer to.
  parts.topology = {csc_from_lists(std::move(sources), std::move(targets), num_nodes, num_nodes,
                                   {.edge_ids = false}, pool)};
  return Graph::create(std::move(parts));
}

}  // namespace gnnmg::graph
