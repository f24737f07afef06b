#include "dist/wire.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "dist/frame.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;

int id_width(bool wide) { return wide ? 8 : 4; }

DrawKind kind_of(const sample::HopDraw& draw) {
  if (draw.labor) return DrawKind::kLabor;
  return draw.replace ? DrawKind::kUniformWithReplacement : DrawKind::kUniform;
}

Head head_of(const Question& question, int64_t count) {
  Head head;
  head.op = static_cast<uint8_t>(question.op);
  head.request = question.request;
  head.stamp = question.stamp;
  head.count = static_cast<uint32_t>(count);
  head.part = question.part;
  if (question.wide) head.flags |= kWide;
  if (question.op == Op::kSample) {
    head.draw = static_cast<uint8_t>(kind_of(question.draw));
    if (question.edge_ids) head.flags |= kEdgeIds;
    if (question.edge_columns != 0) head.flags |= kEdgeRows;
    std::copy(question.draw.key.begin(), question.draw.key.end(), head.key);
    head.fanout = static_cast<int32_t>(question.draw.fanout);
    head.subject = question.edge_type;
  } else {
    head.subject = question.column;
  }
  return head;
}

template <typename T>
uint8_t* put_as(std::span<const int64_t> values, uint8_t* out) {
  for (const int64_t value : values) {
    const T narrow = static_cast<T>(value);
    std::memcpy(out, &narrow, sizeof narrow);
    out += sizeof narrow;
  }
  return out;
}

uint8_t* put(std::span<const int64_t> values, int width, uint8_t* out) {
  if (width == 1) return put_as<uint8_t>(values, out);
  if (width == 4) return put_as<uint32_t>(values, out);
  return put_as<int64_t>(values, out);
}

// Reads counts of `width` bytes, each at most `most`, and returns their sum.
int64_t read_counts(Numbers counts, int64_t most, int64_t* out) {
  counts.copy_to(out);
  int64_t sum = 0;
  for (int64_t i = 0; i < counts.size(); ++i) {
    if (out[i] > most)
      fail(Status::kProtocol, "an answer has ", out[i], " entries for row ", i,
           " of the question, expected at most ", most);
    sum += out[i];
  }
  return sum;
}

void check_ids(std::span<const int64_t> ids, int64_t bound, std::string_view what) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= bound)
      fail(Status::kProtocol, "an answer has the ", what, " ", ids[i], " at ", i,
           ", expected 0 to ", bound - 1);
  }
}

int64_t largest(std::span<const int64_t> values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

void check_question(const Head& head) {
  const auto op = static_cast<Op>(head.op);
  if (op != Op::kSample && op != Op::kRows && op != Op::kSparseRows)
    fail(Status::kUnsupported, "a question of kind ", int{head.op},
         ", which this version does not know");
  if (op == Op::kSample && (head.draw < static_cast<uint8_t>(DrawKind::kUniform) ||
                            head.draw > static_cast<uint8_t>(DrawKind::kLabor)))
    fail(Status::kUnsupported, "a draw of kind ", int{head.draw},
         ", which this version does not know");
  const bool plain =
      op == Op::kSample || (head.draw == 0 && !(head.flags & (kEdgeIds | kEdgeRows)));
  if ((head.flags & ~kQuestionFlags) || head.count_bytes != 0 || head.part < 0 || !plain ||
      head.fanout < -1 || head.subject < 0)
    fail(Status::kProtocol, "a question with fields that make no sense");
}

}  // namespace

void Numbers::copy_to(int64_t* out) const {
  if (width_ == 8) {
    if (count_ > 0) std::memcpy(out, bytes_, static_cast<size_t>(count_) * 8);
  } else if (width_ == 4) {
    for (int64_t i = 0; i < count_; ++i) {
      uint32_t value;
      std::memcpy(&value, bytes_ + 4 * i, 4);
      out[i] = value;
    }
  } else {
    for (int64_t i = 0; i < count_; ++i) out[i] = bytes_[i];
  }
}

void Picks::clear() {
  counts.clear();
  sources.clear();
  edge_ids.clear();
  for (auto& rows : edge_rows) rows.clear();
}

void write_question(const Question& question, std::span<const int64_t> ids, Message& out) {
  const int64_t count = static_cast<int64_t>(ids.size());
  const int width = id_width(question.wide);
  const auto columns = std::span(&question.edge_columns, question.edge_columns != 0 ? 1 : 0);
  uint8_t* at = begin_message(head_of(question, count),
                              count * width + static_cast<int64_t>(columns.size_bytes()), out);
  put(ids, width, put_array(columns, at));
  seal(out);
}

Asked read_question(std::span<const uint8_t> message) {
  const Head head = read_head(message);
  check_question(head);
  Asked asked;
  Question& question = asked.question;
  question.op = static_cast<Op>(head.op);
  question.request = head.request;
  question.stamp = head.stamp;
  question.wide = head.flags & kWide;
  question.part = head.part;
  if (question.op == Op::kSample) {
    question.draw.key = {head.key[0], head.key[1]};
    question.draw.fanout = head.fanout;
    question.draw.replace = head.draw == static_cast<uint8_t>(DrawKind::kUniformWithReplacement);
    question.draw.labor = head.draw == static_cast<uint8_t>(DrawKind::kLabor);
    question.edge_type = head.subject;
    question.edge_ids = head.flags & kEdgeIds;
  } else {
    question.column = head.subject;
  }
  Body body(message);
  if (head.flags & kEdgeRows) {
    question.edge_columns = body.number<uint32_t>();
    if (question.edge_columns == 0) fail(Status::kProtocol, "a question for rows of no edges");
  }
  asked.ids = body.numbers(head.count, id_width(question.wide));
  body.end();
  return asked;
}

void write_picks(const Question& question, const Picks& picks, Message& out) {
  Head head = head_of(question, picks.num_rows());
  head.flags |= kAnswer;
  head.count_bytes = largest(picks.counts.span()) <= std::numeric_limits<uint8_t>::max() ? 1 : 4;
  const int width = id_width(question.wide);
  int64_t body = picks.num_rows() * head.count_bytes + picks.sources.size() * width;
  int edge_width = 4;
  if (question.edge_ids) {
    if (largest(picks.edge_ids.span()) > std::numeric_limits<int32_t>::max()) {
      head.flags |= kWideEdgeIds;
      edge_width = 8;
    }
    body += picks.edge_ids.size() * edge_width;
  }
  for (const auto& rows : picks.edge_rows) body += rows.size();
  uint8_t* at = put(picks.counts.span(), head.count_bytes, begin_message(head, body, out));
  at = put(picks.sources.span(), width, at);
  if (question.edge_ids) at = put(picks.edge_ids.span(), edge_width, at);
  for (const auto& rows : picks.edge_rows) at = put_array(rows.span(), at);
  seal(out);
}

void read_picks(const Question& question, int64_t num_ids, int64_t num_nodes,
                std::span<const uint8_t> message, Picks& picks,
                std::span<const int64_t> edge_row_bytes) {
  const Head head = read_answer_head(head_of(question, num_ids), message);
  if (head.count_bytes != 1 && head.count_bytes != 4)
    fail(Status::kProtocol, "an answer with counts of ", int{head.count_bytes}, " bytes");
  Body body(message);
  const int64_t fanout = question.draw.labor ? -1 : question.draw.fanout;
  picks.counts.resize_discard(num_ids);
  const int64_t total =
      read_counts(body.numbers(num_ids, head.count_bytes),
                  fanout < 0 ? std::numeric_limits<uint32_t>::max() : fanout, picks.counts.data());
  const Numbers sources = body.numbers(total, id_width(question.wide));
  const Numbers edges =
      question.edge_ids ? body.numbers(total, head.flags & kWideEdgeIds ? 8 : 4) : Numbers();
  picks.edge_rows.resize(edge_row_bytes.size());
  for (size_t column = 0; column < edge_row_bytes.size(); ++column) {
    const auto rows =
        body.bytes(base::checked_mul(total, edge_row_bytes[column], "an answer's rows of edges"));
    picks.edge_rows[column].resize_discard(static_cast<int64_t>(rows.size()));
    std::ranges::copy(rows, picks.edge_rows[column].data());
  }
  body.end();
  picks.sources.resize_discard(total);
  sources.copy_to(picks.sources.data());
  check_ids(picks.sources.span(), num_nodes, "source");
  picks.edge_ids.resize_discard(edges.size());
  edges.copy_to(picks.edge_ids.data());
  check_ids(picks.edge_ids.span(), std::numeric_limits<int64_t>::max(), "edge id");
}

uint8_t* begin_rows(const Question& question, int64_t num_ids, int64_t row_bytes, Message& out) {
  Head head = head_of(question, num_ids);
  head.flags |= kAnswer;
  return begin_message(head, base::checked_mul(num_ids, row_bytes, "an answer's rows"), out);
}

std::span<const uint8_t> read_rows(const Question& question, int64_t num_ids, int64_t row_bytes,
                                   std::span<const uint8_t> message) {
  read_answer_head(head_of(question, num_ids), message);
  Body body(message);
  const auto rows = body.bytes(base::checked_mul(num_ids, row_bytes, "an answer's rows"));
  body.end();
  return rows;
}

void write_sparse_rows(const Question& question, const feature::SparseRows& rows, Message& out) {
  Head head = head_of(question, rows.num_rows);
  head.flags |= kAnswer;
  head.count_bytes = 4;
  const int64_t entries = rows.indices.size();
  uint8_t* at = begin_message(head, 4 * rows.num_rows + 8 * entries, out);
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    const int64_t count = rows.indptr[i + 1] - rows.indptr[i];
    at = put({&count, 1}, 4, at);
  }
  at = put_array(rows.indices.span(), at);
  put_array(rows.values.span(), at);
  seal(out);
}

void read_sparse_rows(const Question& question, int64_t num_ids, int64_t num_cols,
                      std::span<const uint8_t> message, feature::SparseRows& rows) {
  const Head head = read_answer_head(head_of(question, num_ids), message);
  if (head.count_bytes != 4)
    fail(Status::kProtocol, "an answer with counts of ", int{head.count_bytes}, " bytes");
  Body body(message);
  rows.num_rows = num_ids;
  rows.num_cols = num_cols;
  rows.indptr.resize_discard(num_ids + 1);
  rows.indptr[0] = 0;
  const int64_t total =
      read_counts(body.numbers(num_ids, 4), std::numeric_limits<int32_t>::max(), &rows.indptr[1]);
  const auto indices = body.bytes(4 * total);
  const auto values = body.bytes(4 * total);
  body.end();
  for (int64_t i = 0; i < num_ids; ++i) rows.indptr[i + 1] += rows.indptr[i];
  rows.indices.resize_discard(total);
  rows.values.resize_discard(total);
  if (total > 0) {
    std::memcpy(rows.indices.data(), indices.data(), indices.size());
    std::memcpy(rows.values.data(), values.data(), values.size());
  }
  for (int64_t i = 0; i < total; ++i) {
    if (rows.indices[i] < 0 || rows.indices[i] >= num_cols)
      fail(Status::kProtocol, "an answer has the column ", rows.indices[i], " at ", i,
           ", expected 0 to ", num_cols - 1);
  }
}

void write_refusal(const Question& question, Status status, std::string_view text, Message& out) {
  write_refusal(head_of(question, 0), status, text, out);
}

}  // namespace gnnmg::dist
