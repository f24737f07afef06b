// The partition book and the rows of a part.
#include "partition/book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partition/rows.h"

namespace gnnmg {
namespace {

using partition::Book;
using partition::Rows;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename F>
std::string refusal(base::Status status, F&& body) {
  try {
    body();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), status) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

std::vector<uint16_t> parts_of(const Book& book, const std::vector<int64_t>& ids) {
  std::vector<uint16_t> parts(ids.size());
  book.parts_of(ids, parts);
  return parts;
}

TEST(Book, OneByteForFewPartsTwoForMany) {
  const std::vector<uint16_t> few = {1, 0, 255, 7};
  const Book narrow = Book::from_parts(few, 256);
  EXPECT_EQ(narrow.table().dtype(), base::DType::kU8);
  EXPECT_THAT(parts_of(narrow, {3, 2, 1, 0, 0}), ElementsAre(7, 255, 0, 1, 1));
  const std::vector<uint16_t> many = {1, 0, 65534};
  const Book wide = Book::from_parts(many, 65535);
  EXPECT_EQ(wide.table().view().num_bytes(), 6);
  EXPECT_THAT(parts_of(wide, {2, 0}), ElementsAre(65534, 1));
  EXPECT_EQ(wide.num_nodes(), 3);
}

TEST(Book, RangesKnowTheirEndsAndMayBeEmpty) {
  const Book book = Book::from_ranges({0, 3, 3, int64_t{1} << 40});
  EXPECT_EQ(book.num_parts(), 3);
  EXPECT_EQ(book.num_nodes(), int64_t{1} << 40);
  EXPECT_THAT(parts_of(book, {0, 2, 3, (int64_t{1} << 40) - 1}), ElementsAre(0, 0, 2, 2));
  EXPECT_FALSE(book.table().defined());
}

TEST(Book, RefusesWhatIsNoBook) {
  const std::vector<uint16_t> parts = {0, 1, 2};
  EXPECT_THAT(refusal(base::Status::kRange, [&] { Book::from_parts(parts, 2); }),
              HasSubstr("node 2 is in part 2, expected 0 to 1"));
  refusal(base::Status::kInvalidArgument, [&] { Book::from_parts(parts, 0); });
  refusal(base::Status::kInvalidArgument, [&] { Book::from_parts(parts, 65536); });
  refusal(base::Status::kInvalidArgument, [&] { Book::from_ranges({1, 2}); });
  refusal(base::Status::kInvalidArgument, [&] { Book::from_ranges({0, 5, 4}); });
  refusal(base::Status::kInvalidArgument, [&] { Book::from_ranges({0}); });
  refusal(base::Status::kInvalidArgument,
          [&] { Book::from_table(base::Tensor::zeros(base::DType::kI32, {3}), 2); });
  refusal(base::Status::kInvalidArgument, [&] { Book::from_table(base::Tensor(), 2); });
  const Book book = Book::from_parts(parts, 3);
  EXPECT_THAT(refusal(base::Status::kRange, [&] { parts_of(book, {0, 3}); }),
              HasSubstr("id 1 is node 3, expected 0 to 2"));
  refusal(base::Status::kRange, [&] { parts_of(book, {-1}); });
}

TEST(PartRows, RankOfEachNodeAndNoneOfOthers) {
  // Every few nodes; few nodes; few in one place; the last alone; none.
  const auto expect_ranks = [](int64_t begin, int64_t end, int64_t step, int64_t num_nodes) {
    std::vector<int64_t> ids;
    for (int64_t id = begin; id < end; id += step + id % 7) ids.push_back(id);
    const Rows rows(ids, num_nodes);
    int64_t row = 0;
    for (int64_t id = 0; id < num_nodes; ++id) {
      const bool there = row < static_cast<int64_t>(ids.size()) && ids[row] == id;
      ASSERT_EQ(rows.row_of(id), there ? row++ : -1) << id;
    }
    EXPECT_EQ(row, static_cast<int64_t>(ids.size()));
    int64_t next = 0;
    rows.for_each([&](int64_t r, int64_t id) {
      EXPECT_EQ(r, next);
      EXPECT_EQ(id, ids[next++]);
    });
    EXPECT_EQ(next, row);
  };
  expect_ranks(5, 5000, 1, 5000);
  expect_ranks(5, 5000, 97, 5000);
  expect_ranks(4000, 4100, 1, 50'000);
  expect_ranks(4999, 5000, 1, 5000);
  expect_ranks(0, 0, 1, 5000);
  expect_ranks(0, 0, 1, 3);
}

TEST(PartRows, RefusesIdsThatAreNoNodesOrNotAscending) {
  const std::vector<int64_t> beyond = {1, 4}, twice = {1, 1}, falling = {2, 1}, below = {-1};
  EXPECT_THAT(refusal(base::Status::kRange, [&] { Rows(beyond, 4); }),
              HasSubstr("row 1 is node 4"));
  refusal(base::Status::kRange, [&] { Rows(below, 4); });
  refusal(base::Status::kInvalidArgument, [&] { Rows(twice, 4); });
  refusal(base::Status::kInvalidArgument, [&] { Rows(falling, 4); });
}

}  // namespace
}  // namespace gnnmg
