// Tensors: the objects of their handles, tensors that a call looks at or that the library keeps,
// and tensors that it hands out. DLPack is in dlpack.h.
#pragma once

#include <memory>
#include <utility>

#include "base/host_queue.h"
#include "base/tensor.h"
#include "capi/devices.h"
#include "capi/handles.h"
#include "capi/object.h"
#include "gnnmg.h"

namespace gnnmg::capi {

// Memory that may be a GPU's.
struct PlacedView {
  base::TensorView view;
  int device = kOnHost;  // number of the GPU
  std::shared_ptr<void> owner = nullptr;
  static constexpr int kOnHost = -1;
};

// The object of a tensor's handle. It does not change, so any number of calls use it at once, and
// it belongs to no context.
class SharedTensor : public Object {
 public:
  static constexpr Kind kKind = Kind::kTensor;
  SharedTensor(const base::TensorView& memory, std::shared_ptr<void> owner, bool read_only,
               int device, bool lent = false)
      : Object(kKind, nullptr, nullptr),
        placed{memory, device, std::move(owner)},
        read_only(read_only),
        lent(lent) {}
  bool on_device() const noexcept override { return placed.device != PlacedView::kOnHost; }

  const PlacedView placed;
  const bool read_only;
  const bool lent;  // an array of the host's that only the host knows when to free
};

// The functions that borrow return a view that keeps the tensor, even if its handle is freed
// meanwhile.

// The memory of a tensor in main memory. Error(kUnsupported) for one on a GPU.
base::Tensor borrow_tensor(const gnnmg_tensor* tensor, const char* name);
// Like borrow_tensor(), for a tensor in main memory or on one of these GPUs: Error(kNotFound) for a
// GPU that is not there.
PlacedView borrow_placed(const Devices& devices, const gnnmg_tensor* tensor, const char* name);
// The same for a tensor that is to be written; a read-only one is refused.
PlacedView borrow_writable(const Devices& devices, const gnnmg_tensor* tensor, const char* name);
// A copy in main memory.
base::Tensor copy_to_host(const Devices& devices, const PlacedView& from, const char* name);
// Copies elements of equal type and number, wherever they lie, and waits for that.
void copy_placed(const Devices& devices, const PlacedView& to, const PlacedView& from);

// A tensor of the host's that the library keeps if all goes well: accept() frees its handle. The
// memory is given back, when its last share goes, on a host thread in a call on that queue.
class Import {
 public:
  Import(gnnmg_tensor* tensor, const char* name, std::shared_ptr<base::HostQueue> queue);
  const base::Tensor& tensor() const { return tensor_; }
  // The tensor to keep: a copy where the host does not learn when its array is no longer needed.
  base::Tensor kept() const;
  void accept() noexcept { remove_handle(handle_, Kind::kTensor); }

 private:
  gnnmg_tensor* handle_;
  base::Tensor tensor_;
  bool lent_ = false;
};

struct ExportDeleter {
  void operator()(gnnmg_tensor* tensor) const noexcept { remove_handle(tensor, Kind::kTensor); }
};
using Export = std::unique_ptr<gnnmg_tensor, ExportDeleter>;

// A handle of a tensor over `view`, which keeps `owner`. `device`: the GPU that the memory lies on.
Export export_tensor(const base::TensorView& view, std::shared_ptr<void> owner, bool read_only,
                     int device = PlacedView::kOnHost);
Export export_tensor(const base::Tensor& tensor, bool read_only);
template <typename T>
Export export_list(const T* data, int64_t count, std::shared_ptr<void> owner,
                   int device = PlacedView::kOnHost) {
  return export_tensor({const_cast<T*>(data), base::dtype_of<std::remove_const_t<T>>(), {count}},
                       std::move(owner), true, device);
}

base::DType dtype_of(gnnmg_dtype dtype) noexcept;
gnnmg_dtype dtype_code(base::DType dtype) noexcept;

// A copy of an array of the host's.
base::Tensor copy_array(const void* data, base::DType dtype, const base::Shape& shape,
                        const char* name);

// The shape that the host gives as an array of at most 4 entries, none negative.
base::Shape read_shape(const int64_t* shape, int32_t num_dims);

}  // namespace gnnmg::capi
