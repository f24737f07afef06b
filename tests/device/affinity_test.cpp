#include "device/affinity.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "support/data.h"
#include "support/sysfs.h"

namespace gnnmg::device {
namespace {

using test::Sysfs;
using Cores = std::vector<int>;

Cores own_cores() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  Cores cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

TEST(Affinity, ReadsAndWritesListsOfCores) {
  EXPECT_EQ(cores_of_text("0-3,8,10-11\n"), (Cores{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(cores_of_text("7"), Cores{7});
  EXPECT_EQ(cores_of_text("4-5, 1, 5-6"), (Cores{1, 4, 5, 6}));
  EXPECT_EQ(cores_of_text("\n"), Cores{});
  for (const char* text : {"x", "3-1", "-1", "1-", "1,,2", "1,", "0-99999999", "1 2"})
    EXPECT_EQ(cores_of_text(text), std::nullopt) << text;
  EXPECT_EQ(text_of_cores({0, 1, 2, 3, 8, 10, 11}), "0-3, 8, 10-11");
  EXPECT_EQ(text_of_cores({5}), "5");
  EXPECT_EQ(text_of_cores({}), "");
}

constexpr const char* kDevice = "/sys/bus/pci/devices/0000:3b:00.0/numa_node";
constexpr const char* kNode = "/sys/devices/system/node/node1/cpulist";

TEST(Affinity, FindsTheCoresBesideADevice) {
  const Sysfs sysfs({{kDevice, "1\n"}, {kNode, "16-31,48-63\n"}});
  for (const char* bus_id : {"0000:3b:00.0", "0000:3B:00.0"}) {
    const auto found = cores_beside(bus_id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->node, 1);
    EXPECT_EQ(text_of_cores(found->cores), "16-31, 48-63");
  }
  EXPECT_FALSE(cores_beside("0000:3c:00.0"));
}

TEST(Affinity, KnowsNothingWhereTheSystemDoesNotTell) {
  {
    const Sysfs sysfs({{kDevice, "-1\n"}, {kNode, "0\n"}});
    EXPECT_FALSE(cores_beside("0000:3b:00.0"));
  }
  for (const char* node : {"", "one\n", "2\n"}) {
    const Sysfs sysfs({{kDevice, node}, {kNode, "0\n"}});
    EXPECT_FALSE(cores_beside("0000:3b:00.0")) << node;
  }
  for (const char* cores : {"", "\n", "a-b\n"}) {
    const Sysfs sysfs({{kDevice, "1\n"}, {kNode, cores}});
    EXPECT_FALSE(cores_beside("0000:3b:00.0")) << cores;
  }
  const Sysfs sysfs({});
  for (const char* bus_id : {"", "../../../etc", "0000:3b:00.0/../x"})
    EXPECT_FALSE(cores_beside(bus_id));
}

// Runs on a separate thread, because the binding is permanent.
template <typename F>
void apart(const F& f) {
  std::thread(f).join();
}

TEST(Affinity, BindsAThreadAndThoseThatItStarts) {
  const Cores all = own_cores();
  GNNMG_NEEDS(all.size() >= 2, "two cores");
  const Cores half(all.begin(), all.begin() + static_cast<int64_t>(all.size() / 2));
  // Cores that this process may not use, or that do not exist, are left out.
  const Sysfs sysfs({{kDevice, "1\n"}, {kNode, text_of_cores(half) + ",5000-5007\n"}});
  apart([&] {
    const auto found = stay_beside("0000:3B:00.0");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->cores, half);
    EXPECT_EQ(own_cores(), half);
    apart([&] { EXPECT_EQ(own_cores(), half); });
    EXPECT_FALSE(stay_beside("0000:3b:00.0")) << "it is there already";
  });
  EXPECT_EQ(own_cores(), all);
}

TEST(Affinity, ChangesNothingWhereNoCoreOrEveryCoreIsNear) {
  const Cores all = own_cores();
  for (const std::string& cores : {std::string("1000-1003"), text_of_cores(all) + ",1001"}) {
    const Sysfs sysfs({{kDevice, "1\n"}, {kNode, cores}});
    apart([&] {
      EXPECT_FALSE(stay_beside("0000:3b:00.0")) << cores;
      EXPECT_EQ(own_cores(), all);
    });
  }
}

}  // namespace
}  // namespace gnnmg::device
