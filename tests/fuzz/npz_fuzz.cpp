// .npz archives: every entry as an array and as a text, and the whole as a sparse matrix. Input
// that is no archive describes the arrays of one: three bytes for key, type and length, then the
// data.
#include <algorithm>
#include <set>

#include "fuzz/stored_zip.h"
#include "io/npy.h"

namespace {

void attempt(auto call) {
  try {
    call();
  } catch (const gnnmg::base::Error&) {
  }
}

std::string described(std::span<const uint8_t> input) {
  constexpr const char* kKeys[] = {"indices", "indptr", "shape", "data", "row", "col"};
  constexpr gnnmg::base::DType kTypes[] = {gnnmg::base::DType::kI32, gnnmg::base::DType::kI64,
                                           gnnmg::base::DType::kF32, gnnmg::base::DType::kF64,
                                           gnnmg::base::DType::kU8,  gnnmg::base::DType::kBool};
  constexpr const char* kFormats[] = {"csr", "csc", "coo"};
  if (input.empty()) return gnnmg::fuzz::stored_zip({});
  std::vector<std::pair<std::string, std::string>> records = {
      {"format.npy", std::string("\x93NUMPY\1\0\x35\0", 10) +
                         "{'descr': '|S3', 'fortran_order': False, 'shape': ()}" +
                         kFormats[input[0] % 3]}};
  std::set<std::string> names;
  for (input = input.subspan(1); input.size() >= 3;) {
    const std::string name = std::string(kKeys[input[0] % std::size(kKeys)]) + ".npy";
    const auto type = kTypes[input[1] % std::size(kTypes)];
    const int64_t item = gnnmg::base::dtype_size(type);
    const int64_t count = std::min<int64_t>(input[2], (input.size() - 3) / item);
    std::string npy = gnnmg::io::npy_header(type, {count});
    npy += gnnmg::io::as_text(input.subspan(3, count * item));
    input = input.subspan(3 + count * item);
    if (names.insert(name).second) records.emplace_back(name, npy);
  }
  return gnnmg::fuzz::stored_zip(records);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gnnmg::io;
  std::string input(reinterpret_cast<const char*>(data), size);
  if (!input.starts_with("PK")) input = described({data, size});
  attempt([&] {
    const Npz npz = Npz::parse(as_bytes(input), "input");
    for (const std::string& key : npz.keys()) {
      attempt([&] { npz.get(key); });
      attempt([&] { npz.get_text(key); });
    }
    attempt([&] { read_scipy_sparse(npz, "", {.round_values = true, .sum_duplicates = true}); });
    attempt([&] { read_scipy_sparse(npz, "adj_"); });
  });
  return 0;
}
