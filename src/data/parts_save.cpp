// Writing a folder of parts: array after array, each read once from beginning to end and dealt out
// to the files of the parts.
#include <array>
#include <cstring>

#include "base/mapped_tensor.h"
#include "data/native_arrays.h"
#include "data/parts_description.h"
#include "data/parts_files.h"
#include "data/parts_journal.h"
#include "data/parts_layout.h"

namespace gnnmg::data {
namespace {

using namespace parts;
using base::DType;
using base::fail;
using base::Status;
using base::Tensor;

constexpr int32_t kOpenFiles = 64;      // parts written at once
constexpr int64_t kWindow = 1 << 20;    // bytes of a mapped tensor that are read at once
constexpr int64_t kRowsPerLook = 4096;  // rows between two looks at the cancel token

// The bytes of a tensor in memory, or of its file where it is mapped, which is read and not looked
// at through the mapping, since it may shrink.
class TensorBytes {
 public:
  explicit TensorBytes(const Tensor& tensor)
      : data_(static_cast<const uint8_t*>(tensor.data())),
        size_(tensor.view().num_bytes()),
        mapped_(base::MappedFile::of(tensor.owner())) {}

  void copy(int64_t begin, int64_t size, SummedFile& to) {
    if (!mapped_) return to.write(data_ + begin, size);
    while (size > 0) {
      if (begin < window_begin_ || begin >= window_end_) load(begin, size);
      const int64_t now = std::min(size, window_end_ - begin);
      to.write(window_.data() + (begin - window_begin_), now);
      begin += now;
      size -= now;
    }
  }

 private:
  // A whole window where bytes are asked for in order, else no more than is asked for.
  void load(int64_t begin, int64_t size) {
    const bool in_order = begin == window_end_;
    const int64_t count = std::min(in_order ? kWindow : std::min(size, kWindow), size_ - begin);
    window_.resize(static_cast<size_t>(count));
    mapped_->file().read_at(data_ + begin - mapped_->bytes().data(), window_);
    window_begin_ = begin;
    window_end_ = begin + count;
  }

  const uint8_t* data_;
  int64_t size_;
  const base::MappedFile* mapped_;
  std::vector<uint8_t> window_;
  int64_t window_begin_ = 0, window_end_ = 0;
};

class PartsSaver {
 public:
  PartsSaver(const Dataset& dataset, const Split* split, const std::string& folder,
             const PartsArguments& arguments, const PartsSteps& steps,
             const base::CancelToken& cancel)
      : csc_(dataset.graph->csc()),
        starts_(static_cast<const int64_t*>(csc_.indptr.data())),
        folder_(folder),
        steps_(steps),
        cancel_(cancel),
        whole_(native::describe(dataset,
                                [&](const native::Array& array, const Tensor& tensor) {
                                  tensors_.emplace(array.file, tensor);
                                })),
        metadata_{arguments, facts_of(dataset, split), {}},
        journal_(folder, metadata_) {}

  void run() {
    if (journal_.complete()) return;
    find_parts();
    metadata_.facts = steps_.describe(parts_);
    make_part_folders();
    write_ids();
    const Layout layout = layout_of(whole_);
    for (const auto& [file, place] : layout) write(file, place);
    const bool tensors = !whole_.edge_types[0].columns.empty();
    if (!csc_.edge_ids.defined() && (metadata_.arguments.edge_ids || tensors)) write_places();
    if (!metadata_.arguments.fanouts.empty()) write_hotness();
    write_text(kWholeFile, native::metadata_text(whole_));
    write_text(kMetadataFile, metadata_text(metadata_));
    finish();
  }

 private:
  using Emit = std::function<void(int64_t v, int32_t part, SummedFile& file)>;
  using Begin = std::function<void(int32_t part, SummedFile& file)>;
  using RowsOf = std::function<int64_t(int32_t part)>;

  Facts facts_of(const Dataset& dataset, const Split* split) {
    report("summing the data up");
    return facts_of_whole(dataset, split, whole_);
  }
  int32_t count() const { return metadata_.arguments.num_parts; }
  void report(const std::string& step) const {
    cancel_.check("saving parts");
    if (steps_.report) steps_.report(step);
  }

  void find_parts() {
    if (journal_.has(kBookFile)) {
      const Tensor book = io::read_npy(base::join_path(folder_, kBookFile), io::U2::kBFloat16);
      if (book.rows() != csc_.num_targets)
        fail(Status::kFormat, folder_, "/", kBookFile, ": ", book.rows(), " entries, expected ",
             csc_.num_targets);
      parts_.resize(static_cast<size_t>(book.rows()));
      if (book.dtype() == DType::kU8)
        std::copy_n(static_cast<const uint8_t*>(book.data()), parts_.size(), parts_.begin());
      else
        std::copy_n(static_cast<const uint16_t*>(book.data()), parts_.size(), parts_.begin());
    } else {
      parts_ = steps_.assign();
    }
    for (size_t v = 0; v < parts_.size(); ++v)
      if (parts_[v] >= count())
        fail(Status::kRange, "node ", v, " is in part ", parts_[v], ", expected 0 to ",
             count() - 1);
    if (!metadata_.arguments.ranges && !journal_.has(kBookFile)) write_book();
  }

  void write_book() {
    report("writing the book");
    const bool narrow = count() <= 256;
    SummedFile file(folder_, kBookFile);
    file.write_header(narrow ? DType::kU8 : DType::kBF16, {static_cast<int64_t>(parts_.size())});
    if (narrow)
      for (const uint16_t part : parts_) file.write(&part, 1);  // the low byte, on x86-64
    else
      file.write(parts_.data(), static_cast<int64_t>(parts_.size() * sizeof parts_[0]));
    journal_.add({file.commit()});
  }

  // Writes a file for each part with `rows(part)` rows of `array`'s shape: first the output of
  // `begin`, then that of `emit` for each node of the part, in ascending order of ids.
  void write_parts(const std::string& name, const native::Array& array, const RowsOf& rows,
                   const Emit& emit, const Begin& begin = {}) {
    const auto path = [&](int32_t part) { return part_folder(part) + "/" + name; };
    for (int32_t first = 0; first < count(); first += kOpenFiles) {
      const int32_t end = std::min(count(), first + kOpenFiles);
      bool done = true;
      for (int32_t p = first; p < end; ++p) done &= journal_.has(path(p));
      if (done) continue;
      report(base::text("writing ", name, " of parts ", first, " to ", end - 1));
      std::vector<std::unique_ptr<SummedFile>> files;
      for (int32_t p = first; p < end; ++p) {
        files.push_back(std::make_unique<SummedFile>(folder_, path(p)));
        files.back()->write_header(array.dtype, part_shape(array, rows(p)));
        if (begin) begin(p, *files.back());
      }
      for (int64_t v = 0; v < csc_.num_targets; ++v) {
        if (v % kRowsPerLook == 0) cancel_.check("saving parts");
        const int32_t p = parts_[v];
        if (p >= first && p < end) emit(v, p, *files[p - first]);
      }
      std::vector<FileFacts> written;
      written.reserve(files.size());
      for (const auto& file : files) written.push_back(file->commit());
      journal_.add(written);
    }
  }

  int64_t rows(int32_t p) const { return metadata_.facts.rows[p]; }
  int64_t edges(int32_t p) const { return metadata_.facts.edges[p]; }

  void make_part_folders() {
    std::vector<std::string> names;
    names.reserve(count());
    for (int32_t p = 0; p < count(); ++p) names.push_back(part_folder(p));
    base::make_directories(folder_, names);
  }

  void write_ids() {
    write_parts(
        kIdsFile, {kIdsFile, DType::kI64, {0}}, [&](int32_t p) { return rows(p); },
        [](int64_t v, int32_t, SummedFile& file) { file.write(&v, sizeof v); });
  }

  // The edges' places, which are their ids.
  void write_places() {
    write_parts(
        kPlacesFile, {kPlacesFile, DType::kI64, {0}}, [&](int32_t p) { return edges(p); },
        [&](int64_t v, int32_t, SummedFile& file) {
          for (int64_t e = starts_[v]; e < starts_[v + 1]; ++e) file.write(&e, sizeof e);
        });
  }

  // Index pointers of runs whose lengths `length` adds up for a node.
  template <typename Lengths>
  void write_starts(const std::string& name, const native::Array& array, const RowsOf& runs,
                    const Lengths& lengths) {
    std::vector<int64_t> sums(count());
    write_parts(
        name, array, [&](int32_t p) { return runs(p) + 1; },
        [&](int64_t v, int32_t p, SummedFile& file) {
          lengths(v, [&](int64_t length) {
            sums[p] += length;
            file.write(&sums[p], sizeof sums[p]);
          });
        },
        [&](int32_t p, SummedFile& file) {
          sums[p] = 0;
          file.write(&sums[p], sizeof sums[p]);
        });
  }

  // Calls f(id) for the edges into `v`, in their order.
  template <typename F>
  void for_edges(int64_t v, F&& f) const {
    for (int64_t e = starts_[v]; e < starts_[v + 1]; ++e) f(csc_.edge_id(e));
  }

  // Entries of sparse rows, which are a part's by `items`.
  std::vector<int64_t> entries_of(const int64_t* starts, bool of_edges) const {
    std::vector<int64_t> sums(count());
    for (int64_t v = 0; v < csc_.num_targets; ++v) {
      if (!of_edges)
        sums[parts_[v]] += starts[v + 1] - starts[v];
      else
        for_edges(v, [&](int64_t id) { sums[parts_[v]] += starts[id + 1] - starts[id]; });
    }
    return sums;
  }

  void write(const std::string& file, const Place& place) {
    const Tensor& tensor = tensors_.at(file);
    const auto rows_of = [&](int32_t p) { return rows(p); };
    const auto edges_of = [&](int32_t p) { return edges(p); };
    TensorBytes bytes(tensor);
    const int64_t size = tensor.view().row_bytes();
    const auto* own = static_cast<const int64_t*>(tensor.data());
    const Tensor starts =
        place.starts.empty() ? Tensor() : base::in_memory(tensors_.at(place.starts));
    const auto* begins = static_cast<const int64_t*>(starts.data());
    switch (place.lies) {
      case Lies::kWhole:
        return write_whole(file, tensor);
      case Lies::kDegrees:
        return write_starts(file, place.array, rows_of,
                            [&](int64_t v, auto&& add) { add(starts_[v + 1] - starts_[v]); });
      case Lies::kEdges:
        return write_parts(file, place.array, edges_of, [&](int64_t v, int32_t, SummedFile& to) {
          bytes.copy(starts_[v] * size, (starts_[v + 1] - starts_[v]) * size, to);
        });
      case Lies::kNodeRows:
        return write_parts(file, place.array, rows_of, [&](int64_t v, int32_t, SummedFile& to) {
          bytes.copy(v * size, size, to);
        });
      case Lies::kEdgeRows:
        return write_parts(file, place.array, edges_of, [&](int64_t v, int32_t, SummedFile& to) {
          for_edges(v, [&](int64_t id) { bytes.copy(id * size, size, to); });
        });
      case Lies::kNodeStarts:
        return write_starts(file, place.array, rows_of,
                            [&](int64_t v, auto&& add) { add(own[v + 1] - own[v]); });
      case Lies::kEdgeStarts:
        return write_starts(file, place.array, edges_of, [&](int64_t v, auto&& add) {
          for_edges(v, [&](int64_t id) { add(own[id + 1] - own[id]); });
        });
      case Lies::kNodeEntries: {
        const std::vector<int64_t> entries = entries_of(begins, false);
        return write_parts(
            file, place.array, [&](int32_t p) { return entries[p]; },
            [&](int64_t v, int32_t, SummedFile& to) {
              bytes.copy(begins[v] * size, (begins[v + 1] - begins[v]) * size, to);
            });
      }
      case Lies::kEdgeEntries: {
        const std::vector<int64_t> entries = entries_of(begins, true);
        return write_parts(
            file, place.array, [&](int32_t p) { return entries[p]; },
            [&](int64_t v, int32_t, SummedFile& to) {
              for_edges(v, [&](int64_t id) {
                bytes.copy(begins[id] * size, (begins[id + 1] - begins[id]) * size, to);
              });
            });
      }
    }
  }

  void write_whole(const std::string& name, const Tensor& tensor) {
    if (journal_.has(name)) return;
    report(base::text("writing ", name));
    SummedFile file(folder_, name);
    file.write_header(tensor.dtype(), tensor.shape());
    TensorBytes bytes(tensor);
    const int64_t size = tensor.view().num_bytes();
    for (int64_t begin = 0; begin < size; begin += kWindow) {
      cancel_.check("saving parts");
      bytes.copy(begin, std::min(kWindow, size - begin), file);
    }
    journal_.add({file.commit()});
  }

  void write_hotness() {
    for (int32_t p = 0; p < count(); ++p) {
      const std::string name = part_folder(p) + "/" + kHotnessFile;
      if (journal_.has(name)) continue;
      report(base::text("hotness of part ", p, " of ", count()));
      const std::vector<float> hotness = steps_.hotness(p, parts_);
      SummedFile file(folder_, name);
      file.write_header(DType::kF32, {static_cast<int64_t>(hotness.size())});
      file.write(hotness.data(), static_cast<int64_t>(hotness.size() * sizeof(float)));
      journal_.add({file.commit()});
    }
  }

  void write_text(const std::string& name, const std::string& text) {
    SummedFile file(folder_, name);
    file.write(text.data(), static_cast<int64_t>(text.size()));
    journal_.add({file.commit()});
  }

  void finish() {
    cancel_.check("saving parts");
    base::AtomicFile file(base::join_path(folder_, kManifestFile),
                          base::AtomicFile::Links::kRefuse);
    file.write(manifest_text(journal_.files()));
    file.commit();
    journal_.remove();
  }

  const graph::Csc& csc_;
  const int64_t* starts_;
  const std::string& folder_;
  const PartsSteps& steps_;
  const base::CancelToken& cancel_;
  std::map<std::string, Tensor> tensors_;  // key: the file
  native::Metadata whole_;
  Metadata metadata_;
  Journal journal_;
  std::vector<uint16_t> parts_;
};

}  // namespace

void save_parts(const Dataset& dataset, const Split* split, const std::string& folder,
                const PartsArguments& arguments, const PartsSteps& steps,
                const base::CancelToken& cancel) {
  check_divisible(dataset);
  std::string path = folder;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  PartsSaver(dataset, split, path, arguments, steps, cancel).run();
}

}  // namespace gnnmg::data
