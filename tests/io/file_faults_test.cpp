// Every system call of every reader and writer fails, returns too little, or is interrupted.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "io/damage.h"
#include "io/files.h"
#include "io/npy.h"
#include "io/state_file.h"
#include "io/text.h"
#include "support/file_faults.h"
#include "support/power_loss.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using base::Status;
using base::Tensor;
using io::StateFile;

StateFile state_of(float value) {
  StateFile state;
  state.tensors.emplace_back("w", Tensor::copy_of<float>(std::vector<float>(1000, value)));
  state.tensors.emplace_back("b", Tensor::copy_of<float>(std::vector<float>(10, value)));
  return state;
}
float value_of(const StateFile& state) { return state.find("w")->as<float>()[999]; }

struct Format {
  const char* name;
  std::function<void(const std::string&, float)> write;
  std::function<float(const std::string&)> read;
  std::function<float(Bytes)> parse;
};
const Format kFormats[] = {
    {"a.npy",
     [](const std::string& path, float value) {
       io::write_npy(path, state_of(value).find("w")->view());
     },
     [](const std::string& path) { return io::read_npy(path).as<float>()[999]; },
     [](Bytes bytes) { return io::parse_npy(bytes, "a.npy").as<float>()[999]; }},
    {"a.pth", [](const std::string& path, float value) { io::write_pth(path, state_of(value)); },
     [](const std::string& path) { return value_of(io::read_pth(path)); },
     [](Bytes bytes) { return value_of(io::parse_pth(bytes, "a.pth")); }},
    {"a.safetensors",
     [](const std::string& path, float value) { io::write_safetensors(path, state_of(value)); },
     [](const std::string& path) { return value_of(io::read_safetensors(path)); },
     [](Bytes bytes) { return value_of(io::parse_safetensors(bytes, "a.safetensors")); }},
};

TEST(FileFaults, FailedReadsAreErrors) {
  const TempDir folder;
  std::vector<std::pair<std::string, std::function<void()>>> readers;
  for (const Format& format : kFormats) {
    const std::string path = folder.file(format.name);
    format.write(path, 1);
    readers.emplace_back(path, [&format, path] { format.read(path); });
  }
  TestArchive archive;
  archive.entries.push_back(
      {.name = "x.npy", .content = npy("|u1", "(3,)", "abc"), .deflate = true});
  const std::string npz = folder.write("a.npz", archive.build());
  readers.emplace_back(npz, [npz] { io::Npz::open(npz).get("x"); });
  const std::string gz = folder.write("a.gz", gzipped("1\n2\n"));
  readers.emplace_back(gz, [gz] {
    io::LineReader reader(io::ByteSource::open(gz));
    for (std::string_view line; reader.next(line);) {
    }
  });
  for (const auto& reader : readers) {
    const auto& path = reader.first;
    const auto& read = reader.second;
    for (const FileCall call : {FileCall::kOpen, FileCall::kRead, FileCall::kStat}) {
      const int64_t faults =
          fail_each_file_call({.call = call}, read, [&](int64_t n, const base::Error* error) {
            ASSERT_NE(error, nullptr) << path << ", call " << n;
            EXPECT_EQ(error->status(), Status::kIo) << error->what();
            EXPECT_EQ(error->system_error(), EIO);
            EXPECT_NE(std::string(error->what()).find(path), std::string::npos);
          });
      EXPECT_GE(faults, 1) << path;
    }
  }
}

TEST(FileFaults, ShortAndInterruptedCallsAreResumed) {
  const TempDir folder;
  for (const Format& format : kFormats) {
    const std::string path = folder.file(format.name);
    const FileFaults faults({.chunk = 7, .interrupts = true});
    format.write(path, 2);
    EXPECT_EQ(format.read(path), 2) << format.name;
  }
}

TEST(FileFaults, FailedWritesLeaveTheOldFile) {
  for (const Format& format : kFormats) {
    const TempDir folder;
    const std::string path = folder.file(format.name);
    for (const int error : {EIO, ENOSPC, EDQUOT, EROFS}) {
      format.write(path, 1);
      const int64_t faults = fail_each_file_call(
          {.error = error}, [&] { format.write(path, 2); },
          [&](int64_t n, const base::Error* thrown) {
            // The last sync may fail with the new file in place.
            const float found = format.read(path);
            EXPECT_TRUE(found == 1 || found == 2) << n;
            EXPECT_TRUE(thrown != nullptr || found == 2) << n;
            if (thrown) {
              EXPECT_EQ(thrown->status(), Status::kIo);
              EXPECT_EQ(thrown->system_error(), error);
            }
            format.write(path, 1);
          });
      EXPECT_GE(faults, 4) << format.name;  // open, write, sync, rename
    }
  }
}

TEST(FileFaults, PowerLossLeavesTheOldOrTheNewFile) {
  for (const Format& format : kFormats) {
    int64_t calls = 1;
    for (;; ++calls) {
      const TempDir folder;
      const std::string path = folder.file(format.name);
      format.write(path, 1);
      const PowerLoss power(folder.path(), calls);
      try {
        format.write(path, 2);
      } catch (const base::Error&) {
      }
      if (!power.lost()) break;
      for (uint64_t seed = 0; seed < 10; ++seed) {
        const TempDir after;
        power.restart(seed, after.path());
        const std::string bytes =
            slurp(after.file(format.name));  // the test's own calls still fail
        const float found = format.parse(io::as_bytes(bytes));
        EXPECT_TRUE(found == 1 || found == 2) << format.name << ", call " << calls;
      }
    }
    EXPECT_GT(calls, 4) << format.name;  // open, write, sync, rename
  }
}

TEST(FileFaults, FilesThatShrinkAreErrors) {
  const TempDir folder;
  TestArchive archive;
  archive.entries.push_back(
      {.name = "x.npy", .content = npy("|u1", "(90000,)", std::string(90'000, 'x'))});
  const std::string path = folder.write("a.npz", archive.build());
  const io::Npz npz = io::Npz::open(path);
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  expect_error(Status::kIo, path, [&] { npz.get("x"); });
}

}  // namespace
}  // namespace gnnmg::test
