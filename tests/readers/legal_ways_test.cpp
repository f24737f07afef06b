// Each foreign format of sets, written in a hundred random legal ways and read back equal: signs,
// quotes, blanks, line ends, missing values, graphs without nodes, packed and unpacked tables,
// pickles of every protocol. The ways follow from a fixed seed.
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/file.h"
#include "io/zip_writer.h"
#include "readers/dice.h"
#include "readers/python3.h"
#include "readers/support.h"

namespace gnnmg::data {
namespace {

constexpr int kWays = 100;
using Ids = std::vector<int64_t>;
using Edges = std::vector<std::pair<int64_t, int64_t>>;

// One random style in which a text is written.
class Way {
 public:
  explicit Way(Dice& dice)
      : dice_(dice),
        end_(dice.of<std::string>({"\n", "\r\n", "\r"})),
        last_end_(dice.coin()),
        mark_(dice.below(8) == 0),
        blanks_(dice.coin()),
        signs_(dice.coin()) {}

  std::string number(int64_t value) const {
    return (signs_ && value >= 0 && dice_.coin() ? "+" : "") + std::to_string(value);
  }
  // A multiple of 1/4, so that every way to write it is exact.
  std::string number(float value) const {
    const double d = value;
    char text[64];
    const char* format = dice_.of<const char*>({"%.17g", "%g", "%e", "%.4f"});
    std::snprintf(text, sizeof text, format, d);
    return (signs_ && value >= 0 && dice_.coin() ? "+" : "") + std::string(text);
  }
  std::string row(const std::vector<std::string>& fields, char separator) const {
    std::string out = blank();
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i > 0 && separator != ' ') out += blank() + separator + blank();
      if (i > 0 && separator == ' ') out += dice_.of<std::string>({" ", "  ", "\t", " \t "});
      out += fields[i];
    }
    return out + blank();
  }
  std::string text(const std::vector<std::string>& rows) const {
    std::string out = mark_ ? "\xef\xbb\xbf" : "";
    for (size_t i = 0; i < rows.size(); ++i)
      out += rows[i] + (i + 1 < rows.size() || last_end_ || rows[i].empty() ? end_ : "");
    return out;
  }
  Dice& dice() const { return dice_; }

 private:
  std::string blank() const { return blanks_ ? dice_.of<std::string>({"", " ", "  "}) : ""; }

  Dice& dice_;
  std::string end_;
  bool last_end_, mark_, blanks_, signs_;
};

// Many graphs, with numbers of every kind. Nodes count over all graphs, edges as they are listed.
struct Sets {
  Ids graph_ptr = {0};
  Edges edges;
  Ids edges_of;  // number of edges of each graph
  Ids labels, tags, edge_labels;
  std::vector<float> attributes, edge_attributes;  // one each
  int64_t num_graphs() const { return static_cast<int64_t>(labels.size()); }
  int64_t num_nodes() const { return graph_ptr.back(); }
};

float quarter(Dice& dice) { return static_cast<float>(dice.from(-400, 400)) / 4; }

Sets make_sets(Dice& dice, bool first_may_be_empty) {
  Sets sets;
  const int64_t graphs = dice.from(2, 9), low = dice.of<int64_t>({-3, 0, 1, 1000});
  for (int64_t g = 0; g < graphs; ++g) {
    const bool empty = dice.below(4) == 0 && (g > 0 || first_may_be_empty);
    const int64_t first = sets.num_nodes(), nodes = empty ? 0 : dice.from(1, 6);
    sets.graph_ptr.push_back(first + nodes);
    sets.labels.push_back(low + dice.below(3));
    const int64_t edges = nodes == 0 ? 0 : dice.below(8);
    sets.edges_of.push_back(edges);
    for (int64_t e = 0; e < edges; ++e) {
      sets.edges.emplace_back(first + dice.below(nodes), first + dice.below(nodes));
      sets.edge_labels.push_back(low + dice.below(4));
      sets.edge_attributes.push_back(quarter(dice));
    }
    for (int64_t n = 0; n < nodes; ++n) {
      sets.tags.push_back(low + dice.below(5));
      sets.attributes.push_back(quarter(dice));
    }
  }
  if (sets.num_nodes() == 0) return make_sets(dice, first_may_be_empty);
  return sets;
}

// Values as classes 0, 1, ... in ascending order.
Ids ranks(const Ids& values) {
  Ids sorted = values;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  Ids out;
  for (const int64_t value : values)
    out.push_back(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
  return out;
}

// One column of a dense tensor.
std::vector<float> column(const base::Tensor& tensor, int64_t at) {
  const int64_t width = tensor.shape().row_elements();
  std::vector<float> out;
  for (int64_t row = 0; row < tensor.rows(); ++row)
    out.push_back(tensor.as<const float>()[row * width + at]);
  return out;
}

class LegalWays : public testing::Test {
 protected:
  // Opens the folder of this way, edges as they are listed.
  DatasetRef open(int way, OpenOptions options = {}) {
    options.undirected = 0;
    DatasetRef dataset;
    try {
      dataset = opener_.open(folder(way), options);
    } catch (const base::Error& error) {
      ADD_FAILURE() << "way " << way << ": " << error.what();
    }
    return dataset;
  }
  std::string folder(int way) const { return dir_.file("way" + std::to_string(way)); }
  void put(int way, const std::string& name, const std::string& text) {
    dir_.write("way" + std::to_string(way) + "/" + name, text);
  }
  test::TempDir dir_;
  Opener opener_;
};

TEST_F(LegalWays, Tu) {
  for (int way = 0; way < kWays; ++way) {
    SCOPED_TRACE(way);
    Dice dice(way);
    const Sets sets = make_sets(dice, true);
    const auto write = [&](const std::string& part, auto rows_of) {
      const Way text(dice);
      put(way, "S" + part, text.text(rows_of(text)));
    };
    // A column of integers or of numbers.
    const auto write_column = [&](const std::string& part, const auto& values) {
      write(part, [&](const Way& text) {
        std::vector<std::string> rows;
        for (const auto value : values) rows.push_back(text.row({text.number(value)}, ','));
        return rows;
      });
    };
    Ids indicator;
    for (int64_t g = 0; g < sets.num_graphs(); ++g)
      indicator.insert(indicator.end(),
                       static_cast<size_t>(sets.graph_ptr[g + 1] - sets.graph_ptr[g]), g + 1);
    write_column("_graph_indicator.txt", indicator);
    write("_A.txt", [&](const Way& text) {
      std::vector<std::string> rows;
      for (const auto& [u, v] : sets.edges)
        rows.push_back(text.row({text.number(u + 1), text.number(v + 1)}, ','));
      return rows;
    });
    write_column("_graph_labels.txt", sets.labels);
    const bool tags = dice.coin(), attributes = dice.coin(), edge_labels = dice.coin();
    if (tags) write_column("_node_labels.txt", sets.tags);
    if (attributes) write_column("_node_attributes.txt", sets.attributes);
    if (edge_labels) write_column("_edge_labels.txt", sets.edge_labels);
    if (!edge_labels) write_column("_edge_attributes.txt", sets.edge_attributes);

    const DatasetRef dataset = open(way);
    ASSERT_TRUE(dataset);
    EXPECT_EQ(values<int64_t>(dataset->graph_ptr), sets.graph_ptr);
    EXPECT_EQ(edges(*dataset->graph), ordered(sets.edges, *dataset->graph));
    EXPECT_EQ(values<int64_t>(*dataset->labels()), ranks(sets.labels));
    const graph::Column* tag = dataset->graph->node_column("tag");
    if (tags && ranks(sets.tags) != Ids(sets.tags.size(), 0)) {
      EXPECT_EQ(values<int64_t>(std::get<base::Tensor>(*tag)), sets.tags);
    }
    if (attributes) {
      EXPECT_EQ(column(dense(*dataset, "x"), 0), sets.attributes);
    }
    const graph::Column* carried =
        dataset->graph->edge_column(edge_labels ? "edge_label" : "edge_attr");
    ASSERT_TRUE(carried);
    const auto& of_edges = std::get<base::Tensor>(*carried);
    if (!edge_labels && !sets.edges.empty()) {
      EXPECT_EQ(column(of_edges, 0), sets.edge_attributes);
    }
    if (edge_labels && !sets.edges.empty()) {
      Ids less = sets.edge_labels;
      const int64_t least = *std::min_element(less.begin(), less.end());
      for (int64_t& label : less) label -= least;
      EXPECT_EQ(values<int64_t>(of_edges), less);
    }
  }
}

TEST_F(LegalWays, Gin) {
  for (int way = 0; way < kWays; ++way) {
    SCOPED_TRACE(way);
    Dice dice(way);
    const Sets sets = make_sets(dice, false);
    const Way text(dice);
    const bool attributes = dice.coin();
    std::vector<std::string> rows = {text.row({std::to_string(sets.num_graphs())}, ' ')};
    Edges listed;  // edges by target, in the text's order
    for (int64_t g = 0; g < sets.num_graphs(); ++g) {
      const int64_t first = sets.graph_ptr[g], end = sets.graph_ptr[g + 1];
      rows.push_back(text.row({text.number(end - first), text.number(sets.labels[g])}, ' '));
      for (int64_t node = first; node < end; ++node) {
        std::vector<std::string> sources;
        for (const auto& [u, v] : sets.edges) {
          if (v != node) continue;
          sources.push_back(text.number(u - first));
          listed.emplace_back(u, v);
        }
        std::vector<std::string> fields = {text.number(sets.tags[node]),
                                           text.number(static_cast<int64_t>(sources.size()))};
        fields.insert(fields.end(), sources.begin(), sources.end());
        if (attributes) fields.push_back(text.number(sets.attributes[node]));
        rows.push_back(text.row(fields, ' '));
      }
    }
    const bool packed = dice.coin();
    put(way, packed ? "S.txt.gz" : "S.txt", packed ? gzip(text.text(rows)) : text.text(rows));
    put(way, "._S.txt", "Mac OS X");

    const DatasetRef dataset = open(way);
    ASSERT_TRUE(dataset);
    EXPECT_EQ(values<int64_t>(dataset->graph_ptr), sets.graph_ptr);
    EXPECT_EQ(edges(*dataset->graph), ordered(listed, *dataset->graph));
    EXPECT_EQ(values<int64_t>(*dataset->labels()), ranks(sets.labels));
    if (attributes) {
      EXPECT_EQ(values<float>(dense(*dataset, "x")), sets.attributes);
    }
  }
}

// A split_dict.pt as OGB's DatasetSaver writes it with torch.save().
std::string split_dict(const Python3& python, const std::vector<std::pair<std::string, Ids>>& parts,
                       Dice& dice, const std::string& path) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [name, part] : parts) {
    std::vector<std::string> items;
    for (const int64_t id : part) items.push_back(python.integer(id));
    entries.emplace_back(
        python.text(name),
        dice.coin() ? python.list(items)
                    : python.array("i8", {static_cast<int64_t>(part.size())}, raw<int64_t>(part)));
  }
  base::AtomicFile file(path);
  io::ZipWriter zip(file);
  const auto add = [&](const std::string& name, const std::string& bytes) {
    zip.add(name, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  };
  add("split_dict/data.pkl", python.finish(python.dict(entries)));
  add("split_dict/version", "3\n");
  zip.finish();
  file.commit();
  return path;
}

TEST_F(LegalWays, Ogb) {
  for (int way = 0; way < kWays; ++way) {
    SCOPED_TRACE(way);
    Dice dice(way);
    const Sets sets = make_sets(dice, true);
    const bool graphs = dice.coin();
    const auto write = [&](const std::string& table, const Way& text,
                           const std::vector<std::string>& rows) {
      const bool packed = dice.coin() || rows.empty();
      put(way, table + (packed ? ".csv.gz" : ".csv"),
          packed ? gzip(text.text(rows)) : text.text(rows));
    };
    const auto quoted = [&](const std::string& field) {
      return dice.below(6) == 0 ? '"' + field + '"' : field;
    };
    const auto write_column = [&](const std::string& table, const auto& numbers) {
      const Way text(dice);
      std::vector<std::string> rows;
      for (const auto number : numbers) rows.push_back(quoted(text.number(number)));
      write(table, text, rows);
    };
    Ids nodes_of;
    for (int64_t g = 0; g < sets.num_graphs(); ++g)
      nodes_of.push_back(sets.graph_ptr[g + 1] - sets.graph_ptr[g]);
    write_column("raw/num-node-list", graphs ? nodes_of : Ids{sets.num_nodes()});
    write_column("raw/num-edge-list",
                 graphs ? sets.edges_of : Ids{static_cast<int64_t>(sets.edges.size())});
    const Way of_edges(dice);
    std::vector<std::string> rows;
    size_t e = 0;
    for (int64_t g = 0; g < sets.num_graphs(); ++g)
      for (int64_t i = 0; i < sets.edges_of[g]; ++i, ++e) {
        const int64_t first = graphs ? sets.graph_ptr[g] : 0;
        rows.push_back(of_edges.row({of_edges.number(sets.edges[e].first - first),
                                     of_edges.number(sets.edges[e].second - first)},
                                    ','));
      }
    write("raw/edge", of_edges, rows);
    write_column("raw/node-feat", sets.attributes);
    if (!sets.edges.empty()) write_column("raw/edge-feat", sets.edge_attributes);
    write_column("raw/node_year", sets.tags);

    // Labels of which some are missing, as pandas writes them or as empty lines.
    const int64_t samples = graphs ? sets.num_graphs() : sets.num_nodes();
    const Way of_labels(dice);
    const std::string missing = dice.of<std::string>({"\"\"", "", "nan", "NaN", "NA", "<NA>"});
    Ids labels;
    rows.clear();
    for (int64_t i = 0; i < samples; ++i) {
      labels.push_back(dice.below(3) == 0 ? -1 : dice.below(4));
      const bool none = labels.back() < 0;
      rows.push_back(none ? missing : of_labels.number(labels.back()));
    }
    if (std::count(labels.begin(), labels.end(), -1) == samples) {
      labels[0] = 0;
      rows[0] = "0";
    }
    write(graphs ? "raw/graph-label" : "raw/node-label", of_labels, rows);

    std::array<Ids, 3> parts;
    for (int64_t i = 0; i < samples; ++i) parts[static_cast<size_t>(dice.below(3))].push_back(i);
    const char* names[] = {"train", dice.coin() ? "valid" : "val", "test"};
    if (dice.coin()) {
      std::filesystem::create_directories(folder(way) + "/split/mine");
      split_dict(Python3(2, dice.coin()),
                 {{names[0], parts[0]}, {names[1], parts[1]}, {names[2], parts[2]}}, dice,
                 folder(way) + "/split/mine/split_dict.pt");
    } else {
      for (int part = 0; part < 3; ++part)
        write_column(std::string("split/mine/") + names[part], parts[part]);
    }

    const DatasetRef dataset = open(way);
    ASSERT_TRUE(dataset);
    EXPECT_EQ(dataset->of_graphs(), graphs);
    if (graphs) {
      EXPECT_EQ(values<int64_t>(dataset->graph_ptr), sets.graph_ptr);
    }
    EXPECT_EQ(edges(*dataset->graph), ordered(sets.edges, *dataset->graph));
    EXPECT_EQ(values<float>(dense(*dataset, "x")), sets.attributes);
    EXPECT_EQ(values<int64_t>(dense(*dataset, "year")), sets.tags);
    EXPECT_EQ(values<int64_t>(*dataset->labels()), labels);
    if (!sets.edges.empty()) {
      EXPECT_EQ(values<float>(std::get<base::Tensor>(*dataset->graph->edge_column("x"))),
                sets.edge_attributes);
    }
    const Split& split = dataset->split("mine", 0);
    for (int part = 0; part < 3; ++part)
      EXPECT_EQ(values<int64_t>(split.ids[static_cast<size_t>(part)]), parts[part]);
    EXPECT_EQ(opener_.log().find("left out"), std::string::npos) << "nothing to warn of";
  }
}

// A matrix with a number a row, in one of SciPy's formats: csr, csc, coo of old and new versions,
// lil, dok.
std::string one_a_row(const Python3& python, int64_t kind, int64_t width,
                      const std::vector<int32_t>& columns, const std::vector<float>& numbers) {
  const auto count = static_cast<int64_t>(columns.size());
  std::vector<int32_t> rows(columns.size()), ends(columns.size() + 1);
  std::iota(rows.begin(), rows.end(), 0);
  std::iota(ends.begin(), ends.end(), 0);
  const auto ids = [&](const std::vector<int32_t>& all) {
    return python.array("i4", {static_cast<int64_t>(all.size())}, raw(all));
  };
  const std::string data = python.array("f4", {count}, raw(numbers));
  if (kind == 0) return python.csr(count, width, ends, columns, numbers);
  if (kind == 1) {  // column by column
    std::ranges::stable_sort(rows, {}, [&](int32_t row) { return columns[row]; });
    std::vector<float> sorted;
    std::vector<int32_t> starts(width + 1);
    for (const int32_t row : rows) {
      sorted.push_back(numbers[row]);
      ++starts[columns[row] + 1];
    }
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    return python.sparse("csc", count, width,
                         {{"indices", ids(rows)},
                          {"indptr", ids(starts)},
                          {"data", python.array("f4", {count}, raw(sorted))}});
  }
  if (kind == 2)
    return python.sparse("coo", count, width,
                         {{"row", ids(rows)}, {"col", ids(columns)}, {"data", data}});
  if (kind == 3)
    return python.sparse("coo", count, width,
                         {{"coords", python.tuple({ids(rows), ids(columns)})}, {"data", data}});
  if (kind == 4) {
    std::vector<std::pair<std::string, std::string>> entries;
    for (size_t row = 0; row < columns.size(); ++row)
      entries.emplace_back(
          python.tuple({python.integer(static_cast<int64_t>(row)), python.integer(columns[row])}),
          python.real(numbers[row]));
    return python.dok(count, width, "f4", entries);
  }
  std::vector<std::string> lists, values;
  for (size_t row = 0; row < columns.size(); ++row) {
    lists.push_back(python.list({python.integer(columns[row])}));
    values.push_back(python.list({python.real(numbers[row])}));
  }
  return python.sparse("lil", count, width,
                       {{"dtype", python.dtype("f4")},
                        {"rows", python.objects(lists)},
                        {"data", python.objects(values)}});
}

// Integers in one of Python's collections; in a range they are others.
std::string collection(const Python3& python, Dice& dice, Ids& ids) {
  const int64_t kind = dice.below(7);
  if (kind == 0) {
    const int64_t first = dice.below(2), step = dice.from(1, 2);
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = first + static_cast<int64_t>(i) * step;
    // Any end that no further integer reaches.
    const int64_t end = first + static_cast<int64_t>(ids.size()) * step - dice.below(step);
    return python.range(first, std::max(end, first), step);
  }
  std::vector<std::string> items;
  for (const int64_t id : ids)
    items.push_back(dice.coin() ? python.integer(id) : python.scalar(id));
  if (kind == 1) return python.list(items);
  if (kind == 2) return python.tuple(items);
  if (kind == 3) return python.set(items);
  if (kind == 4) return python.deque(items);
  if (kind == 5) return python.array("i8", {static_cast<int64_t>(ids.size())}, raw<int64_t>(ids));
  std::vector<std::pair<std::string, std::string>> keys;  // a dict has each key once
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (const int64_t id : ids) keys.emplace_back(python.integer(id), python.dict({}));
  return python.dict(keys);
}

TEST_F(LegalWays, Planetoid) {
  for (int way = 0; way < kWays; ++way) {
    SCOPED_TRACE(way);
    Dice dice(way);
    const Python3 python(static_cast<int>(dice.from(0, 5)), dice.coin());
    const int64_t known = dice.from(5, 20), tests = dice.from(1, 6), width = dice.from(1, 5),
                  classes = dice.from(2, 4), training = dice.from(1, known - 1);
    const int64_t nodes = known + tests;
    // Rows of one number each, one class each.
    Ids column_of, class_of;
    std::vector<float> value_of;
    for (int64_t i = 0; i < nodes; ++i) {
      column_of.push_back(dice.below(width));
      value_of.push_back(static_cast<float>(dice.from(1, 9)) / 4);
      class_of.push_back(dice.below(classes));
    }
    const auto features = [&](int64_t begin, int64_t end) {
      const int64_t count = end - begin;
      const std::vector<int32_t> columns(column_of.begin() + begin, column_of.begin() + end);
      const std::vector<float> stored(value_of.begin() + begin, value_of.begin() + end);
      if (dice.below(7) > 0)
        return python.finish(one_a_row(python, dice.below(6), width, columns, stored));
      std::vector<float> dense_rows(static_cast<size_t>(count * width));
      for (int64_t i = 0; i < count; ++i)
        dense_rows[static_cast<size_t>(i * width + columns[static_cast<size_t>(i)])] =
            stored[static_cast<size_t>(i)];
      return python.finish(python.array("f4", {count, width}, raw(dense_rows)));
    };
    const auto labels = [&](int64_t begin, int64_t end) {
      const bool wide = dice.coin();
      std::vector<int64_t> integers(static_cast<size_t>((end - begin) * classes));
      for (int64_t i = begin; i < end; ++i)
        integers[static_cast<size_t>((i - begin) * classes + class_of[i])] = 1;
      const std::vector<double> numbers(integers.begin(), integers.end());
      if (dice.below(4) == 0) {
        std::vector<int32_t> columns;
        for (int64_t i = begin; i < end; ++i)
          columns.push_back(static_cast<int32_t>(class_of[static_cast<size_t>(i)]));
        return python.finish(one_a_row(python, dice.below(6), classes, columns,
                                       std::vector<float>(columns.size(), 1.0f)));
      }
      return python.finish(wide ? python.array("i8", {end - begin, classes}, raw(integers))
                                : python.array("f8", {end - begin, classes}, raw(numbers)));
    };
    put(way, "ind.s.x", features(0, training));
    put(way, "ind.s.y", labels(0, training));
    put(way, "ind.s.allx", features(0, known));
    put(way, "ind.s.ally", labels(0, known));
    put(way, "ind.s.tx", features(known, nodes));
    put(way, "ind.s.ty", labels(known, nodes));
    std::vector<std::string> test_rows;
    const Way text(dice);
    for (int64_t i = known; i < nodes; ++i)
      test_rows.push_back(dice.coin() ? text.number(i) : text.number(static_cast<float>(i)));
    put(way, "ind.s.test.index", text.text(test_rows));
    Edges expected;
    std::vector<std::pair<std::string, std::string>> entries;
    for (int64_t i = 0; i < nodes; ++i) {
      Ids neighbor_ids;
      for (int64_t k = dice.below(4); k > 0; --k) neighbor_ids.push_back(dice.below(nodes));
      entries.emplace_back(python.integer(i), collection(python, dice, neighbor_ids));
      for (const int64_t neighbor : neighbor_ids) expected.emplace_back(i, neighbor);
    }
    put(way, "ind.s.graph",
        python.finish(dice.coin() ? python.dict(entries) : python.defaultdict(entries)));

    const DatasetRef dataset = open(way);
    ASSERT_TRUE(dataset);
    EXPECT_EQ(edges(*dataset->graph), ordered(expected, *dataset->graph));
    EXPECT_EQ(values<int64_t>(dense(*dataset, "y")), class_of);
    const base::CsrMatrix& x = sparse(*dataset, "x");
    EXPECT_EQ(values<float>(x.values), value_of);
    EXPECT_EQ(values<int32_t>(x.indices), std::vector<int32_t>(column_of.begin(), column_of.end()));
    EXPECT_EQ(dataset->split("public", 0).ids[0].rows(), training);
  }
}

}  // namespace
}  // namespace gnnmg::data
