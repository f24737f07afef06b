// One process of a job, for tests that start, stop and kill real ones. It joins, makes a
// communicator of all rank threads and runs all-reduces in step until something ends them. It
// prints one line per event, with the system's monotonic clock in ms:
//   joined <process> of <n>
//   step <k> at <ms>                       (first rank)
//   end <rank> <status> at <ms> <text>     (each rank)
//   done <steps> at <ms>                   (after a shutdown)
//   left threads <+n> files <+n>           (compared with before joining)
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "comm/member_engine.h"
#include "comm/processes.h"
#include "comm/ranks.h"
#include "support/fork_server.h"
#include "support/leftovers.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::Collectives;

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

struct Options {
  std::map<std::string, std::string> given;
  std::string text(const char* name, const char* otherwise) const {
    const auto found = given.find(name);
    return found == given.end() ? otherwise : found->second;
  }
  int64_t number(const char* name, int64_t otherwise) const {
    const auto found = given.find(name);
    return found == given.end() ? otherwise : std::atoll(found->second.c_str());
  }
};

comm::JoinConfig read_config(const Options& options) {
  comm::JoinConfig config;
  if (options.number("env", 0) != 0) {
    config = comm::read_join_environment([](const char* name) { return std::getenv(name); });
  } else {
    config.host = options.text("host", "127.0.0.1");
    config.port = static_cast<int32_t>(options.number("port", 0));
    config.process = static_cast<int32_t>(options.number("process", 0));
    config.num_processes = static_cast<int32_t>(options.number("of", 1));
    config.token_file = options.text("token", "");
    config.interface = options.text("interface", "");
  }
  config.heartbeat_ms = options.number("heartbeat", 500);
  return config;
}

// Calls that differ between ranks: each rank is its own root, or rank 1 expects more than it gets.
void misfit(Collectives& comm, const Options& options, const comm::Wait& wait) {
  std::vector<float> values(8, 0);
  if (options.number("roots", 0) != 0)
    comm.broadcast({values.data(), base::DType::kF32, {8}}, comm.rank(), wait);
  if (options.number("sizes", 0) == 0) return;
  std::vector<base::TensorView> inputs, outputs;
  for (int r = 0; r < comm.world_size(); ++r) {
    inputs.push_back({values.data(), base::DType::kF32, {4}});
    outputs.push_back({values.data(), base::DType::kF32, {comm.rank() == 1 && r == 0 ? 5 : 4}});
  }
  comm.all_to_all(inputs, outputs, wait);
}

// All-reduces in step; every rank knows the result.
void work(Collectives& comm, const Options& options, bool speaks) {
  const int64_t deadline = options.number("deadline", 30'000);
  const int64_t steps = options.number("steps", 1'000'000'000);
  const int64_t count = options.number("count", 1000);
  comm::Wait cancelled = within_ms(deadline);
  std::thread canceller;
  const int64_t cancel_rank = options.number("cancel", -1);
  std::vector<double> values(count);
  for (int64_t step = 0; step < steps; ++step) {
    comm.set_position({step / 100, step % 100, comm::Phase::kComputing});
    if (const int64_t ms = options.number("pause", 0); ms > 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    if (comm.rank() == options.number("late", -1) && step == options.number("at", 5))
      std::this_thread::sleep_for(std::chrono::milliseconds(options.number("by", 1000)));
    if (comm.rank() == options.number("abort", -1) && step == options.number("at", 5))
      comm.abort("rank " + std::to_string(comm.rank()) + ": the data set is gone");
    const char* restart = std::getenv("TORCHELASTIC_RESTART_COUNT");
    if (comm.rank() == options.number("die", -1) && step == options.number("at", 5) && restart &&
        *restart == '0')
      std::raise(SIGKILL);
    if (comm.rank() == options.number("misfit", -1) && step == options.number("at", 5))
      values.resize(count + 1);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(step) + comm.rank() + static_cast<double>(i);
    comm.set_position({step / 100, step % 100, comm::Phase::kExchanging});
    comm::Wait wait = within_ms(deadline);
    if (comm.rank() == cancel_rank && step == options.number("at", 5)) {
      wait.cancel = cancelled.cancel;
      canceller = std::thread([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        say("cancel at " + std::to_string(now_ms()));
        cancelled.cancel.cancel();
      });
    }
    if (step == options.number("at", 5)) misfit(comm, options, wait);
    try {
      comm.all_reduce({values.data(), base::DType::kF64, {static_cast<int64_t>(values.size())}},
                      comm::ReduceOp::kSum, wait);
    } catch (...) {
      if (canceller.joinable()) canceller.join();
      throw;
    }
    const int world = comm.world_size();
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] !=
          world * (static_cast<double>(step) + static_cast<double>(i)) + world * (world - 1) / 2)
        throw base::Error(Status::kInternal, "a wrong sum");
    if (speaks) say("step " + std::to_string(step) + " at " + std::to_string(now_ms()));
  }
}

void report_end(int rank, const base::Error& error) {
  say("end " + std::to_string(rank) + " " + base::status_name(error.status()) + " at " +
      std::to_string(now_ms()) + " " + error.what());
}

// One job from joining to its end; returns false if it failed.
bool run_job(const Options& options) {
  comm::JoinConfig config;
  std::shared_ptr<comm::Processes> job;
  std::shared_ptr<comm::ThreadGroup> group;
  const comm::Wait wait = within_ms(options.number("join", 60'000));
  try {
    config = read_config(options);
    job = member::join(config, wait);
    if (options.number("excused", 0) != 0) job->set_excuse([] { return true; });
    say("joined " + std::to_string(job->process()) + " of " + std::to_string(job->num_processes()));
    std::this_thread::sleep_for(std::chrono::milliseconds(options.number("hold", 0)));
    job->agree("member", {{"steps", options.text("steps", "for ever")}},
               within_ms(options.number("agree", 60'000)));
    group = member::make_group(job, static_cast<int>(options.number("ranks", 1)),
                               static_cast<int>(options.number("first", 0)), wait);
    for (const std::string& remark : group->remarks()) say("remark " + remark);
  } catch (const base::Error& error) {
    report_end(config.process, error);
    return false;
  }
  std::atomic<bool> failed{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < group->num_local(); ++i)
    threads.emplace_back([&, rank = group->first_rank() + i] {
      std::unique_ptr<Collectives> comm;
      try {
        comm = group->connect(rank, within_ms(options.number("join", 60'000)));
        work(*comm, options, rank == group->first_rank());
        if (options.number("all", 0) != 0) member::check_everything(*comm);
        if (options.number("shutdown", 0) != 0) comm->shutdown(within_ms(60'000));
      } catch (const base::Error& error) {
        failed = true;
        report_end(rank, error);
        if (!comm) return;
        // A spent communicator throws at once, with the cause.
        const Outcome again = attempt([&] { comm->barrier(within_ms(60'000)); });
        if (again.status != Status::kAborted || again.text != error.what() || again.seconds > 5)
          if (error.status() != Status::kCancelled)
            say("spent " + std::string(base::status_name(again.status)) + " " + again.text);
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (failed) return false;
  try {
    job->shutdown(within_ms(60'000));
    say("done " + options.text("steps", "") + " at " + std::to_string(now_ms()));
  } catch (const base::Error& error) {
    report_end(config.process, error);
    return false;
  }
  return true;
}

int run_member(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    if (equals != std::string::npos)
      options.given[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  member::warm_up();
  const Leftovers left;
  bool good = false;
  for (int64_t jobs = options.number("jobs", 1); jobs > 0 && !good; --jobs) {
    good = run_job(options);
    say("left " + left.count());
  }
  return good ? 0 : 3;
}

}  // namespace
}  // namespace gnnmg::test

// member key=value ...
int main(int argc, char** argv) {
  return gnnmg::test::run_or_serve_forks(argc, argv, gnnmg::test::run_member);
}
