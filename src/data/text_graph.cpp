// Texts of numbers that hold one graph: which of the readers takes one, by the shape of its lines.
#include <algorithm>
#include <functional>
#include <optional>

#include "data/edge_list.h"
#include "data/lines.h"
#include "data/metis.h"
#include "io/bytes.h"
#include "io/fields.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;

// A budget of its own: the text is read once more by its reader, which takes it from the other.
template <typename F>
auto with_own_budget(const Reading& reading, F&& look) {
  Reading own{reading.options, reading.context, ByteBudget(reading.options.max_bytes)};
  return look(own);
}

TextShape shape_at(const std::string& path, const Reading& reading) {
  const OpenOptions& options = reading.options;
  if (options.header >= 0 || options.source_column != 0 || options.target_column != 1)
    return TextShape::kEdges;
  return with_own_budget(
      reading, [&](Reading& own) { return shape_of_text(io::ByteSource::open(path), own); });
}

bool is_metis_name(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path.ends_with(".graph") || path.ends_with(".metis");
}

// Returns the number of blank lines to the end; -1 if others follow.
int64_t blank_lines_in(io::LineReader& lines) {
  int64_t count = 0;
  std::string_view line;
  while (lines.next(line)) {
    if (line.starts_with('%')) continue;
    if (!io::trim_blanks(line).empty()) return -1;
    ++count;
  }
  return count;
}

// True if the text begins as METIS's do. Without edges there is a blank line for each node; fewer
// might be the end of any file, whose only line is an edge or a graph.
bool may_be_metis(const std::string& path) {
  constexpr int64_t kMostOfLine = 64 << 10;
  std::string only_line;
  try {
    io::LineReader lines(io::ByteSource::open(path), kMostOfLine);
    std::string_view line;
    do {
      if (!lines.next(line)) return false;
    } while (line.starts_with('%') || io::trim_blanks(line).empty());
    const auto header = parse_metis_header(line);
    if (!header || header->num_edges > 0) return header && header->num_nodes > 0;
    only_line = io::printable(line);
    const int64_t blank = blank_lines_in(lines);
    if (blank < 0 || is_metis_name(path)) return blank >= 0;
    if (header->num_nodes > 1 && blank >= header->num_nodes) return true;
  } catch (const base::Error& error) {
    if (error.status() != Status::kFormat) throw;
    return false;  // a long line, or no text
  }
  fail(Status::kFormat, path, ": the only line is \"", only_line,
       "\", which is an edge, or a METIS graph without edges; format=edges or format=metis says "
       "which");
}

// A graph, or why the text is none of METIS; neither, where it does not begin as one.
struct Metis {
  std::optional<Found> found;
  std::string refusal;
};
Metis try_metis(const std::string& path, const Reading& reading) {
  if (!may_be_metis(path)) return {};
  try {
    return {
        with_own_budget(reading,
                        [&](Reading& own) { return parse_metis(io::ByteSource::open(path), own); }),
        {}};
  } catch (const base::Error& error) {
    const bool counts_twice = error.status() == Status::kMismatch;
    if ((counts_twice && is_metis_name(path)) ||
        (!counts_twice && error.status() != Status::kFormat && error.status() != Status::kRange))
      throw;
    return {std::nullopt, error.what()};
  }
}

bool has_loops(const Found& found) {
  const auto any = [&]<typename Id>(Id) {
    return !std::ranges::equal(found.sources.as<const Id>(), found.targets.as<const Id>(),
                               std::not_equal_to<>());
  };
  return found.sources.dtype() == base::DType::kI64 ? any(int64_t{}) : any(int32_t{});
}

// Reads a list of edges. If the file has a name of METIS's, the reason why it is none is logged.
DatasetRef read_edges_or_say(const std::string& path, const std::string& refusal,
                             Reading& reading) {
  try {
    DatasetRef dataset = read_edges(path, reading);
    if (!refusal.empty() && is_metis_name(path))
      reading.context.log.add(
          base::LogLevel::kWarning,
          base::text(path, ": is taken for a list of edges; as a METIS graph: ", refusal));
    return dataset;
  } catch (const base::Error& error) {
    if (refusal.empty() || error.status() != Status::kFormat || !is_metis_name(path)) throw;
    throw base::Error(Status::kFormat, base::text(error.what(), "; as a METIS graph: ", refusal));
  }
}

// Warns of another shape that a list of a few edges may have.
void note_other_shapes(const std::string& path, TextShape shape, base::Log& log) {
  const char* other =
      shape == TextShape::kEdgesOrMatrix
          ? "has as many lines as columns and 0 on the diagonal, as an adjacency matrix"
      : shape == TextShape::kEdgesOrTransposed
          ? "has two lines with ids of all nodes, as an array [2, E] of sources and targets"
      : shape == TextShape::kEdgesOrAdjacency
          ? "lists each node with two or more that list it, as an adjacency list"
          : nullptr;
  if (other)
    log.add(base::LogLevel::kWarning,
            base::text(path, ": ", other,
                       ", but is taken for a list of edges with weights; write an edge a line"));
}

// Refuses texts of other shapes. The format edges, where the caller asks for it, takes shapes whose
// lines may be edges.
void refuse_other_shapes(const std::string& path, TextShape shape, const OpenOptions& options) {
  const auto refuse = [&](const char* found) { fail(Status::kUnsupported, path, found); };
  if (shape == TextShape::kMatrix)
    refuse(
        ": has as many lines as columns, as an adjacency matrix, which is not read; write an edge "
        "a line, or say source_column, target_column and header_lines of a list of edges");
  if (shape == TextShape::kTransposed)
    refuse(
        ": has two long lines, as an array [2, E] of sources and targets, which is not read; write "
        "an edge a line");
  if (!options.format.empty()) return;
  if (shape == TextShape::kAdjacency)
    refuse(
        ": each line has a node and its neighbors, as an adjacency list, which is not read; write "
        "an edge a line; format=edges takes the lines for edges with weights");
  if (shape == TextShape::kOneLine)
    refuse(
        ": has one line of more numbers than an edge has; write an edge a line; format=edges "
        "takes it for a list of one edge");
}

}  // namespace

DatasetRef read_edges(const std::string& path, Reading& reading) {
  reading.budget.take_file(path);
  const TextShape shape = shape_at(path, reading);
  refuse_other_shapes(path, shape, reading.options);
  note_other_shapes(path, shape, reading.context.log);
  Found found = parse_edges(io::ByteSource::open(path), reading, shape);
  found.name = name_of_text(path);
  return assemble(std::move(found), reading.options, reading.context);
}

DatasetRef read_text_graph(const std::string& path, Reading& reading) {
  Metis metis = try_metis(path, reading);
  // METIS allows no loops: a triangle below its counts, "3 3", would be read with two.
  if (metis.found && !is_metis_name(path) && has_loops(*metis.found)) metis = {};
  check_options(reading.options, metis.found ? Format::kMetis : Format::kEdges, path);
  if (!metis.found) return read_edges_or_say(path, metis.refusal, reading);
  reading.budget.take_file(path);
  reading.context.log.add(
      base::LogLevel::kInfo,
      base::text(path,
                 ": is taken for a METIS graph, which its lines are to the end; format edges "
                 "takes it for a list of edges"));
  metis.found->name = name_of_text(path);
  return assemble(std::move(*metis.found), reading.options, reading.context);
}

}  // namespace gnnmg::data
