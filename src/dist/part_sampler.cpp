#include "dist/part_sampler.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dist/part_store.h"
#include "dist/pool.h"
#include "sample/workspace.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;
using sample::BlockStore;
using sample::HopDraw;
using sample::Sample;
using sample::Workspace;

// The request of a hop, the same for every part.
struct HopAsk {
  HopDraw draw;
  int32_t edge_type = 0;
  bool edge_ids = false;
  uint32_t edge_columns = 0;
  std::span<const int64_t> edge_row_bytes = {};  // bytes per row of each column
};

// Buffers of one call of sample() beside the workspace.
struct HopScratch {
  // One part in one hop.
  struct Peer {
    Question question;
    Message message;
    std::unique_ptr<Call> call;  // declared after its message, which it reads until it ends
    Picks picks;
    int64_t next_row = 0, next_pick = 0;  // positions in `picks` while rows are joined
  };
  ByPart rows;
  PickScratch pick;
  std::vector<Peer> peers;
  base::PageVector<int64_t> sources;  // sources of a chunk

  void give_up() {
    for (Peer& peer : peers) peer.call.reset();
  }
};

// f(part, peer, ids) for each part that has any of the nodes.
template <typename F>
void for_parts(HopScratch& scratch, F f) {
  for (size_t part = 0; part < scratch.peers.size(); ++part) {
    const auto ids = scratch.rows.ids[part].span();
    if (!ids.empty()) f(static_cast<int32_t>(part), scratch.peers[part], ids);
  }
}

// Fills the picks of every part for its nodes among `nodes`.
void pick_rows(const Parts& parts, std::span<const int64_t> nodes, const HopAsk& hop,
               HopScratch& scratch, const base::CancelToken& cancel) {
  scratch.peers.resize(parts.num_parts());
  scratch.rows.split(parts.book(), nodes, false);
  for_parts(scratch, [&](int32_t part, HopScratch::Peer& peer, std::span<const int64_t> ids) {
    peer.question = parts.question(Op::kSample);
    peer.question.draw = hop.draw;
    peer.question.edge_type = hop.edge_type;
    peer.question.edge_ids = hop.edge_ids;
    peer.question.edge_columns = hop.edge_columns;
    if (!parts.own(part)) peer.call = parts.ask(part, peer.question, ids, peer.message);
  });
  for_parts(scratch, [&](int32_t part, HopScratch::Peer& peer, std::span<const int64_t> ids) {
    if (const Part* own = parts.own(part))
      pick(*own, ids, peer.question, scratch.pick, cancel, peer.picks);
  });
  for_parts(scratch, [&](int32_t part, HopScratch::Peer& peer, std::span<const int64_t> ids) {
    if (!peer.call) return;
    parts.answer(part, *peer.call, cancel, [&](std::span<const uint8_t> message) {
      read_picks(peer.question, static_cast<int64_t>(ids.size()), parts.num_nodes(), message,
                 peer.picks, hop.edge_row_bytes);
    });
    peer.call.reset();
  });
  for (HopScratch::Peer& peer : scratch.peers) peer.next_row = peer.next_pick = 0;
}

template <typename T>
void append(const base::PageVector<T>& from, int64_t begin, int64_t count,
            base::PageVector<T>& to) {
  const int64_t at = to.size();
  to.resize_keep(at + count);
  std::copy_n(from.data() + begin, count, to.data() + at);
}

class PartSampler : public sample::Sampler {
 public:
  PartSampler(std::shared_ptr<const Parts> parts, const sample::NeighborConfig& config,
              int32_t edge_type)
      : parts_(std::move(parts)), config_(config), edge_type_(edge_type) {
    if (config_.edge_ids) tell_edges([](const graph::EdgeColumn&) { return true; });
  }
  PartSampler(const PartSampler& other)
      : sample::Sampler(other),
        parts_(other.parts_),
        config_(other.config_),
        edge_type_(other.edge_type_),
        edge_columns_(other.edge_columns_),
        asked_columns_(other.asked_columns_),
        edge_row_bytes_(other.edge_row_bytes_),
        degrees_(other.degrees_),
        weight_sums_(other.weight_sums_) {}

  int num_layers() const override { return static_cast<int>(config_.fanouts.size()); }
  int64_t num_nodes() const override { return parts_->num_nodes(); }
  std::string describe() const override { return sample::describe_neighbors(config_); }
  std::shared_ptr<const Sampler> without_input_lists() const override {
    auto other = std::make_shared<PartSampler>(*this);
    other->config_.transpose_input = false;
    return other;
  }
  std::shared_ptr<const Sampler> with_degrees() const override {
    auto other = std::make_shared<PartSampler>(*this);
    other->degrees_ = make_part_store(parts_, kDegreesColumn, {}, base::CancelToken());
    return other;
  }
  std::shared_ptr<const Sampler> with_weight_sums(std::string_view weights) const override {
    auto other = std::make_shared<PartSampler>(*this);
    other->weight_sums_ =
        make_part_store(parts_, parts_->weight_sums_column(weights), {}, base::CancelToken());
    return other;
  }
  std::span<const graph::EdgeColumn> edge_columns() const override {
    return edge_columns_ ? std::span<const graph::EdgeColumn>(*edge_columns_)
                         : std::span<const graph::EdgeColumn>();
  }
  std::shared_ptr<const Sampler> with_edge_columns(
      std::span<const std::string> names) const override {
    auto other = std::make_shared<PartSampler>(*this);
    other->tell_edges([&](const graph::EdgeColumn& column) {
      return std::ranges::find(names, column.name) != names.end();
    });
    return other;
  }
  void sample(std::span<const int64_t> seeds, const sample::BatchKey& key, Workspace& workspace,
              Sample& out, const base::CancelToken& cancel) const override {
    out.edge_columns = edge_columns_;
    sample_nodes(seeds, key, workspace, out, cancel);
    gather_rows(degrees_.get(), out, out.degrees, cancel);
    gather_rows(weight_sums_.get(), out, out.weight_sums, cancel);
  }

 private:
  // Replaces `rows` by those of the sample's nodes, or by nothing without a store.
  template <typename Row>
  static void gather_rows(const feature::FeatureStore* store, const Sample& sample,
                          base::PageVector<Row>& rows, const base::CancelToken& cancel) {
    rows.clear();
    if (!store) return;
    rows.resize_discard(sample.num_nodes());
    store->gather(sample.node_ids.span(), reinterpret_cast<uint8_t*>(rows.data()), nullptr, cancel);
  }

  // Has samples tell the columns of edges that `wanted` says.
  void tell_edges(const std::function<bool(const graph::EdgeColumn&)>& wanted) {
    std::vector<graph::EdgeColumn> told;
    asked_columns_ = 0;
    edge_row_bytes_.clear();
    for (size_t number = 0; number < parts_->edge_columns().size(); ++number) {
      const graph::EdgeColumn& column = parts_->edge_columns()[number];
      if (!wanted(column)) continue;
      told.push_back(column);
      asked_columns_ |= uint32_t{1} << number;
      edge_row_bytes_.push_back(column.row_bytes());
    }
    edge_columns_ = told.empty()
                        ? nullptr
                        : std::make_shared<const std::vector<graph::EdgeColumn>>(std::move(told));
  }

  void sample_nodes(std::span<const int64_t> seeds, const sample::BatchKey& key,
                    Workspace& workspace, Sample& out, const base::CancelToken& cancel) const {
    if (parts_->wide())
      run<sample::WideTable>(seeds, key, workspace.state(), out, cancel);
    else
      run<sample::NarrowTable>(seeds, key, workspace.state(), out, cancel);
  }

  template <typename Table>
  void run(std::span<const int64_t> seeds, const sample::BatchKey& key, Workspace::State& state,
           Sample& out, const base::CancelToken& cancel) const {
    const auto scratch = scratch_.take();
    try {
      sample::sample_hops<Table>(
          seeds, num_nodes(), key, config_, edge_type_, state, out,
          [&](int64_t first, int64_t last, const HopDraw& draw, BlockStore& store) {
            const std::span<const int64_t> nodes(out.node_ids.data() + first, last - first);
            pick_rows(*parts_, nodes,
                      {draw, edge_type_, config_.edge_ids, asked_columns_, edge_row_bytes_},
                      *scratch, cancel);
            join<Table>(first, *scratch, state, out, store, cancel);
          });
    } catch (...) {
      scratch->give_up();
      throw;
    }
  }

  // Appends the rows of the nodes from `first` on to the store, each from its part's picks, and
  // their sources to the node list.
  template <typename Table>
  void join(int64_t first, HopScratch& scratch, Workspace::State& state, Sample& out,
            BlockStore& store, const base::CancelToken& cancel) const {
    const int64_t num_rows = scratch.rows.part.size();
    store.edge_rows.resize(edge_row_bytes_.size());
    store.indptr.resize_keep(first + num_rows + 1);
    for (int64_t row = 0; row < num_rows;) {
      cancel.check("sampling");
      const int64_t before = store.indices.size();
      scratch.sources.clear();
      for (; row < num_rows && scratch.sources.size() < sample::kChunkEdges; ++row) {
        take_row(scratch.peers[scratch.rows.part[row]], scratch.sources, store);
        const int64_t edges = before + scratch.sources.size();
        sample::check_block_edges(edges);
        store.indptr[first + row + 1] = static_cast<int32_t>(edges);
      }
      number<Table>(scratch.sources.span(), state, out, store, before);
    }
  }

  // Appends the sources of the part's next row to `sources`, and tells the store the rows of its
  // edges.
  void take_row(HopScratch::Peer& peer, base::PageVector<int64_t>& sources,
                BlockStore& store) const {
    const int64_t count = peer.picks.counts[peer.next_row++];
    const int64_t from = std::exchange(peer.next_pick, peer.next_pick + count);
    append(peer.picks.sources, from, count, sources);
    if (config_.edge_ids) append(peer.picks.edge_ids, from, count, store.edge_ids);
    for (size_t i = 0; i < edge_row_bytes_.size(); ++i)
      append(peer.picks.edge_rows[i], from * edge_row_bytes_[i], count * edge_row_bytes_[i],
             store.edge_rows[i]);
  }

  template <typename Table>
  void number(std::span<const int64_t> ids, Workspace::State& state, Sample& out, BlockStore& store,
              int64_t before) const {
    Table& table = state.table<Table>();
    auto& sources = state.sources<Table>();
    const auto count = static_cast<int64_t>(ids.size());
    sources.resize_discard(count);
    for (int64_t i = 0; i < count; ++i) {
      sources[i] = static_cast<typename Table::Key>(ids[i]);
      table.prefetch(sources[i]);
    }
    store.indices.resize_keep(before + count);
    sample::number_sources<Table>(sources.span(), table, out, store.indices.data() + before);
  }

  std::shared_ptr<const Parts> parts_;
  sample::NeighborConfig config_;
  int32_t edge_type_;
  // The columns of edges that a sample tells, null: none; their numbers among the parts' columns,
  // and the bytes of a row of each.
  std::shared_ptr<const std::vector<graph::EdgeColumn>> edge_columns_;
  uint32_t asked_columns_ = 0;
  std::vector<int64_t> edge_row_bytes_;
  // Columns of the nodes; null: not requested.
  std::shared_ptr<const feature::FeatureStore> degrees_, weight_sums_;
  mutable Pool<HopScratch> scratch_;
};

}  // namespace

std::unique_ptr<sample::Sampler> make_part_sampler(std::shared_ptr<const Parts> parts,
                                                   const sample::NeighborConfig& config,
                                                   int32_t edge_type) {
  sample::check_fanouts(config.fanouts);
  sample::check_draw(config);
  if (config.outgoing)
    fail(Status::kUnsupported,
         "sampling along outgoing edges over parts: a part has the edges into its nodes; "
         "partition the reversed graph instead");
  if (edge_type < 0)
    fail(Status::kInvalidArgument, "edge type is ", edge_type, ", expected 0 or more");
  return std::make_unique<PartSampler>(std::move(parts), config, edge_type);
}

void sample_part_neighbors(const Parts& parts, std::span<const int64_t> targets,
                           const HopDraw& draw, int32_t edge_type, bool edge_ids,
                           sample::EdgeSink& sink) {
  HopScratch scratch;
  pick_rows(parts, targets, {.draw = draw, .edge_type = edge_type, .edge_ids = edge_ids}, scratch,
            {});
  std::vector<int64_t> target_of_edge;
  for (size_t i = 0; i < targets.size(); ++i) {
    HopScratch::Peer& peer = scratch.peers[scratch.rows.part[static_cast<int64_t>(i)]];
    const int64_t count = peer.picks.counts[peer.next_row++];
    const auto from = static_cast<size_t>(std::exchange(peer.next_pick, peer.next_pick + count));
    const auto of_row = [&](const base::PageVector<int64_t>& all) {
      return all.span().subspan(from, static_cast<size_t>(count));
    };
    target_of_edge.assign(static_cast<size_t>(count), targets[i]);
    sink.add(of_row(peer.picks.sources), target_of_edge,
             edge_ids ? of_row(peer.picks.edge_ids) : std::span<const int64_t>());
  }
}

}  // namespace gnnmg::dist
