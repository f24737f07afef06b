// The cost of mini-batches from a graph server without training: sampling with fan-outs 15, 10, 5
// where each layer draws anew, and the gather of their feature rows, on one thread.
//
//   bench_part_batches <parts folder> <address> <process id of the server> [batches] [seeds]
//
// Reads part 0 from the folder and requests the other parts from the server, without a cache.
// Prints the CPU time of both sides for one mini-batch; the first tenth is not counted.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "base/error.h"
#include "bench/folder.h"
#include "bench/parts.h"
#include "feature/store.h"
#include "sample/sampler.h"

namespace gnnmg {
namespace {

// Seconds of CPU that a process has used.
double cpu_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string skipped;
  std::getline(file, skipped, ')');
  for (int field = 3; field < 14; ++field) file >> skipped;
  double user = 0, system = 0;
  if (!(file >> user >> system))
    base::fail(base::Status::kNotFound, "process ", process, " of the server does not run");
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

class Batches {
 public:
  Batches(const data::Dataset& dataset, int64_t num_seeds)
      : train_(dataset.splits.front().part(data::SplitPart::kTrain)), num_seeds_(num_seeds) {
    sample::NeighborConfig config;
    config.fanouts = {15, 10, 5};
    config.expansion = sample::Expansion::kEveryLayer;
    sampler_ = sample::make_neighbor_sampler(dataset.graph, config);
    store_ = feature::make_store(*dataset.graph, dataset.feature);
  }

  void make(int64_t number) {
    const auto count = static_cast<int64_t>(train_.size());
    const int64_t begin = number * num_seeds_ % (count - num_seeds_ + 1);
    sampler_->sample(train_.subspan(begin, num_seeds_),
                     {1, base::Purpose::kSample, 0, static_cast<uint64_t>(number)}, workspace_,
                     sample_, {});
    rows_.resize_discard(sample_.num_nodes() * store_->num_cols() *
                         base::dtype_size(store_->dtype()));
    store_->gather(sample_.node_ids.span(), rows_.data(), nullptr);
    num_nodes += sample_.num_nodes();
    for (const sample::BlockView& block : sample_.blocks) num_edges += block.num_edges;
  }

  int64_t num_nodes = 0, num_edges = 0;  // sums over all mini-batches so far

 private:
  std::span<const int64_t> train_;
  int64_t num_seeds_;
  std::shared_ptr<const sample::Sampler> sampler_;
  std::shared_ptr<const feature::FeatureStore> store_;
  sample::Workspace workspace_;
  sample::Sample sample_;
  base::PageVector<uint8_t> rows_;
};

int run(int argc, char** argv) {
  if (argc < 4 || argc > 6) {
    std::fprintf(stderr,
                 "usage: bench_part_batches <parts folder> <address> <process id of the server> "
                 "[batches] [seeds]\n");
    return 2;
  }
  const int64_t count = argc > 4 ? std::stoll(argv[4]) : 200;
  base::ThreadPool pool(1);
  base::Log log;
  const data::DatasetRef dataset = bench::open_parts({argv[1], argv[2], {0}, 0, ""}, pool, log);
  Batches batches(*dataset, argc > 5 ? std::stoll(argv[5]) : 128);
  int64_t number = 0;
  while (number < count / 10) batches.make(number++);
  const int64_t nodes = batches.num_nodes, edges = batches.num_edges, first = number;
  const double server = cpu_of(argv[3]);
  const bench::Times start = bench::now();
  while (number < first + count) batches.make(number++);
  const double client = (bench::now() - start).cpu;
  const auto each = [&](double seconds) { return 1000 * seconds / static_cast<double>(count); };
  std::printf(
      "%lld mini-batches of %lld edges and %lld nodes: CPU %.2f ms each, client %.2f, "
      "server %.2f\n",
      static_cast<long long>(count), static_cast<long long>((batches.num_edges - edges) / count),
      static_cast<long long>((batches.num_nodes - nodes) / count),
      each(client + cpu_of(argv[3]) - server), each(client), each(cpu_of(argv[3]) - server));
  return 0;
}

}  // namespace
}  // namespace gnnmg

int main(int argc, char** argv) {
  try {
    return gnnmg::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_part_batches: %s\n", error.what());
    return 1;
  }
}
