#include "train/ranks/loaders.h"

#include "nn/torch/parallel.h"
#include "train/tensors.h"

namespace gnnmg::train {

RankLoaders::RankLoaders(const Job& job, const RankComm& comm, RankDevice* device,
                         int64_t batches_per_step)
    : job_(job), comm_(comm), batches_per_step_(batches_per_step) {
  if (!device) return;
  source_ = device->open_source(config(), comm.world_size());
  job.environment.log.add(
      base::LogLevel::kInfo,
      base::text("rank ", comm.rank(), " works on ", device->name(), ": ", source_->describe()));
}

loader::LoaderConfig RankLoaders::config() const {
  const TrainerConfig& c = job_.config;
  loader::LoaderConfig config;
  config.plan = plan_config(job_, batches_per_step_, comm_.rank(), comm_.world_size());
  config.plan.process_of_rank = comm_.process_of_rank();
  config.num_threads = c.loader_threads;
  config.prefetch = c.prefetch;
  config.gather = gathers(job_.store.get());
  config.sample_seed = c.seed;
  config.at_once = nn::num_loop_threads();
  config.in_turns = [](int64_t count, const std::function<void(int64_t)>& body) {
    nn::for_ranges(nullptr, count, 1, [&](int64_t i, int64_t) { body(i); });
  };
  return config;
}

std::unique_ptr<loader::Loader> RankLoaders::make(std::span<const int64_t> ids,
                                                  const loader::LoaderConfig& config,
                                                  const base::HostQueue::Count& host_calls) const {
  const base::HostQueue::Counting counting(host_calls);  // the loader's threads take it over
  auto made = std::make_unique<loader::Loader>(ids, job_.sampler, job_.store, config,
                                               &job_.environment.host, source_);
  if (comm_.cancel().cancelled()) made->cancel();
  return made;
}

}  // namespace gnnmg::train
