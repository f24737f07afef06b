#include "io/foreign.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/lower.h"
#include "io/fields.h"
#include "io/text.h"

namespace gnnmg::io {
namespace {

using namespace std::string_view_literals;

struct Magic {
  size_t at;
  std::string_view bytes, name;
  Remedy remedy;
  bool binary = false;  // a zero byte must follow, because the magic alone may be text
};

// Placeholder of a file that was not fetched.
struct Pointer {
  std::string_view start;
  ForeignKind kind;
};
constexpr Pointer kPointers[] = {
    {"version https://git-lfs",
     {"a pointer of Git LFS to a file that was not fetched", {"run git lfs pull"}}},
    {"version https://hawser.github.com",
     {"a pointer of Git LFS to a file that was not fetched", {"run git lfs pull"}}},
    {"outs:\n- md5:", {"a pointer of DVC to a file that was not fetched", {"run dvc pull"}}},
};
constexpr ForeignKind kAnnex{"a pointer of git-annex to a file that was not fetched",
                             {"run git annex get"}};

constexpr Remedy kUnpack{"unpack it"};
constexpr Remedy kDecompress{"decompress it"};
constexpr Remedy kFetch{"fetch the file itself"};
constexpr Remedy kWriteEdges{"write the graph with an edge a line", true};
constexpr Remedy kReadParquet{
    "write it as text: pandas.read_parquet(file).to_csv(\"edges.csv\", index=False)", true};
constexpr Remedy kReadOrc{
    "write it as text: pandas.read_orc(file).to_csv(\"edges.csv\", index=False)", true};
constexpr Remedy kReadFeather{
    "write it as text: pandas.read_feather(file).to_csv(\"edges.csv\", index=False)", true};
constexpr Remedy kReadStream{
    "write it as text: pyarrow.ipc.open_stream(file).read_pandas().to_csv(\"edges.csv\", "
    "index=False)",
    true};
constexpr Remedy kReadStata{
    "write it as text: pandas.read_stata(file).to_csv(\"edges.csv\", index=False)", true};
constexpr Remedy kArrays{"write its arrays as .npy files in a folder (format plain)", true};
constexpr Remedy kUtf8{"write it as UTF-8"};

constexpr Magic kMagics[] = {
    {4, "1AY&SY"sv, "compressed by bzip2", kDecompress, true},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "compressed by xz", kDecompress},
    {0, "\x28\xb5\x2f\xfd"sv, "compressed by Zstandard", kDecompress},
    {0, "\x04\x22\x4d\x18"sv, "compressed by LZ4", kDecompress},
    {0, "\x5d\0\0"sv, "compressed by LZMA", kDecompress},
    {0, "\x1f\x8b"sv, "compressed by gzip more than once", kDecompress},
    {0, "\x78\x9c"sv, "compressed by zlib", kDecompress},
    {0, "\x78\xda"sv, "compressed by zlib", kDecompress},
    {0, "\x78\x01"sv, "compressed by zlib", kDecompress},
    {0, "LZIP"sv, "compressed by lzip", kDecompress, true},
    {0, "\x1f\x9d"sv, "compressed by compress", kDecompress},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive", kUnpack},
    {0, "Rar!\x1a\x07"sv, "a RAR archive", kUnpack},
    {257, "ustar"sv, "a tar archive", kUnpack},
    {0, "\xff\xfe\0\0"sv, "text in UTF-32", kUtf8},
    {0, "\xff\xfe"sv, "text in UTF-16", kUtf8},
    {0, "\xfe\xff"sv, "text in UTF-16", kUtf8},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file", kArrays},
    {0, "HDF5-based Julia Data Format"sv, "a file of JLD2", kArrays},
    {8, "DUCK"sv, "a DuckDB data base", kWriteEdges, true},
    {0, "\xff\x06\0\0sNaPpY"sv, "compressed by Snappy", kDecompress},
    {0, "\x89PNG\r\n\x1a\n"sv, "a picture (PNG)", kWriteEdges},
    {0, "\xff\xd8\xff"sv, "a picture (JPEG)", kWriteEdges},
    {0, "GIF8"sv, "a picture (GIF)", kWriteEdges, true},
    {0, "PAR1"sv, "a Parquet file", kReadParquet, true},
    {0, "ARROW1"sv, "an Arrow file", kReadFeather, true},
    {0, "SQLite format 3"sv, "an SQLite data base", kWriteEdges},
    {0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "a document of Excel before 2007", kWriteEdges},
    {0, "ORC"sv, "an ORC file", kReadOrc, true},
    {0, "\xff\xff\xff\xff"sv, "a stream of Arrow", kReadStream, true},
    {0, "{\\rtf"sv, "a document (RTF)", kWriteEdges},
    {0, "FEA1"sv, "a Feather file", kReadFeather, true},
    {0, "<stata_dta>"sv, "a file of Stata", kReadStata},
    {0, "\x71\x01\x01\0"sv, "a file of Stata", kReadStata},
    {0, "\x71\x02\x01\0"sv, "a file of Stata", kReadStata},
    {0, "\x72\x01\x01\0"sv, "a file of Stata", kReadStata},
    {0, "\x72\x02\x01\0"sv, "a file of Stata", kReadStata},
    {0, "\x73\x01\x01\0"sv, "a file of Stata", kReadStata},
    {0, "\x73\x02\x01\0"sv, "a file of Stata", kReadStata},
    {0, "$FL2"sv, "a file of SPSS", kWriteEdges, true},
    {0, "\xe2\x9b\xbe gt"sv, "a file of graph-tool", kWriteEdges},
    {0, "Obj\x01"sv, "an Avro file", kWriteEdges},
    {0, "PK\x03\x04"sv, "a zip archive that gzip has compressed", kUnpack},
    {0, "RDX2\n"sv, "a data file of R", kWriteEdges},
    {0, "RDX3\n"sv, "a data file of R", kWriteEdges},
    {0, "X\n\0\0\0"sv, "an object of R (saveRDS)", kWriteEdges},
    {0, "%PDF-"sv, "a PDF document", kWriteEdges},
    {0, "MATLAB 5.0 MAT-file"sv, "a MATLAB file", kArrays},
    {0, "\x3f\xa1\xb4\x46\xf0\x4f\x2e\xdd"sv, "a file of DGL's save_graphs()", kArrays},
    {0,
     "\x93NUMPY"sv,
     "one NumPy array",
     {"open the folder that holds edges.npy and labels.npy (format plain)", true}},
    {0, ">>graph6<<"sv, "a graph6 file", kWriteEdges},
    {0, ">>sparse6<<"sv, "a sparse6 file", kWriteEdges},
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view without_space(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}

// Removes the first line from a text; lines end with LF, CR LF or CR.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find_first_of("\r\n"), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  text.remove_prefix(text.starts_with("\r\n") ? 2 : !text.empty());
  return line;
}

// The text from its first line that is neither blank nor a comment by `is_skipped`.
template <typename F>
std::string_view after_comments(std::string_view text, F&& is_skipped) {
  for (;;) {
    std::string_view rest = text;
    const std::string_view line = take_line(rest);
    if (text.empty() || !(trim_blanks(line).empty() || is_skipped(line))) return text;
    text = rest;
  }
}

bool is_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || is_space(text[word.size()]) ||
                                    text[word.size()] == '[' || text[word.size()] == '{');
}

// A Harwell-Boeing or Rutherford-Boeing matrix: a title, a line of counts, the type of the matrix
// ("RUA", "psa") with its sizes, and the formats of Fortran.
bool is_harwell_boeing(std::string_view text) {
  take_line(text);
  take_line(text);
  const std::string_view type = take_line(text), formats = take_line(text);
  FieldCutter words(8);
  words.cut(type, ' ');
  const auto& fields = words.fields();
  const auto one_of = [](char c, std::string_view all) { return all.find(c) != all.npos; };
  return fields.size() >= 4 && fields[0].size() == 3 && one_of(fields[0][0], "rcpiq") &&
         one_of(fields[0][1], "suhzr") && one_of(fields[0][2], "ae") && parse_int(fields[1]) &&
         parse_int(fields[2]) && parse_int(fields[3]) && without_space(formats).starts_with('(');
}

// A problem line of DIMACS after comments "c ...", such as "p edge 5 6", also of its relatives, as
// those of the PACE challenges and of satisfiability.
bool is_dimacs(std::string_view text) {
  text = after_comments(text, [](std::string_view line) { return is_word(line, "c"); });
  std::string_view rest = text;
  const std::string_view line = take_line(rest);
  FieldCutter words(8);
  words.cut(line, ' ');
  const auto& fields = words.fields();
  if (fields.size() < 4 || fields[0] != "p") return false;
  if (fields[1] == "aux") return true;
  constexpr std::string_view kProblems[] = {"edge", "edges", "col", "sp",  "max", "min",
                                            "asn",  "cep",   "cut", "tw",  "td",  "tww",
                                            "ds",   "hs",    "vc",  "fvs", "ocr", "cnf"};
  return std::find(std::begin(kProblems), std::end(kProblems), fields[1]) != std::end(kProblems) &&
         parse_int(fields[2]) && parse_int(fields[3]);
}

// GML: "graph [" after "Creator ..." and "Version ...".
bool is_gml(std::string_view text) {
  text = after_comments(text, [](std::string_view line) {
    return line.starts_with('#') || is_word(line, "creator") || is_word(line, "version") ||
           is_word(line, "comment");
  });
  return is_word(text, "graph") && without_space(text.substr(5)).starts_with('[');
}

// Graphviz: "digraph name {" after comments.
bool is_dot(std::string_view text) {
  const auto is_comment = [](std::string_view line) {
    return line.starts_with('#') || line.starts_with("//");
  };
  text = after_comments(text, is_comment);
  while (text.starts_with("/*")) {
    const size_t end = std::min(text.find("*/"), text.size() - 2);
    text = after_comments(without_space(text.substr(end + 2)), is_comment);
  }
  if (is_word(text, "strict")) text = without_space(text.substr(6));
  if (!is_word(text, "graph") && !is_word(text, "digraph")) return false;
  std::string_view rest = text;
  const size_t open = take_line(rest).find('{');
  return open != text.npos || without_space(rest).starts_with('{');
}

// A page of HTML, or a piece of one.
bool is_html(std::string_view text) {
  for (const std::string_view start :
       {"<!doctype html", "<html", "<head", "<body", "<title", "<meta", "<script", "<style", "<div",
        "<p>", "<h1", "<center", "<a href", "<table", "<pre"})
    if (text.starts_with(start)) return true;
  return text.starts_with('<') && text.find("<html") != text.npos;
}

// The words of a server in place of a file, alone on their line.
bool is_answer(std::string_view text) {
  if (text.starts_with("<error>") ||
      (text.starts_with("<?xml") && text.find("<error>") != text.npos))
    return true;
  const std::string_view line = take_line(text);
  if (line.find_first_of(",;|\t") != line.npos) return false;
  for (const std::string_view start : {"404: not found",
                                       "404 not found",
                                       "not found",
                                       "file not found",
                                       "entry not found",
                                       "repository not found",
                                       "access denied",
                                       "access to this",
                                       "permission denied",
                                       "forbidden",
                                       "403 forbidden",
                                       "403: forbidden",
                                       "unauthorized",
                                       "401 unauthorized",
                                       "bad request",
                                       "invalid username or password",
                                       "found. redirecting",
                                       "moved permanently",
                                       "too many requests",
                                       "429 too many",
                                       "503 service",
                                       "rate limit exceeded",
                                       "quota exceeded",
                                       "bad gateway",
                                       "service unavailable",
                                       "internal server error",
                                       "gateway time",
                                       "error 4",
                                       "error 5"})
    if (line.starts_with(start)) return true;
  return false;
}

// A table that a database or Markdown draws, by its rule: "|---|---|", "---+---", "+---+".
bool is_drawn_table(std::string_view text) {
  const auto is_rule = [](std::string_view line) {
    return line.find("---") != line.npos && line.find_first_of("|+") != line.npos &&
           line.find_first_not_of("-+|: ") == line.npos;
  };
  const std::string_view first = take_line(text), second = take_line(text);
  return is_rule(first) || is_rule(second);
}

// The text graphs of PBBS and Ligra, whose arrays have a number a line.
bool is_ligra(std::string_view text) {
  std::string_view word = trim_blanks(take_line(text));
  if (word.starts_with("weighted")) word.remove_prefix(std::string_view("weighted").size());
  return word == "adjacencygraph" || word == "adjacencyhypergraph";
}

// UCINET: "dl n=5", "DL n = 5", "dl nr=3, nc=4".
bool is_ucinet(std::string_view text) {
  if (!is_word(text, "dl")) return false;
  std::string head(text.substr(0, text.find("data:")));
  std::erase_if(head, is_space);
  return head.find("n=") != head.npos || head.find("nr=") != head.npos;
}

// A section of settings, "[edges]", where JSON has values.
bool is_settings(std::string_view text) {
  const std::string_view line = trim_blanks(take_line(text));
  return line.size() > 2 && line.starts_with('[') && line.ends_with(']') && line[1] >= 'a' &&
         line[1] <= 'z' && line.find_first_of(",\"") == line.npos && line != "[true]" &&
         line != "[false]" && line != "[null]";
}

bool is_pajek(std::string_view text) {
  text = after_comments(text, [](std::string_view line) { return line.starts_with('%'); });
  for (const std::string_view word : {"*vertices", "*network", "*arcs", "*edges", "*matrix"})
    if (text.starts_with(word)) return true;
  return false;
}

bool is_rdf(std::string_view text) {
  text = after_comments(text, [](std::string_view line) { return line.starts_with('#'); });
  return text.starts_with("@prefix") || text.starts_with("<http://") ||
         text.starts_with("<https://") || text.starts_with("<urn:");
}

bool is_networkx_adjacency(std::string_view text) {
  for (int i = 0; i < 4 && text.starts_with('#'); ++i)
    if (take_line(text).starts_with("# gmt ")) return true;
  return false;
}

// A pickle of protocol 0, which is text: a dict or list stored in the memo, or a global.
bool is_old_pickle(std::string_view text) {
  for (const std::string_view start : {"(dp", "(lp", "(ip"})
    if (text.starts_with(start) && text.size() > 3 && text[3] >= '0' && text[3] <= '9') return true;
  if (!text.starts_with('c')) return false;
  const std::string_view module = take_line(text), name = take_line(text);
  return (module == "ccopy_reg" || module.starts_with("cnumpy") || module.starts_with("cscipy") ||
          module == "ccollections") &&
         !name.empty();
}

// YAML: the start of a document, a key above its entries, or a list.
bool is_yaml(std::string_view text) {
  text = after_comments(text, [](std::string_view line) { return line.starts_with('#'); });
  if (text.starts_with("%yaml") || text.starts_with("- [") || text.starts_with("- {")) return true;
  const std::string_view first = trim_blanks(take_line(text));
  if (first == "---") return true;
  const std::string_view entry = first.starts_with("- ") ? first.substr(2) : first;
  const size_t colon = entry.find(':');
  const bool key = colon != entry.npos && colon > 0 && entry[0] >= 'a' && entry[0] <= 'z' &&
                   entry.find(' ') > colon;
  if (key && first.starts_with("- ")) return colon + 1 == entry.size() || entry[colon + 1] == ' ';
  const std::string_view below = trim_blanks(take_line(text));
  return key && colon + 1 == entry.size() &&
         (below.starts_with("- ") || below.find(':') != below.npos);
}

// The lines of a text whose end may be missing, cut at blanks.
class WordLines {
 public:
  explicit WordLines(std::string_view text) : rest_(text) {}
  // False at the end, and where the line has no end though others have.
  bool next() {
    do {
      if (rest_.empty()) return false;
      line_ = take_line(rest_);
      if (rest_.empty() && count_ > 0 && !has_end()) return false;
      ++count_;
      words_.cut(line_, ' ');
    } while (words_.fields().empty());
    return true;
  }
  std::string_view line() const { return line_; }
  const std::vector<std::string_view>& words() const { return words_.fields(); }
  // The words as integers; empty where one is none.
  std::vector<int64_t> integers() const {
    std::vector<int64_t> all;
    for (const std::string_view word : words()) {
      const auto number = parse_int(word);
      if (!number) return {};
      all.push_back(*number);
    }
    return all;
  }

 private:
  bool has_end() const { return rest_.data() > line_.data() + line_.size(); }

  std::string_view rest_, line_;
  FieldCutter words_{64};
  int64_t count_ = 0;
};

// The .lgl of igraph's Large Graph Layout: "# node", then its neighbors, each with a weight or not.
bool is_lgl(std::string_view text) {
  WordLines lines(text);
  bool records = false, again = false, first = true;
  std::optional<bool> numbers;  // nodes are called by numbers
  while (lines.next()) {
    const auto& words = lines.words();
    const bool node = words[0] == "#";
    if ((first && !node) || words.size() > 2 || (node && words.size() != 2)) return false;
    if (!node && words.size() == 2 && !parse_double(words[1])) return false;
    const bool number = parse_int(words[node]).has_value();
    if (numbers && *numbers != number) return false;
    numbers = number;
    again |= node && records;
    records |= !node;
    first = false;
  }
  return again;
}

// The .node and .ele of Triangle and TetGen: counts, then numbered points or elements.
bool is_mesh(std::string_view text) {
  WordLines lines(
      after_comments(text, [](std::string_view line) { return line.starts_with('#'); }));
  if (!lines.next()) return false;
  const std::vector<int64_t> counts = lines.integers();
  const bool points = counts.size() == 4 && (counts[1] == 2 || counts[1] == 3) && counts[2] >= 0 &&
                      (counts[3] == 0 || counts[3] == 1);
  const bool elements = counts.size() == 3 && counts[2] >= 0 && counts[1] > counts[2] + 1 &&
                        (counts[1] == 3 || counts[1] == 4 || counts[1] == 6 || counts[1] == 10);
  if (!points && !elements) return false;
  const int64_t width = 1 + counts[1] + counts[2] + (points ? counts[3] : 0);
  int64_t rows = 0, first = 0;
  bool fractions = false;
  while (lines.next()) {
    const auto& words = lines.words();
    const auto number = parse_int(words[0]);
    if (rows == 0) first = number.value_or(-1);
    if (static_cast<int64_t>(words.size()) != width || !number || *number != first + rows ||
        first < 0 || first > 1)
      return false;
    fractions |= points && !parse_int(words[1]);
    ++rows;
  }
  return rows >= std::min<int64_t>(counts[0], 2) && rows > 0 && rows <= counts[0] &&
         (fractions || rows == counts[0] || width != static_cast<int64_t>(counts.size()));
}

// The characters of graph6 and sparse6: six bits each.
bool is_of_sixes(std::string_view line) {
  return !line.empty() && std::ranges::all_of(line, [](char c) { return c >= 63 && c < 127; });
}

// The length of a graph6 line for a graph of so many nodes as it says; 0 where it says none.
size_t graph6_length(std::string_view line) {
  constexpr size_t kWideHead = 4, kBits = 6;
  constexpr char kWide = '~';
  const auto six = [&](size_t at) { return static_cast<size_t>(line[at] - 63); };
  const bool wide = line[0] == kWide;
  if (wide && (line.size() < kWideHead || line[1] == kWide)) return 0;
  const size_t nodes = wide ? six(1) << 12 | six(2) << 6 | six(3) : six(0);
  return (wide ? kWideHead : 1) + (nodes * (nodes - (nodes > 0)) / 2 + kBits - 1) / kBits;
}

// Raw graph6: each line as long as a graph of so many nodes needs. Sparse6 and digraph6 have a mark
// before each.
std::optional<ForeignKind> kind_of_sixes(std::string_view text) {
  constexpr size_t kShortest = 2;  // single letters are more often something else
  constexpr std::string_view kMarks = ":&";
  WordLines lines(text);
  size_t longest = 0;
  char mark = '\0';
  while (lines.next()) {
    const std::string_view line = lines.line();
    const char first = kMarks.find(line[0]) == kMarks.npos ? '\0' : line[0];
    const std::string_view sixes = line.substr(first != '\0');
    if (longest > 0 && first != mark) return std::nullopt;
    mark = first;
    if (!is_of_sixes(sixes) || sixes.find('|') != sixes.npos) return std::nullopt;
    if (mark == '\0' && graph6_length(line) != line.size()) return std::nullopt;
    longest = std::max(longest, line.size());
  }
  if (longest < kShortest) return std::nullopt;
  return ForeignKind{mark == ':'   ? "a sparse6 file"
                     : mark == '&' ? "a digraph6 file"
                                   : "a graph6 file",
                     kWriteEdges};
}

// The graphs of gSpan: "t # 0" and its nodes "v 0 LABEL", before edges "e 0 1 LABEL".
bool is_gspan(std::string_view text) {
  text = after_comments(text, [](std::string_view line) { return line.starts_with('#'); });
  FieldCutter words(8);
  const auto node = [&](std::string_view line) {
    words.cut(line, ' ');
    const auto& fields = words.fields();
    return fields.size() >= 2 && fields.size() <= 3 && fields[0] == "v" && parse_int(fields[1]);
  };
  const std::string_view first = take_line(text);
  if (first.starts_with("t #") || is_word(first, "t")) return node(take_line(text));
  return node(first) && node(take_line(text));
}

// A path that ends in the folder of git-annex, and nothing else.
bool is_annex_pointer(std::string_view text) {
  const std::string_view path = take_line(text);
  return path.find("/annex/objects/") != path.npos && path.find(' ') == path.npos &&
         without_space(text).empty();
}

// The text that print() makes of a SciPy matrix: "(0, 1)\t0.5", after a line about it or not.
bool is_printed_matrix(std::string_view text) {
  for (const std::string_view start :
       {"<coordinate sparse", "<compressed sparse", "<list of lists"})
    if (text.starts_with(start)) return true;
  if (!text.starts_with('(')) return false;
  FieldCutter halves(2), ends(2);
  const std::string_view line = take_line(text);
  if (halves.cut(line, '\t') != FieldCutter::Result::kWhole || halves.fields().size() != 2)
    return false;
  std::string_view pair = halves.fields()[0];
  if (!pair.ends_with(')') || !parse_double(halves.fields()[1])) return false;
  pair = pair.substr(1, pair.size() - 2);
  return ends.cut(pair, ',') == FieldCutter::Result::kWhole && ends.fields().size() == 2 &&
         parse_int(ends.fields()[0]) && parse_int(ends.fields()[1]);
}

// The text of SVMlight and LIBSVM: a label, then two or more of "feature:value" in ascending order.
bool is_svmlight(std::string_view text) {
  constexpr size_t kFewest = 3;  // words
  FieldCutter words(4096);
  const auto cut = words.cut(take_line(text), ' ');
  const auto& fields = words.fields();
  if (cut != FieldCutter::Result::kWhole || fields.size() < kFewest || !parse_double(fields[0]))
    return false;
  int64_t last = -1;
  for (const std::string_view word : std::span(fields).subspan(1)) {
    const size_t colon = std::min(word.find(':'), word.size() - 1);
    const auto feature = parse_int(word.substr(0, colon));
    if (!feature || *feature <= last || !parse_double(word.substr(colon + 1))) return false;
    last = *feature;
  }
  return true;
}

// The output of md5sum and sha256sum: a sum in hex digits, "  " or " *", a file name.
bool is_checksums(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr size_t kLengths[] = {32, 40, 56, 64, 96, 128};  // MD5, SHA-1, then SHA-2
  WordLines lines(text);
  int64_t count = 0;
  for (; lines.next(); ++count) {
    const std::string_view line = lines.line();
    const size_t length = std::min(line.find_first_not_of(kHex), line.size());
    const std::string_view name = line.substr(length);
    if (std::ranges::find(kLengths, length) == std::end(kLengths) || name.size() < 3 ||
        (!name.starts_with("  ") && !name.starts_with(" *")) || is_space(name[2]) ||
        name.find_first_not_of(kHex, 2) == name.npos)
      return false;
  }
  return count > 0;
}

// An atom in the columns of the Protein Data Bank: "ATOM      1  N   MET A   1      27.340 ...".
bool is_atom(std::string_view text) {
  constexpr size_t kFewest = 9, kCoordinates = 30;  // words; the column of x
  WordLines lines(text);
  if (!lines.next() || lines.words().size() < kFewest) return false;
  const std::string_view record = lines.words()[0];
  return (record.starts_with("atom") || record.starts_with("hetatm")) &&
         lines.line().find('.', kCoordinates) != std::string_view::npos;
}

// Trees of Newick's format: "(a:1,(b,c));". The end of a long one may be missing.
bool is_newick(std::string_view text) {
  const size_t end = text.find(';');
  const std::string_view tree = text.substr(0, end);
  const auto open = std::ranges::count(tree, '('), closed = std::ranges::count(tree, ')');
  if (!text.starts_with('(') || tree.find(',') == tree.npos) return false;
  return end == text.npos ? open > closed && tree.find('\n') == tree.npos : open == closed;
}

// First words of a kind, in lower case, and its name.
constexpr std::pair<std::string_view, std::string_view> kFirstWords[] = {
    {"(tlp ", "a Tulip file"},        {"format-version:", "an OBO file"},
    {"leda.graph", "a LEDA file"},    {"nodedef>", "a GDF file"},
    {"@relation ", "an ARFF file"},   {"*node data", "a VNA file"},
    {"*tie data", "a VNA file"},      {"ply\nformat ", "a PLY file"},
    {"ply\r\nformat ", "a PLY file"}, {"header    ", "a PDB file"},
    {"cryst1 ", "a PDB file"},
};

// Texts of graphs, each with the test of its beginning in lower case.
constexpr std::pair<bool (*)(std::string_view), std::string_view> kGraphTexts[] = {
    {is_gml, "a GML file"},
    {is_dot, "a Graphviz file"},
    {is_pajek, "a Pajek file"},
    {is_dimacs, "a DIMACS file"},
    {is_gspan, "a file of gSpan"},
    {is_networkx_adjacency, "an adjacency list of NetworkX"},
    {is_settings, "a file of settings (INI, TOML)"},
};

// Finds the kind by the words of a lower-case text.
std::optional<ForeignKind> kind_of_words(std::string_view text) {
  const std::string_view begin = without_space(text);
  const auto graph = [](std::string_view name) { return ForeignKind{name, kWriteEdges}; };
  if (is_html(begin)) return ForeignKind{"an HTML page", kFetch};
  if (begin.starts_with("<graphml") || text.find("<graphml") != text.npos)
    return graph("a GraphML file");
  if (text.find("<gexf") != text.npos && begin.starts_with('<')) return graph("a GEXF file");
  if (is_rdf(begin))
    return ForeignKind{"a file of RDF", {"number its terms and write triples.npy", true}};
  if (is_answer(begin)) return ForeignKind{"what a server answers in place of a file", kFetch};
  if (begin.starts_with("<<<<<<< ") || begin.find("\n<<<<<<< ") != begin.npos)
    return ForeignKind{"a text with a conflict of git",
                       {"resolve it, so that no line begins with <<<<<<<, ======= or >>>>>>>"}};
  if (is_checksums(begin)) return ForeignKind{"a list of checksums", kFetch};
  if (is_atom(begin)) return graph("a PDB file");
  if (is_printed_matrix(begin))
    return ForeignKind{"a sparse matrix as print() shows it",
                       {"write it with scipy.io.mmwrite()", true}};
  if (is_newick(begin)) return graph("a tree in Newick's format");
  if (begin.starts_with("<?xml") || begin.starts_with('<')) return graph("an XML file");
  if (begin.starts_with("insert into ") || begin.starts_with("create table "))
    return graph("a script of SQL");
  if (begin.starts_with("# created by octave")) return graph("a text file of Octave");
  for (const std::string_view start : {"tensor(", "array(", "matrix("})
    if (begin.starts_with(start))
      return ForeignKind{"a printed array",
                         {"write it with numpy.savetxt(file, edges, fmt=\"%d\")", true}};
  if (begin.starts_with("%!ps")) return graph("a PostScript document");
  if (is_harwell_boeing(text))
    return ForeignKind{
        "a Harwell-Boeing matrix",
        {"write it in Matrix Market's form (scipy.io.hb_read, scipy.io.mmwrite)", true}};
  for (const auto& [is, name] : kGraphTexts)
    if (is(begin)) return graph(name);
  if (begin.starts_with('{') || begin.starts_with('[')) return graph("a JSON file");
  for (const auto& [start, name] : kFirstWords)
    if (begin.starts_with(start)) return graph(name);
  if (is_ligra(begin)) return graph("a graph of PBBS or Ligra");
  if (is_drawn_table(text)) return graph("a table drawn with lines");
  if (is_yaml(begin)) return graph("a YAML file");
  if (is_svmlight(begin))
    return ForeignKind{"a table of features (SVMlight)", {"write its edges, an edge a line", true}};
  if (is_lgl(begin)) return graph("an LGL file (Large Graph Layout)");
  if (is_mesh(begin))
    return ForeignKind{
        "a mesh of Triangle or TetGen",
        {"write its edges (triangle -e, tetgen -e), an edge a line without their numbers", true}};
  if (is_old_pickle(begin)) return ForeignKind{"a Python pickle", kArrays};
  if (is_ucinet(begin)) return graph("a UCINET file");
  return std::nullopt;
}

// Every second byte of text in UTF-16 without a mark is zero.
std::optional<ForeignKind> kind_of_binary(std::string_view start) {
  const bool old = start.starts_with("}q") || start.starts_with("]q");  // protocol 1
  if (old || (start.size() >= 4 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5))
    return ForeignKind{"a Python pickle", kArrays};
  if (start.size() < 4 || start.size() % 2 != 0) return std::nullopt;
  size_t zeros[2] = {};
  for (size_t i = 0; i < start.size(); ++i) zeros[i % 2] += start[i] == 0;
  if ((zeros[0] == 0) == (zeros[1] == 0) || std::max(zeros[0], zeros[1]) != start.size() / 2)
    return std::nullopt;
  return ForeignKind{"text in UTF-16", kUtf8};
}

}  // namespace

std::optional<ForeignKind> pointer_kind(std::string_view start) {
  for (const Pointer& pointer : kPointers)
    if (start.starts_with(pointer.start)) return pointer.kind;
  return is_annex_pointer(without_space(start)) ? std::optional(kAnnex) : std::nullopt;
}

std::optional<ForeignKind> foreign_kind(std::string_view start) {
  if (const auto pointer = pointer_kind(start)) return pointer;
  const bool binary = start.find('\0') != start.npos;
  for (const Magic& magic : kMagics)
    if (start.size() >= magic.at && start.substr(magic.at).starts_with(magic.bytes) &&
        (binary || !magic.binary))
      return ForeignKind{magic.name, magic.remedy};
  if (binary) return kind_of_binary(start);
  if (start.starts_with("\xef\xbb\xbf")) start.remove_prefix(3);
  if (const auto sixes = kind_of_sixes(start)) return sixes;
  return kind_of_words(base::lower(start));
}

std::string not_read(const ForeignKind& kind) {
  return base::text("is ", kind.name, ", which is not read; ", kind.remedy.text);
}

}  // namespace gnnmg::io
