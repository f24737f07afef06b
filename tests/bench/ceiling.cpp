// Prints the best possible accuracy for generated graphs with planted classes, hop by hop:
//   bench_ceiling planted [--center-scale X] [--intra-probability P] [--seed S]
//   bench_ceiling products [--nodes N] [--seed S]
#include "graph/ceiling.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

using namespace gnnmg;

constexpr int kHops = 5;

template <typename Config>
int report(const Config& config, graph::GraphRef (*make)(const Config&, base::ThreadPool&),
           int hops) {
  base::ThreadPool pool;
  const auto start = std::chrono::steady_clock::now();
  const graph::GraphRef made = make(config, pool);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%lld nodes, %lld directed edges, made in %.2f s on %d threads\n",
              static_cast<long long>(made->num_nodes()), static_cast<long long>(made->num_edges()),
              took.count(), pool.num_threads());
  std::puts("hops  accuracy on visible labels");
  const std::vector<double> reached = graph::ceiling(config, *made, hops, pool);
  for (size_t h = 0; h < reached.size(); ++h) std::printf("%4zu  %.4f\n", h, reached[h]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc > 1 ? argv[1] : "";
  graph::PlantedPartitionConfig planted;
  graph::LogNormalConfig products = graph::products_shaped(0.1);
  bool understood = kind == "planted" || kind == "products";
  for (int i = 2; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const double value = i + 1 < argc ? std::atof(argv[i + 1]) : 0;
    if (i + 1 >= argc)
      understood = false;
    else if (name == "--seed")
      planted.seed = products.seed = static_cast<uint64_t>(value);
    else if (name == "--center-scale")
      planted.center_scale = value;
    else if (name == "--intra-probability")
      planted.intra_probability = value;
    else if (name == "--nodes")
      products.num_nodes = static_cast<int64_t>(value);
    else
      understood = false;
  }
  if (!understood) {
    std::fputs(
        "usage: bench_ceiling planted [--center-scale X] [--intra-probability P] [--seed S]\n"
        "       bench_ceiling products [--nodes N] [--seed S]\n",
        stderr);
    return 2;
  }
  if (kind == "planted") return report(planted, graph::planted_partition, 8);
  return report(products, graph::log_normal, kHops);
}
