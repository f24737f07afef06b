// The two JSON files that describe a folder of parts, and the data set that is divided, read
// together.
#pragma once

#include <string>

#include "data/dataset.h"
#include "data/native_metadata.h"
#include "data/parts_manifest.h"
#include "data/parts_metadata.h"

namespace gnnmg::data::parts {

struct Description {
  Metadata metadata;
  native::Metadata whole;  // has one node type and one edge type between its nodes
};

// Error(kFormat) naming the file and its fault, kChecksum, kIo.
Description read_description(const Manifest& manifest);

// Error(kUnsupported) for a data set of several types or graphs, of which no parts are made.
void check_divisible(const Dataset& dataset);
// Metadata::data of parts of the data set, which `whole` describes; `split` may be null.
Facts facts_of_whole(const Dataset& dataset, const Split* split, const native::Metadata& whole);

}  // namespace gnnmg::data::parts
