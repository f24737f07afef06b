// The readers' promises about memory: a limit for broken files, and an error for a failed
// allocation.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/damage.h"
#include "io/files.h"
#include "io/json.h"
#include "io/npy.h"
#include "io/pickle.h"
#include "io/state_file.h"
#include "io/text.h"
#include "support/alloc_faults.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using namespace std::string_literals;
using base::Status;
using io::as_bytes;

constexpr int64_t kMiB = 1 << 20;

// The peak memory of `call`, which may throw an Error.
int64_t peak_of(const std::function<void()>& call) {
  const AllocationFaults meter;
  try {
    call();
  } catch (const base::Error&) {
  }
  return meter.peak_bytes();
}

// Every reader of this room, with a valid file for it in `folder`.
struct Reader {
  const char* name;
  std::string bytes;
  std::function<void(const std::string&)> read_file;  // null: reads memory only
  std::function<void(Bytes)> read_memory;
};

std::string small_npz() {
  TestArchive archive;
  const std::pair<const char*, std::string> arrays[] = {
      {"indices.npy", npy("<i8", "(3,)", raw<int64_t>({0, 2, 2}))},
      {"indptr.npy", npy("<i4", "(3,)", raw<int32_t>({0, 2, 3}))},
      {"format.npy", npy("|S3", "()", "csr")},
      {"shape.npy", npy("<i8", "(2,)", raw<int64_t>({2, 3}))},
      {"data.npy", npy("<f8", "(3,)", raw<double>({1, 2, 3}))}};
  for (const auto& [name, content] : arrays)
    archive.entries.push_back({.name = name, .content = content, .deflate = true});
  return archive.build();
}

std::string small_pth() {
  const std::string pickle =
      "\x80\x02}X\1\0\0\0wctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\n"s +
      "X\1\0\0\0"
      "0X\3\0\0\0cpuK\6tQK\0K\2K\3\x86K\1K\2\x86\x89"
      "ccollections\nOrderedDict\n)RtRs."s;
  TestArchive archive;
  archive.entries = {{.name = "a/data.pkl", .content = pickle},
                     {.name = "a/data/0", .content = raw<float>({0, 1, 2, 3, 4, 5})},
                     {.name = "a/version", .content = "3\n"}};
  return archive.build();
}

std::string small_safetensors() {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"I16","shape":[2,2],"data_offsets":[0,8]}})";
  return raw<uint64_t>({header.size()}) + header + raw<int16_t>({1, 2, 3, 4});
}

void read_lines(std::unique_ptr<io::ByteSource> source) {
  io::LineReader reader(std::move(source));
  std::vector<std::string_view> fields;
  for (std::string_view line; reader.next(line);) io::split_fields(line, ',', fields);
}

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {
      {"npy", npy("<i2", "(2, 3)", raw<int16_t>({1, 2, 3, 4, 5, 6}), true),
       [](const std::string& path) {
         io::read_npy(path);
         io::map_npy(path);
       },
       [](Bytes bytes) { io::parse_npy(bytes, "input"); }},
      {"npz", small_npz(),
       [](const std::string& path) {
         const io::Npz npz = io::Npz::open(path);
         io::read_scipy_sparse(npz, "", {.round_values = false, .sum_duplicates = true});
       },
       [](Bytes bytes) {
         const io::Npz npz = io::Npz::parse(bytes, "input");
         for (const std::string& key : npz.keys()) npz.header(key);
         io::read_scipy_sparse(npz, "");
       }},
      {"pth", small_pth(), [](const std::string& path) { io::read_pth(path); },
       [](Bytes bytes) { io::parse_pth(bytes, "input"); }},
      {"safetensors", small_safetensors(),
       [](const std::string& path) { io::read_safetensors(path); },
       [](Bytes bytes) { io::parse_safetensors(bytes, "input"); }},
      {"text", gzipped("1,2\n3,4\n") + gzipped("5,6\n"),
       [](const std::string& path) { read_lines(io::ByteSource::open(path)); },
       [](Bytes bytes) { read_lines(io::ByteSource::memory(bytes, "input")); }},
      {"json", R"({"a": [1, 2.5, {"b": "text longer than a small string"}], "c": null})", nullptr,
       [](Bytes bytes) { io::parse_json(bytes, "input"); }},
      {"pickle", "\x80\x02}q\0(X\1\0\0\0aq\1]q\2(K\1G\x40\4\0\0\0\0\0\0NeM\x2c\1U\1xu."s, nullptr,
       [](Bytes bytes) { io::parse_pickle(bytes, {}, "input"); }},
  };
  return all;
}

TEST(Limits, BrokenFilesTakeNoMoreThanTwiceTheirSizeAndAMiB) {
  for (const Reader& reader : readers()) {
    int64_t most = 0;
    const auto measured = [&](Bytes bytes) {
      most = std::max(most, peak_of([&] { reader.read_memory(bytes); }));
    };
    for (size_t at = 0; at < reader.bytes.size(); ++at) {
      for (const int mask : {0x01, 0x80, 0xff}) {
        std::string damaged = reader.bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ mask);
        measured(as_bytes(damaged));
      }
      measured(as_bytes(reader.bytes).first(at));
    }
    EXPECT_LE(most, 2 * static_cast<int64_t>(reader.bytes.size()) + kMiB) << reader.name;
  }
}

TEST(Limits, GoodArraysTakeTheirSizeAndAMiB) {
  const TempDir folder;
  const std::string content = npy("<f4", "(1000000,)", raw(std::vector<float>(1'000'000, 1.5f)));
  const int64_t size = 4'000'000;
  const std::string path = folder.write("a.npy", content);
  EXPECT_LE(peak_of([&] { io::read_npy(path); }), size + kMiB);
  EXPECT_LE(peak_of([&] { io::map_npy(path); }), kMiB);
  for (const bool deflate : {false, true}) {
    TestArchive archive;
    archive.entries.push_back({.name = "x.npy", .content = content, .deflate = deflate});
    const std::string npz = folder.write("a.npz", archive.build());
    EXPECT_LE(peak_of([&] { io::Npz::open(npz).get("x"); }), size + kMiB);
    EXPECT_LE(peak_of([&] { io::Npz::open(npz).header("x"); }), kMiB);
  }
  io::StateFile state;
  state.tensors.emplace_back("x", io::read_npy(path));
  io::write_safetensors(folder.file("a.safetensors"), state);
  io::write_pth(folder.file("a.pth"), state);
  EXPECT_LE(peak_of([&] { io::read_safetensors(folder.file("a.safetensors")); }), size + kMiB);
  EXPECT_LE(peak_of([&] { io::read_pth(folder.file("a.pth")); }), size + kMiB);
  EXPECT_LE(peak_of([&] { io::write_pth(folder.file("b.pth"), state); }), kMiB);
  EXPECT_LE(peak_of([&] { io::write_safetensors(folder.file("b"), state); }), kMiB);
}

TEST(Limits, TextIsReadInPieces) {
  const std::string bytes = gzipped(std::string(20'000'000, '\n'));
  EXPECT_LE(peak_of([&] { read_lines(io::ByteSource::memory(as_bytes(bytes), "input")); }), kMiB);
  const std::string line(8'000'000, 'x');
  EXPECT_LE(peak_of([&] { read_lines(io::ByteSource::memory(as_bytes(line), "input")); }),
            3 * static_cast<int64_t>(line.size()));
}

TEST(Limits, BombsTakeLittle) {
  // Claims of gigabytes, in files of a few bytes.
  const std::string claims = npy("<f8", "(100000000000,)", "12345678");
  EXPECT_LE(peak_of([&] { io::parse_npy(as_bytes(claims), "input"); }), kMiB);
  TestArchive archive;
  archive.entries.push_back(
      {.name = "x.npy", .content = "12345678", .deflate = true, .size = 0xfffffff0});
  const std::string zip = archive.build();
  EXPECT_LE(peak_of([&] { io::Npz::parse(as_bytes(zip), "input").get("x"); }), kMiB);
  const std::string length = raw<uint64_t>({99'000'000}) + "{}";
  EXPECT_LE(peak_of([&] { io::parse_safetensors(as_bytes(length), "input"); }), kMiB);
  const std::string json(200'000, '[');
  EXPECT_LE(peak_of([&] { io::parse_json(as_bytes(json), "input"); }), kMiB);
}

int64_t peak_of_pickle(const std::string& bytes) {
  return peak_of([&] {
    io::parse_pickle(as_bytes(bytes), {.accept = [](auto, auto) { return true; }}, "input");
  });
}

// A list of one byte becomes a large value, so such pickles are refused before they need much
// memory.
TEST(Limits, PicklesTakeABoundedMultiple) {
  const auto most = [](const std::string& bytes) {
    return 16 * static_cast<int64_t>(bytes.size()) + kMiB;
  };
  for (const std::string& opcodes :
       {"N"s, "]"s, "}"s, "("s, ")\x85"s, "]N\x85\x85"s, "K\1"s, "M\1\1"s, "U\0"s, "X\0\0\0\0"s,
        "ca\nb\n"s, "ca\nb\n)R"s, "NQ"s, "]Na"s, "](NNe"s, "}NNs"s}) {
    std::string bytes = "\x80\x02(";
    while (bytes.size() < 300'000) bytes += opcodes;
    bytes += "t.";
    EXPECT_LE(peak_of_pickle(bytes), most(bytes)) << io::printable(opcodes);
  }
  for (const int step : {1, 77}) {
    std::string memo = "\x80\x02N", ints = "\x80\x02(";
    for (int i = 0; i < 60'000; ++i) {
      memo += "r" + raw<int32_t>({i * step});
      ints += "J" + raw<int32_t>({i * step});
    }
    memo += ".";
    ints += "t.";
    EXPECT_LE(peak_of_pickle(memo), most(memo)) << step;
    EXPECT_LE(peak_of_pickle(ints), most(ints)) << step;
  }
}

TEST(Limits, JsonTakesABoundedMultiple) {
  for (const std::string& part :
       {"0,"s, "[],"s, "{},"s, "\"\","s, "{\"a\":0},"s, "\"a text that is not short\","s}) {
    std::string text = "[";
    while (text.size() < 300'000) text += part;
    text += "0]";
    EXPECT_LE(peak_of([&] { io::parse_json(as_bytes(text), "input"); }),
              16 * static_cast<int64_t>(text.size()) + 2 * kMiB)
        << part;
  }
  std::string members = "{";
  for (int i = 0; i < 100'000; ++i) members += base::text("\"", i, "\":0,");
  members += "\"a\":0}";
  EXPECT_LE(peak_of([&] { io::parse_json(as_bytes(members), "input"); }),
            16 * static_cast<int64_t>(members.size()) + 2 * kMiB);
  const auto budget = std::make_shared<base::MemoryBudget>(kMiB / 2);
  const base::BudgetScope charged(budget);
  std::string list = "[";
  for (int i = 0; i < 20'000; ++i) list += "0,";
  list += "0]";
  expect_error(Status::kNoMemory, "input of ", [&] { io::parse_json(as_bytes(list), "input"); });
  EXPECT_EQ(budget->used(), 0);
}

TEST(Limits, PicklesKeepToTheMemoryLimit) {
  const auto budget = std::make_shared<base::MemoryBudget>(4 * kMiB);
  const base::BudgetScope charged(budget);
  const auto accept = [](auto, auto) { return true; };
  std::string bytes = "(" + std::string(1'000'000, ']') + "t.";
  expect_error(Status::kNoMemory, "input of ",
               [&] { io::parse_pickle(as_bytes(bytes), {.accept = accept}, "input"); });
  EXPECT_EQ(budget->used(), 0);
  bytes = "(" + std::string(10'000, ']') + "t.";
  auto root = io::parse_pickle(as_bytes(bytes), {.accept = accept}, "input");
  EXPECT_GT(budget->used(), 10'000 * static_cast<int64_t>(sizeof(io::PickleValue)));
  root.reset();
  EXPECT_EQ(budget->used(), 0);
}

TEST(Limits, StateFilesKeepToTheMemoryLimit) {
  const auto budget = std::make_shared<base::MemoryBudget>(kMiB);
  const base::BudgetScope charged(budget);
  const auto safetensors = [](const std::string& header) {
    return raw<uint64_t>({header.size()}) + header;
  };
  std::string metadata = "{\"__metadata__\":{\"k\":\"\"", tensors = "{";
  for (int i = 0; i < 20'000; ++i) metadata += base::text(",\"", i, "\":\"\"");
  for (int i = 0; i < 20'000; ++i)
    tensors += base::text(i ? "," : "", "\"", i, "\":{\"dtype\":\"F32\",\"shape\":[0],",
                          "\"data_offsets\":[0,0]}");
  for (const std::string& header : {metadata + "}}", tensors + "}"}) {
    const std::string file = safetensors(header);
    expect_error(Status::kNoMemory, "input of ",
                 [&] { io::parse_safetensors(as_bytes(file), "input"); });
    EXPECT_EQ(budget->used(), 0);
  }
  std::string many = "{\"__metadata__\":{\"k\":\"\"";
  for (int i = 0; i < 70'000; ++i) many += base::text(",\"", i, "\":\"\"");
  const std::string file = safetensors(many + "}}");
  const auto wide = std::make_shared<base::MemoryBudget>(64 * kMiB);
  const base::BudgetScope roomy(wide);
  expect_error(Status::kFormat, "more than 65536 metadata",
               [&] { io::parse_safetensors(as_bytes(file), "input"); });
}

TEST(Limits, EveryFailedAllocationIsAnAnswer) {
  const TempDir folder;
  for (const Reader& reader : readers()) {
    const std::string path = folder.write(reader.name, reader.bytes);
    for (const bool for_ever : {false, true}) {
      EXPECT_GT(fail_each_allocation([&] { reader.read_memory(as_bytes(reader.bytes)); }, for_ever),
                3)
          << reader.name;
      if (!reader.read_file) continue;
      EXPECT_GT(fail_each_allocation([&] { reader.read_file(path); }, for_ever), 3) << reader.name;
    }
  }
}

TEST(Limits, WritersSurviveEveryFailedAllocation) {
  const TempDir folder;
  io::StateFile state;
  state.metadata = {{"format", "pt"}};
  state.tensors.emplace_back("a tensor with a long name",
                             base::Tensor::zeros(base::DType::kF32, {3}));
  state.tensors.emplace_back("b", base::Tensor::zeros(base::DType::kI64, {}));
  const base::TensorView view = state.tensors[0].second.view();
  EXPECT_GT(fail_each_allocation([&] { io::write_npy(folder.file("npy"), view); }), 3);
  EXPECT_GT(fail_each_allocation([&] { io::write_pth(folder.file("pth"), state); }), 3);
  EXPECT_GT(fail_each_allocation([&] { io::write_safetensors(folder.file("st"), state); }), 3);
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"npy", "pth", "st"}));
}

}  // namespace
}  // namespace gnnmg::test
