// Results for graphs in the form of inference over nodes: one stage, whose rows are those of the
// graphs of a data set, made from mini-batches of whole graphs.
#pragma once

#include <memory>

#include "data/dataset.h"
#include "nn/model.h"
#include "sample/sampler.h"

namespace gnnmg::train {

// Whether results of the model are rows of the data set's graphs, which takes a readout.
bool gives_graphs(const nn::Model& model, const data::Dataset& dataset);

// Of such a model, which it must not outlive, nor the data set. `pool` as in nn::ForwardArgs.
std::unique_ptr<nn::Inference> make_graph_inference(nn::Model& model, const data::Dataset& dataset,
                                                    base::ThreadPool* pool);

// How mini-batches of whole graphs are made for the model.
std::shared_ptr<const sample::Sampler> make_graphs_sampler_for(const nn::Model& model,
                                                               const data::Dataset& dataset);

}  // namespace gnnmg::train
