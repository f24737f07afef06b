// Messages between processes of a graph in parts: any bytes give a question, a valid answer, or an
// Error.
#include <cstring>

#include "base/error.h"
#include "dist/files.h"
#include "dist/hello.h"
#include "dist/wire.h"

namespace {

using namespace gnnmg::dist;

void read(const auto& call) {
  try {
    call();
  } catch (const gnnmg::base::Error&) {
  }
}

void read_all(std::span<const uint8_t> message) {
  read([&] { read_question(message); });
  read([&] { read_file_question(message); });
  read([&] {
    const Hello hello = read_hello(1, message);
    for (const int32_t part : hello.parts)
      if (part < 0 || part >= hello.num_parts) __builtin_trap();
  });
  read([&] {
    const FilePiece piece = read_file_piece({1, 0, "book.npy", 8}, message);
    if (8 + static_cast<int64_t>(piece.bytes.size()) > piece.file_bytes) __builtin_trap();
  });
  Question question;
  question.request = 1;
  question.draw.fanout = 5;
  const int64_t edge_row_bytes[] = {3, 8};
  for (int bits = 0; bits < 8; ++bits) {
    question.wide = bits & 1;
    question.edge_ids = bits & 2;
    question.edge_columns = bits & 4 ? 0b101 : 0;
    question.op = Op::kSample;
    read([&] {
      Picks picks;
      const auto of_rows = std::span(edge_row_bytes).first(bits & 4 ? 2 : 0);
      read_picks(question, 3, 1000, message, picks, of_rows);
      for (size_t i = 0; i < of_rows.size(); ++i)
        if (picks.edge_rows[i].size() != picks.sources.size() * of_rows[i]) __builtin_trap();
      int64_t total = 0;
      for (const int64_t count : picks.counts) total += count;
      if (total != picks.sources.size()) __builtin_trap();
      for (const int64_t source : picks.sources)
        if (source < 0 || source >= 1000) __builtin_trap();
    });
    question.op = Op::kRows;
    read([&] { read_rows(question, 3, 8, message); });
    question.op = Op::kSparseRows;
    read([&] {
      gnnmg::feature::SparseRows rows;
      read_sparse_rows(question, 3, 1000, message, rows);
      for (const int32_t column : rows.indices)
        if (column < 0 || column >= 1000) __builtin_trap();
    });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read_all({data, size});
  if (size < static_cast<size_t>(kHeadBytes)) return 0;
  Message sealed;  // reaches the code after the checksum
  sealed.resize_discard(static_cast<int64_t>(size));
  std::memcpy(sealed.data(), data, size);
  seal(sealed);
  read_all(sealed.span());
  return 0;
}
