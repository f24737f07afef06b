#include "base/mapped_tensor.h"

#include "base/file.h"

namespace gnnmg::base {

Tensor in_memory(const Tensor& tensor) {
  const MappedFile* file = MappedFile::of(tensor.owner());
  if (file == nullptr) return tensor;
  const int64_t size = tensor.view().num_bytes();
  const int64_t begin =
      size == 0 ? 0 : static_cast<const uint8_t*>(tensor.data()) - file->bytes().data();
  const std::shared_ptr<void> copy = file->shared_copy("tensor", begin, size, [&] {
    const auto made = std::make_shared<Tensor>(Tensor::empty(tensor.dtype(), tensor.shape()));
    file->file().read_at(begin, {static_cast<uint8_t*>(made->data()), static_cast<size_t>(size)});
    return made;
  });
  TensorView view = tensor.view();
  view.data = static_cast<const Tensor*>(copy.get())->data();
  return {view, copy};
}

}  // namespace gnnmg::base
