#include "train/eval/kept_rows.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/free_memory.h"
#include "base/scratch_file.h"
#include "nn/ops/tensors.h"
#include "nn/torch/tensor.h"
#include "train/tensors.h"

namespace gnnmg::train {
namespace {

class RowsInMemory final : public KeptRows {
 public:
  RowsInMemory(int64_t rows, int64_t cols, base::DType dtype, int64_t& counted)
      : rows_(counted_matrix(rows, cols, dtype)), counted_(counted) {
    counted_ += bytes();
  }
  ~RowsInMemory() override { counted_ -= bytes(); }

  void append(const at::Tensor& rows) override {
    rows_.narrow(0, size_, rows.size(0)).copy_(rows);
    size_ += rows.size(0);
  }
  at::Tensor range(int64_t begin, int64_t count) const override {
    return rows_.narrow(0, begin, count);
  }
  at::Tensor gather(std::span<const int64_t> rows) const override {
    return rows_.index_select(0, nn::as_tensor(rows));
  }

 private:
  int64_t bytes() const { return static_cast<int64_t>(rows_.nbytes()); }
  const at::Tensor rows_;
  int64_t& counted_;
  int64_t size_ = 0;  // rows so far
};

// Calls f() and adds a remedy to errors of the file.
template <typename F>
auto with_remedy(F f) {
  try {
    return f();
  } catch (const base::Error& error) {
    if (error.status() == base::Status::kCancelled) throw;
    throw base::Error(error.status(),
                      base::text(error.what(),
                                 "; rows of an exact evaluation are kept in this file; the option "
                                 "temporary_folder chooses another folder, and the option "
                                 "evaluation_bytes the number of bytes kept in memory instead"),
                      error.rank(), error.system_error());
  }
}

class RowsInFile final : public KeptRows {
 public:
  RowsInFile(const std::string& folder, int64_t cols, base::DType dtype)
      : file_(with_remedy([&] { return std::make_unique<base::ScratchFile>(folder); })),
        cols_(cols),
        row_bytes_(cols * base::dtype_size(dtype)),
        options_(nn::scalar_type(dtype)) {}

  void append(const at::Tensor& rows) override {
    const at::Tensor packed = rows.contiguous();
    with_remedy([&] {
      file_->append({static_cast<const uint8_t*>(packed.const_data_ptr()), packed.nbytes()});
    });
  }
  at::Tensor range(int64_t begin, int64_t count) const override {
    const at::Tensor out = at::empty({count, cols_}, options_);
    read(begin, {bytes_of(out), out.nbytes()});
    return out;
  }
  // Reads in the order of the file, and rows that are less than kGap bytes apart at once.
  at::Tensor gather(std::span<const int64_t> rows) const override {
    const at::Tensor out = at::empty({static_cast<int64_t>(rows.size()), cols_}, options_);
    std::vector<size_t> order(rows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t i) { return rows[i]; });
    std::vector<uint8_t> block;
    for (size_t first = 0, next; first < order.size(); first = next) {
      const int64_t begin = rows[order[first]];
      int64_t last = begin;
      for (next = first + 1; next < order.size(); ++next) {
        const int64_t row = rows[order[next]];
        if ((row - last - 1) * row_bytes_ > kGap || (row + 1 - begin) * row_bytes_ > kPiece) break;
        last = row;
      }
      block.resize(static_cast<size_t>((last + 1 - begin) * row_bytes_));
      read(begin, block);
      for (size_t i = first; i < next; ++i)
        std::memcpy(bytes_of(out) + static_cast<int64_t>(order[i]) * row_bytes_,
                    block.data() + (rows[order[i]] - begin) * row_bytes_,
                    static_cast<size_t>(row_bytes_));
    }
    return out;
  }

 private:
  static constexpr int64_t kGap = 4096, kPiece = int64_t{1} << 20;
  static uint8_t* bytes_of(const at::Tensor& rows) {
    return static_cast<uint8_t*>(rows.mutable_data_ptr());
  }

  void read(int64_t row, std::span<uint8_t> out) const {
    with_remedy([&] { file_->read_at(row * row_bytes_, out); });
  }

  const std::unique_ptr<base::ScratchFile> file_;
  const int64_t cols_, row_bytes_;
  const at::TensorOptions options_;
};

}  // namespace

RowKeeper::RowKeeper(const RowStorage& storage, int ranks)
    : folder_(storage.folder.empty() ? base::scratch_folder() : storage.folder),
      bound_((storage.bytes > 0 ? storage.bytes : base::available_memory() / 4) / ranks) {}

std::unique_ptr<KeptRows> RowKeeper::keep(int64_t rows, int64_t cols, base::DType dtype) {
  const int64_t bytes =
      base::checked_mul(rows, cols * base::dtype_size(dtype), "the rows of a stage");
  if (bytes <= bound_ - in_memory_) {
    auto kept = std::make_unique<RowsInMemory>(rows, cols, dtype, in_memory_);
    most_ = std::max(most_, in_memory_);
    return kept;
  }
  in_files_ += bytes;
  return std::make_unique<RowsInFile>(folder_, cols, dtype);
}

std::string RowKeeper::account() const {
  return base::text("keeps ", most_, " bytes of rows of layers in memory, of ", bound_,
                    " allowed, and ", in_files_, " in temporary files in ", folder_);
}

}  // namespace gnnmg::train
