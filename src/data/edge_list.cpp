#include "data/edge_list.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "data/edge_head.h"
#include "data/edge_hints.h"
#include "data/edge_records.h"
#include "data/edge_values.h"
#include "data/first_line.h"
#include "data/missing_number.h"
#include "data/node_keys.h"
#include "data/number_lines.h"
#include "data/numbers.h"
#include "data/table_header.h"
#include "io/bytes.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;
using Fields = std::span<const std::string_view>;

constexpr size_t kMostNamed = 12;    // columns in one text
constexpr size_t kShownOfLine = 40;  // characters

// Index pointers of eight bytes a node may take twice the text and a mebibyte.
int64_t most_nodes(int64_t bytes) { return bytes / 4 + (int64_t{1} << 17); }

std::string joined(const std::vector<std::string>& items) {
  std::string all;
  for (size_t i = 0; i < std::min(items.size(), kMostNamed); ++i)
    all += base::text(i ? ", " : "", items[i]);
  if (items.size() > kMostNamed) all += base::text(" and ", items.size() - kMostNamed, " more");
  return all;
}

class EdgeParser {
 public:
  EdgeParser(std::unique_ptr<io::ByteSource> source, Reading& reading, TextShape shape)
      : records_(std::move(source), reading),
        reading_(reading),
        options_(reading.options),
        shape_(shape),
        head_(records_, options_, reading.context.log),
        kinds_apart_(options_.relabel) {
    if (options_.relabel && options_.num_nodes >= 0)
      fail(Status::kInvalidArgument, "num_nodes ", options_.num_nodes,
           ": expected -1 with relabel, which counts the nodes itself");
  }

  Found parse() {
    records_.skip(options_.header);
    if (is_counted() && records_.next()) take_counts();
    if (records_.next() && begin()) {
      do {
        add_edge();
        if (records_.place().line >= blocks_from_line_) add_blocks();
      } while (records_.next());
      blocks_.reset();
    }
    return finish();
  }

 private:
  Fields cut() { return records_.cut(head_.separator()); }
  bool is_counted() const {
    return shape_ == TextShape::kCounts || shape_ == TextShape::kCountsFromOne;
  }

  // "nodes edges", or "nodes nodes edges".
  void take_counts() {
    const Fields fields = records_.cut(choose_separator(records_.line(), 0, 1));
    counted_nodes_ = io::parse_int(fields[0]).value_or(0);
    base_ = shape_ == TextShape::kCountsFromOne && !options_.relabel ? 1 : 0;
    warn(base::text(records_.where(), ": \"", io::printable(records_.line()),
                    "\" is taken for the numbers of nodes and edges, because so many lines follow "
                    "with ids from ",
                    shape_ == TextShape::kCountsFromOne ? "1, which are numbered from 0" : "0",
                    "; header_lines=0 takes it for an edge"));
  }

  // Is at the first edge; false when there is none.
  bool begin() {
    if (!head_.find(options_.header < 0 && !is_counted())) return false;
    columns_ = records_.cut(head_.separator()).size();
    const bool has_header = !head_.names().empty();
    head_.fit(columns_);
    source_ = head_.source();
    target_ = head_.target();
    const Fields fields = cut();
    const bool may_be_triple = !has_header && columns_ == 3 && head_.ends_are_default() &&
                               !reads_as_number(fields[target_]);
    is_triple_ = may_be_triple && !reads_as_number(fields[2]);
    is_numbered_triple_ =
        may_be_triple && io::parse_int(fields[source_]) && io::parse_int(fields[2]);
    begin_values(fields);
    note_first();
    return true;
  }

  void note_first() {
    const Fields fields = cut();
    if (head_.names().empty() && head_.ends_are_default() && is_list_of_neighbors(fields[source_]))
      refuse_neighbors(fields[source_]);
    if (head_.names().empty() && head_.ends_are_default() && options_.format.empty())
      refuse_marks(fields, records_.place());
    first_line_ = records_.place().line;
    first_text_ = io::printable(records_.line(), kShownOfLine);
    first_is_integers_ = io::parse_int(fields[source_]) && io::parse_int(fields[target_]);
    first_counts_columns_ = head_.separator() != ' ';
    for (size_t i = 0; i < fields.size(); ++i)
      first_counts_columns_ = first_counts_columns_ && fields[i] == std::to_string(i);
    if (fields.size() == 3) first_third_ = io::parse_int(fields[2]).value_or(-1);
  }

  // Columns go by their names where these are known. One column of another name may be the weight;
  // of several nobody knows which.
  void begin_values(Fields fields) {
    std::vector<size_t> unnamed, unknown;
    const bool has_weight = std::ranges::any_of(head_.names(), is_called_weight);
    for (size_t i = 0; i < columns_; ++i) {
      if (i == source_ || i == target_) continue;
      const std::string name = i < head_.names().size() ? head_.names()[i] : "";
      if (has_weight && role_of(name) == ColumnRole::kWeight && !is_called_weight(name))
        values_.leave_out(in_quotes(name));
      else if (head_.names().empty() || is_number_of_column(name))
        unnamed.push_back(i);
      else if (head_.says_ends() || role_of(name) != ColumnRole::kUnknown)
        values_.add_named(i, name);
      else
        unknown.push_back(i);
    }
    if (unknown.size() == 1 && head_.names().size() == columns_)
      unnamed.push_back(unknown[0]);
    else
      for (const size_t i : unknown) values_.add_named(i, head_.names()[i]);
    // Columns before the ends come last.
    std::stable_partition(unnamed.begin(), unnamed.end(),
                          [&](size_t i) { return i > std::min(source_, target_); });
    begin_unnamed(fields, unnamed);
  }

  // True for "0", "1", ..., the names that a program gives to columns without names.
  static bool is_number_of_column(std::string_view name) {
    return !name.empty() && name.find_first_not_of("0123456789") == name.npos;
  }

  // The first two that may be numbers count, or the first of all.
  void begin_unnamed(Fields fields, const std::vector<size_t>& columns) {
    const auto is_missing = [&](size_t i) {
      return fields[i].empty() || is_missing_number(fields[i]);
    };
    const auto is_text = [&](size_t i) { return !is_missing(i) && !reads_as_number(fields[i]); };
    const bool all_text = std::all_of(columns.begin(), columns.end(), is_text);
    size_t position = 0;
    for (const size_t i : columns) {
      if (is_text(i) && !(all_text && i == columns.front())) {
        values_.leave_out(i);
        continue;
      }
      values_.add_unnamed(i, position, i < std::min(source_, target_));
      position += position > 0 || !is_missing(i);  // an empty column does not stand for the weight
    }
  }

  void add_edge() {
    const Fields fields = cut();
    if (head_.is_header_again(records_.line())) {
      if (second_headers_++ == 0) second_header_line_ = records_.place().line;
      return;
    }
    if (fields.size() != columns_) refuse_columns(fields.size());
    if (kinds_apart_) compare_kinds(fields);
    sources_.push(node(fields[source_], "source"));
    targets_.push(node(fields[target_], "target"));
    if (sources_.size() == 1 && is_sign(fields[target_]))
      sign_between_ends_ = fields[target_];
    else if (fields[target_] != sign_between_ends_)
      sign_between_ends_.clear();
    values_.add(fields, records_.attributes(), records_.place());
  }

  void compare_kinds(Fields fields) {
    const bool integer = integer_key(fields[source_]).has_value();
    if (sources_.size() == 0) source_is_integer_ = integer;
    kinds_apart_ = integer == source_is_integer_ &&
                   integer_key(fields[target_]).has_value() != source_is_integer_;
  }

  // Adds the edges of the lines that follow and are plain.
  void add_blocks() {
    CountedLines* following = records_.following();
    if (!following) return;
    const auto values = values_.number_columns();
    blocks_from_line_ = std::numeric_limits<int64_t>::max();
    const bool named = head_.names().size() != columns_ || !io::parse_int(head_.names()[source_]);
    if (!values || !named || std::string_view("\t,;| ").find(head_.separator()) > 4) return;
    NumberShape shape{.separator = head_.separator(),
                      .columns = columns_,
                      .source = source_,
                      .target = target_,
                      .least = base_,
                      .wide = options_.relabel || sources_.wide() || targets_.wide(),
                      .zeros = !options_.relabel,
                      .values = *values};
    if (shape.wide) shape.most = std::numeric_limits<int64_t>::max();
    if (options_.num_nodes >= 0) shape.most = std::min(shape.most, options_.num_nodes + base_ - 1);
    if (!blocks_) blocks_.emplace(*following, reading_);
    const int64_t others = blocks_->take(shape, [&](const NumberBlock& block) {
      add_block(block, following->line_number() + 1);
      return true;
    });
    blocks_from_line_ = following->line_number() + others;
  }

  void add_block(const NumberBlock& block, int64_t first_line) {
    if (options_.relabel) {
      for (int64_t i = 0; i < block.lines; ++i) {
        sources_.push(keys_.number(block.wide_sources[i]));
        targets_.push(keys_.number(block.wide_targets[i]));
      }
    } else {
      sources_.append(block.sources.span()), sources_.append(block.wide_sources.span());
      targets_.append(block.targets.span()), targets_.append(block.wide_targets.span());
      smallest_ = std::min(smallest_, block.smallest);
      if (block.largest > largest_)
        largest_ = block.largest, largest_line_ = first_line + block.largest_line;
    }
    sign_between_ends_.clear();
    kinds_apart_ = false;
    const int64_t width = block.numbers.size() / block.lines;
    for (int64_t i = 0; i < block.lines; ++i)
      values_.add_read(block.numbers.data() + i * width, {records_.name(), first_line + i});
  }

  [[noreturn]] void refuse_neighbors(std::string_view field) const {
    fail(Status::kUnsupported, records_.where(), ": \"", io::printable(field),
         "\", as in an adjacency list, which is not read; write an edge a line");
  }

  [[noreturn]] void refuse_columns(size_t found) {
    const bool after_counts = sources_.size() == 1 && first_is_integers_ && head_.names().empty();
    fail(Status::kFormat, records_.where(), ": ", found, " columns, expected ", columns_,
         " as in the first edge; ",
         hint_of_length(records_.line(), after_counts, columns_ == 2 && found > 2,
                        head_.separator() == '\t' && records_.cut(' ').size() == columns_));
  }

  int64_t node(std::string_view field, const char* end) {
    if (options_.relabel) {
      const auto key = integer_key(field);
      if (!key) check_name(field, end);
      if (key == -1 && missing_name_.empty())
        missing_name_ = base::text(records_.where(), ": ", end,
                                   " -1 is taken for a node, but may "
                                   "stand for a missing one; leave such lines out");
      return keys_.number(field, [this] { return records_.where(); });
    }
    auto id = io::parse_int(field);
    if (!id && head_.says_ends()) id = io::parse_whole(field);
    if (!id) refuse_end(field, end);
    if (*id < base_)
      fail(Status::kRange, records_.where(), ": ", end, " ", *id, ", expected an integer from ",
           base_, "; relabel=1 numbers ids of any size");
    if (options_.num_nodes >= 0 && *id >= options_.num_nodes + base_)
      fail(Status::kRange, records_.where(), ": ", end, " ", *id,
           options_.num_nodes > 0
               ? base::text(", expected ", base_, " to ", options_.num_nodes + base_ - 1)
               : ", expected no edge of no nodes (num_nodes=0)");
    if (*id > largest_) {
      largest_ = *id;
      largest_line_ = records_.place().line;
    }
    smallest_ = std::min(smallest_, *id);
    return *id - base_;
  }

  [[noreturn]] void refuse_end(std::string_view field, const char* end) const {
    if (is_list_of_neighbors(field)) refuse_neighbors(field);
    fail(Status::kFormat, records_.where(), ": ", end, " \"", io::printable(field), "\", expected ",
         options_.relabel ? "a name" : "an integer from 0",
         hint_of_end(field, {.column = name_for_pandas(end),
                             .columns = columns_,
                             .header = head_.names().empty() && targets_.size() == 0,
                             .triple = is_triple_,
                             .relation = is_numbered_triple_,
                             .pipes = head_.separator() == '|'}));
  }

  std::string name_for_pandas(std::string_view end) const {
    const size_t column = end == "source" ? source_ : target_;
    return column < head_.names().size() ? in_quotes(head_.names()[column])
                                         : std::to_string(column);
  }

  // A name that pandas takes for a missing one is kept.
  void check_name(std::string_view field, const char* end) {
    if (field.empty() || io::has_invisible_end(field) || has_line_end(field) ||
        has_open_bracket(field))
      refuse_end(field, end);
    if (missing_name_.empty() && is_missing_number(field))
      missing_name_ = base::text(records_.where(), ": ", end, " \"", io::printable(field),
                                 "\" is taken for a name",
                                 hint_of_end(field, {.column = name_for_pandas(end)}));
  }

  Found finish() {
    const std::string& where = records_.name();
    if (records_.comments().bipartite)
      fail(Status::kUnsupported, where,
           ": a bipartite network of KONECT, in which both ends count from 1; add the number of "
           "sources to the targets");
    if (records_.comments().matrix_market)
      fail(Status::kFormat, where,
           ": a comment says that it is a Matrix Market file; %%MatrixMarket has to begin the "
           "first line");
    if (records_.comments().adjacency)
      fail(Status::kUnsupported, where,
           ": an adjacency list of NetworkX; write the graph with write_edgelist()");
    if (sources_.size() == 0 && options_.num_nodes < 0 && counted_nodes_ < 0)
      fail(Status::kFormat, where, ": holds no edges",
           !head_.names().empty()
               ? ", but a line that is taken for a header; header_lines=0 takes it for an edge"
           : records_.comments().count() > 0
               ? ", for its lines are comments, which begin with #, % or //"
           : records_.bytes() == 0 ? ", for it is empty, as after a download that failed"
                                   : "",
           "; num_nodes opens a graph without any");
    if (records_.lone_mark_line() > 0 && options_.format.empty())
      fail(Status::kFormat, where, ", line ", records_.lone_mark_line(),
           ": # stands alone after other lines, as it parts nodes from edges in the Trivial Graph "
           "Format, which is not read; format=edges takes it for a comment");
    doubt_first_line();
    doubt_first_column();
    doubt_sign_between_ends();
    doubt_comment_inside();
    doubt_kinds_of_ends();
    Found found;
    found.format = "edges";
    found.source = found.edges_from = where;
    found.undirected = false;
    set_num_nodes(found);
    const bool wide = sources_.wide() || targets_.wide();
    found.sources = sources_.take(wide, reading_.context.pool);
    found.targets = targets_.take(wide, reading_.context.pool);
    EdgeNotes notes;
    values_.finish(found, notes);
    log_notes(notes, found.sources.rows());
    return found;
  }

  void set_num_nodes(Found& found) {
    const std::string& where = records_.name();
    if (options_.relabel) {
      found.num_nodes = keys_.count();
      if (const std::string padded = keys_.padded_beside_names(); !padded.empty())
        warn(base::text(where, ": has names of nodes, and \"", padded,
                        "\", which is taken for an integer: equal ones are one node however they "
                        "are written; put a letter in front of those that are names"));
      keys_.take(found.node_columns, records_.bytes(), where);
    } else if (options_.num_nodes >= 0) {
      found.num_nodes = options_.num_nodes;
    } else {
      // The largest id of 64 bits has no successor; it fails here like any id beyond proportion.
      const int64_t most = most_nodes(records_.bytes());
      if (largest_ >= most)
        fail(Status::kRange, where, ", line ", largest_line_, ": id ", largest_,
             ", expected less than ", most, " in a text of ", records_.bytes(), " bytes; ",
             hint_of_size(most), "relabel=1 numbers ids of any size", hint_to_keep(largest_));
      found.num_nodes = counted_nodes_ >= 0 ? counted_nodes_ : largest_ + 1;
      if (counted_nodes_ >= most)
        fail(Status::kRange, where, ": ", counted_nodes_, " nodes, expected less than ", most,
             " in a text of ", records_.bytes(), " bytes; num_nodes=", counted_nodes_, " keeps it");
      const int64_t said = records_.comments().num_nodes;
      if (counted_nodes_ < 0 && said > found.num_nodes && said < most) found.num_nodes = said;
      if (found.num_nodes == largest_ + 1) note_nodes(found.num_nodes);
    }
  }

  // Another cause of an id beyond proportion than the ids.
  const char* hint_of_size(int64_t most) const {
    if (!head_.names().empty()) return "";
    if (largest_line_ == first_line_ && first_is_integers_)
      return "if the first line holds counts, header_lines=1 passes over it; else ";
    bool targets_fit = columns_ > 2 && head_.ends_are_default();
    targets_.for_each([&](int64_t id) { targets_fit &= id < most; });
    return targets_fit ? "if the first column is no end, source_column=1 and target_column=2 take "
                         "the next two; else "
                       : "";
  }

  // Warns of a first line that is taken for an edge, but looks like something else.
  void doubt_first_line() {
    if (options_.header >= 0 || !head_.names().empty() || counted_nodes_ >= 0 ||
        !head_.ends_are_default())
      return;
    if (first_counts_columns_ && (columns_ > 2 || repeats_first(sources_, targets_)))
      return warn(base::text(TextPlace{records_.name(), first_line_}.where(), ": \"", first_text_,
                             "\" is taken for an edge, but may be what pandas calls columns that "
                             "have no names; header_lines=1 passes over it"));
    const bool names = options_.relabel && may_name_columns(sources_, targets_);
    // A larger id in another line leaves no number that could count the nodes.
    const bool counts =
        !options_.relabel && sources_.size() > 0 &&
        largest_ <= std::max(sources_.at(0), targets_.at(0)) &&
        (may_count(sources_, targets_) || may_count_entries(sources_, targets_, first_third_));
    if (!names && !counts) return;
    warn(base::text(TextPlace{records_.name(), first_line_}.where(), ": \"", first_text_,
                    "\" is taken for an edge, but ",
                    !names ? "may be the numbers of nodes and edges, though the other lines do not "
                             "fit them"
                    : first_is_integers_ ? "may be the numbers of nodes and edges, for its ends "
                                           "stand in no other line"
                                         : "may be the names of columns, for they stand in no "
                                           "other line",
                    "; header_lines=1 passes over it"));
  }

  // "0 -> 1": the same sign in the place of every target.
  void doubt_sign_between_ends() {
    if (sign_between_ends_.empty() || !options_.relabel || columns_ < 3 ||
        !head_.ends_are_default())
      return;
    warn(base::text(records_.name(), ": every target is \"", io::printable(sign_between_ends_),
                    "\", as a sign between two ends; target_column=", target_ + 1,
                    " takes the next column"));
  }

  // "#ml,#ai,5" among edges.
  void doubt_comment_inside() {
    io::FieldCutter cutter(EdgeRecords::kMostFields);
    cutter.cut(records_.comment_inside(), head_.separator());
    if (cutter.fields().size() != columns_) return;
    warn(base::text(records_.name(), ", line ", records_.comment_inside_line(), ": \"",
                    io::printable(records_.comment_inside(), kShownOfLine),
                    "\" is passed over as a comment, but has as many columns as an edge; comments "
                    "begin with #, % or //"));
  }

  // "7 Smith", "n7 1": tables of nodes open as lists of edges where names are numbered.
  void doubt_kinds_of_ends() {
    if (!kinds_apart_ || head_.says_ends() || sources_.size() < 2) return;
    const char* integer = source_is_integer_ ? "source" : "target";
    const char* other = source_is_integer_ ? "target" : "source";
    warn(base::text(records_.name(), ": every ", integer, " is an integer and no ", other,
                    " is, as in a table of nodes with their names or labels; it is taken for "
                    "edges"));
  }

  void doubt_first_column() {
    constexpr int64_t kFewest = 4;  // lines: fewer are numbered by chance
    const bool wide = columns_ > 2;
    if (head_.says_ends() || options_.relabel || !head_.ends_are_default() ||
        sources_.size() < kFewest - wide || !may_number_lines(sources_, targets_))
      return;
    std::string found = base::text(
        records_.name(),
        ": the first column numbers the lines, as an index does, and numbers of nodes beside their "
        "labels or neighbors");
    if (wide) found += "; source_column=1 and target_column=2 take the next two";
    if (wide && options_.format.empty() && sources_.size() >= kFewest && sources_.at(0) <= 1)
      fail(Status::kFormat, found, ", format=edges takes the first two");
    warn(found + "; it is taken for the sources");
  }

  // Nodes that no edge has, where nobody said how many nodes there are.
  void note_nodes(int64_t num_nodes) {
    const int64_t without =
        num_nodes - count_different(sources_, targets_, num_nodes, reading_.context.pool);
    const std::string& where = records_.name();
    if (const int64_t said = records_.comments().num_nodes; said >= 0 && num_nodes - without > said)
      warn(
          base::text(where, ": its comments count ", said, " nodes, it has ", num_nodes - without));
    if (smallest_ > 0 && base_ == 0)
      warn(base::text(where, ": ids count from ", smallest_, ", so that node 0 has no edge",
                      smallest_ == 1 ? "" : ", nor have others",
                      "; relabel=1 numbers them from 0"));
    if (without > (smallest_ > 0 ? smallest_ : 0))
      warn(base::text(where, ": ", without, " of ", num_nodes,
                      " nodes have no edge; relabel=1 numbers only those that have one"));
  }

  void log_notes(const EdgeNotes& notes, int64_t num_edges) {
    const std::string& where = records_.name();
    if (columns_ > 0) {
      std::string note =
          base::text(where, ": separator ",
                     records_.has_double_colons() ? "\"::\""
                     : head_.separator() == '\t'  ? "tab"
                     : head_.separator() == ' '   ? "blanks"
                                                  : std::string{'"', head_.separator(), '"'},
                     ", ends in columns ", source_, " and ", target_);
      if (!head_.names().empty()) note += ", a header names the columns";
      if (!notes.kept.empty()) note += base::text(", ", joined(notes.kept));
      reading_.context.log.add(base::LogLevel::kInfo, std::move(note));
    }
    for (const std::string& warning : notes.warnings) warn(base::text(where, ": ", warning));
    if (!missing_name_.empty()) warn(missing_name_);
    if (second_headers_ > 0)
      warn(base::text(where, ": the header stands again in line ", second_header_line_,
                      second_headers_ > 1 ? base::text(" and ", second_headers_ - 1, " more") : "",
                      ", and is passed over there"));
    if (records_.has_double_colons() && head_.names().empty())
      warn(base::text(where,
                      ": \"::\" separates columns, as in MovieLens, whose ends are users and "
                      "movies, but equal ids are taken for one node; add the number of the former "
                      "to the ids of the latter"));
    if (options_.relabel && is_triple_ && !notes.left_out.empty())
      warn(base::text(where,
                      ": has three columns of names, as triples of subject, relation and object "
                      "have; taken are the first two; target_column=2 takes the third"));
    if (head_.two_kinds())
      warn(base::text(where, ": by their names ", in_quotes(head_.names()[source_]), " and ",
                      in_quotes(head_.names()[target_]),
                      " are of two kinds, but equal ids are taken for one node; add the number of "
                      "the former to the ids of the latter"));
    if (!notes.left_out.empty())
      warn(base::text(where, ": columns left out: ", joined(notes.left_out)));
    const EdgeComments& comments = records_.comments();
    if (options_.undirected < 0 && (notes.undirected || comments.undirected))
      warn(base::text(where,
                      ": says that it is undirected; edges are taken one way, as they are "
                      "listed; undirected=1 adds their reverses"));
    if (comments.num_edges >= 0 && comments.num_edges != num_edges)
      warn(base::text(where, ": its comments count ", comments.num_edges, " edges, it has ",
                      num_edges));
  }
  void warn(std::string text) {
    reading_.context.log.add(base::LogLevel::kWarning, std::move(text));
  }

  EdgeRecords records_;
  Reading& reading_;
  const OpenOptions& options_;
  const TextShape shape_;
  EdgeHead head_;
  size_t source_ = 0, target_ = 1;
  int64_t first_line_ = 0;  // line of the first edge
  std::string first_text_;
  bool first_is_integers_ = false;     // the ends of the first line are integers
  bool first_counts_columns_ = false;  // "0,1,2"
  int64_t first_third_ = -1;           // the last number of a first line of three
  bool is_numbered_triple_ = false;    // a name between two integers
  bool kinds_apart_,
      source_is_integer_ = false;  // one end of all lines is an integer, and not both
  bool is_triple_ = false;         // three columns, the last two of which are names
  std::string missing_name_;       // the warning of a name that may stand for a missing one
  int64_t second_headers_ = 0, second_header_line_ = 0;
  size_t columns_ = 0;  // columns per line; 0 before the first edge
  EdgeValues values_;
  NodeKeys keys_;
  IdColumn sources_, targets_;
  std::optional<NumberLines> blocks_;
  int64_t blocks_from_line_ = 0;   // lines before this one are read one by one
  std::string sign_between_ends_;  // the target of all lines so far, if it is a sign
  int64_t base_ = 0;               // the smallest id
  int64_t counted_nodes_ = -1;
  int64_t smallest_ = std::numeric_limits<int64_t>::max();
  int64_t largest_ = -1, largest_line_ = 0;
};

}  // namespace

void check_node_count(int64_t num_nodes, int64_t bytes, std::string_view where) {
  const int64_t most = most_nodes(bytes);
  if (num_nodes > most)
    fail(Status::kRange, where, ": ", num_nodes,
         " nodes without features or labels, expected at most ", most, " beside ", bytes,
         " bytes of edges");
}

Found parse_edges(std::unique_ptr<io::ByteSource> source, Reading& reading, TextShape shape) {
  return EdgeParser(std::move(source), reading, shape).parse();
}

}  // namespace gnnmg::data
