// The rows of other parts that a data set keeps, for the plan of a loader.
#pragma once

#include <functional>

#include "base/cancel.h"
#include "base/log.h"
#include "data/dataset.h"
#include "loader/plan.h"

namespace gnnmg::loader {

// Makes LoaderConfig::prepare for a loader of training ids: of a data set in parts, the rows of
// other parts that it keeps are chosen again for the plan, by dist::keep_rows_for(). With kParts
// the seeds of a rank are those of its process's parts: by process_of_rank, or, where that is
// empty, the parts that are here. With the other plans they are of all parts. Empty for other data
// sets. `log` must outlast the function.
std::function<void(const base::CancelToken&)> keep_rows(const data::DatasetRef& dataset,
                                                        const PlanConfig& plan, base::Log& log);

}  // namespace gnnmg::loader
