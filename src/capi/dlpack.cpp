// DLPack's tensors in and out, as handles.
#include "capi/dlpack.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <span>

#include "capi/arguments.h"
#include "capi/guard.h"
#include "capi/tensor.h"

namespace gnnmg::capi {
namespace {

using base::DType;

struct TypeRow {
  DType dtype;
  uint8_t code;
  uint8_t bits;
};
constexpr TypeRow kTypeRows[] = {
    {DType::kF32, kDlpackFloat, 32}, {DType::kF64, kDlpackFloat, 64},
    {DType::kF16, kDlpackFloat, 16}, {DType::kBF16, kDlpackBfloat, 16},
    {DType::kI64, kDlpackInt, 64},   {DType::kI32, kDlpackInt, 32},
    {DType::kU8, kDlpackUInt, 8},    {DType::kBool, kDlpackBool, 8},
};

bool is_contiguous(const DLTensor& tensor) {
  const std::span shape(tensor.shape, static_cast<size_t>(tensor.ndim));
  if (tensor.strides == nullptr || std::ranges::find(shape, 0) != shape.end()) return true;
  int64_t expected = 1;
  for (int32_t d = tensor.ndim - 1; d >= 0; --d) {
    if (tensor.shape[d] != 1 && tensor.strides[d] != expected) return false;
    expected *= tensor.shape[d];
  }
  return true;
}

// The tensor over the same memory, which keeps `owner`.
std::shared_ptr<SharedTensor> read_dlpack(const DLManagedTensorVersioned* dlpack,
                                          std::shared_ptr<void> owner) {
  if (dlpack == nullptr) fail(Status::kInvalidArgument, "argument 'dlpack' is NULL");
  if (dlpack->version.major != kDlpackMajor)
    fail(Status::kUnsupported, "argument 'dlpack' is a tensor of DLPack ", dlpack->version.major,
         ".", dlpack->version.minor, ", expected ", kDlpackMajor, ".x");
  const DLTensor& t = dlpack->dl_tensor;
  const bool on_gpu = t.device.device_type == kDlpackCuda;
  if (!on_gpu && t.device.device_type != kDlpackCpu)
    fail(Status::kUnsupported, "argument 'dlpack' lies on a device of DLPack's type ",
         t.device.device_type, ", expected main memory (", kDlpackCpu, ") or a GPU of CUDA (",
         kDlpackCuda, ")");
  if (on_gpu && t.device.device_id < 0)
    fail(Status::kInvalidArgument, "argument 'dlpack' lies on GPU ", t.device.device_id,
         ", expected 0 or more");
  if (t.ndim < 0 || t.ndim > base::kMaxDims)
    fail(Status::kUnsupported, "argument 'dlpack' has ", t.ndim, " dimensions, expected 0 to ",
         base::kMaxDims);
  if (t.ndim > 0 && t.shape == nullptr)
    fail(Status::kInvalidArgument, "argument 'dlpack' has no shape");
  const auto* type = std::ranges::find_if(kTypeRows, [&](const TypeRow& row) {
    return row.code == t.dtype.code && row.bits == t.dtype.bits && t.dtype.lanes == 1;
  });
  if (type == std::end(kTypeRows))
    fail(Status::kUnsupported, "argument 'dlpack' has elements of DLPack's type code ",
         static_cast<int>(t.dtype.code), " with ", static_cast<int>(t.dtype.bits), " bits and ",
         t.dtype.lanes, " lanes, expected f32, f64, f16, bf16, i64, i32, u8 or bool");
  const int64_t width = base::dtype_size(type->dtype);
  int64_t bytes = width;
  for (int32_t d = 0; d < t.ndim; ++d)
    if (t.shape[d] < 0 || __builtin_mul_overflow(bytes, t.shape[d], &bytes))
      fail(Status::kInvalidArgument, "argument 'dlpack': shape[", d, "] is ", t.shape[d],
           ", which no array in memory can have");
  if (!is_contiguous(t))
    fail(Status::kUnsupported,
         "argument 'dlpack' is not contiguous in row-major order; make a "
         "contiguous copy");
  if (bytes > 0 && t.data == nullptr)
    fail(Status::kInvalidArgument, "argument 'dlpack' has no data");
  uintptr_t end = 0;
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(t.data), t.byte_offset, &end) ||
      __builtin_add_overflow(end, static_cast<uintptr_t>(bytes), &end))
    fail(Status::kInvalidArgument, "argument 'dlpack' has byte_offset ", t.byte_offset,
         ", beyond the end of memory");
  void* const data = t.data == nullptr ? nullptr : static_cast<char*>(t.data) + t.byte_offset;
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(width))
    fail(Status::kUnsupported, "argument 'dlpack' is not aligned to its elements of ", width,
         " bytes");
  const base::Shape shape(std::span<const int64_t>(t.shape, static_cast<size_t>(t.ndim)));
  return make_object<SharedTensor>(base::TensorView{data, type->dtype, shape}, std::move(owner),
                                   (dlpack->flags & kDlpackReadOnly) != 0,
                                   on_gpu ? t.device.device_id : PlacedView::kOnHost);
}

// A tensor of another library, given back with the last use of its memory.
struct Foreign {
  DLManagedTensorVersioned* tensor = nullptr;
  ~Foreign() {
    if (tensor == nullptr || tensor->deleter == nullptr) return;
    run_on_host(nullptr, [t = tensor] { t->deleter(t); });
  }
};

// A tensor for other libraries, which keeps the library's.
struct Lent {
  DLManagedTensorVersioned managed{};
  std::array<int64_t, base::kMaxDims> shape{};
  std::array<int64_t, base::kMaxDims> strides{};
  std::shared_ptr<SharedTensor> tensor;
};

// A call like any other of the host's: releases that it causes run here, at the end.
void delete_lent(DLManagedTensorVersioned* self) {
  if (self != nullptr) in_call([self] { delete static_cast<Lent*>(self->manager_ctx); });
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_tensor_from_dlpack(DLManagedTensorVersioned* dlpack, gnnmg_tensor** tensor) {
  return guard(outs(Out{tensor, "tensor"}), [&] {
    const auto foreign = std::make_shared<Foreign>();
    *tensor = new_handle<gnnmg_tensor>(read_dlpack(dlpack, foreign));
    foreign->tensor = dlpack;
  });
}

gnnmg_status gnnmg_tensor_to_dlpack(const gnnmg_tensor* tensor, DLManagedTensorVersioned** dlpack) {
  return guard(outs(Out{dlpack, "dlpack"}), [&] {
    auto lent = std::make_unique<Lent>();
    lent->tensor = find<SharedTensor>(tensor, "tensor");
    const auto& [view, device, owner] = lent->tensor->placed;
    int64_t stride = 1;
    for (int32_t d = view.shape.num_dims - 1; d >= 0; --d) {
      lent->shape[d] = view.shape[d];
      lent->strides[d] = stride;
      stride *= std::max<int64_t>(view.shape[d], 1);
    }
    const TypeRow& type = kTypeRows[static_cast<size_t>(view.dtype)];
    const bool on_host = device == PlacedView::kOnHost;
    DLTensor facts{};
    facts.data = view.data;
    facts.device = on_host ? DLDevice{kDlpackCpu, 0} : DLDevice{kDlpackCuda, device};
    facts.ndim = view.shape.num_dims;
    facts.dtype = {type.code, type.bits, 1};
    facts.shape = lent->shape.data();
    facts.strides = lent->strides.data();
    lent->managed = {{kDlpackMajor, kDlpackMinor},
                     lent.get(),
                     delete_lent,
                     lent->tensor->read_only ? kDlpackReadOnly : 0,
                     facts};
    *dlpack = &lent.release()->managed;
  });
}

}  // extern "C"
