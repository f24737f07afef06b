// Fields that processes compare: how they travel, and what is said when they differ.
#pragma once

#include <string>
#include <vector>

#include "comm/join/frame.h"
#include "comm/processes.h"

namespace gnnmg::comm {

void write_fields(FrameWriter& out, const std::vector<Field>& fields);
std::vector<Field> read_fields(FrameReader& in);

// Error(kMismatch), the same on every process, naming process, field and both values, unless all
// have the same. `all` is by process.
void check_fields(const Control& control, const std::string& name,
                  const std::vector<std::vector<Field>>& all);

}  // namespace gnnmg::comm
