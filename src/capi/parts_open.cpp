// Opening a data set in parts: a share of a graph, or the parts of servers.
#include "capi/arguments.h"
#include "capi/comm.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/settings.h"
#include "comm/join/token.h"
#include "dist/held_parts.h"
#include "dist/part_dataset.h"
#include "dist/peers.h"
#include "server/worker.h"

namespace gnnmg::capi {
namespace {

// This process among those that share the parts.
struct Place {
  int32_t process = 0, num_processes = 1;
  std::shared_ptr<comm::Processes> processes;  // null: they are threads of this one
  int64_t join_ms = 0, deadline_ms = 0;
};

Place place_in(const Context& context, const gnnmg_comm* handle) {
  if (handle == nullptr) return {};
  const auto comm = find<Comm>(handle, "comm");
  if (comm->context.get() != &context)
    fail(Status::kInvalidArgument, "argument 'comm' belongs to another context");
  return {comm->rank(), comm->world_size(), comm->processes(), comm->join_ms(),
          comm->deadline_ms()};
}

// Requests for rows of other parts.
struct Requests {
  dist::PartsConfig asking;
  int64_t cache_bytes = 0;  // 0: a share of all rows

  dist::PartDatasetConfig config() const {
    dist::PartDatasetConfig config;
    config.asking = asking;
    if (cache_bytes > 0) config.cache.bytes = cache_bytes;
    return config;
  }
};

void take_requests(const gnnmg_served_config& in, Requests& requests, FieldNames& given) {
  check_choice(in.max_in_flight, 0, 1024, "config.max_in_flight");
  check_least(in.deadline_ms, 0, "config.deadline_ms");
  take_field(in.max_in_flight, "max_in_flight", requests.asking.max_in_flight, given);
  take_field(in.deadline_ms, "deadline_ms", requests.asking.deadline_ms, given);
  take_field(std::min<size_t>(in.cache_bytes, INT64_MAX), "cache_bytes", requests.cache_bytes,
             given);
}

// Settings of a share of the parts.
struct ShareSettings {
  Requests requests;
  server::Reading reading = server::Reading::kAuto;
  bool insecure = false;
  int32_t port = 0;
};

ShareSettings read_share(const gnnmg_served_config* config) {
  const gnnmg_served_config in = read_config(config);
  check_choice(in.port, 0, 65535, "config.port");
  ShareSettings settings;
  FieldNames given;
  take_requests(in, settings.requests, given);
  take_field(in.reading, "reading", settings.reading, given);
  take_field(in.insecure, "insecure", settings.insecure, given);
  take_field(in.port, "port", settings.port, given);
  return settings;
}

data::DatasetRef open_share(Context& context, const std::string& folder, const ShareSettings& in,
                            const Place& place, const base::CancelToken& token) {
  const auto held = dist::hold_parts(folder, token);
  dist::PartDatasetConfig config = in.requests.config();
  config.own = [&](int32_t num_parts) {
    return dist::parts_of_process(num_parts, place.process, place.num_processes);
  };
  config.read_part = [&](int32_t part) { return held->read(part); };
  config.open_channel = [&](const std::vector<int32_t>& others, uint64_t stamp) {
    return dist::make_part_channel(config.read_part, others, stamp);
  };
  return dist::open_part_dataset(held->source(), config, {context.pool, context.log, token});
}

data::DatasetRef open_worker(Context& context, const std::string& folder, const ShareSettings& in,
                             const Place& place, const base::CancelToken& token) {
  const dist::PartDatasetConfig reads = in.requests.config();
  const Options options = context.options();
  server::WorkerConfig config;
  config.folder = folder;
  config.reading = in.reading;
  config.asking = reads.asking;
  config.cache = reads.cache;
  config.port = in.port;
  config.insecure = in.insecure;
  config.tls = {options.tls_certificate, options.tls_key, options.tls_authority};
  config.serve_on_ms = place.deadline_ms;
  const auto wait = [&] {
    comm::Wait each;
    each.deadline = base::Deadline::after_ms(place.join_ms);
    each.cancel = token;
    return each;
  };
  return server::open_worker_dataset(
      config, {place.processes, wait, context.shared_log, context.pool, token});
}

// Servers to ask.
struct ServedSettings {
  std::string addresses, token_file;
  Requests requests;
  dist::PeersConfig peers;
  int64_t meet_ms = 60'000;
};

constexpr SettingRow<ServedSettings> kServedRows[] = {
    GNNMG_SETTING_AS(ServedSettings, "max_in_flight", requests.asking.max_in_flight, "1 to 1024",
                     "Concurrent requests for rows to each part.", true),
    GNNMG_SETTING_AS(ServedSettings, "deadline_ms", requests.asking.deadline_ms, "1 or more",
                     "Time limit of one request, milliseconds.", true),
    GNNMG_SETTING_AS(ServedSettings, "cache_bytes", requests.cache_bytes, "0 or more",
                     "Bytes of cached feature rows; the cache has the rows that mini-batches read "
                     "most, by the hotness stored with the parts. 0: one tenth of the rows of all "
                     "nodes.",
                     true),
    GNNMG_SETTING_AS(ServedSettings, "patience_ms", peers.patience_ms, "0 to 1099511627776",
                     "Time to wait for a part whose servers are all down, milliseconds. 0: three "
                     "attempts, about one second."),
    GNNMG_SETTING_AS(ServedSettings, "hedge_ms", peers.hedge_ms, "0 to 1099511627776",
                     "Time after which another server of the part gets the request too, "
                     "milliseconds. 0: never."),
    GNNMG_SETTING(ServedSettings, meet_ms, "0 to 1099511627776",
                  "Time at the beginning for every part to have a server, milliseconds."),
    GNNMG_SETTING_AS(ServedSettings, "insecure", peers.insecure, nullptr,
                     "1: connect to other machines even without TLS, with a warning in the log.",
                     true),
    GNNMG_SETTING_AS(ServedSettings, "tls_certificate", peers.tls.certificate, "path of a file",
                     "PEM file with the certificate of this client. Without it: no TLS."),
    GNNMG_SETTING_AS(ServedSettings, "tls_key", peers.tls.key, "path of a file",
                     "PEM file with the key of tls_certificate."),
    GNNMG_SETTING_AS(ServedSettings, "tls_authority", peers.tls.authority, "path of a file",
                     "PEM file with the certificate that signed the certificates of the servers."),
};

void read_served(const gnnmg_served_config* config, const char* text, ServedSettings& settings) {
  const gnnmg_served_config in = read_config(config);
  FieldNames given;
  take_requests(in, settings.requests, given);
  take_field(in.insecure, "insecure", settings.peers.insecure, given);
  std::vector<Word> words = split_words("served", text);
  apply_words<ServedSettings>(words, kServedRows, settings, given);
  settings.peers.max_in_flight = settings.requests.asking.max_in_flight;
}

data::DatasetRef open_served(Context& context, const ServedSettings& settings,
                             const base::CancelToken& token) {
  dist::PartDatasetConfig config = settings.requests.config();
  dist::PeersConfig asking = settings.peers;
  if (!settings.token_file.empty()) asking.token = comm::read_token(settings.token_file);
  const auto peers = dist::Peers::meet(dist::open_engine(), settings.addresses, asking, context.log,
                                       base::Deadline::after_ms(settings.meet_ms), token);
  config.own = [](int32_t) { return std::vector<int32_t>(); };
  config.open_channel = [&](const std::vector<int32_t>&, uint64_t stamp) {
    if (stamp != peers->data().stamp)
      fail(Status::kMismatch, settings.addresses, ": the servers' files are of other data than ",
           "their rows; serve one folder of parts");
    return peers->channel();
  };
  return dist::open_part_dataset(dist::source_of(peers->files(), settings.addresses), config,
                                 {context.pool, context.log, token});
}

}  // namespace

std::vector<SettingFacts> served_settings() {
  return list_settings<ServedSettings>(kServedRows, {});
}

}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_dataset_open_parts(const gnnmg_context* context, const gnnmg_comm* comm,
                                      const char* folder, const gnnmg_served_config* config,
                                      gnnmg_dataset** dataset, int64_t timeout_ms) {
  return guard(outs(Out{dataset, "dataset"}), [&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto c = find<Context>(context, "context");
    const std::string path(read_name(folder, "folder"));
    const Place place = place_in(*c, comm);
    const ShareSettings in = read_share(config);
    const Requests& requests = in.requests;
    const std::string key = gnnmg::base::text(
        "open parts ", path, '\0', place.process, ' ', place.num_processes, ' ',
        requests.asking.max_in_flight, ' ', requests.asking.deadline_ms, ' ', requests.cache_bytes,
        ' ', value_text(in.reading), ' ', in.insecure, ' ', in.port);
    const auto open = place.processes && place.num_processes > 1 ? open_worker : open_share;
    const Outcome outcome = wait_for_job(
        c->pendings, key, *c->queue, timeout_ms,
        [&] {
          return start_job(c, [owner = c.get(), path, in, place, open, token = c->work_token()] {
            return std::make_shared<gnnmg::data::DatasetRef>(open(*owner, path, in, place, token));
          });
        },
        [] {});
    if (outcome.pending) return GNNMG_PENDING;
    *dataset = new_handle<gnnmg_dataset>(
        std::make_shared<Dataset>(c, outcome.as<gnnmg::data::DatasetRef>()));
    return GNNMG_OK;
  });
}

gnnmg_status gnnmg_dataset_open_served(const gnnmg_context* context, const char* addresses,
                                       const char* token_file, const gnnmg_served_config* config,
                                       const char* settings, gnnmg_dataset** dataset,
                                       int64_t timeout_ms) {
  return guard(outs(Out{dataset, "dataset"}), [&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto c = find<Context>(context, "context");
    ServedSettings served;
    served.addresses = read_name(addresses, "addresses");
    served.token_file = optional_name(token_file, "token_file", "");
    read_served(config, settings, served);
    const Requests& requests = served.requests;
    const std::string key = gnnmg::base::text(
        "open served ", served.addresses, '\0', served.token_file, '\0',
        settings == nullptr ? "" : settings, '\0', requests.asking.max_in_flight, ' ',
        requests.asking.deadline_ms, ' ', requests.cache_bytes, ' ', served.peers.insecure);
    const Outcome outcome = wait_for_job(
        c->pendings, key, *c->queue, timeout_ms,
        [&] {
          return start_job(c, [owner = c.get(), served, token = c->work_token()] {
            return std::make_shared<gnnmg::data::DatasetRef>(open_served(*owner, served, token));
          });
        },
        [] {});
    if (outcome.pending) return GNNMG_PENDING;
    *dataset = new_handle<gnnmg_dataset>(
        std::make_shared<Dataset>(c, outcome.as<gnnmg::data::DatasetRef>()));
    return GNNMG_OK;
  });
}

}  // extern "C"
