// Splits: from masks or id lists, and random ones by class or by fraction.
#pragma once

#include "data/dataset.h"

namespace gnnmg::data {

// Errors call the owners of the ids `of`: nodes, or graphs.
//
// From one byte an id: 0 unused, 1 train, 2 validation, 3 test; anything else is Error(kFormat)
// naming `where` and the id.
Split split_from_codes(std::span<const uint8_t> codes, std::string name, int32_t index,
                       std::string_view where, const char* of = "node");
// Makes a split of id lists in any order; out of range or in two lists: Error(kRange / kFormat).
Split split_from_ids(std::span<const int64_t> train, std::span<const int64_t> validation,
                     std::span<const int64_t> test, int64_t num_ids, std::string name,
                     int32_t index, std::string_view where, const char* of = "node");

// Makes a split of one mask a part, of equal length; a node in two masks: Error(kFormat).
Split split_from_masks(std::span<const bool> train, std::span<const bool> validation,
                       std::span<const bool> test, std::string name, int32_t index,
                       std::string_view where);

// The transpose of a table of bytes [N, S], PyG's masks of S splits: a row a split. Any
// other, and one whose rows have N items as well, stays as it is.
base::Tensor with_splits_as_rows(const base::Tensor& table, int64_t num_nodes);

// Appends the splits of a table of codes, of bytes or wider integers: [S, N], a row a split, [N,
// S], a column a split, or [N]. Error(kFormat) naming `where`, row and id.
void append_code_splits(const base::Tensor& codes, const std::string& name, int64_t num_ids,
                        const std::string& where, const char* of, std::vector<Split>& splits);

// A data set has at most so many splits. Rows of an array over no nodes take no bytes in a file, so
// nothing else would bound their number.
inline constexpr int64_t kMaxSplits = 10'000;
// Error(kFormat) naming `where` when `more` splits beside `there` are too many.
void check_split_count(int64_t there, int64_t more, std::string_view where);

// In a data set of many graphs, graphs stand for the nodes of the functions below.
//
// floor(N * fraction) of the N labeled nodes to train and to validation, the rest to test; without
// labels all nodes count. The order is a permutation from the library's own stream (seed), or
// NumPy's RandomState(seed).permutation(N) when `numpy_legacy`. Named "random".
Split random_split(const Dataset& dataset, double train, double validation, uint64_t seed,
                   bool numpy_legacy);
// `train` and `validation` labeled nodes of each class, the rest to test; a class with fewer is
// Error(kInvalidArgument). Named "random_by_class".
Split random_split_by_class(const Dataset& dataset, int64_t train, int64_t validation,
                            uint64_t seed);

// `num_folds` splits with index 0 .. num_folds - 1: the k-th holds fold k out as its part
// `held_out` (validation or test) and trains on the others. Classes are spread evenly: the folds
// that the ids of one class are dealt to, in order of id, are a shuffle of equal shares, classes in
// order of their first id, as scikit-learn's StratifiedKFold(shuffle=True) does, and with
// `numpy_legacy` in the same folds as with random_state=seed. Other labels are dealt out like one
// class. Named "folds". Error(kInvalidArgument) for fewer than 2 folds, more than kMaxFolds or than
// labeled ids.
std::vector<Split> fold_splits(const Dataset& dataset, int32_t num_folds, SplitPart held_out,
                               uint64_t seed, bool numpy_legacy);
inline constexpr int32_t kMaxFolds = 100;
// The same from the fold of each id, -1: none.
std::vector<Split> splits_of_folds(std::span<const int64_t> fold_of, int32_t num_folds,
                                   SplitPart held_out, const std::string& name);

// NumPy's legacy shuffle: MT19937 seeded by init_genrand, RandomState.permutation(n).
std::vector<int64_t> numpy_legacy_permutation(uint32_t seed, int64_t n);
// RandomState(seed) that shuffles the lists one after another.
void numpy_legacy_shuffle(uint32_t seed, std::span<const std::span<int64_t>> lists);

}  // namespace gnnmg::data
