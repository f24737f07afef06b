#include "loader/device_source.h"

#include <algorithm>
#include <array>

#include "feature/hotness.h"
#include "loader/device_source_parts.h"
#include "loader/hotness.h"
#include "sample/device.h"

namespace gnnmg::loader {
namespace {

using base::fail;
using base::Status;
using base::text;
using device::Placement;
using feature::RowPlacement;

constexpr double kGraphShare = 0.4, kFeatureShare = 0.6, kCacheShare = 0.3;
constexpr int64_t kCountedBatches = 100;  // mini-batches of CacheBy::kCounting

constexpr std::array<const char*, 4> kGraphNames = {"auto", "device", "pinned", "host"};
constexpr std::array<const char*, 6> kFeatureNames = {"auto",   "device", "pinned",
                                                      "cached", "host",   "split"};

bool fits(int64_t bytes, double share, const Room& room) {
  return static_cast<double>(bytes) <= share * static_cast<double>(room.free) &&
         bytes <= room.free - room.kept;
}

std::string list_of(const std::vector<int>& devices) {
  std::string list;
  for (const int device : devices) list += text(list.empty() ? "" : ", ", device);
  return list;
}

// True for requests that a system may refuse in normal operation.
bool refused(const base::Error& error) {
  return error.status() == Status::kNoMemory || error.status() == Status::kUnsupported;
}

// Chooses the placement of the topology and then of the rows.
class Resolver {
 public:
  Resolver(DeviceSource::Parts& parts, std::span<const int64_t> ids, const LoaderConfig& training,
           base::ThreadPool* pool)
      : parts_(parts), config_(parts.config), ids_(ids), training_(training), pool_(pool) {}

  void place_graph() {
    const std::optional<sample::NeighborLaw> law = parts_.sampler->neighbors();
    std::string why;
    if (!law) {
      why = text("the sampler (", parts_.sampler->describe(), ") works on the CPU alone");
    } else {
      try {
        csc_ = sample::csc_for_device(*law->csc, law->config->edge_ids);
      } catch (const base::Error& error) {
        if (!refused(error)) throw;
        why = error.what();
      }
    }
    if (!why.empty()) {
      if (config_.graph == GraphPlacement::kDevice || config_.graph == GraphPlacement::kPinned)
        fail(Status::kUnsupported, "graph placement is ",
             kGraphNames[static_cast<size_t>(config_.graph)], ", but ", why,
             "; set it to host, or leave it to the library");
      return stay(GraphPlacement::kHost, text("sampled on the host: ", why));
    }
    if (config_.graph == GraphPlacement::kHost)
      return stay(GraphPlacement::kHost, "sampled on the host, as asked");
    const int64_t bytes = sample::graph_bytes(csc_);
    if (config_.graph != GraphPlacement::kAuto) {
      const bool pinned = config_.graph == GraphPlacement::kPinned;
      try {
        return open_graph(*law, pinned ? Placement::kPinned : Placement::kDevice, bytes,
                          "as asked");
      } catch (const base::Error& error) {
        if (!refused(error)) throw;
        fail(error.status(), "the graph takes ", bytes, " bytes ",
             pinned ? "of pinned memory of the host" : text("on GPU ", config_.device), ": ",
             error.what(), "; set graph placement to ",
             pinned ? "device or host" : "pinned or host");
      }
    }
    for (const Placement placement : {Placement::kDevice, Placement::kPinned}) {
      if (DeviceTopology::find(*config_.table, config_.device, *law, placement))
        return open_graph(*law, placement, bytes, "it is there already");
    }
    const Room room = this->room();
    std::string refusals;
    if (room.for_graph(bytes)) {
      try {
        return open_graph(*law, Placement::kDevice, bytes, text(room.free, " are free"));
      } catch (const base::Error& error) {
        if (!refused(error)) throw;
        refusals = error.what();
      }
    } else {
      refusals = text("it takes more than 40 % of ", room.free, " free bytes", beside(room));
    }
    try {
      return open_graph(*law, Placement::kPinned, bytes, refusals);
    } catch (const base::Error& error) {
      if (!refused(error)) throw;
      stay(GraphPlacement::kHost, text("sampled on the host: ", error.what()));
    }
  }

  void place_features() {
    if (parts_.store == nullptr) return;
    rows_ = parts_.store->dense();
    const FeaturePlacement asked = config_.features;
    if (!rows_.defined()) {
      const std::string why = parts_.store->sparse() ? "the features are sparse"
                                                     : "the features are read from a mapped file";
      if (asked != FeaturePlacement::kAuto && asked != FeaturePlacement::kHost)
        fail(Status::kUnsupported, "feature placement is ",
             kFeatureNames[static_cast<size_t>(asked)], ", but ", why,
             ", which the host gathers; set it to host, or ",
             parts_.store->sparse() ? "make them dense" : "load them into memory");
      return keep(text("gathered on the host: ", why));
    }
    feature::check_form(config_.form, rows_.dtype());
    if (asked == FeaturePlacement::kHost) return keep("gathered on the host, as asked");
    stride_ = feature::packed_stride(rows_.shape().row_elements(), config_.form, rows_.dtype());
    bytes_ = base::checked_mul(rows_.rows(), stride_, "features");
    if (asked != FeaturePlacement::kAuto) return place_as_asked();

    for (const auto placement :
         {RowPlacement::kDevice, RowPlacement::kCached, RowPlacement::kPinned}) {
      if (DeviceTableOfRows::find(key(placement), rows_))
        return open_rows(placement, "they are there already");
    }
    const Room room = this->room();
    std::string why = text("they take more than 60 % of ", room.free, " free bytes", beside(room));
    if (room.for_features(bytes_)) {
      try {
        return open_rows(RowPlacement::kDevice, text(room.free, " are free"));
      } catch (const base::Error& error) {
        if (!refused(error)) throw;
        why = error.what();
      }
    }
    if (can_cache() && cache_rows() > 0) {
      try {
        return open_rows(RowPlacement::kCached, why);
      } catch (const base::Error& error) {
        if (!refused(error)) throw;
        why = error.what();
      }
    }
    try {
      open_rows(RowPlacement::kPinned, why);
    } catch (const base::Error& error) {
      if (!refused(error)) throw;
      keep(text("gathered on the host: ", error.what()));
    }
  }

 private:
  void stay(GraphPlacement placement, const std::string& how) {
    parts_.graph = placement;
    parts_.description = text("graph ", how);
  }
  void open_graph(const sample::NeighborLaw& law, Placement placement, int64_t bytes,
                  const std::string& why) {
    parts_.topology = DeviceTopology::open(*config_.table, config_.device, law, placement);
    const bool pinned = placement == Placement::kPinned;
    stay(pinned ? GraphPlacement::kPinned : GraphPlacement::kDevice,
         text(pinned ? "pinned in memory of the host" : text("in memory of GPU ", config_.device),
              " (", bytes, " bytes; ", why, ")"));
  }

  void keep(const std::string& how) {
    parts_.features = FeaturePlacement::kHost;
    parts_.description += text("; features ", how);
  }
  DeviceTableKey key(RowPlacement placement) const {
    const bool split = placement == RowPlacement::kSplit;
    const bool cached = split || placement == RowPlacement::kCached;
    return {config_.table,
            config_.device,
            split ? config_.devices : std::vector<int>{},
            placement,
            config_.form,
            cached ? static_cast<int32_t>(config_.cache_by) : 0,
            cached ? config_.cache_bytes : 0};
  }
  void open_rows(RowPlacement placement, const std::string& why) {
    parts_.table =
        DeviceTableOfRows::open(key(placement), rows_, [this] { return hottest(); }, pool_);
    std::string where = text("in memory of GPU ", config_.device, " (", bytes_, " bytes; ");
    parts_.features = FeaturePlacement::kDevice;
    if (placement == RowPlacement::kPinned) {
      where = text("pinned in memory of the host (", bytes_, " bytes; ");
      parts_.features = FeaturePlacement::kPinned;
    } else if (placement == RowPlacement::kCached) {
      where = text("pinned in memory of the host, ", parts_.table->num_cached(), " of ",
                   rows_.rows(), " rows cached on GPU ", config_.device, " (", bytes_, " bytes; ");
      parts_.features = FeaturePlacement::kCached;
    } else if (placement == RowPlacement::kSplit) {
      where = text("pinned in memory of the host, ", parts_.table->num_cached(), " of ",
                   rows_.rows(), " rows cached, split over GPUs ", list_of(config_.devices), " (",
                   bytes_, " bytes; ");
      parts_.features = FeaturePlacement::kSplit;
    }
    parts_.description += text("; features ", where, why, ")");
    if (placement == RowPlacement::kDevice) return;
    const int32_t all = config_.table->info(config_.device).multiprocessors;
    parts_.gather_multiprocessors =
        config_.gather_multiprocessors > 0 ? config_.gather_multiprocessors : std::max(all / 8, 1);
  }

  void place_as_asked() {
    const FeaturePlacement asked = config_.features;
    const RowPlacement placement = asked == FeaturePlacement::kDevice   ? RowPlacement::kDevice
                                   : asked == FeaturePlacement::kPinned ? RowPlacement::kPinned
                                   : asked == FeaturePlacement::kSplit  ? RowPlacement::kSplit
                                                                        : RowPlacement::kCached;
    const char* const name = kFeatureNames[static_cast<size_t>(asked)];
    if (placement >= RowPlacement::kCached && !can_cache())
      fail(Status::kUnsupported, "feature placement is ", name, ", but the sampler (",
           parts_.sampler->describe(),
           ") does not say which rows are read most; set it to device, pinned or host");
    if (placement == RowPlacement::kSplit &&
        (config_.devices.size() < 2 ||
         std::ranges::find(config_.devices, config_.device) == config_.devices.end()))
      fail(Status::kUnsupported, "feature placement is split, but GPU ", config_.device,
           " has no other to share a cache with: that is for trainers on two GPUs or more of a "
           "process; set it to cached");
    const device::Info info = config_.table->info(config_.device);
    const char* const remedy =
        "; set feature placement to pinned, cached or host, or their form to bf16 or int8";
    if (placement == RowPlacement::kDevice && bytes_ > info.total_memory)
      fail(Status::kNoMemory, "the features take ", bytes_, " bytes, GPU ", config_.device, " has ",
           info.total_memory, remedy);
    try {
      open_rows(placement, "as asked");
    } catch (const base::Error& error) {
      if (!refused(error)) throw;
      if (placement == RowPlacement::kDevice)
        fail(error.status(), "the features take ", bytes_, " bytes on GPU ", config_.device, ": ",
             error.what(), remedy);
      fail(error.status(), "features of ", bytes_, " bytes cannot be ", name, ": ", error.what(),
           placement == RowPlacement::kSplit
               ? "; set feature placement to cached, where each GPU has a cache of its own"
               : "; set feature placement to device or host");
    }
  }

  bool can_cache() const { return parts_.sampler->neighbors().has_value(); }
  // The rows of a cache; of a split cache over all its devices, which hold equally many.
  int64_t cache_rows() const {
    std::vector<int> devices = {config_.device};
    if (config_.features == FeaturePlacement::kSplit) devices = config_.devices;
    Room least = room();
    for (const int device : devices)
      least.free = std::min(least.free, config_.table->info(device).free_memory);
    const int64_t bytes = least.for_cache(config_.cache_bytes, rows_.rows());
    const int64_t rows = std::min(bytes / std::max<int64_t>(stride_, 1), rows_.rows());
    return std::min({rows * static_cast<int64_t>(devices.size()), rows_.rows(),
                     static_cast<int64_t>(INT32_MAX)});
  }
  std::vector<int64_t> hottest() const {
    const sample::NeighborLaw law = *parts_.sampler->neighbors();
    std::optional<base::ThreadPool> own;
    base::ThreadPool& pool = pool_ ? *pool_ : own.emplace(1);
    std::vector<double> hotness;
    if (config_.cache_by == CacheBy::kDegree) {
      hotness = feature::hotness_by_degree(*law.csc, pool);
    } else if (config_.cache_by == CacheBy::kCounting) {
      LoaderConfig counted = training_;
      counted.plan.rank = 0;
      counted.plan.world_size = 1;
      hotness = hotness_by_sampling(ids_, *parts_.sampler, counted, kCountedBatches, pool, {});
    } else {
      std::vector<int64_t> seeds(ids_.begin(), ids_.end());
      std::sort(seeds.begin(), seeds.end());
      seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
      feature::SamplingLaw formula;
      formula.batch_size = training_.plan.batch_size;
      formula.fanouts = law.config->fanouts;
      formula.every_layer = law.config->expansion == sample::Expansion::kEveryLayer;
      formula.replace = law.config->replace;
      hotness = feature::hotness_by_formula(*law.csc, seeds, formula, pool);
    }
    return feature::hottest(hotness, cache_rows());
  }
  Room room() const { return {config_.table->info(config_.device).free_memory, config_.kept}; }
  static std::string beside(const Room& room) {
    return room.kept > 0 ? text(", or of them less ", room.kept, " for the training")
                         : std::string();
  }

  DeviceSource::Parts& parts_;
  const DeviceSourceConfig& config_;
  const std::span<const int64_t> ids_;
  const LoaderConfig& training_;
  base::ThreadPool* const pool_;
  sample::HostCsc csc_;
  base::Tensor rows_;
  int64_t stride_ = 0, bytes_ = 0;
};

void check(const DeviceSourceConfig& config) {
  const auto one_of = [](const char* name, auto value, int32_t last) {
    const auto number = static_cast<int32_t>(value);
    if (number < 0 || number > last)
      fail(Status::kInvalidArgument, name, " is ", number, ", expected 0 to ", last);
  };
  one_of("graph placement", config.graph, 3);
  one_of("feature placement", config.features, 5);
  one_of("form of features", config.form, 3);
  one_of("cache_by", config.cache_by, 2);
  if (config.cache_bytes < 0)
    fail(Status::kInvalidArgument, "cache_bytes is ", config.cache_bytes, ", expected 0 or more");
  if (config.gather_multiprocessors < 0)
    fail(Status::kInvalidArgument, "gather_multiprocessors is ", config.gather_multiprocessors,
         ", expected 0 or more");
  if (config.row_type != base::DType::kF32 && config.row_type != base::DType::kF16 &&
      config.row_type != base::DType::kBF16)
    fail(Status::kInvalidArgument, "type of gathered rows is ", base::dtype_name(config.row_type),
         ", expected f32, f16 or bf16");
}

}  // namespace

bool Room::for_graph(int64_t bytes) const { return fits(bytes, kGraphShare, *this); }
bool Room::for_features(int64_t bytes) const { return fits(bytes, kFeatureShare, *this); }
int64_t Room::for_cache(int64_t asked, int64_t num_rows) const {
  if (asked > 0) return asked;
  const auto share = static_cast<int64_t>(kCacheShare * static_cast<double>(free));
  return std::max<int64_t>(kept > 0 ? std::min(share, free - kept - 4 * num_rows) : share, 0);
}

DeviceSource::DeviceSource() : parts_(std::make_unique<Parts>()) {}
DeviceSource::~DeviceSource() = default;

std::shared_ptr<DeviceSource> DeviceSource::open(const DeviceSourceConfig& config,
                                                 std::shared_ptr<const sample::Sampler> sampler,
                                                 std::shared_ptr<const feature::FeatureStore> store,
                                                 std::span<const int64_t> ids,
                                                 const LoaderConfig& training,
                                                 base::ThreadPool* pool) {
  check(config);
  std::shared_ptr<DeviceSource> source(new DeviceSource);
  Parts& parts = *source->parts_;
  parts.config = config;
  parts.sampler = std::move(sampler);
  parts.store = std::move(store);
  Resolver resolver(parts, ids, training, pool);
  resolver.place_graph();
  resolver.place_features();
  return source;
}

GraphPlacement DeviceSource::graph() const { return parts_->graph; }
FeaturePlacement DeviceSource::features() const { return parts_->features; }
feature::DeviceTraffic DeviceSource::traffic(device::Queue* queue) const {
  if (parts_->table == nullptr) return {};
  return parts_->config.table->of<feature::DeviceFeatures>()->traffic(queue,
                                                                      parts_->table->store());
}
const std::string& DeviceSource::describe() const { return parts_->description; }

}  // namespace gnnmg::loader
