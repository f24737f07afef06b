#include "io/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>

#include "base/cancel.h"
#include "io/bytes.h"
#include "io/npy_load.h"

namespace gnnmg::io {
namespace {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kNpyHeaderLimit = int64_t{64} << 10;
constexpr int kMaxHeaderDims = 32;                    // NumPy's own limit
constexpr int64_t kPieceOfArray = int64_t{16} << 20;  // bytes read between checks for a cancel

// A parser for exactly one form: a Python dict of descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  void parse(NpyHeader& header) {
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      bool* seen = key == "descr"           ? &has_descr
                   : key == "fortran_order" ? &has_order
                   : key == "shape"         ? &has_shape
                                            : nullptr;
      if (!seen) refuse(base::text("the key '", printable(key), "' is unknown"));
      if (*seen) refuse(base::text("the key '", key, "' occurs twice"));
      *seen = true;
      if (key == "descr")
        parse_descr(header);
      else if (key == "fortran_order")
        header.fortran_order = boolean();
      else
        header.shape = tuple();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) refuse("has surplus text after the dict");
    if (!has_descr || !has_order || !has_shape)
      refuse("lacks one of the keys descr, fortran_order and shape");
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail(Status::kFormat, name_, ": the .npy header, at character ", at_, ": ", what);
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    const bool found = at_ < text_.size() && text_[at_] == c;
    at_ += found;
    return found;
  }
  void expect(char c) {
    if (!accept(c)) refuse(base::text("expected '", c, "'"));
  }
  bool accept_word(std::string_view word) {
    skip_blanks();
    const bool found = text_.substr(at_).starts_with(word);
    if (found) at_ += word.size();
    return found;
  }
  std::string_view quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const size_t end = text_.find(quote, at_);
    if (end == text_.npos) refuse("a string has no end");
    const std::string_view value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    refuse("expected True or False");
  }
  int64_t number() {
    skip_blanks();
    int64_t value = 0;
    const size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[at_] - '0', &value))
        refuse("a size does not fit 64 bits");
    if (at_ == begin) refuse("expected a size");
    accept('L');  // Python 2 marked long integers
    return value;
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      if (sizes.size() == kMaxHeaderDims) refuse("the shape has too many dimensions");
      sizes.push_back(number());
      if (accept(',')) continue;
      if (sizes.size() == 1) refuse("the shape is no tuple");  // "(3)" is a number in Python
      expect(')');
      break;
    }
    return sizes;
  }
  void parse_descr(NpyHeader& header) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') refuse("structured types are not supported");
    const std::string_view descr = quoted();
    const auto unsupported = [&] {
      refuse(base::text("the type '", printable(descr),
                        "' is not supported (expected bool, integers, floats of 2, 4 or 8 bytes)"));
    };
    if (descr.size() < 3 || descr.size() > 12) unsupported();
    int32_t size = 0;
    for (const char c : descr.substr(2)) {
      if (c < '0' || c > '9' || size > std::numeric_limits<int32_t>::max() / 100) unsupported();
      size = 10 * size + (c - '0');
    }
    const bool power = size == 1 || size == 2 || size == 4 || size == 8;
    bool ok = false;
    switch (descr[1]) {
      case 'b':
        header.kind = NpyKind::kBool, ok = size == 1;
        break;
      case 'i':
        header.kind = NpyKind::kSigned, ok = power;
        break;
      case 'u':
        header.kind = NpyKind::kUnsigned, ok = power;
        break;
      case 'f':
        header.kind = NpyKind::kFloat, ok = power && size > 1;
        break;
      case 'S':
        header.kind = NpyKind::kBytes, ok = true;
        break;
      case 'U':
        header.kind = NpyKind::kUnicode, ok = true, size *= 4;
        break;
      default:
        break;
    }
    const bool one_byte = size <= 1 || header.kind == NpyKind::kBytes;
    const bool order = descr[0] == '<' || descr[0] == '>' || (descr[0] == '|' && one_byte);
    if (!ok || !order) unsupported();
    header.item_size = size;
    header.big_endian = descr[0] == '>' && !one_byte;
  }

  std::string_view text_, name_;
  size_t at_ = 0;
};

// The library's type for elements of a file, and whether the bytes are the same.
struct Target {
  DType dtype;
  bool same_bytes;  // ignoring the byte order
};

Target target_of(const NpyHeader& header, U2 u2, std::string_view name) {
  const int32_t size = header.item_size;
  switch (header.kind) {
    case NpyKind::kBool:
      return {DType::kBool, true};
    case NpyKind::kSigned:
      return size == 8 ? Target{DType::kI64, true} : Target{DType::kI32, size == 4};
    case NpyKind::kUnsigned:
      if (size == 1) return {DType::kU8, true};
      if (size == 2 && u2 == U2::kBFloat16) return {DType::kBF16, true};
      return size == 2 ? Target{DType::kI32, false} : Target{DType::kI64, false};
    case NpyKind::kFloat:
      return {size == 8 ? DType::kF64 : size == 4 ? DType::kF32 : DType::kF16, true};
    case NpyKind::kBytes:
    case NpyKind::kUnicode:
      break;
  }
  fail(Status::kFormat, name,
       ": holds strings, expected numbers; astype(\"f8\") of NumPy reads "
       "numbers in them, numpy.unique(array, return_inverse=True)[1] "
       "numbers words");
}

base::Shape shape_of(const NpyHeader& header, std::string_view name) {
  if (header.shape.size() > base::kMaxDims)
    fail(Status::kUnsupported, name, ": has ", header.shape.size(), " dimensions, at most ",
         base::kMaxDims, " are supported");
  return base::Shape(header.shape);
}

void swap_bytes(std::span<uint8_t> bytes, int32_t item_size) {
  for (size_t at = 0; at < bytes.size(); at += item_size)
    std::reverse(bytes.begin() + at, bytes.begin() + at + item_size);
}

void check_bools(std::span<const uint8_t> bytes, int64_t first, std::string_view name) {
  const auto bad = std::find_if(bytes.begin(), bytes.end(), [](uint8_t b) { return b > 1; });
  if (bad != bytes.end())
    fail(Status::kFormat, name, ": element ", first + (bad - bytes.begin()), " is a bool of value ",
         *bad, ", expected 0 or 1");
}

template <typename From, typename To>
void widen(std::span<const uint8_t> from, To* to, int64_t first, std::string_view name) {
  const size_t count = from.size() / sizeof(From);
  for (size_t i = 0; i < count; ++i) {
    const auto value = load_little<From>(from, i * sizeof(From));
    if constexpr (sizeof(From) == sizeof(To))
      if (value > static_cast<From>(std::numeric_limits<To>::max()))
        fail(Status::kRange, name, ": element ", first + static_cast<int64_t>(i), " is ", value,
             ", beyond 64-bit signed integers");
    to[i] = static_cast<To>(value);  // NOLINT(bugprone-signed-char-misuse): numbers, no characters
  }
}

// Copies elements `first`... of the file, in native byte order, to their place in `out`.
void widen_piece(const NpyHeader& header, std::span<const uint8_t> from, Tensor& out, int64_t first,
                 std::string_view name) {
  if (header.kind == NpyKind::kSigned) {
    int32_t* to = out.as<int32_t>().data() + first;
    return header.item_size == 1 ? widen<int8_t>(from, to, first, name)
                                 : widen<int16_t>(from, to, first, name);
  }
  if (header.item_size == 2)
    return widen<uint16_t>(from, out.as<int32_t>().data() + first, first, name);
  int64_t* to = out.as<int64_t>().data() + first;
  return header.item_size == 4 ? widen<uint32_t>(from, to, first, name)
                               : widen<uint64_t>(from, to, first, name);
}

// Copies an array whose first index varies fastest into one whose last index does.
template <typename T>
void to_row_major(const T* from, T* to, const base::Shape& shape) {
  std::array<int64_t, base::kMaxDims> size{1, 1, 1, 1};
  std::copy_n(shape.dims.begin(), shape.num_dims, size.begin());
  const int64_t step1 = size[0], step2 = step1 * size[1], step3 = step2 * size[2];
  const int64_t row = size[1] * size[2] * size[3];
  base::CancelPoll cancel;
  for (int64_t i = 0; i < size[0]; ++i, cancel.add(row))
    for (int64_t j = 0; j < size[1]; ++j)
      for (int64_t k = 0; k < size[2]; ++k)
        for (int64_t l = 0; l < size[3]; ++l) *to++ = from[i + j * step1 + k * step2 + l * step3];
}

Tensor row_major(const Tensor& from) {
  Tensor to = Tensor::empty(from.dtype(), from.shape());
  if (from.shape().num_elements() == 0) return to;  // other dimensions may be huge
  switch (base::dtype_size(from.dtype())) {
    case 1:
      to_row_major(static_cast<const uint8_t*>(from.data()), static_cast<uint8_t*>(to.data()),
                   from.shape());
      break;
    case 2:
      to_row_major(static_cast<const uint16_t*>(from.data()), static_cast<uint16_t*>(to.data()),
                   from.shape());
      break;
    case 4:
      to_row_major(static_cast<const uint32_t*>(from.data()), static_cast<uint32_t*>(to.data()),
                   from.shape());
      break;
    default:
      to_row_major(static_cast<const uint64_t*>(from.data()), static_cast<uint64_t*>(to.data()),
                   from.shape());
      break;
  }
  return to;
}

bool needs_transpose(const NpyHeader& header) {
  return header.fortran_order && header.shape.size() > 1;
}

NpyHeader read_header(const base::File& file) {
  std::vector<uint8_t> start(std::min(file.size(), kNpyStart));
  file.read_at(0, start);
  return parse_npy_header(start, file.size(), file.path());
}

Tensor read_npy(const base::File& file, U2 u2) {
  const NpyHeader header = read_header(file);
  int64_t at = header.data_offset;
  return load_npy_data(header, u2, file.path(), [&](std::span<uint8_t> out) {
    file.read_at(at, out);
    at += out.size();
  });
}

}  // namespace

int64_t NpyHeader::num_elements() const {
  int64_t total = 1;
  for (const int64_t size : shape) total = base::checked_mul(total, size, "shape of a .npy file");
  return total;
}

int64_t NpyHeader::num_bytes() const {
  return base::checked_mul(num_elements(), item_size, "size of a .npy file");
}

NpyHeader parse_npy_header(std::span<const uint8_t> start, int64_t file_bytes,
                           std::string_view name) {
  if (start.size() < 10 || !as_text(start).starts_with(kMagic))
    fail(Status::kFormat, name, ": is no .npy file: it does not begin with \\x93NUMPY");
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0)
    fail(Status::kFormat, name, ": has .npy version ", version, ".", int{start[7]},
         ", expected 1.0, 2.0 or 3.0");
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t text_offset = 8 + length_bytes;
  if (start.size() < text_offset) fail(Status::kFormat, name, ": the .npy header is cut");
  const int64_t length =
      version == 1 ? load_little<uint16_t>(start, 8) : load_little<uint32_t>(start, 8);
  if (length > kNpyHeaderLimit)
    fail(Status::kFormat, name, ": the .npy header has ", length, " bytes, at most ",
         kNpyHeaderLimit, " are accepted");
  if (length > static_cast<int64_t>(start.size() - text_offset))
    fail(Status::kFormat, name, ": the .npy header has ", length, " bytes, the file ends before");

  NpyHeader header;
  HeaderParser(as_text(start.subspan(text_offset, length)), name).parse(header);
  header.data_offset = static_cast<int64_t>(text_offset) + length;
  // Dimensions beside a 0 must fit too, in every type that the elements may be widened to.
  int64_t extent = std::max<int64_t>(header.item_size, sizeof(int64_t));
  for (const int64_t size : header.shape)
    extent = base::checked_mul(extent, std::max<int64_t>(size, 1), name);
  const int64_t expected = header.num_bytes();
  if (expected != file_bytes - header.data_offset)
    fail(Status::kFormat, name, ": the header announces ", expected, " bytes of data, found ",
         file_bytes - header.data_offset);
  return header;
}

Tensor load_npy_data(const NpyHeader& header, U2 u2, std::string_view name,
                     const std::function<void(std::span<uint8_t>)>& read) {
  constexpr int64_t kPieceElements = 64 << 10;
  const Target target = target_of(header, u2, name);
  Tensor out = Tensor::empty(target.dtype, shape_of(header, name));
  const int64_t count = header.num_elements();
  if (target.same_bytes) {
    const int64_t size = header.num_bytes();
    for (int64_t at = 0; at < size; at += kPieceOfArray) {
      const std::span bytes(static_cast<uint8_t*>(out.data()) + at,
                            static_cast<size_t>(std::min(size - at, kPieceOfArray)));
      base::check_cancelled();
      read(bytes);
      if (header.big_endian) swap_bytes(bytes, header.item_size);
      if (target.dtype == DType::kBool) check_bools(bytes, at, name);
    }
  } else {
    std::vector<uint8_t> piece(std::min(count, kPieceElements) * header.item_size);
    for (int64_t first = 0; first < count; first += kPieceElements) {
      const auto part =
          std::span(piece).first(std::min(count - first, kPieceElements) * header.item_size);
      base::check_cancelled();
      read(part);
      if (header.big_endian) swap_bytes(part, header.item_size);
      widen_piece(header, part, out, first, name);
    }
  }
  return needs_transpose(header) ? row_major(out) : out;
}

Tensor parse_npy(std::span<const uint8_t> bytes, std::string_view name, U2 u2) {
  const NpyHeader header = parse_npy_header(bytes, static_cast<int64_t>(bytes.size()), name);
  auto rest = bytes.subspan(header.data_offset);
  return load_npy_data(header, u2, name, [&](std::span<uint8_t> out) {
    std::copy_n(rest.begin(), out.size(), out.begin());
    rest = rest.subspan(out.size());
  });
}

Tensor parse_npy(std::span<const uint8_t> header, std::span<const uint8_t> data,
                 std::string_view name) {
  const NpyHeader parsed =
      parse_npy_header(header, static_cast<int64_t>(header.size() + data.size()), name);
  if (parsed.data_offset != static_cast<int64_t>(header.size()))
    fail(Status::kFormat, name, ": the .npy header is of another size than it says");
  return load_npy_data(parsed, U2::kInteger, name, [&](std::span<uint8_t> out) {
    std::copy_n(data.begin(), out.size(), out.begin());
    data = data.subspan(out.size());
  });
}

Tensor read_npy(const std::string& path, U2 u2) { return read_npy(base::File(path), u2); }

Tensor map_npy(const std::string& path, U2 u2) {
  constexpr int64_t kPieceBytes = int64_t{64} << 10;
  const std::shared_ptr<base::MappedFile> mapped = base::MappedFile::open(path);
  const base::File& file = mapped->file();
  const NpyHeader header = read_header(file);
  const Target target = target_of(header, u2, path);
  if (!target.same_bytes || header.big_endian || needs_transpose(header) ||
      header.data_offset % header.item_size != 0)
    return read_npy(file, u2);
  if (target.dtype == DType::kBool) {
    std::vector<uint8_t> piece(std::min(header.num_bytes(), kPieceBytes));
    for (int64_t at = 0; at < header.num_bytes(); at += kPieceBytes) {
      const auto part = std::span(piece).first(std::min(header.num_bytes() - at, kPieceBytes));
      file.read_at(header.data_offset + at, part);
      check_bools(part, at, path);
    }
  }
  const auto data = mapped->bytes().subspan(header.data_offset);
  // Views are not typed const, but the pages are read-only; callers do not write to tensors of a
  // reader.
  return Tensor({const_cast<uint8_t*>(data.data()), target.dtype, shape_of(header, path)}, mapped);
}

std::string npy_header(DType dtype, const base::Shape& shape) {
  constexpr size_t kAlignment = 64, kFixed = 10;
  std::string_view descr;
  switch (dtype) {
    case DType::kF32:
      descr = "<f4";
      break;
    case DType::kF64:
      descr = "<f8";
      break;
    case DType::kF16:
      descr = "<f2";
      break;
    case DType::kBF16:
      descr = "<u2";
      break;
    case DType::kI64:
      descr = "<i8";
      break;
    case DType::kI32:
      descr = "<i4";
      break;
    case DType::kU8:
      descr = "|u1";
      break;
    case DType::kBool:
      descr = "|b1";
      break;
  }
  std::string dict = base::text("{'descr': '", descr, "', 'fortran_order': False, 'shape': (");
  for (int i = 0; i < shape.num_dims; ++i) dict += base::text(i ? ", " : "", shape[i]);
  dict += shape.num_dims == 1 ? ",), }" : "), }";
  const size_t used = kFixed + dict.size() + 1;
  dict.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  dict += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  append_little<uint16_t>(out, static_cast<uint16_t>(dict.size()));
  return out + dict;
}

void write_npy(const std::string& path, const base::TensorView& tensor) {
  base::AtomicFile file(path);
  file.write(npy_header(tensor.dtype, tensor.shape));
  file.write({static_cast<const uint8_t*>(tensor.data), static_cast<size_t>(tensor.num_bytes())});
  file.commit();
}

}  // namespace gnnmg::io
