#include "capi/torch_tensor.h"

#include "nn/torch_tensor.h"

namespace gnnmg::capi {

Export export_torch(const at::Tensor& tensor, bool read_only) {
  auto kept = std::make_shared<at::Tensor>(tensor.detach().contiguous());
  const base::TensorView view{kept->data_ptr(), nn::dtype_of(*kept), nn::shape_of(*kept)};
  return export_tensor(view, std::move(kept), read_only);
}

}  // namespace gnnmg::capi
