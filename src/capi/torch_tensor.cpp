#include "capi/torch_tensor.h"

#include <ATen/ops/from_blob.h>

#include "nn/torch/tensor.h"

namespace gnnmg::capi {

Export export_torch(const at::Tensor& tensor, bool read_only) {
  auto kept = std::make_shared<at::Tensor>(tensor.detach().contiguous());
  const base::TensorView view{kept->data_ptr(), nn::dtype_of(*kept), nn::shape_of(*kept)};
  const int device = kept->is_cpu() ? PlacedView::kOnHost : kept->device().index();
  return export_tensor(view, std::move(kept), read_only, device);
}

at::Tensor torch_view(const PlacedView& view, at::Device beside) {
  if (view.device == PlacedView::kOnHost) return nn::view_of(view.view);
  const at::Device device(beside.type(), static_cast<at::DeviceIndex>(view.device));
  const base::Shape& shape = view.view.shape;
  std::vector<int64_t> sizes;
  for (int32_t d = 0; d < shape.num_dims; ++d) sizes.push_back(shape[d]);
  return at::for_blob(view.view.data, sizes)
      .options(at::TensorOptions(nn::scalar_type(view.view.dtype)).device(device))
      .target_device(device)
      .make_tensor();
}

}  // namespace gnnmg::capi
