// The program gnnmg-server: serves until SIGTERM or SIGINT, then answers the received requests and
// ends.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "base/error.h"
#include "server/graph_server.h"
#include "server/metrics.h"
#include "server/options.h"

namespace {

using namespace gnnmg;

constexpr int kFailed = 1, kUsage = 2;
constexpr time_t kMetricsEvery = 10;  // seconds

void print_log(base::Log& log) {
  while (const auto record = log.next()) std::fprintf(stderr, "%s\n", record->text.c_str());
}

void announce(const server::ServerInfo& info, const std::string& address) {
  std::string parts;
  for (const int32_t part : info.parts) parts += base::text(parts.empty() ? "" : ",", part);
  std::printf("serving parts %s of %d at %s:%d\n", parts.c_str(), info.num_parts,
              address.substr(0, address.rfind(':')).c_str(), info.port);
  std::fflush(stdout);
}

int serve(const server::Options& options, const sigset_t& ends) {
  base::Log log;
  server::GraphServer server(options.server, log, {});
  server.start(dist::open_engine());
  announce(server.info(), options.server.address);
  while (true) {
    print_log(log);
    if (!options.metrics_file.empty()) server::write_metrics(options.metrics_file, server.info());
    const timespec wait{kMetricsEvery, 0};
    if (sigtimedwait(&ends, nullptr, &wait) > 0) break;
  }
  const bool drained = server.shutdown(base::Deadline::after_ms(options.drain_ms));
  if (!options.metrics_file.empty()) server::write_metrics(options.metrics_file, server.info());
  const server::ServerInfo info = server.info();
  std::printf("answered %lld questions%s\n", static_cast<long long>(info.reads),
              drained ? "" : "; some were given up");
  return drained ? 0 : kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t ends;  // blocked in all threads, so that the loop gets them
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  signal(SIGPIPE, SIG_IGN);
  try {
    const server::Options options = server::read_options(argc, argv);
    if (options.help) return std::fputs(server::usage(), stdout) < 0 ? kFailed : 0;
    return serve(options, ends);
  } catch (const base::Error& error) {
    std::fprintf(stderr, "gnnmg-server: %s\n", error.what());
    if (error.status() != base::Status::kInvalidArgument) return kFailed;
    std::fputs("gnnmg-server --help says what it takes\n", stderr);
    return kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gnnmg-server: %s\n", error.what());
    return kFailed;
  }
}
