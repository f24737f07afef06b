#include "nn/config/layer_traits.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "nn/config/choices.h"
#include "nn/config/option_check.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;

bool carries_features(const ModelConfig& config) {
  return config.edge_dim > 0 || !config.edge_vocabulary.empty();
}

void check_sage(const ModelConfig& c) {
  const bool dgl = c.framework == Framework::kDgl;
  const Aggregation reduction = c.reduction();
  const bool of_pyg = reduction == Aggregation::kMax || reduction == Aggregation::kSum;
  if (reduction != Aggregation::kMean && reduction != Aggregation::kLstm && of_pyg == dgl)
    fail(Status::kInvalidArgument, "model: aggregation is ", word_of(reduction),
         dgl ? ", and DGL's GraphSAGE has mean, pool, LSTM and GCN"
             : ", and PyG's GraphSAGE has mean, max, sum and LSTM");
  if (!c.reductions.empty() && c.aggregation != Aggregation::kDefault)
    fail(Status::kInvalidArgument, "model: aggregation is ", word_of(reduction),
         " and reductions has ", c.reductions.size(), ": GraphSAGE takes only one of these");
}

void check_gcn(const ModelConfig& c) {
  if (c.degree_norm != DegreeNorm::kBoth && c.framework == Framework::kPyg &&
      (c.degree_norm != DegreeNorm::kNone || c.self_loops))
    fail(Status::kInvalidArgument, "model: degree_norm is ", word_of(c.degree_norm),
         ", and PyG's GCN has both, or none without self_loops");
}

const char* gat_varies(const ModelConfig& c) {
  // Dropout numbers depend on the positions of edges, and loops come after all edges.
  return c.dropout > 0 && c.self_loops && c.framework == Framework::kPyg
             ? "attention with loops and dropout depends on how many edges there are"
             : "";
}

template <int64_t kReads>
void add_gat_cost(const ModelConfig& c, PassCost& cost) {
  cost.source_read = kReads;
  cost.edge = 30;
  cost.edge_head = 8;
  if (carries_features(c)) cost.edge_read = 4;
}

void check_gin(const ModelConfig& c) {
  if (!c.bias) fail(Status::kInvalidArgument, "model: bias is off, and GIN's networks have one");
  const Aggregation reduction = c.reduction();
  if (reduction != Aggregation::kMean && reduction != Aggregation::kMax &&
      reduction != Aggregation::kSum)
    fail(Status::kInvalidArgument, "model: aggregation is ", word_of(reduction),
         ", and GIN has sum, mean and max");
  check_network(c);
}

void add_gin_cost(const ModelConfig& c, PassCost& cost) {
  cost.target_out += int64_t{3} * c.mlp_layers;
}

void check_relation(const ModelConfig& c) {
  const bool dgl = c.framework == Framework::kDgl;
  const Aggregation reduction = c.reduction();
  check_range("num_relations", c.relations, 1, int64_t{1} << 20);
  if (c.bases > 0 && c.blocks > 0)
    fail(Status::kInvalidArgument, "model: num_bases is ", c.bases, " and num_blocks ", c.blocks,
         ", and the matrices of relations use one or the other");
  const bool of_pyg = reduction == Aggregation::kMean || reduction == Aggregation::kMax;
  if (reduction != Aggregation::kSum && (dgl || !of_pyg))
    fail(Status::kInvalidArgument, "model: aggregation is ", word_of(reduction),
         dgl ? ", and DGL's R-GCN has sum" : ", and PyG's R-GCN has mean, sum and max");
}

void check_pna(const ModelConfig& c) {
  if (!c.bias)
    fail(Status::kInvalidArgument, "model: bias is off, and PNA's linear layers have one");
  if (c.scalers.empty()) fail(Status::kInvalidArgument, "model: PNA needs a scaler at least");
  if (!(c.average_degree > 0 && c.average_log_degree > 0) ||
      !std::isfinite(c.average_degree + c.average_log_degree))
    fail(Status::kInvalidArgument, "model: average_degree is ", c.average_degree,
         " and average_log_degree ", c.average_log_degree,
         ", expected those of the training graph, above 0");
}

void check_graph_conv(const ModelConfig& c) {
  const Aggregation reduction = c.reduction();
  if (reduction != Aggregation::kMean && reduction != Aggregation::kMax &&
      reduction != Aggregation::kSum)
    fail(Status::kInvalidArgument, "model: aggregation is ", word_of(reduction),
         ", and GraphConv has mean, max and sum");
}

void check_edge(const ModelConfig& c) {
  check_network(c);
  const Aggregation reduction = c.reduction();
  const bool of_pyg = reduction == Aggregation::kMean || reduction == Aggregation::kSum;
  if (reduction != Aggregation::kMax && (c.framework == Framework::kDgl || !of_pyg))
    fail(Status::kInvalidArgument, "model: aggregation is ", word_of(reduction),
         c.framework == Framework::kDgl ? ", and DGL's EdgeConv has max"
                                        : ", and PyG's EdgeConv has mean, max and sum");
  if (!c.bias)
    fail(Status::kInvalidArgument, "model: bias is off, and EdgeConv's networks have one");
}

namespace traits {

const LayerTraits kSage{
    .check = check_sage,
    .add_cost =
        [](const ModelConfig& c, PassCost& cost) {
          if (c.project) cost.source_in += 4;
          if (c.normalize) cost.target_out += 3;
          if (!c.reductions.empty())
            cost.target_in += 4 * (static_cast<int64_t>(c.reductions.size()) - 1);
          if (c.framework == Framework::kDgl) cost.source_read += 3;
        },
    .varies =
        [](const ModelConfig& c) {
          return c.reduction() == Aggregation::kLstm || !c.reductions.empty()
                     ? "the aggregation is made of operations along edges"
                     : "";
        },
    .dgl_weights = true,
};
const LayerTraits kGcn{
    .check = check_gcn,
    .add_cost =
        [](const ModelConfig&, PassCost& cost) {
          cost.source_read = 3;
          cost.edge = 24;
        },
    .varies =
        [](const ModelConfig& c) {
          // A block may have targets of other layers, with their edges, beyond a layer's own
          // targets.
          return c.block_degrees || c.framework == Framework::kDgl
                     ? "degrees are those of the block"
                     : "";
        },
    .pyg_weights = true,
    .dgl_weights = true,
};
const LayerTraits kGat{
    .add_cost = add_gat_cost<4>, .varies = gat_varies, .edge_features = true, .dgl_weights = true};
const LayerTraits kGatv2{.add_cost = add_gat_cost<5>, .varies = gat_varies, .edge_features = true};
const LayerTraits kGin{.check = check_gin,
                       .add_cost = add_gin_cost,
                       .varies = [](const ModelConfig&) { return ""; },
                       .pyg_reduction = Aggregation::kSum,
                       .dgl_reduction = Aggregation::kSum,
                       .dgl_weights = true};
const LayerTraits kGine{.check = check_gin,
                        .add_cost =
                            [](const ModelConfig& c, PassCost& cost) {
                              add_gin_cost(c, cost);
                              cost.edge = 12;
                              cost.edge_read = 3;
                            },
                        .pyg_reduction = Aggregation::kSum,
                        .dgl_reduction = Aggregation::kSum,
                        .edge_features = true};
const LayerTraits kRelation{.check = check_relation,
                            .add_cost =
                                [](const ModelConfig&, PassCost& cost) {
                                  cost.edge = 60;
                                  cost.edge_read = 6;
                                },
                            .dgl_reduction = Aggregation::kSum,
                            .dgl_weights = true};
const LayerTraits kPna{.check = check_pna,
                       .add_cost =
                           [](const ModelConfig& c, PassCost& cost) {
                             cost.source_read = 4;
                             cost.edge = 20;
                             if (c.edge_dim > 0 || c.pre_layers > 1)
                               cost.edge_read = 6 + 2 * c.pre_layers;
                           },
                       .edge_features = true};
const LayerTraits kGraphConv{.check = check_graph_conv,
                             .add_cost =
                                 [](const ModelConfig&, PassCost& cost) {
                                   cost.source_read = 3;
                                   cost.edge = 24;
                                 },
                             .varies = [](const ModelConfig&) { return ""; },
                             .pyg_reduction = Aggregation::kSum,
                             .dgl_reduction = Aggregation::kSum,
                             .pyg_weights = true};
const LayerTraits kEdge{
    .check = check_edge,
    .add_cost =
        [](const ModelConfig& c, PassCost& cost) {
          cost.source_read = 3;
          cost.edge = 24;
          cost.edge_read = 4 * std::max<int64_t>(c.mlp_layers, 1);
        },
    .pyg_reduction = Aggregation::kMax,
    .dgl_reduction = Aggregation::kMax,
};
const LayerTraits kTransformer{.add_cost =
                                   [](const ModelConfig& c, PassCost& cost) {
                                     cost.source_read = 8;
                                     cost.edge = 24;
                                     cost.edge_head = 8;
                                     cost.target_out += 6;
                                     if (carries_features(c)) cost.edge_read = 4;
                                   },
                               .edge_features = true};
const LayerTraits kLayers{};

}  // namespace traits
}  // namespace

const LayerTraits& traits_of(Architecture architecture) {
#define GNNMG_KIND(constant, ...) &traits::constant,
  static constexpr const LayerTraits* kTraits[] = {GNNMG_LAYER_KINDS(GNNMG_KIND)};
#undef GNNMG_KIND
  return *kTraits[static_cast<int>(architecture)];
}

}  // namespace gnnmg::nn
