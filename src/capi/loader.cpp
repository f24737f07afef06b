#include "capi/loader.h"

#include "capi/arguments.h"
#include "capi/batch.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/device_placement.h"
#include "capi/sampler.h"
#include "dist/part_dataset.h"

namespace gnnmg::capi {

Loader::Loader(std::shared_ptr<Context> owner, std::unique_ptr<loader::Loader> made,
               data::DatasetRef dataset, int64_t num_seeds, uint64_t seed, bool has_transpose,
               std::shared_ptr<DevicePlace> place)
    : Object(kKind, owner, owner->queue),
      dataset_(std::move(dataset)),
      num_seeds_(num_seeds),
      seed_(seed),
      transpose_(has_transpose),
      place_(std::move(place)),
      loader_(std::move(made)) {}

namespace {

const gnnmg_loader_config kLoaderDefaults = [] {
  const loader::LoaderConfig d;
  gnnmg_loader_config config{};
  config.struct_size = sizeof config;
  config.part = GNNMG_SPLIT_TRAIN;
  config.batch_size = d.plan.batch_size;
  config.batch_nodes = d.plan.batch_nodes;
  config.batches_per_step = d.plan.batches_per_step;
  config.rank = d.plan.rank;
  config.world_size = d.plan.world_size;
  config.partition = static_cast<int32_t>(d.plan.partition);
  config.shuffle = d.plan.shuffle;
  config.drop_last = d.plan.drop_last;
  config.num_threads = d.num_threads;
  config.prefetch = d.prefetch;
  config.gather = d.gather;
  return config;
}();

static_assert(static_cast<int32_t>(loader::Partition::kGlobal) == GNNMG_PARTITION_GLOBAL &&
              static_cast<int32_t>(loader::Partition::kDistributedSampler) ==
                  GNNMG_PARTITION_DISTRIBUTED_SAMPLER &&
              static_cast<int32_t>(loader::Partition::kContiguous) == GNNMG_PARTITION_CONTIGUOUS &&
              static_cast<int32_t>(loader::Partition::kParts) == GNNMG_PARTITION_PARTS);

loader::LoaderConfig loader_config(const gnnmg_loader_config& in, const data::Dataset* dataset) {
  GNNMG_CHECK_CONSTANT(in.partition, GNNMG_PARTITION_GLOBAL, GNNMG_PARTITION_PARTS,
                       "config.partition");
  check_flag(in.shuffle, "config.shuffle");
  check_flag(in.drop_last, "config.drop_last");
  check_flag(in.gather, "config.gather");
  check_choice(in.num_threads, 0, 1024, "config.num_threads");
  check_choice(in.prefetch, 0, 4096, "config.prefetch");
  loader::LoaderConfig config;
  config.plan.batch_size = in.batch_size;
  config.plan.batch_nodes = in.batch_nodes;
  if (in.batch_nodes != 0 && dataset != nullptr) config.plan.graph_ptr = dataset->graph_ptr;
  config.plan.batches_per_step = in.batches_per_step;
  config.plan.rank = in.rank;
  config.plan.world_size = in.world_size;
  config.plan.partition = static_cast<loader::Partition>(in.partition);
  config.plan.shuffle = in.shuffle;
  config.plan.drop_last = in.drop_last;
  config.plan.seed = in.seed;
  config.sample_seed = in.seed;
  config.num_threads = in.num_threads;
  config.prefetch = in.prefetch;
  config.gather = in.gather;
  return config;
}

// Null: mini-batches in main memory.
std::shared_ptr<DevicePlace> place_of(const gnnmg_loader_config& in,
                                      const std::shared_ptr<Context>& context) {
  GNNMG_CHECK_CONSTANT(in.device, GNNMG_DEVICE_AUTO, GNNMG_DEVICE_CUDA, "config.device");
  if (in.device == GNNMG_DEVICE_CUDA)
    return open_place(context, in.device_index, in.stream, "config.device_index", "config.stream");
  if (in.device_index != 0 || in.stream != 0)
    fail(Status::kInvalidArgument, in.device_index != 0 ? "config.device_index" : "config.stream",
         " names a GPU's, but config.device is not GNNMG_DEVICE_CUDA; leave it 0");
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
                         std::span<const int64_t> seeds, const gnnmg_loader_config& in) {
  // Seeds are graphs where the sampler has it so.
  const data::Dataset* data =
      dataset && sampler.get()->of_graphs() ? dataset->data().get() : nullptr;
  loader::LoaderConfig config = loader_config(in, data);
  if (config.plan.partition == loader::Partition::kParts && dataset && dataset->data()->parts)
    config.plan.book = dist::book_of(dataset->data()->parts);
  loader::DeviceSourceConfig placement = device_placement(in);
  const std::shared_ptr<DevicePlace> place = place_of(in, sampler.context);
  std::shared_ptr<const feature::FeatureStore> store = dataset ? dataset->features() : nullptr;
  std::shared_ptr<const loader::DeviceSource> source;
  if (place) {
    if (!config.gather) store = nullptr;
    placement.table = place->device().table;
    placement.device = place->index();
    source = work_at(place, [&] {
      return loader::DeviceSource::open(placement, sampler.get(), store, seeds, config,
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
  return new_handle<gnnmg_loader>(make_object<Loader>(
      sampler.context, std::move(made), dataset ? dataset->data() : nullptr,
      static_cast<int64_t>(seeds.size()), in.seed, sampler.has_transpose(), place));
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_loader_config_init(gnnmg_loader_config* config, size_t struct_size) {
  return init_config(config, struct_size, kLoaderDefaults);
}

gnnmg_status gnnmg_loader_create(const gnnmg_dataset* dataset, const gnnmg_sampler* sampler,
                                 const gnnmg_loader_config* config, gnnmg_loader** loader) {
  return guard(outs(Out{loader, "loader"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    const auto s = read<Sampler>(sampler, "sampler");
    const gnnmg_loader_config in = read_config(config, kLoaderDefaults);
    check_fit(*s, *d);
    GNNMG_CHECK_CONSTANT(in.part, GNNMG_SPLIT_TRAIN, GNNMG_SPLIT_TEST, "config.part");
    *loader = new_loader(*s, &*d, d->part(in.part), in);
  });
}

gnnmg_status gnnmg_loader_create_from_seeds(const gnnmg_sampler* sampler,
                                            const gnnmg_dataset* dataset, const int64_t* seeds,
                                            int64_t num_seeds, const gnnmg_loader_config* config,
                                            gnnmg_loader** loader) {
  return guard(outs(Out{loader, "loader"}), [&] {
    const auto s = read<Sampler>(sampler, "sampler");
    Read<Dataset> d;
    if (dataset != nullptr) {
      d = read<Dataset>(dataset, "dataset");
      check_fit(*s, *d);
    }
    *loader = new_loader(*s, d ? &*d : nullptr, read_list(seeds, num_seeds, "seeds"),
                         read_config(config, kLoaderDefaults));
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
      if (l->cancelled) fail(Status::kCancelled, "the loader was cancelled");
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
                                                        l->seed(), l->has_transpose(), l->place()));
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
