// Real processes of a job that serve their parts and ask for the rest, and are killed, stopped or
// end: the others get an error in time, and it names the cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "comm/children.h"
#include "comm/jobs.h"
#include "server/certificates.h"
#include "server/server_process.h"
#include "server/strangers.h"
#include "support/data.h"
#include "support/part_subset.h"

namespace gnnmg {
namespace {

using test::Child;
using test::End;
using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;

constexpr int64_t kReadDeadline = 700;

class WorkerFault : public testing::Test {
 protected:
  // Process p of `count` has part p, and the last one the rest.
  std::vector<std::unique_ptr<Child>> start(int count, const std::vector<std::string>& words) {
    const int port = test::free_port();
    std::vector<std::unique_ptr<Child>> members;
    ports_.clear();
    const std::string job = base::text("job-", num_jobs_++);
    for (int p = 0; p < count; ++p) {
      std::vector<int32_t> parts = {p};
      for (int32_t part = count; p == count - 1 && part < served_.num_parts; ++part)
        parts.push_back(part);
      const std::string folder = served_.dir.file(base::text(job, "-", p));
      test::link_parts(served_.folder(), folder, parts);
      std::vector<std::string> all = {base::text("port=", port), base::text("process=", p),
                                      base::text("of=", count), "folder=" + folder};
      ports_.push_back(test::free_port());
      all.push_back(base::text("serve=", ports_.back()));
      all.insert(all.end(), words.begin(), words.end());
      members.push_back(std::make_unique<Child>(GNNMG_TEST_WORKER, all));
    }
    for (const auto& member : members)
      EXPECT_NE(member->wait_for("batch 0 ", 20'000), "") << member->all();
    return members;
  }
  // The error of a process, which left nothing.
  static End end_of(Child& member) {
    EXPECT_EQ(member.wait_end(20'000), 3) << member.all();
    EXPECT_THAT(member.lines(), Contains("left threads 0 files 0"));
    EXPECT_EQ(member.errors(), "");
    const auto ends = test::ends_of(member);
    EXPECT_EQ(ends.size(), 1u) << member.all();
    return ends.empty() ? End{} : ends[0];
  }
  const test::ServedGraph served_{4};
  std::vector<int> ports_;  // ports of the servers of the last job, process by process

 private:
  int num_jobs_ = 0;
};

TEST_F(WorkerFault, AllReadTheSameAndEndTogether) {
  const auto members = start(3, {"batches=5"});
  for (const auto& member : members) {
    EXPECT_EQ(member->wait_end(20'000), 0) << member->all();
    EXPECT_THAT(member->lines(), AllOf(Contains("done"), Contains("left threads 0 files 0")));
    EXPECT_EQ(member->lines(), members[0]->lines());
    EXPECT_EQ(member->errors(), "");
  }
}

TEST_F(WorkerFault, AKilledProcessIsLostToAll) {
  int64_t slowest = 0;
  for (const int victim : {2, 0, 1}) {
    const auto members = start(3, {});
    ASSERT_NE(members[victim]->wait_for("batch 5 ", 20'000), "");
    const int64_t killed = test::monotonic_ms();
    members[victim]->signal(SIGKILL);
    for (int p = 0; p < 3; ++p) {
      if (p == victim) continue;
      const End end = end_of(*members[p]);
      EXPECT_EQ(end.status, "ERR_PEER_LOST") << end.text;
      EXPECT_THAT(end.text, HasSubstr(base::text("lost process ", victim, " on host ")));
      EXPECT_LE(end.at_ms - killed, test::kSoon);
      slowest = std::max(slowest, end.at_ms - killed);
    }
  }
  std::printf("[ FIGURE   ] killed: the others knew after %lld ms at most\n",
              static_cast<long long>(slowest));
}

TEST_F(WorkerFault, AStoppedProcessIsNamedByThoseWhoReadFromIt) {
  const auto members = start(2, {base::text("deadline=", kReadDeadline)});
  ASSERT_NE(members[1]->wait_for("batch 5 ", 20'000), "");
  const int64_t stopped = test::monotonic_ms();
  members[1]->signal(SIGSTOP);
  const End end = end_of(*members[0]);
  EXPECT_EQ(end.status, "ERR_TIMEOUT") << end.text;
  EXPECT_THAT(end.text, AllOf(HasSubstr("part "), HasSubstr(": process 1 on host "),
                              HasSubstr(" (127.0.0.1:"), HasSubstr(", request "),
                              HasSubstr("no answer within 0.")));
  EXPECT_LE(end.at_ms - stopped, kReadDeadline + 1'000);
  std::printf("[ FIGURE   ] stopped, deadline %lld ms: named after %lld ms\n",
              static_cast<long long>(kReadDeadline), static_cast<long long>(end.at_ms - stopped));
  members[1]->signal(SIGCONT);
}

TEST_F(WorkerFault, StrangersLeaveNothingInAProcessThatServes) {
  const auto members = start(2, {});
  int64_t slowest = 0;
  const auto read_on = [&] {
    const int64_t begin = test::monotonic_ms();
    for (const auto& member : members)
      ASSERT_NE(member->wait_for("batch ", 10'000), "") << member->all();
    slowest = std::max(slowest, test::monotonic_ms() - begin);
  };
  const auto left = test::swarm(members[1]->pid(), ports_[1], test::num_strangers(500), read_on);
  EXPECT_LE(left.files, 0);
  EXPECT_LT(left.kilobytes, left.allowed_kilobytes());
  for (const auto& member : members) {
    EXPECT_THAT(member->lines(), Each(testing::StartsWith("batch ")));
    EXPECT_EQ(member->errors(), "");
  }
  std::printf(
      "[ FIGURE   ] %d strangers: the process has %lld kB more than after a fifth of them, and "
      "%lld "
      "descriptors; the others' next mini-batch came after %lld ms at most\n",
      left.strangers, static_cast<long long>(left.kilobytes), static_cast<long long>(left.files),
      static_cast<long long>(slowest));
}

bool namespaces_work() {
  Child probe("unshare", {"-rn", "sh", "-c", "ip link add a0 type veth peer name a1"});
  return probe.wait_end(10'000) == 0;
}

// Addresses that other machines reach: certificates, or the word that the network is safe.
TEST_F(WorkerFault, TwoMachinesNeedCertificates) {
  GNNMG_NEEDS(namespaces_work(), "network namespaces (unshare -rn, ip)");
  const std::string token = served_.dir.write("token", std::string(32, 'k'));
  ASSERT_EQ(chmod(token.c_str(), 0600), 0);
  for (const int32_t p : {0, 1})
    test::link_parts(served_.folder(), served_.dir.file(base::text("machine-", p)),
                     {2 * p, 2 * p + 1});
  const test::Certificates certificates(served_.dir);
  const auto job = [&](const std::string& word) {
    return std::make_unique<Child>(
        "unshare",
        std::vector<std::string>{"-rn", "bash", test::source_path("comm/two_machines.sh"),
                                 GNNMG_TEST_WORKER, "-", "0", "token=" + token,
                                 "folders=" + served_.dir.file("machine"), "batches=3", word});
  };
  for (const std::string& word : {std::string("insecure=1"), "tls=" + certificates.folder}) {
    const auto members = job(word);
    EXPECT_EQ(members->wait_end(20'000), 0) << members->all();
    EXPECT_EQ(std::ranges::count(members->lines(), "done"), 2) << members->all();
    EXPECT_EQ(members->errors(), "");
  }
  const auto members = job("insecure=0");
  EXPECT_EQ(members->wait_end(20'000), 3) << members->all();
  const auto ends = test::ends_of(*members);
  ASSERT_EQ(ends.size(), 2u) << members->all();
  for (const End& end : ends) {
    EXPECT_EQ(end.status, "ERR_INVALID_ARGUMENT") << end.text;
    EXPECT_THAT(end.text, AllOf(HasSubstr("10.77.0."), HasSubstr("give certificates for TLS")));
  }
}

TEST_F(WorkerFault, AProgramEndsInTheMiddleOfReads) {
  const auto members = start(2, {"exit=7"});
  std::vector<int> codes;
  for (const auto& member : members) {
    codes.push_back(member->wait_end(20'000));
    EXPECT_EQ(member->errors(), "");
  }
  // The first to end is lost to the other, which may have been at its end as well.
  EXPECT_THAT(codes, AllOf(Contains(7), Each(AnyOf(7, 3))))
      << members[0]->all() << members[1]->all();
}

}  // namespace
}  // namespace gnnmg
