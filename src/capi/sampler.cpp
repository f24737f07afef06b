#include "capi/sampler.h"

#include <algorithm>
#include <thread>

#include "capi/arguments.h"
#include "capi/batch.h"
#include "capi/callback.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/settings.h"

namespace gnnmg::capi {

Sampler::Sampler(std::shared_ptr<Context> owner, std::shared_ptr<const sample::Sampler> made,
                 Edges edges, bool has_transpose)
    : Object(kKind, owner, owner->queue),
      sampler_(std::move(made)),
      edges_(std::move(edges)),
      transpose_(has_transpose) {}

void check_times(const int64_t* times) {
  if (times != nullptr)
    fail(Status::kUnsupported,
         "times are for temporal sampling, which this version does not have; pass NULL");
}

BatchTypes Sampler::types() const {
  return {edges_.graph->schema().edge_types[static_cast<size_t>(edges_.type)].target, edges_.type};
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

struct SamplerSettings {
  sample::NeighborConfig neighbors{.fanouts = {10, 10}, .transpose = true};
  bool fanouts_reversed = false;
  int32_t edge_type = 0;
};

void read_fanouts(const Word& word, SamplerSettings& settings) {
  std::vector<int64_t>& fanouts = settings.neighbors.fanouts;
  read_value(word, fanouts);
  if (fanouts.size() > sample::kMaxHops)
    word.refuse(base::text("at most ", sample::kMaxHops, " integers"));
}

constexpr SettingRow<SamplerSettings> kSamplerRows[] = {
    {"fanouts", "-1 or more",
     "Neighbors per node at each hop, beginning next to the seeds, one number per layer of the "
     "model, at most 16. -1: all, 0: none.",
     true, nullptr, read_fanouts,
     [](const SamplerSettings& defaults, SettingFacts& facts) {
       describe_type(defaults.neighbors.fanouts, facts);
       facts.default_value = value_text(defaults.neighbors.fanouts);
     }},
    GNNMG_SETTING_AS(SamplerSettings, "replace", neighbors.replace, nullptr,
                     "1: draw with replacement.", true),
    GNNMG_SETTING_AS(SamplerSettings, "draw", neighbors.draw, nullptr,
                     "Method that draws the neighbors of a node; see gnnmg_draw. LABOR cannot be "
                     "combined with replace. With LABOR a GPU measures the size of each hop, and "
                     "its steps are not captured.",
                     true),
    GNNMG_SETTING_AS(SamplerSettings, "expansion", neighbors.expansion, nullptr,
                     "Nodes whose neighbors are drawn at a hop.\n"
                     "once: nodes first met at the previous hop. All layers share one set of "
                     "edges, trimmed to the needs of each layer. PyG's rule.\n"
                     "every_layer: all nodes met so far, drawn anew for each layer. DGL's rule."),
    GNNMG_SETTING(SamplerSettings, fanouts_reversed, nullptr,
                  "1: the list of fanouts begins at the far end, as in DGL."),
    GNNMG_SETTING_AS(SamplerSettings, "outgoing", neighbors.outgoing, nullptr,
                     "1: follow edges from source to target. For custom loops; degrees that a "
                     "model takes from the graph still count incoming edges. A trainer refuses it "
                     "because it evaluates along incoming edges; use "
                     "GNNMG_TRANSFORM_REVERSE_EDGES instead."),
    GNNMG_SETTING_AS(SamplerSettings, "edge_ids", neighbors.edge_ids, nullptr,
                     "1: blocks have edge ids. 0: blocks have edge ids only if the edges have "
                     "tensors that models may read, and never from a custom sampler."),
    GNNMG_SETTING_AS(SamplerSettings, "transpose", neighbors.transpose, nullptr,
                     "1: blocks have the data that backward passes need."),
    GNNMG_SETTING(SamplerSettings, edge_type, "an edge type of the graph",
                  "Index of the edge type to follow."),
};

SamplerSettings read_sampler(const gnnmg_sampler_config* config, const char* settings) {
  const gnnmg_sampler_config in = read_config(config);
  static_assert(sizeof in.fanouts / sizeof in.fanouts[0] == sample::kMaxHops);
  check_choice(in.num_fanouts, 0, sample::kMaxHops, "config.num_fanouts");
  SamplerSettings read;
  sample::NeighborConfig& neighbors = read.neighbors;
  FieldNames given;
  if (in.num_fanouts > 0) {
    // All 0 is the default: a sample without neighbors is asked for by name.
    const bool is_default = std::all_of(in.fanouts, in.fanouts + in.num_fanouts,
                                        [](int64_t fanout) { return fanout == 0; });
    neighbors.fanouts.assign(in.fanouts, in.fanouts + in.num_fanouts);
    if (is_default) std::ranges::fill(neighbors.fanouts, 10);
    given.emplace_back("fanouts");
  } else if (in.fanouts[0] != 0) {
    fail(Status::kInvalidArgument, "config.fanouts[0] is ", in.fanouts[0],
         ", but config.num_fanouts is 0, expected the number of fanouts");
  }
  take_field(in.replace, "replace", neighbors.replace, given);
  take_field(in.draw, "draw", neighbors.draw, given);
  std::vector<Word> words = split_words("sampler", settings);
  apply_words<SamplerSettings>(words, kSamplerRows, read, given);
  if (read.fanouts_reversed) std::ranges::reverse(neighbors.fanouts);
  return read;
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

std::vector<SettingFacts> sampler_settings() {
  return list_settings<SamplerSettings>(kSamplerRows, {});
}

}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_sampler_create(const gnnmg_graph* graph, const gnnmg_sampler_config* config,
                                  const char* settings, gnnmg_sampler** sampler) {
  return guard(outs(Out{sampler, "sampler"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    auto [neighbors, reversed, edge_type] = read_sampler(config, settings);
    check_edge_type(g->parts(), edge_type);
    neighbors.edge_ids |= has_tensors(g->parts(), edge_type);
    const gnnmg::graph::GraphRef made = g->made();
    *sampler = new_handle<gnnmg_sampler>(std::make_shared<Sampler>(
        g->context, gnnmg::sample::make_neighbor_sampler(made, neighbors, edge_type),
        Sampler::Edges{made, edge_type, neighbors.outgoing}, neighbors.transpose));
    g->freeze();
  });
}

gnnmg_status gnnmg_sampler_create_custom(const gnnmg_graph* graph,
                                         const gnnmg_sampler_config* config, const char* settings,
                                         gnnmg_layer_fn function, void* user_data,
                                         gnnmg_release_fn release, gnnmg_sampler** sampler) {
  return guard_registration(
      outs(Out{sampler, "sampler"}), user_data, release, [&](Registration& r) {
        const auto g = read<Graph>(graph, "graph");
        const gnnmg::sample::NeighborConfig neighbors = read_sampler(config, settings).neighbors;
        if (function == nullptr) fail(Status::kInvalidArgument, "argument 'function' is NULL");
        const gnnmg::graph::GraphRef made = g->made();
        auto ask = [context = g->context, function, user = r.take(g->queue)](
                       const gnnmg::sample::LayerRequest& request, gnnmg::sample::EdgeSink& edges) {
          context->queue->call([&] { ask_host(context, function, user->get(), request, edges); },
                               *request.cancel);
        };
        *sampler = new_handle<gnnmg_sampler>(std::make_shared<Sampler>(
            g->context,
            gnnmg::sample::make_custom_sampler(made, static_cast<int>(neighbors.fanouts.size()),
                                               neighbors.edge_ids, neighbors.transpose,
                                               std::move(ask)),
            Sampler::Edges{made}, neighbors.transpose));
        g->freeze();
      });
}

gnnmg_status gnnmg_sampler_create_graphs(const gnnmg_dataset* dataset,
                                         const gnnmg_sampler_config* config, const char* settings,
                                         gnnmg_sampler** sampler) {
  return guard(outs(Out{sampler, "sampler"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    gnnmg::sample::NeighborConfig neighbors = read_sampler(config, settings).neighbors;
    const gnnmg::data::Dataset& data = *d->data();
    if (!data.of_graphs())
      fail(Status::kInvalidArgument, data.title(),
           " is one graph, not many; gnnmg_sampler_create() samples from it");
    neighbors.edge_ids |= !data.graph->edge_columns().empty();
    *sampler = new_handle<gnnmg_sampler>(
        std::make_shared<Sampler>(d->context,
                                  gnnmg::sample::make_graphs_sampler(
                                      data.graph, data.graph_ptr,
                                      {.num_layers = static_cast<int>(neighbors.fanouts.size()),
                                       .edge_ids = neighbors.edge_ids,
                                       .transpose = neighbors.transpose}),
                                  Sampler::Edges{data.graph}, neighbors.transpose));
  });
}

void gnnmg_sampler_free(gnnmg_sampler* sampler) { free_handle(sampler, Kind::kSampler); }

gnnmg_status gnnmg_sampler_num_layers(const gnnmg_sampler* sampler, int32_t* count) {
  return guard(outs(Out{count, "count"}),
               [&] { *count = read<Sampler>(sampler, "sampler")->get()->num_layers(); });
}

gnnmg_status gnnmg_sampler_sample(const gnnmg_sampler* sampler, const gnnmg_dataset* dataset,
                                  const int64_t* seeds, int64_t num_seeds, const int64_t* times,
                                  uint64_t seed, uint64_t epoch, uint64_t number,
                                  gnnmg_batch** batch, int64_t timeout_ms) {
  return guard(outs(Out{batch, "batch"}), [&] {
    check_timeout(timeout_ms);  // sampling waits for nobody
    check_times(times);
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
      auto workspace = s->workspaces.borrow();
      s->get()->sample(ids, key, *workspace, made->sample, {});
      s->workspaces.give_back(std::move(workspace));
    }
    if (d)
      if (const auto store = d->features()) gather_features(*store, *made, s->context->pool);
    *batch = new_handle<gnnmg_batch>(make_object<Batch>(s->context, std::move(made),
                                                        d ? d->data() : nullptr, seed,
                                                        s->has_transpose(), s->types()));
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
