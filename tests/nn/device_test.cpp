// Models on a device compared with the CPU. On fake GPUs LibTorch's operators are the CPU's, and
// the library's kernels are the host's versions of a GPU's; tests/gpu runs the same on real GPUs.
#include "nn/device_fixture.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <atomic>
#include <functional>
#include <limits>
#include <tuple>

#include "base/error.h"
#include "nn/loss.h"
#include "nn/ops/functions.h"

namespace gnnmg::nn {
namespace {

class DeviceModels : public testing::Test {
 protected:
  const graph::GraphRef graph_ = make_graph();
  TestDevices devices_;

  Batch batch_for(const ModelConfig& config) const {
    return sample_batch(graph_, std::vector<int64_t>(config.num_layers, 3), {4, 0, 59, 17, 33});
  }
  static ModelConfig with_dropout(ModelConfig config) {
    config.dropout = 0.3;
    config.input_dropout = config.input == Input::kNodes ? 0 : 0.2;
    return config;
  }
};

class DeviceArchitectures : public DeviceModels,
                            public testing::WithParamInterface<Architecture> {};
INSTANTIATE_TEST_SUITE_P(Models, DeviceArchitectures,
                         testing::Values(Architecture::kSage, Architecture::kGat,
                                         Architecture::kGatv2, Architecture::kTransformer,
                                         Architecture::kLayers));

TEST_P(DeviceArchitectures, TrainAsOnTheCpu) {
  for (const ModelConfig& config : configs()) {
    if (config.architecture != GetParam()) continue;
    SCOPED_TRACE(describe(config));
    const auto plain = make_model(config);
    const Batch batch = batch_for(plain->config());
    const bool stack = config.architecture != Architecture::kLayers;
    const auto dropping = make_model(stack ? with_dropout(config) : config);
    for (const bool sparse : {false, true}) {
      if (sparse && !config.reads_features()) continue;
      SCOPED_TRACE(sparse ? "sparse" : "dense");
      ForwardArgs args = args_of(batch, sparse, true);
      // The blocks as training_sampler() makes them.
      std::vector<sample::BlockView> blocks(args.blocks.begin(), args.blocks.end());
      if (!plain->reads_input_by_source(sparse))
        blocks[0].out_indptr = blocks[0].out_targets = nullptr;
      args.blocks = blocks;
      expect_same_on_device(*plain, args, devices_[1], kF64);
      expect_same_on_device(*dropping, args, devices_[0], kF64);
    }
  }
}

// A table with ids, in any float type, for f32 models.
TEST_F(DeviceModels, TablesOfAnyFloatTypeAreReadInPlace) {
  const at::Tensor table =
      to_torch(std::get<base::Tensor>(*graph_->node_column("x"))).to(at::kBFloat16).to(at::kFloat);
  for (ModelConfig config : configs()) {
    const bool reads_in_place =
        config.architecture == Architecture::kSage || config.architecture == Architecture::kGat;
    if (!reads_in_place || !config.reads_features() || config.norm != Norm::kNone) continue;
    SCOPED_TRACE(describe(config));
    for (const base::DType dtype : {base::DType::kF32, base::DType::kF64}) {
      config.dtype = dtype;
      const auto model = make_model(config);
      const auto dropping = make_model(with_dropout(config));
      const Batch batch = batch_for(model->config());
      ForwardArgs args = args_of(batch, false, true);
      args.input.dense = at::Tensor();
      args.input.ids = args.node_ids;
      const double tolerance = dtype == base::DType::kF64 ? kF64 : kF32;
      for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
        args.input.table = table.to(type);
        expect_same_on_device(*model, args, devices_[0], tolerance);
      }
      expect_same_on_device(*dropping, args, devices_[1], tolerance);
    }
  }
}

// A device that counts its sorts of entries of these rows.
class CountedSorts {
 public:
  explicit CountedSorts(const Device& device)
      : table_(*device.table),
        f32_(*table_.of<nn::kernels::DeviceLayers<float>>()),
        f64_(*table_.of<nn::kernels::DeviceLayers<double>>()) {
    really_ = f32_.sparse_columns;
    f32_.sparse_columns = f64_.sparse_columns = count;
    table_.set<nn::kernels::DeviceLayers<float>>(&f32_);
    table_.set<nn::kernels::DeviceLayers<double>>(&f64_);
    device_ = device;
    device_.table = &table_;
    sorts = 0;
  }
  CountedSorts(const CountedSorts&) = delete;
  CountedSorts& operator=(const CountedSorts&) = delete;
  const Device& device() const { return device_; }
  static inline std::atomic<int> sorts{0};
  static inline const int64_t* rows = nullptr;

 private:
  static void count(device::Queue* queue, const int64_t* indptr, const int32_t* indices,
                    int64_t num_rows, int64_t num_columns, int64_t num_entries, int32_t* room,
                    kernels::SparseColumns columns) {
    if (indptr == rows) ++sorts;
    really_(queue, indptr, indices, num_rows, num_columns, num_entries, room, columns);
  }
  static inline decltype(count)* really_ = nullptr;
  device::Table table_;
  kernels::DeviceLayers<float> f32_;
  kernels::DeviceLayers<double> f64_;
  Device device_;
};

// Layers with several products of the same rows, for all sources and for the targets: the gradient
// of each needs the order by column.
TEST_F(DeviceModels, GradientsOfSparseProductsSortColumnsOnce) {
  ModelConfig config = small_config();
  for (const Skip skip : {Skip::kNone, Skip::kLinear})
    for (const Architecture architecture :
         {Architecture::kSage, Architecture::kGcn, Architecture::kGatv2}) {
      config.architecture = architecture;
      config.skip = skip;
      SCOPED_TRACE(describe(config));
      const auto on_cpu = make_model(config);
      const Batch batch = batch_for(config);
      const ForwardArgs host = args_of(batch, true, true);
      const PassResult expected = training_pass(*on_cpu, host);
      CountedSorts counted(devices_[0]);
      const auto model = on_cpu->clone_on(&counted.device());
      const DeviceBatch there(host, counted.device());
      CountedSorts::rows = there.args().input.sparse_on_device->indptr;
      for (int pass = 1; pass <= 2; ++pass) {
        const PassResult found = training_pass(*model, there.args());
        EXPECT_EQ(CountedSorts::sorts, pass);
        EXPECT_TRUE(near(found.gradients, expected.gradients, kF64));
      }
    }
}

TEST_F(DeviceModels, DropoutDropsTheSame) {
  const at::Tensor ones = at::ones({37, 300}, at::TensorOptions(at::kFloat));
  const Finish finish{false, kernels::make_dropout(0.4, 9, 8, 7, 6)};
  Execution on_cpu, on_device;
  on_device.device = &devices_[0];
  const at::Tensor a = apply_finish(ones, finish, on_cpu);
  const at::Tensor b = apply_finish(ones.to(devices_[0].torch()), finish, on_device);
  EXPECT_TRUE(b.cpu().equal(a));
  EXPECT_EQ((a == 0).any().item<bool>(), true);
}

// With a single rank `sum` changes nothing.
struct OneRank {
  at::Device device;
  int calls = 0;
  void operator()(at::Tensor& values) {
    EXPECT_EQ(values.device(), device);
    EXPECT_EQ(values.scalar_type(), at::kDouble);
    ++calls;
  }
};

TEST_F(DeviceModels, StepsOfSeveralMiniBatchesHaveOneNorm) {
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  config.activation = Activation::kElu;
  for (const Skip skip : {Skip::kNone, Skip::kResidual}) {
    config.skip = skip;
    const auto on_cpu = make_model(config), on_device = on_cpu->clone_on(&devices_[0]);
    const Batch first = batch_for(config);
    const Batch second = sample_batch(graph_, {3, 3, 3}, {1, 2, 40}, sample::Expansion::kOnce, 5);
    const std::vector<ForwardArgs> host{args_of(first, false, true), args_of(second, false, true)};
    const DeviceBatch a(host[0], devices_[0]), b(host[1], devices_[0]);
    const std::vector<ForwardArgs> device{a.args(), b.args()};
    OneRank cpu_sum{at::kCPU}, device_sum{devices_[0].torch()};
    const auto step = [](Model& model, std::span<const ForwardArgs> batches, OneRank& sum) {
      const std::vector<at::Tensor> logits = model.forward_step(batches, std::ref(sum));
      (logits[0].sum() + logits[1].square().sum()).backward();
      const at::Tensor statistics = model.take_batch_statistics();
      EXPECT_EQ(statistics.size(0), 1);
      model.fold_batch_statistics(statistics.cpu());
    };
    step(*on_cpu, host, cpu_sum);
    step(*on_device, device, device_sum);
    EXPECT_EQ(device_sum.calls, cpu_sum.calls);
    EXPECT_TRUE(near(on_device->flat_gradients().cpu(), on_cpu->flat_gradients(), kF64));
    for (size_t i = 0; i < on_cpu->buffers().size(); ++i)
      EXPECT_TRUE(
          near(on_device->buffers()[i].tensor.cpu(), on_cpu->buffers()[i].tensor, kF64, 1e-9))
          << on_cpu->buffers()[i].key;
    const int calls = device_sum.calls;
    on_device->absent_backward(std::ref(device_sum));
    EXPECT_EQ(device_sum.calls, calls + static_cast<int>(on_cpu->buffers().size()) / 3);
  }
}

// A single row uses the running statistics, in one mini-batch and in a whole step.
TEST_F(DeviceModels, BatchNormOfALoneRow) {
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  const auto on_cpu = make_model(config), on_device = on_cpu->clone_on(&devices_[0]);
  const Batch alone = sample_batch(graph_, {0, 0, 0}, {3});
  expect_same_on_device(*on_cpu, args_of(alone, false, true), devices_[0], kF64);
  const std::vector<ForwardArgs> host{args_of(alone, false, true)};
  const DeviceBatch batch(host[0], devices_[0]);
  const std::vector<ForwardArgs> device{batch.args()};
  OneRank cpu_sum{at::kCPU}, device_sum{devices_[0].torch()};
  const at::Tensor expected = on_cpu->forward_step(host, std::ref(cpu_sum))[0];
  const at::Tensor found = on_device->forward_step(device, std::ref(device_sum))[0];
  EXPECT_TRUE(near(found.cpu(), expected, kF64));
  found.sum().backward();
  EXPECT_EQ(device_sum.calls, 2) << "none on the way back";
  const at::Tensor statistics = on_device->take_batch_statistics().cpu();
  EXPECT_EQ(largest(statistics), 0);
  on_device->fold_batch_statistics(statistics);
  for (size_t i = 0; i < on_cpu->buffers().size(); ++i)
    EXPECT_TRUE(on_device->buffers()[i].tensor.cpu().equal(on_cpu->buffers()[i].tensor));
  on_device->absent_backward(std::ref(device_sum));
  EXPECT_EQ(device_sum.calls, 2);
  EXPECT_TRUE(on_device->take_lone_row());
}

TEST_F(DeviceModels, ClonesAndStatesGoAnywhere) {
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  config.architecture = Architecture::kGatv2;
  config.share_weights = true;  // one tensor under two names
  const auto on_cpu = make_model(config);
  on_cpu->buffers()[0].tensor.add_(0.25);
  const auto first = on_cpu->clone_on(&devices_[0]);
  const auto second = first->clone_on(&devices_[1]);
  const auto same = second->clone();
  const auto back = same->clone_on(nullptr);
  EXPECT_EQ(second->device(), &devices_[1]);
  EXPECT_EQ(same->device(), &devices_[1]);
  EXPECT_EQ(back->device(), nullptr);
  const io::StateFile state = on_cpu->state();
  for (const Model* model : {first.get(), second.get(), same.get(), back.get()}) {
    const io::StateFile found = model->state();
    ASSERT_EQ(found.tensors.size(), state.tensors.size());
    for (size_t i = 0; i < state.tensors.size(); ++i) {
      EXPECT_EQ(found.tensors[i].first, state.tensors[i].first);
      EXPECT_TRUE(to_torch(found.tensors[i].second).equal(to_torch(state.tensors[i].second)))
          << state.tensors[i].first;
    }
    EXPECT_TRUE(model->flat_gradients().cpu().eq(0).all().item<bool>());
  }

  ModelConfig other = config;
  other.seed = 99;
  const auto source = make_model(other);
  source->buffers()[1].tensor.add_(0.5);
  first->load_state(source->state());
  io::StateFile again;
  first->copy_state(again);
  first->copy_state(again);
  const io::StateFile wanted = source->state();
  for (size_t i = 0; i < wanted.tensors.size(); ++i)
    EXPECT_TRUE(to_torch(again.tensors[i].second).equal(to_torch(wanted.tensors[i].second)))
        << wanted.tensors[i].first;
  EXPECT_TRUE(first->flat_parameters().cpu().equal(source->flat_parameters()));
  EXPECT_TRUE(second->flat_parameters().cpu().equal(on_cpu->flat_parameters()));

  // A state that does not match changes nothing, and a missing counter becomes 0.
  io::StateFile broken = on_cpu->state();
  broken.tensors.erase(broken.tensors.begin());
  std::erase_if(broken.tensors,
                [](const auto& entry) { return entry.first.ends_with("num_batches_tracked"); });
  EXPECT_EQ(status_of([&] { first->load_state(broken); }), base::Status::kFormat);
  EXPECT_TRUE(first->flat_parameters().cpu().equal(source->flat_parameters()));
  broken = on_cpu->state();
  first->fold_batch_statistics(
      at::ones({1, first->batch_statistics_width()}, at::TensorOptions(at::kDouble)));
  EXPECT_EQ(first->buffers()[2].tensor.item<int64_t>(), 1);
  std::erase_if(broken.tensors,
                [](const auto& entry) { return entry.first.ends_with("num_batches_tracked"); });
  first->load_state(broken);
  EXPECT_EQ(first->buffers()[2].tensor.item<int64_t>(), 0);
  EXPECT_TRUE(first->flat_parameters().cpu().equal(on_cpu->flat_parameters()));
}

TEST_F(DeviceModels, LossesAndMetricsOfLogitsOnADevice) {
  const at::Tensor logits = random_tensor({6, 3}, at::kDouble, 4);
  Targets classes{at::zeros({6}, at::TensorOptions(at::kLong))};
  classes.labels.copy_(at::arange(6, at::TensorOptions(at::kLong)) % 4 - 1);
  Targets floats{random_tensor({6, 3}, at::kDouble, 5).gt(0).to(at::kDouble)};
  floats.labels[2][1] = std::numeric_limits<double>::quiet_NaN();
  for (const bool weighted : {false, true})
    for (const Loss loss :
         {Loss::kCrossEntropy, Loss::kBinaryCrossEntropy, Loss::kMeanSquaredError}) {
      const bool of_classes = loss == Loss::kCrossEntropy;
      Targets targets = of_classes ? classes : floats;
      if (weighted)
        targets.weights =
            weights_of(targets) * random_tensor(targets.labels.sizes(), at::kDouble, 6).abs();
      const auto of = [&](const at::Device& device) {
        const at::Tensor x =
            logits.to(device, /*non_blocking=*/false, /*copy=*/true).set_requires_grad(true);
        const LossSum sum = loss_sum(loss, x, targets);
        EXPECT_EQ(sum.sum.device(), x.device());
        sum.sum.backward();
        return std::tuple(sum.sum.item<double>(), sum.weight, x.grad().cpu());
      };
      const auto [a, a_weight, a_gradient] = of(at::kCPU);
      const auto [b, b_weight, b_gradient] = of(devices_[1].torch());
      EXPECT_NEAR(a, b, 1e-12);
      EXPECT_EQ(a_weight, b_weight);
      EXPECT_TRUE(near(b_gradient, a_gradient, 1e-13));
      const data::Task task = of_classes                          ? data::Task::kMulticlass
                              : loss == Loss::kBinaryCrossEntropy ? data::Task::kBinary
                                                                  : data::Task::kRegression;
      MetricSum on_cpu(task, loss, 3), on_device(task, loss, 3);
      on_cpu.add(logits, targets);
      on_device.add(logits.to(devices_[1].torch()), targets);
      EXPECT_EQ(on_device.counts(), on_cpu.counts());
      EXPECT_EQ(on_device.sums(), on_cpu.sums());
    }
  classes.labels[3] = 3;
  EXPECT_EQ(
      status_of([&] { loss_sum(Loss::kCrossEntropy, logits.to(devices_[0].torch()), classes); }),
      base::Status::kRange);
}

}  // namespace
}  // namespace gnnmg::nn
