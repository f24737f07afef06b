// What a folder has for those who ask: the parts that data::save_parts() wrote, or a data set in
// the own format, which is part 0 of 1.
#pragma once

#include <memory>
#include <string>

#include "base/cancel.h"
#include "data/dataset.h"
#include "data/parts_source.h"
#include "dist/part.h"

namespace gnnmg::dist {

// Any thread.
class HeldParts {
 public:
  virtual ~HeldParts() = default;
  // The files that it has once for all parts.
  virtual std::shared_ptr<const data::parts::Source> source() const = 0;
  // Errors as of read_part().
  virtual std::shared_ptr<const Part> read(int32_t part) const = 0;
};

// Errors as of data::parts::Manifest, and of data::open_dataset() for the own format, of which the
// features are mapped; kUnsupported for several types or graphs.
std::unique_ptr<const HeldParts> hold_parts(const std::string& folder,
                                            const base::CancelToken& cancel);

// All of a data set as one part.
std::shared_ptr<const Part> part_of_whole(const data::Dataset& dataset);

}  // namespace gnnmg::dist
