// Checkpoints on disk: whole or not there, whatever fails, is damaged or loses its power.
#include "train/checkpoint/folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>

#include "base/atomic_folder.h"
#include "io/checksum.h"
#include "support/file_faults.h"
#include "support/power_loss.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using train::CheckpointFiles;
using train::CheckpointSeries;

CheckpointFiles files_of(float value) {
  CheckpointFiles files;
  const auto tensor = [&] { return base::Tensor::copy_of<float>(std::vector<float>(50, value)); };
  files.model.tensors.emplace_back("w", tensor());
  files.optimizer.tensors.emplace_back("exp_avg.w", tensor());
  files.best.tensors.emplace_back("w", tensor());
  files.state = base::text("{\"value\": ", value, "}");
  return files;
}

// The value that all files of a checkpoint agree on.
float value_of(const CheckpointFiles& files) {
  const float value = files.model.find("w")->as<float>()[49];
  EXPECT_EQ(files.optimizer.find("exp_avg.w")->as<float>()[49], value);
  EXPECT_EQ(files.best.find("w")->as<float>()[49], value);
  EXPECT_EQ(files.state, base::text("{\"value\": ", value, "}"));
  return value;
}

std::pair<Status, std::string> failure(const std::function<void()>& body) {
  try {
    body();
  } catch (const base::Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::kOk, ""};
}

std::vector<std::string> names(const std::string& folder) { return base::list_directory(folder); }

TEST(CheckpointFolder, WrittenAndReadBack) {
  const TempDir folder;
  const std::string path = folder.file("one");
  train::write_checkpoint(path, files_of(3));
  EXPECT_EQ(value_of(train::read_checkpoint(path)), 3);
  EXPECT_THAT(names(path), ElementsAre("best.safetensors", "manifest.json", "model.safetensors",
                                       "optimizer.safetensors", "state.json"));
  const auto again = failure([&] { train::write_checkpoint(path, files_of(4)); });
  EXPECT_EQ(again.first, Status::kInvalidArgument);
  EXPECT_EQ(value_of(train::read_checkpoint(path)), 3);

  CheckpointFiles first = files_of(5);  // no step and no validation yet
  first.optimizer.tensors.clear();
  first.best.tensors.clear();
  train::write_checkpoint(folder.file("first"), first);
  const CheckpointFiles found = train::read_checkpoint(folder.file("first"));
  EXPECT_TRUE(found.optimizer.tensors.empty());
  EXPECT_TRUE(found.best.tensors.empty());
}

TEST(CheckpointFolder, KeepsTheLastTheBestAndTheProtected) {
  const TempDir parent;
  base::Log log;
  CheckpointSeries series(parent.file("run"), 2);
  for (int i = 0; i < 7; ++i) {
    series.add(10 * i, files_of(static_cast<float>(i)), i == 2);
    if (i == 0) series.protect("000000-step-0");
  }
  EXPECT_THAT(names(series.folder()),
              ElementsAre("000000-step-0", "000002-step-20", "000005-step-50", "000006-step-60",
                          "best", "latest"));
  EXPECT_EQ(slurp(series.folder() + "/latest"), "000006-step-60\n");
  EXPECT_EQ(slurp(series.folder() + "/best"), "000002-step-20\n");
  const auto loaded = train::find_checkpoint(series.folder(), log);
  EXPECT_EQ(loaded.path, series.folder() + "/000006-step-60");
  EXPECT_EQ(value_of(loaded.files), 6);

  // Another run that starts from an earlier step counts on, and its own are the last.
  CheckpointSeries other(series.folder(), 2);
  other.add(5, files_of(7), false);
  EXPECT_EQ(value_of(train::find_checkpoint(series.folder(), log).files), 7);
  other.add(6, files_of(8), false);
  EXPECT_THAT(names(series.folder()),
              ElementsAre("000002-step-20", "000007-step-5", "000008-step-6", "best", "latest"));
  EXPECT_FALSE(log.next());
}

// Two trainings would remove each other's checkpoints. The one that notices it leaves the folder to
// the other, like a process 0 that was taken for dead and wakes.
TEST(CheckpointFolder, TwoTrainingsInOneFolder) {
  const TempDir parent;
  base::Log log;
  CheckpointSeries first(parent.file("run"), 1), second(parent.file("run"), 1);
  first.add(10, files_of(1), false);
  second.add(3, files_of(2), false);
  const auto [status, text] = failure([&] { first.add(11, files_of(3), false); });
  EXPECT_EQ(status, Status::kIo);
  EXPECT_THAT(text, HasSubstr("000001-step-3: is newer than 000000-step-10"));
  EXPECT_THAT(text, HasSubstr("each needs a folder of its own"));
  second.add(4, files_of(4), false);
  EXPECT_EQ(value_of(train::find_checkpoint(first.folder(), log).files), 4);

  // A second start in the same folder is deliberate.
  first.add(11, files_of(5), false);
  EXPECT_EQ(value_of(train::find_checkpoint(first.folder(), log).files), 5);
}

CheckpointFiles files_of_training(const std::string& id) {
  CheckpointFiles files = files_of(1);
  files.state = base::text("{\"training\": \"", id, "\"}");
  return files;
}

TEST(CheckpointFolder, BelongsToOneTraining) {
  const TempDir parent;
  const std::string folder = parent.file("run"), id = train::draw_training_id();
  EXPECT_EQ(id.size(), 32u);
  EXPECT_NE(train::draw_training_id(), id);
  EXPECT_EQ(train::training_id_in(files_of_training(id).state, "it"), id);
  EXPECT_EQ(train::training_id_in("{}", "it"), "");

  const auto expect_refused = [&](CheckpointSeries series, const CheckpointFiles& files) {
    const std::vector<std::string> before = names(folder);
    for (const auto& begin : std::vector<std::function<void()>>{
             [&] { series.check_folder(); }, [&] { series.add(9, files, true); }}) {
      const auto [status, text] = failure(begin);
      EXPECT_EQ(status, Status::kMismatch);
      EXPECT_THAT(text,
                  StartsWith(folder + ": holds checkpoints of another training, the newest "));
    }
    EXPECT_EQ(names(folder), before);
  };
  CheckpointSeries first(folder, 1, id);
  first.check_folder();  // there is none
  first.add(1, files_of_training(id), true);
  CheckpointSeries(folder, 1, id).check_folder();
  expect_refused({folder, 1, "another"}, files_of_training("another"));
  expect_refused({folder, 1}, files_of(1));
  // Damaged ones say nothing; where none says anything, they are not this training's.
  first.add(2, files_of_training(id), false);
  const std::string newest = parent.file("run/000001-step-2/state.json");
  parent.write("run/000001-step-2/state.json", "{");
  CheckpointSeries(folder, 3, id).check_folder();
  expect_refused({folder, 1, "another"}, files_of_training("another"));
  base::remove_folder(parent.file("run/000000-step-1"));
  expect_refused({folder, 1, id}, files_of_training(id));
  // A folder whose name is merely similar stays.
  base::remove_folder(parent.file("run/000001-step-2"));
  parent.write("run/notes.txt", "mine");
  CheckpointSeries(folder, 1, "another").add(3, files_of_training("another"), true);
  EXPECT_THAT(names(folder), testing::Contains("notes.txt"));
}

// Two trainings begin in an empty folder at once: the second one notices at its first checkpoint.
TEST(CheckpointFolder, TwoTrainingsBeginAtOnce) {
  const TempDir parent;
  CheckpointSeries first(parent.file("run"), 1, "a"), second(parent.file("run"), 1, "b");
  first.check_folder();
  second.check_folder();
  first.add(1, files_of_training("a"), false);
  EXPECT_EQ(failure([&] { second.add(1, files_of_training("b"), false); }).first,
            Status::kMismatch);
  first.add(2, files_of_training("a"), false);
  EXPECT_THAT(names(parent.file("run")), ElementsAre("000001-step-2", "latest"));
}

// The counter does not wrap around: that would make the next one the oldest, and remove it.
TEST(CheckpointFolder, TheLastNumberThereIs) {
  const TempDir parent;
  const std::string folder = parent.file("run"), last = "9223372036854775807-step-1";
  base::make_directory(folder);
  train::write_checkpoint(base::join_path(folder, last), files_of(1));
  CheckpointSeries series(folder, 1);
  const auto [status, text] = failure([&] { series.add(2, files_of(2), true); });
  EXPECT_EQ(status, Status::kRange);
  EXPECT_THAT(text, HasSubstr(last + ": no number is left after its own"));
  EXPECT_THAT(names(folder), ElementsAre(last));
  // A larger one is no number, and no checkpoint.
  const std::string beyond = "9223372036854775808-step-1";
  ASSERT_EQ(
      std::rename(base::join_path(folder, last).c_str(), base::join_path(folder, beyond).c_str()),
      0);
  series.add(2, files_of(2), false);
  EXPECT_THAT(names(folder), ElementsAre("000000-step-2", beyond, "latest"));
}

// A file changes between two reads: the bytes returned are the bytes that were summed.
TEST(CheckpointFolder, ReadsWhatItSums) {
  static std::map<std::string, int> opened;  // number of opens by file name
  opened.clear();
  static const base::FileTable counting = [] {
    base::FileTable table = base::system_files();
    table.open = [](const char* path, int flags, mode_t mode) {
      const std::string name = path;
      if ((flags & O_DIRECTORY) == 0) ++opened[name.substr(name.rfind('/') + 1)];
      return base::system_files().open(path, flags, mode);
    };
    table.pread = [](int fd, void* buffer, size_t size, off_t offset) {
      const ssize_t got = base::system_files().pread(fd, buffer, size, offset);
      // Each byte turns bad once it was read.
      std::string link(4096, '\0');
      const ssize_t length =
          readlink(base::text("/proc/self/fd/", fd).c_str(), link.data(), link.size());
      link.resize(static_cast<size_t>(length));
      const int again = open(link.c_str(), O_WRONLY | O_CLOEXEC);
      const std::string junk(static_cast<size_t>(std::max<ssize_t>(got, 0)), '!');
      EXPECT_EQ(pwrite(again, junk.data(), junk.size(), offset), std::ssize(junk));
      close(again);
      return got;
    };
    return table;
  }();
  const TempDir folder;
  const std::string path = folder.file("one");
  train::write_checkpoint(path, files_of(3));
  const base::FileTable* before = base::set_file_table(&counting);
  CheckpointFiles found;
  const auto [status, text] = failure([&] { found = train::read_checkpoint(path); });
  base::set_file_table(before);
  ASSERT_EQ(status, Status::kOk) << text;
  EXPECT_EQ(value_of(found), 3);
  EXPECT_EQ(opened["model.safetensors"], 1);
  EXPECT_EQ(opened["optimizer.safetensors"], 1);
  EXPECT_EQ(opened["best.safetensors"], 1);
  EXPECT_EQ(opened["manifest.json"], 1);
}

// The newest counts, whatever the small files say: a save may have been cut off before them.
TEST(CheckpointFolder, SmallFilesDecideNothing) {
  const TempDir parent;
  base::Log log;
  const std::string folder = parent.file("run");
  CheckpointSeries series(folder, 3);
  series.add(1, files_of(1), true);
  series.add(2, files_of(2), false);
  const auto expect_newest = [&] {
    EXPECT_EQ(value_of(train::find_checkpoint(folder, log).files), 2);
    EXPECT_FALSE(log.next());
  };
  for (const std::string& text : {std::string("000000-step-1\n"), std::string(2 << 20, 'x')}) {
    std::ofstream(folder + "/latest") << text;
    std::ofstream(folder + "/best") << text;
    expect_newest();
  }
  for (const char* file : {"/latest", "/best"}) {
    std::filesystem::remove(folder + file);
    std::filesystem::create_directory(folder + file);
  }
  expect_newest();
}

// A link is found before the first epoch, not at the first checkpoint.
TEST(CheckpointFolder, LinksInPlaceOfSmallFilesAreRefusedAtTheStart) {
  const TempDir parent;
  const std::string folder = parent.file("run");
  CheckpointSeries(folder, 3).add(1, files_of(1), true);
  for (const char* file : {"/latest", "/best"}) {
    std::filesystem::remove(folder + file);
    std::filesystem::create_symlink("../elsewhere", folder + file);
    const auto [status, text] = failure([&] { CheckpointSeries(folder, 3).check_folder(); });
    EXPECT_EQ(status, Status::kIo);
    EXPECT_THAT(text, HasSubstr(std::string(file) + ": is a link, to ../elsewhere; expected"));
    std::filesystem::remove(folder + file);
  }
}

TEST(CheckpointFolder, WeightsThatAreNotFiniteAreNotSavedAndPassedOver) {
  const TempDir parent;
  base::Log log;
  CheckpointSeries series(parent.file("run"), 1);
  const std::string last = series.add(1, files_of(1), false);
  for (const bool best : {false, true}) {
    CheckpointFiles diverged = files_of(2);
    (best ? diverged.best : diverged.model).tensors[0].second.as<float>()[7] = NAN;
    const auto [status, text] = failure([&] { series.add(2, diverged, false); });
    EXPECT_EQ(status, Status::kNan);
    EXPECT_THAT(text, HasSubstr(best ? "best.safetensors: w: element 7 of [50] is not finite"
                                     : "model.safetensors: w: element 7 of [50] is not finite"));
  }
  EXPECT_THAT(names(series.folder()), ElementsAre("000000-step-1", "latest"));
  EXPECT_EQ(train::find_checkpoint(series.folder(), log).path, last);
  EXPECT_FALSE(log.next());

  // A newer checkpoint, written by somebody else.
  const std::string newer = series.folder() + "/000001-step-2";
  std::filesystem::copy(last, newer, std::filesystem::copy_options::recursive);
  std::string weights = slurp(newer + "/model.safetensors");
  const std::string sum = io::sum_of_file(newer + "/model.safetensors").sha256;
  const float nan = NAN;
  std::memcpy(weights.data() + weights.size() - sizeof nan, &nan, sizeof nan);
  std::ofstream(newer + "/model.safetensors", std::ios::binary) << weights;
  std::string manifest = slurp(newer + "/manifest.json");
  manifest.replace(manifest.find(sum), sum.size(),
                   io::sum_of_file(newer + "/model.safetensors").sha256);
  std::ofstream(newer + "/manifest.json") << manifest;
  EXPECT_EQ(train::find_checkpoint(series.folder(), log).path, last);
  const auto warning = log.next();
  ASSERT_TRUE(warning);
  EXPECT_THAT(warning->text, HasSubstr("element 49 of [50] is not finite"));
  std::filesystem::remove_all(last);
  EXPECT_EQ(failure([&] { train::find_checkpoint(series.folder(), log); }).first, Status::kNan);
}

TEST(CheckpointFolder, ADamagedOneIsPassedOver) {
  const TempDir parent;
  const std::string folder = parent.file("run");
  CheckpointSeries series(folder, 3);
  series.add(1, files_of(1), false);
  const std::string newest = series.add(2, files_of(2), false);
  for (const std::string& file : names(newest)) {
    const std::string path = newest + "/" + file;
    const std::string content = slurp(path);
    const auto damaged = [&](const std::string& bytes) {
      std::ofstream(path, std::ios::binary) << bytes;
      const auto [status, text] = failure([&] { train::read_checkpoint(newest); });
      EXPECT_TRUE(status == Status::kChecksum || status == Status::kFormat) << file << ": " << text;
      EXPECT_THAT(text, HasSubstr(file == "manifest.json" ? "manifest.json" : file));
      base::Log log;
      const auto loaded = train::find_checkpoint(folder, log);
      EXPECT_EQ(value_of(loaded.files), 1);
      const auto record = log.next();
      ASSERT_TRUE(record) << file;
      EXPECT_THAT(record->text, HasSubstr("passed over"));
    };
    damaged(content.substr(0, content.size() / 2));
    damaged(content + "x");
    damaged("");
    // No sum covers the manifest itself, whose digits all other files are compared with.
    for (size_t at = 0; at < content.size(); at += 13) {
      std::string flipped = content;
      flipped[at] ^= 4;
      if (file != "manifest.json") damaged(flipped);
    }
    unlink(path.c_str());
    base::Log log;
    EXPECT_EQ(value_of(train::find_checkpoint(folder, log).files), 1) << file;
    std::ofstream(path, std::ios::binary) << content;
    EXPECT_EQ(value_of(train::read_checkpoint(newest)), 2);
  }
}

TEST(CheckpointFolder, SomethingElseInTheFilesPlaceIsPassedOver) {
  const TempDir parent;
  const std::string folder = parent.file("run");
  CheckpointSeries series(folder, 3);
  series.add(1, files_of(1), false);
  const std::string newest = series.add(2, files_of(2), false);
  for (const std::string& file : names(newest)) {
    const std::string path = newest + "/" + file, kept = parent.file("kept");
    std::filesystem::rename(path, kept);
    const auto in_its_place = [&](const char* what, const std::function<bool()>& make) {
      SCOPED_TRACE(base::text(what, " in the place of ", file));
      ASSERT_TRUE(make());
      EXPECT_THAT(failure([&] { train::read_checkpoint(newest); }).second, HasSubstr(file));
      base::Log log;
      EXPECT_EQ(value_of(train::find_checkpoint(folder, log).files), 1);
      const auto record = log.next();
      ASSERT_TRUE(record);
      EXPECT_THAT(record->text, HasSubstr("passed over"));
      std::filesystem::remove(path);
    };
    in_its_place("a folder", [&] { return mkdir(path.c_str(), 0700) == 0; });
    in_its_place("a pipe", [&] { return mkfifo(path.c_str(), 0600) == 0; });
    in_its_place("a link to itself", [&] { return symlink(path.c_str(), path.c_str()) == 0; });
    in_its_place("a link to nothing", [&] { return symlink("/no/such", path.c_str()) == 0; });
    in_its_place("a terabyte of nothing", [&] {
      return std::ofstream(path).good() && truncate(path.c_str(), int64_t{1} << 40) == 0;
    });
    std::filesystem::rename(kept, path);
  }
  base::Log log;
  EXPECT_EQ(value_of(train::find_checkpoint(folder, log).files), 2);
}

// No sum covers the manifest, and yet no bit of it can be another.
TEST(CheckpointFolder, AnyBitOfTheManifest) {
  const TempDir folder;
  const std::string path = folder.file("one"), manifest = path + "/manifest.json";
  train::write_checkpoint(path, files_of(3));
  const std::string content = slurp(manifest);
  for (size_t at = 0; at < content.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = content;
      flipped[at] = static_cast<char>(flipped[at] ^ 1 << bit);
      std::ofstream(manifest, std::ios::binary) << flipped;
      const auto [status, text] = failure([&] { train::read_checkpoint(path); });
      EXPECT_TRUE(status == Status::kChecksum || status == Status::kFormat ||
                  status == Status::kVersion)
          << "byte " << at << " bit " << bit << ": " << text;
      EXPECT_THAT(text, HasSubstr(path));
    }
  std::ofstream(manifest, std::ios::binary) << content;
  EXPECT_EQ(value_of(train::read_checkpoint(path)), 3);
}

TEST(CheckpointFolder, WhatIsNoneIsSaid) {
  const TempDir folder;
  base::Log log;
  const auto expect = [&](const std::string& path, Status status, const std::string& text) {
    const auto found = failure([&] { train::find_checkpoint(path, log); });
    EXPECT_EQ(found.first, status) << found.second;
    EXPECT_THAT(found.second, HasSubstr(text));
  };
  expect(folder.file("absent"), Status::kNotFound, "absent: no such folder");
  expect(folder.path(), Status::kNotFound, "holds no checkpoint");
  CheckpointSeries series(folder.file("run"), 3);
  for (int i = 0; i < 2; ++i) {
    const std::string path = series.add(i, files_of(1), false);
    std::ofstream(path + "/state.json") << "{}";
  }
  expect(series.folder(), Status::kChecksum, "none of its 2 checkpoints can be read");

  const std::string newer = folder.file("newer");
  train::write_checkpoint(newer, files_of(1));
  std::string manifest = slurp(newer + "/manifest.json");
  manifest.replace(manifest.find("\"version\": 1"), 12, "\"version\": 7");
  std::ofstream(newer + "/manifest.json") << manifest;
  expect(newer, Status::kVersion, "is of format version 7; this library reads up to 1");
  const std::string several = folder.file("several");
  std::filesystem::create_directory(several);
  std::filesystem::copy(newer, several + "/000004-step-9");
  expect(several, Status::kVersion, "none of its 1 checkpoints can be read");
  train::write_checkpoint(several + "/000003-step-7", files_of(1));
  base::Log warnings;
  EXPECT_EQ(value_of(train::find_checkpoint(several, warnings).files), 1);

  manifest.replace(manifest.find("\"version\": 7"), 12, "\"version\": 1");
  manifest.replace(manifest.find("state.json"), 10, "../x/y.json");
  std::ofstream(newer + "/manifest.json") << manifest;
  expect(newer, Status::kFormat, "../x/y.json");
}

TEST(CheckpointFolder, EveryFailingCallLeavesTheOldOne) {
  for (const int error : {ENOSPC, EIO, EACCES}) {
    const TempDir parent;
    const std::string folder = parent.file("run");
    CheckpointSeries(folder, 1).add(1, files_of(1), true);
    int64_t written = 0;
    const int64_t faults = fail_each_file_call(
        {.error = error}, [&] { CheckpointSeries(folder, 1).add(2, files_of(2), false); },
        [&](int64_t call, const base::Error* thrown) {
          base::Log log;
          const float value = value_of(train::find_checkpoint(folder, log).files);
          if (!thrown) return;
          EXPECT_TRUE(value == 1 || value == 2) << "call " << call;
          EXPECT_EQ(thrown->system_error(), error) << thrown->what();
          written += value == 2;
          for (const std::string& name : names(folder)) EXPECT_NE(name[0], '.') << name;
          // The folder is restored before the next call fails.
          for (const std::string& name : names(folder))
            if (name.ends_with("-step-2")) base::remove_folder(folder + "/" + name);
          std::ofstream(folder + "/latest") << "000000-step-1\n";
        });
    EXPECT_GT(faults, 30);
    EXPECT_GT(written, 0);  // saves in which only the small files or the clearing up failed
    std::printf(
        "[ FIGURE   ] %s at each of %lld calls of a save: the old one or the new one loads\n",
        strerror(error), static_cast<long long>(faults));
  }
}

TEST(CheckpointFolder, PowerLossLeavesTheOldOrTheNewOne) {
  int outcomes[3] = {};
  int64_t calls = 1;
  for (;; ++calls) {
    const TempDir parent;
    const std::string folder = parent.file("run");
    CheckpointSeries(folder, 1).add(1, files_of(1), true);
    std::vector<std::unique_ptr<TempDir>> found;
    {
      const PowerLoss power(parent.path(), calls);
      try {
        CheckpointSeries(folder, 1).add(2, files_of(2), true);
      } catch (const base::Error&) {
      }
      if (!power.lost()) break;
      for (uint64_t seed = 0; seed < 20; ++seed) {
        found.push_back(std::make_unique<TempDir>());
        power.restart(seed, found.back()->path());
      }
    }
    for (const auto& after : found) {
      base::Log log;
      const float value = value_of(train::find_checkpoint(after->file("run"), log).files);
      ASSERT_TRUE(value == 1 || value == 2) << "call " << calls;
      ++outcomes[static_cast<int>(value)];
    }
  }
  EXPECT_GT(outcomes[1], 100);
  EXPECT_GT(outcomes[2], 20);
  std::printf(
      "[ FIGURE   ] power lost after each of %lld calls, 20 times: %d old ones, %d new ones\n",
      static_cast<long long>(calls - 1), outcomes[1], outcomes[2]);
}

TEST(CheckpointFolder, TheFirstOneOutlivesALossOfPower) {
  const TempDir parent, after;
  {
    const PowerLoss power(parent.path(), 0);
    CheckpointSeries(parent.file("run"), 1).add(1, files_of(1), false);
    power.restart(0, after.path());  // nothing that was not synced
  }
  base::Log log;
  EXPECT_EQ(value_of(train::find_checkpoint(after.file("run"), log).files), 1);
}

// A process that dies in the middle of a save leaves a folder. The next save removes it, but no
// folder of a living process: its lock tells, as a process id means nothing in another container.
TEST(CheckpointFolder, LeftoversOfDeadProcessesGo) {
  const TempDir folder;
  const std::string foreign = ".hidden";
  folder.write(foreign + "/model.safetensors", "theirs");
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t writer = fork();
  if (writer == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    base::AtomicFolder unfinished(folder.file("000003-step-9"));
    std::ofstream(unfinished.temporary() + "/model.safetensors") << "half";
    if (write(told[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte;
  ASSERT_EQ(read(told[0], &byte, 1), 1);
  const std::vector<std::string> before = names(folder.path());
  ASSERT_THAT(before, ElementsAre(StartsWith(".000003-step-9.tmp-"), foreign));

  CheckpointSeries series(folder.path(), 3);
  series.add(1, files_of(1), false);
  EXPECT_THAT(names(folder.path()), ElementsAre(before[0], foreign, "000000-step-1", "latest"));
  EXPECT_EQ(slurp(folder.file(before[0] + "/model.safetensors")), "half");

  kill(writer, SIGKILL);
  waitpid(writer, nullptr, 0);
  series.add(2, files_of(2), false);
  EXPECT_THAT(names(folder.path()),
              ElementsAre(foreign, "000000-step-1", "000001-step-2", "latest"));
}

// Checkpoints that were moved to another disk, and a trap among the leftovers of dead processes.
TEST(CheckpointFolder, WhatLinksLeadToStays) {
  const TempDir parent;
  const std::string folder = parent.file("run"), archive = parent.file("archive");
  CheckpointSeries series(folder, 1);
  std::filesystem::rename(series.add(1, files_of(1), false), archive);
  const std::string link = folder + "/000000-step-1";
  std::filesystem::create_directory_symlink(archive, link);
  base::Log log;
  EXPECT_EQ(value_of(train::find_checkpoint(folder, log).files), 1);

  const std::string other = parent.write("other/thesis.tex", "long work");
  std::filesystem::create_directory_symlink(parent.file("other"),
                                            folder + "/.000003-step-9.tmp-77");
  series.add(2, files_of(2), false);
  EXPECT_THAT(names(folder), ElementsAre(".000003-step-9.tmp-77", "000001-step-2", "latest"));
  EXPECT_EQ(value_of(train::read_checkpoint(archive)), 1);
  EXPECT_EQ(slurp(other), "long work");
}

}  // namespace
}  // namespace gnnmg::test
