#include "loader/plan.h"

#include <algorithm>
#include <numeric>

#include "base/philox.h"
#include "loader/part_shares.h"

namespace gnnmg::loader {

using base::fail;
using base::Status;

namespace {

void check_parts(const PlanConfig& config) {
  if (!config.book)
    fail(Status::kInvalidArgument,
         "plan is parts, and the data set does not lie in parts; open a folder of parts");
  const size_t given = config.process_of_rank.size();
  if (given != 0 && given != static_cast<size_t>(config.world_size))
    fail(Status::kInvalidArgument, "processes of ", given, " ranks, expected ", config.world_size);
  const size_t of_parts = config.process_of_part.size();
  if (of_parts != 0 && of_parts != static_cast<size_t>(config.book->num_parts()))
    fail(Status::kInvalidArgument, "processes of ", of_parts, " parts, expected ",
         config.book->num_parts());
}

void check(const PlanConfig& config) {
  if (config.batch_size < 1)
    fail(Status::kInvalidArgument, "batch_size is ", config.batch_size, ", expected 1 or more");
  if (config.world_size < 1)
    fail(Status::kInvalidArgument, "world_size is ", config.world_size, ", expected 1 or more");
  if (config.rank < 0 || config.rank >= config.world_size)
    fail(Status::kNotFound, "rank is ", config.rank, ", expected 0 to ", config.world_size - 1);
  if (config.batches_per_step < 0)
    fail(Status::kInvalidArgument, "batches_per_step is ", config.batches_per_step,
         ", expected 1 or more, or 0 for the world size");
  if (config.partition < Partition::kGlobal || config.partition > Partition::kParts)
    fail(Status::kInvalidArgument, "partition is ", static_cast<int32_t>(config.partition),
         ", expected 0 to 3");
  if (config.partition == Partition::kParts) check_parts(config);
  if (by_ranks(config.partition) && config.batches_per_step != 0 &&
      config.batches_per_step != config.world_size)
    fail(Status::kInvalidArgument, "batches_per_step is ", config.batches_per_step, ", expected ",
         config.world_size, ", the world size, because the plan gives each rank one per step");
  if (config.batch_nodes < 0)
    fail(Status::kInvalidArgument, "batch_nodes is ", config.batch_nodes, ", expected 0 or more");
  if (config.batch_nodes == 0) return;
  if (!config.graph_ptr.defined())
    fail(Status::kInvalidArgument, "batch_nodes is ", config.batch_nodes,
         ", and the ids are not of graphs, whose nodes it could count");
  if (config.partition != Partition::kGlobal || config.drop_last)
    fail(Status::kInvalidArgument, "batch_nodes is ", config.batch_nodes,
         ", which goes with plan=global alone, and not with drop_last");
}

// Fisher-Yates shuffle with the words of stream `id` of the epoch's permutation key: for i from the
// last position down to 1, swaps i with a position drawn from 0 .. i.
void shuffle(std::span<int64_t> ids, const PlanConfig& config, uint64_t epoch, uint64_t id) {
  base::Stream stream(base::stream_key(config.seed, base::Purpose::kPermutation, epoch), id);
  for (size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[stream.below(i)]);
}

int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

}  // namespace

EpochPlan::EpochPlan(std::span<const int64_t> ids, const PlanConfig& config, uint64_t epoch)
    : config_(config), epoch_(epoch) {
  check(config);
  const int64_t count = static_cast<int64_t>(ids.size());
  const int64_t world = config.world_size;
  batches_per_step_ = config.batches_per_step > 0 ? config.batches_per_step : world;
  order_.assign(ids.begin(), ids.end());
  const bool global = config.partition == Partition::kGlobal;

  if (config.partition == Partition::kParts) {
    cut_by_parts();
    return;
  }
  if (config.shuffle && config.partition != Partition::kContiguous)
    shuffle(order_, config, epoch, 0);
  rank_begin_ = {0};
  if (global) {
    rank_begin_.push_back(count);
  } else if (config.partition == Partition::kDistributedSampler) {
    // Pads by repeating the first ids, then deals the ids out in turn.
    const int64_t share = divide_up(count, world);
    std::vector<int64_t> dealt;
    dealt.reserve(share * world);
    for (int64_t rank = 0; rank < world; ++rank) {
      for (int64_t i = 0; i < share; ++i) dealt.push_back(order_[(i * world + rank) % count]);
      rank_begin_.push_back(static_cast<int64_t>(dealt.size()));
    }
    order_ = std::move(dealt);
  } else {
    for (int64_t rank = 0; rank < world; ++rank) {
      const int64_t begin = rank_begin_.back();
      const int64_t end = begin + count / world + (rank < count % world);
      rank_begin_.push_back(end);
      if (config.shuffle)
        shuffle({order_.data() + begin, static_cast<size_t>(end - begin)}, config, epoch, rank);
    }
  }

  if (config.batch_nodes > 0) {
    cut_by_nodes();
    return;
  }
  int64_t longest = 0;  // mini-batches of the longest slice
  for (size_t i = 0; i + 1 < rank_begin_.size(); ++i) {
    const int64_t size = rank_begin_[i + 1] - rank_begin_[i];
    longest = std::max(
        longest, config.drop_last ? size / config.batch_size : divide_up(size, config.batch_size));
  }
  num_batches_ = global ? longest : longest * world;
  num_steps_ = divide_up(num_batches_, batches_per_step_);
}

void EpochPlan::cut_by_nodes() {
  const auto ptr = config_.graph_ptr.as<const int64_t>();
  const int64_t count = static_cast<int64_t>(order_.size());
  batch_begin_ = {0};
  int64_t nodes = 0;  // nodes of the mini-batch so far, at most the limit
  const int64_t all_graphs = static_cast<int64_t>(ptr.size()) - 1;
  for (int64_t i = 0; i < count; ++i) {
    if (order_[i] < 0 || order_[i] >= all_graphs)
      fail(Status::kRange, "graph ", order_[i], ", expected 0 to ", all_graphs - 1);
    const int64_t of_graph = ptr[order_[i] + 1] - ptr[order_[i]];
    const int64_t graphs = i - batch_begin_.back();
    if (graphs > 0 && (graphs == config_.batch_size || of_graph > config_.batch_nodes - nodes)) {
      batch_begin_.push_back(i);
      nodes = 0;
    }
    nodes = std::min(nodes + of_graph, config_.batch_nodes);
  }
  if (count > 0) batch_begin_.push_back(count);
  num_batches_ = static_cast<int64_t>(batch_begin_.size()) - 1;
  num_steps_ = divide_up(num_batches_, batches_per_step_);
}

void EpochPlan::cut_by_parts() {
  std::vector<std::vector<int64_t>> by_part = ids_by_part(order_, *config_.book);
  std::vector<int64_t> counts;
  for (size_t part = 0; part < by_part.size(); ++part) {
    if (config_.shuffle) shuffle(by_part[part], config_, epoch_, part);
    const auto size = static_cast<int64_t>(by_part[part].size());
    counts.push_back(config_.drop_last ? size / config_.batch_size
                                       : divide_up(size, config_.batch_size));
  }
  const std::vector<uint16_t> parts = spread_evenly(counts);
  order_.clear();
  batch_begin_ = {0};
  std::vector<size_t> taken(by_part.size());
  for (const uint16_t part : parts) {
    const std::span<const int64_t> left = std::span(by_part[part]).subspan(taken[part]);
    const auto size = std::min(config_.batch_size, static_cast<int64_t>(left.size()));
    order_.insert(order_.end(), left.begin(), left.begin() + size);
    taken[part] += static_cast<size_t>(size);
    batch_begin_.push_back(static_cast<int64_t>(order_.size()));
  }
  num_batches_ = static_cast<int64_t>(parts.size());
  num_steps_ = divide_up(num_batches_, batches_per_step_);
  share_out(parts);
}

void EpochPlan::share_out(std::span<const uint16_t> parts) {
  own_begin_ = {0};
  for (int64_t step = 0; step < num_steps_; ++step) {
    const int64_t first = step * batches_per_step_;
    const int64_t count = std::min(num_batches_ - first, batches_per_step_);
    const std::vector<int32_t> ranks =
        ranks_of_batches(parts.subspan(first, count), config_.world_size, config_.process_of_rank,
                         config_.process_of_part);
    for (int64_t i = 0; i < count; ++i)
      if (ranks[i] == config_.rank) own_.push_back(first + i);
    own_begin_.push_back(static_cast<int64_t>(own_.size()));
  }
}

std::span<const int64_t> EpochPlan::batch(int64_t number) const {
  if (number < 0 || number >= num_batches_) return {};
  if (!batch_begin_.empty())
    return std::span(order_).subspan(batch_begin_[number],
                                     batch_begin_[number + 1] - batch_begin_[number]);
  const int64_t slices = static_cast<int64_t>(rank_begin_.size()) - 1;
  const int64_t begin = rank_begin_[number % slices];
  const int64_t size = rank_begin_[number % slices + 1] - begin;
  // Neither product overflows: a slice of `size` ids has number / slices whole mini-batches, or
  // this one is empty.
  const int64_t index = number / slices;
  if (index > size / config_.batch_size) return {};
  const int64_t first = index * config_.batch_size;
  const int64_t length = std::min(config_.batch_size, size - first);
  if (config_.drop_last && length < config_.batch_size) return {};
  return {order_.data() + begin + first, static_cast<size_t>(length)};
}

int64_t EpochPlan::step_seeds(int64_t step) const {
  if (step < 0 || step >= num_steps_) return 0;
  const int64_t first = step * batches_per_step_;
  const int64_t last = std::min(num_batches_ - first, batches_per_step_) + first;
  int64_t seeds = 0;
  for (int64_t number = first; number < last; ++number)
    seeds += static_cast<int64_t>(batch(number).size());
  return seeds;
}

void EpochPlan::step_ids(int64_t step, std::vector<int64_t>& ids) const {
  ids.clear();
  if (step < 0 || step >= num_steps_) return;
  const int64_t first = step * batches_per_step_;
  const int64_t last = std::min(num_batches_ - first, batches_per_step_) + first;
  for (int64_t number = first; number < last; ++number) {
    const std::span<const int64_t> seeds = batch(number);
    ids.insert(ids.end(), seeds.begin(), seeds.end());
  }
}

int64_t EpochPlan::num_own(int64_t step) const {
  if (step < 0 || step >= num_steps_) return 0;
  const int64_t in_step = std::min(num_batches_ - step * batches_per_step_, batches_per_step_);
  return std::max<int64_t>(1, divide_up(in_step - config_.rank, config_.world_size));
}

int64_t EpochPlan::own_batch(int64_t step, int64_t i) const {
  if (!own_begin_.empty()) {
    const int64_t at = own_begin_[step] + i;
    return at < own_begin_[step + 1] ? own_[at] : -1;
  }
  const int64_t within = config_.rank + i * config_.world_size;
  const int64_t number = step * batches_per_step_ + within;
  return within < batches_per_step_ && !batch(number).empty() ? number : -1;
}

std::vector<int64_t> EpochPlan::own_batches(int64_t step) const {
  std::vector<int64_t> batches;
  for (int64_t i = 0; i < num_own(step); ++i) batches.push_back(own_batch(step, i));
  return batches;
}

}  // namespace gnnmg::loader
