// Checkpoints of a trainer, and its optimizer.
#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/optimizer.h"
#include "capi/trainer.h"

namespace gnnmg::capi {

gnnmg_status run_at_rest(const std::shared_ptr<Trainer>& trainer, const std::string& key,
                         int64_t timeout_ms, const std::function<void(train::Trainer&)>& work) {
  const Outcome outcome = wait_for_job(
      trainer->pendings, key, *trainer->queue, timeout_ms,
      [&] {
        if (!trainer->occupancy.try_hold()) fail_busy(*trainer, "trainer");
        Hold<Trainer> held(trainer);
        trainer->check_not_running();
        trainer->begin_work();
        try {
          std::shared_ptr<Job> job =
              start_torch_job(trainer->context, [trainer, work]() -> Job::Result {
                work(trainer->get());
                return nullptr;
              });
          held.keep();
          return job;
        } catch (...) {
          trainer->end_work();
          throw;
        }
      },
      [&] {
        trainer->end_work();
        trainer->occupancy.end_hold();
      },
      &trainer->occupancy);
  return outcome.pending ? GNNMG_PENDING : GNNMG_OK;
}

}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_trainer_set_checkpoints(gnnmg_trainer* trainer, const char* folder,
                                           const gnnmg_checkpoint_config* config) {
  return guard([&] {
    const auto t = hold<Trainer>(trainer, "trainer");
    t->check_not_running();
    const gnnmg_checkpoint_config in = read_config(config);
    if (folder == nullptr) return t->get().set_checkpoints(std::nullopt);
    gnnmg::train::CheckpointConfig out;
    out.folder = read_name(folder, "folder");
    if (in.keep != 0) out.keep = in.keep;
    out.every_steps = in.every_steps;
    out.every_seconds = in.every_seconds;
    t->get().set_checkpoints(out);
  });
}

gnnmg_status gnnmg_trainer_save(gnnmg_trainer* trainer, const char* path, int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    check_may_wait();
    const auto t = find<Trainer>(trainer, "trainer");
    const std::string folder(read_name(path, "path"));
    return run_at_rest(t, "save " + folder, timeout_ms,
                       [folder](gnnmg::train::Trainer& made) { made.save(folder); });
  });
}

gnnmg_status gnnmg_trainer_load(gnnmg_trainer* trainer, const char* path, int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    check_may_wait();
    const auto t = find<Trainer>(trainer, "trainer");
    const std::string folder(read_name(path, "path"));
    return run_at_rest(t, "load " + folder, timeout_ms,
                       [folder](gnnmg::train::Trainer& made) { made.load(folder); });
  });
}

gnnmg_status gnnmg_trainer_get_optimizer(const gnnmg_trainer* trainer,
                                         gnnmg_optimizer** optimizer) {
  return guard(outs(Out{optimizer, "optimizer"}), [&] {
    *optimizer =
        new_handle<gnnmg_optimizer>(make_object<Optimizer>(find<Trainer>(trainer, "trainer")));
  });
}

}  // extern "C"
