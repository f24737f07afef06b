#include "train/eval/evaluation.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "comm/group_state.h"
#include "device/wait.h"
#include "nn/model/pass_memory.h"
#include "nn/ops/device_lists.h"
#include "nn/torch/tensor.h"
#include "train/eval/graph_inference.h"
#include "train/eval/part_walk.h"
#include "train/ranks/device.h"
#include "train/tensors.h"
#include "train/trainer.h"

namespace gnnmg::train {
namespace {

// The results of this rank's chunks, in order.
class ChunkSums {
 public:
  ChunkSums(const Subject& subject, const Participant& participant)
      : subject_(subject), participant_(participant) {
    const nn::MetricSum empty = make();
    num_counts_ = static_cast<int64_t>(empty.counts().size());
    num_sums_ = static_cast<int64_t>(empty.sums().size());
    const data::Dataset& data = subject.dataset;
    if (subject.choice.confusion && data.task == data::Task::kMulticlass)
      confusion_.resize(static_cast<size_t>(data.num_classes * data.num_classes));
  }

  void add(const at::Tensor& logits, std::span<const int64_t> ids) {
    nn::MetricSum sum = make();
    sum.add(logits, nn::gather_targets(subject_.dataset, ids, logits.scalar_type()), confusion_);
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
    nn::Metrics metrics = total.result();
    if (!subject_.choice.confusion) return metrics;
    if (subject_.dataset.task == data::Task::kBinary) {
      metrics.confusion = total.target_confusion();
      return metrics;
    }
    participant_.comm.all_reduce(
        {confusion_.data(), base::DType::kI64, {static_cast<int64_t>(confusion_.size())}},
        comm::ReduceOp::kSum, participant_.wait());
    metrics.confusion = std::move(confusion_);
    return metrics;
  }

 private:
  nn::MetricSum make() const {
    return {subject_.dataset.task, subject_.loss, subject_.dataset.num_classes,
            subject_.choice.top_k};
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
  std::vector<int64_t> confusion_;  // all chunks together: sums of integers are exact in any order
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

nn::Execution on(const nn::Device* device) {
  nn::Execution execution;
  execution.device = device;
  return execution;
}

std::unique_ptr<nn::Inference> inference_over(nn::Model& model, const data::Dataset& dataset,
                                              base::ThreadPool* pool) {
  if (gives_graphs(model, dataset)) return make_graph_inference(model, dataset, pool);
  return model.inference(*dataset.graph,
                         dataset.graph->node_column(dataset.feature, dataset.node_type), pool);
}

// Bounds of the pieces of nodes or graphs; on the CPU the same as of the evaluated chunks.
std::vector<int64_t> pieces_of(const nn::Model& model, const data::Dataset& dataset, int64_t count,
                               int64_t chunk) {
  if (model.device() && !gives_graphs(model, dataset)) {
    const graph::Csc& csc = dataset.graph->csc();
    return nn::inference_pieces(
        model.config(),
        {static_cast<const int64_t*>(csc.indptr.data()), static_cast<size_t>(csc.num_targets) + 1},
        chunk);
  }
  std::vector<int64_t> bounds = {0};
  while (bounds.back() < count) bounds.push_back(std::min(bounds.back() + chunk, count));
  return bounds;
}

}  // namespace

at::Tensor StageRows::get(int stage, int64_t rows, int64_t cols, base::DType dtype,
                          bool is_result) {
  std::lock_guard lock(mutex_);
  if (static_cast<int>(stages_.size()) <= stage) stages_.resize(stage + 1);
  at::Tensor& all = stages_[stage];
  if (all.defined()) return all;
  for (const at::Tensor& old : kept_) {
    const bool idle = old.use_count() == 1 && old.storage().use_count() == 1;
    if (!is_result && idle && nn::dtype_of(old) == dtype && old.numel() >= rows * cols)
      return all = old.view(-1).narrow(0, 0, rows * cols).view({rows, cols});
  }
  all = counted_matrix(rows, cols, dtype);
  if (!is_result) kept_.push_back(all);
  return all;
}

void StageRows::release(int stage) {
  std::lock_guard lock(mutex_);
  stages_[stage].reset();
}

int Participant::ranks_of_process() const {
  if (leaders.empty()) return comm.world_size();
  return static_cast<int>(std::ranges::count(leaders, leaders[comm.rank()]));
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
      inference_(inference_over(model, dataset, participant.pool)),
      whole_(dynamic_cast<nn::WholeInference*>(inference_.get())),
      pieces_(pieces_of(model, dataset, num_rows_, participant.chunk)),
      copies_(participant.copies) {
  if (!device_ || !whole_) return;
  whole_->features_lie_there(participant.features);
  if (!copies_) copies_ = &own_copies_.emplace(*device_);
}

LayerWalk::~LayerWalk() = default;

// Calls body(begin, end) for this rank's pieces.
void LayerWalk::for_own_pieces(const std::function<void(int64_t, int64_t)>& body) const {
  for (int64_t p = participant_.comm.rank(); p < num_pieces();
       p += participant_.comm.world_size()) {
    participant_.cancel.check("the evaluation");
    body(pieces_[p], pieces_[p + 1]);
  }
}

// With several processes, brings the rows that other processes' ranks have computed into this
// process's `rows`, in rounds of one piece a rank. Every rank sends its rows to the first rank of
// each other process, which holds the rows for all of its own.
void LayerWalk::exchange(const at::Tensor& rows) const {
  if (participant_.leaders.empty()) return;
  const int world = participant_.comm.world_size(), own = participant_.comm.rank();
  const std::span<const int> leaders = participant_.leaders;
  const base::DType dtype = nn::dtype_of(rows);
  const auto piece_of = [&](int64_t round, int rank, bool wanted) -> base::TensorView {
    const int64_t piece = std::min(round * world + rank, num_pieces());
    const int64_t begin = pieces_[piece];
    const int64_t end = wanted ? pieces_[std::min(piece + 1, num_pieces())] : begin;
    const at::Tensor part = rows.narrow(0, begin, end - begin);
    return {part.data_ptr(), dtype, {part.size(0), part.size(1)}};
  };
  std::vector<base::TensorView> sent(world), received(world);
  const int64_t rounds = (num_pieces() + world - 1) / world;
  for (int64_t round = 0; round < rounds; ++round) {
    participant_.cancel.check("the evaluation");
    for (int r = 0; r < world; ++r) {
      const bool apart = leaders[r] != leaders[own];
      sent[r] = piece_of(round, own, apart && leaders[r] == r);
      received[r] = piece_of(round, r, apart && leaders[own] == own);
    }
    participant_.comm.all_to_all(sent, received, participant_.wait());
  }
}

at::Tensor LayerWalk::rows_there(int stage, int64_t count) const {
  return nn::reserve(on(device_), {count, inference_->width(stage)}, nn::scalar_type(dtype_),
                     "rows of all nodes");
}

void LayerWalk::wait() const { device::wait_for(*device_->table, device_->index, device_->queue); }

at::Tensor LayerWalk::made_alone(int stage) {
  const at::Tensor there = rows_there(stage, num_rows_);
  for_own_pieces([&](int64_t begin, int64_t end) {
    whole_->run_into(stage, begin, end, there.narrow(0, begin, end - begin));
    wait();
  });
  return there;
}

// This rank's pieces into `rows` of the host's, and `there` where that is defined.
void LayerWalk::make_own(int stage, const at::Tensor& rows, const at::Tensor& there) {
  for_own_pieces([&](int64_t begin, int64_t end) {
    const at::Tensor here = rows.narrow(0, begin, end - begin);
    if (!whole_) {
      here.copy_(inference_->run(stage, begin, end));
    } else if (!device_) {
      whole_->run_into(stage, begin, end, here);
    } else {
      const at::Tensor made =
          there.defined() ? there.narrow(0, begin, end - begin) : rows_there(stage, end - begin);
      whole_->run_into(stage, begin, end, made);
      wait();
      copies_->to_host(here.mutable_data_ptr(), made.const_data_ptr(),
                       static_cast<int64_t>(made.nbytes()));
    }
  });
}

void LayerWalk::take_others(const at::Tensor& rows, const at::Tensor& there) {
  const int world = participant_.comm.world_size();
  for (int64_t p = 0; p < num_pieces(); ++p) {
    if (p % world == participant_.comm.rank()) continue;
    participant_.cancel.check("the evaluation");
    const int64_t begin = pieces_[p], count = pieces_[p + 1] - begin;
    const at::Tensor from = rows.narrow(0, begin, count);
    copies_->to_device(there.narrow(0, begin, count).mutable_data_ptr(), from.const_data_ptr(),
                       static_cast<int64_t>(from.nbytes()));
  }
}

at::Tensor LayerWalk::made_together(int stage) {
  const bool last = stage + 1 == inference_->num_stages();
  at::Tensor rows = participant_.rows.get(stage, num_rows_, inference_->width(stage), dtype_, last);
  at::Tensor there = device_ && whole_ && !last ? rows_there(stage, num_rows_) : at::Tensor();
  make_own(stage, rows, there);
  exchange(rows);
  participant_.comm.barrier(participant_.wait());
  if (participant_.leads()) participant_.rows.release(stage);
  if (!there.defined()) return rows;
  take_others(rows, there);
  return there;
}

at::Tensor LayerWalk::rows_of(int end) {
  const bool alone = device_ && whole_ && participant_.comm.world_size() == 1;
  for (int stage = 0; stage < end; ++stage) {
    at::Tensor rows = alone ? made_alone(stage) : made_together(stage);
    if (stage + 1 == inference_->num_stages()) return rows;
    inference_->set_rows(stage, std::move(rows));
  }
  return {};
}

at::Tensor LayerWalk::on_host(const at::Tensor& rows) {
  if (rows.is_cpu()) return rows;
  const at::Tensor here = counted_matrix(rows.size(0), rows.size(1), dtype_);
  copies_->to_host(here.mutable_data_ptr(), rows.const_data_ptr(),
                   static_cast<int64_t>(rows.nbytes()));
  return here;
}

at::Tensor LayerWalk::on_host(const at::Tensor& rows, std::span<const int64_t> ids) {
  const auto count = static_cast<int64_t>(ids.size());
  if (rows.is_cpu())
    return rows.index_select(0,
                             at::from_blob(const_cast<int64_t*>(ids.data()), {count}, at::kLong));
  const at::Tensor there = nn::reserve(on(device_), {count}, at::kLong, "the ids of nodes");
  copies_->to_device(there.mutable_data_ptr(), ids.data(), static_cast<int64_t>(ids.size_bytes()));
  return on_host(rows.index_select(0, there));
}

void expect_exact(const nn::Model& model, const data::Dataset& dataset) {
  if (!dataset.graph->elsewhere()) return;
  const nn::PieceNeeds needs = model.piece_needs();
  if (!needs.obstacle) return;
  graph::expect_whole(
      dataset.graph->parts(),
      base::text("an exact evaluation of a model with ", needs.obstacle,
                 " (take evaluation=sampled, in which nodes read some of their neighbors),"));
}

namespace {

nn::Metrics evaluate_parts(const Subject& subject, const Participant& participant) {
  PartWalk walk(subject.model, subject.dataset, participant);
  walk.run(walk.num_stages());
  ChunkSums sums(subject, participant);
  const auto count = static_cast<int64_t>(subject.ids.size());
  const int64_t chunk = participant.chunk;
  for (int64_t low = 0; low < count; low += participant.comm.world_size() * chunk) {
    participant.cancel.check("the evaluation");
    const int64_t begin = std::min(count, low + participant.comm.rank() * chunk);
    const auto ids = subject.ids.subspan(begin, std::min(count, begin + chunk) - begin);
    const at::Tensor rows = walk.rows_of(ids);
    if (!ids.empty()) sums.add(rows, ids);
  }
  return sums.result();
}

}  // namespace

nn::Metrics evaluate_full(const Subject& subject, const Participant& participant) {
  c10::NoGradGuard no_grad;
  if (subject.dataset.graph->elsewhere()) return evaluate_parts(subject, participant);
  LayerWalk walk(subject.model, subject.dataset, participant);
  const at::Tensor rows = walk.rows_of(walk.inference().num_stages());
  ChunkSums sums(subject, participant);
  const auto count = static_cast<int64_t>(subject.ids.size());
  if (rows.is_cpu()) {
    for_own_chunks(participant, count, [&](int64_t begin, int64_t end) {
      const auto ids = subject.ids.subspan(begin, end - begin);
      sums.add(walk.on_host(rows, ids), ids);
    });
    return sums.result();
  }
  // Many chunks at a time, all of this rank's.
  const auto of_chunk = participant.chunk * rows.size(1) * static_cast<int64_t>(rows.itemsize());
  const int64_t many = participant.chunk * std::max<int64_t>(nn::kGathered / of_chunk, 1);
  for (int64_t low = 0; low < count; low += many) {
    participant.cancel.check("the evaluation");
    const int64_t high = std::min(low + many, count);
    const at::Tensor here = walk.on_host(rows, subject.ids.subspan(low, high - low));
    for (int64_t begin = low; begin < high; begin += participant.chunk) {
      const int64_t size = std::min(participant.chunk, high - begin);
      sums.add(here.narrow(0, begin - low, size), subject.ids.subspan(begin, size));
    }
  }
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

// Mini-batches of whole graphs, made and computed by the calling thread, on the model's device.
nn::Metrics evaluate_graphs(const Subject& subject, const Participant& participant) {
  const data::Dataset& data = subject.dataset;
  if (subject.model.config().readout == nn::Readout::kNone)
    base::fail(base::Status::kInvalidArgument, data.title(),
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
      device::wait_for(*device->table, device->index, device->queue);
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
                           const base::CancelToken& cancel, const RowStorage& storage,
                           const nn::MetricChoice& choice) {
  const std::unique_ptr<comm::Collectives> comm = comm::ThreadGroup::create(1)->connect(0, {});
  StageRows rows;
  const Participant participant{.comm = *comm,
                                .wait = [] { return comm::Wait{}; },
                                .rows = rows,
                                .cancel = cancel,
                                .storage = storage,
                                .pool = &pool};
  const Subject subject{model, dataset, loss == nn::Loss::kAuto ? nn::loss_for(dataset.task) : loss,
                        ids, choice};
  return dataset.of_graphs() ? evaluate_graphs(subject, participant)
                             : evaluate_full(subject, participant);
}

}  // namespace gnnmg::train
