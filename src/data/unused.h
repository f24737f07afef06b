// Warnings about content of a data set that no reader takes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "io/npy.h"

namespace gnnmg::data {

// Logs a warning that names the arrays of numbers in `npz` for which `known` is false, if any.
void warn_of_unused_arrays(const io::Npz& npz, const std::function<bool(std::string_view)>& known,
                           base::Log& log);
// Logs a warning that names files of `folder` that are not read, if there are any.
void warn_of_unused_files(const std::string& folder, const std::vector<std::string>& names,
                          base::Log& log);
// Logs a warning that names files and folders of `folder` which may divide nodes or graphs into
// parts by their names (split, folds.json, train_idx.txt), if there are any. Files of tables are
// left to warn_of_unused_files(), and `known` is true for names that the format reads or that
// another warning names.
void warn_of_unread_splits(const std::string& folder,
                           const std::function<bool(std::string_view)>& known, base::Log& log);
// True if a file of this name holds numbers, by its ending.
bool is_table_name(std::string_view name);

}  // namespace gnnmg::data
