// Training with some parts of a graph at hand and the others asked for, against the same training
// with all of it here: the same bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "dist/part_fixture.h"
#include "dist/parts_of.h"
#include "support/file_faults.h"
#include "support/temp_dir.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

using loader::Partition;
using testing::HasSubstr;

constexpr int64_t kNodes = 600;
constexpr int64_t kEdgeColumns = 3;

// The small data set, whose edges carry something.
data::DatasetRef make_small_with_edges(const SmallData& config = {}) {
  const data::DatasetRef small = make_small(config);
  return data::make_dataset(with_edge_columns(*small->graph), "x", "y", false, small->splits,
                            small->num_classes);
}

// Four mini-batches a step, of 32 seeds at most.
Recipe strict(nn::Architecture architecture, sample::Expansion expansion, Partition partition) {
  Recipe setup;
  setup.model.architecture = architecture;
  setup.sampler.expansion = expansion;
  setup.trainer.partition = partition;
  setup.trainer.batches_per_step = 4;
  setup.trainer.num_epochs = 2;
  setup.trainer.deterministic = true;
  setup.trainer.evaluation = train::EvaluationMode::kSampled;
  return setup;
}

// Degrees are asked for as nn::training_sampler() does it.
void ask_for_degrees(Recipe& setup) {
  setup.wrap_sampler = [](std::shared_ptr<const sample::Sampler> sampler) {
    const std::shared_ptr<const sample::Sampler> telling = sampler->with_degrees();
    return telling ? telling : sampler;
  };
}

void read_edges(Recipe& setup) {
  setup.model.edge_dim = kEdgeColumns;
  setup.sampler.edge_ids = true;
}

void read_weights(Recipe& setup) {
  setup.model.edge_weights = true;
  setup.sampler.edge_ids = true;
}
// The same with a sampler that tells their sums, as nn::training_sampler() chooses it.
void ask_for_weight_sums(Recipe& setup) {
  read_weights(setup);
  setup.wrap_sampler = [](std::shared_ptr<const sample::Sampler> sampler) {
    if (const auto telling = sampler->with_degrees()) sampler = telling;
    const auto telling = sampler->with_weight_sums("edge_weight");
    return telling ? telling : sampler;
  };
}

void as_dgl(Recipe& setup) { setup.model.framework = nn::Framework::kDgl; }
void with_lstm(Recipe& setup) { setup.model.aggregation = nn::Aggregation::kLstm; }
void with_graph_norm(Recipe& setup) { setup.model.norm = nn::Norm::kGraph; }

using Bits = std::vector<uint64_t>;

void append(const std::vector<double>& values, Bits& bits) {
  for (const double value : values) bits.push_back(std::bit_cast<uint64_t>(value));
}

// Weights, and every figure measured on the way.
Bits bits_after(Recipe setup, int ranks) {
  setup.trainer.num_ranks = ranks;
  Host host;
  Trial run(setup, host);
  Bits bits;
  run->set_epoch_function([&](const train::EpochReport& report) {
    append({report.train_loss, report.train_accuracy, report.validation.loss,
            report.validation.accuracy},
           bits);
    return 0;
  });
  run.train();
  append(run.weights(), bits);
  append({run->evaluate(data::SplitPart::kTest, {})->loss}, bits);
  return bits;
}

// A way to other parts that a test disturbs.
struct Trouble {
  std::atomic<int> answers{0};     // so far
  std::atomic<int> fails_at{-1};   // the number of the answer that does not come
  std::atomic<bool> hangs{false};  // none comes
};
class TroubledCall : public dist::Call {
 public:
  TroubledCall(std::unique_ptr<dist::Call> inner, Trouble& trouble)
      : inner_(std::move(inner)), trouble_(trouble) {}
  std::span<const uint8_t> wait(const base::Deadline& deadline,
                                const base::CancelToken& cancel) override {
    const int number = trouble_.answers++;
    if (number == trouble_.fails_at) base::fail(base::Status::kUnavailable, "went away");
    while (trouble_.hangs && !deadline.passed()) {
      cancel.check("waiting for rows");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return inner_->wait(deadline, cancel);
  }

 private:
  std::unique_ptr<dist::Call> inner_;
  Trouble& trouble_;
};
class TroubledChannel : public dist::Channel {
 public:
  TroubledChannel(std::unique_ptr<dist::Channel> inner, Trouble& trouble)
      : inner_(std::move(inner)), trouble_(trouble) {}
  std::unique_ptr<dist::Call> ask(int32_t part, std::span<const uint8_t> message) override {
    return std::make_unique<TroubledCall>(inner_->ask(part, message), trouble_);
  }

 private:
  std::unique_ptr<dist::Channel> inner_;
  Trouble& trouble_;
};

// A small data set saved in parts.
class PartTraining : public testing::Test {
 protected:
  data::DatasetRef open_whole(int32_t num_parts) {
    base::Log log;
    base::ThreadPool pool(1);
    return data::open_dataset(folder(num_parts), {}, {pool, log, {}});
  }
  data::DatasetRef open_some(int32_t num_parts, std::vector<int32_t> own,
                             Trouble* trouble = nullptr) {
    OpenInParts opening{.own = std::move(own), .cache = {.share = 0.1}};
    if (trouble)
      opening.between = [trouble](std::unique_ptr<dist::Channel> channel) {
        return std::make_unique<TroubledChannel>(std::move(channel), *trouble);
      };
    return open_in_parts(folder(num_parts), opening);
  }

  const data::DatasetRef whole_ = make_small_with_edges();

 private:
  std::string folder(int32_t num_parts) {
    const std::string path = folder_.file(std::to_string(num_parts));
    if (!saved_.contains(num_parts)) {
      save_in_parts(*whole_, hashed_parts(kNodes, num_parts, 3), num_parts, path, {5, 5});
      saved_.insert(num_parts);
    }
    return path;
  }

  const TempDir folder_;
  std::set<int32_t> saved_;
};

struct Some {
  int32_t num_parts;
  std::vector<int32_t> own;
  int ranks;
};
const Some kSome[] = {{2, {0}, 1}, {2, {0, 1}, 2}, {4, {0}, 2}, {4, {0, 1}, 1}, {4, {3}, 2}};
// No part at hand.
const Some kServed[] = {{1, {}, 1}, {1, {}, 2}, {2, {}, 1}, {2, {}, 2}, {4, {}, 1}, {4, {}, 2}};

struct Case {
  nn::Architecture architecture;
  sample::Expansion expansion;
  bool edges = false;  // the model reads edge features
  void (*change)(Recipe& setup) = nullptr;
  Recipe recipe(Partition partition) const {
    Recipe setup = strict(architecture, expansion, partition);
    ask_for_degrees(setup);
    if (edges) read_edges(setup);
    if (change) change(setup);
    return setup;
  }
};
class StrictPartTraining : public PartTraining, public testing::WithParamInterface<Case> {};

TEST_P(StrictPartTraining, EndsWithTheBitsOfTheWhole) {
  Recipe setup = GetParam().recipe(Partition::kGlobal);
  setup.dataset = whole_;
  const Bits expected = bits_after(setup, 1);
  const auto expect_equal = [&](const Some& some) {
    setup.dataset = open_some(some.num_parts, some.own);
    EXPECT_TRUE(bits_after(setup, some.ranks) == expected)
        << some.own.size() << " of " << some.num_parts << " parts, " << some.ranks << " ranks";
  };
  std::ranges::for_each(kServed, expect_equal);
  expect_equal(kSome[4]);
}

// The plan depends on the parts, so the weights of two parts are others than those of four.
TEST_P(StrictPartTraining, EndsWithTheBitsOfTheWholeByParts) {
  Recipe setup = GetParam().recipe(Partition::kParts);
  std::map<int32_t, Bits> expected;
  for (const int32_t num_parts : {2, 4}) {
    setup.dataset = open_whole(num_parts);
    expected[num_parts] = bits_after(setup, 1);
    EXPECT_TRUE(bits_after(setup, 3) == expected[num_parts]) << "three ranks";
  }
  EXPECT_FALSE(expected[2] == expected[4]);
  for (const Some& some : kSome) {
    setup.dataset = open_some(some.num_parts, some.own);
    EXPECT_TRUE(bits_after(setup, some.ranks) == expected[some.num_parts])
        << some.own.size() << " of " << some.num_parts << " parts, " << some.ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, StrictPartTraining,
    testing::Values(
        Case{nn::Architecture::kSage, sample::Expansion::kOnce},
        Case{nn::Architecture::kSage, sample::Expansion::kEveryLayer},
        Case{nn::Architecture::kGcn, sample::Expansion::kOnce},
        Case{nn::Architecture::kGcn, sample::Expansion::kEveryLayer},
        Case{nn::Architecture::kGat, sample::Expansion::kOnce},
        Case{nn::Architecture::kGat, sample::Expansion::kEveryLayer},
        Case{nn::Architecture::kGine, sample::Expansion::kOnce, true},
        Case{nn::Architecture::kGine, sample::Expansion::kEveryLayer, true},
        Case{nn::Architecture::kGat, sample::Expansion::kOnce, true},
        Case{nn::Architecture::kTransformer, sample::Expansion::kEveryLayer, true},
        Case{nn::Architecture::kGcn, sample::Expansion::kOnce, false, read_weights},
        Case{nn::Architecture::kGcn, sample::Expansion::kEveryLayer, false, ask_for_weight_sums},
        Case{nn::Architecture::kGcn, sample::Expansion::kOnce, false, as_dgl},
        Case{nn::Architecture::kSage, sample::Expansion::kEveryLayer, false, with_lstm},
        Case{nn::Architecture::kSage, sample::Expansion::kOnce, false, with_graph_norm}));

// Exact results: the file of all nodes' rows has the bytes of the tensor.
std::string exact_results(Recipe setup, int ranks, const train::RowStorage& storage = {}) {
  setup.trainer.evaluation = train::EvaluationMode::kFull;
  setup.trainer.num_ranks = ranks;
  setup.trainer.top_k = 2;
  Host host;
  host.rows = storage;
  Trial run(setup, host);
  const std::optional<base::Tensor> rows = run->embed({});
  EXPECT_EQ(rows->shape(), (base::Shape{kNodes, setup.dataset->num_classes}));
  std::string bytes(static_cast<const char*>(rows->data()),
                    static_cast<size_t>(rows->view().num_bytes()));
  const TempDir folder;
  EXPECT_TRUE(run->embed_to_file(folder.file("rows.npy"), {}));
  EXPECT_TRUE(slurp(folder.file("rows.npy")).ends_with(bytes));
  Bits metrics;
  for (const auto part : {data::SplitPart::kValidation, data::SplitPart::kTest}) {
    const auto found = run->evaluate(part, {}, true);
    append({found->loss, found->accuracy, found->top_k_accuracy}, metrics);
    append({found->confusion.begin(), found->confusion.end()}, metrics);
  }
  bytes.append(reinterpret_cast<const char*>(metrics.data()), metrics.size() * sizeof metrics[0]);
  return bytes;
}

// A user's own stack: GCN of weighted edges, two norms over all rows, GraphSAGE.
void list_layers_with_norms(Recipe& s) {
  using Kind = nn::LayerConfig::Kind;
  s.model = nn::ModelConfig();
  s.model.architecture = nn::Architecture::kLayers;
  const auto add = [&](Kind kind, const char* name, auto change) {
    nn::LayerConfig layer;
    layer.kind = kind;
    layer.name = name;
    change(layer);
    s.model.layers.push_back(layer);
  };
  add(Kind::kConv, "conv1", [](nn::LayerConfig& layer) {
    layer.options.architecture = nn::Architecture::kGcn;
    layer.options.edge_weights = true;
    layer.options.output_dim = 16;
  });
  add(Kind::kNorm, "norm1",
      [](nn::LayerConfig& layer) { layer.options.norm = nn::Norm::kLayerGraph; });
  add(Kind::kNorm, "norm2", [](nn::LayerConfig& layer) { layer.options.norm = nn::Norm::kPair; });
  add(Kind::kActivation, "act", [](nn::LayerConfig&) {});
  add(Kind::kConv, "conv2", [](nn::LayerConfig& layer) {
    layer.options.architecture = nn::Architecture::kSage;
    layer.options.output_dim = 4;
  });
  s.sampler.edge_ids = true;
}

// Models whose results are made in stages of every kind.
struct Kind {
  const char* name;
  void (*change)(Recipe& setup);
};
const Kind kKinds[] = {
    {"sage", [](Recipe&) {}},
    {"sage of the maximum", [](Recipe& s) { s.model.aggregation = nn::Aggregation::kMax; }},
    {"three layers, concatenated",
     [](Recipe& s) {
       s.model.num_layers = 3;
       s.sampler.fanouts = {5, 5, 5};
       s.model.jumping = nn::Jumping::kCat;
       s.model.norm = nn::Norm::kLayer;
     }},
    {"linear skips, projected rows",
     [](Recipe& s) {
       s.model.skip = nn::Skip::kLinear;
       s.model.project = true;
     }},
    {"residual blocks",
     [](Recipe& s) {
       s.model.skip = nn::Skip::kResidual;
       s.model.norm = nn::Norm::kBatch;
     }},
    {"gcn", [](Recipe& s) { s.model.architecture = nn::Architecture::kGcn; }},
    {"gcn of f64",
     [](Recipe& s) {
       s.model.architecture = nn::Architecture::kGcn;
       s.model.dtype = base::DType::kF64;
     }},
    {"gat", [](Recipe& s) { s.model.architecture = nn::Architecture::kGat; }},
    {"gat of edge features",
     [](Recipe& s) {
       s.model.architecture = nn::Architecture::kGat;
       read_edges(s);
     }},
    {"gin", [](Recipe& s) { s.model.architecture = nn::Architecture::kGin; }},
    {"gine",
     [](Recipe& s) {
       s.model.architecture = nn::Architecture::kGine;
       read_edges(s);
     }},
    {"transformer of edge features",
     [](Recipe& s) {
       s.model.architecture = nn::Architecture::kTransformer;
       read_edges(s);
     }},
    {"a learned row for each node", [](Recipe& s) { s.model.input = nn::Input::kEmbedding; }},
    {"gcn of weighted edges",
     [](Recipe& s) {
       s.model.architecture = nn::Architecture::kGcn;
       read_weights(s);
     }},
    {"gcn of weighted edges in f64, improved",
     [](Recipe& s) {
       s.model.architecture = nn::Architecture::kGcn;
       s.model.dtype = base::DType::kF64;
       s.model.improved = true;
       read_weights(s);
     }},
    {"dgl's gcn, which reads how many edges leave a node",
     [](Recipe& s) {
       s.model.architecture = nn::Architecture::kGcn;
       as_dgl(s);
     }},
    {"sage of a recurrent network over the neighbors", with_lstm},
    {"graph norm", with_graph_norm},
    {"instance norm after the function",
     [](Recipe& s) {
       s.model.norm = nn::Norm::kInstance;
       s.model.act_first = true;
     }},
    {"pair norm, three layers, concatenated",
     [](Recipe& s) {
       s.model.num_layers = 3;
       s.sampler.fanouts = {5, 5, 5};
       s.model.jumping = nn::Jumping::kCat;
       s.model.norm = nn::Norm::kPair;
     }},
    {"pair norm of single rows", [](Recipe& s) { s.model.norm = nn::Norm::kPairRows; }},
    {"layer norm over the graph in residual blocks",
     [](Recipe& s) {
       s.model.skip = nn::Skip::kResidual;
       s.model.norm = nn::Norm::kLayerGraph;
     }},
    {"gin with norms over all rows inside",
     [](Recipe& s) {
       s.model.architecture = nn::Architecture::kGin;
       s.model.mlp_layers = 3;
       s.model.norm = nn::Norm::kGraph;
     }},
    {"listed layers with two norms in a row", list_layers_with_norms},
};

TEST_F(PartTraining, ExactResultsAreThoseOfTheWhole) {
  for (const Kind& kind : kKinds) {
    Recipe setup;
    kind.change(setup);
    setup.dataset = whole_;
    const std::string expected = exact_results(setup, 1);
    for (const Some& some : {Some{4, {0}, 1}, {2, {0, 1}, 2}, {4, {}, 3}}) {
      setup.dataset = open_some(some.num_parts, some.own);
      EXPECT_TRUE(exact_results(setup, some.ranks) == expected)
          << kind.name << ": " << some.own.size() << " of " << some.num_parts << " parts, "
          << some.ranks << " ranks";
    }
  }
}

// Chunks that do not divide the nodes, and more ranks than chunks.
TEST_F(PartTraining, ExactResultsOfAnyChunk) {
  for (const int64_t chunk : {100, 599, 4096}) {
    Recipe setup;
    setup.model.architecture = nn::Architecture::kGcn;
    setup.trainer.eval_batch_size = chunk;
    setup.dataset = whole_;
    const std::string expected = exact_results(setup, 1);
    setup.dataset = open_some(4, {2});
    for (const int ranks : {1, 3}) EXPECT_TRUE(exact_results(setup, ranks) == expected) << chunk;
  }
}

// The rows of a stage are in a file if they exceed the bound. No file is left after it.
TEST_F(PartTraining, ExactResultsWithRowsInAFile) {
  const TempDir folder;
  for (const Kind& kind : kKinds) {
    Recipe setup;
    kind.change(setup);
    setup.dataset = whole_;
    const std::string expected = exact_results(setup, 1);
    setup.dataset = open_some(4, {0, 2});
    // Each rank has half of the bytes, so that some stages are in memory.
    EXPECT_TRUE(exact_results(setup, 2, {kNodes * 16 * 4, folder.path()}) == expected) << kind.name;
    if (&kind != kKinds) continue;
    for (const int ranks : {1, 3})
      EXPECT_TRUE(exact_results(setup, ranks, {1, folder.path()}) == expected) << ranks << " ranks";
  }
  EXPECT_TRUE(folder.list().empty());
}

TEST_F(PartTraining, AFullDiskEndsAnEvaluationAndSaysWhatToDo) {
  Recipe setup;
  setup.trainer.evaluation = train::EvaluationMode::kFull;
  setup.trainer.num_ranks = 2;
  setup.dataset = open_some(2, {0});
  const TempDir folder;
  Host host;
  host.rows = {1, folder.path()};
  Trial run(setup, host);
  const double expected = run->evaluate(data::SplitPart::kTest, {})->loss;
  std::string said;
  while (const auto record = host.log.next()) said += record->text + "\n";
  EXPECT_THAT(said, testing::AllOf(HasSubstr("rank 0 keeps 0 bytes of rows of layers in memory"),
                                   HasSubstr("in temporary files in " + folder.path())));
  const auto evaluate = [&]() -> std::string {
    try {
      run->evaluate(data::SplitPart::kTest, {});
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::kIo) << error.what();
      return error.what();
    }
    return "nothing thrown";
  };
  {
    const FileFaults full({.call = FileCall::kWrite, .fail_at = 3, .error = ENOSPC});
    EXPECT_THAT(evaluate(), testing::AllOf(HasSubstr(folder.path()), HasSubstr("No space left"),
                                           HasSubstr("option temporary_folder")));
  }
  {
    const FileFaults unreadable({.call = FileCall::kRead, .fail_at = 3});
    EXPECT_THAT(evaluate(), HasSubstr("read at byte"));
  }
  EXPECT_EQ(run->evaluate(data::SplitPart::kTest, {})->loss, expected);
  EXPECT_TRUE(folder.list().empty());
}

TEST_F(PartTraining, ExactResultsOfSparseFeatures) {
  const data::DatasetRef sparse = make_small_with_edges({.num_features = 40, .sparse = true});
  const TempDir folder;
  save_in_parts(*sparse, hashed_parts(kNodes, 3, 3), 3, folder.file("parts"));
  for (const auto skip : {nn::Skip::kNone, nn::Skip::kResidual}) {
    Recipe setup;
    setup.model.skip = skip;
    setup.dataset = sparse;
    const std::string expected = exact_results(setup, 1);
    setup.dataset = open_in_parts(folder.file("parts"), {.own = {1}});
    EXPECT_TRUE(exact_results(setup, 2) == expected);
  }
}

// Validation runs between epochs and keeps the best weights.
TEST_F(PartTraining, ExactEvaluationGuidesTheTraining) {
  for (const bool edges : {false, true}) {
    Recipe setup = strict(edges ? nn::Architecture::kGine : nn::Architecture::kGcn,
                          sample::Expansion::kOnce, Partition::kGlobal);
    ask_for_degrees(setup);
    if (edges) read_edges(setup);
    setup.trainer.evaluation = train::EvaluationMode::kFull;
    setup.trainer.keep_best = true;
    setup.dataset = whole_;
    const Bits expected = bits_after(setup, 1);
    setup.dataset = open_some(4, {0, 1});
    for (const int ranks : {1, 2}) EXPECT_TRUE(bits_after(setup, ranks) == expected) << ranks;
  }
}

// An answer that does not come ends the evaluation on all ranks, naming the part; the next is
// whole.
TEST_F(PartTraining, AnExactEvaluationWithoutAPartIsAnError) {
  Recipe setup;
  setup.trainer.num_ranks = 2;
  setup.trainer.evaluation = train::EvaluationMode::kFull;
  Trouble trouble;
  setup.dataset = open_some(2, {0}, &trouble);
  Host host;
  Trial run(setup, host);
  const double expected = run->evaluate(data::SplitPart::kTest, {})->loss;
  trouble.answers = 0;
  trouble.fails_at = 7;
  try {
    run->evaluate(data::SplitPart::kTest, {});
    ADD_FAILURE() << "no answer was missed";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kUnavailable);
    EXPECT_THAT(error.what(), HasSubstr("part 1: went away"));
  }
  EXPECT_EQ(run->evaluate(data::SplitPart::kTest, {})->loss, expected);
}

TEST_F(PartTraining, GoesOnInMidEpochWhereTheOtherStopped) {
  for (const Partition partition : {Partition::kGlobal, Partition::kParts}) {
    Recipe setup = strict(nn::Architecture::kGcn, sample::Expansion::kOnce, partition);
    ask_for_degrees(setup);
    setup.trainer.evaluate_every = 0;
    const data::DatasetRef sets[] = {open_whole(4), open_some(4, {1}), open_some(4, {0, 2})};
    setup.dataset = sets[0];
    const std::vector<double> expected = weights_after(setup);
    for (size_t from = 0; from < std::size(sets); ++from) {
      const TempDir folder;
      Host host;
      setup.dataset = sets[from];
      setup.trainer.num_ranks = 2;
      Trial first(setup, host);
      EXPECT_EQ(first->step({}, nullptr), base::Status::kOk);  // the first of two per epoch
      first->save(folder.file("one"));
      setup.dataset = sets[(from + 1) % std::size(sets)];
      setup.trainer.num_ranks = 1;
      Trial second(setup, host);
      second->load(folder.file("one"));
      second.train();
      EXPECT_TRUE(second.weights() == expected) << from;
    }
  }
}

// Whichever answer does not come: the error names the part, and the same training goes on from the
// last step to the same weights.
TEST_F(PartTraining, GoesOnWhenAPartIsBack) {
  Recipe setup = strict(nn::Architecture::kGcn, sample::Expansion::kOnce, Partition::kGlobal);
  ask_for_degrees(setup);
  setup.trainer.evaluate_every = 0;
  setup.dataset = whole_;
  const std::vector<double> expected = weights_after(setup);
  Trouble trouble;
  setup.dataset = open_some(2, {0}, &trouble);
  setup.trainer.num_ranks = 2;
  for (const int answer : {0, 3, 10, 25}) {
    trouble.answers = 0;
    trouble.fails_at = answer;
    Host host;
    Trial run(setup, host);
    try {
      run.train();
      ADD_FAILURE() << "answer " << answer << " was not missed";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::kUnavailable);
      EXPECT_THAT(error.what(), HasSubstr("part 1: went away"));
    }
    run.train();
    EXPECT_TRUE(run.weights() == expected) << answer;
  }
}

TEST_F(PartTraining, IsCancelledWhileItWaitsForAPart) {
  Recipe setup = strict(nn::Architecture::kSage, sample::Expansion::kOnce, Partition::kGlobal);
  Trouble trouble;
  setup.dataset = open_some(2, {0}, &trouble);
  trouble.hangs = true;
  Host host;
  Trial run(setup, host);
  run->start();
  while (trouble.answers == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto start = std::chrono::steady_clock::now();
  run->cancel();
  EXPECT_EQ(status_of([&] { run->wait({}); }), base::Status::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

// The mini-batches of an epoch under way are those of the parts it was begun with.
TEST_F(PartTraining, ACheckpointOfOtherPartsIsRefused) {
  Recipe setup = strict(nn::Architecture::kSage, sample::Expansion::kOnce, Partition::kParts);
  const TempDir folder;
  Host host;
  setup.dataset = open_whole(2);
  Trial two(setup, host);
  two->save(folder.file("two"));
  setup.dataset = open_some(4, {0});
  Trial four(setup, host);
  try {
    four->load(folder.file("two"));
    ADD_FAILURE() << "was accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kMismatch);
    EXPECT_THAT(error.what(), HasSubstr("part of each node"));
  }
}

// With a sampler that does not tell the degrees, the model asks for them in its passes.
TEST_F(PartTraining, ModelsAskForDegreesThatTheyAreNotTold) {
  Recipe setup = strict(nn::Architecture::kGcn, sample::Expansion::kOnce, Partition::kGlobal);
  setup.dataset = whole_;
  const Bits expected = bits_after(setup, 1);
  setup.dataset = open_some(2, {0});
  EXPECT_TRUE(bits_after(setup, 2) == expected);
}

TEST_F(PartTraining, StepsOfFewPartsAreTold) {
  for (const int64_t batches : {2, 4}) {
    Recipe setup = strict(nn::Architecture::kSage, sample::Expansion::kOnce, Partition::kParts);
    setup.dataset = open_some(4, {0});
    setup.trainer.batches_per_step = batches;
    Host host;
    Trial run(setup, host);
    EXPECT_EQ(run->step({}, nullptr), base::Status::kOk);
    std::string said;
    while (const auto record = host.log.next()) said += record->text;
    const std::string expected = "a step has 2 mini-batches, each of one of 4 parts";
    EXPECT_EQ(said.find(expected) != said.npos, batches == 2) << said;
  }
}

TEST_F(PartTraining, WhatNeedsTheWholeIsRefused) {
  const auto error = [&](const std::function<void(Recipe&)>& change,
                         const std::function<void(Trial&)>& then = {}) -> std::string {
    Recipe setup = strict(nn::Architecture::kSage, sample::Expansion::kOnce, Partition::kGlobal);
    setup.dataset = open_some(2, {0});
    change(setup);
    Host host;
    try {
      Trial run(setup, host);
      if (then) then(run);
    } catch (const base::Error& thrown) {
      EXPECT_TRUE(thrown.status() == base::Status::kUnsupported ||
                  thrown.status() == base::Status::kInvalidArgument);
      return thrown.what();
    }
    return "nothing thrown";
  };
  // Exact results for which data of all edges have to come together.
  const auto joined = [](Recipe& setup) {
    setup.model.architecture = nn::Architecture::kEdge;
    setup.model.norm = nn::Norm::kGraph;
    setup.trainer.evaluation = train::EvaluationMode::kFull;
  };
  const auto refusal =
      testing::AllOf(HasSubstr("evaluation=sampled"), HasSubstr("norms over the rows of all edges"),
                     HasSubstr("part 0 of 2"));
  const auto later = [&](Recipe& setup) {
    joined(setup);
    setup.trainer.evaluate_every = 0;
  };
  EXPECT_THAT(error(joined), refusal);
  EXPECT_THAT(error(later, [](Trial& run) { run->evaluate(data::SplitPart::kTest, {}); }), refusal);
  EXPECT_THAT(error(later, [](Trial& run) { run->embed({}); }), refusal);
  // Edge data, as far as parts tell it.
  EXPECT_THAT(error([](Recipe& setup) {
                setup.model.architecture = nn::Architecture::kGine;
                setup.model.edge_dim = 4;
              }),
              HasSubstr("have 3 columns, the model expects 4"));
  EXPECT_THAT(error(
                  [](Recipe& setup) {
                    setup.model.architecture = nn::Architecture::kGine;
                    setup.model.edge_dim = kEdgeColumns;
                  },
                  [](Trial& run) { run.train(); }),
              HasSubstr("a neighbor sampler with edge ids does"));
  EXPECT_THAT(error([&](Recipe& setup) {
                setup.dataset = whole_;
                setup.trainer.partition = Partition::kParts;
              }),
              HasSubstr("does not lie in parts"));
  // 129 training ids are more than 100, and those of each part are fewer.
  EXPECT_THAT(error([&](Recipe& setup) {
                setup.trainer.partition = Partition::kParts;
                setup.trainer.batch_size = 100;
                setup.trainer.drop_last = true;
              }),
              HasSubstr("those of each part by themselves, are fewer than batch_size 100"));
}

}  // namespace
}  // namespace gnnmg::test
