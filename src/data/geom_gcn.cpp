#include "data/geom_gcn.h"

#include <algorithm>
#include <limits>

#include "base/file.h"
#include "data/edge_list.h"
#include "data/labels.h"
#include "data/lines.h"
#include "data/numbers.h"
#include "data/split_files.h"
#include "io/bytes.h"
#include "io/fields.h"

namespace gnnmg::data {
namespace {

using base::DType;
using base::fail;
using base::join_path;
using base::Status;
using base::Tensor;

constexpr size_t kColumns = 3;  // number, features, label

class NodeTable {
 public:
  NodeTable(std::unique_ptr<io::ByteSource> source, Reading& reading)
      : lines_(std::move(source), reading),
        log_(reading.context.log),
        regression_(reading.options.task == Task::kRegression) {}

  void read() {
    while (next()) {
      if (ids_.size() == 0 && !headed_ && !io::parse_int(cutter_.fields()[0])) {
        headed_ = true;
        continue;
      }
      add_node();
    }
    if (ids_.size() == 0) fail(Status::kFormat, lines_.name(), ": holds no nodes");
    find_rows();
  }
  int64_t num_nodes() const { return ids_.size(); }

  void take_features(Found& found) {
    found.features_from = lines_.name();
    if (holds_indices())
      found.features = take_sparse();
    else
      found.features =
          in_order<float>(values_.take_f32({num_nodes(), columns_}, lines_.name(), log_));
  }

  void take_labels(Found& found) {
    const int64_t rows = num_nodes();
    found.labels_from = lines_.name();
    if (labels_.integral())
      found.labels = in_order<int64_t>(labels_.take_i64({rows}));
    else
      found.labels = in_order<float>(labels_.take_f32({rows}, lines_.name(), log_));
  }

 private:
  // Cuts the next line that is not blank.
  bool next() {
    std::string_view line;
    do {
      if (!lines_.next(line)) return false;
    } while (io::trim_blanks(line).empty());
    const char separator = line.find('\t') == line.npos ? ' ' : '\t';
    if (cutter_.cut(line, separator) != io::FieldCutter::Result::kWhole ||
        cutter_.fields().size() != kColumns)
      fail(Status::kFormat, lines_.where(),
           ": expected a node, its features with commas between, and its label, with tabs between "
           "the three");
    return true;
  }

  void add_node() {
    const auto& fields = cutter_.fields();
    const auto id = io::parse_int(fields[0]);
    if (!id || *id < 0)
      fail(Status::kFormat, lines_.where(), ": node \"", io::printable(fields[0]),
           "\", expected an integer from 0", kWordsToNumbers);
    ids_.push_back(*id);
    add_features(fields[1]);
    const auto label = io::parse_int(fields[2]);
    const auto number = io::parse_double(fields[2]);
    if (!label && !number && !fields[2].empty())
      fail(Status::kFormat, lines_.where(), ": label \"", io::printable(fields[2]),
           "\", expected a number", kWordsToNumbers);
    if (!label && io::is_integer(fields[2]) && !regression_)
      fail(Status::kRange, lines_.where(), ": the label ", io::printable(fields[2]),
           kTooLargeLabel);
    if (label)
      labels_.push(*label);
    else
      labels_.push(number.value_or(std::numeric_limits<double>::quiet_NaN()));
  }

  void add_features(std::string_view field) {
    list_.clear();
    if (!field.empty()) lines_.split(field, ',', list_);
    row_.clear();
    bool distinct = true;
    for (const std::string_view feature : list_) {
      const auto integer = io::parse_int(feature);
      const auto number = integer ? static_cast<double>(*integer) : io::parse_double(feature);
      if (!number)
        fail(Status::kFormat, lines_.where(), ": feature \"", io::printable(feature),
             "\", expected a number");
      values_.push(*number);
      distinct &= integer && *integer >= 0;
      if (integer) row_.push_back(*integer);
    }
    std::ranges::sort(row_);
    if (!row_.empty()) largest_ = std::max(largest_, row_.back());
    note_form(distinct && std::ranges::adjacent_find(row_) == row_.end());
    ends_.push_back(values_.size());
  }

  void note_form(bool distinct) {
    const int64_t columns = static_cast<int64_t>(list_.size());
    if (first_line_ == 0) {
      first_line_ = lines_.line_number();
      columns_ = columns;
    }
    if (!distinct && no_indices_line_ == 0) no_indices_line_ = lines_.line_number();
    if (columns == columns_ || other_line_ > 0) return;
    other_line_ = lines_.line_number();
    other_columns_ = columns;
  }

  // Film lists the numbers of the features that a node has, all others list a number for each.
  bool holds_indices() {
    if (other_line_ > 0 && no_indices_line_ > 0)
      fail(Status::kFormat, lines_.name(), ", line ", other_line_, ": ", other_columns_,
           " features, expected ", columns_, " as in line ", first_line_,
           "; a list of the numbers of features, as film has it, would have integers from 0, each "
           "once, unlike line ",
           no_indices_line_);
    if (no_indices_line_ > 0) return false;
    if (other_line_ > 0) return true;
    if (columns_ < 2 || largest_ < columns_) return false;
    log_.add(
        base::LogLevel::kWarning,
        base::text(lines_.name(), ": each node has ", columns_, " different integers from 0 to ",
                   largest_, ", which are taken for the numbers of the features that it has"));
    return true;
  }

  // Finds the row of each node.
  void find_rows() {
    const int64_t rows = ids_.size();
    row_of_.assign(rows, -1);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t id = ids_[row];
      if (id >= rows)
        fail(Status::kRange, lines_.name(), ": node ", id, ", expected 0 to ", rows - 1,
             ", for it has ", rows, " nodes");
      if (row_of_[id] >= 0)
        fail(Status::kFormat, lines_.name(), ": node ", id, " stands in two lines");
      row_of_[id] = row;
    }
  }

  template <typename T>
  Tensor in_order(const Tensor& rows) const {
    Tensor ordered = Tensor::empty(rows.dtype(), rows.shape());
    const int64_t width = rows.shape().row_elements();
    const auto from = rows.as<const T>();
    const auto to = ordered.as<T>();
    for (size_t id = 0; id < row_of_.size(); ++id)
      std::copy_n(from.data() + row_of_[id] * width, width,
                  to.data() + static_cast<int64_t>(id) * width);
    return ordered;
  }

  base::CsrMatrix take_sparse() {
    if (largest_ >= std::numeric_limits<int32_t>::max())
      fail(Status::kRange, lines_.name(), ": feature ", largest_, ", expected less than ",
           std::numeric_limits<int32_t>::max());
    const int64_t rows = num_nodes(), entries = values_.size();
    const Tensor listed = values_.take_i64({entries});
    base::CsrMatrix matrix;
    matrix.num_rows = rows;
    matrix.num_cols = largest_ + 1;
    matrix.indptr = Tensor::zeros(DType::kI64, {rows + 1});
    matrix.indices = Tensor::empty(DType::kI32, {entries});
    matrix.values = Tensor::empty(DType::kF32, {entries});
    std::ranges::fill(matrix.values.as<float>(), 1.0f);
    const auto from = listed.as<const int64_t>();
    const auto ptr = matrix.indptr.as<int64_t>();
    const auto to = matrix.indices.as<int32_t>();
    for (int64_t id = 0; id < rows; ++id) {
      const int64_t row = row_of_[id], begin = row == 0 ? 0 : ends_[row - 1];
      ptr[id + 1] = ptr[id] + ends_[row] - begin;
      for (int64_t i = 0; begin + i < ends_[row]; ++i)
        to[ptr[id] + i] = static_cast<int32_t>(from[begin + i]);
      std::sort(to.data() + ptr[id], to.data() + ptr[id + 1]);
    }
    return matrix;
  }

  CountedLines lines_;
  base::Log& log_;
  const bool regression_;
  io::FieldCutter cutter_{kColumns};
  bool headed_ = false;
  Pieces<int64_t> ids_, ends_;  // a row each: the node, and the end of its features
  NumberColumn values_, labels_;
  std::vector<std::string_view> list_;
  std::vector<int64_t> row_;  // the integers of a line, ascending
  std::vector<int64_t> row_of_;
  int64_t columns_ = 0, largest_ = -1;
  // Lines: the first, one with another number of features, one that is no list of indices.
  int64_t first_line_ = 0, other_line_ = 0, other_columns_ = 0, no_indices_line_ = 0;
};

// Reads a list of edges without the caller's options for such lists.
void take_edges(std::unique_ptr<io::ByteSource> source, Reading& reading, Found& found) {
  OpenOptions options;
  options.format = "edges";
  options.undirected = reading.options.undirected;
  options.num_nodes = found.num_nodes;
  Reading own{options, reading.context, reading.budget};
  Found list = parse_edges(std::move(source), own, TextShape::kEdges);
  reading.budget = own.budget;
  found.source = found.edges_from = list.edges_from;
  found.sources = std::move(list.sources);
  found.targets = std::move(list.targets);
  found.edge_columns = std::move(list.edge_columns);
}

}  // namespace

Found parse_geom_gcn(std::unique_ptr<io::ByteSource> nodes, std::unique_ptr<io::ByteSource> edges,
                     Reading& reading) {
  NodeTable table(std::move(nodes), reading);
  table.read();
  Found found;
  found.format = "geom_gcn";
  found.undirected = false;
  found.drop_repeats = true;
  found.num_nodes = table.num_nodes();
  table.take_features(found);
  table.take_labels(found);
  take_edges(std::move(edges), reading, found);
  return found;
}

DatasetRef read_geom_gcn(const std::string& folder, Reading& reading) {
  const std::string nodes = packed_or_not(join_path(folder, kGeomGcnNodes));
  const std::string edges = packed_or_not(join_path(folder, kGeomGcnEdges));
  reading.budget.take_file(nodes);
  reading.budget.take_file(edges);
  Found found = parse_geom_gcn(io::ByteSource::open(nodes), io::ByteSource::open(edges), reading);
  found.source = folder;
  found.name = name_of_folder(folder);
  read_split_files(folder, "", reading, found);
  read_splits_beside(folder, reading, found);
  return assemble(std::move(found), reading.options, reading.context);
}

}  // namespace gnnmg::data
