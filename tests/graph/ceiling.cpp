#include "graph/ceiling.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace gnnmg::graph {
namespace {

using base::Tensor;
using base::ThreadPool;

constexpr int64_t kGrain = 256;

// The oracle's knowledge of a generator: a neighbor has the node's own class with probability
// `same`, else class k with probability weight[k].
struct Model {
  int32_t num_classes;
  double same;
  std::vector<double> weight;
  std::vector<double> log_prior;
};

// Returns log p(x_i | class c) up to a constant per i, [N, C].
std::vector<float> own_evidence(const Graph& graph, const Tensor& centres, double noise,
                                ThreadPool& pool) {
  const auto& x = std::get<Tensor>(*graph.node_column("x"));
  const int64_t num_features = x.shape()[1], num_classes = centres.shape()[0];
  const float* features = x.as<float>().data();
  const float* centre = centres.as<float>().data();
  std::vector<float> out(graph.num_nodes() * num_classes);
  pool.parallel_for(graph.num_nodes(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t c = 0; c < num_classes; ++c) {
        double distance = 0;
        for (int64_t f = 0; f < num_features; ++f) {
          const double d = features[i * num_features + f] - centre[c * num_features + f];
          distance += d * d;
        }
        out[i * num_classes + c] = static_cast<float>(-distance / (2 * noise * noise));
      }
  });
  return out;
}

// Computes the evidence for the class of a neighbor from a node's log-likelihoods `belief`, with
// largest value 0.
void message(const Model& model, std::span<const double> belief, std::span<float> out) {
  const double top = *std::max_element(belief.begin(), belief.end());
  double any = 0;
  for (int32_t k = 0; k < model.num_classes; ++k)
    any += model.weight[k] * std::exp(belief[k] - top);
  double largest = -INFINITY;
  for (int32_t c = 0; c < model.num_classes; ++c) {
    const double value =
        std::log(model.same * std::exp(belief[c] - top) + (1 - model.same) * any + 1e-300);
    largest = std::max(largest, value);
    out[c] = static_cast<float>(value);
  }
  for (float& value : out) value -= static_cast<float>(largest);
}

// Runs the propagation. With `undirected` each edge has its own message, which excludes the message
// of the reverse edge; otherwise a node sends the same message to all targets.
class Propagation {
 public:
  Propagation(const Graph& graph, Model model, std::vector<float> evidence, bool undirected,
              ThreadPool& pool)
      : csc_(graph.csc()),
        indptr_(csc_.indptr.as<const int64_t>()),
        labels_(std::get<Tensor>(*graph.node_column("y")).as<const int64_t>()),
        model_(std::move(model)),
        evidence_(std::move(evidence)),
        undirected_(undirected),
        pool_(pool) {
    if (undirected_) find_reverses();
  }

  std::vector<double> run(int hops) {
    std::vector<double> out{accuracy()};
    for (int h = 1; h <= hops; ++h) {
      step();
      out.push_back(accuracy());
    }
    return out;
  }

 private:
  // The message of edge e, empty before the first step.
  std::span<const float> incoming(int64_t e) const {
    if (messages_.empty()) return {};
    const int64_t at = undirected_ ? e : csc_.source(e);
    return std::span(messages_).subspan(at * model_.num_classes, model_.num_classes);
  }

  void believe(int64_t node, std::vector<double>& belief) const {
    const auto own = std::span(evidence_).subspan(node * model_.num_classes, model_.num_classes);
    belief.assign(own.begin(), own.end());
    for (int64_t e = indptr_[node]; e < indptr_[node + 1]; ++e) {
      const std::span<const float> said = incoming(e);
      for (size_t c = 0; c < said.size(); ++c) belief[c] += said[c];
    }
  }

  double accuracy() const {
    std::vector<char> right(csc_.num_targets);
    pool_.parallel_for(csc_.num_targets, kGrain, [&](int64_t begin, int64_t end) {
      std::vector<double> belief;
      for (int64_t i = begin; i < end; ++i) {
        believe(i, belief);
        for (int32_t c = 0; c < model_.num_classes; ++c) belief[c] += model_.log_prior[c];
        right[i] = std::max_element(belief.begin(), belief.end()) - belief.begin() == labels_[i];
      }
    });
    return static_cast<double>(std::count(right.begin(), right.end(), 1)) /
           static_cast<double>(right.size());
  }

  void step() {
    std::vector<float> next((undirected_ ? csc_.num_edges() : csc_.num_sources) *
                            model_.num_classes);
    const auto slot = [&](int64_t at) {
      return std::span(next).subspan(at * model_.num_classes, model_.num_classes);
    };
    pool_.parallel_for(csc_.num_targets, kGrain, [&](int64_t begin, int64_t end) {
      std::vector<double> belief, others;
      for (int64_t i = begin; i < end; ++i) {
        believe(i, belief);
        if (!undirected_) {
          message(model_, belief, slot(i));
          continue;
        }
        for (int64_t e = indptr_[i]; e < indptr_[i + 1]; ++e) {
          others = belief;
          const std::span<const float> said = incoming(e);
          for (size_t c = 0; c < said.size(); ++c) others[c] -= said[c];
          message(model_, others, slot(reverse_[e]));
        }
      }
    });
    messages_ = std::move(next);
  }

  // Entry e is the edge u -> v; reverse_[e] the edge v -> u. Sources ascend within a target.
  void find_reverses() {
    reverse_.resize(csc_.num_edges());
    const std::span<const int32_t> sources = csc_.indices.as<const int32_t>();
    for (int64_t v = 0; v < csc_.num_targets; ++v)
      for (int64_t e = indptr_[v]; e < indptr_[v + 1]; ++e) {
        const int64_t u = sources[e];
        reverse_[e] =
            std::lower_bound(sources.begin() + indptr_[u], sources.begin() + indptr_[u + 1], v) -
            sources.begin();
      }
  }

  const Csc& csc_;
  std::span<const int64_t> indptr_;
  std::span<const int64_t> labels_;
  Model model_;
  std::vector<float> evidence_;
  bool undirected_;
  ThreadPool& pool_;
  std::vector<int64_t> reverse_;
  std::vector<float> messages_;  // [edges or nodes, C]
};

}  // namespace

std::vector<double> ceiling(const PlantedPartitionConfig& config, const Graph& graph, int hops,
                            ThreadPool& pool) {
  const int32_t n = config.num_classes;
  Model model{n, 1, std::vector<double>(n, 1.0 / n), std::vector<double>(n, 0.0)};
  // p(own) = same + (1 - same) / n
  if (n > 1) model.same = (config.intra_probability * n - 1) / (n - 1);
  return Propagation(graph, std::move(model),
                     own_evidence(graph, class_centres(config), config.noise, pool), true, pool)
      .run(hops);
}

std::vector<double> ceiling(const LogNormalConfig& config, const Graph& graph, int hops,
                            ThreadPool& pool) {
  Model model{config.num_classes, config.homophily, {}, {}};
  double total = 0;
  for (int32_t c = 0; c < config.num_classes; ++c) {
    model.weight.push_back(std::pow(c + 1.0, -config.zipf));
    total += model.weight.back();
  }
  for (double& weight : model.weight) {
    weight /= total;
    model.log_prior.push_back(std::log(weight));
  }
  return Propagation(graph, std::move(model), own_evidence(graph, class_centres(config), 1.0, pool),
                     false, pool)
      .run(hops);
}

}  // namespace gnnmg::graph
