// Comparison of fields among processes, and the error text for a difference.
#pragma once

#include <string>
#include <vector>

#include "comm/join/frame.h"
#include "comm/processes.h"

namespace gnnmg::comm {

void write_fields(FrameWriter& out, const std::vector<Field>& fields);
std::vector<Field> read_fields(FrameReader& in);

// Error(kMismatch) with the same text on every process, naming process, field and both values,
// unless all processes have the same fields. `all` is by process.
void check_fields(const Control& control, const std::string& name,
                  const std::vector<std::vector<Field>>& all);

}  // namespace gnnmg::comm
