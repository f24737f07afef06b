#include "dist/degree_store.h"

#include <cstring>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "sample/mini_batch.h"

namespace gnnmg::dist {
namespace {

using sample::NodeDegree;

class DegreeStore final : public feature::FeatureStore {
 public:
  DegreeStore(graph::Csc csc, std::shared_ptr<const partition::Rows> rows)
      : csc_(std::move(csc)), rows_(std::move(rows)) {}

  int64_t num_rows() const override { return csc_.num_targets; }
  int64_t num_cols() const override { return sizeof(NodeDegree) / sizeof(int64_t); }
  base::DType dtype() const override { return base::DType::kI64; }
  bool sparse() const override { return false; }
  base::Tensor dense() const override { return {}; }
  void gather(std::span<const int64_t> ids, uint8_t* out, base::ThreadPool*,
              const base::CancelToken&) const override {
    std::call_once(counted_, [this] { count(); });
    for (size_t i = 0; i < ids.size(); ++i)
      std::memcpy(out + i * sizeof(NodeDegree), &degrees_[ids[i]], sizeof(NodeDegree));
  }
  void gather_sparse(std::span<const int64_t>, feature::SparseRows&, base::ThreadPool*,
                     const base::CancelToken&) const override {
    base::fail(base::Status::kInvalidArgument, "sparse rows were asked of the degrees of nodes");
  }

 private:
  void count() const {
    degrees_.resize_discard(num_rows());
    const int64_t* indptr = static_cast<const int64_t*>(csc_.indptr.data());
    graph::visit_indices(csc_, [&](auto sources) {
      rows_->for_each([&](int64_t row, int64_t id) {
        NodeDegree& degree = degrees_[row] = {indptr[row + 1] - indptr[row], 0};
        for (int64_t e = indptr[row]; e < indptr[row + 1]; ++e) degree.loops += sources[e] == id;
      });
    });
  }

  graph::Csc csc_;
  std::shared_ptr<const partition::Rows> rows_;
  mutable std::once_flag counted_;
  mutable base::PageVector<NodeDegree> degrees_;
};

}  // namespace

std::shared_ptr<const feature::FeatureStore> make_degree_store(
    graph::Csc csc, std::shared_ptr<const partition::Rows> rows) {
  return std::make_shared<const DegreeStore>(std::move(csc), std::move(rows));
}

}  // namespace gnnmg::dist
