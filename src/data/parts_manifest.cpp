#include "data/parts_manifest.h"

#include <utility>

#include "base/file.h"
#include "data/parts_files.h"
#include "io/checksum.h"

namespace gnnmg::data::parts {

using base::fail;
using base::Status;

Manifest::Manifest(std::shared_ptr<const Source> source) : source_(std::move(source)) {
  const std::string path = base::join_path(source_->name(), kManifestFile);
  source_->expect_parts();
  const std::vector<uint8_t> bytes = source_->read(kManifestFile, kMaxManifest);
  for (FileFacts& file : parse_manifest(bytes, path)) {
    std::string name = file.file;
    files_.emplace(std::move(name), std::move(file));
  }
  io::Sha256 sum;
  sum.add(bytes);
  sum_ = sum.finish();
}

const FileFacts& Manifest::at(const std::string& file) const {
  const auto found = files_.find(file);
  if (found == files_.end())
    fail(Status::kFormat, base::join_path(source_->name(), kManifestFile), ": the file \"", file,
         "\" is missing");
  return found->second;
}

std::vector<uint8_t> Manifest::text(const std::string& file) const {
  std::vector<uint8_t> bytes = source_->read(file, kMaxManifest);
  PieceSums sums;
  sums.add(bytes);
  sums.finish();
  if (sums.sums() != at(file).sums)
    fail(Status::kChecksum, base::join_path(source_->name(), file),
         ": is not what was written; copy the file anew");
  return bytes;
}

}  // namespace gnnmg::data::parts
