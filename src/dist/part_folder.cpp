#include "dist/part_folder.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "data/native_arrays.h"
#include "data/parts_files.h"
#include "data/parts_layout.h"
#include "data/parts_manifest.h"
#include "feature/kept_store.h"
#include "io/npy.h"

namespace gnnmg::dist {
namespace {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;
using data::native::Array;

constexpr int64_t kPieceBytes = int64_t{1} << 20;

constexpr int64_t kReadWhole = int64_t{64} << 10;  // bytes of a column that is read at once

// The files of one part.
class PartFiles {
 public:
  PartFiles(const std::string& folder, int32_t part, const data::parts::Manifest& manifest,
            const data::PartFacts& facts, const data::native::Metadata& whole,
            const base::CancelToken& cancel)
      : folder_(folder),
        manifest_(manifest),
        whole_(whole),
        cancel_(cancel),
        part_(data::parts::part_folder(part) + "/"),
        rows_(facts.rows[part]),
        edges_(facts.edges[part]) {}

  int64_t num_nodes() const { return whole_.node_types[0].num_nodes; }
  Tensor ids() const { return read({data::parts::kIdsFile, DType::kI64, {rows_}}); }

  graph::Csc topology() const {
    const data::native::EdgeType& edges = whole_.edge_types[0];
    graph::Csc csc;
    csc.num_sources = num_nodes();
    csc.num_targets = rows_;
    csc.indptr = starts(edges.indptr, edges_);
    csc.indices = read(shaped(edges.indices, edges_));
    graph::visit_indices(csc, [&](auto sources) {
      check_entries(sources, csc.num_sources, path(part_ + edges.indices.file));
    });
    if (edges.edge_ids)
      csc.edge_ids = read(shaped(*edges.edge_ids, edges_));
    else if (manifest_.has(part_ + data::parts::kPlacesFile))
      csc.edge_ids = read({data::parts::kPlacesFile, DType::kI64, {edges_}});
    return csc;
  }

  std::vector<std::shared_ptr<const feature::FeatureStore>> columns() const {
    std::vector<std::shared_ptr<const feature::FeatureStore>> stores;
    for (const data::native::Column& column : whole_.node_types[0].columns) {
      if (column.sparse)
        stores.push_back(feature::make_store(sparse(column)));
      else if (column.name != whole_.label)
        stores.push_back(store(shaped(column.dense, rows_)));
    }
    return stores;
  }

  std::vector<std::shared_ptr<const feature::FeatureStore>> edge_columns() const {
    std::vector<std::shared_ptr<const feature::FeatureStore>> stores;
    for (const data::native::Column& column : whole_.edge_types[0].columns)
      if (!column.sparse) stores.push_back(store(shaped(column.dense, edges_)));
    return stores;
  }

 private:
  std::string path(const std::string& file) const { return base::join_path(folder_, file); }
  static Array shaped(const Array& array, int64_t rows) {
    return {array.file, array.dtype, data::parts::part_shape(array, rows)};
  }

  Tensor read(const Array& array) const {
    data::parts::CheckedFile file(manifest_.source(), manifest_.at(part_ + array.file), array);
    Tensor tensor = Tensor::empty(array.dtype, array.shape);
    const int64_t size = tensor.view().num_bytes();
    for (int64_t begin = 0; begin < size; begin += kPieceBytes) {
      cancel_.check("opening a part");
      file.read(static_cast<uint8_t*>(tensor.data()) + begin, std::min(kPieceBytes, size - begin));
    }
    file.finish();
    return tensor;
  }

  // A store over a mapped file takes a descriptor and two mappings, of which a process has some ten
  // thousand.
  std::unique_ptr<feature::FeatureStore> store(const Array& array) const {
    if (manifest_.at(part_ + array.file).bytes <= kReadWhole)
      return feature::make_store(read(array));
    return feature::make_kept_store(map(array));
  }

  Tensor map(const Array& array) const {
    const data::parts::FileFacts& facts = manifest_.at(part_ + array.file);
    const data::parts::CheckedFile checked(manifest_.source(), facts,
                                           array);  // header and size of the file
    return io::map_npy(path(facts.file),
                       array.dtype == DType::kBF16 ? io::U2::kBFloat16 : io::U2::kInteger);
  }

  // Index pointers over the part's rows. `entries`: where they end; -1: anywhere.
  Tensor starts(const Array& array, int64_t entries) const {
    Tensor tensor = read(shaped(array, rows_ + 1));
    const auto values = tensor.as<const int64_t>();
    const auto refuse = [&](const auto&... what) {
      fail(Status::kFormat, path(part_ + array.file), ": ", what...);
    };
    if (values.front() != 0) refuse("begins at ", values.front(), ", expected 0");
    for (size_t i = 1; i < values.size(); ++i)
      if (values[i] < values[i - 1]) refuse("falls from ", values[i - 1], " to ", values[i]);
    if (entries >= 0 && values.back() != entries)
      refuse("ends at ", values.back(), ", expected ", entries);
    return tensor;
  }

  base::CsrMatrix sparse(const data::native::Column& column) const {
    base::CsrMatrix matrix;
    matrix.num_rows = rows_;
    matrix.num_cols = column.num_cols;
    matrix.indptr = starts(column.indptr, -1);
    const int64_t entries = matrix.indptr.as<const int64_t>().back();
    matrix.indices = read(shaped(column.indices, entries));
    matrix.values = read(shaped(column.values, entries));
    check_entries(matrix.indices.as<const int32_t>(), matrix.num_cols,
                  path(part_ + column.indices.file));
    return matrix;
  }

  template <typename T>
  static void check_entries(std::span<const T> values, int64_t bound, const std::string& file) {
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] < 0 || values[i] >= bound)
        fail(Status::kRange, file, ": entry ", i, " is ", values[i], ", expected 0 to ", bound - 1);
  }

  const std::string& folder_;
  const data::parts::Manifest& manifest_;
  const data::native::Metadata& whole_;
  const base::CancelToken& cancel_;
  const std::string part_;  // folder of the part, with a slash
  const int64_t rows_, edges_;
};

}  // namespace

PartFolder::PartFolder(std::string folder, base::CancelToken cancel)
    : folder_(std::move(folder)), cancel_(std::move(cancel)) {
  const base::CancelScope scope(cancel_, "opening parts");
  manifest_ = std::make_shared<const data::parts::Manifest>(folder_);
  const auto path = [&](const char* file) { return base::join_path(folder_, file); };
  using data::parts::kMetadataFile, data::parts::kWholeFile;
  facts_ = data::parts::parse_metadata(manifest_->text(kMetadataFile), path(kMetadataFile)).facts;
  whole_ = data::native::parse_metadata(manifest_->text(kWholeFile), path(kWholeFile));
  if (whole_.node_types.size() != 1 || whole_.edge_types.size() != 1)
    fail(Status::kFormat, path(kWholeFile),
         ": parts of several types, expected one of nodes and one of edges");
}

std::vector<int32_t> PartFolder::found() const {
  std::vector<int32_t> parts;
  for (int32_t part = 0; static_cast<size_t>(part) < facts_.rows.size(); ++part)
    if (base::is_present_directory(base::join_path(folder_, data::parts::part_folder(part))))
      parts.push_back(part);
  return parts;
}

std::shared_ptr<const Part> PartFolder::read(int32_t part) const {
  const base::CancelScope scope(cancel_, "opening a part");
  cancel_.check("opening a part");
  const auto num_parts = static_cast<int32_t>(facts_.rows.size());
  if (part < 0 || part >= num_parts)
    fail(Status::kNotFound, folder_, ": part ", part, " is asked for, expected 0 to ",
         num_parts - 1);
  const PartFiles files(folder_, part, *manifest_, facts_, whole_, cancel_);
  const Tensor ids = files.ids();
  return std::make_shared<const Part>(ids.as<const int64_t>(), files.num_nodes(),
                                      std::vector<graph::Csc>{files.topology()}, files.columns(),
                                      files.edge_columns());
}

uint64_t stamp_of(const std::string& sum) {
  uint64_t stamp = 0;
  std::from_chars(sum.data(), sum.data() + 2 * sizeof stamp, stamp, 16);
  return stamp;
}

}  // namespace gnnmg::dist
