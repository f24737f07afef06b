// The object of a data set's handle: the room's data set, the graph's handle object, the chosen
// split, and the store of its features, which all loaders and the data sets of other splits share.
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "capi/graph.h"
#include "capi/job.h"
#include "capi/object.h"
#include "data/dataset.h"
#include "feature/store.h"

namespace gnnmg::capi {

class Dataset : public Object {
 public:
  static constexpr Kind kKind = Kind::kDataset;
  Dataset(std::shared_ptr<Context> owner, data::DatasetRef made);
  // Shares the data of `other`, with this split chosen; Error(kNotFound) lists those that exist.
  Dataset(const Dataset& other, std::string_view split, int32_t index);

  const data::DatasetRef& data() const { return data_; }
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  int64_t num_nodes() const { return data_->graph->num_nodes(data_->node_type); }
  int64_t num_samples() const { return data_->num_samples(); }

  // The chosen split; Error(kNotFound) when there is none.
  const data::Split& split() const;
  std::span<const int64_t> part(gnnmg_part part) const;
  // With a hold.
  void add_split(data::Split split);
  // Splits of one name that no other has; chooses the first.
  void add_splits(std::vector<data::Split> splits);
  // Undefined: none any more.
  void set_class_weights(base::Tensor weights);
  void set_sample_weights(base::Tensor weights);

  // Null when there are no features. Made on first use.
  std::shared_ptr<const feature::FeatureStore> features() const;
  // The same, for callers that cannot do without: Error(kNotFound).
  std::shared_ptr<const feature::FeatureStore> need_features() const;
  void need_labels() const;

  Pendings pendings;

 private:
  struct Store {
    std::mutex mutex;
    std::shared_ptr<const feature::FeatureStore> made;
  };

  data::DatasetRef data_;
  std::shared_ptr<Graph> graph_;
  size_t split_ = 0;  // position among the splits
  std::shared_ptr<Store> store_;
};

}  // namespace gnnmg::capi
