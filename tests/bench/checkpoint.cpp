// The time for which a checkpoint stops training: the first rank's copy in memory before the
// writer's thread takes over. Writing continues during training.
//   bench_checkpoint <folder for checkpoints> [<hidden width> [<how many>]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>

#include "data/split.h"
#include "graph/generate.h"
#include "nn/model/model.h"
#include "train/checkpoint/writer.h"
#include "train/job/job.h"

namespace {

using namespace gnnmg;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// CPU time of this thread, which excludes other programs on its core.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

data::DatasetRef make_data(base::ThreadPool& pool) {
  const graph::GraphRef graph =
      graph::planted_partition({.num_nodes = 1000, .num_classes = 10, .num_features = 64}, pool);
  std::vector<int64_t> ids(1000);
  for (int64_t i = 0; i < 1000; ++i) ids[i] = i;
  const std::span<const int64_t> all(ids);
  std::vector<data::Split> splits{data::split_from_ids(all.first(800), all.subspan(800, 100),
                                                       all.last(100), 1000, "main", 0, "bench")};
  return data::make_dataset(graph, "x", "y", false, std::move(splits), 10);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_checkpoint <folder> [<hidden width> [<how many>]]\n");
    return 2;
  }
  const std::string folder = argv[1];
  const int64_t hidden = argc > 2 ? std::atoll(argv[2]) : 2048;
  const int count = argc > 3 ? std::atoi(argv[3]) : 20;
  base::HostQueue queue;
  base::Log log;
  base::ThreadPool pool(1);
  const data::DatasetRef data = make_data(pool);
  nn::ModelConfig config;
  config.input_dim = 64;
  config.hidden_dim = hidden;
  config.output_dim = 10;
  config.num_layers = 3;
  sample::NeighborConfig sampling;
  sampling.fanouts = {2, 2, 2};
  sampling.transpose = true;
  const std::shared_ptr<nn::Model> model = nn::make_model(config);
  train::TrainerConfig trainer;
  trainer.keep_best = false;
  const std::shared_ptr<const train::Job> job =
      train::make_job(model, data, sample::make_neighbor_sampler(data->graph, sampling), trainer,
                      {queue, log, pool});
  train::Training training(*job);
  training.optimizer->step();  // creates the moments
  train::CheckpointWriter writer(*job, training.fingerprint(*job), training.id, {.folder = folder},
                                 [] {});

  std::this_thread::sleep_for(std::chrono::seconds(2));  // the first training steps
  std::vector<double> pauses, writes, work;
  for (int i = 0; i < count; ++i) {
    ++training.position.total_steps;
    const double start = now(), busy = cpu_seconds();
    writer.take(training.position, training, train::CheckpointWriter::Why::kDue);
    pauses.push_back(now() - start);
    work.push_back(cpu_seconds() - busy);
    while (!writer.idle()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    writes.push_back(now() - start);
  }
  writer.throw_failure();
  uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  const double first = pauses[0], first_work = work[0];
  std::ranges::sort(pauses);
  std::ranges::sort(work);
  std::ranges::sort(writes);
  std::printf(
      "%.0f MB a checkpoint: training stands still for %.1f ms (median of %d; least %.1f, most "
      "%.1f; "
      "the first %.1f), of which a core works %.1f ms (the first %.1f); on disk after %.0f ms "
      "(median)\n",
      static_cast<double>(bytes) / 3e6, 1e3 * pauses[pauses.size() / 2], count,
      1e3 * pauses.front(), 1e3 * pauses.back(), 1e3 * first, 1e3 * work[work.size() / 2],
      1e3 * first_work, 1e3 * writes[writes.size() / 2]);
  return 0;
}
