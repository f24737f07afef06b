// Parts as they lie in a folder that data::save_parts() wrote.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "data/native_arrays.h"
#include "data/parts_manifest.h"
#include "dist/part.h"

namespace gnnmg::dist {

// Immutable. Any thread.
class PartFolder {
 public:
  // Errors are those of data::parts::Manifest; kCancelled.
  PartFolder(std::string folder, base::CancelToken cancel);
  const std::shared_ptr<const data::parts::Manifest>& manifest() const { return manifest_; }
  // The parts whose folders are there, ascending.
  std::vector<int32_t> found() const;
  // Reads a part. Its columns are the tensors of nodes that whole.json lists, in that order, the
  // labels aside, which lie whole in the folder; those of its edges are the dense tensors of edges.
  // Dense columns of more than 64 KiB are read from their files when their rows are asked for, and
  // kept in memory within limits (feature/kept_store.h): a file that shrinks before is Error(kIo)
  // of that question. All else is read into memory and compared with its sums, because it is
  // followed without a check: 8 bytes a node, 4 bytes an edge, or 8 from 2^31 nodes on, and 4 or 8
  // an edge where the folder keeps edge ids.
  // Error(kNotFound) for a part that does not exist, kFormat or kChecksum naming the file that
  // differs from its folder's description, kRange, kIo, kNoMemory, kCancelled.
  std::shared_ptr<const Part> read(int32_t part) const;

 private:
  const std::string folder_;
  const base::CancelToken cancel_;
  std::shared_ptr<const data::parts::Manifest> manifest_;
  data::PartFacts facts_;
  data::native::Metadata whole_;
};

// The stamp of questions about the data of a folder: the first 8 bytes of the SHA-256 of
// its manifest.json, 64 hexadecimal digits, which names the sums of all other files.
uint64_t stamp_of(const std::string& sum);

}  // namespace gnnmg::dist
