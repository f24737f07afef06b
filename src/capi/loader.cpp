#include "capi/loader.h"

#include <algorithm>

#include "capi/arguments.h"
#include "capi/batch.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/device_placement.h"
#include "capi/sampler.h"
#include "dist/part_dataset.h"
#include "loader/keep_rows.h"

namespace gnnmg::capi {

Loader::Loader(std::shared_ptr<Context> owner, std::unique_ptr<loader::Loader> made,
               data::DatasetRef dataset, int64_t num_seeds, uint64_t seed, bool has_transpose,
               BatchTypes types, std::shared_ptr<DevicePlace> place)
    : Object(kKind, owner, owner->queue),
      dataset_(std::move(dataset)),
      num_seeds_(num_seeds),
      seed_(seed),
      transpose_(has_transpose),
      types_(types),
      place_(std::move(place)),
      loader_(std::move(made)) {}

namespace {

struct LoaderSettings {
  data::SplitPart part = data::SplitPart::kTrain;
  loader::LoaderConfig loader;
  loader::DeviceSourceConfig placement{.gather_pinned = true};
  DeviceType device = DeviceType::kAuto;
  int32_t device_index = 0;
  uint64_t stream = 0;
  FieldNames fields;  // settings that fields of the struct have set
};

bool on_gpu(const LoaderSettings& s) { return s.device == DeviceType::kCuda; }

constexpr SettingRow<LoaderSettings> kLoaderRows[] = {
    GNNMG_SETTING(LoaderSettings, part, nullptr,
                  "Part of the split; not for gnnmg_loader_create_from_seeds().", true),
    GNNMG_SETTING_AS(LoaderSettings, "batch_size", loader.plan.batch_size, "1 or more",
                     "Seeds per mini-batch.", true),
    GNNMG_SETTING_AS(LoaderSettings, "batch_nodes", loader.plan.batch_nodes, "0 or more",
                     "Maximum nodes of a mini-batch whose seeds are graphs: it takes the next "
                     "graphs up to this many nodes and at most batch_size graphs; a larger graph "
                     "is a mini-batch alone. Epochs then differ in the number of mini-batches. "
                     "Needs plan=global without drop_last. 0: no limit."),
    GNNMG_SETTING_AS(LoaderSettings, "batches_per_step", loader.plan.batches_per_step, "0 or more",
                     "Mini-batches per step, all ranks together. 0: world_size.", true),
    GNNMG_SETTING_AS(LoaderSettings, "rank", loader.plan.rank, "a rank below world_size",
                     "Rank that this loader serves.", true),
    GNNMG_SETTING_AS(LoaderSettings, "world_size", loader.plan.world_size, "1 or more",
                     "Number of ranks.", true),
    GNNMG_SETTING_AS(LoaderSettings, "seed", loader.plan.seed, nullptr,
                     "Seed of order, draws and dropout.", true),
    GNNMG_SETTING_AS(LoaderSettings, "plan", loader.plan.partition, nullptr,
                     "Division of the ids among ranks; see gnnmg_plan.", true),
    GNNMG_SETTING_AS(LoaderSettings, "shuffle", loader.plan.shuffle, nullptr,
                     "1: new order in each epoch."),
    GNNMG_SETTING_AS(LoaderSettings, "drop_last", loader.plan.drop_last, nullptr,
                     "1: drop the last mini-batch if it is short."),
    GNNMG_SETTING_AS(LoaderSettings, "num_threads", loader.num_threads, "0 to 1024",
                     "Threads that make mini-batches. 0: gnnmg_loader_next() makes them."),
    GNNMG_SETTING_AS(LoaderSettings, "prefetch", loader.prefetch, "0 to 4096",
                     "Mini-batches made in advance.")
        .only([](const LoaderSettings& s) { return s.loader.num_threads > 0; },
              "with num_threads above 0"),
    GNNMG_SETTING_AS(LoaderSettings, "gather", loader.gather, nullptr,
                     "1: with features, if the data set has any."),
    GNNMG_SETTING(LoaderSettings, device, nullptr,
                  "Memory of mini-batches: cuda is a GPU, any other main memory.", true),
    GNNMG_SETTING(LoaderSettings, device_index, "0 or more", "Number of the GPU.", true),
    GNNMG_SETTING(LoaderSettings, stream, nullptr,
                  "CUDA stream of the caller on that GPU; must outlive loader and mini-batches. "
                  "Exported tensors are ready for later work in the stream. 0: exported tensors "
                  "are ready immediately.",
                  true),
    GNNMG_PLACEMENT_SETTINGS(LoaderSettings, placement, on_gpu, "with device=cuda"),
};

LoaderSettings read_loader(const gnnmg_loader_config* config, const char* settings) {
  const gnnmg_loader_config in = read_config(config);
  LoaderSettings read;
  loader::PlanConfig& plan = read.loader.plan;
  take_field(in.part, "part", read.part, read.fields);
  take_field(in.batch_size, "batch_size", plan.batch_size, read.fields);
  take_field(in.batches_per_step, "batches_per_step", plan.batches_per_step, read.fields);
  take_field(in.rank, "rank", plan.rank, read.fields);
  take_field(in.world_size, "world_size", plan.world_size, read.fields);
  take_field(in.seed, "seed", plan.seed, read.fields);
  take_field(in.plan, "plan", plan.partition, read.fields);
  take_field(in.device, "device", read.device, read.fields);
  take_field(in.device_index, "device_index", read.device_index, read.fields);
  take_field(in.stream, "stream", read.stream, read.fields);
  std::vector<Word> words = split_words("loader", settings);
  apply_words<LoaderSettings>(words, kLoaderRows, read, read.fields);
  check_placement("loader", read.placement);
  read.loader.sample_seed = plan.seed;
  return read;
}

// Null: mini-batches in main memory.
std::shared_ptr<DevicePlace> place_of(const LoaderSettings& in,
                                      const std::shared_ptr<Context>& context) {
  if (in.device == DeviceType::kCuda)
    return open_place(context, in.device_index, in.stream, "device_index", "stream");
  const char* const given = in.device_index != 0 ? "device_index"
                            : in.stream != 0     ? "stream"
                                                 : nullptr;
  if (given != nullptr)
    fail(Status::kInvalidArgument, given, " is of a GPU, but device is ", value_text(in.device),
         "; leave it 0");
  return nullptr;
}

std::optional<loader::BatchRef> next_of(const Loader& loader, const base::Deadline& deadline) {
  try {
    // Without workers the mini-batch is made here.
    std::optional<device::TimeoutScope> patience;
    if (loader.place())
      patience.emplace(loader.context->options().gpu_timeout_ms, loader.context->work_token());
    return loader.get().next(deadline);
  } catch (...) {
    if (!loader.place()) throw;
    loader.place()->rethrow();
  }
}

gnnmg_loader* new_loader(const Sampler& sampler, const Dataset* dataset,
                         std::span<const int64_t> seeds, LoaderSettings in) {
  // Seeds are graphs where the sampler has it so.
  loader::LoaderConfig& config = in.loader;
  if (config.plan.batch_nodes != 0 && dataset && sampler.get()->of_graphs())
    config.plan.graph_ptr = dataset->data()->graph_ptr;
  if (config.plan.partition == loader::Partition::kParts && dataset && dataset->data()->parts)
    config.plan.book = dist::book_of(dataset->data()->parts);
  const std::shared_ptr<DevicePlace> place = place_of(in, sampler.context);
  std::shared_ptr<const feature::FeatureStore> store = dataset ? dataset->features() : nullptr;
  std::shared_ptr<const loader::DeviceSource> source;
  if (place) {
    if (!config.gather) store = nullptr;
    in.placement.table = place->device().table;
    in.placement.device = place->index();
    source = work_at(place, [&] {
      return loader::DeviceSource::open(in.placement, sampler.get(), store, seeds, config,
                                        &sampler.context->pool);
    });
    sampler.context->log.add(base::LogLevel::kInfo, base::text("a loader works on ", place->name(),
                                                               ": ", source->describe()));
  }
  std::optional<device::TimeoutScope> patience;  // limits for its workers
  if (place)
    patience.emplace(sampler.context->options().gpu_timeout_ms, sampler.context->work_token());
  auto made = std::make_unique<loader::Loader>(seeds, sampler.get(), std::move(store), config,
                                               sampler.queue.get(), std::move(source));
  return new_handle<gnnmg_loader>(
      make_object<Loader>(sampler.context, std::move(made), dataset ? dataset->data() : nullptr,
                          static_cast<int64_t>(seeds.size()), config.plan.seed,
                          sampler.has_transpose(), sampler.types(), place));
}

}  // namespace

std::vector<SettingFacts> loader_settings() {
  return list_settings<LoaderSettings>(kLoaderRows, {});
}

}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_loader_create(const gnnmg_dataset* dataset, const gnnmg_sampler* sampler,
                                 const gnnmg_loader_config* config, const char* settings,
                                 gnnmg_loader** loader) {
  return guard(outs(Out{loader, "loader"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    const auto s = read<Sampler>(sampler, "sampler");
    LoaderSettings in = read_loader(config, settings);
    check_fit(*s, *d);
    if (in.part == gnnmg::data::SplitPart::kTrain)
      in.loader.prepare = gnnmg::loader::keep_rows(d->data(), in.loader.plan, s->context->log);
    *loader = new_loader(*s, &*d, d->split().part(in.part), in);
  });
}

gnnmg_status gnnmg_loader_create_from_seeds(const gnnmg_dataset* dataset,
                                            const gnnmg_sampler* sampler, int32_t node_type,
                                            const int64_t* seeds, int64_t num_seeds,
                                            const int64_t* times, const gnnmg_loader_config* config,
                                            const char* settings, gnnmg_loader** loader) {
  return guard(outs(Out{loader, "loader"}), [&] {
    Read<Dataset> d;
    if (dataset != nullptr) d = read<Dataset>(dataset, "dataset");
    const auto s = read<Sampler>(sampler, "sampler");
    if (d) check_fit(*s, *d);
    s->types().check_node(node_type);
    check_times(times);
    const LoaderSettings in = read_loader(config, settings);
    if (in.part != gnnmg::data::SplitPart::kTrain)
      fail(Status::kInvalidArgument, "loader settings: part=", value_text(in.part),
           " has an effect only without seeds; leave it out");
    *loader = new_loader(*s, d ? &*d : nullptr, read_list(seeds, num_seeds, "seeds"), in);
  });
}

void gnnmg_loader_free(gnnmg_loader* loader) { free_handle(loader, Kind::kLoader); }

gnnmg_status gnnmg_loader_get_info(const gnnmg_loader* loader, gnnmg_loader_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto l = read<Loader>(loader, "loader");
    const gnnmg::loader::EpochPlan& plan = l->get().plan();
    gnnmg_loader_info facts{};
    facts.num_seeds = l->num_seeds();
    facts.num_batches = plan.num_batches();
    facts.num_steps = plan.num_steps();
    facts.batches_per_step = plan.batches_per_step();
    facts.epoch = l->epoch;
    give(info, facts);
  });
}

gnnmg_status gnnmg_loader_start(gnnmg_loader* loader, int64_t epoch, int64_t step) {
  return guard([&] {
    const auto l = hold<Loader>(loader, "loader");
    check_least(epoch, 0, "epoch");
    l->get().start_epoch(static_cast<uint64_t>(epoch), step);
    l->cancelled = false;
    l->epoch = epoch;
    l->under_way = true;
  });
}

gnnmg_status gnnmg_loader_next(gnnmg_loader* loader, gnnmg_batch** batch, int64_t timeout_ms) {
  return guard(outs(Out{batch, "batch"}), [&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    check_may_wait();
    Resumed<Loader> l(loader, "loader", "next");
    const gnnmg::base::HostQueue::Entry entry(*l->queue);
    if (!l->under_way) {
      if (l->cancelled)
        fail(Status::kCancelled, "the loader was canceled; gnnmg_loader_start() starts it again");
      l->get().start_epoch(static_cast<uint64_t>(l->epoch));
      l->under_way = true;
    }
    auto next = next_of(*l, gnnmg::base::Deadline::after_ms(timeout_ms));
    if (!next) return l.suspend();
    if (*next == nullptr) {
      l->under_way = false;
      ++l->epoch;
      return GNNMG_END;
    }
    if (l->place()) watch_first_works();
    *batch = new_handle<gnnmg_batch>(make_object<Batch>(l->context, std::move(*next), l->dataset(),
                                                        l->seed(), l->has_transpose(), l->types(),
                                                        l->place()));
    return GNNMG_OK;
  });
}

void gnnmg_loader_cancel(gnnmg_loader* loader) {
  if (forked()) return;
  in_call([loader] {
    if (const auto object = find_handle(loader, Kind::kLoader)) object->cancel_work();
  });
}

}  // extern "C"
