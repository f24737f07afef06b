// A data set that was not divided, as a folder of parts describes it that has one part with all of
// it: for those who serve it.
#pragma once

#include <memory>
#include <string>

#include "base/cancel.h"
#include "data/dataset.h"
#include "data/parts_source.h"

namespace gnnmg::data {

// Whether the folder holds a data set in the own format, and no parts.
bool holds_own_format(const std::string& folder);

// The files that such a folder has once for all parts, made in memory; errors call it `name`. Its
// one split is the data set's first. Error(kUnsupported) as of save_parts(); kCancelled.
std::shared_ptr<const parts::Source> one_part_source(const Dataset& dataset, std::string name,
                                                     const base::CancelToken& cancel);

}  // namespace gnnmg::data
