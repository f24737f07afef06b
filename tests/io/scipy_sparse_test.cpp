#include <gtest/gtest.h>

#include <cfloat>

#include "io/damage.h"
#include "io/files.h"
#include "io/npy.h"
#include "support/data.h"

namespace gnnmg::test {
namespace {

using base::CsrMatrix;
using base::Status;
using io::as_bytes;
using io::Npz;
using io::SparseOptions;

using Arrays = std::vector<std::pair<std::string, std::string>>;

template <typename T>
std::string vector_npy(std::string_view descr, const std::vector<T>& values) {
  return npy(descr, "(" + std::to_string(values.size()) + ",)", raw(values));
}
std::string i4(const std::vector<int32_t>& values) { return vector_npy("<i4", values); }
std::string i8(const std::vector<int64_t>& values) { return vector_npy("<i8", values); }
std::string f4(const std::vector<float>& values) { return vector_npy("<f4", values); }
std::string f8(const std::vector<double>& values) { return vector_npy("<f8", values); }

// [[1, 0, 2], [0, 0, 3]]
Arrays csr() {
  return {{"indices", i4({0, 2, 2})},
          {"indptr", i4({0, 2, 3})},
          {"format", npy("|S3", "()", "csr")},
          {"shape", i8({2, 3})},
          {"data", f4({1, 2, 3})}};
}

Arrays with(Arrays arrays, const std::string& key, const std::string& content) {
  for (auto& [name, old] : arrays)
    if (name == key) old = content;
  return arrays;
}

CsrMatrix read(const Arrays& arrays, const SparseOptions& options = {}, std::string prefix = "") {
  TestArchive archive;
  for (const auto& [key, content] : arrays)
    archive.entries.push_back({.name = prefix + key + ".npy", .content = content});
  const std::string bytes = archive.build();
  return io::read_scipy_sparse(Npz::parse(as_bytes(bytes), "a.npz"), prefix, options);
}

void expect_refused(const Arrays& arrays, std::string_view part, Status status = Status::kFormat) {
  expect_error(status, part, [&] { read(arrays); });
}

void expect_matrix(const CsrMatrix& matrix, int64_t rows, int64_t cols,
                   const std::vector<int64_t>& indptr, const std::vector<int32_t>& indices,
                   const std::vector<float>& values) {
  EXPECT_EQ(matrix.num_rows, rows);
  EXPECT_EQ(matrix.num_cols, cols);
  EXPECT_EQ(matrix.nnz(), static_cast<int64_t>(indices.size()));
  const auto same = [](auto span, const auto& expected) {
    return std::equal(span.begin(), span.end(), expected.begin(), expected.end());
  };
  EXPECT_TRUE(same(matrix.indptr.as<int64_t>(), indptr));
  EXPECT_TRUE(same(matrix.indices.as<int32_t>(), indices));
  EXPECT_TRUE(same(matrix.values.as<float>(), values));
}

TEST(ScipySparse, ReadsCsr) {
  expect_matrix(read(csr()), 2, 3, {0, 2, 3}, {0, 2, 2}, {1, 2, 3});
  // 64-bit indices, text as unicode, prefixes with and without a format.
  Arrays wide = with(with(csr(), "indices", i8({0, 2, 2})), "indptr", i8({0, 2, 3}));
  wide = with(wide, "format", npy("<U3", "()", raw<uint32_t>({'c', 's', 'r'})));
  wide = with(wide, "shape", i4({2, 3}));
  expect_matrix(read(wide), 2, 3, {0, 2, 3}, {0, 2, 2}, {1, 2, 3});
  expect_matrix(read(wide, {}, "adj_"), 2, 3, {0, 2, 3}, {0, 2, 2}, {1, 2, 3});
  std::erase_if(wide, [](const auto& array) { return array.first == "format"; });
  expect_matrix(read(wide, {}, "adj_"), 2, 3, {0, 2, 3}, {0, 2, 2}, {1, 2, 3});
  expect_error(Status::kNotFound, "format", [&] { read(wide); });
}

TEST(ScipySparse, ReadsNarrowIndices) {
  Arrays narrow = with(csr(), "indices", vector_npy<uint8_t>("|u1", {0, 2, 2}));
  narrow = with(narrow, "indptr", vector_npy<uint8_t>("|u1", {0, 2, 3}));
  expect_matrix(read(narrow), 2, 3, {0, 2, 3}, {0, 2, 2}, {1, 2, 3});
}

TEST(ScipySparse, ReadsNothing) {
  Arrays empty = {{"indices", i4({})},
                  {"indptr", i4({0})},
                  {"format", npy("|S3", "()", "csr")},
                  {"shape", i8({0, 0})},
                  {"data", f4({})}};
  expect_matrix(read(empty), 0, 0, {0}, {}, {});
  expect_matrix(read(empty, {.sum_duplicates = true}), 0, 0, {0}, {}, {});
  empty = with(with(empty, "shape", i8({0, 3})), "format", npy("|S3", "()", "csc"));
  expect_matrix(read(with(empty, "indptr", i4({0, 0, 0, 0}))), 0, 3, {0}, {}, {});
}

TEST(ScipySparse, ConvertsCsc) {
  Arrays csc = with(csr(), "format", npy("|S3", "()", "csc"));
  csc = with(with(csc, "indices", i4({0, 1, 0})), "indptr", i4({0, 1, 1, 3}));
  // Column 0 has row 0; column 1 nothing; column 2 rows 1 and 0.
  expect_matrix(read(csc), 2, 3, {0, 2, 3}, {0, 2, 2}, {1, 3, 2});
  expect_refused(with(csc, "indices", i4({0, 2, 0})), "element 1 is 2, expected 0 to 1");
  expect_refused(with(csc, "indptr", i4({0, 1, 3})), "has 3 elements, expected 4");
}

TEST(ScipySparse, ConvertsCoo) {
  const Arrays coo = {{"row", i4({1, 0, 1, 0})},
                      {"col", i8({2, 1, 0, 1})},
                      {"format", npy("|S3", "()", "coo")},
                      {"shape", i8({3, 3})},
                      {"data", f4({1, 2, 3, 4})}};
  expect_matrix(read(coo), 3, 3, {0, 2, 4, 4}, {1, 1, 2, 0}, {2, 4, 1, 3});
  expect_matrix(read(coo, {.sum_duplicates = true}), 3, 3, {0, 1, 3, 3}, {1, 0, 2}, {6, 3, 1});
  expect_refused(with(coo, "row", i4({1, 0, 1})), "\"row\": has 3 elements, expected 4");
  expect_refused(with(coo, "col", i4({1, 0, 1})), "\"col\": has 3 elements, expected 4");
  expect_refused(with(coo, "row", i4({3, 0, 1, 0})), "expected 0 to 2");
  expect_refused(with(coo, "col", i8({3, 0, 1, 0})), "expected 0 to 2");
  expect_refused(with(coo, "row", i4({-1, 0, 1, 0})), "element 0 is -1");
  // One number must not be able to ask for gigabytes.
  expect_refused(with(coo, "shape", i8({2147483647, 3})), "claims 2147483647 rows for 4 entries");
}

TEST(ScipySparse, KeepsOrAddsDuplicates) {
  Arrays twice = with(csr(), "indices", i4({2, 0, 2, 1, 1}));
  twice = with(with(twice, "indptr", i4({0, 3, 5})), "data", f4({1, 2, 3, 4, 5}));
  expect_matrix(read(twice), 2, 3, {0, 3, 5}, {2, 0, 2, 1, 1}, {1, 2, 3, 4, 5});
  expect_matrix(read(twice, {.sum_duplicates = true}), 2, 3, {0, 2, 3}, {0, 2, 1}, {2, 4, 9});
}

TEST(ScipySparse, ConvertsValuesThatFit) {
  const auto of = [](const std::string& data) {
    return read(with(csr(), "data", data)).values.as<float>()[2];
  };
  EXPECT_EQ(of(f8({1, 2, .5})), .5f);
  EXPECT_TRUE(std::isnan(of(f8({1, 2, std::nan("")}))));
  EXPECT_TRUE(std::isinf(of(f8({1, 2, INFINITY}))));
  EXPECT_EQ(of(i8({1, 2, -(1ll << 40)})), -1099511627776.0f);
  EXPECT_EQ(of(i4({1, 2, 1 << 24})), 16777216.0f);
  EXPECT_EQ(of(vector_npy<int8_t>("|i1", {1, 2, -3})), -3.0f);
  EXPECT_EQ(of(vector_npy<uint8_t>("|u1", {1, 2, 200})), 200.0f);
  EXPECT_EQ(of(vector_npy<uint8_t>("|b1", {1, 0, 1})), 1.0f);
  EXPECT_EQ(of(vector_npy<uint16_t>("<f2", {0, 0, 0x3e00})), 1.5f);
}

TEST(ScipySparse, RoundsFractionsAndIntegersOnlyWhenAsked) {
  const auto data = [](const std::string& content) { return with(csr(), "data", content); };
  const auto rounded = [&](double value) {
    return read(data(f8({1, 2, value}))).values.as<float>()[2];
  };
  EXPECT_EQ(rounded(.1), .1f);
  EXPECT_EQ(rounded(1 / 3.), 1 / 3.f);
  EXPECT_EQ(rounded(16777217), 16777216);              // a tie goes to the even one
  EXPECT_EQ(rounded(-1e-300), 0);                      // underflow
  EXPECT_EQ(rounded(1e-45), 0x1p-149f);                // the smallest float
  EXPECT_EQ(rounded(0x1.fffffefffffffp127), FLT_MAX);  // the last before infinity
  for (const double beyond : {1e300, -1e39, 0x1.ffffffp127})
    expect_refused(data(f8({1, 2, beyond})), "beyond the range of 32-bit floats", Status::kRange);
  expect_refused(data(f8({1e300, 2, 3})), "array \"data\": element 0 is 1e+300", Status::kRange);

  expect_refused(data(i8({1, (1 << 24) + 1, 2})), "element 1 is 16777217", Status::kRange);
  expect_refused(data(i8({INT64_MAX, 1, 2})), "round_values accepts it", Status::kRange);
  const SparseOptions round{.round_values = true};
  EXPECT_EQ(read(data(i8({INT64_MAX, 1, 2})), round).values.as<float>()[0], 9223372036854775808.0f);
  expect_error(Status::kRange, "1e+300", [&] { read(data(f8({1, 2, 1e300})), round); });
}

std::string bsr_format() { return npy("|S3", "()", "bsr"); }

// Two rows of blocks of 2 x 3: one in the second column of blocks, then two, of which one has
// zeros.
Arrays bsr() {
  return {{"indices", i4({1, 1, 0})},
          {"indptr", i4({0, 1, 3})},
          {"format", bsr_format()},
          {"shape", i8({4, 6})},
          {"data", npy("<f8", "(3, 2, 3)",
                       raw<double>({1, 2, 3, 4, 5, 6, 7, 8, 9, .1, 11, 12, 0, 0, 1, 0, 2, 0}))}};
}

// The expected values are those of bsr_matrix(...).tocsr().
TEST(ScipySparse, ConvertsBsr) {
  expect_matrix(read(bsr()), 4, 6, {0, 3, 6, 12, 18},
                {3, 4, 5, 3, 4, 5, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2},
                {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 1, .1f, 11, 12, 0, 2, 0});
  const Arrays twice = with(bsr(), "indices", i4({1, 0, 0}));
  expect_matrix(read(twice, {.sum_duplicates = true}), 4, 6, {0, 3, 6, 9, 12},
                {3, 4, 5, 3, 4, 5, 0, 1, 2, 0, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 10, .1f, 13, 12});
  expect_refused(with(bsr(), "shape", i8({5, 6})), "blocks of 2 x 3, which do not divide");
  expect_refused(with(bsr(), "shape", i8({4, 7})), "which do not divide a matrix of 4 x 7");
  expect_refused(with(bsr(), "indices", i4({1, 2, 0})), "element 1 is 2, expected 0 to 1");
  expect_refused(with(bsr(), "indices", i4({1, 1})), "has 2 elements, expected 3");
  expect_refused(with(bsr(), "indptr", i4({0, 1})), "has 2 elements, expected 3");
  expect_refused(with(bsr(), "data", f8({1, 2, 3})), "has shape [3], expected 3 dimensions");
  expect_refused(with(bsr(), "data", npy("<f8", "(3, 0, 3)", "")), "blocks of 0 x 3");
}

Arrays dia() {
  return {{"offsets", i4({-1, 0, 2, 7})},
          {"format", npy("|S3", "()", "dia")},
          {"shape", i8({3, 4})},
          {"data",
           npy("<f8", "(4, 4)", raw<double>({1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11, .1, 1, 1, 1, 1}))}};
}

// [[5, 0, 11, 0], [1, 0, 0, 0.1], [0, 2, 7, 0]], as dia_matrix(...).todense() has it.
TEST(ScipySparse, ConvertsDia) {
  expect_matrix(read(dia()), 3, 4, {0, 2, 4, 6}, {0, 2, 0, 3, 1, 2}, {5, 11, 1, .1f, 2, 7});
  const Arrays narrow = with(dia(), "data", npy("<i8", "(4, 1)", raw<int64_t>({1, 2, 3, 4})));
  expect_matrix(read(narrow), 3, 4, {0, 1, 2, 2}, {0, 0}, {2, 1});
  expect_refused(with(dia(), "offsets", i4({-1, 0, 2})), "has 3 elements, expected 4");
  expect_refused(with(dia(), "data", f8({1, 2})), "has shape [2], expected 2 dimensions");
  expect_refused(with(dia(), "shape", i8({2147483647, 3})), "claims 2147483647 rows");
}

TEST(ScipySparse, RefusesBrokenMatrices) {
  const auto refused = [](const std::string& key, const std::string& content, std::string_view part,
                          Status status = Status::kFormat) {
    expect_refused(with(csr(), key, content), part, status);
  };
  refused("format", npy("|S3", "()", "lil"),
          "format \"lil\", expected csr, csc, coo, bsr or dia; matrix.tocsr()");
  refused("shape", i8({2, 3, 1}), "has 3 elements, expected 2");
  refused("shape", i8({-2, 3}), "-2 x 3");
  refused("shape", i8({2, 3ll << 40}), "expected sizes");
  refused("shape", i8({3, 3}), "has 3 elements, expected 4 by the shape");
  refused("shape", i8({2, 2}), "element 1 is 2, expected 0 to 1");
  refused("shape", f4({2, 3}), "expected integers");
  refused("indptr", i4({1, 2, 3}), "begins with 1");
  refused("indptr", i4({0, 4, 3}), "falls from 4 to 3 at element 2");
  refused("indptr", i4({0, 2, 2}), "ends with 2");
  refused("indptr", npy("<i4", "(1, 3)", raw<int32_t>({0, 2, 3})), "expected one dimension");
  refused("indices", i4({0, 2}), "has 2 elements, expected 3");
  refused("indices", i4({0, -1, 2}), "element 1 is -1");
  refused("indices", i8({0, 1ll << 32, 2}), "element 1 is 4294967296");
  refused("indices", f4({0, 1, 2}), "expected integers");
  refused("data", f4({1, 2}), "has 3 elements, expected 2");
  Arrays missing = csr();
  missing.pop_back();
  expect_refused(missing, "\"data\"", Status::kNotFound);
}

TEST(ScipySparse, ReadsRealFeatures) {
  GNNMG_NEEDS_DATA("coauthor-physics/plain/feat.npz");
  const Npz npz = Npz::open(data_path("coauthor-physics/plain/feat.npz"));
  const CsrMatrix matrix = io::read_scipy_sparse(npz, "");
  EXPECT_EQ(matrix.num_rows, 34'493);
  EXPECT_EQ(matrix.num_cols, 8'415);
  EXPECT_EQ(matrix.nnz(), 1'137'311);
}

TEST(ScipySparse, ReadsPrefixedMatrices) {
  GNNMG_NEEDS_DATA("amazon-photo/shchur_npz");
  const std::string folder = data_path("amazon-photo/shchur_npz");
  const Npz npz = Npz::open(base::join_path(folder, base::list_directory(folder).front()));
  const CsrMatrix adjacency = io::read_scipy_sparse(npz, "adj_");
  EXPECT_EQ(adjacency.num_rows, 7'650);
  EXPECT_EQ(adjacency.nnz(), 143'663);
  EXPECT_EQ(io::read_scipy_sparse(npz, "attr_").num_cols, 745);
}

}  // namespace
}  // namespace gnnmg::test
