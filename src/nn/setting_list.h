// The settings of a model, each once: name, member of ModelConfig, range, architectures that have
// it. Checks, files of weights, agreed fields, checkpoints and the struct of gnnmg.h are made from
// this list. The default is the member's own.
#pragma once

#include <limits>

#include "nn/config.h"

namespace gnnmg::nn {

using Architectures = uint32_t;  // a set

template <typename... T>
constexpr Architectures of(T... architectures) {
  return ((Architectures{1} << static_cast<int>(architectures)) | ... | 0);
}

// Tells if a file of weights and the model that reads it must have equal values.
enum class InFile {
  kEqual,  // results depend on it
  kFree    // only training depends on it, or initial weights, or the precision
};

// Range of a number. Flags, words and texts have none.
struct Range {
  double low, high;
  bool open = false;  // below `high`
};

struct Setting {
  const char* name;  // the field of gnnmg_model_config
  InFile in_file;
  Range range;
  Architectures pyg, dgl;  // architectures that have the setting, by framework

  bool belongs_to(const ModelConfig& config) const {
    return ((config.framework == Framework::kDgl ? dgl : pyg) & of(config.architecture)) != 0;
  }
};

namespace setting_list {

using enum Architecture;
using enum InFile;

inline constexpr Architectures kNone = 0,
                               kReadyMade = of(kSage, kGcn, kGat, kGatv2, kGin, kGine, kRelation,
                                               kTransformer, kPna, kGraphConv, kEdge),
                               kAll = kReadyMade | of(kLayers);
inline constexpr Architectures kAttention = of(kGat, kGatv2),
                               kHeads = kAttention | of(kTransformer),
                               kLooping = kAttention | of(kGcn), kGins = of(kGin, kGine),
                               kNetworks = kGins | of(kEdge),
                               kRooted = of(kSage, kRelation, kTransformer),
                               kReducingDgl = of(kSage, kGin, kRelation, kEdge),
                               kReducing = kReducingDgl | of(kGine, kGraphConv);

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
inline constexpr double kLargest = std::numeric_limits<double>::max();
constexpr Range from_to(double low, double high) { return {low, high}; }
inline constexpr Range kAny{-kInfinite, kInfinite}, kFinite{-kLargest, kLargest}, kRate{0, 1, true},
    kWidth{1, 1 << 24}, kWidthOr0{0, 1 << 24}, kTypes{0, 1 << 20},
    kInputs{1, std::numeric_limits<int32_t>::max()};

// clang-format off
//        name                member                 in file range              PyG               DGL
#define GNNMG_MODEL_SETTINGS(SETTING)                                                                                   \
  SETTING(architecture,       architecture,          kEqual, kAny,              kAll,             kAll)                 \
  SETTING(framework,          framework,             kEqual, kAny,              kReadyMade,       kReadyMade)           \
  SETTING(input,              input,                 kEqual, kAny,              kAll,             kAll)                 \
  SETTING(input_dim,          input_dim,             kEqual, kInputs,           kAll,             kAll)                 \
  SETTING(hidden_dim,         hidden_dim,            kEqual, kWidth,            kAll,             kAll)                 \
  SETTING(output_dim,         output_dim,            kEqual, kWidthOr0,         kAll,             kAll)                 \
  SETTING(num_layers,         num_layers,            kEqual, from_to(1, 10),    kAll,             kAll)                 \
  SETTING(aggregation,        aggregation,           kEqual, kAny,              kReducing,        kReducingDgl)         \
  SETTING(activation,         activation,            kEqual, kAny,              kReadyMade,       kReadyMade)           \
  SETTING(norm,               norm,                  kEqual, kAny,              kReadyMade,       kReadyMade)           \
  SETTING(norm_scale,         norm_options.scale,    kEqual, kAny,              kReadyMade,       kReadyMade)           \
  SETTING(norm_epsilon,       norm_options.epsilon,  kEqual, kAny,              kReadyMade,       kReadyMade)           \
  SETTING(norm_momentum,      norm_options.momentum, kFree,  kAny,              kReadyMade,       kReadyMade)           \
  SETTING(norm_affine,        norm_options.affine,   kEqual, kAny,              kReadyMade,       kReadyMade)           \
  SETTING(skip,               skip,                  kEqual, kAny,              kReadyMade,       kReadyMade)           \
  SETTING(weight_init,        init,                  kFree,  kAny,              kAll,             kAll)                 \
  SETTING(jumping,            jumping,               kEqual, kAny,              kReadyMade,       kReadyMade)           \
  SETTING(act_first,          act_first,             kEqual, kAny,              kReadyMade,       kReadyMade)           \
  SETTING(bias,               bias,                  kEqual, kAny,              kReadyMade,       kReadyMade)           \
  SETTING(root_weight,        root_weight,           kEqual, kAny,              kRooted,          of(kRelation))        \
  SETTING(normalize,          normalize,             kEqual, kAny,              of(kSage),        kNone)                \
  SETTING(project,            project,               kEqual, kAny,              of(kSage),        kNone)                \
  SETTING(self_loops,         self_loops,            kEqual, kAny,              kLooping,         kLooping)             \
  SETTING(block_degrees,      block_degrees,         kEqual, kAny,              of(kGcn),         of(kGcn))             \
  SETTING(degree_norm,        degree_norm,           kEqual, kAny,              of(kGcn),         of(kGcn))             \
  SETTING(improved,           improved,              kEqual, kAny,              of(kGcn),         kNone)                \
  SETTING(heads,              heads,                 kEqual, from_to(1, 64),    kHeads,           kAttention)           \
  SETTING(output_heads,       output_heads,          kEqual, from_to(0, 64),    kHeads,           kAttention)           \
  SETTING(concat,             concat,                kEqual, kAny,              kHeads,           kAttention)           \
  SETTING(residual,           residual,              kEqual, kAny,              kAttention,       kAttention)           \
  SETTING(negative_slope,     slope,                 kEqual, kFinite,           kAttention,       kAttention)           \
  SETTING(share_weights,      share_weights,         kEqual, kAny,              of(kGatv2),       of(kGatv2))           \
  SETTING(beta,               beta,                  kEqual, kAny,              of(kTransformer), kNone)                \
  SETTING(mlp_layers,         mlp_layers,            kEqual, from_to(0, 8),     kNetworks,        of(kGin))             \
  SETTING(train_eps,          train_eps,             kEqual, kAny,              kGins,            of(kGin))             \
  SETTING(eps,                eps,                   kEqual, kFinite,           kGins,            of(kGin))             \
  SETTING(num_relations,      relations,             kEqual, kTypes,            of(kRelation),    of(kRelation))        \
  SETTING(num_bases,          bases,                 kEqual, kTypes,            of(kRelation),    of(kRelation))        \
  SETTING(num_blocks,         blocks,                kEqual, kTypes,            of(kRelation),    of(kRelation))        \
  SETTING(loop_fill,          loop_fill,             kEqual, kAny,              kAttention,       kNone)                \
  SETTING(loop_value,         loop_value,            kEqual, kFinite,           kReadyMade,       kReadyMade)           \
  SETTING(plain_edges,        plain_edges,           kEqual, kAny,              of(kGine),        kNone)                \
  SETTING(inner_norm,         inner_norm,            kEqual, kAny,              kNone,            of(kRelation, kEdge)) \
  SETTING(reductions,         reductions,            kEqual, kAny,              of(kSage, kPna),  kNone)                \
  SETTING(train_norm,         train_norm,            kEqual, kAny,              of(kPna),         kNone)                \
  SETTING(scalers,            scalers,               kEqual, kAny,              of(kPna),         kNone)                \
  SETTING(pre_layers,         pre_layers,            kEqual, from_to(1, 8),     of(kPna),         kNone)                \
  SETTING(post_layers,        post_layers,           kEqual, from_to(1, 8),     of(kPna),         kNone)                \
  SETTING(towers,             towers,                kEqual, from_to(1, 64),    of(kPna),         kNone)                \
  SETTING(divide_input,       divide_input,          kEqual, kAny,              of(kPna),         kNone)                \
  SETTING(average_degree,     average_degree,        kEqual, kAny,              of(kPna),         kNone)                \
  SETTING(average_log_degree, average_log_degree,    kEqual, kAny,              of(kPna),         kNone)                \
  SETTING(edge_dim,           edge_dim,              kEqual, kWidthOr0,         kReadyMade,       kReadyMade)           \
  SETTING(edge_weights,       edge_weights,          kEqual, kAny,              kReadyMade,       kReadyMade)           \
  SETTING(node_vocabulary,    node_vocabulary,       kEqual, kWidth,            kReadyMade,       kReadyMade)           \
  SETTING(edge_vocabulary,    edge_vocabulary,       kEqual, kWidth,            kReadyMade,       kReadyMade)           \
  SETTING(readout,            readout,               kEqual, kAny,              kAll,             kAll)                 \
  SETTING(readout_steps,      readout_steps,         kEqual, from_to(1, 100),   kReadyMade,       kReadyMade)           \
  SETTING(sort_rows,          sort_rows,             kEqual, from_to(1, 10000), kReadyMade,       kReadyMade)           \
  SETTING(dropout,            dropout,               kFree,  kRate,             kReadyMade,       kReadyMade)           \
  SETTING(input_dropout,      input_dropout,         kFree,  kRate,             kReadyMade,       kReadyMade)           \
  SETTING(output_dropout,     output_dropout,        kFree,  kRate,             kReadyMade,       kReadyMade)           \
  SETTING(edge_dropout,       edge_dropout,          kFree,  kRate,             kAll,             kAll)                 \
  SETTING(node_dropout,       node_dropout,          kFree,  kRate,             kAll,             kAll)                 \
  SETTING(dtype,              dtype,                 kFree,  kAny,              kAll,             kAll)                 \
  SETTING(seed,               seed,                  kFree,  kAny,              kAll,             kAll)
// clang-format on

// Calls visit(setting, member of each config...) for every setting.
template <typename Visit, typename... Config>
void visit_settings(const Visit& visit, Config&... configs) {
#define GNNMG_VISIT(name, member, ...) visit(Setting{#name, __VA_ARGS__}, configs.member...);
  GNNMG_MODEL_SETTINGS(GNNMG_VISIT)
#undef GNNMG_VISIT
}

// The same for a struct with a field of each setting's name, and a config:
// visit(setting, field, member).
template <typename Fields, typename Config, typename Visit>
void visit_fields(Fields& fields, Config& config, const Visit& visit) {
#define GNNMG_VISIT(name, member, ...) \
  visit(Setting { #name, __VA_ARGS__ }, fields.name, config.member);
  GNNMG_MODEL_SETTINGS(GNNMG_VISIT)
#undef GNNMG_VISIT
}

}  // namespace setting_list

using setting_list::visit_fields;
using setting_list::visit_settings;

}  // namespace gnnmg::nn
