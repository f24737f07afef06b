// Tests that need several GPUs: the real NCCL among them, in threads, in processes and in both;
// processes that die and stop while kernels wait for them; the speed of an all-reduce. Skipped with
// fewer than two, unless GNNMG_TEST_GPUS is the required number (multi.sh).
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <numeric>

#include "comm/device_buffer.h"
#include "comm/members.h"
#include "comm/nccl/thread_group.h"
#include "device/plugin.h"
#include "support/plugin.h"

namespace gnnmg::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

// Returns the reason why a rank of a process with a single rank has ended, reported once.
End end_of(Child& member) {
  EXPECT_EQ(member.wait_end(240'000), 3) << member.all();
  const std::vector<End> ends = ends_of(member);
  EXPECT_EQ(ends.size(), 1u) << member.all();
  return ends.empty() ? End{} : ends[0];
}

class GpuMulti : public testing::Test {
 protected:
  void SetUp() override {
    static const device::Plugin plugin =
        device::has_driver() ? device::open_plugin_at(plugin_path()) : device::Plugin{};
    table = plugin.table;
    const int there = table ? table->num_devices() : 0;
    const char* wanted = std::getenv("GNNMG_TEST_GPUS");
    world = wanted ? std::atoi(wanted) : there;
    ASSERT_GE(there, wanted ? world : 0) << "GPUs that this machine must have";
    if (world < 2) {
      ASSERT_FALSE(wanted) << "two GPUs are the fewest that show anything";
      GTEST_SKIP() << "needs two GPUs, there are " << there;
    }
  }
  // One GPU per process, all in one process, and half of them in each of two.
  std::vector<std::vector<int>> shapes() const {
    std::vector<std::vector<int>> all{std::vector<int>(static_cast<size_t>(world), 1), {world}};
    if (world > 2) all.push_back({world / 2, world - world / 2});
    return all;
  }
  const std::string plugin = "GNNMG_TEST_PLUGIN=" + plugin_path();
  const device::Table* table = nullptr;
  int world = 0;
};

TEST_F(GpuMulti, EveryCollectiveInThreadsAndProcesses) {
  for (const std::vector<int>& ranks : shapes()) {
    Job job(ranks, {"steps=20", "all=1", "shutdown=1"}, -1, {}, {plugin});
    for (auto& child : job.children) {
      EXPECT_EQ(child->wait_end(240'000), 0) << child->all();
      for (const End& end : ends_of(*child)) ADD_FAILURE() << end.text;
      EXPECT_THAT(child->lines(),
                  AllOf(Contains(StartsWith("step 20 at ")), Contains(StartsWith("done 20 at "))));
    }
  }
}

// The kernels of the others wait for the killed process.
TEST_F(GpuMulti, AKilledProcessIsNamedByAll) {
  Job job(shapes()[0], {"pause=2", "deadline=5000", "count=1000000"}, -1, {}, {plugin});
  ASSERT_TRUE(job.wait_step(20, 240'000)) << job[0].all();
  const int64_t at = monotonic_ms();
  job[world - 1].signal(SIGKILL);
  int64_t slowest = 0;
  for (int p = 0; p < world - 1; ++p) {
    const End end = end_of(job[p]);
    EXPECT_EQ(end.status, "ERR_PEER_LOST") << end.text;
    EXPECT_THAT(end.text, AllOf(HasSubstr(base::text("lost process ", world - 1, " on host ")),
                                HasSubstr(base::text("; rank ", world - 1, " ("))));
    slowest = std::max(slowest, end.at_ms - at);
  }
  EXPECT_EQ(job[world - 1].wait_end(10'000), -SIGKILL);
  EXPECT_LE(slowest, 6000);
  std::printf("[ FIGURE   ] a killed process is named within %lld ms\n",
              static_cast<long long>(slowest));
}

TEST_F(GpuMulti, AStoppedProcessIsNamedByTheDeadline) {
  Job job(shapes()[0], {"pause=2", "deadline=5000", "heartbeat=250"}, -1, {}, {plugin});
  ASSERT_TRUE(job.wait_step(20, 240'000)) << job[0].all();
  const int64_t at = monotonic_ms();
  job[world - 1].signal(SIGSTOP);
  for (int p = 0; p < world - 1; ++p) {
    ASSERT_NE(job[p].wait_for("end ", 60'000), "") << job[p].all();
    const auto ends = ends_of(job[p]);
    ASSERT_EQ(ends.size(), 1u) << job[p].all();
    EXPECT_EQ(ends[0].status, "ERR_TIMEOUT") << ends[0].text;
    EXPECT_THAT(ends[0].text, ContainsRegex(base::text("rank ", world - 1, " ")));
    EXPECT_GE(ends[0].at_ms - at, 1000);  // a stopped process is not taken for a dead one
    EXPECT_LE(ends[0].at_ms - at, 9500);  // not after two deadlines
  }
  job[world - 1].signal(SIGCONT);
  const End woken = end_of(job[world - 1]);
  EXPECT_EQ(woken.status, "ERR_ABORTED") << woken.text;
}

TEST_F(GpuMulti, AbortAndCancelAreHeardWhileKernelsWait) {
  for (const char* what : {"abort=0", "cancel=0"}) {
    Job job(shapes()[0], {"pause=2", what, base::text("late=", world - 1), "by=3000"}, -1, {},
            {plugin});
    int64_t first = 0, last = 0;
    for (int p = 0; p < world; ++p) {
      const End end = end_of(job[p]);
      EXPECT_EQ(end.status, p == 0 && what[0] == 'c' ? "ERR_CANCELLED" : "ERR_ABORTED") << end.text;
      // Except the late one, which was not near a kernel.
      if (p == world - 1) continue;
      first = p == 0 ? end.at_ms : std::min(first, end.at_ms);
      last = std::max(last, end.at_ms);
    }
    EXPECT_LE(last - first, 2000) << what;
  }
}

TEST_F(GpuMulti, OneGpuInTwoProcessesIsRefusedByBoth) {
  Job job({1, 1}, {}, -1, {}, {plugin, "GNNMG_TEST_FIRST_GPU=0"});
  for (auto& child : job.children) {
    EXPECT_EQ(child->wait_end(240'000), 3) << child->all();
    const auto ends = ends_of(*child);
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].status, "ERR_INVALID_ARGUMENT") << ends[0].text;
    EXPECT_THAT(ends[0].text, HasSubstr(base::text("ranks 0 and 1 are both on the GPU at ",
                                                   table->info(0).bus_id)));
  }
}

// Bytes per second that each GPU sends over its links, as nccl-tests count them: 2 (n - 1) / n of
// the buffer. A figure without a bar.
TEST_F(GpuMulti, BandwidthOfTheAllReduce) {
  std::vector<int> devices(static_cast<size_t>(world));
  std::iota(devices.begin(), devices.end(), 0);
  const auto group =
      comm::nccl::make_thread_group(*table->of<comm::nccl::Table>(), *table, devices);
  std::vector<std::thread> threads;
  for (int r = 0; r < world; ++r)
    threads.emplace_back([&, r] {
      const auto comm = group->connect(r, within_ms(120'000));
      for (const int64_t bytes : {int64_t{1} << 20, int64_t{16} << 20, int64_t{256} << 20}) {
        const DeviceBuffer buffer(*table, r, bytes / 4);
        // The timed operation gives correct results: a sum of small whole numbers is exact.
        std::vector<float> values(static_cast<size_t>(bytes / 4));
        for (size_t i = 0; i < values.size(); ++i)
          values[i] = static_cast<float>((r + 1) * static_cast<int>(i % 5));
        buffer.write(values);
        comm->queued()->all_reduce(buffer.view(), comm::ReduceOp::kSum, buffer.queue(),
                                   within_ms(60'000));
        buffer.read(values);
        comm->queued()->finish(buffer.queue(), within_ms(60'000));
        size_t wrong = 0;
        for (size_t i = 0; i < values.size(); ++i)
          wrong +=
              values[i] != static_cast<float>(world * (world + 1) / 2 * static_cast<int>(i % 5));
        EXPECT_EQ(wrong, 0u) << "of " << values.size() << " sums on rank " << r;
        constexpr int kTimes = 10;
        const auto once = [&](int times) {
          for (int i = 0; i < times; ++i)
            comm->queued()->all_reduce(buffer.view(), comm::ReduceOp::kMax, buffer.queue(),
                                       within_ms(60'000));
          comm->queued()->finish(buffer.queue(), within_ms(60'000));
        };
        once(3);
        comm->barrier(within_ms(60'000));
        const auto start = std::chrono::steady_clock::now();
        once(kTimes);
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
            kTimes;
        if (r == 0)
          std::printf("[ FIGURE   ] all-reduce of %lld MiB among %d GPUs: %.0f us, %.1f GB/s\n",
                      static_cast<long long>(bytes >> 20), world, seconds * 1e6,
                      2.0 * (world - 1) / world * static_cast<double>(bytes) / seconds / 1e9);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gnnmg::test
