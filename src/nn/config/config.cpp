#include "nn/config/config.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "nn/config/choices.h"
#include "nn/config/layer_config.h"
#include "nn/config/layer_traits.h"
#include "nn/config/option_check.h"
#include "nn/config/settings.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;

constexpr int64_t kMaxModelWidth = int64_t{1} << 24;
constexpr int64_t kMaxNodes = std::numeric_limits<int32_t>::max();

void check_heads(const ModelConfig& c) {
  if (c.output_heads > 0 &&
      (c.skip != Skip::kNone || c.jumping != Jumping::kNone || c.output_dim == 0))
    fail(Status::kInvalidArgument, "model: output_heads is ", c.output_heads,
         ", and without output_dim, or with skip or jumping, no convolution yields the result");
}

void check_architecture(const ModelConfig& c) {
  traits_of(c.architecture).check(c);
  if (c.framework == Framework::kDgl && !of_dgl(c.architecture))
    fail(Status::kInvalidArgument, "model: framework is dgl, which ", name_of(c.architecture),
         " is not made for here");
}

void check_input_kind(const ModelConfig& c) {
  if (c.reads_features()) return check_range("input_dim", c.input_dim, 1, kMaxModelWidth);
  if (!c.node_vocabulary.empty())
    fail(Status::kInvalidArgument, "model: node_vocabulary has ", c.node_vocabulary.size(),
         " columns, and input says that the layers read no features");
  if (c.input != Input::kNodes) return;
  if (c.architecture != Architecture::kRelation || c.framework == Framework::kDgl || c.blocks > 0)
    fail(Status::kInvalidArgument,
         "model: input is the nodes themselves, which R-GCN of PyG's reads alone, without "
         "blocks: take a learned row for each node");
  if (c.skip != Skip::kNone || c.jumping == Jumping::kScores)
    fail(Status::kInvalidArgument,
         "model: input is the nodes themselves, and skip or jumping has a linear layer that "
         "reads rows: use a learned row for each node");
  if (c.input_dropout > 0)
    fail(Status::kInvalidArgument, "model: input_dropout is ", c.input_dropout,
         ", and input is the nodes themselves, which have no rows");
  if (c.input_dim > kMaxNodes / c.relations)
    fail(Status::kInvalidArgument, "model: ", c.input_dim, " nodes times ", c.relations,
         " relations are more rows of weights than ", kMaxNodes);
}

// Checks the edges' data against the layers' input.
void check_edges(const ModelConfig& c) {
  const bool dgl = c.framework == Framework::kDgl;
  const LayerTraits& traits = traits_of(c.architecture);
  if (c.edge_dim > 0 && (dgl || !traits.edge_features))
    fail(Status::kInvalidArgument, "model: edge_dim is ", c.edge_dim,
         ", and the layers read no edge features");
  if (c.plain_edges &&
      (c.first_width() != c.edge_dim || (c.num_layers > 1 && c.hidden_dim != c.edge_dim)))
    fail(Status::kInvalidArgument, "model: plain_edges adds edge_dim, ", c.edge_dim,
         ", columns of edges to rows of ", c.first_width(), ", and of ", c.hidden_dim,
         " after the first layer: expected the same width everywhere");
  if (c.edge_dim == 0 && c.architecture == Architecture::kGine)
    fail(Status::kInvalidArgument, "model: edge_dim is 0, and GINE reads edge features");
  if (c.edge_weights && !(dgl ? traits.dgl_weights : traits.pyg_weights))
    fail(Status::kInvalidArgument, "model: edge_weights is on, and the layers read none");
  if (!c.edge_vocabulary.empty() && c.edge_dim == 0)
    fail(Status::kInvalidArgument, "model: edge_vocabulary has ", c.edge_vocabulary.size(),
         " columns, and edge_dim, to which they are mapped, is 0");
  if (!c.node_vocabulary.empty() && static_cast<int64_t>(c.node_vocabulary.size()) != c.input_dim)
    fail(Status::kInvalidArgument, "model: node_vocabulary has ", c.node_vocabulary.size(),
         " columns, and input_dim is ", c.input_dim);
}

// Checks settings that must divide the width of every layer.
void check_shares(const ModelConfig& c) {
  const auto divides = [](const char* share, int64_t parts, const char* field, int64_t width) {
    if (width % parts != 0)
      fail(Status::kInvalidArgument, "model: ", field, " is ", width,
           ", expected a multiple of the ", parts, " ", share);
  };
  const bool plain_end = c.skip == Skip::kNone && c.jumping == Jumping::kNone;
  const bool hidden_out = c.num_layers > 1 || !plain_end;
  const auto divides_in = [&](const char* share, int64_t parts) {
    if (c.skip != Skip::kResidual)
      divides(share, parts, "the width of the features", c.first_width());
    if (c.num_layers > 1 || c.skip == Skip::kResidual)
      divides(share, parts, "hidden_dim", c.hidden_dim);
  };
  const auto divides_out = [&](const char* share, int64_t parts) {
    if (hidden_out) divides(share, parts, "hidden_dim", c.hidden_dim);
    if (plain_end) divides(share, parts, "output_dim", c.output_width());
  };
  if (attends(c.architecture) && c.concat)
    divides("heads that are concatenated", c.heads, "hidden_dim", c.hidden_dim);
  if (c.architecture == Architecture::kPna) {
    divides_out("towers", c.towers);
    if (c.divide_input) divides_in("towers that share it", c.towers);
  }
  if (c.architecture == Architecture::kRelation && c.blocks > 0) {
    divides_in("blocks", c.blocks);
    divides_out("blocks", c.blocks);
  }
}

void check_end(const ModelConfig& c) {
  if (c.jumping == Jumping::kScores && c.readout == Readout::kNone)
    fail(Status::kInvalidArgument,
         "model: jumping sums the scores of readouts, and readout is none");
  if (c.jumping == Jumping::kScores && c.readout > Readout::kMax)
    fail(Status::kInvalidArgument, "model: readout is ", word_of(c.readout),
         ", and jumping that sums scores takes sum, mean and max");
  // The width of the recurrent network's square matrices.
  if (c.jumping == Jumping::kLstm)
    check_range("hidden_dim times num_layers", c.hidden_dim * c.num_layers, 2, kMaxModelWidth);
  const bool linear_end =
      c.jumping != Jumping::kNone || (c.skip != Skip::kNone && c.output_dim > 0);
  if (c.output_dropout > 0 && c.jumping == Jumping::kNone && c.skip == Skip::kNone)
    fail(Status::kInvalidArgument, "model: output_dropout is ", c.output_dropout,
         ", and without jumping or skip no linear layer comes last");
  if (!linear_end && (c.readout == Readout::kSet2Set || c.readout == Readout::kSort))
    fail(Status::kInvalidArgument, "model: readout is ", word_of(c.readout),
         ", whose rows are of another width than the result, and without jumping or skip no linear "
         "layer comes last");
  if (c.readout == Readout::kSort)
    check_range("hidden_dim times sort_rows",
                c.hidden_dim * c.sort_rows * (c.jumping == Jumping::kCat ? c.num_layers : 1), 1,
                kMaxModelWidth);
}

}  // namespace

// GIN without a network does not change the width of rows.
void check_network(const ModelConfig& c) {
  if (c.mlp_layers > 0) return;
  if (c.framework != Framework::kDgl || c.architecture != Architecture::kGin)
    fail(Status::kInvalidArgument,
         "model: mlp_layers is 0, and DGL's GIN alone goes without a network");
  const bool plain_end = c.skip == Skip::kNone && c.jumping == Jumping::kNone;
  const int64_t first = c.skip == Skip::kResidual ? c.hidden_dim : c.first_width();
  const int64_t last = plain_end ? c.output_width() : c.hidden_dim;
  if (first != last || (c.num_layers > 1 && first != c.hidden_dim))
    fail(Status::kInvalidArgument,
         "model: mlp_layers is 0, and layers without a network "
         "leave rows as wide as they are: the first reads ",
         first, " columns, hidden_dim is ", c.hidden_dim, " and the last yields ", last);
}

bool learns(Norm norm, NormAffine affine) {
  const bool can = norm == Norm::kBatch || norm == Norm::kLayer || norm == Norm::kLayerGraph ||
                   norm == Norm::kInstance;
  if (!can) return norm == Norm::kGraph;
  return affine == NormAffine::kDefault ? norm != Norm::kInstance : affine == NormAffine::kOn;
}

void ModelConfig::check() const {
  if (architecture == Architecture::kLayers) {
    ModelConfig completed = *this;
    return complete_layers(completed);
  }
  if (dtype != base::DType::kF32 && dtype != base::DType::kF64)
    fail(Status::kInvalidArgument, "model: dtype is ", base::dtype_name(dtype),
         ", expected f32 or f64");
  check_ranges(*this);
  check_heads(*this);
  check_end(*this);
  if (act_first && skip == Skip::kResidual)
    fail(Status::kInvalidArgument,
         "model: act_first does not go with residual blocks, whose norm stands before the "
         "convolution");
  check_norm_options(norm, norm_options, "model: norm_");
  check_options(*this);
  check_architecture(*this);
  check_input_kind(*this);
  check_edges(*this);
  check_shares(*this);
  if (jumping != Jumping::kNone && skip != Skip::kNone)
    fail(Status::kInvalidArgument,
         "model: jumping knowledge and skips are two ways to reach the result, choose one");
}

Aggregation ModelConfig::reduction() const {
  if (aggregation != Aggregation::kDefault) return aggregation;
  const LayerTraits& traits = traits_of(architecture);
  return framework == Framework::kDgl ? traits.dgl_reduction : traits.pyg_reduction;
}

std::vector<PnaReduction> ModelConfig::pna_reductions() const {
  if (!reductions.empty()) return reductions;
  return {PnaReduction::kMean, PnaReduction::kMin, PnaReduction::kMax, PnaReduction::kDeviation};
}

int64_t ModelConfig::output_width() const { return output_dim ? output_dim : hidden_dim; }

int64_t readout_width(const ModelConfig& config, int64_t width) {
  if (config.readout == Readout::kSet2Set) return 2 * width;
  if (config.readout == Readout::kSort) return config.sort_rows * width;
  return width;
}

}  // namespace gnnmg::nn
