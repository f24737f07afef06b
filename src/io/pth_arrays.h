// Dicts of arrays written by torch.save() that are not state dicts of models. Their values may be
// pickled by other libraries.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tensor.h"
#include "io/pickle.h"

namespace gnnmg::io {

// The entries of the dict at the top of the file, in its order. `accept` tells which names may
// appear beside torch's. `array_of` makes a tensor of a value that is not torch's, or throws;
// `where` names the value in its errors. Error(kFormat) naming file and key.
std::vector<std::pair<std::string, base::Tensor>> read_pth_arrays(
    const std::string& path,
    const std::function<bool(std::string_view module, std::string_view name)>& accept,
    const std::function<base::Tensor(const PickleValue& value, const std::string& where)>&
        array_of);

}  // namespace gnnmg::io
