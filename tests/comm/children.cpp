#include "comm/children.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <stdexcept>

#include "support/fork_server.h"

namespace gnnmg::test {

int64_t monotonic_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

namespace {

pid_t fork_and_exec(const std::string& program, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment, int out, int err) {
  std::vector<const char*> argv{program.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("fork");
  if (pid == 0) {
    dup2(out, 1);
    dup2(err, 2);
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    execvp(program.c_str(), const_cast<char* const*>(argv.data()));
    _exit(127);
  }
  return pid;
}

}  // namespace

Child::Child(const std::string& program, const std::vector<std::string>& arguments,
             const std::vector<std::string>& environment, Start start) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const auto begin = start == kFork ? fork_from_server : fork_and_exec;
  pid_ = begin(program, arguments, environment, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

Child::~Child() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(out_);
  close(err_);
}

void Child::signal(int number) const {
  if (pid_ > 0) kill(pid_, number);
}

bool Child::pump(int64_t ms) {
  pollfd entries[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  if (poll(entries, 2, static_cast<int>(ms)) <= 0) return true;
  bool open = false;
  for (const pollfd& entry : entries) {
    if ((entry.revents & (POLLIN | POLLHUP)) == 0) {
      open = true;
      continue;
    }
    char buffer[4096];
    const ssize_t n = read(entry.fd, buffer, sizeof buffer);
    if (n <= 0) continue;
    open = true;
    if (entry.fd == err_) {
      errors_.append(buffer, static_cast<size_t>(n));
      continue;
    }
    partial_.append(buffer, static_cast<size_t>(n));
    for (size_t end; (end = partial_.find('\n')) != std::string::npos;) {
      lines_.push_back(partial_.substr(0, end));
      partial_.erase(0, end + 1);
    }
  }
  return open;
}

std::string Child::wait_for(const std::function<bool(const std::string&)>& wanted, int64_t ms) {
  const int64_t until = monotonic_ms() + ms;
  while (true) {
    while (next_ < lines_.size())
      if (wanted(lines_[next_++])) return lines_[next_ - 1];
    if (monotonic_ms() >= until) return "";
    if (!pump(20) && next_ >= lines_.size()) return "";
  }
}

std::string Child::wait_for(const std::string& start, int64_t ms) {
  return wait_for([&](const std::string& line) { return line.starts_with(start); }, ms);
}

int Child::wait_end(int64_t ms) {
  const int64_t until = monotonic_ms() + ms;
  bool open = true;
  while (monotonic_ms() < until) {
    if (open)
      open = pump(20);
    else
      usleep(5000);
    int status = 0;
    if (!open && waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
  }
  return -1000;
}

std::string Child::all() const {
  std::string text;
  const size_t first = lines_.size() > 12 ? lines_.size() - 12 : 0;
  for (size_t i = first; i < lines_.size(); ++i) text += lines_[i] + "\n";
  return text + errors_;
}

std::vector<End> ends_of(const Child& child) {
  std::vector<End> ends;
  for (const std::string& line : child.lines()) {
    if (!line.starts_with("end ")) continue;
    std::istringstream in(line);
    End end;
    std::string word, at;
    in >> word >> end.rank >> end.status >> at >> end.at_ms;
    in.get();
    std::getline(in, end.text);
    ends.push_back(end);
  }
  return ends;
}

}  // namespace gnnmg::test
