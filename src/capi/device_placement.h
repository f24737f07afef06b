// Places of graph and features for GPUs, as the settings of trainers and loaders have them.
#pragma once

#include "capi/settings.h"
#include "loader/device_source.h"

namespace gnnmg::capi {

// Rows of a table of settings; `member` is a loader::DeviceSourceConfig. They have an effect only
// if `holds`, which `text` says.
#define GNNMG_PLACEMENT_SETTINGS(config, member, holds, text)                                   \
  GNNMG_SETTING_AS(config, "graph_placement", member.graph, nullptr, kGraphPlacementHelp)       \
      .only(holds, text),                                                                       \
      GNNMG_SETTING_AS(config, "feature_placement", member.features, nullptr,                   \
                       kFeaturePlacementHelp)                                                   \
          .only(holds, text),                                                                   \
      GNNMG_SETTING_AS(config, "feature_form", member.form, nullptr, kFeatureFormHelp)          \
          .only(holds, text),                                                                   \
      GNNMG_SETTING_AS(config, "hotness", member.cache_by, nullptr, kHotnessHelp)               \
          .only(holds, text),                                                                   \
      GNNMG_SETTING_AS(config, "cache_bytes", member.cache_bytes, "0 or more",                  \
                       "GPUs only: bytes of each GPU's memory for cached rows. 0: 30 % of the " \
                       "memory that the graph leaves free.")                                    \
          .only(holds, text),                                                                   \
      GNNMG_SETTING_AS(config, "gather_multiprocessors", member.gather_multiprocessors,         \
                       "0 to 65536",                                                            \
                       "GPUs only: multiprocessors of a GPU that may read rows in main memory " \
                       "while the others compute. 0: one eighth of them.")                      \
          .only(holds, text)

inline constexpr const char* kGraphPlacementHelp =
    "GPUs only: memory from which they read the graph.\n"
    "auto: device if the graph takes at most 40 % of the free GPU memory, else pinned, else "
    "host.\n"
    "device: a copy in the memory of each GPU.\n"
    "pinned: one copy in pinned main memory; GPUs sample from it.\n"
    "host: main memory; the loader's threads sample. Custom samplers and whole graphs need this.";
inline constexpr const char* kFeaturePlacementHelp =
    "GPUs only: memory from which they read rows of features.\n"
    "auto: device if the features take at most 60 % of the free GPU memory, else cached, pinned or "
    "host.\n"
    "device: a copy in the memory of each GPU.\n"
    "pinned: one copy in pinned main memory; GPUs read it.\n"
    "cached: as pinned, with the hottest rows also in the memory of each GPU; not for custom "
    "samplers or whole graphs.\n"
    "host: main memory; the loader's threads gather. Sparse rows and rows of a mapped file need "
    "this.\n"
    "split: as cached, with different rows on each GPU of a trainer in this process. The GPUs read "
    "each other's memory, so two GPUs cache twice as many rows; an error for one GPU, or if two of "
    "them cannot read each other's memory.";
inline constexpr const char* kFeatureFormHelp =
    "GPUs only: storage type of feature rows; reads convert them back.\n"
    "as_given: type of the data set.\n"
    "f16: IEEE half, rounded to nearest even.\n"
    "bf16: bfloat16, rounded to nearest even.\n"
    "int8: one byte per element and one scale per row.";
inline constexpr const char* kHotnessHelp =
    "GPUs only: criterion by which a cache selects rows.\n"
    "probability: probability of being in a mini-batch, computed from training ids and fan-outs.\n"
    "degree: number of edges that leave the node.\n"
    "counting: count in the first mini-batches, sampled when training begins or a loader is made.";

// Error(kInvalidArgument) for settings that exclude each other; `subject`: whose they are.
void check_placement(const char* subject, const loader::DeviceSourceConfig& placement);

}  // namespace gnnmg::capi
