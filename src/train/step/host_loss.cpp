#include "train/step/host_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "base/error.h"
#include "nn/torch/tensor.h"

namespace gnnmg::train {
namespace {

using base::Status;
using comm::Phase;

// The arrays of a call, in memory that outlives it.
struct Arrays {
  at::Tensor logits, labels, weights, gradient;

  Arrays(const at::Tensor& of, const nn::Targets& targets)
      : logits(of.detach().contiguous()),
        labels(targets.labels.contiguous()),
        weights(nn::weights_of(targets).contiguous()),
        gradient(at::zeros_like(logits)) {}

  LossBatch batch(std::span<const int64_t> seeds) const {
    const bool classes = !labels.is_floating_point();
    return {.dtype = nn::dtype_of(logits),
            .rows = logits.size(0),
            .columns = logits.size(1),
            .seeds = seeds.data(),
            .logits = logits.const_data_ptr(),
            .classes = classes ? labels.const_data_ptr<int64_t>() : nullptr,
            .targets = classes ? nullptr : labels.const_data_ptr(),
            .weights = weights.const_data_ptr<double>(),
            .gradient = gradient.mutable_data_ptr(),
            .weight = weights.sum().item<double>()};
  }
};

}  // namespace

nn::LossSum loss_of_host(const Job& job, RankComm& comm, std::span<const int64_t> seeds,
                         const at::Tensor& logits, const nn::Targets& targets) {
  const Arrays arrays(logits, targets);
  LossBatch batch = arrays.batch(seeds);
  int32_t answer = 0;
  comm.note(Phase::kCallback);
  job.environment.host.call([&] { answer = job.loss_function(batch); }, comm.cancel());
  comm.note(Phase::kComputing);
  if (answer != 0) base::fail(Status::kCallback, "the loss function answered ", answer);
  if (!(batch.weight >= 0 && std::isfinite(batch.weight)))
    base::fail(Status::kCallback, "the loss function set the weight to ", batch.weight,
               ", expected a finite number of at least 0");
  // A product whose gradient is the function's; its own value cancels out.
  const at::Tensor product = (logits * arrays.gradient).sum();
  return {product - product.detach() + batch.loss, batch.weight};
}

}  // namespace gnnmg::train
