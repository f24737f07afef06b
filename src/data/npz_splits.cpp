#include "data/npz_splits.h"

#include <algorithm>
#include <array>

#include "data/arrays.h"
#include "data/split.h"
#include "io/bytes.h"

namespace gnnmg::data {
namespace {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;

// The rest of an array's name, around the name of the part.
struct Affix {
  std::string_view before, after;
};
constexpr Affix kAffixes[] = {{"", ""},       {"", "_masks"}, {"", "_mask"},    {"", "_idx"},
                              {"", "_index"}, {"", "_ids"},   {"", "_indices"}, {"idx_", ""}};
constexpr std::string_view kTrainNames[] = {"train"}, kTestNames[] = {"test"},
                           kValidationNames[] = {"val", "valid", "validation"};

const std::array<std::span<const std::string_view>, 3> kPartStems = {kTrainNames, kValidationNames,
                                                                     kTestNames};

struct Part {
  Tensor tensor;
  std::string where;
};

// Reads a mask of the numbers 0 and 1, the form of Geom-GCN's splits.
Tensor as_mask(const Tensor& numbers, const std::string& where) {
  Tensor mask = Tensor::empty(DType::kBool, numbers.shape());
  const auto to = mask.as<bool>();
  const auto convert = [&](auto from) {
    for (size_t i = 0; i < from.size(); ++i) {
      if (from[i] != 0 && from[i] != 1)
        fail(Status::kFormat, where, ": element ", i, " is ", from[i],
             ", expected 0 or 1 in a mask");
      to[i] = from[i] == 1;
    }
  };
  switch (numbers.dtype()) {
    case DType::kF32:
      convert(numbers.as<const float>());
      break;
    case DType::kF64:
      convert(numbers.as<const double>());
      break;
    default:
      convert(to_i64(numbers, where).as<const int64_t>());
  }
  return mask;
}

// Returns the name of a part's array, empty without one. Two of them may differ, so they are
// refused.
std::string find_key(const NamedArrays& npz, std::span<const std::string_view> stems) {
  std::string found;
  for (std::string_view stem : stems)
    for (const auto& [before, after] : kAffixes) {
      const std::string key = base::text(before, stem, after);
      if (!npz.has(key)) continue;
      if (!found.empty())
        fail(Status::kFormat, npz.name, ": the arrays \"", found, "\" and \"", key,
             "\" are names of one part of a split, expected one of both");
      found = key;
    }
  return found;
}

// Returns a part's array under any of its names, undefined without one.
Part find_part(const NamedArrays& npz, std::span<const std::string_view> stems, int64_t num_nodes) {
  const std::string key = find_key(npz, stems);
  if (key.empty()) return {};
  Part part{npz.get(key), base::text(npz.name, ", array \"", key, "\"")};
  const base::Shape& shape = part.tensor.shape();
  const bool masks = key.find("_mask") != key.npos && shape.num_dims > 0 &&
                     (shape[0] == num_nodes || shape[shape.num_dims - 1] == num_nodes);
  if (masks && part.tensor.dtype() != DType::kBool) part.tensor = as_mask(part.tensor, part.where);
  if (part.tensor.dtype() == DType::kBool)
    part.tensor = with_splits_as_rows(part.tensor, num_nodes);
  return part;
}

// Returns a list of ids. An empty one is of floats, the result of numpy.array([]).
Tensor ids_of(const Part& part) {
  if (part.tensor.dtype() == DType::kBool && part.tensor.shape().num_dims == 1)
    fail(Status::kFormat, part.where,
         ": a mask beside lists of ids, expected one kind for all parts of a split");
  if (part.tensor.shape().num_dims != 1)
    fail(Status::kFormat, part.where, ": shape ", part.tensor.shape().to_string(),
         ", expected a list of node ids");
  return part.tensor.rows() == 0 ? Tensor::empty(DType::kI64, {0})
                                 : to_i64(part.tensor, part.where);
}

}  // namespace

void fail_without_splits(const io::Npz& npz) {
  constexpr size_t kMost = 12;
  std::string found;
  const std::vector<std::string> keys = npz.keys();
  for (size_t i = 0; i < std::min(keys.size(), kMost); ++i)
    found += base::text(i ? ", " : "", io::printable(keys[i]));
  if (keys.size() > kMost) found += base::text(" and ", keys.size() - kMost, " more");
  fail(Status::kFormat, npz.name(), ": holds ", keys.empty() ? "no arrays" : found,
       ", expected train, val (valid, validation) and test, each also with _mask, _masks or _idx");
}

bool is_split_array(std::string_view key) {
  for (const std::span<const std::string_view> stems : kPartStems)
    for (std::string_view stem : stems)
      for (const auto& [before, after] : kAffixes)
        if (key == base::text(before, stem, after)) return true;
  return false;
}

bool append_npz_splits(const io::Npz& npz, const std::string& name, int64_t num_nodes,
                       std::vector<Split>& splits) {
  if (append_splits(arrays_of(npz), name, num_nodes, "node", splits)) return true;
  if (std::ranges::any_of(npz.keys(), is_split_array)) fail_without_splits(npz);
  return false;
}

NamedArrays arrays_of(const io::Npz& npz) {
  return {npz.name(), [&npz](const std::string& key) { return npz.has(key); },
          [&npz](const std::string& key) { return npz.get(key); }};
}

bool append_splits(const NamedArrays& npz, const std::string& name, int64_t num_nodes,
                   const char* of, std::vector<Split>& splits) {
  if (std::ranges::any_of(kPartStems, [&](auto names) { return find_key(npz, names).empty(); }))
    return false;
  const std::array<Part, 3> parts = {find_part(npz, kTrainNames, num_nodes),
                                     find_part(npz, kValidationNames, num_nodes),
                                     find_part(npz, kTestNames, num_nodes)};
  if (parts[0].tensor.dtype() != DType::kBool) {
    const std::array<Tensor, 3> ids = {ids_of(parts[0]), ids_of(parts[1]), ids_of(parts[2])};
    splits.push_back(split_from_ids(ids[0].as<const int64_t>(), ids[1].as<const int64_t>(),
                                    ids[2].as<const int64_t>(), num_nodes, name, 0, npz.name, of));
    return true;
  }
  const base::Shape& shape = parts[0].tensor.shape();
  const bool rows = shape.num_dims == 2;
  for (const Part& part : parts)
    if (part.tensor.dtype() != DType::kBool || part.tensor.shape() != shape ||
        (!rows && shape.num_dims != 1) || shape[rows ? 1 : 0] != num_nodes)
      fail(Status::kFormat, part.where, ": ", base::dtype_name(part.tensor.dtype()), " ",
           part.tensor.shape().to_string(), ", expected bool masks [S, ", num_nodes, "], [",
           num_nodes, ", S] or [", num_nodes, "] of one shape");
  const int64_t count = rows ? shape[0] : 1;
  check_split_count(static_cast<int64_t>(splits.size()), count, parts[0].where);
  for (int64_t i = 0; i < count; ++i) {
    std::array<std::span<const bool>, 3> masks;
    for (int part = 0; part < 3; ++part)
      masks[part] = parts[part].tensor.as<const bool>().subspan(i * num_nodes, num_nodes);
    splits.push_back(split_from_masks(masks[0], masks[1], masks[2], name, static_cast<int32_t>(i),
                                      base::text(npz.name, ", masks ", i)));
  }
  return true;
}

}  // namespace gnnmg::data
