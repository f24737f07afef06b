// Child processes that a test starts, reads, stops and kills.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gnnmg::test {

class Child {
 public:
  enum Start { kExec, kFork };
  // Starts a program with these arguments; `environment` is added to this process's. kFork starts
  // it from the program's fork server (support/fork_server.h), if its main() has one.
  Child(const std::string& program, const std::vector<std::string>& arguments,
        const std::vector<std::string>& environment = {}, Start start = kExec);
  ~Child();  // kills a running child
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  // Returns the first line after the last found one for which `wanted` is true; empty if none comes
  // within `ms`. Lines are kept.
  std::string wait_for(const std::function<bool(const std::string&)>& wanted, int64_t ms);
  std::string wait_for(const std::string& start, int64_t ms);
  // Reads all output until the child ends. Returns its exit code, or minus the signal, or -1000 if
  // it still runs after `ms`.
  int wait_end(int64_t ms);
  const std::vector<std::string>& lines() const { return lines_; }
  const std::string& errors() const { return errors_; }  // standard error so far
  std::string all() const;                               // both outputs, as text for a failed test

 private:
  bool pump(int64_t ms);  // false when both ends are closed
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  std::string partial_, errors_;
  std::vector<std::string> lines_;
  size_t next_ = 0;
};

// The "end" line of a member: see member.cpp.
struct End {
  int rank = -1;
  std::string status, text;
  int64_t at_ms = 0;
};
std::vector<End> ends_of(const Child& child);
int64_t monotonic_ms();

// Milliseconds in which all processes hear of a loss or an abort, as docs/promises.md says: far
// below the deadlines.
inline constexpr int64_t kSoon = 2000;

}  // namespace gnnmg::test
