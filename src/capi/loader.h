// The object of a loader's handle: epochs follow each other, one GNNMG_END between two of them.
#pragma once

#include <atomic>
#include <memory>

#include "capi/device_place.h"
#include "capi/graph.h"
#include "capi/object.h"
#include "capi/resume.h"
#include "data/dataset.h"
#include "loader/loader.h"

namespace gnnmg::capi {

class Loader : public Object {
 public:
  static constexpr Kind kKind = Kind::kLoader;
  Loader(std::shared_ptr<Context> owner, std::unique_ptr<loader::Loader> made,
         data::DatasetRef dataset, int64_t num_seeds, uint64_t seed, bool has_transpose,
         BatchTypes types, std::shared_ptr<DevicePlace> place);

  void cancel_work() noexcept override {
    cancelled = true;
    loader_->cancel();
  }
  bool ends_slowly() const noexcept override { return true; }
  bool idle() const noexcept override { return loader_->idle(); }
  bool on_device() const noexcept override { return place_ != nullptr; }

  loader::Loader& get() const { return *loader_; }
  const data::DatasetRef& dataset() const { return dataset_; }
  int64_t num_seeds() const { return num_seeds_; }
  uint64_t seed() const { return seed_; }
  bool has_transpose() const { return transpose_; }
  const BatchTypes& types() const { return types_; }
  // The GPU that mini-batches lie on, and the stream that orders the arrays handed out; null: the
  // CPU.
  const std::shared_ptr<DevicePlace>& place() const { return place_; }

  Suspension suspension;
  std::atomic<bool> cancelled{false};  // until gnnmg_loader_start()
  // With a hold: the epoch that is under way, or, when none is, the next one.
  bool under_way = false;
  int64_t epoch = 0;

 private:
  data::DatasetRef dataset_;
  int64_t num_seeds_;
  uint64_t seed_;
  bool transpose_;
  BatchTypes types_;
  std::shared_ptr<DevicePlace> place_;
  std::unique_ptr<loader::Loader> loader_;
};

}  // namespace gnnmg::capi
