#include "capi/tensor.h"

#include <array>
#include <cstring>
#include <optional>

#include "capi/arguments.h"
#include "capi/callback.h"
#include "capi/context.h"
#include "capi/guard.h"
#include "device/exit.h"

namespace gnnmg::capi {
namespace {

using base::DType;

struct TypeRow {
  DType dtype;
  uint8_t code;
  uint8_t bits;
};
constexpr TypeRow kTypes[] = {
    {DType::kF32, kDlpackFloat, 32}, {DType::kF64, kDlpackFloat, 64},
    {DType::kF16, kDlpackFloat, 16}, {DType::kBF16, kDlpackBfloat, 16},
    {DType::kI64, kDlpackInt, 64},   {DType::kI32, kDlpackInt, 32},
    {DType::kU8, kDlpackUInt, 8},    {DType::kBool, kDlpackBool, 8},
};

static_assert(static_cast<int32_t>(DType::kF32) == GNNMG_DTYPE_F32 &&
              static_cast<int32_t>(DType::kF64) == GNNMG_DTYPE_F64 &&
              static_cast<int32_t>(DType::kF16) == GNNMG_DTYPE_F16 &&
              static_cast<int32_t>(DType::kBF16) == GNNMG_DTYPE_BF16 &&
              static_cast<int32_t>(DType::kI64) == GNNMG_DTYPE_I64 &&
              static_cast<int32_t>(DType::kI32) == GNNMG_DTYPE_I32 &&
              static_cast<int32_t>(DType::kU8) == GNNMG_DTYPE_U8 &&
              static_cast<int32_t>(DType::kBool) == GNNMG_DTYPE_BOOL);

bool is_contiguous(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t expected = 1;
  for (int32_t d = tensor.ndim - 1; d >= 0; --d) {
    if (tensor.shape[d] == 0) return true;
    if (tensor.shape[d] != 1 && tensor.strides[d] != expected) return false;
    expected *= tensor.shape[d];
  }
  return true;
}

// The owner of an exported tensor's memory.
struct Holder {
  DLManagedTensorVersioned managed{};
  std::array<int64_t, base::kMaxDims> shape{};
  std::array<int64_t, base::kMaxDims> strides{};
  std::shared_ptr<void> owner;
};

void delete_holder(DLManagedTensorVersioned* self) {
  if (self == nullptr) return;
  // A call like any other of the host's: releases that it causes run here, at the end.
  in_call([self] {
    const device::Use use;
    if (!use && self->dl_tensor.device.device_type == kDlpackCuda) return;  // memory stays there
    delete static_cast<Holder*>(self->manager_ctx);
  });
}

}  // namespace

base::DType dtype_of(gnnmg_dtype dtype) noexcept { return static_cast<DType>(dtype); }
gnnmg_dtype dtype_code(base::DType dtype) noexcept { return static_cast<gnnmg_dtype>(dtype); }

namespace {

// The view of a tensor of the host's, wherever its memory is.
base::TensorView read_tensor(const DLManagedTensorVersioned* tensor, const char* name) {
  const DLTensor& t = tensor->dl_tensor;
  if (t.ndim < 0 || t.ndim > base::kMaxDims)
    fail(Status::kUnsupported, "argument '", name, "' has ", t.ndim, " dimensions, expected 0 to ",
         base::kMaxDims);
  if (t.ndim > 0 && t.shape == nullptr)
    fail(Status::kInvalidArgument, "argument '", name, "' has no shape");
  const TypeRow* type = nullptr;
  for (const TypeRow& row : kTypes)
    if (row.code == t.dtype.code && row.bits == t.dtype.bits && t.dtype.lanes == 1) type = &row;
  if (type == nullptr)
    fail(Status::kUnsupported, "argument '", name, "' has elements of DLPack's type code ",
         static_cast<int>(t.dtype.code), " with ", static_cast<int>(t.dtype.bits), " bits and ",
         t.dtype.lanes, " lanes, expected f32, f64, f16, bf16, i64, i32, u8 or bool");
  base::TensorView view;
  view.dtype = type->dtype;
  int64_t elements = 1;
  for (int32_t d = 0; d < t.ndim; ++d) {
    if (t.shape[d] < 0)
      fail(Status::kInvalidArgument, "argument '", name, "': dimension ", d, " has size ",
           t.shape[d]);
    if (__builtin_mul_overflow(elements, t.shape[d], &elements))
      fail(Status::kInvalidArgument, "argument '", name, "': the product of its sizes overflows");
  }
  view.shape = base::Shape(std::span<const int64_t>(t.shape, static_cast<size_t>(t.ndim)));
  if (!is_contiguous(t))
    fail(Status::kUnsupported, "argument '", name,
         "' is not contiguous in row-major order; make a contiguous copy");
  if (elements > 0 && t.data == nullptr)
    fail(Status::kInvalidArgument, "argument '", name, "' has no data");
  view.data = t.data == nullptr ? nullptr : static_cast<uint8_t*>(t.data) + t.byte_offset;
  if (reinterpret_cast<uintptr_t>(view.data) % static_cast<uintptr_t>(base::dtype_size(view.dtype)))
    fail(Status::kUnsupported, "argument '", name, "' is not aligned to its elements of ",
         base::dtype_size(view.dtype), " bytes");
  return view;
}

void check_version(const DLManagedTensorVersioned* tensor, const char* name) {
  if (tensor == nullptr) fail(Status::kInvalidArgument, "argument '", name, "' is NULL");
  if (tensor->version.major != kDlpackMajor)
    fail(Status::kUnsupported, "argument '", name, "' is a tensor of DLPack ",
         tensor->version.major, ".", tensor->version.minor, ", expected ", kDlpackMajor, ".x");
}

}  // namespace

base::TensorView borrow_tensor(const DLManagedTensorVersioned* tensor, const char* name) {
  check_version(tensor, name);
  const DLDevice device = tensor->dl_tensor.device;
  if (device.device_type == kDlpackCuda)
    fail(Status::kUnsupported, "argument '", name, "' lies on GPU ", device.device_id,
         ", expected main memory; gnnmg_tensor_copy() copies it there");
  if (device.device_type != kDlpackCpu)
    fail(Status::kUnsupported, "argument '", name, "' lies on a device of DLPack's type ",
         device.device_type, ", expected main memory (", kDlpackCpu, ")");
  return read_tensor(tensor, name);
}

PlacedView borrow_placed(const Devices& devices, const DLManagedTensorVersioned* tensor,
                         const char* name) {
  check_version(tensor, name);
  const DLDevice device = tensor->dl_tensor.device;
  if (device.device_type != kDlpackCuda) return {borrow_tensor(tensor, name)};
  devices.check(device.device_id, base::text("the GPU of argument '", name, "'"));
  return {read_tensor(tensor, name), device.device_id};
}

PlacedView borrow_writable(const Devices& devices, DLManagedTensorVersioned* tensor,
                           const char* name) {
  const PlacedView view = borrow_placed(devices, tensor, name);
  if (tensor->flags & kDlpackReadOnly)
    fail(Status::kInvalidArgument, "argument '", name, "' is a read-only tensor, but is written");
  return view;
}

base::Tensor copy_to_host(const Devices& devices, const PlacedView& from, const char* name) {
  if (from.device == PlacedView::kOnHost)
    return copy_array(from.view.data, from.view.dtype, from.view.shape, name);
  base::Tensor copy = base::Tensor::empty(from.view.dtype, from.view.shape);
  devices.copy(from.device, copy.data(), from.view.data, copy.view().num_bytes());
  return copy;
}

void copy_placed(const Devices& devices, const PlacedView& to, const PlacedView& from) {
  const int64_t bytes = from.view.num_bytes();
  if (bytes == 0) return;
  if (to.device == PlacedView::kOnHost && from.device == PlacedView::kOnHost)
    std::memmove(to.view.data, from.view.data, static_cast<size_t>(bytes));
  else
    devices.copy(to.device == PlacedView::kOnHost ? from.device : to.device, to.view.data,
                 from.view.data, bytes);
}

struct Import::Foreign {
  DLManagedTensorVersioned* tensor;
  std::shared_ptr<base::HostQueue> queue;
  bool accepted = false;
  Foreign(DLManagedTensorVersioned* foreign, std::shared_ptr<base::HostQueue> host)
      : tensor(foreign), queue(std::move(host)) {}
  ~Foreign() {
    if (!accepted || tensor->deleter == nullptr) return;
    run_on_host(queue.get(), [t = tensor] { t->deleter(t); });
  }
};

Import::Import(DLManagedTensorVersioned* tensor, const char* name,
               std::shared_ptr<base::HostQueue> queue) {
  const base::TensorView view = borrow_tensor(tensor, name);
  foreign_ = std::make_shared<Foreign>(tensor, std::move(queue));
  tensor_ = base::Tensor(view, foreign_);
}

void Import::accept() noexcept { foreign_->accepted = true; }

void ExportDeleter::operator()(DLManagedTensorVersioned* tensor) const noexcept {
  tensor->deleter(tensor);
}

Export export_tensor(const base::TensorView& view, std::shared_ptr<void> owner, bool read_only,
                     int device) {
  auto holder = std::make_unique<Holder>();
  holder->owner = std::move(owner);
  int64_t stride = 1;
  for (int32_t d = view.shape.num_dims - 1; d >= 0; --d) {
    holder->shape[d] = view.shape[d];
    holder->strides[d] = stride;
    stride *= std::max<int64_t>(view.shape[d], 1);
  }
  DLManagedTensorVersioned& managed = holder->managed;
  managed.version = {kDlpackMajor, kDlpackMinor};
  managed.manager_ctx = holder.get();
  managed.deleter = delete_holder;
  managed.flags = read_only ? kDlpackReadOnly : 0;
  const TypeRow& type = kTypes[static_cast<size_t>(view.dtype)];
  managed.dl_tensor = {
      view.data,
      device == PlacedView::kOnHost ? DLDevice{kDlpackCpu, 0} : DLDevice{kDlpackCuda, device},
      view.shape.num_dims,
      {type.code, type.bits, 1},
      holder->shape.data(),
      holder->strides.data(),
      0};
  return Export(&holder.release()->managed);
}

Export export_tensor(const base::Tensor& tensor, bool read_only) {
  return export_tensor(tensor.view(), tensor.owner(), read_only);
}

base::Tensor copy_array(const void* data, base::DType dtype, const base::Shape& shape,
                        const char* name) {
  base::Tensor copy = base::Tensor::empty(dtype, shape);
  const int64_t bytes = copy.view().num_bytes();
  if (bytes == 0) return copy;
  if (data == nullptr) fail(Status::kInvalidArgument, "argument '", name, "' is NULL");
  std::memcpy(copy.data(), data, static_cast<size_t>(bytes));
  return copy;
}

base::Shape read_shape(const int64_t* shape, int32_t num_dims, int32_t least_dims) {
  if (num_dims < least_dims || num_dims > base::kMaxDims)
    fail(Status::kInvalidArgument, "num_dims is ", num_dims, ", expected ", least_dims, " to ",
         base::kMaxDims);
  const std::span<const int64_t> sizes = read_list(shape, num_dims, "shape");
  int64_t elements = 8;  // bytes of the widest element
  for (int32_t d = 0; d < num_dims; ++d)
    if (sizes[d] < 0 || __builtin_mul_overflow(elements, sizes[d], &elements))
      fail(Status::kInvalidArgument, "shape[", d, "] is ", sizes[d],
           ", which no array in memory can have");
  return base::Shape(sizes);
}

}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_tensor_create(void* data, gnnmg_dtype dtype, int32_t num_dims,
                                 const int64_t* shape, gnnmg_release_fn release, void* user_data,
                                 DLManagedTensorVersioned** tensor) {
  return guard_registration(outs(Out{tensor, "tensor"}), user_data, release, [&](Registration& r) {
    check_dtype(dtype, "dtype");
    gnnmg::base::TensorView view{data, dtype_of(dtype), read_shape(shape, num_dims, 0)};
    if (data == nullptr && view.shape.num_elements() > 0)
      fail(Status::kInvalidArgument, "argument 'data' is NULL");
    if (reinterpret_cast<uintptr_t>(data) %
        static_cast<uintptr_t>(gnnmg::base::dtype_size(view.dtype)))
      fail(Status::kInvalidArgument, "argument 'data' is not aligned to its elements");
    Export made = export_tensor(view, nullptr, false);
    static_cast<Holder*>(made->manager_ctx)->owner = r.take(nullptr);
    *tensor = made.release();
  });
}

gnnmg_status gnnmg_tensor_get_info(const DLManagedTensorVersioned* tensor,
                                   gnnmg_tensor_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    check_version(tensor, "tensor");
    const int32_t type = tensor->dl_tensor.device.device_type;
    const gnnmg::base::TensorView view =
        type == kDlpackCuda ? read_tensor(tensor, "tensor") : borrow_tensor(tensor, "tensor");
    gnnmg_tensor_info facts{};
    facts.dtype = dtype_code(view.dtype);
    facts.device_type = tensor->dl_tensor.device.device_type;
    facts.device_index = tensor->dl_tensor.device.device_id;
    facts.num_dims = view.shape.num_dims;
    facts.read_only = (tensor->flags & kDlpackReadOnly) != 0;
    for (int32_t d = 0; d < view.shape.num_dims; ++d) facts.shape[d] = view.shape[d];
    facts.num_elements = view.shape.num_elements();
    facts.data = view.data;
    give(info, facts);
  });
}

gnnmg_status gnnmg_tensor_copy(const gnnmg_context* context, const DLManagedTensorVersioned* from,
                               DLManagedTensorVersioned* to) {
  return guard([&] {
    const auto c = find<Context>(context, "context");
    const PlacedView source = borrow_placed(c->devices, from, "from");
    const PlacedView target = borrow_writable(c->devices, to, "to");
    if (source.view.dtype != target.view.dtype || !(source.view.shape == target.view.shape))
      fail(Status::kInvalidArgument, "argument 'to' is ",
           gnnmg::base::dtype_name(target.view.dtype), " ", target.view.shape.to_string(),
           ", expected ", gnnmg::base::dtype_name(source.view.dtype), " ",
           source.view.shape.to_string(), " as 'from' is");
    copy_placed(c->devices, target, source);
  });
}

void gnnmg_tensor_free(DLManagedTensorVersioned* tensor) {
  if (tensor == nullptr || tensor->deleter == nullptr || forked()) return;
  in_call([tensor] { gnnmg::base::give_back([tensor] { tensor->deleter(tensor); }); });
}

}  // extern "C"
