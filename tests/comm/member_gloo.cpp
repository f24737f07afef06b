// Members over Gloo.
#include "comm/collective_checks.h"
#include "comm/gloo/thread_group.h"
#include "comm/member_engine.h"
#include "comm/ranks.h"

namespace gnnmg::test::member {

std::shared_ptr<comm::Processes> join(const comm::JoinConfig& config, const comm::Wait& wait) {
  return comm::join_job(config, wait);
}

std::shared_ptr<comm::ThreadGroup> make_group(const std::shared_ptr<comm::Processes>& job,
                                              int num_ranks, int, const comm::Wait& wait) {
  return comm::make_group(job, {.num_ranks = num_ranks}, wait);
}

void warm_up() {
  run_ranks(comm::gloo::make_thread_group(2, comm::make_local_board()),
            [](comm::Collectives& comm) { comm.barrier(within_ms(60'000)); });
}

void check_everything(comm::Collectives& comm) {
  for (const int64_t count : {1, 1000, 70'001})
    check_collectives(comm, count, [] { return within_ms(60'000); });
}

}  // namespace gnnmg::test::member
