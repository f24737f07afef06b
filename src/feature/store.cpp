#include "feature/store.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "feature/kept_store.h"

namespace gnnmg::feature {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

// Throws if the file has shrunk since it was mapped, because reading it could end the program.
void check_mapping(const Tensor& tensor) {
  if (const base::MappedFile* file = base::MappedFile::of(tensor.owner())) file->check_size();
}

class DenseStore : public FeatureStore {
 public:
  explicit DenseStore(Tensor table)
      : table_(std::move(table)), file_(base::MappedFile::of(table_.owner())) {}

  int64_t num_rows() const override { return table_.rows(); }
  int64_t num_cols() const override { return table_.shape().row_elements(); }
  base::DType dtype() const override { return table_.dtype(); }
  bool sparse() const override { return false; }
  // A mapped file cannot be read in place, because it may shrink meanwhile.
  Tensor dense() const override { return file_ ? Tensor() : table_; }

  void gather(std::span<const int64_t> ids, uint8_t* out, base::ThreadPool* pool,
              const base::CancelToken&) const override {
    if (file_) return gather_from_file(ids, out, pool);
    gather_rows(static_cast<const uint8_t*>(table_.data()), table_.view().row_bytes(), ids, out,
                pool);
  }

  void gather_sparse(std::span<const int64_t>, SparseRows&, base::ThreadPool*,
                     const base::CancelToken&) const override {
    fail(Status::kInvalidArgument, "sparse rows were requested of dense features");
  }

 private:
  // Reads from the file and not through the mapping, where the end of a shrinking file is a signal.
  void gather_from_file(std::span<const int64_t> ids, uint8_t* out, base::ThreadPool* pool) const {
    constexpr int64_t kGrain = 256;
    const int64_t row_bytes = table_.view().row_bytes();
    const int64_t begin = static_cast<const uint8_t*>(table_.data()) - file_->bytes().data();
    const auto copy = [&](int64_t first, int64_t last) {
      for (int64_t i = first, end; i < last; i = end) {
        for (end = i + 1; end < last && ids[end] == ids[end - 1] + 1;) ++end;
        file_->file().read_at(begin + ids[i] * row_bytes,
                              {out + i * row_bytes, static_cast<size_t>((end - i) * row_bytes)});
      }
    };
    const int64_t count = static_cast<int64_t>(ids.size());
    if (pool)
      pool->parallel_for(count, kGrain, copy);
    else
      copy(0, count);
  }

  Tensor table_;
  const base::MappedFile* file_;  // the table's mapped file, or null
};

class SparseStore : public FeatureStore {
 public:
  explicit SparseStore(base::CsrMatrix matrix) : matrix_(std::move(matrix)) {}

  int64_t num_rows() const override { return matrix_.num_rows; }
  int64_t num_cols() const override { return matrix_.num_cols; }
  base::DType dtype() const override { return matrix_.values.dtype(); }
  bool sparse() const override { return true; }
  Tensor dense() const override { return {}; }

  void gather(std::span<const int64_t>, uint8_t*, base::ThreadPool*,
              const base::CancelToken&) const override {
    fail(Status::kInvalidArgument, "dense rows were requested of sparse features");
  }

  void gather_sparse(std::span<const int64_t> ids, SparseRows& out, base::ThreadPool* pool,
                     const base::CancelToken&) const override {
    for (const Tensor* tensor : {&matrix_.indptr, &matrix_.indices, &matrix_.values})
      check_mapping(*tensor);
    const int64_t* starts = static_cast<const int64_t*>(matrix_.indptr.data());
    const int32_t* indices = static_cast<const int32_t*>(matrix_.indices.data());
    const float* values = static_cast<const float*>(matrix_.values.data());
    const int64_t count = static_cast<int64_t>(ids.size());
    constexpr int64_t kAhead = 16, kGrain = 4096;

    out.num_rows = count;
    out.num_cols = matrix_.num_cols;
    out.indptr.resize_discard(count + 1);
    out.indptr[0] = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (i + kAhead < count) __builtin_prefetch(starts + ids[i + kAhead]);
      out.indptr[i + 1] = out.indptr[i] + starts[ids[i] + 1] - starts[ids[i]];
    }
    out.indices.resize_discard(out.indptr[count]);
    out.values.resize_discard(out.indptr[count]);
    const auto copy = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (i + kAhead < end) {
          __builtin_prefetch(indices + starts[ids[i + kAhead]]);
          __builtin_prefetch(values + starts[ids[i + kAhead]]);
        }
        const int64_t from = starts[ids[i]];
        const int64_t length = starts[ids[i] + 1] - from;
        std::copy_n(indices + from, length, out.indices.data() + out.indptr[i]);
        std::copy_n(values + from, length, out.values.data() + out.indptr[i]);
      }
    };
    if (pool)
      pool->parallel_for(count, kGrain, copy);
    else
      copy(0, count);
  }

 private:
  base::CsrMatrix matrix_;
};

}  // namespace

std::unique_ptr<FeatureStore> make_store(const graph::Column& column) {
  if (const Tensor* dense = std::get_if<Tensor>(&column)) {
    if (!dense->defined() || dense->shape().num_dims == 0)
      fail(Status::kInvalidArgument, "features need at least one dimension, the rows");
    return std::make_unique<DenseStore>(*dense);
  }
  return std::make_unique<SparseStore>(std::get<base::CsrMatrix>(column));
}

std::shared_ptr<const FeatureStore> make_store(const graph::Graph& graph, std::string_view name,
                                               int32_t node_type) {
  if (const graph::Column* column = graph.node_column(name, node_type))
    return make_kept_store(*column);
  return graph.elsewhere() ? graph.elsewhere()->store(name) : nullptr;
}

}  // namespace gnnmg::feature
