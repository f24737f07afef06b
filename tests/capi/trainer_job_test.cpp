// Trainers of several processes, through the C interface. The processes of a job are worlds of this
// program, each with a context and a thread of its own.
#include <atomic>
#include <functional>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

class TrainerJob : public testing::Test {
 protected:
  struct Process {
    World world;
    Comm comm;
    Sampler sampler;
    Model model;
    Trainer trainer;
  };
  void SetUp() override {
    port_ = free_port();
    for (Process& own : processes_) {
      TrainerConfig& training = own.world.training;
      training.num_ranks = 2;
      training.batches_per_step = 4;
      training.optimizer = GNNMG_OPTIMIZER_SGD;
      training.learning_rate = 0.1;
      training.num_epochs = 3;
      training.set("torch_threads=1");
      own.sampler = own.world.make_sampler();
      own.model = own.world.make_model();
    }
  }
  void join_job(int32_t p) {
    Process& own = processes_[p];
    CommConfig config;
    config.port = port_;
    config.process_rank = p;
    config.num_processes = 2;
    config.join_ms = 20000;
    ASSERT_OK(gnnmg_comm_create(own.world.context, nullptr, nullptr, nullptr, &config,
                                own.comm.out(), -1));
  }
  void join(int32_t p) {
    join_job(p);
    Process& own = processes_[p];
    ASSERT_OK(gnnmg_trainer_create(own.model, own.world.dataset, own.sampler, own.comm,
                                   &own.world.training, own.world.training.text(),
                                   own.trainer.out()));
  }
  void on_both(const std::function<void(int32_t, Process&)>& body) {
    std::thread other([&] { body(1, processes_[1]); });
    body(0, processes_[0]);
    other.join();
  }

  int32_t port_ = 0;
  Process processes_[2];
};

TEST_F(TrainerJob, TrainsAsOneProcessDoes) {
  World alone;
  alone.training = processes_[0].world.training;
  const Sampler sampler = alone.make_sampler();
  const Model model = alone.make_model();
  const Trainer trainer = alone.make_trainer(model, sampler);
  ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  auto expected = info<gnnmg_metrics>();
  ASSERT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &expected, nullptr, -1));

  const TempDir dir;
  on_both([&](int32_t p, Process& own) {
    join(p);
    std::atomic<int> epochs{0};
    ASSERT_OK(gnnmg_trainer_run(
        own.trainer,
        [](const gnnmg_epoch_info*, void* count) {
          ++*static_cast<std::atomic<int>*>(count);
          return 0;
        },
        &epochs, nullptr));
    EXPECT_EQ(epochs, 3);
    auto found = info<gnnmg_metrics>();
    ASSERT_OK(gnnmg_trainer_evaluate(own.trainer, GNNMG_PART_TEST, &found, nullptr, -1));
    EXPECT_EQ(found.count, expected.count);
    EXPECT_NEAR(found.loss, expected.loss, 1e-5);
    auto progress = info<gnnmg_progress_info>();
    ASSERT_OK(gnnmg_trainer_progress(own.trainer, &progress));
    EXPECT_EQ(progress.state, GNNMG_TRAINER_STATE_FINISHED);
    // Process 0 writes, both continue from it.
    int pending = 0;
    EXPECT_EQ(until_done([&] { return gnnmg_trainer_save(own.trainer, dir.file("c").c_str(), 1); },
                         &pending),
              GNNMG_OK)
        << gnnmg_last_error();
    EXPECT_OK(gnnmg_trainer_load(own.trainer, dir.file("c").c_str(), -1));
    EXPECT_FAILS(gnnmg_trainer_save(own.trainer, dir.file("c").c_str(), -1),
                 GNNMG_ERR_INVALID_ARGUMENT, "c");
    EXPECT_OK(gnnmg_comm_shutdown(own.comm, -1));
    EXPECT_FAILS(gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr), GNNMG_ERR_ABORTED,
                 "shut down");
  });
  EXPECT_EQ(weights(processes_[0].model), weights(processes_[1].model));
}

// One process sets the rate for all; two that set different ones are told.
TEST_F(TrainerJob, ProcessesAgreeOnTheRate) {
  on_both([&](int32_t p, Process& own) {
    join(p);
    if (p == 1) {
      EXPECT_OK(gnnmg_trainer_set_learning_rate(own.trainer, 0.02));
    }
    double rate = 0;
    EXPECT_OK(gnnmg_trainer_run(
        own.trainer,
        [](const gnnmg_epoch_info* epoch, void* out) {
          *static_cast<double*>(out) = epoch->learning_rate;
          return 0;
        },
        &rate, nullptr));
    EXPECT_EQ(rate, 0.02);
  });
  EXPECT_EQ(weights(processes_[0].model), weights(processes_[1].model));
}

TEST_F(TrainerJob, DifferentRatesAreNamedOnBoth) {
  on_both([&](int32_t p, Process& own) {
    join(p);
    EXPECT_OK(gnnmg_trainer_set_learning_rate(own.trainer, p == 0 ? 0.5 : 0.25));
    EXPECT_FAILS(gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr), GNNMG_ERR_MISMATCH,
                 "0.5, another one to 0.25");
  });
}

// The trainer keeps its job alive, and a stop on one side ends both after the same step.
TEST_F(TrainerJob, AFreedHandleAndAStop) {
  on_both([&](int32_t p, Process& own) {
    own.world.training.num_epochs = 1000000;
    join(p);
    own.comm.reset();
    ASSERT_OK(gnnmg_trainer_start(own.trainer, nullptr, nullptr, nullptr));
    if (p == 1) {
      auto progress = info<gnnmg_progress_info>();
      EXPECT_TRUE(eventually([&] {
        EXPECT_OK(gnnmg_trainer_progress(own.trainer, &progress));
        return progress.epoch > 0;
      }));
      gnnmg_trainer_stop(own.trainer);
    }
    EXPECT_OK(gnnmg_trainer_wait(own.trainer, -1));
  });
  gnnmg_progress_info at[2] = {info<gnnmg_progress_info>(), info<gnnmg_progress_info>()};
  for (int p = 0; p < 2; ++p) ASSERT_OK(gnnmg_trainer_progress(processes_[p].trainer, &at[p]));
  EXPECT_EQ(at[0].epoch, at[1].epoch);
  EXPECT_EQ(at[0].step, at[1].step);
  EXPECT_EQ(weights(processes_[0].model), weights(processes_[1].model));
}

// Only the first process reads and writes files of optimizers; all ranks use its state.
TEST_F(TrainerJob, AnOptimizersStateIsThatOfTheFirstProcess) {
  const auto prepare = [](World& world) {
    world.sampling.fanouts[0] = world.sampling.fanouts[1] = -1;
    world.layers.dtype = GNNMG_DTYPE_F64;
    world.training.optimizer = GNNMG_OPTIMIZER_ADAM;
    world.training.batch_size = 75;  // one step per epoch
    world.training.num_epochs = 100;
    world.training.set("keep_best=0");
  };
  const auto run = [](gnnmg_trainer* trainer) {
    for (int i = 0; i < 4; ++i) EXPECT_OK(gnnmg_trainer_step(trainer, nullptr, -1));
  };
  const auto all_weights = [](const gnnmg_model* model) {
    Tensor flat;
    EXPECT_OK(gnnmg_model_export_parameters(model, flat.out()));
    return values<double>(flat);
  };
  const TempDir dir;
  const std::string weights = dir.file("model.pth"), state = dir.file("optimizer.pth");
  World alone;
  alone.training = processes_[0].world.training;
  prepare(alone);
  const Sampler sampler = alone.make_sampler();
  const Model model = alone.make_model();
  const Trainer trainer = alone.make_trainer(model, sampler);
  run(trainer);
  ASSERT_OK(gnnmg_model_save(model, weights.c_str(), nullptr, -1));
  ASSERT_OK(gnnmg_optimizer_save(optimizer_of(trainer), state.c_str(), nullptr, -1));
  run(trainer);
  const std::vector<double> expected = all_weights(model);

  on_both([&](int32_t p, Process& own) {
    prepare(own.world);
    own.sampler = own.world.make_sampler();
    own.model = own.world.make_model();
    join(p);
    run(own.trainer);  // trains alone, and leaves no state
    if (p == 0) {
      EXPECT_OK(gnnmg_model_load(own.model, weights.c_str(), nullptr, -1));
    }
    const std::string path = p == 0 ? state : dir.file("nowhere.pth");
    int pending = 0;
    EXPECT_EQ(until_done(
                  [&] {
                    return gnnmg_optimizer_load(optimizer_of(own.trainer), path.c_str(), nullptr,
                                                1);
                  },
                  &pending),
              GNNMG_OK)
        << gnnmg_last_error();
    run(own.trainer);
    const std::vector<double> found = all_weights(own.model);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9);

    const std::string copy = dir.file(p == 0 ? "copy.pth" : "other.pth");
    EXPECT_OK(gnnmg_optimizer_save(optimizer_of(own.trainer), copy.c_str(), nullptr, -1));
    // A file that the first process cannot read changes nothing in any process.
    const std::string missing = dir.file(p == 0 ? "missing.pth" : "optimizer.pth");
    EXPECT_FAILS(gnnmg_optimizer_load(optimizer_of(own.trainer), missing.c_str(), nullptr, -1),
                 GNNMG_ERR_NOT_FOUND, "missing.pth");
    run(own.trainer);
    EXPECT_OK(gnnmg_comm_shutdown(own.comm, -1));
  });
  EXPECT_EQ(all_weights(processes_[0].model), all_weights(processes_[1].model));
  Optimizer optimizer;
  ASSERT_OK(gnnmg_optimizer_create(processes_[0].model, nullptr, optimizer.out()));
  EXPECT_OK(gnnmg_optimizer_load(optimizer, dir.file("copy.pth").c_str(), nullptr, -1));
  EXPECT_EQ(gnnmg_optimizer_load(optimizer, dir.file("other.pth").c_str(), nullptr, -1),
            GNNMG_ERR_NOT_FOUND);
}

TEST_F(TrainerJob, WhatDiffersIsNamedOnBoth) {
  processes_[1].world.training.learning_rate = 0.2;
  on_both([&](int32_t p, Process& own) {
    join(p);
    EXPECT_FAILS(gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr), GNNMG_ERR_MISMATCH,
                 "learning_rate differs: process 1 on host ");
    EXPECT_OK(gnnmg_comm_shutdown(own.comm, -1));
  });
}

// Compares the calls of the host, not the operations in them.
TEST_F(TrainerJob, CallsThatDifferAreNamedOnBoth) {
  const TempDir dir;
  on_both([&](int32_t p, Process& own) {
    join(p);
    auto metrics = info<gnnmg_metrics>();
    const std::string file = dir.file("rows.npy");
    const auto evaluate = [&] {
      return gnnmg_trainer_evaluate(own.trainer, GNNMG_PART_VALIDATION, &metrics, nullptr, -1);
    };
    const auto run = [&] { return gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr); };
    const auto embed = [&] {
      gnnmg_tensor* rows = nullptr;
      const gnnmg_status status = gnnmg_trainer_embed(own.trainer, 0, nullptr, &rows, -1);
      gnnmg_tensor_free(rows);
      return status;
    };
    const auto embed_to_file = [&] {
      return gnnmg_trainer_embed(own.trainer, 0, file.c_str(), nullptr, -1);
    };
    const auto step = [&] { return gnnmg_trainer_step(own.trainer, nullptr, -1); };
    using Call = std::function<gnnmg_status()>;
    // Processes compare their calls, too, at the rendezvous.
    EXPECT_FAILS(p == 1 ? evaluate() : run(), GNNMG_ERR_MISMATCH,
                 "call differs: process 1 on host ");
    const std::string first = gnnmg_last_error();
    EXPECT_NE(first.find(" has evaluate, process 0 on host "), std::string::npos) << first;
    EXPECT_NE(first.find(" has run"), std::string::npos) << first;
    // Later the ranks find the difference.
    struct Case {
      Call first, second;
      const char *first_name, *second_name;
    };
    for (const Case& c :
         {Case{evaluate, run, "evaluate", "run"}, Case{embed, run, "embed", "run"},
          Case{embed, embed_to_file, "embed", "embed_to_file"}, Case{step, run, "step", "run"}}) {
      EXPECT_OK(evaluate());
      EXPECT_FAILS(p == 0 ? c.first() : c.second(), GNNMG_ERR_MISMATCH, " calls ");
      const std::string text = gnnmg_last_error() + std::string(",");
      for (const char* name : {c.first_name, c.second_name})
        EXPECT_NE(text.find(" calls " + std::string(name) + ","), std::string::npos) << text;
    }
    EXPECT_OK(evaluate());
    EXPECT_OK(gnnmg_comm_shutdown(own.comm, -1));
  });
}

TEST_F(TrainerJob, AFreedTrainerEndsTheOthers) {
  on_both([&](int32_t p, Process& own) {
    own.world.training.num_epochs = 1000000;
    join(p);
    ASSERT_OK(gnnmg_trainer_start(own.trainer, nullptr, nullptr, nullptr));
    if (p == 0) {
      EXPECT_FAILS(gnnmg_trainer_wait(own.trainer, -1), GNNMG_ERR_ABORTED, "process 1 on host");
      return;
    }
    auto progress = info<gnnmg_progress_info>();
    EXPECT_TRUE(eventually([&] {
      EXPECT_OK(gnnmg_trainer_progress(own.trainer, &progress));
      return progress.epoch > 0;
    }));
    own.trainer.reset();
  });
}

// The other processes get the reason why a process left before the start.
TEST_F(TrainerJob, ARefusedTrainerIsToldToTheOthers) {
  on_both([&](int32_t p, Process& own) {
    if (p == 0) {
      join(p);
      EXPECT_FAILS(gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr), GNNMG_ERR_ABORTED,
                   "process 1 on host ");
      EXPECT_NE(std::string(gnnmg_last_error())
                    .find("its last error was ERR_INVALID_ARGUMENT: batch_size -1"),
                std::string::npos)
          << gnnmg_last_error();
      return;
    }
    join_job(p);
    own.world.training.batch_size = -1;
    EXPECT_FAILS(
        gnnmg_trainer_create(own.model, own.world.dataset, own.sampler, own.comm,
                             &own.world.training, own.world.training.text(), own.trainer.out()),
        GNNMG_ERR_INVALID_ARGUMENT, "batch_size");
    own.comm.reset();
  });
}

// A start that is given up before the other process has come affects no later start.
TEST_F(TrainerJob, ACancelledStart) {
  std::atomic<bool> cancelled{false};
  on_both([&](int32_t p, Process& own) {
    join(p);
    if (p == 0) {
      ASSERT_OK(gnnmg_trainer_start(own.trainer, nullptr, nullptr, nullptr));
      EXPECT_EQ(gnnmg_trainer_wait(own.trainer, 100), GNNMG_PENDING);
      gnnmg_trainer_cancel(own.trainer);
      EXPECT_FAILS(gnnmg_trainer_wait(own.trainer, -1), GNNMG_ERR_CANCELLED, "canceled");
      cancelled = true;
    } else {
      EXPECT_TRUE(eventually([&] { return cancelled.load(); }));
    }
    EXPECT_OK(gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr));
    EXPECT_OK(gnnmg_comm_shutdown(own.comm, -1));
  });
}

// Two trainers of a process could meet those of the other in any order.
TEST_F(TrainerJob, TrainersOfACommunicatorTakeTurns) {
  on_both([&](int32_t p, Process& own) {
    join(p);
    const Model model = own.world.make_model();
    own.world.training.num_epochs = 2;
    Trainer other;
    ASSERT_OK(gnnmg_trainer_create(model, own.world.dataset, own.sampler, own.comm,
                                   &own.world.training, own.world.training.text(), other.out()));
    ASSERT_OK(gnnmg_trainer_start(own.trainer, nullptr, nullptr, nullptr));
    EXPECT_FAILS(gnnmg_trainer_run(other, nullptr, nullptr, nullptr), GNNMG_ERR_BUSY,
                 "another trainer of this communicator is at work");
    EXPECT_OK(gnnmg_trainer_wait(own.trainer, -1));
    EXPECT_OK(gnnmg_trainer_run(other, nullptr, nullptr, nullptr));
    EXPECT_OK(gnnmg_comm_shutdown(own.comm, -1));
  });
}

// A trainer keeps its share of the job until it is freed.
TEST_F(TrainerJob, ACancelledTrainerOutlivesItsCommunicator) {
  on_both([&](int32_t p, Process& own) {
    join(p);
    gnnmg_trainer_cancel(own.trainer);  // nothing is running
    own.comm.reset();
    EXPECT_OK(gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr));
  });
}

TEST_F(TrainerJob, ACommunicatorOfAnotherContext) {
  on_both([&](int32_t p, Process&) { join(p); });
  Process& own = processes_[0];
  Trainer other;
  EXPECT_FAILS(gnnmg_trainer_create(own.model, own.world.dataset, own.sampler, processes_[1].comm,
                                    nullptr, nullptr, other.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "context");
}

}  // namespace
}  // namespace gnnmg::test
