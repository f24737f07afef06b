// A process's share of the GPUs among the processes of a job.
#include "capi/seen_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace gnnmg::capi {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kFour = {"a", "b", "c", "d"};

// The GPUs that processes see: a machine and bus ids each.
using Seen = std::pair<std::string, std::vector<std::string>>;
std::vector<SeenDevices> job_of(const std::vector<Seen>& all) {
  std::vector<SeenDevices> job;
  for (size_t p = 0; p < all.size(); ++p)
    job.push_back({all[p].first, base::text("process ", p, " on host h"), all[p].second});
  return job;
}

TEST(DeviceShare, IsAllThatAProcessSeesAlone) {
  const auto job = job_of({{"one", kFour}});
  EXPECT_THAT(device_share(job, 0), ElementsAre(0, 1, 2, 3));
}

TEST(DeviceShare, IsAPartWhereAllSeeTheSame) {
  auto job = job_of({{"one", kFour}, {"one", kFour}});
  EXPECT_THAT(device_share(job, 0), ElementsAre(0, 1));
  EXPECT_THAT(device_share(job, 1), ElementsAre(2, 3));
  job.push_back(job[0]);  // 3 processes share 4 GPUs, and use all
  EXPECT_THAT(device_share(job, 0), ElementsAre(0));
  EXPECT_THAT(device_share(job, 1), ElementsAre(1));
  EXPECT_THAT(device_share(job, 2), ElementsAre(2, 3));
}

TEST(DeviceShare, IsAllWhereTheLauncherGaveEachItsOwn) {
  const auto job = job_of({{"one", {"a", "b"}}, {"one", {"c"}}});
  EXPECT_THAT(device_share(job, 0), ElementsAre(0, 1));
  EXPECT_THAT(device_share(job, 1), ElementsAre(0));
}

TEST(DeviceShare, CountsTheProcessesOfEachMachine) {
  // The same bus ids on two machines are two GPUs; ranks of a machine need not be adjacent.
  const auto job = job_of({{"one", kFour}, {"two", kFour}, {"one", kFour}, {"two", kFour}});
  EXPECT_THAT(device_share(job, 0), ElementsAre(0, 1));
  EXPECT_THAT(device_share(job, 1), ElementsAre(0, 1));
  EXPECT_THAT(device_share(job, 2), ElementsAre(2, 3));
  EXPECT_THAT(device_share(job, 3), ElementsAre(2, 3));
}

TEST(DeviceShare, IsNothingWhereThereAreTooFew) {
  const auto job = job_of({{"one", {"a"}}, {"one", {"a"}}, {"two", {}}});
  EXPECT_THAT(device_share(job, 0), IsEmpty());
  EXPECT_THAT(device_share(job, 1), ElementsAre(0));
  EXPECT_THAT(device_share(job, 2), IsEmpty());
}

TEST(DeviceShare, RefusesListsThatOverlap) {
  const auto job = job_of({{"one", {"a", "b"}}, {"two", {}}, {"one", {"b", "c"}}});
  for (const int process : {0, 2}) try {
      device_share(job, process);
      ADD_FAILURE() << "process " << process;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::kInvalidArgument);
      EXPECT_THAT(
          error.what(),
          HasSubstr("process 0 on host h and process 2 on host h see some of the same GPUs"));
      EXPECT_THAT(error.what(), HasSubstr("CUDA_VISIBLE_DEVICES"));
    }
}

}  // namespace
}  // namespace gnnmg::capi
