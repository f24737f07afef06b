#include "dist/part_store.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dist/pool.h"
#include "dist/row_cache.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;

// Some of the nodes that a part is asked about, in one question.
struct Piece {
  int32_t part = 0;
  int64_t begin = 0, end = 0;  // range in the list of ids of the part
  Question question;
  Message message;
  std::unique_ptr<Call> call;  // declared after its message, which it reads until it ends
  int64_t num_rows() const { return end - begin; }
};

// Rows of a sparse column with the places that they go to.
struct PlacedRows {
  feature::SparseRows rows;
  std::span<const int64_t> places;
};

struct GatherScratch {
  ByPart wanted;
  base::PageVector<int64_t> kept_rows, kept_places;  // nodes whose rows are kept here
  base::PageVector<int64_t> rows;                    // rows in one of the own parts
  base::PageVector<uint8_t> bytes;
  std::vector<Piece> pieces;  // kept for their messages; of a call the first num_pieces
  size_t num_pieces = 0;
  std::vector<PlacedRows> sparse;
};

void fetch(const uint8_t* row, int64_t row_bytes) {
  constexpr int64_t kLine = 64;
  for (int64_t byte = 0; byte < row_bytes; byte += kLine) __builtin_prefetch(row + byte);
}

// Copies row i of some, which is at from(i), to place places[i] of `out`. Fetches both ahead of the
// copy: the places are far apart, and a store to a line that is not in a cache waits like a load.
template <typename From>
void place_rows(std::span<const int64_t> places, int64_t row_bytes, From from, uint8_t* out) {
  constexpr size_t kAhead = 8;
  for (size_t i = 0; i < places.size(); ++i) {
    if (i + kAhead < places.size()) {
      fetch(from(i + kAhead), row_bytes);
      fetch(out + places[i + kAhead] * row_bytes, row_bytes);
    }
    std::memcpy(out + places[i] * row_bytes, from(i), row_bytes);
  }
}

// The same of the rows of a table.
void place_rows_of(const uint8_t* table, int64_t row_bytes, std::span<const int64_t> rows,
                   std::span<const int64_t> places, uint8_t* out) {
  place_rows(places, row_bytes, [&](size_t i) { return table + rows[i] * row_bytes; }, out);
}

class PartStore final : public KeepingStore {
 public:
  PartStore(std::shared_ptr<const Parts> parts, int32_t column)
      : parts_(std::move(parts)),
        number_(column),
        facts_(parts_->column(column)),
        row_bytes_(facts_.row_bytes()),
        kept_(parts_->num_nodes(), row_bytes_) {}

  void keep(std::span<const int64_t> nodes, const base::CancelToken& cancel) override {
    std::vector<int64_t> remote;
    for (const int64_t node : nodes) {
      if (node < 0 || node >= num_rows())
        fail(Status::kRange, "node ", node, " is to be kept, expected 0 to ", num_rows() - 1);
      if (!parts_->own(parts_->book().part_of(node))) remote.push_back(node);
    }
    if (facts_.sparse && !remote.empty())
      fail(Status::kInvalidArgument, "rows of the sparse column '", facts_.name,
           "' are to be kept; only dense ones can be");
    std::sort(remote.begin(), remote.end());
    kept_.replace(
        remote,
        [&](std::span<const int64_t> ids, std::span<const int32_t> slots, uint8_t* table) {
          gather_to(ids, slots, table, cancel);
        },
        cancel);
  }
  int64_t num_kept() const override {
    const auto kept = kept_.read();
    return kept ? kept->size() : 0;
  }

  int64_t num_rows() const override { return parts_->num_nodes(); }
  int64_t num_cols() const override { return facts_.num_cols; }
  base::DType dtype() const override { return facts_.dtype; }
  bool sparse() const override { return facts_.sparse; }
  base::Tensor dense() const override { return {}; }

  void gather(std::span<const int64_t> ids, uint8_t* out, base::ThreadPool*,
              const base::CancelToken& cancel) const override {
    if (facts_.sparse)
      fail(Status::kInvalidArgument, "dense rows were asked of the sparse column '", facts_.name,
           "'");
    gather_to(ids, {}, out, cancel);
  }

  void gather_sparse(std::span<const int64_t> ids, feature::SparseRows& out, base::ThreadPool*,
                     const base::CancelToken& cancel) const override {
    if (!facts_.sparse)
      fail(Status::kInvalidArgument, "sparse rows were asked of the dense column '", facts_.name,
           "'");
    const auto scratch = scratch_.take();
    find(ids, nullptr, *scratch);
    size_t used = 0;
    const auto next = [&](std::span<const int64_t> places) -> feature::SparseRows& {
      if (used == scratch->sparse.size()) scratch->sparse.emplace_back();
      PlacedRows& placed = scratch->sparse[used++];
      placed.places = places;
      return placed.rows;
    };
    const auto keep_answer = [&](const Piece& piece, std::span<const uint8_t> message) {
      const auto places = scratch->wanted.places[piece.part].span();
      read_sparse_rows(piece.question, piece.num_rows(), num_cols(), message,
                       next(places.subspan(piece.begin, piece.num_rows())));
    };
    constexpr int64_t kBytesOfARow = 512;  // 64 entries; a guess is enough
    const int64_t rows_a_piece = std::max<int64_t>(1, parts_->config().piece_bytes / kBytesOfARow);
    ask(*scratch, Op::kSparseRows, rows_a_piece, cancel, keep_answer, [&] {
      for_own(*scratch, [&](const feature::FeatureStore& column, std::span<const int64_t> rows,
                            std::span<const int64_t> places) {
        column.gather_sparse(rows, next(places), nullptr);
      });
    });
    join({scratch->sparse.data(), used}, static_cast<int64_t>(ids.size()), out);
  }

 private:
  // Copies the row of ids[i] to row slots[i] of `out`; to row i where there are no slots.
  void gather_to(std::span<const int64_t> ids, std::span<const int32_t> slots, uint8_t* out,
                 const base::CancelToken& cancel) const {
    std::shared_ptr<const RowCache::Choice> kept = kept_.read();
    const auto scratch = scratch_.take();
    find(ids, kept.get(), *scratch);
    if (!slots.empty())
      for (auto& places : scratch->wanted.places)
        for (int64_t& place : places) place = slots[place];
    const auto place = [&](const Piece& piece, std::span<const uint8_t> message) {
      const auto rows = read_rows(piece.question, piece.num_rows(), row_bytes_, message);
      const auto places = scratch->wanted.places[piece.part].span();
      place_rows(
          places.subspan(piece.begin, piece.num_rows()), row_bytes_,
          [&](size_t i) { return rows.data() + i * row_bytes_; }, out);
    };
    const int64_t rows_a_piece =
        std::max<int64_t>(1, parts_->config().piece_bytes / std::max<int64_t>(1, row_bytes_));
    ask(*scratch, Op::kRows, rows_a_piece, cancel, place, [&] {
      for_own(*scratch, [&](const feature::FeatureStore& column, std::span<const int64_t> rows,
                            std::span<const int64_t> places) {
        place_own(column, rows, places, scratch->bytes, out);
      });
      if (kept)
        place_rows_of(kept->table(), row_bytes_, scratch->kept_rows.span(),
                      scratch->kept_places.span(), out);
      kept.reset();
    });
  }

  // Sorts the ids by where their rows are. `kept` may be null.
  void find(std::span<const int64_t> ids, const RowCache::Choice* kept,
            GatherScratch& scratch) const {
    scratch.wanted.split(parts_->book(), ids, true);
    scratch.kept_rows.clear();
    scratch.kept_places.clear();
    int64_t own = 0, remote = 0;
    for (int32_t part = 0; part < parts_->num_parts(); ++part) {
      if (parts_->own(part)) {
        own += scratch.wanted.ids[part].size();
      } else {
        if (kept) take_out_kept(part, *kept, scratch);
        remote += scratch.wanted.ids[part].size();
      }
    }
    if (is_made_of_edges(number_)) return;
    Traffic& traffic = parts_->traffic();
    traffic.own_rows.fetch_add(own, std::memory_order_relaxed);
    traffic.remote_rows.fetch_add(remote, std::memory_order_relaxed);
    traffic.cached_rows.fetch_add(scratch.kept_rows.size(), std::memory_order_relaxed);
  }

  void take_out_kept(int32_t part, const RowCache::Choice& kept, GatherScratch& scratch) const {
    auto& ids = scratch.wanted.ids[part];
    auto& places = scratch.wanted.places[part];
    int64_t left = 0;
    for (int64_t i = 0; i < ids.size(); ++i) {
      const int64_t row = kept.slot_of(ids[i]);
      if (row >= 0) {
        push(scratch.kept_rows, row);
        push(scratch.kept_places, places[i]);
      } else {
        ids[left] = ids[i];
        places[left++] = places[i];
      }
    }
    ids.resize_keep(left);
    places.resize_keep(left);
  }

  // Asks the other parts in pieces of so many rows, several under way to each, calls `meanwhile`
  // once the first are, and on_answer(piece, message) for each answer.
  template <typename OnAnswer, typename Meanwhile>
  void ask(GatherScratch& scratch, Op op, int64_t rows_a_piece, const base::CancelToken& cancel,
           OnAnswer on_answer, Meanwhile meanwhile) const {
    const int64_t num_peers = cut(scratch, rows_a_piece);
    const std::span<Piece> pieces(scratch.pieces.data(), scratch.num_pieces);
    const size_t most = static_cast<size_t>(num_peers * parts_->config().max_in_flight);
    size_t sent = 0;
    const auto send_up_to = [&](size_t end) {
      for (; sent < std::min(end, pieces.size()); ++sent) {
        Piece& piece = pieces[sent];
        piece.question = parts_->question(op);
        piece.question.column = number_;
        const auto ids = scratch.wanted.ids[piece.part].span();
        piece.call = parts_->ask(piece.part, piece.question,
                                 ids.subspan(piece.begin, piece.num_rows()), piece.message);
      }
    };
    try {
      send_up_to(most);
      meanwhile();
      for (size_t answered = 0; answered < pieces.size(); ++answered) {
        cancel.check("gathering");
        Piece& piece = pieces[answered];
        parts_->answer(piece.part, *piece.call, cancel,
                       [&](std::span<const uint8_t> message) { on_answer(piece, message); });
        piece.call.reset();
        send_up_to(answered + 1 + most);
      }
    } catch (...) {
      for (Piece& piece : pieces) piece.call.reset();
      throw;
    }
  }

  // Cuts the ids of other parts into pieces, one of each part in turn. Returns the number of parts
  // that are asked.
  int64_t cut(GatherScratch& scratch, int64_t rows_a_piece) const {
    scratch.num_pieces = 0;
    int64_t num_peers = 0;
    bool more = true;
    for (int64_t begin = 0; more; begin += rows_a_piece) {
      more = false;
      for (int32_t part = 0; part < parts_->num_parts(); ++part) {
        const int64_t count = scratch.wanted.ids[part].size();
        if (parts_->own(part) || begin >= count) continue;
        if (scratch.num_pieces == scratch.pieces.size()) scratch.pieces.emplace_back();
        Piece& piece = scratch.pieces[scratch.num_pieces++];
        piece.part = part;
        piece.begin = begin;
        piece.end = std::min(count, begin + rows_a_piece);
        num_peers += begin == 0;
        more = true;
      }
    }
    return num_peers;
  }

  // f(column, rows, places) for each own part that has any of the rows.
  template <typename F>
  void for_own(GatherScratch& scratch, F f) const {
    for (int32_t part = 0; part < parts_->num_parts(); ++part) {
      const Part* own = parts_->own(part);
      const auto ids = scratch.wanted.ids[part].span();
      if (!own || ids.empty()) continue;
      scratch.rows.resize_discard(static_cast<int64_t>(ids.size()));
      own->rows_of(ids, scratch.rows.data());
      f(own->column(number_), scratch.rows.span(), scratch.wanted.places[part].span());
    }
  }

  // Copies rows from memory, or gathers those of a file and copies them.
  void place_own(const feature::FeatureStore& column, std::span<const int64_t> rows,
                 std::span<const int64_t> places, base::PageVector<uint8_t>& bytes,
                 uint8_t* out) const {
    const base::Tensor table = column.dense();
    if (table.defined())
      return place_rows_of(static_cast<const uint8_t*>(table.data()), row_bytes_, rows, places,
                           out);
    // Gathers as many rows at a time as stay in the cache until they are placed.
    constexpr int64_t kChunkBytes = 64 << 10;
    const auto chunk = static_cast<size_t>(kChunkBytes / std::max<int64_t>(1, row_bytes_) + 1);
    bytes.resize_discard(static_cast<int64_t>(std::min(chunk, rows.size())) * row_bytes_);
    for (size_t begin = 0; begin < rows.size(); begin += chunk) {
      const auto some = rows.subspan(begin, std::min(chunk, rows.size() - begin));
      column.gather(some, bytes.data(), nullptr);
      place_rows(
          places.subspan(begin, some.size()), row_bytes_,
          [&](size_t i) { return bytes.data() + i * row_bytes_; }, out);
    }
  }

  void join(std::span<const PlacedRows> all, int64_t count, feature::SparseRows& out) const {
    out.num_rows = count;
    out.num_cols = num_cols();
    out.indptr.resize_discard(count + 1);
    out.indptr[0] = 0;
    for (const PlacedRows& placed : all) {
      for (size_t i = 0; i < placed.places.size(); ++i)
        out.indptr[placed.places[i] + 1] = placed.rows.indptr[i + 1] - placed.rows.indptr[i];
    }
    for (int64_t i = 0; i < count; ++i) out.indptr[i + 1] += out.indptr[i];
    out.indices.resize_discard(out.indptr[count]);
    out.values.resize_discard(out.indptr[count]);
    for (const PlacedRows& placed : all) {
      for (size_t i = 0; i < placed.places.size(); ++i) {
        const int64_t from = placed.rows.indptr[i];
        const int64_t length = placed.rows.indptr[i + 1] - from;
        const int64_t to = out.indptr[placed.places[i]];
        std::copy_n(placed.rows.indices.data() + from, length, out.indices.data() + to);
        std::copy_n(placed.rows.values.data() + from, length, out.values.data() + to);
      }
    }
  }

  std::shared_ptr<const Parts> parts_;
  int32_t number_;
  ColumnFacts facts_;
  int64_t row_bytes_;
  RowCache kept_;
  mutable Pool<GatherScratch> scratch_;
};

}  // namespace

std::unique_ptr<KeepingStore> make_part_store(std::shared_ptr<const Parts> parts, int32_t column,
                                              std::span<const int64_t> kept,
                                              const base::CancelToken& cancel) {
  auto store = std::make_unique<PartStore>(std::move(parts), column);
  if (!kept.empty()) store->keep(kept, cancel);
  return store;
}

}  // namespace gnnmg::dist
