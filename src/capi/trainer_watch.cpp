// A trainer's share of a GPU's memory, and the split of its ranks' time.
#include "capi/arguments.h"
#include "capi/metrics.h"
#include "capi/trainer.h"

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_trainer_get_memory_info(const gnnmg_trainer* trainer, size_t gpu_bytes,
                                           gnnmg_memory_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto t = read<Trainer>(trainer, "trainer");
    if (gpu_bytes > INT64_MAX / 2)
      fail(Status::kInvalidArgument, "argument 'gpu_bytes' is ", gpu_bytes, ", expected at most ",
           INT64_MAX / 2);
    const gnnmg::train::MemoryPlan plan = t->get().memory_plan(static_cast<int64_t>(gpu_bytes));
    gnnmg_memory_info facts{};
    const auto bytes = [](int64_t count) { return static_cast<size_t>(count); };
    facts.fits = plan.fits;
    facts.gpu_bytes = bytes(plan.memory);
    facts.total_bytes = bytes(plan.total);
    facts.graph_bytes = bytes(plan.graph);
    facts.feature_bytes = bytes(plan.features);
    facts.sampler_bytes = bytes(plan.sampler);
    facts.row_bytes = bytes(plan.rows);
    facts.step_bytes = bytes(plan.pass);
    facts.evaluation_bytes = bytes(plan.evaluation);
    facts.parameter_bytes = bytes(plan.parameters);
    facts.optimizer_bytes = bytes(plan.optimizer);
    facts.communication_bytes = bytes(plan.communication);
    facts.capture_bytes = bytes(plan.capture);
    facts.reserve_bytes = bytes(plan.reserve);
    facts.pinned_bytes = bytes(plan.pinned);
    facts.num_cached = plan.num_cached;
    facts.graph_placement = static_cast<gnnmg_graph_placement>(plan.graph_placement);
    facts.feature_placement = static_cast<gnnmg_feature_placement>(plan.feature_placement);
    facts.bounded = plan.bounded;
    give(info, facts);
  });
}

gnnmg_status gnnmg_trainer_get_rank_info(const gnnmg_trainer* trainer, int64_t index,
                                         gnnmg_rank_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto t = find<Trainer>(trainer, "trainer");
    const std::vector<gnnmg::train::RankTimes> all = t->get().rank_times();
    if (index < 0 || index >= static_cast<int64_t>(all.size()))
      fail(Status::kNotFound, "argument 'index' is ", index, ", but this process has ", all.size(),
           all.size() == 1 ? " rank" : " ranks");
    const gnnmg::train::RankTimes& times = all[static_cast<size_t>(index)];
    gnnmg_rank_info facts{};
    facts.rank = times.rank;
    facts.device = times.device;
    facts.epoch = times.epoch;
    facts.num_steps = times.steps;
    facts.times = times_of(times);
    facts.bus_bytes = times.bus_bytes;
    facts.num_rows = times.rows;
    facts.num_rows_there = times.rows_there;
    facts.idle_seconds = times.idle_seconds;
    give(info, facts);
  });
}

}  // extern "C"
