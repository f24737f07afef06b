#include "train/ranks/take_over.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/GradMode.h>

#include "comm/join/frame.h"
#include "nn/torch/tensor.h"
#include "train/checkpoint/state.h"

namespace gnnmg::train {
namespace {

using nn::NamedTensor;

// Everything except the tensors, and flags of the optional tensors.
struct Contents {
  std::string state;
  struct Entry {
    std::string key;
    base::DType dtype;
    int64_t count;
  };
  std::vector<Entry> optimizer;
  bool best = false, average = false;
};

std::string pack(const Contents& contents) {
  comm::FrameWriter out;
  out.text(contents.state);
  out.u32(contents.best ? 1 : 0);
  out.u32(contents.average ? 1 : 0);
  out.u32(static_cast<uint32_t>(contents.optimizer.size()));
  for (const Contents::Entry& entry : contents.optimizer) {
    out.text(entry.key);
    out.u32(static_cast<uint32_t>(entry.dtype));
    out.i64(entry.count);
  }
  return out.fields();
}

Contents unpack(const std::string& bytes) {
  comm::FrameReader in(bytes);
  Contents contents;
  contents.state = in.text();
  contents.best = in.u32() != 0;
  contents.average = in.u32() != 0;
  for (uint32_t left = in.count(16); left > 0; --left) {
    Contents::Entry entry;
    entry.key = in.text();
    entry.dtype = static_cast<base::DType>(in.u32());
    entry.count = in.i64();
    contents.optimizer.push_back(std::move(entry));
  }
  in.finish();
  return contents;
}

class Broadcast {
 public:
  Broadcast(comm::Collectives& comm, const std::function<comm::Wait()>& wait)
      : comm_(comm), wait_(wait) {}

  void bytes(std::string& text) {
    auto size = static_cast<int64_t>(text.size());
    comm_.broadcast({&size, base::DType::kI64, {1}}, 0, wait_());
    text.resize(static_cast<size_t>(size));
    comm_.broadcast({text.data(), base::DType::kU8, {size}}, 0, wait_());
  }
  // Returns rank 0's tensor, in new memory on the other ranks. `like` has its type and shape.
  at::Tensor tensor(const at::Tensor& like) {
    const at::Tensor own = comm_.rank() == 0 ? like.contiguous() : at::empty_like(like);
    comm_.broadcast({own.data_ptr(), nn::dtype_of(own), {own.numel()}}, 0, wait_());
    return own;
  }

 private:
  comm::Collectives& comm_;
  const std::function<comm::Wait()>& wait_;
};

std::vector<at::Tensor> tensors_of(const nn::Model& model) {
  std::vector<at::Tensor> all{model.flat_parameters().detach()};
  for (const NamedTensor& buffer : model.buffers()) all.push_back(buffer.tensor);
  return all;
}

void copy_to(const nn::Model& model, const std::vector<at::Tensor>& from) {
  const std::vector<at::Tensor> to = tensors_of(model);
  for (size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i]);
}

}  // namespace

void take_over(const Job& job, Training& training, comm::Collectives& comm, bool leads,
               const std::function<comm::Wait()>& wait) {
  const c10::NoGradGuard no_grad;
  Broadcast from_first(comm, wait);
  const data::Fingerprint& data = training.fingerprint(job);
  std::vector<NamedTensor> optimizer;
  std::string text;
  if (comm.rank() == 0) {
    optimizer = training.optimizer->state();
    Contents contents;
    contents.state = write_state(job, training.world_size(), data, training.id, training.position);
    contents.best = training.best.taken();
    contents.average = training.position.num_averaged > 0;
    for (const NamedTensor& entry : optimizer)
      contents.optimizer.push_back({entry.key, nn::dtype_of(entry.tensor), entry.tensor.numel()});
    text = pack(contents);
  }
  from_first.bytes(text);
  const Contents contents = unpack(text);

  std::vector<at::Tensor> weights, best, average;
  for (const at::Tensor& own : tensors_of(*job.model)) weights.push_back(from_first.tensor(own));
  if (contents.best) {
    const std::vector<at::Tensor> like =
        comm.rank() == 0 ? training.best.tensors() : tensors_of(*job.model);
    for (const at::Tensor& own : like) best.push_back(from_first.tensor(own));
  }
  if (contents.average)
    for (const at::Tensor& own : tensors_of(*training.average))
      average.push_back(from_first.tensor(own));
  for (size_t i = 0; i < contents.optimizer.size(); ++i) {
    const Contents::Entry& entry = contents.optimizer[i];
    if (comm.rank() != 0)
      optimizer.push_back({entry.key, at::empty({entry.count}, nn::scalar_type(entry.dtype))});
    optimizer[i].tensor = from_first.tensor(optimizer[i].tensor);
  }

  comm.barrier(wait());  // everything has come everywhere
  if (!leads || comm.rank() == 0) return;
  const Position position =
      read_state(job, training.world_size(), data, contents.state, "what rank 0 is at");
  training.id = training_id_in(contents.state, "what rank 0 is at");
  training.optimizer->load_state(optimizer);
  training.best = {};
  const std::lock_guard lock(training.weights_mutex);
  if (contents.best) {
    copy_to(*job.model, best);
    training.best.take(*job.model);
  }
  copy_to(*job.model, weights);
  if (contents.average) copy_to(*training.average, average);
  training.last_good = {};
  training.position = position;
}

void take_over_weights(const Job& job, Training& training, nn::Model& replica,
                       comm::Collectives& comm, bool leads,
                       const std::function<comm::Wait()>& wait) {
  const c10::NoGradGuard no_grad;
  if (job.environment.processes) {
    Broadcast from_first(comm, wait);
    std::vector<at::Tensor> weights;
    for (const at::Tensor& own : tensors_of(*job.model)) weights.push_back(from_first.tensor(own));
    comm.barrier(wait());  // everything has come everywhere
    if (leads && comm.rank() != 0) {
      const std::lock_guard lock(training.weights_mutex);
      copy_to(*job.model, weights);
    }
  }
  comm.barrier(wait());  // each process's first replica is equal to rank 0's
  if (&replica != job.model.get()) copy_to(replica, tensors_of(*job.model));
  comm.barrier(wait());  // nobody reads the first replica any more
}

}  // namespace gnnmg::train
