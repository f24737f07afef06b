#include "dist/weight_store.h"

#include <cstring>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/weight_sums.h"

namespace gnnmg::dist {
namespace {

using base::DType;
using graph::WeightSums;

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

class WeightStore final : public feature::FeatureStore {
 public:
  WeightStore(graph::Csc csc, std::shared_ptr<const partition::Rows> rows,
              std::shared_ptr<const feature::FeatureStore> weights)
      : csc_(std::move(csc)), rows_(std::move(rows)), weights_(std::move(weights)) {}

  int64_t num_rows() const override { return csc_.num_targets; }
  int64_t num_cols() const override { return sizeof(WeightSums) / sizeof(double); }
  DType dtype() const override { return DType::kF64; }
  bool sparse() const override { return false; }
  base::Tensor dense() const override { return {}; }
  void gather(std::span<const int64_t> ids, uint8_t* out, base::ThreadPool*,
              const base::CancelToken&) const override {
    std::call_once(summed_, [this] { sum(); });
    for (size_t i = 0; i < ids.size(); ++i)
      std::memcpy(out + i * sizeof(WeightSums), &sums_[ids[i]], sizeof(WeightSums));
  }
  void gather_sparse(std::span<const int64_t>, feature::SparseRows&, base::ThreadPool*,
                     const base::CancelToken&) const override {
    base::fail(base::Status::kInvalidArgument, "sparse rows were requested of sums of weights");
  }

 private:
  void sum() const {
    sums_.resize_discard(num_rows());
    RowWeights weights(csc_, *weights_);
    rows_->for_each([&](int64_t row, int64_t id) {
      sums_[row] = graph::sum_weights(csc_, row, id, weights.of(row));
    });
  }

  graph::Csc csc_;
  std::shared_ptr<const partition::Rows> rows_;
  std::shared_ptr<const feature::FeatureStore> weights_;
  mutable std::once_flag summed_;
  mutable base::PageVector<WeightSums> sums_;
};

}  // namespace

std::shared_ptr<const feature::FeatureStore> make_weight_store(
    graph::Csc csc, std::shared_ptr<const partition::Rows> rows,
    std::shared_ptr<const feature::FeatureStore> weights) {
  return std::make_shared<const WeightStore>(std::move(csc), std::move(rows), std::move(weights));
}

}  // namespace gnnmg::dist
