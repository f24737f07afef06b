// Optimizers against their published formulas and against trajectories recorded from PyTorch:
// twenty full-batch steps of a GraphSAGE, losses, final weights and the state gathered on the way.
#include "train/optim/optimizer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/graph.h"
#include "io/npy.h"
#include "io/state_file.h"
#include "nn/loss.h"
#include "sample/sampler.h"
#include "support/data.h"
#include "train/fixture.h"
#include "train/optim/optimizer_file.h"

namespace gnnmg::test {
namespace {

using train::Optimizer;
using train::OptimizerConfig;
using train::OptimizerKind;

std::shared_ptr<nn::Model> tiny_model(uint64_t seed = 5) {
  nn::ModelConfig config;
  config.input_dim = 3;
  config.hidden_dim = 4;
  config.output_dim = 2;
  config.dtype = base::DType::kF64;
  config.seed = seed;
  return nn::make_model(config);
}

// The gradient of step t: anything that changes.
double gradient(int64_t t, int64_t i) {
  return std::sin(0.7 * static_cast<double>(i + 1) * (t + 1));
}

// Element by element, as the papers and PyTorch's documentation write it.
class Reference {
 public:
  explicit Reference(const OptimizerConfig& config) : c_(config) {}
  double step(double p, double g) {
    ++t_;
    if (c_.kind == OptimizerKind::kSgd) {
      g += c_.weight_decay * p;
      if (c_.momentum != 0) {
        m_ = t_ == 1 ? g : c_.momentum * m_ + (1 - c_.dampening) * g;
        g = c_.nesterov ? g + c_.momentum * m_ : m_;
      }
      return p - c_.learning_rate * g;
    }
    if (c_.kind == OptimizerKind::kRmsProp) {
      g += c_.weight_decay * p;
      v_ = c_.alpha * v_ + (1 - c_.alpha) * g * g;
      mean_ = c_.alpha * mean_ + (1 - c_.alpha) * g;
      const double root = std::sqrt(c_.centered ? v_ - mean_ * mean_ : v_);
      m_ = c_.momentum * m_ + g / (root + c_.epsilon);
      return p - c_.learning_rate * m_;
    }
    if (c_.kind == OptimizerKind::kAdagrad) {
      g += c_.weight_decay * p;
      v_ += g * g;
      return p - c_.learning_rate * g / (std::sqrt(v_) + c_.epsilon);
    }
    if (c_.kind == OptimizerKind::kAdamW)
      p -= c_.learning_rate * c_.weight_decay * p;
    else
      g += c_.weight_decay * p;
    m_ = c_.beta1 * m_ + (1 - c_.beta1) * g;
    v_ = c_.beta2 * v_ + (1 - c_.beta2) * g * g;
    max_v_ = std::max(max_v_, v_);
    const double v = (c_.amsgrad ? max_v_ : v_) / (1 - std::pow(c_.beta2, t_));
    return p - c_.learning_rate * m_ / (1 - std::pow(c_.beta1, t_)) / (std::sqrt(v) + c_.epsilon);
  }

 private:
  OptimizerConfig c_;
  int t_ = 0;
  double m_ = 0, v_ = 0, max_v_ = 0, mean_ = 0;
};

std::vector<OptimizerConfig> all_kinds() {
  std::vector<OptimizerConfig> configs;
  for (const OptimizerKind kind : {OptimizerKind::kAdam, OptimizerKind::kAdamW}) {
    for (const bool amsgrad : {false, true}) {
      OptimizerConfig c;
      c.kind = kind;
      c.weight_decay = 0.1;
      c.beta1 = 0.8;
      c.amsgrad = amsgrad;
      configs.push_back(c);
    }
  }
  OptimizerConfig sgd;
  sgd.kind = OptimizerKind::kSgd;
  configs.push_back(sgd);
  sgd.weight_decay = 0.1;
  sgd.momentum = 0.9;
  sgd.dampening = 0.3;
  configs.push_back(sgd);
  sgd.dampening = 0;
  sgd.nesterov = true;
  configs.push_back(sgd);
  for (const bool centered : {false, true})
    for (const double momentum : {0.0, 0.9})
      configs.push_back({.kind = OptimizerKind::kRmsProp,
                         .weight_decay = 0.1,
                         .momentum = momentum,
                         .alpha = 0.9,
                         .centered = centered});
  configs.push_back({.kind = OptimizerKind::kAdagrad, .weight_decay = 0.1});
  return configs;
}

void set_gradients(nn::Model& model, int64_t t) {
  at::Tensor flat = model.flat_gradients();
  for (int64_t i = 0; i < flat.numel(); ++i) flat.data_ptr<double>()[i] = gradient(t, i);
}

TEST(Optimizer, Formulas) {
  for (const OptimizerConfig& config : all_kinds()) {
    const auto model = tiny_model();
    const auto optimizer = Optimizer::create(*model, config);
    EXPECT_EQ(optimizer->learning_rate(), config.learning_rate);
    const at::Tensor flat = model->flat_parameters();
    const int64_t count = flat.numel();
    std::vector<double> expected(flat.data_ptr<double>(), flat.data_ptr<double>() + count);
    std::vector<Reference> references(count, Reference(config));
    for (int64_t t = 0; t < 10; ++t) {
      set_gradients(*model, t);
      optimizer->step();
      for (int64_t i = 0; i < count; ++i) {
        expected[i] = references[i].step(expected[i], gradient(t, i));
        ASSERT_NEAR(flat.data_ptr<double>()[i], expected[i], 1e-13)
            << "kind " << static_cast<int>(config.kind) << " step " << t << " element " << i;
      }
    }
    // The views that the layers use have moved with it.
    EXPECT_EQ(model->parameters()[0].tensor.data_ptr(), flat.data_ptr());
  }
}

// PyTorch does it with one group of parameters for the first layer and one for the rest.
TEST(Optimizer, WeightDecayOfTheFirstLayersAlone) {
  for (OptimizerConfig config : all_kinds()) {
    config.weight_decay_layers = 1;
    const auto model = tiny_model();
    const auto optimizer = Optimizer::create(*model, config);
    OptimizerConfig without = config;
    without.weight_decay = 0;
    const at::Tensor flat = model->flat_parameters();
    std::vector<double> expected(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
    std::vector<Reference> references;
    int64_t decayed = 0;
    for (const nn::NamedTensor& parameter : model->parameters()) {
      const bool first = parameter.key.starts_with("convs.0.");
      decayed += first ? parameter.tensor.numel() : 0;
      references.insert(references.end(), parameter.tensor.numel(),
                        Reference(first ? config : without));
    }
    ASSERT_GT(decayed, 0);
    ASSERT_LT(decayed, flat.numel());
    for (int64_t t = 0; t < 5; ++t) {
      set_gradients(*model, t);
      optimizer->step();
      for (int64_t i = 0; i < flat.numel(); ++i) {
        expected[i] = references[i].step(expected[i], gradient(t, i));
        ASSERT_NEAR(flat.data_ptr<double>()[i], expected[i], 1e-13)
            << "kind " << static_cast<int>(config.kind) << " step " << t << " element " << i;
      }
    }
    // The number of all layers: every parameter of this model.
    config.weight_decay_layers = 2;
    const auto all = tiny_model(), twin = tiny_model();
    const auto of_layers = Optimizer::create(*all, config);
    config.weight_decay_layers = 0;
    const auto of_all = Optimizer::create(*twin, config);
    for (int64_t t = 0; t < 3; ++t) {
      set_gradients(*all, t);
      set_gradients(*twin, t);
      of_layers->step();
      of_all->step();
    }
    EXPECT_LT((all->flat_parameters() - twin->flat_parameters()).abs().max().item<double>(), 1e-13);
    config.weight_decay_layers = 3;
    try {
      (void)Optimizer::create(*twin, config);
      ADD_FAILURE() << "a layer too many";
    } catch (const base::Error& error) {
      EXPECT_STREQ(error.what(), "weight_decay_layers is 3, and the model has 2 convolutions");
    }
    config.weight_decay = 0.1;  // the range of a setting without effect is not checked
    config.weight_decay_layers = -1;
    EXPECT_THROW(config.check(), base::Error);
  }
}

TEST(Optimizer, LearningRateCanChange) {
  const auto model = tiny_model();
  OptimizerConfig config;
  config.kind = OptimizerKind::kSgd;
  const auto optimizer = Optimizer::create(*model, config);
  optimizer->set_learning_rate(0.25);
  EXPECT_EQ(optimizer->learning_rate(), 0.25);
  const at::Tensor before = model->flat_parameters().detach().clone();
  set_gradients(*model, 0);
  optimizer->step();
  EXPECT_LT((model->flat_parameters() - (before - 0.25 * model->flat_gradients()))
                .abs()
                .max()
                .item<double>(),
            1e-15);
}

TEST(Optimizer, StateCanBeCarriedOver) {
  for (const OptimizerConfig& config : all_kinds()) {
    const auto model = tiny_model();
    const auto optimizer = Optimizer::create(*model, config);
    EXPECT_TRUE(optimizer->state().empty());
    for (int64_t t = 0; t < 3; ++t) {
      set_gradients(*model, t);
      optimizer->step();
    }
    const std::shared_ptr<nn::Model> twin = model->clone();
    const auto other = Optimizer::create(*twin, config);
    other->load_state(optimizer->state());
    for (int64_t t = 3; t < 6; ++t) {
      set_gradients(*model, t);
      set_gradients(*twin, t);
      optimizer->step();
      other->step();
    }
    EXPECT_TRUE(at::equal(model->flat_parameters(), twin->flat_parameters()));
  }
}

// Memory that is made before there is anything to copy is later filled by the copy.
TEST(Optimizer, MemoryForItsStateIsKnownBefore) {
  for (const OptimizerConfig& config : all_kinds()) {
    const auto model = tiny_model();
    const auto optimizer = Optimizer::create(*model, config);
    io::StateFile reserved = train::reserve_state(config, *model), copied;
    set_gradients(*model, 0);
    optimizer->step();
    train::copy_state(*optimizer, *model, copied);
    ASSERT_EQ(reserved.tensors.size(), copied.tensors.size());
    std::vector<const void*> memory;
    for (size_t i = 0; i < copied.tensors.size(); ++i) {
      EXPECT_EQ(reserved.tensors[i].first, copied.tensors[i].first);
      EXPECT_EQ(reserved.tensors[i].second.dtype(), copied.tensors[i].second.dtype());
      EXPECT_EQ(reserved.tensors[i].second.shape(), copied.tensors[i].second.shape());
      memory.push_back(reserved.tensors[i].second.data());
    }
    train::copy_state(*optimizer, *model, reserved);
    for (size_t i = 0; i < copied.tensors.size(); ++i)
      EXPECT_EQ(reserved.tensors[i].second.data(), memory[i]);
  }
}

TEST(Optimizer, RefusesAForeignState) {
  const auto model = tiny_model();
  const auto optimizer = Optimizer::create(*model, {});
  const auto refusal = [&](const std::vector<nn::NamedTensor>& state) -> std::string {
    try {
      optimizer->load_state(state);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::kFormat);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({{"exp_avg", at::zeros({3})}}), "optimizer state has no step");
  EXPECT_EQ(refusal({{"step", at::zeros({1}, at::kDouble)}, {"exp_avg", at::zeros({3})}}),
            base::text("optimizer state exp_avg: expected ", model->flat_parameters().numel(),
                       " values, found 3"));
}

TEST(Optimizer, ClipsToANorm) {
  const auto model = tiny_model();
  set_gradients(*model, 2);
  const at::Tensor before = model->flat_gradients().clone();
  const double norm = before.norm().item<double>();
  EXPECT_NEAR(train::clip_gradients(*model, 2 * norm), norm, 1e-12);
  EXPECT_TRUE(at::equal(model->flat_gradients(), before));
  EXPECT_NEAR(train::clip_gradients(*model, 0.5), norm, 1e-12);
  EXPECT_NEAR(train::scale_gradients(*model, 1), 0.5, 1e-6);
  EXPECT_NEAR(train::scale_gradients(*model, 3), 1.5, 1e-5);
  train::scale_gradients(*model, 1.0 / 3);
  EXPECT_TRUE(at::allclose(model->flat_gradients() * (norm / 0.5), before, 1e-5));
}

// One case: model and data from files, a loop of twenty steps.
void follow_trajectory(const std::string& name, const OptimizerConfig& config, bool f64) {
  const auto path = [&](const char* ending) { return data_path("parity/pyg/" + name + ending); };
  const io::Npz npz = io::Npz::open(path(".npz"));
  const base::Tensor x = npz.get("x"), y = npz.get("y"), mask = npz.get("mask");
  const base::Tensor edges = npz.get("edge_index");
  const int64_t num_nodes = x.rows(), num_edges = edges.shape()[1];
  int64_t* ids = edges.as<int64_t>().data();
  base::ThreadPool pool(1);
  graph::GraphParts parts;
  parts.num_nodes = {num_nodes};
  parts.topology.push_back(graph::csc_from_coo({ids, base::DType::kI64, {num_edges}},
                                               {ids + num_edges, base::DType::kI64, {num_edges}},
                                               num_nodes, num_nodes, pool));
  const auto sampler = sample::make_neighbor_sampler(graph::Graph::create(std::move(parts)),
                                                     {.fanouts = {-1, -1}, .transpose = true});
  std::vector<int64_t> seeds;
  for (int64_t i = 0; i < num_nodes; ++i)
    if (mask.as<bool>()[i]) seeds.push_back(i);
  sample::Workspace workspace;
  sample::Sample sample;
  sampler->sample(seeds, {}, workspace, sample, {});
  const auto long_tensor = [](const int64_t* values, int64_t count) {
    return at::from_blob(const_cast<int64_t*>(values), {count}, at::kLong).clone();
  };
  const at::Tensor all =
      at::from_blob(x.data(), {num_nodes, x.shape()[1]}, f64 ? at::kDouble : at::kFloat);
  const at::Tensor input =
      all.index_select(0, long_tensor(sample.node_ids.data(), sample.num_nodes()));
  const at::Tensor labels =
      long_tensor(y.as<int64_t>().data(), num_nodes)
          .index_select(0, long_tensor(seeds.data(), static_cast<int64_t>(seeds.size())));

  nn::ModelConfig layers;
  layers.input_dim = 8;
  layers.hidden_dim = 16;
  layers.output_dim = 5;
  layers.dtype = f64 ? base::DType::kF64 : base::DType::kF32;
  const auto model = nn::make_model(layers);
  model->load_state(io::read_safetensors(path(".start.safetensors")));
  const auto optimizer = Optimizer::create(*model, config);
  const base::Tensor losses = npz.get("loss");
  const auto expected_losses = losses.as<double>();
  const double tolerance = f64 ? 1e-11 : 1e-5;
  for (size_t t = 0; t < expected_losses.size(); ++t) {
    model->zero_gradients();
    nn::ForwardArgs args;
    args.input.dense = input;
    args.blocks = sample.blocks;
    args.training = true;
    const nn::LossSum loss = nn::loss_sum(nn::Loss::kCrossEntropy, model->forward(args), {labels});
    ASSERT_EQ(loss.weight, static_cast<double>(seeds.size()));
    ASSERT_NEAR(loss.sum.item<double>() / loss.weight, expected_losses[t],
                tolerance * expected_losses[t])
        << name << " step " << t;
    loss.sum.backward();
    model->flat_gradients().mul_(1 / loss.weight);
    optimizer->step();
  }

  const auto expect_close = [&](const at::Tensor& found, const base::Tensor& expected,
                                const std::string& what) {
    ASSERT_EQ(found.numel(), expected.shape().num_elements()) << what;
    const at::Tensor there =
        at::from_blob(expected.data(), {found.numel()},
                      expected.dtype() == base::DType::kF64 ? at::kDouble : at::kFloat);
    const at::Tensor here = found.detach().contiguous().view(-1);
    const double largest = there.abs().max().item<double>();
    EXPECT_LE((here - there).abs().max().item<double>(), (f64 ? 1e-9 : 1e-4) * largest)
        << name << " " << what;
  };
  const io::StateFile final_state = io::read_safetensors(path(".final.safetensors"));
  std::vector<nn::NamedTensor> state = optimizer->state();
  int64_t begin = 0;
  for (size_t i = 0; i < model->parameters().size(); ++i) {
    const nn::NamedTensor& parameter = model->parameters()[i];
    const base::Tensor* expected = final_state.find(parameter.key);
    ASSERT_TRUE(expected) << parameter.key;
    expect_close(parameter.tensor, *expected, parameter.key);
    const io::StateFile gathered =
        io::read_pth(path(".opt.pth"), base::text("state.", static_cast<int64_t>(i)));
    for (const nn::NamedTensor& entry : state) {
      if (entry.key == "step") {
        EXPECT_EQ(entry.tensor.item<double>(), static_cast<double>(expected_losses.size()));
        continue;
      }
      const base::Tensor* recorded = gathered.find(entry.key);
      ASSERT_TRUE(recorded) << entry.key;
      expect_close(entry.tensor.narrow(0, begin, parameter.tensor.numel()), *recorded,
                   entry.key + " of " + parameter.key);
    }
    begin += parameter.tensor.numel();
  }
}

TEST(OptimizerTrajectory, Adam) {
  GNNMG_NEEDS_DATA("parity/pyg/traj_adam.npz");
  follow_trajectory("traj_adam", {.learning_rate = 0.01}, false);
}
TEST(OptimizerTrajectory, AdamInDouble) {
  GNNMG_NEEDS_DATA("parity/pyg/traj_adam_f64.npz");
  follow_trajectory("traj_adam_f64", {.learning_rate = 0.01}, true);
}
TEST(OptimizerTrajectory, AdamW) {
  GNNMG_NEEDS_DATA("parity/pyg/traj_adamw.npz");
  follow_trajectory("traj_adamw",
                    {.kind = OptimizerKind::kAdamW, .learning_rate = 0.01, .weight_decay = 0.01},
                    false);
}
TEST(OptimizerTrajectory, SgdWithMomentum) {
  GNNMG_NEEDS_DATA("parity/pyg/traj_sgd_momentum.npz");
  follow_trajectory("traj_sgd_momentum",
                    {.kind = OptimizerKind::kSgd, .learning_rate = 0.1, .momentum = 0.9}, false);
}

}  // namespace
}  // namespace gnnmg::test
