// Tensors: their handles, DLPack in both directions, and the thread and time of deletion.
#include <algorithm>
#include <atomic>
#include <thread>

#include "capi/dlpack.h"
#include "capi/support.h"

namespace gnnmg::test {
namespace {

struct Counter {
  std::atomic<int> calls{0};
  std::thread::id thread;
};
void count(void* counter) {
  auto* c = static_cast<Counter*>(counter);
  c->thread = std::this_thread::get_id();
  ++c->calls;
}

Tensor counted(std::vector<float>& data, std::vector<int64_t> shape, Counter& counter) {
  Tensor tensor;
  EXPECT_OK(gnnmg_tensor_create(data.data(), GNNMG_DTYPE_F32, static_cast<int32_t>(shape.size()),
                                shape.data(), count, &counter, tensor.out()));
  return tensor;
}

TEST(TensorTest, WrapsAnArrayAndReleasesItOnce) {
  std::vector<float> data(6);
  Counter counter;
  {
    const Tensor tensor = counted(data, {2, 3}, counter);
    auto facts = info<gnnmg_tensor_info>();
    ASSERT_OK(gnnmg_tensor_get_info(tensor, &facts));
    EXPECT_EQ(facts.data, data.data());
    EXPECT_EQ(facts.dtype, GNNMG_DTYPE_F32);
    EXPECT_EQ(facts.num_dims, 2);
    EXPECT_EQ(facts.shape[0], 2);
    EXPECT_EQ(facts.shape[1], 3);
    EXPECT_EQ(facts.shape[2], 0);
    EXPECT_EQ(facts.num_elements, 6);
    EXPECT_EQ(facts.read_only, 0);
    EXPECT_EQ(counter.calls, 0);
  }
  EXPECT_EQ(counter.calls, 1);
}

TEST(TensorTest, AFailedWrapReleasesToo) {
  Counter counter;
  gnnmg_tensor* tensor = nullptr;
  const int64_t shape = 4;
  EXPECT_FAILS(gnnmg_tensor_create(nullptr, GNNMG_DTYPE_F32, 1, &shape, count, &counter, &tensor),
               GNNMG_ERR_INVALID_ARGUMENT, "'data'");
  EXPECT_EQ(counter.calls, 1);
  float data[4];
  EXPECT_FAILS(gnnmg_tensor_create(data, 99, 1, &shape, count, &counter, &tensor),
               GNNMG_ERR_INVALID_ARGUMENT, "dtype");
  EXPECT_FAILS(gnnmg_tensor_create(data, 0, 5, &shape, count, &counter, &tensor),
               GNNMG_ERR_INVALID_ARGUMENT, "num_dims");
  const int64_t negative = -1, huge = int64_t{1} << 62;
  EXPECT_FAILS(gnnmg_tensor_create(data, 0, 1, &negative, count, &counter, &tensor),
               GNNMG_ERR_INVALID_ARGUMENT, "shape[0] is -1");
  EXPECT_FAILS(gnnmg_tensor_create(data, 0, 1, &huge, count, &counter, &tensor),
               GNNMG_ERR_INVALID_ARGUMENT, "shape[0]");
  EXPECT_FAILS(gnnmg_tensor_create(reinterpret_cast<char*>(data) + 1, 0, 1, &shape, count, &counter,
                                   &tensor),
               GNNMG_ERR_INVALID_ARGUMENT, "aligned");
  EXPECT_EQ(counter.calls, 6);
}

TEST(TensorTest, FreedHandlesAndThoseOfOtherKindsAreRefused) {
  std::vector<float> data(6);
  Counter counter;
  Tensor tensor = counted(data, {2, 3}, counter);
  gnnmg_tensor* const freed = tensor;
  World world(10);
  Tensor labels;
  ASSERT_OK(gnnmg_graph_export_node_tensor(world.graph, 0, "y", labels.out()));
  gnnmg_graph_free(reinterpret_cast<gnnmg_graph*>(freed));  // no graph
  gnnmg_tensor_free(reinterpret_cast<gnnmg_tensor*>(world.graph.get()));
  auto facts = info<gnnmg_tensor_info>();
  EXPECT_OK(gnnmg_tensor_get_info(tensor, &facts));
  tensor.reset();
  EXPECT_EQ(counter.calls, 1);
  gnnmg_tensor_free(freed);
  EXPECT_EQ(counter.calls, 1);
  DLManagedTensorVersioned* out = nullptr;
  for (const gnnmg_tensor* wrong : {static_cast<const gnnmg_tensor*>(freed),
                                    reinterpret_cast<const gnnmg_tensor*>(world.graph.get()),
                                    reinterpret_cast<const gnnmg_tensor*>(data.data())}) {
    EXPECT_FAILS(gnnmg_tensor_get_info(wrong, &facts), GNNMG_ERR_HANDLE,
                 "'tensor' is no live handle of a tensor");
    EXPECT_FAILS(gnnmg_tensor_to_dlpack(wrong, &out), GNNMG_ERR_HANDLE, "'tensor'");
    EXPECT_FAILS(gnnmg_tensor_copy(world.context, labels, const_cast<gnnmg_tensor*>(wrong)),
                 GNNMG_ERR_HANDLE, "'to'");
  }
}

TEST(TensorTest, CallsOnOtherThreadsKeepAFreedTensor) {
  World world(10);
  for (int round = 0; round < 20; ++round) {
    std::vector<float> data(1 << 14, 1.0f);
    Counter counter;
    Tensor tensor = counted(data, {int64_t{1} << 14}, counter);
    std::atomic<int> reads{0};
    std::vector<std::thread> readers;
    for (int t = 0; t < 8; ++t)
      readers.emplace_back([&, handle = tensor.get()] {
        std::vector<float> own(data.size());
        const Tensor into = wrap(own);
        gnnmg_status status = GNNMG_OK;
        while ((status = gnnmg_tensor_copy(world.context, handle, into)) == GNNMG_OK) {
          EXPECT_EQ(own, data);
          std::ranges::fill(own, 0.0f);
          ++reads;
        }
        EXPECT_EQ(status, GNNMG_ERR_HANDLE) << gnnmg_last_error();
      });
    EXPECT_TRUE(eventually([&] { return reads > 100; }));
    gnnmg_tensor* const handle = tensor;
    std::thread other([&] { gnnmg_tensor_free(handle); });
    tensor.reset();
    other.join();
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(counter.calls, 1);
  }
}

// A tensor of another library, field by field.
struct Foreign {
  DLManagedTensorVersioned managed{};
  std::vector<int64_t> shape, strides;
  int deleted = 0;

  explicit Foreign(void* data, std::vector<int64_t> sizes, DLDataType type = {2, 32, 1})
      : shape(std::move(sizes)) {
    managed.version = {1, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
    managed.dl_tensor = {data,    {1, 0}, static_cast<int32_t>(shape.size()), type, shape.data(),
                         nullptr, 0};
  }
  void set_strides(std::vector<int64_t> values) {
    strides = std::move(values);
    managed.dl_tensor.strides = strides.data();
  }
};

Tensor taken(DLManagedTensorVersioned* dlpack) {
  Tensor tensor;
  EXPECT_OK(gnnmg_tensor_from_dlpack(dlpack, tensor.out()));
  return tensor;
}
DLManagedTensorVersioned* lent(const gnnmg_tensor* tensor) {
  DLManagedTensorVersioned* dlpack = nullptr;
  EXPECT_OK(gnnmg_tensor_to_dlpack(tensor, &dlpack));
  return dlpack;
}

class ImportTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
    ASSERT_OK(gnnmg_graph_create(context, graph.out()));
    ASSERT_OK(gnnmg_graph_add_node_type(graph, "node", 3, nullptr));
  }
  gnnmg_status import(gnnmg_tensor* tensor, const char* name = "x") {
    return gnnmg_graph_import_node_tensor(graph, 0, name, tensor);
  }
  Context context;
  Graph graph;
  alignas(8) float data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
};

TEST_F(ImportTest, KeepsTheTensorUntilTheGraphGoes) {
  Foreign foreign(data, {3, 2});
  const Tensor tensor = taken(&foreign.managed);
  ASSERT_OK(import(tensor));
  EXPECT_FAILS(import(tensor), GNNMG_ERR_HANDLE, "imported");
  EXPECT_EQ(foreign.deleted, 0);
  Tensor out;
  ASSERT_OK(gnnmg_graph_export_node_tensor(graph, 0, "x", out.out()));
  auto facts = info<gnnmg_tensor_info>();
  ASSERT_OK(gnnmg_tensor_get_info(out, &facts));
  EXPECT_EQ(facts.data, data);  // no copy
  EXPECT_EQ(facts.read_only, 1);
  graph.reset();
  context.reset();
  EXPECT_EQ(foreign.deleted, 0);  // the export pins it
  out.reset();
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_F(ImportTest, AReplacedTensorIsDeletedInThatCall) {
  Foreign first(data, {3, 2}), second(data, {3, 4});
  ASSERT_OK(import(taken(&first.managed)));
  ASSERT_OK(import(taken(&second.managed)));
  EXPECT_EQ(first.deleted, 1);
  EXPECT_EQ(second.deleted, 0);
  graph.reset();
  EXPECT_EQ(second.deleted, 1);
}

TEST_F(ImportTest, DlpackOutlivesTheHandleAndTheContext) {
  Foreign foreign(data, {3, 1, 2});
  foreign.managed.flags = gnnmg::capi::kDlpackReadOnly;
  ASSERT_OK(import(taken(&foreign.managed)));
  Tensor out;
  ASSERT_OK(gnnmg_graph_export_node_tensor(graph, 0, "x", out.out()));
  DLManagedTensorVersioned* const first = lent(out);
  DLManagedTensorVersioned* const second = lent(out);
  out.reset();
  graph.reset();
  context.reset();
  const DLTensor& tensor = first->dl_tensor;
  EXPECT_EQ(first->version.major, 1u);
  EXPECT_EQ(first->flags, gnnmg::capi::kDlpackReadOnly);
  EXPECT_EQ(tensor.data, data);
  EXPECT_EQ(tensor.byte_offset, 0u);
  EXPECT_EQ(tensor.device.device_type, gnnmg::capi::kDlpackCpu);
  EXPECT_EQ(std::vector(tensor.shape, tensor.shape + tensor.ndim), std::vector<int64_t>({3, 1, 2}));
  EXPECT_EQ(std::vector(tensor.strides, tensor.strides + tensor.ndim),
            std::vector<int64_t>({2, 2, 1}));
  first->deleter(first);
  EXPECT_EQ(foreign.deleted, 0);
  Tensor again = taken(second);
  auto facts = info<gnnmg_tensor_info>();
  ASSERT_OK(gnnmg_tensor_get_info(again, &facts));
  EXPECT_EQ(facts.read_only, 1);
  again.reset();
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_F(ImportTest, EveryTypeGoesOutAndComesBack) {
  const int64_t size = 12;
  for (gnnmg_dtype dtype = GNNMG_DTYPE_F32; dtype <= GNNMG_DTYPE_BOOL; ++dtype) {
    Tensor tensor;
    ASSERT_OK(gnnmg_tensor_create(data, dtype, 1, &size, nullptr, nullptr, tensor.out()));
    const Tensor back = taken(lent(tensor));
    tensor.reset();
    auto facts = info<gnnmg_tensor_info>();
    ASSERT_OK(gnnmg_tensor_get_info(back, &facts));
    EXPECT_EQ(facts.dtype, dtype);
    EXPECT_EQ(facts.data, data);
    EXPECT_EQ(facts.read_only, 0);
  }
}

TEST_F(ImportTest, WhatIsRefusedStaysTheCallers) {
  gnnmg_tensor* out = nullptr;
  const auto refused = [&](Foreign& foreign, gnnmg_status status, const char* part) {
    EXPECT_FAILS(gnnmg_tensor_from_dlpack(&foreign.managed, &out), status, part);
    EXPECT_EQ(out, nullptr);
    EXPECT_EQ(foreign.deleted, 0);
  };
  EXPECT_FAILS(gnnmg_tensor_from_dlpack(nullptr, &out), GNNMG_ERR_INVALID_ARGUMENT,
               "'dlpack' is NULL");
  Foreign device(data, {3, 2});
  device.managed.dl_tensor.device = {7, 0};
  refused(device, GNNMG_ERR_UNSUPPORTED, "lies on a device of DLPack's type 7");
  device.managed.dl_tensor.device = {2, -1};
  refused(device, GNNMG_ERR_INVALID_ARGUMENT, "lies on GPU -1");
  Foreign version(data, {3, 2});
  version.managed.version = {2, 0};
  refused(version, GNNMG_ERR_UNSUPPORTED, "DLPack 2.0");
  version.managed.version = {0, 9};
  refused(version, GNNMG_ERR_UNSUPPORTED, "DLPack 0.9");
  Foreign lanes(data, {3, 2}, {2, 32, 4});
  refused(lanes, GNNMG_ERR_UNSUPPORTED, "lanes");
  Foreign complex_numbers(data, {3}, {5, 64, 1});
  refused(complex_numbers, GNNMG_ERR_UNSUPPORTED, "type code 5");
  Foreign dims(data, {3, 1, 1, 1, 1});
  refused(dims, GNNMG_ERR_UNSUPPORTED, "5 dimensions");
  dims.managed.dl_tensor.ndim = -1;
  refused(dims, GNNMG_ERR_UNSUPPORTED, "-1 dimensions");
  Foreign negative(data, {-3, 2});
  refused(negative, GNNMG_ERR_INVALID_ARGUMENT, "shape[0] is -3");
  // The number of bytes overflows, the number of elements does not.
  Foreign overflow(data, {int64_t{1} << 31, int64_t{1} << 30});
  refused(overflow, GNNMG_ERR_INVALID_ARGUMENT, "shape[1] is 1073741824");
  Foreign columns(data, {3, 2});
  columns.set_strides({1, 3});
  refused(columns, GNNMG_ERR_UNSUPPORTED, "contiguous");
  Foreign far(data, {3, 2});
  far.managed.dl_tensor.byte_offset = ~uint64_t{3};
  refused(far, GNNMG_ERR_INVALID_ARGUMENT, "byte_offset 18446744073709551612");
  Foreign empty(nullptr, {3, 2});
  refused(empty, GNNMG_ERR_INVALID_ARGUMENT, "no data");
  Foreign shapeless(data, {3, 2});
  shapeless.managed.dl_tensor.shape = nullptr;
  refused(shapeless, GNNMG_ERR_INVALID_ARGUMENT, "no shape");
  Foreign crooked(reinterpret_cast<char*>(data) + 1, {3, 2});
  refused(crooked, GNNMG_ERR_UNSUPPORTED, "aligned");

  const auto not_imported = [&](Foreign& foreign, gnnmg_status status, const char* part) {
    const Tensor tensor = taken(&foreign.managed);
    EXPECT_FAILS(import(tensor), status, part);
    auto facts = info<gnnmg_tensor_info>();
    EXPECT_OK(gnnmg_tensor_get_info(tensor, &facts));
    EXPECT_EQ(foreign.deleted, 0);
  };
  Foreign there(data, {3, 2});
  there.managed.dl_tensor.device = {2, 0};
  not_imported(there, GNNMG_ERR_UNSUPPORTED, "lies on GPU 0, expected main memory");
  Foreign rows(data, {2, 3});
  not_imported(rows, GNNMG_ERR_INVALID_ARGUMENT, "is [2, 3], expected 3 rows, the number of nodes");
  Foreign scalar(data, {});
  not_imported(scalar, GNNMG_ERR_INVALID_ARGUMENT, "is [], expected 3 rows");
  EXPECT_EQ(there.deleted + rows.deleted + scalar.deleted, 3);
}

TEST_F(ImportTest, StridesOfContiguousTensorsAreAccepted) {
  Foreign foreign(data, {3, 1, 2});
  foreign.set_strides({2, 77, 1});  // the stride of a dimension of one is ignored
  EXPECT_OK(import(taken(&foreign.managed)));
  Foreign empty(nullptr, {2, 0});
  empty.set_strides({77, 5});  // strides of no elements mean nothing
  auto facts = info<gnnmg_tensor_info>();
  EXPECT_OK(gnnmg_tensor_get_info(taken(&empty.managed), &facts));
  EXPECT_EQ(facts.num_elements, 0);
  Foreign offset(data, {3, 2});
  offset.managed.dl_tensor.byte_offset = 8;
  EXPECT_OK(import(taken(&offset.managed), "offset"));
  Tensor out;
  ASSERT_OK(gnnmg_graph_export_node_tensor(graph, 0, "offset", out.out()));
  EXPECT_EQ(values<float>(out), std::vector<float>({2, 3, 4, 5, 6, 7}));
  graph.reset();
}

TEST_F(ImportTest, ATensorWithoutDeleterIsFine) {
  Foreign foreign(data, {3, 2});
  foreign.managed.deleter = nullptr;
  EXPECT_OK(import(taken(&foreign.managed)));
  graph.reset();
}

TEST_F(ImportTest, AReadOnlyTensorIsNotWritten) {
  Foreign foreign(data, {3});
  foreign.managed.flags = gnnmg::capi::kDlpackReadOnly;
  std::vector<float> zeros(3);
  EXPECT_FAILS(gnnmg_tensor_copy(context, wrap(zeros), taken(&foreign.managed)),
               GNNMG_ERR_INVALID_ARGUMENT, "read-only");
  EXPECT_EQ(data[1], 1.0f);
}

TEST_F(ImportTest, OneTensorMayBeGivenTwice) {
  std::vector<int64_t> loops{0, 1, 2};
  Foreign foreign(loops.data(), {3}, {0, 64, 1});
  const Tensor both = taken(&foreign.managed);
  ASSERT_OK(gnnmg_graph_add_edge_type(graph, 0, "edge", 0, nullptr));
  ASSERT_OK(gnnmg_graph_import_coo(graph, 0, both, both));
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_F(ImportTest, EdgesAreReadAndGivenBack) {
  std::vector<int64_t> sources{0, 1, 2}, targets{1, 2, 0};
  Foreign from(sources.data(), {3}, {0, 64, 1}), to(targets.data(), {3}, {0, 64, 1});
  ASSERT_OK(gnnmg_graph_add_edge_type(graph, 0, "edge", 0, nullptr));
  ASSERT_OK(gnnmg_graph_import_coo(graph, 0, taken(&from.managed), taken(&to.managed)));
  EXPECT_EQ(from.deleted, 1);
  EXPECT_EQ(to.deleted, 1);
  targets[2] = 7;
  Foreign bad_from(sources.data(), {3}, {0, 64, 1}), bad_to(targets.data(), {3}, {0, 64, 1});
  const Tensor first = taken(&bad_from.managed), second = taken(&bad_to.managed);
  EXPECT_FAILS(gnnmg_graph_import_coo(graph, 0, first, second), GNNMG_ERR_RANGE, "targets[2] is 7");
  EXPECT_EQ(bad_from.deleted + bad_to.deleted, 0);
}

TEST_F(ImportTest, DeletersRunOnTheHostsThreadsAlone) {
  // A thread of the library drops the last share: the loader holds features and is destroyed in the
  // background. The deleter must wait for the next call.
  static std::atomic<int> deleted;
  static std::thread::id deleting_thread;
  deleted = 0;
  std::vector<float> rows(50 * 4);
  auto* foreign = new Foreign(rows.data(), {50, 4});
  foreign->managed.deleter = [](DLManagedTensorVersioned* self) {
    deleting_thread = std::this_thread::get_id();
    delete static_cast<Foreign*>(self->manager_ctx);
    ++deleted;
  };
  std::vector<int64_t> sources(200), targets(200);
  for (size_t e = 0; e < 200; ++e)
    sources[e] = static_cast<int64_t>(e * 7 % 50), targets[e] = static_cast<int64_t>(e % 50);
  Graph big;
  ASSERT_OK(gnnmg_graph_create_from_coo(context, 50, sources.data(), targets.data(),
                                        GNNMG_DTYPE_I64, 200, big.out()));
  ASSERT_OK(gnnmg_graph_import_node_tensor(big, 0, "x", taken(&foreign->managed)));
  Dataset dataset;
  ASSERT_OK(gnnmg_dataset_create(big, "x", nullptr, GNNMG_TASK_NONE, 0, dataset.out()));
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(big, nullptr, nullptr, sampler.out()));
  Loader loader;
  const std::vector<int64_t> seeds{1, 2, 3, 4, 5, 6};
  LoaderConfig plan;
  plan.batch_size = 1;
  ASSERT_OK(gnnmg_loader_create_from_seeds(dataset, sampler, 0, seeds.data(), 6, nullptr, &plan,
                                           plan.text(), loader.out()));
  Batch batch;
  ASSERT_OK(gnnmg_loader_next(loader, batch.out(), -1));
  batch.reset();
  big.reset();
  dataset.reset();
  sampler.reset();
  loader.reset();
  EXPECT_TRUE(eventually([&] {
    EXPECT_OK(gnnmg_context_lend(context, 0));  // any call works
    return deleted == 1;
  }));
  EXPECT_EQ(deleting_thread, std::this_thread::get_id());
}

}  // namespace
}  // namespace gnnmg::test
