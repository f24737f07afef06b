// Parts read from a folder against parts cut out of memory, and folders that are not as they say.
#include "dist/part_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "dist/parts_of.h"
#include "dist/saved_parts.h"
#include "sample/reference.h"
#include "support/temp_dir.h"

namespace gnnmg {
namespace {

using base::Status;
using base::Tensor;

constexpr int64_t kFolderNodes = 200;
constexpr int32_t kFolderParts = 3;

// Edges in an order of their own, and columns of every kind.
graph::GraphRef rich_graph() {
  graph::GraphParts parts = test::skewed_graph(kFolderNodes, 600, 1)->parts();
  Tensor narrow = Tensor::empty(base::DType::kBF16, {kFolderNodes, 2, 2});
  for (int64_t i = 0; i < 4 * kFolderNodes; ++i)
    static_cast<uint16_t*>(narrow.data())[i] = static_cast<uint16_t>(i);
  std::vector<float> x(3 * kFolderNodes);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  Tensor dense = Tensor::empty(base::DType::kF32, {kFolderNodes, 3});
  std::copy(x.begin(), x.end(), dense.as<float>().begin());
  std::vector<int64_t> indptr = {0}, labels;
  std::vector<int32_t> indices;
  for (int64_t v = 0; v < kFolderNodes; ++v) {
    for (int64_t i = 0; i < v % 4; ++i) indices.push_back(static_cast<int32_t>((v + i) % 9));
    indptr.push_back(static_cast<int64_t>(indices.size()));
    labels.push_back(v % 5);
  }
  const std::vector<float> values(indices.size(), 0.5f);
  parts.node_columns = {
      {{"half", narrow},
       {"s", base::CsrMatrix{kFolderNodes, 9, Tensor::copy_of<int64_t>(indptr),
                             Tensor::copy_of<int32_t>(indices), Tensor::copy_of<float>(values)}},
       {"x", dense},
       {"y", Tensor::copy_of<int64_t>(labels)}}};
  return test::with_edge_columns(*graph::Graph::create(std::move(parts)));
}

std::string bytes_of(const feature::FeatureStore& store) {
  std::vector<int64_t> rows(store.num_rows());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  std::string bytes;
  if (store.sparse()) {
    feature::SparseRows out;
    store.gather_sparse(rows, out, nullptr);
    const auto add = [&](const auto& list) {
      bytes.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof list[0]);
    };
    add(out.indptr), add(out.indices), add(out.values);
  } else {
    bytes.resize(rows.size() * store.num_cols() * base::dtype_size(store.dtype()));
    store.gather(rows, reinterpret_cast<uint8_t*>(bytes.data()), nullptr);
  }
  return bytes;
}

std::string bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.view().num_bytes())};
}

class PartFolder : public testing::Test {
 protected:
  // Names are in alphabetical order: the last is the label's.
  PartFolder() {
    test::save_parts(*test::dataset_of(graph_, "y"), part_of_, kFolderParts, folder());
  }
  std::string folder() const { return dir_.file("parts"); }
  std::pair<Status, std::string> failure(int32_t part) {
    try {
      dist::PartFolder(folder(), {}).read(part);
    } catch (const base::Error& error) {
      return {error.status(), error.what()};
    }
    return {Status::kOk, ""};
  }

  test::TempDir dir_;
  graph::GraphRef graph_ = rich_graph();
  std::vector<uint16_t> part_of_ = test::hashed_parts(kFolderNodes, kFolderParts, 3);
};

TEST_F(PartFolder, HasWhatTheWholeHas) {
  for (int32_t number = 0; number < kFolderParts; ++number) {
    const auto cut = test::cut_part(*graph_, part_of_, number);
    const auto read = dist::PartFolder(folder(), {}).read(number);
    EXPECT_EQ(read->num_nodes(), kFolderNodes);
    EXPECT_EQ(bytes_of(read->topology(0).indptr), bytes_of(cut->topology(0).indptr));
    EXPECT_EQ(bytes_of(read->topology(0).indices), bytes_of(cut->topology(0).indices));
    const graph::Csc &csc = read->topology(0), &expected = cut->topology(0);
    for (int64_t e = 0; e < csc.num_edges(); ++e) ASSERT_EQ(csc.edge_id(e), expected.edge_id(e));
    ASSERT_EQ(read->num_columns(), 3);  // the labels lie whole
    for (int32_t column = 0; column < 3; ++column) {
      EXPECT_EQ(read->column(column).dtype(), cut->column(column).dtype());
      EXPECT_EQ(bytes_of(read->column(column)), bytes_of(cut->column(column))) << column;
    }
    ASSERT_EQ(read->num_edge_columns(), 2);
    for (int32_t column = 0; column < 2; ++column)
      EXPECT_EQ(bytes_of(read->edge_column(column)), bytes_of(cut->edge_column(column))) << column;
    for (int64_t id = 0; id < kFolderNodes; ++id) {
      int64_t row;
      if (part_of_[id] == number)
        EXPECT_NO_THROW(read->rows_of(std::vector<int64_t>{id}, &row));
      else
        EXPECT_THROW(read->rows_of(std::vector<int64_t>{id}, &row), base::Error);
    }
  }
}

TEST_F(PartFolder, WithoutEdgeIdsNoneAreInvented) {
  graph::GraphParts parts = graph_->parts();
  parts.topology[0].edge_ids = {};
  parts.edge_columns = {};  // columns would have the ids kept
  const auto data = test::dataset_of(graph::Graph::create(std::move(parts)), "y");
  for (const int32_t num_parts : {1, kFolderParts}) {
    const std::string path = dir_.file(base::text("without-", num_parts));
    test::save_parts(*data, test::hashed_parts(kFolderNodes, num_parts, 3), num_parts, path, false);
    const auto part = dist::PartFolder(path, {}).read(0);
    dist::Question question;
    question.draw.fanout = -1;
    question.edge_ids = true;
    dist::PickScratch scratch;
    dist::Picks picks;
    const std::vector<int64_t> none;
    EXPECT_EQ(test::status_of([&] { dist::pick(*part, none, question, scratch, {}, picks); }),
              num_parts == 1 ? Status::kOk : Status::kUnsupported);
  }
}

TEST_F(PartFolder, SaysWhatIsWrong) {
  using testing::HasSubstr, testing::Pair;
  EXPECT_THAT(failure(kFolderParts), Pair(Status::kNotFound, HasSubstr("expected 0 to 2")));
  EXPECT_THAT(failure(-1), Pair(Status::kNotFound, HasSubstr("part -1")));
  const std::string sources = folder() + "/part-0001/edge-edge.indices.npy";
  const auto size = std::filesystem::file_size(sources);
  std::fstream(sources, std::ios::in | std::ios::out).seekp(static_cast<int64_t>(size) - 3) << '\7';
  EXPECT_THAT(failure(1), Pair(Status::kChecksum, HasSubstr(sources)));
  EXPECT_EQ(failure(0).first, Status::kOk);
  std::filesystem::resize_file(folder() + "/part-0000/node-node-x.npy", 200);
  EXPECT_THAT(failure(0), Pair(Status::kChecksum, HasSubstr("has 200 bytes")));
  base::CancelToken cancelled;
  cancelled.cancel();
  EXPECT_EQ(test::status_of([&] { dist::PartFolder(folder(), cancelled); }), Status::kCancelled);
  std::filesystem::remove(folder() + "/manifest.json");
  EXPECT_THAT(failure(2), Pair(Status::kFormat, HasSubstr("not complete")));
}

// Folders without parts: the error names their contents and the remedy.
TEST_F(PartFolder, SaysWhatLiesThereInstead) {
  using testing::AllOf, testing::HasSubstr, testing::Pair;
  const auto failure = [](const std::string& folder) {
    try {
      dist::PartFolder(folder, {}).read(0);
    } catch (const base::Error& error) {
      return std::pair<Status, std::string>(error.status(), error.what());
    }
    return std::pair<Status, std::string>(Status::kOk, "");
  };
  const std::string none = dir_.file("none"), file = dir_.write("file", "text");
  EXPECT_THAT(failure(none), Pair(Status::kNotFound, AllOf(HasSubstr(none + ": no such folder"),
                                                           HasSubstr("save_parts()"))));
  EXPECT_THAT(failure(none + "/within").first, Status::kNotFound);
  EXPECT_THAT(failure(file), Pair(Status::kNotFound, HasSubstr(file + ": is a file")));
  const std::string empty = dir_.file("empty");
  std::filesystem::create_directory(empty);
  EXPECT_THAT(failure(empty), Pair(Status::kNotFound, HasSubstr("is empty and holds no parts")));
  std::ofstream(empty + "/notes.bin") << '\1';
  EXPECT_THAT(failure(empty), Pair(Status::kFormat, HasSubstr("holds no parts")));
  const std::string other = dir_.file("other");
  std::filesystem::create_directory(other);
  std::ofstream(other + "/edges.txt") << "0 1\n1 2\n";
  EXPECT_THAT(failure(other), Pair(Status::kFormat, AllOf(HasSubstr("not in parts (format edges"),
                                                          HasSubstr("gnnmg_dataset_open()"))));
  const std::string above = dir_.file("above");
  std::filesystem::create_directory(above);
  std::filesystem::rename(folder(), above + "/inner");
  EXPECT_THAT(failure(above), Pair(Status::kNotFound, HasSubstr("they lie in " + above)));
}

TEST_F(PartFolder, IsCancelledBetweenTwoParts) {
  const base::CancelToken cancel;
  const dist::PartFolder parts(folder(), cancel);
  EXPECT_NE(parts.read(0), nullptr);
  cancel.cancel();
  EXPECT_EQ(test::status_of([&] { parts.read(1); }), Status::kCancelled);
}

// Columns of at most 64 KiB are in memory, others are read when their rows are asked for.
TEST_F(PartFolder, ARowOfAFileThatShrinksIsAnError) {
  const std::string large = dir_.file("large");
  graph::GraphParts parts = graph_->parts();
  parts.node_columns[0]["wide"] = Tensor::zeros(base::DType::kF32, {kFolderNodes, 300});
  test::save_parts(*test::dataset_of(graph::Graph::create(std::move(parts)), "y"), part_of_,
                   kFolderParts, large);
  const auto part = dist::PartFolder(large, {}).read(0);
  EXPECT_FALSE(part->column(2).dense().defined()) << "mapped";
  for (const char* name : {"wide", "x"})
    std::filesystem::resize_file(base::text(large, "/part-0000/node-node-", name, ".npy"), 200);
  EXPECT_EQ(test::status_of([&] { bytes_of(part->column(2)); }), Status::kIo);  // wide
  EXPECT_EQ(test::status_of([&] { bytes_of(part->column(3)); }), Status::kOk);  // x
}

std::atomic<int> lists_opened{0};
int count_lists(const char* path, int flags, mode_t mode) {
  lists_opened += std::string_view(path).ends_with("manifest.json");
  return base::system_files().open(path, flags, mode);
}

// Without another look at the list of files for each part, and with no descriptor that a part
// keeps.
TEST(ManyParts, AreOpenedWithoutQuadraticWork) {
  constexpr int32_t kParts = 600;
  constexpr int64_t kNodes = 6'000;
  const test::TempDir dir;
  const auto graph = test::skewed_graph(kNodes, 600, 1);
  std::vector<uint16_t> part_of(kNodes);
  for (int64_t v = 0; v < kNodes; ++v) part_of[v] = static_cast<uint16_t>(v * 7 % kParts);
  test::save_parts(*test::dataset_of(graph), part_of, kParts, dir.file("parts"));
  const auto count = [](const char* path) {
    return std::distance(std::filesystem::directory_iterator(path), {});
  };
  const auto before = count("/proc/self/fd");
  base::FileTable counting = base::system_files();
  counting.open = count_lists;
  base::set_file_table(&counting);
  const dist::PartFolder folder(dir.file("parts"), {});
  std::vector<std::shared_ptr<const dist::Part>> parts;
  for (const int32_t number : folder.found()) parts.push_back(folder.read(number));
  ASSERT_EQ(parts.size(), static_cast<size_t>(kParts));
  base::set_file_table(nullptr);
  EXPECT_EQ(lists_opened, 1);
  EXPECT_EQ(count("/proc/self/fd"), before);
  for (const int64_t v : {int64_t{0}, int64_t{1'234}, kNodes - 1}) {
    const dist::Part& part = *parts[part_of[v]];
    int64_t row;
    part.rows_of(std::vector<int64_t>{v}, &row);
    const graph::Csc& csc = part.topology(0);
    EXPECT_EQ(csc.in_degree(row), graph->csc().in_degree(v)) << v;
  }
}

}  // namespace
}  // namespace gnnmg
