// Shared by the readers of many small graphs: categories in text, features that are one-hot of
// them, and the check that graphs which stand side by side in one keep to themselves.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/assemble.h"
#include "data/numbers.h"
#include "data/relabeler.h"

namespace gnnmg::data {

// Nodes of all graphs of a set in foreign formats: ids take 32 bits.
inline constexpr int64_t kMaxNodesInText = std::numeric_limits<int32_t>::max();
// Different values beyond this are no categories.
inline constexpr int64_t kMaxCategories = 32768;

// The numbers that categories get, from 0 on.
enum class Coding {
  kOccurring,  // values that occur, ascending
  kRange,  // each integer from the smallest that occurs to the largest; as above where that would
           // be more than kMaxCategories
};
struct Codes {
  base::Tensor values;  // i64, one an entry
  int64_t count = 0;    // limit of different numbers
};

// Integers that name categories, such as labels and tags of nodes.
class CategoryColumn {
 public:
  // Error(kRange) with the text of where() at the first value above the limit.
  template <typename Where>
  void push(int64_t value, const Where& where) {
    const int64_t code = values_.number(value);
    if (code >= kMaxCategories)
      base::fail(base::Status::kRange, where(), ": ", value,
                 " is a different value too many, at most ", kMaxCategories,
                 " are taken for categories");
    codes_.push_back(static_cast<int32_t>(code));
  }
  int64_t size() const { return codes_.size(); }
  int64_t num_categories() const { return values_.count(); }
  // The different values, ascending.
  std::vector<int64_t> values() const;
  Codes codes(Coding coding = Coding::kOccurring) const;

 private:
  Relabeler values_;
  Pieces<int32_t> codes_;
};

// One row an entry, 1 in the column of its code; several lists beside each other.
base::CsrMatrix one_hot(std::span<const Codes> lists);
// The same, dense, into `out` of f32 from that column on; its other columns are the caller's.
void set_one_hot(std::span<const Codes> lists, base::Tensor& out, int64_t first_column);
// Columns of all.
int64_t width_of(std::span<const Codes> lists);
std::vector<Codes> codes_of(std::span<const CategoryColumn> columns, Coding coding);
// Codes, or the values as they were pushed: i64 [entries], or [entries, columns] of several.
base::Tensor beside(std::span<const Codes> lists);
base::Tensor values_of(std::span<const CategoryColumn> columns);

// The graph with sparse features "x": one-hot of how many edges come into a node, a column for each
// number that occurs, ascending.
graph::GraphRef with_degree_features(const graph::Graph& graph);

// Makes the features of a set in text from the tags of its nodes, one column or several, as
// options.degree_features asks; tags that differ are kept as the node tensor "tag" too.
void set_tag_features(std::span<const CategoryColumn> tags, Coding coding, const std::string& where,
                      const OpenOptions& options, Found& found);

// Labels of graphs: the categories become classes, ascending, which the log says.
void set_graph_classes(const CategoryColumn& labels, const std::string& where, base::Log& log,
                       Found& found);

// i64 [graphs + 1] from the number of nodes of each.
base::Tensor graph_ptr_of(Pieces<int32_t>& node_counts);

// Edges whose ids count within each graph get ids of all nodes, i32: rows edge_ptr[g] ..
// edge_ptr[g + 1] - 1 are those of graph g. Error(kRange) naming found.edges_from and the row.
void shift_edges(std::span<const int64_t> node_ptr, std::span<const int64_t> edge_ptr,
                 Found& found);

// Error(kInvalidArgument) unless `graph` is homogeneous and `ptr` goes from 0 to its number of
// nodes and never falls; Error(kRange) naming an edge that leaves its graph.
void check_graph_ptr(const graph::Graph& graph, const base::Tensor& ptr);

}  // namespace gnnmg::data
