// The layers and models compared with PyTorch Geometric's: outputs, gradients, buffers and whole
// optimizations stored in tests/data/parity, with weights from both kinds of file.
#include <ATen/TensorOperators.h>

#include <fstream>
#include <map>
#include <sstream>

#include "io/npy.h"
#include "nn/conv/sage_conv.h"
#include "nn/layers/parameters.h"
#include "nn/loss.h"
#include "nn/model/model.h"
#include "nn/support.h"
#include "support/data.h"

namespace gnnmg::nn {
namespace {

struct Case {
  std::string name, layer;
  bool f64 = false, training = true;
  std::map<std::string, std::string> options;

  std::string path(const std::string& ending) const {
    return test::source_path("data/parity/" + name + ending);
  }
  at::ScalarType type() const { return f64 ? at::kDouble : at::kFloat; }
  double output_tolerance() const { return f64 ? 1e-12 : 1e-5; }
  double gradient_tolerance() const { return f64 ? 1e-11 : 1e-4; }
  bool has(const std::string& option, const std::string& value) const {
    const auto found = options.find(option);
    return found != options.end() && found->second == value;
  }
  int64_t number(const std::string& option) const {
    const auto found = options.find(option);
    return found == options.end() ? 0 : std::stoll(found->second);
  }
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> cases(const std::string& layer) {
  std::ifstream index(test::source_path("data/parity/index.tsv"));
  std::vector<Case> all;
  std::string line;
  std::getline(index, line);
  while (std::getline(index, line)) {
    std::vector<std::string> fields;
    std::stringstream columns(line);
    for (std::string field; std::getline(columns, field, '\t');) fields.push_back(field);
    if (fields.size() != 6 || fields[1] != layer) continue;
    Case c{fields[0], fields[1], fields[2] == "f64", fields[3] == "train", {}};
    std::stringstream options(fields[5]);
    for (std::string option; std::getline(options, option, ';');) {
      const size_t equals = option.find('=');
      c.options[option.substr(0, equals)] = option.substr(equals + 1);
    }
    all.push_back(std::move(c));
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }

TestBlock block_of(const io::Npz& npz, int64_t num_sources, int64_t num_targets) {
  const base::Tensor edge_index = npz.get("edge_index");
  const auto ids = edge_index.as<int64_t>();
  const size_t count = ids.size() / 2;
  TestBlock::Edges edges;
  for (size_t e = 0; e < count; ++e) edges.emplace_back(ids[e], ids[count + e]);
  return TestBlock(num_sources, num_targets, edges);
}

void expect_input_gradient(const Case& c, const io::Npz& npz, const std::string& key,
                           const at::Tensor& x) {
  double scale = 0;
  for (const std::string& other : npz.keys())
    if (other.starts_with("grad")) scale = std::max(scale, largest(to_torch(npz.get(other))));
  ASSERT_TRUE(npz.has("grad." + key));
  EXPECT_TRUE(
      near(x.grad(), to_torch(npz.get("grad." + key)), c.gradient_tolerance(), 0.01 * scale))
      << key;
}

class ConvParity : public testing::TestWithParam<Case> {};

TEST_P(ConvParity, OutputAndGradients) {
  const Case& c = GetParam();
  const io::Npz npz = io::Npz::open(c.path(".npz"));
  const bool pair = npz.has("x_src");
  at::Tensor x = to_torch(npz.get(pair ? "x_src" : "x")).set_requires_grad(true);
  at::Tensor x_target;
  if (pair) x_target = to_torch(npz.get("x_dst")).set_requires_grad(true);
  const TestBlock block = block_of(npz, x.size(0), pair ? x_target.size(0) : x.size(0));
  SageConvOptions options;
  options.reduce = c.has("aggr", "max")   ? Reduce::kMax
                   : c.has("aggr", "sum") ? Reduce::kSum
                                          : Reduce::kMean;
  options.normalize = c.has("normalize", "True");

  for (const io::StateFile& state :
       {io::read_pth(c.path(".pth")), io::read_safetensors(c.path(".safetensors"))}) {
    std::vector<NamedTensor> parameters;
    SageConvWeights weights;
    for (const auto& [key, field] :
         std::map<std::string, at::Tensor*>{{"lin.weight", &weights.lin},
                                            {"lin.bias", &weights.lin_bias},
                                            {"lin_l.weight", &weights.lin_l},
                                            {"lin_l.bias", &weights.lin_l_bias},
                                            {"lin_r.weight", &weights.lin_r}}) {
      const base::Tensor* stored = state.find(key);
      if (!stored) continue;
      *field = to_torch(*stored).set_requires_grad(true);
      parameters.push_back({key, *field});
    }
    ASSERT_EQ(parameters.size(), state.tensors.size());
    ConvInput input;
    input.x = x;
    input.x_target = x_target;
    Execution execution;
    execution.gradients = true;
    x.mutable_grad() = at::Tensor();
    if (pair) x_target.mutable_grad() = at::Tensor();
    const at::Tensor out = sage_conv(weights, input, block.view(), options, Finish{}, execution);
    EXPECT_TRUE(near(out, to_torch(npz.get("out")), c.output_tolerance()));
    (out * to_torch(npz.get("cot"))).sum().backward();
    expect_gradients(npz, parameters, c.gradient_tolerance());
    expect_input_gradient(c, npz, pair ? "x_src" : "x", x);
    if (pair) expect_input_gradient(c, npz, "x_dst", x_target);
  }
}

INSTANTIATE_TEST_SUITE_P(Pyg, ConvParity, testing::ValuesIn(cases("SAGEConv")), name_of);

// The layers above compute the product before the aggregation, which is cheaper for them; this test
// runs the same cases in the other order.
TEST_P(ConvParity, AggregationBeforeTheProduct) {
  const Case& c = GetParam();
  const io::Npz npz = io::Npz::open(c.path(".npz"));
  const io::StateFile state = io::read_safetensors(c.path(".safetensors"));
  if (c.has("project", "True") || c.has("normalize", "True") || c.has("aggr", "max")) {
    ASSERT_TRUE(state.find("lin_l.weight"));  // covered above: this order is their only one
    return;
  }
  const bool pair = npz.has("x_src");
  AggregateLinear in;
  in.x = to_torch(npz.get(pair ? "x_src" : "x")).set_requires_grad(true);
  if (pair) in.x_target = to_torch(npz.get("x_dst")).set_requires_grad(true);
  in.lin_l = to_torch(*state.find("lin_l.weight")).set_requires_grad(true);
  in.bias = to_torch(*state.find("lin_l.bias")).set_requires_grad(true);
  std::vector<NamedTensor> parameters{{"lin_l.weight", in.lin_l}, {"lin_l.bias", in.bias}};
  if (state.find("lin_r.weight")) {
    in.lin_r = to_torch(*state.find("lin_r.weight")).set_requires_grad(true);
    parameters.push_back({"lin_r.weight", in.lin_r});
  }
  const TestBlock block = block_of(npz, in.x.size(0), pair ? in.x_target.size(0) : in.x.size(0));
  Execution execution;
  execution.gradients = true;
  const at::Tensor out = aggregate_linear(
      in, block.view(), c.has("aggr", "sum") ? Reduce::kSum : Reduce::kMean, Finish{}, execution);
  EXPECT_TRUE(near(out, to_torch(npz.get("out")), c.output_tolerance()));
  (out * to_torch(npz.get("cot"))).sum().backward();
  expect_gradients(npz, parameters, c.gradient_tolerance());
  expect_input_gradient(c, npz, pair ? "x_src" : "x", in.x);
}

ModelConfig config_of(const Case& c) {
  ModelConfig config;
  config.input_dim = c.number("in_channels");
  config.hidden_dim = c.number("hidden_channels");
  config.output_dim = c.number("out_channels");
  config.num_layers = static_cast<int32_t>(c.number("num_layers"));
  config.project = c.has("project", "True");
  config.act_first = c.has("act_first", "True");
  config.dtype = c.f64 ? base::DType::kF64 : base::DType::kF32;
  if (c.has("aggr", "max")) config.aggregation = Aggregation::kMax;
  if (c.has("act", "prelu")) config.activation = Activation::kPrelu;
  if (c.has("norm", "batch_norm")) config.norm = Norm::kBatch;
  if (c.has("norm", "layer_norm")) config.norm = Norm::kLayerGraph;
  return config;
}

class ModelParity : public testing::TestWithParam<Case> {};

TEST_P(ModelParity, OutputGradientsAndBuffers) {
  const Case& c = GetParam();
  const io::Npz npz = io::Npz::open(c.path(".npz"));
  const std::unique_ptr<Model> model = make_model(config_of(c));
  std::vector<io::StateFile> states{io::read_pth(c.path(".pth")),
                                    io::read_safetensors(c.path(".safetensors"))};
  if (c.name == "model_sage") states.push_back(io::read_pth(c.path(".ddp.pth")));
  std::vector<std::string> keys, written;
  for (const auto& [key, tensor] : states[0].tensors) keys.push_back(key);
  for (const auto& [key, tensor] : model->state().tensors) written.push_back(key);
  EXPECT_EQ(written, keys) << "the state dict's order is PyG's";

  at::Tensor x = to_torch(npz.get("x")).set_requires_grad(true);
  const TestBlock block = block_of(npz, x.size(0), x.size(0));
  const auto blocks = TestBlock::repeated(block, model->config().num_layers);
  for (const io::StateFile& state : states) {
    model->load_state(state);
    model->zero_gradients();
    x.mutable_grad() = at::Tensor();
    ForwardArgs args;
    args.input.dense = x;
    args.blocks = blocks;
    args.training = c.training;
    args.gradients = true;
    const at::Tensor out = model->forward(args);
    EXPECT_TRUE(near(out, to_torch(npz.get("out")), c.output_tolerance()));
    (out * to_torch(npz.get("cot"))).sum().backward();
    expect_gradients(npz, model->parameters(), c.gradient_tolerance());
    expect_input_gradient(c, npz, "x", x);

    if (!c.training) continue;
    model->fold_batch_statistics(model->take_batch_statistics());
    for (const NamedTensor& buffer : model->buffers()) {
      ASSERT_TRUE(npz.has("after." + buffer.key));
      EXPECT_TRUE(
          near(buffer.tensor, to_torch(npz.get("after." + buffer.key)), c.output_tolerance()))
          << buffer.key;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pyg, ModelParity, testing::ValuesIn(cases("GraphSAGE")), name_of);

class TrajectoryParity : public testing::TestWithParam<Case> {};

// Twenty steps of a model of two layers with the optimizer of the case, written out here: the loss
// before every step, the final output and weights.
TEST_P(TrajectoryParity, LossesAndWeights) {
  const Case& c = GetParam();
  const io::Npz npz = io::Npz::open(c.path(".npz"));
  const at::Tensor x = to_torch(npz.get("x"));
  const at::Tensor losses = to_torch(npz.get("loss"));
  const base::Tensor mask = npz.get("mask");
  at::Tensor labels = to_torch(npz.get("y"));
  for (int64_t i = 0; i < labels.numel(); ++i)
    if (!mask.as<bool>()[i]) labels.mutable_data_ptr<int64_t>()[i] = -1;
  ModelConfig config;
  config.input_dim = 8;
  config.hidden_dim = 16;
  config.output_dim = 5;
  config.dtype = c.f64 ? base::DType::kF64 : base::DType::kF32;
  const std::unique_ptr<Model> model = make_model(config);
  model->load_state(io::read_safetensors(c.path(".start.safetensors")));
  const TestBlock block = block_of(npz, x.size(0), x.size(0));
  const auto blocks = TestBlock::repeated(block, 2);
  ForwardArgs args;
  args.input.dense = x;
  args.blocks = blocks;
  args.training = true;

  at::Tensor weights = model->flat_parameters();
  PlainOptimizer optimizer(c.options, weights);
  for (int step = 1; step <= 20; ++step) {
    model->zero_gradients();
    const LossSum loss = loss_sum(Loss::kCrossEntropy, model->forward(args), {labels});
    const at::Tensor mean = loss.sum / loss.weight;
    EXPECT_TRUE(near(mean, losses[step - 1], c.f64 ? 1e-12 : 1e-5)) << "step " << step;
    mean.backward();
    optimizer.step(weights, model->flat_gradients());
  }
  args.training = false;
  EXPECT_TRUE(near(model->forward(args), to_torch(npz.get("out_final")), c.f64 ? 1e-9 : 1e-4));
  const io::StateFile final = io::read_safetensors(c.path(".final.safetensors"));
  for (const NamedTensor& parameter : model->parameters())
    EXPECT_TRUE(near(parameter.tensor, to_torch(*final.find(parameter.key)), c.f64 ? 1e-9 : 1e-4))
        << parameter.key;
}

INSTANTIATE_TEST_SUITE_P(Pyg, TrajectoryParity, testing::ValuesIn(cases("trajectory")), name_of);

TEST(ParityData, IsAllThere) {
  EXPECT_EQ(cases("SAGEConv").size(), 11u);
  EXPECT_EQ(cases("GraphSAGE").size(), 9u);
  EXPECT_EQ(cases("trajectory").size(), 4u);
}

// A state dict of real size is loaded and saved bit for bit, from both kinds of file.
TEST(RealSize, StateComesBackAsItWas) {
  GNNMG_NEEDS_DATA("parity/pyg");
  const std::string stem = test::data_path("parity/pyg/real_sage_100_256_47_l3");
  ModelConfig config;
  config.input_dim = 100;
  config.output_dim = 47;
  config.num_layers = 3;
  const std::unique_ptr<Model> model = make_model(config);
  for (const io::StateFile& state :
       {io::read_pth(stem + ".pth"), io::read_safetensors(stem + ".safetensors")}) {
    model->load_state(state);
    const io::StateFile back = model->state();
    ASSERT_EQ(back.tensors.size(), state.tensors.size());
    for (const auto& [key, tensor] : back.tensors)
      EXPECT_TRUE(to_torch(tensor).equal(to_torch(*state.find(key)))) << key;
  }
}

}  // namespace
}  // namespace gnnmg::nn
