// Results of all nodes or graphs, to memory or to a file: see evaluation.h.
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/background.h"
#include "base/file.h"
#include "comm/group_state.h"
#include "io/npy.h"
#include "nn/torch/tensor.h"
#include "train/eval/evaluation.h"
#include "train/eval/part_walk.h"
#include "train/meet_while.h"
#include "train/tensors.h"
#include "train/trainer.h"

namespace gnnmg::train {
namespace {

base::TensorView view_of(const at::Tensor& rows) {
  return {rows.data_ptr(), nn::dtype_of(rows), {rows.size(0), rows.size(1)}};
}

// Collective: rank 0 does `work` and the others wait for it, however long that takes.
void do_on_first(const Participant& participant, const std::function<void()>& work) {
  std::optional<base::Background> background;
  if (participant.comm.rank() == 0) background.emplace(work);
  meet_while(participant.comm, participant.wait, participant.cancel, participant.slice,
             background ? [&] { return !background->over(); } : std::function<bool()>());
  if (background) background->finish();
}

// Calls `with` with a participant that is alone.
void alone(const base::CancelToken& cancel, const RowStorage& storage,
           const std::function<void(const Participant&)>& with) {
  const std::unique_ptr<comm::Collectives> comm = comm::ThreadGroup::create(1)->connect(0, {});
  StageRows rows;
  with({.comm = *comm,
        .wait = [] { return comm::Wait{}; },
        .rows = rows,
        .cancel = cancel,
        .storage = storage});
}

// Rows of all nodes on the first rank of each process, from the ranks that have made them.
base::Tensor embed_parts(nn::Model& model, const data::Dataset& dataset,
                         const Participant& participant) {
  PartWalk walk(model, dataset, participant);
  walk.run(walk.num_stages());
  const int64_t nodes = participant.leads() ? num_results(model, dataset) : 0;
  const at::Tensor all =
      counted_matrix(nodes, walk.width(walk.num_stages() - 1), model.config().dtype);
  for (int64_t low = 0; low < num_results(model, dataset); low += participant.chunk) {
    participant.cancel.check("computing the rows");
    const int64_t begin = std::min(nodes, low);
    std::vector<int64_t> ids(static_cast<size_t>(std::min(nodes, low + participant.chunk) - begin));
    std::iota(ids.begin(), ids.end(), begin);
    all.narrow(0, begin, static_cast<int64_t>(ids.size())).copy_(walk.rows_of(ids));
  }
  return {view_of(all), std::make_shared<at::Tensor>(all)};
}

// The rows of the result after all stages before the last have run: collective, of a chunk of this
// rank's or of none.
using LastStage = std::function<at::Tensor(int64_t begin, int64_t end)>;

LastStage last_stage(nn::Model& model, const data::Dataset& dataset,
                     const Participant& participant) {
  if (dataset.graph->elsewhere()) {
    const auto walk = std::make_shared<PartWalk>(model, dataset, participant);
    const int last = walk->num_stages() - 1;
    walk->run(last);
    return [=](int64_t begin, int64_t end) { return walk->make(last, begin, end); };
  }
  const auto walk = std::make_shared<LayerWalk>(model, dataset, participant);
  const int last = walk->inference().num_stages() - 1;
  walk->rows_of(last);
  const at::Tensor none = at::empty({0, walk->inference().width(last)},
                                    at::TensorOptions(nn::scalar_type(model.config().dtype)));
  return [=](int64_t begin, int64_t end) {
    return begin < end ? walk->inference().run(last, begin, end).contiguous() : none;
  };
}

}  // namespace

base::Tensor embed(nn::Model& model, const data::Dataset& dataset, const Participant& participant) {
  c10::NoGradGuard no_grad;
  if (dataset.graph->elsewhere()) return embed_parts(model, dataset, participant);
  LayerWalk walk(model, dataset, participant);
  const at::Tensor rows = walk.on_host(walk.rows_of(walk.inference().num_stages()));
  return {view_of(rows), std::make_shared<at::Tensor>(rows)};
}

void embed_to_file(nn::Model& model, const data::Dataset& dataset, const Participant& participant,
                   const std::string& path) {
  c10::NoGradGuard no_grad;
  comm::Collectives& comm = participant.comm;
  const int64_t chunk = participant.chunk, results = num_results(model, dataset);
  const base::DType dtype = model.config().dtype;
  std::optional<base::AtomicFile> file;
  if (comm.rank() == 0) {
    file.emplace(path);  // a path that cannot be written is known before the work
    file->write(io::npy_header(dtype, {results, model.config().output_width()}));
  }
  const LastStage rows_of_last = last_stage(model, dataset, participant);

  for (int64_t low = 0; low < results; low += comm.world_size() * chunk) {
    participant.cancel.check("computing the rows");
    const auto begin_of = [&](int rank) { return std::min(results, low + rank * chunk); };
    const auto rows_of = [&](int rank) { return begin_of(rank + 1) - begin_of(rank); };
    const at::Tensor mine = rows_of_last(begin_of(comm.rank()), begin_of(comm.rank() + 1));
    std::vector<at::Tensor> arrived(comm.world_size(), mine.narrow(0, 0, 0));
    arrived[comm.rank()] = mine;
    if (comm.world_size() > 1) {
      std::vector<base::TensorView> sent, received;
      for (int r = 0; r < comm.world_size(); ++r) {
        sent.push_back(view_of(r == 0 ? mine : mine.narrow(0, 0, 0)));
        if (comm.rank() == 0)
          arrived[r] = at::empty({rows_of(r), mine.size(1)}, mine.options());
        else
          arrived[r] = mine.narrow(0, 0, 0);
        received.push_back(view_of(arrived[r]));
      }
      comm.all_to_all(sent, received, participant.wait());
    }
    do_on_first(participant, [&] {
      for (const at::Tensor& rows : arrived)
        file->write({static_cast<const uint8_t*>(rows.data_ptr()), rows.nbytes()});
    });
  }
  // The file appears once the slow work is over on all ranks, and no rank is lost or canceled.
  do_on_first(participant, [&] { file->sync(); });
  participant.cancel.check("writing the rows");
  do_on_first(participant, [&] { file->commit(); });
  comm.barrier(participant.wait());  // no rank returns before the file is there
}

base::Tensor embed_model(nn::Model& model, const data::Dataset& dataset,
                         const base::CancelToken& cancel, const RowStorage& storage) {
  base::Tensor rows;
  alone(cancel, storage, [&](const Participant& one) { rows = embed(model, dataset, one); });
  return rows;
}

void embed_model_to_file(nn::Model& model, const data::Dataset& dataset, const std::string& path,
                         const base::CancelToken& cancel, const RowStorage& storage) {
  alone(cancel, storage, [&](const Participant& one) { embed_to_file(model, dataset, one, path); });
}

}  // namespace gnnmg::train
