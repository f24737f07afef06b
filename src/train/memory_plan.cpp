#include "train/memory_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "feature/pack.h"
#include "sample/device.h"
#include "sample/device_shape.h"

namespace gnnmg::train {
namespace {

using base::checked_mul;
using base::fail;
using base::Placement;
using base::Status;
using feature::RowPlacement;

// NCCL's buffers of a communicator with the channels that it opens at most, by its own defaults.
constexpr int64_t kNcclBytes = int64_t{512} << 20;

void expect(bool holds, const char* what, int64_t found, const char* expected) {
  if (!holds) fail(Status::kInvalidArgument, what, " is ", found, ", expected ", expected);
}

void check(const MemoryRequest& r) {
  expect(r.num_nodes >= 1, "num_nodes", r.num_nodes, "1 or more");
  expect(r.num_edges >= 0, "num_edges", r.num_edges, "0 or more");
  expect(r.max_degree >= 0, "max_degree", r.max_degree, "0 or more");
  expect(r.edge_id_bytes == 0 || r.edge_id_bytes == 4 || r.edge_id_bytes == 8, "edge_id_bytes",
         r.edge_id_bytes, "0, 4 or 8");
  expect(!r.sampling.fanouts.empty(), "the number of fan-outs", 0, "1 or more");
  for (const int64_t fanout : r.sampling.fanouts)
    expect(fanout >= -1 && fanout <= INT32_MAX, "a fan-out", fanout, "-1 (all), 0 or more");
  expect(r.widths.size() == r.sampling.fanouts.size(), "the number of layers' widths",
         static_cast<int64_t>(r.widths.size()), "that of the fan-outs");
  for (const int64_t width : r.widths) expect(width >= 1, "a layer's width", width, "1 or more");
  expect(r.batch_size >= 1, "batch_size", r.batch_size, "1 or more");
  expect(r.batches_at_once >= 1, "batches_at_once", r.batches_at_once, "1 or more");
  expect(r.num_slots >= 1, "num_slots", r.num_slots, "1 or more");
  expect(r.feature_cols >= 0, "feature_cols", r.feature_cols, "0 or more");
  expect(r.feature_bytes == 1 || r.feature_bytes == 2 || r.feature_bytes == 4, "feature_bytes",
         r.feature_bytes, "1, 2 or 4");
  expect(r.value_bytes == 4 || r.value_bytes == 8, "value_bytes", r.value_bytes, "4 or 8");
  expect(r.numbers_an_edge >= 0, "numbers_an_edge", r.numbers_an_edge, "0 or more");
  expect(r.num_parameters >= 0, "num_parameters", r.num_parameters, "0 or more");
  expect(r.optimizer_numbers >= 0, "optimizer_numbers", r.optimizer_numbers, "0 or more");
  expect(r.num_ranks >= 1, "num_ranks", r.num_ranks, "1 or more");
  expect(r.gpu_memory >= 0, "gpu_memory", r.gpu_memory, "0 or more");
  expect(r.reserve >= 0, "reserve", r.reserve, "0 or more");
}

// The bounds of a mini-batch; all neighbours are those of the node that has most.
struct Bounds {
  sample::NeighborConfig sampling;
  sample::SampleShape shape;
};
Bounds bounds_of(const MemoryRequest& r) {
  Bounds bounds{r.sampling, {}};
  const int64_t most = r.max_degree > 0 ? r.max_degree : r.num_edges;
  for (int64_t& fanout : bounds.sampling.fanouts)
    if (fanout < 0) fanout = std::min<int64_t>(most, INT32_MAX);
  bounds.shape =
      sample::shape_of(bounds.sampling, r.num_nodes, r.num_edges, r.batch_size, r.batches_at_once);
  const auto hops = static_cast<int32_t>(bounds.shape.hops.size());
  if (bounds.shape.num_bounded < hops)
    fail(Status::kRange, r.batches_at_once, " mini-batches of ", r.batch_size,
         " seeds may have 2^31 "
         "edges and more at hop ",
         bounds.shape.num_bounded,
         "; take smaller mini-batches or fan-outs, or fewer mini-batches at once");
  return bounds;
}

int64_t graph_bytes(const MemoryRequest& r) {
  sample::HostCsc csc;
  csc.num_nodes = r.num_nodes;
  csc.num_edges = r.num_edges;
  if (r.edge_id_bytes != 0) csc.edge_ids = &csc;  // whether there are any
  csc.wide_edge_ids = r.edge_id_bytes == 8;
  return sample::graph_bytes(csc);
}

int64_t row_bytes(const MemoryRequest& r) {
  return (r.feature_cols * r.feature_bytes + 15) / 16 * 16;
}
int64_t scale_bytes(const MemoryRequest& r) { return r.feature_bytes == 1 ? 4 * r.num_nodes : 0; }
int64_t cached_bytes(const MemoryRequest& r, int64_t num_cached) {
  return checked_mul(num_cached, row_bytes(r), "cached features") + 4 * r.num_nodes +
         scale_bytes(r);
}

// Layer by layer, from the input: what is gathered along edges, the product, and what follows it,
// each with its gradient; of all but the first layer the gradient of its sources.
int64_t activation_bytes(const MemoryRequest& r, const Bounds& bounds) {
  const auto layers = static_cast<int64_t>(r.widths.size());
  int64_t numbers = 0;
  for (int64_t l = 0; l < layers; ++l) {
    const sample::HopShape& hop = bounds.shape.hops[layers - 1 - l];
    const int64_t in = l == 0 ? r.feature_cols : r.widths[l - 1], out = r.widths[l];
    numbers += checked_mul(hop.max_targets, 2 * in + 4 * out, "activations");
    if (l > 0) numbers += checked_mul(hop.max_sources, in, "activations");
    numbers += checked_mul(hop.max_edges, 2 * r.numbers_an_edge, "numbers of edges");
  }
  return checked_mul(numbers, r.value_bytes, "activations");
}

}  // namespace

MemoryPlan plan_memory(const MemoryRequest& r, Placement graph, RowPlacement features,
                       int64_t num_cached) {
  check(r);
  const bool cached = features == RowPlacement::kCached;
  if (num_cached < 0 || num_cached > r.num_nodes || (!cached && num_cached != 0))
    fail(Status::kInvalidArgument, num_cached, " rows are to be cached, expected ",
         cached ? base::text("0 to ", r.num_nodes) : std::string("0 without a cache"));
  const Bounds bounds = bounds_of(r);
  MemoryPlan plan;
  plan.graph_placement = graph;
  plan.feature_placement = features;
  plan.num_cached = num_cached;
  const int64_t all_rows = checked_mul(r.num_nodes, row_bytes(r), "features");
  (graph == Placement::kDevice ? plan.graph : plan.pinned) = graph_bytes(r);
  if (features == RowPlacement::kDevice)
    plan.features = all_rows + scale_bytes(r);
  else
    plan.features = cached ? cached_bytes(r, num_cached) : scale_bytes(r);
  if (features != RowPlacement::kDevice)
    plan.pinned += checked_mul(r.num_nodes, r.feature_cols * r.feature_bytes, "features");
  int64_t last_edges = 0;  // scans and sorts take less than a number for each
  for (const sample::HopShape& hop : bounds.shape.hops)
    last_edges = std::max({last_edges, hop.edges, hop.max_edges});
  plan.sampler =
      sample::sampler_bytes(bounds.sampling, bounds.shape, r.batch_size, r.batches_at_once) +
      checked_mul(8 * last_edges, r.batches_at_once, "scans and sorts");
  plan.rows = checked_mul(checked_mul(bounds.shape.node_stride, r.feature_cols, "gathered rows"),
                          r.value_bytes * r.num_slots, "gathered rows");
  plan.activations = activation_bytes(r, bounds);
  plan.parameters = checked_mul(r.num_parameters, 2 * r.value_bytes, "parameters");
  plan.optimizer =
      checked_mul(r.num_parameters, r.optimizer_numbers * r.value_bytes, "the optimizer's state");
  if (r.num_ranks > 1)
    plan.communication = checked_mul(r.num_parameters, r.value_bytes, "a flat buffer") + kNcclBytes;
  plan.reserve = r.reserve;
  plan.total = plan.graph + plan.features + plan.sampler + plan.rows + plan.activations +
               plan.parameters + plan.optimizer + plan.communication + plan.reserve;
  plan.fits = plan.total <= r.gpu_memory;
  return plan;
}

MemoryPlan plan_memory(const MemoryRequest& r) {
  for (const Placement graph : {Placement::kDevice, Placement::kPinned}) {
    MemoryPlan plan = plan_memory(r, graph, RowPlacement::kDevice, 0);
    if (plan.fits) return plan;
    if (r.feature_cols == 0) continue;  // nothing to place
    const MemoryPlan empty = plan_memory(r, graph, RowPlacement::kCached, 0);
    const int64_t rows = std::max<int64_t>(0, r.gpu_memory - empty.total) / row_bytes(r);
    if (rows >= (r.num_nodes + 99) / 100)
      return plan_memory(r, graph, RowPlacement::kCached, std::min(rows, r.num_nodes));
    plan = plan_memory(r, graph, RowPlacement::kPinned, 0);
    if (plan.fits) return plan;
  }
  return plan_memory(r, Placement::kPinned,
                     r.feature_cols > 0 ? RowPlacement::kPinned : RowPlacement::kDevice, 0);
}

std::string describe(const MemoryPlan& plan, const MemoryRequest& r) {
  std::string lines;
  const auto add = [&](const char* part, int64_t bytes, const std::string& remark) {
    char line[160];
    std::snprintf(line, sizeof line, "%-14s %10.3f GB%s%s\n", part,
                  static_cast<double>(bytes) * 1e-9, remark.empty() ? "" : "  ", remark.c_str());
    lines += line;
  };
  add("graph", plan.graph,
      plan.graph_placement == Placement::kDevice ? "" : "pinned in the host's memory");
  add("features", plan.features,
      plan.feature_placement == RowPlacement::kDevice ? ""
      : plan.feature_placement == RowPlacement::kCached
          ? base::text(plan.num_cached, " of ", r.num_nodes, " rows, the rest pinned")
          : "pinned in the host's memory");
  add("sampler", plan.sampler, "");
  add("gathered rows", plan.rows, base::text(r.num_slots, " mini-batches"));
  add("activations", plan.activations, "");
  add("parameters", plan.parameters, "with gradients");
  add("optimizer", plan.optimizer, "");
  add("communication", plan.communication, "");
  add("reserve", plan.reserve, "");
  add("in all", plan.total,
      plan.fits ? base::text("fits ", r.gpu_memory, " bytes")
                : base::text("does not fit ", r.gpu_memory,
                             " bytes: take smaller mini-batches, fan-outs or widths"));
  if (plan.pinned > 0) add("host, pinned", plan.pinned, "once a process");
  return lines;
}

int64_t parse_bytes(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  while (*end == ' ') ++end;
  const std::string unit = end;
  const struct {
    const char* name;
    double bytes;
  } units[] = {{"", 1},      {"B", 1},        {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
               {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  for (const auto& known : units)
    if (end != text.c_str() && unit == known.name && number >= 0 && number * known.bytes < 0x1p62)
      return static_cast<int64_t>(std::llround(number * known.bytes));
  fail(Status::kInvalidArgument, "\"", text,
       "\" is no size; expected a number of bytes, or one with KB, MB, GB, TB, KiB, MiB, GiB or "
       "TiB");
}

}  // namespace gnnmg::train
