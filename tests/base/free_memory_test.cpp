// The memory that a process can use, read from folders such as those of the system.
#include "base/free_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "support/temp_dir.h"

namespace gnnmg::base {
namespace {

constexpr int64_t kKiB = 1024, kMiB = 1024 * kKiB;

class Root {
 public:
  Root() {
    write("proc", "meminfo",
          "MemTotal:       8192 kB\nMemFree:        100 kB\nMemAvailable:   6144 kB\n");
  }
  void write(const std::string& below, const std::string& name, const std::string& text) const {
    dir_.write(below + "/" + name, text);
  }
  FreeMemory read() const { return free_memory(dir_.file("")); }

 private:
  test::TempDir dir_;
};

TEST(FreeMemory, OfThisMachine) {
  const FreeMemory memory = free_memory();
  EXPECT_GT(memory.available, 0);
  EXPECT_LE(memory.available, memory.total);
  EXPECT_LE(memory.total, sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE));
}

TEST(FreeMemory, WithoutALimitIsTheMachines) {
  const Root root;
  EXPECT_EQ(root.read().total, 8 * kMiB);
  EXPECT_EQ(root.read().available, 6 * kMiB);
  root.write("proc/self", "cgroup", "0::/pod/app\n");
  root.write("sys/fs/cgroup/pod/app", "memory.max", "max\n");
  EXPECT_EQ(root.read().total, 8 * kMiB);
  EXPECT_EQ(root.read().available, 6 * kMiB);
}

TEST(FreeMemory, OfAGroupWithALimit) {
  const Root root;
  root.write("proc/self", "cgroup", "1:cpu:/other\n0::/pod/app\n");
  // Files in memory can be dropped: 4 - 3 + 1 MiB are left.
  root.write("sys/fs/cgroup/pod", "memory.max", std::to_string(4 * kMiB));
  root.write("sys/fs/cgroup/pod", "memory.current", std::to_string(3 * kMiB));
  root.write("sys/fs/cgroup/pod", "memory.stat",
             "anon 2097152\ninactive_file 786432\nactive_file 262144\n");
  EXPECT_EQ(root.read().total, 4 * kMiB) << "the limit of a group above counts";
  EXPECT_EQ(root.read().available, 2 * kMiB);
  root.write("sys/fs/cgroup/pod/app", "memory.max", std::to_string(2 * kMiB));
  root.write("sys/fs/cgroup/pod/app", "memory.current", std::to_string(2 * kMiB + 4096));
  EXPECT_EQ(root.read().total, 2 * kMiB);
  EXPECT_EQ(root.read().available, 0);
}

TEST(FreeMemory, OfASystemThatTellsNothing) {
  const test::TempDir empty;
  EXPECT_EQ(free_memory(empty.file("")).total, 0);
  EXPECT_EQ(free_memory(empty.file("")).available, 0);
}

}  // namespace
}  // namespace gnnmg::base
