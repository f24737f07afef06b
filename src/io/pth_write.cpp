#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <string>

#include "io/bytes.h"
#include "io/optimizer_pth.h"
#include "io/pth_file.h"
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

// Writes the opcodes of pickle protocol 2 that a state dict needs. Without a memo: repeated names
// are written again, which is small compared to the tensors.
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
  void number(double value) {
    raw('G');  // big-endian
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int shift = 56; shift >= 0; shift -= 8) raw(static_cast<char>(bits >> shift & 0xff));
  }
  void option(const OptimizerDict::Option& value) {
    if (const bool* flag = std::get_if<bool>(&value)) {
      raw(*flag ? '\x88' : '\x89');
    } else if (const double* one = std::get_if<double>(&value)) {
      number(*one);
    } else if (const auto* two = std::get_if<std::pair<double, double>>(&value)) {
      number(two->first);
      number(two->second);
      raw('\x86');
    } else {
      raw('N');
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
    integer(0);    // the first element of the storage
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

// The zip of a pickle and the tensors that it refers to by their index in `records`.
void write_archive(const std::string& path, const std::string& pickle,
                   std::span<const base::Tensor* const> records,
                   const std::map<std::string, std::string>& metadata = {}) {
  base::AtomicFile file(path);
  ZipWriter archive(file);
  archive.add("archive/data.pkl", as_bytes(pickle));
  archive.add("archive/byteorder", as_bytes("little"));
  for (size_t i = 0; i < records.size(); ++i) {
    const base::TensorView& view = records[i]->view();
    archive.add(base::text("archive/data/", i),
                {static_cast<const uint8_t*>(view.data), static_cast<size_t>(view.num_bytes())});
  }
  archive.add("archive/version", as_bytes("3\n"));
  for (const auto& [key, value] : metadata)
    archive.add(base::text("archive/", kExtraRecords, key), as_bytes(value));
  archive.finish();
  file.commit();
}

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

  std::vector<const base::Tensor*> records;
  records.reserve(state.tensors.size());
  for (const auto& [name, tensor] : state.tensors) records.push_back(&tensor);
  write_archive(path, pickle.finish(), records, state.metadata);
}

void write_optimizer_pth(const std::string& path, const OptimizerDict& optimizer) {
  PickleWriter pickle;
  std::vector<const base::Tensor*> records;
  pickle.raw('}');
  pickle.raw('(');
  pickle.text("state");
  pickle.raw('}');
  pickle.raw('(');
  for (size_t i = 0; i < optimizer.state.size(); ++i) {
    const StateFile& state = optimizer.state[i];
    check_names(state, path);
    if (state.tensors.empty()) continue;
    pickle.integer(static_cast<int64_t>(i));
    pickle.raw('}');
    pickle.raw('(');
    for (const auto& [name, tensor] : state.tensors) {
      pickle.text(name);
      pickle.tensor(tensor.view(), std::to_string(records.size()));
      records.push_back(&tensor);
    }
    pickle.raw('u');
  }
  pickle.raw('u');
  pickle.text("param_groups");
  pickle.raw(']');
  int64_t number = 0;
  for (const OptimizerDict::Group& group : optimizer.groups) {
    pickle.raw('}');
    pickle.raw('(');
    for (const auto& [name, value] : group.options) {
      pickle.text(name);
      pickle.option(value);
    }
    pickle.text("params");
    pickle.raw(']');
    pickle.raw('(');
    for (size_t i = 0; i < group.count; ++i) pickle.integer(number++);
    pickle.raw('e');
    pickle.raw('u');
    pickle.raw('a');  // appends the group to the list
  }
  pickle.raw('u');
  write_archive(path, pickle.finish(), records);
}

}  // namespace gnnmg::io
