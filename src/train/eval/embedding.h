// The model's result for every node, full neighbourhoods, or for every graph where it has a
// readout, on all ranks: to memory or to a file.
#pragma once

#include <string>

#include "base/tensor.h"
#include "train/eval/evaluation.h"

namespace gnnmg::train {

// Collective. [num_results(), output width], in one place for all ranks of a process; over parts on
// the first rank of each process.
base::Tensor embed(nn::Model& model, const data::Dataset& dataset, const Participant& participant);

// Collective. Rank 0 writes them to a .npy file, which appears whole or not at all, in rounds of
// one chunk a rank: the rows of the last layer never lie in memory together. `path` is rank 0's.
void embed_to_file(nn::Model& model, const data::Dataset& dataset, const Participant& participant,
                   const std::string& path);

}  // namespace gnnmg::train
