// Folders of parts: opening gives back exactly the parts that were saved, whatever interrupted the
// saving, and no changed file is accepted.
#include "data/parts.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "data/fingerprint.h"
#include "data/native_arrays.h"
#include "data/parts_metadata.h"
#include "data/weights.h"
#include "io/bytes.h"
#include "io/checksum.h"
#include "io/npy.h"
#include "readers/support.h"
#include "support/file_faults.h"
#include "support/power_loss.h"
#include "support/quick_files.h"

namespace gnnmg::data {
namespace {

using base::Status;

constexpr int64_t kPartNodes = 50;

base::CsrMatrix sparse_rows(int64_t rows, int64_t cols) {
  std::vector<int64_t> indptr = {0};
  std::vector<int32_t> indices;
  std::vector<float> values;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < r % 4; ++i) {
      indices.push_back(static_cast<int32_t>((r + i) % cols));
      values.push_back(static_cast<float>(r) + 0.25f * static_cast<float>(i));
    }
    indptr.push_back(static_cast<int64_t>(indices.size()));
  }
  const auto entries = static_cast<int64_t>(indices.size());
  return {rows, cols, tensor<int64_t>(indptr, {rows + 1}), tensor<int32_t>(indices, {entries}),
          tensor<float>(values, {entries})};
}

template <typename T>
base::Tensor counted(base::Shape shape, T first) {
  std::vector<T> numbers(static_cast<size_t>(shape.num_elements()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<T>(first + T(i));
  return tensor<T>(numbers, shape);
}

// Everything that a data set with one node type can have: edges in an order of the caller's own,
// loops, repeated edges, isolated nodes, dense and sparse tensors of nodes and edges, 16-bit ones,
// names of relabeled ids, labels, two splits, weights.
DatasetRef rich_dataset(base::ThreadPool& pool, bool in_order = false) {
  std::vector<int64_t> from, to;
  for (int64_t e = 0; e < 300; ++e) {
    from.push_back(e * 37 % kPartNodes);
    to.push_back(in_order ? e * 45 / 300 : e * e % 45);  // nodes 45 to 49 have no edges
  }
  from.push_back(3);
  to.push_back(in_order ? 44 : 3);
  graph::GraphParts parts;
  parts.num_nodes = {kPartNodes};
  parts.topology = {graph::csc_from_coo(tensor<int64_t>(from, {301}).view(),
                                        tensor<int64_t>(to, {301}).view(), kPartNodes, kPartNodes,
                                        pool)};
  graph::Columns nodes, edges;
  nodes.emplace("x", counted<float>({kPartNodes, 3}, 0.5f));
  nodes.emplace("s", sparse_rows(kPartNodes, 9));
  nodes.emplace("original_id", counted<int64_t>({kPartNodes}, int64_t{1} << 40));
  base::Tensor half = base::Tensor::zeros(base::DType::kBF16, {kPartNodes, 2, 2});
  for (int64_t i = 0; i < kPartNodes * 4; ++i)
    static_cast<uint16_t*>(half.data())[i] = static_cast<uint16_t>(i);
  nodes.emplace("half", half);
  std::vector<int64_t> labels;
  for (int64_t v = 0; v < kPartNodes; ++v) labels.push_back(v % 4 - 1);
  nodes.emplace("y", tensor<int64_t>(labels, {kPartNodes}));
  edges.emplace("weight", counted<float>({301}, 1.0f));
  edges.emplace("of/kind", counted<uint8_t>({301, 2}, 0));
  edges.emplace("e", sparse_rows(301, 5));
  parts.node_columns = {nodes};
  parts.edge_columns = {edges};
  std::vector<uint8_t> first(kPartNodes), second(kPartNodes);
  for (int64_t v = 0; v < kPartNodes; ++v) {
    first[v] = static_cast<uint8_t>(v % 4);
    second[v] = static_cast<uint8_t>(v * 7 % 4);
  }
  Dataset dataset = *make_dataset(
      graph::Graph::create(std::move(parts)), "x", "y", false,
      {split_from_codes(first, "public", 0, "f"), split_from_codes(second, "other", 3, "f")});
  dataset.name = "rich";
  dataset.source = "a test";
  dataset.class_weights = make_class_weights(dataset, std::vector<double>{1, 2, 0.5});
  dataset.sample_weights = make_sample_weights(dataset, counted<double>({kPartNodes}, 1.0).view());
  return std::make_shared<const Dataset>(std::move(dataset));
}

PartsArguments arguments_of(int32_t num_parts) {
  PartsArguments arguments;
  arguments.num_parts = num_parts;
  arguments.method = "hash";
  arguments.fanouts = {2, 2};
  arguments.batch_size = 4;
  return arguments;
}

// Stand-ins for the steps of other rooms. Part 1 of three or more is empty.
PartsSteps steps_of(const Dataset& dataset, int32_t num_parts, int* assigned = nullptr) {
  PartsSteps steps;
  steps.assign = [num_parts, assigned] {
    if (assigned) ++*assigned;
    std::vector<uint16_t> parts(kPartNodes);
    for (size_t v = 0; v < parts.size(); ++v) {
      parts[v] = static_cast<uint16_t>(v * 11 % num_parts);
      if (parts[v] == 1 && num_parts > 2) parts[v] = 2;
    }
    return parts;
  };
  steps.describe = [&dataset, num_parts](std::span<const uint16_t> parts) {
    const std::vector<int64_t> zeros(num_parts);
    PartFacts facts{zeros, zeros, zeros, zeros};
    for (size_t v = 0; v < parts.size(); ++v) {
      ++facts.rows[parts[v]];
      facts.edges[parts[v]] += dataset.graph->csc().in_degree(static_cast<int64_t>(v));
    }
    return facts;
  };
  steps.hotness = [](int32_t part, std::span<const uint16_t> parts) {
    std::vector<float> hotness(parts.size());
    for (size_t v = 0; v < parts.size(); ++v)
      hotness[v] = parts[v] == part ? 1.0f : static_cast<float>(v) / 100;
    return hotness;
  };
  return steps;
}

// All arrays of a data set, by file name, as bytes.
std::map<std::string, std::string> bytes_of(const Dataset& dataset, std::string* text = nullptr) {
  std::map<std::string, std::string> all;
  const native::Metadata metadata =
      native::describe(dataset, [&](const native::Array& array, const base::Tensor& tensor) {
        all[array.file] = {static_cast<const char*>(tensor.data()),
                           static_cast<size_t>(tensor.view().num_bytes())};
      });
  if (text) *text = native::metadata_text(metadata);
  return all;
}

// Files and their bytes.
std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      all[std::filesystem::relative(entry.path(), folder)] = test::slurp(entry.path());
  return all;
}

class PartsFolder : public testing::Test {
 protected:
  void save(const Dataset& dataset, const std::string& path, int32_t num_parts,
            PartsSteps steps = {}, PartsArguments arguments = {}) {
    if (!steps.assign) steps = steps_of(dataset, num_parts);
    if (arguments.method.empty()) arguments = arguments_of(num_parts);
    save_parts(dataset, &dataset.splits[0], path, arguments, steps, cancel_);
  }
  std::string saved(int32_t num_parts, const std::string& name = "parts") {
    const DatasetRef dataset = rich_dataset(opener_.pool());
    save(*dataset, dir_.file(name), num_parts);
    return dir_.file(name);
  }
  const test::QuickFiles quick_;
  test::TempDir dir_;
  Opener opener_;
  base::CancelToken cancel_;
};

TEST_F(PartsFolder, AllPartsAreTheWhole) {
  for (const bool in_order : {false, true})
    for (const int32_t num_parts : {1, 2, 5, 70}) {
      const DatasetRef dataset = rich_dataset(opener_.pool(), in_order);
      ASSERT_EQ(dataset->graph->csc().edge_ids.defined(), !in_order);
      const std::string path = dir_.file(base::text("p", num_parts, in_order));
      save(*dataset, path, num_parts);
      const DatasetRef opened = opener_.open(path);
      EXPECT_EQ(fingerprint(*opened, opened->splits[0]), fingerprint(*dataset, dataset->splits[0]));
      std::string text, expected;
      EXPECT_EQ(bytes_of(*opened, &text), bytes_of(*dataset, &expected)) << num_parts;
      EXPECT_EQ(text, expected);
      ASSERT_TRUE(opened->parts);
      EXPECT_EQ(opened->parts->arguments, arguments_of(num_parts));
      EXPECT_EQ(opened->parts->book, steps_of(*dataset, num_parts).assign());
    }
}

TEST_F(PartsFolder, NumPyReadsIt) {
  const std::string path = saved(3);
  // Ids are the whole's and ascend; rows lie in their order.
  const base::Tensor ids = io::read_npy(path + "/part-0002/ids.npy");
  const base::Tensor x = io::read_npy(path + "/part-0002/node-node-x.npy");
  ASSERT_EQ(ids.rows(), x.rows());
  for (int64_t row = 0; row < ids.rows(); ++row)
    EXPECT_EQ(x.as<float>()[row * 3], 0.5f + 3 * static_cast<float>(ids.as<int64_t>()[row]));
  EXPECT_EQ(io::read_npy(path + "/part-0001/ids.npy").rows(), 0);
  const base::Tensor book = io::read_npy(path + "/book.npy");
  EXPECT_EQ(book.dtype(), base::DType::kU8);
  EXPECT_EQ(book.as<uint8_t>()[7], 7 * 11 % 3);
  EXPECT_FALSE(base::exists(path + "/journal.jsonl"));
}

TEST_F(PartsFolder, EdgesThatLieInOrderKeepTheirPlacesOnRequest) {
  graph::GraphParts parts = rich_dataset(opener_.pool(), true)->graph->parts();
  parts.edge_columns.clear();
  const DatasetRef dataset = make_dataset(graph::Graph::create(std::move(parts)), "x", "", false,
                                          rich_dataset(opener_.pool())->splits);
  save(*dataset, dir_.file("without"), 2);
  EXPECT_FALSE(base::exists(dir_.file("without/part-0000/edge_ids.npy")));
  PartsArguments asked = arguments_of(2);
  asked.edge_ids = true;
  save(*dataset, dir_.file("with"), 2, {}, asked);
  const base::Tensor places = io::read_npy(dir_.file("with/part-0001/edge_ids.npy"));
  const base::Tensor sources = io::read_npy(dir_.file("with/part-0001/edge-edge.indices.npy"));
  ASSERT_EQ(places.rows(), sources.rows());
  for (int64_t e = 0; e < places.rows(); ++e)
    EXPECT_EQ(dataset->graph->csc().source(places.as<int64_t>()[e]), sources.as<int32_t>()[e]);
}

TEST_F(PartsFolder, RangesNeedNoBook) {
  const DatasetRef dataset = rich_dataset(opener_.pool());
  PartsArguments ranges = arguments_of(2);
  ranges.ranges = true;
  PartsSteps steps = steps_of(*dataset, 2);
  steps.assign = [] {
    std::vector<uint16_t> parts(kPartNodes);
    std::fill(parts.begin() + 20, parts.end(), uint16_t{1});
    return parts;
  };
  save(*dataset, dir_.file("ranges"), 2, steps, ranges);
  EXPECT_FALSE(base::exists(dir_.file("ranges/book.npy")));
  EXPECT_EQ(bytes_of(*opener_.open(dir_.file("ranges"))), bytes_of(*dataset));
}

TEST_F(PartsFolder, GoesOnWhereverItWasStopped) {
  const DatasetRef dataset = rich_dataset(opener_.pool());
  save(*dataset, dir_.file("whole"), 3);
  const auto expected = contents(dir_.file("whole"));
  const std::string path = dir_.file("resumed");
  // Stopped at every step in turn, in one folder, until it is complete.
  int stops = 0, assigned = 0;
  for (bool complete = false; !complete;) {
    base::CancelToken cancel;
    PartsSteps steps = steps_of(*dataset, 3, &assigned);
    int begun = 0;
    steps.report = [&](const std::string& step) {
      if (step.starts_with("writing") && ++begun == 2) cancel.cancel();
    };
    try {
      save_parts(*dataset, &dataset->splits[0], path, arguments_of(3), steps, cancel);
      complete = true;
    } catch (const base::Error& error) {
      ASSERT_EQ(error.status(), Status::kCancelled) << error.what();
      ASSERT_LT(++stops, 100);
      ASSERT_FALSE(base::exists(path + "/manifest.json"));
      expect_error(Status::kFormat, {"not complete", "gnnmg_dataset_save_parts"},
                   [&] { opener_.open(path); });
    }
  }
  EXPECT_GT(stops, 5);
  EXPECT_EQ(assigned, 1);  // the book is kept
  EXPECT_EQ(contents(path), expected);
}

TEST_F(PartsFolder, EveryFaultOfTheDiskIsAnErrorAndTheNextCallGoesOn) {
  const DatasetRef dataset = rich_dataset(opener_.pool());
  save(*dataset, dir_.file("whole"), 2);
  const auto expected = contents(dir_.file("whole"));
  int64_t number = 0;
  for (const test::FileCall call : {test::FileCall::kWrite, test::FileCall::kSync,
                                    test::FileCall::kRename, test::FileCall::kOpen}) {
    std::string path;
    const int64_t faults = test::fail_each_file_call(
        {.call = call, .error = ENOSPC},
        [&] { save(*dataset, path = dir_.file(base::text("fault", number++)), 2); },
        [&](int64_t n, const base::Error* threw) {
          if (threw) {
            EXPECT_EQ(threw->status(), Status::kIo) << threw->what();
            save(*dataset, path, 2);
          }
          EXPECT_EQ(contents(path), expected) << static_cast<int>(call) << ", call " << n;
          std::filesystem::remove_all(path);
        });
    EXPECT_GT(faults, 15);
  }
}

// A file table that kills the process at the call of this number which writes, syncs or renames.
int64_t calls_to_live = 0;
void live_on() {
  if (--calls_to_live == 0) kill(getpid(), SIGKILL);
}
const base::FileTable& deadly_files() {
  static const base::FileTable table = [] {
    base::FileTable made = base::system_files();
    made.write = [](int fd, const void* bytes, size_t size) {
      live_on();
      return base::system_files().write(fd, bytes, size);
    };
    made.fsync = [](int) {
      live_on();
      return 0;
    };
    made.rename = [](const char* from, const char* to) {
      live_on();
      return base::system_files().rename(from, to);
    };
    return made;
  }();
  return table;
}

// True when the process that saves was killed at its `calls`-th call.
bool killed_while_saving(int64_t calls, const std::function<void()>& save) {
  const pid_t writer = fork();
  if (writer == 0) {
    calls_to_live = calls;
    base::set_file_table(&deadly_files());
    save();
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(writer, &status, 0), writer);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

TEST_F(PartsFolder, KilledAtTwentyPointsItGoesOn) {
  const DatasetRef dataset = rich_dataset(opener_.pool());
  save(*dataset, dir_.file("whole"), 3);
  const auto expected = contents(dir_.file("whole"));
  int64_t calls = 0;
  while (killed_while_saving(calls + 16,
                             [&] { save(*dataset, dir_.file(base::text("count", calls)), 3); }))
    calls += 16;
  ASSERT_GT(calls, 100);
  for (int64_t point = 1; point <= 20; ++point) {
    const std::string path = dir_.file(base::text("killed", point));
    ASSERT_TRUE(
        killed_while_saving(1 + point * (calls - 1) / 20, [&] { save(*dataset, path, 3); }));
    save(*dataset, path, 3);
    EXPECT_EQ(contents(path), expected) << "point " << point << " of " << calls << " calls";
  }
}

TEST_F(PartsFolder, GoesOnAfterALossOfPower) {
  const DatasetRef dataset = rich_dataset(opener_.pool());
  save(*dataset, dir_.file("whole"), 2);
  const auto expected = contents(dir_.file("whole"));
  constexpr int64_t kStep = 7;  // calls between two losses: their patterns have other lengths
  int64_t losses = 0;
  for (int64_t calls = 1;; calls += kStep) {
    std::array<test::TempDir, 3> after;
    {
      const test::TempDir before;
      const test::PowerLoss power(before.path(), calls);
      try {
        save(*dataset, before.file("parts"), 2);
      } catch (const base::Error&) {
      }
      if (!power.lost()) break;
      for (uint64_t seed = 0; seed < after.size(); ++seed)
        power.restart(seed == 2 ? static_cast<uint64_t>(calls) + 2 : seed, after[seed].path());
    }
    for (const test::TempDir& machine : after) {
      save(*dataset, machine.file("parts"), 2);
      ASSERT_EQ(contents(machine.file("parts")), expected) << "power lost at call " << calls;
      ++losses;
    }
  }
  EXPECT_GT(losses, 60);
}

TEST_F(PartsFolder, ATornLineOfTheJournalCountsAsNone) {
  const DatasetRef dataset = rich_dataset(opener_.pool());
  save(*dataset, dir_.file("whole"), 2);
  const std::string path = dir_.file("torn");
  PartsSteps steps = steps_of(*dataset, 2);
  base::CancelToken cancel;
  steps.report = [&](const std::string& step) {
    if (step.starts_with("hotness")) cancel.cancel();
  };
  expect_error(Status::kCancelled, {}, [&] {
    save_parts(*dataset, &dataset->splits[0], path, arguments_of(2), steps, cancel);
  });
  std::ofstream(path + "/journal.jsonl", std::ios::app) << "{\"file\":\"part-0000/ho";
  save(*dataset, path, 2);
  EXPECT_EQ(contents(path), contents(dir_.file("whole")));
}

TEST_F(PartsFolder, OtherArgumentsOrDataAreRefused) {
  const DatasetRef dataset = rich_dataset(opener_.pool());
  const std::string done = saved(3), begun = dir_.file("begun");
  PartsSteps steps = steps_of(*dataset, 3);
  steps.report = [&](const std::string& step) {
    if (step.starts_with("writing ids")) base::fail(Status::kCancelled, "now");
  };
  expect_error(Status::kCancelled, {}, [&] { save(*dataset, begun, 3, steps); });
  for (const std::string& path : {done, begun}) {
    const auto refused = [&](const char* text, const std::function<void(PartsArguments&)>& change) {
      PartsArguments arguments = arguments_of(3);
      change(arguments);
      expect_error(Status::kMismatch, {path, text},
                   [&] { save(*dataset, path, arguments.num_parts, {}, arguments); });
    };
    refused("it has 3 parts, asked for are 4", [](auto& a) { a.num_parts = 4; });
    refused("by the method hash, asked for is range", [](auto& a) { a.method = "range"; });
    refused("another seed", [](auto& a) { a.seed = 1; });
    refused("another set of settings", [](auto& a) { a.settings = "passes=3"; });
    refused("another list of fan-outs", [](auto& a) { a.fanouts = {3}; });
    refused("another given assignment", [](auto& a) { a.given = "1"; });
    refused("another choice of edge ids", [](auto& a) { a.edge_ids = true; });
    graph::GraphParts parts = dataset->graph->parts();
    parts.node_columns[0].insert_or_assign("x", counted<float>({kPartNodes, 3}, 0.75f));
    Dataset changed = *dataset;
    changed.graph = graph::Graph::create(std::move(parts));
    expect_error(Status::kMismatch, {"another data set", "feature values"},
                 [&] { save(changed, path, 3); });
    expect_error(Status::kMismatch, {"another data set", "training ids"}, [&] {
      save_parts(*dataset, &dataset->splits[1], path, arguments_of(3), steps_of(*dataset, 3), {});
    });
  }
  save(*dataset, done, 3);  // once more is nothing
  dir_.write("mine/file", "text");
  expect_error(Status::kInvalidArgument, {"/mine", "holds no parts"},
               [&] { save(*dataset, dir_.file("mine"), 3); });
}

TEST_F(PartsFolder, OfADataSetThatIsMapped) {
  const DatasetRef dataset = rich_dataset(opener_.pool());
  save_dataset(*dataset, dir_.file("own"));
  const DatasetRef mapped = opener_.open(dir_.file("own"));
  save(*mapped, dir_.file("parts"), 3);
  EXPECT_EQ(bytes_of(*opener_.open(dir_.file("parts"))), bytes_of(*dataset));
  // The set's files are read, so one that shrinks is an error.
  std::filesystem::resize_file(dir_.file("own/node-node-x.npy"), 200);
  expect_error(Status::kIo, {"node-node-x.npy"}, [&] { save(*mapped, dir_.file("again"), 3); });
}

TEST_F(PartsFolder, HasOneWriter) {
  const DatasetRef dataset = rich_dataset(opener_.pool());
  PartsSteps steps = steps_of(*dataset, 2);
  steps.report = [&](const std::string& step) {
    if (step.starts_with("writing ids"))
      expect_error(Status::kBusy, {"/parts", "another call or process"},
                   [&] { save(*dataset, dir_.file("parts"), 2); });
  };
  save(*dataset, dir_.file("parts"), 2, steps);
  EXPECT_EQ(bytes_of(*opener_.open(dir_.file("parts"))), bytes_of(*dataset));
}

TEST_F(PartsFolder, OfNoNodes) {
  graph::GraphParts parts;
  parts.num_nodes = {0};
  parts.topology = {graph::csc_from_coo(tensor<int64_t>({}, {0}).view(),
                                        tensor<int64_t>({}, {0}).view(), 0, 0, opener_.pool())};
  const DatasetRef dataset =
      make_dataset(graph::Graph::create(std::move(parts)), "", "", false, {});
  PartsSteps steps = steps_of(*dataset, 2);
  steps.assign = [] { return std::vector<uint16_t>(); };
  save_parts(*dataset, nullptr, dir_.file("none"), arguments_of(2), steps, {});
  EXPECT_EQ(opener_.open(dir_.file("none"))->graph->num_nodes(), 0);
}

TEST_F(PartsFolder, RefusesKindsOfDataWithoutParts) {
  graph::GraphParts typed;
  typed.schema = {{"a", "b"}, {{0, 1, "likes"}}};
  typed.num_nodes = {2, 2};
  typed.topology = {graph::csc_from_coo(tensor<int64_t>({}, {0}).view(),
                                        tensor<int64_t>({}, {0}).view(), 2, 2, opener_.pool())};
  const DatasetRef two = make_dataset(graph::Graph::create(std::move(typed)), "", "", false, {});
  expect_error(Status::kUnsupported, {"2 node types"}, [&] {
    save_parts(*two, nullptr, dir_.file("typed"), arguments_of(2), steps_of(*two, 2), {});
  });
  EXPECT_FALSE(base::exists(dir_.file("typed")));
}

TEST_F(PartsFolder, TrafficByTheStoredHotness) {
  const DatasetRef opened = opener_.open(saved(2));
  const PartTraffic none = traffic_of(*opened->parts, 0, 0);
  // Part 0 has the even nodes; node v of the 25 others is read v / 100 times.
  EXPECT_NEAR(none.remote_rows, 6.25, 1e-5);
  EXPECT_NEAR(none.rows, 31.25, 1e-5);
  EXPECT_EQ(none.hit_rate, 0);
  EXPECT_NEAR(traffic_of(*opened->parts, 0, 2).hit_rate, (0.49 + 0.47) / 6.25, 1e-6);
  EXPECT_NEAR(traffic_of(*opened->parts, 0, 1000).hit_rate, 1, 1e-12);
  expect_error(Status::kRange, {"part 2"}, [&] { traffic_of(*opened->parts, 2, 0); });
}

TEST_F(PartsFolder, EveryChangedFileIsFound) {
  const std::string path = saved(2);
  for (const auto& [name, text] : contents(path)) {
    std::string changed = text;
    changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
    std::ofstream(path + "/" + name, std::ios::binary | std::ios::trunc) << changed;
    const bool read_on_opening = name != "book.npy" && !name.ends_with("hotness.npy");
    if (read_on_opening) {
      try {
        opener_.open(path);
        ADD_FAILURE() << name;
      } catch (const base::Error& error) {
        EXPECT_TRUE(error.status() == Status::kChecksum || error.status() == Status::kFormat ||
                    error.status() == Status::kVersion)
            << name << ": " << error.what();
      }
    }
    std::ofstream(path + "/" + name, std::ios::binary | std::ios::trunc) << text.substr(1);
    if (read_on_opening) {
      EXPECT_THROW(opener_.open(path), base::Error) << name;
    }
    std::filesystem::remove(path + "/" + name);
    if (read_on_opening) {
      EXPECT_THROW(opener_.open(path), base::Error) << name;
    }
    std::ofstream(path + "/" + name, std::ios::binary | std::ios::trunc) << text;
  }
  opener_.open(path);
}

// Files whose sums are right and whose contents are not: somebody else's writer.
TEST_F(PartsFolder, ContentsAreCheckedBesideTheirSums) {
  const std::string path = saved(2);
  const auto with = [&](const std::string& name, const std::function<void(std::string&)>& change,
                        const std::vector<std::string>& parts) {
    const std::string old_file = test::slurp(path + "/" + name);
    const std::string old_manifest = test::slurp(path + "/manifest.json");
    std::string changed = old_file;
    change(changed);
    std::ofstream(path + "/" + name, std::ios::binary | std::ios::trunc) << changed;
    auto files = parts::parse_manifest(io::as_bytes(old_manifest), "m");
    for (parts::FileFacts& file : files)
      if (file.file == name) {
        io::Sha256 sum;
        sum.add(io::as_bytes(changed));
        file.sums = {sum.finish()};
        file.bytes = static_cast<int64_t>(changed.size());
      }
    std::ofstream(path + "/manifest.json", std::ios::binary | std::ios::trunc)
        << parts::manifest_text(files);
    expect_error(Status::kFormat, parts, [&] { opener_.open(path); });
    std::ofstream(path + "/" + name, std::ios::binary | std::ios::trunc) << old_file;
    std::ofstream(path + "/manifest.json", std::ios::binary | std::ios::trunc) << old_manifest;
  };
  const auto put = [](std::string& bytes, int64_t from_end, int64_t value) {
    std::memcpy(bytes.data() + bytes.size() - from_end, &value, sizeof value);
  };
  with("part-0000/ids.npy", [&](auto& b) { put(b, 8, 50); }, {"node 50", "below 50"});
  with("part-0000/ids.npy", [&](auto& b) { put(b, 8, 1); }, {"node 1", "ascending"});
  with("part-0000/ids.npy", [&](auto& b) { put(b, 8, 49); }, {"node 49", "is in part"});
  with("part-0000/edge-edge.indptr.npy", [&](auto& b) { put(b, 8, -1); }, {"falls from"});
  with("part-0000/edge-edge.indptr.npy", [&](auto& b) { put(b, 8, 1 << 20); }, {"in sum"});
  with("part-0001/node-node-x.npy", [&](auto& b) { b += "more"; }, {"bytes"});
}

}  // namespace
}  // namespace gnnmg::data
