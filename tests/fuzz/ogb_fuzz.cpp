// OGB's folder: the first byte selects tables or archives. Then come all files of the layout or all
// arrays of the archives, each after a byte for its name and two bytes for its length. The reader
// depends on the names in a folder, so the files are really written, in memory if the system has
// such a place.
#include <algorithm>
#include <array>
#include <fstream>
#include <map>

#include "data/readers.h"
#include "fuzz/folder.h"
#include "fuzz/stored_zip.h"
#include "io/npy.h"

namespace {

using namespace gnnmg;
namespace fs = test::fs;
using test::Folder;

constexpr const char* kFiles[] = {
    "raw/num-node-list.csv.gz", "raw/num-edge-list.csv.gz", "raw/edge.csv.gz",
    "raw/node-feat.csv.gz",     "raw/node-label.csv.gz",    "raw/edge-feat.csv.gz",
    "raw/node_year.csv.gz",     "raw/edge_reltype.csv.gz",  "split/a/train.csv.gz",
    "split/a/valid.csv.gz",     "split/a/test.csv.gz",      "raw/triplet-type-list.csv.gz",
    "split/a/split_dict.pt",    "raw/node-label.csv",       "raw/graph-label.csv.gz"};
constexpr const char* kArrays[] = {"num_nodes_list", "num_edges_list", "edge_index",  "node_feat",
                                   "node_year",      "edge_feat",      "edge_reltype"};
constexpr base::DType kTypes[] = {base::DType::kI64,  base::DType::kI32, base::DType::kU8,
                                  base::DType::kBool, base::DType::kF16, base::DType::kF32,
                                  base::DType::kF64};

// Takes a piece of the input: its number and its bytes.
bool next(std::span<const uint8_t>& input, uint8_t& which, std::span<const uint8_t>& content) {
  if (input.size() < 3) return false;
  which = input[0];
  const size_t length = std::min<size_t>(input[1] | input[2] << 8, input.size() - 3);
  content = input.subspan(3, length);
  input = input.subspan(3 + length);
  return true;
}

void write_tables(const Folder& folder, std::span<const uint8_t> input) {
  uint8_t which = 0;
  std::span<const uint8_t> content;
  while (next(input, which, content))
    folder.write(kFiles[which % std::size(kFiles)], std::string(io::as_text(content)));
}

// The first byte is the type, the next the number of columns: 0 for a list, 255 for a table without
// columns, whose number of rows follows.
std::string array_of(std::span<const uint8_t> content) {
  if (content.size() < 2) return "no array";
  const base::DType type = kTypes[content[0] % std::size(kTypes)];
  const int64_t columns = content[1];
  content = content.subspan(2);
  if (columns == 255 && content.size() >= 8)
    return io::npy_header(type, {std::abs(io::load_little<int64_t>(content, 0) >> 4), 0});
  const int64_t count = static_cast<int64_t>(content.size()) / base::dtype_size(type);
  const base::Shape shape =
      columns > 0 ? base::Shape{count / columns, columns} : base::Shape{count};
  return io::npy_header(type, shape) +
         std::string(io::as_text(content.first(shape.num_elements() * base::dtype_size(type))));
}

void write_archives(const Folder& folder, std::span<const uint8_t> input) {
  std::map<std::string, std::string> arrays;
  std::string label;
  uint8_t which = 0;
  std::span<const uint8_t> content;
  while (next(input, which, content)) {
    if (which >= 0xf0) {
      folder.write(kFiles[8 + which % 3], std::string(io::as_text(content)));
    } else if (which >= 0xe0) {
      label = array_of(content);
    } else {
      arrays[std::string(kArrays[which % std::size(kArrays)]) + ".npy"] = array_of(content);
    }
  }
  folder.write("raw/data.npz", fuzz::stored_zip({arrays.begin(), arrays.end()}));
  if (!label.empty())
    folder.write("raw/node-label.npz", fuzz::stored_zip({{"node_label.npy", label}}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const Folder folder;
  static base::ThreadPool pool(1);
  folder.clear();
  const std::span<const uint8_t> rest(data + 1, size - 1);
  if (data[0] & 1)
    write_archives(folder, rest);
  else
    write_tables(folder, rest);
  base::Log log(16);
  data::OpenOptions options;
  options.max_bytes = 1 << 26;
  options.undirected = (data[0] >> 1 & 3) % 3 - 1;
  const data::ReadContext context{pool, log, {}};
  data::Reading reading{options, context, data::ByteBudget(options.max_bytes)};
  try {
    data::read_ogb(folder.path(), reading);
  } catch (const base::Error&) {
  }
  return 0;
}
