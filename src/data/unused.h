// Warnings about content of a data set that no reader takes.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/log.h"
#include "io/npy.h"

namespace gnnmg::data {

// Logs a warning that names the arrays of numbers in `npz` for which `known` is false, if any.
void warn_of_unused_arrays(const io::Npz& npz, const std::function<bool(std::string_view)>& known,
                           base::Log& log);
// Logs a warning that names the files and folders of `folder` that are not among the files `read`
// and, by their names, whatever their endings, hold features, labels, weights, edges, splits or a
// table, or are a packed copy of a file that was read. `is_more` is true for others that hold data
// too, `is_known` for those that another data set has.
void warn_of_unread_files(const std::string& folder, std::span<const std::string> read,
                          const std::function<bool(std::string_view)>& is_more,
                          const std::function<bool(std::string_view)>& is_known, base::Log& log);
// Returns whether a file or folder of this name may hold features, labels, weights or splits.
bool is_part_name(std::string_view name);

}  // namespace gnnmg::data
