// Messages between a process that asks for rows of the graph and one that has them: values in,
// bytes out, and back. Nothing here knows a socket.
//
// A message is a head of 56 bytes and a body; all numbers are little-endian.
//
//   at  bytes  field
//    0    2    size of the head, 56
//    2    1    kind of draw (DrawKind); 0 where nothing is drawn
//    3    1    bytes of each count in an answer: 1 or 4; 0 without counts
//    4    4    magic, "GNMG"
//    8    2    version of this layout, 1
//   10    1    operation (Op)
//   11    1    flags: 1 answer, 2 refusal, 4 ids of 8 bytes, 8 edge ids, 16 edge ids of 8 bytes,
//              32 rows of edges
//   12    4    CRC-32C of the whole message but these four bytes
//   16    8    number of the request, which its answer repeats
//   24    8    stamp of the data (stamp_of() of part_folder.h)
//   32    8    key of the hop's draws, two words
//   40    4    fan-out of the hop, -1: all
//   44    4    edge type, or number of the column
//   48    4    how many ids are asked about
//   52    4    part whose rows are asked for
//
// Bodies. An id has 4 bytes, or 8 where flag 4 is set: in every message about a graph of 2^31 or
// more nodes.
//   ask to sample      with flag 32 which columns of edges are asked for, u32, bit k for column k;
//                      ids, in the order of the node list
//   its answer         a count for each id; the sources of all ids, one id after the other; with
//                      flag 8 the edge ids in the same order; with flag 32 the rows of these edges
//                      as they are stored, one column after the other
//   ask for rows       ids
//   its answer         the rows as they are stored, one after the other
//   ask for CSR rows   ids
//   its answer         a count for each id, 4 bytes; all columns, i32; all values, f32
//   ask for parts      nothing
//   its answer         see hello.h
//   ask for a file     see files.h
//   refusal            status, i32; text
//
// Draws are those of sample/draw.h: a function of key, id and the node's row alone, so every owner
// of the row answers alike.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "dist/message.h"
#include "feature/store.h"
#include "sample/picker.h"

namespace gnnmg::dist {

inline constexpr uint16_t kWireVersion = 1;
inline constexpr int64_t kHeadBytes = 56;
// The limit of a message; a larger one is Error(kRange) for its writer and Error(kProtocol) for its
// reader.
inline constexpr int64_t kMaxMessageBytes = int64_t{1} << 30;

// kHello is the business of hello.h, kFile of files.h.
enum class Op : uint8_t { kSample = 1, kRows = 2, kSparseRows = 3, kHello = 4, kFile = 5 };
enum class DrawKind : uint8_t {
  kNone = 0,
  kUniform = 1,
  kUniformWithReplacement = 2,
  kLabor = 3,  // a row may have any number of picks
};

// Numbers of 1, 4 or 8 bytes that lie in a message, aligned or not. Lasts as long as its bytes.
class Numbers {
 public:
  Numbers() = default;
  Numbers(const uint8_t* bytes, int64_t count, int width)
      : bytes_(bytes), count_(count), width_(width) {}
  int64_t size() const { return count_; }
  // All of them to out[0], out[1], ...
  void copy_to(int64_t* out) const;

 private:
  const uint8_t* bytes_ = nullptr;
  int64_t count_ = 0;
  int width_ = 4;
};

// A question. `draw` to `edge_columns`, `part` aside, are of kSample, `column` of the others.
struct Question {
  Op op = Op::kSample;
  uint64_t request = 0;
  uint64_t stamp = 0;
  bool wide = false;  // ids of 8 bytes
  int32_t part = 0;   // that has the rows
  sample::HopDraw draw;
  int32_t edge_type = 0;
  bool edge_ids = false;
  uint32_t edge_columns = 0;  // bit k: the rows of column k of the edges
  int32_t column = 0;
};

// Columns of edges that a question can ask for.
inline constexpr int32_t kMaxEdgeColumns = 32;

struct Asked {
  Question question;
  Numbers ids;
};

// The message that asks `question` about `ids`. Error(kRange) beyond kMaxMessageBytes.
void write_question(const Question& question, std::span<const int64_t> ids, Message& out);
// The question in a message; `ids` point into it. Error(kProtocol) for bytes that are no question,
// or are damaged; kUnsupported, with both sides, for another version or an unknown kind.
Asked read_question(std::span<const uint8_t> message);

// The sources that a hop drew for the rows asked about.
struct Picks {
  base::PageVector<int64_t> counts;    // per id
  base::PageVector<int64_t> sources;   // the first id's, the second's, ...
  base::PageVector<int64_t> edge_ids;  // the same, or empty where the question wants none
  // The rows of these edges in each column that the question asks for.
  std::vector<base::PageVector<uint8_t>> edge_rows;
  int64_t num_rows() const { return counts.size(); }
  void clear();
};

void write_picks(const Question& question, const Picks& picks, Message& out);
// Replaces `picks`. Error(kProtocol) for a message that does not answer the question about
// `num_ids` ids: for another request, from other data, damaged, too short or long, with more picks
// than the fan-out or a source that is not in [0, num_nodes). A refusal is thrown with its status.
// `edge_row_bytes`: bytes of a row of each column of edges that is asked for.
void read_picks(const Question& question, int64_t num_ids, int64_t num_nodes,
                std::span<const uint8_t> message, Picks& picks,
                std::span<const int64_t> edge_row_bytes = {});

// The place of the rows of an answer: num_ids * row_bytes bytes, which the caller fills before
// seal().
uint8_t* begin_rows(const Question& question, int64_t num_ids, int64_t row_bytes, Message& out);
void seal(Message& out);
// The rows of an answer, num_ids * row_bytes bytes within it. Errors as of read_picks().
std::span<const uint8_t> read_rows(const Question& question, int64_t num_ids, int64_t row_bytes,
                                   std::span<const uint8_t> message);

void write_sparse_rows(const Question& question, const feature::SparseRows& rows, Message& out);
// Replaces `rows`, whose columns are in [0, num_cols). Errors as of read_picks().
void read_sparse_rows(const Question& question, int64_t num_ids, int64_t num_cols,
                      std::span<const uint8_t> message, feature::SparseRows& rows);

// An answer that says why there is none. The text is cut to 1 000 bytes.
void write_refusal(const Question& question, base::Status status, std::string_view text,
                   Message& out);

}  // namespace gnnmg::dist
