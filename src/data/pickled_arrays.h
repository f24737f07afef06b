// SciPy's matrices as they lie in pickles, and which names may appear in the pickles of data sets.
#pragma once

#include <string>
#include <string_view>

#include "base/tensor.h"
#include "io/npy.h"
#include "io/pickle.h"

namespace gnnmg::data {

// The globals that may appear: those of NumPy's arrays, SciPy's sparse classes, the collections of
// pickled_ints.h, and the function by which protocols 0 and 1 make objects; under the names that
// Python 2 and 3, NumPy 1 and 2 and SciPy from 0.x on give them.
bool accept_array_globals(std::string_view module, std::string_view name);

// True for a sparse matrix of SciPy.
bool is_pickled_sparse(const io::PickleValue& value);

// A sparse matrix of SciPy of the formats csr, csc, coo, lil, dok, bsr and dia, or a dense array of
// two dimensions, as rows. Error(kFormat) naming `where`, expected and found, for anything else.
base::CsrMatrix pickled_sparse(const io::PickleValue& value, const std::string& where,
                               const io::SparseOptions& options);

}  // namespace gnnmg::data
