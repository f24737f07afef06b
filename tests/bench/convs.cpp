// Whole layers, forward and backward, against the formulation that users write with LibTorch:
// index_select, scatter, softmax by scatter. In turns, on one thread.
//
//   bench_convs torch <folder> [rounds]   the comparison
//   bench_convs export <folder>           the edges that they run on, for convs.py
//   bench_convs serve <folder> block|graph   answers lines "layer count" with the times of ours
//
// <folder> is written by bench_rounds. Layers run on the block next to the input of a mini-batch of
// 1,024 seeds, fan-outs 15, 10, 5, every layer drawn afresh; and on all edges of the graph where it
// has at most ten million. Rows of 100 numbers become 64; all gradients are taken.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/folder.h"
#include "io/npy.h"
#include "nn/conv/layers.h"
#include "sample/sampler.h"

namespace gnnmg {
namespace {

using bench::Times;

constexpr int64_t kMostEdges = 10'000'000;  // of graphs that layers run on as a whole
constexpr int64_t kIn = 100, kOut = 64, kHeads = 4;

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

void draw(const bench::Folder& folder, Edges& edges) {
  sample::NeighborConfig config;
  config.expansion = sample::Expansion::kEveryLayer;
  config.transpose = true;
  config.fanouts = {15, 10, 5};
  sample::Workspace workspace;
  sample::make_neighbor_sampler(folder.graph, config)
      ->sample(folder.seeds(0), {1, base::Purpose::kSample, 0, 0}, workspace, edges.sample, {});
  edges.view = edges.sample.blocks[0];
  edges.make_pairs();
}

void take_all(const graph::Csc& csc, Edges& edges) {
  edges.indptr.resize(csc.num_targets + 1);
  edges.out_indptr.assign(csc.num_sources + 1, 0);
  edges.out_targets.resize(csc.num_edges());
  for (int64_t t = 0; t < csc.num_targets; ++t)
    edges.indptr[t + 1] = edges.indptr[t] + static_cast<int32_t>(csc.in_degree(t));
  const int32_t* indices = static_cast<const int32_t*>(csc.indices.data());
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

// Sums of the rows of messages over the targets.
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

// Loops are off on both sides: they cost both the same edges.
std::vector<Layer> layers() {
  std::vector<Layer> all;
  nn::GcnOptions gcn;
  gcn.in = kIn;
  gcn.out = kOut;
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
    gat.in = kIn;
    gat.heads = kHeads;
    gat.out = kOut / kHeads;
    gat.v2 = v2;
    gat.add_self_loops = false;
    all.push_back(
        {v2 ? "GATv2" : "GAT", nn::make_gat_conv(gat),
         [v2](const auto& x, const auto& p, const Edges& e) {
           const std::vector<int64_t> heads{-1, kHeads, kOut / kHeads};
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
               at::zeros({e.view.num_targets, kHeads})
                   .scatter_reduce(0, ids, scores.detach(), "amax", /*include_self=*/false);
           const at::Tensor powers = (scores - most.index_select(0, e.targets)).exp();
           const at::Tensor sums = scatter(powers, e) + 1e-16;
           const at::Tensor alpha = powers / sums.index_select(0, e.targets);
           const at::Tensor messages = z.index_select(0, e.sources) * alpha.unsqueeze(-1);
           return scatter(messages.reshape({e.view.num_edges, kOut}), e) + tensor(v2 ? 1 : 2);
         }});
  }
  nn::GinOptions gin;
  gin.widths = {kIn, kOut, kOut};
  all.push_back({"GIN", nn::make_gin_conv(gin), [](const auto& x, const auto& p, const Edges& e) {
                   const at::Tensor sum = scatter(x.index_select(0, e.sources), e) +
                                          x.narrow(0, 0, e.view.num_targets);
                   return at::linear(at::relu(at::linear(sum, p[0].tensor, p[1].tensor)),
                                     p[2].tensor, p[3].tensor);
                 }});
  return all;
}

struct Spread {
  double middle, low, high;
};
Spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {values[values.size() / 2], values.front(), values.back()};
}

// One of our layers with its rows and gradient, ready to run.
class Ours {
 public:
  Ours(const Edges& edges, Layer& layer) : edges_(edges), layer_(layer) {
    nn::ParameterList list(nn::Init::kPyg);
    layer.conv->declare(list);
    parameters_ = nn::ParameterSet(list, at::kFloat, 1);
    in_.x = at::rand({edges.view.num_sources, kIn}).set_requires_grad(true);
    dy_ = at::rand({edges.view.num_targets, kOut});
    execution_.gradients = true;
  }
  at::Tensor forward() const {
    return layer_.conv->forward(in_, {edges_.view, execution_, {}, {}});
  }
  at::Tensor plain() const { return layer_.plain(in_.x, parameters_.named(), edges_); }
  template <typename F>
  Times timed(const F& make) {
    in_.x.mutable_grad().reset();
    const Times start = bench::now();
    make().backward(dy_);
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

void compare(const char* what, const Edges& edges, int64_t rounds) {
  std::printf("%s: %lld edges from %lld sources to %lld targets\n", what,
              static_cast<long long>(edges.view.num_edges),
              static_cast<long long>(edges.view.num_sources),
              static_cast<long long>(edges.view.num_targets));
  for (Layer& layer : layers()) {
    Ours side(edges, layer);
    const auto ours = [&] { return side.forward(); };
    const auto plain = [&] { return side.plain(); };
    // A fast wrong layer is worth nothing.
    const double difference = (ours() - plain()).abs().max().template item<double>();
    std::vector<double> mine, theirs, ratio;
    for (int64_t round = -1; round < rounds; ++round) {
      const Times a = side.timed(ours), b = side.timed(plain);
      if (round < 0) continue;  // not counted
      mine.push_back(1000 * a.cpu);
      theirs.push_back(1000 * b.cpu);
      ratio.push_back(b.cpu / a.cpu);
    }
    const Spread m = spread_of(mine), t = spread_of(theirs), r = spread_of(ratio);
    std::printf(
        "  %-6s ours %8.1f ms CPU (%.1f-%.1f), plain %8.1f (%.1f-%.1f), ratio %.2f "
        "(%.2f-%.2f), largest difference %.1e\n",
        layer.name, m.middle, m.low, m.high, t.middle, t.low, t.high, r.middle, r.low, r.high,
        difference);
    std::fflush(stdout);
  }
}

void serve(const Edges& edges) {
  std::vector<Layer> all = layers();
  std::map<std::string, std::unique_ptr<Ours>> sides;
  for (Layer& layer : all) sides[layer.name] = std::make_unique<Ours>(edges, layer);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    int64_t count = 0;
    if (!(words >> name >> count) || !sides.contains(name))
      base::fail(base::Status::kInvalidArgument, "no such task: ", line);
    Times times{};
    for (int64_t k = 0; k < count; ++k) {
      const Times one = sides[name]->timed([&] { return sides[name]->forward(); });
      times.wall += one.wall;
      times.cpu += one.cpu;
    }
    std::printf("{\"wall\": %.6f, \"cpu\": %.6f}\n", times.wall, times.cpu);
    std::fflush(stdout);
  }
}

// As edge lists: the block's, or, for layers that PyG has on whole graphs alone, all edges.
void export_edges(const Edges& edges, const std::string& start) {
  const auto write = [&](const char* part, const at::Tensor& ids) {
    const std::span<const int64_t> values(ids.const_data_ptr<int64_t>(), ids.numel());
    io::write_npy(start + part, base::Tensor::copy_of(values).view());
  };
  write("_sources.npy", edges.sources);
  write("_targets.npy", edges.targets);
  const int64_t sizes[] = {edges.view.num_sources, edges.view.num_targets};
  io::write_npy(start + "_sizes.npy",
                base::Tensor::copy_of(std::span<const int64_t>(sizes)).view());
}

int start(int argc, char** argv) {
  const std::string verb = argc > 2 ? argv[1] : "";
  const bool served = verb == "serve" && argc > 3;
  if (verb != "torch" && verb != "export" && !served) {
    std::fprintf(stderr,
                 "usage: bench_convs torch <folder> [rounds] | export <folder> | serve <folder> "
                 "block|graph\n");
    return 2;
  }
  at::set_num_threads(1);
  const bench::Folder folder = bench::read_folder(argv[2], false);
  const bool whole = folder.graph->csc().num_edges() <= kMostEdges;
  for (const std::string part : {"block", "graph"}) {
    if ((part == "graph" && !whole) || (served && part != argv[3])) continue;
    Edges edges;
    if (part == "block")
      draw(folder, edges);
    else
      take_all(folder.graph->csc(), edges);
    if (served)
      serve(edges);
    else if (verb == "export")
      export_edges(edges, base::text(argv[2], "/convs_", part));
    else
      compare(part == "block" ? "block [15,10,5]" : "whole graph", edges,
              argc > 3 ? std::stoll(argv[3]) : 5);
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
