#include "readers/pickles.h"

#include "readers/support.h"

namespace gnnmg::data::pickles {
namespace {

std::string four_bytes(int64_t value) {
  const auto narrow = static_cast<int32_t>(value);
  return {reinterpret_cast<const char*>(&narrow), 4};
}

}  // namespace

std::string integer(int64_t value) {
  if (value == static_cast<int32_t>(value)) return "J" + four_bytes(value);
  return "\x8a\x08" + std::string(reinterpret_cast<const char*>(&value), 8);
}

std::string text(const std::string& bytes) {
  return "T" + four_bytes(static_cast<int64_t>(bytes.size())) + bytes;
}

std::string tuple(const std::vector<std::string>& items) {
  std::string out = "(";
  for (const std::string& item : items) out += item;
  return out + "t";
}

std::string list(const std::vector<std::string>& items) {
  std::string out = "](";
  for (const std::string& item : items) out += item;
  return out + "e";
}

std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

std::string array(const std::string& dtype, const std::vector<int64_t>& shape,
                  const std::string& data, bool fortran, const std::string& order) {
  std::vector<std::string> dims;
  for (int64_t size : shape) dims.push_back(integer(size));
  const std::string type =
      global("numpy", "dtype") + tuple({text(dtype), integer(0), integer(1)}) + "R" +
      tuple({integer(3), text(order), "N", "N", "N", integer(-1), integer(-1), integer(0)}) + "b";
  return global("numpy.core.multiarray", "_reconstruct") +
         tuple({global("numpy", "ndarray"), tuple({integer(0)}), text("b")}) + "R" +
         tuple({integer(1), tuple(dims), type, fortran ? "\x88" : "\x89", text(data)}) + "b";
}

std::string csr(int64_t rows, int64_t cols, const std::vector<int32_t>& indptr,
                const std::vector<int32_t>& indices, const std::vector<float>& values) {
  const auto length = [](const auto& vector) {
    return std::vector<int64_t>{static_cast<int64_t>(vector.size())};
  };
  return global("scipy.sparse.csr", "csr_matrix") + ")\x81}(" + text("format") + text("csr") +
         text("_shape") + tuple({integer(rows), integer(cols)}) + text("indptr") +
         array("i4", length(indptr), raw(indptr)) + text("indices") +
         array("i4", length(indices), raw(indices)) + text("data") +
         array("f4", length(values), raw(values)) + "ub";
}

std::string dict_of_lists(const std::vector<std::pair<int64_t, std::vector<int64_t>>>& entries) {
  std::string out =
      global("collections", "defaultdict") + tuple({global("__builtin__", "list")}) + "R(";
  for (const auto& [key, values] : entries) {
    std::vector<std::string> items;
    for (int64_t value : values) items.push_back(integer(value));
    out += integer(key) + list(items);
  }
  return out + "u";
}

std::string finish(const std::string& value) { return "\x80\x02" + value + "."; }

}  // namespace gnnmg::data::pickles
