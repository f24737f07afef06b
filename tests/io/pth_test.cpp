#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "base/file.h"
#include "io/damage.h"
#include "io/files.h"
#include "io/npy.h"
#include "io/optimizer_pth.h"
#include "io/state_file.h"
#include "io/text.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using namespace std::string_literals;
using base::DType;
using base::Shape;
using base::Status;
using base::Tensor;
using io::as_bytes;
using io::StateFile;

// --- Pickles, opcode by opcode ---

std::string integer(int64_t value) {
  if (value >= 0 && value < 256) return "K"s + static_cast<char>(value);
  return "\x8a\x08" + raw<int64_t>({value});
}
std::string text(const std::string& value) {
  return "X" + raw<uint32_t>({static_cast<uint32_t>(value.size())}) + value;
}
std::string sizes(const std::vector<int64_t>& values) {
  std::string out = "(";
  for (const int64_t value : values) out += integer(value);
  return out + "t";
}
std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
const std::string kOrdered = global("collections", "OrderedDict") + ")R";
const std::string kRebuild = global("torch._utils", "_rebuild_tensor_v2");

std::string storage(const std::string& type, const std::string& key, int64_t count) {
  return "(" + text("storage") + global("torch", type) + text(key) + text("cpu") + integer(count) +
         "tQ";
}
std::string tensor(const std::string& storage, int64_t offset, const std::vector<int64_t>& size,
                   const std::vector<int64_t>& stride) {
  return kRebuild + "(" + storage + integer(offset) + sizes(size) + sizes(stride) + "\x89" +
         kOrdered + "tR";
}
// Six floats under the key 0.
std::string floats(int64_t offset, const std::vector<int64_t>& size,
                   const std::vector<int64_t>& stride) {
  return tensor(storage("FloatStorage", "0", 6), offset, size, stride);
}
// A dict of these keys and values, all opcodes.
std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string out = "}(";
  for (const auto& [key, value] : items) out += text(key) + value;
  return out + "u";
}

TestArchive archive_of(const std::string& value) {
  TestArchive archive;
  archive.entries = {{.name = "model/data.pkl", .content = "\x80\x02" + value + "."},
                     {.name = "model/byteorder", .content = "little"},
                     {.name = "model/data/0", .content = raw<float>({0, 1, 2, 3, 4, 5})},
                     {.name = "model/version", .content = "3\n"}};
  return archive;
}
StateFile parse(const TestArchive& archive, std::string_view path = "") {
  const std::string bytes = archive.build();
  return io::parse_pth(as_bytes(bytes), "a.pth", path);
}
StateFile parse(const std::string& value, std::string_view path = "") {
  return parse(archive_of(value), path);
}
void expect_refused(const std::string& value, std::string_view part,
                    Status status = Status::kFormat, std::string_view path = "") {
  expect_error(status, part, [&] { parse(value, path); });
}
void expect_tensor_refused(const std::string& tensor, std::string_view part,
                           Status status = Status::kFormat) {
  expect_refused(dict({{"w", tensor}}), part, status);
}
std::vector<float> floats_of(const Tensor& tensor) {
  const std::span<float> values = tensor.as<float>();
  return {values.begin(), values.end()};
}

TEST(Pth, FindsTheStateOfAnOptimizer) {
  const TempDir folder;
  const std::string path = folder.file("a.pth");
  const auto found = [&](const std::string& value) {
    folder.write("a.pth", archive_of(value).build());
    return io::find_optimizer_pth(path);
  };
  const std::string model = dict({{"w", floats(0, {6}, {1})}}),
                    optimizer = dict({{"state", "}"}, {"param_groups", "]"}});
  EXPECT_EQ(found(optimizer), "");
  EXPECT_EQ(found(model), "");
  EXPECT_EQ(found(integer(1)), "");
  EXPECT_EQ(found(dict({{"model", model}, {"state", model}, {"lr", integer(1)}})), "");
  EXPECT_EQ(found(dict({{"model", model}, {"the.optimizer", optimizer}})), "the.optimizer");
  const std::string states = "](" + optimizer + "e", several = "](" + optimizer + optimizer + "e";
  EXPECT_EQ(found(dict({{"state_dict", model}, {"optimizer_states", states}})),
            "optimizer_states.0");
  expect_error(Status::kFormat, "optimizer_states.0, optimizer_states.1",
               [&] { found(dict({{"optimizer_states", several}})); });
  folder.write("a.pth", archive_of(dict({{"all", "](N" + model + "e"}})).build());
  EXPECT_EQ(io::read_pth(path, "all.1").tensors.size(), 1u) << "an item of a list";
  expect_error(Status::kNotFound, "nothing at \"all.2\"", [&] { io::read_pth(path, "all.2"); });
  const std::string two = dict({{"generator", optimizer}, {"m", model}, {"critic", optimizer}});
  expect_error(Status::kFormat, "2 states of optimizers, expected one: generator, critic",
               [&] { found(two); });
}

TEST(Pth, ReadsViews) {
  const StateFile state = parse(dict({{"whole", floats(0, {2, 3}, {3, 1})},
                                      {"part", floats(2, {3}, {1})},
                                      {"turned", floats(0, {3, 2}, {1, 3})},
                                      {"column", floats(1, {2}, {3})},
                                      {"repeated", floats(4, {2, 2}, {0, 1})},
                                      {"scalar", floats(5, {}, {})},
                                      {"none", floats(0, {0, 3}, {3, 1})},
                                      {"padded", floats(0, {1, 6, 1}, {77, 1, 99})}}));
  ASSERT_EQ(state.tensors.size(), 8u);
  EXPECT_EQ(state.tensors[0].first, "whole");
  EXPECT_EQ(state.tensors[7].first, "padded");
  EXPECT_EQ(state.find("whole")->shape(), Shape({2, 3}));
  EXPECT_EQ(floats_of(*state.find("part")), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(floats_of(*state.find("turned")), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(floats_of(*state.find("column")), (std::vector<float>{1, 4}));
  EXPECT_EQ(floats_of(*state.find("repeated")), (std::vector<float>{4, 5, 4, 5}));
  EXPECT_EQ(floats_of(*state.find("scalar")), std::vector<float>{5});
  EXPECT_EQ(state.find("none")->shape(), Shape({0, 3}));
  // Packed views share the storage's memory; others are copies.
  const auto at = [&](const char* name) { return state.find(name)->as<float>().data(); };
  EXPECT_EQ(at("part"), at("whole") + 2);
  EXPECT_EQ(at("padded"), at("whole"));
  EXPECT_EQ(state.find("part")->owner(), state.find("whole")->owner());
  EXPECT_NE(state.find("turned")->owner(), state.find("whole")->owner());
}

TEST(Pth, ReadsAllStorageTypes) {
  const struct {
    const char* name;
    int64_t item;
    DType dtype;
  } types[] = {{"FloatStorage", 4, DType::kF32}, {"DoubleStorage", 8, DType::kF64},
               {"HalfStorage", 2, DType::kF16},  {"BFloat16Storage", 2, DType::kBF16},
               {"LongStorage", 8, DType::kI64},  {"IntStorage", 4, DType::kI32},
               {"ShortStorage", 2, DType::kI32}, {"CharStorage", 1, DType::kI32},
               {"ByteStorage", 1, DType::kU8},   {"BoolStorage", 1, DType::kBool}};
  for (const auto& type : types) {
    const int64_t count = 24 / type.item;
    TestArchive archive =
        archive_of(dict({{"w", tensor(storage(type.name, "0", count), 0, {count}, {1})}}));
    archive.entries[2].content = std::string(24, '\1');
    const StateFile state = parse(archive);
    EXPECT_EQ(state.tensors[0].second.dtype(), type.dtype) << type.name;
    EXPECT_EQ(state.tensors[0].second.rows(), count);
  }
  expect_tensor_refused(tensor(storage("ComplexFloatStorage", "0", 3), 0, {3}, {1}),
                        "its storage is no known one but a torch.ComplexFloatStorage");
}

TEST(Pth, ReadsDictsOfAllForms) {
  const std::string w = floats(0, {6}, {1});
  // OrderedDict with torch's own attribute, parameters, torch.Size.
  const std::string ordered =
      kOrdered + "(" + text("w") + w + "u" + "}" + text("_metadata") + kOrdered + "sb";
  EXPECT_EQ(parse(ordered).tensors[0].first, "w");
  const std::string parameter =
      global("torch._utils", "_rebuild_parameter") + "(" + w + "\x88" + kOrdered + "tR";
  EXPECT_EQ(floats_of(parse(dict({{"p", parameter}})).tensors[0].second)[5], 5);
  const std::string size = global("torch", "Size") + "(K\6t\x85R";
  const std::string sized = kRebuild + "(" + storage("FloatStorage", "0", 6) + "K\0"s + size +
                            sizes({1}) + "\x89" + kOrdered + "tR";
  EXPECT_EQ(parse(dict({{"s", sized}})).tensors[0].second.shape(), Shape({6}));
  EXPECT_TRUE(parse("}").tensors.empty());
  // Python 2 keys.
  EXPECT_EQ(parse("}U\1w" + w + "s").tensors[0].first, "w");
}

TEST(Pth, ReadsWhatStandsBelowAPrefixOfKeys) {
  const std::string w = floats(0, {6}, {1});
  const std::string two = dict({{"student.a", w}, {"teacher.a.b", w}, {"student.b", w}});
  const StateFile student = parse(two, "student");
  ASSERT_EQ(student.tensors.size(), 2u);
  EXPECT_EQ(student.tensors[0].first, "a");
  EXPECT_EQ(student.tensors[1].first, "b");
  EXPECT_EQ(parse(two, "teacher.a").tensors[0].first, "b");
  const std::string checkpoint = dict({{"epoch", integer(3)}, {"state_dict", two}});
  for (const char* path : {"state_dict.student", "student"})
    EXPECT_EQ(parse(checkpoint, path).tensors.size(), 2u) << path;
  EXPECT_EQ(parse(dict({{"module.a", w}})).tensors[0].first, "module.a");
  for (const char* path : {"studen", "student.a", "state_dict.teacher.b"})
    expect_refused(checkpoint, "has nothing at", Status::kNotFound, path);
}

TEST(Pth, FindsTheOnlyDictOfTensorsOnTheFirstLevelThatHasAny) {
  const std::string model = dict({{"w", floats(0, {6}, {1})}});
  const std::string optimizer =
      dict({{"state", "}K\0"s + dict({{"step", floats(0, {}, {})}}) + "s"}, {"param_groups", "]"}});
  const std::string deep =
      dict({{"meta", dict({{"epoch", integer(1)}})},
            {"run", dict({{"optimizer", optimizer}, {"net", dict({{"state", model}})}})}});
  EXPECT_EQ(parse(deep).tensors[0].first, "w");
  expect_refused(dict({{"a", dict({{"m", model}})}, {"b", dict({{"m", model}})}}),
                 "holds 2 dicts of tensors, say which: a.m, b.m");
  EXPECT_EQ(parse(dict({{"a", dict({{"m", model}})}, {"b", model}})).tensors[0].first, "w");
}

TEST(StateFile, FormatIsKnownByTheFirstBytes) {
  const TempDir folder;
  const std::string zip = archive_of(dict({{"w", floats(0, {6}, {1})}})).build();
  EXPECT_EQ(io::state_format(folder.write("plain.safetensors", zip)), io::StateFormat::kPth);
  EXPECT_EQ(io::state_format(folder.write("old.bin", "\x80\x02\x8a\x0a"s)), io::StateFormat::kPth);
  const std::string path = folder.file("model.pth.tar");
  io::write_safetensors(path, parse(dict({{"w", floats(0, {6}, {1})}})));
  EXPECT_EQ(io::state_format(path), io::StateFormat::kSafetensors);
  // Headers whose length begins like a pickle or a zip.
  for (const char* length : {"\x80", "PK"}) {
    const std::string bytes = length + std::string(8 - strlen(length), '\0') + "{\"w\":";
    EXPECT_EQ(io::state_format(folder.write("m", bytes)), io::StateFormat::kSafetensors);
  }
  const auto refused = [&](const std::string& bytes, const char* part) {
    const std::string file = folder.write("other.pt", bytes);
    expect_error(Status::kFormat, part, [&] { io::state_format(file); });
  };
  refused("", "is empty");
  refused("version https://git-lfs.github.com/spec/v1", "not fetched, expected a file of torch");
  refused("version https://git-lfs.github.com/spec/v1", "run git lfs pull");
  refused("/annex/objects/SHA256E-s1", "run git annex get");
  for (const char* page : {"<!DOCTYPE html>", "\n <html lang=en>", "<!doctype HTML>", "<HTML>"})
    refused(page, "is an HTML page");
  refused("<?xml version=\"1.0\"?><Error>", "in place of a file, expected");
  refused("\x1f\x8b\x08", "is compressed by gzip, expected a file of torch.save()");
  refused("\x1f\x8b\x08", "decompress it");
  refused("BZh91AY&SY\0"s, "is compressed by bzip2");
  refused("\xfd\x37zXZ\0"s, "is compressed by xz");
  refused("\x28\xb5\x2f\xfd", "is compressed by Zstandard");
  refused("\x93NUMPY\1", "is one NumPy array");
  refused("\x89HDF\r\n\x1a\n", "is an HDF5 file");
  refused("\x89HDF\r\n\x1a\n", "write the weights as a dict of tensors with torch.save()");
  refused("{\n \"metadata\": {},\n \"weight_map\": {", "weights in several files (.index.json)");
  refused("{\"wei{ght_map\": 1", "is a JSON file");
  refused("{\"12345{\": 1", "is a JSON file");
  refused("text", "begins with \"text\", expected a file of torch.save()");
  expect_error(Status::kNotFound, "none", [&] { io::state_format(folder.file("none")); });
}

TEST(Pth, FindsNestedDicts) {
  const std::string w = floats(0, {6}, {1});
  const std::string model = dict({{"w", w}});
  const std::string lr = "G\x3f\xf8\0\0\0\0\0\0"s;
  const std::string checkpoint =
      dict({{"epoch", integer(3)}, {"lr", lr}, {"model", model}, {"log", "]"}});
  EXPECT_EQ(parse(checkpoint).tensors[0].first, "w");
  EXPECT_EQ(parse(checkpoint, "model").tensors[0].first, "w");
  const std::string two =
      dict({{"ema", model}, {"net", dict({{"state.dict", model}})}, {"a,b", model}});
  expect_refused(two, "holds 2 dicts of tensors, say which: ema, a,b");
  EXPECT_EQ(parse(two, "ema").tensors[0].first, "w");
  EXPECT_EQ(parse(two, "net.state.dict").tensors[0].first, "w");  // keys may hold dots
  for (const char* path : {"nothing", "ema.w.x", "net.state", "em", "ema.", ".ema", "module.ema"})
    expect_refused(two, "has nothing at", Status::kNotFound, path);
  expect_refused(two, "no dict of tensors", Status::kFormat, "ema.w");
  expect_refused(checkpoint, "no dict of tensors", Status::kFormat, "epoch");
  const std::string optimizer =
      dict({{"state", "}K\0"s + dict({{"step", floats(0, {}, {})}}) + "s"}, {"param_groups", "]"}});
  EXPECT_EQ(parse(optimizer, "state.0").tensors[0].first, "step");
  expect_refused(optimizer, "holds no dict of tensors");
  expect_refused("]", "holds a list, expected a dict of tensors");
  for (const std::string& items : {model + optimizer + "\x86"s,                       // a tuple
                                   "]("s + model + optimizer + integer(3) + "e"s}) {  // a list
    EXPECT_EQ(parse(items).tensors[0].first, "w");
    EXPECT_EQ(parse(items, "0").tensors[0].first, "w");
  }
  expect_refused(model + model + "\x86"s, "holds 2 dicts of tensors, say which: 0, 1");
  expect_refused(w, "holds a torch._utils._rebuild_tensor_v2, expected a dict of tensors");
  expect_refused("}]K\1s", "holds no dict of tensors");
}

// Values of every kind beside a state's tensors.
std::vector<std::pair<std::string, std::string>> values_of_every_kind() {
  return {{"\x88", "a bool"},
          {integer(3), "an int"},
          {text("x"), "a str"},
          {"]", "a list"},
          {")", "a tuple"},
          {"}", "a dict"},
          {kOrdered, "a dict"},
          {"G\x3f\xf8\0\0\0\0\0\0"s, "a float"},
          {global("torch", "Size") + ")R", "a torch.Size"},
          {global("pathlib", "PosixPath") + text("/a") + "\x85R", "a pathlib.PosixPath"},
          {global("torch", "float32"), "a torch.float32"},
          {"\x8a\x09"s + std::string(9, '\1'), "a builtins.int"}};
}

TEST(Pth, PassesOverAndNamesWhatIsNoTensorAmongTensors) {
  const std::string w = floats(0, {6}, {1});
  for (const auto& [value, kind] : values_of_every_kind()) {
    SCOPED_TRACE(kind);
    const std::string mixed = dict({{"a", w}, {"epoch", value}, {"b", w}});
    const std::vector<std::string> told = {"epoch (" + kind + ")"};
    const auto expect_both = [&](const StateFile& state) {
      ASSERT_EQ(state.tensors.size(), 2u);
      EXPECT_EQ(state.tensors[1].first, "b");
      EXPECT_EQ(floats_of(state.tensors[1].second)[5], 5);
      EXPECT_EQ(state.passed_over, told);
    };
    expect_both(parse(mixed));
    const std::string checkpoint = dict({{"epoch", integer(3)}, {"net", mixed}});
    expect_both(parse(checkpoint));
    expect_both(parse(checkpoint, "net"));
  }
  // Extra state of modules, which may be tensors too, is not a separate state dict.
  const std::string extra = dict({{"amax", w}});
  const StateFile state =
      parse(dict({{"_extra_state", extra}, {"a", w}, {"b._extra_state", extra}, {"b.c", w}}));
  EXPECT_EQ(state.tensors.size(), 2u);
  EXPECT_EQ(state.passed_over,
            (std::vector<std::string>{"_extra_state (a dict)", "b._extra_state (a dict)"}));
  EXPECT_TRUE(parse(dict({{"epoch", integer(3)}, {"net", dict({{"a", w}})}})).passed_over.empty())
      << "beside the state, not in it";
  EXPECT_EQ(parse(dict({{"student.a", w}, {"epoch", integer(3)}}), "student").passed_over.size(),
            1u);
  // None is not reported as a skipped value.
  const StateFile none = parse(dict({{"a", w}, {"b", "N"}}));
  EXPECT_EQ(none.tensors.size(), 1u);
  EXPECT_TRUE(none.passed_over.empty());
  const std::string sgd = "}" + integer(0) + dict({{"momentum_buffer", "N"}}) + "s";
  const std::string optimizer = dict({{"state", sgd}, {"param_groups", "]"}});
  EXPECT_TRUE(parse(optimizer, "state.0").tensors.empty());
  EXPECT_EQ(
      parse(dict({{"schedule", dict({{"last", "N"}})}, {"net", dict({{"a", w}})}})).tensors.size(),
      1u);
  expect_refused(dict({{"epoch", integer(3)}}), "what is at \"epoch\" is an int, which is no dict",
                 Status::kFormat, "epoch");
}

TEST(Pth, TakesTheStateAndNotATensorBesideIt) {
  const std::string w = floats(0, {6}, {1}), loss = floats(3, {}, {});
  const std::string model = dict({{"a", w}, {"b", w}});
  EXPECT_EQ(parse(dict({{"loss", loss}, {"net", model}})).tensors[0].first, "a");
  const std::string mixed = dict({{"a", w}, {"b", w}, {"version", integer(1)}});
  EXPECT_EQ(parse(dict({{"loss", loss}, {"net", mixed}})).tensors[0].first, "a");
  EXPECT_EQ(parse(dict({{"net", model}, {"odd", mixed}})).tensors.size(), 2u) << "of tensors alone";
  const std::string flat = dict({{"a", w}, {"b", w}, {"c", w}, {"e", integer(1)}, {"more", model}});
  EXPECT_EQ(parse(flat).tensors.size(), 3u);
  expect_refused(dict({{"net", mixed}, {"ema", mixed}, {"loss", loss}}),
                 "holds 2 dicts of tensors, say which: net, ema");
}

// Classes, functions and numbers of any library, called, filled, given states: none is run.
TEST(Pth, WhatIsBesideTheStateIsOpaque) {
  const std::string model = dict({{"w", floats(0, {6}, {1})}});
  const std::string kinds[] = {
      global("numpy.core.multiarray", "scalar") + global("numpy", "dtype") + text("f8") +
          "\x89\x88\x87R" + "(" + integer(3) + text("<") + "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff" +
          integer(0) + "tb" + "C\x08\0\0\0\0\0\0\xf0\x3f"s + "\x86R",
      global("argparse", "Namespace") + ")\x81}" + text("lr") + integer(1) + "sb",
      global("collections", "Counter") + "}" + text("a") + integer(1) + "s\x85R",
      global("collections", "deque") + ")N\x86R(" + integer(1) + integer(2) + "e",
      global("collections", "defaultdict") + global("builtins", "list") + "\x85R" + text("k") +
          "]s",
      global("datetime", "datetime") + global("_codecs", "encode") + text("x") + text("latin1") +
          "\x86R\x85R",
      global("builtins", "getattr") + global("enums", "Color") + text("RED") + "\x86R",
      global("functools", "partial") + global("a", "f") + "\x85R" + integer(1) + "\x85R",
      global("a", "Class") + ")}" + text("key") + integer(1) + "s\x92",
      "(" + integer(1) + integer(2) + "\x91",
      // An object whose state has a list that names the object again.
      global("omegaconf", "Node") + ")\x81q\5}" + text("parent") + "]h\5asb",
      global("os", "system") + text("exit 1") + "\x85R"};
  for (const std::string& value : kinds) {
    for (const std::string& whole :
         {dict({{"args", value}, {"net", model}}), dict({{"net", model}, {"args", value}}),
          dict({{"net", model}, {"run", dict({{"args", value}})}})}) {
      const StateFile state = parse(whole);
      ASSERT_EQ(state.tensors.size(), 1u);
      EXPECT_EQ(floats_of(state.tensors[0].second), (std::vector<float>{0, 1, 2, 3, 4, 5}));
      EXPECT_TRUE(state.passed_over.empty());
    }
    EXPECT_EQ(parse(dict({{"w", floats(0, {6}, {1})}, {"args", value}})).tensors.size(), 1u);
  }
  EXPECT_EQ(parse(global("collections", "defaultdict") + global("builtins", "list") + "\x85R" +
                  text("w") + floats(0, {6}, {1}) + "s")
                .tensors.size(),
            1u);
}

std::string array_name(const std::string& name, bool newer) {
  return global(newer ? "numpy._core.multiarray" : "numpy.core.multiarray", name);
}
// NumPy's array [2, 3] of the numbers 0 to 5, as torch.save() writes it in protocol 2.
std::string array_of_six(bool newer = false, const std::string& code = "f4") {
  const std::string minus_one = "J\xff\xff\xff\xff", latin1 = text("latin1");
  const auto encoded = [&](const std::string& bytes) {
    std::string utf8;
    for (const char c : bytes) {
      const auto byte = static_cast<uint8_t>(c);
      if (byte >= 0x80) utf8 += static_cast<char>(0xc0 | byte >> 6);
      utf8 += byte < 0x80 ? c : static_cast<char>(0x80 | (byte & 0x3f));
    }
    return global("_codecs", "encode") + text(utf8) + latin1 + "\x86R";
  };
  return array_name("_reconstruct", newer) + global("numpy", "ndarray") + "K\0\x85"s +
         encoded("b") + "\x87R(" + integer(1) + sizes({2, 3}) + global("numpy", "dtype") +
         text(code) + "\x89\x88\x87R(" + integer(3) + text("<") + "NNN" + minus_one + minus_one +
         integer(0) + "tb\x89" + encoded(raw<float>({0, 1, 2, 3, 4, 5})) + "tb";
}

// {name: array.numpy()}, where no tensor of torch is.
TEST(Pth, ReadsArraysInPlaceOfTensors) {
  for (const bool newer : {false, true}) {
    const std::string array = array_of_six(newer), scalar = array_name("scalar", newer);
    const auto expect_one = [&](const StateFile& state) {
      ASSERT_EQ(state.tensors.size(), 1u);
      EXPECT_EQ(state.tensors[0].first, "w");
      EXPECT_EQ(state.tensors[0].second.shape(), (Shape{2, 3}));
      EXPECT_EQ(floats_of(state.tensors[0].second), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    };
    expect_one(parse(dict({{"w", array}})));
    const std::string net = dict({{"w", array}, {"epoch", integer(3)}});
    expect_one(parse(net));
    EXPECT_EQ(parse(net).passed_over, std::vector<std::string>{"epoch (an int)"});
    expect_one(parse(dict({{"epoch", integer(3)}, {"net", net}})));
    expect_one(parse(dict({{"net", net}, {"ema", net}}), "net"));
    expect_one(parse(dict({{"net.w", array}}), "net"));
    // Arrays beside tensors of torch are other values.
    const std::string w = floats(0, {6}, {1});
    const StateFile beside = parse(dict({{"a", w}, {"mean", array}}));
    EXPECT_EQ(beside.tensors.size(), 1u);
    EXPECT_EQ(beside.passed_over, std::vector<std::string>{"mean (a NumPy array)"});
    EXPECT_EQ(parse(dict({{"net", dict({{"a", w}})}, {"losses", dict({{"train", array}})}}))
                  .tensors[0]
                  .first,
              "a");
  }
  // Arrays of anything but numbers are no tensors.
  expect_refused(dict({{"w", array_of_six(false, "O8")}}), "w (a NumPy array), expected a dict");
  expect_refused(dict({{"w", array_of_six(false, "c8")}}), "w (a NumPy array), expected a dict");
  expect_refused(dict({{"w", array_of_six(false, "f8")}}), "tensor \"w\"");
}

TEST(Pth, RefusesViewsOutsideTheirStorage) {
  expect_tensor_refused(floats(0, {7}, {1}), "reaches element 6 of its storage, which has 6");
  expect_tensor_refused(floats(6, {}, {}), "reaches element 6");
  expect_tensor_refused(floats(1, {2, 3}, {3, 1}), "reaches element 6");
  expect_tensor_refused(floats(0, {2, 2}, {1ll << 62, 1}), "reaches element");
  expect_tensor_refused(floats(0, {3}, {1ll << 62}), "does not fit 64 bits");
  expect_tensor_refused(floats(INT64_MAX, {2}, {1}), "does not fit 64 bits");
  expect_tensor_refused(floats(0, {1ll << 40, 1ll << 40}, {0, 0}), "does not fit 64 bits");
  expect_tensor_refused(floats(-1, {1}, {1}), "offset is no size");
  expect_tensor_refused(floats(0, {-1}, {1}), "size is no size");
  expect_tensor_refused(floats(0, {1}, {-1}), "stride is no size");
  expect_tensor_refused(floats(0, {2, 3}, {1}), "differ in length");
  expect_tensor_refused(floats(0, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}), "5 dimensions",
                        Status::kUnsupported);
  // A view may repeat elements, but must not need gigabytes.
  expect_tensor_refused(floats(0, {1 << 20, 6}, {0, 1}), "more memory than the file accounts for");
}

TEST(Pth, RefusesStoragesThatLie) {
  const auto stored = [](const std::string& storage) { return tensor(storage, 0, {}, {}); };
  expect_tensor_refused(stored(storage("FloatStorage", "0", 5)),
                        "5 elements of 4 bytes, the record \"model/data/0\" 24");
  expect_tensor_refused(stored(storage("DoubleStorage", "0", 6)), "6 elements of 8 bytes");
  expect_tensor_refused(stored(storage("DoubleStorage", "0", 1ll << 61)), "does not fit 64 bits");
  expect_tensor_refused(stored(storage("FloatStorage", "0", -6)), "storage length is no size");
  expect_tensor_refused(stored(storage("FloatStorage", "7", 6)), "has no record \"data/7\"");
  expect_tensor_refused(stored(storage("FloatStorage", "../version", 6)), "has no record");
  expect_tensor_refused(stored("N"), "it has no storage");
  expect_tensor_refused(stored("NQ"), "it has no storage");
  expect_tensor_refused(stored("N\x85Q"), "it has no storage");
  expect_tensor_refused(stored("(" + text("module") + global("torch", "FloatStorage") + text("0") +
                               text("cpu") + integer(6) + "tQ"),
                        "no known one");
  expect_tensor_refused(stored("(" + text("storage") + global("torch", "Size") + text("0") +
                               text("cpu") + integer(6) + "tQ"),
                        "no known one");
  expect_tensor_refused(stored("(" + text("storage") + text("FloatStorage") + text("0") +
                               text("cpu") + integer(6) + "tQ"),
                        "no known one");
  expect_refused(dict({{"a", floats(0, {}, {})}, {"b", stored(storage("IntStorage", "0", 6))}}),
                 "tensor \"b\": shares the storage \"0\" but names another type");
  TestArchive archive = archive_of(dict({{"w", stored(storage("BoolStorage", "0", 24))}}));
  archive.entries[2].content = std::string(7, '\1') + std::string(17, '\2');
  expect_error(Status::kFormat, "element 7 is a bool of value 2", [&] { parse(archive); });
}

TEST(Pth, RefusesTensorsThatAreNone) {
  const std::string good =
      storage("FloatStorage", "0", 6) + "K\0"s + sizes({}) + sizes({}) + "\x89";
  expect_tensor_refused(kRebuild + "(" + good + "tR", "has 5 arguments, expected 6");
  expect_tensor_refused(kRebuild + "(" + good + kOrdered + "NtR", "has 7 arguments");
  expect_tensor_refused(kRebuild + "(" + good + "NtR", "has hooks");
  expect_tensor_refused(kRebuild + "(" + good + kOrdered + "K\1K\2stR", "has hooks");
  expect_tensor_refused(global("torch._utils", "_rebuild_parameter") + "(N\x88" + kOrdered + "tR",
                        "is no tensor");
  expect_tensor_refused(kRebuild + "(" + storage("FloatStorage", "0", 6) + "K\0]"s + sizes({}) +
                            "\x89" + kOrdered + "tR",
                        "size is no tuple");
  expect_refused("}K\1" + floats(0, {}, {}) + "s", "no text");
  expect_refused("}U\1\xff" + floats(0, {}, {}) + "s", "no text");
  const std::string w = floats(0, {}, {});
  expect_refused(dict({{"a", w}, {"a", w}}), "the key \"a\" occurs twice");
}

TEST(Pth, RunsNothing) {
  expect_refused(global("os", "system") + text("exit 1") + "\x85R",
                 "holds an os.system, expected a dict of tensors");
  expect_refused(global("torch_geometric.nn", "GraphSAGE") + ")\x81}b",
                 "torch.save(model.state_dict(), path)");
  expect_refused(dict({{"net", global("__main__", "Net") + ")\x81}b"}, {"epoch", integer(1)}}),
                 "holds no dict of tensors, but net (a __main__.Net), epoch (an int), expected");
  // In a tensor every name must be known.
  const std::string w = floats(0, {6}, {1});
  for (const char* name : {"_rebuild_sparse_tensor", "_rebuild_qtensor", "_rebuild_tensor_v3"})
    expect_refused(dict({{"w", global("torch._utils", name) + ")R"}, {"b", w}}),
                   base::text("tensor \"w\": is a torch._utils.", name,
                              ", which is not supported: save a plain dense tensor"));
  expect_refused(dict({{"w", global("torch._tensor", "_rebuild_from_type_v2") + ")R"}}),
                 "_rebuild_from_type_v2, which is not supported");
  const std::string good = storage("FloatStorage", "0", 6) + integer(0);
  const std::string evil = global("os", "system") + text("exit 1") + "\x85R";
  const auto made = [&](const std::string& stored, const std::string& size) {
    return kRebuild + "(" + stored + size + sizes({1}) + "\x89" + kOrdered + "tR";
  };
  expect_tensor_refused(made(good, evil), "its size is no tuple");
  expect_tensor_refused(made(evil + integer(0), sizes({6})),
                        "its storage is an os.system, expected");
  expect_tensor_refused(made("(" + text("storage") + global("os", "system") + text("0") +
                                 text("cpu") + integer(6) + "tQ" + integer(0),
                             sizes({6})),
                        "its storage is no known one but an os.system");
}

TEST(Pth, NamesOtherArchives) {
  TestArchive arrays;
  arrays.entries = {{.name = "w.npy", .content = "x"}, {.name = "b.npy", .content = "x"}};
  expect_error(Status::kFormat, "NumPy's arrays (.npz), expected a file of torch.save(): write",
               [&] { parse(arrays); });
  TestArchive script = archive_of("}");
  script.entries.push_back({.name = "model/constants.pkl", .content = "x"});
  expect_error(Status::kFormat, "TorchScript (torch.jit.save)", [&] { parse(script); });
}

TEST(Pth, RefusesOtherArchives) {
  const std::string value = dict({{"w", floats(0, {6}, {1})}});
  const auto refused = [&](std::string_view part, const auto& change,
                           Status status = Status::kFormat) {
    TestArchive archive = archive_of(value);
    change(archive.entries);
    expect_error(status, part, [&] { parse(archive); });
  };
  using Entries = std::vector<TestEntry>;
  refused("outside the one folder", [](Entries& e) { e[3].name = "other/version"; });
  refused("outside the one folder", [](Entries& e) { e[3].name = "version"; });
  refused("no record \"data.pkl\"", [](Entries& e) { e[0].name = "model/deep/data.pkl"; });
  refused("no record \"data.pkl\"", [](Entries& e) { e.clear(); });
  refused("no record \"version\"", [](Entries& e) { e.pop_back(); });
  refused("no number", [](Entries& e) { e[3].content = "three"; });
  refused("no number", [](Entries& e) { e[3].content = ""; });
  refused("too long", [](Entries& e) { e[3].content = std::string(65, '3'); });
  refused("newest known is 10", [](Entries& e) { e[3].content = "11\n"; }, Status::kVersion);
  refused("byte order \"big\"", [](Entries& e) { e[1].content = "big"; }, Status::kUnsupported);
  refused("its CRC is", [](Entries& e) { e[2].crc = 1; }, Status::kChecksum);
  refused("its CRC is", [](Entries& e) { e[0].crc = 1; }, Status::kChecksum);
  TestArchive plain = archive_of(value);
  plain.entries.erase(plain.entries.begin() + 1);  // older files do not say their byte order
  plain.entries[0].deflate = plain.entries[1].deflate = true;
  EXPECT_EQ(parse(plain).tensors.size(), 1u);
  expect_error(Status::kFormat, "no zip archive", [] { io::parse_pth(as_bytes("text"), "a.pth"); });
  expect_error(Status::kFormat, "no zip archive", [] { io::parse_pth({}, "a.pth"); });
}

TEST(Pth, RefusesEveryBeginningAndEveryFlippedBit) {
  const std::string bytes =
      archive_of(dict({{"w", floats(0, {2, 3}, {3, 1})}, {"b", floats(1, {2}, {3})}})).build();
  const auto read = [](Bytes damaged) { io::parse_pth(damaged, "a.pth"); };
  expect_no_beginning(bytes, read);
  EXPECT_GT(flip_each_byte(bytes, 0, bytes.size(), read), 1500);
}

TEST(Pth, WritesWhatItReads) {
  const TempDir folder;
  const std::string path = folder.file("a.pth");
  StateFile state;
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI64,
                            DType::kI32, DType::kU8, DType::kBool})
    for (const Shape& shape :
         {Shape(), Shape({0}), Shape({300}), Shape({2, 3}), Shape({2, 1, 3, 2})}) {
      Tensor tensor = Tensor::empty(dtype, shape);
      for (int64_t i = 0; i < tensor.view().num_bytes(); ++i)
        static_cast<uint8_t*>(tensor.data())[i] =
            static_cast<uint8_t>(dtype == DType::kBool ? i % 2 : i * 31);
      state.tensors.emplace_back(
          base::text(base::dtype_name(dtype), ".\xc3\xa9", shape.to_string()), tensor);
    }
  io::write_pth(path, state);
  const StateFile back = io::read_pth(path);
  ASSERT_EQ(back.tensors.size(), state.tensors.size());
  for (size_t i = 0; i < state.tensors.size(); ++i) {
    const auto& [name, expected] = state.tensors[i];
    const auto& [found_name, found] = back.tensors[i];
    EXPECT_EQ(found_name, name);
    EXPECT_EQ(found.dtype(), expected.dtype());
    EXPECT_EQ(found.shape(), expected.shape());
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), expected.view().num_bytes()), 0);
  }
  io::write_pth(folder.file("b.pth"), back);
  EXPECT_EQ(slurp(folder.file("b.pth")), slurp(path));
  io::write_pth(path, {});
  EXPECT_TRUE(io::read_pth(path).tensors.empty());
  expect_error(Status::kInvalidArgument, "undefined",
               [&] { io::write_pth(path, {.tensors = {{"a", Tensor()}}, .metadata = {}}); });
}

// Values of `tensor`, whatever its type, as f64.
std::vector<double> widened(const Tensor& tensor) {
  std::vector<double> out;
  const auto take = [&](auto values) { out.assign(values.begin(), values.end()); };
  switch (tensor.dtype()) {
    case DType::kF32:
      take(tensor.as<float>());
      break;
    case DType::kF64:
      take(tensor.as<double>());
      break;
    case DType::kI64:
      take(tensor.as<int64_t>());
      break;
    case DType::kI32:
      take(tensor.as<int32_t>());
      break;
    case DType::kU8:
      take(tensor.as<uint8_t>());
      break;
    case DType::kBool:
      take(tensor.as<bool>());
      break;
    default:
      for (int64_t i = 0; i < tensor.shape().num_elements(); ++i) {
        const uint16_t bits = static_cast<uint16_t*>(tensor.data())[i];
        out.push_back(tensor.dtype() == DType::kF16 ? base::f16_to_f32(bits)
                                                    : base::bf16_to_f32(bits));
      }
  }
  return out;
}

TEST(Pth, KeepsMetadataInRecordsOfTheirOwn) {
  const TempDir folder;
  StateFile state;
  state.tensors.emplace_back("weight", Tensor::zeros(DType::kF32, {2}));
  io::write_pth(folder.file("plain.pth"), state);
  EXPECT_TRUE(io::read_pth(folder.file("plain.pth")).metadata.empty());
  state.metadata = {{"gnnmg", "{}"}, {"by", "test"}};
  io::write_pth(folder.file("a.pth"), state);
  EXPECT_EQ(io::read_pth(folder.file("a.pth")).metadata, state.metadata);
  EXPECT_NE(slurp(folder.file("a.pth")).find("archive/extra/gnnmg"), std::string::npos);
  state.metadata["large"] = std::string(17 << 20, ' ');
  io::write_pth(folder.file("large.pth"), state);
  try {
    io::read_pth(folder.file("large.pth"));
    FAIL() << "17 MiB of metadata";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), Status::kFormat);
    EXPECT_NE(std::string(error.what()).find("records \"extra/...\" have more than 16777216"),
              std::string::npos)
        << error.what();
  }
}

TEST(Pth, ReadsTheFormatCases) {
  GNNMG_NEEDS_DATA("parity/format/index.tsv");
  const std::string folder = data_path("parity/format");
  io::LineReader index(io::ByteSource::open(folder + "/index.tsv"));
  std::vector<std::string_view> fields;
  std::string_view line;
  index.next(line);  // the names of the columns
  int64_t accepted = 0, refused = 0;
  while (index.next(line)) {
    io::split_fields(line, '\t', fields);
    const std::string path = base::join_path(folder, fields[0]);
    if (fields[0] == "legacy.pth") {  // may be refused, but is read
      EXPECT_FALSE(io::read_pth(path).tensors.empty());
      ++accepted;
      continue;
    }
    if (fields[1] == "refuse") {
      const auto read = [&] {
        path.ends_with(".pth") ? io::read_pth(path) : io::read_safetensors(path);
      };
      const base::Error error = error_of(read);
      EXPECT_EQ(error.status(), Status::kFormat);
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
      ++refused;
      continue;
    }
    std::vector<StateFile> states = {io::read_pth(path + ".pth")};
    if (base::exists(path + ".safetensors"))
      states.push_back(io::read_safetensors(path + ".safetensors"));
    const io::Npz expected = io::Npz::open(path + ".npz");
    for (const StateFile& state : states) {
      std::set<std::string> names;
      for (const auto& [name, tensor] : state.tensors) {
        const std::string key = fields[0] == "nested" ? "model." + name : name;
        names.insert(key);
        const Tensor values = expected.get(key);
        EXPECT_EQ(tensor.shape(), values.shape()) << path << " " << name;
        EXPECT_EQ(widened(tensor), widened(values)) << path << " " << name;
      }
      const std::vector<std::string> keys = expected.keys();
      EXPECT_EQ(names, std::set<std::string>(keys.begin(), keys.end())) << path;
    }
    ++accepted;
  }
  EXPECT_EQ(accepted, 6);
  EXPECT_EQ(refused, 7);
}

// Every state dict of both frameworks: both formats hold the same tensors, bit for bit.
TEST(Pth, ReadsTheStateDictsOfBothFrameworks) {
  GNNMG_NEEDS_DATA("parity/pyg");
  int64_t compared = 0;
  for (const char* framework : {"parity/pyg", "parity/dgl"}) {
    const std::string folder = data_path(framework);
    for (const std::string& name : base::list_directory(folder)) {
      if (!name.ends_with(".pth")) continue;
      const std::string path = base::join_path(folder, name);
      if (name.ends_with(".opt.pth")) {
        EXPECT_GE(io::read_pth(path, "state.0").tensors.size(), 1u) << path;
        continue;
      }
      const StateFile pth = io::read_pth(path);
      EXPECT_FALSE(pth.tensors.empty());
      const std::string twin = path.substr(0, path.size() - 3) + "safetensors";
      if (!base::exists(twin)) continue;
      const StateFile plain = io::read_safetensors(twin);
      EXPECT_EQ(pth.tensors.size(), plain.tensors.size()) << path;
      for (const auto& [key, tensor] : pth.tensors) {
        const Tensor* other = plain.find(key);
        ASSERT_NE(other, nullptr) << path << " " << key;
        ASSERT_EQ(tensor.dtype(), other->dtype());
        ASSERT_EQ(tensor.shape(), other->shape());
        EXPECT_EQ(std::memcmp(tensor.data(), other->data(), tensor.view().num_bytes()), 0);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 900);
}

}  // namespace
}  // namespace gnnmg::test
