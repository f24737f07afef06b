#include "data/node_keys.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

namespace gnnmg::data {

using base::fail;
using base::Status;

std::string_view NameTable::name(int64_t number) const {
  const int64_t start = starts_[number];
  const auto* bytes =
      static_cast<const char*>(pages_[start / kPageBytes].get()) + start % kPageBytes;
  return {bytes + 1, static_cast<uint8_t>(bytes[0])};
}

int64_t NameTable::slot_of(std::string_view name) const {
  return static_cast<int64_t>(std::hash<std::string_view>()(name) &
                              static_cast<size_t>(slots_.size() - 1));
}

int64_t NameTable::number(std::string_view name) {
  if (2 * (count() + 1) > slots_.size()) grow();
  int64_t slot = slot_of(name);
  for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1))
    if (this->name(slots_[slot]) == name) return slots_[slot];
  const auto needed = static_cast<int64_t>(name.size()) + 1;
  if (used_ + needed > kPageBytes) {
    pages_.push_back(base::allocate_pages(kPageBytes, "names of nodes"));
    used_ = 0;
  }
  auto* bytes = static_cast<char*>(pages_.back().get()) + used_;
  bytes[0] = static_cast<char>(name.size());
  std::copy(name.begin(), name.end(), bytes + 1);
  slots_[slot] = static_cast<int32_t>(count());
  starts_.push_back(kPageBytes * static_cast<int64_t>(pages_.size() - 1) + used_);
  used_ += needed;
  return slots_[slot];
}

void NameTable::grow() {
  const int64_t size = std::max<int64_t>(64, slots_.size() * 2);
  slots_ = {};  // the names know all that was in it
  slots_.resize_discard(size);
  std::fill(slots_.begin(), slots_.end(), -1);
  for (int64_t i = 0; i < count(); ++i) {
    int64_t slot = slot_of(name(i));
    while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<int32_t>(i);
  }
}

int64_t NodeKeys::number_of(int64_t key, Pieces<int32_t>& numbers) {
  if (key < numbers.size()) return numbers[key];
  if (count_ >= std::numeric_limits<int32_t>::max())
    fail(Status::kRange, "more than ", std::numeric_limits<int32_t>::max(), " different ids");
  numbers.push_back(static_cast<int32_t>(count_));
  return count_++;
}

base::Tensor NodeKeys::take_names(int64_t bytes, const std::string& where) {
  constexpr int64_t kFreeNames = int64_t{64} << 20, kMostGrowth = 8;
  size_t longest = 0;
  for (int64_t i = 0; i < names_.count(); ++i) longest = std::max(longest, names_.name(i).size());
  for (int64_t i = 0; i < ids_.count(); ++i)
    longest = std::max(longest, std::to_string(ids_.id(i)).size());
  const auto width = static_cast<int64_t>(longest) + 1;
  if (count_ > std::max(kFreeNames, kMostGrowth * bytes) / width)
    fail(Status::kRange, where, ": ", count_, " names of up to ", longest, " bytes take ",
         count_ * width, " bytes as a table, more than ", kMostGrowth,
         " times the text; shorten the longest names, or number the nodes");
  base::Tensor table = base::Tensor::zeros(base::DType::kU8, {count_, width});
  auto* rows = table.as<uint8_t>().data();
  const auto put = [&](int64_t node, std::string_view name) {
    std::memcpy(rows + node * width, name.data(), name.size());
  };
  for (int64_t i = 0; i < names_.count(); ++i) put(name_numbers_[i], names_.name(i));
  for (int64_t i = 0; i < ids_.count(); ++i) put(id_numbers_[i], std::to_string(ids_.id(i)));
  return table;
}

void NodeKeys::take(graph::Columns& columns, int64_t bytes, const std::string& where) {
  if (names_.count() == 0)
    columns.emplace("original_id", ids_.take());
  else
    columns.emplace("original_name", take_names(bytes, where));
  *this = {};
}

}  // namespace gnnmg::data
