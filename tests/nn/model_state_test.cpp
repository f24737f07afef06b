// State, copies, initial weights and configs of models.
#include "nn/model/model.h"

#include <ATen/TensorOperators.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "nn/model_world.h"
#include "nn/state/module_names.h"
#include "nn/torch/tensor.h"

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

  io::StateFile wrapped;  // keys of a data-parallel wrapper, without counters
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

// Keys that wrappers of a model save.
TEST(State, IsReadWithoutWhatWrappersPutIn) {
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  const auto model = make_model(config);
  config.seed = 77;
  const io::StateFile good = make_model(config)->state();
  const base::Tensor count = base::Tensor::zeros(base::DType::kI64, {});
  using Change = std::function<void(io::StateFile&)>;
  const auto in_front = [](const std::string& prefix) -> Change {
    return [prefix](io::StateFile& state) {
      for (auto& [key, tensor] : state.tensors) key = prefix + key;
    };
  };
  const auto within = [](const std::string& name) -> Change {
    return [name](io::StateFile& state) {
      for (auto& [key, tensor] : state.tensors)
        if (const size_t at = key.find(".1."); at != std::string::npos) key.insert(at + 3, name);
    };
  };
  const auto both = [](const Change& first, const Change& second) -> Change {
    return [=](io::StateFile& state) {
      first(state);
      second(state);
    };
  };
  const auto counted = [&](const char* name) -> Change {
    return
        [=](io::StateFile& state) { state.tensors.insert(state.tensors.begin(), {name, count}); };
  };
  const std::vector<std::pair<Change, std::string>> wrapped{
      {[](io::StateFile&) {}, ""},
      {in_front("module."), "\"module.\" in front of its keys"},
      {in_front("_orig_mod."), "\"_orig_mod.\" in front of its keys"},
      {in_front("module._orig_mod."), "\"module._orig_mod.\" in front of its keys"},
      {in_front("_orig_mod.module."), "\"_orig_mod.module.\" in front of its keys"},
      {in_front("model."), "\"model.\" in front of its keys"},
      {in_front("a.very.own.class."), "\"a.very.own.class.\" in front of its keys"},
      {both(in_front("module."), counted("n_averaged")),
       "\"module.\" in front of its keys, n_averaged"},
      {within("_checkpoint_wrapped_module."), "the names _checkpoint_wrapped_module in its keys"},
      {both(within("_orig_mod."), in_front("_fsdp_wrapped_module.")),
       "the names _fsdp_wrapped_module, _orig_mod in its keys"},
      {both(within("_orig_mod."), in_front("net.")),
       "\"net.\" in front of its keys, the names _orig_mod in its keys"},
  };
  for (const auto& [change, left_out] : wrapped) {
    SCOPED_TRACE(left_out);
    io::StateFile state = good;
    change(state);
    const auto fresh = model->clone();
    fresh->load_state(state);
    const io::StateFile back = fresh->state();
    for (size_t i = 0; i < back.tensors.size(); ++i)
      EXPECT_TRUE(to_torch(back.tensors[i].second).equal(to_torch(good.tensors[i].second)));
    EXPECT_EQ(fresh->file_names().left_out, left_out);
    io::StateFile own = fresh->state();
    to_file_names(own, fresh->file_names(), false);
    for (const auto& [key, tensor] : own.tensors)
      EXPECT_NE(good.find(key), nullptr) << key << " has a wrapper's name";
  }
}

TEST(State, OfWrappersThatIsNotTheModelsNamesThePrefix) {
  const auto model = make_model(small_config());
  const io::StateFile good = model->state();
  const base::Tensor one = base::Tensor::zeros(base::DType::kF32, {1});
  const auto refusal = [&](const io::StateFile& state) {
    std::string text;
    EXPECT_EQ(status_of([&] { model->load_state(state); }, &text), Status::kFormat);
    return text;
  };
  io::StateFile beside, twice, lacking, learned;
  for (const auto& [key, tensor] : good.tensors) {
    for (io::StateFile* state : {&beside, &lacking, &learned})
      state->tensors.emplace_back("model." + key, tensor);
    for (const char* prefix : {"student.", "teacher."})
      twice.tensors.emplace_back(prefix + key, tensor);
  }
  beside.tensors.emplace_back("criterion.weight", one);
  EXPECT_EQ(refusal(beside),
            "the keys that begin with \"model.\" fit the model, and beside them there are others: "
            "criterion.weight; to load those of the model alone, set dict to their prefix, as in "
            "\"model\"");
  EXPECT_EQ(refusal(twice),
            "the state has keys that fit the model 2 times, below \"student.\", \"teacher.\": set "
            "dict to the prefix of those to load, as in \"student\"");
  lacking.tensors.pop_back();
  EXPECT_EQ(refusal(lacking),
            "the state, whose keys begin with \"model.\", does not fit the "
            "model: missing: " +
                good.tensors.back().first);
  learned.tensors.emplace_back("temperature", one);  // not a counter
  EXPECT_THAT(refusal(learned), HasSubstr("others: temperature;"));
}

// DGL's SAGEConv contains the norm that its constructor received.
TEST(State, NormsInsideOfDglsLayersAreThoseBetween) {
  ModelConfig config = small_config();
  config.framework = Framework::kDgl;
  for (const Norm norm : {Norm::kLayer, Norm::kBatch}) {
    config.norm = norm;
    config.seed = 7;
    io::StateFile inner = make_model(config)->state();
    const io::StateFile good = inner;
    for (auto& [key, tensor] : inner.tensors) {
      if (!key.starts_with("norms.")) continue;
      if (const size_t at = key.find(".module."); at != std::string::npos) key.erase(at, 7);
      key = "layers." + key.substr(6, 1) + ".norm" + key.substr(7);
    }
    config.seed = 8;
    const auto model = make_model(config);
    model->load_state(inner);
    for (const auto& [key, tensor] : model->state().tensors)
      EXPECT_TRUE(to_torch(tensor).equal(to_torch(*good.find(key)))) << key;
    io::StateFile own = model->state();
    to_file_names(own, model->file_names(), false);
    for (const auto& [key, tensor] : inner.tensors) EXPECT_NE(own.find(key), nullptr) << key;
  }
}

// Numbers from a diverged training or a damaged file.
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

  // A model of 64 bits can hold larger numbers.
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
  // Two matrices mean two maps, which the model lacks.
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

// Networks and batch norms in classes made of torch's own modules.
TEST(Stack, ReadsAndWritesNetworksOfTorchModules) {
  const auto keys_of = [](const io::StateFile& state) {
    std::vector<std::string> keys;
    for (const auto& [key, tensor] : state.tensors)
      if (key.ends_with("weight")) keys.push_back(key);
    return keys;
  };
  ModelConfig config = small_config();
  config.architecture = Architecture::kGin;
  config.num_layers = 2;
  const auto written = [&] {
    io::StateFile state = make_model(config)->state();
    to_torch_modules(state, config);
    return state;
  };
  const auto come_back = [&](const io::StateFile& state) {
    const auto model = make_model(config);
    ModelConfig other = config;
    other.seed = 77;
    const auto loaded = make_model(other);
    EXPECT_FALSE(loaded->flat_parameters().equal(model->flat_parameters()));
    loaded->load_state(state);
    EXPECT_TRUE(loaded->flat_parameters().equal(model->flat_parameters()));
  };
  EXPECT_THAT(keys_of(written()),
              testing::ElementsAre("convs.0.nn.0.weight", "convs.0.nn.2.weight",
                                   "convs.1.nn.0.weight", "convs.1.nn.2.weight"));
  come_back(written());
  config.mlp_layers = 3;
  EXPECT_THAT(keys_of(written()), testing::Contains("convs.1.nn.4.weight"));
  come_back(written());
  config.mlp_layers = 1;
  EXPECT_THAT(keys_of(written()), testing::ElementsAre("convs.0.nn.weight", "convs.1.nn.weight"));
  come_back(written());
  config.mlp_layers = 2;
  config.norm = Norm::kBatch;
  EXPECT_THAT(keys_of(written()),
              testing::UnorderedElementsAre("convs.0.nn.0.weight", "convs.0.nn.1.weight",
                                            "convs.0.nn.3.weight", "convs.1.nn.0.weight",
                                            "convs.1.nn.1.weight", "convs.1.nn.3.weight",
                                            "norms.0.weight"));
  come_back(written());
  // A norm after the function is another network.
  const io::StateFile norm_first = written();
  config.act_first = true;
  EXPECT_THAT(keys_of(written()), testing::Contains("convs.0.nn.2.weight"));
  come_back(written());
  std::string text;
  EXPECT_EQ(status_of([&] { make_model(config)->load_state(norm_first); }, &text), Status::kFormat);
  EXPECT_THAT(text, HasSubstr("convs.0.nn.1 is a norm 1 modules after a linear layer, and with "
                              "act_first 1 the model has it after the function"));
  config.activation = Activation::kPrelu;
  EXPECT_EQ(status_of([&] { written(); }), Status::kUnsupported);
  // Tensors of no such network are reported unchanged.
  config.activation = Activation::kRelu;
  io::StateFile deeper = norm_first;
  deeper.tensors.emplace_back("convs.0.nn.9.conv.weight",
                              base::Tensor::zeros(base::DType::kF32, {1}));
  config.act_first = false;
  EXPECT_EQ(status_of([&] { make_model(config)->load_state(deeper); }, &text), Status::kFormat);
  EXPECT_THAT(text, HasSubstr("convs.0.nn.9.conv.weight"));

  // The same between DGL's layers, and in a user's own stack.
  config = small_config();
  config.framework = Framework::kDgl;
  config.norm = Norm::kBatch;
  EXPECT_THAT(keys_of(written()), testing::Contains("norms.1.weight"));
  come_back(written());
  config = small_config();
  config.architecture = Architecture::kLayers;
  LayerConfig conv{LayerConfig::Kind::kConv, "conv1", {}},
      norm{LayerConfig::Kind::kNorm, "bn1", {}};
  conv.options.output_dim = 5;
  norm.options.norm = Norm::kBatch;
  config.layers = {conv, norm};
  EXPECT_THAT(keys_of(written()), testing::Contains("bn1.weight"));
  come_back(written());
}

// The numbers of a Sequential show whether it is the model's network.
TEST(Stack, RefusesNetworksThatLackAFunction) {
  ModelConfig config = small_config();
  config.architecture = Architecture::kGin;
  config.num_layers = 2;
  // Returns the state in the form of torch's modules, with other numbers for each network's
  // modules.
  const auto renumbered = [&](const std::map<std::string, std::string>& numbers) {
    io::StateFile state = make_model(config)->state();
    to_torch_modules(state, config);
    for (auto& [key, tensor] : state.tensors)
      for (const auto& [from, to] : numbers)
        if (const size_t at = key.find(".nn." + from + "."); at != std::string::npos) {
          key.replace(at + 4, from.size(), to);
          break;
        }
    return state;
  };
  const auto refusal = [&](const std::map<std::string, std::string>& numbers) {
    std::string text;
    const auto model = make_model(config);
    const at::Tensor before = model->flat_parameters().clone();
    EXPECT_EQ(status_of([&] { model->load_state(renumbered(numbers)); }, &text), Status::kFormat);
    EXPECT_TRUE(model->flat_parameters().equal(before));
    return text;
  };
  const auto accepted = [&](const std::map<std::string, std::string>& numbers) {
    const auto model = make_model(config);
    model->flat_parameters().zero_();
    model->load_state(renumbered(numbers));
    EXPECT_TRUE(model->flat_parameters().equal(make_model(config)->flat_parameters()));
  };
  EXPECT_EQ(refusal({{"2", "1"}}),
            "convs.0.nn.1 is a linear layer, and between it and convs.0.nn.0 is no room for the "
            "function that the model has there: expected convs.0.nn.2 or a later module");
  EXPECT_EQ(
      refusal({{"0", "1"}, {"2", "3"}}),
      "convs.0.nn.1 is the first linear layer, expected convs.0.nn.0: the model has no module "
      "in front of it");
  accepted({{"2", "3"}});  // dropout in between
  config.norm = Norm::kBatch;
  EXPECT_EQ(refusal({{"3", "2"}}),
            "convs.0.nn.2 is a linear layer, and between it and convs.0.nn.0 is no room for the "
            "norm and the function that the model has there: expected convs.0.nn.3 or a later "
            "module");
  accepted({{"3", "4"}});
  config.act_first = true;
  accepted({});
  accepted({{"3", "4"}});
  // A norm without parameters takes a number too.
  config.act_first = false;
  config.norm = Norm::kPair;
  EXPECT_THAT(refusal({{"3", "2"}}), HasSubstr("no room for the norm and the function"));
  accepted({});
  // Without a function between them two linear layers have consecutive numbers.
  config.norm = Norm::kNone;
  config.activation = Activation::kNone;
  accepted({{"2", "1"}});
  config.activation = Activation::kRelu;
  config.mlp_layers = 3;
  EXPECT_THAT(refusal({{"4", "3"}}), HasSubstr("convs.0.nn.3 is a linear layer, and between it and "
                                               "convs.0.nn.2 is no room for the function"));
  // In a user's own stack the options of each layer decide.
  config = small_config();
  config.architecture = Architecture::kLayers;
  LayerConfig first{LayerConfig::Kind::kConv, "conv1", {}}, second = first;
  first.options.architecture = second.options.architecture = Architecture::kGin;
  first.options.output_dim = second.options.output_dim = 5;
  second.name = "conv2";
  second.options.activation = Activation::kNone;
  config.layers = {first, second};
  EXPECT_THAT(refusal({{"2", "1"}}), HasSubstr("conv1.nn.1 is a linear layer"));
  config.layers = {second};
  accepted({{"2", "1"}});
}

// Any mixture of module forms in a file is kept, in clones too.
TEST(Stack, WritesTheKeysThatWereLoaded) {
  ModelConfig config = small_config();
  config.architecture = Architecture::kGin;
  config.num_layers = 2;
  config.norm = Norm::kBatch;
  io::StateFile mixture = make_model(config)->state();
  to_torch_modules(mixture, config);
  for (auto& [key, tensor] : mixture.tensors) {
    if (key.starts_with("norms.0.")) key = "norms.0.module." + key.substr(8);
    if (const size_t at = key.find(".nn.3."); at != std::string::npos) key[at + 4] = '7';
  }
  std::erase_if(mixture.tensors,
                [](const auto& entry) { return entry.first.ends_with("num_batches_tracked"); });
  config.seed = 77;
  const auto model = make_model(config);
  io::StateFile own = model->state();
  EXPECT_EQ(status_of([&] { to_file_names(own, model->file_names(), false); }),
            Status::kInvalidArgument);
  io::StateFile prefixed = mixture;
  for (auto& [key, tensor] : prefixed.tensors) key = "module." + key;
  for (const io::StateFile* state : {&mixture, &prefixed}) {
    model->load_state(*state);
    const auto clone = model->clone();
    own = clone->state();
    const std::vector<size_t> order = to_file_names(own, clone->file_names(), false);
    ASSERT_EQ(own.tensors.size(), mixture.tensors.size());
    for (size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(own.tensors[i].first, mixture.tensors[i].first);
      EXPECT_EQ(own.tensors[i].second.data(), own.find(mixture.tensors[i].first)->data());
    }
  }
  // A class with its norms before the convolutions: the order is that of the file, if the file has
  // one.
  io::StateFile norms_first = mixture;
  std::ranges::stable_partition(
      norms_first.tensors, [](const auto& entry) { return entry.first.starts_with("norms."); });
  ASSERT_NE(norms_first.tensors[0].first, mixture.tensors[0].first);
  for (const bool ordered : {true, false}) {
    norms_first.ordered = ordered;
    model->load_state(norms_first);
    own = model->state();
    (void)to_file_names(own, model->file_names(), false);
    ASSERT_EQ(own.tensors.size(), norms_first.tensors.size());
    for (size_t i = 0; i < own.tensors.size(); ++i)
      EXPECT_EQ(own.tensors[i].first, (ordered ? norms_first : mixture).tensors[i].first);
  }
  std::string text;
  EXPECT_EQ(status_of([&] { to_file_names(own, model->file_names(), true); }, &text),
            Status::kInvalidArgument);
  EXPECT_THAT(text, HasSubstr("other_framework is 1, and the weights"));

  // Two tensors of the file become one.
  config = small_config();
  config.architecture = Architecture::kGat;
  const auto gat = make_model(config);
  io::StateFile older;
  for (const auto& [key, tensor] : gat->state().tensors) {
    const size_t at = key.find(".lin.weight");
    for (const char* name : {".lin_src.weight", ".lin_dst.weight"})
      if (at != std::string::npos) older.tensors.emplace_back(key.substr(0, at) + name, tensor);
    if (at == std::string::npos) older.tensors.emplace_back(key, tensor);
  }
  gat->load_state(older);
  own = gat->state();
  EXPECT_EQ(status_of([&] { to_file_names(own, gat->file_names(), false); }, &text),
            Status::kUnsupported);
  EXPECT_THAT(text, HasSubstr("a file with convs.0.lin_dst.weight, which is no tensor of its own"));
}

// EdgeConv's single linear layer, as a module alone, in a Sequential or in PyG's MLP; and a network
// of two layers.
TEST(Stack, ReadsEdgeConvOfOneLinearLayerInAllForms) {
  ModelConfig config = small_config();
  config.architecture = Architecture::kLayers;
  LayerConfig one{LayerConfig::Kind::kConv, "c0", {}}, two = one;
  one.options.architecture = two.options.architecture = Architecture::kEdge;
  one.options.output_dim = two.options.output_dim = 5;
  one.options.mlp_layers = 1;
  two.name = "c1";
  config.layers = {one, two};
  const auto model = make_model(config);
  const auto load = [&](const std::string& form, std::string* text = nullptr) {
    io::StateFile state = model->state();
    for (auto& [key, tensor] : state.tensors)
      if (key.starts_with("c0.nn.")) key = "c0.nn." + form + key.substr(6);
    const auto other = make_model(config);
    other->flat_parameters().zero_();
    const Status status = status_of([&] { other->load_state(state); }, text);
    EXPECT_TRUE(status != Status::kOk || other->flat_parameters().equal(model->flat_parameters()));
    return status;
  };
  for (const char* form : {"", "0.", "lins.0."}) EXPECT_EQ(load(form), Status::kOk) << form;
  std::string text;
  EXPECT_EQ(load("1.", &text), Status::kFormat);
  EXPECT_THAT(text, HasSubstr("c0.nn.1 is the first linear layer, expected c0.nn.0"));
  EXPECT_EQ(load("lins.1.", &text), Status::kFormat);
  EXPECT_THAT(text, HasSubstr("missing: c0.nn.weight, c0.nn.bias; unexpected: c0.nn.lins.1.bias, "
                              "c0.nn.lins.1.weight"));
  // Errors use the keys of the file.
  io::StateFile deep = model->state();
  to_torch_modules(deep, config);
  deep.tensors.emplace_back("c1.nn.4.weight", base::Tensor::zeros(base::DType::kF64, {5, 5}));
  EXPECT_EQ(status_of([&] { make_model(config)->load_state(deep); }, &text), Status::kFormat);
  EXPECT_THAT(text, HasSubstr("unexpected: c1.nn.4.weight"));
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
  EXPECT_THAT(text_of([](ModelConfig& c) { c.heads = 2; }),
              HasSubstr("heads is an option of GAT, GATv2 and the graph transformer"));
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
  EXPECT_THAT(text_of([](ModelConfig& c) { c.norm_options.scale = 0; }),
              HasSubstr("norm_scale is 0"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.mlp_layers = 9; }), HasSubstr("mlp_layers is 9"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.aggregation = Aggregation::kPool; }),
              HasSubstr("PyG's GraphSAGE has mean, max, sum and LSTM"));
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
}

// Each option without a meaning for an architecture is refused there, by its name.
TEST(ModelConfigCheck, RefusesOptionsThatAnArchitectureDoesNotHave) {
  using A = Architecture;
  using C = ModelConfig;
  struct Option {
    const char* name;
    void (*change)(C&);
    std::vector<A> pyg, dgl;
  };
  const std::vector<A> attention{A::kGat, A::kGatv2}, heads{A::kGat, A::kGatv2, A::kTransformer};
  const std::vector<A> gin{A::kGin, A::kGine}, pna{A::kPna};
  const Option options[] = {
      {"aggregation",
       [](C& c) { c.aggregation = Aggregation::kSum; },
       {A::kSage, A::kGin, A::kGine, A::kRelation, A::kGraphConv, A::kEdge},
       {A::kSage, A::kGin, A::kRelation, A::kEdge}},
      {"root_weight",
       [](C& c) { c.root_weight = false; },
       {A::kSage, A::kRelation, A::kTransformer},
       {A::kRelation}},
      {"normalize", [](C& c) { c.normalize = true; }, {A::kSage}, {}},
      {"project", [](C& c) { c.project = true; }, {A::kSage}, {}},
      {"self_loops",
       [](C& c) { c.self_loops = false; },
       {A::kGcn, A::kGat, A::kGatv2},
       {A::kGcn, A::kGat, A::kGatv2}},
      {"block_degrees", [](C& c) { c.block_degrees = true; }, {A::kGcn}, {}},
      {"degree_norm", [](C& c) { c.degree_norm = DegreeNorm::kRight; }, {A::kGcn}, {A::kGcn}},
      {"improved", [](C& c) { c.improved = true; }, {A::kGcn}, {}},
      {"heads", [](C& c) { c.heads = 2; }, heads, attention},
      {"output_heads", [](C& c) { c.output_heads = 1; }, heads, attention},
      {"concat", [](C& c) { c.concat = false; }, heads, attention},
      {"residual", [](C& c) { c.residual = true; }, attention, attention},
      {"negative_slope", [](C& c) { c.slope = 0.9; }, attention, attention},
      {"share_weights", [](C& c) { c.share_weights = true; }, {A::kGatv2}, {A::kGatv2}},
      {"beta", [](C& c) { c.beta = true; }, {A::kTransformer}, {}},
      {"mlp_layers", [](C& c) { c.mlp_layers = 3; }, {A::kGin, A::kGine, A::kEdge}, {A::kGin}},
      {"train_eps", [](C& c) { c.train_eps = true; }, gin, {A::kGin}},
      {"eps", [](C& c) { c.eps = 2.5; }, gin, {A::kGin}},
      {"num_relations", [](C& c) { c.relations = 3; }, {A::kRelation}, {A::kRelation}},
      {"num_bases", [](C& c) { c.bases = 2; }, {A::kRelation}, {A::kRelation}},
      {"num_blocks", [](C& c) { c.blocks = 2; }, {A::kRelation}, {A::kRelation}},
      {"loop_fill", [](C& c) { c.loop_fill = LoopFill::kMax; }, attention, {}},
      {"plain_edges", [](C& c) { c.plain_edges = true; }, {A::kGine}, {}},
      {"inner_norm", [](C& c) { c.inner_norm = true; }, {}, {A::kRelation, A::kEdge}},
      {"train_norm", [](C& c) { c.train_norm = true; }, pna, {}},
      {"reductions", [](C& c) { c.reductions = {PnaReduction::kMax}; }, {A::kSage, A::kPna}, {}},
      {"scalers", [](C& c) { c.scalers.resize(1); }, pna, {}},
      {"pre_layers", [](C& c) { c.pre_layers = 3; }, pna, {}},
      {"post_layers", [](C& c) { c.post_layers = 3; }, pna, {}},
      {"towers", [](C& c) { c.towers = 2; }, pna, {}},
      {"divide_input", [](C& c) { c.divide_input = true; }, pna, {}},
      {"average_degree", [](C& c) { c.average_degree = 3; }, pna, {}},
      {"average_log_degree", [](C& c) { c.average_log_degree = 3; }, pna, {}},
  };
  for (const Option& option : options)
    for (int number = 0; number <= static_cast<int>(A::kEdge); ++number)
      for (const Framework framework : {Framework::kPyg, Framework::kDgl}) {
        C config = small_config();
        config.architecture = static_cast<A>(number);
        // Listed layers have a framework each.
        config.framework = config.architecture == A::kLayers ? Framework::kPyg : framework;
        option.change(config);
        std::string text;
        status_of([&] { config.check(); }, &text);
        const std::vector<A>& owners = framework == Framework::kPyg ? option.pyg : option.dgl;
        SCOPED_TRACE(base::text(option.name, ", architecture ", number, ", framework ",
                                static_cast<int>(framework)));
        const std::string refusal = base::text("model: ", option.name, " is an option of ");
        if (std::ranges::find(owners, config.architecture) == owners.end())
          EXPECT_THAT(text, testing::StartsWith(refusal));
        else
          EXPECT_THAT(text, testing::Not(HasSubstr("is an option of")));
      }
  const auto text_of = [](auto&& change) {
    C config = small_config();
    change(config);
    std::string text;
    EXPECT_EQ(status_of([&] { config.check(); }, &text), Status::kInvalidArgument);
    return text;
  };
  EXPECT_EQ(text_of([](C& c) {
              c.framework = Framework::kDgl;
              c.project = true;
            }),
            "model: project is an option of PyG's GraphSAGE, and this is DGL's GraphSAGE");
  EXPECT_EQ(text_of([](C& c) {
              c.architecture = A::kGcn;
              c.mlp_layers = 1;
            }),
            "model: mlp_layers is an option of GIN, GINE and PyG's EdgeConv, and this is GCN");
  EXPECT_THAT(text_of([](C& c) {
                c.architecture = A::kGin;
                c.mlp_layers = 0;
              }),
              HasSubstr("DGL's GIN alone goes without a network"));
  EXPECT_THAT(text_of([](C& c) {
                c.architecture = A::kGin;
                c.framework = Framework::kDgl;
                c.mlp_layers = 0;
              }),
              HasSubstr("leave rows as wide as they are: the first reads"));
  EXPECT_THAT(text_of([](C& c) {
                c.architecture = A::kGat;
                c.output_heads = 1;
                c.skip = Skip::kLinear;
              }),
              HasSubstr("no convolution yields the result"));
  EXPECT_THAT(text_of([](C& c) { c.norm_options.scale = 2; }),
              HasSubstr("with norm=pair or pair_rows"));
  EXPECT_THAT(text_of([](C& c) { c.readout_steps = 2; }), HasSubstr("with readout=set2set"));
  EXPECT_THAT(text_of([](C& c) { c.sort_rows = 2; }), HasSubstr("with readout=sort"));
  EXPECT_THAT(text_of([](C& c) {
                c.architecture = A::kPna;
                c.average_degree = c.average_log_degree = 1;
                c.bias = false;
              }),
              HasSubstr("PNA's linear layers have one"));
}

// The default aggregation is that of the framework's layer.
TEST(ModelConfigCheck, DefaultAggregationIsTheArchitectures) {
  const auto of = [](Architecture architecture, Framework framework = Framework::kPyg) {
    ModelConfig config;
    config.architecture = architecture;
    config.framework = framework;
    return config.reduction();
  };
  for (const Architecture mean : {Architecture::kSage, Architecture::kRelation})
    EXPECT_EQ(of(mean), Aggregation::kMean);
  for (const Architecture sum : {Architecture::kGin, Architecture::kGine, Architecture::kGraphConv})
    EXPECT_EQ(of(sum), Aggregation::kSum);
  EXPECT_EQ(of(Architecture::kSage, Framework::kDgl), Aggregation::kMean);
  EXPECT_EQ(of(Architecture::kGin, Framework::kDgl), Aggregation::kSum);
  EXPECT_EQ(of(Architecture::kRelation, Framework::kDgl), Aggregation::kSum);
  for (const Framework framework : {Framework::kPyg, Framework::kDgl})
    EXPECT_EQ(of(Architecture::kEdge, framework), Aggregation::kMax);
}

}  // namespace
}  // namespace gnnmg::nn
