// Time and memory of opening data sets, of generators, and of the own format:
//   bench_open write FILE NODES EDGES [weights]   a text of random edges
//   bench_open write-mtx FILE NODES EDGES         the same as a Matrix Market file
//   bench_open PATH THREADS [undirected] [save FOLDER]
//   bench_open rmat SCALE EDGES THREADS
//   bench_open erdos-renyi NODES EDGES THREADS
// Memory is the process's peak beyond its size at the start, without pages of files; a line of JSON
// has it in bytes, and by listed edge.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "base/philox.h"
#include "data/dataset.h"
#include "graph/generate.h"

namespace {

using namespace gnnmg;

// Returns a value of /proc/self/status in bytes.
int64_t memory(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::atoll(line.c_str() + name.size() + 1) * 1024;
  return 0;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

void write_text(const char* path, int64_t nodes, int64_t edges, bool weights, bool matrix) {
  std::FILE* file = std::fopen(path, "w");
  if (!file) std::exit(1);
  if (matrix)
    std::fprintf(file, "%%%%MatrixMarket matrix coordinate pattern general\n%lld %lld %lld\n",
                 static_cast<long long>(nodes), static_cast<long long>(nodes),
                 static_cast<long long>(edges));
  base::Stream stream({1, 2}, 3);
  const int least = matrix ? 1 : 0;
  for (int64_t e = 0; e < edges; ++e) {
    const auto source = static_cast<long long>(stream.below(nodes)) + least;
    const auto target = static_cast<long long>(stream.below(nodes)) + least;
    if (weights)
      std::fprintf(file, "%lld %lld %.6f\n", source, target, stream.uniform());
    else
      std::fprintf(file, "%lld %lld\n", source, target);
  }
  std::fclose(file);
}

// The number before " edges listed" in the log.
int64_t listed_edges(base::Log& log) {
  int64_t listed = 0;
  while (const auto record = log.next()) {
    const size_t end = record->text.find(" edges listed");
    if (end == std::string::npos) continue;
    const size_t begin = record->text.rfind(' ', end - 1) + 1;
    listed = std::atoll(record->text.c_str() + begin);
  }
  return listed;
}

int64_t bytes_of(const graph::Graph& graph) {
  const graph::Csc& csc = graph.csc();
  return csc.indptr.view().num_bytes() + csc.indices.view().num_bytes() +
         (csc.edge_ids.defined() ? csc.edge_ids.view().num_bytes() : 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command.starts_with("write") && argc >= 5) {
    const bool weights = argc > 5 && std::string_view(argv[5]) == "weights";
    write_text(argv[2], std::atoll(argv[3]), std::atoll(argv[4]), weights, command == "write-mtx");
    return 0;
  }
  if (argc < 3) return std::fprintf(stderr, "see the first lines of open.cpp\n"), 1;
  const bool rmat = command == "rmat", erdos = command == "erdos-renyi";
  const bool generator = rmat || erdos;
  base::ThreadPool pool(std::atoi(argv[generator ? 4 : 2]));
  base::Log log;

  const int64_t start_bytes = memory("RssAnon");
  std::atomic<int64_t> peak{start_bytes};
  std::atomic<bool> done{false};
  std::thread watcher([&] {
    for (; !done; std::this_thread::sleep_for(std::chrono::milliseconds(2)))
      peak = std::max(peak.load(), memory("RssAnon"));
  });
  const auto start = std::chrono::steady_clock::now();
  const double start_cpu = cpu_seconds();
  graph::GraphRef graph;
  data::DatasetRef set;
  if (rmat) {
    graph::RmatConfig config;
    config.scale = std::atoi(argv[2]);
    config.num_edges = std::atoll(argv[3]);
    graph = graph::rmat(config, pool);
  } else if (erdos) {
    graph::ErdosRenyiConfig config;
    config.num_nodes = std::atoll(argv[2]);
    config.num_edges = std::atoll(argv[3]);
    graph = graph::erdos_renyi(config, pool);
  } else {
    data::OpenOptions options;
    for (int i = 3; i < argc; ++i)
      if (std::string_view(argv[i]) == "undirected") options.undirected = 1;
    set = data::open_dataset(command.data(), options, {pool, log, base::CancelToken()});
    graph = set->graph;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double cpu = cpu_seconds() - start_cpu;
  done = true;
  watcher.join();
  const int64_t listed = generator ? graph->num_edges() : std::max<int64_t>(1, listed_edges(log));
  const int64_t most = std::max(peak.load(), memory("RssAnon")) - start_bytes;
  std::printf(
      "{\"edges\": %lld, \"seconds\": %.3f, \"cpu\": %.3f, \"peak\": %lld, \"result\": %lld, "
      "\"bytes_an_edge\": %.2f, \"times_result\": %.2f}\n",
      static_cast<long long>(graph->num_edges()), seconds, cpu, static_cast<long long>(most),
      static_cast<long long>(bytes_of(*graph)),
      static_cast<double>(most) / static_cast<double>(std::max<int64_t>(1, listed)),
      static_cast<double>(most) / static_cast<double>(bytes_of(*graph)));
  if (!generator && argc > 4 && std::string_view(argv[argc - 2]) == "save") {
    data::save_dataset(*set, argv[argc - 1]);
    int64_t size = 0;
    for (const auto& file : std::filesystem::directory_iterator(argv[argc - 1])) {
      size += static_cast<int64_t>(file.file_size());
      std::printf("%s %lld\n", file.path().filename().c_str(),
                  static_cast<long long>(file.file_size()));
    }
    std::printf("folder %lld\n", static_cast<long long>(size));
  }
  return 0;
}
