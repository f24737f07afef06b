// The parts in a folder: those that data::save_parts() wrote, or a data set in the own format,
// which is part 0 of 1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "data/dataset.h"
#include "data/parts_manifest.h"
#include "dist/part.h"

namespace gnnmg::dist {

// Any thread.
class HeldParts {
 public:
  virtual ~HeldParts() = default;
  // The list of all files, and the source of those that all parts share.
  virtual std::shared_ptr<const data::parts::Manifest> manifest() const = 0;
  std::shared_ptr<const data::parts::Source> source() const { return manifest()->shared_source(); }
  // The parts that are here, ascending: a machine may have copied the folders of some only.
  virtual std::vector<int32_t> found() const = 0;
  // Reads a part, unless it is in use already. Errors are those of PartFolder::read().
  virtual std::shared_ptr<const Part> read(int32_t part) const = 0;
};

// Opens the parts of a folder. Dense features are read on demand and kept in memory
// (feature/kept_store.h), also those of the own format. Errors are those of PartFolder, or, for the
// own format, those of data::open_dataset(); kUnsupported for several types or graphs.
std::unique_ptr<const HeldParts> hold_parts(const std::string& folder,
                                            const base::CancelToken& cancel);

// Makes one part of a whole data set.
std::shared_ptr<const Part> part_of_whole(const data::Dataset& dataset);

}  // namespace gnnmg::dist
