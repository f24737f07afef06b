// An undivided data set in the form of a folder of parts with a single part, to be served.
#pragma once

#include <memory>
#include <string>

#include "base/cancel.h"
#include "data/dataset.h"
#include "data/parts_source.h"

namespace gnnmg::data {

// True if the folder holds a data set in the own format, and no parts.
bool holds_own_format(const std::string& folder);

// Makes the files that all parts of such a folder share, in memory; errors call the folder `name`.
// The only split is the first one of the data set. Error(kUnsupported) as from save_parts();
// kCancelled.
std::shared_ptr<const parts::Source> one_part_source(const Dataset& dataset, std::string name,
                                                     const base::CancelToken& cancel);

}  // namespace gnnmg::data
