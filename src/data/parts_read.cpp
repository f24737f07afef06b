// Opening all parts in one process: the arrays of the whole are put together from the files of the
// parts, each read once from beginning to end, its sums checked.
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "base/file.h"
#include "data/native_arrays.h"
#include "data/parts_description.h"
#include "data/parts_files.h"
#include "data/parts_layout.h"
#include "data/parts_manifest.h"
#include "data/readers.h"

namespace gnnmg::data {
namespace {

using namespace parts;
using base::DType;
using base::fail;
using base::Status;
using base::Tensor;
using native::Array;

constexpr int32_t kFilesAtOnce = 64;
constexpr int64_t kRowsPerCheck = 4096;
constexpr int64_t kWholeAtOnce = int64_t{1} << 20;
constexpr uint16_t kNoPart = std::numeric_limits<uint16_t>::max();

class PartsArrays : public native::ArraySource {
 public:
  PartsArrays(std::string folder, const Manifest& manifest, const Metadata& metadata,
              const native::Metadata& whole, Reading& reading)
      : folder_(std::move(folder)),
        manifest_(manifest),
        facts_(metadata.facts),
        layout_(layout_of(whole)),
        num_nodes_(whole.node_types[0].num_nodes),
        indptr_file_(whole.edge_types[0].indptr.file),
        ids_file_(whole.edge_types[0].edge_ids ? whole.edge_types[0].edge_ids->file : ""),
        num_edges_(whole.edge_types[0].num_edges()),
        reading_(reading) {
    read_book();
    group_nodes();
  }

  Tensor map(const Array& array) override { return read(array); }
  std::string path(const Array& array) const override {
    return base::join_path(
        folder_, layout_.at(array.file).lies == Lies::kWhole ? array.file : "part-*/" + array.file);
  }
  Tensor read(const Array& array) override {
    const Place& place = layout_.at(array.file);
    if (place.lies == Lies::kWhole) return read_whole(array);
    Tensor out = Tensor::empty(array.dtype, array.shape);
    auto* const to = static_cast<uint8_t*>(out.data());
    const int64_t size = out.view().row_bytes();
    const int64_t* begins = place.starts.empty() ? nullptr : kept(place.starts);
    switch (place.lies) {
      case Lies::kWhole:
        break;
      case Lies::kDegrees:
      case Lies::kNodeStarts:
        read_starts(array, out, [&](int64_t v, auto&& run) { run(v); });
        break;
      case Lies::kEdgeStarts:
        read_starts(array, out, [&](int64_t v, auto&& run) { for_edges(v, run); });
        break;
      case Lies::kEdges: {
        const int64_t* starts = kept(indptr_file_);
        read_parts(array, edges(), [&](int64_t v, CheckedFile& file) {
          file.read(to + starts[v] * size, (starts[v + 1] - starts[v]) * size);
        });
        if (array.file == ids_file_) check_edge_ids(out);
        break;
      }
      case Lies::kNodeRows:
        read_parts(array, facts_.rows,
                   [&](int64_t v, CheckedFile& file) { file.read(to + v * size, size); });
        break;
      case Lies::kEdgeRows:
        read_parts(array, edges(), [&](int64_t v, CheckedFile& file) {
          for_edges(v, [&](int64_t id) { file.read(to + id * size, size); });
        });
        break;
      case Lies::kNodeEntries:
        read_parts(array, entries(begins, false), [&](int64_t v, CheckedFile& file) {
          file.read(to + begins[v] * size, (begins[v + 1] - begins[v]) * size);
        });
        break;
      case Lies::kEdgeEntries:
        read_parts(array, entries(begins, true), [&](int64_t v, CheckedFile& file) {
          for_edges(v, [&](int64_t id) {
            file.read(to + begins[id] * size, (begins[id + 1] - begins[id]) * size);
          });
        });
        break;
    }
    keep(place, array.file, out);
    return out;
  }

  const std::vector<uint16_t>& book() const { return book_; }

 private:
  const std::vector<int64_t>& edges() const { return facts_.edges; }
  void keep(const Place& place, const std::string& file, const Tensor& tensor) {
    const bool starts = place.lies == Lies::kDegrees || place.lies == Lies::kNodeStarts ||
                        place.lies == Lies::kEdgeStarts;
    if (starts || file == ids_file_) kept_.insert_or_assign(file, tensor);
  }
  const int64_t* kept(const std::string& file) const {
    return static_cast<const int64_t*>(kept_.at(file).data());
  }
  int64_t edge_id(int64_t e) const {
    if (ids_file_.empty()) return e;
    const Tensor& ids = kept_.at(ids_file_);
    return ids.dtype() == DType::kI64 ? static_cast<const int64_t*>(ids.data())[e]
                                      : static_cast<const int32_t*>(ids.data())[e];
  }
  template <typename F>
  void for_edges(int64_t v, F&& f) const {
    const int64_t* starts = kept(indptr_file_);
    for (int64_t e = starts[v]; e < starts[v + 1]; ++e) f(edge_id(e));
  }
  std::vector<int64_t> entries(const int64_t* begins, bool of_edges) const {
    std::vector<int64_t> sums(facts_.rows.size());
    for (int64_t v = 0; v < num_nodes_; ++v) {
      if (!of_edges)
        sums[book_[v]] += begins[v + 1] - begins[v];
      else
        for_edges(v, [&](int64_t id) { sums[book_[v]] += begins[id + 1] - begins[id]; });
    }
    return sums;
  }
  // Each is to be an edge's once; the graph checks the rest, but places follow from them before.
  void check_edge_ids(const Tensor& ids) const {
    check_ids(ids, num_edges_, base::text(folder_, "/part-*/", ids_file_), reading_.context.pool);
  }

  // Makes the book of the parts of all nodes, from the ids of all parts.
  void read_book() {
    book_.assign(static_cast<size_t>(num_nodes_), kNoPart);
    int64_t sum = 0;
    for (size_t p = 0; p < facts_.rows.size(); ++p) {
      reading_.context.cancel.check("opening parts");
      const FileFacts& facts = manifest_.at(part_folder(static_cast<int32_t>(p)) + "/" + kIdsFile);
      CheckedFile file(manifest_.source(), facts, {kIdsFile, DType::kI64, {facts_.rows[p]}});
      int64_t last = -1;
      for (int64_t row = 0; row < facts_.rows[p]; ++row) {
        int64_t id;
        file.read(&id, sizeof id);
        if (id <= last || id >= num_nodes_)
          fail(Status::kFormat, file.path(), ", row ", row, ": node ", id,
               ", expected ascending ids below ", num_nodes_);
        if (book_[id] != kNoPart)
          fail(Status::kFormat, file.path(), ", row ", row, ": node ", id, " is in part ",
               book_[id], " too");
        book_[id] = static_cast<uint16_t>(p);
        last = id;
      }
      file.finish();
      sum += facts_.rows[p];
    }
    if (sum != num_nodes_)
      fail(Status::kFormat, folder_, ": the parts have ", sum, " nodes, expected ", num_nodes_);
    if (std::accumulate(edges().begin(), edges().end(), int64_t{0}) != num_edges_)
      fail(Status::kFormat, folder_, ": the parts have other edges than ", num_edges_,
           " in number");
  }

  Tensor read_whole(const Array& array) {
    const FileFacts& facts = manifest_.at(array.file);
    reading_.budget.take(facts.bytes, array.file);
    CheckedFile file(manifest_.source(), facts, array);
    Tensor out = Tensor::empty(array.dtype, array.shape);
    const int64_t size = out.view().num_bytes();
    for (int64_t begin = 0; begin < size; begin += kWholeAtOnce) {
      reading_.context.cancel.check("opening parts");
      file.read(static_cast<uint8_t*>(out.data()) + begin, std::min(kWholeAtOnce, size - begin));
    }
    file.finish();
    return out;
  }

  // Goes through the files of all parts side by side: `take` for each node, in ascending order.
  template <typename Take>
  void read_parts(const Array& array, const std::vector<int64_t>& rows, const Take& take) {
    read_parts(array, rows, take, [](CheckedFile&) {});
  }
  template <typename Take, typename Begin>
  void read_parts(const Array& array, const std::vector<int64_t>& rows, const Take& take,
                  const Begin& begin) {
    const auto count = static_cast<int32_t>(rows.size());
    for (int32_t first = 0; first < count; first += kFilesAtOnce) {
      const int32_t end = std::min(count, first + kFilesAtOnce);
      std::vector<std::unique_ptr<CheckedFile>> files;
      for (int32_t p = first; p < end; ++p) {
        reading_.context.cancel.check("opening parts");
        const FileFacts& facts = manifest_.at(part_folder(p) + "/" + array.file);
        reading_.budget.take(facts.bytes, facts.file);
        files.push_back(std::make_unique<CheckedFile>(
            manifest_.source(), facts, Array{array.file, array.dtype, part_shape(array, rows[p])}));
        begin(*files.back());
      }
      for_nodes(first / kFilesAtOnce, [&](int64_t v) { take(v, *files[book_[v] - first]); });
      for (const auto& file : files) file->finish();
    }
  }

  // Calls f for each node of the parts of a group, in ascending order.
  template <typename F>
  void for_nodes(int32_t group, const F& f) const {
    const int64_t begin = by_group_.empty() ? 0 : group_starts_[group];
    const int64_t end = by_group_.empty() ? num_nodes_ : group_starts_[group + 1];
    for (int64_t i = begin; i < end; ++i) {
      if (i % kRowsPerCheck == 0) reading_.context.cancel.check("opening parts");
      f(by_group_.empty() ? i : by_group_[i]);
    }
  }

  // With more than one group of parts: lists the nodes of each, so that no group goes through all.
  void group_nodes() {
    const auto num_groups = (static_cast<int64_t>(facts_.rows.size()) - 1) / kFilesAtOnce + 1;
    if (num_groups == 1) return;
    group_starts_.resize(static_cast<size_t>(num_groups) + 1);
    for (size_t p = 0; p < facts_.rows.size(); ++p)
      group_starts_[p / kFilesAtOnce + 1] += facts_.rows[p];
    std::partial_sum(group_starts_.begin(), group_starts_.end(), group_starts_.begin());
    by_group_.resize(static_cast<size_t>(num_nodes_));
    std::vector<int64_t> next = group_starts_;
    for (int64_t v = 0; v < num_nodes_; ++v) by_group_[next[book_[v] / kFilesAtOnce]++] = v;
  }

  // Index pointers: those of the parts become lengths, and these the pointers of the whole. A
  // part's pointers begin at 0 and do not fall; where they end is held against the file of the
  // entries.
  template <typename Runs>
  void read_starts(const Array& array, const Tensor& out, const Runs& runs) {
    auto* const to = static_cast<int64_t*>(out.data());
    std::vector<int64_t> items =
        layout_.at(array.file).lies == Lies::kEdgeStarts ? edges() : facts_.rows;
    for (int64_t& count : items) ++count;
    std::map<const CheckedFile*, int64_t> ends;
    std::fill_n(to, out.rows(), int64_t{0});
    read_parts(
        array, items,
        [&](int64_t v, CheckedFile& file) {
          int64_t& end = ends[&file];
          runs(v, [&](int64_t run) {
            int64_t next;
            file.read(&next, sizeof next);
            if (next < end) fail(Status::kFormat, file.path(), ": falls from ", end, " to ", next);
            to[run + 1] = next - end;
            end = next;
          });
        },
        [&](CheckedFile& file) {
          int64_t zero;
          file.read(&zero, sizeof zero);
          if (zero != 0) fail(Status::kFormat, file.path(), ": begins at ", zero, ", expected 0");
          ends[&file] = 0;
        });
    for (int64_t r = 1; r < out.rows(); ++r)
      to[r] = base::checked_add(to[r], to[r - 1], array.file);
    check_end(array, to[out.rows() - 1]);
  }

  // Pointers of the whole end where its entries do.
  void check_end(const Array& array, int64_t end) const {
    int64_t expected = array.file == indptr_file_ ? num_edges_ : -1;
    for (const auto& [file, place] : layout_)
      if (place.starts == array.file) expected = place.array.shape[0];
    if (end != expected)
      fail(Status::kFormat, path(array), ": end at ", end, " in sum, expected ", expected);
  }

  std::string folder_;
  const Manifest& manifest_;
  const PartFacts& facts_;
  const Layout layout_;
  const int64_t num_nodes_;
  const std::string indptr_file_, ids_file_;
  const int64_t num_edges_;
  Reading& reading_;
  std::vector<uint16_t> book_;
  // Nodes by group of kFilesAtOnce parts, ascending in each; empty: one group has all.
  std::vector<int64_t> by_group_, group_starts_;
  std::map<std::string, Tensor> kept_;  // arrays that later ones are laid out by
};

}  // namespace

DatasetRef read_parts(const std::string& folder, Reading& reading) {
  const auto read = std::make_shared<const Manifest>(folder);
  const Manifest& manifest = *read;
  auto [metadata, whole] = read_description(manifest);
  const std::string where = base::join_path(folder, kWholeFile);
  PartsArrays arrays(folder, manifest, metadata, whole, reading);
  const DatasetRef opened = native::read_described(std::move(whole), where, arrays, reading);
  auto dataset = std::make_shared<Dataset>(*opened);
  dataset->parts = std::make_shared<const Parts>(
      Parts{read, metadata.arguments, metadata.facts, arrays.book(), metadata.data});
  reading.context.log.add(base::LogLevel::kInfo,
                          base::text("opened ", folder, " as ", kFormatName, ", ",
                                     metadata.arguments.num_parts, " parts"));
  return dataset;
}

std::vector<float> hotness_of(const Parts& parts, int32_t part) {
  if (part < 0 || part >= parts.arguments.num_parts)
    fail(Status::kRange, "part ", part, ": expected 0 to ", parts.arguments.num_parts - 1);
  if (parts.arguments.fanouts.empty())
    fail(Status::kNotFound, parts.manifest->source().name(),
         ": no hotness was kept; save the parts with fan-outs to have it");
  const Manifest& manifest = *parts.manifest;
  const FileFacts& facts = manifest.at(part_folder(part) + "/" + kHotnessFile);
  const auto num_nodes = static_cast<int64_t>(parts.book.size());
  std::vector<float> hotness(parts.book.size());
  CheckedFile file(manifest.source(), facts, {kHotnessFile, DType::kF32, {num_nodes}});
  file.read(hotness.data(), num_nodes * static_cast<int64_t>(sizeof(float)));
  file.finish();
  return hotness;
}

PartTraffic traffic_of(const Parts& parts, int32_t part, int64_t cache_rows) {
  const std::vector<float> hotness = hotness_of(parts, part);
  PartTraffic traffic;
  std::vector<float> remote;
  for (size_t v = 0; v < hotness.size(); ++v) {
    traffic.rows += hotness[v];
    if (parts.book[v] == part) continue;
    traffic.remote_rows += hotness[v];
    remote.push_back(hotness[v]);
  }
  const auto kept =
      static_cast<size_t>(std::clamp<int64_t>(cache_rows, 0, static_cast<int64_t>(remote.size())));
  std::nth_element(remote.begin(), remote.begin() + static_cast<ptrdiff_t>(kept), remote.end(),
                   std::greater<float>());
  const double hits =
      std::accumulate(remote.begin(), remote.begin() + static_cast<ptrdiff_t>(kept), double{0});
  if (traffic.remote_rows > 0) traffic.hit_rate = hits / traffic.remote_rows;
  return traffic;
}

}  // namespace gnnmg::data
