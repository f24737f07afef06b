// Data sets in parts: a folder in which each part of the nodes has its rows in files of its own,
// with the ids that the nodes have in the whole. docs/formats.md has the layout.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/tensor.h"

namespace gnnmg::data {

namespace parts {
class Manifest;
class Source;
}  // namespace parts

struct Dataset;
struct Split;

// The arguments of the division, as text and numbers that are kept with the parts.
struct PartsArguments {
  int32_t num_parts = 2;
  std::string method;    // "cluster", "metis", "range", "hash" or "given"
  std::string settings;  // other settings of the assignment
  uint64_t seed = 0;
  bool ranges = false;           // parts are ranges of ids, and no table says which
  bool edge_ids = false;         // keep the edges' ids also where they are their places
  std::string given;             // SHA-256 of a given assignment; else empty
  std::vector<int64_t> fanouts;  // fan-outs for which hotness is kept; empty: none is
  int64_t batch_size = 0;
  bool operator==(const PartsArguments&) const = default;
};

// One number a part each.
struct PartFacts {
  std::vector<int64_t> rows, edges, train, cut_edges;
};

// Steps that are the work of other rooms.
struct PartsSteps {
  // The part of each node. Not called when an earlier call has got that far.
  std::function<std::vector<uint16_t>()> assign;
  std::function<PartFacts(std::span<const uint16_t> parts)> describe;
  // The expected number of reads of each node by a mini-batch of a part's seeds, f32 [N].
  std::function<std::vector<float>(int32_t part, std::span<const uint16_t> parts)> hotness;
  std::function<void(const std::string& step)> report;
};

// Writes the folder, or goes on where a call with the same arguments ended, whatever ended it; a
// complete folder of the same arguments is left as it is. The result does not depend on how often
// the work was interrupted. Memory: 2 bytes a node and 130 KiB for each of 64 open files; each
// array is read once for every 64 parts. `split` has the training ids; null: none.
// Error(kUnsupported) for several node or edge types and for many graphs, kMismatch naming the
// arguments that differ from the folder's, kInvalidArgument for a folder that holds something
// else, kBusy while another call writes it, kIo, kCancelled.
void save_parts(const Dataset& dataset, const Split* split, const std::string& folder,
                const PartsArguments& arguments, const PartsSteps& steps,
                const base::CancelToken& cancel);

// The division of a data set that was opened from parts.
struct Parts {
  std::shared_ptr<const parts::Manifest> manifest;
  PartsArguments arguments;
  PartFacts facts;
  std::vector<uint16_t> book;  // the part of each node
  // The fingerprint of the whole that was saved, with the ids of the split it was saved with.
  std::vector<std::pair<std::string, std::string>> data;
};

// The expected number of reads of each node by a mini-batch of a part's training ids, [N], as it
// was kept when the parts were saved. Errors as of traffic_of().
std::vector<float> hotness_of(const Parts& parts, int32_t part);

// The expected traffic of mini-batches of a part's training ids, by its stored hotness.
struct PartTraffic {
  double rows = 0;         // nodes that a mini-batch reads
  double remote_rows = 0;  // nodes of other parts among them
  double hit_rate = 0;     // share of those that are among the `cache_rows` hottest of other parts
};
// Error(kNotFound) where no hotness was kept, kRange for a part that there is not, kIo, kChecksum.
PartTraffic traffic_of(const Parts& parts, int32_t part, int64_t cache_rows);

}  // namespace gnnmg::data
