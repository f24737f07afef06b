// Splits of many graphs that somebody has published beside them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/readers.h"

namespace gnnmg::data {

// Appends the splits in `folder`: fold_of_graph.txt (the fold of each graph; split k holds fold k
// out for validation), 10fold_idx/{train,test}_idx-K.txt for K = 1, 2, ..., and *.json in
// splits_fair/, there or beside `folder` (a list of {"test", "model_selection": [{"train",
// "validation"}]}). Errors name file and line, or the place in the document.
// True for the names of files and folders in which read_folds() looks for splits.
bool is_fold_name(std::string_view name);

void read_folds(const std::string& folder, int64_t num_graphs, Reading& reading,
                std::vector<Split>& splits);

// Reads the document of splits_fair alone; errors name `path`.
void parse_fair_splits(std::span<const uint8_t> text, const std::string& path, int64_t num_graphs,
                       std::vector<Split>& splits);

}  // namespace gnnmg::data
