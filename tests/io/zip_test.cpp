#include "io/zip.h"

#include <gtest/gtest.h>

#include "io/damage.h"
#include "io/files.h"
#include "io/zip_writer.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using base::Status;
using io::as_bytes;
using io::as_text;
using io::ZipEntry;
using io::ZipReader;
using io::ZipStream;

std::string text_of(const ZipReader& archive, std::string_view name) {
  const ZipEntry* entry = archive.find(name);
  if (!entry) return "absent";
  return std::string(as_text(archive.read(*entry)));
}

void read_all(Bytes bytes) {
  const ZipReader archive(bytes, "a.zip");
  for (const ZipEntry& entry : archive.entries()) archive.read(entry);
}

// Expects the archive to be refused with `part` in the text.
void expect_refused(const TestArchive& archive, std::string_view part,
                    Status status = Status::kFormat) {
  const std::string bytes = archive.build();
  expect_error(status, part, [&] { read_all(as_bytes(bytes)); });
}

TestArchive good_archive() {
  TestArchive archive;
  archive.entries.push_back({.name = "plain", .content = "some content"});
  archive.entries.push_back(
      {.name = "folder/small", .content = std::string(5000, 'x'), .deflate = true});
  archive.entries.push_back({.name = "empty", .content = ""});
  return archive;
}

TEST(Zip, ReadsStoredAndDeflatedEntries) {
  const std::string bytes = good_archive().build();
  const ZipReader archive(as_bytes(bytes), "a.zip");
  ASSERT_EQ(archive.entries().size(), 3u);
  EXPECT_EQ(archive.entries()[1].name, "folder/small");
  EXPECT_TRUE(archive.entries()[1].deflated);
  EXPECT_EQ(text_of(archive, "plain"), "some content");
  EXPECT_EQ(text_of(archive, "folder/small"), std::string(5000, 'x'));
  EXPECT_EQ(text_of(archive, "empty"), "");
  EXPECT_EQ(archive.find("nothing"), nullptr);
  EXPECT_EQ(archive.find(""), nullptr);
  EXPECT_EQ(as_text(archive.stored(*archive.find("plain"))), "some content");
  EXPECT_EQ(as_text(archive.read_start(*archive.find("folder/small"), 3)), "xxx");
  EXPECT_EQ(as_text(archive.read_start(*archive.find("plain"), 100)), "some content");
}

TEST(Zip, ReadsFromFilesAsFromMemory) {
  const TempDir folder;
  const std::string bytes = good_archive().build();
  const std::string path = folder.write("a.zip", bytes);
  const ZipReader archive = ZipReader::open(path);
  EXPECT_EQ(archive.name(), path);
  EXPECT_EQ(archive.num_bytes(), static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(text_of(archive, "plain"), "some content");
  EXPECT_EQ(text_of(archive, "folder/small"), std::string(5000, 'x'));
  expect_error(Status::kUnsupported, "not in memory",
               [&] { archive.stored(*archive.find("plain")); });
  expect_error(Status::kNotFound, "none.zip", [&] { ZipReader::open(folder.file("none.zip")); });
}

TEST(Zip, ReadsAnEmptyArchive) {
  const std::string bytes = TestArchive{}.build();
  EXPECT_TRUE(ZipReader(as_bytes(bytes), "a.zip").entries().empty());
}

TEST(Zip, ReadsDescriptorsCommentsAndExtraFields) {
  TestArchive archive = good_archive();
  archive.comment = "made by hand, PK\5\6 and all";
  for (TestEntry& entry : archive.entries) {
    entry.descriptor = true;
    entry.comment = "an entry";
    entry.local_extra = std::string("FB\3\0abc", 7);
    entry.directory_extra = std::string("ux\1\0a", 5);
  }
  const std::string bytes = archive.build();
  const ZipReader reader(as_bytes(bytes), "a.zip");
  EXPECT_EQ(text_of(reader, "plain"), "some content");
  EXPECT_EQ(text_of(reader, "folder/small"), std::string(5000, 'x'));
}

TEST(Zip, ReadsZip64) {
  TestArchive archive = good_archive();
  archive.zip64 = true;
  for (const bool saturated : {false, true}) {
    archive.saturated = saturated;
    const std::string bytes = archive.build();
    EXPECT_EQ(text_of(ZipReader(as_bytes(bytes), "a.zip"), "plain"), "some content");
  }
  // Sizes and offset of one entry in 64 bits, as NumPy writes local headers and large archives
  // directories.
  TestEntry& entry = archive.entries[0];
  entry.size = entry.compressed_size = 0xffffffff;
  entry.header_offset = 0xffffffff;
  entry.local_extra = zip64_extra({12, 12});
  entry.directory_extra = zip64_extra({12, 12, 0});
  const std::string bytes = archive.build();
  EXPECT_EQ(text_of(ZipReader(as_bytes(bytes), "a.zip"), "plain"), "some content");
}

TEST(Zip, RefusesBrokenZip64) {
  const auto refused = [](std::string_view part, const auto& change) {
    TestArchive archive = good_archive();
    archive.zip64 = true;
    change(archive);
    expect_refused(archive, part);
  };
  refused("locator", [](TestArchive& a) { a.locator_offset = 5; });
  refused("locator", [](TestArchive& a) { a.disks = 2; });
  refused("contradicts", [](TestArchive& a) { a.count64 = 4; });
  refused("contradicts", [](TestArchive& a) { a.offset64 = 1; });
  refused("contradicts", [](TestArchive& a) { a.size64 = ~uint64_t{0}; });
  refused("counts", [](TestArchive& a) { a.saturated = true, a.count64 = 1 << 20; });
  refused("counts", [](TestArchive& a) { a.saturated = true, a.count64 = ~uint64_t{0}; });
  refused("has to end", [](TestArchive& a) { a.saturated = true, a.offset64 = ~uint64_t{0}; });
  refused("has to end", [](TestArchive& a) { a.saturated = true, a.size64 = 3; });
  const auto entry_refused = [](std::string_view part, const std::string& extra) {
    TestArchive archive = good_archive();
    archive.entries[0].size = archive.entries[0].compressed_size = 0xffffffff;
    archive.entries[0].local_extra = zip64_extra({12, 12});
    archive.entries[0].directory_extra = extra;
    expect_refused(archive, part);
  };
  entry_refused("extra fields in the directory", zip64_extra({12}));
  entry_refused("extra fields in the directory", zip64_extra({~uint64_t{0}, 12}));
  entry_refused("extra fields in the directory", zip64_extra({12, 12}) + zip64_extra({12, 12}));
  entry_refused("extra fields in the directory", std::string("\1\0\xff\0", 4));
  entry_refused("extra fields in the directory", "abc");
  entry_refused("stored with", zip64_extra({12, 13}));
  entry_refused("contradicts the directory", zip64_extra({11, 11}));
  entry_refused("contradicts the directory", "");  // a size of exactly 2^32 - 1, then
}

TEST(Zip, RefusesWhatIsNoArchive) {
  for (const std::string_view bytes : {"", "PK", "just some text, longer than an end record is"})
    expect_error(Status::kFormat, "is no zip archive", [&] { read_all(as_bytes(bytes)); });
  const std::string bytes = "prefix" + good_archive().build();
  expect_error(Status::kFormat, "has to end", [&] { read_all(as_bytes(bytes)); });
}

TEST(Zip, RefusesEndRecordsThatLie) {
  const auto refused = [](std::string_view part, const auto& change) {
    TestArchive archive = good_archive();
    change(archive);
    expect_refused(archive, part);
  };
  refused("split", [](TestArchive& a) { a.disk = 1; });
  refused("entry 3 of the directory", [](TestArchive& a) {
    a.count = 4;
    a.after_directory = std::string(60, 'x');
  });
  refused("surplus bytes", [](TestArchive& a) { a.count = 2; });
  refused("surplus bytes", [](TestArchive& a) { a.after_directory = "x"; });
  refused("counts", [](TestArchive& a) { a.count = 1000; });
  refused("has to end", [](TestArchive& a) { a.directory_offset = 0; });
  refused("has to end", [](TestArchive& a) { a.directory_size = 0; });
  refused("has to end", [](TestArchive& a) { a.directory_offset = 0xfffffff0; });
}

TEST(Zip, RefusesNamesThatLeaveTheFolder) {
  using namespace std::string_literals;
  for (const std::string& name : {"/etc/passwd"s, "../up"s, "a/../../b"s, ".."s, ""s}) {
    TestArchive archive;
    archive.entries.push_back({.name = name, .content = "x"});
    expect_refused(archive, "leaves its folder");
  }
  for (const std::string& name : {"a\0b"s, "a\nb"s, "a\x7f"s}) {
    TestArchive archive;
    archive.entries.push_back({.name = name, .content = "x"});
    expect_refused(archive, "control characters");
  }
}

TEST(Zip, RefusesDuplicatesAndOverlaps) {
  TestArchive twice = good_archive();
  twice.entries.push_back({.name = "plain", .content = "other"});
  expect_refused(twice, "\"plain\" twice");

  TestArchive overlap = good_archive();
  overlap.entries[1].header_offset = 0;
  overlap.entries[1].name = "plain2";
  overlap.entries[0].name = "plain2";
  overlap.entries[1].content = overlap.entries[0].content;
  overlap.entries[1].deflate = false;
  expect_refused(overlap, "overlap");

  // An entry inside the data of another: the quoting that makes bombs of many small entries.
  TestArchive inner;
  inner.entries.push_back({.name = "b", .content = "0123456789"});
  std::string nested = inner.build().substr(0, 41);
  TestArchive outer;
  outer.entries.push_back({.name = "a", .content = nested});
  outer.entries.push_back({.name = "b", .content = "0123456789", .header_offset = 31});
  expect_refused(outer, "overlap");
}

TEST(Zip, RefusesBytesThatBelongToNoEntry) {
  for (const size_t at : {0, 1, 2}) {
    TestArchive archive = good_archive();
    archive.entries[at].before = "junk that hides here";
    expect_refused(archive, "the 20 bytes from byte");
    archive.entries[at].before = "x";
    expect_refused(archive, base::text("the 1 bytes from byte ", at == 0 ? "0" : ""));
  }
  TestArchive archive = good_archive();
  archive.before_directory = "junk";
  expect_refused(archive, "the 4 bytes from byte");
  TestArchive empty;
  empty.before_directory = "junk";
  expect_refused(empty, "the 4 bytes from byte 0 belong to no entry");
  // Data that the directory does not name is not an entry.
  archive = good_archive();
  archive.entries[0].before = archive.entries[0].name;
  expect_refused(archive, "belong to no entry");
}

TEST(Zip, KnowsEveryDescriptorAndNothingElseInItsPlace) {
  for (const bool marked : {false, true})
    for (const bool wide : {false, true}) {
      TestArchive archive = good_archive();
      for (TestEntry& entry : archive.entries) entry.descriptor = true;
      TestEntry& entry = archive.entries[1];
      const auto packed = static_cast<uint32_t>(deflated(entry.content).size());
      const uint32_t crc = crc_of(entry.content), size = 5000;
      const std::string mark = marked ? raw<uint32_t>({0x08074b50}) : "";
      const auto late = [&](uint32_t c, uint32_t p, uint32_t s) {
        return mark + raw<uint32_t>({c}) + (wide ? raw<uint64_t>({p, s}) : raw<uint32_t>({p, s}));
      };
      entry.late = late(crc, packed, size);
      const std::string bytes = archive.build();
      EXPECT_EQ(text_of(ZipReader(as_bytes(bytes), "a.zip"), "folder/small"), entry.content);
      const std::string good = *entry.late;
      for (const std::string& bad :
           {late(crc + 1, packed, size), late(crc, packed + 1, size), late(crc, packed, size + 1),
            good + "x", good.substr(1), std::string(good.size(), 'x'), good + good}) {
        entry.late = bad;
        expect_refused(archive, "belong to no entry");
      }
      // Only if the flags announce a descriptor.
      entry.late = good;
      entry.descriptor = false;
      expect_refused(archive, "belong to no entry");
    }
}

TEST(Zip, RefusesEntriesThatLie) {
  const auto refused = [](std::string_view part, const auto& change,
                          Status status = Status::kFormat) {
    TestArchive archive = good_archive();
    change(archive.entries[0], archive.entries[1]);
    expect_refused(archive, part, status);
  };
  using E = TestEntry;
  refused("encrypted", [](E& e, E&) { e.flags = 1; });
  refused("encrypted", [](E& e, E&) { e.flags = 1 << 6; });
  refused("encrypted", [](E& e, E&) { e.flags = 1 << 13; });
  refused("compression method 12", [](E& e, E&) { e.method = 12; });
  refused("contradicts", [](E& e, E&) { e.local_method = 12; });
  refused("contradicts", [](E& e, E&) { e.local_method = 8; });
  refused("contradicts", [](E& e, E&) { e.local_flags = 1; });
  refused("contradicts", [](E& e, E&) { e.local_name = "PLAIN"; });
  refused("contradicts", [](E& e, E&) { e.local_size = 11; });
  refused("contradicts", [](E& e, E&) { e.local_crc = 0; });
  refused("stored with", [](E& e, E&) { e.size = 11; });
  refused("stored with", [](E& e, E&) { e.compressed_size = 11; });
  refused("beyond the data", [](E& e, E&) { e.header_offset = 0xfffffff0; });
  refused("is none", [](E& e, E&) { e.header_offset = 1; });
  refused("reach into the directory", [](E& e, E&) { e.size = e.compressed_size = 1 << 20; });
  refused("broken extra fields", [](E& e, E&) { e.local_extra = "abc"; });
  refused("its CRC is", [](E& e, E&) { e.crc = 1; }, Status::kChecksum);
  refused("its CRC is", [](E&, E& e) { e.crc = 1; }, Status::kChecksum);
  refused("inflates to more", [](E&, E& e) { e.size = 4999; });
  refused("inflates to more", [](E&, E& e) { e.size = 0; });
  refused("inflates to fewer", [](E&, E& e) { e.size = 5001; });
  refused("more than 1100-fold", [](E&, E& e) { e.size = 100'000'000; });
  refused("broken", [](E&, E& e) { e.payload = "\xff\xff\xff\xff garbage"; });
  refused("cut", [](E&, E& e) { e.payload = deflated(e.content).substr(0, 5); });
  refused("1100-fold", [](E&, E& e) { e.payload = ""; });
  refused("surplus bytes after its compressed data",
          [](E&, E& e) { e.payload = deflated(e.content) + "more"; });
}

TEST(Zip, InflatesNoBomb) {
  // Zeros deflate 1030-fold, which is allowed; the declared size is never exceeded.
  const std::string zeros(3 << 20, '\0');
  TestArchive archive;
  archive.entries.push_back({.name = "zeros", .content = zeros, .deflate = true});
  std::string bytes = archive.build();
  EXPECT_EQ(text_of(ZipReader(as_bytes(bytes), "a.zip"), "zeros"), zeros);
  archive.entries[0].size = 1000;
  expect_refused(archive, "inflates to more than the 1000 bytes");
}

TEST(Zip, StreamsInPieces) {
  const std::string bytes = good_archive().build();
  const ZipReader archive(as_bytes(bytes), "a.zip");
  for (const char* name : {"plain", "folder/small"}) {
    const ZipEntry& entry = *archive.find(name);
    std::string whole;
    ZipStream stream(archive, entry);
    for (int64_t left = entry.size; left > 0;) {
      uint8_t piece[7];
      const int64_t count = std::min<int64_t>(left, sizeof piece);
      stream.read(std::span(piece).first(count));
      stream.read({});
      whole += as_text(std::span(piece).first(count));
      left -= count;
    }
    stream.finish();
    EXPECT_EQ(whole, text_of(archive, name));
    uint8_t more;
    expect_error(Status::kFormat, "expected 1 more", [&] { stream.read({&more, 1}); });
  }
  ZipStream early(archive, *archive.find("plain"));
  expect_error(Status::kFormat, "expected 0", [&] { early.finish(); });
}

TEST(Zip, SkipsSumsWhenAsked) {
  TestArchive archive = good_archive();
  archive.entries[0].crc = 1;
  const std::string bytes = archive.build();
  const ZipReader reader(as_bytes(bytes), "a.zip", false);
  EXPECT_EQ(text_of(reader, "plain"), "some content");
}

TEST(Zip, RefusesEveryBeginning) {
  TestArchive archive = good_archive();
  expect_no_beginning(archive.build(), read_all);
  archive.zip64 = archive.saturated = true;
  expect_no_beginning(archive.build(), read_all);
}

TEST(Zip, SurvivesEveryFlippedByte) {
  TestArchive archive = good_archive();
  for (const bool zip64 : {false, true}) {
    archive.zip64 = archive.saturated = zip64;
    const std::string bytes = archive.build();
    EXPECT_GT(flip_each_byte(bytes, 0, bytes.size(), read_all), 500);
  }
  // A flip in the content never stays undetected.
  const std::string bytes = good_archive().build();
  const size_t content = bytes.find("some content");
  EXPECT_EQ(flip_some_bits(bytes, content, content + 12, 1000, 1, read_all), 1000);
}

TEST(Zip, WritesWhatItReads) {
  const TempDir folder;
  const std::string large(100'000, 'y');
  for (const int64_t zip64_from : {io::ZipWriter::kZip64From, int64_t{13}, int64_t{0}}) {
    const std::string path = folder.file("out.zip");
    {
      base::AtomicFile file(path);
      io::ZipWriter writer(file, zip64_from);
      writer.add("a/plain", as_bytes("some content"));
      writer.add("a/large", as_bytes(large));
      writer.add("a/empty", {});
      writer.add("a/\xc3\xa9", as_bytes("named in UTF-8"));
      writer.finish();
      file.commit();
    }
    const ZipReader archive = ZipReader::open(path);
    ASSERT_EQ(archive.entries().size(), 4u);
    EXPECT_EQ(text_of(archive, "a/plain"), "some content");
    EXPECT_EQ(text_of(archive, "a/large"), large);
    EXPECT_EQ(text_of(archive, "a/empty"), "");
    EXPECT_EQ(text_of(archive, "a/\xc3\xa9"), "named in UTF-8");
    for (const ZipEntry& entry : archive.entries()) EXPECT_EQ(entry.data_offset % 64, 0);
  }
}

TEST(Zip, WritesManyEntries) {
  const TempDir folder;
  const std::string path = folder.file("many.zip");
  {
    base::AtomicFile file(path);
    io::ZipWriter writer(file);
    for (int i = 0; i < 66'000; ++i) writer.add("e" + std::to_string(i), {});
    writer.finish();
    file.commit();
  }
  const ZipReader archive = ZipReader::open(path);
  EXPECT_EQ(archive.entries().size(), 66'000u);
  EXPECT_NE(archive.find("e65999"), nullptr);
}

TEST(Zip, WritesNoNameThatItRefuses) {
  const TempDir folder;
  base::AtomicFile file(folder.file("out.zip"));
  io::ZipWriter writer(file);
  expect_error(Status::kFormat, "leaves its folder", [&] { writer.add("../x", {}); });
  expect_error(Status::kInvalidArgument, "5000 bytes",
               [&] { writer.add(std::string(5000, 'n'), {}); });
}

}  // namespace
}  // namespace gnnmg::test
