#include "dist/node_columns.h"

#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/weight_sums.h"
#include "sample/mini_batch.h"

namespace gnnmg::dist {
namespace {

using base::DType;
using graph::WeightSums;
using sample::NodeDegree;

double number_at(DType dtype, const uint8_t* bytes, int64_t i) {
  const auto read = [&]<typename T>(T value) {
    std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof value), sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::kF32:
      return read(float{});
    case DType::kF64:
      return read(double{});
    case DType::kF16:
      return base::f16_to_f32(read(uint16_t{}));
    case DType::kBF16:
      return base::bf16_to_f32(read(uint16_t{}));
    case DType::kI64:
      return static_cast<double>(read(int64_t{}));
    case DType::kI32:
      return read(int32_t{});
    case DType::kU8:
    case DType::kBool:
      return read(uint8_t{});
  }
  return 0;
}

// Reads the weights of rows, one row after another.
class RowWeights {
 public:
  RowWeights(const graph::Csc& csc, const feature::FeatureStore& weights)
      : indptr_(static_cast<const int64_t*>(csc.indptr.data())),
        num_rows_(csc.num_targets),
        store_(weights) {}

  std::span<const double> of(int64_t row) {
    if (row >= end_) read_from(row);
    return std::span(values_).subspan(static_cast<size_t>(indptr_[row] - indptr_[begin_]),
                                      static_cast<size_t>(indptr_[row + 1] - indptr_[row]));
  }

 private:
  static constexpr int64_t kEdges = 1 << 16;  // read at a time, or those of one row

  void read_from(int64_t row) {
    begin_ = row;
    end_ = row + 1;
    while (end_ < num_rows_ && indptr_[end_ + 1] - indptr_[begin_] <= kEdges) ++end_;
    places_.resize(static_cast<size_t>(indptr_[end_] - indptr_[begin_]));
    std::iota(places_.begin(), places_.end(), indptr_[begin_]);
    bytes_.resize(places_.size() * static_cast<size_t>(base::dtype_size(store_.dtype())));
    store_.gather(places_, bytes_.data(), nullptr);
    values_.resize(places_.size());
    for (size_t i = 0; i < values_.size(); ++i)
      values_[i] = number_at(store_.dtype(), bytes_.data(), static_cast<int64_t>(i));
  }

  const int64_t* const indptr_;
  const int64_t num_rows_;
  const feature::FeatureStore& store_;
  int64_t begin_ = 0, end_ = 0;  // rows whose weights are in `values_`
  std::vector<int64_t> places_;
  std::vector<uint8_t> bytes_;
  std::vector<double> values_;
};

// A column that is made when its rows are first gathered, in one pass over all edges.
template <typename Row, typename Number>
class MadeColumn final : public feature::FeatureStore {
 public:
  using Rows = base::PageVector<Row>;
  MadeColumn(int64_t num_rows, DType dtype, std::function<void(Rows&)> make)
      : num_rows_(num_rows), dtype_(dtype), make_(std::move(make)) {}

  int64_t num_rows() const override { return num_rows_; }
  int64_t num_cols() const override { return sizeof(Row) / sizeof(Number); }
  DType dtype() const override { return dtype_; }
  bool sparse() const override { return false; }
  base::Tensor dense() const override { return {}; }
  void gather(std::span<const int64_t> ids, uint8_t* out, base::ThreadPool*,
              const base::CancelToken&) const override {
    std::call_once(made_, [this] {
      rows_.resize_discard(num_rows_);
      make_(rows_);
    });
    for (size_t i = 0; i < ids.size(); ++i)
      std::memcpy(out + i * sizeof(Row), &rows_[ids[i]], sizeof(Row));
  }
  void gather_sparse(std::span<const int64_t>, feature::SparseRows&, base::ThreadPool*,
                     const base::CancelToken&) const override {
    base::fail(base::Status::kInvalidArgument, "sparse rows were requested of a column of nodes");
  }

 private:
  int64_t num_rows_;
  DType dtype_;
  std::function<void(Rows&)> make_;
  mutable std::once_flag made_;
  mutable Rows rows_;
};

}  // namespace

std::shared_ptr<const feature::FeatureStore> make_degree_store(
    graph::Csc csc, std::shared_ptr<const partition::Rows> rows) {
  const int64_t num_rows = csc.num_targets;
  const auto count = [csc = std::move(csc), rows = std::move(rows)](auto& degrees) {
    const int64_t* indptr = static_cast<const int64_t*>(csc.indptr.data());
    graph::visit_indices(csc, [&](auto sources) {
      rows->for_each([&](int64_t row, int64_t id) {
        NodeDegree& degree = degrees[row] = {indptr[row + 1] - indptr[row], 0};
        for (int64_t e = indptr[row]; e < indptr[row + 1]; ++e) degree.loops += sources[e] == id;
      });
    });
  };
  return std::make_shared<const MadeColumn<NodeDegree, int64_t>>(num_rows, DType::kI64, count);
}

std::shared_ptr<const feature::FeatureStore> make_weight_store(
    graph::Csc csc, std::shared_ptr<const partition::Rows> rows,
    std::shared_ptr<const feature::FeatureStore> weights) {
  const int64_t num_rows = csc.num_targets;
  const auto sum = [csc = std::move(csc), rows = std::move(rows),
                    weights = std::move(weights)](auto& sums) {
    RowWeights of_rows(csc, *weights);
    rows->for_each([&](int64_t row, int64_t id) {
      sums[row] = graph::sum_weights(csc, row, id, of_rows.of(row));
    });
  };
  return std::make_shared<const MadeColumn<WeightSums, double>>(num_rows, DType::kF64, sum);
}

}  // namespace gnnmg::dist
