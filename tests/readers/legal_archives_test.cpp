// Sets of NumPy's arrays, written in a hundred random legal ways and read back equal: types, byte
// orders, Fortran's order, versions of .npy, packed and unpacked archives, SciPy's formats, forms
// of splits, sets without edges.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "io/files.h"
#include "readers/dice.h"
#include "readers/support.h"

namespace gnnmg::data {
namespace {

constexpr int kArchiveWays = 100;
using Ids = std::vector<int64_t>;
using Floats = std::vector<float>;
using Edges = std::vector<std::pair<int64_t, int64_t>>;

// "(3, 2)", as Python writes a tuple.
std::string tuple_of(const Ids& shape) {
  std::string out = "(";
  for (const int64_t size : shape) out += std::to_string(size) + ", ";
  if (shape.size() > 1) out.resize(out.size() - 2);
  return out + ")";
}

// The values of a row-major table, column by column.
template <typename T>
std::vector<T> by_column(const std::vector<T>& values, const Ids& shape) {
  std::vector<T> out;
  for (int64_t c = 0; c < shape[1]; ++c)
    for (int64_t r = 0; r < shape[0]; ++r)
      out.push_back(values[static_cast<size_t>(r * shape[1] + c)]);
  return out;
}

// The form of one array.
class ArrayWay {
 public:
  explicit ArrayWay(Dice& dice) : dice_(dice) {}

  // Integers as a type that holds all of them.
  std::string integers(const Ids& values, const Ids& shape) {
    const auto [least, most] = values.empty() ? std::pair<int64_t, int64_t>(0, 0) : limits(values);
    std::vector<int> types;  // bits, negative for signed ones
    for (const int bits : {8, 16, 32, 64}) {
      if (least >= 0 && (bits == 64 || most < int64_t{1} << bits)) types.push_back(bits);
      if (bits == 64 || (least >= -(int64_t{1} << (bits - 1)) && most < int64_t{1} << (bits - 1)))
        types.push_back(-bits);
    }
    const auto write = [&]<typename T>(T) {
      return array(std::is_signed_v<T> ? 'i' : 'u', std::vector<T>(values.begin(), values.end()),
                   shape);
    };
    switch (dice_.of(types)) {
      case 8:
        return write(uint8_t{});
      case 16:
        return write(uint16_t{});
      case 32:
        return write(uint32_t{});
      case 64:
        return write(uint64_t{});
      case -8:
        return write(int8_t{});
      case -16:
        return write(int16_t{});
      case -32:
        return write(int32_t{});
      default:
        return write(int64_t{});
    }
  }
  std::string numbers(const Floats& values, const Ids& shape) {
    if (dice_.coin()) return array('f', values, shape);
    return array('f', std::vector<double>(values.begin(), values.end()), shape);
  }
  // 0 and 1.
  std::string flags(const Ids& values, const Ids& shape) {
    if (dice_.coin()) return integers(values, shape);
    return array('b', std::vector<uint8_t>(values.begin(), values.end()), shape);
  }

 private:
  static std::pair<int64_t, int64_t> limits(const Ids& values) {
    const auto [least, most] = std::ranges::minmax(values);
    return {least, most};
  }
  template <typename T>
  std::string array(char kind, std::vector<T> values, const Ids& shape) {
    const bool fortran = shape.size() == 2 && dice_.coin(), big = sizeof(T) > 1 && dice_.coin();
    if (fortran) values = by_column(values, shape);
    const std::string order = sizeof(T) == 1 ? "|" : big ? ">" : "<";
    return test::npy(order + kind + std::to_string(sizeof(T)), tuple_of(shape),
                     big ? test::raw_big(values) : test::raw(values), fortran,
                     static_cast<int>(dice_.from(1, 3)));
  }

  Dice& dice_;
};

// Nodes with features, labels, edges as they are listed, and the part of each node: 0 for none.
struct Nodes {
  int64_t count = 0, width = 0, splits = 0;
  Edges edges;
  Floats x;
  Ids labels, codes;  // codes: [splits, count]
};

Nodes make_nodes(Dice& dice) {
  Nodes nodes;
  nodes.count = dice.from(5, 20);
  nodes.width = dice.from(1, 6);
  nodes.splits = dice.from(1, 3);
  for (int64_t e = dice.below(6) == 0 ? 0 : dice.from(1, 30); e > 0; --e)
    nodes.edges.emplace_back(dice.below(nodes.count), dice.below(nodes.count));
  std::ranges::stable_sort(nodes.edges, {}, &std::pair<int64_t, int64_t>::first);
  for (int64_t i = 0; i < nodes.count * nodes.width; ++i)
    nodes.x.push_back(dice.coin() ? 0 : static_cast<float>(dice.from(-100, 100)) / 4);
  const int64_t lowest = dice.from(-1, 0);
  for (int64_t i = 0; i < nodes.count; ++i) nodes.labels.push_back(dice.from(lowest, 3));
  nodes.labels[0] = 3;
  for (int64_t i = 0; i < nodes.splits * nodes.count; ++i)
    nodes.codes.push_back(i % nodes.count < 3 ? i % nodes.count + 1 : dice.below(4));
  return nodes;
}

Ids flat(const Edges& edges) {
  Ids all;
  for (const auto& [source, target] : edges) all.insert(all.end(), {source, target});
  return all;
}

// The entries of a table that are not 0, or of a list of edges with ones.
struct Entries {
  int64_t num_rows, num_cols;
  Ids rows, columns;
  Floats values;
};
Entries entries_of(const Floats& table, int64_t rows, int64_t columns) {
  Entries all{rows, columns, {}, {}, {}};
  for (int64_t i = 0; i < rows * columns; ++i) {
    const float value = table[static_cast<size_t>(i)];
    if (value == 0) continue;
    all.rows.push_back(i / columns);
    all.columns.push_back(i % columns);
    all.values.push_back(value);
  }
  return all;
}
Ids starts_of(const Ids& sorted, int64_t count) {
  Ids starts(static_cast<size_t>(count) + 1);
  for (const int64_t id : sorted) ++starts[static_cast<size_t>(id) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

using Arrays = std::vector<std::pair<std::string, std::string>>;

// A matrix in one of the formats of scipy.sparse.save_npz().
Arrays saved_npz(Entries all, Dice& dice) {
  ArrayWay way(dice);
  const auto ids = [&](const Ids& values) {
    return way.integers(values, {static_cast<int64_t>(values.size())});
  };
  const std::string format = dice.of<std::string>({"csr", "csc", "coo"});
  if (format == "csc") {  // column by column
    std::vector<size_t> order(all.rows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return all.columns[i]; });
    Entries sorted{all.num_rows, all.num_cols, {}, {}, {}};
    for (const size_t i : order) {
      sorted.rows.push_back(all.rows[i]);
      sorted.columns.push_back(all.columns[i]);
      sorted.values.push_back(all.values[i]);
    }
    all = sorted;
  }
  const auto count = static_cast<int64_t>(all.values.size());
  Arrays arrays = {{"data", way.numbers(all.values, {count})},
                   {"shape", way.integers({all.num_rows, all.num_cols}, {2})},
                   {"format", npy_string(format)}};
  if (format == "coo") {
    arrays.emplace_back("row", ids(all.rows));
    arrays.emplace_back("col", ids(all.columns));
    return arrays;
  }
  const bool by_row = format == "csr";
  arrays.emplace_back("indices", ids(by_row ? all.columns : all.rows));
  arrays.emplace_back("indptr", ids(starts_of(by_row ? all.rows : all.columns,
                                              by_row ? all.num_rows : all.num_cols)));
  return arrays;
}

std::string archive(Arrays arrays, Dice& dice) {
  test::TestArchive zip;
  for (size_t i = arrays.size(); i > 1; --i)
    std::swap(arrays[i - 1], arrays[static_cast<size_t>(dice.below(static_cast<int64_t>(i)))]);
  const bool packed = dice.coin();
  for (auto& [name, bytes] : arrays)
    zip.entries.push_back({.name = name + ".npy", .content = bytes, .deflate = packed});
  return zip.build();
}

// Dense or sparse features as a dense table.
Floats table_of(const Dataset& dataset) {
  const graph::Column& x = *dataset.graph->node_column("x");
  if (const auto* tensor = std::get_if<base::Tensor>(&x)) {
    const base::DType type = tensor->dtype();
    if (type == base::DType::kF32) return values<float>(*tensor);
    const auto wide = values<double>(*tensor);
    return Floats(wide.begin(), wide.end());
  }
  const auto& matrix = std::get<base::CsrMatrix>(x);
  Floats all(static_cast<size_t>(matrix.num_rows * matrix.num_cols));
  const auto ends = matrix.indptr.as<const int64_t>();
  for (int64_t row = 0; row < matrix.num_rows; ++row)
    for (int64_t i = ends[row]; i < ends[row + 1]; ++i)
      all[static_cast<size_t>(row * matrix.num_cols + matrix.indices.as<const int32_t>()[i])] +=
          matrix.values.as<const float>()[i];
  return all;
}

class LegalArchives : public testing::Test {
 protected:
  DatasetRef open(const std::string& path) {
    OpenOptions as_listed;
    as_listed.undirected = 0;
    DatasetRef dataset;
    EXPECT_NO_THROW(dataset = opener_.open(path, as_listed));
    EXPECT_EQ(opener_.log().find("left out"), std::string::npos) << "nothing to warn of";
    return dataset;
  }
  std::string put(int way, const std::string& name, const std::string& bytes) {
    return dir_.write("way" + std::to_string(way) + "/" + name, bytes);
  }
  void expect_nodes(const Dataset& dataset, const Nodes& nodes) {
    EXPECT_EQ(edges(*dataset.graph), ordered(nodes.edges, *dataset.graph));
    EXPECT_EQ(table_of(dataset), nodes.x);
    EXPECT_EQ(values<int64_t>(*dataset.labels()), nodes.labels);
  }
  static Ids part(const Nodes& nodes, int64_t split, int64_t code) {
    Ids all;
    for (int64_t i = 0; i < nodes.count; ++i)
      if (nodes.codes[static_cast<size_t>(split * nodes.count + i)] == code) all.push_back(i);
    return all;
  }
  void expect_splits(const Dataset& dataset, const std::string& name, const Nodes& nodes) {
    ASSERT_EQ(static_cast<int64_t>(dataset.splits.size()), nodes.splits);
    for (int64_t s = 0; s < nodes.splits; ++s)
      for (const auto& [code, of] :
           {std::pair(1, SplitPart::kTrain), std::pair(2, SplitPart::kValidation),
            std::pair(3, SplitPart::kTest)})
        EXPECT_EQ(ids(dataset.split(name, s), of), part(nodes, s, code)) << s;
  }
  test::TempDir dir_;
  Opener opener_;
};

// [splits, nodes], or its transpose if that is not ambiguous.
std::pair<Ids, Ids> rows_or_columns(const Ids& values, int64_t splits, int64_t count, Dice& dice) {
  if (splits == 1 && dice.coin()) return {values, {count}};
  if (splits == count || dice.coin()) return {values, {splits, count}};
  return {by_column(values, {splits, count}), {count, splits}};
}

// The three parts as masks, 0 and 1.
Arrays masks_of(const Nodes& nodes, const std::string& after, Dice& dice) {
  ArrayWay way(dice);
  Arrays arrays;
  const int64_t form = dice.below(3);
  int code = 0;
  for (const std::string name : {"train", "val", "test"}) {
    ++code;
    Ids mask;
    for (const int64_t is : nodes.codes) mask.push_back(is == code);
    Ids shape = {nodes.splits, nodes.count};
    if (form == 1) {
      mask = by_column(mask, shape);
      shape = {nodes.count, nodes.splits};
    }
    if (form == 2 && nodes.splits == 1) shape = {nodes.count};
    arrays.emplace_back(name + after, way.flags(mask, shape));
  }
  return arrays;
}

TEST_F(LegalArchives, Plain) {
  for (int way = 0; way < kArchiveWays; ++way) {
    SCOPED_TRACE(way);
    Dice dice(way);
    ArrayWay array(dice);
    const Nodes nodes = make_nodes(dice);
    const auto count = static_cast<int64_t>(nodes.edges.size());
    put(way, "edges.npy", array.integers(flat(nodes.edges), {count, 2}));
    put(way, "labels.npy", array.integers(nodes.labels, {nodes.count}));
    const int64_t form = dice.below(3);
    const Entries sparse_x = entries_of(nodes.x, nodes.count, nodes.width);
    const auto entries = static_cast<int64_t>(sparse_x.values.size());
    if (form == 0) put(way, "feat.npy", array.numbers(nodes.x, {nodes.count, nodes.width}));
    if (form == 1) put(way, "feat.npz", archive(saved_npz(sparse_x, dice), dice));
    if (form == 2) {
      put(way, "feat_indptr.npy",
          array.integers(starts_of(sparse_x.rows, nodes.count), {nodes.count + 1}));
      put(way, "feat_indices.npy", array.integers(sparse_x.columns, {entries}));
      put(way, "feat_data.npy", array.numbers(sparse_x.values, {entries}));
      put(way, "meta.json", "{\"feat_dim\": " + std::to_string(nodes.width) + "}");
    }
    if (dice.coin()) {
      const auto [codes, shape] = rows_or_columns(nodes.codes, nodes.splits, nodes.count, dice);
      put(way, "split_mine.npy", array.integers(codes, shape));
    } else if (nodes.splits == 1 && dice.coin()) {
      Arrays lists;
      int code = 0;
      for (const std::string name : {"train", "valid", "test"}) {
        const Ids all = part(nodes, 0, ++code);
        lists.emplace_back(name + dice.of<std::string>({"", "_idx", "_ids", "_index"}),
                           array.integers(all, {static_cast<int64_t>(all.size())}));
      }
      put(way, "split_mine.npz", archive(lists, dice));
    } else {
      put(way, "split_mine.npz", archive(masks_of(nodes, "_mask", dice), dice));
    }
    const DatasetRef dataset = open(dir_.file("way" + std::to_string(way)));
    ASSERT_TRUE(dataset);
    expect_nodes(*dataset, nodes);
    expect_splits(*dataset, "mine", nodes);
    if (way % 10 == 0) {  // the own format
      const std::string saved = dir_.file("saved" + std::to_string(way));
      save_dataset(*dataset, saved);
      const DatasetRef again = open(saved);
      ASSERT_TRUE(again);
      expect_nodes(*again, nodes);
      expect_splits(*again, "mine", nodes);
    }
    if (HasFailure()) return;
  }
}

TEST_F(LegalArchives, Shchur) {
  for (int way = 0; way < kArchiveWays; ++way) {
    SCOPED_TRACE(way);
    Dice dice(way);
    ArrayWay array(dice);
    const Nodes nodes = make_nodes(dice);
    const auto add = [&](const std::string& prefix, const Entries& all, Arrays& arrays) {
      const auto count = static_cast<int64_t>(all.values.size());
      arrays.emplace_back(prefix + "data", array.numbers(all.values, {count}));
      arrays.emplace_back(prefix + "indices", array.integers(all.columns, {count}));
      arrays.emplace_back(prefix + "indptr",
                          array.integers(starts_of(all.rows, all.num_rows), {all.num_rows + 1}));
      arrays.emplace_back(prefix + "shape", array.integers({all.num_rows, all.num_cols}, {2}));
    };
    Entries adjacency{nodes.count, nodes.count, {}, {}, Floats(nodes.edges.size(), 1)};
    for (const auto& [source, target] : nodes.edges) {
      adjacency.rows.push_back(source);
      adjacency.columns.push_back(target);
    }
    Arrays arrays = {{"labels", array.integers(nodes.labels, {nodes.count})}};
    add("adj_", adjacency, arrays);
    if (dice.coin())
      add("attr_", entries_of(nodes.x, nodes.count, nodes.width), arrays);
    else
      arrays.emplace_back("attr_matrix", array.numbers(nodes.x, {nodes.count, nodes.width}));
    const DatasetRef dataset = open(put(way, "set.npz", archive(arrays, dice)));
    ASSERT_TRUE(dataset);
    expect_nodes(*dataset, nodes);
    if (HasFailure()) return;
  }
}

TEST_F(LegalArchives, Heterophilous) {
  for (int way = 0; way < kArchiveWays; ++way) {
    SCOPED_TRACE(way);
    Dice dice(way);
    ArrayWay array(dice);
    const Nodes nodes = make_nodes(dice);
    const auto count = static_cast<int64_t>(nodes.edges.size());
    Arrays arrays = masks_of(nodes, "_masks", dice);
    arrays.emplace_back("node_features", array.numbers(nodes.x, {nodes.count, nodes.width}));
    arrays.emplace_back("node_labels", array.integers(nodes.labels, {nodes.count}));
    arrays.emplace_back("edges", array.integers(flat(nodes.edges), {count, 2}));
    const DatasetRef dataset = open(put(way, "set.npz", archive(arrays, dice)));
    ASSERT_TRUE(dataset);
    expect_nodes(*dataset, nodes);
    expect_splits(*dataset, "published", nodes);
    if (HasFailure()) return;
  }
}

TEST_F(LegalArchives, Packed) {
  for (int way = 0; way < kArchiveWays; ++way) {
    SCOPED_TRACE(way);
    Dice dice(way);
    ArrayWay array(dice);
    const int64_t graphs = dice.from(5, 9), width = dice.from(1, 4), splits = dice.from(1, 3);
    Ids node_ptr = {0}, edge_ptr = {0}, local, labels;
    Edges expected;
    for (int64_t g = 0; g < graphs; ++g) {
      const int64_t first = node_ptr.back(),
                    nodes = g > 0 && dice.below(4) == 0 ? 0 : dice.from(1, 6);
      for (int64_t e = nodes == 0 ? 0 : dice.below(7); e > 0; --e) {
        const int64_t source = dice.below(nodes), target = dice.below(nodes);
        local.insert(local.end(), {source, target});
        expected.emplace_back(first + source, first + target);
      }
      node_ptr.push_back(first + nodes);
      edge_ptr.push_back(static_cast<int64_t>(expected.size()));
      labels.push_back(g % 3);
    }
    const auto num_edges = static_cast<int64_t>(expected.size());
    Floats x, of_edges;
    for (int64_t i = 0; i < node_ptr.back() * width; ++i)
      x.push_back(static_cast<float>(dice.from(-100, 100)) / 4);
    for (int64_t i = 0; i < num_edges; ++i) of_edges.push_back(static_cast<float>(dice.below(9)));
    Ids codes;
    for (int64_t i = 0; i < splits * graphs; ++i)
      codes.push_back(i % graphs < 3 ? i % graphs + 1 : dice.below(4));
    const auto [stored, shape] = rows_or_columns(codes, splits, graphs, dice);
    const DatasetRef dataset =
        open(put(way, "set.npz",
                 archive({{"node_ptr", array.integers(node_ptr, {graphs + 1})},
                          {"edge_ptr", array.integers(edge_ptr, {graphs + 1})},
                          {"edges", array.integers(local, {num_edges, 2})},
                          {"node_feat", array.numbers(x, {node_ptr.back(), width})},
                          {"edge_feat", array.numbers(of_edges, {num_edges, 1})},
                          {"labels", array.integers(labels, {graphs})},
                          {"split_mine", array.integers(stored, shape)}},
                         dice)));
    ASSERT_TRUE(dataset);
    EXPECT_EQ(values<int64_t>(dataset->graph_ptr), node_ptr);
    EXPECT_EQ(edges(*dataset->graph), ordered(expected, *dataset->graph));
    EXPECT_EQ(table_of(*dataset), x);
    EXPECT_EQ(values<int64_t>(*dataset->labels()), labels);
    ASSERT_EQ(static_cast<int64_t>(dataset->splits.size()), splits);
    for (int64_t s = 0; s < splits; ++s) {
      Ids train;
      for (int64_t g = 0; g < graphs; ++g)
        if (codes[static_cast<size_t>(s * graphs + g)] == 1) train.push_back(g);
      EXPECT_EQ(ids(dataset->split("mine", s), SplitPart::kTrain), train);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace gnnmg::data
