// Texts of many blocks, parsed by all threads: the same graph, warnings and errors as line by line,
// for any number of threads.
#include "data/number_lines.h"

#include <functional>

#include "base/philox.h"
#include "data/edge_list.h"
#include "io/text.h"
#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;

constexpr int64_t kLines = 60000;  // several blocks
constexpr int kThreads[] = {1, 2, 5};

// `line(i, source, target)` for random ends below 5000.
std::string text_of(const std::function<std::string(int64_t, int64_t, int64_t)>& line,
                    int64_t lines = kLines) {
  base::Stream stream({5, 6}, 7);
  std::string text;
  for (int64_t i = 0; i < lines; ++i) {
    const auto source = static_cast<int64_t>(stream.below(5000));
    text += line(i, source, static_cast<int64_t>(stream.below(5000)));
  }
  return text;
}

std::string plain_line(int64_t, int64_t source, int64_t target) {
  return base::text(source, ' ', target, '\n');
}

// All that opening shows.
struct Shown {
  std::vector<std::pair<int64_t, int64_t>> edges;
  std::vector<int64_t> edge_ids;
  std::vector<float> weights;
  std::vector<int64_t> times, original;
  std::string log;
  bool operator==(const Shown&) const = default;
};

class NumberLinesTest : public testing::Test {
 protected:
  Shown show(const std::string& text, int threads, const OpenOptions& options = {},
             const std::string& name = "list.txt") {
    Opener opener(threads);
    const DatasetRef set = opener.open(dir_.write(name, text), options);
    const graph::Graph& graph = *set->graph;
    Shown shown;
    shown.edges = edges(graph);
    for (int64_t e = 0; e < graph.num_edges(); ++e)
      shown.edge_ids.push_back(graph.csc().edge_id(e));
    if (const auto* weight = graph.edge_column("weight"))
      shown.weights = values<float>(std::get<base::Tensor>(*weight));
    if (const auto* time = graph.edge_column("time"))
      shown.times = values<int64_t>(std::get<base::Tensor>(*time));
    if (const auto* ids = graph.node_column("original_id"))
      shown.original = values<int64_t>(std::get<base::Tensor>(*ids));
    shown.log = opener.log();
    return shown;
  }
  // Lines with a comment after the edge are read one by one.
  void expect_as_line_by_line(const std::string& text, const OpenOptions& options = {}) {
    std::string commented;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      size_t last = end;
      while (last > begin && text[last - 1] == '\r') --last;
      commented += text.substr(begin, last - begin) + " # why" + text.substr(last, end + 1 - last);
      begin = end + 1;
    }
    const Shown expected = show(commented, 1, options);
    EXPECT_EQ(static_cast<int64_t>(expected.edges.size()), kLines);
    for (const int threads : kThreads) EXPECT_EQ(show(text, threads, options), expected) << threads;
    EXPECT_EQ(show(gzip(text), 2, options), expected);
  }
  void expect_refused(const std::string& text, const std::vector<std::string>& parts,
                      Status status = Status::kFormat, const OpenOptions& options = {}) {
    for (const int threads : kThreads)
      expect_error(status, parts, [&] { show(text, threads, options); });
  }
  test::TempDir dir_;
};

TEST_F(NumberLinesTest, AreThoseOfLineByLine) {
  expect_as_line_by_line(text_of(plain_line));
  expect_as_line_by_line(text_of([](int64_t, int64_t source, int64_t target) {
    return base::text("  ", source, "\t ", target, " \r\n");
  }));
  OpenOptions options;
  options.source_column = 1;
  options.target_column = 2;
  options.header = 0;
  expect_as_line_by_line(text_of([](int64_t i, int64_t source, int64_t target) {
                           return base::text("name", i, ",00", source, " ,", target, "\n");
                         }),
                         options);
}

TEST_F(NumberLinesTest, WeightsAndTimesKeepTheOrderOfTheLines) {
  const auto line = [](int64_t i, int64_t source, int64_t target) {
    const char* const weights[] = {"1", "-0", "2.5", "1e-3", "-7.125", "+4", "123456789", "1e-400"};
    return base::text(source, ',', target, ',', weights[i % 8], ',', 1000000000 + i, '\n');
  };
  expect_as_line_by_line(text_of(line));
  OpenOptions undirected;
  undirected.undirected = 1;
  const Shown expected = show(text_of(line), 1, undirected);
  for (const int threads : kThreads) EXPECT_EQ(show(text_of(line), threads, undirected), expected);
}

TEST_F(NumberLinesTest, IdsOfAnySizeAreNumberedInOrderOfAppearance) {
  OpenOptions relabel;
  relabel.relabel = true;
  expect_as_line_by_line(text_of([](int64_t, int64_t source, int64_t target) {
                           return base::text(source * 100000000007, ' ', target * 100000000007,
                                             '\n');
                         }),
                         relabel);
}

TEST_F(NumberLinesTest, LargeIdsWidenTheRest) {
  OpenOptions options;
  options.num_nodes = int64_t{1} << 33;
  const std::string text = text_of(plain_line) + "0 5000000000\n" + text_of(plain_line);
  Opener opener;
  base::CancelToken cancel;
  const auto parse = [&](int threads) {
    base::ThreadPool pool(threads);
    base::Log log;
    const ReadContext context{pool, log, cancel};
    Reading reading{options, context, ByteBudget(options.max_bytes)};
    CountedLines lines(io::ByteSource::memory(
                           {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "text"),
                       reading);
    NumberLines blocks(lines, reading);
    NumberShape shape;
    shape.most = options.num_nodes - 1;
    shape.wide = true;
    std::vector<int64_t> ends;
    blocks.take(shape, [&](const NumberBlock& block) {
      for (int64_t i = 0; i < block.lines; ++i) {
        ends.push_back(block.wide_sources[i]);
        ends.push_back(block.wide_targets[i]);
      }
      return true;
    });
    EXPECT_EQ(lines.line_number(), 2 * kLines + 1);
    return ends;
  };
  const auto expected = parse(1);
  EXPECT_EQ(static_cast<int64_t>(expected.size()), 2 * (2 * kLines + 1));
  EXPECT_EQ(expected[2 * kLines + 1], 5000000000);
  EXPECT_EQ(parse(5), expected);
}

TEST_F(NumberLinesTest, OtherLinesBetweenThem) {
  std::string expected_text, text;
  const std::string part = text_of(plain_line, 20000);
  for (const char* between : {"# a comment\n", "\n   \n", "7 \"8\"\n", "9 10 // why\n", "11 12"})
    text += part + between;
  expected_text = part + part + part + "7 8\n" + part + "9 10\n" + part + "11 12\n";
  const Shown expected = show(expected_text, 1);
  for (const int threads : kThreads) {
    const Shown shown = show(text, threads);
    EXPECT_EQ(shown.edges, expected.edges) << threads;
    EXPECT_EQ(shown.edge_ids, expected.edge_ids) << threads;
  }
}

TEST_F(NumberLinesTest, AHeaderOfNumbersMayStandAgain) {
  const std::string header = ",0,1\n";  // pandas writes it
  const std::string part =
      text_of([](int64_t i, int64_t source,
                 int64_t target) { return base::text(i, ',', source, ',', target, '\n'); },
              20000);
  for (const int threads : kThreads)
    EXPECT_EQ(show(header + part + header + part, threads).edges.size(), 40000u) << threads;
}

TEST_F(NumberLinesTest, TheFirstWrongLineIsNamed) {
  const std::string part = text_of(plain_line, 50000);
  expect_refused(part + "1 x\n" + part + "2 y\n" + part, {"line 50001", "target \"x\""});
  expect_refused(part + part + "1 2 3\n4\n", {"line 100001", "3 columns, expected 2"});
  expect_refused(part + std::string("1 \0 2\n", 6) + part, {"line 50001", "NUL byte at column 3"});
  expect_refused(part + "1 -2\n" + part + "x\n", {"line 50001", "target -2"}, Status::kRange);
  expect_refused(part + "1 123456789\n" + part + "1 99999999999\n1 99999999999\n" + part,
                 {"line 100002", "id 99999999999"}, Status::kRange);
  OpenOptions options;
  options.num_nodes = 5000;
  expect_refused(part + "4999 0\n0 5000\n" + part + "5001 0\n", {"line 50002", "target 5000"},
                 Status::kRange, options);
}

TEST_F(NumberLinesTest, AWrongLineBeforeBrokenBytesIsNamed) {
  const std::string part = text_of(plain_line, 50000);
  for (const char* line : {"1 x\n", "1 2\n"}) {
    std::string broken = gzip(part + line) + gzip(part);
    broken.resize(broken.size() - 1000);
    for (const int threads : kThreads) {
      base::ThreadPool pool(threads);
      base::Log log;
      const OpenOptions options;
      const ReadContext context{pool, log, base::CancelToken()};
      Reading reading{options, context, ByteBudget(options.max_bytes)};
      expect_error(
          Status::kFormat, {line[2] == 'x' ? "line 50001: target \"x\"" : "data is cut"}, [&] {
            parse_edges(
                io::ByteSource::memory(
                    {reinterpret_cast<const uint8_t*>(broken.data()), broken.size()}, "text"),
                reading);
          });
    }
  }
}

TEST_F(NumberLinesTest, TheSizeOfTheFileMayBeBounded) {
  OpenOptions options;
  options.max_bytes = int64_t{3} << 19;
  const std::string part = text_of(plain_line, 150000);
  // The size of the packed file fits, that of its text does not.
  for (const int threads : kThreads)
    expect_error(Status::kInvalidArgument, {"max_file_bytes"},
                 [&] { show(gzip(part + part), threads, options, "list.txt.gz"); });
}

TEST_F(NumberLinesTest, ACancelIsHeard) {
  const std::string path = dir_.write("list.txt", text_of(plain_line));
  for (const int threads : kThreads) {
    Opener opener(threads);
    opener.cancel().cancel();
    expect_error(Status::kCancelled, {"opening a data set was canceled"},
                 [&] { opener.open(path); });
  }
}

TEST_F(NumberLinesTest, MatrixMarket) {
  const auto file = [](const char* kind, const char* between, const std::string& entries) {
    return base::text("%%MatrixMarket matrix coordinate ", kind, "\n5000 5000 ", 2 * kLines, "\n",
                      entries, between, entries);
  };
  const auto lower = [](int64_t i, int64_t source, int64_t target) {
    const int64_t row = std::max(source, target) % 4999 + 2, column = std::min(source, target) + 1;
    return base::text(row, ' ', std::min(column, row - 1), ' ', i % 3 ? "-0" : "16777217.5", '\n');
  };
  const std::string values = text_of(lower);
  const std::string pattern = text_of([](int64_t, int64_t source, int64_t target) {
    return base::text(source + 1, ' ', target + 1, '\n');
  });
  for (const auto& [kind, entries] :
       {std::pair{"real general", values}, std::pair{"real skew-symmetric", values},
        std::pair{"real symmetric", values}, std::pair{"pattern general", pattern}}) {
    const Shown expected = show(file(kind, "", entries), 1, {}, "a.mtx");
    EXPECT_GE(static_cast<int64_t>(expected.edges.size()), 2 * kLines);
    for (const int threads : kThreads) {
      EXPECT_EQ(show(file(kind, "", entries), threads, {}, "a.mtx"), expected) << kind;
      EXPECT_EQ(show(file(kind, "% a comment\n\n", entries), threads, {}, "a.mtx").edges,
                expected.edges)
          << kind;
    }
  }
  for (const int threads : kThreads) {
    expect_error(Status::kRange, {base::text("line ", kLines + 3), "column 0"},
                 [&] { show(file("pattern general", "1 0\n", pattern), threads, {}, "b.mtx"); });
    expect_error(Status::kFormat, {base::text("line ", 2 * kLines + 3), "found another line"}, [&] {
      show(file("pattern general", "", pattern) + "1 1\n", threads, {}, "b.mtx");
    });
  }
}

}  // namespace
}  // namespace gnnmg::data
