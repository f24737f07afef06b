#include "nn/option_check.h"

#include <cmath>
#include <vector>

#include "base/error.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;
using enum Architecture;

using Set = uint32_t;

template <typename... T>
constexpr Set set(T... architectures) {
  return ((Set{1} << static_cast<int>(architectures)) | ... | 0);
}

constexpr Set kMadeForDgl = set(kSage, kGcn, kGat, kGatv2, kGin, kRelation, kEdge);
constexpr Set kAttention = set(kGat, kGatv2), kNone = 0;

struct Option {
  const char* name;
  bool changed;  // differs from its default
  Set pyg, dgl;  // architectures that have the option, by framework
};

// Returns text such as "GCN, PyG's GraphSAGE and GAT".
std::string names_of(Set pyg, Set dgl) {
  std::vector<std::string> names;
  for (int i = static_cast<int>(kSage); i <= static_cast<int>(kEdge); ++i) {
    const Set one = Set{1} << i;
    if (((pyg | dgl) & one) == 0) continue;
    const bool of_pyg_alone = (dgl & one) == 0 && (kMadeForDgl & one) != 0;
    names.push_back(
        base::text(of_pyg_alone ? "PyG's " : "", name_of(static_cast<Architecture>(i))));
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += base::text(i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  return text;
}

}  // namespace

const char* name_of(Architecture architecture) {
  switch (architecture) {
    case kSage:
      return "GraphSAGE";
    case kGcn:
      return "GCN";
    case kGat:
      return "GAT";
    case kGatv2:
      return "GATv2";
    case kGin:
      return "GIN";
    case kGine:
      return "GINE";
    case kRelation:
      return "R-GCN";
    case kTransformer:
      return "the graph transformer";
    case kPna:
      return "PNA";
    case kGraphConv:
      return "GraphConv";
    case kEdge:
      return "EdgeConv";
    case kLayers:
      break;
  }
  return "a custom stack of layers";
}

const char* constant_of(Aggregation aggregation) {
  constexpr const char* kNames[] = {"GNNMG_AGGREGATION_DEFAULT", "GNNMG_AGGREGATION_MEAN",
                                    "GNNMG_AGGREGATION_MAX",     "GNNMG_AGGREGATION_SUM",
                                    "GNNMG_AGGREGATION_POOL",    "GNNMG_AGGREGATION_LSTM",
                                    "GNNMG_AGGREGATION_GCN"};
  return kNames[static_cast<int>(aggregation) + 1];
}

const char* constant_of(DegreeNorm norm) {
  constexpr const char* kNames[] = {"GNNMG_DEGREE_NORM_BOTH", "GNNMG_DEGREE_NORM_RIGHT",
                                    "GNNMG_DEGREE_NORM_LEFT", "GNNMG_DEGREE_NORM_NONE"};
  return kNames[static_cast<int>(norm)];
}

const char* constant_of(LoopFill fill) {
  constexpr const char* kNames[] = {"GNNMG_LOOP_FILL_MEAN", "GNNMG_LOOP_FILL_SUM",
                                    "GNNMG_LOOP_FILL_MAX", "GNNMG_LOOP_FILL_MIN",
                                    "GNNMG_LOOP_FILL_CONSTANT"};
  return kNames[static_cast<int>(fill)];
}

const char* constant_of(Readout readout) {
  constexpr const char* kNames[] = {
      "GNNMG_READOUT_NONE",      "GNNMG_READOUT_SUM",     "GNNMG_READOUT_MEAN", "GNNMG_READOUT_MAX",
      "GNNMG_READOUT_ATTENTION", "GNNMG_READOUT_SET2SET", "GNNMG_READOUT_SORT"};
  return kNames[static_cast<int>(readout)];
}

void check_options(const ModelConfig& c) {
  const ModelConfig d;
  const Option options[] = {
      {"aggregation", c.aggregation != d.aggregation,
       set(kSage, kGin, kGine, kRelation, kGraphConv, kEdge), set(kSage, kGin, kRelation, kEdge)},
      {"root_weight", c.root_weight != d.root_weight, set(kSage, kRelation, kTransformer),
       set(kRelation)},
      {"normalize", c.normalize != d.normalize, set(kSage), kNone},
      {"project", c.project != d.project, set(kSage), kNone},
      {"self_loops", c.self_loops != d.self_loops, set(kGcn, kGat, kGatv2),
       set(kGcn, kGat, kGatv2)},
      {"block_degrees", c.block_degrees != d.block_degrees, set(kGcn), set(kGcn)},
      {"degree_norm", c.degree_norm != d.degree_norm, set(kGcn), set(kGcn)},
      {"improved", c.improved != d.improved, set(kGcn), kNone},
      {"heads", c.heads != d.heads, set(kGat, kGatv2, kTransformer), kAttention},
      {"output_heads", c.output_heads != d.output_heads, set(kGat, kGatv2, kTransformer),
       kAttention},
      {"concat", c.concat != d.concat, set(kGat, kGatv2, kTransformer), kAttention},
      {"residual", c.residual != d.residual, kAttention, kAttention},
      {"negative_slope", c.slope != d.slope, kAttention, kAttention},
      {"share_weights", c.share_weights != d.share_weights, set(kGatv2), set(kGatv2)},
      {"beta", c.beta != d.beta, set(kTransformer), kNone},
      {"mlp_layers", c.mlp_layers != d.mlp_layers, set(kGin, kGine, kEdge), set(kGin)},
      {"train_eps", c.train_eps != d.train_eps, set(kGin, kGine), set(kGin)},
      {"eps", c.eps != d.eps, set(kGin, kGine), set(kGin)},
      {"num_relations", c.relations != d.relations, set(kRelation), set(kRelation)},
      {"num_bases", c.bases != d.bases, set(kRelation), set(kRelation)},
      {"num_blocks", c.blocks != d.blocks, set(kRelation), set(kRelation)},
      {"loop_fill", c.loop_fill != d.loop_fill, kAttention, kNone},
      {"plain_edges", c.plain_edges != d.plain_edges, set(kGine), kNone},
      {"inner_norm", c.inner_norm != d.inner_norm, kNone, set(kRelation, kEdge)},
      {"reductions", c.reductions != d.reductions, set(kSage, kPna), kNone},
      {"train_norm", c.train_norm != d.train_norm, set(kPna), kNone},
      {"scalers", c.scalers != d.scalers, set(kPna), kNone},
      {"pre_layers", c.pre_layers != d.pre_layers, set(kPna), kNone},
      {"post_layers", c.post_layers != d.post_layers, set(kPna), kNone},
      {"towers", c.towers != d.towers, set(kPna), kNone},
      {"divide_input", c.divide_input != d.divide_input, set(kPna), kNone},
      {"average_degree", c.average_degree != d.average_degree, set(kPna), kNone},
      {"average_log_degree", c.average_log_degree != d.average_log_degree, set(kPna), kNone},
  };
  const bool dgl = c.framework == Framework::kDgl;
  for (const Option& option : options)
    if (option.changed && ((dgl ? option.dgl : option.pyg) & set(c.architecture)) == 0)
      fail(Status::kInvalidArgument, "model config: ", option.name, " is an option of ",
           names_of(option.pyg, option.dgl), ", and this is ", dgl ? "DGL's " : "",
           name_of(c.architecture));
  check_norm_options(c.norm, c.norm_options, "model config: norm_");
  if (c.loop_value != d.loop_value && c.loop_fill != LoopFill::kConstant)
    fail(Status::kInvalidArgument,
         "model config: loop_value is an option of loops filled with a constant");
  if (c.readout_steps != d.readout_steps && c.readout != Readout::kSet2Set)
    fail(Status::kInvalidArgument,
         "model config: readout_steps is an option of the readout Set2Set");
  if (c.sort_rows != d.sort_rows && c.readout != Readout::kSort)
    fail(Status::kInvalidArgument,
         "model config: sort_rows is an option of the readout by sorting");
}

void check_norm_options(Norm norm, const NormOptions& o, const char* field) {
  if (o.scale != -1 && !(std::isfinite(o.scale) && o.scale > 0))
    fail(Status::kInvalidArgument, field, "scale is ", o.scale,
         ", expected a number above 0, or -1");
  if (!(std::isfinite(o.epsilon) && o.epsilon > 0))
    fail(Status::kInvalidArgument, field, "epsilon is ", o.epsilon, ", expected a number above 0");
  if (o.momentum != -1 && !(o.momentum > 0 && o.momentum <= 1))
    fail(Status::kInvalidArgument, field, "momentum is ", o.momentum,
         ", expected a number above 0 and at most 1, or -1");
  if (o.affine < NormAffine::kDefault || o.affine > NormAffine::kOff)
    fail(Status::kInvalidArgument, field, "affine is ", static_cast<int>(o.affine),
         ", expected 0 to 2");
  const NormOptions plain;
  if (o.scale != plain.scale && norm != Norm::kPair && norm != Norm::kPairRows)
    fail(Status::kInvalidArgument, field, "scale is an option of the pair norms");
  if (o.epsilon != plain.epsilon && norm == Norm::kNone)
    fail(Status::kInvalidArgument, field, "epsilon is an option of norms, and the layer has none");
  if (o.momentum != plain.momentum && norm != Norm::kBatch)
    fail(Status::kInvalidArgument, field, "momentum is an option of batch norm");
  if (o.affine != plain.affine && norm != Norm::kBatch && norm != Norm::kLayer &&
      norm != Norm::kLayerGraph && norm != Norm::kInstance)
    fail(Status::kInvalidArgument, field, "affine is an option of batch, layer and instance norms");
}

}  // namespace gnnmg::nn
