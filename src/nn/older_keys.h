// Keys and forms that layers had in older versions of PyG and DGL.
#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "nn/state_match.h"

namespace gnnmg::nn {

using Given = std::map<std::string, const base::Tensor*>;

// Gives tensors under the keys of older versions of the frameworks those that they have now. Sums,
// turned matrices and parts that are made for that go to `made`. Returns what a reader has to know
// of it, one line; empty: nothing.
std::string rename_older_keys(Given& given, const std::vector<ExpectedTensor>& expected,
                              std::list<base::Tensor>& made);

}  // namespace gnnmg::nn
