// The Planetoid files as bytes, apart from the folder they lie in, so that they can be fuzzed.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/assemble.h"

namespace gnnmg::data {

// ind.NAME.x is not among them: it repeats the first rows of allx.
struct PlanetoidBytes {
  std::span<const uint8_t> y, tx, ty, allx, ally, graph, test_index;
};

// `prefix` names the files in errors: PREFIX.allx and so on. The log names all that is left out.
Found parse_planetoid(const PlanetoidBytes& bytes, const std::string& prefix,
                      const OpenOptions& options, base::Log& log);

}  // namespace gnnmg::data
