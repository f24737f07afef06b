// The sources of a predictor's rows: the neighborhoods of the ids, sampled by each
// call, or the rows of all nodes, made in advance.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/cancel.h"
#include "data/dataset.h"
#include "feature/store.h"
#include "nn/model/model.h"

namespace gnnmg::predict {

// A model that nobody changes, on the CPU, over the data that it reads.
struct Subject {
  std::shared_ptr<nn::Model> model;
  data::DatasetRef dataset;
  std::shared_ptr<const feature::FeatureStore> store;  // null where the model reads no features
};

class RowSource {
 public:
  virtual ~RowSource() = default;
  // Returns the rows of these ids, which are in range, in order: of the model's result, or with
  // `hidden` those of nn::ForwardArgs::hidden. Any thread.
  virtual at::Tensor rows(std::span<const int64_t> ids, bool hidden,
                          const base::CancelToken& cancel) const = 0;
  virtual int64_t hidden_width() const = 0;
  // Estimate of the multiplications and additions for one id.
  virtual double work_of_id() const = 0;
};

// Draws neighbors: one fan-out a layer, that next to the ids first, -1: all. With the seed they
// determine the sample of a list of ids.
std::unique_ptr<RowSource> make_neighborhood_source(const Subject& subject,
                                                    std::span<const int64_t> fanouts, uint64_t seed,
                                                    const base::CancelToken& cancel);
// Reads whole graphs.
std::unique_ptr<RowSource> make_graph_source(const Subject& subject,
                                             const base::CancelToken& cancel);
// Computes the rows of all nodes first, layer by layer.
std::unique_ptr<RowSource> make_table_source(const Subject& subject,
                                             const base::CancelToken& cancel);

}  // namespace gnnmg::predict
