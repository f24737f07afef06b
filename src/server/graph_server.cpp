#include "server/graph_server.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/error.h"
#include "comm/join/token.h"

namespace gnnmg::server {
namespace {

using base::fail;
using base::Status;
using base::SteadyClock;

bool beyond_this_machine(const std::string& address) {
  return !address.starts_with("127.") && !address.starts_with("[::1]:") &&
         !address.starts_with("localhost:");
}

void check_address(const ServerConfig& config) {
  if (config.address.rfind(':') == config.address.npos)
    fail(Status::kInvalidArgument, "the address to listen at is \"", config.address,
         "\", expected a host and a port, such as 10.0.0.7:7300 or [::]:7300");
}

// Requirements of a server that other machines can reach.
void check_safety(const ServerConfig& config) {
  if (!beyond_this_machine(config.address)) return;
  if (config.token_file.empty() && config.token.empty())
    fail(Status::kInvalidArgument, config.address,
         " is reached from other machines: a token file is needed, which says who may ask");
  if (!config.tls.given() && !config.insecure)
    fail(Status::kInvalidArgument, config.address,
         " is reached from other machines: give certificates for TLS, or say that the network is "
         "safe (insecure)");
}

}  // namespace

GraphServer::GraphServer(const ServerConfig& config, base::Log& log,
                         const base::CancelToken& cancel)
    : config_((check_address(config), config)),
      log_(log),
      host_(config.folder, config.parts, cancel) {}

GraphServer::GraphServer(const dist::HeldParts& held, const ServerConfig& config, base::Log& log)
    : config_((check_address(config), config)), log_(log), host_(held, config.parts) {}

GraphServer::~GraphServer() = default;

void GraphServer::set_tls(const dist::TlsFiles& tls) {
  const std::lock_guard lock(mutex_);
  if (listener_ || over_) fail(Status::kBusy, "the server has started; set TLS before");
  config_.tls = tls;
}

void GraphServer::start(const dist::Engine& engine) {
  const std::lock_guard lock(mutex_);
  if (over_) fail(Status::kBusy, "the server was shut down, which is for ever; make another one");
  if (listener_) fail(Status::kBusy, "the server has started already");
  check_safety(config_);
  dist::ListenSettings settings;
  settings.address = config_.address;
  settings.tls = config_.tls;
  settings.patience_ms = config_.patience_ms;
  settings.threads = config_.threads > 0
                         ? config_.threads
                         : std::max(1, static_cast<int32_t>(std::thread::hardware_concurrency()));
  settings.token =
      config_.token_file.empty() ? config_.token : comm::read_token(config_.token_file);
  listener_ = engine.listen(settings, [this](std::span<const uint8_t> message, dist::Message& out) {
    answer(message, out);
  });
  if (beyond_this_machine(config_.address) && !config_.tls.given())
    log_.add(base::LogLevel::kWarning,
             base::text("the server at ", config_.address,
                        " uses no TLS: whoever can listen on the network sees the data"));
}

void GraphServer::answer(std::span<const uint8_t> message, dist::Message& out) {
  const auto begin = SteadyClock::now();
  host_.answer(message, out);
  const auto took = SteadyClock::now() - begin;
  latencies_.add(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  reads_.fetch_add(1, std::memory_order_relaxed);
  received_.fetch_add(static_cast<int64_t>(message.size()), std::memory_order_relaxed);
  sent_.fetch_add(out.size(), std::memory_order_relaxed);
}

ServerInfo GraphServer::info() const {
  ServerInfo info;
  info.num_parts = host_.hello().num_parts;
  info.parts = host_.hello().parts;
  info.reads = reads_.load(std::memory_order_relaxed);
  info.received_bytes = received_.load(std::memory_order_relaxed);
  info.sent_bytes = sent_.load(std::memory_order_relaxed);
  info.p50 = latencies_.quantile(0.5);
  info.p99 = latencies_.quantile(0.99);
  const std::lock_guard lock(mutex_);
  if (!listener_) return info;
  const dist::ListenerCounts counts = listener_->counts();
  info.port = listener_->port();
  info.clients = counts.clients;
  info.questions = counts.questions;
  info.busy = counts.busy;
  info.refused = counts.refused;
  return info;
}

bool GraphServer::shutdown(const base::Deadline& deadline) {
  dist::Listener* listener = nullptr;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    listener = listener_.get();  // stays as long as the server
  }
  return !listener || listener->shutdown(deadline);
}

}  // namespace gnnmg::server
