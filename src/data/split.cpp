#include "data/split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/philox.h"
#include "data/arrays.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

constexpr const char* kPartNames[3] = {"train", "validation", "test"};

// Sub-streams of Purpose::kSplit; part of the definition of a split with a given seed.
constexpr uint64_t kByFraction = 0;
constexpr uint64_t kByClass = 1;
constexpr uint64_t kFolds = 2;

void shuffle(std::span<int64_t> ids, base::Stream& stream) {
  for (size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[stream.below(i)]);
}

// Ids of the samples that have a label (for several targets: at least one); all of a data set
// without labels.
std::vector<int64_t> labeled_ids(const Dataset& dataset) {
  const int64_t count = dataset.num_samples();
  std::vector<int64_t> ids;
  ids.reserve(count);
  const Tensor* labels = dataset.labels();
  if (!labels || dataset.task == Task::kNone) {
    ids.resize(count);
    std::iota(ids.begin(), ids.end(), 0);
  } else if (dataset.task == Task::kMulticlass) {
    const auto values = labels->as<const int64_t>();
    for (int64_t i = 0; i < count; ++i)
      if (values[i] >= 0) ids.push_back(i);
  } else {
    const auto values = labels->as<const float>();
    const int64_t targets = labels->shape().row_elements();
    for (int64_t i = 0; i < count; ++i) {
      const auto row = values.subspan(i * targets, targets);
      if (!std::all_of(row.begin(), row.end(), [](float v) { return std::isnan(v); }))
        ids.push_back(i);
    }
  }
  return ids;
}

Tensor sorted_ids(std::span<const int64_t> ids) {
  Tensor tensor = Tensor::copy_of(ids);
  const auto values = tensor.as<int64_t>();
  std::sort(values.begin(), values.end());
  return tensor;
}

Split cut(std::span<const int64_t> order, int64_t train, int64_t validation, std::string name) {
  Split split;
  split.name = std::move(name);
  split.ids = {sorted_ids(order.first(train)), sorted_ids(order.subspan(train, validation)),
               sorted_ids(order.subspan(train + validation))};
  return split;
}

constexpr const char* kCodes = "0 (unused), 1 (train), 2 (validation) or 3 (test)";

// Codes that are stored as wider integers.
Tensor as_codes(const Tensor& numbers, const std::string& where) {
  if (numbers.dtype() == base::DType::kU8) return numbers;
  const Tensor wide = to_i64(numbers, where);
  Tensor codes = Tensor::empty(base::DType::kU8, numbers.shape());
  const auto from = wide.as<const int64_t>();
  const auto to = codes.as<uint8_t>();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] < 0 || from[i] > 3)
      fail(Status::kFormat, where, ": element ", i, " is ", from[i], ", expected ", kCodes);
    to[i] = static_cast<uint8_t>(from[i]);
  }
  return codes;
}

}  // namespace

Split split_from_codes(std::span<const uint8_t> codes, std::string name, int32_t index,
                       std::string_view where, const char* of) {
  std::array<int64_t, 4> counts{};
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] > 3)
      fail(Status::kFormat, where, ", ", of, " ", i, ": found ", int{codes[i]}, ", expected ",
           kCodes);
    ++counts[codes[i]];
  }
  Split split;
  split.name = std::move(name);
  split.index = index;
  std::array<int64_t*, 3> next;
  for (int part = 0; part < 3; ++part) {
    split.ids[part] = Tensor::empty(base::DType::kI64, {counts[part + 1]});
    next[part] = split.ids[part].as<int64_t>().data();
  }
  for (size_t i = 0; i < codes.size(); ++i)
    if (codes[i] != 0) *next[codes[i] - 1]++ = static_cast<int64_t>(i);
  return split;
}

Split split_from_ids(std::span<const int64_t> train, std::span<const int64_t> validation,
                     std::span<const int64_t> test, int64_t num_ids, std::string name,
                     int32_t index, std::string_view where, const char* of) {
  const Tensor kept = Tensor::zeros(base::DType::kU8, {num_ids});
  const std::span<uint8_t> codes = kept.as<uint8_t>();
  const std::array<std::span<const int64_t>, 3> parts = {train, validation, test};
  for (int part = 0; part < 3; ++part) {
    for (size_t i = 0; i < parts[part].size(); ++i) {
      const int64_t id = parts[part][i];
      if (id < 0 || id >= num_ids)
        fail(Status::kRange, where, ", ", kPartNames[part], ", position ", i, ": ", of, " ", id,
             ", expected 0 to ", num_ids - 1);
      if (codes[id] != 0)
        fail(Status::kFormat, where, ", ", kPartNames[part], ", position ", i, ": ", of, " ", id,
             " is already in ", kPartNames[codes[id] - 1]);
      codes[id] = static_cast<uint8_t>(part + 1);
    }
  }
  return split_from_codes(codes, std::move(name), index, where, of);
}

Split split_from_masks(std::span<const bool> train, std::span<const bool> validation,
                       std::span<const bool> test, std::string name, int32_t index,
                       std::string_view where) {
  const std::array<std::span<const bool>, 3> masks = {train, validation, test};
  std::vector<uint8_t> codes(train.size(), 0);
  for (int part = 0; part < 3; ++part) {
    if (masks[part].size() != codes.size())
      fail(Status::kInvalidArgument, where, ", ", kPartNames[part], ": ", masks[part].size(),
           " nodes, expected ", codes.size());
    for (size_t i = 0; i < codes.size(); ++i) {
      if (!masks[part][i]) continue;
      if (codes[i] != 0)
        fail(Status::kFormat, where, ", node ", i, ": is in ", kPartNames[codes[i] - 1], " and in ",
             kPartNames[part]);
      codes[i] = static_cast<uint8_t>(part + 1);
    }
  }
  return split_from_codes(codes, std::move(name), index, where);
}

Tensor with_splits_as_rows(const Tensor& table, int64_t num_nodes) {
  const base::Shape& shape = table.shape();
  if (shape.num_dims != 2 || shape[0] != num_nodes || shape[1] == num_nodes) return table;
  const int64_t splits = shape[1];
  Tensor turned = Tensor::empty(table.dtype(), {splits, num_nodes});
  const auto* from = static_cast<const uint8_t*>(table.data());
  auto* to = static_cast<uint8_t*>(turned.data());
  for (int64_t node = 0; node < num_nodes; ++node)
    for (int64_t split = 0; split < splits; ++split) to[split * num_nodes + node] = *from++;
  return turned;
}

void append_code_splits(const Tensor& codes, const std::string& name, int64_t num_ids,
                        const std::string& where, const char* of, std::vector<Split>& splits) {
  const Tensor lines = with_splits_as_rows(as_codes(codes, where), num_ids);
  const base::Shape& shape = lines.shape();
  const bool rows = shape.num_dims == 2;
  if ((!rows && shape.num_dims != 1) || shape[rows ? 1 : 0] != num_ids)
    fail(Status::kFormat, where, ": shape ", shape.to_string(), ", expected [S, ", num_ids, "], [",
         num_ids, ", S] or [", num_ids, "]");
  const int64_t count = rows ? shape[0] : 1;
  check_split_count(static_cast<int64_t>(splits.size()), count, where);
  for (int64_t i = 0; i < count; ++i)
    splits.push_back(split_from_codes(lines.as<const uint8_t>().subspan(i * num_ids, num_ids), name,
                                      static_cast<int32_t>(i),
                                      rows ? base::text(where, ", row ", i) : where, of));
}

void check_split_count(int64_t there, int64_t more, std::string_view where) {
  if (more > kMaxSplits - there)
    fail(Status::kFormat, where, ": ", more, " splits",
         there > 0 ? base::text(" after ", there, " of other files") : "", ", expected at most ",
         kMaxSplits, " in all");
}

Split random_split(const Dataset& dataset, double train, double validation, uint64_t seed,
                   bool numpy_legacy) {
  // Sums such as 0.7 + 0.2 + 0.1 may miss 1 by a rounding.
  if (!(train >= 0) || !(validation >= 0) || !(train + validation <= 1 + 1e-9))
    fail(Status::kInvalidArgument, "split fractions train ", train, " and validation ", validation,
         ": expected 0 or more each and at most 1 together");
  if (numpy_legacy && seed > std::numeric_limits<uint32_t>::max())
    fail(Status::kRange, "seed ", seed, ": NumPy's legacy generator takes 0 to 4294967295");
  std::vector<int64_t> order = labeled_ids(dataset);
  const int64_t count = static_cast<int64_t>(order.size());
  if (numpy_legacy) {
    std::vector<int64_t> permutation = numpy_legacy_permutation(static_cast<uint32_t>(seed), count);
    for (int64_t& position : permutation) position = order[position];
    order = std::move(permutation);
  } else {
    base::Stream stream(base::stream_key(seed, base::Purpose::kSplit, kByFraction), 0);
    shuffle(order, stream);
  }
  const auto part = [&](double fraction, int64_t left) {
    return std::min(static_cast<int64_t>(std::floor(static_cast<double>(count) * fraction)), left);
  };
  const int64_t num_train = part(train, count);
  return cut(order, num_train, part(validation, count - num_train), "random");
}

Split random_split_by_class(const Dataset& dataset, int64_t train, int64_t validation,
                            uint64_t seed) {
  if (train < 0 || validation < 0)
    fail(Status::kInvalidArgument, "split by class with ", train, " train and ", validation,
         " validation ", dataset.sample_name(), "s a class: expected 0 or more");
  if (dataset.task != Task::kMulticlass)
    fail(Status::kInvalidArgument, "split by class: ", dataset.title(), " has no class labels");
  const int64_t wanted = base::checked_add(train, validation, "ids a class");
  const auto labels = dataset.labels()->as<const int64_t>();
  std::vector<std::vector<int64_t>> members(dataset.num_classes);
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= 0) members[labels[i]].push_back(static_cast<int64_t>(i));

  std::array<std::vector<int64_t>, 3> parts;
  const base::Key key = base::stream_key(seed, base::Purpose::kSplit, kByClass);
  for (size_t c = 0; c < members.size(); ++c) {
    std::vector<int64_t>& ids = members[c];
    if (ids.empty()) continue;  // a class number that nothing has
    if (static_cast<int64_t>(ids.size()) < wanted)
      fail(Status::kInvalidArgument, "split by class: class ", c, " has ", ids.size(), " labeled ",
           dataset.sample_name(), "s, ", train, " for train and ", validation,
           " for validation are asked for");
    base::Stream stream(key, c);
    shuffle(ids, stream);
    const auto begin = ids.begin();
    parts[0].insert(parts[0].end(), begin, begin + train);
    parts[1].insert(parts[1].end(), begin + train, begin + wanted);
    parts[2].insert(parts[2].end(), begin + wanted, ids.end());
  }
  Split split;
  split.name = "random_by_class";
  for (int part = 0; part < 3; ++part) split.ids[part] = sorted_ids(parts[part]);
  return split;
}

std::vector<Split> fold_splits(const Dataset& dataset, int32_t num_folds, SplitPart held_out,
                               uint64_t seed, bool numpy_legacy) {
  if (held_out != SplitPart::kValidation && held_out != SplitPart::kTest)
    fail(Status::kInvalidArgument,
         "folds: held_out is the training part, expected validation or test");
  if (numpy_legacy && seed > std::numeric_limits<uint32_t>::max())
    fail(Status::kRange, "seed ", seed, ": NumPy's legacy generator takes 0 to 4294967295");
  const std::vector<int64_t> ids = labeled_ids(dataset);
  const int64_t most = std::min<int64_t>(kMaxFolds, static_cast<int64_t>(ids.size()));
  if (num_folds < 2 || num_folds > most)
    fail(Status::kInvalidArgument, num_folds, " folds of ", ids.size(), " labeled ",
         dataset.sample_name(), "s: expected 2 to ", most);
  // The members of each class, classes in order of their first id.
  std::vector<std::vector<int64_t>> members;
  if (dataset.task == Task::kMulticlass) {
    const auto labels = dataset.labels()->as<const int64_t>();
    std::vector<int64_t> place(dataset.num_classes, -1);
    for (const int64_t id : ids) {
      int64_t& at = place[labels[id]];
      if (at < 0) {
        at = static_cast<int64_t>(members.size());
        members.emplace_back();
      }
      members[at].push_back(id);
    }
  } else {
    members.push_back(ids);
  }
  // The folds' shares of a class: the ids, sorted by class, are dealt out in turn.
  std::vector<std::vector<int64_t>> folds(members.size());
  int64_t dealt = 0;
  for (size_t c = 0; c < members.size(); ++c) {
    const auto count = static_cast<int64_t>(members[c].size());
    std::vector<int64_t> share(num_folds, count / num_folds);
    for (int64_t i = 0; i < count % num_folds; ++i) ++share[(dealt + i) % num_folds];
    for (int32_t fold = 0; fold < num_folds; ++fold)
      folds[c].insert(folds[c].end(), share[fold], fold);
    dealt += count;
  }
  if (numpy_legacy) {
    const std::vector<std::span<int64_t>> lists(folds.begin(), folds.end());
    numpy_legacy_shuffle(static_cast<uint32_t>(seed), lists);
  } else {
    const base::Key key = base::stream_key(seed, base::Purpose::kSplit, kFolds);
    for (size_t c = 0; c < folds.size(); ++c) {
      base::Stream stream(key, c);
      shuffle(folds[c], stream);
    }
  }
  std::vector<int64_t> fold_of(dataset.num_samples(), -1);
  for (size_t c = 0; c < folds.size(); ++c)
    for (size_t i = 0; i < folds[c].size(); ++i) fold_of[members[c][i]] = folds[c][i];
  return splits_of_folds(fold_of, num_folds, held_out, "folds");
}

std::vector<Split> splits_of_folds(std::span<const int64_t> fold_of, int32_t num_folds,
                                   SplitPart held_out, const std::string& name) {
  std::vector<Split> splits;
  const auto code = [](SplitPart part) { return static_cast<uint8_t>(static_cast<int>(part) + 1); };
  std::vector<uint8_t> codes(fold_of.size());
  for (int32_t fold = 0; fold < num_folds; ++fold) {
    for (size_t i = 0; i < codes.size(); ++i)
      codes[i] = fold_of[i] < 0 ? 0 : fold_of[i] == fold ? code(held_out) : code(SplitPart::kTrain);
    splits.push_back(split_from_codes(codes, name, fold, name));
  }
  return splits;
}

}  // namespace gnnmg::data
