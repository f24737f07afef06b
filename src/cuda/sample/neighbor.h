// The neighbor sampler of a queue: runs the kernels of a call hop by hop. Without measured hops
// bounds determine the size of every launch, true counts stay on the device, and nothing waits.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/grid/buffer.h"
#include "cuda/sample/graph.h"
#include "cuda/sample/hop.h"
#include "cuda/sample/pad.h"
#include "cuda/sample/relabel.h"
#include "cuda/sample/shape.h"
#include "cuda/sample/transpose.h"
#include "sample/device.h"

namespace gnnmg::cuda {

inline constexpr int64_t kMostLanes = 32;

// A block of the result in memory.
struct StoreBuffers {
  explicit StoreBuffers(Memory& memory)
      : indptr(memory),
        indices(memory),
        edge_ids(memory),
        out_indptr(memory),
        out_targets(memory) {}
  int64_t bytes() const {
    return (indptr.capacity() + indices.capacity() + out_indptr.capacity() +
            out_targets.capacity()) *
               4 +
           edge_ids.capacity() * 8;
  }
  Buffer<int32_t> indptr, indices;
  Buffer<int64_t> edge_ids;
  Buffer<int32_t> out_indptr, out_targets;
};

template <typename Queue>
class NeighborSampler {
 public:
  NeighborSampler(Queue& queue, const KernelGraph& graph, const sample::NeighborConfig& config,
                  int64_t max_seeds, int64_t max_batches)
      : queue_(queue),
        graph_(graph),
        config_(config),
        max_seeds_(max_seeds),
        max_batches_(max_batches),
        num_hops_(static_cast<int32_t>(config.fanouts.size())),
        transposed_(config.num_transposed()),
        shape_(shape_of(config, graph.csc().num_nodes, graph.num_edges(), max_seeds, max_batches)),
        transposing_(queue.device_memory()) {
    for (size_t i = 0; i < shape_.stores.size(); ++i) stores_.emplace_back(queue.device_memory());
    reserve(max_batches);
  }

  const sample::DeviceSample* sample(const sample::DeviceBatches& batches) {
    check(batches);
    batches_ = batches.num_batches;
    reserve(batches_);
    take(batches);
    queue_.fill(bad_.data(), 0xFF, sizeof(uint64_t));
    clear_tables();
    if (shape_.num_bounded < num_hops_) {  // measure() also reads those of later hops
      queue_.fill(ends_.data(), 0, batches_ * (num_hops_ + 1) * 4);
      queue_.fill(num_edges_.data(), 0, batches_ * num_hops_ * 4);
    }
    queue_.each(batches_ * max_seeds_,
                TakeSeeds{nodes(), tables(), num_seeds_, Divisor(max_seeds_), bad_.data()});
    int64_t rows = max_seeds_;
    for (int32_t hop = 0; hop < num_hops_; ++hop) rows = expand(hop, rows);
    parted_ = batches.pad && once() ? num_hops_ - 1 : 0;
    // Transposes the block that layers share, as far as layers without a part of their own need
    // lists.
    if (once() && transposed_ > parted_) turn_round(transposed_ - 1);
    if (batches.pad) pad();
    describe();
    return &sample_;
  }

  int64_t bytes() const {
    int64_t bytes =
        transposing_.bytes() +
        8 * (ids_.capacity() + slots_.capacity() + begins_.capacity() + seen_.capacity() +
             totals_.capacity() + bad_.capacity() + seeds_copy_.capacity());
    bytes += 4 * (ends_.capacity() + num_edges_.capacity() + counts_.capacity() + sums_.capacity() +
                  degrees_.capacity() + edge_slots_.capacity() + sources_.capacity() +
                  firsts_.capacity() + ranks_.capacity() + num_seeds_copy_.capacity() +
                  keys_copy_.capacity());
    for (const StoreBuffers& store : stores_) bytes += store.bytes();
    for (const StoreBuffers& store : parts_) bytes += store.bytes();
    return bytes;
  }

 private:
  bool once() const { return config_.expansion == sample::Expansion::kOnce; }
  int store_of(int32_t hop) const { return once() ? 0 : hop; }
  uint32_t table_capacity() const {
    return static_cast<uint32_t>(shape_.node_stride + shape_.node_stride / 2);
  }
  KernelNodes nodes() const {
    return {seeds_,       seed_stride_, graph_.csc().num_nodes, ids_.data(), shape_.node_stride,
            ends_.data(), num_hops_ + 1};
  }
  KernelTables tables() const { return {slots_.data(), table_capacity()}; }
  KernelStore store(int i) const {
    return {stores_[i].indptr.data(), stores_[i].indices.data(),
            config_.edge_ids ? stores_[i].edge_ids.data() : nullptr, shape_.stores[i].indptr_stride,
            shape_.stores[i].edge_stride};
  }

  void check(const sample::DeviceBatches& batches) const {
    using base::fail;
    using base::Status;
    if (batches.num_batches < 1 || batches.num_batches > max_batches_)
      fail(Status::kRange, batches.num_batches, " mini-batches, expected 1 to ", max_batches_,
           ", for which the sampler was made");
    if (batches.seed_stride < 0 || (!batches.on_host && batches.seed_stride < 1))
      fail(Status::kInvalidArgument, "seed_stride is ", batches.seed_stride,
           ", expected 1 or more");
    if (batches.pad && shape_.num_bounded < num_hops_)
      fail(Status::kUnsupported,
           "mini-batches cannot be filled up to bounds: a fan-out of -1, or bounds of 2147483648 "
           "edges and more, has none");
    if (!batches.on_host) return;
    const int64_t num_nodes = graph_.csc().num_nodes;
    for (int32_t m = 0; m < batches.num_batches; ++m) {
      const int32_t count = batches.num_seeds[m];
      const int64_t most = std::min(max_seeds_, batches.seed_stride);
      if (count < 0 || count > most)
        fail(Status::kRange, "mini-batch ", m, " has ", count, " seeds, expected 0 to ", most);
      const int64_t* seeds = batches.seeds + m * batches.seed_stride;
      for (int32_t i = 0; i < count; ++i) {
        if (seeds[i] < 0 || seeds[i] >= num_nodes)
          fail(Status::kRange, "seed ", i, " of mini-batch ", m, " is node ", seeds[i],
               ", expected 0 to ", num_nodes - 1);
      }
    }
  }

  // Makes room for `batches` mini-batches of the present shape.
  void reserve(int64_t batches) {
    ids_.reserve(batches * shape_.node_stride, "nodes of mini-batches");
    slots_.reserve(batches * table_capacity(), "tables of nodes");
    ends_.reserve(batches * (num_hops_ + 1), "counts of nodes");
    num_edges_.reserve(batches * num_hops_, "counts of edges");
    bad_.reserve(1, "the first bad seed");
    totals_.reserve(batches, "counts of picks");
    seeds_copy_.reserve(batches * max_seeds_, "seeds");
    num_seeds_copy_.reserve(batches, "numbers of seeds");
    keys_copy_.reserve(batches * num_hops_ * 2, "keys of hops");
    for (size_t i = 0; i < stores_.size(); ++i) reserve_store(static_cast<int>(i), batches);
    for (int32_t hop = 0; hop < shape_.num_bounded; ++hop) {
      reserve_rows(batches * shape_.hops[hop].rows);
      reserve_edges(hop, batches * shape_.hops[hop].edges);
    }
    if (once() && shape_.num_bounded < num_hops_) return;
    const int32_t stores = once() ? 1 : shape_.num_bounded;
    for (int32_t i = 0; i < stores; ++i) {
      if (!sample::has_lists(config_, i)) continue;
      const StoreShape listed = sample::listed_of(config_, shape_, i);
      transposing_.reserve(batches * listed.edge_stride, batches * listed.max_sources);
    }
  }
  void reserve_store(int i, int64_t batches) {
    const StoreShape listed = sample::listed_of(config_, shape_, i);
    reserve_store(stores_[i], shape_.stores[i], sample::has_lists(config_, i) ? &listed : nullptr,
                  batches);
  }
  void reserve_store(StoreBuffers& store, const StoreShape& shape, const StoreShape* listed,
                     int64_t batches) {
    store.indptr.reserve(batches * shape.indptr_stride, "index pointers of mini-batches");
    store.indices.reserve(batches * shape.edge_stride, "edges of mini-batches");
    if (config_.edge_ids)
      store.edge_ids.reserve(batches * shape.edge_stride, "edge ids of mini-batches");
    if (!listed) return;
    store.out_indptr.reserve(batches * padded(listed->max_sources + 1),
                             "index pointers of mini-batches");
    store.out_targets.reserve(batches * shape.edge_stride, "edges of mini-batches");
  }
  void reserve_rows(int64_t rows) {
    counts_.reserve(rows, "picks of rows");
    sums_.reserve(rows + 1, "picks of rows");
    begins_.reserve(rows, "rows");
    degrees_.reserve(rows, "degrees of rows");
  }
  bool labor(int32_t hop) const {
    return config_.draw != sample::Draw::kUniform && config_.fanouts[hop] >= 0;
  }
  bool many(int32_t hop) const {
    return !labor(hop) && !config_.replace && config_.fanouts[hop] > kMostLanes;
  }
  void reserve_edges(int32_t hop, int64_t edges) {
    sources_.reserve(edges, "sources of edges");
    edge_slots_.reserve(edges, "sources of edges");
    firsts_.reserve(edges, "first edges");
    ranks_.reserve(edges + 1, "ranks of edges");
    if (many(hop)) seen_.reserve(2 * edges, "draws of large fan-outs");
  }

  void take(const sample::DeviceBatches& batches) {
    seeds_ = batches.seeds;
    seed_stride_ = batches.seed_stride;
    num_seeds_ = batches.num_seeds;
    keys_ = batches.keys;
    if (!batches.on_host) return;
    seeds_ = seeds_copy_.data();
    seed_stride_ = std::min(max_seeds_, batches.seed_stride);
    if (seed_stride_ == batches.seed_stride) {
      queue_.copy(seeds_copy_.data(), batches.seeds, batches_ * seed_stride_ * 8);
    } else {
      for (int64_t m = 0; m < batches_; ++m)
        queue_.copy(seeds_copy_.data() + m * seed_stride_, batches.seeds + m * batches.seed_stride,
                    seed_stride_ * 8);
    }
    queue_.copy(num_seeds_copy_.data(), batches.num_seeds, batches_ * 4);
    queue_.copy(keys_copy_.data(), batches.keys, batches_ * num_hops_ * 8);
    num_seeds_ = num_seeds_copy_.data();
    keys_ = keys_copy_.data();
  }

  void clear_tables() {
    queue_.fill(slots_.data(), kFreeByte, batches_ * int64_t{table_capacity()} * 8);
  }

  // Expands hop `hop` of at most `rows` rows; returns the upper bound for the next hop.
  int64_t expand(int32_t hop, int64_t rows) {
    const bool bounded = hop < shape_.num_bounded;
    if (bounded) rows = shape_.hops[hop].rows;
    const int s = store_of(hop);
    check_range(rows, "rows");
    reserve_rows(batches_ * rows);
    Hop kernel{hop,
               once() ? hop - 1 : -1,
               Divisor(rows),
               Divisor(shape_.hops[hop].edges),
               static_cast<int32_t>(config_.fanouts[hop]),
               config_.replace,
               keys_,
               sums_.data()};
    queue_.each(batches_ * rows, CountPicks{graph_.csc(), nodes(), kernel, counts_.data(),
                                            begins_.data(), degrees_.data()});
    if (labor(hop))
      queue_.template tiles<kMostLanes>(batches_ * rows,
                                        CountKept{graph_.csc(), kernel, num_hops_, begins_.data(),
                                                  degrees_.data(), counts_.data()});
    if (!bounded) kernel.edges = Divisor(measure(hop, rows));
    const int64_t edges = kernel.edges.by;
    queue_.scan(counts_.data(), sums_.data(), batches_ * rows);
    draw(kernel);
    queue_.each(batches_ * edges,
                FindFirst{nodes(), tables(), store(s), kernel, edge_slots_.data(), firsts_.data()});
    queue_.scan(firsts_.data(), ranks_.data(), batches_ * edges);
    const bool last = hop == num_hops_ - 1;
    queue_.each(batches_ * edges, NumberSources{nodes(), tables(), store(s), kernel,
                                                sources_.data(), edge_slots_.data(), ranks_.data(),
                                                num_edges_.data(), num_hops_ - 1 - hop, !last});
    if (!once() && hop < transposed_) turn_round(hop);
    // A node is one row, except for repeated seeds.
    return std::max<int64_t>(
        once() ? std::min(edges, graph_.csc().num_nodes)
               : std::min(shape_.node_stride, graph_.csc().num_nodes + max_seeds_),
        1);
  }

  // Returns the block of a hop in its store, with lists by source if it needs them.
  TransposedBlock block_of(int32_t hop) const {
    const int s = store_of(hop);
    const bool both = hop < transposed_;
    const StoreShape shape =
        both ? sample::listed_of(config_, shape_, s) : shape_.stores[static_cast<size_t>(s)];
    return {nodes(),
            store(s),
            hop,
            Divisor(shape.max_sources),
            Divisor(shape.max_targets),
            Divisor(shape.edge_stride),
            both ? stores_[s].out_indptr.data() : nullptr,
            both ? padded(shape.max_sources + 1) : 0,
            both ? stores_[s].out_targets.data() : nullptr};
  }
  void turn_round(int32_t hop) { transpose(queue_, block_of(hop), batches_, transposing_); }
  // Returns the separate block of a layer that otherwise shares one.
  TransposedBlock part(int32_t hop) {
    const StoreShape shape = sample::part_of(shape_.hops[hop]);
    StoreBuffers& buffers = parts_[hop];
    const bool both = config_.transpose;
    return {nodes(),
            {buffers.indptr.data(), buffers.indices.data(),
             config_.edge_ids ? buffers.edge_ids.data() : nullptr, shape.indptr_stride,
             shape.edge_stride},
            hop,
            Divisor(shape.max_sources),
            Divisor(shape.max_targets),
            Divisor(shape.edge_stride),
            both ? buffers.out_indptr.data() : nullptr,
            both ? padded(shape.max_sources + 1) : 0,
            both ? buffers.out_targets.data() : nullptr};
  }
  void pad() {
    for (int32_t hop = 0; hop < parted_; ++hop) {
      if (static_cast<int32_t>(parts_.size()) == hop) parts_.emplace_back(memory());
      const StoreShape shape = sample::part_of(shape_.hops[hop]);
      reserve_store(parts_[hop], shape, config_.transpose ? &shape : nullptr, max_batches_);
      const TransposedBlock own = part(hop);
      part_block(queue_, store(0), own, batches_);
      if (config_.transpose) transpose(queue_, own, batches_, transposing_);
      pad_block(queue_, own, batches_);
    }
    queue_.each(batches_ * shape_.node_stride, PadNodes{nodes(), Divisor(shape_.node_stride)});
    for (int s = 0; s < static_cast<int>(stores_.size()); ++s)
      pad_block(queue_, block_of(once() ? num_hops_ - 1 : s), batches_);
  }

  template <int N, Picks kPicks>
  void draw_in_tiles(const Hop& hop) {
    queue_.template tiles<N>(
        batches_ * hop.rows.by,
        DrawPicks<kPicks>{graph_.csc(), nodes(), tables(), store(store_of(hop.hop)), hop, num_hops_,
                          begins_.data(), degrees_.data(), sources_.data(), edge_slots_.data(),
                          seen_.data()});
  }
  void draw(const Hop& hop) {
    if (labor(hop.hop)) {
      draw_in_tiles<32, Picks::kKept>(hop);
    } else if (many(hop.hop)) {
      queue_.fill(seen_.data(), kFreeByte, batches_ * hop.edges.by * 16);
      draw_in_tiles<32, Picks::kMany>(hop);
    } else if (hop.fanout >= 0 && hop.fanout <= 8) {
      draw_in_tiles<8, Picks::kFew>(hop);
    } else if (hop.fanout >= 0 && hop.fanout <= 16) {
      draw_in_tiles<16, Picks::kFew>(hop);
    } else {
      draw_in_tiles<32, Picks::kFew>(hop);
    }
  }

  void check_range(int64_t a_batch, const char* what) const {
    if (a_batch > INT32_MAX / batches_)
      base::fail(base::Status::kRange, batches_, " mini-batches with up to ", a_batch, " ", what,
                 " each, a GPU samples fewer than 2147483648 in all; take smaller mini-batches or "
                 "fan-outs, fewer mini-batches a call, or sample on the CPU");
  }

  // Reads the numbers of picks of a hop back and makes room for them; returns the largest of a
  // mini-batch.
  int64_t measure(int32_t hop, int64_t rows) {
    queue_.fill(totals_.data(), 0, batches_ * 8);
    const int64_t parts = (rows + kMostLanes - 1) / kMostLanes;
    queue_.template tiles<kMostLanes>(
        batches_ * parts,
        AddTotals{counts_.data(), static_cast<uint32_t>(rows), Divisor(parts), totals_.data()});
    std::vector<uint64_t> totals(batches_);
    std::vector<int32_t> ends(batches_ * (num_hops_ + 1)), edges_so_far(batches_ * num_hops_);
    queue_.copy(totals.data(), totals_.data(), batches_ * 8);
    queue_.copy(ends.data(), ends_.data(), static_cast<int64_t>(ends.size()) * 4);
    queue_.copy(edges_so_far.data(), num_edges_.data(),
                static_cast<int64_t>(edges_so_far.size()) * 4);
    queue_.synchronize();

    const int s = store_of(hop);
    const bool keep = once() && hop > 0;  // earlier hops have written there
    int64_t edges = 0, edges_of_all = 0, targets = 0, sources = 0;
    for (int64_t m = 0; m < batches_; ++m) {
      const int64_t known = ends[m * (num_hops_ + 1) + hop];
      const int64_t total = static_cast<int64_t>(std::min<uint64_t>(totals[m], INT64_MAX / 2));
      const int64_t before = keep ? edges_so_far[m * num_hops_ + num_hops_ - hop] : 0;
      edges = std::max(edges, total);
      edges_of_all = std::max(edges_of_all, before + total);
      targets = std::max(targets, known);
      sources = std::max(sources, known + total);
    }
    if (sources > INT32_MAX) check_range(sources, "nodes");
    check_range(padded(edges_of_all), "edges");
    sources = std::min(sources, graph_.csc().num_nodes + max_seeds_);
    check_range(padded(sources), "nodes");

    reserve_edges(hop, batches_ * padded(edges));
    if (padded(sources) > shape_.node_stride) grow_nodes(hop, padded(sources));
    StoreShape shape = shape_.stores[s];
    shape.max_targets = std::max(shape.max_targets, targets);
    shape.max_sources = std::max(shape.max_sources, sources);
    const int64_t indptr_stride = std::max(shape.indptr_stride, padded(targets + 1));
    const int64_t edge_stride = std::max(shape.edge_stride, padded(edges_of_all));
    if (indptr_stride > shape.indptr_stride)
      restride(stores_[s].indptr, shape_.stores[s].indptr_stride, indptr_stride, keep,
               "index pointers of mini-batches");
    shape_.stores[s].indptr_stride = indptr_stride;
    if (edge_stride > shape.edge_stride) {
      // Both or neither, because they share their stride.
      Buffer<int32_t> indices(queue_.device_memory());
      indices.reserve(batches_ * edge_stride, "edges of mini-batches");
      if (config_.edge_ids)
        restride(stores_[s].edge_ids, shape.edge_stride, edge_stride, keep,
                 "edge ids of mini-batches");
      if (keep)
        copy_rows(stores_[s].indices.data(), indices.data(), shape.edge_stride, edge_stride);
      stores_[s].indices = std::move(indices);
    }
    shape.indptr_stride = indptr_stride;
    shape.edge_stride = edge_stride;
    shape_.stores[s] = shape;
    reserve_store(s, batches_);
    return padded(edges);
  }

  template <typename T>
  void copy_rows(const T* from, T* to, int64_t from_stride, int64_t to_stride) {
    // Copies instead of a kernel, which would read the gaps between rows that nobody has written.
    for (int64_t batch = 0; batch < batches_; ++batch)
      queue_.copy(to + batch * to_stride, from + batch * from_stride,
                  from_stride * static_cast<int64_t>(sizeof(T)));
  }
  template <typename T>
  void restride(Buffer<T>& buffer, int64_t from_stride, int64_t to_stride, bool keep,
                const char* what) {
    Buffer<T> grown(queue_.device_memory());
    grown.reserve(batches_ * to_stride, what);
    if (keep) copy_rows(buffer.data(), grown.data(), from_stride, to_stride);
    buffer = std::move(grown);
  }
  void grow_nodes(int32_t hop, int64_t stride) {
    Buffer<int64_t> ids(queue_.device_memory());
    ids.reserve(batches_ * stride, "nodes of mini-batches");
    Buffer<uint64_t> slots(queue_.device_memory());
    slots.reserve(batches_ * (stride + stride / 2), "tables of nodes");
    copy_rows(ids_.data(), ids.data(), shape_.node_stride, stride);
    ids_ = std::move(ids);
    slots_ = std::move(slots);
    shape_.node_stride = stride;
    clear_tables();
    queue_.each(batches_ * stride, InsertKnown{nodes(), Divisor(stride), tables(), hop});
  }

  void describe() {
    sample_.num_batches = static_cast<int32_t>(batches_);
    sample_.num_layers = num_hops_;
    sample_.num_graph_nodes = graph_.csc().num_nodes;
    sample_.node_ids = ids_.data();
    sample_.node_stride = shape_.node_stride;
    sample_.hop_ends = ends_.data();
    sample_.num_edges = num_edges_.data();
    sample_.bad_seed = bad_.data();
    for (int32_t hop = 0; hop < num_hops_; ++hop) {
      const int s = store_of(hop);
      const StoreShape& shape = shape_.stores[s];
      sample::DeviceLayer& layer = sample_.layers[num_hops_ - 1 - hop];
      layer.hop = hop;
      layer.indptr = stores_[s].indptr.data();
      layer.indices = stores_[s].indices.data();
      layer.edge_ids = config_.edge_ids ? stores_[s].edge_ids.data() : nullptr;
      const TransposedBlock block = block_of(hop);
      layer.out_indptr = block.out_indptr;
      layer.out_targets = block.out_targets;
      layer.indptr_stride = shape.indptr_stride;
      layer.edge_stride = shape.edge_stride;
      layer.out_indptr_stride = block.out_indptr_stride;
      layer.max_targets = shape.max_targets;
      layer.max_sources = shape.max_sources;
      layer.max_edges = shape.edge_stride;
      if (hop >= shape_.num_bounded) continue;
      const HopShape& bounds = shape_.hops[hop];
      layer.max_targets = bounds.max_targets;
      layer.max_sources = bounds.max_sources;
      if (hop >= parted_) continue;
      const TransposedBlock own = part(hop);
      layer.indptr = own.store.indptr;
      layer.indices = own.store.indices;
      layer.edge_ids = own.store.edge_ids;
      layer.out_indptr = own.out_indptr;
      layer.out_targets = own.out_targets;
      layer.indptr_stride = own.store.indptr_stride;
      layer.edge_stride = layer.max_edges = own.store.edge_stride;
      layer.out_indptr_stride = padded(bounds.max_sources + 1);
    }
  }

  Queue& queue_;
  const KernelGraph& graph_;
  const sample::NeighborConfig config_;
  const int64_t max_seeds_, max_batches_;
  const int32_t num_hops_;
  const int32_t transposed_;  // number of hops whose blocks have lists by source
  SampleShape shape_;
  sample::DeviceSample sample_;

  int64_t batches_ = 0;  // mini-batches of this call
  const int64_t* seeds_ = nullptr;
  int64_t seed_stride_ = 0;
  const int32_t* num_seeds_ = nullptr;
  const uint32_t* keys_ = nullptr;

  Memory& memory() { return queue_.device_memory(); }
  Buffer<int64_t> ids_{memory()};
  Buffer<uint64_t> slots_{memory()};
  Buffer<int32_t> ends_{memory()}, num_edges_{memory()};
  Buffer<uint64_t> bad_{memory()}, totals_{memory()};
  Buffer<int64_t> seeds_copy_{memory()};
  Buffer<int32_t> num_seeds_copy_{memory()};
  Buffer<uint32_t> keys_copy_{memory()};
  Buffer<int32_t> counts_{memory()}, sums_{memory()};
  Buffer<int64_t> begins_{memory()};
  Buffer<uint32_t> degrees_{memory()}, edge_slots_{memory()};
  Buffer<int32_t> sources_{memory()}, firsts_{memory()}, ranks_{memory()};
  Buffer<uint64_t> seen_{memory()};
  TransposeBuffers transposing_;
  std::vector<StoreBuffers> stores_;
  std::vector<StoreBuffers> parts_;  // one per hop, for hops that share a block and are padded
  int32_t parted_ = 0;               // number of hops with a part in this call
};

}  // namespace gnnmg::cuda
