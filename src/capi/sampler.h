// The objects of samplers' handles, and the sink that a custom sampler's callback fills.
#pragma once

#include <memory>

#include "base/free_list.h"
#include "capi/graph.h"
#include "capi/object.h"
#include "sample/sampler.h"

namespace gnnmg::capi {

class Sampler : public Object {
 public:
  static constexpr Kind kKind = Kind::kSampler;
  // Along the edges of one type of a graph, or against them.
  struct Edges {
    graph::GraphRef graph;
    int32_t type = 0;
    bool outgoing = false;
  };
  Sampler(std::shared_ptr<Context> owner, std::shared_ptr<const sample::Sampler> made, Edges edges,
          bool has_transpose);

  const std::shared_ptr<const sample::Sampler>& get() const { return sampler_; }
  const Edges& edges() const { return edges_; }
  BatchTypes types() const;
  bool has_transpose() const { return transpose_; }

  base::FreeList<sample::Workspace> workspaces;  // one for each call of sample()

 private:
  std::shared_ptr<const sample::Sampler> sampler_;
  Edges edges_;
  bool transpose_;
};

// Error(kUnsupported) unless NULL.
void check_times(const int64_t* times);

// Alive while a callback runs; closed before the edges go.
class Sink : public Object {
 public:
  static constexpr Kind kKind = Kind::kSink;
  Sink(std::shared_ptr<Context> owner, sample::EdgeSink& edges);
  // With a hold; Error(kHandle) once closed.
  sample::EdgeSink& edges() const;
  void close() noexcept;

 private:
  sample::EdgeSink* edges_;
};

}  // namespace gnnmg::capi
