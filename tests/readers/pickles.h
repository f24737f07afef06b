// Writes pickles of protocol 2 as Python 2 wrote Planetoid's files.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gnnmg::data::pickles {

// Parts of a pickle; finish() makes a file of one.
std::string integer(int64_t value);
std::string text(const std::string& bytes);
std::string tuple(const std::vector<std::string>& items);
std::string list(const std::vector<std::string>& items);
std::string global(const std::string& module, const std::string& name);
// An ndarray with this dtype ("i4") and byte order.
std::string array(const std::string& dtype, const std::vector<int64_t>& shape,
                  const std::string& data, bool fortran = false, const std::string& order = "<");
std::string csr(int64_t rows, int64_t cols, const std::vector<int32_t>& indptr,
                const std::vector<int32_t>& indices, const std::vector<float>& values);
std::string dict_of_lists(const std::vector<std::pair<int64_t, std::vector<int64_t>>>& entries);
std::string finish(const std::string& value);

}  // namespace gnnmg::data::pickles
