// Servers of parts: the work of gnnmg-server, for any host.
#include "server/graph_server.h"

#include <utility>

#include "capi/arguments.h"
#include "capi/context.h"

namespace gnnmg::capi {
namespace {

constexpr int64_t kDrainMs = 30'000;

class Server : public Object {
 public:
  static constexpr Kind kKind = Kind::kServer;
  Server(const std::shared_ptr<Context>& owner, std::shared_ptr<server::GraphServer> opened,
         int64_t drain)
      : Object(kKind, owner, owner->queue), core(std::move(opened)), drain_ms(drain) {}
  bool ends_slowly() const noexcept override { return true; }

  const std::shared_ptr<server::GraphServer> core;
  const int64_t drain_ms;
  Pendings pendings;
};

server::ServerConfig config_of(const gnnmg_server_config& in) {
  check_least(in.threads, 0, "config.threads");
  check_flag(in.insecure, "config.insecure");
  check_least(in.drain_ms, 0, "config.drain_ms");
  server::ServerConfig config;
  config.threads = in.threads;
  config.insecure = in.insecure != 0;
  return config;
}

std::string key_of(const server::ServerConfig& config) {
  std::string key = base::text("server ", config.folder, '\0', config.address, '\0',
                               config.token_file, '\0', config.threads, ' ', config.insecure);
  for (const int32_t part : config.parts) key += base::text(' ', part);
  return key;
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_server_create(const gnnmg_context* context, const char* folder,
                                 const int32_t* parts, int64_t num_parts, const char* address,
                                 const char* token_file, const gnnmg_server_config* config,
                                 gnnmg_server** server, int64_t timeout_ms) {
  return guard(outs(Out{server, "server"}), [&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto c = find<Context>(context, "context");
    const gnnmg_server_config in = read_config(config);
    gnnmg::server::ServerConfig settings = config_of(in);
    settings.folder = read_name(folder, "folder");
    const auto list = read_list(parts, num_parts, "parts");
    settings.parts.assign(list.begin(), list.end());
    settings.address = read_name(address, "address");
    if (token_file) settings.token_file = read_name(token_file, "token_file");
    const Outcome outcome = wait_for_job(
        c->pendings, key_of(settings), *c->queue, timeout_ms,
        [&] {
          return start_job(c, [context = c.get(), settings, token = c->work_token()]() {
            return std::make_shared<std::shared_ptr<gnnmg::server::GraphServer>>(
                std::make_shared<gnnmg::server::GraphServer>(settings, context->log, token));
          });
        },
        [] {});
    if (outcome.pending) return GNNMG_PENDING;
    *server = new_handle<gnnmg_server>(
        make_object<Server>(c, outcome.as<std::shared_ptr<gnnmg::server::GraphServer>>(),
                            in.drain_ms > 0 ? in.drain_ms : kDrainMs));
    return GNNMG_OK;
  });
}

gnnmg_status gnnmg_server_set_tls(gnnmg_server* server, const char* certificate, const char* key,
                                  const char* authority) {
  return guard([&] {
    const auto s = read<Server>(server, "server");
    s->core->set_tls({std::string(read_name(certificate, "certificate")),
                      std::string(read_name(key, "key")),
                      std::string(read_name(authority, "authority"))});
  });
}

gnnmg_status gnnmg_server_start(gnnmg_server* server) {
  return guard([&] { read<Server>(server, "server")->core->start(gnnmg::dist::open_engine()); });
}

gnnmg_status gnnmg_server_get_info(const gnnmg_server* server, gnnmg_server_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const gnnmg::server::ServerInfo facts = find<Server>(server, "server")->core->info();
    gnnmg_server_info out{};
    out.port = facts.port;
    out.num_parts = facts.num_parts;
    out.num_served = static_cast<int32_t>(facts.parts.size());
    out.num_clients = facts.clients;
    out.num_questions = facts.questions;
    out.num_reads = facts.reads;
    out.received_bytes = facts.received_bytes;
    out.sent_bytes = facts.sent_bytes;
    out.num_refused = facts.refused;
    out.num_busy = facts.busy;
    out.p50_seconds = facts.p50;
    out.p99_seconds = facts.p99;
    give(info, out);
  });
}

gnnmg_status gnnmg_server_shutdown(gnnmg_server* server, int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto s = read<Server>(server, "server");
    const Outcome outcome = wait_for_job(
        s->pendings, "shutdown", *s->queue, timeout_ms,
        [&] {
          return start_job(s->context,
                           [core = s->core, drain = s->drain_ms]() -> std::shared_ptr<void> {
                             const auto until = gnnmg::base::Deadline::after_ms(drain);
                             if (!core->shutdown(until))
                               fail(Status::kTimeout, "questions were under way after ", drain,
                                    " ms; they were given up");
                             return nullptr;
                           });
        },
        [] {});
    return outcome.pending ? GNNMG_PENDING : GNNMG_OK;
  });
}

void gnnmg_server_free(gnnmg_server* server) { free_handle(server, Kind::kServer); }

}  // extern "C"
