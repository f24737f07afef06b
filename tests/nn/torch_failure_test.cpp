// Errors of LibTorch: distinguishes those of a full GPU, in the texts of CUDA and its libraries,
// from others.
#include "nn/torch/failure.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnmg::nn {
namespace {

using base::Status;
using testing::HasSubstr;
using testing::StartsWith;

template <typename F>
TorchFailure failure(const F& f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return failure_of(error);
  }
  return {Status::kOk, "nothing was thrown"};
}

TorchFailure plain(const std::string& text) {
  return failure([&] { throw c10::Error({__func__, __FILE__, __LINE__}, text); });
}

TEST(TorchFailure, MainMemory) {
  const TorchFailure found = failure([] { (void)at::empty({int64_t{1} << 60}, at::kByte); });
  EXPECT_EQ(found.status, Status::kNoMemory) << found.text;
  EXPECT_EQ(found.text,
            "no memory for an array of 1152921504606846976 bytes; take a smaller model, smaller "
            "mini-batches or fewer ranks");
  EXPECT_EQ(plain("DefaultCPUAllocator: not enough memory").text,
            "no memory for an array; take a smaller model, smaller mini-batches or fewer ranks");
}

TEST(TorchFailure, AllocatorOfDevices) {
  const TorchFailure found = failure([] {
    throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, "CUDA out of memory.\nmore");
  });
  EXPECT_EQ(found.status, Status::kNoMemory);
  EXPECT_EQ(found.text, "CUDA out of memory.");
}

TEST(TorchFailure, CudaAndItsLibrariesOnAFullGpu) {
  for (const char* text :
       {"CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        "CUDA error: CUSOLVER_STATUS_ALLOC_FAILED when calling `cusolverDnCreate(handle)`"}) {
    const TorchFailure found = plain(text);
    EXPECT_EQ(found.status, Status::kNoMemory) << text;
    EXPECT_THAT(found.text, StartsWith(text));
    EXPECT_THAT(found.text, HasSubstr("smaller mini-batches"));
  }
  const auto accelerator = [](int32_t code) {
    return failure([&] {
      throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, code,
                                  "CUDA error: out of memory\nCUDA kernel errors might be ...");
    });
  };
  EXPECT_EQ(accelerator(2).status, Status::kNoMemory);
  EXPECT_EQ(accelerator(700).status, Status::kInternal);
}

TEST(TorchFailure, OthersAreNone) {
  for (const char* text :
       {"CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasSgemm( handle, opa, opb)`",
        "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasCreate(handle)`",
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"}) {
    const TorchFailure found = plain(text);
    EXPECT_EQ(found.status, Status::kInternal) << text;
    EXPECT_EQ(found.text, text);
  }
}

}  // namespace
}  // namespace gnnmg::nn
