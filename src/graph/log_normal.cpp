// The graph with log-normal in-degrees, degree-weighted sources and communities. Edges are drawn
// per target directly into the CSC, so that nothing has to be sorted.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/memory.h"
#include "graph/generate.h"
#include "graph/planted.h"
#include "graph/weighted.h"

namespace gnnmg::graph {
namespace {

using base::DType;
using base::Key;
using base::Tensor;
using base::ThreadPool;

void check(const LogNormalConfig& config) {
  check_field("num_nodes", config.num_nodes, 0, std::numeric_limits<int32_t>::max());
  check_field("mean_degree", config.mean_degree, 1e-6, 1e9);
  check_field("sigma", config.sigma, 0, 10);
  check_field("num_features", int64_t{config.num_features}, 0, 1 << 20);
  check_field("num_classes", int64_t{config.num_classes}, 0, 1 << 20);
  check_field("zipf", config.zipf, 0, 100);
  check_field("homophily", config.homophily, 0, 1);
  check_field("center_scale", config.center_scale, 0, 1e6);
  check_field("label_noise", config.label_noise, 0, 1);
}

// Draws the in-degrees, as index pointers.
Tensor draw_degrees(const LogNormalConfig& config, ThreadPool& pool) {
  const Key key = generator_key(config.seed, Generator::kLogNormal, Part::kDegrees);
  const double mu = std::log(config.mean_degree) - config.sigma * config.sigma / 2;
  const auto most = static_cast<double>(std::max<int64_t>(1, config.num_nodes / 20));
  Tensor indptr = Tensor::empty(DType::kI64, {config.num_nodes + 1});
  const std::span<int64_t> pointers = indptr.as<int64_t>();
  pointers[0] = 0;
  pool.parallel_for(config.num_nodes, kNodeGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const double degree = std::exp(mu + config.sigma * base::Stream(key, i).normal());
      pointers[i + 1] = static_cast<int64_t>(std::clamp(std::round(degree), 1.0, most));
    }
  });
  for (int64_t i = 0; i < config.num_nodes; ++i) pointers[i + 1] += pointers[i];
  return indptr;
}

// Draws the class of each node, class c with probability proportional to (c + 1)^-zipf.
std::vector<int32_t> draw_classes(const LogNormalConfig& config, ThreadPool& pool) {
  const Key key = generator_key(config.seed, Generator::kLogNormal, Part::kClasses);
  std::vector<double> reach(config.num_classes);  // sum of the weights up to and including a class
  double total = 0;
  for (int32_t c = 0; c < config.num_classes; ++c)
    reach[c] = total += std::pow(c + 1.0, -config.zipf);
  std::vector<int32_t> classes(config.num_nodes);
  pool.parallel_for(config.num_nodes, kNodeGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const double at = base::Stream(key, i).uniform() * total;
      const auto c = std::upper_bound(reach.begin(), reach.end(), at) - reach.begin();
      classes[i] = std::min(static_cast<int32_t>(c), config.num_classes - 1);
    }
  });
  return classes;
}

// Nodes grouped by class, ascending within a class.
struct Members {
  std::vector<int64_t> begin;  // [num_classes + 1]
  base::PageVector<int32_t> nodes;

  Members(std::span<const int32_t> classes, int32_t num_classes) : begin(num_classes + 1) {
    nodes.resize_discard(classes.size());
    for (int32_t c : classes) ++begin[c + 1];
    for (int32_t c = 0; c < num_classes; ++c) begin[c + 1] += begin[c];
    std::vector<int64_t> next(begin.begin(), begin.end() - 1);
    for (size_t i = 0; i < classes.size(); ++i) nodes[next[classes[i]]++] = static_cast<int32_t>(i);
  }
};

// Alias tables for drawing a source: from all nodes, and from each class.
struct SourceTables {
  base::PageVector<AliasSlot> all;
  base::PageVector<AliasSlot> by_class;  // ordered as Members::nodes

  SourceTables(std::span<const int64_t> indptr, const Members& members, ThreadPool& pool) {
    const auto num_nodes = static_cast<int64_t>(indptr.size()) - 1;
    all.resize_discard(num_nodes);
    by_class.resize_discard(members.nodes.size());
    const auto degree = [&](int64_t i) { return indptr[i + 1] - indptr[i]; };
    // One task for the table of all nodes, then one for each class.
    const auto num_classes = static_cast<int64_t>(members.begin.size()) - 1;
    pool.parallel_for(num_classes + 1, 1, [&](int64_t task, int64_t) {
      std::vector<int64_t> weights;
      if (task == 0) {
        for (int64_t i = 0; i < num_nodes; ++i) weights.push_back(degree(i));
        return make_alias_table(weights, all.span());
      }
      const int64_t first = members.begin[task - 1], last = members.begin[task];
      for (int64_t k = first; k < last; ++k) weights.push_back(degree(members.nodes[k]));
      make_alias_table(weights, by_class.span().subspan(first, last - first));
    });
  }
};

// Draws the sources of consecutive edges in runs: all table reads of a run are prefetched before
// the first is used.
class SourceDrawer {
 public:
  SourceDrawer(const LogNormalConfig& config, const Members& members, const SourceTables& tables)
      : key_(generator_key(config.seed, Generator::kLogNormal, Part::kEdges)),
        homophily_(config.num_classes ? config.homophily : 0),
        members_(members),
        tables_(tables) {}

  // Draws edge `number` of `target`, which is of class `own`, and writes its source to `out`.
  void add(int64_t target, int64_t number, int32_t own, int32_t* out) {
    const base::Counter words =
        base::philox({static_cast<uint32_t>(target), 0, static_cast<uint32_t>(number), 0}, key_);
    const uint64_t bits = uint64_t{words[1]} << 32 | words[2];
    const bool any = words[0] * 0x1p-32 >= homophily_;
    const int64_t first = any ? 0 : members_.begin[own];
    const auto table =
        any ? tables_.all.span()
            : tables_.by_class.span().subspan(first, members_.begin[own + 1] - first);
    const int64_t slot = scaled(bits, table.size());
    __builtin_prefetch(&table[slot]);
    run_[size_++] = {table.data(), any ? nullptr : members_.nodes.data() + first,
                     static_cast<int32_t>(slot), words[3], out};
    if (size_ == kRun) flush();
  }
  void flush() {
    for (Draw& draw : std::span(run_).first(size_)) {
      draw.slot = chosen(draw.table[draw.slot], draw.slot, draw.coin);
      if (draw.nodes) __builtin_prefetch(draw.nodes + draw.slot);
    }
    for (const Draw& draw : std::span(run_).first(size_))
      *draw.out = draw.nodes ? draw.nodes[draw.slot] : draw.slot;
    size_ = 0;
  }

 private:
  struct Draw {
    const AliasSlot* table;
    const int32_t* nodes;  // nodes by slot of the table; null: slots are nodes
    int32_t slot;
    uint32_t coin;
    int32_t* out;
  };
  static constexpr size_t kRun = 64;
  Key key_;
  double homophily_;
  const Members& members_;
  const SourceTables& tables_;
  std::array<Draw, kRun> run_;
  size_t size_ = 0;
};

Tensor draw_sources(const LogNormalConfig& config, std::span<const int64_t> indptr,
                    std::span<const int32_t> classes, ThreadPool& pool) {
  const Members members(classes, config.num_classes);
  const SourceTables tables(indptr, members, pool);
  Tensor sources = Tensor::empty(DType::kI32, {indptr.back()});
  int32_t* out = sources.as<int32_t>().data();
  pool.parallel_for(config.num_nodes, kNodeGrain, [&](int64_t begin, int64_t end) {
    SourceDrawer drawer(config, members, tables);
    for (int64_t t = begin; t < end; ++t)
      for (int64_t e = indptr[t]; e < indptr[t + 1]; ++e)
        drawer.add(t, e - indptr[t], classes.empty() ? 0 : classes[t], out + e);
    drawer.flush();
  });
  return sources;
}

}  // namespace

Tensor class_centres(const LogNormalConfig& config) {
  return make_centres(config.num_classes, config.num_features, config.center_scale,
                      generator_key(config.seed, Generator::kLogNormal, Part::kCentres));
}

LogNormalConfig products_shaped(double scale) {
  LogNormalConfig config;
  check_field("scale", scale, 0, 100);
  config.num_nodes = std::llround(static_cast<double>(config.num_nodes) * scale);
  return config;
}

LogNormalConfig reddit_shaped(double scale) {
  LogNormalConfig config;
  check_field("scale", scale, 0, 100);
  config.num_nodes = std::llround(232965 * scale);
  config.mean_degree = 492;
  config.num_features = 602;
  config.num_classes = 41;
  return config;
}

GraphRef log_normal(const LogNormalConfig& config, ThreadPool& pool) {
  check(config);
  const std::vector<int32_t> classes =
      config.num_classes ? draw_classes(config, pool) : std::vector<int32_t>();
  Csc csc;
  csc.num_sources = csc.num_targets = config.num_nodes;
  csc.indptr = draw_degrees(config, pool);
  csc.indices = draw_sources(config, csc.indptr.as<const int64_t>(), classes, pool);

  Columns columns;
  if (config.num_features)
    columns["x"] = make_features(
        config.num_nodes, classes, config.num_classes ? class_centres(config) : Tensor(),
        config.num_features, 1.0,
        generator_key(config.seed, Generator::kLogNormal, Part::kFeatures), pool);
  if (config.num_classes)
    columns["y"] =
        make_labels(classes, config.num_classes, config.label_noise, false,
                    generator_key(config.seed, Generator::kLogNormal, Part::kLabels), pool);
  GraphParts parts;
  parts.num_nodes = {config.num_nodes};
  parts.topology = {std::move(csc)};
  parts.node_columns = {std::move(columns)};
  return Graph::create(std::move(parts));
}

}  // namespace gnnmg::graph
