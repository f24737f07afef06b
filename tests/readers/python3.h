// Writes pickles as Python 3 writes them: protocols 0 to 5, with the names of NumPy 1 and 2 and of
// old and new SciPy. pickles.h has Python 2's.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gnnmg::data {

class Python3 {
 public:
  Python3(int protocol, bool new_names) : protocol_(protocol), new_names_(new_names) {}

  // Parts of a pickle; finish() makes a file of one.
  std::string integer(int64_t value) const;
  std::string real(double value) const;
  std::string text(const std::string& utf8) const;
  std::string bytes(const std::string& raw) const;
  std::string tuple(const std::vector<std::string>& items) const;
  std::string list(const std::vector<std::string>& items) const;
  std::string set(const std::vector<std::string>& items) const;
  std::string deque(const std::vector<std::string>& items) const;
  std::string range(int64_t start, int64_t stop, int64_t step) const;
  std::string dict(const std::vector<std::pair<std::string, std::string>>& items) const;
  std::string counter(const std::vector<std::pair<std::string, std::string>>& items) const;
  std::string defaultdict(const std::vector<std::pair<std::string, std::string>>& items) const;
  std::string global(const std::string& module, const std::string& name) const;
  // An ndarray with this dtype ("i4"), little-endian, row by row; protocol 5 hands its buffer over.
  std::string array(const std::string& dtype, const std::vector<int64_t>& shape,
                    const std::string& data) const;
  // An ndarray of objects.
  std::string objects(const std::vector<std::string>& items) const;
  std::string dtype(const std::string& code) const;
  // A NumPy integer.
  std::string scalar(int64_t value) const;
  // A SciPy matrix of this format, with its attributes.
  std::string sparse(const std::string& format, int64_t rows, int64_t cols,
                     const std::vector<std::pair<std::string, std::string>>& members) const;
  // A dok matrix, which is a dict itself.
  std::string dok(int64_t rows, int64_t cols, const std::string& dtype,
                  const std::vector<std::pair<std::string, std::string>>& entries) const;
  std::string csr(int64_t rows, int64_t cols, const std::vector<int32_t>& indptr,
                  const std::vector<int32_t>& indices, const std::vector<float>& values) const;
  std::string finish(const std::string& value) const;

 private:
  std::string boolean(bool value) const;
  std::string new_object(const std::string& class_name) const;
  std::string builtin(const std::string& name) const;
  std::string items(const std::vector<std::pair<std::string, std::string>>& items) const;
  std::string memoized(const std::string& value) const;
  std::string numpy_core(const std::string& module) const;

  int protocol_;
  bool new_names_;
};

}  // namespace gnnmg::data
