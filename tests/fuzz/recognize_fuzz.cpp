// Recognition of formats by the first bytes of a file: the first byte selects the file's name, the
// rest is the file. It is tested by its own path, by its folder and by a folder above that. The
// files are really written, in memory if the system has such a place.
#include "data/recognize.h"

#include <fstream>

#include "base/error.h"
#include "data/gin.h"
#include "fuzz/folder.h"

namespace {

using namespace gnnmg;
namespace fs = test::fs;
using test::Folder;

constexpr const char* kNames[] = {"s.txt",   "s.txt.gz", "s.npz", "metadata.json", "ind.s.graph",
                                  "s_A.txt", "s",        "s.csv", "raw/edge.csv",  "raw/data.npz"};

void look_at(const fs::path& path) {
  for (const char* wanted : {"", "gin", "edges"}) try {
      std::vector<data::Candidate> passed_over;
      data::recognize(path, wanted, &passed_over);
    } catch (const base::Error&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const Folder folder;
  const fs::path set = folder.path() / "set";
  fs::remove_all(set);
  const fs::path file = set / kNames[data[0] % std::size(kNames)];
  fs::create_directories(file.parent_path());
  std::ofstream(set / "s_graph_indicator.txt") << "1\n";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  look_at(file);
  look_at(set);
  look_at(folder.path());
  try {
    data::begins_with_a_count(file);
  } catch (const base::Error&) {
  }
  return 0;
}
