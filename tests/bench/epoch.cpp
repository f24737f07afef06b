// The library's side of whole training epochs (epoch.py requests them in turns): GraphSAGE of 3
// layers and 256 hidden units, fan-outs 15, 10, 5, mini-batches of 1,024, Adam, dropout 0.5,
// through the trainer.
//
//   bench_epoch serve <folder> <threads> <ranks> <loader threads> <once|every_layer> [bf16]
//       answers each line of its input by one epoch, as a line of JSON; <threads> are the computing
//       threads of all ranks together; a loader thread belongs to one rank; products are in f32, or
//       their factors in bf16
//   bench_epoch serve - <threads> ... <parts folder> <addresses> <own parts> <cache bytes> [<TLS
//       folder>] does the same over graph servers: it reads its own parts ("0,1", or "none") from
//       the parts folder and requests the others. The TLS folder has client.pem, client.key, ca.pem
//   bench_epoch blocks <folder>   writes the blocks of one epoch as input for peers:
//       epoch_<number>_nodes.npy and, per layer, _<layer>_indptr.npy and _<layer>_indices.npy
//   bench_epoch save <folder> <new folder>   writes the data set in the library's own format
//
// bench_rounds writes <folder>.
#include <sys/resource.h>

#include <cstdio>
#include <iostream>
#include <sstream>

#include "base/error.h"
#include "bench/folder.h"
#include "bench/parts.h"
#include "data/split.h"
#include "io/npy.h"
#include "nn/model/model.h"
#include "train/trainer.h"

namespace gnnmg {
namespace {

using bench::Times;

constexpr int64_t kClasses = 47;

sample::NeighborConfig sampler_config(bool once) {
  sample::NeighborConfig config;
  config.fanouts = {15, 10, 5};
  config.expansion = once ? sample::Expansion::kOnce : sample::Expansion::kEveryLayer;
  config.transpose = true;
  return config;
}

double peak_megabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

data::DatasetRef read_whole(const std::string& path) {
  const bench::Folder folder = bench::read_folder(path, true);
  std::vector<data::Split> splits{data::split_from_ids(
      folder.train_ids(), {}, {}, folder.graph->num_nodes(), "train", 0, path)};
  return data::make_dataset(folder.graph, "x", "y", false, std::move(splits), kClasses);
}

class Server {
 public:
  Server(data::DatasetRef dataset, int threads, int ranks, int loader_threads, bool once,
         train::Precision precision) {
    nn::ModelConfig model;
    model.input_dim = dataset->feature_dim();
    model.hidden_dim = 256;
    model.output_dim = kClasses;
    model.num_layers = 3;
    model.dropout = 0.5;
    train::TrainerConfig config;
    config.num_ranks = ranks;
    config.num_epochs = 1 << 20;
    config.batch_size = bench::kBatchSize;
    config.batches_per_step = ranks;
    config.optimizer.learning_rate = 0.003;
    config.loader_threads = loader_threads;
    config.torch_threads = std::max(1, threads / ranks);
    config.evaluate_every = 0;
    config.precision = precision;
    std::shared_ptr<nn::Model> made = nn::make_model(model);
    auto sampler = nn::training_sampler(
        *made, sample::make_neighbor_sampler(dataset->graph, sampler_config(once)), false);
    const auto num_ids =
        static_cast<int64_t>(dataset->splits.front().part(data::SplitPart::kTrain).size());
    trainer_ = train::Trainer::create(std::move(made), dataset, std::move(sampler), config,
                                      {host_, log_, pool_});
    trainer_->set_epoch_function([this](const train::EpochReport& report) {
      report_ = report;
      return 0;
    });
    const int64_t batches = (num_ids + bench::kBatchSize - 1) / bench::kBatchSize;
    steps_ = (batches + ranks - 1) / ranks;
    loaded_ = peak_megabytes();
  }

  void epoch() {
    const Times start = bench::now();
    for (int64_t i = 0; i < steps_; ++i)
      if (trainer_->step({}, nullptr) != base::Status::kOk)
        base::fail(base::Status::kInternal, "training ended");
    const Times spent = bench::now() - start;
    std::printf(
        "{\"wall\": %.4f, \"cpu\": %.4f, \"sample\": %.4f, \"gather\": %.4f, \"wait\": %.4f, "
        "\"compute\": %.4f, \"step\": %.4f, \"loss\": %.4f, \"loaded_mb\": %.0f, \"peak_mb\": "
        "%.0f}\n",
        spent.wall, spent.cpu, report_.sample_seconds, report_.gather_seconds, report_.wait_seconds,
        report_.compute_seconds, report_.reduce_seconds + report_.optimizer_seconds,
        report_.train_loss, loaded_, peak_megabytes());
    std::fflush(stdout);
  }

 private:
  base::HostQueue host_;
  base::HostQueue::Entry entry_{host_};
  base::Log log_;
  base::ThreadPool pool_{1};
  std::unique_ptr<train::Trainer> trainer_;
  train::EpochReport report_;
  int64_t steps_ = 0;
  double loaded_ = 0;
};

base::Tensor copy_of(const int32_t* values, int64_t count) {
  return base::Tensor::copy_of(std::span(values, static_cast<size_t>(count)));
}

void write_blocks(const std::string& path) {
  const bench::Folder folder = bench::read_folder(path, false);
  const auto sampler = sample::make_neighbor_sampler(folder.graph, sampler_config(false));
  sample::Workspace workspace;
  sample::Sample sample;
  const std::span<const int64_t> ids = folder.train_ids();
  for (size_t first = 0, number = 0; first < ids.size(); first += bench::kBatchSize, ++number) {
    const auto seeds = ids.subspan(first, std::min<size_t>(bench::kBatchSize, ids.size() - first));
    sampler->sample(seeds, {1, base::Purpose::kSample, 0, number}, workspace, sample, {});
    const std::string start = base::text(path, "/epoch_", number);
    io::write_npy(start + "_nodes.npy",
                  base::Tensor::copy_of(std::span<const int64_t>(sample.node_ids.span())).view());
    for (size_t layer = 0; layer < sample.blocks.size(); ++layer) {
      const sample::BlockView& block = sample.blocks[layer];
      const std::string name = base::text(start, "_", layer);
      io::write_npy(name + "_indptr.npy", copy_of(block.indptr, block.num_targets + 1).view());
      io::write_npy(name + "_indices.npy", copy_of(block.indices, block.num_edges).view());
    }
  }
}

std::vector<int32_t> part_numbers(const std::string& words) {
  std::vector<int32_t> numbers;
  std::istringstream in(words == "none" ? "" : words);
  for (std::string word; std::getline(in, word, ',');) numbers.push_back(std::stoi(word));
  return numbers;
}

int serve(int argc, char** argv) {
  base::ThreadPool pool;
  base::Log log;
  const data::DatasetRef dataset =
      argc <= 8 ? read_whole(argv[2])
                : bench::open_parts({argv[7], argv[8], part_numbers(argv[9]), std::stoll(argv[10]),
                                     argc > 11 ? argv[11] : ""},
                                    pool, log);
  Server server(dataset, std::stoi(argv[3]), std::stoi(argv[4]), std::stoi(argv[5]),
                std::string(argv[6]) == "once",
                argc == 8 ? train::Precision::kBf16 : train::Precision::kFull);
  for (std::string line; std::getline(std::cin, line);) server.epoch();
  return 0;
}

int start(int argc, char** argv) {
  const std::string verb = argc > 2 ? argv[1] : "";
  if (verb == "serve" &&
      (argc == 7 || (argc == 8 && std::string(argv[7]) == "bf16") || argc == 11 || argc == 12))
    return serve(argc, argv);
  if (verb == "blocks" && argc == 3) {
    write_blocks(argv[2]);
    return 0;
  }
  if (verb == "save" && argc == 4) {
    data::save_dataset(*read_whole(argv[2]), argv[3]);
    return 0;
  }
  std::fprintf(stderr,
               "usage: bench_epoch serve <folder> <threads> <ranks> <loader threads> "
               "<once|every_layer> [bf16 | <parts folder> <addresses> <own parts> <cache bytes> "
               "[<TLS folder>]] | blocks <folder> | save <folder> <new folder>\n");
  return 2;
}

}  // namespace
}  // namespace gnnmg

int main(int argc, char** argv) {
  try {
    return gnnmg::start(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_epoch: %s\n", error.what());
    return 1;
  }
}
