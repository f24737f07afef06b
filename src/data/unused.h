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
// Logs a warning that names the files of `folder` that hold numbers by their names, and one that
// names the files and folders that may divide nodes or graphs into parts (split, folds.json,
// train_idx.txt), except those that are among the files `read`. `is_more` is true for files that
// hold numbers too, `is_known` for those that another data set has.
void warn_of_unread_files(const std::string& folder, std::span<const std::string> read,
                          const std::function<bool(std::string_view)>& is_more,
                          const std::function<bool(std::string_view)>& is_known, base::Log& log);
// Returns whether a file or folder of this name may divide nodes or graphs into parts.
bool is_split_name(std::string_view name);

}  // namespace gnnmg::data
