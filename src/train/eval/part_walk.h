// Exact results for nodes of a graph in parts, layer by layer, on all ranks. The node ids are cut
// into pieces; rank k mod W computes piece k. A rank keeps the rows of its own pieces. For one
// piece at a time it requests the other rows that edges into the piece read, from the ranks that
// computed them. So its memory holds the input of one piece, and no more rows of stages than
// RowStorage allows. The pieces are the chunks of the same evaluation over the whole graph
// (LayerWalk), and each is computed as there, so the results are equal to the bit for any parts and
// ranks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "feature/store.h"
#include "nn/inference/whole_graph.h"
#include "nn/layers/norm_over_rows.h"
#include "train/eval/evaluation.h"
#include "train/eval/kept_rows.h"

namespace gnnmg::train {

class PartWalk {
 public:
  // The arguments must outlive the object. Error(kUnsupported) as from expect_exact().
  PartWalk(nn::Model& model, const data::Dataset& dataset, const Participant& participant);
  ~PartWalk();

  int num_stages() const { return plan_->num_stages(); }
  int64_t width(int stage) const { return plan_->width(stage); }
  // Collective, once: runs the stages before `end`.
  void run(int end);
  // Collective, after run(stage): computes rows [begin, end) of `stage`, one of this rank's pieces
  // or an empty range.
  at::Tensor make(int stage, int64_t begin, int64_t end);
  // Collective, after run(): returns the rows of these nodes from the last stage that ran.
  at::Tensor rows_of(std::span<const int64_t> ids);

 private:
  struct Piece;
  std::unique_ptr<Piece> piece_of(int64_t begin, int64_t end, bool with_edges);
  graph::Column features_of(const Piece& piece, int64_t read) const;
  std::unique_ptr<nn::WholeInference> inference_over(Piece& piece) const;
  // Returns some of this rank's rows, by their positions among all its rows.
  using OwnRows = std::function<at::Tensor(std::span<const int64_t> positions)>;
  at::Tensor fetch(const OwnRows& own, std::span<const int64_t> ids);
  at::Tensor fetch(int stage, std::span<const int64_t> ids);
  std::vector<std::vector<int64_t>> exchange(std::vector<std::vector<int64_t>>& lists);
  void for_rounds(const std::function<void(int64_t begin, int64_t end)>& body) const;
  void count_sent();
  void find_largest_degree();
  void take_norms(int stage);
  KeptRows& stage(int number) const { return *stages_[static_cast<size_t>(number)]; }
  void forget_before(int stage);
  int64_t num_pieces() const { return (num_nodes_ + chunk_ - 1) / chunk_; }
  int64_t num_own_rows() const;
  // The rank that has the rows of a node, and their position among all its rows.
  int rank_of(int64_t id) const { return static_cast<int>(id / chunk_ % world_); }
  int64_t row_of(int64_t id) const { return id / chunk_ / world_ * chunk_ + id % chunk_; }

  nn::Model& model_;
  const data::Dataset& dataset_;
  const Participant& participant_;
  const int rank_, world_;
  const int64_t chunk_, num_nodes_;
  std::shared_ptr<const feature::FeatureStore> store_;  // null: the model reads no features
  std::shared_ptr<const sample::Sampler> sampler_;      // draws all edges into nodes
  const nn::PieceNeeds needs_;
  sample::Workspace workspace_;
  std::shared_ptr<sample::Sample> sample_ = std::make_shared<sample::Sample>();
  std::unique_ptr<Piece> nothing_;            // a piece without nodes
  std::unique_ptr<nn::WholeInference> plan_;  // lists the stages, over `nothing_`
  at::Tensor sent_;                           // [own rows, 1] outgoing edges, if needed
  int64_t largest_degree_ = 0;                // largest in-degree of the graph, if needed
  std::map<int, nn::NormsOverRows> norms_;    // [stage]: norms over all its rows
  RowKeeper keeper_;
  std::vector<std::unique_ptr<KeptRows>> stages_;  // rows of the own pieces, in order
};

}  // namespace gnnmg::train
