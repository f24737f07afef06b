// Splits of Geom-GCN, a file each, such as film_split_0.6_0.2_3.npz: beside its own texts, and
// beside Planetoid's files.
#pragma once

#include <string>
#include <string_view>

#include "data/assemble.h"
#include "data/readers.h"

namespace gnnmg::data {

// The folder beside the files of a set in which its splits may lie.
inline constexpr std::string_view kSplitsFolder = "splits";

bool is_split_file(const std::string& file);

// The last name of a path, whatever slashes are at its end.
std::string name_of_folder(std::string path);

// The splits in a folder, in `splits` there, or in `../../splits` for a set that is called as the
// folder: those of `set`, or of any with "". Each becomes the next one of its name, "0.6_0.2", in
// the order of its number; with "" the data set takes the name of the last file's set.
void read_split_files(const std::string& folder, const std::string& set, Reading& reading,
                      Found& found);

// The splits of nodes or graphs in the folder of a data set: split.npz, splits.npz and those with
// the set's name in front (NAME_split.npz), whose keys are those of a split; and train, val and
// test as .npy files with such names (train_mask.npy). They are the splits "beside", from 0.
// Arrays that fit no part of this set are left out with a warning.
void read_splits_beside(const std::string& folder, Reading& reading, Found& found);

}  // namespace gnnmg::data
