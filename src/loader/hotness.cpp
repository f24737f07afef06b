#include "loader/hotness.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "base/free_list.h"

namespace gnnmg::loader {
namespace {

// The memory of a sampling thread, reused from mini-batch to mini-batch.
struct Work {
  sample::Workspace workspace;
  sample::Sample sample;
};

}  // namespace

std::vector<double> hotness_by_sampling(std::span<const int64_t> ids,
                                        const sample::Sampler& sampler, const LoaderConfig& config,
                                        int64_t num_batches, base::ThreadPool& pool,
                                        const base::CancelToken& cancel) {
  std::deque<EpochPlan> epochs;
  std::vector<int64_t> ends;  // number of mini-batches until the end of each epoch
  while (ends.empty() || ends.back() < num_batches) {
    epochs.emplace_back(ids, config.plan, epochs.size());
    if (epochs.back().num_batches() == 0)
      base::fail(base::Status::kInvalidArgument, "an epoch of ", ids.size(),
                 " ids has no mini-batches to count");
    ends.push_back((ends.empty() ? 0 : ends.back()) + epochs.back().num_batches());
  }
  base::FreeList<Work> works;
  const auto nodes_of = [&](int64_t batch, base::PageVector<int64_t>& nodes) {
    const size_t epoch = std::upper_bound(ends.begin(), ends.end(), batch) - ends.begin();
    const int64_t number = batch - (epoch == 0 ? 0 : ends[epoch - 1]);
    const sample::BatchKey key{config.sample_seed, config.purpose, epoch,
                               static_cast<uint64_t>(number)};
    std::unique_ptr<Work> work = works.borrow();
    sampler.sample(epochs[epoch].batch(number), key, work->workspace, work->sample, cancel);
    nodes.resize_discard(work->sample.num_nodes());
    std::copy(work->sample.node_ids.begin(), work->sample.node_ids.end(), nodes.begin());
    works.give_back(std::move(work));
  };
  return feature::hotness_by_counting(sampler.num_nodes(), num_batches, nodes_of, pool);
}

}  // namespace gnnmg::loader
