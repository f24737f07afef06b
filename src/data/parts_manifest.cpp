#include "data/parts_manifest.h"

#include <utility>

#include "base/file.h"
#include "data/parts_files.h"
#include "io/checksum.h"

namespace gnnmg::data::parts {

using base::fail;
using base::Status;

Manifest::Manifest(const std::string& folder) : folder_(folder) {
  const std::string path = base::join_path(folder, kManifestFile);
  if (!base::exists(path))
    fail(Status::kFormat, folder, ": its parts are not complete, for there is no ", kManifestFile,
         "; call gnnmg_dataset_save_parts() again as before, and it goes on");
  const std::vector<uint8_t> bytes = base::read_file(path, kMaxManifest);
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
    fail(Status::kFormat, base::join_path(folder_, kManifestFile), ": the file \"", file,
         "\" is missing");
  return found->second;
}

std::vector<uint8_t> Manifest::text(const std::string& file) const {
  const std::string path = base::join_path(folder_, file);
  std::vector<uint8_t> bytes = base::read_file(path, kMaxManifest);
  PieceSums sums;
  sums.add(bytes);
  sums.finish();
  if (sums.sums() != at(file).sums)
    fail(Status::kChecksum, path, ": is not what was written; copy the file anew");
  return bytes;
}

}  // namespace gnnmg::data::parts
