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

class KeptStore : public FeatureStore {
 public:
  KeptStore(const Tensor& table, MayKeep may_keep)
      : file_(base::MappedFile::behind(table.owner())),
        from_file_(make_store(table)),
        begin_(static_cast<const uint8_t*>(table.data()) - file_->bytes().data()),
        row_bytes_(table.view().row_bytes()),
        block_shift_(std::bit_width(static_cast<uint64_t>(kBlockBytes / row_bytes_ | 1)) - 1),
        num_blocks_(((table.rows() - 1) >> block_shift_) + 1),
        kept_(static_cast<size_t>(num_blocks_)),
        rows_(static_cast<size_t>(table.view().num_bytes())),
        room_(std::move(may_keep)) {}

  int64_t num_rows() const override { return from_file_->num_rows(); }
  int64_t num_cols() const override { return from_file_->num_cols(); }
  base::DType dtype() const override { return from_file_->dtype(); }
  bool sparse() const override { return false; }
  Tensor dense() const override { return {}; }

  void gather(std::span<const int64_t> ids, uint8_t* out, base::ThreadPool* pool,
              const base::CancelToken& cancel) const override {
    if (!rows_.data()) return from_file_->gather(ids, out, pool, cancel);
    for (size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
      const bool here = keep(ids[begin]);
      for (end = begin + 1; end < ids.size() && keep(ids[end]) == here;) ++end;
      const auto run = ids.subspan(begin, end - begin);
      uint8_t* const to = out + static_cast<int64_t>(begin) * row_bytes_;
      if (here)
        gather_rows(rows_.data(), row_bytes_, run, to, pool);
      else
        from_file_->gather(run, to, pool, cancel);
    }
  }
  void gather_sparse(std::span<const int64_t> ids, SparseRows& out, base::ThreadPool* pool,
                     const base::CancelToken& cancel) const override {
    from_file_->gather_sparse(ids, out, pool, cancel);
  }

 private:
  // Returns whether the row is in memory. Reads its block if there is room for it.
  bool keep(int64_t id) const {
    const int64_t block = id >> block_shift_;
    return kept_[block].load(std::memory_order_acquire) || read_block(block);
  }
  bool read_block(int64_t block) const {
    const std::lock_guard lock(mutexes_[block % mutexes_.size()]);
    if (kept_[block].load(std::memory_order_relaxed)) return true;
    const int64_t first = block << block_shift_;
    const int64_t last = std::min(num_rows(), (block + 1) << block_shift_);
    const int64_t at = first * row_bytes_, size = (last - first) * row_bytes_;
    if (!room_.take(size)) return false;
    file_->file().read_at(begin_ + at, {rows_.data() + at, static_cast<size_t>(size)});
    kept_[block].store(true, std::memory_order_release);
    return true;
  }

  const base::MappedFile* file_;
  const std::unique_ptr<FeatureStore> from_file_;  // owns the file
  const int64_t begin_;                            // offset of the first row in the file
  const int64_t row_bytes_;
  const int block_shift_;  // a block has 2^block_shift_ rows
  const int64_t num_blocks_;
  mutable std::vector<std::atomic<bool>> kept_;  // one per block
  const Reserve rows_;                           // memory of the kept blocks, as in the file
  mutable Room room_;
  mutable std::array<std::mutex, 16> mutexes_;  // held while a block is read
};

}  // namespace

bool half_stays_free(int64_t bytes) {
  const base::FreeMemory memory = base::free_memory();
  return memory.available - bytes >= memory.total / 2;
}

std::unique_ptr<FeatureStore> make_kept_store(const graph::Column& column, MayKeep may_keep) {
  const Tensor* table = std::get_if<Tensor>(&column);
  if (!table || !table->defined() || !base::MappedFile::behind(table->owner()) ||
      table->view().num_bytes() == 0)
    return make_store(column);
  return std::make_unique<KeptStore>(*table, std::move(may_keep));
}

}  // namespace gnnmg::feature
