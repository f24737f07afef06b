#include "dist/held_parts.h"

#include <map>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "data/one_part.h"
#include "data/parts_manifest.h"
#include "dist/part_folder.h"
#include "feature/kept_store.h"
#include "sample/workspace.h"

namespace gnnmg::dist {
namespace {

class FolderParts : public HeldParts {
 public:
  FolderParts(const std::string& folder, const base::CancelToken& cancel)
      : folder_(folder, cancel) {}
  std::shared_ptr<const data::parts::Manifest> manifest() const override {
    return folder_.manifest();
  }
  std::vector<int32_t> found() const override { return folder_.found(); }
  std::shared_ptr<const Part> read(int32_t part) const override {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<const Part>& known = in_use_[part];
    auto in_use = known.lock();
    if (!in_use) known = in_use = folder_.read(part);
    return in_use;
  }

 private:
  const PartFolder folder_;
  mutable std::mutex mutex_;
  mutable std::map<int32_t, std::weak_ptr<const Part>> in_use_;
};

// A data set in the own format.
class OneHeldPart : public HeldParts {
 public:
  OneHeldPart(const std::string& folder, const base::CancelToken& cancel) {
    base::ThreadPool pool;
    base::Log log;  // drops the warnings of opening: readers of parts cannot use them
    data::OpenOptions options;
    options.format = "gnnmg";
    const data::DatasetRef dataset = data::open_dataset(folder, options, {pool, log, cancel});
    manifest_ = std::make_shared<const data::parts::Manifest>(
        data::one_part_source(*dataset, folder, cancel));
    part_ = part_of_whole(*dataset);
  }
  std::shared_ptr<const data::parts::Manifest> manifest() const override { return manifest_; }
  std::vector<int32_t> found() const override { return {0}; }
  std::shared_ptr<const Part> read(int32_t part) const override {
    if (part != 0)
      base::fail(base::Status::kNotFound, manifest_->source().name(), ": part ", part,
                 " is asked for, expected 0: the data set is not divided");
    return part_;
  }

 private:
  std::shared_ptr<const data::parts::Manifest> manifest_;
  std::shared_ptr<const Part> part_;
};

// Rows of a column of edges, which lie by edge id, by the places of the edges.
class ByPlace final : public feature::FeatureStore {
 public:
  ByPlace(graph::Csc csc, const graph::Column& column)
      : csc_(std::move(csc)), by_id_(feature::make_kept_store(column)) {}
  int64_t num_rows() const override { return by_id_->num_rows(); }
  int64_t num_cols() const override { return by_id_->num_cols(); }
  base::DType dtype() const override { return by_id_->dtype(); }
  bool sparse() const override { return false; }
  base::Tensor dense() const override { return {}; }
  void gather(std::span<const int64_t> places, uint8_t* out, base::ThreadPool* pool,
              const base::CancelToken& cancel) const override {
    std::vector<int64_t> ids(places.size());
    sample::read_edge_ids(csc_, places, ids.data());
    by_id_->gather(ids, out, pool, cancel);
  }
  void gather_sparse(std::span<const int64_t>, feature::SparseRows&, base::ThreadPool*,
                     const base::CancelToken&) const override {
    base::fail(base::Status::kInvalidArgument, "sparse rows were asked of dense ones of edges");
  }

 private:
  const graph::Csc csc_;
  const std::shared_ptr<const feature::FeatureStore> by_id_;
};

}  // namespace

std::unique_ptr<const HeldParts> hold_parts(const std::string& folder,
                                            const base::CancelToken& cancel) {
  if (data::holds_own_format(folder)) return std::make_unique<const OneHeldPart>(folder, cancel);
  return std::make_unique<const FolderParts>(folder, cancel);
}

std::shared_ptr<const Part> part_of_whole(const data::Dataset& dataset) {
  const graph::Graph& graph = *dataset.graph;
  std::vector<int64_t> ids(static_cast<size_t>(graph.num_nodes()));
  std::iota(ids.begin(), ids.end(), int64_t{0});
  Part::Columns columns, edge_columns;
  for (const auto& [name, column] : graph.node_columns())
    if (name != dataset.label || std::holds_alternative<base::CsrMatrix>(column))
      columns.push_back(feature::make_kept_store(column));
  for (const auto& [name, column] : graph.edge_columns())
    if (std::holds_alternative<base::Tensor>(column))
      edge_columns.push_back(std::make_shared<const ByPlace>(graph.csc(), column));
  return std::make_shared<const Part>(ids, graph.num_nodes(), std::vector<graph::Csc>{graph.csc()},
                                      std::move(columns), std::move(edge_columns));
}

}  // namespace gnnmg::dist
