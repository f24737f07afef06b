// Stacks of listed layers: equality with config-made models, keys, and mismatches. model_test.cpp
// has the tests for all kinds of models.
#include <ATen/TensorOperators.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "nn/config/layer_config.h"
#include "nn/model_world.h"
#include "nn/state/module_names.h"

namespace gnnmg::nn {
namespace {

using base::Status;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = LayerConfig::Kind;

LayerConfig conv(const std::string& name, Architecture architecture, int64_t out) {
  LayerConfig layer{Kind::kConv, name, {}};
  layer.options.architecture = architecture;
  layer.options.output_dim = out;
  return layer;
}
LayerConfig linear(const std::string& name, int64_t out) {
  LayerConfig layer{Kind::kLinear, name, {}};
  layer.options.output_dim = out;
  return layer;
}
LayerConfig norm(const std::string& name, Norm kind) {
  LayerConfig layer{Kind::kNorm, name, {}};
  layer.options.norm = kind;
  return layer;
}
LayerConfig activation(Activation kind, const std::string& name = "") {
  LayerConfig layer{Kind::kActivation, name, {}};
  layer.options.activation = kind;
  return layer;
}
LayerConfig dropout(double rate) {
  LayerConfig layer{Kind::kDropout, "", {}};
  layer.options.dropout = rate;
  return layer;
}
LayerConfig readout(const std::string& name, Readout kind) {
  LayerConfig layer{Kind::kReadout, name, {}};
  layer.options.readout = kind;
  return layer;
}
ModelConfig stack(std::vector<LayerConfig> layers) {
  ModelConfig config;
  config.architecture = Architecture::kLayers;
  config.input_dim = kFeatures;
  config.dtype = base::DType::kF64;
  config.layers = std::move(layers);
  return config;
}

// Networks with a norm inside, as GINConv(Sequential(Linear, BatchNorm1d, ReLU, Linear)): the same
// as the model of a config, in addition to the norms between layers.
TEST(LayerModel, NetworksHaveNormsInside) {
  const Batch batch = sample_batch(make_graph(), {3, 3}, {4, 0, 59, 17, 30, 31});
  for (const Architecture architecture :
       {Architecture::kGin, Architecture::kGine, Architecture::kEdge})
    for (const Norm kind : {Norm::kBatch, Norm::kLayer, Norm::kGraph, Norm::kPair})
      for (const bool act_first : {false, true}) {
        SCOPED_TRACE(base::text(static_cast<int>(architecture), " norm ", static_cast<int>(kind),
                                " act_first ", act_first));
        ModelConfig config = small_config();
        config.architecture = architecture;
        config.num_layers = 2;
        config.norm = kind;
        config.norm_options.epsilon = 1e-3;
        config.act_first = act_first;
        if (architecture == Architecture::kGine) config.edge_dim = kEdgeColumns;
        const auto whole = make_model(config);
        LayerConfig first = conv("convs.0", architecture, config.hidden_dim),
                    second = conv("convs.1", architecture, config.output_dim),
                    between = norm("norms.0", kind);
        for (LayerConfig* layer : {&first, &second}) {
          layer->options.norm = kind;
          layer->options.norm_options.epsilon = 1e-3;
          layer->options.act_first = act_first;
          layer->options.edge_dim = config.edge_dim;
        }
        between.options.norm_options.epsilon = 1e-3;
        const LayerConfig act = activation(Activation::kRelu);
        const auto own = make_model(stack(act_first ? std::vector{first, act, between, second}
                                                    : std::vector{first, between, act, second}));
        own->load_state(whole->state());
        const auto pass = [&](Model& model) {
          model.zero_gradients();
          const at::Tensor out = model.forward(args_of(batch, false, true));
          out.pow(2).sum().backward();
          model.fold_batch_statistics(model.take_batch_statistics());
          return out.detach();
        };
        EXPECT_TRUE(near(pass(*own), pass(*whole), 1e-12));
        EXPECT_TRUE(near(own->forward(args_of(batch, false, false)),
                         whole->forward(args_of(batch, false, false)), 1e-12));
        for (const int64_t grain : {7, 100})
          EXPECT_TRUE(near(infer(*own, *make_graph(), "x", grain),
                           infer(*whole, *make_graph(), "x", 100), 1e-12))
              << grain;
        io::StateFile modules = own->state();
        if (kind != Norm::kBatch) continue;
        to_torch_modules(modules, own->config());
        EXPECT_NE(
            modules.find(act_first ? "convs.1.nn.2.running_mean" : "convs.1.nn.1.running_mean"),
            nullptr);
        EXPECT_NE(modules.find("convs.1.nn.3.weight"), nullptr);
        own->load_state(modules);
      }
}

// DGL's GINConv around such a network: PyG's under other keys.
TEST(LayerModel, DglsGinHasNormsInside) {
  const Batch batch = sample_batch(make_graph(), {3}, {4, 0, 59, 17, 30, 31});
  for (const bool act_first : {false, true}) {
    LayerConfig layer = conv("c", Architecture::kGin, 5);
    layer.options.norm = Norm::kBatch;
    layer.options.act_first = act_first;
    const auto pyg = make_model(stack({layer}));
    layer.options.framework = Framework::kDgl;
    const auto dgl = make_model(stack({layer}));
    const std::string inner = act_first ? "c.apply_func.2." : "c.apply_func.1.";
    io::StateFile state = pyg->state();
    for (auto& [key, tensor] : state.tensors)
      for (const auto& [from, to] :
           {std::pair<std::string, std::string>("c.nn.lins.0.", "c.apply_func.0."),
            {"c.nn.lins.1.", "c.apply_func.3."},
            {"c.nn.norms.0.module.", inner}})
        if (key.starts_with(from)) key = to + key.substr(from.size());
    dgl->load_state(state);
    std::vector<std::string> keys;
    for (const auto& [key, tensor] : dgl->state().tensors)
      if (key.ends_with(".weight")) keys.push_back(key);
    EXPECT_THAT(keys,
                ElementsAre("c.apply_func.0.weight", inner + "weight", "c.apply_func.3.weight"));
    for (const bool training : {true, false})
      EXPECT_TRUE(near(dgl->forward(args_of(batch, false, training)),
                       pyg->forward(args_of(batch, false, training)), 1e-13));
  }
}

// PyG's GraphSAGE, layer by layer under the keys of its class: output, gradients and statistics.
TEST(LayerModel, IsTheModelOfAConfig) {
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  const auto whole = make_model(config);
  const auto own =
      make_model(stack({conv("convs.0", Architecture::kSage, 12), norm("norms.0", Norm::kBatch),
                        activation(Activation::kRelu), conv("convs.1", Architecture::kSage, 12),
                        norm("norms.1", Norm::kBatch), activation(Activation::kRelu),
                        conv("convs.2", Architecture::kSage, 4)}));
  own->load_state(whole->state());
  EXPECT_EQ(own->config().num_layers, 3);
  EXPECT_EQ(own->config().output_width(), 4);
  const Batch batch = sample_batch(make_graph(), {3, 3, 3}, {4, 0, 59, 17, 30, 31});
  for (const bool sparse : {false, true}) {
    const auto pass = [&](Model& model) {
      model.zero_gradients();
      const at::Tensor out = model.forward(args_of(batch, sparse, true));
      out.pow(2).sum().backward();
      model.fold_batch_statistics(model.take_batch_statistics());
      return out.detach();
    };
    EXPECT_TRUE(near(pass(*own), pass(*whole), 1e-13));
    for (const NamedTensor& parameter : whole->parameters()) {
      const auto found = std::ranges::find(own->parameters(), parameter.key, &NamedTensor::key);
      ASSERT_NE(found, own->parameters().end()) << parameter.key;
      EXPECT_TRUE(near(found->tensor.grad(), parameter.tensor.grad(), 1e-11, 1)) << parameter.key;
    }
    EXPECT_TRUE(near(own->forward(args_of(batch, sparse, false)),
                     whole->forward(args_of(batch, sparse, false)), 1e-13));
  }
}

TEST(LayerModel, KeysStandBehindTheNames) {
  const auto model =
      make_model(stack({linear("encoder", 5), conv("conv1", Architecture::kGcn, 6),
                        norm("bn1", Norm::kBatch), activation(Activation::kPrelu, "act"),
                        dropout(0.5), readout("pool", Readout::kSet2Set), linear("head.0", 3)}));
  std::vector<std::string> keys;
  for (const NamedTensor& entry : model->state_tensors()) keys.push_back(entry.key);
  EXPECT_THAT(
      keys, ElementsAre("encoder.weight", "encoder.bias", "conv1.bias", "conv1.lin.weight",
                        "bn1.module.weight", "bn1.module.bias", "bn1.module.running_mean",
                        "bn1.module.running_var", "bn1.module.num_batches_tracked", "act.weight",
                        "pool.lstm.weight_ih_l0", "pool.lstm.weight_hh_l0", "pool.lstm.bias_ih_l0",
                        "pool.lstm.bias_hh_l0", "head.0.weight", "head.0.bias"));
  EXPECT_EQ(model->config().readout, Readout::kSet2Set);
  const auto copy = model->clone();
  EXPECT_TRUE(copy->flat_parameters().equal(model->flat_parameters()));
}

// Each convolution is converted to the other framework under its own name, in its place.
TEST(LayerModel, ConvolutionsConvertUnderTheirNames) {
  const auto stack_of = [](Framework framework) {
    std::vector<LayerConfig> layers{conv("conv1", Architecture::kSage, 12),
                                    norm("bn", Norm::kBatch), activation(Activation::kElu),
                                    conv("attention", Architecture::kGat, 8), linear("head", 4)};
    for (LayerConfig& layer : layers) layer.options.framework = framework;
    layers[3].options.heads = 2;
    layers[3].options.self_loops = false;
    return make_model(stack(layers));
  };
  const auto pyg = stack_of(Framework::kPyg), dgl = stack_of(Framework::kDgl);
  at::Tensor weights = pyg->flat_parameters();
  weights += 0.1 * random_tensor(weights.sizes(), at::kDouble, 7);
  const io::StateFile other = pyg->state_of_other_framework();
  std::vector<std::string> keys;
  for (const auto& [key, tensor] : other.tensors) keys.push_back(key);
  EXPECT_THAT(keys, testing::ElementsAre("conv1.fc_neigh.weight", "conv1.fc_self.weight",
                                         "conv1.fc_self.bias", "bn.module.weight", "bn.module.bias",
                                         "bn.module.running_mean", "bn.module.running_var",
                                         "bn.module.num_batches_tracked", "attention.attn_l",
                                         "attention.attn_r", "attention.bias",
                                         "attention.fc.weight", "head.weight", "head.bias"));
  dgl->load_state(other);
  const Batch batch = sample_batch(make_graph(), {4, 4}, {4, 0, 59, 17});
  const at::Tensor expected = pyg->forward(args_of(batch, false, false));
  EXPECT_TRUE(near(dgl->forward(args_of(batch, false, false)), expected, 1e-12));
  const auto again = stack_of(Framework::kPyg);
  again->load_state_of_other_framework(dgl->state());
  EXPECT_TRUE(near(again->forward(args_of(batch, false, false)), expected, 1e-12));

  LayerConfig first = conv("a", Architecture::kSage, 4), second = conv("b", Architecture::kSage, 4);
  second.options.framework = Framework::kDgl;
  const auto mixed = make_model(stack({first, second}));
  std::string text;
  EXPECT_EQ(status_of([&] { (void)mixed->state_of_other_framework(); }, &text),
            Status::kUnsupported);
  EXPECT_THAT(text, HasSubstr("layer 'b' is not of the same framework"));
}

// The norm of DGL's SAGEConv: after its function, under a key of the convolution's, in the last
// layer too.
TEST(LayerModel, NormsHaveNamesInsideOfConvolutions) {
  const Batch batch = sample_batch(make_graph(), {3, 3}, {4, 0, 59, 17, 30, 31});
  const auto made = [](const std::string& first, const std::string& second) {
    std::vector<LayerConfig> layers{conv("conv1", Architecture::kSage, 12),
                                    activation(Activation::kRelu), norm(first, Norm::kLayer),
                                    conv("conv2", Architecture::kSage, 4),
                                    norm(second, Norm::kBatch)};
    for (LayerConfig& layer : layers) layer.options.framework = Framework::kDgl;
    return make_model(stack(layers));
  };
  const auto inner = made("conv1.norm", "conv2.norm"), apart = made("n1", "n2");
  io::StateFile state = apart->state();
  for (auto& [key, tensor] : state.tensors) {
    if (key.starts_with("n1.")) key = "conv1.norm." + key.substr(3);
    if (key.starts_with("n2.module.")) key = "conv2.norm." + key.substr(10);  // torch's own key
  }
  inner->load_state(state);
  EXPECT_NE(inner->state().find("conv2.norm.module.running_mean"), nullptr);
  EXPECT_TRUE(inner->forward(args_of(batch, false, true))
                  .equal(apart->forward(args_of(batch, false, true))));
  io::StateFile own = inner->state();
  to_file_names(own, inner->file_names(), false);
  for (const auto& [key, tensor] : state.tensors) EXPECT_NE(own.find(key), nullptr) << key;
  const auto again = made("conv1.norm", "conv2.norm");
  again->load_state_of_other_framework(inner->state_of_other_framework());
  EXPECT_TRUE(again->forward(args_of(batch, false, false))
                  .equal(inner->forward(args_of(batch, false, false))));
}

TEST(LayerModel, DropoutIsThatOfItsPlaceAndOffInEvaluation) {
  const Batch batch = sample_batch(make_graph(), {3}, {1, 2, 3});
  const auto model = make_model(stack({dropout(0.5), conv("conv", Architecture::kSage, 4)}));
  const auto plain = make_model(stack({conv("conv", Architecture::kSage, 4)}));
  plain->load_state(model->state());
  const at::Tensor trained = model->forward(args_of(batch, false, true)).detach();
  EXPECT_TRUE(model->forward(args_of(batch, false, true)).detach().equal(trained));
  const at::Tensor evaluated = model->forward(args_of(batch, false, false));
  EXPECT_FALSE(near(trained, evaluated, 1e-3));
  EXPECT_TRUE(evaluated.equal(plain->forward(args_of(batch, false, false))));
}

TEST(LayerModel, WhatDoesNotFitIsNamedWithItsPlace) {
  const auto text_of = [](std::vector<LayerConfig> layers) {
    std::string text;
    EXPECT_EQ(status_of([&] { make_model(stack(std::move(layers))); }, &text),
              Status::kInvalidArgument);
    return text;
  };
  const LayerConfig good = conv("conv1", Architecture::kSage, 12);
  EXPECT_EQ(text_of({}),
            "model: none of its 0 layers is a convolution, which mini-batches are made "
            "for; add one");
  EXPECT_THAT(text_of({linear("a", 3)}), HasSubstr("none of its 1 layers"));
  EXPECT_THAT(text_of({good, conv("conv1", Architecture::kSage, 3)}),
              HasSubstr("layer 1, convolution 'conv1': its name is 'conv1', and there is"));
  EXPECT_THAT(text_of({good, conv("conv1.x", Architecture::kSage, 3)}),
              HasSubstr("'conv1' already"));
  EXPECT_THAT(text_of({good, norm("conv1.fc", Norm::kLayer)}), HasSubstr("'conv1' already"));
  EXPECT_THAT(text_of({good, norm("conv1.norm", Norm::kLayer), norm("conv1.norm", Norm::kLayer)}),
              HasSubstr("'conv1.norm' already"));
  EXPECT_THAT(text_of({conv("", Architecture::kSage, 3)}), HasSubstr("its name is ''"));
  EXPECT_THAT(text_of({conv("a..b", Architecture::kSage, 3)}), HasSubstr("its name is 'a..b'"));
  EXPECT_THAT(text_of({conv("a b", Architecture::kSage, 3)}), HasSubstr("its name is 'a b'"));
  EXPECT_THAT(text_of({good, norm("", Norm::kBatch)}), HasSubstr("layer 1, norm: its name is ''"));
  EXPECT_THAT(text_of({conv("a", Architecture::kSage, 0)}), HasSubstr("output_dim is 0"));
  EXPECT_THAT(text_of({conv("a", Architecture::kSage, -3)}), HasSubstr("output_dim is -3"));
  EXPECT_THAT(text_of({good, linear("b", int64_t{1} << 60)}), HasSubstr("layer 1, linear"));
  EXPECT_THAT(text_of({good, dropout(1)}), HasSubstr("dropout is 1"));
  EXPECT_THAT(text_of({good, dropout(NAN)}), HasSubstr("layer 1, dropout"));
  EXPECT_THAT(text_of({good, norm("n", Norm::kNone)}), HasSubstr("there is no norm 0"));
  EXPECT_THAT(text_of({good, activation(static_cast<Activation>(9))}),
              HasSubstr("there is no activation 9"));
  EXPECT_THAT(text_of({good, readout("", Readout::kSum), conv("b", Architecture::kSage, 3)}),
              HasSubstr("after a readout there are no edges"));
  EXPECT_THAT(text_of({good, readout("", Readout::kSum), readout("", Readout::kMax)}),
              HasSubstr("a readout already"));
  EXPECT_THAT(text_of({good, readout("", Readout::kSum), norm("n", Norm::kGraph)}),
              HasSubstr("no norm over it"));
  LayerConfig heads = conv("gat", Architecture::kGat, 10);
  heads.options.heads = 3;
  EXPECT_THAT(text_of({heads}), HasSubstr("layer 0, convolution 'gat': model: hidden_dim is "
                                          "10, expected a multiple of the 3 heads"));
  LayerConfig with_norm = good;
  with_norm.options.norm = Norm::kBatch;
  EXPECT_THAT(text_of({with_norm}),
              HasSubstr("norm, and act_first, are those in GIN's and EdgeConv's networks, and this "
                        "is GraphSAGE: add a layer of it"));
  with_norm.options.architecture = Architecture::kGin;
  with_norm.options.mlp_layers = 1;
  EXPECT_THAT(text_of({with_norm}), HasSubstr("mlp_layers is 1, and a convolution's norm stands"));
  LayerConfig plain = conv("gin", Architecture::kGin, 4);
  plain.options.framework = Framework::kDgl;
  plain.options.mlp_layers = 0;
  EXPECT_THAT(text_of({plain}), HasSubstr("leave rows as wide as they are"));
  LayerConfig act_first = conv("a", Architecture::kGin, 4);
  act_first.options.act_first = true;
  EXPECT_THAT(text_of({act_first}), HasSubstr("act_first is on, and there is no norm"));
  LayerConfig three = conv("a", Architecture::kGine, 4), two = conv("b", Architecture::kGine, 4);
  three.options.edge_dim = 3;
  two.options.edge_dim = 2;
  EXPECT_THAT(text_of({three, two}),
              HasSubstr("edge_dim is 2, and a convolution before it reads 3"));
  std::vector<LayerConfig> many;
  for (int i = 0; i < 17; ++i) many.push_back(conv(base::text("conv", i), Architecture::kSage, 4));
  EXPECT_THAT(text_of(many), HasSubstr("at most 16"));
}

}  // namespace
}  // namespace gnnmg::nn
