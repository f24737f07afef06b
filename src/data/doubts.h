// Warnings of labels and splits that are read as they are and look as if something else was meant.
#pragma once

#include <optional>

#include "data/assemble.h"
#include "data/labels.h"

namespace gnnmg::data {

// Labels [N] of floats as classes, if they are whole numbers from -1 on; NaN becomes -1.
std::optional<base::Tensor> whole_classes(const base::Tensor& labels);

// Warns of classes that are given as floats or one-hot, and of an index beside labels, which are
// taken for numbers.
void doubt_numbers(const Found& found, base::Log& log);
// Warns of classes without a node or graph, `of`.
void doubt_classes(const Found& found, const Labels& labels, const char* of, base::Log& log);
// Warns of a split whose codes may count from 0.
void doubt_splits(const Found& found, int64_t num_samples, base::Log& log);

}  // namespace gnnmg::data
