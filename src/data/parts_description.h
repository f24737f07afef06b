// The two JSON files that describe a folder of parts, read together.
#pragma once

#include <string>

#include "data/native_metadata.h"
#include "data/parts_manifest.h"
#include "data/parts_metadata.h"

namespace gnnmg::data::parts {

struct Description {
  Metadata metadata;
  native::Metadata whole;  // of one node type and one edge type between its nodes
};

// Error(kFormat) naming the file and what is wrong, kChecksum, kIo.
Description read_description(const Manifest& manifest);

}  // namespace gnnmg::data::parts
