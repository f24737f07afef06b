// State, copies, initial weights and configs of models.
#include "nn/model.h"

#include <ATen/TensorOperators.h>
#include <gmock/gmock.h>

#include <cmath>

#include "nn/model_world.h"
#include "nn/torch_tensor.h"

namespace gnnmg::nn {
namespace {

using base::Status;
using testing::HasSubstr;

TEST(Sage, StateIsStrictAndFailsAsAWhole) {
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  const auto model = make_model(config);
  const at::Tensor before = model->flat_parameters().clone();
  config.seed = 77;
  const io::StateFile good = make_model(config)->state();
  std::string text;

  io::StateFile bad;
  for (const auto& [key, tensor] : good.tensors) {
    if (key == "convs.1.lin_r.weight") continue;
    if (key == "convs.0.lin_l.bias")
      bad.tensors.emplace_back(key, base::Tensor::zeros(base::DType::kF64, {13}));
    else if (key == "norms.0.module.num_batches_tracked")
      bad.tensors.emplace_back(key, base::Tensor::zeros(base::DType::kF32, {}));
    else
      bad.tensors.emplace_back(key, tensor);
  }
  bad.tensors.emplace_back("convs.9.lin_l.weight", base::Tensor::zeros(base::DType::kF32, {1}));
  EXPECT_EQ(status_of([&] { model->load_state(bad); }, &text), Status::kFormat);
  EXPECT_EQ(
      text,
      "the state does not fit the model: missing: convs.1.lin_r.weight; unexpected: "
      "convs.9.lin_l.weight; of the wrong shape or type: convs.0.lin_l.bias is [13], expected "
      "[12], norms.0.module.num_batches_tracked has elements of type f32, expected i64");
  EXPECT_TRUE(model->flat_parameters().equal(before));

  io::StateFile wrapped;  // as a data-parallel wrapper saves it, and without counters
  for (const auto& [key, tensor] : good.tensors)
    if (!key.ends_with("num_batches_tracked"))
      wrapped.tensors.emplace_back("module." + key, tensor);
  model->load_state(wrapped);
  const io::StateFile back = model->state();
  ASSERT_EQ(back.tensors.size(), good.tensors.size());
  for (size_t i = 0; i < back.tensors.size(); ++i) {
    EXPECT_EQ(back.tensors[i].first, good.tensors[i].first);
    EXPECT_TRUE(to_torch(back.tensors[i].second).equal(to_torch(good.tensors[i].second)));
  }
}

// What a training that diverged leaves, or a file that is damaged.
TEST(Sage, RefusesNumbersThatNoModelComputesWith) {
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  config.dtype = base::DType::kF32;
  const auto model = make_model(config);
  const at::Tensor before = model->flat_parameters().clone();
  const auto refusal = [&](Model& of, std::string_view key, base::Tensor tensor, Status expected) {
    io::StateFile state = of.state();
    for (auto& [name, value] : state.tensors)
      if (name == key) value = tensor;
    std::string text;
    EXPECT_EQ(status_of([&] { of.load_state(state); }, &text), expected);
    return text;
  };
  const base::Shape shape = shape_of(model->parameters()[0].tensor);
  const auto with = [&]<typename T>(base::Shape of, int64_t at, T value) {
    base::Tensor tensor = base::Tensor::zeros(base::dtype_of<T>(), of);
    tensor.as<T>()[at] = value;
    return tensor;
  };
  const std::string weight = model->parameters()[0].key, place = ", row 1, column 2: ";
  const int64_t at = shape[1] + 2;
  for (const float bad : {NAN, INFINITY, -INFINITY})
    EXPECT_EQ(refusal(*model, weight, with(shape, at, bad), Status::kNan),
              weight + place + "expected a finite value, found NaN or infinity");
  base::Tensor half = base::Tensor::zeros(base::DType::kF16, shape);
  static_cast<uint16_t*>(half.data())[at] = 0x7c00;
  EXPECT_THAT(refusal(*model, weight, half, Status::kNan), HasSubstr(place));
  EXPECT_THAT(refusal(*model, weight, with(shape, at, NAN + 0.0), Status::kNan), HasSubstr(place));
  EXPECT_EQ(refusal(*model, weight, with(shape, at, -1e300), Status::kRange),
            weight + place + "-1e+300 is beyond the range of 32-bit floats");
  const std::string norm = "norms.0.module.";
  EXPECT_EQ(refusal(*model, norm + "running_var", with({12}, 3, -0.5F), Status::kRange),
            norm + "running_var, row 3, column 0: -0.5, expected a variance of at least 0");
  EXPECT_EQ(refusal(*model, norm + "num_batches_tracked", with({}, 0, int64_t{-1}), Status::kRange),
            norm + "num_batches_tracked, row 0, column 0: -1, expected a count of at least 0");
  EXPECT_THAT(refusal(*model, norm + "num_batches_tracked", with({}, 0, true), Status::kFormat),
              HasSubstr("num_batches_tracked has elements of type bool, expected i64"));
  EXPECT_TRUE(model->flat_parameters().equal(before));

  // A model of 64 bits holds what 64 bits hold.
  config.dtype = base::DType::kF64;
  const auto wide = make_model(config);
  EXPECT_EQ(refusal(*wide, weight, with(shape, at, -1e300), Status::kOk), "");
  EXPECT_EQ(wide->parameters()[0].tensor.flatten()[at].item<double>(), -1e300);
  EXPECT_THAT(refusal(*wide, weight, with(shape, at, NAN + 0.0), Status::kNan), HasSubstr(place));
}

TEST(Stack, ReadsTheKeysOfOlderGat) {
  ModelConfig config = small_config();
  config.architecture = Architecture::kGat;
  config.heads = 2;
  const auto model = make_model(config);
  io::StateFile older;
  for (const auto& [key, tensor] : model->state().tensors) {
    const size_t at = key.find(".lin.weight");
    if (at == std::string::npos) {
      older.tensors.emplace_back(key, tensor);
      continue;
    }
    older.tensors.emplace_back(key.substr(0, at) + ".lin_src.weight", tensor);
    older.tensors.emplace_back(key.substr(0, at) + ".lin_dst.weight", tensor);
  }
  config.seed = 77;
  const auto other = make_model(config);
  other->load_state(older);
  EXPECT_TRUE(other->flat_parameters().equal(model->flat_parameters()));
  // Two matrices are two layers: nothing that the model could hold.
  for (auto& [key, tensor] : older.tensors)
    if (key == "convs.1.lin_dst.weight") {
      tensor = base::Tensor::empty(tensor.dtype(), tensor.shape());
      std::ranges::fill(tensor.as<double>(), 1.0);
      std::string text;
      EXPECT_EQ(status_of([&] { other->load_state(older); }, &text), Status::kFormat);
      EXPECT_THAT(text, HasSubstr("missing: convs.1.lin.weight"));
      EXPECT_THAT(text, HasSubstr("convs.1.lin_src.weight"));
    }
}

TEST(Sage, ClonesAreEqualAndApart) {
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  const auto model = make_model(config);
  at::Tensor weights = model->flat_parameters();
  weights.add_(1);
  model->fold_batch_statistics(random_tensor({1, model->batch_statistics_width()}, at::kDouble, 1));
  const auto copy = model->clone();
  const io::StateFile a = model->state(), b = copy->state();
  for (size_t i = 0; i < a.tensors.size(); ++i)
    EXPECT_TRUE(to_torch(a.tensors[i].second).equal(to_torch(b.tensors[i].second)));
  weights.add_(1);
  EXPECT_FALSE(weights.equal(copy->flat_parameters()));
}

TEST(Sage, InitialWeightsFollowTheirLaw) {
  ModelConfig config = small_config();
  config.input_dim = 100;
  config.hidden_dim = 50;
  for (const Init init : {Init::kPyg, Init::kGlorot, Init::kDgl}) {
    config.init = init;
    config.dtype = base::DType::kF32;
    const auto model = make_model(config);
    const at::Tensor weight = model->parameters()[0].tensor.detach();
    const at::Tensor bias = model->parameters()[1].tensor.detach();
    ASSERT_EQ(model->parameters()[0].key, "convs.0.lin_l.weight");
    const double bound = init == Init::kPyg      ? 0.1
                         : init == Init::kGlorot ? std::sqrt(6 / 150.0)
                                                 : std::sqrt(12 / 150.0);
    EXPECT_LE(largest(weight), bound);
    EXPECT_GT(largest(weight), 0.99 * bound);
    EXPECT_NEAR(weight.mean().item<double>(), 0, 0.05 * bound);
    EXPECT_NEAR(weight.pow(2).mean().item<double>(), bound * bound / 3, 0.03 * bound * bound);
    if (init == Init::kGlorot)
      EXPECT_EQ(largest(bias), 0);
    else
      EXPECT_LE(largest(bias), 0.1 + 1e-7);
    EXPECT_TRUE(make_model(config)->flat_parameters().equal(model->flat_parameters()));
    config.dtype = base::DType::kF64;
    EXPECT_TRUE(near(make_model(config)->flat_parameters(), model->flat_parameters(), 1e-7));
    config.seed = 4;
    EXPECT_FALSE(near(make_model(config)->flat_parameters(), model->flat_parameters(), 1e-3));
    config.seed = 3;
  }
}

TEST(ModelConfigCheck, NamesTheField) {
  const auto text_of = [](auto&& change) {
    ModelConfig config = small_config();
    change(config);
    std::string text;
    EXPECT_EQ(status_of([&] { make_model(config); }, &text), Status::kInvalidArgument);
    return text;
  };
  EXPECT_THAT(text_of([](ModelConfig& c) { c.input_dim = 0; }), HasSubstr("input_dim is 0"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.hidden_dim = -1; }), HasSubstr("hidden_dim"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.num_layers = 11; }), HasSubstr("num_layers is 11"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.dropout = 1; }), HasSubstr("dropout"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.dropout = NAN; }), HasSubstr("dropout"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.dtype = base::DType::kF16; }), HasSubstr("f16"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.norm = static_cast<Norm>(9); }), HasSubstr("norm"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.skip = Skip::kResidual;
                c.act_first = true;
              }),
              HasSubstr("act_first"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.heads = 2; }), HasSubstr("only attention has heads"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.architecture = Architecture::kGat;
                c.heads = 5;
              }),
              HasSubstr("hidden_dim is 12, expected a multiple of the 5 heads"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.jumping = Jumping::kCat;
                c.skip = Skip::kLinear;
              }),
              HasSubstr("jumping"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.slope = INFINITY; }), HasSubstr("slope"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.norm_scale = 0; }), HasSubstr("norm_scale is 0"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.mlp_layers = 9; }), HasSubstr("mlp_layers is 9"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.aggregation = Aggregation::kPool; }),
              HasSubstr("PyG's GraphSAGE has mean, max and sum"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.framework = Framework::kDgl;
                c.aggregation = Aggregation::kSum;
              }),
              HasSubstr("DGL's GraphSAGE has mean, pool"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.architecture = Architecture::kGin;
                c.bias = false;
              }),
              HasSubstr("bias"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.architecture = Architecture::kGin;
                c.norm = Norm::kLayerGraph;
              }),
              HasSubstr("the norm of each row"));
}

}  // namespace
}  // namespace gnnmg::nn
