#include "base/scratch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/free_memory.h"
#include "base/memory.h"
#include "support/file_faults.h"
#include "support/temp_dir.h"

namespace gnnmg::base {
namespace {

using test::FileCall;
using test::FileFaults;
using test::TempDir;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<uint8_t> some_bytes(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 131 + (i >> 8));
  return bytes;
}

int64_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

void expect_reads(const ScratchFile& file, std::span<const uint8_t> expected) {
  std::vector<uint8_t> read(expected.size() / 2);
  file.read_at(7, read);
  EXPECT_TRUE(std::ranges::equal(read, expected.subspan(7, read.size())));
}

TEST(ScratchFile, ReadsWhatWasWrittenAndLeavesNothing) {
  const TempDir folder;
  const std::vector<uint8_t> bytes = some_bytes(100'000);
  const int64_t before = open_descriptors();
  for (const int64_t chunk : {0, 1000}) {
    const FileFaults slow({.chunk = chunk, .interrupts = chunk > 0});
    ScratchFile file(folder.path());
    EXPECT_TRUE(folder.list().empty());
    const std::span all(bytes);
    file.append(all.first(60'000));
    expect_reads(file, all.first(60'000));
    file.append(all.subspan(60'000));
    expect_reads(file, all);
    EXPECT_EQ(file.size(), 100'000);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(ScratchFile, EachFailingCallIsAnErrorWithThePath) {
  const TempDir folder;
  const int64_t before = open_descriptors();
  const auto use = [&] {
    ScratchFile file(folder.path());
    file.append(some_bytes(1000));
    expect_reads(file, some_bytes(1000));
  };
  for (const FileCall call :
       {FileCall::kOpen, FileCall::kStat, FileCall::kWrite, FileCall::kRead}) {
    const int64_t runs = test::fail_each_file_call(
        {.call = call, .error = ENOSPC}, use, [&](int64_t n, const Error* error) {
          ASSERT_NE(error, nullptr) << n;
          EXPECT_EQ(error->status(), Status::kIo);
          EXPECT_EQ(error->system_error(), ENOSPC);
          EXPECT_THAT(error->what(), StartsWith(folder.file("gnnmg-scratch-")));
          EXPECT_TRUE(folder.list().empty());
          EXPECT_EQ(open_descriptors(), before);
        });
    EXPECT_GE(runs, 1);
  }
}

TEST(ScratchFile, TheFolderMustExist) {
  const TempDir folder;
  try {
    const ScratchFile file(folder.file("missing"));
    ADD_FAILURE() << "was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kNotFound);
    EXPECT_THAT(error.what(), HasSubstr(folder.file("missing")));
  }
}

TEST(ScratchFile, TheEnvironmentChoosesTheFolder) {
  const char* const set = std::getenv("TMPDIR");
  const std::optional<std::string> old = set ? std::optional<std::string>(set) : std::nullopt;
  setenv("TMPDIR", "/some/where", 1);
  EXPECT_EQ(scratch_folder(), "/some/where");
  unsetenv("TMPDIR");
  EXPECT_EQ(scratch_folder(), "/var/tmp");
  if (old) setenv("TMPDIR", old->c_str(), 1);
}

TEST(AvailableMemory, IsWhatTheSystemAndTheBudgetLeave) {
  const int64_t of_system = available_memory();
  EXPECT_GT(of_system, int64_t{1} << 20);
  EXPECT_LT(of_system, int64_t{1} << 46);
  const auto budget = std::make_shared<MemoryBudget>(1000);
  const BudgetScope scope(budget);
  EXPECT_EQ(available_memory(), 1000);
  budget->take(400, "a test's bytes");
  EXPECT_EQ(available_memory(), 600);
  budget->give_back(400);
}

}  // namespace
}  // namespace gnnmg::base
