// The epoch plan: the ids of each mini-batch, the mini-batches of each step, and the rank of each
// mini-batch. Every rank derives the same plan from the same numbers, so all agree on the steps
// before the epoch begins.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/tensor.h"
#include "partition/book.h"

namespace gnnmg::loader {

enum class Partition : int32_t {
  kGlobal = 0,  // one permutation for all ranks, every id exactly once
  // PyTorch's DistributedSampler: padded to a multiple of the world size, strided over ranks.
  kDistributedSampler = 1,
  // DGL's: each rank permutes its own contiguous slice of the ids; slices differ by at most one id.
  kContiguous = 2,
  // Every id exactly once, and all ids of a mini-batch from one part of the graph: each part is
  // permuted and cut separately, and its mini-batches are spread evenly over the epoch.
  kParts = 3,
};

// True if the mini-batches depend on the number of ranks.
inline bool by_ranks(Partition partition) {
  return partition == Partition::kDistributedSampler || partition == Partition::kContiguous;
}

struct PlanConfig {
  int64_t batch_size = 1024;
  int64_t batches_per_step =
      0;  // G; 0: world_size. With the two comparison partitions it must be 0 or world_size
  int32_t rank = 0;
  int32_t world_size = 1;
  Partition partition = Partition::kGlobal;
  bool shuffle = true;
  bool drop_last = false;  // leave out the last mini-batch if it is short
  uint64_t seed = 0;
  // Above 0, with the global partition, for seeds that are graphs: a mini-batch takes the next
  // graphs as long as they have at most this many nodes together and are at most batch_size graphs;
  // a larger graph is a mini-batch of its own. Graph g has graph_ptr[g + 1] - graph_ptr[g] nodes;
  // i64.
  int64_t batch_nodes = 0;
  base::Tensor graph_ptr = {};
  // With kParts: the part of each node, not null; and the process of each rank, from 0 on, so that
  // ranks get mini-batches of parts near them (empty: each rank is a process). The process of each
  // part; empty: of P processes, process p has the parts p, p + P, ... The contents of mini-batches
  // do not depend on these.
  std::shared_ptr<const partition::Book> book = {};
  std::vector<int32_t> process_of_rank = {};
  std::vector<int32_t> process_of_part = {};
};

// One epoch. Mini-batches are numbered 0 .. num_batches()-1; step s holds numbers s*G .. s*G+G-1;
// rank r takes numbers r, r+W, ... within the step. With the comparison partitions mini-batch s*W +
// r is number s of rank r. With batch_nodes the number of mini-batches differs from epoch to epoch.
// With kParts rank r takes the same number of mini-batches in a step, but prefers those of its
// process's parts.
class EpochPlan {
 public:
  // Error(kInvalidArgument) for a batch size below 1, a rank outside the world, a batches_per_step
  // below 0 or, with a comparison partition, other than the world size; for batch_nodes below 0,
  // without graphs, or together with an incompatible setting; for kParts without a book, or with
  // processes for another number of ranks or parts. Error(kRange) for an id that is not in the
  // book.
  EpochPlan(std::span<const int64_t> ids, const PlanConfig& config, uint64_t epoch);
  int64_t num_batches() const { return num_batches_; }
  int64_t num_steps() const { return num_steps_; }
  int64_t batches_per_step() const { return batches_per_step_; }
  // The ids of mini-batch `number`; empty outside 0 .. num_batches()-1.
  std::span<const int64_t> batch(int64_t number) const;
  // Seeds of all ranks in a step: their number, and the list, mini-batch after mini-batch.
  int64_t step_seeds(int64_t step) const;
  void step_ids(int64_t step, std::vector<int64_t>& ids) const;
  // The mini-batches of this rank in a step, in plan order. At least one entry per step: -1 is an
  // empty mini-batch.
  std::vector<int64_t> own_batches(int64_t step) const;
  // The same without a list: the number of entries, and entry i.
  int64_t num_own(int64_t step) const;
  int64_t own_batch(int64_t step, int64_t i) const;
  uint64_t epoch() const { return epoch_; }
  const PlanConfig& config() const { return config_; }

 private:
  void cut_by_nodes();
  void cut_by_parts();
  void share_out(std::span<const uint16_t> parts);

  PlanConfig config_;
  uint64_t epoch_;
  std::vector<int64_t> order_;  // permuted ids; for the comparison partitions rank after rank
  // [slices + 1], first position of each slice in order_; one slice with the global partition.
  std::vector<int64_t> rank_begin_;
  // First position of each mini-batch by nodes or parts, [num_batches + 1].
  std::vector<int64_t> batch_begin_;
  // Numbers of this rank's mini-batches by parts, and the first of each step.
  std::vector<int64_t> own_begin_, own_;
  int64_t num_batches_ = 0, num_steps_ = 0, batches_per_step_ = 1;
};

}  // namespace gnnmg::loader
