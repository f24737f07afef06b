// The epoch plan: which ids stand in which mini-batch, which mini-batches make a step, and who
// works on them. Every rank derives the same plan from the same numbers, so all agree on the steps
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
  kGlobal = 0,              // one permutation for all ranks, every id exactly once
  kDistributedSampler = 1,  // PyTorch's DistributedSampler: padded to a multiple of the world size,
                            // strided over ranks
  kContiguous = 2,          // DGL's: each rank permutes a contiguous slice of the ids of its own,
                            // slices differing by at most one id
  kParts = 3,  // every id exactly once, and all ids of a mini-batch from one part of the graph:
               // each part's are permuted and cut by themselves, and its mini-batches spread evenly
               // over the epoch
};

// Whether what ranks work on depends on their number.
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
  // Above 0, with the global partition, where the ids are graphs: a mini-batch takes the next
  // graphs for as long as they have at most this many nodes together, and are at most batch_size;
  // a graph of more nodes is a mini-batch of its own. Graph g has
  // graph_ptr[g + 1] - graph_ptr[g] nodes; i64.
  int64_t batch_nodes = 0;
  base::Tensor graph_ptr = {};
  // With kParts: the part of each node, not null; and the process of each rank, from 0 on, by which
  // ranks take mini-batches of parts that are near them (empty: each rank is a process). Of P
  // processes number p has the parts p, p + P, ... What is in a mini-batch does not depend on it.
  std::shared_ptr<const partition::Book> book = {};
  std::vector<int32_t> process_of_rank = {};
};

// One epoch. Mini-batches are numbered 0 .. num_batches()-1; step s holds numbers s*G .. s*G+G-1;
// rank r works on those numbered r, r+W, ... within the step. With the comparison partitions
// mini-batch s*W + r is rank r's s-th. With batch_nodes epochs differ in the number of
// mini-batches. With kParts rank r works on as many of a step, and takes those of its process's
// parts before others.
class EpochPlan {
 public:
  // Error(kInvalidArgument) for a batch size below 1, a rank outside the world, a batches_per_step
  // below 0 or, with a comparison partition, other than the world size; for batch_nodes below 0,
  // without graphs, or with what does not go with it; for kParts without a book, or with processes
  // of another number of ranks. Error(kRange) for an id that the book does not have.
  EpochPlan(std::span<const int64_t> ids, const PlanConfig& config, uint64_t epoch);
  int64_t num_batches() const { return num_batches_; }
  int64_t num_steps() const { return num_steps_; }
  int64_t batches_per_step() const { return batches_per_step_; }
  // The ids of mini-batch `number`; empty outside 0 .. num_batches()-1.
  std::span<const int64_t> batch(int64_t number) const;
  // Seeds of all ranks in a step: how many, and which, mini-batch after mini-batch.
  int64_t step_seeds(int64_t step) const;
  void step_ids(int64_t step, std::vector<int64_t>& ids) const;
  // Mini-batches of this rank in a step, in plan order; at least one entry a step: -1 stands for an
  // empty one.
  std::vector<int64_t> own_batches(int64_t step) const;
  // The same without a list: how many entries, and the i-th.
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
  std::vector<int64_t> order_;       // permuted ids; for the comparison partitions rank after rank
  std::vector<int64_t> rank_begin_;  // [slices + 1], where a slice begins in order_; one slice with
                                     // the global partition
  std::vector<int64_t> batch_begin_;  // by nodes or parts: [num_batches + 1], where a mini-batch
                                      // begins
  std::vector<int64_t> own_begin_, own_;  // by parts: numbers of this rank's mini-batches, and
                                          // where those of a step begin
  int64_t num_batches_ = 0, num_steps_ = 0, batches_per_step_ = 1;
};

}  // namespace gnnmg::loader
