// Common parts of the generators with classes: features around class centers and noisy labels, with
// one stream per node.
#pragma once

#include <cstdint>
#include <span>

#include "base/philox.h"
#include "base/tensor.h"
#include "base/thread_pool.h"

namespace gnnmg::graph {

// Edges and nodes in one range of a generator's parallel loops.
inline constexpr int64_t kEdgeGrain = 1 << 14;
inline constexpr int64_t kNodeGrain = 1 << 12;

// Generators and the parts of each with a stream of their own. The values belong to the meaning of
// a seed and are never reused.
enum class Generator : uint32_t {
  kPlantedPartition = 1,
  kLogNormal = 2,
  kRmat = 3,
  kErdosRenyi = 4
};
enum class Part : uint32_t {
  kEdges = 1,
  kClasses = 2,
  kDegrees = 3,
  kCentres = 4,
  kFeatures = 5,
  kLabels = 6,
};
base::Key generator_key(uint64_t seed, Generator generator, Part part);

// f32 [num_classes, num_features], each from N(0, scale^2).
base::Tensor make_centres(int32_t num_classes, int32_t num_features, double scale, base::Key key);

// Returns f32 [N, num_features]: the center of the node's class plus N(0, noise^2). If `classes` is
// empty, there are no centers and N is num_nodes.
base::Tensor make_features(int64_t num_nodes, std::span<const int32_t> classes,
                           const base::Tensor& centres, int32_t num_features, double noise,
                           base::Key key, base::ThreadPool& pool);

// Returns i64 [N]: the class, or with probability `share` a class drawn uniformly from all classes
// (with `other`, from all except the true one).
base::Tensor make_labels(std::span<const int32_t> classes, int32_t num_classes, double share,
                         bool other, base::Key key, base::ThreadPool& pool);

// Error(kInvalidArgument) names the field if `value` is not finite or outside [low, high].
void check_field(const char* field, double value, double low, double high);
void check_field(const char* field, int64_t value, int64_t low, int64_t high);

}  // namespace gnnmg::graph
