// Parts as they lie in a folder that data::save_parts() wrote.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/cancel.h"
#include "dist/part.h"

namespace gnnmg::dist {

// Part `part` of the folder. Its columns are the tensors of nodes that whole.json lists, in that
// order, the labels aside, which lie whole in the folder; those of its edges are the dense tensors
// of edges. Dense columns are read from their files when their rows are asked for, and kept in
// memory within limits (feature/kept_store.h): a file that shrinks before is Error(kIo) of that
// question. Arrays that are followed without a check (edges, sparse rows) are read into memory and
// compared with their sums: 8 bytes a node, 4 bytes an edge, or 8 from 2^31 nodes on, and 4 or 8 an
// edge where the folder keeps edge ids.
// Error(kRange) for a part that does not exist, kFormat or kChecksum naming the file that differs
// from its folder's description, kNotFound, kIo, kNoMemory, kCancelled.
std::shared_ptr<const Part> read_part(const std::string& folder, int32_t part,
                                      const base::CancelToken& cancel);

// The stamp of questions about the data of a folder: the first 8 bytes of the SHA-256 of
// its manifest.json, 64 hexadecimal digits, which names the sums of all other files.
uint64_t stamp_of(const std::string& sum);
// The same of a folder. Errors as of data::parts::Manifest.
uint64_t part_stamp(const std::string& folder);

}  // namespace gnnmg::dist
