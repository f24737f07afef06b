// One side of a comparison that is measured in turns: a peer's script starts this program, requests
// a round, makes its own, and so on (graphbolt.py).
//
//   bench_rounds export <folder> <nodes>   writes the products-shaped graph (folder.h)
//   bench_rounds serve <folder>            answers each line of its input by a line of JSON:
//     sample <once|every_layer> <f,f,...> <first> <count>   mini-batches of 1,024 training nodes
//     gather <cols> <first> <count>                         rows of f32, of [15,10,5] mini-batches
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "base/error.h"
#include "bench/folder.h"
#include "feature/store.h"
#include "sample/sampler.h"

namespace gnnmg {
namespace {

using bench::Times;

class Server {
 public:
  explicit Server(const std::string& folder) : folder_(bench::read_folder(folder, false)) {}

  void sample(std::istream& arguments) {
    std::string expansion, fanouts;
    int64_t first = 0, count = 0;
    arguments >> expansion >> fanouts >> first >> count;
    const sample::Sampler& sampler = sampler_for(expansion, fanouts);
    int64_t edges = 0, nodes = 0;
    const Times start = bench::now();
    for (int64_t i = first; i < first + count; ++i) {
      draw(sampler, i);
      edges += sample_.num_edges_drawn();
      nodes += sample_.num_nodes();
    }
    report(bench::now() - start, edges, nodes);
  }

  void gather(std::istream& arguments) {
    int64_t cols = 0, first = 0, count = 0;
    arguments >> cols >> first >> count;
    const int64_t row_bytes = cols * static_cast<int64_t>(sizeof(float));
    if (!table_.defined() || table_.view().row_bytes() != row_bytes) {
      table_ = base::Tensor::empty(base::DType::kF32, {folder_.graph->num_nodes(), cols});
      std::memset(table_.data(), 1, table_.view().num_bytes());
    }
    const auto store = feature::make_store(table_);
    const sample::Sampler& sampler = sampler_for("every_layer", "15,10,5");
    int64_t nodes = 0;
    Times spent;
    for (int64_t i = first; i < first + count; ++i) {
      draw(sampler, i);
      const Times start = bench::now();
      rows_.resize_discard(sample_.num_nodes() * row_bytes);
      store->gather(sample_.node_ids.span(), rows_.data(), nullptr);
      const Times one = bench::now() - start;
      spent.wall += one.wall;
      spent.cpu += one.cpu;
      nodes += sample_.num_nodes();
    }
    report(spent, 0, nodes);
  }

 private:
  const sample::Sampler& sampler_for(const std::string& expansion, const std::string& fanouts) {
    std::unique_ptr<sample::Sampler>& sampler = samplers_[expansion + fanouts];
    if (!sampler) {
      sample::NeighborConfig config;
      config.expansion =
          expansion == "once" ? sample::Expansion::kOnce : sample::Expansion::kEveryLayer;
      std::istringstream list(fanouts);
      for (std::string fanout; std::getline(list, fanout, ',');)
        config.fanouts.push_back(std::stoll(fanout));
      sampler = sample::make_neighbor_sampler(folder_.graph, config);
    }
    return *sampler;
  }

  void draw(const sample::Sampler& sampler, int64_t batch) {
    sampler.sample(folder_.seeds(batch),
                   {1, base::Purpose::kSample, 0, static_cast<uint64_t>(batch)}, workspace_,
                   sample_, {});
  }

  static void report(const Times& times, int64_t edges, int64_t nodes) {
    std::printf("{\"wall\": %.6f, \"cpu\": %.6f, \"edges\": %lld, \"nodes\": %lld}\n", times.wall,
                times.cpu, static_cast<long long>(edges), static_cast<long long>(nodes));
    std::fflush(stdout);
  }

  bench::Folder folder_;
  std::map<std::string, std::unique_ptr<sample::Sampler>> samplers_;
  sample::Workspace workspace_;
  sample::Sample sample_;
  base::Tensor table_;
  base::PageVector<uint8_t> rows_;
};

int run(int argc, char** argv) {
  const std::string verb = argc > 2 ? argv[1] : "";
  if (verb == "export" && argc == 4) {
    bench::export_folder(argv[2], std::stoll(argv[3]));
    return 0;
  }
  if (verb != "serve" || argc != 3) {
    std::fprintf(stderr, "usage: bench_rounds export <folder> <nodes> | serve <folder>\n");
    return 2;
  }
  Server server(argv[2]);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string task;
    words >> task;
    if (task == "sample")
      server.sample(words);
    else if (task == "gather")
      server.gather(words);
    else
      base::fail(base::Status::kInvalidArgument, "no such task: ", line);
  }
  return 0;
}

}  // namespace
}  // namespace gnnmg

int main(int argc, char** argv) {
  try {
    return gnnmg::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_rounds: %s\n", error.what());
    return 1;
  }
}
