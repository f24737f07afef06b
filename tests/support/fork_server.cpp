#include "support/fork_server.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string_view>

namespace gnnmg::test {
namespace {

constexpr std::string_view kServe = "--serve-forks";
constexpr int kSocket = 3;  // the server's socket; it has no other descriptor above standard error
constexpr size_t kLongestRequest = 128 * 1024;

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string("fork server: ") + what + ": " + std::strerror(errno));
}

// A request: the number of arguments, then the arguments and the environment, each with its zero.
// Two descriptors come with it.
std::string request_of(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment) {
  std::string request = std::to_string(arguments.size()) + '\0';
  for (const std::string& argument : arguments) request += argument + '\0';
  for (char** variable = environ; *variable; ++variable)
    request += *variable + std::string(1, '\0');
  for (const std::string& variable : environment)
    request += variable + '\0';  // the last one counts
  if (request.size() > kLongestRequest) throw std::runtime_error("fork server: a request too long");
  return request;
}

std::vector<std::string> strings_in(std::string_view request) {
  std::vector<std::string> strings;
  for (; !request.empty(); request.remove_prefix(strings.back().size() + 1))
    strings.emplace_back(request.data());
  return strings;
}

// A message of these bytes, with room for two descriptors.
struct Message {
  explicit Message(std::string& bytes) : part{bytes.data(), bytes.size()} {
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    head.msg_control = ancillary.data();
    head.msg_controllen = ancillary.size();
  }
  Message(const Message&) = delete;
  iovec part;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> ancillary{};
  msghdr head{};
};

void send_request(int socket, std::string request, const std::array<int, 2>& descriptors) {
  Message message(request);
  cmsghdr* header = CMSG_FIRSTHDR(&message.head);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof descriptors);
  if (sendmsg(socket, &message.head, MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
    fail("sendmsg");
}

// The next request and its descriptors; empty at the end.
std::string receive_request(std::array<int, 2>& descriptors) {
  std::string request(kLongestRequest, '\0');
  Message message(request);
  const ssize_t length = recvmsg(kSocket, &message.head, 0);
  if (length <= 0) return "";
  const cmsghdr* header = CMSG_FIRSTHDR(&message.head);
  if (!header || header->cmsg_len != CMSG_LEN(sizeof descriptors)) _exit(126);
  std::memcpy(descriptors.data(), CMSG_DATA(header), sizeof descriptors);
  request.resize(static_cast<size_t>(length));
  return request;
}

// Replaces an execve() with this request in the new process.
int run_request(char* name, const std::string& request, const std::array<int, 2>& descriptors,
                int (*run)(int, char**)) {
  dup2(descriptors[0], STDOUT_FILENO);
  dup2(descriptors[1], STDERR_FILENO);
  for (const int descriptor : {descriptors[0], descriptors[1], kSocket}) close(descriptor);
  static std::vector<std::string> strings;  // environ points into it
  strings = strings_in(request);
  const size_t num_arguments = std::stoul(strings[0]);
  std::vector<char*> arguments{name};
  for (size_t i = 1; i <= num_arguments; ++i) arguments.push_back(strings[i].data());
  arguments.push_back(nullptr);
  clearenv();
  for (size_t i = 1 + num_arguments; i < strings.size(); ++i) putenv(strings[i].data());
  return run(static_cast<int>(num_arguments) + 1, arguments.data());
}

}  // namespace

int run_or_serve_forks(int argc, char** argv, int (*run)(int, char**)) {
  if (argc != 2 || argv[1] != kServe) return run(argc, argv);
  std::array<int, 2> descriptors{};
  for (std::string request; !(request = receive_request(descriptors)).empty();) {
    int answer[2];
    if (pipe2(answer, O_CLOEXEC) != 0) return 126;
    // An intermediate process forks and ends, so that the new process becomes a child of the
    // requester.
    const pid_t between = fork();
    if (between == 0) {
      const pid_t child = fork();
      if (child == 0) {
        close(answer[0]);
        close(answer[1]);
        const int code = run_request(argv[0], request, descriptors, run);
        std::fflush(nullptr);
#ifdef __SANITIZE_ADDRESS__
        std::exit(code);  // looks for leaks
#else
        _exit(code);  // LibTorch takes itself apart for 0.15 s otherwise
#endif
      }
      _exit(write(answer[1], &child, sizeof child) == sizeof child ? 0 : 1);
    }
    close(answer[1]);
    pid_t child = -1;
    const ssize_t length = read(answer[0], &child, sizeof child);
    close(answer[0]);
    for (const int descriptor : descriptors) close(descriptor);
    waitpid(between, nullptr, 0);
    if (length != sizeof child || send(kSocket, &child, sizeof child, MSG_NOSIGNAL) < 0) return 126;
  }
  return 0;
}

namespace {

// Starts the server of `program`; the answer is this process's end of its socket.
int start_server(const std::string& program) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
  const int bytes = 2 * kLongestRequest;
  setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  // Processes whose parent, the one between, has ended come to this one.
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) fail("prctl");
  const pid_t server = fork();
  if (server < 0) fail("fork");
  if (server == 0) {
    // dup2() onto itself would leave the descriptor to be closed by execl().
    if (ends[1] == kSocket ? fcntl(kSocket, F_SETFD, 0) != 0 : dup2(ends[1], kSocket) < 0)
      _exit(127);
    close_range(kSocket + 1, ~0U, 0);
    execl(program.c_str(), program.c_str(), kServe.data(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  return ends[0];
}

}  // namespace

pid_t fork_from_server(const std::string& program, const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment, int out, int err) {
  static std::map<std::string, int> servers;  // closed with this process
  auto server = servers.find(program);
  if (server == servers.end()) server = servers.emplace(program, start_server(program)).first;
  send_request(server->second, request_of(arguments, environment), {out, err});
  pid_t child = -1;
  if (recv(server->second, &child, sizeof child, 0) != sizeof child || child <= 0)
    throw std::runtime_error("fork server: " + program + " has ended");
  return child;
}

}  // namespace gnnmg::test
