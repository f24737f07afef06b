// One process of a training, for tests that start, stop and kill real ones. Options are those of
// options.h, of on_gpus.cpp and below, and lose=<epoch>, at whose end its device goes; its events
// go to standard output, a line an event, with the system's monotonic clock in ms:
//   joined <process> of <n>
//   loaded <path>                                  (resume=1)
//   step <k> at <ms>                               (by=step: after each, k steps of the whole)
//   did <k>                                        (loop=evaluate, embed, file, save: that again
//   and
//                                                   again, into=<folder>, until somebody is lost)
//   trained <n> epochs, best <epoch>               (0 and on; -1: none)
//   metrics <count> <correct> <loss>               (of the test part, or part=1: the validation's)
//   memory <before> <most>                         (kB: without the data, and once it was there)
//   end <process> <status> at <ms> <text>          (a failure)
//   done at <ms>                                   (after a shutdown)
//   hangs                                          (hang=epoch, sampler, evaluation: in a callback,
//                                                   until SIGUSR1)
//   left threads <+n> files <+n>                   (against the time before joining)
//   left ... devices <n>                           (where anything of theirs is held)
//   held up <n>                                    (late=1: by launches, so often)
//   trained again                                  (again=<port>: in a job of its own)
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "comm/ranks.h"
#include "support/fork_server.h"
#include "support/leftovers.h"
#include "train/job/on_devices.h"

namespace gnnmg::test {
namespace {

using base::Deadline;
using base::Status;

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void say(const std::string& line) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::shared_ptr<comm::Processes> join(const Options& options) {
  comm::JoinConfig config;
  if (options.number("env", 0) != 0) {
    config = comm::read_join_environment([](const char* name) { return std::getenv(name); });
  } else {
    config.host = options.text("host", "127.0.0.1");
    config.token_file = options.text("token", "");
    config.port = static_cast<int32_t>(options.number("port", 0));
    config.process = static_cast<int32_t>(options.number("process", 0));
    config.num_processes = static_cast<int32_t>(options.number("of", 1));
  }
  config.heartbeat_ms = options.number("heartbeat", 500);
  auto processes = comm::join_job(config, within_ms(options.number("join", 60'000)));
  say(base::text("joined ", processes->process(), " of ", processes->num_processes()));
  return processes;
}

// A line of /proc/self/status in kB.
int64_t memory_of(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::atoll(line.c_str() + name.size() + 1);
  return -1;
}

// Step by step, so that a test knows where the others are.
void run_steps(Trial& run, const Options& options) {
  double loss = 0;
  for (int64_t k = 1; run->step({}, &loss) == Status::kOk; ++k) {
    say(base::text("step ", k, " at ", now_ms()));
    if (options.number("die", -1) == options.number("process", 0) && k == options.number("at", 5))
      std::raise(SIGKILL);
  }
}

// A host that is not back from a callback before it is told to by SIGUSR1, or after a long time.
volatile std::sig_atomic_t told = 0;
void hang() {
  std::signal(SIGUSR1, [](int) { told = 1; });
  say(base::text("hangs at ", now_ms()));
  for (int i = 0; i < 6000 && !told; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// The same call for ever, so that a test can kill somebody in it.
void run_calls(Trial& run, const Options& options) {
  const std::string call = options.text("loop", ""), folder = options.text("into", "");
  for (int64_t k = 1;; ++k) {
    if (call == "evaluate") run->evaluate(data::SplitPart::kTest, {});
    if (call == "embed") run->embed({});
    if (call == "file") run->embed_to_file(folder + "/rows.npy", {});
    if (call == "save") run->save(base::text(folder, "/", k));
    say(base::text("did ", k));
  }
}

void train_on(const Options& options) {
  Host host;
  host.meet_timeout_ms = options.number("join", 60'000);
  host.processes = join(options);
  host.processes->set_excuse([&queue = host.queue] { return queue.has_calls(); });
  try {
    const int64_t memory = memory_of("VmRSS");
    if (options.given("exit")) _exit(static_cast<int>(options.number("exit", 0)));
    Recipe setup = recipe_of(options);
    place(options, setup, host);
    std::ofstream("/proc/self/clear_refs") << 5;  // the peak starts again from the present size
    const int64_t pause = options.number("pause", 0);
    const std::string hangs_in = options.text("hang", "");
    std::atomic<bool> hung{false};
    const auto look = [&](const sample::BatchKey& key, const base::CancelToken& cancel) {
      const bool here = key.purpose == base::Purpose::kSample
                            ? hangs_in == "sampler" && key.epoch == 1
                            : hangs_in == "evaluation";
      if (here && !hung.exchange(true)) host.queue.call(hang, cancel);
      if (key.purpose != base::Purpose::kSample) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    };
    // A device has no such sampler, so that the host would sample.
    if (!options.given("capture")) watch(setup, look);
    Trial run(setup, host);
    run->set_epoch_function([&](const train::EpochReport& report) {
      if (report.epoch == 0) say("trains");
      if (hangs_in == "epoch" && report.epoch == 1) hang();
      if (options.number("lose", -1) == report.epoch) lose_device();
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(options.number("idle", 0)));
    if (options.given("checkpoints")) {
      const std::string folder = options.text("checkpoints", "");
      run->set_checkpoints(
          train::CheckpointConfig{.folder = folder, .every_steps = options.number("every", 1)});
      if (options.number("resume", 0)) try {
          say("loaded " + run->load(folder));
        } catch (const base::Error& error) {
          if (error.status() != Status::kNotFound) throw;
        }
    }
    if (options.text("by", "run") == "step")
      run_steps(run, options);
    else
      run.train();
    say(base::text("trained ", run->progress().epoch, " epochs, best ",
                   run->progress().best_epoch));
    if (options.given("loop")) run_calls(run, options);
    const auto part =
        options.number("part", 0) ? data::SplitPart::kValidation : data::SplitPart::kTest;
    if (const auto metrics = run->evaluate(part, {})) {
      std::array<char, 160> line;
      std::snprintf(line.data(), line.size(), "metrics %lld %lld %a",
                    static_cast<long long>(metrics->count),
                    static_cast<long long>(metrics->correct), metrics->loss);
      say(line.data());
    }
    say(base::text("memory ", memory, " ", memory_of("VmHWM")));
    if (const std::string file = options.text("weights", ""); !file.empty()) {
      const std::vector<double> weights = run.weights();
      std::ofstream(base::text(file, ".", host.processes->process()), std::ios::binary)
          .write(reinterpret_cast<const char*>(weights.data()),
                 static_cast<std::streamsize>(weights.size() * sizeof(double)));
    }
    host.processes->shutdown(within_ms(60'000));
  } catch (const base::Error& error) {
    say(base::text("end ", host.processes->process(), " ", base::status_name(error.status()),
                   " at ", now_ms(), " ", error.what()));
    host.processes->set_leave_reason(
        base::text(base::status_name(error.status()), ": ", error.what()));
    throw;
  }
}

int run_member(int argc, char** argv) {
  const Options options(argc - 1, argv + 1);
  open_devices(options);
  // Threads and files that LibTorch starts on first use stay for good.
  for (const int64_t ranks : std::set{int64_t{2}, options.number("ranks", 1)}) {
    Recipe setup = recipe_of(Options({"epochs=1", base::text("ranks=", ranks)}));
    Host host;
    place(0, setup, host);
    Trial run(setup, host);
    run.train();
  }
  const Leftovers left;
  bool good = true;
  try {
    train_on(options);
    say(base::text("done at ", now_ms()));
  } catch (const base::Error&) {
    good = false;
  }
  const std::string counts = left.count();
  const int64_t held = num_on_devices();
  say(base::text("left ", counts, held == 0 ? "" : base::text(" devices ", held)));
  if (options.given("late")) say(base::text("held up ", num_held_up()));
  // A process that has seen another job fail is as good as new.
  if (!good && options.given("again")) {
    train_on(Options({"epochs=2", "process=0", "of=1", "port=" + options.text("again", ""),
                      base::text("gpus=", options.number("gpus", 1))}));
    say("trained again");
  }
  return good ? 0 : 3;
}

}  // namespace
}  // namespace gnnmg::test

// member key=value ...
int main(int argc, char** argv) {
  return gnnmg::test::run_or_serve_forks(argc, argv, gnnmg::test::run_member);
}
