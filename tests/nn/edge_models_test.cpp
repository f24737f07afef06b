// The sources of models' edge data and categories, and the errors for their options.
#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include "nn/model/graph_facts.h"
#include "nn/model_world.h"

namespace gnnmg::nn {
namespace {

using base::Status;
using testing::HasSubstr;

// A model reads the same data by the edge ids of sampled blocks as from given values.
TEST(EdgeModels, ReadTheGraphsTensorsByEdgeIds) {
  const graph::GraphRef graph = make_graph();
  ModelConfig config = small_config();
  config.architecture = Architecture::kGine;
  config.edge_dim = kEdgeColumns;
  const auto model = make_model(config);
  const at::Tensor rows = to_torch(std::get<base::Tensor>(*graph->edge_column("edge_attr")));
  for (const auto expansion : {sample::Expansion::kOnce, sample::Expansion::kEveryLayer}) {
    const Batch batch = sample_batch(graph, {3, 2, 4}, {4, 0, 59, 17, 30}, expansion);
    ForwardArgs args = args_of(batch, false, true);
    const at::Tensor read = model->forward(args);
    read.pow(2).sum().backward();
    const at::Tensor gradient = model->flat_gradients().clone();
    model->zero_gradients();
    std::vector<EdgeValues> given;
    for (const sample::BlockView& block : batch.sample.blocks) {
      const std::vector<int64_t> ids(block.edge_ids, block.edge_ids + block.num_edges);
      given.push_back({{}, rows.index_select(0, at::tensor(ids)).to(at::kDouble), {}});
    }
    args.edges = given;
    const at::Tensor told = model->forward(args);
    EXPECT_TRUE(told.equal(read));
    told.pow(2).sum().backward();
    EXPECT_TRUE(model->flat_gradients().equal(gradient));
    model->zero_gradients();
    args.edges = {};
    auto blocks = batch.sample.blocks;
    for (sample::BlockView& block : blocks) block.edge_ids = nullptr;
    args.blocks = blocks;
    std::string text;
    EXPECT_EQ(status_of([&] { model->forward(args); }, &text), Status::kInvalidArgument);
    EXPECT_THAT(text, HasSubstr("without edge ids"));
    args.graph = nullptr;
    EXPECT_EQ(status_of([&] { model->forward(args); }, &text), Status::kInvalidArgument);
    EXPECT_THAT(text, HasSubstr("neither that nor a graph"));
  }
}

// A graph of three nodes whose edges have these columns.
graph::GraphRef tiny(graph::Columns columns) {
  base::ThreadPool pool(1);
  base::Tensor ends = base::Tensor::zeros(base::DType::kI64, {2});
  base::Tensor others = base::Tensor::zeros(base::DType::kI64, {2});
  others.as<int64_t>()[0] = 1;
  others.as<int64_t>()[1] = 2;
  graph::GraphParts parts;
  parts.num_nodes = {3};
  parts.topology = {graph::csc_from_coo(ends.view(), others.view(), 3, 3, pool)};
  graph::Columns nodes;
  nodes.emplace("x", base::Tensor::zeros(base::DType::kF32, {3, kFeatures}));
  parts.node_columns.push_back(std::move(nodes));
  parts.edge_columns.push_back(std::move(columns));
  return graph::Graph::create(std::move(parts));
}

TEST(EdgeModels, NameWhatTheGraphLacks) {
  const auto text_of = [](const ModelConfig& config, graph::Columns columns, Status expected) {
    const auto model = make_model(config);
    const graph::GraphRef graph = tiny(std::move(columns));
    std::string text;
    EXPECT_EQ(
        status_of([&] { (void)model->inference(*graph, graph->node_column("x"), nullptr); }, &text),
        expected)
        << text;
    return text;
  };
  ModelConfig gine = small_config();
  gine.architecture = Architecture::kGine;
  gine.edge_dim = kEdgeColumns;
  graph::Columns other;
  other.emplace("length", base::Tensor::zeros(base::DType::kF32, {2}));
  EXPECT_EQ(
      text_of(gine, other, Status::kNotFound),
      "the model reads features of edges, from an edge tensor 'edge_attr', 'x' or 'feat'; the "
      "graph has 'length'");
  EXPECT_THAT(text_of(gine, {}, Status::kNotFound), HasSubstr("the graph has none"));
  graph::Columns narrow;
  narrow.emplace("edge_attr", base::Tensor::zeros(base::DType::kF32, {2, 2}));
  EXPECT_THAT(text_of(gine, narrow, Status::kInvalidArgument),
              HasSubstr("have 2 columns, the model expects 3"));

  ModelConfig relations = small_config();
  relations.architecture = Architecture::kRelation;
  relations.relations = 2;
  graph::Columns types;
  types.emplace("edge_type", base::Tensor::zeros(base::DType::kI64, {2}));
  std::get<base::Tensor>(types.at("edge_type")).as<int64_t>()[1] = 2;
  EXPECT_THAT(text_of(relations, types, Status::kRange),
              HasSubstr("edge 1 has type 2, expected 0 to 1"));
  graph::Columns floats;
  floats.emplace("edge_type", base::Tensor::zeros(base::DType::kF32, {2}));
  EXPECT_THAT(text_of(relations, floats, Status::kInvalidArgument), HasSubstr("are f32"));

  ModelConfig bonds = gine;
  bonds.edge_vocabulary = {4, 2};
  graph::Columns codes;
  codes.emplace("edge_attr", base::Tensor::zeros(base::DType::kI32, {2, 2}));
  std::get<base::Tensor>(codes.at("edge_attr")).as<int32_t>()[3] = 2;
  EXPECT_THAT(text_of(bonds, codes, Status::kRange),
              HasSubstr("edge 1 has category 1 2, expected 0 to 1"));
}

// Checks that stores rely on: ids, and a single edge type.
TEST(EdgeModels, ReadNoRowThatTheGraphHasNot) {
  graph::Columns columns;
  columns.emplace("weight", base::Tensor::zeros(base::DType::kF32, {2}));
  const graph::GraphRef graph = tiny(columns);
  EdgeNeeds needs;
  needs.weights = true;
  GraphFacts facts(*graph, needs, at::kFloat);
  const auto text_of = [&](int64_t id, Status expected) {
    const int64_t ids[] = {1, id};
    sample::BlockView block;
    block.num_edges = 2;
    block.edge_ids = ids;
    std::string text;
    EXPECT_EQ(status_of([&] { (void)facts.of_blocks({&block, 1}); }, &text), expected) << text;
    return text;
  };
  EXPECT_EQ(text_of(2, Status::kRange),
            "the mini-batch has the edge 2, and what the model reads of edges ends with that of "
            "edge 1");
  EXPECT_THAT(text_of(-1, Status::kInvalidArgument), HasSubstr("edges of unknown ids"));

  graph::GraphParts parts = graph->parts();
  parts.schema.edge_types.push_back({0, 0, "other"});
  parts.topology.push_back(parts.topology[0]);
  const graph::GraphRef typed = graph::Graph::create(std::move(parts));
  std::string text;
  EXPECT_EQ(status_of([&] { GraphFacts(*typed, needs, at::kFloat); }, &text), Status::kUnsupported);
  EXPECT_EQ(text,
            "the graph has 1 node types and 2 edge types; models take graphs with one of each");
}

TEST(Categories, OfNodesThatTheTablesLackAreRefused) {
  const graph::GraphRef graph = make_graph();
  ModelConfig config = small_config();
  config.input_dim = 2;
  config.node_vocabulary = {4, 3};
  const auto model = make_model(config);
  const Batch batch = sample_batch(graph, {-1, -1, -1}, {4, 0, 59});
  ForwardArgs args = args_of(batch, false, false);
  args.input.dense = batch.codes;
  const at::Tensor expected = model->forward(args);
  args.input.dense = batch.codes.to(at::kFloat);
  EXPECT_TRUE(model->forward(args).equal(expected));
  const at::Tensor whole = infer(*model, *graph, "c", 7);
  EXPECT_TRUE(near(expected[0], whole[4], 1e-12));
  const auto text_of = [&](double value) {
    args.input.dense = batch.codes.to(at::kDouble).clone();
    args.input.dense[1][1] = value;
    std::string text;
    EXPECT_EQ(status_of([&] { model->forward(args); }, &text), Status::kRange);
    return text;
  };
  EXPECT_EQ(text_of(3),
            "node 1 of the mini-batch has 3 in column 1, expected an integer from 0 to 2");
  for (const double value : {-1.0, 0.5, static_cast<double>(NAN), 1e300})
    EXPECT_THAT(text_of(value), HasSubstr("column 1"));
  ForwardArgs sparse = args_of(batch, true, false);
  EXPECT_EQ(status_of([&] { model->forward(sparse); }), Status::kInvalidArgument);
  // Integers are features only of models with categories.
  config.node_vocabulary.clear();
  args.input.dense = batch.codes;
  EXPECT_EQ(status_of([&] { make_model(config)->forward(args); }), Status::kUnsupported);
}

TEST(EdgeModelConfig, NamesTheField) {
  const auto text_of = [](Architecture architecture, auto&& change) {
    ModelConfig config = small_config();
    config.architecture = architecture;
    if (architecture == Architecture::kRelation) config.relations = 3;
    if (architecture == Architecture::kPna) config.average_degree = config.average_log_degree = 1;
    if (architecture == Architecture::kGine) config.edge_dim = 3;
    change(config);
    std::string text;
    EXPECT_EQ(status_of([&] { make_model(config); }, &text), Status::kInvalidArgument);
    return text;
  };
  using A = Architecture;
  using C = ModelConfig;
  EXPECT_THAT(text_of(A::kGine, [](C& c) { c.edge_dim = 0; }), HasSubstr("edge_dim is 0"));
  EXPECT_THAT(text_of(A::kGine, [](C& c) { c.edge_dim = -4; }), HasSubstr("edge_dim is -4"));
  EXPECT_THAT(text_of(A::kSage, [](C& c) { c.edge_dim = 3; }), HasSubstr("read no edge features"));
  EXPECT_THAT(text_of(A::kSage, [](C& c) { c.edge_weights = true; }), HasSubstr("edge_weights"));
  EXPECT_THAT(text_of(A::kRelation, [](C& c) { c.relations = 0; }), HasSubstr("relations is 0"));
  EXPECT_THAT(text_of(A::kRelation, [](C& c) { c.bases = c.blocks = 2; }),
              HasSubstr("num_bases is 2"));
  EXPECT_THAT(text_of(A::kRelation, [](C& c) { c.bases = -1; }), HasSubstr("bases is -1"));
  EXPECT_THAT(text_of(A::kRelation, [](C& c) { c.blocks = 3; }),
              HasSubstr("the width of the features is 10, expected a multiple of the 3 blocks"));
  EXPECT_THAT(text_of(A::kRelation, [](C& c) { c.aggregation = Aggregation::kPool; }),
              HasSubstr("PyG's R-GCN has mean, sum and max"));
  EXPECT_THAT(text_of(A::kTransformer, [](C& c) { c.heads = 5; }), HasSubstr("the 5 heads"));
  EXPECT_THAT(text_of(A::kTransformer, [](C& c) { c.framework = Framework::kDgl; }),
              HasSubstr("framework is dgl, which"));
  EXPECT_THAT(text_of(A::kPna, [](C& c) { c.towers = 5; }),
              HasSubstr("hidden_dim is 12, expected a multiple of the 5 towers"));
  EXPECT_THAT(text_of(A::kPna, [](C& c) { c.towers = 0; }), HasSubstr("towers is 0"));
  EXPECT_THAT(text_of(A::kPna, [](C& c) { c.pre_layers = 0; }), HasSubstr("pre_layers is 0"));
  EXPECT_THAT(text_of(A::kPna, [](C& c) { c.post_layers = 9; }), HasSubstr("post_layers is 9"));
  EXPECT_THAT(text_of(A::kPna, [](C& c) { c.average_degree = 0; }), HasSubstr("average_degree"));
  EXPECT_THAT(text_of(A::kPna, [](C& c) { c.average_degree = NAN; }), HasSubstr("average_degree"));
  EXPECT_THAT(text_of(A::kPna, [](C& c) { c.scalers.clear(); }), HasSubstr("a scaler"));
  EXPECT_THAT(text_of(A::kPna, [](C& c) { c.reductions = {static_cast<PnaReduction>(9)}; }),
              HasSubstr("reductions is 9"));
  EXPECT_THAT(text_of(A::kGine, [](C& c) { c.plain_edges = true; }),
              HasSubstr("plain_edges adds edge_dim, 3, columns of edges to rows of 10"));
  EXPECT_THAT(text_of(A::kGin, [](C& c) { c.plain_edges = true; }), HasSubstr("plain_edges"));
  EXPECT_THAT(text_of(A::kGat, [](C& c) { c.loop_fill = LoopFill::kMax; }),
              HasSubstr("loop_fill=max has an effect only with self_loops=1 and edge"));
  EXPECT_THAT(text_of(A::kGat,
                      [](C& c) {
                        c.edge_dim = 3;
                        c.self_loops = false;
                        c.loop_fill = LoopFill::kMax;
                      }),
              HasSubstr("loop_fill=max has an effect only with self_loops=1 and edge"));
  EXPECT_THAT(text_of(A::kGat, [](C& c) { c.loop_value = 2; }), HasSubstr("loop_value"));
  EXPECT_THAT(text_of(A::kGat, [](C& c) { c.loop_value = INFINITY; }),
              HasSubstr("loop_value is inf"));
  EXPECT_THAT(text_of(A::kRelation, [](C& c) { c.inner_norm = true; }),
              HasSubstr("inner_norm is an option of"));
  EXPECT_THAT(text_of(A::kGat, [](C& c) { c.train_norm = true; }), HasSubstr("train_norm"));
  EXPECT_THAT(text_of(A::kSage,
                      [](C& c) {
                        c.reductions = {PnaReduction::kMax, PnaReduction::kMean};
                        c.aggregation = Aggregation::kMax;
                      }),
              HasSubstr("aggregation is max and reductions has 2"));
  EXPECT_THAT(text_of(A::kSage, [](C& c) { c.norm_options.epsilon = 0.1; }),
              HasSubstr("norm_epsilon=0.1 has an effect only with a norm"));
  EXPECT_THAT(text_of(A::kSage, [](C& c) { c.norm_options.epsilon = -1; }),
              HasSubstr("norm_epsilon is -1"));
  EXPECT_THAT(text_of(A::kSage,
                      [](C& c) {
                        c.norm = Norm::kLayer;
                        c.norm_options.momentum = 0.5;
                      }),
              HasSubstr("norm_momentum=0.5 has an effect only with norm=batch"));
  EXPECT_THAT(text_of(A::kSage, [](C& c) { c.norm_options.momentum = 1.5; }),
              HasSubstr("norm_momentum is 1.5"));
  EXPECT_THAT(text_of(A::kSage,
                      [](C& c) {
                        c.norm = Norm::kGraph;
                        c.norm_options.affine = NormAffine::kOff;
                      }),
              HasSubstr("norm_affine=off has an effect only with norm=batch, layer"));
  EXPECT_THAT(text_of(A::kSage, [](C& c) { c.improved = true; }), HasSubstr("improved"));
  EXPECT_THAT(text_of(A::kEdge, [](C& c) { c.aggregation = Aggregation::kLstm; }),
              HasSubstr("PyG's EdgeConv has mean, max and sum"));
  EXPECT_THAT(text_of(A::kEdge,
                      [](C& c) {
                        c.framework = Framework::kDgl;
                        c.aggregation = Aggregation::kMean;
                      }),
              HasSubstr("DGL's EdgeConv has max"));
  EXPECT_THAT(text_of(A::kRelation,
                      [](C& c) {
                        c.framework = Framework::kDgl;
                        c.aggregation = Aggregation::kMean;
                      }),
              HasSubstr("DGL's R-GCN has sum"));
  EXPECT_THAT(text_of(A::kGin, [](C& c) { c.aggregation = Aggregation::kPool; }),
              HasSubstr("GIN has sum, mean and max"));
  EXPECT_THAT(text_of(A::kEdge, [](C& c) { c.bias = false; }), HasSubstr("EdgeConv's networks"));
  EXPECT_THAT(text_of(A::kGat, [](C& c) { c.share_weights = true; }), HasSubstr("share_weights"));
  EXPECT_THAT(text_of(A::kSage, [](C& c) { c.degree_norm = DegreeNorm::kNone; }),
              HasSubstr("degree_norm is an option of GCN"));
  EXPECT_THAT(text_of(A::kGcn, [](C& c) { c.degree_norm = DegreeNorm::kRight; }),
              HasSubstr("degree_norm is right, and"));
  EXPECT_THAT(text_of(A::kGcn, [](C& c) { c.degree_norm = DegreeNorm::kNone; }),
              HasSubstr("none without self_loops"));
  EXPECT_THAT(text_of(A::kSage, [](C& c) { c.node_vocabulary = {3}; }),
              HasSubstr("input_dim is 10"));
  EXPECT_THAT(text_of(A::kGine, [](C& c) { c.edge_vocabulary = {0}; }),
              HasSubstr("edge_vocabulary is 0"));
  EXPECT_THAT(text_of(A::kSage, [](C& c) { c.readout = Readout::kSet2Set; }),
              HasSubstr("no linear layer comes last"));
  EXPECT_THAT(text_of(A::kGin,
                      [](C& c) {
                        c.readout = Readout::kSort;
                        c.jumping = Jumping::kScores;
                      }),
              HasSubstr("sum, mean and max"));
  EXPECT_THAT(text_of(A::kSage, [](C& c) { c.readout_steps = 101; }), HasSubstr("readout_steps"));
  EXPECT_THAT(text_of(A::kSage, [](C& c) { c.sort_rows = -1; }), HasSubstr("sort_rows is -1"));
}

}  // namespace
}  // namespace gnnmg::nn
