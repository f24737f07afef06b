#include "train/eval/part_walk.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "nn/model/graph_facts.h"
#include "nn/ops/tensors.h"
#include "nn/torch/tensor.h"
#include "train/tensors.h"

namespace gnnmg::train {
namespace {

using base::DType;
using base::Tensor;
using sample::Sample;

// Draws all edges into nodes, with their data that the model reads.
std::shared_ptr<const sample::Sampler> sampler_of_all(const nn::Model& model,
                                                      const data::Dataset& dataset) {
  const nn::EdgeNeeds needs = nn::edge_needs(model.config());
  sample::NeighborConfig config;
  config.fanouts = {-1};
  config.edge_ids = needs.any();
  std::shared_ptr<const sample::Sampler> sampler =
      sample::make_neighbor_sampler(dataset.graph, config);
  if (model.piece_needs().degrees) sampler = sampler->with_degrees();
  if (const auto columns = sampler->edge_columns(); !columns.empty()) {
    const std::string weights = needs.weights ? nn::weights_column(columns) : "";
    sampler = sampler->with_edge_columns(nn::edge_columns_read(needs, columns));
    if (model.piece_needs().weight_sums) sampler = sampler->with_weight_sums(weights);
  }
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

// Only the targets, without edges. Columns of edges exist and are empty.
void take_alone(std::span<const int64_t> targets, std::span<const graph::EdgeColumn> columns,
                Sample& sample) {
  sample.node_ids.resize_discard(static_cast<int64_t>(targets.size()));
  std::ranges::copy(targets, sample.node_ids.begin());
  sample.blocks.clear();
  sample.degrees.clear();
  sample.weight_sums.clear();
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

// The nodes of a piece, then the sources of edges into them, in the order of one stage.
struct PartWalk::Piece {
  std::shared_ptr<Sample> sample;
  graph::GraphRef graph;
  std::vector<int64_t> sent;  // [node], if needed
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
      needs_(model.piece_needs()),
      keeper_(participant.storage, participant.ranks_of_process()) {
  expect_exact(model, dataset);
  sampler_ = sampler_of_all(model, dataset);
  nothing_ = piece_of(0, 0, false);
  sample_ = std::make_shared<Sample>();  // the other sample belongs to `nothing_`
  plan_ = inference_over(*nothing_);
  stages_.resize(static_cast<size_t>(num_stages()));
}

PartWalk::~PartWalk() = default;

// Without edges the piece has only the targets. The next piece reuses its memory.
std::unique_ptr<PartWalk::Piece> PartWalk::piece_of(int64_t begin, int64_t end, bool with_edges) {
  auto piece = std::make_unique<Piece>();
  piece->sample = sample_;
  std::vector<int64_t> targets(static_cast<size_t>(end - begin));
  std::iota(targets.begin(), targets.end(), begin);
  Sample& sample = *piece->sample;
  if (with_edges && begin < end) {
    sampler_->sample(targets, {}, workspace_, sample, participant_.cancel);
  } else {
    take_alone(targets, sampler_->edge_columns(), sample);
  }
  piece->graph = graph_of(piece->sample);
  piece->facts = {.num_nodes = num_nodes_,
                  .num_edges = dataset_.graph->num_edges(),
                  .node_ids = piece->nodes(),
                  .degrees = std::as_const(sample).degrees.span(),
                  .weight_sums = std::as_const(sample).weight_sums.span(),
                  .largest_degree = largest_degree_,
                  .sparse = store_ && store_->sparse()};
  return piece;
}

// Rows of the first `read` nodes; zeros for the others.
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

int64_t PartWalk::num_own_rows() const {
  int64_t rows = 0;
  for (int64_t p = rank_; p < num_pieces(); p += world_)
    rows += std::min(chunk_, num_nodes_ - p * chunk_);
  return rows;
}

// Calls body(begin, end) for this rank's pieces, as often as on each other rank; at the end the
// range may be empty.
void PartWalk::for_rounds(const std::function<void(int64_t, int64_t)>& body) const {
  for (int64_t low = 0; low < num_nodes_; low += world_ * chunk_) {
    participant_.cancel.check("the evaluation");
    const int64_t begin = std::min(num_nodes_, low + rank_ * chunk_);
    body(begin, std::min(num_nodes_, begin + chunk_));
  }
}

void PartWalk::run(int end) {
  const c10::NoGradGuard no_grad;
  if (needs_.sent) count_sent();
  if (needs_.largest_degree) find_largest_degree();
  for (int stage = 0; stage < end; ++stage) {
    forget_before(plan_->first_read(stage));
    std::unique_ptr<KeptRows> made =
        keeper_.keep(num_own_rows(), width(stage), model_.config().dtype);
    for_rounds([&](int64_t begin, int64_t last) { made->append(make(stage, begin, last)); });
    stages_[static_cast<size_t>(stage)] = std::move(made);
    if (stage + 1 < num_stages() && plan_->normalizes_all_rows(stage)) take_norms(stage);
  }
  if (end > 0) forget_before(end < num_stages() ? plan_->first_read(end) : end - 1);
  if (participant_.say)
    participant_.say(base::text("exact results over parts: rank ", rank_, " ", keeper_.account()));
}

// Collective: takes the statistics of the norms after a stage. Every rank reads all rows of the
// stage in the order of the nodes, one chunk at a time.
void PartWalk::take_norms(int stage) {
  nn::NormsOverRows& norms = norms_[stage];
  do {
    for (int64_t begin = 0; begin < num_nodes_; begin += chunk_) {
      participant_.cancel.check("the evaluation");
      const std::unique_ptr<Piece> piece =
          piece_of(begin, std::min(num_nodes_, begin + chunk_), false);
      const std::unique_ptr<nn::WholeInference> inference = inference_over(*piece);
      inference->use_norms(stage, &norms);
      inference->set_rows(stage, fetch(stage, piece->nodes()));
    }
    norms.end_pass();
  } while (!norms.finished());
}

// Collective: counts the outgoing edges of this rank's nodes, which any rank finds among the edges
// into its pieces.
void PartWalk::count_sent() {
  sent_ = at::zeros({num_own_rows(), 1}, at::TensorOptions(at::kLong));
  const std::span<int64_t> sent(sent_.mutable_data_ptr<int64_t>(),
                                static_cast<size_t>(sent_.size(0)));
  for_rounds([&](int64_t begin, int64_t end) {
    std::vector<std::vector<int64_t>> sources(static_cast<size_t>(world_));
    if (begin < end) {
      const std::unique_ptr<Piece> piece = piece_of(begin, end, true);
      const graph::Csc& csc = piece->graph->csc();
      for (int64_t e = 0; e < csc.num_edges(); ++e) {
        const int64_t id = piece->nodes()[static_cast<size_t>(csc.source(e))];
        sources[static_cast<size_t>(rank_of(id))].push_back(row_of(id));
      }
    }
    for (const auto& list : exchange(sources))
      for (const int64_t row : list) ++sent[static_cast<size_t>(row)];
  });
}

// Collective: finds the largest in-degree of the graph among those of all ranks' nodes.
void PartWalk::find_largest_degree() {
  int64_t largest = 0;
  for_rounds([&](int64_t begin, int64_t end) {
    std::vector<int64_t> ids(static_cast<size_t>(end - begin));
    std::iota(ids.begin(), ids.end(), begin);
    std::vector<sample::NodeDegree> degrees(ids.size());
    dataset_.graph->elsewhere()->degrees(ids, degrees.data());
    for (const sample::NodeDegree& degree : degrees) largest = std::max(largest, degree.edges);
  });
  std::vector<std::vector<int64_t>> all(static_cast<size_t>(world_), std::vector<int64_t>(1));
  participant_.comm.all_gather({&largest, DType::kI64, {1}}, views_of(all), participant_.wait());
  for (const auto& of_rank : all) largest_degree_ = std::max(largest_degree_, of_rank[0]);
}

void PartWalk::forget_before(int stage) {
  for (int k = 0; k < stage; ++k) stages_[static_cast<size_t>(k)].reset();
}

at::Tensor PartWalk::make(int stage, int64_t begin, int64_t end) {
  const c10::NoGradGuard no_grad;
  const std::unique_ptr<Piece> piece = piece_of(begin, end, plan_->reads_neighbors(stage));
  const int64_t count = end - begin, all = static_cast<int64_t>(piece->nodes().size());
  const bool of_others = stage > 0 && plan_->reads_neighbors(stage);
  at::Tensor others;  // rows of the previous stage for nodes that are not targets
  if (of_others) others = fetch(stage - 1, piece->nodes().subspan(static_cast<size_t>(count)));
  if (needs_.sent && plan_->reads_neighbors(stage)) {
    const at::Tensor sent = fetch(
        [&](auto rows) { return sent_.index_select(0, nn::as_tensor(rows)); }, piece->nodes());
    piece->sent.assign(sent.const_data_ptr<int64_t>(), sent.const_data_ptr<int64_t>() + all);
    piece->facts.sent = piece->sent;
  }
  const at::TensorOptions options(nn::scalar_type(model_.config().dtype));
  if (count == 0) return at::empty({0, width(stage)}, options);

  const int first = plan_->first_read(stage);
  if (store_ && first < 0) piece->features = features_of(*piece, stage == 0 ? all : count);
  const std::unique_ptr<nn::WholeInference> inference = inference_over(*piece);
  for (int before = std::max(first, 0); before < stage; ++before) {
    const at::Tensor rows = at::zeros({all, width(before)}, options);
    rows.narrow(0, 0, count).copy_(this->stage(before).range(row_of(begin), count));
    if (of_others && before == stage - 1) rows.narrow(0, count, all - count).copy_(others);
    if (norms_.contains(before)) inference->use_norms(before, &norms_.at(before));
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

// Collective: rows of a stage, from the ranks that have computed them.
at::Tensor PartWalk::fetch(int stage, std::span<const int64_t> ids) {
  return fetch([&](auto rows) { return this->stage(stage).gather(rows); }, ids);
}

at::Tensor PartWalk::fetch(const OwnRows& own, std::span<const int64_t> ids) {
  std::vector<std::vector<int64_t>> asked(static_cast<size_t>(world_)), places = asked;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto rank = static_cast<size_t>(rank_of(ids[i]));
    asked[rank].push_back(row_of(ids[i]));
    places[rank].push_back(static_cast<int64_t>(i));
  }
  if (world_ == 1) return own(asked[0]);

  std::vector<at::Tensor> sent, arrived;
  for (const auto& rows : exchange(asked)) sent.push_back(own(rows));
  const int64_t cols = sent[0].size(1);
  for (const auto& rows : asked)
    arrived.push_back(at::empty({static_cast<int64_t>(rows.size()), cols}, sent[0].options()));
  participant_.comm.all_to_all(views_of(sent), views_of(arrived), participant_.wait());
  const at::Tensor out = at::empty({static_cast<int64_t>(ids.size()), cols}, sent[0].options());
  for (size_t rank = 0; rank < arrived.size(); ++rank)
    out.index_copy_(0, nn::as_tensor(places[rank]), arrived[rank]);
  return out;
}

// Collective: sends list r to rank r, and returns the lists of all ranks for this one.
std::vector<std::vector<int64_t>> PartWalk::exchange(std::vector<std::vector<int64_t>>& lists) {
  if (world_ == 1) return lists;
  comm::Collectives& comm = participant_.comm;
  std::vector<int64_t> counts;
  for (const auto& list : lists) counts.push_back(static_cast<int64_t>(list.size()));
  std::vector<std::vector<int64_t>> all_counts(lists.size(),
                                               std::vector<int64_t>(static_cast<size_t>(world_)));
  comm.all_gather({counts.data(), DType::kI64, {world_}}, views_of(all_counts),
                  participant_.wait());
  std::vector<std::vector<int64_t>> arrived;
  for (const auto& of_rank : all_counts)
    arrived.emplace_back(static_cast<size_t>(of_rank[static_cast<size_t>(rank_)]));
  comm.all_to_all(views_of(lists), views_of(arrived), participant_.wait());
  return arrived;
}

}  // namespace gnnmg::train
