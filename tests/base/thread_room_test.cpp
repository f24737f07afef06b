// The check for free threads, with the system's own limit.
#include "base/thread_room.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "base/background.h"
#include "support/data.h"

namespace gnnmg::test {
namespace {

int threads_of_this_process() {
  int count = 0;
  if (FILE* file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, file))
      if (std::sscanf(line, "Threads: %d", &count) == 1) break;
    std::fclose(file);
  }
  return count;
}

// Runs `body`, which returns true on success, in a process that may start that many more threads.
void with_room_for(int more, const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    // A user without other processes, so that the limit applies to this process alone.
    if (geteuid() == 0 && setuid(61'873) != 0) _exit(2);
    const rlimit limit{static_cast<rlim_t>(1 + more), static_cast<rlim_t>(1 + more)};
    if (setrlimit(RLIMIT_NPROC, &limit) != 0) _exit(3);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "room for " << more;
}

TEST(ThreadRoom, IsFoundAndThereAtOnce) {
  GNNMG_NEEDS(geteuid() == 0, "root, to become a user of whom nothing else runs");
  for (const int room : {0, 1, 5})
    for (int count = 1; count <= 6; ++count)
      with_room_for(room, [&] {
        for (int time = 0; time < 50; ++time) {
          std::atomic<int> started{0};
          // OpenMP starts all threads at once, and a refusal would end the program.
          const bool found = base::start_where_room(count, [&] {
            std::vector<std::thread> team;
            for (int i = 0; i < count; ++i) team.emplace_back([&] { ++started; });
            for (std::thread& thread : team) thread.join();
          });
          if (found != (count <= room) || started != (found ? count : 0)) return false;
          // These threads end before the next check; OpenMP's do not.
          while (threads_of_this_process() > 1) std::this_thread::yield();
        }
        return true;
      });
}

TEST(ThreadRoom, NoneIsNeededForNone) {
  bool ran = false;
  EXPECT_TRUE(base::start_where_room(0, [&] { ran = true; }));
  EXPECT_TRUE(ran);
  EXPECT_EQ(threads_of_this_process(), 1);
}

// Threads of the library that start meanwhile do not take the room that was found.
TEST(ThreadRoom, IsTakenByOneAtATime) {
  GNNMG_NEEDS(geteuid() == 0, "root, to become a user of whom nothing else runs");
  with_room_for(8, [] {
    std::thread other([] {
      for (int i = 0; i < 200; ++i) base::start_thread([] {}).join();
    });
    bool well = true;
    for (int time = 0; time < 100; ++time)
      base::start_where_room(2, [&] {
        std::vector<std::thread> team;
        try {
          for (int i = 0; i < 2; ++i) team.emplace_back([] {});
        } catch (const std::system_error&) {
          well = false;
        }
        for (std::thread& thread : team) thread.join();
      });
    other.join();
    return well;
  });
}

TEST(ThreadRoom, ARefusalIsWantOfMemory) {
  const base::Error error =
      base::refused_resource(std::system_error(EAGAIN, std::generic_category(), "thread"));
  EXPECT_EQ(error.status(), base::Status::kNoMemory);
  EXPECT_EQ(error.system_error(), EAGAIN);
  EXPECT_EQ(std::string(error.what()).find("the system refused a resource: thread"), 0u);
}

}  // namespace
}  // namespace gnnmg::test
