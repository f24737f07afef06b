// Opening a data set in parts: a share of a graph, or the parts of servers.
#include "capi/arguments.h"
#include "capi/comm.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/words.h"
#include "comm/join/token.h"
#include "dist/held_parts.h"
#include "dist/part_dataset.h"
#include "dist/peers.h"
#include "server/worker.h"

namespace gnnmg::capi {
namespace {

const gnnmg_served_config kServedDefaults = [] {
  gnnmg_served_config config{};
  config.struct_size = sizeof config;
  return config;
}();

static_assert(static_cast<int32_t>(server::Reading::kAuto) == GNNMG_PARTS_READING_AUTO &&
              static_cast<int32_t>(server::Reading::kShared) == GNNMG_PARTS_READING_SHARED &&
              static_cast<int32_t>(server::Reading::kAsked) == GNNMG_PARTS_READING_ASKED);

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

dist::PartDatasetConfig part_config(const gnnmg_served_config& in) {
  check_choice(in.max_in_flight, 0, 1024, "config.max_in_flight");
  check_least(in.deadline_ms, 0, "config.deadline_ms");
  GNNMG_CHECK_CONSTANT(in.reading, GNNMG_PARTS_READING_AUTO, GNNMG_PARTS_READING_ASKED,
                       "config.reading");
  check_flag(in.insecure, "config.insecure");
  check_choice(in.port, 0, 65535, "config.port");
  if (in.padding0 != 0)
    fail(Status::kInvalidArgument, "config.padding0 is ", in.padding0, ", expected 0");
  dist::PartDatasetConfig config;
  if (in.max_in_flight > 0) config.asking.max_in_flight = in.max_in_flight;
  if (in.deadline_ms > 0) config.asking.deadline_ms = in.deadline_ms;
  if (in.cache_bytes > 0)
    config.cache.bytes =
        static_cast<int64_t>(std::min<size_t>(in.cache_bytes, static_cast<size_t>(INT64_MAX)));
  return config;
}

data::DatasetRef open_share(Context& context, const std::string& folder,
                            const gnnmg_served_config& in, const Place& place,
                            const base::CancelToken& token) {
  const auto held = dist::hold_parts(folder, token);
  dist::PartDatasetConfig config = part_config(in);
  config.own = [&](int32_t num_parts) {
    return dist::parts_of_process(num_parts, place.process, place.num_processes);
  };
  config.read_part = [&](int32_t part) { return held->read(part); };
  config.open_channel = [&](const std::vector<int32_t>& others, uint64_t stamp) {
    return dist::make_part_channel(config.read_part, others, stamp);
  };
  return dist::open_part_dataset(held->source(), config, {context.pool, context.log, token});
}

data::DatasetRef open_worker(Context& context, const std::string& folder,
                             const gnnmg_served_config& in, const Place& place,
                             const base::CancelToken& token) {
  const dist::PartDatasetConfig reads = part_config(in);
  const Options options = context.options();
  server::WorkerConfig config;
  config.folder = folder;
  config.reading = static_cast<server::Reading>(in.reading);
  config.asking = reads.asking;
  config.cache = reads.cache;
  config.port = in.port;
  config.insecure = in.insecure != 0;
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
  dist::PeersConfig peers;
  int64_t timeout_ms = 60'000;
};

constexpr int64_t kLongest = int64_t{1} << 40;
constexpr std::string_view kServedMilliseconds = "milliseconds, 0 or more";

constexpr Setting<ServedSettings> kServedSettings[] = {
    {"patience_ms",
     [](auto& s, const Word& w) {
       s.peers.patience_ms = w.integer(0, kLongest, kServedMilliseconds);
     }},
    {"hedge_ms",
     [](auto& s, const Word& w) {
       s.peers.hedge_ms = w.integer(0, kLongest, kServedMilliseconds);
     }},
    {"meet_ms",
     [](auto& s, const Word& w) { s.timeout_ms = w.integer(0, kLongest, kServedMilliseconds); }},
    {"insecure", [](auto& s, const Word& w) { s.peers.insecure = w.integer(0, 1, "0 or 1") != 0; }},
    {"tls_certificate", [](auto& s, const Word& w) { s.peers.tls.certificate = w.value; }},
    {"tls_key", [](auto& s, const Word& w) { s.peers.tls.key = w.value; }},
    {"tls_authority", [](auto& s, const Word& w) { s.peers.tls.authority = w.value; }},
};

data::DatasetRef open_served(Context& context, const gnnmg_served_config& in,
                             const ServedSettings& settings, const base::CancelToken& token) {
  dist::PartDatasetConfig config = part_config(in);
  dist::PeersConfig asking = settings.peers;
  asking.max_in_flight = config.asking.max_in_flight;
  asking.insecure |= in.insecure != 0;
  if (!settings.token_file.empty()) asking.token = comm::read_token(settings.token_file);
  const auto peers = dist::Peers::meet(dist::open_engine(), settings.addresses, asking, context.log,
                                       base::Deadline::after_ms(settings.timeout_ms), token);
  config.own = [](int32_t) { return std::vector<int32_t>(); };
  config.open_channel = [&](const std::vector<int32_t>&, uint64_t stamp) {
    if (stamp != peers->data().stamp)
      fail(Status::kMismatch, settings.addresses, ": the servers' files are of other data than ",
           "their rows; serve one folder of parts");
    return peers->channel();
  };
  return dist::open_part_dataset(dist::source_of(peers->files(), settings.addresses, token), config,
                                 {context.pool, context.log, token});
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_served_config_init(gnnmg_served_config* config, size_t struct_size) {
  return init_config(config, struct_size, kServedDefaults);
}

gnnmg_status gnnmg_dataset_open_parts(const gnnmg_context* context, const gnnmg_comm* comm,
                                      const char* folder, const gnnmg_served_config* config,
                                      gnnmg_dataset** dataset, int64_t timeout_ms) {
  return guard(outs(Out{dataset, "dataset"}), [&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto c = find<Context>(context, "context");
    const std::string path(read_name(folder, "folder"));
    const Place place = place_in(*c, comm);
    const gnnmg_served_config in = read_config(config, kServedDefaults);
    part_config(in);  // wrong settings are reported at once
    const std::string key =
        gnnmg::base::text("open parts ", path, '\0', place.process, ' ', place.num_processes, ' ',
                          in.max_in_flight, ' ', in.deadline_ms, ' ', in.cache_bytes, ' ',
                          static_cast<int32_t>(in.reading), ' ', in.insecure, ' ', in.port);
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
    const gnnmg_served_config in = read_config(config, kServedDefaults);
    part_config(in);  // wrong settings are reported at once
    const std::string words(optional_name(settings, "settings", ""));
    apply_words<ServedSettings>(words, kServedSettings, served);
    const std::string key =
        gnnmg::base::text("open served ", served.addresses, '\0', served.token_file, '\0', words,
                          '\0', in.max_in_flight, ' ', in.deadline_ms, ' ', in.cache_bytes);
    const Outcome outcome = wait_for_job(
        c->pendings, key, *c->queue, timeout_ms,
        [&] {
          return start_job(c, [owner = c.get(), in, served, token = c->work_token()] {
            return std::make_shared<gnnmg::data::DatasetRef>(
                open_served(*owner, in, served, token));
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
