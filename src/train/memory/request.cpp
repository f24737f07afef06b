// Computes the GPU memory of a training for a memory plan.
#include <algorithm>
#include <array>
#include <numeric>

#include "feature/device.h"
#include "feature/pack.h"
#include "loader/device_feed.h"
#include "nn/config/fixed_shape.h"
#include "nn/model/model.h"
#include "nn/model/pass_memory.h"
#include "sample/device_shape.h"
#include "train/job/job.h"
#include "train/memory/plan.h"
#include "train/optim/optimizer_file.h"
#include "train/step/captured/pipeline.h"

namespace gnnmg::train {
namespace {

using data::SplitPart;

// Size of NCCL's buffers for the default maximum of channels.
constexpr int64_t kNcclBytes = int64_t{512} << 20;

// Arrays of a loader's slot grow to 9/8 of their need.
int64_t with_slack(int64_t bytes) { return bytes + bytes / 8 + 256; }

// Mini-batches that a loader holds at once.
int64_t at_hand(const TrainerConfig& c) {
  return int64_t{std::max({1, c.prefetch, c.loader_threads})} + c.loader_threads + 1;
}

std::vector<nn::LayerBounds> graphs_bounds(const data::Dataset& data, int layers, int64_t batch,
                                           int64_t batch_nodes) {
  const auto pointers = data.graph_ptr.as<const int64_t>();
  const graph::Csc& csc = data.graph->csc();
  const int64_t* edges = static_cast<const int64_t*>(csc.indptr.data());
  std::vector<int64_t> nodes_of, edges_of;
  for (size_t g = 0; g + 1 < pointers.size(); ++g) {
    nodes_of.push_back(pointers[g + 1] - pointers[g]);
    edges_of.push_back(edges[pointers[g + 1]] - edges[pointers[g]]);
  }
  const auto most = [&](std::vector<int64_t>& sizes) {
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    const auto count = std::min<int64_t>(batch, static_cast<int64_t>(sizes.size()));
    return std::accumulate(sizes.begin(), sizes.begin() + count, int64_t{0});
  };
  nn::LayerBounds bounds{0, most(nodes_of), most(edges_of)};
  // A larger graph is a mini-batch of its own.
  if (batch_nodes > 0 && !nodes_of.empty())
    bounds.sources = std::min(bounds.sources, std::max(batch_nodes, nodes_of.front()));
  bounds.targets = bounds.sources;
  return std::vector<nn::LayerBounds>(static_cast<size_t>(layers), bounds);
}

// Bytes of all mini-batches of at most `max_seeds` seeds that exist at once.
struct BatchMemory {
  std::vector<nn::LayerBounds> layers;
  int64_t sampler = 0, copied = 0, rows = 0;
};

class Request {
 public:
  Request(const Job& job, int num_gpus, int64_t reserve)
      : job_(job),
        config_(job.config),
        data_(*job.dataset),
        law_(job.sampler->neighbors()),
        num_gpus_(num_gpus) {
    request_.reserve = reserve;
    request_.num_nodes = data_.graph->num_nodes();
    request_.placement = config_.placement;
    request_.placement.devices = config_.devices;
    request_.placement.gather_pinned = true;
    request_.can_cache = law_.has_value();
    request_.bounded = law_ || data_.of_graphs();
    if (law_) degrees_ = DegreeCounts(*law_->csc);
    place_graph();
    place_features();
    count_model();
    count_batches();
    if (can_capture()) count_capture();
    if (config_.average != Average::kNone) count_average();
  }
  MemoryRequest take() { return std::move(request_); }

 private:
  const nn::ModelConfig& model() const { return job_.model->config(); }
  bool samples_there() const { return request_.graph > 0; }

  void place_graph() {
    if (!law_ || law_->csc->wide() || law_->csc->num_sources != law_->csc->num_targets) return;
    sample::HostCsc csc;
    csc.num_nodes = law_->csc->num_targets;
    csc.num_edges = law_->csc->num_edges();
    if (law_->config->edge_ids && law_->csc->edge_ids.defined()) {
      csc.edge_ids = &csc;  // null or not matters, not the value
      csc.wide_edge_ids = law_->csc->edge_ids.dtype() == base::DType::kI64;
    }
    request_.graph = sample::graph_bytes(csc);
  }

  void place_features() {
    if (!job_.store) return;
    const base::Tensor rows = job_.store->dense();
    if (!rows.defined()) return;
    const feature::Form form = config_.placement.form;
    request_.feature_row =
        std::max<int64_t>(feature::packed_stride(job_.store->num_cols(), form, rows.dtype()), 1);
    request_.features = base::checked_mul(rows.rows(), request_.feature_row, "features");
    if (form == feature::Form::kInt8) request_.scales = 4 * rows.rows();
  }

  void count_model() {
    const int64_t size = model().dtype == base::DType::kF64 ? 8 : 4;
    const int64_t bytes = job_.model->flat_parameters().numel() * size;
    // Weights, gradients, and the weights of the last good step.
    request_.parameters = 3 * bytes + 2 * buffer_bytes();
    const OptimizerConfig& o = config_.optimizer;
    const bool none = o.kind == OptimizerKind::kSgd && o.momentum == 0;
    const int64_t kept = none ? 0 : static_cast<int64_t>(state_kinds(o).size());
    request_.optimizer = kept * bytes + (int64_t{64} << 10);
    const int64_t statistics = job_.model->batch_statistics_width();
    const int64_t places = std::max<int64_t>(config_.batches_per_step, num_gpus_);
    request_.communication = 2 * places * (1 + statistics) * size;
    if (config_.deterministic)
      request_.communication += (num_gpus_ + 3) * bytes;
    else if (num_gpus_ > 1)
      request_.communication += bytes;
    if (num_gpus_ > 1) request_.communication += kNcclBytes;
  }

  int64_t buffer_bytes() const {
    int64_t bytes = 0;
    for (const nn::NamedTensor& buffer : job_.model->buffers())
      bytes += static_cast<int64_t>(buffer.tensor.nbytes());
    return bytes;
  }

  // A second model.
  void count_average() {
    const int64_t size = model().dtype == base::DType::kF64 ? 8 : 4;
    request_.parameters += 2 * job_.model->flat_parameters().numel() * size + buffer_bytes();
  }

  BatchMemory batch_memory(int64_t max_seeds, int64_t batch_nodes) const {
    BatchMemory memory;
    if (!request_.bounded) return memory;
    if (law_)
      memory.layers = batch_bounds(*law_->config, degrees_, law_->csc->num_targets, max_seeds);
    else
      memory.layers = graphs_bounds(data_, job_.sampler->num_layers(), max_seeds, batch_nodes);
    const int64_t nodes = memory.layers.front().sources;
    int64_t row = 0, entries = 0;
    if (job_.store && job_.store->sparse()) {
      const auto& sparse = std::get<base::CsrMatrix>(*job_.features);
      entries = std::min<int64_t>(sparse.values.rows(), nodes * widest(sparse));
      row = 8;
    } else if (job_.store) {
      row = gathered_row();
    }
    memory.rows = row > 0 ? at_hand(config_) * with_slack(nodes * row + 8 * entries + 4 * 128) : 0;
    int64_t arrays = 8 * nodes;
    for (const nn::LayerBounds& layer : memory.layers)
      arrays += 4 * (layer.targets + layer.sources + 2) + 16 * layer.edges + 5 * 128;
    memory.copied = at_hand(config_) * with_slack(arrays);
    if (samples_there()) memory.sampler = sampler_memory(memory.layers, max_seeds);
    return memory;
  }

  // Bytes of a dense row in a mini-batch.
  int64_t gathered_row() const {
    const int64_t size = base::dtype_size(config_.placement.row_type);
    const int64_t line = feature::kRowAlignment / size;
    return std::max((job_.store->num_cols() + line - 1) / line * line * size,
                    job_.store->num_cols() * base::dtype_size(job_.store->dtype()));
  }

  // Factors and results of products are copied in bf16.
  int64_t with_halves(int64_t pass) const {
    return config_.precision == Precision::kBf16 ? pass + pass / 2 : pass;
  }

  // Without a device, only a part of CapturedPipeline::why_not() is known.
  bool can_capture() const {
    return config_.capture != Capture::kUnpadded && !data_.of_graphs() && !config_.deterministic &&
           config_.average != Average::kEma && job_.store && !job_.store->sparse() && law_ &&
           samples_there() && law_->config->transpose &&
           law_->config->draw == sample::Draw::kUniform &&
           std::ranges::min(law_->config->fanouts) >= 0 &&
           nn::why_not_of_one_shape(model()).empty();
  }

  // The largest shape is that of the bounds of the fan-outs, whatever the degrees; smaller ones
  // work in its memory.
  void count_capture() {
    const sample::NeighborConfig& config = *law_->config;
    const auto training = static_cast<int64_t>(job_.split->part(SplitPart::kTrain).size());
    const int64_t seeds = std::min(config_.batch_size, training);
    const sample::SampleShape shape =
        sample::shape_of(config, law_->csc->num_targets, law_->csc->num_edges(), seeds, 1);
    if (shape.num_bounded < static_cast<int64_t>(shape.hops.size())) return;
    std::vector<nn::LayerBounds> layers;
    for (const sample::HopShape& hop : shape.hops)
      layers.insert(layers.begin(), {hop.max_targets, hop.max_sources, hop.max_edges});
    const int64_t inputs = seeds * (8 + 16 * data_.num_classes) + 4096;
    const int64_t a_slot = sample::sampler_bytes(config, shape, seeds, 1, /*pad=*/true) +
                           8 * shape.hops.back().max_edges + inputs +
                           with_halves(nn::training_pass_bytes(model(), layers, 0));
    constexpr auto kSlots = static_cast<int64_t>(CapturedRing::kAhead);
    // Besides the slots: weights and optimizer state as of the beginning of steps, the good
    // weights, and the exchanged buffer.
    request_.capture =
        kSlots * a_slot + 3 * (request_.parameters / 3 + request_.optimizer) + request_.parameters;
    request_.capture_rows = kSlots * with_slack(layers.front().sources * gathered_row());
    request_.must_capture = config_.capture == Capture::kOn;
  }

  static int64_t widest(const base::CsrMatrix& matrix) {
    const auto pointers = matrix.indptr.as<const int64_t>();
    int64_t most = 0;
    for (size_t r = 0; r + 1 < pointers.size(); ++r)
      most = std::max(most, pointers[r + 1] - pointers[r]);
    return most;
  }

  // The sampler's buffers for several calls. Hops without a bound by fan-outs are measured, up to
  // their bounds.
  int64_t sampler_memory(const std::vector<nn::LayerBounds>& layers, int64_t max_seeds) const {
    const sample::NeighborConfig& config = *law_->config;
    loader::LoaderConfig loading;
    loading.prefetch = config_.prefetch;
    const int64_t batches = loader::batches_of_call(loading, config, max_seeds);
    sample::SampleShape shape = sample::shape_of(config, law_->csc->num_targets,
                                                 law_->csc->num_edges(), max_seeds, batches);
    const size_t hops = shape.hops.size();
    const bool once = config.expansion == sample::Expansion::kOnce;
    int64_t last = 0;
    for (size_t h = 0; h < hops; ++h) {
      const nn::LayerBounds& layer = layers[hops - 1 - h];
      if (h >= static_cast<size_t>(shape.num_bounded)) {
        const int64_t edges = sample::padded(layer.edges);
        shape.hops[h] = {std::max<int64_t>(layer.targets, 1), edges,
                         std::max<int64_t>(layer.targets, 1), std::max<int64_t>(layer.sources, 1),
                         edges};
        shape.stores[once ? 0 : h] = {sample::padded(layer.targets + 1), edges,
                                      std::max<int64_t>(layer.targets, 1),
                                      std::max<int64_t>(layer.sources, 1)};
        shape.node_stride = std::max(shape.node_stride, sample::padded(layer.sources));
      }
      last = std::max({last, shape.hops[h].edges, shape.hops[h].max_edges});
    }
    // Scans and sorts take less than one number per edge of a hop.
    const int64_t a_call =
        sample::sampler_bytes(config, shape, max_seeds, batches) + 8 * last * batches;
    const int64_t calls = std::max<int64_t>(2, (at_hand(config_) + batches - 1) / batches + 1);
    return calls * a_call;
  }

  void count_batches() {
    const auto training = static_cast<int64_t>(job_.split->part(SplitPart::kTrain).size());
    const BatchMemory batch =
        batch_memory(std::min(config_.batch_size, training), config_.batch_nodes);
    request_.sampler = batch.sampler;
    request_.copied = batch.copied;
    request_.rows = batch.rows;
    const int64_t facts =
        nn::facts_bytes(model(), data_.graph->num_nodes(), data_.graph->num_edges());
    if (request_.bounded) {
      const int64_t together =
          config_.sync_batch_norm && job_.model->batch_statistics_width() > 0
              ? std::max<int64_t>((config_.batches_per_step + num_gpus_ - 1) / num_gpus_, 1)
              : 1;
      const int64_t graphs = data_.of_graphs() ? std::min(config_.batch_size, training) : 0;
      request_.pass =
          facts + together * with_halves(nn::training_pass_bytes(model(), batch.layers, graphs));
    }
    const auto validation = static_cast<int64_t>(job_.split->part(SplitPart::kValidation).size());
    if (config_.evaluate_every > 0 && validation > 0) count_evaluation(facts, validation);
  }

  void count_evaluation(int64_t facts, int64_t validation) {
    const int64_t chunk = std::min(config_.eval_batch_size, data_.num_samples());
    if (config_.evaluation == EvaluationMode::kSampled || data_.of_graphs()) {
      if (!request_.bounded) return;
      const int64_t seeds = std::min(chunk, validation);
      const BatchMemory batch = batch_memory(seeds, 0);
      request_.evaluation =
          facts + batch.rows + std::max(batch.sampler, batch.copied) +
          nn::plain_pass_bytes(model(), batch.layers, data_.of_graphs() ? seeds : 0);
      return;
    }
    // The number of sources of the edges into a chunk is unknown here.
    if (data_.graph->elsewhere()) return;
    const graph::Csc& csc = data_.graph->csc();
    const int64_t* pointers = static_cast<const int64_t*>(csc.indptr.data());
    nn::WholeBounds whole{.num_nodes = csc.num_targets, .num_edges = csc.num_edges(), .chunk = {}};
    const std::vector<int64_t> pieces =
        nn::inference_pieces(model(), {pointers, static_cast<size_t>(csc.num_targets) + 1}, chunk);
    for (size_t p = 1; p < pieces.size(); ++p) {
      whole.chunk.targets = std::max(whole.chunk.targets, pieces[p] - pieces[p - 1]);
      whole.chunk.edges =
          std::max(whole.chunk.edges, pointers[pieces[p]] - pointers[pieces[p - 1]]);
    }
    whole.chunk.sources = whole.chunk.targets;
    if (job_.store && job_.store->sparse()) {
      whole.sparse = true;
      whole.row_entries = std::get<base::CsrMatrix>(*job_.features).values.rows();
    } else if (job_.store) {
      whole.feature_bytes = job_.store->num_cols() * base::dtype_size(job_.store->dtype());
    }
    request_.evaluation = facts + nn::inference_bytes(model(), whole);
  }

  const Job& job_;
  const TrainerConfig& config_;
  const data::Dataset& data_;
  const std::optional<sample::NeighborLaw> law_;
  const int num_gpus_;
  DegreeCounts degrees_;
  MemoryRequest request_;
};

}  // namespace

MemoryRequest memory_request(const Job& job, int num_gpus, int64_t reserve) {
  return Request(job, num_gpus, reserve).take();
}

}  // namespace gnnmg::train
