// LibTorch's workspaces of cuBLAS per stream, when queues of the caller's streams are closed.
#include <ATen/cuda/CUDAContextLight.h>
#include <dlfcn.h>

#include <memory>
#include <tuple>

#include "fake_cuda/support.h"

namespace gnnmg::fake_cuda {
namespace {

using Workspaces = FakeCuda;
using at::cuda::WorkspaceMapWithMutex;

// Returns LibTorch's own maps, in the library that the plug-in has opened.
std::vector<WorkspaceMapWithMutex*> maps() {
  std::vector<WorkspaceMapWithMutex*> found;
  void* const library = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  for (const char* name : {"_ZN2at4cuda33cublas_handle_stream_to_workspaceEv",
                           "_ZN2at4cuda35cublaslt_handle_stream_to_workspaceEv"})
    if (void* const function = library ? dlsym(library, name) : nullptr)
      found.push_back(&reinterpret_cast<WorkspaceMapWithMutex& (*)()>(function)());
  return found;
}

TEST_F(Workspaces, GoWithTheLastQueueOfAStreamOfTheCallers) {
  const std::vector<WorkspaceMapWithMutex*> all = maps();
  ASSERT_EQ(all.size(), 2u) << "LibTorch keeps its workspaces elsewhere";
  static int given_back = 0;
  given_back = 0;
  cudaStream_t stream = nullptr, other = nullptr;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  static int handles[2], memory;
  const auto keep = [&](cudaStream_t of) {
    for (WorkspaceMapWithMutex* map : all)
      for (int& handle : handles)  // threads that have multiplied
        map->map.emplace(
            std::tuple<void*, void*>(&handle, of),
            at::DataPtr(&memory, &memory, [](void*) { ++given_back; }, at::Device(at::kCUDA, 1)));
  };
  device::Queue* const of_model = table().open_queue(1, 0, stream);
  device::Queue* const of_loader = table().open_queue(1, 0, stream);
  device::Queue* const of_another = table().open_queue(1, 0, other);
  keep(stream);
  keep(other);
  table().close_queue(of_model);
  EXPECT_EQ(given_back, 0) << "another queue of the stream may use it";
  table().close_queue(of_loader);
  EXPECT_EQ(given_back, 4);
  for (WorkspaceMapWithMutex* map : all) {
    EXPECT_EQ(map->map.size(), 2u);
    for (const auto& [key, workspace] : map->map) EXPECT_EQ(std::get<1>(key), other);
  }
  table().close_queue(of_another);
  EXPECT_EQ(given_back, 8);
}

}  // namespace
}  // namespace gnnmg::fake_cuda
