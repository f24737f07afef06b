#include <gtest/gtest.h>

#include "io/damage.h"
#include "io/files.h"
#include "io/npy.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using base::DType;
using base::Shape;
using base::Status;
using base::Tensor;
using io::as_bytes;
using io::NpyKind;
using io::Npz;

// UCS-4, NumPy's form of text.
std::string ucs4(const std::u32string& text) {
  return raw(std::vector<uint32_t>(text.begin(), text.end()));
}

TestArchive archive_of(const std::vector<std::pair<std::string, std::string>>& arrays,
                       bool deflate = false) {
  TestArchive archive;
  for (const auto& [key, content] : arrays)
    archive.entries.push_back({.name = key + ".npy", .content = content, .deflate = deflate});
  return archive;
}

std::string small_npz(bool deflate = false) {
  return archive_of({{"x", npy("<f4", "(2, 2)", raw<float>({1, 2, 3, 4}))},
                     {"y", npy(">i2", "(3,)", raw_big<int16_t>({1, 2, 3}))}},
                    deflate)
      .build();
}

void read_all(Bytes bytes) {
  const Npz npz = Npz::parse(bytes, "a.npz");
  for (const std::string& key : npz.keys()) npz.get(key);
}

TEST(Npz, ReadsArrays) {
  for (const bool deflate : {false, true}) {
    const std::string bytes = small_npz(deflate);
    const Npz npz = Npz::parse(as_bytes(bytes), "a.npz");
    EXPECT_EQ(npz.name(), "a.npz");
    EXPECT_EQ(npz.keys(), (std::vector<std::string>{"x", "y"}));
    EXPECT_TRUE(npz.has("x"));
    EXPECT_FALSE(npz.has("x.npy"));
    const Tensor x = npz.get("x");
    EXPECT_EQ(x.shape(), Shape({2, 2}));
    EXPECT_EQ(x.as<float>()[3], 4);
    EXPECT_EQ(npz.get("y").as<int32_t>()[2], 3);
    EXPECT_EQ(npz.header("y").kind, NpyKind::kSigned);
    EXPECT_TRUE(npz.header("y").big_endian);
    expect_error(Status::kNotFound, "a.npz: has no array \"z\"", [&] { npz.get("z"); });
    expect_error(Status::kNotFound, "\"z\"", [&] { npz.header("z"); });
    expect_error(Status::kNotFound, "\"z\"", [&] { npz.get_text("z"); });
  }
}

TEST(Npz, ReadsLargeArraysFromFiles) {
  const TempDir folder;
  std::vector<double> values(300'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) * .5;
  for (const bool deflate : {false, true}) {
    const std::string path = folder.write(
        "a.npz", archive_of({{"v", npy("<f8", "(300000,)", raw(values))}}, deflate).build());
    const Npz npz = Npz::open(path);
    const Npz copy = npz;
    EXPECT_TRUE(std::equal(values.begin(), values.end(), copy.get("v").as<double>().begin()));
    EXPECT_EQ(npz.header("v").shape, std::vector<int64_t>{300'000});
  }
}

TEST(Npz, LeavesOtherEntriesAlone) {
  TestArchive archive = archive_of({{"x", npy("|u1", "(1,)", "a")}});
  archive.entries.push_back({.name = "readme.txt", .content = "text"});
  const std::string bytes = archive.build();
  EXPECT_EQ(Npz::parse(as_bytes(bytes), "a.npz").keys(), std::vector<std::string>{"x"});
}

TEST(Npz, ReadsTexts) {
  const std::string bytes =
      archive_of(
          {{"bytes", npy("|S5", "()", std::string("csr\0\0", 5))},
           {"unicode", npy("<U6", "()", ucs4(U"a\u00e9\u20ac\U0001f600") + std::string(8, '\0'))},
           {"big", npy(">U2", "(1,)", raw_big<uint32_t>({'c', 'd'}))},
           {"empty", npy("|S0", "()", "")},
           {"two", npy("|S1", "(2,)", "ab")},
           {"number", npy("|u1", "(1,)", "a")},
           {"long", npy("|S70000", "()", std::string(70'000, 'a'))},
           {"surrogate", npy("<U1", "()", raw<uint32_t>({0xd800}))},
           {"beyond", npy("<U1", "()", raw<uint32_t>({0x110000}))}})
          .build();
  const Npz npz = Npz::parse(as_bytes(bytes), "a.npz");
  EXPECT_EQ(npz.get_text("bytes"), "csr");
  EXPECT_EQ(npz.get_text("unicode"), "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(npz.get_text("big"), "cd");
  EXPECT_EQ(npz.get_text("empty"), "");
  EXPECT_EQ(npz.header("bytes").kind, NpyKind::kBytes);
  for (const char* key : {"two", "number", "long"})
    expect_error(Status::kFormat, "expected one string", [&] { npz.get_text(key); });
  for (const char* key : {"surrogate", "beyond"})
    expect_error(Status::kFormat, "no Unicode character", [&] { npz.get_text(key); });
  expect_error(Status::kFormat, "holds strings", [&] { npz.get("bytes"); });
}

TEST(Npz, RefusesDuplicates) {
  const std::string x = npy("|u1", "(1,)", "a");
  const std::string bytes = archive_of({{"x", x}, {"y", x}, {"x", x}}).build();
  expect_error(Status::kFormat, "\"x.npy\" twice", [&] { read_all(as_bytes(bytes)); });
}

TEST(Npz, RefusesArraysThatLie) {
  const auto refused = [](std::string_view part, const std::string& content) {
    const std::string bytes = archive_of({{"x", content}}, true).build();
    expect_error(Status::kFormat, part, [&] { read_all(as_bytes(bytes)); });
  };
  refused("a.npz, array \"x\": is no .npy", "");
  refused("a.npz, array \"x\": the header announces 8", npy("<f8", "(1,)", "abc"));
  refused("not supported", npy("|O", "(1,)", "abc"));
}

TEST(Npz, ChecksTheSumOfEveryArray) {
  for (const bool deflate : {false, true}) {
    const std::string bytes = small_npz(deflate);
    // All of the first entry's data; local headers hold dates that mean nothing.
    const size_t begin = 30 + 5, end = begin + (deflate ? 60 : 144);
    EXPECT_EQ(flip_some_bits(bytes, begin, end, 2000, 7, read_all), 2000);
  }
}

TEST(Npz, RefusesEveryBeginning) {
  expect_no_beginning(small_npz(false), read_all);
  expect_no_beginning(small_npz(true), read_all);
}

TEST(Npz, SurvivesEveryFlippedByte) {
  for (const bool deflate : {false, true}) {
    const std::string bytes = small_npz(deflate);
    EXPECT_GT(flip_each_byte(bytes, 0, bytes.size(), read_all), 400);
  }
}

TEST(Npz, ReadsWhatNumPyWrites) {
  GNNMG_NEEDS_DATA("minesweeper/orig/minesweeper.npz");
  const Npz npz = Npz::open(data_path("minesweeper/orig/minesweeper.npz"));
  EXPECT_EQ(npz.get("node_features").shape(), Shape({10'000, 7}));
  EXPECT_EQ(npz.get("edges").shape(), Shape({39'402, 2}));
  const Tensor masks = npz.get("train_masks");
  EXPECT_EQ(masks.dtype(), DType::kBool);
  EXPECT_EQ(masks.shape(), Shape({10, 10'000}));
}

}  // namespace
}  // namespace gnnmg::test
