// DLPack in and out: tensors that the library keeps, tensors that it looks at during a call, and
// tensors that it hands out.
#pragma once

#include <memory>
#include <utility>

#include "base/host_queue.h"
#include "base/tensor.h"
#include "capi/devices.h"
#include "capi/dlpack.h"
#include "gnnmg.h"

namespace gnnmg::capi {

// The memory of a tensor of the host's, for the length of a call. Error(kUnsupported) for a device,
// type or layout that is not taken, kInvalidArgument for NULL or a broken struct.
base::TensorView borrow_tensor(const DLManagedTensorVersioned* tensor, const char* name);

// Memory that may be a GPU's.
struct PlacedView {
  base::TensorView view;
  int device = kOnHost;  // number of the GPU
  static constexpr int kOnHost = -1;
};
// Like borrow_tensor(), for a tensor in main memory or on one of these GPUs: Error(kNotFound) for a
// GPU that is not there.
PlacedView borrow_placed(const Devices& devices, const DLManagedTensorVersioned* tensor,
                         const char* name);
// The same for a tensor that is to be written; a read-only one is refused.
PlacedView borrow_writable(const Devices& devices, DLManagedTensorVersioned* tensor,
                           const char* name);
// A copy in main memory.
base::Tensor copy_to_host(const Devices& devices, const PlacedView& from, const char* name);
// Copies elements of equal type and number, wherever they lie, and waits for that.
void copy_placed(const Devices& devices, const PlacedView& to, const PlacedView& from);

// A tensor of the host's that the library keeps if all goes well: until accept() it stays the
// host's; afterwards its deleter runs, on a host thread, when the last share goes.
class Import {
 public:
  Import(DLManagedTensorVersioned* tensor, const char* name,
         std::shared_ptr<base::HostQueue> queue);
  const base::Tensor& tensor() const { return tensor_; }
  void accept() noexcept;

 private:
  struct Foreign;
  std::shared_ptr<Foreign> foreign_;
  base::Tensor tensor_;
};

struct ExportDeleter {
  void operator()(DLManagedTensorVersioned* tensor) const noexcept;
};
using Export = std::unique_ptr<DLManagedTensorVersioned, ExportDeleter>;

// A tensor over `view`; `owner` is kept until the host deletes it. `device`: the GPU that the
// memory lies on.
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

// The shape that the host gives as an array; `least_dims` to 4 entries, none negative.
base::Shape read_shape(const int64_t* shape, int32_t num_dims, int32_t least_dims);

}  // namespace gnnmg::capi
