#include "nn/config.h"

#include <cmath>

#include "base/error.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;

void check_range(const char* field, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high)
    fail(Status::kInvalidArgument, "model config: ", field, " is ", value, ", expected ", low,
         " to ", high);
}

void check_rate(const char* field, double value) {
  if (!(value >= 0 && value < 1))
    fail(Status::kInvalidArgument, "model config: ", field, " is ", value,
         ", expected at least 0 and below 1");
}

constexpr int64_t kMaxWidth = int64_t{1} << 24;

}  // namespace

void ModelConfig::check() const {
  check_range("architecture", static_cast<int64_t>(architecture), 1, 5);
  check_range("input_dim", input_dim, 1, kMaxWidth);
  check_range("hidden_dim", hidden_dim, 1, kMaxWidth);
  check_range("output_dim", output_dim, 0, kMaxWidth);
  check_range("num_layers", num_layers, 1, 10);
  check_range("aggregation", static_cast<int64_t>(aggregation), 0, 5);
  check_range("framework", static_cast<int64_t>(framework), 0, 1);
  check_range("mlp_layers", mlp_layers, 1, 8);
  check_range("activation", static_cast<int64_t>(activation), 0, 6);
  check_range("norm", static_cast<int64_t>(norm), 0, 7);
  check_range("skip", static_cast<int64_t>(skip), 0, 2);
  check_range("init", static_cast<int64_t>(init), 0, 2);
  check_range("jumping", static_cast<int64_t>(jumping), 0, 5);
  check_range("heads", heads, 1, 64);
  check_rate("dropout", dropout);
  check_rate("input_dropout", input_dropout);
  check_range("readout", static_cast<int64_t>(readout), 0, 3);
  check_rate("output_dropout", output_dropout);
  if (jumping == Jumping::kScores && readout == Readout::kNone)
    fail(Status::kInvalidArgument,
         "model config: jumping adds up the scores of readouts, and readout is none");
  // The recurrent network's square matrices are this wide.
  if (jumping == Jumping::kLstm)
    check_range("hidden_dim times num_layers", hidden_dim * num_layers, 2, kMaxWidth);
  if (output_dropout > 0 && jumping == Jumping::kNone && skip == Skip::kNone)
    fail(Status::kInvalidArgument, "model config: output_dropout is ", output_dropout,
         ", and without jumping or skip no linear layer comes last");
  if (dtype != base::DType::kF32 && dtype != base::DType::kF64)
    fail(Status::kInvalidArgument, "model config: dtype is ", base::dtype_name(dtype),
         ", expected f32 or f64");
  const bool dgl = framework == Framework::kDgl;
  const bool of_both = aggregation == Aggregation::kMean;
  const bool of_pyg = aggregation == Aggregation::kMax || aggregation == Aggregation::kSum;
  if (architecture == Architecture::kSage && !of_both && of_pyg == dgl)
    fail(Status::kInvalidArgument, "model config: aggregation is ", static_cast<int>(aggregation),
         dgl ? ", and DGL's GraphSAGE has mean, pool, LSTM and GCN"
             : ", and PyG's GraphSAGE has mean, max and sum");
  if (architecture == Architecture::kSage && dgl && (normalize || project || !root_weight))
    fail(Status::kInvalidArgument,
         "model config: normalize, project and no root_weight are options of PyG's GraphSAGE");
  if (act_first && skip == Skip::kResidual)
    fail(Status::kInvalidArgument,
         "model config: act_first does not go with residual blocks, whose norm stands before the "
         "convolution");
  const bool attention = architecture == Architecture::kGat || architecture == Architecture::kGatv2;
  if (attention && concat && hidden_dim % heads != 0)
    fail(Status::kInvalidArgument, "model config: hidden_dim is ", hidden_dim,
         ", expected a multiple of the ", heads, " heads that are put beside each other");
  if (!attention && heads != 1)
    fail(Status::kInvalidArgument, "model config: heads is ", heads,
         ", and only attention has heads");
  if (architecture == Architecture::kGin && !bias)
    fail(Status::kInvalidArgument, "model config: bias is off, and GIN's networks have one");
  if (architecture == Architecture::kGin && over_graph(norm) && readout == Readout::kNone)
    fail(Status::kInvalidArgument,
         "model config: a norm over a graph does not go with GIN without a readout, which has "
         "norms inside its layers: take the norm of each row");
  if (jumping != Jumping::kNone && skip != Skip::kNone)
    fail(Status::kInvalidArgument,
         "model config: jumping knowledge and skips are two ways to reach the result, choose one");
  if (!std::isfinite(norm_scale) || norm_scale <= 0)
    fail(Status::kInvalidArgument, "model config: norm_scale is ", norm_scale,
         ", expected a number above 0");
  if (!std::isfinite(slope) || !std::isfinite(eps))
    fail(Status::kInvalidArgument, "model config: slope is ", slope, " and eps ", eps,
         ", expected finite numbers");
}

int64_t ModelConfig::output_width() const { return output_dim ? output_dim : hidden_dim; }

}  // namespace gnnmg::nn
