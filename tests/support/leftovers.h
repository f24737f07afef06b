// The leftovers of some work: threads and open files in its process, lines on standard error.
// Header only, because the programs that tests start link no test framework.
#pragma once

#include <dirent.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace gnnmg::test {

class Leftovers {
 public:
  // Counts the present ones. A joined thread stays in /proc for a moment, so the count must be
  // stable for 200 ms.
  Leftovers() {
    for (int still = 0; still < 20; ++still) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const Counts now;
      if (now.threads != before_.threads || now.files != before_.files) still = 0;
      before_ = now;
    }
  }
  // "threads <n> files <n>": the increase since construction, once that is zero or a minute has
  // passed. Usually that takes milliseconds. But about once in 100 kills on a busy machine, Gloo
  // does not notice that a connection is closed, and its operation lasts until its timeout.
  std::string count() const {
    Counts now;
    for (int i = 0; i < 6000 && (more_threads(now) || more_files(now)); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      now = Counts();
    }
    return "threads " + std::to_string(more_threads(now)) + " files " +
           std::to_string(more_files(now));
  }
  static constexpr const char* kNone = "threads 0 files 0";
  static int open_files() { return entries("/proc/self/fd"); }

 private:
  static int entries(const char* path, bool (*passed_over)(const std::string& name) = nullptr) {
    DIR* folder = opendir(path);
    if (!folder) return -1;
    int count = 0;
    while (const dirent* entry = readdir(folder))
      if (entry->d_name[0] != '.' && !(passed_over && passed_over(entry->d_name))) ++count;
    closedir(folder);
    return count;
  }
  // gRPC has as many threads as it likes, and keeps them. They have names.
  static bool is_of_grpc(const std::string& task) {
    std::ifstream file("/proc/self/task/" + task + "/comm");
    std::string name;
    std::getline(file, name);
    for (const char* start : {"default-exec", "event_engine", "grpc", "nexting_thread",
                              "resolver-exec", "timer_manager"})
      if (name.starts_with(start)) return true;
    return false;
  }
  struct Counts {
    int threads = entries("/proc/self/task", is_of_grpc), files = open_files();
  };
  int more_threads(const Counts& now) const { return std::max(0, now.threads - before_.threads); }
  int more_files(const Counts& now) const { return std::max(0, now.files - before_.files); }

  Counts before_;
};

// Returns the text of standard error without Gloo's lines about a peer that disappears before it is
// connected to; Gloo has no switch for them.
inline std::string less_refused_peers(const std::string& written) {
  std::istringstream lines(written);
  std::string left;
  for (std::string line; std::getline(lines, line);)
    if (line.find("gloo/transport/tcp/debug_logger.cc") == std::string::npos) left += line + "\n";
  return left;
}

}  // namespace gnnmg::test
