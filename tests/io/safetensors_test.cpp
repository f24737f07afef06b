#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "io/damage.h"
#include "io/files.h"
#include "io/state_file.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using base::DType;
using base::Shape;
using base::Status;
using base::Tensor;
using io::as_bytes;
using io::StateFile;
using namespace std::string_literals;

std::string file_of(const std::string& header, const std::string& data = "") {
  return raw<uint64_t>({header.size()}) + header + data;
}
StateFile parse(const std::string& bytes) {
  return io::parse_safetensors(as_bytes(bytes), "a.safetensors");
}
void expect_refused(const std::string& bytes, std::string_view part,
                    Status status = Status::kFormat) {
  expect_error(status, part, [&] { parse(bytes); });
}
// One tensor of the given fields over `data`.
void expect_entry_refused(const std::string& fields, std::string_view part,
                          const std::string& data = "12345678") {
  expect_refused(file_of("{\"a\":{" + fields + "}}", data), part);
}

const char kTwo[] = R"({"__metadata__":{"format":"pt","by":"hand"},)"
                    R"("b":{"shape":[2],"data_offsets":[0,8],"dtype":"F32"},)"
                    R"("a":{"dtype":"I64","shape":[],"data_offsets":[8,16]}})";
const std::string kTwoData = raw<float>({1.5, 2}) + raw<int64_t>({-3});

TEST(Safetensors, ReadsTensorsByName) {
  const StateFile state = parse(file_of(kTwo, kTwoData));
  ASSERT_EQ(state.tensors.size(), 2u);
  EXPECT_EQ(state.tensors[0].first, "a");
  EXPECT_EQ(state.find("a")->shape(), Shape());
  EXPECT_EQ(state.find("a")->as<int64_t>()[0], -3);
  EXPECT_EQ(state.find("b")->as<float>()[0], 1.5f);
  EXPECT_EQ(state.find("c"), nullptr);
  EXPECT_EQ(state.metadata.at("by"), "hand");
  EXPECT_TRUE(parse(file_of("{}")).tensors.empty());
  EXPECT_TRUE(parse(file_of("{}     ")).tensors.empty());
}

TEST(Safetensors, ReadsAllTypes) {
  const struct {
    const char* name;
    std::string data;
    DType dtype;
  } types[] = {{"F64", raw<double>({1}), DType::kF64},   {"F32", raw<float>({1}), DType::kF32},
               {"F16", raw<uint16_t>({1}), DType::kF16}, {"BF16", raw<uint16_t>({1}), DType::kBF16},
               {"I64", raw<int64_t>({1}), DType::kI64},  {"I32", raw<int32_t>({1}), DType::kI32},
               {"I16", raw<int16_t>({1}), DType::kI32},  {"I8", raw<int8_t>({1}), DType::kI32},
               {"U64", raw<uint64_t>({1}), DType::kI64}, {"U32", raw<uint32_t>({1}), DType::kI64},
               {"U16", raw<uint16_t>({1}), DType::kI32}, {"U8", raw<uint8_t>({1}), DType::kU8},
               {"BOOL", raw<uint8_t>({1}), DType::kBool}};
  for (const auto& type : types) {
    const StateFile state =
        parse(file_of(base::text("{\"a\":{\"dtype\":\"", type.name,
                                 "\",\"shape\":[1],\"data_offsets\":[0,", type.data.size(), "]}}"),
                      type.data));
    const Tensor& tensor = state.tensors[0].second;
    EXPECT_EQ(tensor.dtype(), type.dtype) << type.name;
    // The first byte of a 1 is 1 in all integers.
    if (!base::is_floating(type.dtype)) {
      EXPECT_EQ(*static_cast<uint8_t*>(tensor.data()), 1);
    }
  }
  expect_entry_refused(R"("dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8])",
                       "the type \"F8_E4M3\" is not supported");
  expect_refused(file_of(R"({"a":{"dtype":"U64","shape":[1],"data_offsets":[0,8]}})",
                         raw<uint64_t>({~uint64_t{0}})),
                 "tensor \"a\": element 0 is 18446744073709551615", Status::kRange);
  expect_entry_refused(R"("dtype":"BOOL","shape":[8],"data_offsets":[0,8])", "is a bool of value");
}

TEST(Safetensors, RefusesHolesOverlapsAndSurplus) {
  const auto two = [](const char* a, const char* b) {
    return base::text(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)", a,
                      R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)", b, "}}");
  };
  EXPECT_EQ(parse(file_of(two("[4,8]", "[0,4]"), "12345678")).tensors.size(), 2u);
  expect_refused(file_of(two("[0,4]", "[5,9]"), "123456789"), "a hole");
  expect_refused(file_of(two("[0,4]", "[0,4]"), "12345678"), "an overlap");
  expect_refused(file_of(two("[0,4]", "[3,7]"), "12345678"), "an overlap");
  expect_refused(file_of(two("[0,4]", "[4,8]"), "123456789"), "1 surplus bytes");
  expect_refused(file_of(two("[0,4]", "[4,8]"), "1234567"), "ends at byte 8 of the data");
  expect_refused(file_of(two("[1,5]", "[5,9]"), "123456789"), "a hole");
}

TEST(Safetensors, RefusesRangesThatDoNotFitTheShape) {
  expect_entry_refused(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])", "expected 12 bytes");
  expect_entry_refused(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])", "begins at byte 8");
  expect_entry_refused(R"("dtype":"F32","shape":[2],"data_offsets":[0,-8])", "negative");
  expect_entry_refused(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8])",
                       "does not fit 64 bits");
  expect_entry_refused(R"("dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,8])",
                       "does not fit 64 bits");
  expect_entry_refused(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8])",
                       "63 bits");
  expect_entry_refused(R"("dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,8])",
                       "64-bit integer");
  expect_entry_refused(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])", "64-bit integer");
  expect_refused(file_of(R"({"a":{"dtype":"U8","shape":[1,1,1,1,1],"data_offsets":[0,1]}})", "x"),
                 "more than 4 dimensions", Status::kUnsupported);
}

TEST(Safetensors, RefusesOtherHeaders) {
  for (const char* header : {"", "[]", "1", "null", "true", "\"a\"", "1.5", "-1"})
    expect_refused(file_of(header), "header");
  const auto refused = [](const std::string& header, std::string_view part) {
    expect_refused(file_of(header), part);
  };
  refused("{", "not valid JSON");
  refused("{} x", "not valid JSON");
  refused("{}"s + '\0', "NUL");
  refused(R"({"a":1})", "a number is not expected");
  refused(R"({"a":[]})", "a list is not expected");
  refused(R"({"a":"x"})", "a text is not expected");
  refused(R"({"a":null})", "null");
  refused(R"({"a":{}})", "lacks one of");
  refused(R"({"__metadata__":{"a":1}})", "a number is not expected");
  refused(R"({"__metadata__":{"a":{}}})", "an object is not expected");
  refused(R"({"__metadata__":{"a":"x","a":"y"}})", "occurs twice");
  refused(R"({"__metadata__":{},"__metadata__":{}})", "metadata occur twice");
  refused(R"({"__metadata__":[]})", "a list is not expected");
  const std::string empty = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(parse(file_of("{\"a\":" + empty + "}")).tensors.size(), 1u);
  refused("{\"a\":" + empty + ",\"a\":" + empty + "}", "the tensor \"a\" twice");
}

TEST(Safetensors, RefusesOtherEntries) {
  expect_entry_refused(R"("dtype":"U8","shape":[8],"data_offsets":[0])", "not two numbers");
  expect_entry_refused(R"("dtype":"U8","shape":[8],"data_offsets":[0,8,8])", "not expected");
  expect_entry_refused(R"("dtype":"U8","shape":[[8]],"data_offsets":[0,8])", "a list is not");
  expect_entry_refused(R"("dtype":"U8","shape":["8"],"data_offsets":[0,8])", "a text is not");
  expect_entry_refused(R"("dtype":8,"shape":[8],"data_offsets":[0,8])", "a number is not");
  expect_entry_refused(R"("dtype":["U8"],"shape":[8],"data_offsets":[0,8])", "a list is not");
  expect_entry_refused(R"("dtype":"U8","shape":[true],"data_offsets":[0,8])", "true or false");
  expect_entry_refused(R"("dtype":"U8","shape":[8],"data_offsets":[0,8],"x":1)",
                       "\"x\" is unknown");
  expect_entry_refused(R"("dtype":"U8","dtype":"U8","shape":[8],"data_offsets":[0,8])", "twice");
  expect_entry_refused(R"("dtype":"U8","shape":[8])", "lacks one of");
}

TEST(Safetensors, RefusesLengthsBeyondTheFile) {
  expect_refused("", "is cut: it has 0 bytes");
  expect_refused("1234567", "is cut");
  expect_refused(raw<uint64_t>({3}) + "{}", "announces a header of 3 bytes");
  expect_refused(raw<uint64_t>({~uint64_t{0}}) + "{}", "announces");
  expect_refused(raw<uint64_t>({100'000'001}) + "{}", "at most 100000000");
}

TEST(Safetensors, RefusesEveryBeginning) {
  expect_no_beginning(file_of(kTwo, kTwoData),
                      [](Bytes bytes) { io::parse_safetensors(bytes, "a"); });
}

TEST(Safetensors, SurvivesEveryFlippedByte) {
  const std::string bytes = file_of(kTwo, kTwoData);
  EXPECT_GT(flip_each_byte(bytes, 0, bytes.size() - kTwoData.size(),
                           [](Bytes damaged) { io::parse_safetensors(damaged, "a"); }),
            400);
}

StateFile sample_state() {
  StateFile state;
  state.metadata = {{"format", "pt"}, {"by", "\xc3\xa9\"\n"}};
  state.tensors.emplace_back("small", Tensor::copy_of<uint8_t>(std::vector<uint8_t>{1, 2, 3}));
  state.tensors.emplace_back("w\"\xc3\xa9", Tensor::copy_of<float>(std::vector<float>{1, 2}));
  state.tensors.emplace_back("wide", Tensor::copy_of<double>(std::vector<double>{.1}));
  state.tensors.emplace_back("b", Tensor::copy_of<float>(std::vector<float>{3}));
  state.tensors.emplace_back("scalar", Tensor::zeros(DType::kI64, Shape()));
  state.tensors.emplace_back("none", Tensor::zeros(DType::kF16, Shape({0, 3})));
  return state;
}

TEST(Safetensors, WritesWhatItReads) {
  const TempDir folder;
  const std::string path = folder.file("a.safetensors");
  const StateFile state = sample_state();
  io::write_safetensors(path, state);
  const StateFile back = io::read_safetensors(path);
  EXPECT_EQ(back.metadata, state.metadata);
  ASSERT_EQ(back.tensors.size(), state.tensors.size());
  for (const auto& [name, tensor] : state.tensors) {
    const Tensor* found = back.find(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->dtype(), tensor.dtype());
    EXPECT_EQ(found->shape(), tensor.shape());
    EXPECT_EQ(std::memcmp(found->data(), tensor.data(), tensor.view().num_bytes()), 0);
  }
  // Wider elements first, then by name; the data begin at a multiple of 8.
  const std::string bytes = slurp(path);
  EXPECT_EQ(io::load_little<uint64_t>(as_bytes(bytes), 0) % 8, 0u);
  std::vector<size_t> places;
  for (const char* name : {"\"scalar\"", "\"wide\"", "\"b\"", "\"w\\\"", "\"none\"", "\"small\""})
    places.push_back(bytes.find(name));
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  EXPECT_LT(places.back(), bytes.size());
  // Equal states give equal bytes.
  io::write_safetensors(folder.file("b.safetensors"), back);
  EXPECT_EQ(slurp(folder.file("b.safetensors")), bytes);
  io::write_safetensors(path, {});
  EXPECT_TRUE(io::read_safetensors(path).tensors.empty());
}

TEST(Safetensors, WritesNothingThatItRefuses) {
  const TempDir folder;
  const std::string path = folder.file("a.safetensors");
  const auto refused = [&](std::string_view part, const StateFile& state) {
    expect_error(Status::kInvalidArgument, part, [&] { io::write_safetensors(path, state); });
  };
  const Tensor tensor = Tensor::zeros(DType::kF32, {1});
  refused("two tensors are named \"a\"",
          {.tensors = {{"a", tensor}, {"a", tensor}}, .metadata = {}});
  refused("not UTF-8", {.tensors = {{"\xff", tensor}}, .metadata = {}});
  refused("undefined", {.tensors = {{"a", Tensor()}}, .metadata = {}});
  refused("__metadata__", {.tensors = {{"__metadata__", tensor}}, .metadata = {}});
  refused("not UTF-8", {.tensors = {}, .metadata = {{"a", "\xff"}}});
  EXPECT_TRUE(folder.list().empty());
}

TEST(Safetensors, ReadsTheFormatCases) {
  GNNMG_NEEDS_DATA("parity/format");
  for (const char* bad : {"bad_hole", "bad_overlap", "bad_size"}) {
    const std::string path = data_path(base::text("parity/format/", bad, ".safetensors"));
    expect_error(Status::kFormat, path, [&] { io::read_safetensors(path); });
  }
  EXPECT_EQ(io::read_safetensors(data_path("parity/format/dtypes.safetensors")).tensors.size(),
            10u);
  expect_error(Status::kNotFound, "none", [] { io::read_safetensors("/none.safetensors"); });
}

}  // namespace
}  // namespace gnnmg::test
