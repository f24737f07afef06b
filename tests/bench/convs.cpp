// Whole layers, forward and backward: the library's, and the formulation that users write with
// LibTorch (index_select, scatter, softmax by scatter). convs.py requests them in turns.
//
//   bench_convs serve <graph> block|graph [<in> <out> <heads>]
//       answers each line of its input by a line of JSON:
//         edges <start>           writes <start>_sources.npy and _targets.npy (i64, by target);
//                                 numbers of edges, sources and targets
//         <layer> check           the largest difference between the two forms' results
//         <layer> ours|plain <count>   the time of that many runs
//         <layer> peak-ours|peak-plain   the largest growth of the process in bytes during one run,
//                                 for a process that has run nothing before
//
// <graph> is a data set, or log_normal:<nodes>. Layers run on the block next to the input of a
// mini-batch of 1,024 seeds, fan-outs 15, 10, 5, drawn anew for every layer, or on all edges. Rows
// of 100 numbers become 64, in 4 heads, unless specified; all gradients are computed.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/folder.h"
#include "data/dataset.h"
#include "graph/generate.h"
#include "io/npy.h"
#include "nn/conv/layers.h"
#include "sample/sampler.h"

namespace gnnmg {
namespace {

using bench::Times;

// Widths of the layers' input and output rows.
struct Shape {
  int64_t in = 100, out = 64, heads = 4;
};

// Edges by target and by source, and as pairs of ids for LibTorch.
struct Edges {
  sample::Sample sample;
  std::vector<int32_t> indptr, out_indptr, out_targets;
  sample::BlockView view;
  at::Tensor sources, targets;

  void make_pairs() {
    sources = at::empty({view.num_edges}, at::TensorOptions(at::kLong));
    targets = at::empty({view.num_edges}, at::TensorOptions(at::kLong));
    for (int64_t t = 0; t < view.num_targets; ++t)
      for (int64_t e = view.indptr[t]; e < view.indptr[t + 1]; ++e) {
        sources.mutable_data_ptr<int64_t>()[e] = view.indices[e];
        targets.mutable_data_ptr<int64_t>()[e] = t;
      }
  }
};

graph::GraphRef read_graph(const std::string& from) {
  constexpr std::string_view kGenerated = "log_normal:";
  base::ThreadPool pool(1);
  if (from.starts_with(kGenerated)) {
    graph::LogNormalConfig config;
    config.num_nodes = std::stoll(from.substr(kGenerated.size()));
    config.num_features = 0;
    return graph::log_normal(config, pool);
  }
  base::Log log;
  return data::open_dataset(from, {}, {pool, log, {}})->graph;
}

void draw(const graph::GraphRef& graph, Edges& edges) {
  sample::NeighborConfig config;
  config.expansion = sample::Expansion::kEveryLayer;
  config.transpose = true;
  config.fanouts = {15, 10, 5};
  sample::Workspace workspace;
  sample::make_neighbor_sampler(graph, config)
      ->sample(bench::random_seeds(graph->num_nodes(), bench::kBatchSize),
               {1, base::Purpose::kSample, 0, 0}, workspace, edges.sample, {});
  edges.view = edges.sample.blocks[0];
  edges.make_pairs();
}

void take_all(const graph::Csc& csc, Edges& edges) {
  edges.indptr.resize(csc.num_targets + 1);
  edges.out_indptr.assign(csc.num_sources + 1, 0);
  edges.out_targets.resize(csc.num_edges());
  for (int64_t t = 0; t < csc.num_targets; ++t)
    edges.indptr[t + 1] = edges.indptr[t] + static_cast<int32_t>(csc.in_degree(t));
  const int32_t* indices = csc.indices.as<const int32_t>().data();
  for (int64_t e = 0; e < csc.num_edges(); ++e) ++edges.out_indptr[indices[e] + 1];
  for (int64_t s = 0; s < csc.num_sources; ++s) edges.out_indptr[s + 1] += edges.out_indptr[s];
  std::vector<int32_t> next(edges.out_indptr.begin(), edges.out_indptr.end() - 1);
  for (int64_t t = 0; t < csc.num_targets; ++t)
    for (int64_t e = edges.indptr[t]; e < edges.indptr[t + 1]; ++e)
      edges.out_targets[next[indices[e]]++] = static_cast<int32_t>(t);
  edges.view.num_targets = csc.num_targets;
  edges.view.num_sources = csc.num_sources;
  edges.view.num_edges = csc.num_edges();
  edges.view.indptr = edges.indptr.data();
  edges.view.indices = indices;
  edges.view.out_indptr = edges.out_indptr.data();
  edges.view.out_targets = edges.out_targets.data();
  edges.make_pairs();
}

// Returns the sums of the messages' rows by target.
at::Tensor scatter(const at::Tensor& messages, const Edges& edges) {
  return at::zeros({edges.view.num_targets, messages.size(1)})
      .index_add(0, edges.targets, messages);
}

struct Layer {
  const char* name;
  std::unique_ptr<nn::Conv> conv;
  // The same function of rows and parameters, in the order of the layer's list.
  std::function<at::Tensor(const at::Tensor& x, const std::vector<nn::NamedTensor>& p,
                           const Edges& edges)>
      plain;
};

// Loops are off on both sides, where they would cost the same edges.
std::vector<Layer> layers(const Shape& shape) {
  std::vector<Layer> all;
  nn::GcnOptions gcn;
  gcn.in = shape.in;
  gcn.out = shape.out;
  gcn.add_self_loops = false;
  all.push_back({"GCN", nn::make_gcn_conv(gcn), [](const auto& x, const auto& p, const Edges& e) {
                   const at::Tensor ones = at::zeros({e.view.num_edges}) + 1;
                   at::Tensor degree =
                       at::zeros({e.view.num_sources}).index_add(0, e.targets, ones).pow(-0.5);
                   degree = degree.masked_fill(degree.isinf(), 0);
                   const at::Tensor weight =
                       degree.index_select(0, e.sources) * degree.index_select(0, e.targets);
                   const at::Tensor z = at::linear(x, p[1].tensor);
                   return scatter(z.index_select(0, e.sources) * weight.unsqueeze(1), e) +
                          p[0].tensor;
                 }});
  for (const bool v2 : {false, true}) {
    nn::GatOptions gat;
    gat.in = shape.in;
    gat.heads = shape.heads;
    gat.out = shape.out / shape.heads;
    gat.v2 = v2;
    gat.add_self_loops = false;
    all.push_back(
        {v2 ? "GATv2" : "GAT", nn::make_gat_conv(gat),
         [v2, shape](const auto& x, const auto& p, const Edges& e) {
           const std::vector<int64_t> heads{-1, shape.heads, shape.out / shape.heads};
           const auto tensor = [&](size_t i) { return p[i].tensor; };
           at::Tensor z, scores;
           if (v2) {  // att, bias, lin_l, lin_r
             z = at::linear(x, tensor(2), tensor(3)).view(heads);
             const at::Tensor r =
                 at::linear(x.narrow(0, 0, e.view.num_targets), tensor(4), tensor(5)).view(heads);
             const at::Tensor sum = z.index_select(0, e.sources) + r.index_select(0, e.targets);
             scores = (at::leaky_relu(sum, 0.2) * tensor(0)).sum(-1);
           } else {  // att_src, att_dst, bias, lin
             z = at::linear(x, tensor(3)).view(heads);
             const at::Tensor from = (z * tensor(0)).sum(-1);
             const at::Tensor to = (z.narrow(0, 0, e.view.num_targets) * tensor(1)).sum(-1);
             scores = at::leaky_relu(
                 from.index_select(0, e.sources) + to.index_select(0, e.targets), 0.2);
           }
           const at::Tensor ids = e.targets.unsqueeze(1).expand_as(scores);
           const at::Tensor most =
               at::zeros({e.view.num_targets, shape.heads})
                   .scatter_reduce(0, ids, scores.detach(), "amax", /*include_self=*/false);
           const at::Tensor powers = (scores - most.index_select(0, e.targets)).exp();
           const at::Tensor sums = scatter(powers, e) + 1e-16;
           const at::Tensor alpha = powers / sums.index_select(0, e.targets);
           const at::Tensor messages = z.index_select(0, e.sources) * alpha.unsqueeze(-1);
           return scatter(messages.reshape({e.view.num_edges, shape.out}), e) + tensor(v2 ? 1 : 2);
         }});
  }
  nn::GinOptions gin;
  gin.widths = {shape.in, shape.out, shape.out};
  all.push_back({"GIN", nn::make_gin_conv(gin), [](const auto& x, const auto& p, const Edges& e) {
                   const at::Tensor sum = scatter(x.index_select(0, e.sources), e) +
                                          x.narrow(0, 0, e.view.num_targets);
                   return at::linear(at::relu(at::linear(sum, p[0].tensor, p[1].tensor)),
                                     p[2].tensor, p[3].tensor);
                 }});
  return all;
}

// A layer in both forms with its rows and gradient, ready to run.
class Side {
 public:
  Side(const Edges& edges, const Shape& shape, Layer& layer) : edges_(edges), layer_(layer) {
    nn::ParameterList list(nn::Init::kPyg);
    layer.conv->declare(list);
    parameters_ = nn::ParameterSet(list, at::kFloat, 1);
    in_.x = at::rand({edges.view.num_sources, shape.in}).set_requires_grad(true);
    dy_ = at::rand({edges.view.num_targets, shape.out});
    execution_.gradients = true;
  }
  at::Tensor ours() const { return layer_.conv->forward(in_, {edges_.view, execution_, {}, {}}); }
  at::Tensor plain() const { return layer_.plain(in_.x, parameters_.named(), edges_); }
  // A fast wrong layer is worthless.
  double difference() const { return (ours() - plain()).abs().max().item<double>(); }
  template <typename F>
  Times timed(int64_t count, const F& make) {
    const Times start = bench::now();
    for (int64_t k = 0; k < count; ++k) {
      in_.x.mutable_grad().reset();
      make().backward(dy_);
    }
    return bench::now() - start;
  }

 private:
  const Edges& edges_;
  Layer& layer_;
  nn::ParameterSet parameters_;
  nn::ConvInput in_;
  nn::Execution execution_;
  at::Tensor dy_;
};

void write_edges(const Edges& edges, const std::string& start) {
  const auto write = [&](const char* part, const at::Tensor& ids) {
    const std::span<const int64_t> values(ids.const_data_ptr<int64_t>(), ids.numel());
    io::write_npy(start + part, base::Tensor::copy_of(values).view());
  };
  write("_sources.npy", edges.sources);
  write("_targets.npy", edges.targets);
  std::printf("{\"edges\": %lld, \"sources\": %lld, \"targets\": %lld}\n",
              static_cast<long long>(edges.view.num_edges),
              static_cast<long long>(edges.view.num_sources),
              static_cast<long long>(edges.view.num_targets));
}

// Returns a line of /proc/self/status in bytes.
int64_t bytes_of(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ":")) return 1024 * std::stoll(line.substr(field.size() + 1));
  base::fail(base::Status::kIo, "/proc/self/status has no ", field);
}

template <typename F>
int64_t growth(Side& side, const F& make) {
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak to the present size
  const int64_t before = bytes_of("VmRSS");
  side.timed(1, make);
  return bytes_of("VmHWM") - before;
}

void answer(const std::string& line, const Edges& edges,
            const std::map<std::string, std::unique_ptr<Side>>& sides) {
  std::istringstream words(line);
  std::string name, what;
  int64_t count = 0;
  words >> name >> what >> count;
  if (name == "edges") return write_edges(edges, what);
  const bool mine = what == "ours" || what == "peak-ours", peak = what.starts_with("peak-");
  if (!sides.contains(name) || (what != "check" && !mine && what != "plain" && !peak))
    base::fail(base::Status::kInvalidArgument, "no such task: ", line);
  Side& side = *sides.at(name);
  const auto make = [&] { return mine ? side.ours() : side.plain(); };
  if (what == "check") {
    std::printf("{\"difference\": %.3e}\n", side.difference());
    return;
  }
  if (peak) {
    std::printf("{\"bytes\": %lld}\n", static_cast<long long>(growth(side, make)));
    return;
  }
  const Times times = side.timed(count, make);
  std::printf("{\"wall\": %.6f, \"cpu\": %.6f}\n", times.wall, times.cpu);
}

int start(int argc, char** argv) {
  const std::string part = argc > 3 ? argv[3] : "";
  if ((argc != 4 && argc != 7) || std::string(argv[1]) != "serve" ||
      (part != "block" && part != "graph")) {
    std::fprintf(stderr,
                 "usage: bench_convs serve <graph> block|graph [<in> <out> <heads>]\n"
                 "<graph>: a data set, or log_normal:<nodes>\n");
    return 2;
  }
  Shape shape;
  if (argc == 7) shape = {std::stoll(argv[4]), std::stoll(argv[5]), std::stoll(argv[6])};
  at::set_num_threads(1);
  const graph::GraphRef graph = read_graph(argv[2]);
  Edges edges;
  if (part == "block")
    draw(graph, edges);
  else
    take_all(graph->csc(), edges);
  std::vector<Layer> all = layers(shape);
  std::map<std::string, std::unique_ptr<Side>> sides;
  for (Layer& layer : all) sides[layer.name] = std::make_unique<Side>(edges, shape, layer);
  for (std::string line; std::getline(std::cin, line);) {
    answer(line, edges, sides);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace gnnmg

int main(int argc, char** argv) {
  try {
    return gnnmg::start(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_convs: %s\n", error.what());
    return 1;
  }
}
