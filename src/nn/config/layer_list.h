// The kinds of layers, each once: constant, word of the setting `architecture`, end of the constant
// of gnnmg.h, name in messages, whether DGL has it, help. The rest of a kind is with its
// convolution, in nn/conv.
#pragma once

// clang-format off
//      constant      word         constant     name                        DGL    help
#define GNNMG_LAYER_KINDS(KIND)                                                                                       \
  KIND(kSage,         sage,        SAGE,        "GraphSAGE",                true,  "GraphSAGE.")                      \
  KIND(kGcn,          gcn,         GCN,         "GCN",                      true,  "graph convolutional network.")    \
  KIND(kGat,          gat,         GAT,         "GAT",                      true,  "graph attention network.")        \
  KIND(kGatv2,        gatv2,       GATV2,       "GATv2",                    true,                                     \
       "graph attention that depends on both ends of an edge.")                                                       \
  KIND(kGin,          gin,         GIN,         "GIN",                      true,  "graph isomorphism network.")      \
  KIND(kGine,         gine,        GINE,        "GINE",                     false, "GIN with edge features.")         \
  KIND(kRelation,     rgcn,        RGCN,        "R-GCN",                    true,                                     \
       "R-GCN, one linear map per edge type.")                                                                        \
  KIND(kTransformer,  transformer, TRANSFORMER, "the graph transformer",    false, "graph transformer.")              \
  KIND(kPna,          pna,         PNA,         "PNA",                      false,                                    \
       "principal neighborhood aggregation.")                                                                         \
  KIND(kGraphConv,    graphconv,   GRAPHCONV,   "GraphConv",                false,                                    \
       "one linear map for the neighbors and one for the node.")                                                      \
  KIND(kLayers,       layers,      LAYERS,      "a custom stack of layers", false,                                    \
       "layers that gnnmg_model_add_conv() and similar functions add.")                                               \
  KIND(kEdge,         edge,        EDGE,        "EdgeConv",                 true,                                     \
       "EdgeConv, a network over both ends of each edge.")
// clang-format on
