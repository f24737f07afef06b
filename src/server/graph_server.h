// A server of parts of a graph: opens parts, listens, and counts its work.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/latencies.h"
#include "base/log.h"
#include "dist/engine.h"
#include "dist/host.h"

namespace gnnmg::server {

struct ServerConfig {
  std::string folder;  // folder of parts, or of the library's own format (dist/held_parts.h)
  std::vector<int32_t> parts;  // none: all
  std::string address = "127.0.0.1:0";
  // A file with the token of the clients, or the token itself. Both empty: every program of this
  // machine is a client.
  std::string token_file, token;
  dist::TlsFiles tls;
  bool insecure = false;        // listen without TLS at an address that other machines reach
  int32_t threads = 0;          // threads that answer; 0: one per core
  int64_t patience_ms = 5'000;  // limit for connections that send nothing, or slowly
};

struct ServerInfo {
  int32_t port = 0, num_parts = 0;
  std::vector<int32_t> parts;
  int64_t clients = 0;    // that asked something in the last minute
  int64_t questions = 0;  // being answered or waiting
  int64_t reads = 0, received_bytes = 0, sent_bytes = 0;
  int64_t refused = 0;      // questions without a valid ticket
  int64_t busy = 0;         // questions postponed for busy clients
  double p50 = 0, p99 = 0;  // seconds per answer
};

// Any thread.
class GraphServer {
 public:
  // Opens the parts. Errors as of dist::Host; kInvalidArgument for an address beyond this machine
  // with neither TLS nor `insecure`, or without a token. `log` outlives the server.
  GraphServer(const ServerConfig& config, base::Log& log, const base::CancelToken& cancel);
  // The same for open parts, without the folder of `config`.
  GraphServer(const dist::HeldParts& held, const ServerConfig& config, base::Log& log);
  ~GraphServer();  // ends questions under way

  // Replaces the TLS files. Error(kBusy) once it has started.
  void set_tls(const dist::TlsFiles& tls);
  // Listens. Error(kBusy) where it does already, kDependency without the plug-in, kUnavailable
  // where the address is taken, kAuth or kNotFound for a token file.
  void start(const dist::Engine& engine);
  ServerInfo info() const;
  // Takes no new questions and answers those that have come; false where the deadline passed
  // before, and some were given up. Nothing where it does not listen.
  bool shutdown(const base::Deadline& deadline);

 private:
  void answer(std::span<const uint8_t> message, dist::Message& out);

  ServerConfig config_;
  base::Log& log_;
  const dist::Host host_;
  std::atomic<int64_t> reads_{0}, received_{0}, sent_{0};
  base::Latencies latencies_;
  mutable std::mutex mutex_;
  std::unique_ptr<dist::Listener> listener_;
  bool over_ = false;
};

}  // namespace gnnmg::server
