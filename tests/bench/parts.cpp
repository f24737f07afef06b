#include "bench/parts.h"

#include "dist/engine.h"
#include "dist/held_parts.h"
#include "dist/part_dataset.h"
#include "dist/peers.h"

namespace gnnmg::bench {
namespace {

constexpr int64_t kMeetMs = 10'000;

std::shared_ptr<dist::Peers> meet(const PartsPlace& place, base::Log& log) {
  dist::PeersConfig asking;
  asking.own = place.own;
  if (!place.tls.empty())
    asking.tls = {place.tls + "/client.pem", place.tls + "/client.key", place.tls + "/ca.pem"};
  return dist::Peers::meet(dist::open_engine_at(GNNMG_GRPC_PLUGIN), place.addresses, asking, log,
                           base::Deadline::after_ms(kMeetMs), {});
}

}  // namespace

data::DatasetRef open_parts(const PartsPlace& place, base::ThreadPool& pool, base::Log& log) {
  const auto peers = meet(place, log);
  const std::shared_ptr<const dist::HeldParts> held = dist::hold_parts(place.folder, {});
  dist::PartDatasetConfig config;
  config.own = [&](int32_t) { return place.own; };
  config.read_part = [held](int32_t part) { return held->read(part); };
  config.open_channel = [&](const std::vector<int32_t>&, uint64_t) { return peers->channel(); };
  config.cache.bytes = place.cache_bytes;
  return dist::open_part_dataset(held->source(), config, {pool, log, {}});
}

}  // namespace gnnmg::bench
