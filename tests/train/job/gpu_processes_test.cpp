// Jobs of several processes on GPUs, where they differ from those on the CPU: valid combinations of
// GPUs, and the errors for others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "fake_gpu.h"
#include "fake_nccl/fake_nccl.h"
#include "support/data.h"
#include "support/temp_dir.h"
#include "train/device_fixture.h"
#include "train/job/on_devices.h"
#include "train/job/team.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Runs processes of the job as threads; returns each error and log.
struct Job {
  std::vector<Outcome> outcomes;
  std::vector<std::vector<std::string>> logs;
};
using Placing = std::function<void(int process, Recipe& setup, Host& host)>;
using Body = std::function<void(int process, Trial& run)>;
Job run_trainers(int count, const Placing& placing, const Body& body) {
  Job job;
  job.logs.resize(static_cast<size_t>(count));
  job.outcomes = run_job(count, [&](const std::shared_ptr<comm::Processes>& processes) {
    const int p = processes->process();
    Host host;
    host.processes = processes;
    {
      Recipe setup = in_f64();
      placing(p, setup, host);
      Trial run(setup, host);
      body(p, run);
    }
    job.logs[static_cast<size_t>(p)] = lines_of(host.log);
    processes->shutdown(within_ms(60'000));
  });
  for (size_t p = 0; p < job.outcomes.size(); ++p)
    EXPECT_EQ(job.outcomes[p].status, Status::kOk) << "process " << p << job.outcomes[p].text;
  EXPECT_EQ(num_on_devices(), 0);
  return job;
}

void on(const std::vector<int>& devices, Recipe& setup, Host& host) {
  place(0, setup, host);  // sets the device table
  setup.trainer.devices = devices;
}

// One, two, four and eight ranks give the CPU's weights, for any distribution over processes.
TEST(GpuProcesses, TrainAsTheCpuDoes) {
  const std::vector<double> expected = weights_after(in_f64());
  int in_order = -fake_nccl::count().destroyed;
  for (const std::vector<int>& ranks :
       {std::vector{1}, std::vector{1, 1}, std::vector{1, 3}, std::vector{2, 2}, std::vector{4, 4},
        std::vector{1, 1, 1, 1, 1, 1, 1, 1}}) {
    SCOPED_TRACE(testing::PrintToString(ranks));
    const int before = fake_nccl::count().made;
    const Job job = run_trainers(
        static_cast<int>(ranks.size()),
        [&](int p, Recipe& setup, Host& host) {
          std::vector<int> devices(static_cast<size_t>(ranks[static_cast<size_t>(p)]));
          std::iota(devices.begin(), devices.end(),
                    std::accumulate(ranks.begin(), ranks.begin() + p, 0));
          on(devices, setup, host);
        },
        [&](int, Trial& run) {
          run.train();
          EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
        });
    // Uses NCCL, also for one process with one GPU.
    EXPECT_EQ(fake_nccl::count().made - before, std::accumulate(ranks.begin(), ranks.end(), 0));
  }
  // Communicators of trainers freed at about the same time, most of the 27 on an idle machine.
  in_order += fake_nccl::count().destroyed;
  EXPECT_GT(in_order, 5);
}

// Data sets of graphs, with batch norm over the step and in strict mode, in real processes.
TEST(GpuProcesses, GraphsOnRealProcesses) {
  GNNMG_NEEDS_DATA("imdb-binary");
  const std::vector<std::string> words{"graphs=" + data_path("imdb-binary"), "strict=1", "norm=1",
                                       "train=100", "steps=8"};
  const std::vector<double> alone = weights_of(words, 1);
  for (const auto& found : weights_of_processes(words, {1, 3})) EXPECT_EQ(found, alone);
}

// A job on GPUs of another world size continues a checkpoint of a job on the CPU, and the reverse.
TEST(GpuProcesses, CheckpointsMoveBetweenJobsOfBothKinds) {
  Recipe alone = in_f64();
  alone.trainer.batches_per_step = 2;
  const std::vector<double> expected = weights_after(alone);
  for (const bool from_gpus : {false, true}) {
    const TempDir folder;
    const std::string path = folder.file("it");
    const auto place_on = [&](bool gpus) {
      return [gpus](int p, Recipe& setup, Host& host) {
        setup.trainer.batches_per_step = 2;
        setup.trainer.num_ranks = gpus ? 2 : 1;
        if (gpus) place(p, setup, host);
      };
    };
    run_trainers(2, place_on(from_gpus), [&](int, Trial& run) {
      for (int i = 0; i < 4; ++i) EXPECT_EQ(run->step({}, nullptr), Status::kOk);
      run->save(path);
    });
    run_trainers(from_gpus ? 3 : 2, place_on(!from_gpus), [&](int p, Trial& run) {
      run->load(path);
      run.train();
      EXPECT_LE(largest_difference(run.weights(), expected), 1e-9)
          << "process " << p << (from_gpus ? " from" : " to") << " GPUs";
    });
  }
}

// One process on GPUs and one on the CPU: refused on both, naming both.
TEST(GpuProcesses, SomeOnTheCpu) {
  for (const int on_cpu : {0, 1}) {
    std::vector<std::string> texts(2);
    run_trainers(
        2,
        [&](int p, Recipe& setup, Host& host) {
          if (p != on_cpu) place(p, setup, host);
        },
        [&](int p, Trial& run) {
          const Outcome outcome = attempt([&] { run.train(); });
          EXPECT_EQ(outcome.status, Status::kMismatch) << outcome.text;
          texts[static_cast<size_t>(p)] = outcome.text;
        });
    EXPECT_EQ(texts[0], texts[1]);
    EXPECT_THAT(texts[0],
                AllOf(StartsWith("trainer: process 1 on host "), HasSubstr(", but process 0 on"),
                      HasSubstr(on_cpu == 1 ? " works on the CPU, but" : " works on GPUs, but"),
                      HasSubstr("set the device to the CPU on all")));
  }
}

// Two processes choose one GPU.
TEST(GpuProcesses, OneGpuForTwo) {
  std::vector<std::string> texts(3);
  run_trainers(
      3, [&](int p, Recipe& setup, Host& host) { on({p == 2 ? 1 : p}, setup, host); },
      [&](int p, Trial& run) {
        const double start = now();
        const Outcome outcome = attempt([&] { run.train(); });
        EXPECT_EQ(outcome.status, Status::kInvalidArgument) << outcome.text;
        EXPECT_LT(now() - start, 15);
        texts[static_cast<size_t>(p)] = outcome.text;
      });
  EXPECT_THAT(texts, testing::Each(texts[0]));
  EXPECT_THAT(texts[0],
              AllOf(HasSubstr("ranks 1 and 2 are both on the GPU at 0000:02:00.0 on host"),
                    HasSubstr("would never run side by side on one")));
}

// GPUs with different memory train together; the log says so and lists the sizes.
TEST(GpuProcesses, GpusThatDifferAreALineInTheLog) {
  const std::vector<double> expected = weights_after(in_f64());
  const auto train = [&](const std::vector<int>& second) {
    return run_trainers(
        2,
        [&](int p, Recipe& setup, Host& host) {
          on(p == 0 ? std::vector{0} : second, setup, host);
        },
        [&](int, Trial& run) {
          run.train();
          EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
        });
  };
  const auto expect_line = [](const Job& job, const std::string& line) {
    for (const std::vector<std::string>& log : job.logs)
      EXPECT_THAT(log, testing::Contains(HasSubstr(line)));
  };
  const Job alike = train({1});
  for (const std::vector<std::string>& log : alike.logs)
    EXPECT_THAT(log, testing::Not(testing::Contains(HasSubstr("differ"))));
  expect_line(train({1, 2}), "processes differ: process 0 on host ");
  fake_gpu::set_memory(1, int64_t{3} << 30);
  expect_line(train({1}), "GPUs differ: rank 0 on host ");
  fake_gpu::set_memory(1, int64_t{1} << 30);
}

// A GPU is full, or lost, before the start: its process reports it, the others name that process;
// once there is room again, they start.
TEST(GpuProcesses, OneWithoutRoomIsNamedByAll) {
  struct Case {
    const char* what;
    Status status;
    std::function<void(bool broken)> set;
  };
  for (const Case& c :
       {Case{"no memory", Status::kNoMemory,
             [](bool broken) { fake_gpu::set_memory(3, broken ? 4096 : int64_t{1} << 30); }},
        Case{"lost", Status::kDeviceLost,
             [](bool broken) { broken ? fake_gpu::lose(3) : fake_gpu::find_again(3); }}}) {
    SCOPED_TRACE(c.what);
    c.set(true);
    std::atomic<int> failed{0};
    run_trainers(
        3,
        [](int p, Recipe& setup, Host& host) {
          setup.trainer.num_ranks = p == 2 ? 1 : 2;
          place(p, setup, host);
        },
        [&](int p, Trial& run) {
          const double start = now();
          const Outcome outcome = attempt([&] { run.train(); });
          EXPECT_EQ(outcome.status, p == 1 ? c.status : Status::kAborted)
              << "process " << p << ": " << outcome.text;
          EXPECT_THAT(outcome.text, AllOf(HasSubstr("GPU 3"), testing::Not(HasSubstr("\n"))));
          if (p != 1) {
            EXPECT_THAT(outcome.text, HasSubstr("process 1 on host "));
          }
          EXPECT_LT(now() - start, 15);
          if (++failed == 3) c.set(false);
          while (failed < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          run.train();
        });
  }
}

// NCCL has the wrong version, in one process or in all; or does not start in one: a wrong
// interface, or GPUs that may not read each other's memory. All report it.
TEST(GpuProcesses, NcclThatDoesNotFit) {
  struct Case {
    std::vector<std::string> words, of_one;
    std::string status, text;
  };
  const auto fails = [](int result) {
    return std::vector{base::text("nccl=rank=1,call=1,kind=fails,result=", result)};
  };
  const Case cases[] = {
      {{}, {"nccl_version=23000"}, "ERR_MISMATCH", " has loaded NCCL 2.30.0, but rank 0 on host"},
      {{"nccl_version=22005"},
       {},
       "ERR_DEPENDENCY",
       "NCCL 2.20.5 is loaded, expected 2.28.9 or later"},
      {{},
       fails(2),
       "ERR_UNAVAILABLE",
       "NCCL_SOCKET_IFNAME='nothere0' fits no network interface of rank 1's machine"},
      {{}, fails(1), "ERR_INTERNAL", "set NCCL_P2P_DISABLE=1 in all processes"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const bool wrong_interface = c.status == "ERR_UNAVAILABLE";
    if (wrong_interface) setenv("NCCL_SOCKET_IFNAME", "nothere0", 1);
    std::vector<std::string> words = c.words;
    words.push_back("epochs=2");
    Team team(words, {1, 1}, 1, c.of_one);
    unsetenv("NCCL_SOCKET_IFNAME");
    const int64_t start = monotonic_ms();
    for (int p = 0; p < 2; ++p) {
      EXPECT_EQ(team[p].wait_end(60'000), 3) << team[p].all();
      const std::vector<End> ends = ends_of(team[p]);
      ASSERT_EQ(ends.size(), 1u) << team[p].all();
      // A mismatch that all find is reported by all.
      const bool same = c.status == "ERR_MISMATCH" || c.status == "ERR_DEPENDENCY";
      EXPECT_EQ(ends[0].status, p == 1 || same ? c.status : "ERR_ABORTED") << ends[0].text;
      EXPECT_THAT(ends[0].text, HasSubstr(c.text));
      EXPECT_THAT(team[p].lines(), testing::Contains("left threads 0 files 0"));
    }
    EXPECT_LT(monotonic_ms() - start, 20'000);  // nobody waits for a deadline
  }
}

}  // namespace
}  // namespace gnnmg::test
