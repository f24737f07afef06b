#include "dist/parts.h"

#include <utility>

#include "base/error.h"

namespace gnnmg::dist {

using base::fail;
using base::Status;

namespace {

// `what` begins with the name of the column.
void check_column(const feature::FeatureStore& found, base::DType dtype, int64_t num_cols,
                  bool sparse, const std::string& what) {
  if (found.dtype() != dtype || found.num_cols() != num_cols || found.sparse() != sparse)
    fail(Status::kInvalidArgument, what, " has ", found.num_cols(), " elements of ",
         base::dtype_name(found.dtype()), ", expected ", num_cols, " of ", base::dtype_name(dtype));
}

}  // namespace

Parts::Parts(partition::Book book, std::vector<std::shared_ptr<const Part>> own,
             std::vector<ColumnFacts> columns, std::unique_ptr<Channel> channel, uint64_t stamp,
             const PartsConfig& config, std::vector<graph::EdgeColumn> edge_columns)
    : book_(std::move(book)),
      own_(std::move(own)),
      columns_(std::move(columns)),
      edge_columns_(std::move(edge_columns)),
      channel_(std::move(channel)),
      stamp_(stamp),
      config_(config) {
  if (edge_columns_.size() > static_cast<size_t>(kMaxEdgeColumns))
    fail(Status::kUnsupported, edge_columns_.size(), " tensors of edges, parts can tell ",
         kMaxEdgeColumns, " at most");
  if (own_.size() != static_cast<size_t>(num_parts()))
    fail(Status::kInvalidArgument, own_.size(), " parts, expected ", num_parts(),
         " as the book has");
  for (int32_t p = 0; p < num_parts(); ++p) {
    if (own_[p])
      check_own(p);
    else if (!channel_)
      fail(Status::kInvalidArgument, "part ", p, " is not here, and there is nobody to ask");
  }
}

void Parts::check_own(int32_t p) const {
  const Part& part = *own_[p];
  if (part.num_nodes() != num_nodes())
    fail(Status::kInvalidArgument, "part ", p, " is of a graph of ", part.num_nodes(),
         " nodes, expected ", num_nodes());
  const auto check_count = [&](int32_t found, size_t expected, const char* what) {
    if (found != static_cast<int32_t>(expected))
      fail(Status::kInvalidArgument, "part ", p, " has ", found, what, ", expected ", expected);
  };
  check_count(part.num_columns(), columns_.size(), " columns");
  check_count(part.num_edge_columns(), edge_columns_.size(), " columns of edges");
  for (int32_t c = 0; c < part.num_columns(); ++c) {
    const ColumnFacts& facts = columns_[c];
    check_column(part.column(c), facts.dtype, facts.num_cols, facts.sparse,
                 base::text("column '", facts.name, "' of part ", p));
  }
  for (int32_t c = 0; c < part.num_edge_columns(); ++c) {
    const graph::EdgeColumn& facts = edge_columns_[c];
    check_column(part.edge_column(c), facts.dtype, facts.num_cols, false,
                 base::text("column '", facts.name, "' of the edges of part ", p));
  }
}

const ColumnFacts& Parts::column(int32_t number) const {
  static const ColumnFacts degrees{"degrees", base::DType::kI64, 2, false};
  static const ColumnFacts weight_sums{"sums of weights", base::DType::kF64, 3, false};
  if (number == kDegreesColumn) return degrees;
  if (is_made_of_edges(number)) return weight_sums;
  if (number < 0 || static_cast<size_t>(number) >= columns_.size())
    fail(Status::kRange, "column ", number, ", expected 0 to ",
         static_cast<int64_t>(columns_.size()) - 1);
  return columns_[number];
}

int32_t Parts::weight_sums_column(std::string_view weights) const {
  for (size_t number = 0; number < edge_columns_.size(); ++number)
    if (edge_columns_[number].name == weights && edge_columns_[number].num_cols == 1)
      return kWeightSumsColumn + static_cast<int32_t>(number);
  fail(Status::kNotFound, "the parts have no tensor '", weights, "' with one number per edge");
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
