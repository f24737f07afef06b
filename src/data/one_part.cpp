#include "data/one_part.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/mapped_tensor.h"
#include "data/native_arrays.h"
#include "data/parts_description.h"
#include "data/parts_files.h"
#include "data/parts_layout.h"
#include "io/npy.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

using Bytes = std::shared_ptr<const std::string>;

class MemoryFile : public parts::SourceFile {
 public:
  MemoryFile(std::string path, Bytes bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {}
  const std::string& path() const override { return path_; }
  int64_t size() const override { return static_cast<int64_t>(bytes_->size()); }
  void read_at(int64_t offset, std::span<uint8_t> out) const override {
    if (offset < 0 || static_cast<int64_t>(out.size()) > size() - offset)
      fail(Status::kIo, path_, ": ends at byte ", size());
    std::memcpy(out.data(), bytes_->data() + offset, out.size());
  }

 private:
  const std::string path_;
  const Bytes bytes_;
};

class OnePart : public parts::Source {
 public:
  explicit OnePart(std::string name) : name_(std::move(name)) {}
  void add(const std::string& file, std::string bytes) {
    files_.emplace(file, std::make_shared<const std::string>(std::move(bytes)));
  }
  // All files so far with their sums.
  std::vector<parts::FileFacts> facts() const {
    std::vector<parts::FileFacts> all;
    for (const auto& [file, bytes] : files_) {
      parts::PieceSums sums;
      sums.add({reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()});
      sums.finish();
      all.push_back({file, sums.bytes(), sums.sums()});
    }
    return all;
  }

  const std::string& name() const override { return name_; }
  std::unique_ptr<parts::SourceFile> open(const std::string& file) const override {
    const std::string path = base::join_path(name_, file);
    const auto found = files_.find(file);
    if (found == files_.end()) fail(Status::kNotFound, path, ": no such file");
    return std::make_unique<MemoryFile>(path, found->second);
  }
  void expect_parts() const override {}

 private:
  const std::string name_;
  std::map<std::string, Bytes> files_;
};

std::string npy_of(const Tensor& tensor) {
  const Tensor here = base::in_memory(tensor);
  std::string bytes = io::npy_header(here.dtype(), here.shape());
  bytes.append(static_cast<const char*>(here.data()), static_cast<size_t>(here.view().num_bytes()));
  return bytes;
}

parts::Metadata metadata_of(const Dataset& dataset, const native::Metadata& whole) {
  const Split* split = dataset.splits.empty() ? nullptr : &dataset.splits.front();
  parts::Metadata metadata;
  metadata.arguments.num_parts = 1;
  metadata.arguments.method = "range";
  metadata.arguments.ranges = true;
  metadata.data = parts::facts_of_whole(dataset, split, whole);
  const auto train =
      split ? static_cast<int64_t>(split->part(SplitPart::kTrain).size()) : int64_t{0};
  metadata.facts = {{dataset.graph->num_nodes()}, {dataset.graph->num_edges()}, {train}, {0}};
  return metadata;
}

}  // namespace

bool holds_own_format(const std::string& folder) {
  if (base::is_present(base::join_path(folder, parts::kManifestFile))) return false;
  const std::string path = base::join_path(folder, native::kMetadataFile);
  if (!base::is_present(path) || base::is_directory(path)) return false;
  const base::File file(path);
  constexpr int64_t kStart = 4096;
  std::string start(static_cast<size_t>(std::min(file.size(), kStart)), '\0');
  file.read_at(0, {reinterpret_cast<uint8_t*>(start.data()), start.size()});
  return native::looks_native(start);
}

std::shared_ptr<const parts::Source> one_part_source(const Dataset& dataset, std::string name,
                                                     const base::CancelToken& cancel) {
  parts::check_divisible(dataset);
  std::map<std::string, Tensor> tensors;
  const native::Metadata whole =
      native::describe(dataset, [&](const native::Array& array, const Tensor& tensor) {
        tensors.emplace(array.file, tensor);
      });
  auto source = std::make_shared<OnePart>(std::move(name));
  for (const auto& [file, place] : parts::layout_of(whole)) {
    cancel.check("describing a data set");
    if (place.lies == parts::Lies::kWhole) source->add(file, npy_of(tensors.at(file)));
  }
  source->add(parts::kWholeFile, native::metadata_text(whole));
  source->add(parts::kMetadataFile, parts::metadata_text(metadata_of(dataset, whole)));
  source->add(parts::kManifestFile, parts::manifest_text(source->facts()));
  return source;
}

}  // namespace gnnmg::data
