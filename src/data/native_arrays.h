// The own format as a list of arrays: shared by the folder of a data set and the folder of its
// parts, which lay them out differently.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "data/native_metadata.h"
#include "data/readers.h"

namespace gnnmg::data::native {

inline constexpr int64_t kMaxMetadata = int64_t{16} << 20;  // bytes

// Gets each array of a data set once, in the order of the description.
using ArraySink = std::function<void(const Array& array, const base::Tensor& tensor)>;
// Edges with written ids: all that have ids, or only edges with tensors, which are ordered by them.
enum class WrittenIds { kAll, kOfTensors };
// The content of metadata.json for a data set. Every file has another name.
Metadata describe(const Dataset& dataset, const ArraySink& sink, WrittenIds ids = WrittenIds::kAll);

// The source of arrays. A result has the type and shape of the description, or the call is
// Error(kFormat) naming the file.
class ArraySource {
 public:
  virtual ~ArraySource() = default;
  virtual base::Tensor read(const Array& array) = 0;       // copies into memory
  virtual base::Tensor map(const Array& array) = 0;        // views its file, where it has one
  virtual std::string path(const Array& array) const = 0;  // name in error texts
};

// The data set that is described, with every check that the own format has. `where`: the file that
// the description comes from.
DatasetRef read_described(Metadata metadata, const std::string& where, ArraySource& source,
                          Reading& reading);

// The same around a graph of one node and one edge type whose rows are elsewhere: of the arrays the
// labels of nodes, splits and weights are read.
DatasetRef read_around(Metadata metadata, const std::string& where, ArraySource& source,
                       Reading& reading, std::shared_ptr<const graph::Elsewhere> rows);

// Reads the header of a .npy file and holds it against the description.
io::NpyHeader check_header(const base::File& file, const Array& array);
// The same of a file of so many bytes that begins with `start`: io::kNpyStart bytes, or all.
io::NpyHeader check_header(std::span<const uint8_t> start, int64_t file_bytes,
                           const std::string& path, const Array& array);

}  // namespace gnnmg::data::native
