#include "capi/tensor.h"

#include <cstring>

#include "capi/arguments.h"
#include "capi/callback.h"
#include "capi/context.h"
#include "capi/guard.h"

namespace gnnmg::capi {

static_assert(static_cast<int32_t>(base::DType::kF32) == GNNMG_DTYPE_F32 &&
              static_cast<int32_t>(base::DType::kF64) == GNNMG_DTYPE_F64 &&
              static_cast<int32_t>(base::DType::kF16) == GNNMG_DTYPE_F16 &&
              static_cast<int32_t>(base::DType::kBF16) == GNNMG_DTYPE_BF16 &&
              static_cast<int32_t>(base::DType::kI64) == GNNMG_DTYPE_I64 &&
              static_cast<int32_t>(base::DType::kI32) == GNNMG_DTYPE_I32 &&
              static_cast<int32_t>(base::DType::kU8) == GNNMG_DTYPE_U8 &&
              static_cast<int32_t>(base::DType::kBool) == GNNMG_DTYPE_BOOL);

base::DType dtype_of(gnnmg_dtype dtype) noexcept { return static_cast<base::DType>(dtype); }
gnnmg_dtype dtype_code(base::DType dtype) noexcept { return static_cast<gnnmg_dtype>(dtype); }

base::Tensor borrow_tensor(const gnnmg_tensor* tensor, const char* name) {
  auto found = find<SharedTensor>(tensor, name);
  const PlacedView& placed = found->placed;
  if (placed.device != PlacedView::kOnHost)
    fail(Status::kUnsupported, "argument '", name, "' lies on GPU ", placed.device,
         ", expected main memory; gnnmg_tensor_copy() copies it there");
  return {placed.view, std::move(found)};
}

PlacedView borrow_placed(const Devices& devices, const gnnmg_tensor* tensor, const char* name) {
  auto found = find<SharedTensor>(tensor, name);
  const auto& [view, device, owner] = found->placed;
  if (device != PlacedView::kOnHost)
    devices.check(device, base::text("the GPU of argument '", name, "'"));
  return {view, device, std::move(found)};
}

PlacedView borrow_writable(const Devices& devices, const gnnmg_tensor* tensor, const char* name) {
  PlacedView placed = borrow_placed(devices, tensor, name);
  if (static_cast<const SharedTensor*>(placed.owner.get())->read_only)
    fail(Status::kInvalidArgument, "argument '", name, "' is a read-only tensor, but is written");
  return placed;
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

// The memory's last share goes on a host thread, which a deleter or release of the host needs.
Import::Import(gnnmg_tensor* tensor, const char* name, std::shared_ptr<base::HostQueue> queue)
    : handle_(tensor) {
  const base::Tensor lent = borrow_tensor(tensor, name);
  lent_ = static_cast<const SharedTensor*>(lent.owner().get())->lent;
  const auto give_back = [owner = lent.owner(), queue = std::move(queue)](void*) mutable {
    run_on_host(queue.get(), [owner = std::move(owner)]() mutable { owner.reset(); });
  };
  tensor_ = base::Tensor(lent.view(), std::shared_ptr<void>(lent.owner().get(), give_back));
}

base::Tensor Import::kept() const {
  return lent_ ? copy_array(tensor_.data(), tensor_.dtype(), tensor_.shape(), "tensor") : tensor_;
}

Export export_tensor(const base::TensorView& view, std::shared_ptr<void> owner, bool read_only,
                     int device) {
  return Export(new_handle<gnnmg_tensor>(
      make_object<SharedTensor>(view, std::move(owner), read_only, device)));
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

base::Shape read_shape(const int64_t* shape, int32_t num_dims) {
  if (num_dims < 0 || num_dims > base::kMaxDims)
    fail(Status::kInvalidArgument, "num_dims is ", num_dims, ", expected 0 to ", base::kMaxDims);
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
                                 gnnmg_tensor** tensor) {
  return guard_registration(outs(Out{tensor, "tensor"}), user_data, release, [&](Registration& r) {
    check_dtype(dtype, "dtype");
    const gnnmg::base::TensorView view{data, dtype_of(dtype), read_shape(shape, num_dims)};
    if (data == nullptr && view.shape.num_elements() > 0)
      fail(Status::kInvalidArgument, "argument 'data' is NULL");
    if (reinterpret_cast<uintptr_t>(data) %
        static_cast<uintptr_t>(gnnmg::base::dtype_size(view.dtype)))
      fail(Status::kInvalidArgument, "argument 'data' is not aligned to its elements");
    *tensor = new_handle<gnnmg_tensor>(make_object<SharedTensor>(
        view, r.take(nullptr), false, PlacedView::kOnHost, release == nullptr));
  });
}

gnnmg_status gnnmg_tensor_get_info(const gnnmg_tensor* tensor, gnnmg_tensor_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto t = find<SharedTensor>(tensor, "tensor");
    const auto& [view, device, owner] = t->placed;
    const bool on_host = device == PlacedView::kOnHost;
    gnnmg_tensor_info facts{};
    facts.dtype = dtype_code(view.dtype);
    facts.device_type = on_host ? GNNMG_DEVICE_CPU : GNNMG_DEVICE_CUDA;
    facts.device_index = on_host ? 0 : device;
    facts.num_dims = view.shape.num_dims;
    facts.read_only = t->read_only;
    for (int32_t d = 0; d < view.shape.num_dims; ++d) facts.shape[d] = view.shape[d];
    facts.num_elements = view.shape.num_elements();
    facts.data = view.data;
    give(info, facts);
  });
}

gnnmg_status gnnmg_tensor_copy(const gnnmg_context* context, const gnnmg_tensor* from,
                               gnnmg_tensor* to) {
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

void gnnmg_tensor_free(gnnmg_tensor* tensor) { free_handle(tensor, Kind::kTensor); }

}  // extern "C"
