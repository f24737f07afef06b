// NumPy's arrays and numbers as they lie in pickles, under the names of NumPy 1 and 2, in protocols
// 0 to 5.
#pragma once

#include <string>
#include <string_view>

#include "base/tensor.h"
#include "io/pickle.h"

namespace gnnmg::io {

// The globals that arrays, numbers and their bytes are made with.
bool accept_numpy_globals(std::string_view module, std::string_view name);

// True for an array, of numbers or of anything else.
bool is_pickled_array(const PickleValue& value);
// True for an array of numbers of a type that pickled_array() reads.
bool is_array_of_numbers(const PickleValue& value);

// Each throws Error(kFormat) naming `where`, expected and found, when the value is something else.
base::Tensor pickled_array(const PickleValue& value, const std::string& where);
// A NumPy number, as a tensor of no dimension.
base::Tensor pickled_scalar(const PickleValue& value, const std::string& where);
// "<f4" and the like, as a .npy header has it.
std::string pickled_dtype(const PickleValue& value, const std::string& where);

}  // namespace gnnmg::io
