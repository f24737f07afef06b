#include "feature/kept_store.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/free_memory.h"

namespace gnnmg::feature {
namespace {

using base::Tensor;

constexpr int64_t kBlockBytes = 64 << 10;  // read at once; at least one row
constexpr int64_t kGrant = 64 << 20;       // bytes between two questions to MayKeep

// Reserved addresses, whose memory is allocated when it is written to.
class Reserve {
 public:
  explicit Reserve(size_t size) : size_(size) {
    constexpr size_t kHugeFrom = 4 << 20;
    void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) return;
    data_ = static_cast<uint8_t*>(data);
    if (size >= kHugeFrom) madvise(data, size, MADV_HUGEPAGE);
  }
  ~Reserve() {
    if (data_) munmap(data_, size_);
  }
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;
  uint8_t* data() const { return data_; }  // null: the system has no addresses left

 private:
  size_t size_;
  uint8_t* data_ = nullptr;
};

// Bytes that a store keeps, within its limits. Any thread.
class Room {
 public:
  explicit Room(MayKeep may_keep)
      : may_keep_(std::move(may_keep)), budget_(base::current_budget()) {}
  ~Room() {
    if (budget_) budget_->give_back(charged_);
  }
  // False from the first refusal on.
  bool take(int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (full_) return false;
    while (granted_ < bytes && !full_) {
      full_ = !may_keep_(kGrant);
      granted_ += kGrant;
    }
    if (full_ || !charge(bytes)) return false;
    granted_ -= bytes;
    return true;
  }

 private:
  bool charge(int64_t bytes) {
    if (!budget_) return true;
    if (budget_->limit() > 0 && budget_->used() + bytes > budget_->limit() / 2) {
      full_ = true;
      return false;
    }
    try {
      budget_->take(bytes, "rows of a mapped file");
    } catch (const base::Error&) {
      full_ = true;
      return false;
    }
    charged_ += bytes;
    return true;
  }

  const MayKeep may_keep_;
  const std::shared_ptr<base::MemoryBudget> budget_;
  std::mutex mutex_;
  bool full_ = false;
  int64_t granted_ = 0, charged_ = 0;
};

// The rows of a table in a file that are in memory. Any thread.
class KeptRows {
 public:
  KeptRows(const base::MappedFile& file, const base::TensorView& table, MayKeep may_keep)
      : file_(file),
        begin_(static_cast<const uint8_t*>(table.data) - file.bytes().data()),
        num_rows_(table.shape.dims[0]),
        row_bytes_(table.row_bytes()),
        block_shift_(std::bit_width(static_cast<uint64_t>(kBlockBytes / row_bytes_ | 1)) - 1),
        kept_(static_cast<size_t>(((num_rows_ - 1) >> block_shift_) + 1)),
        rows_(static_cast<size_t>(table.num_bytes())),
        room_(std::move(may_keep)) {}

  // All rows as in the file, of which those that keep() has said to be there can be read; null:
  // none will be.
  const uint8_t* data() const { return rows_.data(); }
  // Returns whether the row is in memory. Reads its block if there is room for it.
  bool keep(int64_t id) {
    const int64_t block = id >> block_shift_;
    return kept_[block].load(std::memory_order_acquire) || read_block(block);
  }

 private:
  bool read_block(int64_t block) {
    const std::lock_guard lock(mutexes_[block % mutexes_.size()]);
    if (kept_[block].load(std::memory_order_relaxed)) return true;
    const int64_t first = block << block_shift_;
    const int64_t last = std::min(num_rows_, (block + 1) << block_shift_);
    const int64_t at = first * row_bytes_, size = (last - first) * row_bytes_;
    if (!room_.take(size)) return false;
    file_.file().read_at(begin_ + at, {rows_.data() + at, static_cast<size_t>(size)});
    kept_[block].store(true, std::memory_order_release);
    return true;
  }

  const base::MappedFile& file_;
  const int64_t begin_;  // offset of the first row in the file
  const int64_t num_rows_, row_bytes_;
  const int block_shift_;                // a block has 2^block_shift_ rows
  std::vector<std::atomic<bool>> kept_;  // one per block
  const Reserve rows_;
  Room room_;
  std::array<std::mutex, 16> mutexes_;  // held while a block is read
};

class KeptStore : public FeatureStore {
 public:
  KeptStore(const Tensor& table, std::shared_ptr<KeptRows> rows)
      : from_file_(make_store(table)),
        row_bytes_(table.view().row_bytes()),
        rows_(std::move(rows)) {}

  int64_t num_rows() const override { return from_file_->num_rows(); }
  int64_t num_cols() const override { return from_file_->num_cols(); }
  base::DType dtype() const override { return from_file_->dtype(); }
  bool sparse() const override { return false; }
  Tensor dense() const override { return {}; }

  void gather(std::span<const int64_t> ids, uint8_t* out, base::ThreadPool* pool,
              const base::CancelToken& cancel) const override {
    if (!rows_->data()) return from_file_->gather(ids, out, pool, cancel);
    const auto some = [&](int64_t first, int64_t last) {
      gather_some(ids.subspan(first, last - first), out + first * row_bytes_, cancel);
    };
    const auto count = static_cast<int64_t>(ids.size());
    if (pool)
      pool->parallel_for(count, kGrain, some);
    else
      some(0, count);
  }
  void gather_sparse(std::span<const int64_t> ids, SparseRows& out, base::ThreadPool* pool,
                     const base::CancelToken& cancel) const override {
    from_file_->gather_sparse(ids, out, pool, cancel);
  }

 private:
  static constexpr int64_t kGrain = 1024;  // rows in one range of a parallel loop

  void gather_some(std::span<const int64_t> ids, uint8_t* out,
                   const base::CancelToken& cancel) const {
    for (size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
      const bool here = rows_->keep(ids[begin]);
      for (end = begin + 1; end < ids.size() && rows_->keep(ids[end]) == here;) ++end;
      const auto run = ids.subspan(begin, end - begin);
      uint8_t* const to = out + static_cast<int64_t>(begin) * row_bytes_;
      if (here)
        gather_rows(rows_->data(), row_bytes_, run, to, nullptr);
      else
        from_file_->gather(run, to, nullptr, cancel);
    }
  }

  const std::unique_ptr<FeatureStore> from_file_;  // owns the file
  const int64_t row_bytes_;
  const std::shared_ptr<KeptRows> rows_;
};

// The mapped file whose rows the column has, or null.
const base::MappedFile* file_of(const graph::Column& column) {
  const Tensor* table = std::get_if<Tensor>(&column);
  if (!table || !table->defined() || table->view().num_bytes() == 0) return nullptr;
  return base::MappedFile::of(table->owner());
}

}  // namespace

bool half_stays_free(int64_t bytes) {
  const base::FreeMemory memory = base::free_memory();
  return memory.available - bytes >= memory.total / 2;
}

std::unique_ptr<FeatureStore> make_kept_store(const graph::Column& column, MayKeep may_keep) {
  const base::MappedFile* file = file_of(column);
  if (!file) return make_store(column);
  const Tensor& table = std::get<Tensor>(column);
  return std::make_unique<KeptStore>(
      table, std::make_shared<KeptRows>(*file, table.view(), std::move(may_keep)));
}

std::unique_ptr<FeatureStore> make_kept_store(const graph::Column& column) {
  const base::MappedFile* file = file_of(column);
  if (!file) return make_store(column);
  const Tensor& table = std::get<Tensor>(column);
  const int64_t begin = static_cast<const uint8_t*>(table.data()) - file->bytes().data();
  const auto rows = file->shared_copy("rows", begin, table.view().num_bytes(), [&] {
    return std::make_shared<KeptRows>(*file, table.view(), half_stays_free);
  });
  return std::make_unique<KeptStore>(table, std::static_pointer_cast<KeptRows>(rows));
}

}  // namespace gnnmg::feature
