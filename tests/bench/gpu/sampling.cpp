// Sampling with relabeling: bars 12 and 13.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "bench/gpu/tasks.h"
#include "sample/device.h"

namespace gnnmg::bench {
namespace {

const sample::DeviceSampling& sampling() { return *gpu_table().of<sample::DeviceSampling>(); }

// A sampler of the GPU with the seeds and keys of all mini-batches of an epoch in GPU memory.
class Sampling {
 public:
  Sampling(const World& world, device::Placement placement, int32_t at_once, bool by_source)
      : world_(world), at_once_(at_once), num_batches_(world.num_batches()) {
    graph_ = sampling().open_graph(lane_.queue(), sample::csc_for_device(world.graph->csc(), false),
                                   placement);
    sampler_ = sampling().create(lane_.queue(), graph_, world.law(by_source), world.size.batch_size,
                                 at_once);
    const auto hops = world.size.fanouts.size();
    std::vector<int64_t> seeds(static_cast<size_t>(num_batches_ * world.size.batch_size));
    std::vector<int32_t> counts;
    std::vector<uint32_t> keys;
    for (int64_t b = 0; b < num_batches_; ++b) {
      const auto own = world.seeds(b);
      std::ranges::copy(own, seeds.begin() + b * world.size.batch_size);
      counts.push_back(static_cast<int32_t>(own.size()));
      for (size_t hop = 0; hop < hops; ++hop) {
        const base::Key key = world.key(b).hop(hop);
        keys.insert(keys.end(), key.begin(), key.end());
      }
    }
    seeds_ = std::make_unique<GpuArray>(lane_, seeds.data(), static_cast<int64_t>(seeds.size()));
    counts_ = std::make_unique<GpuArray>(lane_, counts.data(), num_batches_);
    keys_ = std::make_unique<GpuArray>(lane_, keys.data(), static_cast<int64_t>(keys.size()));
    count_all();
  }
  ~Sampling() {
    sampling().free(sampler_);
    sampling().close_graph(graph_);
  }
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

  // Returns the time of one mini-batch. A window is made of whole epochs, so that its edges are
  // those of their mini-batches for any number per call.
  Timing time() {
    constexpr int64_t kLeastCalls = 50;
    const int64_t epochs = (kLeastCalls + num_calls() - 1) / num_calls();
    int64_t call = 0;
    Timing timing = timed(lane_, epochs * num_calls(), [&] { sample(call++ % num_calls()); });
    const double each = static_cast<double>(num_calls()) / static_cast<double>(num_batches_);
    timing.device *= each;
    timing.wall *= each;
    return timing;
  }
  double edges() const { return edges_; }  // mean number of a mini-batch's edges
  double nodes() const { return nodes_; }

  // Returns how many of the first `count` mini-batches equal the CPU's.
  int64_t same(int64_t count) {
    int64_t same = 0;
    for (int64_t b = 0; b < std::min(count, num_batches_); ++b) {
      sample::Sample found;
      sample::read_sample(gpu_table(), lane_.queue(), *sample(b / at_once_),
                          static_cast<int32_t>(b % at_once_), found);
      same += equal(found, world_.sample(b));
    }
    return same;
  }

 private:
  // Calls per epoch; the last one may have fewer mini-batches.
  int64_t num_calls() const { return (num_batches_ + at_once_ - 1) / at_once_; }
  int32_t batches_of(int64_t call) const {
    return static_cast<int32_t>(std::min<int64_t>(at_once_, num_batches_ - call * at_once_));
  }
  const sample::DeviceSample* sample(int64_t call) {
    const int64_t first = call * at_once_;
    const auto hops = static_cast<int64_t>(world_.size.fanouts.size());
    return sampling().sample(sampler_,
                             {.num_batches = batches_of(call),
                              .seeds = seeds_->as<const int64_t>() + first * world_.size.batch_size,
                              .seed_stride = world_.size.batch_size,
                              .num_seeds = counts_->as<const int32_t>() + first,
                              .keys = keys_->as<const uint32_t>() + first * hops * 2});
  }
  void count_all() {
    int64_t edges = 0, nodes = 0;
    sample::DeviceCounts counts;
    const auto layers = static_cast<int64_t>(world_.size.fanouts.size());
    for (int64_t call = 0; call < num_calls(); ++call) {
      sample::read_counts(gpu_table(), lane_.queue(), *sample(call), counts);
      for (const int32_t count : counts.num_edges) edges += count;
      for (int32_t b = 0; b < batches_of(call); ++b)
        nodes += counts.hop_ends[(b + 1) * (layers + 1) - 1];
    }
    edges_ = static_cast<double>(edges) / static_cast<double>(num_batches_);
    nodes_ = static_cast<double>(nodes) / static_cast<double>(num_batches_);
  }
  static bool equal(const sample::Sample& a, const sample::Sample& b) {
    if (!std::ranges::equal(a.node_ids.span(), b.node_ids.span())) return false;
    if (a.blocks.size() != b.blocks.size()) return false;
    for (size_t i = 0; i < a.blocks.size(); ++i) {
      const sample::BlockView &x = a.blocks[i], &y = b.blocks[i];
      if (x.num_targets != y.num_targets || x.num_edges != y.num_edges ||
          x.num_sources != y.num_sources)
        return false;
      const auto same = [](const int32_t* p, const int32_t* q, int64_t count) {
        return std::equal(p, p + count, q);
      };
      if (!same(x.indptr, y.indptr, x.num_targets + 1) ||
          !same(x.indices, y.indices, x.num_edges) ||
          !same(x.out_indptr, y.out_indptr, x.num_sources + 1))
        return false;
    }
    return true;
  }

  const World& world_;
  const int32_t at_once_;
  const int64_t num_batches_;
  Lane lane_;
  sample::DeviceGraph* graph_ = nullptr;
  sample::DeviceSampler* sampler_ = nullptr;
  std::unique_ptr<GpuArray> seeds_, counts_, keys_;
  double edges_ = 0, nodes_ = 0;
};

device::Placement placement_of(const std::string& word) {
  if (word == "device") return device::Placement::kDevice;
  if (word == "pinned") return device::Placement::kPinned;
  base::fail(base::Status::kInvalidArgument, "no such place: ", word);
}

}  // namespace

void add_sampling_tasks(Tasks& tasks, const World& world) {
  auto kept = std::make_shared<std::map<std::string, std::unique_ptr<Sampling>>>();
  const auto find = [&world, kept](const std::string& place, int32_t at_once,
                                   bool by_source) -> Sampling& {
    std::unique_ptr<Sampling>& found = (*kept)[base::text(place, " ", at_once, " ", by_source)];
    if (!found) found = std::make_unique<Sampling>(world, placement_of(place), at_once, by_source);
    return *found;
  };
  tasks["sample"] = [find](const Words& words) {
    Sampling& sampling = find(words.at(1), std::stoi(words.at(2)), words.at(3) == "by_source");
    const Timing timing = sampling.time();
    return base::text(json_of(timing), ", \"edges\": ", sampling.edges(),
                      ", \"nodes\": ", sampling.nodes());
  };
  tasks["same"] = [find](const Words& words) {
    return base::text("\"same\": ", find("device", 1, true).same(std::stoll(words.at(1))));
  };
}

}  // namespace gnnmg::bench
