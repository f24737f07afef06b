#include "capi/sampler.h"

#include <thread>

#include "capi/arguments.h"
#include "capi/batch.h"
#include "capi/callback.h"
#include "capi/context.h"
#include "capi/dataset.h"

namespace gnnmg::capi {

Sampler::Sampler(std::shared_ptr<Context> owner, std::shared_ptr<const sample::Sampler> made,
                 Edges edges, bool has_transpose)
    : Object(kKind, owner, owner->queue),
      sampler_(std::move(made)),
      edges_(std::move(edges)),
      transpose_(has_transpose) {}

std::unique_ptr<sample::Workspace> Sampler::borrow_workspace() {
  {
    std::lock_guard lock(mutex_);
    if (!workspaces_.empty()) {
      auto workspace = std::move(workspaces_.back());
      workspaces_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<sample::Workspace>();
}

void Sampler::give_workspace(std::unique_ptr<sample::Workspace> workspace) noexcept {
  try {
    std::lock_guard lock(mutex_);
    workspaces_.push_back(std::move(workspace));
  } catch (...) {  // the next use makes it anew
  }
}

Sink::Sink(std::shared_ptr<Context> owner, sample::EdgeSink& edges)
    : Object(kKind, owner, owner->queue), edges_(&edges) {}

sample::EdgeSink& Sink::edges() const {
  if (edges_ == nullptr)
    fail(Status::kHandle, "the sink's callback has returned; a sink lives no longer than that");
  return *edges_;
}

void Sink::close() noexcept {
  while (!occupancy.try_hold()) std::this_thread::yield();  // another thread adds its last edges
  edges_ = nullptr;
  occupancy.end_hold();
}

namespace {

const gnnmg_sampler_config kSamplerDefaults = [] {
  gnnmg_sampler_config config{};
  config.struct_size = sizeof config;
  config.num_fanouts = 2;
  config.fanouts[0] = config.fanouts[1] = 10;
  config.transpose = 1;
  return config;
}();
static_assert(sizeof kSamplerDefaults.fanouts / sizeof kSamplerDefaults.fanouts[0] ==
              sample::kMaxHops);
static_assert(static_cast<int32_t>(sample::Expansion::kOnce) == GNNMG_EXPANSION_ONCE &&
              static_cast<int32_t>(sample::Expansion::kEveryLayer) == GNNMG_EXPANSION_EVERY_LAYER);
static_assert(static_cast<int32_t>(sample::Draw::kUniform) == GNNMG_DRAW_UNIFORM &&
              static_cast<int32_t>(sample::Draw::kLabor) == GNNMG_DRAW_LABOR &&
              static_cast<int32_t>(sample::Draw::kLaborOnce) == GNNMG_DRAW_LABOR_ONCE);

sample::NeighborConfig neighbor_config(const gnnmg_sampler_config& in) {
  check_choice(in.num_fanouts, 1, sample::kMaxHops, "config.num_fanouts");
  GNNMG_CHECK_CONSTANT(in.expansion, GNNMG_EXPANSION_ONCE, GNNMG_EXPANSION_EVERY_LAYER,
                       "config.expansion");
  GNNMG_CHECK_CONSTANT(in.draw, GNNMG_DRAW_UNIFORM, GNNMG_DRAW_LABOR_ONCE, "config.draw");
  check_flag(in.fanouts_reversed, "config.fanouts_reversed");
  check_flag(in.replace, "config.replace");
  check_flag(in.outgoing, "config.outgoing");
  check_flag(in.edge_ids, "config.edge_ids");
  check_flag(in.transpose, "config.transpose");
  sample::NeighborConfig config;
  config.fanouts.assign(in.fanouts, in.fanouts + in.num_fanouts);
  if (in.fanouts_reversed) std::reverse(config.fanouts.begin(), config.fanouts.end());
  config.expansion = static_cast<sample::Expansion>(in.expansion);
  config.draw = static_cast<sample::Draw>(in.draw);
  config.replace = in.replace;
  config.edge_ids = in.edge_ids;
  config.transpose = in.transpose;
  config.outgoing = in.outgoing;
  return config;
}

// Returns whether edges of a type carry tensors, which models may read by their ids.
bool has_tensors(const graph::GraphParts& parts, int32_t edge_type) {
  if (parts.elsewhere) return !parts.elsewhere->edge_columns().empty();
  const auto type = static_cast<size_t>(edge_type);
  return type < parts.edge_columns.size() && !parts.edge_columns[type].empty();
}

uint64_t key_number(const base::Key& key) { return uint64_t{key[1]} << 32 | key[0]; }
base::Key key_of(uint64_t number) {
  return {static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32)};
}

// A sink while a callback may fill it.
class LentSink {
 public:
  LentSink(const std::shared_ptr<Context>& context, sample::EdgeSink& edges)
      : sink_(std::make_shared<Sink>(context, edges)), token_(new_handle<gnnmg_sink>(sink_)) {}
  ~LentSink() {
    remove_handle(token_, Kind::kSink);
    sink_->close();
  }
  LentSink(const LentSink&) = delete;
  LentSink& operator=(const LentSink&) = delete;

  gnnmg_sink* token() const { return token_; }

 private:
  const std::shared_ptr<Sink> sink_;
  gnnmg_sink* const token_;
};

// Asks the host's function for the edges of one layer, on a thread of the host.
void ask_host(const std::shared_ptr<Context>& context, gnnmg_layer_fn function, void* user_data,
              const sample::LayerRequest& request, sample::EdgeSink& edges) {
  const LentSink sink(context, edges);
  gnnmg_layer_info info{};
  info.struct_size = sizeof info;
  info.layer = request.layer;
  info.epoch = request.epoch;
  info.batch = request.batch;
  info.key = key_number(request.key);
  int32_t answer = 0;
  bool thrown = false;
  try {
    answer = function(&info, request.targets.data(), static_cast<int64_t>(request.targets.size()),
                      sink.token(), user_data);
  } catch (const base::ThreadEnd&) {
    throw;
  } catch (...) {
    thrown = true;
  }
  const auto where = [&] {
    return base::text("epoch ", request.epoch, ", mini-batch ", request.batch, ", layer ",
                      request.layer);
  };
  if (thrown) fail(Status::kCallback, "the custom sampler threw an exception at ", where());
  if (answer != 0) fail(Status::kCallback, "the custom sampler answered ", answer, " at ", where());
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_sampler_config_init(gnnmg_sampler_config* config, size_t struct_size) {
  return init_config(config, struct_size, kSamplerDefaults);
}

gnnmg_status gnnmg_sampler_create(const gnnmg_graph* graph, const gnnmg_sampler_config* config,
                                  gnnmg_sampler** sampler) {
  return guard(outs(Out{sampler, "sampler"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    const gnnmg_sampler_config in = read_config(config, kSamplerDefaults);
    gnnmg::sample::NeighborConfig settings = neighbor_config(in);
    check_edge_type(g->parts(), in.edge_type);
    settings.edge_ids = settings.edge_ids || has_tensors(g->parts(), in.edge_type);
    const gnnmg::graph::GraphRef made = g->made();
    *sampler = new_handle<gnnmg_sampler>(std::make_shared<Sampler>(
        g->context, gnnmg::sample::make_neighbor_sampler(made, settings, in.edge_type),
        Sampler::Edges{made, in.edge_type, settings.outgoing}, settings.transpose));
    g->freeze();
  });
}

gnnmg_status gnnmg_sampler_create_custom(const gnnmg_graph* graph,
                                         const gnnmg_sampler_config* config,
                                         gnnmg_layer_fn function, void* user_data,
                                         gnnmg_release_fn release, gnnmg_sampler** sampler) {
  return guard_registration(
      outs(Out{sampler, "sampler"}), user_data, release, [&](Registration& r) {
        const auto g = read<Graph>(graph, "graph");
        const gnnmg::sample::NeighborConfig settings =
            neighbor_config(read_config(config, kSamplerDefaults));
        if (function == nullptr) fail(Status::kInvalidArgument, "argument 'function' is NULL");
        const gnnmg::graph::GraphRef made = g->made();
        auto ask = [context = g->context, function, user = r.take(g->queue)](
                       const gnnmg::sample::LayerRequest& request, gnnmg::sample::EdgeSink& edges) {
          context->queue->call([&] { ask_host(context, function, user->get(), request, edges); },
                               *request.cancel);
        };
        *sampler = new_handle<gnnmg_sampler>(std::make_shared<Sampler>(
            g->context,
            gnnmg::sample::make_custom_sampler(made, static_cast<int>(settings.fanouts.size()),
                                               settings.edge_ids, settings.transpose,
                                               std::move(ask)),
            Sampler::Edges{made}, settings.transpose));
        g->freeze();
      });
}

gnnmg_status gnnmg_sampler_create_graphs(const gnnmg_dataset* dataset,
                                         const gnnmg_sampler_config* config,
                                         gnnmg_sampler** sampler) {
  return guard(outs(Out{sampler, "sampler"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    gnnmg::sample::NeighborConfig settings = neighbor_config(read_config(config, kSamplerDefaults));
    const gnnmg::data::Dataset& data = *d->data();
    if (!data.of_graphs())
      fail(Status::kInvalidArgument, "the data set '", data.name,
           "' is one graph, not many; gnnmg_sampler_create() samples from it");
    settings.edge_ids = settings.edge_ids || !data.graph->edge_columns().empty();
    *sampler = new_handle<gnnmg_sampler>(std::make_shared<Sampler>(
        d->context,
        gnnmg::sample::make_graphs_sampler(data.graph, data.graph_ptr,
                                           {.num_layers = static_cast<int>(settings.fanouts.size()),
                                            .edge_ids = settings.edge_ids,
                                            .transpose = settings.transpose}),
        Sampler::Edges{data.graph}, settings.transpose));
  });
}

void gnnmg_sampler_free(gnnmg_sampler* sampler) { free_handle(sampler, Kind::kSampler); }

gnnmg_status gnnmg_sampler_num_layers(const gnnmg_sampler* sampler, int32_t* count) {
  return guard(outs(Out{count, "count"}),
               [&] { *count = read<Sampler>(sampler, "sampler")->get()->num_layers(); });
}

gnnmg_status gnnmg_sampler_sample(const gnnmg_sampler* sampler, const gnnmg_dataset* dataset,
                                  const int64_t* seeds, int64_t num_seeds, uint64_t seed,
                                  uint64_t epoch, uint64_t number, gnnmg_batch** batch,
                                  int64_t timeout_ms) {
  return guard(outs(Out{batch, "batch"}), [&] {
    check_timeout(timeout_ms);  // sampling waits for nobody
    check_may_wait();
    const auto s = read<Sampler>(sampler, "sampler");
    Read<Dataset> d;
    if (dataset != nullptr) {
      d = read<Dataset>(dataset, "dataset");
      check_fit(*s, *d);
    }
    const auto ids = read_list(seeds, num_seeds, "seeds");
    auto made = std::make_shared<gnnmg::loader::Batch>();
    made->epoch = epoch;
    made->number = static_cast<int64_t>(number);
    made->seeds.assign(ids.begin(), ids.end());
    made->step_ids = made->seeds;
    gnnmg::sample::BatchKey key;
    key.seed = seed;
    key.epoch = epoch;
    key.batch = number;
    {
      gnnmg::base::HostQueue::Entry entry(*s->queue);
      auto workspace = s->borrow_workspace();
      s->get()->sample(ids, key, *workspace, made->sample, {});
      s->give_workspace(std::move(workspace));
    }
    if (d)
      if (const auto store = d->features()) gather_features(*store, *made, s->context->pool);
    *batch = new_handle<gnnmg_batch>(make_object<Batch>(
        s->context, std::move(made), d ? d->data() : nullptr, seed, s->has_transpose()));
  });
}

gnnmg_status gnnmg_sink_add_edges(gnnmg_sink* sink, const int64_t* sources, const int64_t* targets,
                                  const int64_t* edge_ids, int64_t num_edges) {
  return guard([&] {
    const auto s = hold<Sink>(sink, "sink");
    s->edges().add(read_list(sources, num_edges, "sources"),
                   read_list(targets, num_edges, "targets"),
                   edge_ids == nullptr ? std::span<const int64_t>()
                                       : read_list(edge_ids, num_edges, "edge_ids"));
  });
}

gnnmg_status gnnmg_graph_sample_neighbors(const gnnmg_graph* graph, int32_t edge_type,
                                          const int64_t* targets, int64_t num_targets,
                                          int64_t fanout, int32_t replace, uint64_t key,
                                          gnnmg_sink* sink) {
  return guard([&] {
    const auto g = read<Graph>(graph, "graph");
    const auto s = hold<Sink>(sink, "sink");
    check_edge_type(g->parts(), edge_type);
    check_flag(replace, "replace");
    gnnmg::sample::sample_neighbors(*g->made(), read_list(targets, num_targets, "targets"), fanout,
                                    replace, key_of(key), s->edges(), edge_type);
    g->freeze();
  });
}

}  // extern "C"
