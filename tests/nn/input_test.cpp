// Models without features: R-GCN of the nodes themselves equals R-GCN of the unit matrix, learned
// rows are features with a gradient, and mismatches are refused. model_test.cpp checks that blocks
// and the whole graph agree.
#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/from_blob.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "nn/config/layer_config.h"
#include "nn/model_world.h"

namespace gnnmg::nn {
namespace {

using base::Status;
using testing::ElementsAre;
using testing::HasSubstr;

ModelConfig relation_config(Input input) {
  ModelConfig config = small_config();
  config.architecture = Architecture::kRelation;
  config.relations = kTypes;
  config.num_layers = 2;
  config.input = input;
  config.input_dim = kNodes;
  return config;
}

ModelConfig embedding_config() {
  ModelConfig config = small_config();
  config.input = Input::kEmbedding;
  config.input_dim = kNodes;
  return config;
}

at::Tensor ids_of(const Batch& batch) {
  return at::from_blob(const_cast<int64_t*>(batch.sample.node_ids.data()),
                       {batch.sample.num_nodes()}, at::TensorOptions(at::kLong));
}

std::vector<std::string> keys_of(const Model& model) {
  std::vector<std::string> keys;
  for (const NamedTensor& entry : model.state_tensors()) keys.push_back(entry.key);
  return keys;
}

void expect_same_gradients(const Model& model, const Model& expected) {
  for (const NamedTensor& parameter : expected.parameters()) {
    const auto found = std::ranges::find(model.parameters(), parameter.key, &NamedTensor::key);
    ASSERT_NE(found, model.parameters().end()) << parameter.key;
    EXPECT_TRUE(near(found->tensor.grad(), parameter.tensor.grad(), 1e-12, 1)) << parameter.key;
  }
}

TEST(Input, NodesThemselvesAreTheUnitMatrix) {
  const graph::GraphRef graph = make_graph();
  for (const int64_t bases : {0, 2})
    for (const Aggregation aggregation : {Aggregation::kMean, Aggregation::kSum})
      for (const auto expansion : {sample::Expansion::kOnce, sample::Expansion::kEveryLayer}) {
        SCOPED_TRACE(testing::Message()
                     << bases << " bases, aggregation " << static_cast<int>(aggregation));
        ModelConfig config = relation_config(Input::kNodes);
        config.bases = bases;
        config.aggregation = aggregation;
        const auto nodes = make_model(config);
        config.input = Input::kFeatures;
        const auto unit = make_model(config);
        unit->load_state(nodes->state());
        const Batch batch = sample_batch(graph, {3, 3}, {4, 0, 59, 17, 30, 31}, expansion);
        ForwardArgs args = args_of(batch, false, true);
        args.input.dense = at::eye(kNodes, at::kDouble).index_select(0, ids_of(batch));
        const at::Tensor expected = unit->forward(args);
        expected.pow(2).sum().backward();
        args.input = {};
        const at::Tensor found = nodes->forward(args);
        found.pow(2).sum().backward();
        EXPECT_TRUE(near(found, expected, 1e-13));
        expect_same_gradients(*nodes, *unit);
      }
}

TEST(Input, LearnedRowsAreFeaturesWithAGradient) {
  const graph::GraphRef graph = make_graph();
  for (const Skip skip : {Skip::kNone, Skip::kLinear, Skip::kResidual}) {
    ModelConfig config = embedding_config();
    config.skip = skip;
    const auto learned = make_model(config);
    io::StateFile state = learned->state();
    ASSERT_EQ(state.tensors[0].first, "embedding.weight");
    const at::Tensor table = to_torch(state.tensors[0].second);
    EXPECT_EQ(table.sizes(), (std::vector<int64_t>{kNodes, 12}));
    EXPECT_NEAR(table.std().item<double>(), 1, 0.1);
    state.tensors.erase(state.tensors.begin());
    config.input = Input::kFeatures;
    config.input_dim = 12;
    const auto plain = make_model(config);
    plain->load_state(state);

    const Batch batch = sample_batch(graph, {3, 3, 3}, {4, 0, 59, 17});
    ForwardArgs args = args_of(batch, false, true);
    at::Tensor rows = table.index_select(0, ids_of(batch)).set_requires_grad(true);
    args.input.dense = rows;
    const at::Tensor expected = plain->forward(args);
    expected.pow(2).sum().backward();
    args.input = {};
    const at::Tensor found = learned->forward(args);
    found.pow(2).sum().backward();
    EXPECT_TRUE(near(found, expected, 1e-13));
    expect_same_gradients(*learned, *plain);
    const at::Tensor gradient = learned->parameters()[0].tensor.grad();
    EXPECT_TRUE(near(gradient.index_select(0, ids_of(batch)), rows.grad(), 1e-13));
    EXPECT_NEAR(gradient.abs().sum().item<double>(), rows.grad().abs().sum().item<double>(), 1e-9)
        << "other nodes have none";
  }
}

TEST(Input, StatesHaveTheKeysOfTheReference) {
  EXPECT_THAT(keys_of(*make_model(relation_config(Input::kNodes))),
              ElementsAre("convs.0.weight", "convs.0.root", "convs.0.bias", "convs.1.weight",
                          "convs.1.root", "convs.1.bias"));
  const auto nodes = make_model(relation_config(Input::kNodes));
  EXPECT_EQ(nodes->parameters()[0].tensor.sizes(), (std::vector<int64_t>{kTypes, kNodes, 12}));
  std::string text;
  EXPECT_EQ(status_of([&] { (void)nodes->state_of_other_framework(); }, &text),
            Status::kUnsupported);
  EXPECT_THAT(text, HasSubstr("reads the nodes themselves"));
  const auto learned = make_model(relation_config(Input::kEmbedding));
  const io::StateFile other = learned->state_of_other_framework();
  EXPECT_EQ(other.tensors[0].first, "embedding.weight");
  EXPECT_EQ(other.tensors[1].first, "layers.0.h_bias");
  const auto again = make_model(relation_config(Input::kEmbedding));
  again->load_state_of_other_framework(other);
  EXPECT_TRUE(again->flat_parameters().equal(learned->flat_parameters()));
}

TEST(Input, NodesThatTheModelDoesNotKnowAreRefused) {
  const graph::GraphRef graph = make_graph();
  const Batch batch = sample_batch(graph, {3, 3, 3}, {4, 0, 59});
  ModelConfig config = embedding_config();
  config.input_dim = kNodes - 1;
  const auto small = make_model(config);
  ForwardArgs args = args_of(batch, false, false);
  std::string text;
  EXPECT_EQ(status_of([&] { small->forward(args); }, &text), Status::kRange);
  EXPECT_THAT(text, HasSubstr("node 2 of the mini-batch has the id 59, and the model has weights "
                              "for those from 0 to 58"));
  EXPECT_EQ(status_of([&] { (void)small->inference(*graph, nullptr, nullptr); }, &text),
            Status::kInvalidArgument);
  EXPECT_THAT(text, HasSubstr("the graph has 60 nodes, and the model has weights for 59"));
  const auto model = make_model(embedding_config());
  args.node_ids = args.node_ids.first(2);
  EXPECT_EQ(status_of([&] { model->forward(args); }, &text), Status::kInvalidArgument);
  EXPECT_THAT(text, HasSubstr("there are 2 rows"));
  EXPECT_EQ(
      status_of([&] { (void)make_model(small_config())->inference(*graph, nullptr, nullptr); },
                &text),
      Status::kInvalidArgument);
  EXPECT_THAT(text, HasSubstr("reads features, and was given none"));
}

TEST(Input, ConfigNamesTheField) {
  const auto text_of = [](ModelConfig config, auto&& change) {
    change(config);
    std::string text;
    EXPECT_EQ(status_of([&] { make_model(config); }, &text), Status::kInvalidArgument);
    return text;
  };
  using C = ModelConfig;
  const C nodes = relation_config(Input::kNodes), learned = embedding_config();
  const auto none = [](C&) {};
  C sage = small_config();
  sage.input = Input::kNodes;
  EXPECT_THAT(text_of(sage, none), HasSubstr("R-GCN of PyG's reads alone"));
  EXPECT_THAT(text_of(nodes, [](C& c) { c.framework = Framework::kDgl; }), HasSubstr("R-GCN"));
  EXPECT_THAT(text_of(nodes, [](C& c) { c.blocks = 2; }), HasSubstr("without blocks"));
  EXPECT_THAT(text_of(nodes, [](C& c) { c.skip = Skip::kLinear; }), HasSubstr("skip or jumping"));
  EXPECT_THAT(text_of(nodes, [](C& c) { c.input_dropout = 0.5; }),
              HasSubstr("input_dropout is 0.5"));
  EXPECT_THAT(text_of(nodes, [](C& c) { c.input_dim = int64_t{1} << 30; }),
              HasSubstr("rows of weights"));
  EXPECT_THAT(text_of(nodes, [](C& c) { c.input = static_cast<Input>(3); }),
              HasSubstr("input is 3"));
  EXPECT_THAT(text_of(learned, [](C& c) { c.node_vocabulary = {3}; }),
              HasSubstr("node_vocabulary has 1"));
  EXPECT_THAT(text_of(learned, [](C& c) { c.node_vocabulary.assign(17, 3); }),
              HasSubstr("node_vocabulary has 17 entries, expected at most 16"));
  EXPECT_THAT(text_of(learned, [](C& c) { c.reductions.assign(9, PnaReduction::kSum); }),
              HasSubstr("reductions has 9 entries, expected at most 8"));
  EXPECT_THAT(text_of(learned, [](C& c) { c.input_dim = 0; }), HasSubstr("input_dim is 0"));
  EXPECT_THAT(text_of(learned, [](C& c) { c.edge_dropout = 1; }), HasSubstr("edge_dropout is 1"));
  EXPECT_THAT(text_of(learned, [](C& c) { c.node_dropout = -1; }), HasSubstr("node_dropout is -1"));

  C stack;
  stack.architecture = Architecture::kLayers;
  stack.input_dim = kNodes;
  stack.input = Input::kNodes;
  stack.layers = {{LayerConfig::Kind::kLinear, "first", {}}};
  stack.layers[0].options.output_dim = 4;
  EXPECT_THAT(text_of(stack, none), HasSubstr("layer 0, linear 'first': the model's input"));
  stack.layers[0].kind = LayerConfig::Kind::kConv;
  EXPECT_THAT(text_of(stack, none), HasSubstr("R-GCN of PyG's reads alone"));
  stack.layers[0].options.input = Input::kEmbedding;
  EXPECT_THAT(text_of(stack, none), HasSubstr("options of whole models"));
  stack.layers[0].options.input = Input::kFeatures;
  stack.layers[0].name = "embedding";
  stack.input = Input::kEmbedding;
  EXPECT_THAT(text_of(stack, none), HasSubstr("there is a layer 'embedding' already"));
  stack.hidden_dim = 0;
  EXPECT_THAT(text_of(stack, none), HasSubstr("hidden_dim is 0"));
}

}  // namespace
}  // namespace gnnmg::nn
