#include <algorithm>
#include <array>
#include <limits>

#include "io/bytes.h"
#include "io/state_file.h"
#include "io/zip_writer.h"

namespace gnnmg::io {
namespace {

using base::DType;

const char* storage_name(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "FloatStorage";
    case DType::kF64:
      return "DoubleStorage";
    case DType::kF16:
      return "HalfStorage";
    case DType::kBF16:
      return "BFloat16Storage";
    case DType::kI64:
      return "LongStorage";
    case DType::kI32:
      return "IntStorage";
    case DType::kU8:
      return "ByteStorage";
    case DType::kBool:
      break;
  }
  return "BoolStorage";
}

// Writes the opcodes of pickle protocol 2 that a state dict takes. Without a memo: a name that
// comes twice is written twice, which is small beside the tensors.
class PickleWriter {
 public:
  PickleWriter() : out_("\x80\x02") {}
  void raw(char opcode) { out_ += opcode; }
  void global(std::string_view module, std::string_view name) {
    out_ += base::text("c", module, "\n", name, "\n");
  }
  void text(std::string_view value) {
    out_ += 'X';
    append_little<uint32_t>(out_, static_cast<uint32_t>(value.size()));
    out_ += value;
  }
  void integer(int64_t value) {
    if (value <= std::numeric_limits<int32_t>::max()) {
      out_ += 'J';
      append_little<int32_t>(out_, static_cast<int32_t>(value));
    } else {
      out_ += '\x8a';  // LONG1 of 8 bytes
      out_ += '\x08';
      append_little<int64_t>(out_, value);
    }
  }
  void sizes(std::span<const int64_t> values) {
    raw('(');
    for (const int64_t value : values) integer(value);
    raw('t');
  }
  void empty_ordered_dict() {
    global("collections", "OrderedDict");
    out_ += ")R";
  }
  void tensor(const base::TensorView& view, std::string_view record) {
    global("torch._utils", "_rebuild_tensor_v2");
    out_ += "((";
    text("storage");
    global("torch", storage_name(view.dtype));
    text(record);
    text("cpu");
    integer(view.shape.num_elements());
    out_ += "tQ";  // the storage's tuple becomes a persistent id
    integer(0);    // its first element
    const int dims = view.shape.num_dims;
    std::array<int64_t, base::kMaxDims> strides{};
    int64_t stride = 1;
    for (int i = dims; i-- > 0; stride *= std::max<int64_t>(view.shape[i], 1)) strides[i] = stride;
    sizes(std::span(view.shape.dims).first(dims));
    sizes(std::span<const int64_t>(strides).first(dims));
    raw('\x89');  // requires no gradient
    empty_ordered_dict();
    out_ += "tR";
  }
  std::string finish() {
    raw('.');
    return std::move(out_);
  }

 private:
  std::string out_;
};

}  // namespace

void write_pth(const std::string& path, const StateFile& state) {
  check_names(state, path);
  PickleWriter pickle;
  pickle.empty_ordered_dict();
  pickle.raw('(');
  int64_t record = 0;
  for (const auto& [name, tensor] : state.tensors) {
    pickle.text(name);
    pickle.tensor(tensor.view(), std::to_string(record++));
  }
  pickle.raw('u');

  base::AtomicFile file(path);
  ZipWriter archive(file);
  archive.add("archive/data.pkl", as_bytes(pickle.finish()));
  archive.add("archive/byteorder", as_bytes("little"));
  record = 0;
  for (const auto& [name, tensor] : state.tensors) {
    const base::TensorView& view = tensor.view();
    archive.add(base::text("archive/data/", record++),
                {static_cast<const uint8_t*>(view.data), static_cast<size_t>(view.num_bytes())});
  }
  archive.add("archive/version", as_bytes("3\n"));
  archive.finish();
  file.commit();
}

}  // namespace gnnmg::io
