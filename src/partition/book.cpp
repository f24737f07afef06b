#include "partition/book.h"

#include <algorithm>

namespace gnnmg::partition {

using base::DType;
using base::fail;
using base::Status;

namespace {

void check_num_parts(int64_t num_parts) {
  if (num_parts < 1 || num_parts > kMaxParts)
    fail(Status::kInvalidArgument, "number of parts is ", num_parts, ", expected 1 to ", kMaxParts);
}

template <typename T>
void check_entries(const T* table, int64_t count, int32_t num_parts) {
  for (int64_t id = 0; id < count; ++id)
    if (table[id] >= num_parts)
      fail(Status::kRange, "node ", id, " is in part ", int64_t{table[id]}, ", expected 0 to ",
           num_parts - 1);
}

}  // namespace

Book Book::from_table(base::Tensor table, int32_t num_parts) {
  check_num_parts(num_parts);
  if (!table.defined() || table.shape().num_dims != 1 ||
      (table.dtype() != DType::kU8 && table.dtype() != DType::kBF16))
    fail(Status::kInvalidArgument,
         "book of parts: expected one or two bytes per node, in one array");
  Book book;
  book.num_parts_ = num_parts;
  book.num_nodes_ = table.rows();
  if (table.dtype() == DType::kU8) {
    book.narrow_ = static_cast<const uint8_t*>(table.data());
    check_entries(book.narrow_, book.num_nodes_, num_parts);
  } else {
    book.wide_ = static_cast<const uint16_t*>(table.data());
    check_entries(book.wide_, book.num_nodes_, num_parts);
  }
  book.table_ = std::move(table);
  return book;
}

Book Book::from_parts(std::span<const uint16_t> parts, int32_t num_parts) {
  check_num_parts(num_parts);
  const bool narrow = num_parts <= 256;
  base::Tensor table =
      base::Tensor::empty(narrow ? DType::kU8 : DType::kBF16, {static_cast<int64_t>(parts.size())});
  if (narrow)
    std::copy(parts.begin(), parts.end(), static_cast<uint8_t*>(table.data()));
  else
    std::copy(parts.begin(), parts.end(), static_cast<uint16_t*>(table.data()));
  return from_table(std::move(table), num_parts);
}

Book Book::from_ranges(std::vector<int64_t> starts) {
  check_num_parts(static_cast<int64_t>(starts.size()) - 1);
  if (starts.front() != 0)
    fail(Status::kInvalidArgument, "part 0 begins at node ", starts.front(), ", expected 0");
  for (size_t p = 1; p < starts.size(); ++p)
    if (starts[p] < starts[p - 1])
      fail(Status::kInvalidArgument, "part ", p - 1, " ends at node ", starts[p],
           ", before it begins at ", starts[p - 1]);
  Book book;
  book.num_parts_ = static_cast<int32_t>(starts.size()) - 1;
  book.num_nodes_ = starts.back();
  book.starts_ = std::move(starts);
  return book;
}

int32_t Book::part_in_ranges(int64_t id) const {
  const auto end = std::upper_bound(starts_.begin(), starts_.end(), id);
  return static_cast<int32_t>(end - starts_.begin()) - 1;
}

void Book::parts_of(std::span<const int64_t> ids, std::span<uint16_t> parts) const {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= num_nodes_)
      fail(Status::kRange, "id ", i, " is node ", ids[i], ", expected 0 to ", num_nodes_ - 1);
    parts[i] = static_cast<uint16_t>(part_of(ids[i]));
  }
}

}  // namespace gnnmg::partition
