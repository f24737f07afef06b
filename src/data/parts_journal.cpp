#include "data/parts_journal.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"

namespace gnnmg::data::parts {
namespace {

using base::fail;
using base::Status;

std::string read_text(const std::string& path, int64_t limit) {
  const std::vector<uint8_t> bytes = base::read_file(path, limit);
  return {bytes.begin(), bytes.end()};
}

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

int open_or_fail(const std::string& path, int flags) {
  int fd;
  do fd = base::files().open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) base::fail_io(errno, path, "open");
  return fd;
}

// Lists the arguments and data that differ.
void check_same(const Metadata& found, const Metadata& wanted, const std::string& folder) {
  const auto check = [&](const char* name, const auto& has, const auto& asked) {
    if (has == asked) return;
    fail(Status::kMismatch, folder, ": its parts were made with another ", name,
         "; call with the arguments of then, or choose another folder");
  };
  const PartsArguments &a = found.arguments, &b = wanted.arguments;
  if (a.num_parts != b.num_parts)
    fail(Status::kMismatch, folder, ": it has ", a.num_parts, " parts, asked for are ", b.num_parts,
         "; call with the arguments of then, or choose another folder");
  if (a.method != b.method)
    fail(Status::kMismatch, folder, ": its parts were made by the method ", a.method,
         ", asked for is ", b.method,
         "; call with the arguments of then, or choose another folder");
  check("seed", a.seed, b.seed);
  check("set of settings", a.settings, b.settings);
  check("choice of edge ids", a.edge_ids, b.edge_ids);
  check("given assignment", a.given, b.given);
  check("list of fan-outs", a.fanouts, b.fanouts);
  check("batch size", a.batch_size, b.batch_size);
  for (size_t i = 0; i < std::min(found.data.size(), wanted.data.size()); ++i)
    if (found.data[i] != wanted.data[i])
      fail(Status::kMismatch, folder, ": holds parts of another data set: its ",
           wanted.data[i].first, " differ; choose another folder");
  if (found.data.size() != wanted.data.size())
    fail(Status::kMismatch, folder, ": holds parts of another data set; choose another folder");
}

// A folder in which nothing is, or no more than a writer left that was killed before its first
// line.
bool is_fresh(const std::string& folder) {
  if (!base::is_directory(folder)) return false;
  const std::vector<std::string> names = base::list_directory(folder);
  return std::all_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.starts_with(kJournalFile); });
}

}  // namespace

Journal::Journal(const std::string& folder, const Metadata& begun) : folder_(folder) {
  const std::string journal = base::join_path(folder, kJournalFile);
  const std::string manifest = base::join_path(folder, kManifestFile);
  const std::string metadata = base::join_path(folder, kMetadataFile);
  if (base::exists(folder) && !base::exists(journal) && !base::exists(manifest) &&
      !is_fresh(folder))
    fail(Status::kInvalidArgument, folder,
         ": exists and holds no parts, expected a new folder or one of an earlier call");
  base::make_directory(folder);
  try {
    lock_ = open_or_fail(folder, O_RDONLY | O_DIRECTORY);
    if (base::files().flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      fail(Status::kBusy, folder, ": another call or process writes it");
    if (base::exists(manifest)) {
      complete_ = true;
      check_same(parse_metadata(base::read_file(metadata, kMaxManifest), metadata), begun, folder);
      if (base::exists(journal)) remove();
      return;
    }
    take_up(base::exists(journal) ? read_text(journal, kMaxManifest) : std::string(), journal,
            begun);
    fd_ = open_or_fail(journal, O_WRONLY | O_APPEND);
  } catch (...) {
    if (lock_ >= 0) base::files().close(lock_);
    throw;
  }
}

Journal::~Journal() {
  if (fd_ >= 0) base::files().close(fd_);
  if (lock_ >= 0) base::files().close(lock_);
}

// Reads the whole lines of `text` and writes them anew, without the half line of a dead writer.
void Journal::take_up(const std::string& text, const std::string& path, const Metadata& begun) {
  std::string kept = metadata_text(begun);
  int64_t number = 0;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const std::string where = base::text(path, ", line ", ++number);
    if (number == 1) {
      check_same(parse_metadata(bytes_of(line), where), begun, folder_);
      continue;
    }
    FileFacts file = parse_file_facts(bytes_of(line), where);
    kept += file_facts_text(file);
    files_.insert_or_assign(file.file, std::move(file));
  }
  base::AtomicFile anew(path, base::AtomicFile::Links::kRefuse);
  anew.write(kept);
  anew.commit();
}

void Journal::add(const std::vector<FileFacts>& files) {
  std::string text;
  for (const FileFacts& file : files) text += file_facts_text(file);
  append(text);
  for (const FileFacts& file : files) files_.insert_or_assign(file.file, file);
}

void Journal::append(const std::string& text) {
  const std::string path = base::join_path(folder_, kJournalFile);
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = base::files().write(fd_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) base::fail_io(errno, path, "write");
    done += static_cast<size_t>(wrote);
  }
  int synced;
  do synced = base::files().fsync(fd_);
  while (synced < 0 && errno == EINTR);
  if (synced < 0) base::fail_io(errno, path, "sync");
}

std::vector<FileFacts> Journal::files() const {
  std::vector<FileFacts> all;
  all.reserve(files_.size());
  for (const auto& [name, facts] : files_) all.push_back(facts);
  return all;
}

void Journal::remove() {
  const std::string path = base::join_path(folder_, kJournalFile);
  if (base::files().unlink(path.c_str()) < 0) base::fail_io(errno, path, "remove");
}

}  // namespace gnnmg::data::parts
