#include "io/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <limits>

#include "io/damage.h"
#include "io/files.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using base::DType;
using base::Shape;
using base::Status;
using base::Tensor;
using io::as_bytes;
using io::NpyHeader;
using io::NpyKind;

Tensor parse(std::string_view bytes, io::U2 u2 = io::U2::kInteger) {
  return io::parse_npy(as_bytes(bytes), "a.npy", u2);
}

template <typename T>
std::vector<T> values(const Tensor& tensor) {
  const std::span<T> span = tensor.as<T>();
  return {span.begin(), span.end()};
}

void expect_refused(std::string_view bytes, std::string_view part,
                    Status status = Status::kFormat) {
  expect_error(status, part, [&] { parse(bytes); });
}

TEST(Npy, ReadsTheLibrarysOwnTypes) {
  const Tensor floats = parse(npy("<f4", "(2, 3)", raw<float>({1, 2, 3, 4, 5, 6.5})));
  EXPECT_EQ(floats.dtype(), DType::kF32);
  EXPECT_EQ(floats.shape(), Shape({2, 3}));
  EXPECT_EQ(values<float>(floats), (std::vector<float>{1, 2, 3, 4, 5, 6.5}));
  EXPECT_EQ(values<double>(parse(npy("<f8", "(1,)", raw<double>({.1})))), std::vector<double>{.1});
  EXPECT_EQ(values<int64_t>(parse(npy("<i8", "(2,)", raw<int64_t>({-1, 1ll << 40})))),
            (std::vector<int64_t>{-1, 1ll << 40}));
  EXPECT_EQ(values<int32_t>(parse(npy("<i4", "(1,)", raw<int32_t>({-7})))),
            std::vector<int32_t>{-7});
  EXPECT_EQ(values<uint8_t>(parse(npy("|u1", "(2,)", "\x01\xff"))), (std::vector<uint8_t>{1, 255}));
  EXPECT_EQ(values<bool>(parse(npy("|b1", "(2,)", std::string("\1\0", 2)))),
            (std::vector<bool>{true, false}));
  const Tensor half = parse(npy("<f2", "()", raw<uint16_t>({0x3e00})));
  EXPECT_EQ(half.dtype(), DType::kF16);
  EXPECT_EQ(half.shape().num_dims, 0);
  EXPECT_EQ(base::f16_to_f32(*static_cast<uint16_t*>(half.data())), 1.5f);
}

TEST(Npy, WidensWhatHasNoTwin) {
  const Tensor bytes = parse(npy("|i1", "(2,)", "\x80\x7f"));
  EXPECT_EQ(bytes.dtype(), DType::kI32);
  EXPECT_EQ(values<int32_t>(bytes), (std::vector<int32_t>{-128, 127}));
  EXPECT_EQ(values<int32_t>(parse(npy("<i2", "(2,)", raw<int16_t>({-32768, 5})))),
            (std::vector<int32_t>{-32768, 5}));
  EXPECT_EQ(values<int32_t>(parse(npy("<u2", "(1,)", raw<uint16_t>({65535})))),
            std::vector<int32_t>{65535});
  EXPECT_EQ(values<int64_t>(parse(npy("<u4", "(1,)", raw<uint32_t>({4294967295u})))),
            std::vector<int64_t>{4294967295});
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(values<int64_t>(parse(npy("<u8", "(1,)", raw<uint64_t>({kMost})))),
            std::vector<int64_t>{std::numeric_limits<int64_t>::max()});
  expect_refused(npy("<u8", "(3,)", raw<uint64_t>({1, 2, kMost + 1})),
                 "element 2 is 9223372036854775808", Status::kRange);
}

TEST(Npy, ReadsMoreThanOnePiece) {
  std::vector<int16_t> many(200'000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int16_t>(i * 7);
  const Tensor tensor = parse(npy(">i2", "(200000,)", raw_big(many)));
  for (size_t i = 0; i < many.size(); ++i) ASSERT_EQ(tensor.as<int32_t>()[i], many[i]);
}

TEST(Npy, TakesTwoByteIntegersForBFloat16WhenAsked) {
  const std::string bytes = npy("<u2", "(1,)", raw<uint16_t>({base::f32_to_bf16(1.5f)}));
  const Tensor tensor = parse(bytes, io::U2::kBFloat16);
  EXPECT_EQ(tensor.dtype(), DType::kBF16);
  EXPECT_EQ(base::bf16_to_f32(*static_cast<uint16_t*>(tensor.data())), 1.5f);
}

TEST(Npy, ConvertsBigEndian) {
  EXPECT_EQ(values<float>(parse(npy(">f4", "(2,)", raw_big<float>({1.5, -2})))),
            (std::vector<float>{1.5, -2}));
  EXPECT_EQ(values<int64_t>(parse(npy(">i8", "(1,)", raw_big<int64_t>({1ll << 40})))),
            std::vector<int64_t>{1ll << 40});
  EXPECT_EQ(values<int64_t>(parse(npy(">u4", "(1,)", raw_big<uint32_t>({1u << 31})))),
            std::vector<int64_t>{1ll << 31});
  EXPECT_EQ(values<uint8_t>(parse(npy(">u1", "(1,)", "\5"))), std::vector<uint8_t>{5});
}

TEST(Npy, ConvertsFortranOrder) {
  // Columns of [[1, 2, 3], [4, 5, 6]], concatenated.
  EXPECT_EQ(values<float>(parse(npy("<f4", "(2, 3)", raw<float>({1, 4, 2, 5, 3, 6}), true))),
            (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values<double>(parse(npy(">f8", "(2, 1, 2)", raw_big<double>({0, 2, 1, 3}), true))),
            (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(values<uint8_t>(parse(npy("|u1", "(2, 2)", "\1\3\2\4", true))),
            (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(values<int32_t>(parse(npy("<i2", "(1, 2, 1, 2)", raw<int16_t>({1, 3, 2, 4}), true))),
            (std::vector<int32_t>{1, 2, 3, 4}));
  const Tensor half = parse(npy("<f2", "(2, 2)", raw<uint16_t>({1, 3, 2, 4}), true));
  EXPECT_EQ(static_cast<uint16_t*>(half.data())[1], 2);
  EXPECT_EQ(values<float>(parse(npy("<f4", "(2,)", raw<float>({1, 2}), true))),
            (std::vector<float>{1, 2}));
}

TEST(Npy, ReadsAllVersions) {
  for (const int version : {1, 2, 3})
    EXPECT_EQ(values<int32_t>(parse(npy("<i4", "(1,)", raw<int32_t>({3}), false, version))),
              std::vector<int32_t>{3});
  expect_refused(npy("<i4", "(1,)", "abcd", false, 4), "version 4.0");
  expect_refused(npy("<i4", "(1,)", "abcd", false, 0), "version 0.0");
}

TEST(Npy, ReadsHeadersInAnyForm) {
  const std::string data = raw<int32_t>({1, 2});
  for (const char* dict : {"{\"descr\":\"<i4\",\"fortran_order\":False,\"shape\":(2,)}",
                           "{ 'shape' : ( 2 , ) , 'fortran_order' : False , 'descr' : '<i4' , }",
                           "{'descr': '<i4', 'fortran_order': False, 'shape': (2L,), }",
                           "{'descr': '<i4',\n\t"
                           "'fortran_order': False, 'shape': (1, 2)}"})
    EXPECT_EQ(parse(npy_with(dict, data)).shape().num_elements(), 2) << dict;
}

TEST(Npy, ReadsNothing) {
  const Tensor tensor = parse(npy("<f4", "(0, 3)", ""));
  EXPECT_EQ(tensor.shape(), Shape({0, 3}));
  EXPECT_EQ(tensor.view().num_bytes(), 0);
  EXPECT_TRUE(tensor.defined());
  EXPECT_EQ(parse(npy("<i2", "(0, 3)", "", true)).shape(), Shape({0, 3}));
}

TEST(Npy, RefusesOtherTypes) {
  for (const char* descr : {"|O", "<c8", "<M8[s]", "<f16", "<i3", "|V8", "<f1", "<b2", "i4", "=i4",
                            "|i4", "<i", "", "<i99999999999", "<U9999999999", "<f44", "<i4 "})
    expect_refused(npy(descr, "(1,)", std::string(16, 'x')), "not supported");
  expect_refused(
      npy_with("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}", "abcd"),
      "structured");
  expect_refused(npy("|S3", "()", "abc"), "holds strings");
  expect_refused(npy("<U1", "()", std::string("a\0\0\0", 4)), "holds strings");
}

TEST(Npy, RefusesOtherHeaders) {
  const std::string data = "abcd";
  const auto refused = [&](std::string_view dict, std::string_view part) {
    expect_refused(npy_with(dict, data), part);
  };
  refused("", "expected '{'");
  refused("[]", "expected '{'");
  refused("{}", "lacks");
  refused("{'descr': '<i4', 'fortran_order': False}", "lacks");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1,)", "expected '}'");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1,)} x", "surplus text");
  refused("{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (1,)}", "twice");
  refused("{'descr': '<i4', 'fortran_order': 0, 'shape': (1,)}", "True or False");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "'x' is unknown");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1)}", "no tuple");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': 1}", "expected '('");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}", "expected a size");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1,,)}", "expected a size");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1 2)}", "no tuple");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1 1)}", "expected ')'");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "64 bits");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (__import__('os'),)}",
          "expected a size");
  refused("{'descr': '<i4', 'fortran_order': False 'shape': (1,)}", "expected '}'");
  refused("{'descr': '<i4", "no end");
  refused("{descr: '<i4'}", "expected '''");
  std::string dims;
  for (int i = 0; i < 40; ++i) dims += "1, ";
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (" + dims + ")}", "too many dim");
}

TEST(Npy, RefusesSizesThatDoNotFitTheFile) {
  expect_refused(npy("<i4", "(3,)", raw<int32_t>({1, 2})), "announces 12 bytes of data, found 8");
  expect_refused(npy("<i4", "(1,)", raw<int32_t>({1, 2})), "announces 4 bytes of data, found 8");
  expect_refused(npy("<i4", "()", ""), "announces 4 bytes");
  expect_refused(npy("<i8", "(4611686018427387904, 4)", "abcd"), "does not fit 64 bits");
  expect_refused(npy("<f4", "(0, 1099511627776, 1099511627776)", ""), "a.npy");
  expect_refused(npy("|u1", "(0, 4611686018427387904)", ""), "does not fit 64 bits");
  expect_refused(npy("<f4", "(1000000000000,)", "abcd"), "announces 4000000000000 bytes");
  expect_refused(npy("<f4", "(1, 1, 1, 1, 1)", "abcd"), "at most 4", Status::kUnsupported);
}

TEST(Npy, RowsWithoutColumnsCostNothing) {
  for (const bool fortran : {false, true}) {
    const Tensor tensor = parse(npy("<f4", "(288230376151711744, 0)", "", fortran));
    EXPECT_EQ(tensor.shape(), Shape({int64_t{1} << 58, 0}));
  }
}

TEST(Npy, RefusesBoolsThatAreNone) {
  expect_refused(npy("|b1", "(3,)", std::string("\0\1\2", 3)), "element 2 is a bool of value 2");
}

TEST(Npy, RefusesHeadersThatDoNotFitTheFile) {
  expect_refused("", "no .npy file");
  expect_refused("\x93NUMPX\1", "no .npy file");
  std::string bytes = npy("<i4", "(1,)", "abcd", false, 2);
  std::string longer = bytes;
  longer[9] = 2;
  expect_refused(longer, "the file ends before");
  longer[10] = 2;
  expect_refused(longer, "at most 65536");
  expect_refused(bytes.substr(0, 11), "the .npy header is cut");
}

TEST(Npy, RefusesEveryBeginning) {
  expect_no_beginning(npy("<f4", "(2,)", raw<float>({1, 2})),
                      [](Bytes bytes) { io::parse_npy(bytes, "a.npy"); });
}

TEST(Npy, SurvivesEveryFlippedByte) {
  for (const bool fortran : {false, true}) {
    const std::string bytes = npy("<i2", "(2, 3)", raw<int16_t>({1, 2, 3, 4, 5, 6}), fortran);
    // Only blanks, the type and the order of the data may change in a header without an error.
    EXPECT_GT(flip_each_byte(bytes, 0, bytes.size() - 12,
                             [](Bytes damaged) { io::parse_npy(damaged, "a.npy"); }),
              300);
  }
}

TEST(Npy, ReadsAndMapsFiles) {
  const TempDir folder;
  const std::string plain = folder.write("plain.npy", npy("<f4", "(2,)", raw<float>({1, 2})));
  const Tensor mapped = io::map_npy(plain);
  EXPECT_EQ(values<float>(mapped), (std::vector<float>{1, 2}));
  EXPECT_EQ(values<float>(io::read_npy(plain)), (std::vector<float>{1, 2}));
  // The view is in the file itself, at the position of the data.
  const auto file = std::static_pointer_cast<base::MappedFile>(mapped.owner());
  EXPECT_EQ(file->path(), plain);
  EXPECT_EQ(static_cast<uint8_t*>(mapped.data()) - file->bytes().data(), 128);

  const std::pair<const char*, std::string> converted[] = {
      {"big.npy", npy(">f4", "(2,)", raw_big<float>({1, 2}))},
      {"fortran.npy", npy("<f4", "(1, 2)", raw<float>({1, 2}), true)},
      {"odd.npy", "\x93NUMPY\1" + std::string("\0\x33\0", 3) +
                      "{'descr':'<f4','fortran_order':False,'shape':(2,)}\n" + raw<float>({1, 2})},
  };
  for (const auto& [name, bytes] : converted) {
    const Tensor tensor = io::map_npy(folder.write(name, bytes));
    EXPECT_EQ(values<float>(tensor), (std::vector<float>{1, 2})) << name;
  }
  const std::string bf16 = folder.write("bf16.npy", npy("<u2", "(1,)", raw<uint16_t>({7})));
  EXPECT_EQ(io::map_npy(bf16, io::U2::kBFloat16).dtype(), DType::kBF16);
  EXPECT_EQ(io::map_npy(bf16).dtype(), DType::kI32);
  expect_error(Status::kFormat, "bool of value 9",
               [&] { io::map_npy(folder.write("bool.npy", npy("|b1", "(1,)", "\x09"))); });
  expect_error(Status::kFormat, "no .npy", [&] { io::map_npy(folder.write("empty.npy", "")); });
  expect_error(Status::kFormat, "no .npy", [&] { io::read_npy(folder.write("empty.npy", "")); });
  expect_error(Status::kNotFound, "none.npy", [&] { io::read_npy(folder.file("none.npy")); });
  expect_error(Status::kNotFound, "none.npy", [&] { io::map_npy(folder.file("none.npy")); });
}

TEST(Npy, WritesWhatItReads) {
  const TempDir folder;
  const std::string path = folder.file("out.npy");
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI64,
                            DType::kI32, DType::kU8, DType::kBool}) {
    for (const Shape& shape :
         {Shape(), Shape({0}), Shape({5}), Shape({2, 3}), Shape({2, 1, 3, 2})}) {
      const Tensor tensor = Tensor::empty(dtype, shape);
      auto* bytes = static_cast<uint8_t*>(tensor.data());
      for (int64_t i = 0; i < tensor.view().num_bytes(); ++i)
        bytes[i] = static_cast<uint8_t>(dtype == DType::kBool ? i % 2 : i * 37);
      io::write_npy(path, tensor.view());
      const Tensor back = io::read_npy(path, io::U2::kBFloat16);
      EXPECT_EQ(back.dtype(), dtype);
      EXPECT_EQ(back.shape(), shape);
      EXPECT_EQ(std::memcmp(back.data(), bytes, tensor.view().num_bytes()), 0);
      const std::string written = slurp(path);
      EXPECT_EQ((written.size() - tensor.view().num_bytes()) % 64, 0u);
      const NpyHeader header =
          io::parse_npy_header(as_bytes(written), static_cast<int64_t>(written.size()), "out.npy");
      EXPECT_EQ(header.num_elements(), shape.num_elements());
      EXPECT_EQ(header.num_bytes(), tensor.view().num_bytes());
    }
  }
}

TEST(Npy, WritesNumPysOwnHeader) {
  EXPECT_EQ(io::npy_header(DType::kF32, {2, 3}),
            std::string("\x93NUMPY\1\0\x76\0", 10) +
                "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" +
                std::string(58, ' ') + "\n");
  EXPECT_NE(io::npy_header(DType::kBool, {7}).find("'|b1'"), std::string::npos);
  EXPECT_NE(io::npy_header(DType::kI64, {7}).find("'shape': (7,), }"), std::string::npos);
  EXPECT_NE(io::npy_header(DType::kI64, {}).find("'shape': (), }"), std::string::npos);
}

}  // namespace
}  // namespace gnnmg::test
