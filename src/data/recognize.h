// The format of a path, and the exact place of its data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gnnmg::data {

// In order of preference where a folder holds several.
enum class Format {
  kNative,
  kParts,
  kPlain,
  kPlanetoid,
  kGeomGcn,
  kOgb,
  kShchur,
  kHeterophilous,
  kPacked,
  kGin,
  kTu,
  kMatrixMarket,
  kMetis,
  kEdges
};
// The name of OpenOptions::format.
const char* format_name(Format format) noexcept;

// Returns whether a file of this name is a list of edges, or another text of one graph.
bool is_edge_list_name(std::string_view name);

// Returns whether a file is an .npz of one of the formats that have one.
bool is_archive_of_a_set(const std::string& path);

struct Candidate {
  Format format;
  std::string path;  // argument of the format's reader
};

// The data set at `path`: a file, a folder, a folder with one of the formats in a sub-folder, or
// the prefix of Planetoid files. `wanted` empty: the most preferred format that is there;
// `passed_over` gets the others. kNotFound when nothing is there; kFormat, with the formats that
// are supported and the content found, when nothing is recognized or two of equal rank are, or
// naming a kind of file that is not read; kInvalidArgument for an unknown `wanted`.
Candidate recognize(const std::string& path, std::string_view wanted,
                    std::vector<Candidate>* passed_over);

// The data sets of one or many arrays in the folders of `folder`, which holds `candidate` itself;
// not copies and forms of it, nor the folders that belong to it.
std::vector<Candidate> sets_inside(const std::string& folder, const Candidate& candidate);

}  // namespace gnnmg::data
