#include "dist/serve.h"

#include <utility>

#include "base/error.h"

namespace gnnmg::dist {

using base::fail;
using base::Status;

Server::Server(std::shared_ptr<const Part> part, uint64_t stamp)
    : part_(std::move(part)), stamp_(stamp) {}

void Server::answer(std::span<const uint8_t> message, Message& out) const {
  answer(read_question(message), out);
}

void Server::answer(const Asked& asked, Message& out) const {
  const auto scratch = scratch_.take();
  try {
    if (asked.question.stamp != stamp_)
      fail(Status::kMismatch,
           "the question is about other data: their fingerprint begins otherwise");
    if (asked.question.wide != part_->wide())
      fail(Status::kMismatch, "the question has ids of another size than this graph's");
    scratch->ids.resize_discard(asked.ids.size());
    asked.ids.copy_to(scratch->ids.data());
    answer(asked.question, *scratch, out);
  } catch (const base::Error& error) {
    write_refusal(asked.question, error.status(), error.what(), out);
  }
}

void Server::answer(const Question& question, Scratch& scratch, Message& out) const {
  const std::span<const int64_t> ids = scratch.ids.span();
  if (question.op == Op::kSample) {
    pick(*part_, ids, question, scratch.pick, base::CancelToken(), scratch.picks);
    return write_picks(question, scratch.picks, out);
  }
  scratch.rows.resize_discard(scratch.ids.size());
  part_->rows_of(ids, scratch.rows.data());
  const feature::FeatureStore& column = part_->column(question.column);
  if (column.sparse() != (question.op == Op::kSparseRows))
    fail(Status::kInvalidArgument, "column ", question.column, " has ",
         column.sparse() ? "sparse" : "dense", " rows, and others were asked for");
  if (question.op == Op::kSparseRows) {
    column.gather_sparse(scratch.rows.span(), scratch.sparse, nullptr);
    return write_sparse_rows(question, scratch.sparse, out);
  }
  const int64_t row_bytes = column.num_cols() * base::dtype_size(column.dtype());
  uint8_t* rows = begin_rows(question, scratch.ids.size(), row_bytes, out);
  column.gather(scratch.rows.span(), rows, nullptr);
  seal(out);
}

}  // namespace gnnmg::dist
