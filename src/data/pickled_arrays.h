// NumPy arrays and SciPy matrices as they lie in pickles: the few names that Planetoid's files use,
// each turned into a value of ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "io/npy.h"
#include "io/pickle.h"

namespace gnnmg::data {

// The globals that may appear: NumPy's array, scalar and dtype constructors, SciPy's sparse
// classes, defaultdict, OrderedDict, list, set and bytes, codecs.encode, as which Python 3 writes
// bytes for Python 2, and the function by which protocols 0 and 1 make objects; under the names
// that Python 2 and 3, NumPy 1 and 2 and SciPy from 0.x on give them.
bool accept_array_globals(std::string_view module, std::string_view name);

// Each throws Error(kFormat) naming `where`, expected and found, when the value is something else.
base::Tensor pickled_array(const io::PickleValue& value, const std::string& where);
// A sparse matrix of SciPy of the formats csr, csc, coo, lil, bsr and dia, or a dense array of two
// dimensions, as rows.
base::CsrMatrix pickled_sparse(const io::PickleValue& value, const std::string& where,
                               const io::SparseOptions& options);
// A dict, defaultdict or OrderedDict.
const io::PickleDict& pickled_dict(const io::PickleValue& value, const std::string& where);
// An int, or a NumPy scalar of an integer type.
int64_t pickled_int(const io::PickleValue& value, const std::string& where);
// The integers of a list, a tuple, a set or an array of one dimension.
std::vector<int64_t> pickled_ints(const io::PickleValue& value, const std::string& where);

}  // namespace gnnmg::data
