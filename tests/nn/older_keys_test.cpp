// Weights in the forms that PyG's layers had before.
#include <ATen/TensorOperators.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "nn/model/model.h"
#include "nn/model_world.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {
namespace {

using base::Status;
using testing::HasSubstr;

base::Tensor turned(const base::Tensor& matrix) {
  const int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  base::Tensor out = base::Tensor::empty(matrix.dtype(), {columns, rows});
  for (int64_t i = 0; i < rows * columns; ++i)
    out.as<double>()[i % columns * rows + i / columns] = matrix.as<double>()[i];
  return out;
}

// GCNConv of PyG 1: one matrix [inputs, outputs].
TEST(OlderKeys, ReadsTheMatrixOfOlderGcn) {
  ModelConfig config = small_config();
  config.architecture = Architecture::kGcn;
  const auto model = make_model(config);
  io::StateFile older;
  for (const auto& [key, tensor] : model->state().tensors) {
    const size_t at = key.find(".lin.weight");
    older.tensors.emplace_back(at == std::string::npos ? key : key.substr(0, at) + ".weight",
                               at == std::string::npos ? tensor : turned(tensor));
  }
  config.seed = 77;
  const auto other = make_model(config);
  other->load_state(older);
  EXPECT_TRUE(other->flat_parameters().equal(model->flat_parameters()));
  EXPECT_THAT(other->file_names().older, HasSubstr("convs.0.weight was read as the matrix of a "
                                                   "layer of PyG 1,"));
  EXPECT_THAT(other->file_names().older, HasSubstr("other_framework 1"));
  EXPECT_FALSE(other->file_names().lost.empty()) << "it cannot be written as it was";
  other->load_state(model->state());
  EXPECT_EQ(other->file_names().older, "");
  // A matrix that is not transposed.
  for (auto& [key, tensor] : older.tensors)
    if (key == "convs.0.weight") tensor = turned(tensor);
  std::string text;
  EXPECT_EQ(status_of([&] { other->load_state(older); }, &text), Status::kFormat);
  EXPECT_THAT(text, HasSubstr("convs.0.lin.weight is ["));
}

// GATConv of PyG 1: one form has one matrix under two names; the older form has the scores of
// targets before those of sources.
TEST(OlderKeys, ReadsTheScoresOfOlderGat) {
  ModelConfig config = small_config();
  config.architecture = Architecture::kGat;
  config.heads = 2;
  const auto model = make_model(config);
  const io::StateFile own = model->state();
  io::StateFile of17, first;
  for (const auto& [key, tensor] : own.tensors) {
    const size_t dot = key.find('.', 6);
    const std::string stem = key.substr(0, dot), name = key.substr(dot + 1);
    if (name == "lin.weight") {
      of17.tensors.emplace_back(stem + ".lin_l.weight", tensor);
      of17.tensors.emplace_back(stem + ".lin_r.weight", tensor);
      first.tensors.emplace_back(stem + ".weight", turned(tensor));
    } else if (name == "att_src" || name == "att_dst") {
      of17.tensors.emplace_back(stem + (name == "att_src" ? ".att_l" : ".att_r"), tensor);
    } else {
      of17.tensors.emplace_back(key, tensor);
      first.tensors.emplace_back(key, tensor);
    }
    if (name != "att_dst") continue;
    const base::Tensor& source = *own.find(stem + ".att_src");
    const int64_t heads = tensor.shape()[1], width = tensor.shape()[2];
    base::Tensor both = base::Tensor::empty(tensor.dtype(), {1, heads, 2 * width});
    for (int64_t i = 0; i < heads * width; ++i) {
      double* const row = both.as<double>().data() + i / width * 2 * width;
      row[i % width] = tensor.as<double>()[i];
      row[width + i % width] = source.as<double>()[i];
    }
    first.tensors.emplace_back(stem + ".att", both);
  }
  config.seed = 77;
  for (const io::StateFile& state : {of17, first}) {
    const auto other = make_model(config);
    other->load_state(state);
    EXPECT_TRUE(other->flat_parameters().equal(model->flat_parameters()));
  }
  // Two matrices are those of two sides, which this model has not.
  for (auto& [key, tensor] : of17.tensors)
    if (key == "convs.0.lin_r.weight") {
      tensor = base::Tensor::empty(tensor.dtype(), tensor.shape());
      std::ranges::fill(tensor.as<double>(), 1.0);
    }
  std::string text;
  EXPECT_EQ(status_of([&] { make_model(config)->load_state(of17); }, &text), Status::kFormat);
  EXPECT_THAT(text, HasSubstr("missing: convs.0.lin.weight"));
}

// SAGEConv of PyG before 1.6: two linear layers, each with a bias.
TEST(OlderKeys, ReadsTheLinearLayersOfOlderSage) {
  ModelConfig config = small_config();
  const auto model = make_model(config);
  const io::StateFile own = model->state();
  const auto halved = [](const base::Tensor& tensor) {
    base::Tensor half = base::Tensor::copy_of(tensor.as<const double>());
    for (double& number : half.as<double>()) number /= 2;
    return half;
  };
  io::StateFile both, one;
  for (const auto& [key, tensor] : own.tensors) {
    const size_t dot = key.find('.', 6);
    const std::string stem = key.substr(0, dot), name = key.substr(dot + 1);
    if (name == "lin_l.bias") {
      both.tensors.emplace_back(stem + ".lin_rel.bias", halved(tensor));
      both.tensors.emplace_back(stem + ".lin_root.bias", halved(tensor));
      one.tensors.emplace_back(stem + ".lin_rel.bias", tensor);
      continue;
    }
    const std::string older =
        stem + (name == "lin_l.weight" ? ".lin_rel" : ".lin_root") + ".weight";
    both.tensors.emplace_back(older, tensor);
    one.tensors.emplace_back(older, tensor);
  }
  config.seed = 77;
  for (const io::StateFile& state : {both, one}) {
    const auto other = make_model(config);
    other->load_state(state);
    EXPECT_TRUE(other->flat_parameters().equal(model->flat_parameters()));
    EXPECT_THAT(other->file_names().older,
                HasSubstr("convs.0.lin_rel.weight was read as the lin_l.weight of a SAGEConv"));
  }
  EXPECT_THAT(make_model(config)->file_names().older, "");
  // GraphConv has these keys for itself.
  config.architecture = Architecture::kGraphConv;
  const auto graph_conv = make_model(config);
  graph_conv->load_state(one);
  EXPECT_TRUE(graph_conv->flat_parameters().equal(model->flat_parameters()));
  EXPECT_THAT(graph_conv->file_names().older, "");
  // A missing tensor is named by the key of today.
  both.tensors.pop_back();
  std::string text;
  config.architecture = Architecture::kSage;
  EXPECT_EQ(status_of([&] { make_model(config)->load_state(both); }, &text), Status::kFormat);
  EXPECT_THAT(text, HasSubstr("missing: convs.2.lin_r.weight"));
}

// GraphConv of PyG before 1.4: a matrix for the neighbors, and a linear layer for the node.
TEST(OlderKeys, ReadsTheMatrixOfOlderGraphConv) {
  ModelConfig config = small_config();
  config.architecture = Architecture::kGraphConv;
  const auto model = make_model(config);
  io::StateFile older;
  for (const auto& [key, tensor] : model->state().tensors) {
    const size_t dot = key.find('.', 6);
    const std::string stem = key.substr(0, dot), name = key.substr(dot + 1);
    if (name == "lin_rel.weight")
      older.tensors.emplace_back(stem + ".weight", turned(tensor));
    else
      older.tensors.emplace_back(stem + (name == "lin_rel.bias" ? ".lin.bias" : ".lin.weight"),
                                 tensor);
  }
  config.seed = 77;
  const auto other = make_model(config);
  other->load_state(older);
  EXPECT_TRUE(other->flat_parameters().equal(model->flat_parameters()));
}

}  // namespace
}  // namespace gnnmg::nn
