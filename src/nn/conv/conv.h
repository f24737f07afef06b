// The interface between models and convolutions: the parameters under the reference's keys, the
// pass on a block, and the same pass in two steps, for processing a whole graph in ranges of nodes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/csc.h"
#include "nn/layers/norm.h"
#include "nn/layers/parameters.h"
#include "nn/ops/edge_functions.h"
#include "nn/ops/functions.h"
#include "sample/mini_batch.h"

namespace gnnmg::nn {

// The rows of the sources, and of the targets unless they are the first rows of the sources.
struct ConvInput {
  at::Tensor x, x_target;
  bool x_is_internal = false;  // same meaning as in AggregateLinear
  // If set, x is a table and source s is its row ids[s]; on a device the table may have any float
  // type and is converted to `type`. In a layer that reads the nodes themselves there is no x, and
  // source s is node ids[s].
  const int64_t* ids = nullptr;
  // x has features as they are stored, a table with `ids` or copied rows. The order of operations,
  // which rounds the results, must not depend on which of the two.
  bool as_stored = false;
  bool sparse = false;  // use `rows` instead of x, converted to dense in `type`
  at::ScalarType type = at::kFloat;
  SparseView rows;
  Dropout rows_dropout;
  std::shared_ptr<Transposed> by_column;  // passed to sparse_linear()
  // Step two: [targets, ...], the product of Conv::own_linear(), if there are no x and rows.
  at::Tensor own_product;
  // Data of the edges in the block's order; undefined if not used.
  at::Tensor edge_weight;  // [num_edges]
  at::Tensor edge_attr;    // [num_edges, D]
  at::Tensor edge_type;    // [num_edges] i64
  // [num_sources] degrees in the whole graph, of the layer's kind; undefined: use the degrees of
  // the block.
  at::Tensor degrees;
  // The graph's ids of the sources, for error texts; null: 0, 1, ....
  const int64_t* node_ids = nullptr;
  // Largest in-degree of the whole graph if the block is a part of it; 0: use the block's.
  int64_t largest_degree = 0;
};

struct ConvPass {
  const sample::BlockView& block;
  const Execution& execution;
  Finish finish;
  Dropout attention;  // dropout of attention weights
  Linear skip = {};   // a linear layer on the targets' rows beside the convolution, or undefined
};

// Degrees by incoming edges, without or with loops, or by outgoing edges.
enum class Degrees { kNone, kWithoutLoops, kAll, kOut };

// Step two of a convolution that contains norms over all rows. A whole graph goes through it in
// stages, between which the rows of all targets are collected.
class StagedConv {
 public:
  virtual ~StagedConv() = default;
  virtual int num_stages() const = 0;
  virtual int64_t stage_width(int stage) const = 0;
  // Returns rows of stage 0; the arguments are those of Conv::combine().
  virtual at::Tensor first_stage(const at::Tensor& rows, bool transformed, int64_t first_own,
                                 const ConvInput& own, const ConvPass& pass) const = 0;
  // Returns rows of stage `stage` above 0 from the same rows of together(stage - 1).
  virtual at::Tensor next_stage(int stage, const at::Tensor& rows) const = 0;
  // Applies the operation after a stage to the rows of all targets.
  virtual at::Tensor together(int stage, at::Tensor rows, const NormPass& norms) const = 0;
  // Returns the result of Conv::combine() from rows of the last together().
  virtual at::Tensor after_stages(const at::Tensor& rows, const ConvInput& own,
                                  const ConvPass& pass) const = 0;
};

class Conv {
 public:
  virtual ~Conv() = default;
  // Call once, before anything else.
  virtual void declare(ParameterList& list) = 0;
  virtual int64_t output_width() const = 0;
  virtual std::vector<NormLayer*> norms() { return {}; }  // the norms inside the convolution
  // The kind of whole-graph degrees that the convolution can use.
  virtual Degrees degrees() const { return Degrees::kNone; }

  // finish(conv(x) + skip(x)), [num_targets, output_width()].
  virtual at::Tensor forward(const ConvInput& in, const ConvPass& pass) const;
  // The same for several mini-batches, for training with norms inside; these take all mini-batches
  // together if `norms` says so.
  virtual std::vector<at::Tensor> forward_all(std::span<const ConvInput> in,
                                              std::span<const ConvPass> passes,
                                              const NormPass& norms) const;

  // True if backward() needs the edges by source even if the sources' rows, dense or sparse, need
  // no gradient: learned parameters transform each row before the edges read it.
  virtual bool reads_by_source([[maybe_unused]] bool sparse) const { return true; }

  // Step one: transforms each row that the edges read. `transforms` tells whether dense or sparse
  // rows have such a step on this block; without it combine() gets the original rows.
  virtual bool transforms(bool sparse, const sample::BlockView& block) const = 0;
  virtual int64_t transformed_width() const = 0;
  virtual at::Tensor transform(const ConvInput& in, int64_t count,
                               const Execution& execution) const = 0;
  // Step two. Target t is row first_own + t of `rows`; `own` has the targets' input rows first, and
  // the edges' data.
  virtual at::Tensor combine(const at::Tensor& rows, bool transformed, int64_t first_own,
                             const ConvInput& own, const ConvPass& pass) const = 0;
  // The linear map through which alone step two reads the targets' input rows if step one has run;
  // an undefined one if it does not read them. Null: it reads the rows themselves.
  virtual std::optional<Linear> own_linear() const { return std::nullopt; }
  // Step one of a convolution with own_linear(): returns all that step two reads of the rows,
  // [transform() | their product with own_linear()], so that the rows need not be kept.
  at::Tensor ends(const ConvInput& in, int64_t count, const Execution& execution) const;
  int64_t ends_width() const;
  // Splits them, for all nodes, into the input of step two: returns its rows, and sets the product
  // of the targets [first_own, first_own + count).
  at::Tensor take_ends(const at::Tensor& rows, int64_t first_own, int64_t count,
                       ConvInput& own) const;
  // True if the layer reads ConvInput::largest_degree.
  virtual bool reads_largest_degree() const { return false; }
  // True if norms inside take all rows together, so that combine() on a range of a graph's targets
  // would lack the other rows.
  virtual bool normalizes_all_rows() const { return false; }
  // Returns step two in stages, if combine() on a range would lack other rows. If null, combine()
  // must run on all targets at once in that case.
  virtual const StagedConv* staged() const { return nullptr; }

 protected:
  // finish(y + bias + skip of the targets' rows); the bias may be undefined.
  at::Tensor complete(at::Tensor y, const ConvInput& own, const ConvPass& pass,
                      const at::Tensor& bias = {}) const;
};

// Returns the first `count` rows unchanged, as a dense matrix.
at::Tensor dense_rows(const ConvInput& in, int64_t count, const Execution& execution);
// Returns the targets' rows unchanged.
at::Tensor target_rows(const ConvInput& in, int64_t count, const Execution& execution);
// Return x weight^T + bias for the first `count` rows, or for the targets' rows.
at::Tensor times(const ConvInput& in, int64_t count, const Linear& linear,
                 const Execution& execution);
at::Tensor target_times(const ConvInput& in, int64_t count, const Linear& linear,
                        const Execution& execution);

// Returns [num_nodes]: these degrees of all nodes of a graph as numbers of this type.
at::Tensor whole_degrees(const graph::Csc& csc, Degrees kind, at::ScalarType type);
// The same for nodes with known degrees. Error(kUnsupported) for outgoing degrees, which are not
// known.
at::Tensor node_degrees(std::span<const sample::NodeDegree> nodes, Degrees kind,
                        at::ScalarType type);

}  // namespace gnnmg::nn
