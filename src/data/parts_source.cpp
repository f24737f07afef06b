#include "data/parts_source.h"

#include <optional>
#include <utility>

#include "base/file.h"
#include "data/parts_metadata.h"
#include "data/recognize.h"

namespace gnnmg::data::parts {
namespace {

using base::fail;
using base::Status;

constexpr const char* kExpected = ", expected a folder that gnnmg_dataset_save_parts() has written";

// Describes the content of a folder without parts, if it is known.
std::optional<Candidate> other_data(const std::string& folder) {
  std::vector<Candidate> passed_over;
  try {
    return recognize(folder, "", &passed_over);
  } catch (const base::Error& error) {
    if (error.status() != Status::kFormat) throw;
    return std::nullopt;
  }
}

[[noreturn]] void fail_without_manifest(const std::string& folder) {
  const auto holds = [&](const char* file) {
    return base::is_present(base::join_path(folder, file));
  };
  if (!base::is_present(folder)) fail(Status::kNotFound, folder, ": no such folder", kExpected);
  if (!base::is_directory(folder)) fail(Status::kNotFound, folder, ": is a file", kExpected);
  if (holds(kJournalFile) || holds(kWholeFile))
    fail(Status::kFormat, folder, ": its parts are not complete, for there is no ", kManifestFile,
         "; call gnnmg_dataset_save_parts() again as before, and it goes on");
  if (base::list_visible(folder).empty())
    fail(Status::kNotFound, folder, ": is empty and holds no parts", kExpected);
  const std::optional<Candidate> other = other_data(folder);
  if (!other)
    fail(Status::kFormat, folder, ": holds no parts, for there is no ", kManifestFile, kExpected);
  if (other->format == Format::kParts)
    fail(Status::kNotFound, folder, ": holds no parts itself; they lie in ", other->path);
  fail(Status::kFormat, folder, ": holds a data set that is not in parts (format ",
       format_name(other->format),
       "); gnnmg_dataset_save_parts() divides it into parts, gnnmg_dataset_open() opens it whole");
}

class FolderFile : public SourceFile {
 public:
  explicit FolderFile(const std::string& path) : file_(path) {}
  const std::string& path() const override { return file_.path(); }
  int64_t size() const override { return file_.size(); }
  void read_at(int64_t offset, std::span<uint8_t> out) const override {
    file_.read_at(offset, out);
  }

 private:
  base::File file_;
};

class FolderSource : public Source {
 public:
  explicit FolderSource(std::string folder) : folder_(std::move(folder)) {}
  const std::string& name() const override { return folder_; }
  std::unique_ptr<SourceFile> open(const std::string& file) const override {
    return std::make_unique<FolderFile>(base::join_path(folder_, file));
  }
  void expect_parts() const override {
    if (!base::is_present(base::join_path(folder_, kManifestFile))) fail_without_manifest(folder_);
  }

 private:
  std::string folder_;
};

}  // namespace

std::vector<uint8_t> Source::read(const std::string& file, int64_t limit) const {
  const auto opened = open(file);
  if (opened->size() > limit)
    base::fail(base::Status::kFormat, opened->path(), ": has ", opened->size(), " bytes, expected ",
               limit, " at most");
  std::vector<uint8_t> bytes(static_cast<size_t>(opened->size()));
  opened->read_at(0, bytes);
  return bytes;
}

std::shared_ptr<const Source> folder_source(std::string folder) {
  return std::make_shared<const FolderSource>(std::move(folder));
}

}  // namespace gnnmg::data::parts
