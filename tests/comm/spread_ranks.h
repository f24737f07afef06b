// Ranks of a job over the fake NCCL whose processes are threads of this process, so that sanitizers
// see everything. `ranks` is the number per process; each rank has its own host GPU.
#pragma once

#include <numeric>

#include "comm/host_ranks.h"
#include "comm/jobs.h"

namespace gnnmg::test {

class SpreadRanks {
 public:
  explicit SpreadRanks(const std::vector<int>& ranks) : ranks_(ranks) {
    fake_nccl::reset();
    fake_gpu::set_devices(world());
  }
  int world() const { return std::accumulate(ranks_.begin(), ranks_.end(), 0); }
  std::vector<int> devices(int process) const {
    std::vector<int> devices(static_cast<size_t>(ranks_[static_cast<size_t>(process)]));
    std::iota(devices.begin(), devices.end(),
              std::accumulate(ranks_.begin(), ranks_.begin() + process, 0));
    return devices;
  }
  std::shared_ptr<comm::ThreadGroup> group(const std::shared_ptr<comm::Processes>& job,
                                           const comm::Share& share = {}) const {
    return comm::nccl::make_group(job, share, fake_nccl::table(fake_gpu::devices()),
                                  fake_gpu::devices(), devices(job->process()), within_ms(60'000));
  }
  // Returns the outcome of each rank; ranks of a process that could not make the group get that
  // error.
  std::vector<Outcome> run(const std::function<void(comm::Collectives&)>& body,
                           const std::function<void(comm::JoinConfig&)>& change = {}) const {
    std::vector<Outcome> outcomes(static_cast<size_t>(world()));
    const auto process = [&](const std::shared_ptr<comm::Processes>& job) {
      const std::vector<int> own = devices(job->process());
      std::shared_ptr<comm::ThreadGroup> made;
      const Outcome making = attempt([&] { made = group(job); });
      std::vector<std::thread> threads;
      for (const int rank : own)
        threads.emplace_back([&, rank] {
          Outcome& outcome = outcomes[static_cast<size_t>(rank)];
          outcome = making;
          if (!made) return;
          outcome = attempt([&] { body(*made->connect(rank, within_ms(60'000))); });
        });
      for (std::thread& thread : threads) thread.join();
      attempt([&] { job->shutdown(within_ms(5000)); });
    };
    run_job(static_cast<int>(ranks_.size()), process, change);
    return outcomes;
  }

 private:
  const std::vector<int> ranks_;
};

}  // namespace gnnmg::test
