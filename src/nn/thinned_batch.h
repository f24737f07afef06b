// Mini-batches without some of their edges: dropout of edges and of nodes in training. What the
// layers see is what a sampler that draws fewer edges would have given them.
#pragma once

#include <memory>
#include <vector>

#include "nn/made_block.h"
#include "nn/model.h"

namespace gnnmg::nn {

class ThinnedBatch {
 public:
  // Edge e of layer i goes by bit (seed, epoch, mini-batch, i, e) with probability `edge_rate`;
  // node n of the mini-batch by bit (seed, epoch, mini-batch, n) with probability `node_rate`, and
  // with it all edges from it and to it, in all layers. `batch` is valid, and must outlive this.
  // On the execution's device where it has one, by the same bits.
  ThinnedBatch(const ForwardArgs& batch, double edge_rate, double node_rate,
               const Execution& execution = {});
  ThinnedBatch(const ThinnedBatch&) = delete;
  ThinnedBatch& operator=(const ThinnedBatch&) = delete;

  // The mini-batch that is left; its blocks are good for as long as this lives.
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
