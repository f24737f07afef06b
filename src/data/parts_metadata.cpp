#include "data/parts_metadata.h"

#include <limits>
#include <set>

#include "base/file.h"
#include "data/json_node.h"
#include "io/json_writer.h"

namespace gnnmg::data::parts {
namespace {

using base::fail;
using base::Status;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int32_t kMaxParts = 65535;
constexpr size_t kMaxFanouts = 16;

void check_format(const Node& root) {
  if (!root.has("format") || root.at("format").string() != kFormatName)
    root.refuse("expected \"format\": \"", kFormatName, "\"");
  const int64_t version = root.at("version").size();
  if (version > kVersion)
    fail(Status::kVersion, root.path(), ": format version ", version, ", this library reads up to ",
         kVersion);
  if (version < 1) root.at("version").refuse(version, ", expected 1 to ", kVersion);
}

// Seeds use all 64 bits, which numbers of other readers of JSON do not: they are texts.
uint64_t read_seed(const Node& node) {
  const std::string text = node.string();
  uint64_t seed = 0;
  bool right = !text.empty() && text.size() <= 20;
  for (const char c : text) {
    right &= c >= '0' && c <= '9' && seed <= (~uint64_t{0} - (c - '0')) / 10;
    if (right) seed = seed * 10 + static_cast<uint64_t>(c - '0');
  }
  if (!right) node.refuse("expected the digits of a 64-bit number");
  return seed;
}

bool read_flag(const Node& node) { return node.integer(0, 1) == 1; }

PartsArguments read_arguments(const Node& node) {
  node.expect_keys({"num_parts", "method", "settings", "seed", "ranges", "edge_ids", "given",
                    "fanouts", "batch_size"});
  PartsArguments arguments;
  arguments.num_parts = static_cast<int32_t>(node.at("num_parts").integer(1, kMaxParts));
  arguments.method = node.at("method").string();
  arguments.settings = node.at("settings").string();
  arguments.seed = read_seed(node.at("seed"));
  arguments.ranges = read_flag(node.at("ranges"));
  arguments.edge_ids = read_flag(node.at("edge_ids"));
  arguments.given = node.at("given").string();
  for (const Node& fanout : node.at("fanouts").items())
    arguments.fanouts.push_back(fanout.integer(-1, kMost));
  if (arguments.fanouts.size() > kMaxFanouts)
    node.at("fanouts").refuse(arguments.fanouts.size(), " fan-outs, expected at most ",
                              kMaxFanouts);
  arguments.batch_size = node.at("batch_size").size();
  return arguments;
}

std::vector<int64_t> read_numbers(const Node& node, int32_t count) {
  std::vector<int64_t> numbers;
  int64_t sum = 0;
  for (const Node& item : node.items()) {
    numbers.push_back(item.size());
    sum = base::checked_add(sum, numbers.back(), node.path());
  }
  if (static_cast<int32_t>(numbers.size()) != count)
    node.refuse(numbers.size(), " numbers, expected one for each of ", count, " parts");
  return numbers;
}

FileFacts read_file(const Node& node) {
  node.expect_keys({"file", "bytes", "sha256"});
  FileFacts file;
  file.file = node.at("file").string();
  base::check_relative_name(file.file, node.path());
  file.bytes = node.at("bytes").size();
  for (const Node& item : node.at("sha256").items()) {
    file.sums.push_back(item.string());
    if (file.sums.back().size() != 64 ||
        file.sums.back().find_first_not_of("0123456789abcdef") != std::string::npos)
      item.refuse("expected 64 lower-case hexadecimal digits");
  }
  const int64_t expected = file.bytes / kSumBytes + (file.bytes % kSumBytes != 0);
  if (static_cast<int64_t>(file.sums.size()) != expected)
    node.at("sha256").refuse(file.sums.size(), " sums for ", file.bytes, " bytes, expected ",
                             expected);
  return file;
}

void write_file(io::JsonWriter& out, const FileFacts& file) {
  out.begin_object().member("file", file.file).member("bytes", file.bytes);
  out.key("sha256").begin_list();
  for (const std::string& sum : file.sums) out.value(sum);
  out.end_list().end_object();
}

void write_numbers(io::JsonWriter& out, const char* key, const std::vector<int64_t>& numbers) {
  out.key(key).begin_list();
  for (const int64_t number : numbers) out.value(number);
  out.end_list();
}

}  // namespace

std::string part_folder(int32_t part) {
  const std::string digits = std::to_string(part);
  return "part-" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

Metadata parse_metadata(std::span<const uint8_t> text, std::string_view where) {
  const io::JsonValue document = io::parse_json(text, where);
  const Node root(document, std::string(where));
  check_format(root);
  root.expect_keys({"format", "version", "arguments", "data", "?parts"});
  Metadata metadata;
  metadata.arguments = read_arguments(root.at("arguments"));
  for (const Node& item : root.at("data").items()) {
    const std::vector<Node> pair = item.items();
    if (pair.size() != 2) item.refuse(pair.size(), " texts, expected a name and a text");
    metadata.data.emplace_back(pair[0].string(), pair[1].string());
  }
  if (!root.has("parts")) return metadata;
  const Node node = root.at("parts");
  const int32_t count = metadata.arguments.num_parts;
  node.expect_keys({"rows", "edges", "train", "cut_edges"});
  metadata.facts = {read_numbers(node.at("rows"), count), read_numbers(node.at("edges"), count),
                    read_numbers(node.at("train"), count),
                    read_numbers(node.at("cut_edges"), count)};
  for (int32_t p = 0; p < count; ++p)
    if (metadata.facts.cut_edges[p] > metadata.facts.edges[p] ||
        metadata.facts.train[p] > metadata.facts.rows[p])
      node.refuse("part ", p, " has more cut edges than edges, or more training ids than rows");
  return metadata;
}

std::string metadata_text(const Metadata& metadata) {
  const PartsArguments& arguments = metadata.arguments;
  io::JsonWriter out;
  out.begin_object().member("format", kFormatName).member("version", kVersion);
  out.key("arguments").begin_object();
  out.member("num_parts", int64_t{arguments.num_parts}).member("method", arguments.method);
  out.member("settings", arguments.settings).member("seed", std::to_string(arguments.seed));
  out.member("ranges", int64_t{arguments.ranges}).member("edge_ids", int64_t{arguments.edge_ids});
  out.member("given", arguments.given);
  write_numbers(out, "fanouts", arguments.fanouts);
  out.member("batch_size", arguments.batch_size).end_object();
  out.key("data").begin_list();
  for (const auto& [name, fact] : metadata.data)
    out.begin_list().value(name).value(fact).end_list();
  out.end_list();
  if (!metadata.facts.rows.empty()) {
    out.key("parts").begin_object();
    write_numbers(out, "rows", metadata.facts.rows);
    write_numbers(out, "edges", metadata.facts.edges);
    write_numbers(out, "train", metadata.facts.train);
    write_numbers(out, "cut_edges", metadata.facts.cut_edges);
    out.end_object();
  }
  return out.end_object().finish() + "\n";
}

std::vector<FileFacts> parse_manifest(std::span<const uint8_t> text, std::string_view where) {
  io::JsonLimits limits;
  limits.max_bytes = kMaxManifest;
  const io::JsonValue document = io::parse_json(text, where, limits);
  const Node root(document, std::string(where));
  check_format(root);
  root.expect_keys({"format", "version", "files"});
  std::vector<FileFacts> files;
  std::set<std::string> names;
  for (const Node& node : root.at("files").items()) {
    files.push_back(read_file(node));
    if (!names.insert(files.back().file).second)
      node.refuse("the file \"", io::printable(files.back().file), "\" occurs twice");
  }
  return files;
}

std::string manifest_text(const std::vector<FileFacts>& files) {
  io::JsonWriter out(1);
  out.begin_object().member("format", kFormatName).member("version", kVersion);
  out.key("files").begin_list();
  for (const FileFacts& file : files) write_file(out, file);
  return out.end_list().end_object().finish() + "\n";
}

FileFacts parse_file_facts(std::span<const uint8_t> line, std::string_view where) {
  const io::JsonValue document = io::parse_json(line, where);
  return read_file(Node(document, std::string(where)));
}

std::string file_facts_text(const FileFacts& file) {
  io::JsonWriter out;
  write_file(out, file);
  return out.finish() + "\n";
}

bool looks_like_parts(std::string_view start) { return start.find(kFormatName) != start.npos; }

}  // namespace gnnmg::data::parts
