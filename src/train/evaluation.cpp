#include "train/evaluation.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "base/device_wait.h"
#include "comm/group_state.h"
#include "comm/single.h"
#include "nn/torch_tensor.h"
#include "train/graph_inference.h"
#include "train/rank_device.h"
#include "train/tensors.h"
#include "train/trainer.h"

namespace gnnmg::train {
namespace {

// What this rank's chunks come to, one after another.
class ChunkSums {
 public:
  ChunkSums(const Subject& subject, const Participant& participant)
      : subject_(subject), participant_(participant) {
    const nn::MetricSum empty = make();
    num_counts_ = static_cast<int64_t>(empty.counts().size());
    num_sums_ = static_cast<int64_t>(empty.sums().size());
  }

  void add(const at::Tensor& logits, std::span<const int64_t> ids) {
    nn::MetricSum sum = make();
    sum.add(logits, nn::gather_targets(subject_.dataset, ids, logits.scalar_type()));
    const std::vector<int64_t> counts = sum.counts();
    const std::vector<double> sums = sum.sums();
    const std::vector<double> scores = sum.scores();
    counts_.insert(counts_.end(), counts.begin(), counts.end());
    counts_.push_back(static_cast<int64_t>(scores.size()));
    sums_.insert(sums_.end(), sums.begin(), sums.end());
    scores_.insert(scores_.end(), scores.begin(), scores.end());
  }

  // Collective: the metrics of all chunks of all ranks.
  nn::Metrics result() {
    const int world = participant_.comm.world_size();
    const int64_t chunks =
        (static_cast<int64_t>(subject_.ids.size()) + participant_.chunk - 1) / participant_.chunk;
    const auto share = [&](int r) { return (chunks - r + world - 1) / world; };
    std::vector<int64_t> counts(world), sums(world), scores(world, 0);
    for (int r = 0; r < world; ++r) {
      counts[r] = share(r) * (num_counts_ + 1);
      sums[r] = share(r) * num_sums_;
    }
    const auto all_counts = gather(counts_, counts);
    const auto all_sums = gather(sums_, sums);
    for (int r = 0; r < world; ++r)
      for (int64_t k = 0; k < share(r); ++k)
        scores[r] += all_counts[r][k * (num_counts_ + 1) + num_counts_];
    const auto all_scores = gather(scores_, scores);

    nn::MetricSum total = make();
    std::vector<int64_t> scores_read(world, 0);
    for (int64_t k = 0; k < chunks; ++k) {
      const int r = static_cast<int>(k % world);
      const int64_t own = k / world;
      const std::span chunk_counts =
          std::span(all_counts[r]).subspan(own * (num_counts_ + 1), num_counts_ + 1);
      const int64_t num_scores = chunk_counts.back();
      total.merge(chunk_counts.first(num_counts_),
                  std::span(all_sums[r]).subspan(own * num_sums_, num_sums_),
                  std::span(all_scores[r]).subspan(scores_read[r], num_scores));
      scores_read[r] += num_scores;
    }
    return total.result();
  }

 private:
  nn::MetricSum make() const {
    return {subject_.dataset.task, subject_.loss, subject_.dataset.num_classes};
  }

  template <typename T>
  std::vector<std::vector<T>> gather(std::vector<T>& own, const std::vector<int64_t>& sizes) {
    std::vector<std::vector<T>> all(sizes.size());
    std::vector<base::TensorView> outputs;
    for (size_t r = 0; r < sizes.size(); ++r) {
      all[r].resize(sizes[r]);
      outputs.push_back({all[r].data(), base::dtype_of<T>(), {sizes[r]}});
    }
    participant_.comm.all_gather(
        {own.data(), base::dtype_of<T>(), {static_cast<int64_t>(own.size())}}, outputs,
        participant_.wait());
    return all;
  }

  const Subject& subject_;
  const Participant& participant_;
  int64_t num_counts_ = 0, num_sums_ = 0;
  std::vector<int64_t> counts_;  // a chunk's counts, then the number of its scores
  std::vector<double> sums_;
  std::vector<double> scores_;
};

// Calls body(begin, end) for this rank's chunks of [0, count).
void for_own_chunks(const Participant& participant, int64_t count,
                    const std::function<void(int64_t, int64_t)>& body) {
  const int64_t chunk = participant.chunk;
  for (int64_t begin = participant.comm.rank() * chunk; begin < count;
       begin += participant.comm.world_size() * chunk) {
    participant.cancel.check("the evaluation");
    body(begin, std::min(begin + chunk, count));
  }
}

// Among several processes: brings the rows that other processes' ranks have computed into this
// process's `rows`, in rounds of one chunk a rank. Every rank sends its rows to the first rank of
// each other process, which holds the rows for all of its own.
void exchange_rows(const Participant& participant, const at::Tensor& rows) {
  if (participant.leaders.empty()) return;
  const int world = participant.comm.world_size(), own = participant.comm.rank();
  const std::span<const int> leaders = participant.leaders;
  const base::DType dtype = nn::dtype_of(rows);
  const auto chunk_of = [&](int64_t round, int rank, bool wanted) -> base::TensorView {
    const int64_t begin = std::min((round * world + rank) * participant.chunk, rows.size(0));
    const int64_t end = wanted ? std::min(begin + participant.chunk, rows.size(0)) : begin;
    const at::Tensor part = rows.narrow(0, begin, end - begin);
    return {part.data_ptr(), dtype, {part.size(0), part.size(1)}};
  };
  std::vector<base::TensorView> sent(world), received(world);
  const int64_t rounds =
      (rows.size(0) + world * participant.chunk - 1) / (world * participant.chunk);
  for (int64_t round = 0; round < rounds; ++round) {
    participant.cancel.check("the evaluation");
    for (int r = 0; r < world; ++r) {
      const bool apart = leaders[r] != leaders[own];
      sent[r] = chunk_of(round, own, apart && leaders[r] == r);
      received[r] = chunk_of(round, r, apart && leaders[own] == own);
    }
    participant.comm.all_to_all(sent, received, participant.wait());
  }
}

}  // namespace

at::Tensor StageRows::get(int stage, int64_t rows, int64_t cols, base::DType dtype) {
  std::lock_guard lock(mutex_);
  if (static_cast<int>(stages_.size()) <= stage) stages_.resize(stage + 1);
  if (!stages_[stage].defined()) stages_[stage] = counted_matrix(rows, cols, dtype);
  return stages_[stage];
}

void StageRows::release(int stage) {
  std::lock_guard lock(mutex_);
  stages_[stage].reset();
}

void StageRows::clear() {
  std::lock_guard lock(mutex_);
  stages_.clear();
}

int64_t num_results(const nn::Model& model, const data::Dataset& dataset) {
  return gives_graphs(model, dataset) ? dataset.num_graphs()
                                      : dataset.graph->num_nodes(dataset.node_type);
}

LayerWalk::LayerWalk(nn::Model& model, const data::Dataset& dataset, const Participant& participant)
    : participant_(participant),
      device_(model.device()),
      num_rows_(num_results(model, dataset)),
      dtype_(model.config().dtype),
      inference_(
          gives_graphs(model, dataset)
              ? make_graph_inference(model, dataset, participant.pool)
              : model.inference(*dataset.graph,
                                dataset.graph->node_column(dataset.feature, dataset.node_type),
                                participant.pool)) {}

at::Tensor LayerWalk::rows_of(int end) {
  at::Tensor rows;
  for (int stage = 0; stage < end; ++stage) {
    rows = participant_.rows.get(stage, num_rows_, inference_->width(stage), dtype_);
    for_own_chunks(participant_, num_rows_, [&](int64_t begin, int64_t stop) {
      const at::Tensor made = inference_->run(stage, begin, stop);
      if (device_) base::wait_for(*device_->table, device_->index, device_->queue);
      rows.narrow(0, begin, stop - begin).copy_(made);
    });
    exchange_rows(participant_, rows);
    participant_.comm.barrier(participant_.wait());
    if (participant_.leads()) participant_.rows.release(stage);
    if (stage + 1 < inference_->num_stages()) inference_->set_rows(stage, rows);
  }
  return rows;
}

nn::Metrics evaluate_full(const Subject& subject, const Participant& participant) {
  c10::NoGradGuard no_grad;
  LayerWalk walk(subject.model, subject.dataset, participant);
  const at::Tensor rows = walk.rows_of(walk.inference().num_stages());
  ChunkSums sums(subject, participant);
  for_own_chunks(
      participant, static_cast<int64_t>(subject.ids.size()), [&](int64_t begin, int64_t end) {
        const auto ids = subject.ids.subspan(begin, end - begin);
        const at::Tensor index = at::from_blob(const_cast<int64_t*>(ids.data()),
                                               {static_cast<int64_t>(ids.size())}, at::kLong);
        sums.add(rows.index_select(0, index), ids);
      });
  return sums.result();
}

nn::Metrics evaluate_sampled(const Subject& subject, const Participant& participant,
                             loader::Loader& loader,
                             const std::function<at::Tensor(const loader::Batch&)>& forward) {
  c10::NoGradGuard no_grad;
  ChunkSums sums(subject, participant);
  loader.start_epoch(0);
  while (true) {
    participant.cancel.check("the evaluation");
    const std::optional<loader::BatchRef> batch = loader.next(base::Deadline::after_ms(200));
    if (!batch) continue;
    if (!*batch) break;
    if (!(*batch)->empty()) sums.add(forward(**batch), (*batch)->seeds);
  }
  return sums.result();
}

namespace {

// Mini-batches of whole graphs, made and worked on by the calling thread, where the model lies.
nn::Metrics evaluate_graphs(const Subject& subject, const Participant& participant) {
  const data::Dataset& data = subject.dataset;
  if (subject.model.config().readout == nn::Readout::kNone)
    base::fail(base::Status::kInvalidArgument, "data set ", data.name,
               ": its labels are of graphs, so the model needs a readout");
  const std::shared_ptr<const feature::FeatureStore> store = features_for(subject.model, data);
  loader::LoaderConfig config;
  config.plan.batch_size = participant.chunk;
  config.plan.shuffle = false;
  config.num_threads = 0;
  config.gather = gathers(store.get());
  const std::shared_ptr<const sample::Sampler> sampler =
      make_graphs_sampler_for(subject.model, data);
  const nn::Device* const device = subject.model.device();
  std::shared_ptr<const loader::DeviceSource> source;
  if (device)
    source = loader::DeviceSource::open({.table = device->table, .device = device->index}, sampler,
                                        store, subject.ids, config, participant.pool);
  loader::Loader loader(subject.ids, sampler, store, config, nullptr, source);
  return evaluate_sampled(subject, participant, loader, [&](const loader::Batch& batch) {
    if (device) {
      nn::SparseView sparse;
      nn::ForwardArgs there = args_on(batch, *device, sparse);
      there.graph = data.graph;
      const at::Tensor rows = subject.model.forward(there);
      base::wait_for(*device->table, device->index, device->queue);
      return rows.cpu();
    }
    nn::ForwardArgs args;
    args.input = input_of(batch, store.get());
    args.blocks = batch.sample.blocks;
    args.graph = data.graph;
    args.node_ids = batch.sample.node_ids.span();
    args.graph_ptr = batch.sample.graph_ptr.span();
    args.pool = participant.pool;
    return subject.model.forward(args);
  });
}

}  // namespace

nn::Metrics evaluate_model(nn::Model& model, const data::Dataset& dataset,
                           std::span<const int64_t> ids, nn::Loss loss, base::ThreadPool& pool,
                           const base::CancelToken& cancel) {
  const std::unique_ptr<comm::Collectives> comm =
      comm::make_single(std::make_shared<comm::GroupState>(1));
  StageRows rows;
  const Participant participant{.comm = *comm,
                                .wait = [] { return comm::Wait{}; },
                                .rows = rows,
                                .cancel = cancel,
                                .pool = &pool};
  const Subject subject{model, dataset, loss == nn::Loss::kAuto ? nn::loss_for(dataset.task) : loss,
                        ids};
  return dataset.of_graphs() ? evaluate_graphs(subject, participant)
                             : evaluate_full(subject, participant);
}

}  // namespace gnnmg::train
