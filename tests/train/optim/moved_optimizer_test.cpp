// Optimizer states that go with their weights to the layers of the other framework and back: steps
// there are the steps here.
#include <ATen/TensorOperators.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "io/state_file.h"
#include "support/temp_dir.h"
#include "train/optim/torch_optimizer.h"

namespace gnnmg::train {
namespace {

using nn::Architecture;
using nn::Framework;
using nn::ModelConfig;
using testing::HasSubstr;

using Change = std::function<void(ModelConfig&)>;

std::unique_ptr<nn::Model> make_model(Framework framework, Architecture architecture,
                                      const Change& change, uint64_t seed) {
  ModelConfig config;
  config.framework = framework;
  config.architecture = architecture;
  config.dtype = base::DType::kF64;
  config.input_dim = 6;
  config.hidden_dim = 6;  // square matrices, which a shape does not tell from those of others
  config.output_dim = 6;
  using enum Architecture;
  if (architecture == kGcn || architecture == kGat || architecture == kGatv2)
    config.self_loops = false;
  config.seed = seed;
  if (change) change(config);
  return nn::make_model(config);
}

// Gradients that depend on nothing but the weight of each element.
void update(nn::Model& model, Optimizer& optimizer) {
  const at::Tensor weights = model.flat_parameters().detach();
  model.flat_gradients().copy_(weights * weights * 3 + weights.sin() + 0.1);
  optimizer.step();
}

struct Case {
  const char* name;
  Architecture architecture;
  Change both, pyg_only, dgl_only;
};

const Case kCases[] = {
    {"SAGE", Architecture::kSage, {}, {}, {}},
    {"SAGE pool",
     Architecture::kSage,
     {},
     [](ModelConfig& c) {
       c.aggregation = nn::Aggregation::kMax;
       c.project = true;
     },
     [](ModelConfig& c) { c.aggregation = nn::Aggregation::kPool; }},
    {"SAGE with norms",
     Architecture::kSage,
     [](ModelConfig& c) { c.norm = nn::Norm::kBatch; },
     {},
     {}},
    {"GCN", Architecture::kGcn, {}, {}, {}},
    {"GAT", Architecture::kGat, {}, {}, {}},
    {"GAT of three heads",
     Architecture::kGat,
     [](ModelConfig& c) {
       c.heads = 3;
       c.bias = false;
     },
     {},
     {}},
    {"GATv2 without biases",
     Architecture::kGatv2,
     [](ModelConfig& c) {
       c.heads = 2;
       c.bias = false;
     },
     {},
     {}},
    {"GIN", Architecture::kGin, {}, {}, {}},
    {"GIN that learns eps", Architecture::kGin, [](ModelConfig& c) { c.train_eps = true; }, {}, {}},
    {"R-GCN of bases",
     Architecture::kRelation,
     [](ModelConfig& c) {
       c.relations = 3;
       c.bases = 2;
     },
     {},
     {}},
    {"R-GCN of blocks",
     Architecture::kRelation,
     [](ModelConfig& c) {
       c.relations = 3;
       c.blocks = 2;
     },
     {},
     {}},
};

OptimizerConfig config_of(OptimizerKind kind) {
  OptimizerConfig config;
  config.kind = kind;
  config.amsgrad = kind == OptimizerKind::kAdamW;
  if (kind == OptimizerKind::kSgd) config.momentum = 0.9;
  return config;
}

constexpr nn::FileForm kOther{.other_framework = true};

// Moves a training from a model to one of the other framework's layers, by files that either of the
// two writes in the other's form or its own.
void move_training(const nn::Model& from, Optimizer& state, nn::Model& to, Optimizer& there,
                   bool sender_converts, const std::string& path) {
  if (sender_converts) {
    to.load_state(from.state_of_other_framework());
    io::write_optimizer_pth(path, torch_state_of(state, from, kOther));
    there.load_state(read_torch_state(path, to, there.config()));
  } else {
    to.load_state_of_other_framework(from.state());
    io::write_optimizer_pth(path, torch_state_of(state, from));
    there.load_state(read_torch_state(path, to, there.config(), {kOther, ""}));
  }
}

TEST(MovedOptimizer, StepsAreThoseThatItWouldHaveMade) {
  const test::TempDir folder;
  for (const Case& c : kCases)
    for (const OptimizerKind kind :
         {OptimizerKind::kAdam, OptimizerKind::kAdamW, OptimizerKind::kSgd})
      for (const bool from_pyg : {true, false})
        for (const bool sender_converts : {true, false}) {
          SCOPED_TRACE(testing::Message() << c.name << ", kind " << static_cast<int>(kind)
                                          << (from_pyg ? ", from PyG" : ", from DGL")
                                          << (sender_converts ? ", converted by the sender" : ""));
          const auto make = [&](bool pyg, uint64_t seed) {
            const auto change = [&](ModelConfig& config) {
              if (c.both) c.both(config);
              const Change& own = pyg ? c.pyg_only : c.dgl_only;
              if (own) own(config);
            };
            return make_model(pyg ? Framework::kPyg : Framework::kDgl, c.architecture, change,
                              seed);
          };
          const auto from = make(from_pyg, 1), to = make(!from_pyg, 2);
          const OptimizerConfig config = config_of(kind);
          const auto here = Optimizer::create(*from, config),
                     there = Optimizer::create(*to, config);
          for (int i = 0; i < 3; ++i) update(*from, *here);
          move_training(*from, *here, *to, *there, sender_converts, folder.file("o.pth"));
          for (int i = 0; i < 3; ++i) {
            update(*from, *here);
            update(*to, *there);
          }
          const at::Tensor wanted = from->flat_parameters().detach().clone();
          from->load_state_of_other_framework(to->state());
          EXPECT_TRUE(from->flat_parameters().allclose(wanted, 1e-13, 1e-13));
        }
}

// A weight that is made of several others has a state that is not the sum of theirs.
TEST(MovedOptimizer, WhatCannotFollowIsRefused) {
  const test::TempDir folder;
  const auto text_of = [&](Framework framework, Architecture architecture, const Change& change) {
    const auto model = make_model(framework, architecture, change, 1);
    const auto optimizer = Optimizer::create(*model, config_of(OptimizerKind::kAdam));
    update(*model, *optimizer);
    try {
      (void)torch_state_of(*optimizer, *model, kOther);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::kUnsupported);
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  const Change heads = [](ModelConfig& c) { c.heads = 2; };
  const Change residual = [](ModelConfig& c) {
    c.residual = true;
    c.heads = 1;
    c.num_layers = 1;
    c.jumping = nn::Jumping::kCat;
  };
  for (const Framework framework : {Framework::kPyg, Framework::kDgl}) {
    EXPECT_THAT(text_of(framework, Architecture::kGatv2, {}),
                HasSubstr("GATv2Conv: biases of DGL are sums of those of PyG, so that what an "
                          "optimizer keeps of them cannot be converted"));
    EXPECT_THAT(text_of(framework, Architecture::kGat, heads), HasSubstr("a bias for each head"));
    const Change one_layer = [&](ModelConfig& c) {
      c.aggregation = nn::Aggregation::kMax;
      if (framework == Framework::kPyg) c.mlp_layers = 1;
    };
    EXPECT_THAT(text_of(framework, Architecture::kEdge, one_layer),
                HasSubstr("EdgeConv: weights of one framework are sums and differences"));
    EXPECT_THAT(text_of(framework, Architecture::kGat, residual), HasSubstr("in PyG alone"));
  }
  EXPECT_THAT(text_of(Framework::kPyg, Architecture::kTransformer, {}),
              HasSubstr("the graph transformer has no counterpart in DGL"));
}

// A file of the other framework's that does not fit is told of in its own keys.
TEST(MovedOptimizer, ErrorsNameTheKeysOfTheFile) {
  const test::TempDir folder;
  const std::string path = folder.file("o.pth");
  const Change wide = [](ModelConfig& c) { c.hidden_dim = 8; };
  const auto pyg = make_model(Framework::kPyg, Architecture::kGcn, wide, 1);
  const auto dgl = make_model(Framework::kDgl, Architecture::kGcn, wide, 1);
  const OptimizerConfig config = config_of(OptimizerKind::kAdam);
  const auto optimizer = Optimizer::create(*pyg, config);
  update(*pyg, *optimizer);
  io::write_optimizer_pth(path, torch_state_of(*optimizer, *pyg));
  try {
    (void)read_torch_state(path, *dgl, config);
    FAIL() << "nothing was refused";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kFormat);
    EXPECT_THAT(error.what(), HasSubstr(path));
    EXPECT_THAT(error.what(), HasSubstr("exp_avg.layers.0.weight is f64 [8], expected f64 [6, 8]"));
  }
}

}  // namespace
}  // namespace gnnmg::train
