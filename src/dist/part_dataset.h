// A data set of whose parts this process has some and asks others for the rest: samplers and stores
// use it like the whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/log.h"
#include "data/dataset.h"
#include "data/parts_source.h"
#include "dist/channel.h"
#include "dist/part.h"
#include "dist/part_cache.h"
#include "dist/parts.h"

namespace gnnmg::dist {

// The part of each node, on the memory of the parts.
std::shared_ptr<const partition::Book> book_of(const std::shared_ptr<const data::Parts>& parts);

// The source of parts: HeldParts::read(), or a test.
using ReadPart = std::function<std::shared_ptr<const Part>(int32_t part)>;

// Servers in this process for parts that it can read, beside those that it has: for processes that
// share a file system, and for tests. `parts` are read at once.
std::unique_ptr<Channel> make_part_channel(const ReadPart& read, const std::vector<int32_t>& parts,
                                           uint64_t stamp);

// "parts 0, 2", "part 1", "no part"; only how many, where they are very many.
std::string parts_text(const std::vector<int32_t>& parts);

// The parts of one of the processes that share all: p, p + num_processes, ...
std::vector<int32_t> parts_of_process(int32_t num_parts, int32_t process, int32_t num_processes);

struct PartDatasetConfig {
  // The parts that are here, given the number of all; ascending.
  std::function<std::vector<int32_t>(int32_t num_parts)> own;
  ReadPart read_part;  // reads one of the own parts
  // A way to the others, for data of this stamp; called once, where there are others.
  std::function<std::unique_ptr<Channel>(const std::vector<int32_t>& others, uint64_t stamp)>
      open_channel;
  PartsConfig asking;
  CacheConfig cache;                     // cached feature rows
  std::vector<int32_t> process_of_part;  // see PartsHere
};

// A data set that describes itself like the whole, with the same fingerprint, and whose
// mini-batches are the whole's to the bit. Its graph's edges and rows are elsewhere
// (graph/elsewhere.h): samplers and stores made of it ask for them, and an operation that needs the
// whole graph is Error(kUnsupported). It keeps the rows of other parts for training ids of the own
// parts, or of all where there are none, as RowChooser says.
// Error(kRange) for a part that does not exist, and the errors of data::open_outline(), reading and
// asking.
data::DatasetRef open_part_dataset(const std::shared_ptr<const data::parts::Source>& source,
                                   const PartDatasetConfig& config,
                                   const data::ReadContext& context);

// The share of a process in a data set that was opened so.
struct PartsHere {
  std::shared_ptr<const Parts> parts;  // has the traffic too
  int64_t kept_rows = 0;               // number of feature rows kept of other parts
  // In a job: the process that is nearest to each part. Empty: of P processes, process p is to
  // parts p, p + P, ...
  std::vector<int32_t> process_of_part;
};
// Nothing of other data sets.
std::optional<PartsHere> parts_here(const data::Dataset& dataset);

// Chooses the rows that such a data set keeps again, by RowChooser::choose(); the last call
// counts. Rows are the same to the bit before, after and meanwhile. Does nothing to other data
// sets, and where no rows are kept.
void keep_rows_for(const data::Dataset& dataset, std::vector<int32_t> seeds_of, base::Log& log,
                   const base::CancelToken& cancel);

}  // namespace gnnmg::dist
