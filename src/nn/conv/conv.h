// What every convolution offers to models: its parameters under the reference's keys, the pass on a
// block, and the same in two steps, by which a whole graph is gone through in ranges of nodes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "graph/csc.h"
#include "nn/edge_functions.h"
#include "nn/functions.h"
#include "nn/norm.h"
#include "nn/parameters.h"
#include "sample/mini_batch.h"

namespace gnnmg::nn {

// Rows of the sources, and of the targets where they are not the first rows of the sources.
struct ConvInput {
  at::Tensor x, x_target;
  bool x_is_internal = false;  // as in AggregateLinear
  // x is a table, source s its row ids[s], on a device of any float type, to become `type`; or, of
  // a layer that reads the nodes themselves, there is no x, and source s is node ids[s].
  const int64_t* ids = nullptr;
  bool sparse = false;  // `rows` in place of x, to become dense in `type`
  at::ScalarType type = at::kFloat;
  SparseView rows;
  Dropout rows_dropout;
  std::shared_ptr<Transposed> by_column;  // as sparse_linear() takes it
  // What the edges carry, in the block's order; undefined: nothing.
  at::Tensor edge_weight;  // [num_edges]
  at::Tensor edge_attr;    // [num_edges, D]
  at::Tensor edge_type;    // [num_edges] i64
  // [num_sources] numbers of edges in the whole graph, those that the layer asks for; undefined:
  // degrees are those of the block.
  at::Tensor degrees;
  // The graph's ids of the sources, for what errors say; null: they are 0, 1, ....
  const int64_t* node_ids = nullptr;
  // Largest in-degree of the whole graph, where the block is a part of it; 0: that of the block.
  int64_t largest_degree = 0;
};

struct ConvPass {
  const sample::BlockView& block;
  const Execution& execution;
  Finish finish;
  Dropout attention;  // of attention weights
  Linear skip = {};   // a linear layer of the targets' rows beside the convolution, or undefined
};

// Incoming edges, loops left out or not, or outgoing ones.
enum class Degrees { kNone, kWithoutLoops, kAll, kOut };

// Step two of a convolution with norms over all rows together inside, gone through by a whole graph
// in stages, between which the rows of all targets come together.
class StagedConv {
 public:
  virtual ~StagedConv() = default;
  virtual int num_stages() const = 0;
  virtual int64_t stage_width(int stage) const = 0;
  // Rows of stage 0 from what Conv::combine() takes.
  virtual at::Tensor first_stage(const at::Tensor& rows, bool transformed, int64_t first_own,
                                 const ConvInput& own, const ConvPass& pass) const = 0;
  // Rows of stage `stage` above 0 from the same rows of together(stage - 1).
  virtual at::Tensor next_stage(int stage, const at::Tensor& rows) const = 0;
  // What follows a stage, over the rows of all targets.
  virtual at::Tensor together(int stage, at::Tensor rows, const Execution& execution) const = 0;
  // The result, as of Conv::combine(), from rows of the last together().
  virtual at::Tensor behind_stages(const at::Tensor& rows, const ConvInput& own,
                                   const ConvPass& pass) const = 0;
};

class Conv {
 public:
  virtual ~Conv() = default;
  // Called once, before anything else.
  virtual void declare(ParameterList& list) = 0;
  virtual int64_t output_width() const = 0;
  virtual std::vector<NormLayer*> norms() { return {}; }  // those inside
  // The degrees of the whole graph that it can use.
  virtual Degrees degrees() const { return Degrees::kNone; }

  // finish(conv(x) + skip(x)), [num_targets, output_width()].
  virtual at::Tensor forward(const ConvInput& in, const ConvPass& pass) const;
  // The same for several mini-batches, in training with norms inside; those go over all of them
  // together where `norms` says so.
  virtual std::vector<at::Tensor> forward_all(std::span<const ConvInput> in,
                                              std::span<const ConvPass> passes,
                                              const NormPass& norms) const;

  // Whether a gradient goes back along the edges where the sources' rows, dense or sparse, want
  // none: to what is learned and makes of each row what the edges read.
  virtual bool reads_by_source([[maybe_unused]] bool sparse) const { return true; }

  // Step one: what the edges read, made row by row. `transforms` says whether there is such a step
  // for dense or sparse rows on this block; without it combine() gets the rows themselves.
  virtual bool transforms(bool sparse, const sample::BlockView& block) const = 0;
  virtual int64_t transformed_width() const = 0;
  virtual at::Tensor transform(const ConvInput& in, int64_t count,
                               const Execution& execution) const = 0;
  // Step two. Target t is row first_own + t of `rows`; `own` has the targets' input rows first, and
  // what edges carry.
  virtual at::Tensor combine(const at::Tensor& rows, bool transformed, int64_t first_own,
                             const ConvInput& own, const ConvPass& pass) const = 0;
  // Whether ConvInput::largest_degree is read.
  virtual bool reads_largest_degree() const { return false; }
  // Whether norms inside go over all rows together, so that combine() on a range of a graph's
  // targets would not know the others.
  virtual bool normalises_all_rows() const { return false; }
  // Step two in stages, where combine() on a range would not know the other rows; null where there
  // are none, and combine() has to run on all targets at once.
  virtual const StagedConv* staged() const { return nullptr; }

 protected:
  // finish(y + bias + skip of the targets' rows); the bias may be undefined.
  at::Tensor complete(at::Tensor y, const ConvInput& own, const ConvPass& pass,
                      const at::Tensor& bias = {}) const;
};

// The first `count` rows as they are, dense.
at::Tensor dense_rows(const ConvInput& in, int64_t count, const Execution& execution);
// The targets' rows as they are.
at::Tensor target_rows(const ConvInput& in, int64_t count, const Execution& execution);
// weight x^T + bias for the first `count` rows, or for the targets' rows.
at::Tensor times(const ConvInput& in, int64_t count, const Linear& linear,
                 const Execution& execution);
at::Tensor target_times(const ConvInput& in, int64_t count, const Linear& linear,
                        const Execution& execution);

// [num_nodes]: these degrees of all nodes of a graph as numbers of this type.
at::Tensor whole_degrees(const graph::Csc& csc, Degrees kind, at::ScalarType type);
// The same of nodes whose degrees are known one by one. Error(kUnsupported) for edges that leave
// them, which are not.
at::Tensor node_degrees(std::span<const sample::NodeDegree> nodes, Degrees kind,
                        at::ScalarType type);

}  // namespace gnnmg::nn
