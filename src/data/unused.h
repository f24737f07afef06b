// Files in a data set that are not taken: the log names them, for nothing else tells the user.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "io/npy.h"

namespace gnnmg::data {

// A warning that names the arrays of numbers in `npz` for which `known` is false, if there are any.
void warn_of_unused_arrays(const io::Npz& npz, const std::function<bool(std::string_view)>& known,
                           base::Log& log);
// A warning that names files of `folder` that are not read, if there are any.
void warn_of_unused_files(const std::string& folder, const std::vector<std::string>& names,
                          base::Log& log);
// A warning that names the folders in `folder` that are called splits in some way, but for `known`,
// which the format reads.
void warn_of_unread_splits(const std::string& folder, std::string_view known, base::Log& log);
// Returns whether a file of this name holds numbers, by its ending.
bool is_table_name(std::string_view name);

}  // namespace gnnmg::data
