// The cost of making mini-batches of small graphs: the share of a training step for joining whole
// graphs and gathering their features, compared with forward, backward and Adam of GIN-0 (4 layers
// of 64, batch norm, sums of every layer's rows). One thread does both.
//
//   bench_batches <imdb-binary | generated:<graphs>> [epochs]
//
// A data set of graphs is a path; generated graphs are random trees with twice as many edges, 10 to
// 40 nodes, rows of 32 numbers. Trains on all graphs, in mini-batches of 1,000 and of 32. The exit
// code is 1 if the median share is 5 % or more.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "data/dataset.h"
#include "data/split.h"
#include "nn/model/model.h"
#include "train/trainer.h"

namespace gnnmg {
namespace {

constexpr double kBar = 5;            // percent
constexpr int64_t kWarmUpEpochs = 2;  // not counted

data::Split train_on_all(int64_t num_graphs) {
  std::vector<int64_t> ids(num_graphs);
  for (int64_t g = 0; g < num_graphs; ++g) ids[g] = g;
  return data::split_from_ids(ids, {}, {}, num_graphs, "all", 0, "split", "graph");
}

data::DatasetRef generate(int64_t num_graphs) {
  constexpr int64_t kColumns = 32;
  base::ThreadPool pool(1);
  base::Stream random({1, 2}, 0);
  std::vector<int64_t> sources, targets, starts{0}, classes;
  const auto join = [&](int64_t u, int64_t v) {
    sources.insert(sources.end(), {u, v});
    targets.insert(targets.end(), {v, u});
  };
  for (int64_t g = 0; g < num_graphs; ++g) {
    const int64_t first = starts.back(), nodes = 10 + static_cast<int64_t>(random.below(31));
    for (int64_t v = 1; v < nodes; ++v)
      join(first + static_cast<int64_t>(random.below(v)), first + v);
    for (int64_t v = 0; v < nodes; ++v)
      join(first + static_cast<int64_t>(random.below(nodes)), first + v);
    starts.push_back(first + nodes);
    classes.push_back(g % 2);
  }
  const int64_t num_nodes = starts.back();
  base::Tensor x = base::Tensor::empty(base::DType::kF32, {num_nodes, kColumns});
  for (float& value : x.as<float>()) value = static_cast<float>(random.below(2001)) / 1000 - 1;
  graph::GraphParts parts;
  parts.num_nodes = {num_nodes};
  parts.topology.push_back(graph::csc_from_coo(base::Tensor::copy_of<int64_t>(sources).view(),
                                               base::Tensor::copy_of<int64_t>(targets).view(),
                                               num_nodes, num_nodes, pool));
  parts.node_columns.push_back({{"x", x}});
  return data::make_dataset_of_graphs(
      graph::Graph::create(std::move(parts)), base::Tensor::copy_of<int64_t>(starts), "x", "y",
      base::Tensor::copy_of<int64_t>(classes), false, {train_on_all(num_graphs)});
}

data::DatasetRef open(const std::string& from) {
  constexpr std::string_view kGenerated = "generated:";
  if (from.starts_with(kGenerated)) return generate(std::stoll(from.substr(kGenerated.size())));
  base::ThreadPool pool(1);
  base::Log log;
  auto dataset = std::make_shared<data::Dataset>(*data::open_dataset(from, {}, {pool, log, {}}));
  if (!dataset->of_graphs())
    base::fail(base::Status::kInvalidArgument, from, " is one graph, expected many");
  dataset->splits = {train_on_all(dataset->num_graphs())};
  return dataset;
}

std::vector<train::EpochReport> epochs_of(const data::DatasetRef& dataset, int64_t batch_size,
                                          int64_t epochs) {
  nn::ModelConfig model;
  model.architecture = nn::Architecture::kGin;
  model.input_dim = dataset->feature_dim();
  model.hidden_dim = 64;
  model.output_dim = dataset->num_classes;
  model.num_layers = 4;
  model.norm = nn::Norm::kBatch;
  model.readout = nn::Readout::kSum;
  model.jumping = nn::Jumping::kScores;
  model.output_dropout = 0.5;
  train::TrainerConfig config;
  config.num_epochs = epochs;
  config.batch_size = batch_size;
  config.loader_threads = 0;
  config.torch_threads = 1;
  config.evaluate_every = 0;
  sample::GraphsConfig graphs;
  graphs.num_layers = model.num_layers;
  graphs.transpose = true;
  base::HostQueue host;
  const base::HostQueue::Entry entry(host);
  base::Log log;
  base::ThreadPool pool(1);
  const auto trainer = train::Trainer::create(
      nn::make_model(model), dataset,
      sample::make_graphs_sampler(dataset->graph, dataset->graph_ptr, graphs), config,
      {host, log, pool});
  std::vector<train::EpochReport> reports;
  trainer->set_epoch_function([&](const train::EpochReport& report) {
    reports.push_back(report);
    return 0;
  });
  trainer->start();
  trainer->wait({});
  return reports;
}

// Returns true if the share is within the bar.
bool measure(const data::DatasetRef& dataset, int64_t batch_size, int64_t epochs) {
  std::vector<double> shares, steps;
  std::vector<train::EpochReport> reports = epochs_of(dataset, batch_size, epochs + kWarmUpEpochs);
  reports.erase(reports.begin(), reports.begin() + kWarmUpEpochs);
  for (const train::EpochReport& r : reports) {
    shares.push_back(100 * (r.sample_seconds + r.gather_seconds) / r.seconds);
    steps.push_back(1000 * r.seconds / static_cast<double>(r.steps));
  }
  std::ranges::sort(shares);
  std::ranges::sort(steps);
  const double share = shares[shares.size() / 2];
  std::printf(
      "  mini-batches of %5lld graphs: a step %.2f ms (%.2f-%.2f), of it batching %.2f %% "
      "(%.2f-%.2f): %s\n",
      static_cast<long long>(batch_size), steps[steps.size() / 2], steps.front(), steps.back(),
      share, shares.front(), shares.back(), share < kBar ? "pass" : "FAIL");
  return share < kBar;
}

int start(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr,
                 "usage: bench_batches <data set of graphs | generated:<graphs>> [epochs]\n");
    return 2;
  }
  const data::DatasetRef dataset = open(argv[1]);
  const int64_t graphs = dataset->num_graphs(), epochs = argc > 2 ? std::stoll(argv[2]) : 40;
  std::printf("%s: %lld graphs, %.1f nodes and %.1f edges each, rows of %lld\n", argv[1],
              static_cast<long long>(graphs),
              static_cast<double>(dataset->graph->num_nodes()) / static_cast<double>(graphs),
              static_cast<double>(dataset->graph->csc().num_edges()) / static_cast<double>(graphs),
              static_cast<long long>(dataset->feature_dim()));
  bool good = true;
  for (const int64_t batch_size : {1000, 32}) good = measure(dataset, batch_size, epochs) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace gnnmg

int main(int argc, char** argv) {
  try {
    return gnnmg::start(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_batches: %s\n", error.what());
    return 1;
  }
}
