// Results for graphs in the form of inference over nodes: one stage, whose rows are those of the
// graphs of a data set, made from mini-batches of whole graphs.
#pragma once

#include <memory>

#include "data/dataset.h"
#include "nn/model/model.h"
#include "sample/sampler.h"

namespace gnnmg::train {

// True if results of the model are rows of the data set's graphs: it has a readout.
bool gives_graphs(const nn::Model& model, const data::Dataset& dataset);

// Inference of such a model. Model and data set must outlive it. `pool`: see nn::ForwardArgs.
std::unique_ptr<nn::Inference> make_graph_inference(nn::Model& model, const data::Dataset& dataset,
                                                    base::ThreadPool* pool);

// The sampler of whole graphs for the model.
std::shared_ptr<const sample::Sampler> make_graphs_sampler_for(const nn::Model& model,
                                                               const data::Dataset& dataset);

}  // namespace gnnmg::train
