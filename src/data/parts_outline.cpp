#include "data/parts_outline.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "data/native_arrays.h"
#include "data/parts_description.h"
#include "data/parts_files.h"
#include "data/readers.h"

namespace gnnmg::data {
namespace {

using namespace parts;
using base::DType;
using base::fail;
using base::Status;
using base::Tensor;
using native::Array;

constexpr int64_t kReadAtOnce = int64_t{1} << 20;

// The arrays that lie whole in the folder.
class WholeArrays : public native::ArraySource {
 public:
  WholeArrays(const Manifest& manifest, const ReadContext& context)
      : manifest_(manifest), context_(context) {}

  Tensor map(const Array& array) override { return read(array); }
  std::string path(const Array& array) const override {
    return base::join_path(manifest_.source().name(), array.file);
  }
  Tensor read(const Array& array) override {
    CheckedFile file(manifest_.source(), manifest_.at(array.file), array);
    Tensor out = Tensor::empty(array.dtype, array.shape);
    const int64_t size = out.view().num_bytes();
    for (int64_t begin = 0; begin < size; begin += kReadAtOnce) {
      context_.cancel.check("opening parts");
      file.read(static_cast<uint8_t*>(out.data()) + begin, std::min(kReadAtOnce, size - begin));
    }
    file.finish();
    return out;
  }

 private:
  const Manifest& manifest_;
  const ReadContext& context_;
};

// Checks the sum of a number for each part.
void check_sum(const std::vector<int64_t>& numbers, int64_t expected, const char* what,
               const std::string& where) {
  int64_t sum = 0;
  for (const int64_t number : numbers) sum = base::checked_add(sum, number, what);
  if (sum != expected)
    fail(Status::kFormat, where, ": ", expected, " ", what, ", and the parts have ", sum);
}

std::vector<uint16_t> book_of_ranges(const std::vector<int64_t>& rows) {
  std::vector<uint16_t> book;
  for (size_t part = 0; part < rows.size(); ++part)
    book.insert(book.end(), static_cast<size_t>(rows[part]), static_cast<uint16_t>(part));
  return book;
}

// With as many nodes of each part as the folder says.
std::vector<uint16_t> read_book(WholeArrays& arrays, const Metadata& metadata, int64_t num_nodes) {
  const std::vector<int64_t>& rows = metadata.facts.rows;
  if (metadata.arguments.ranges) return book_of_ranges(rows);
  const bool narrow = metadata.arguments.num_parts <= 256;
  const Array array{kBookFile, narrow ? DType::kU8 : DType::kBF16, {num_nodes}};
  const Tensor table = arrays.read(array);
  std::vector<uint16_t> book(static_cast<size_t>(num_nodes));
  if (narrow)
    std::copy_n(static_cast<const uint8_t*>(table.data()), book.size(), book.begin());
  else
    std::copy_n(static_cast<const uint16_t*>(table.data()), book.size(), book.begin());
  std::vector<int64_t> found(rows.size());
  for (size_t v = 0; v < book.size(); ++v) {
    if (book[v] >= found.size())
      fail(Status::kFormat, arrays.path(array), ": node ", v, " is in part ", book[v],
           ", expected 0 to ", found.size() - 1);
    ++found[book[v]];
  }
  for (size_t part = 0; part < rows.size(); ++part)
    if (found[part] != rows[part])
      fail(Status::kFormat, arrays.path(array), ": ", found[part], " nodes in part ", part,
           ", expected ", rows[part]);
  return book;
}

PartColumn dense_column(const native::Column& column) {
  return {column.name, column.dense.dtype, column.dense.shape.row_elements(), false};
}

std::vector<PartColumn> columns_of(const native::Metadata& whole) {
  std::vector<PartColumn> columns;
  for (const native::Column& column : whole.node_types[0].columns) {
    if (column.sparse)
      columns.push_back({column.name, column.values.dtype, column.num_cols, true});
    else if (column.name != whole.label)
      columns.push_back(dense_column(column));
  }
  return columns;
}

std::vector<PartColumn> edge_columns_of(const native::Metadata& whole) {
  std::vector<PartColumn> columns;
  for (const native::Column& column : whole.edge_types[0].columns)
    if (!column.sparse) columns.push_back(dense_column(column));
  return columns;
}

}  // namespace

DatasetRef open_outline(const std::shared_ptr<const Source>& source, const MakeRows& rows,
                        const ReadContext& context) {
  const base::CancelScope listening(context.cancel, "opening parts");
  const auto read = std::make_shared<const Manifest>(source);
  const Manifest& manifest = *read;
  Description described = read_description(manifest);
  const std::string where = base::join_path(source->name(), kWholeFile);
  WholeArrays arrays(manifest, context);
  PartsOutline outline;
  outline.num_nodes = described.whole.node_types[0].num_nodes;
  outline.num_edges = described.whole.edge_types[0].num_edges();
  check_sum(described.metadata.facts.rows, outline.num_nodes, "nodes", where);
  check_sum(described.metadata.facts.edges, outline.num_edges, "edges", where);
  outline.columns = columns_of(described.whole);
  outline.edge_columns = edge_columns_of(described.whole);
  // Without ids an edge's id is its place in the whole, which one part alone cannot know.
  outline.edge_ids = described.whole.edge_types[0].edge_ids ||
                     described.metadata.arguments.num_parts == 1 ||
                     manifest.has(part_folder(0) + "/" + kPlacesFile);
  outline.feature = described.whole.feature;
  outline.sum = manifest.sum();
  outline.parts = std::make_shared<const Parts>(
      Parts{read, described.metadata.arguments, described.metadata.facts,
            read_book(arrays, described.metadata, outline.num_nodes), described.metadata.data});
  const OpenOptions options;
  Reading reading{options, context, ByteBudget(options.max_bytes)};
  const DatasetRef around =
      native::read_around(std::move(described.whole), where, arrays, reading, rows(outline));
  auto dataset = std::make_shared<Dataset>(*around);
  dataset->parts = outline.parts;
  return dataset;
}

}  // namespace gnnmg::data
