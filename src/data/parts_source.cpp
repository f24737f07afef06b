#include "data/parts_source.h"

#include <utility>

#include "base/file.h"

namespace gnnmg::data::parts {
namespace {

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
  bool exists(const std::string& file) const override {
    return base::exists(base::join_path(folder_, file));
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
