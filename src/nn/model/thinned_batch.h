// Mini-batches without some of their edges: dropout of edges and of nodes in training. Layers see
// the sample of a sampler that draws fewer edges.
#pragma once

#include <memory>
#include <vector>

#include "nn/model/model.h"
#include "nn/ops/made_block.h"

namespace gnnmg::nn {

class ThinnedBatch {
 public:
  // Drops edge e of layer i by bit (seed, epoch, mini-batch, i, e) with probability `edge_rate`;
  // and node n of the mini-batch, with all its edges in all layers, by bit (seed, epoch,
  // mini-batch, n) with probability `node_rate`. `batch` is valid and must outlive the object. Runs
  // on the execution's device, if any, with the same bits.
  ThinnedBatch(const ForwardArgs& batch, double edge_rate, double node_rate,
               const Execution& execution = {});
  ThinnedBatch(const ThinnedBatch&) = delete;
  ThinnedBatch& operator=(const ThinnedBatch&) = delete;

  // The remaining mini-batch; its blocks are valid for the lifetime of the object.
  const ForwardArgs& args() const { return args_; }

 private:
  struct Layer {
    std::unique_ptr<const MadeBlock> block;
    std::vector<int64_t> edge_ids;
    at::Tensor ids_on_device;
  };
  void thin(const Dropout& nodes, const std::vector<Dropout>& edges);
  void thin_on_device(const Dropout& nodes, const std::vector<Dropout>& edges,
                      const Execution& execution);

  ForwardArgs args_;
  std::vector<Layer> layers_;
  std::vector<sample::BlockView> blocks_;
  std::vector<EdgeValues> edges_;
};

}  // namespace gnnmg::nn
