#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <limits>
#include <numeric>
#include <thread>

#include "support/file_faults.h"
#include "support/power_loss.h"
#include "support/temp_dir.h"

namespace gnnmg::base {
namespace {

using test::fail_each_file_call;
using test::FileCall;
using test::FileFaults;
using test::FilePlan;
using test::PowerLoss;
using test::slurp;
using test::TempDir;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<uint8_t> some_bytes(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 131 + (i >> 8));
  return bytes;
}

// Returns the Error that `call` throws; without one the test fails and the Error is empty.
Error error_of(auto call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(Status::kOk, "");
}

int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

TEST(File, ReadsRanges) {
  const TempDir folder;
  const auto bytes = some_bytes(1000);
  const File file(folder.write("f", bytes));
  EXPECT_EQ(file.size(), 1000);
  EXPECT_EQ(file.path(), folder.file("f"));
  std::vector<uint8_t> out(10);
  file.read_at(990, out);
  EXPECT_TRUE(std::equal(out.begin(), out.end(), bytes.begin() + 990));
  EXPECT_EQ(file.read_some(995, out), 5);
  EXPECT_EQ(file.read_some(1000, out), 0);
  EXPECT_EQ(file.read_some(5000, out), 0);
  file.read_at(1000, {});
}

TEST(File, SaysWhereItEnds) {
  const TempDir folder;
  const File file(folder.write("f", some_bytes(100)));
  std::vector<uint8_t> out(10);
  const Error error = error_of([&] { file.read_at(95, out); });
  EXPECT_EQ(error.status(), Status::kIo);
  EXPECT_EQ(error.what(), folder.file("f") + ": ends at byte 100, expected 10 bytes from byte 95");
  EXPECT_EQ(error_of([&] { file.read_at(5000, out); }).what(),
            folder.file("f") + ": ends at byte 100, expected 10 bytes from byte 5000")
      << "not where reading began";
}

TEST(Paths, ALinkThatLeadsNowhereIsNotAbsent) {
  const TempDir folder;
  EXPECT_FALSE(is_present(folder.file("nothing")));
  EXPECT_FALSE(is_present_directory(folder.file("nothing")));
  folder.write("real/file", "x");
  std::filesystem::create_symlink("real", folder.file("link"));
  EXPECT_TRUE(is_present(folder.file("link/file")));
  EXPECT_TRUE(is_present_directory(folder.file("link")));
  EXPECT_FALSE(is_present(folder.file("real/file/below")));
  std::filesystem::create_symlink("../annex/gone", folder.file("dangling"));
  for (bool (*look)(const std::string&) : {is_present, is_present_directory}) {
    const Error error = error_of([&] { look(folder.file("dangling")); });
    EXPECT_EQ(error.status(), Status::kNotFound);
    EXPECT_THAT(error.what(),
                AllOf(StartsWith(folder.file("dangling") + ": open the link to ../annex/gone: "),
                      HasSubstr("; fetch the file (git annex get, dvc pull)")));
  }
  EXPECT_THAT(error_of([&] { File file(folder.file("dangling")); }).what(),
              AllOf(HasSubstr("open the link to ../annex/gone: "),
                    HasSubstr("mount its disk, or remove the link")));
}

TEST(File, IsOpenedCloseOnExec) {
  const TempDir folder;
  const File file(folder.write("f", "x"));
  EXPECT_TRUE(fcntl(file.fd(), F_GETFD) & FD_CLOEXEC);
}

TEST(File, NamesAMissingFile) {
  const TempDir folder;
  const Error error = error_of([&] { File file(folder.file("none")); });
  EXPECT_EQ(error.status(), Status::kNotFound);
  EXPECT_EQ(error.system_error(), ENOENT);
  EXPECT_THAT(error.what(), StartsWith(folder.file("none") + ": open: "));
}

TEST(File, RefusesAnythingButARegularFile) {
  const TempDir folder;
  const int before = open_descriptors();
  EXPECT_EQ(error_of([&] { File file(folder.path()); }).what(),
            folder.path() + ": expected a regular file, found a folder");
  EXPECT_EQ(error_of([] { File file("/dev/null"); }).status(), Status::kIo);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(File, DoesNotWaitForTheWriterOfAPipe) {
  const TempDir folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { File file(folder.file("pipe")); }).status(), Status::kIo);
}

TEST(ReadFile, ReadsAllUpToItsLimit) {
  const TempDir folder;
  const auto bytes = some_bytes(100);
  const std::string path = folder.write("f", bytes);
  EXPECT_EQ(read_file(path, 100), bytes);
  const Error error = error_of([&] { read_file(path, 99); });
  EXPECT_EQ(error.status(), Status::kFormat);
  EXPECT_EQ(error.what(), path + ": has 100 bytes, at most 99 are accepted here");
  EXPECT_TRUE(read_file(folder.write("empty", ""), 0).empty());
}

TEST(MappedFile, ShowsTheFile) {
  const TempDir folder;
  const auto bytes = some_bytes(10000);
  const auto mapped = MappedFile::open(folder.write("f", bytes));
  EXPECT_TRUE(
      std::equal(bytes.begin(), bytes.end(), mapped->bytes().begin(), mapped->bytes().end()));
  EXPECT_NO_THROW(mapped->check_size());
  EXPECT_TRUE(MappedFile::open(folder.write("empty", ""))->bytes().empty());
}

TEST(MappedFile, NoticesThatTheFileShrank) {
  const TempDir folder;
  const std::string path = folder.write("f", some_bytes(10000));
  const auto mapped = MappedFile::open(path);
  ASSERT_EQ(truncate(path.c_str(), 4096), 0);
  const Error error = error_of([&] { mapped->check_size(); });
  EXPECT_EQ(error.status(), Status::kIo);
  EXPECT_EQ(error.what(), path + ": had 10000 bytes when it was opened and has 4096 now");
}

TEST(AtomicFile, ReplacesOnCommitOnly) {
  const TempDir folder;
  const std::string path = folder.write("f", "old");
  {
    AtomicFile file(path);
    file.write("never seen");
    EXPECT_EQ(slurp(path), "old");
  }
  EXPECT_THAT(folder.list(), ElementsAre("f"));
  AtomicFile file(path);
  file.write("new ");
  file.write(std::string_view());
  file.write("text");
  EXPECT_EQ(slurp(path), "old");
  file.commit();
  EXPECT_EQ(slurp(path), "new text");
  EXPECT_THAT(folder.list(), ElementsAre("f"));
}

mode_t mode_of(const std::string& path) {
  struct stat info;
  EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

void replace(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

TEST(AtomicFile, HasThePermissionsThatTheUmaskLeaves) {
  const TempDir folder;
  const mode_t before = umask(0);
  for (const mode_t mask : {0022, 0077, 0002, 0000}) {
    umask(mask);
    const std::string path = folder.file(std::to_string(mask));
    replace(path, "text");
    EXPECT_EQ(mode_of(path), 0666 & ~mask);
  }
  umask(before);
}

TEST(AtomicFile, KeepsThePermissionsOfWhatItReplaces) {
  const TempDir folder;
  for (const mode_t mode : {0600, 0640, 0664, 0444, 0755}) {
    const std::string path = folder.write("f", "old");
    chmod(path.c_str(), mode);
    {
      AtomicFile file(path);
      for (const std::string& name : folder.list())  // only the owner can read unfinished files
        EXPECT_EQ(mode_of(folder.file(name)), name == "f" ? mode : 0600u);
      file.write("new");
      file.commit();
    }
    EXPECT_EQ(mode_of(path), mode);
    EXPECT_EQ(slurp(path), "new");
    unlink(path.c_str());
  }
}

TEST(AtomicFile, ReplacesWhatALinkLeadsTo) {
  const TempDir folder, other;
  const std::string target = other.write("target", "old"), link = folder.file("link");
  chmod(target.c_str(), 0640);
  ASSERT_EQ(symlink(target.c_str(), folder.file("second").c_str()), 0);
  ASSERT_EQ(symlink("second", link.c_str()), 0);  // relative to its own folder
  replace(link, "new");
  EXPECT_EQ(slurp(target), "new");
  EXPECT_EQ(mode_of(target), 0640u);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_THAT(folder.list(), ElementsAre("link", "second"));
  EXPECT_THAT(other.list(), ElementsAre("target"));
  // A link to a missing file: the write creates its target.
  ASSERT_EQ(symlink("late", folder.file("dangling").c_str()), 0);
  replace(folder.file("dangling"), "there");
  EXPECT_EQ(slurp(folder.file("late")), "there");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("dangling")));
}

TEST(AtomicFile, RefusesToReplaceAPipeOrAFolder) {
  const TempDir folder;
  const std::string pipe = folder.file("pipe"), inner = folder.file("inner");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_directory(inner);
  EXPECT_THAT(error_of([&] { AtomicFile file(pipe); }).what(), HasSubstr("pipe: is a special"));
  EXPECT_THAT(error_of([&] { AtomicFile file(inner); }).what(), HasSubstr("Is a directory"));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_THAT(folder.list(), ElementsAre("inner", "pipe"));
}

TEST(AtomicFile, RefusesLinksThatLeadNowhereOrAreNotWanted) {
  const TempDir folder;
  ASSERT_EQ(symlink("b", folder.file("a").c_str()), 0);
  ASSERT_EQ(symlink("a", folder.file("b").c_str()), 0);
  EXPECT_EQ(error_of([&] { AtomicFile file(folder.file("a")); }).system_error(), ELOOP);
  const std::string target = folder.write("target", "old"), link = folder.file("link");
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  const Error refused = error_of([&] { AtomicFile file(link, AtomicFile::Links::kRefuse); });
  EXPECT_EQ(refused.status(), Status::kIo);
  EXPECT_THAT(refused.what(), HasSubstr("is a link, to " + target));
  EXPECT_EQ(slurp(target), "old");
  AtomicFile(folder.file("new"), AtomicFile::Links::kRefuse).commit();
  EXPECT_EQ(slurp(folder.file("new")), "");
}

TEST(AtomicFile, KeepsTwoWritersOfOneNameApart) {
  const TempDir folder;
  AtomicFile first(folder.file("f")), second(folder.file("f"));
  first.write("first");
  second.write("second");
  first.commit();
  EXPECT_EQ(slurp(folder.file("f")), "first");
  second.commit();
  EXPECT_EQ(slurp(folder.file("f")), "second");
}

// A writer removes the leftovers of killed processes that wrote the same file. Files of running
// writers stay, and so do files with similar names.
TEST(AtomicFile, ClearsAfterTheDeadAlone) {
  const TempDir folder;
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(folder.file("f"));
    file.write("a part");
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::vector<std::string> left = folder.list();
  ASSERT_THAT(left, ElementsAre(StartsWith("f.gnnmg-tmp-")));
  folder.write("f.gnnmg-tmp-", "");
  folder.write("f.gnnmg-tmp-12a", "");
  folder.write("g.gnnmg-tmp-12", "");
  {
    AtomicFile first(folder.file("f"));
    AtomicFile second(folder.file("f"));
    EXPECT_EQ(folder.list().size(), 5u);
    second.write("second");
    second.commit();
    AtomicFile third(folder.file("f"));
    first.write("first");
    first.commit();
  }
  EXPECT_EQ(slurp(folder.file("f")), "first");
  EXPECT_THAT(folder.list(), ElementsAre("f", "f.gnnmg-tmp-", "f.gnnmg-tmp-12a", "g.gnnmg-tmp-12"));
}

// Runs `body` in a process of an unprivileged user; returns its exit status.
template <typename Body>
int as_somebody(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(1);
    body();
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

// The permissions of a file do not keep its owner from detecting a dead writer.
TEST(AtomicFile, ClearsAfterTheDeadWhateverThePermissions) {
  for (const mode_t mode : {0444, 0000, 0200, 0640}) {
    const TempDir folder;
    chmod(folder.path().c_str(), 0777);
    const std::string path = folder.file("f");
    EXPECT_EQ(as_somebody([&] {
                replace(path, "old");
                chmod(path.c_str(), mode);
              }),
              0);
    const int killed = as_somebody([&] {
      AtomicFile file(path);
      file.write("a part");
      file.sync();
      raise(SIGKILL);
    });
    ASSERT_TRUE(WIFSIGNALED(killed));
    ASSERT_EQ(folder.list().size(), 2u);
    EXPECT_EQ(as_somebody([&] { replace(path, "new"); }), 0);
    EXPECT_THAT(folder.list(), ElementsAre("f")) << "mode " << mode;
    EXPECT_EQ(mode_of(path), mode);
  }
  const TempDir folder;
  chmod(folder.path().c_str(), 0777);
  const int killed = as_somebody([&] {
    umask(0222);
    AtomicFile file(folder.file("f"));
    raise(SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(killed));
  EXPECT_EQ(as_somebody([&] { replace(folder.file("f"), "new"); }), 0);
  EXPECT_THAT(folder.list(), ElementsAre("f"));
}

// Without locks in the file system other writers are unknown, and nothing is removed.
TEST(AtomicFile, WithoutLocks) {
  const TempDir folder;
  folder.write("f.gnnmg-tmp-7", "");
  FileTable table = system_files();
  table.flock = [](int, int) {
    errno = ENOLCK;
    return -1;
  };
  const FileTable* before = set_file_table(&table);
  {
    AtomicFile file(folder.file("f"));
    file.write("text");
    file.commit();
  }
  set_file_table(before);
  EXPECT_EQ(slurp(folder.file("f")), "text");
  EXPECT_THAT(folder.list(), ElementsAre("f", "f.gnnmg-tmp-7"));
}

// Many writers write again and again while each removes leftovers: none loses its own file.
TEST(AtomicFile, ManyWritersOfOneName) {
  const TempDir folder;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        AtomicFile file(folder.file("f"));
        file.write(text("writer ", t, " ", i));
        file.commit();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(slurp(folder.file("f")), StartsWith("writer "));
  EXPECT_THAT(folder.list(), ElementsAre("f"));
}

TEST(AtomicFile, NamesTheFolderThatIsMissing) {
  const TempDir folder;
  const Error error = error_of([&] { AtomicFile file(folder.file("none/f")); });
  EXPECT_EQ(error.status(), Status::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("none/f"));
}

// A name that is taken, by a killed run or by an attacker, must not stop a save.
TEST(AtomicFile, FindsAnotherNameWhenOneIsTaken) {
  const TempDir folder;
  {
    const FileFaults faults({.call = FileCall::kOpen, .fail_at = 1, .error = EEXIST});
    AtomicFile file(folder.file("f"));
    file.write("x");
    file.commit();
    EXPECT_EQ(faults.count(FileCall::kOpen), 3);  // taken, free, the folder
  }
  EXPECT_EQ(slurp(folder.file("f")), "x");
  const FileFaults faults(
      {.call = FileCall::kOpen, .fail_at = 1, .for_ever = true, .error = EEXIST});
  EXPECT_EQ(error_of([&] { AtomicFile file(folder.file("g")); }).system_error(), EEXIST);
}

TEST(Faults, ReadsSurviveShortAndInterruptedCalls) {
  const TempDir folder;
  const auto bytes = some_bytes(300);
  const std::string path = folder.write("f", bytes);
  const FileFaults faults({.chunk = 7, .interrupts = true});
  EXPECT_EQ(read_file(path, 1000), bytes);
  EXPECT_GE(faults.count(FileCall::kRead), 43);
}

TEST(Faults, WritesSurviveShortAndInterruptedCalls) {
  const TempDir folder;
  const auto bytes = some_bytes(300);
  {
    const FileFaults faults({.chunk = 7, .interrupts = true});
    AtomicFile file(folder.file("f"));
    file.write(bytes);
    file.commit();
    EXPECT_GE(faults.count(FileCall::kWrite), 43);
  }
  EXPECT_EQ(read_file(folder.file("f"), 1000), bytes);
}

TEST(Faults, EveryCallOfAReadMayFail) {
  const TempDir folder;
  const auto bytes = some_bytes(64);
  const std::string path = folder.write("f", bytes);
  const int before = open_descriptors();
  const int64_t runs = fail_each_file_call(
      {.error = EIO, .chunk = 16},
      [&] {
        const File file(path);
        std::vector<uint8_t> out(64);
        file.read_at(0, out);
      },
      [&](int64_t n, const Error* error) {
        if (error) {  // a failing close after reading loses nothing
          EXPECT_EQ(error->status(), Status::kIo) << n;
          EXPECT_EQ(error->system_error(), EIO) << n;
          EXPECT_THAT(error->what(), StartsWith(path + ": "));
        }
        EXPECT_EQ(open_descriptors(), before) << n;
      });
  EXPECT_EQ(runs, 7);  // open, stat, four reads, close
}

// Each call of a save fails in turn, once and permanently, with each of the errors of disks.
TEST(Faults, ASaveIsDoneOrTheOldFileIsThere) {
  for (const int error_number : {EIO, ENOSPC, EROFS, EDQUOT}) {
    for (const bool for_ever : {false, true}) {
      const TempDir folder;
      const std::string path = folder.file("f");
      const int before = open_descriptors();
      const int64_t runs = fail_each_file_call(
          {.for_ever = for_ever, .error = error_number, .chunk = 4},
          [&] {
            folder.write("f", "the old text");
            AtomicFile file(path);
            file.write("a new text");
            file.commit();
          },
          [&](int64_t n, const Error* error) {
            const std::string found = slurp(path);
            if (error) {
              EXPECT_EQ(error->status(), Status::kIo) << n;
              EXPECT_EQ(error->system_error(), error_number) << n;
              EXPECT_THAT(error->what(), HasSubstr(folder.path())) << n;
            } else {
              EXPECT_EQ(found, "a new text") << n;
            }
            EXPECT_TRUE(found == "the old text" || found == "a new text") << n << found;
            if (!for_ever) {
              EXPECT_THAT(folder.list(), ElementsAre("f")) << n;
            }
            for (const std::string& name : folder.list())  // the next run would remove these
              if (name != "f") std::filesystem::remove(folder.file(name));
            EXPECT_EQ(open_descriptors(), before) << n;
          });
      EXPECT_EQ(runs, 10);  // open, 3 writes, sync, close, rename; open, sync, close of the folder
    }
  }
}

TEST(Faults, AWriteThatMovesNothingIsAFullDisk) {
  static const FileTable* system = &system_files();
  FileTable table = *system;
  table.write = [](int, const void*, size_t) -> ssize_t { return 0; };
  const TempDir folder;
  const FileTable* previous = set_file_table(&table);
  const Error error = error_of([&] {
    AtomicFile file(folder.file("f"));
    file.write("x");
  });
  set_file_table(previous);
  EXPECT_EQ(error.status(), Status::kIo);
  EXPECT_EQ(error.system_error(), ENOSPC);
}

// The power fails before each call that changes anything, and the machine restarts in each of many
// states: the old or the new text is there, never neither and never a mix.
TEST(PowerLossTest, ASaveIsWholeOrAbsent) {
  const std::string old_text = "the old text, long enough to be cut";
  const std::string new_text = "a new text, which is a little longer than the old one";
  bool completed = false;
  int64_t old_seen = 0, new_seen = 0, calls = 0;
  while (!completed) {
    ++calls;
    const TempDir folder;
    folder.write("f", old_text);
    const PowerLoss power(folder.path(), calls);
    bool committed = true;
    try {
      AtomicFile file(folder.file("f"));
      file.write(std::string_view(new_text).substr(0, 20));
      file.write(std::string_view(new_text).substr(20));
      file.commit();
    } catch (const Error&) {
      committed = false;
    }
    completed = !power.lost();
    EXPECT_EQ(committed, completed) << calls;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const TempDir after;
      power.restart(seed, after.path());
      const std::string found = slurp(after.file("f"));
      EXPECT_TRUE(found == old_text || found == new_text) << calls << ": " << found;
      if (committed) {
        EXPECT_EQ(found, new_text) << "a save that was confirmed is kept";
      }
      ++(found == old_text ? old_seen : new_seen);
    }
  }
  // Create, 2 writes, sync, rename, sync of the folder, and one run without a power loss.
  EXPECT_EQ(calls, 7);
  EXPECT_GT(old_seen, 0);
  EXPECT_GT(new_seen, 20);
}

// The harness itself must detect the loss of a save without fsync.
TEST(PowerLossTest, FindsASaveThatDoesNotSync) {
  const TempDir folder;
  folder.write("f", "old");
  const PowerLoss power(folder.path(), 0);
  const int fd = files().open(folder.file("t").c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(files().write(fd, "new", 3), 3);
  files().close(fd);
  ASSERT_EQ(files().rename(folder.file("t").c_str(), folder.file("f").c_str()), 0);
  bool broken = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const TempDir after;
    power.restart(seed, after.path());
    const std::string found = slurp(after.file("f"));
    broken |= found != "old" && found != "new";
  }
  EXPECT_TRUE(broken);
}

TEST(Folders, AreMadeListedAndTold) {
  const TempDir folder;
  const std::string path = join_path(folder.path(), "sub");
  EXPECT_FALSE(exists(path));
  make_directory(path);
  make_directory(path);
  EXPECT_TRUE(is_directory(path));
  folder.write("sub/b", "1");
  folder.write("sub/a", "2");
  folder.write("sub/.hidden", "3");
  EXPECT_THAT(list_directory(path), ElementsAre(".hidden", "a", "b"));
  EXPECT_TRUE(exists(join_path(path, "a")));
  EXPECT_FALSE(is_directory(join_path(path, "a")));
  EXPECT_EQ(error_of([&] { make_directory(join_path(path, "a")); }).system_error(), EEXIST);
  EXPECT_EQ(error_of([&] { make_directory(folder.file("x/y")); }).status(), Status::kNotFound);
  EXPECT_EQ(error_of([&] { list_directory(folder.file("none")); }).status(), Status::kNotFound);
  EXPECT_EQ(error_of([&] { list_directory(join_path(path, "a")); }).system_error(), ENOTDIR);
}

TEST(Paths, AreJoined) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(join_path("/", "b"), "/b");
}

TEST(Paths, StayInsideTheirFolder) {
  for (const std::string_view name : {"a", "a/b", "..a", "a..", "a/..b/c", "...", "./a"})
    EXPECT_NO_THROW(check_relative_name(name, "metadata.json")) << name;
  for (const std::string_view name :
       {std::string_view(""), std::string_view("/a"), std::string_view(".."),
        std::string_view("../a"), std::string_view("a/../b"), std::string_view("a/.."),
        std::string_view("a\0b", 3)}) {
    const Error error = error_of([&] { check_relative_name(name, "metadata.json"); });
    EXPECT_EQ(error.status(), Status::kFormat) << name;
    EXPECT_THAT(error.what(), StartsWith("metadata.json: the name \"")) << name;
  }
}

}  // namespace
}  // namespace gnnmg::base
