#include "sample/workspace.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace gnnmg::sample {

using base::fail;
using base::Status;

Workspace::Workspace() : state_(std::make_unique<State>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;

int64_t Sample::num_edges_drawn() const {
  if (stores.size() <= 1) return blocks.empty() ? 0 : blocks.front().num_edges;
  int64_t edges = 0;
  for (const BlockView& block : blocks) edges += block.num_edges;
  return edges;
}

void check_fanout(int64_t fanout, std::string_view what) {
  if (fanout < -1 || fanout > std::numeric_limits<int32_t>::max())
    fail(Status::kInvalidArgument, what, " is ", fanout, ", expected -1 (all), 0 or up to ",
         std::numeric_limits<int32_t>::max());
}

void check_fanouts(std::span<const int64_t> fanouts) {
  if (fanouts.empty() || fanouts.size() > kMaxHops)
    fail(Status::kInvalidArgument, fanouts.size(), " fan-outs, expected 1 to ", kMaxHops);
  for (size_t hop = 0; hop < fanouts.size(); ++hop)
    check_fanout(fanouts[hop], base::text("fan-out ", hop));
}

void check_block_edges(int64_t num_edges) {
  if (num_edges > kMaxBlockEdges)
    fail(Status::kRange, "a mini-batch has more than ", kMaxBlockEdges,
         " edges in one layer; take smaller mini-batches or fan-outs");
}

std::string describe_neighbors(const NeighborConfig& config) {
  std::string text = "neighbors";
  for (const int64_t fanout : config.fanouts) text += base::text(" ", fanout);
  text += config.expansion == Expansion::kOnce ? ", expanded once" : ", expanded in every layer";
  if (config.replace) text += ", with replacement";
  if (config.draw == Draw::kLabor) text += ", LABOR";
  if (config.draw == Draw::kLaborOnce) text += ", LABOR with one number a node for all hops";
  if (config.outgoing) text += ", along outgoing edges";
  return text;
}

namespace {

template <typename Id>
void copy_edge_ids(const Id* ids, std::span<const int64_t> places, int64_t* out) {
  for (const int64_t place : places) *out++ = ids[place];
}

}  // namespace

void read_edge_ids(const graph::Csc& csc, std::span<const int64_t> places, int64_t* out) {
  if (!csc.edge_ids.defined())
    std::copy(places.begin(), places.end(), out);
  else if (csc.edge_ids.dtype() == base::DType::kI64)
    copy_edge_ids(static_cast<const int64_t*>(csc.edge_ids.data()), places, out);
  else
    copy_edge_ids(static_cast<const int32_t*>(csc.edge_ids.data()), places, out);
}

void clear(BlockStore& store) {
  store.indptr.resize_discard(1);
  store.indptr[0] = 0;
  store.indices.resize_discard(1);
  store.indices.clear();
  store.edge_ids.resize_discard(1);
  store.edge_ids.clear();
  for (auto& rows : store.edge_rows) rows.clear();
}

void transpose(BlockStore& store, int64_t num_targets, int64_t num_sources) {
  const int64_t num_edges = store.indices.size();
  // One entry more than the result has: counts are stored two places further on, so that filling
  // the lists moves each start to its position.
  store.out_indptr.resize_discard(num_sources + 2);
  store.out_targets.resize_discard(std::max<int64_t>(num_edges, 1));
  int32_t* starts = store.out_indptr.data();
  std::memset(starts, 0, (num_sources + 2) * sizeof(int32_t));
  const int32_t* indices = store.indices.data();
  for (int64_t e = 0; e < num_edges; ++e) ++starts[indices[e] + 2];
  for (int64_t s = 2; s <= num_sources; ++s) starts[s + 1] += starts[s];
  const int32_t* indptr = store.indptr.data();
  int32_t* targets = store.out_targets.data();
  for (int64_t t = 0; t < num_targets; ++t) {
    for (int32_t e = indptr[t]; e < indptr[t + 1]; ++e)
      targets[starts[indices[e] + 1]++] = static_cast<int32_t>(t);
  }
}

BlockView view_of(const BlockStore& store, int64_t num_targets, int64_t num_sources, bool edge_ids,
                  bool transposed) {
  BlockView view;
  view.num_targets = num_targets;
  view.num_sources = num_sources;
  view.num_edges = store.indptr[num_targets];
  view.indptr = store.indptr.data();
  view.indices = store.indices.data();
  view.edge_ids = edge_ids ? store.edge_ids.data() : nullptr;
  view.out_indptr = transposed ? store.out_indptr.data() : nullptr;
  view.out_targets = transposed ? store.out_targets.data() : nullptr;
  return view;
}

}  // namespace gnnmg::sample
