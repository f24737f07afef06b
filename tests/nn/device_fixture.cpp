#include "nn/device_fixture.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>

#include "support/test_gpus.h"

namespace gnnmg::nn {
namespace {

const device::Table& table() {
  static const device::Table& table = *test::test_gpus(2).table;
  return table;
}

// Copies a host array; null stays null.
template <typename T>
const T* put_on(at::Device device, const T* host, int64_t count, std::vector<at::Tensor>& kept) {
  if (!host) return nullptr;
  kept.push_back(at::from_blob(const_cast<T*>(host), {count},
                               at::TensorOptions(c10::CppTypeToScalarType<T>::value))
                     .to(device));
  return kept.back().const_data_ptr<T>();
}

at::Tensor moved(const at::Tensor& t, at::Device device) {
  return t.defined() ? t.to(device) : at::Tensor();
}

}  // namespace

const double kF32 = test::gpus_are_fake() ? 1e-5 : 1e-4;

TestDevices::TestDevices() {
  const int count = test::test_gpus(2).count;
  for (int i = count - 1; i >= 0; --i) {  // ends with device 0 current on the thread
    devices_[i] = {&table(), i, table().open_queue(i, 0, nullptr)};
    table().use(devices_[i].queue);
  }
  if (count == 1) devices_[1] = devices_[0];
}

TestDevices::~TestDevices() {
  if (devices_[1].queue != devices_[0].queue) table().close_queue(devices_[1].queue);
  table().close_queue(devices_[0].queue);
}

sample::BlockView block_on(const Device& on, const sample::BlockView& host,
                           std::vector<at::Tensor>& kept) {
  const at::Device device = on.torch();
  sample::BlockView block = host;
  block.indptr = put_on(device, host.indptr, host.num_targets + 1, kept);
  block.indices = put_on(device, host.indices, host.num_edges, kept);
  block.edge_ids = put_on(device, host.edge_ids, host.num_edges, kept);
  if (host.out_indptr) {
    // Common lists of several layers may have more entries than this layer has edges.
    const int64_t entries = host.out_indptr[host.num_sources];
    block.out_indptr = put_on(device, host.out_indptr, host.num_sources + 1, kept);
    block.out_targets = put_on(device, host.out_targets, entries, kept);
  }
  return block;
}

template <typename T>
const T* DeviceBatch::put(const T* host, int64_t count) {
  return put_on(device_, host, count, kept_);
}

DeviceBatch::DeviceBatch(const ForwardArgs& host, const Device& device)
    : device_(device.torch()), args_(host) {
  for (const sample::BlockView& block : host.blocks)
    blocks_.push_back(block_on(device, block, kept_));
  args_.blocks = blocks_;
  const auto ids = [&](std::span<const int64_t> from) {
    return std::span(put(from.data(), static_cast<int64_t>(from.size())), from.size());
  };
  args_.node_ids = ids(host.node_ids);
  args_.input.dense = moved(host.input.dense, device_);
  args_.input.table = moved(host.input.table, device_);
  args_.input.ids = ids(host.input.ids);
  if (const feature::SparseRows* rows = host.input.sparse) {
    const int64_t entries = rows->indptr[rows->num_rows];
    sparse_ = {rows->num_rows,
               rows->num_cols,
               entries,
               put(rows->indptr.data(), rows->num_rows + 1),
               put(rows->indices.data(), entries),
               put(rows->values.data(), entries)};
    args_.input.sparse = nullptr;
    args_.input.sparse_on_device = &sparse_;
  }
  for (const EdgeValues& edges : host.edges)
    edges_.push_back(
        {moved(edges.weight, device_), moved(edges.features, device_), moved(edges.type, device_)});
  args_.edges = edges_;
}

PassResult training_pass(Model& model, const ForwardArgs& args) {
  model.zero_gradients();
  const at::Tensor logits = model.forward(args);
  const at::Tensor weights = random_tensor(logits.sizes(), logits.scalar_type(), 77);
  (logits * weights.to(logits.device())).sum().backward();
  PassResult result{logits.detach().cpu(), model.flat_gradients().cpu().clone(), {}};
  if (model.batch_statistics_width() > 0) {
    const at::Tensor statistics = model.take_batch_statistics();
    EXPECT_EQ(statistics.device(), logits.device());
    result.statistics = statistics.cpu();
  }
  return result;
}

void expect_same_on_device(const Model& on_cpu, const ForwardArgs& host, const Device& device,
                           double tolerance) {
  const auto expected = on_cpu.clone_on(nullptr), found = on_cpu.clone_on(&device);
  EXPECT_EQ(found->device(), &device);
  EXPECT_EQ(found->flat_parameters().device(), device.torch());
  const DeviceBatch batch(host, device);
  ForwardArgs on_host = host, on_device = batch.args();
  on_host.training = on_device.training = true;
  const PassResult a = training_pass(*expected, on_host);
  const PassResult b = training_pass(*found, on_device);
  EXPECT_TRUE(near(b.logits, a.logits, tolerance)) << "logits of a training pass";
  if (a.statistics.defined()) {
    EXPECT_TRUE(near(b.statistics, a.statistics, tolerance)) << "statistics";
  }
  const double scale = largest(a.gradients);
  int64_t offset = 0;
  for (const NamedTensor& parameter : expected->parameters()) {
    const int64_t size = parameter.tensor.numel();
    EXPECT_TRUE(near(b.gradients.narrow(0, offset, size), a.gradients.narrow(0, offset, size),
                     tolerance, 0.1 * scale))
        << "gradient of " << parameter.key;
    offset += size;
  }
  const PassResult again = training_pass(*found, on_device);
  EXPECT_TRUE(again.logits.equal(b.logits)) << "logits, again";
  EXPECT_TRUE(again.gradients.equal(b.gradients)) << "gradients, again";

  on_host.training = on_device.training = false;
  const at::Tensor logits = found->forward(on_device);
  EXPECT_FALSE(logits.requires_grad());
  EXPECT_TRUE(near(logits.cpu(), expected->forward(on_host), tolerance)) << "logits";
}

}  // namespace gnnmg::nn
