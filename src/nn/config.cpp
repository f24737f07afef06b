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

void SageConfig::check() const {
  check_range("input_dim", input_dim, 1, kMaxWidth);
  check_range("hidden_dim", hidden_dim, 1, kMaxWidth);
  check_range("output_dim", output_dim, 0, kMaxWidth);
  check_range("num_layers", num_layers, 1, 10);
  check_range("aggregation", static_cast<int64_t>(aggregation), 0, 2);
  check_range("activation", static_cast<int64_t>(activation), 0, 6);
  check_range("norm", static_cast<int64_t>(norm), 0, 3);
  check_range("skip", static_cast<int64_t>(skip), 0, 2);
  check_range("init", static_cast<int64_t>(init), 0, 2);
  check_rate("dropout", dropout);
  check_rate("input_dropout", input_dropout);
  if (dtype != base::DType::kF32 && dtype != base::DType::kF64)
    fail(Status::kInvalidArgument, "model config: dtype is ", base::dtype_name(dtype),
         ", expected f32 or f64");
  if (act_first && skip == Skip::kResidual)
    fail(Status::kInvalidArgument,
         "model config: act_first does not go with residual blocks, whose norm stands before the "
         "convolution");
}

int64_t SageConfig::output_width() const { return output_dim ? output_dim : hidden_dim; }

}  // namespace gnnmg::nn
