#include "dist/parts.h"

#include <utility>

#include "base/error.h"

namespace gnnmg::dist {

using base::fail;
using base::Status;

Parts::Parts(partition::Book book, std::vector<std::shared_ptr<const Part>> own,
             std::vector<ColumnFacts> columns, std::unique_ptr<Channel> channel, uint64_t stamp,
             const PartsConfig& config)
    : book_(std::move(book)),
      own_(std::move(own)),
      columns_(std::move(columns)),
      channel_(std::move(channel)),
      stamp_(stamp),
      config_(config) {
  if (own_.size() != static_cast<size_t>(num_parts()))
    fail(Status::kInvalidArgument, own_.size(), " parts, expected ", num_parts(),
         " as the book has");
  for (int32_t p = 0; p < num_parts(); ++p) {
    if (!own_[p]) {
      if (!channel_)
        fail(Status::kInvalidArgument, "part ", p, " is not here, and there is nobody to ask");
      continue;
    }
    if (own_[p]->num_nodes() != num_nodes())
      fail(Status::kInvalidArgument, "part ", p, " is of a graph of ", own_[p]->num_nodes(),
           " nodes, expected ", num_nodes());
    if (own_[p]->num_columns() != static_cast<int32_t>(columns_.size()))
      fail(Status::kInvalidArgument, "part ", p, " has ", own_[p]->num_columns(),
           " columns, expected ", columns_.size());
    for (int32_t c = 0; c < own_[p]->num_columns(); ++c) {
      const feature::FeatureStore& column = own_[p]->column(c);
      if (column.dtype() != columns_[c].dtype || column.num_cols() != columns_[c].num_cols ||
          column.sparse() != columns_[c].sparse)
        fail(Status::kInvalidArgument, "column '", columns_[c].name, "' of part ", p, " has ",
             column.num_cols(), " elements of ", base::dtype_name(column.dtype()), ", expected ",
             columns_[c].num_cols, " of ", base::dtype_name(columns_[c].dtype));
    }
  }
}

const ColumnFacts& Parts::column(int32_t number) const {
  static const ColumnFacts kDegrees{"degrees", base::DType::kI64, 2, false};
  if (number == kDegreesColumn) return kDegrees;
  if (number < 0 || static_cast<size_t>(number) >= columns_.size())
    fail(Status::kRange, "column ", number, ", expected 0 to ",
         static_cast<int64_t>(columns_.size()) - 1);
  return columns_[number];
}

Question Parts::question(Op op) const {
  Question question;
  question.op = op;
  question.request = next_request_.fetch_add(1, std::memory_order_relaxed);
  question.stamp = stamp_;
  question.wide = wide();
  return question;
}

std::unique_ptr<Call> Parts::ask(int32_t part, const Question& question,
                                 std::span<const int64_t> ids, Message& message) const {
  Question of_part = question;
  of_part.part = part;
  write_question(of_part, ids, message);
  traffic_.questions.fetch_add(1, std::memory_order_relaxed);
  traffic_.asked_bytes.fetch_add(message.size(), std::memory_order_relaxed);
  return channel_->ask(part, message.span());
}

void ByPart::split(const partition::Book& book, std::span<const int64_t> all, bool with_places) {
  ids.resize(book.num_parts());
  places.resize(book.num_parts());
  for (auto& list : ids) list.clear();
  for (auto& list : places) list.clear();
  part.resize_discard(static_cast<int64_t>(all.size()));
  book.parts_of(all, part.span());
  for (size_t i = 0; i < all.size(); ++i) {
    const uint16_t p = part[static_cast<int64_t>(i)];
    push(ids[p], all[i]);
    if (with_places) push(places[p], static_cast<int64_t>(i));
  }
}

}  // namespace gnnmg::dist
