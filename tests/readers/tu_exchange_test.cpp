// Sets in TU Dortmund's form as real PyTorch Geometric reads them: tu_exchange.py writes them, and
// the data that it makes of them.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "readers/support.h"
#include "support/data.h"

namespace gnnmg::data {
namespace {

using Rows = std::vector<std::vector<double>>;

Rows read_rows(const std::string& path) {
  std::ifstream in(path);
  size_t rows = 0, columns = 0;
  in >> rows >> columns;
  Rows table(rows, std::vector<double>(columns));
  for (auto& row : table)
    for (double& value : row) in >> value;
  EXPECT_TRUE(in.good()) << path;
  return table;
}

Rows rows_of(const graph::Column& column) {
  if (const auto* matrix = std::get_if<base::CsrMatrix>(&column)) {
    Rows rows(matrix->num_rows, std::vector<double>(matrix->num_cols));
    const auto ptr = matrix->indptr.as<const int64_t>();
    for (int64_t i = 0; i < matrix->num_rows; ++i)
      for (int64_t k = ptr[i]; k < ptr[i + 1]; ++k)
        rows[i][matrix->indices.as<const int32_t>()[k]] = matrix->values.as<const float>()[k];
    return rows;
  }
  const auto& dense = std::get<base::Tensor>(column);
  const int64_t columns = dense.shape().row_elements();
  Rows rows(dense.rows(), std::vector<double>(columns));
  for (int64_t i = 0; i < dense.rows(); ++i)
    for (int64_t k = 0; k < columns; ++k) rows[i][k] = dense.as<const float>()[i * columns + k];
  return rows;
}

TEST(TuExchange, SetsAreWhatPyTorchGeometricMakesOfThem) {
  const test::TempDir folder;
  const std::string command =
      base::text("'", test::python_path(), "' '", test::source_path("readers/tu_exchange.py"),
                 "' '", folder.path(), "'");
  const int status = std::system(command.c_str());
  GNNMG_NEEDS(!WIFEXITED(status) || WEXITSTATUS(status) != 77,
              test::python_path() + " with PyTorch Geometric");
  ASSERT_EQ(status, 0) << command;
  Opener opener;
  int with_features = 0, with_labels = 0;
  for (int number = 0; number < 24; ++number) {
    SCOPED_TRACE(number);
    const std::string place = folder.file(std::to_string(number));
    const auto open = [&](int32_t degree_features) {
      OpenOptions options;
      options.degree_features = degree_features;
      return opener.open(place + "/S/raw", options);
    };
    const DatasetRef dataset = open(0);
    std::ifstream classes(place + "/classes.txt");
    for (const int64_t label : values<int64_t>(*dataset->labels())) {
      int64_t expected = -1;
      classes >> expected;
      EXPECT_EQ(label, expected);
    }
    if (std::filesystem::exists(place + "/all.txt")) {
      EXPECT_EQ(rows_of(*dataset->graph->node_column("x")), read_rows(place + "/all.txt"));
      ++with_features;
    }
    if (std::filesystem::exists(place + "/labels.txt")) {
      EXPECT_EQ(rows_of(*open(-1)->graph->node_column("x")), read_rows(place + "/labels.txt"));
      ++with_labels;
    }
    Rows found;
    for (const auto& [source, target] : edges(*dataset->graph))
      found.push_back({static_cast<double>(source), static_cast<double>(target)});
    if (const graph::Column* features = dataset->graph->edge_column("edge_attr")) {
      const Rows rows = rows_of(*features);
      for (size_t e = 0; e < found.size(); ++e)
        found[e].insert(found[e].end(), rows[e].begin(), rows[e].end());
    }
    Rows expected = read_rows(place + "/edges.txt");
    std::ranges::sort(found);
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected);
  }
  EXPECT_EQ(with_features, 24);
  EXPECT_EQ(with_labels, 16);
}

}  // namespace
}  // namespace gnnmg::data
