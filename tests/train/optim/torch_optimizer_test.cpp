// Optimizer states from and to files of PyTorch's optimizers. Real ones, of the stored
// trajectories.
#include "train/optim/torch_optimizer.h"

#include <ATen/TensorOperators.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "nn/torch/tensor.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg::train {
namespace {

using base::Status;
using testing::HasSubstr;

std::unique_ptr<nn::Model> make_model(bool f64 = false, int64_t hidden = 16) {
  nn::ModelConfig config;
  config.input_dim = 8;
  config.hidden_dim = hidden;
  config.output_dim = 5;
  config.dtype = f64 ? base::DType::kF64 : base::DType::kF32;
  return nn::make_model(config);
}

OptimizerConfig with_momentum(OptimizerKind kind) {
  OptimizerConfig config;
  config.kind = kind;
  if (kind == OptimizerKind::kSgd) config.momentum = 0.9;
  return config;
}

void step_uphill(nn::Model& model, Optimizer& optimizer) {
  at::Tensor gradients = model.flat_gradients(), weights = model.flat_parameters().detach();
  gradients.copy_(weights * weights + 0.1);
  optimizer.step();
}

std::string text_of(const std::function<void()>& f, Status expected) {
  try {
    f();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), expected) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

struct Stored {
  const char* name;
  OptimizerKind kind;
  bool f64;
};

TEST(TorchOptimizer, ReadsWhatPyTorchWroteAndWritesItAgain) {
  GNNMG_NEEDS_DATA("parity/pyg");
  const test::TempDir folder;
  for (const Stored& stored : {Stored{"traj_adam", OptimizerKind::kAdam, false},
                               Stored{"traj_adam_f64", OptimizerKind::kAdam, true},
                               Stored{"traj_adamw", OptimizerKind::kAdamW, false},
                               Stored{"traj_sgd_momentum", OptimizerKind::kSgd, false}}) {
    SCOPED_TRACE(stored.name);
    const auto model = make_model(stored.f64);
    const OptimizerConfig config = with_momentum(stored.kind);
    const auto optimizer = Optimizer::create(*model, config);
    const std::string theirs = test::data_path(base::text("parity/pyg/", stored.name, ".opt.pth"));
    optimizer->load_state(read_torch_state(theirs, *model, config));
    const std::string ours = folder.file(base::text(stored.name, ".pth"));
    io::write_optimizer_pth(ours, torch_state_of(*optimizer, *model));
    for (size_t i = 0; i < model->parameters().size(); ++i) {
      const io::StateFile a = io::read_pth(theirs, base::text("state.", i)),
                          b = io::read_pth(ours, base::text("state.", i));
      ASSERT_EQ(a.tensors.size(), b.tensors.size());
      for (size_t k = 0; k < a.tensors.size(); ++k) {
        EXPECT_EQ(a.tensors[k].first, b.tensors[k].first);
        const base::TensorView x = a.tensors[k].second.view(), y = b.tensors[k].second.view();
        ASSERT_EQ(x.num_bytes(), y.num_bytes());
        EXPECT_EQ(std::memcmp(x.data, y.data, x.num_bytes()), 0) << a.tensors[k].first;
      }
    }
  }
}

TEST(TorchOptimizer, GoesOnWhereItWas) {
  const test::TempDir folder;
  const std::string path = folder.file("o.pth");
  for (const OptimizerKind kind :
       {OptimizerKind::kAdam, OptimizerKind::kAdamW, OptimizerKind::kSgd})
    for (const bool amsgrad : {false, true}) {
      OptimizerConfig config = with_momentum(kind);
      config.amsgrad = amsgrad && kind != OptimizerKind::kSgd;
      const auto model = make_model();
      const auto optimizer = Optimizer::create(*model, config);
      io::write_optimizer_pth(path, torch_state_of(*optimizer, *model));
      EXPECT_TRUE(read_torch_state(path, *model, config).empty()) << "before the first step";
      for (int i = 0; i < 3; ++i) step_uphill(*model, *optimizer);
      io::write_optimizer_pth(path, torch_state_of(*optimizer, *model));
      const auto copy = model->clone();
      const auto other = Optimizer::create(*copy, config);
      other->load_state(read_torch_state(path, *copy, config));
      step_uphill(*model, *optimizer);
      step_uphill(*copy, *other);
      EXPECT_TRUE(copy->flat_parameters().equal(model->flat_parameters()));
    }
}

// Decay of the first layer alone is two groups of PyTorch's, whose numbers go group by group: here
// the slope of PReLU, the first of the model's keys, comes after the first layer's.
TEST(TorchOptimizer, GroupsOfDecayedParametersComeFirst) {
  const test::TempDir folder;
  const std::string path = folder.file("o.pth");
  nn::ModelConfig layers;
  layers.input_dim = 8;
  layers.hidden_dim = 16;
  layers.output_dim = 5;
  layers.activation = nn::Activation::kPrelu;
  const auto model = nn::make_model(layers);
  OptimizerConfig config = with_momentum(OptimizerKind::kAdam);
  config.weight_decay = 0.25;
  config.weight_decay_layers = 1;
  const auto optimizer = Optimizer::create(*model, config);
  for (int i = 0; i < 3; ++i) step_uphill(*model, *optimizer);
  const io::OptimizerDict dict = torch_state_of(*optimizer, *model);
  ASSERT_EQ(dict.groups.size(), 2);
  EXPECT_EQ(dict.groups[0].count, 3);
  EXPECT_EQ(dict.groups[1].count, 4);
  const auto decay_of = [&](int group) -> double {
    for (const auto& [name, value] : dict.groups[group].options)
      if (name == "weight_decay") return std::get<double>(value);
    return NAN;
  };
  EXPECT_EQ(decay_of(0), 0.25);
  EXPECT_EQ(decay_of(1), 0);
  EXPECT_EQ(model->parameters()[0].key, "act.weight");
  const base::Shape slope{1};
  EXPECT_EQ(dict.state[3].tensors[1].second.shape(), slope);
  io::write_optimizer_pth(path, dict);
  const auto copy = model->clone();
  const auto other = Optimizer::create(*copy, config);
  other->load_state(read_torch_state(path, *copy, config));
  step_uphill(*model, *optimizer);
  step_uphill(*copy, *other);
  EXPECT_TRUE(copy->flat_parameters().equal(model->flat_parameters()));
}

TEST(TorchOptimizer, FilesOfOthersAreRefused) {
  const test::TempDir folder;
  const std::string path = folder.file("o.pth");
  const auto model = make_model();
  const OptimizerConfig adam = with_momentum(OptimizerKind::kAdam);
  const OptimizerConfig sgd = with_momentum(OptimizerKind::kSgd);
  const auto optimizer = Optimizer::create(*model, adam);
  step_uphill(*model, *optimizer);
  const io::OptimizerDict good = torch_state_of(*optimizer, *model);
  io::write_optimizer_pth(path, good);
  const auto refused = [&](const nn::Model& of, const OptimizerConfig& config, Status status) {
    return text_of([&] { (void)read_torch_state(path, of, config); }, status);
  };
  EXPECT_THAT(refused(*model, sgd, Status::kFormat),
              HasSubstr("missing: momentum_buffer.convs.0.lin_l.weight"));
  EXPECT_THAT(refused(*make_model(false, 8), adam, Status::kFormat),
              HasSubstr("misshapen: exp_avg.convs.0.lin_l.weight"));
  io::OptimizerDict other = good;
  other.state.push_back(good.state.back());
  io::write_optimizer_pth(path, other);
  EXPECT_THAT(refused(*model, adam, Status::kFormat), HasSubstr("it has a parameter 6"));
  other.state.resize(100);  // entries without tensors
  other.state.push_back(good.state.back());
  std::swap(other.state[6].tensors, other.state[99].tensors);
  io::write_optimizer_pth(path, other);
  EXPECT_THAT(refused(*model, adam, Status::kFormat), HasSubstr("it has a parameter 99"));
  other = good;
  for (auto& [kind, tensor] : other.state[1].tensors)
    if (kind == "exp_avg_sq") {
      tensor = base::Tensor::zeros(tensor.dtype(), tensor.shape());
      tensor.as<float>()[2] = -0.5f;
    }
  io::write_optimizer_pth(path, other);
  EXPECT_THAT(refused(*model, adam, Status::kRange),
              HasSubstr("exp_avg_sq.convs.0.lin_l.bias: element 2 of [16] is -0.5, expected"));
  other = good;
  other.state[2].tensors[0].second = base::Tensor::zeros(base::DType::kF32, {});
  io::write_optimizer_pth(path, other);
  EXPECT_THAT(refused(*model, adam, Status::kUnsupported), HasSubstr("has made 0 steps"));
  other.state[2].tensors[0].second = base::Tensor::zeros(base::DType::kF32, {2});
  io::write_optimizer_pth(path, other);
  EXPECT_THAT(refused(*model, adam, Status::kFormat), HasSubstr("expected one number"));
  for (const float bad : {NAN, -1.0F, INFINITY}) {
    other.state[2].tensors[0].second = base::Tensor::zeros(base::DType::kF32, {});
    *static_cast<float*>(other.state[2].tensors[0].second.data()) = bad;
    io::write_optimizer_pth(path, other);
    EXPECT_THAT(refused(*model, adam, Status::kRange), HasSubstr("step is "));
  }
  other = good;
  auto& [name, moments] = other.state[1].tensors[1];
  moments = base::Tensor::zeros(moments.dtype(), moments.shape());
  moments.as<float>()[3] = NAN;
  io::write_optimizer_pth(path, other);
  EXPECT_THAT(refused(*model, adam, Status::kNan),
              HasSubstr(base::text(name, ".", model->parameters()[1].key, ": element 3 of ",
                                   moments.shape().to_string(), " is not finite")));
  // A parameter that got no gradient has no entry there.
  other = good;
  other.state[1].tensors.clear();
  io::write_optimizer_pth(path, other);
  EXPECT_FALSE(read_torch_state(path, *model, adam).empty());
  io::write_pth(path, model->state());
  EXPECT_THAT(refused(*model, adam, Status::kNotFound),
              HasSubstr("has nothing at \"state\"; expected a state of"));
}

}  // namespace
}  // namespace gnnmg::train
