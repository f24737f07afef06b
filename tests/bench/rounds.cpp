// Our side of a comparison that is measured in turns: a peer's script starts this program, asks it
// for a round, makes its own, and so on (graphbolt.py).
//
//   bench_rounds export <folder> <nodes>   writes the products-shaped graph as indptr.npy,
//                                          indices.npy (i32) and train.npy (i64)
//   bench_rounds serve <folder>            answers each line of its input by a line of JSON:
//     sample <once|every_layer> <f,f,...> <first> <count>   mini-batches of 1,024 training nodes
//     gather <cols> <first> <count>                         rows of f32, of [15,10,5] mini-batches
#include <ctime>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/philox.h"
#include "feature/store.h"
#include "graph/generate.h"
#include "io/npy.h"
#include "sample/sampler.h"

namespace gnnmg {
namespace {

constexpr int64_t kBatchSize = 1024;
constexpr double kTrainShare = 0.0803;

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void export_graph(const std::string& folder, int64_t num_nodes) {
  base::ThreadPool pool;
  graph::LogNormalConfig config;
  config.num_nodes = num_nodes;
  config.num_features = 0;
  const graph::GraphRef graph = graph::log_normal(config, pool);
  io::write_npy(folder + "/indptr.npy", graph->csc().indptr.view());
  io::write_npy(folder + "/indices.npy", graph->csc().indices.view());
  std::vector<int64_t> ids(num_nodes);
  base::Stream stream({1, 2}, 0);
  for (int64_t i = 0; i < num_nodes; ++i) {
    const auto other = static_cast<int64_t>(stream.below(i + 1));
    ids[i] = ids[other];
    ids[other] = i;
  }
  ids.resize(static_cast<size_t>(kTrainShare * static_cast<double>(num_nodes)));
  io::write_npy(folder + "/train.npy", base::Tensor::copy_of<int64_t>(ids).view());
  std::printf("{\"nodes\": %lld, \"edges\": %lld}\n", static_cast<long long>(num_nodes),
              static_cast<long long>(graph->num_edges()));
}

class Server {
 public:
  explicit Server(const std::string& folder) : train_(io::read_npy(folder + "/train.npy")) {
    base::ThreadPool pool;
    const base::Tensor indptr = io::read_npy(folder + "/indptr.npy");
    graph::GraphParts parts;
    parts.num_nodes = {indptr.rows() - 1};
    parts.topology.push_back(graph::csc_from_arrays(indptr, io::read_npy(folder + "/indices.npy"),
                                                    {}, indptr.rows() - 1, pool));
    graph_ = graph::Graph::create(std::move(parts));
  }

  void sample(std::istream& arguments) {
    std::string expansion, fanouts;
    int64_t first = 0, count = 0;
    arguments >> expansion >> fanouts >> first >> count;
    const sample::Sampler& sampler = sampler_for(expansion, fanouts);
    int64_t edges = 0, nodes = 0;
    const double wall = wall_seconds(), cpu = cpu_seconds();
    for (int64_t i = first; i < first + count; ++i) {
      draw(sampler, i);
      edges += sample_.num_edges_drawn();
      nodes += sample_.num_nodes();
    }
    report(wall_seconds() - wall, cpu_seconds() - cpu, edges, nodes);
  }

  void gather(std::istream& arguments) {
    int64_t cols = 0, first = 0, count = 0;
    arguments >> cols >> first >> count;
    const int64_t row_bytes = cols * static_cast<int64_t>(sizeof(float));
    if (!table_.defined() || table_.view().row_bytes() != row_bytes) {
      table_ = base::Tensor::empty(base::DType::kF32, {graph_->num_nodes(), cols});
      std::memset(table_.data(), 1, table_.view().num_bytes());
    }
    const auto store = feature::make_store(table_);
    const sample::Sampler& sampler = sampler_for("every_layer", "15,10,5");
    int64_t nodes = 0;
    double wall = 0, cpu = 0;
    for (int64_t i = first; i < first + count; ++i) {
      draw(sampler, i);
      const double wall_start = wall_seconds(), cpu_start = cpu_seconds();
      rows_.resize_discard(sample_.num_nodes() * row_bytes);
      store->gather(sample_.node_ids.span(), rows_.data(), nullptr);
      wall += wall_seconds() - wall_start;
      cpu += cpu_seconds() - cpu_start;
      nodes += sample_.num_nodes();
    }
    report(wall, cpu, 0, nodes);
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
      sampler = sample::make_neighbor_sampler(graph_, config);
    }
    return *sampler;
  }

  void draw(const sample::Sampler& sampler, int64_t batch) {
    const std::span<const int64_t> ids = train_.as<const int64_t>();
    const auto seeds = ids.subspan(batch * kBatchSize % (ids.size() - kBatchSize), kBatchSize);
    sampler.sample(seeds, {1, base::Purpose::kSample, 0, static_cast<uint64_t>(batch)}, workspace_,
                   sample_, {});
  }

  static void report(double wall, double cpu, int64_t edges, int64_t nodes) {
    std::printf("{\"wall\": %.6f, \"cpu\": %.6f, \"edges\": %lld, \"nodes\": %lld}\n", wall, cpu,
                static_cast<long long>(edges), static_cast<long long>(nodes));
    std::fflush(stdout);
  }

  base::Tensor train_;
  graph::GraphRef graph_;
  std::map<std::string, std::unique_ptr<sample::Sampler>> samplers_;
  sample::Workspace workspace_;
  sample::Sample sample_;
  base::Tensor table_;
  base::PageVector<uint8_t> rows_;
};

int run(int argc, char** argv) {
  const std::string verb = argc > 2 ? argv[1] : "";
  if (verb == "export" && argc == 4) {
    export_graph(argv[2], std::stoll(argv[3]));
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
