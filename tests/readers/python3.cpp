#include "readers/python3.h"

#include <bit>
#include <cstdio>

#include "readers/support.h"

namespace gnnmg::data {
namespace {

template <typename T>
std::string little(int64_t value) {
  return raw<T>({static_cast<T>(value)});
}

std::string latin1_as_utf8(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xc0 | byte >> 6);
      out += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return out;
}

// A text as a line: characters beyond Latin-1, and those that would end it, as \\u20ac.
std::string escaped(const std::string& utf8) {
  std::string out;
  for (size_t i = 0; i < utf8.size(); ++i) {
    uint32_t code = static_cast<uint8_t>(utf8[i]);
    if (code >= 0xe0) {
      code = (code & 15) << 12 | (utf8[i + 1] & 63) << 6 | (utf8[i + 2] & 63);
      i += 2;
    } else if (code >= 0xc0) {
      code = (code & 31) << 6 | (utf8[++i] & 63);
    }
    if (code < 256 &&
        std::string("\0\n\r\\\x1a", 5).find(static_cast<char>(code)) == std::string::npos) {
      out += static_cast<char>(code);
      continue;
    }
    char hex[8];
    std::snprintf(hex, sizeof hex, "\\u%04x", code);
    out += hex;
  }
  return out;
}

}  // namespace

// Each value goes into the memo, though nothing here names one a second time.
std::string Python3::memoized(const std::string& value) const {
  if (protocol_ == 0) return value + "p7\n";
  if (protocol_ == 1) return value + "q\7";
  return protocol_ >= 4 ? value + "\x94" : value;
}

std::string Python3::boolean(bool value) const {
  if (protocol_ < 2) return value ? "I01\n" : "I00\n";
  return value ? "\x88" : "\x89";
}

std::string Python3::integer(int64_t value) const {
  if (protocol_ == 0) return "I" + std::to_string(value) + "\n";
  if (value >= 0 && value < 256) return "K" + little<uint8_t>(value);
  if (value >= 0 && value < 65536) return "M" + little<uint16_t>(value);
  if (value == static_cast<int32_t>(value)) return "J" + little<int32_t>(value);
  if (protocol_ == 1) return "L" + std::to_string(value) + "L\n";
  return "\x8a\x08" + little<int64_t>(value);
}

std::string Python3::real(double value) const {
  if (protocol_ == 0) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "F%.17g\n", value);
    return digits;
  }
  return "G" + raw<uint64_t>({__builtin_bswap64(std::bit_cast<uint64_t>(value))});
}

std::string Python3::text(const std::string& utf8) const {
  if (protocol_ == 0) return "V" + escaped(utf8) + "\n";
  const auto size = static_cast<int64_t>(utf8.size());
  const std::string head =
      protocol_ >= 4 && size < 256 ? "\x8c" + little<uint8_t>(size) : "X" + little<uint32_t>(size);
  return memoized(head + utf8);
}

std::string Python3::bytes(const std::string& data) const {
  const auto size = static_cast<int64_t>(data.size());
  if (protocol_ < 3 && size == 0) return builtin("bytes") + tuple({}) + "R";
  if (protocol_ < 3)
    return global("_codecs", "encode") + tuple({text(latin1_as_utf8(data)), text("latin1")}) + "R";
  return memoized((size < 256 ? "C" + little<uint8_t>(size) : "B" + little<uint32_t>(size)) + data);
}

std::string Python3::tuple(const std::vector<std::string>& items) const {
  std::string all;
  for (const std::string& item : items) all += item;
  if (protocol_ == 0) return "(" + all + "t";
  if (items.empty()) return ")";
  if (protocol_ == 1) return "(" + all + "t";
  if (items.size() <= 3) return memoized(all + static_cast<char>(0x84 + items.size()));
  return memoized("(" + all + "t");
}

std::string Python3::list(const std::vector<std::string>& items) const {
  if (protocol_ == 0) {
    std::string lines = memoized("(l");
    for (const std::string& item : items) lines += item + "a";
    return lines;
  }
  std::string all = memoized("]");
  if (items.size() == 1) return all + items[0] + "a";
  if (items.empty()) return all;
  all += "(";
  for (const std::string& item : items) all += item;
  return all + "e";
}

std::string Python3::set(const std::vector<std::string>& items) const {
  if (protocol_ < 4) return builtin("set") + tuple({list(items)}) + "R";
  std::string all = memoized("\x8f") + "(";
  for (const std::string& item : items) all += item;
  return all + "\x90";
}

std::string Python3::deque(const std::vector<std::string>& entries) const {
  std::string all = memoized(global("collections", "deque") + tuple({}) + "R");
  if (protocol_ == 0) {
    for (const std::string& entry : entries) all += entry + "a";
    return all;
  }
  if (entries.empty()) return all;
  all += "(";
  for (const std::string& entry : entries) all += entry;
  return all + "e";
}

std::string Python3::range(int64_t start, int64_t stop, int64_t step) const {
  return memoized(builtin(protocol_ < 3 ? "xrange" : "range") +
                  tuple({integer(start), integer(stop), integer(step)}) + "R");
}

std::string Python3::counter(
    const std::vector<std::pair<std::string, std::string>>& entries) const {
  return memoized(global("collections", "Counter") + tuple({dict(entries)}) + "R");
}

std::string Python3::items(const std::vector<std::pair<std::string, std::string>>& items) const {
  if (items.empty()) return "";
  std::string all = protocol_ == 0 ? "" : "(";
  for (const auto& [key, value] : items) all += key + value + (protocol_ == 0 ? "s" : "");
  return protocol_ == 0 ? all : all + "u";
}

std::string Python3::dict(const std::vector<std::pair<std::string, std::string>>& entries) const {
  return memoized(protocol_ == 0 ? "(d" : "}") + items(entries);
}

std::string Python3::defaultdict(
    const std::vector<std::pair<std::string, std::string>>& entries) const {
  return memoized(global("collections", "defaultdict") + tuple({builtin("list")}) + "R") +
         items(entries);
}

std::string Python3::global(const std::string& module, const std::string& name) const {
  if (protocol_ >= 4) return memoized(text(module) + text(name) + "\x93");
  return "c" + module + "\n" + name + "\n";
}

std::string Python3::new_object(const std::string& class_name) const {
  if (protocol_ >= 2) return class_name + ")\x81";
  return global("copy_reg", "_reconstructor") + tuple({class_name, builtin("object"), "N"}) + "R";
}

std::string Python3::builtin(const std::string& name) const {
  return global(protocol_ < 3 ? "__builtin__" : "builtins", name);
}

std::string Python3::numpy_core(const std::string& module) const {
  return (new_names_ ? "numpy._core." : "numpy.core.") + module;
}

std::string Python3::dtype(const std::string& code) const {
  const bool objects = code == "O8";
  const std::string order = objects || code == "b1" || code == "u1" || code == "i1" ? "|" : "<";
  const std::string minus_one = integer(-1);
  return memoized(global("numpy", "dtype") + tuple({text(code), boolean(false), boolean(true)}) +
                  "R") +
         tuple({integer(3), text(order), "N", "N", "N", minus_one, minus_one,
                integer(objects ? 63 : 0)}) +
         "b";
}

std::string Python3::array(const std::string& code, const std::vector<int64_t>& shape,
                           const std::string& data) const {
  std::vector<std::string> dims;
  for (const int64_t size : shape) dims.push_back(integer(size));
  if (protocol_ >= 5) {
    const std::string buffer = "\x96" + little<uint64_t>(static_cast<int64_t>(data.size())) + data;
    return memoized(global(numpy_core("numeric"), "_frombuffer") +
                    tuple({memoized(buffer), dtype(code), tuple(dims), text("C")}) + "R");
  }
  return memoized(global(numpy_core("multiarray"), "_reconstruct") +
                  tuple({global("numpy", "ndarray"), tuple({integer(0)}), bytes("b")}) + "R") +
         tuple({integer(1), tuple(dims), dtype(code), boolean(false), bytes(data)}) + "b";
}

std::string Python3::objects(const std::vector<std::string>& items) const {
  return memoized(global(numpy_core("multiarray"), "_reconstruct") +
                  tuple({global("numpy", "ndarray"), tuple({integer(0)}), bytes("b")}) + "R") +
         tuple({integer(1), tuple({integer(static_cast<int64_t>(items.size()))}), dtype("O8"),
                boolean(false), list(items)}) +
         "b";
}

std::string Python3::scalar(int64_t value) const {
  return memoized(global(numpy_core("multiarray"), "scalar") +
                  tuple({dtype("i8"), bytes(little<int64_t>(value))}) + "R");
}

std::string Python3::sparse(const std::string& format, int64_t rows, int64_t cols,
                            const std::vector<std::pair<std::string, std::string>>& members) const {
  std::vector<std::pair<std::string, std::string>> state = {
      {text("_shape"), tuple({integer(rows), integer(cols)})}, {text("maxprint"), integer(50)}};
  for (const auto& [name, value] : members) state.emplace_back(text(name), value);
  return memoized(new_object(global((new_names_ ? "scipy.sparse._" : "scipy.sparse.") + format,
                                    format + "_matrix"))) +
         dict(state) + "b";
}

std::string Python3::dok(int64_t rows, int64_t cols, const std::string& dtype_code,
                         const std::vector<std::pair<std::string, std::string>>& entries) const {
  const std::string reconstructor =
      global(protocol_ < 3 ? "copy_reg" : "copyreg", "_reconstructor");
  const std::string name =
      global(new_names_ ? "scipy.sparse._dok" : "scipy.sparse.dok", "dok_matrix");
  return memoized(reconstructor + tuple({name, builtin("dict"), dict(entries)}) + "R") +
         dict({{text("_shape"), tuple({integer(rows), integer(cols)})},
               {text("maxprint"), integer(50)},
               {text("dtype"), dtype(dtype_code)}}) +
         "b";
}

std::string Python3::csr(int64_t rows, int64_t cols, const std::vector<int32_t>& indptr,
                         const std::vector<int32_t>& indices,
                         const std::vector<float>& values) const {
  const auto length = [](const auto& vector) {
    return std::vector<int64_t>{static_cast<int64_t>(vector.size())};
  };
  return sparse("csr", rows, cols,
                {{"indices", array("i4", length(indices), raw(indices))},
                 {"indptr", array("i4", length(indptr), raw(indptr))},
                 {"data", array("f4", length(values), raw(values))},
                 {"_has_sorted_indices", boolean(true)}});
}

std::string Python3::finish(const std::string& value) const {
  if (protocol_ < 2) return value + ".";
  const std::string start = std::string("\x80") + static_cast<char>(protocol_);
  if (protocol_ < 4) return start + value + ".";
  return start + "\x95" + little<uint64_t>(static_cast<int64_t>(value.size()) + 1) + value + ".";
}

}  // namespace gnnmg::data
