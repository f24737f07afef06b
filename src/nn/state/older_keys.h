// Keys and forms that layers had in older versions of PyG and DGL.
#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "nn/state/state_match.h"

namespace gnnmg::nn {

using Given = std::map<std::string, const base::Tensor*>;

// Renames tensors from the keys of older versions of the frameworks to the current ones. Sums,
// transposed matrices and slices that this requires are added to `made`. Returns a remark for the
// reader of the file, in one line; empty if there is none.
std::string rename_older_keys(Given& given, const std::vector<ExpectedTensor>& expected,
                              std::list<base::Tensor>& made);

}  // namespace gnnmg::nn
