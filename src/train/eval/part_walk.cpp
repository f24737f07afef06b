#include "train/eval/part_walk.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "nn/graph_facts.h"
#include "nn/tensors.h"
#include "nn/torch_tensor.h"
#include "train/tensors.h"

namespace gnnmg::train {
namespace {

using base::DType;
using base::Tensor;
using sample::Sample;

// Draws all edges into nodes, with what the model reads of them.
std::shared_ptr<const sample::Sampler> sampler_of_all(const nn::Model& model,
                                                      const data::Dataset& dataset) {
  const nn::EdgeNeeds needs = nn::edge_needs(model.config());
  sample::NeighborConfig config;
  config.fanouts = {-1};
  config.edge_ids = needs.any();
  std::shared_ptr<const sample::Sampler> sampler =
      sample::make_neighbor_sampler(dataset.graph, config);
  if (model.piece_needs().degrees) sampler = sampler->with_degrees();
  if (const auto columns = sampler->edge_columns(); !columns.empty())
    sampler = sampler->with_edge_columns(nn::edge_columns_read(needs, columns));
  return sampler;
}

// The targets of a sample and the edges into them as a graph of its own, on the sample's memory.
graph::GraphRef graph_of(const std::shared_ptr<Sample>& sample) {
  const int64_t nodes = sample->num_nodes();
  const int64_t edges = sample->blocks.empty() ? 0 : sample->blocks[0].num_edges;
  graph::GraphParts parts;
  parts.num_nodes = {nodes};
  graph::Csc csc;
  csc.num_sources = csc.num_targets = nodes;
  csc.indptr = Tensor::zeros(DType::kI64, {nodes + 1});
  csc.indices = Tensor::zeros(DType::kI32, {0});
  if (edges > 0) {
    const sample::BlockView& block = sample->blocks[0];
    const std::span<int64_t> starts = csc.indptr.as<int64_t>();
    std::copy_n(block.indptr, block.num_targets + 1, starts.begin());
    std::fill(starts.begin() + block.num_targets + 1, starts.end(), edges);
    csc.indices = Tensor({const_cast<int32_t*>(block.indices), DType::kI32, {edges}}, sample);
  }
  parts.edge_columns.emplace_back();
  if (sample->edge_columns) {
    for (size_t i = 0; i < sample->edge_columns->size(); ++i) {
      const graph::EdgeColumn& column = (*sample->edge_columns)[i];
      uint8_t* rows = sample->stores[0].edge_rows[i].data();
      parts.edge_columns[0].emplace(column.name,
                                    Tensor({rows, column.dtype, {edges, column.num_cols}}, sample));
    }
  }
  parts.topology.push_back(std::move(csc));
  return graph::Graph::create(std::move(parts));
}

// The targets alone, without edges. Columns of edges are there all the same, for who looks.
void take_alone(std::span<const int64_t> targets, std::span<const graph::EdgeColumn> columns,
                Sample& sample) {
  sample.node_ids.resize_discard(static_cast<int64_t>(targets.size()));
  std::ranges::copy(targets, sample.node_ids.begin());
  sample.blocks.clear();
  sample.degrees.clear();
  sample.edge_columns =
      std::make_shared<const std::vector<graph::EdgeColumn>>(columns.begin(), columns.end());
  sample.stores.resize(1);
  sample.stores[0].edge_rows.resize(columns.size());
}

std::vector<base::TensorView> views_of(std::vector<std::vector<int64_t>>& lists) {
  std::vector<base::TensorView> views;
  for (std::vector<int64_t>& list : lists)
    views.push_back({list.data(), DType::kI64, {static_cast<int64_t>(list.size())}});
  return views;
}

std::vector<base::TensorView> views_of(const std::vector<at::Tensor>& tensors) {
  std::vector<base::TensorView> views;
  for (const at::Tensor& rows : tensors)
    views.push_back({rows.data_ptr(), nn::dtype_of(rows), {rows.size(0), rows.size(1)}});
  return views;
}

}  // namespace

// The nodes of a piece, then those that edges into them come from, as one stage reads them.
struct PartWalk::Piece {
  std::shared_ptr<Sample> sample;
  graph::GraphRef graph;
  nn::GraphPiece facts;
  std::optional<graph::Column> features;
  std::span<const int64_t> nodes() const { return std::as_const(*sample).node_ids.span(); }
};

PartWalk::PartWalk(nn::Model& model, const data::Dataset& dataset, const Participant& participant)
    : model_(model),
      dataset_(dataset),
      participant_(participant),
      rank_(participant.comm.rank()),
      world_(participant.comm.world_size()),
      chunk_(participant.chunk),
      num_nodes_(dataset.graph->num_nodes()),
      store_(features_for(model, dataset)),
      keeper_(participant.storage, participant.ranks_of_process()) {
  expect_exact(model, dataset);
  sampler_ = sampler_of_all(model, dataset);
  nothing_ = piece_of(-1, 0, 0);
  plan_ = inference_over(*nothing_);
  stages_.resize(static_cast<size_t>(num_stages()));
}

PartWalk::~PartWalk() = default;

// Of a stage that reads no neighbors, or of no stage (-1), the targets alone.
std::unique_ptr<PartWalk::Piece> PartWalk::piece_of(int stage, int64_t begin, int64_t end) {
  auto piece = std::make_unique<Piece>();
  // Its memory serves piece after piece.
  piece->sample = stage < 0 ? std::make_shared<Sample>() : sample_;
  std::vector<int64_t> targets(static_cast<size_t>(end - begin));
  std::iota(targets.begin(), targets.end(), begin);
  Sample& sample = *piece->sample;
  if (stage >= 0 && begin < end && plan_->reads_neighbors(stage)) {
    sampler_->sample(targets, {}, workspace_, sample, participant_.cancel);
  } else {
    take_alone(targets, sampler_->edge_columns(), sample);
  }
  piece->graph = graph_of(piece->sample);
  piece->facts = {.num_nodes = num_nodes_,
                  .num_edges = dataset_.graph->num_edges(),
                  .node_ids = piece->nodes(),
                  .degrees = std::as_const(sample).degrees.span(),
                  .sparse = store_ && store_->sparse()};
  return piece;
}

// Of the first `read` nodes; the others have zeros.
graph::Column PartWalk::features_of(const Piece& piece, int64_t read) const {
  const auto count = static_cast<int64_t>(piece.nodes().size());
  const std::span<const int64_t> ids = piece.nodes().first(static_cast<size_t>(read));
  if (store_->sparse()) {
    feature::SparseRows rows;
    store_->gather_sparse(ids, rows, participant_.pool, participant_.cancel);
    const auto copy = [](const auto& list) { return Tensor::copy_of(list.span()); };
    rows.indptr.resize_keep(count + 1);
    std::fill(rows.indptr.begin() + read + 1, rows.indptr.end(), rows.indptr[read]);
    return base::CsrMatrix{count, store_->num_cols(), copy(rows.indptr), copy(rows.indices),
                           copy(rows.values)};
  }
  Tensor table = Tensor::zeros(store_->dtype(), {count, store_->num_cols()});
  store_->gather(ids, static_cast<uint8_t*>(table.data()), participant_.pool, participant_.cancel);
  return table;
}

std::unique_ptr<nn::WholeInference> PartWalk::inference_over(Piece& piece) const {
  std::unique_ptr<nn::Inference> made = model_.inference(
      *piece.graph, piece.features ? &*piece.features : nullptr, participant_.pool, &piece.facts);
  return std::unique_ptr<nn::WholeInference>(&dynamic_cast<nn::WholeInference&>(*made.release()));
}

void PartWalk::run(int end) {
  const c10::NoGradGuard no_grad;
  int64_t rows = 0;
  for (int64_t p = rank_; p < num_pieces(); p += world_)
    rows += std::min(chunk_, num_nodes_ - p * chunk_);
  for (int stage = 0; stage < end; ++stage) {
    forget_before(plan_->first_read(stage));
    std::unique_ptr<KeptRows> made = keeper_.keep(rows, width(stage), model_.config().dtype);
    for (int64_t low = 0; low < num_nodes_; low += world_ * chunk_) {
      participant_.cancel.check("the evaluation");
      const int64_t begin = std::min(num_nodes_, low + rank_ * chunk_);
      const int64_t last = std::min(num_nodes_, begin + chunk_);
      made->append(make(stage, begin, last));
    }
    stages_[static_cast<size_t>(stage)] = std::move(made);
  }
  if (end > 0) forget_before(end < num_stages() ? plan_->first_read(end) : end - 1);
}

void PartWalk::forget_before(int stage) {
  for (int k = 0; k < stage; ++k) stages_[static_cast<size_t>(k)].reset();
}

at::Tensor PartWalk::make(int stage, int64_t begin, int64_t end) {
  const c10::NoGradGuard no_grad;
  const std::unique_ptr<Piece> piece = piece_of(stage, begin, end);
  const int64_t count = end - begin, all = static_cast<int64_t>(piece->nodes().size());
  const bool of_others = stage > 0 && plan_->reads_neighbors(stage);
  at::Tensor others;  // of the stage before, of the nodes that are no targets
  if (of_others) others = fetch(stage - 1, piece->nodes().subspan(static_cast<size_t>(count)));
  const at::TensorOptions options(nn::scalar_type(model_.config().dtype));
  if (count == 0) return at::empty({0, width(stage)}, options);

  const int first = plan_->first_read(stage);
  if (store_ && first < 0) piece->features = features_of(*piece, stage == 0 ? all : count);
  const std::unique_ptr<nn::WholeInference> inference = inference_over(*piece);
  for (int before = std::max(first, 0); before < stage; ++before) {
    const at::Tensor rows = at::zeros({all, width(before)}, options);
    rows.narrow(0, 0, count).copy_(this->stage(before).range(row_of(begin), count));
    if (of_others && before == stage - 1) rows.narrow(0, count, all - count).copy_(others);
    inference->set_rows(before, rows);
  }
  return inference->run(stage, 0, count);
}

at::Tensor PartWalk::rows_of(std::span<const int64_t> ids) {
  const c10::NoGradGuard no_grad;
  const auto last = std::ranges::find_if(stages_.rbegin(), stages_.rend(),
                                         [](const auto& rows) { return rows != nullptr; });
  return fetch(static_cast<int>(stages_.rend() - last) - 1, ids);
}

// Collective: rows of a stage, from whoever has made them.
at::Tensor PartWalk::fetch(int stage, std::span<const int64_t> ids) {
  const KeptRows& own = this->stage(stage);
  std::vector<std::vector<int64_t>> asked(static_cast<size_t>(world_)), places = asked;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto rank = static_cast<size_t>(rank_of(ids[i]));
    asked[rank].push_back(row_of(ids[i]));
    places[rank].push_back(static_cast<int64_t>(i));
  }
  if (world_ == 1) return own.gather(asked[0]);

  comm::Collectives& comm = participant_.comm;
  std::vector<int64_t> counts;
  for (const auto& rows : asked) counts.push_back(static_cast<int64_t>(rows.size()));
  std::vector<std::vector<int64_t>> all_counts(asked.size(),
                                               std::vector<int64_t>(static_cast<size_t>(world_)));
  comm.all_gather({counts.data(), DType::kI64, {world_}}, views_of(all_counts),
                  participant_.wait());
  std::vector<std::vector<int64_t>> wanted;  // by others of this rank
  for (const auto& of_rank : all_counts)
    wanted.emplace_back(static_cast<size_t>(of_rank[static_cast<size_t>(rank_)]));
  comm.all_to_all(views_of(asked), views_of(wanted), participant_.wait());

  std::vector<at::Tensor> sent, arrived;
  for (const auto& rows : wanted) sent.push_back(own.gather(rows));
  const at::TensorOptions options(nn::scalar_type(model_.config().dtype));
  for (const int64_t count : counts) arrived.push_back(at::empty({count, width(stage)}, options));
  comm.all_to_all(views_of(sent), views_of(arrived), participant_.wait());
  const at::Tensor out = at::empty({static_cast<int64_t>(ids.size()), width(stage)}, options);
  for (size_t rank = 0; rank < arrived.size(); ++rank)
    out.index_copy_(0, nn::as_tensor(places[rank]), arrived[rank]);
  return out;
}

}  // namespace gnnmg::train
