// The JSON files of a folder of parts as plain structs: parsing with every check that needs no
// other file, and writing. Apart so that they can be fuzzed alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/parts.h"

namespace gnnmg::data::parts {

inline constexpr const char* kFormatName = "gnnmg-parts";
inline constexpr int64_t kVersion = 1;
inline constexpr const char* kMetadataFile = "metadata.json";
inline constexpr const char* kWholeFile = "whole.json";  // has the own format's form
inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kJournalFile = "journal.jsonl";  // until the manifest is there
inline constexpr const char* kBookFile = "book.npy";
inline constexpr const char* kIdsFile = "ids.npy";  // each part has one, and the next two files
inline constexpr const char* kPlacesFile = "edge_ids.npy";
inline constexpr const char* kHotnessFile = "hotness.npy";
inline constexpr int64_t kSumBytes = int64_t{64} << 20;  // bytes of a file that a sum covers
inline constexpr int64_t kMaxManifest = int64_t{256} << 20;

// "part-0003", with more digits from part 10000 on.
std::string part_folder(int32_t part);

// Named facts about the data, which a call that goes on must agree with.
using Facts = std::vector<std::pair<std::string, std::string>>;

struct Metadata {
  PartsArguments arguments;
  Facts data;
  PartFacts facts;  // empty in the first line of the journal
};

// One file with SHA-256 sums of each kSumBytes of it.
struct FileFacts {
  std::string file;  // "book.npy", "part-0000/ids.npy"
  int64_t bytes = 0;
  std::vector<std::string> sums;
};

// Error(kFormat) naming `where`, the place in the document, expected and found; kVersion for a
// newer format. With facts there is one number a part, none negative.
Metadata parse_metadata(std::span<const uint8_t> text, std::string_view where);
std::string metadata_text(const Metadata& metadata);

// Names of files stay in the folder, each occurs once, and their sums are as many as their bytes
// ask for.
std::vector<FileFacts> parse_manifest(std::span<const uint8_t> text, std::string_view where);
std::string manifest_text(const std::vector<FileFacts>& files);

// A line of the journal.
FileFacts parse_file_facts(std::span<const uint8_t> line, std::string_view where);
std::string file_facts_text(const FileFacts& file);

// Returns whether bytes that begin a JSON file look like this format's.
bool looks_like_parts(std::string_view start);

}  // namespace gnnmg::data::parts
