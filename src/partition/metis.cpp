#include "partition/metis.h"

#include <dlfcn.h>

#include <array>
#include <mutex>
#include <numeric>
#include <string>

#include "base/error.h"
#include "partition/contract.h"

namespace gnnmg::partition {
namespace {

using base::fail;
using base::Status;

// Declarations of metis.h of METIS 5.1, for a build with 32-bit integers and floats.
using Index = int32_t;
constexpr int kNumOptions = 40;
constexpr int kOptionSeed = 8;
constexpr int kOk = 1, kErrorMemory = -3;
using SetDefaults = int (*)(Index* options);
using PartGraph = int (*)(Index* num_rows, Index* num_constraints, Index* starts, Index* ends,
                          Index* row_weights, Index* row_sizes, Index* edge_weights,
                          Index* num_parts, float* part_shares, float* slack, Index* options,
                          Index* cut, Index* parts);

struct Metis {
  SetDefaults set_defaults = nullptr;
  PartGraph part_graph = nullptr;
  std::string why;  // the reason why METIS cannot be used
};

// False for a build with 64-bit integers, which would misread 32-bit arrays. Such a build fills in
// twice as many words when it sets its options, all to -1.
bool has_narrow_integers(SetDefaults set_defaults) {
  std::array<Index, 2 * kNumOptions> words;
  words.fill(7);
  return set_defaults(words.data()) == kOk && words[kNumOptions - 1] == -1 &&
         words[kNumOptions] == 7;
}

Metis open_metis() {
  Metis metis;
  constexpr const char* kRemedy = "; install Debian's package libmetis5, or use another method";
  void* library = dlopen("libmetis.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    metis.why = base::text("METIS cannot be opened: ", dlerror(), kRemedy);
    return metis;
  }
  metis.set_defaults = reinterpret_cast<SetDefaults>(dlsym(library, "METIS_SetDefaultOptions"));
  metis.part_graph = reinterpret_cast<PartGraph>(dlsym(library, "METIS_PartGraphKway"));
  if (!metis.set_defaults || !metis.part_graph)
    metis.why = base::text("libmetis.so.5 lacks the functions of METIS 5.1", kRemedy);
  else if (!has_narrow_integers(metis.set_defaults))
    metis.why = base::text("libmetis.so.5 was built with 64-bit integers, expected 32", kRemedy);
  return metis;
}

const Metis& metis() {
  static const Metis opened = open_metis();
  return opened;
}

// METIS's signal handlers and random numbers belong to the whole process: one call at a time.
std::mutex running;

// Returns the weights of rows for the constraints that have any, row after row.
std::vector<Index> weights_of(const SmallGraph& graph, const Load& total, const Slack& slack,
                              std::vector<float>& bounds) {
  std::vector<Index> weights;
  bounds.clear();
  const std::array<std::pair<int64_t, double>, 3> constraints = {
      {{total.nodes, slack.nodes}, {total.edges, slack.edges}, {total.train, slack.train}}};
  for (const auto& [sum, factor] : constraints)
    if (sum > 0) bounds.push_back(static_cast<float>(factor));
  weights.reserve(graph.loads.size() * bounds.size());
  for (const Load& row : graph.loads) {
    const std::array<int64_t, 3> all = {row.nodes, row.edges, row.train};
    for (size_t i = 0; i < all.size(); ++i)
      if (constraints[i].first > 0) weights.push_back(static_cast<Index>(all[i]));
  }
  return weights;
}

}  // namespace

const std::string& why_no_metis() { return metis().why; }

std::vector<uint16_t> partition_by_metis(const CscRows& rows, int32_t num_parts, const Slack& slack,
                                         uint64_t seed, const Work& work) {
  if (!why_no_metis().empty()) fail(Status::kDependency, why_no_metis());
  if (rows.size() < int64_t{16} * num_parts)
    fail(Status::kInvalidArgument, "METIS on ", rows.size(), " nodes into ", num_parts,
         " parts: expected at least 16 nodes per part; clusters work for any number");
  const Load total = total_of(rows);
  constexpr int64_t kMost = std::numeric_limits<Index>::max();
  if (total.edges > kMost / 2)
    fail(Status::kUnsupported, "METIS on ", total.edges, " edges: its 32-bit integers count up to ",
         kMost / 2, "; clusters work for any number");
  work.begin("METIS on the whole graph");
  std::vector<uint32_t> each(rows.size());
  std::iota(each.begin(), each.end(), uint32_t{0});
  // Each row is a cluster of its own, even without edges: nothing is merged.
  SmallGraph graph = contract(rows, {Load{}, std::numeric_limits<int64_t>::max()}, work, each);
  std::vector<float> bounds;
  std::vector<Index> weights = weights_of(graph, total, slack, bounds);
  std::vector<Index> starts(graph.starts.begin(), graph.starts.end());
  std::vector<Index> ends(graph.ends.begin(), graph.ends.end());
  std::vector<Index> edge_weights(graph.weights.begin(), graph.weights.end());
  graph = {};
  Index num_rows = static_cast<Index>(rows.size()), constraints = static_cast<Index>(bounds.size());
  Index count = num_parts, cut = 0;
  std::vector<Index> found(rows.size());
  std::array<Index, kNumOptions> options;
  const std::lock_guard lock(running);
  metis().set_defaults(options.data());
  options[kOptionSeed] = static_cast<Index>(seed & kMost);
  const int status = metis().part_graph(&num_rows, &constraints, starts.data(), ends.data(),
                                        weights.data(), nullptr, edge_weights.data(), &count,
                                        nullptr, bounds.data(), options.data(), &cut, found.data());
  if (status == kErrorMemory)
    fail(Status::kNoMemory, "METIS ran out of memory on ", rows.size(), " nodes and ", total.edges,
         " edges; clusters need a thirtieth of it");
  if (status != kOk) fail(Status::kInternal, "METIS failed with status ", status);
  work.check();
  return {found.begin(), found.end()};
}

}  // namespace gnnmg::partition
