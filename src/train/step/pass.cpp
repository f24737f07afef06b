#include "train/step/pass.h"

#include <algorithm>

#include "nn/model/graph_facts.h"
#include "train/ranks/device.h"
#include "train/tensors.h"

namespace gnnmg::train {
namespace {

// Refuses edges without ids, which a custom sampler of the host may make, because a device would
// read outside of the edge data.
void check_edge_ids(const nn::Model& model, const loader::Batch& batch) {
  if (!nn::edge_needs(model.config()).any()) return;
  for (const sample::BlockStore& store : batch.sample.stores)
    if (std::ranges::any_of(store.edge_ids.span(), [](int64_t id) { return id < 0; }))
      base::fail(base::Status::kInvalidArgument,
                 "the model reads what edges carry, and the mini-batch has edges of unknown ids");
}

nn::ForwardArgs args_on_host(const Job& job, const loader::Batch& batch) {
  nn::ForwardArgs args;
  args.input = input_of(batch, job.store.get());
  args.blocks = batch.sample.blocks;
  args.node_ids = {batch.sample.node_ids.data(), static_cast<size_t>(batch.sample.num_nodes())};
  args.graph_ptr = batch.sample.graph_ptr.span();
  return args;
}

}  // namespace

PassInput::PassInput(const Job& job, const nn::Model& model, const loader::Batch& batch,
                     bool training) {
  if (const nn::Device* device = model.device()) {
    check_edge_ids(model, batch);
    args_ = made_args_on(batch, *device, sparse_);
  } else {
    args_ = args_on_host(job, batch);
  }
  args_.graph = job.dataset->graph;
  args_.degrees = batch.sample.degrees.span();
  args_.weight_sums = batch.sample.weight_sums.span();
  edges_ = nn::told_edges(model.config(), batch.sample, model.device());
  args_.edges = edges_;
  args_.training = training;
  args_.dropout = {job.config.seed, batch.epoch, static_cast<uint64_t>(batch.number)};
}

}  // namespace gnnmg::train
