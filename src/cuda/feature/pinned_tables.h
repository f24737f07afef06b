// Tables of features in host memory that kernels read over the bus: each is pinned once per
// process, for any number of devices and ranks, and unpinned after its last use.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "base/tensor.h"
#include "base/thread_pool.h"
#include "cuda/grid/buffer.h"
#include "feature/pack.h"

namespace gnnmg::cuda {

// Adds the remedy to errors that there is no memory, or no permission to pin it.
template <typename F>
decltype(auto) with_remedy(const char* remedy, const F& f) {
  try {
    return f();
  } catch (const base::Error& error) {
    if (error.status() != base::Status::kNoMemory && error.status() != base::Status::kUnsupported)
      throw;
    base::fail(error.status(), error.what(), "; ", remedy);
  }
}

class PinnedTable {
 public:
  // Pins the table in place if its elements are kept in their form. If not, or if it is small,
  // partly pinned or not aligned to its elements, makes a pinned copy of packed rows.
  PinnedTable(PinnedMemory& memory, const base::Tensor& table, feature::Form form,
              base::ThreadPool* pool)
      : memory_(&memory), table_(table) {
    const base::TensorView& view = table.view();
    const uintptr_t place = reinterpret_cast<uintptr_t>(view.data);
    stride_ = view.row_bytes();
    bytes_ = view.num_bytes();
    if (form == feature::Form::kInt8) scales_.resize(table.rows());
    if (bytes_ == 0) return;
    if (form == feature::Form::kAsGiven && bytes_ >= memory.least_to_adopt() &&
        place % static_cast<uintptr_t>(base::dtype_size(view.dtype)) == 0 && adopt())
      return;
    copy(form, pool);
  }
  ~PinnedTable() {
    if (copy_ != nullptr)
      memory_->release(copy_);
    else if (rows_ != nullptr)
      memory_->give_back(table_.data());
  }
  PinnedTable(const PinnedTable&) = delete;
  PinnedTable& operator=(const PinnedTable&) = delete;

  const uint8_t* rows() const { return rows_; }  // address for kernels; null: no bytes
  int64_t stride() const { return stride_; }
  int64_t bytes() const { return bytes_; }
  const std::vector<float>& scales() const { return scales_; }  // scales of int8, in host memory

 private:
  static constexpr const char* kRemedy =
      "free memory of the host or raise the limit on locked memory (ulimit -l), or keep the "
      "features on the device, or as bf16 or int8";

  bool adopt() {
    try {
      rows_ = with_remedy(kRemedy, [&] {
        return static_cast<const uint8_t*>(
            memory_->adopt(table_.data(), bytes_, "a table of features"));
      });
      return true;
    } catch (const base::Error& error) {
      if (error.status() != base::Status::kInvalidArgument) throw;
      return false;
    }
  }

  void copy(feature::Form form, base::ThreadPool* pool) {
    const int64_t rows = table_.rows();
    stride_ = feature::packed_stride(table_.shape().row_elements(), form, table_.dtype());
    bytes_ = base::checked_mul(rows, stride_, "a table of features");
    copy_ = with_remedy(kRemedy, [&] { return memory_->allocate(bytes_, "a table of features"); });
    rows_ = static_cast<const uint8_t*>(copy_);
    try {
      feature::pack_rows(table_.view(), form, {}, 0, rows, static_cast<uint8_t*>(copy_),
                         scales_.data(), pool);
    } catch (...) {
      memory_->release(copy_);
      throw;
    }
  }

  PinnedMemory* memory_;
  base::Tensor table_;  // keeps the pinned memory alive
  void* copy_ = nullptr;
  const uint8_t* rows_ = nullptr;
  int64_t stride_ = 0, bytes_ = 0;
  std::vector<float> scales_;
};

// All tables of this process. The PinnedMemory of a table's first user outlives all its uses. Any
// thread; callers wait for a table that is being pinned or packed.
class PinnedTables {
 public:
  static PinnedTables& instance() {
    // Stores may be closed after static objects are destroyed.
    static PinnedTables& tables = *new PinnedTables;
    return tables;
  }

  // One use of a table, which ends with the object.
  class Use {
   public:
    Use() = default;
    Use(Use&& other) noexcept : table_(std::exchange(other.table_, nullptr)), key_(other.key_) {}
    Use& operator=(Use&& other) noexcept {
      std::swap(table_, other.table_);
      std::swap(key_, other.key_);
      return *this;
    }
    ~Use() {
      if (table_ != nullptr) instance().close(key_);
    }
    const PinnedTable* operator->() const { return table_; }
    explicit operator bool() const { return table_ != nullptr; }

   private:
    friend class PinnedTables;
    using Key = std::tuple<const void*, int64_t, int64_t, base::DType, feature::Form>;
    const PinnedTable* table_ = nullptr;
    Key key_;
  };

  Use open(PinnedMemory& memory, const base::Tensor& table, feature::Form form,
           base::ThreadPool* pool) {
    Use use;
    use.key_ = {table.data(), table.rows(), table.shape().row_elements(), table.dtype(), form};
    const std::lock_guard lock(mutex_);
    const auto found = tables_.find(use.key_);
    if (found == tables_.end()) {
      auto made = std::make_unique<PinnedTable>(memory, table, form, pool);
      use.table_ = tables_.emplace(use.key_, Entry{1, std::move(made)}).first->second.table.get();
    } else {
      ++found->second.uses;
      use.table_ = found->second.table.get();
    }
    return use;
  }
  int64_t size() {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(tables_.size());
  }

 private:
  struct Entry {
    int64_t uses;
    std::unique_ptr<PinnedTable> table;
  };
  void close(const Use::Key& key) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = tables_.find(key);
    if (--found->second.uses == 0) tables_.erase(found);
  }

  std::mutex mutex_;
  std::map<Use::Key, Entry> tables_;
};

}  // namespace gnnmg::cuda
