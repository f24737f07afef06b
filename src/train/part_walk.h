// Exact results of nodes over a graph in parts, layer by layer, on all ranks. The nodes are cut
// into pieces by their ids, piece k is rank k mod W's, and no rank has rows of other pieces than
// its own but for those that the edges into one of its pieces read, which it asks the ranks for
// that have made them. Pieces are the chunks of the same evaluation over the whole graph
// (LayerWalk), and each is worked on as there, so that results are the same to the bit, whatever
// the parts and ranks.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "feature/store.h"
#include "nn/whole_graph.h"
#include "train/evaluation.h"

namespace gnnmg::train {

class PartWalk {
 public:
  // They must outlive it. Error(kUnsupported) as of expect_exact().
  PartWalk(nn::Model& model, const data::Dataset& dataset, const Participant& participant);
  ~PartWalk();

  int num_stages() const { return plan_->num_stages(); }
  int64_t width(int stage) const { return plan_->width(stage); }
  // Collective, once: runs the stages before `end`.
  void run(int end);
  // Collective, after run(stage): rows [begin, end) of `stage`, which are a piece of this rank's,
  // or none.
  at::Tensor make(int stage, int64_t begin, int64_t end);
  // Collective, after run(): rows of these nodes of the last stage that was run.
  at::Tensor rows_of(std::span<const int64_t> ids);

 private:
  struct Piece;
  std::unique_ptr<Piece> piece_of(int stage, int64_t begin, int64_t end);
  graph::Column features_of(const Piece& piece, int64_t read) const;
  std::unique_ptr<nn::WholeInference> inference_over(Piece& piece) const;
  at::Tensor fetch(int stage, std::span<const int64_t> ids);
  at::Tensor own_rows(int stage, int64_t begin, int64_t count) const;
  void forget_before(int stage);
  int64_t num_pieces() const { return (num_nodes_ + chunk_ - 1) / chunk_; }
  // Where rows of a node lie: the rank, and the row among all that it has.
  int rank_of(int64_t id) const { return static_cast<int>(id / chunk_ % world_); }
  int64_t row_of(int64_t id) const { return id / chunk_ / world_ * chunk_ + id % chunk_; }

  nn::Model& model_;
  const data::Dataset& dataset_;
  const Participant& participant_;
  const int rank_, world_;
  const int64_t chunk_, num_nodes_;
  std::shared_ptr<const feature::FeatureStore> store_;  // null: the model reads no features
  std::shared_ptr<const sample::Sampler> sampler_;      // of all edges into nodes
  sample::Workspace workspace_;
  const std::shared_ptr<sample::Sample> sample_ = std::make_shared<sample::Sample>();
  std::unique_ptr<Piece> nothing_;            // a piece without nodes
  std::unique_ptr<nn::WholeInference> plan_;  // over it: what stages there are
  std::vector<at::Tensor> stages_;            // the own pieces' rows, one after the other
};

}  // namespace gnnmg::train
