#include "train/checkpoint_folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/atomic_folder.h"
#include "base/file.h"
#include "data/arrays.h"
#include "io/checksum.h"
#include "io/json.h"
#include "io/json_writer.h"

namespace gnnmg::train {
namespace {

using base::Status;
using io::JsonValue;

constexpr int64_t kVersion = 1;
constexpr std::string_view kFormat = "gnnmg checkpoint";
constexpr const char* kManifest = "manifest.json";
constexpr const char* kModel = "model.safetensors";
constexpr const char* kOptimizer = "optimizer.safetensors";
constexpr const char* kBest = "best.safetensors";
constexpr const char* kState = "state.json";
constexpr std::string_view kMiddle = "-step-";
constexpr size_t kDigits = 6;
constexpr int64_t kSmallFile = 1 << 20;

void write_text(const std::string& path, std::string_view text) {
  base::AtomicFile file(path, base::AtomicFile::Links::kRefuse);
  file.write(text);
  file.commit();
}

std::string read_text(const std::string& path) {
  const std::vector<uint8_t> bytes = base::read_file(path, kSmallFile);
  return {bytes.begin(), bytes.end()};
}

std::string name_of(int64_t number, int64_t step) {
  std::string digits = std::to_string(number);
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  return base::text(digits, kMiddle, step);
}

// The number that a checkpoint of that name was counted as.
std::optional<int64_t> number_of(std::string_view name) {
  const size_t middle = name.find(kMiddle);
  if (middle == name.npos) return {};
  const auto parse = [](std::string_view digits) {
    int64_t value = -1;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc() && stop == end ? value : -1;
  };
  const int64_t number = parse(name.substr(0, middle));
  const int64_t step = parse(name.substr(middle + kMiddle.size()));
  if (number < 0 || step < 0 || name_of(number, step) != name) return {};
  return number;
}

// Names of the checkpoints in a folder, the newest first.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (std::string& name : base::list_directory(folder))
    if (number_of(name) && base::is_directory(base::join_path(folder, name)))
      names.push_back(std::move(name));
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return *number_of(a) > *number_of(b);
  });
  return names;
}

// The checkpoint that a small file names; empty when it is not there or names none.
std::string named_by(const std::string& folder, const char* file) {
  std::string name;
  try {
    name = read_text(base::join_path(folder, file));
  } catch (const base::Error&) {  // not there, or something else in its place
    return {};
  }
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return number_of(name) ? name : std::string();
}

struct Entry {
  std::string name;
  io::FileSum sum;
};

std::vector<Entry> read_manifest(const std::string& folder) {
  const std::string path = base::join_path(folder, kManifest);
  if (!base::exists(path))
    throw base::Error(Status::kNotFound,
                      base::text(folder, ": is no checkpoint, it has no ", kManifest), -1, ENOENT);
  const std::vector<uint8_t> text = base::read_file(path, kSmallFile);
  const JsonValue manifest = io::parse_json(text, path);
  const JsonValue* format = manifest.find("format");
  const auto* name = format ? format->as<std::string>() : nullptr;
  if (!name || *name != kFormat)
    base::fail(Status::kFormat, path, ": format: expected \"", kFormat, "\"");
  const JsonValue* version = manifest.find("version");
  const auto* number = version ? version->as<int64_t>() : nullptr;
  if (!number || *number < 1)
    base::fail(Status::kFormat, path, ": version: expected a number from 1");
  if (*number > kVersion)
    base::fail(Status::kVersion, path, ": is of format version ", *number,
               "; this library reads up to ", kVersion);
  const JsonValue* files = manifest.find("files");
  const auto* entries = files ? files->as<JsonValue::Object>() : nullptr;
  if (!entries) base::fail(Status::kFormat, path, ": files: expected an object");
  std::vector<Entry> out;
  for (const auto& [file, entry] : *entries) {
    base::check_relative_name(file, path);
    const JsonValue* bytes = entry.find("bytes");
    const JsonValue* sum = entry.find("sha256");
    const auto* count = bytes ? bytes->as<int64_t>() : nullptr;
    const auto* digits = sum ? sum->as<std::string>() : nullptr;
    if (!count || !digits)
      base::fail(Status::kFormat, path, ": files: ", file, ": expected \"bytes\" and \"sha256\"");
    out.push_back({file, {*count, *digits}});
  }
  return out;
}

void compare(const std::string& path, const io::FileSum& expected) {
  io::FileSum found;
  const auto check_size = [&] {
    if (found.bytes != expected.bytes)
      base::fail(Status::kChecksum, path, ": has ", found.bytes, " bytes, ", expected.bytes,
                 " were written");
  };
  try {
    found.bytes = base::File(path).size();
    check_size();  // first, for a file may be far longer than what was written
    found = io::sum_of_file(path);
  } catch (const base::Error& error) {
    if (error.status() != Status::kNotFound) throw;
    base::fail(Status::kChecksum, path, ": is missing, though the manifest lists it");
  }
  check_size();
  if (found.sha256 != expected.sha256)
    base::fail(Status::kChecksum, path, ": SHA-256 ", found.sha256, ", written was ",
               expected.sha256);
}

// kNan naming the first weight with which nobody could go on.
void check_weights(const std::string& path, const char* name, const io::StateFile& weights) {
  for (const auto& [key, tensor] : weights.tensors) {
    const int64_t bad = data::find_not_finite(tensor.data(), tensor.dtype(),
                                              tensor.shape().num_elements(), /*as_f32=*/false);
    if (bad >= 0)
      base::fail(Status::kNan, base::join_path(path, name), ": ", key, ": element ", bad, " of ",
                 tensor.shape().to_string(), " is not finite: the training has diverged");
  }
}

void check_weights(const std::string& path, const CheckpointFiles& files) {
  check_weights(path, kModel, files.model);
  check_weights(path, kBest, files.best);
}

// Whether an older checkpoint is to be tried. Something else in the place of a file is damage, and
// no system call fails over it; a disk that does not answer is none, and neither is want of memory.
bool is_damage(const base::Error& error) {
  switch (error.status()) {
    case Status::kChecksum:
    case Status::kFormat:
    case Status::kVersion:
    case Status::kNotFound:
    case Status::kNan:
      return true;
    case Status::kIo:
      return error.system_error() == 0 || error.system_error() == ELOOP;
    default:
      return false;
  }
}

}  // namespace

void write_checkpoint(const std::string& path, const CheckpointFiles& files) {
  check_weights(path, files);
  base::AtomicFolder folder(path);
  const auto inside = [&](const char* name) { return base::join_path(folder.temporary(), name); };
  std::vector<const char*> names{kModel, kState};
  io::write_safetensors(inside(kModel), files.model);
  write_text(inside(kState), files.state);
  if (!files.optimizer.tensors.empty()) {
    io::write_safetensors(inside(kOptimizer), files.optimizer);
    names.push_back(kOptimizer);
  }
  if (!files.best.tensors.empty()) {
    io::write_safetensors(inside(kBest), files.best);
    names.push_back(kBest);
  }
  io::JsonWriter manifest(2);
  manifest.begin_object().member("format", kFormat).member("version", kVersion);
  manifest.key("files").begin_object();
  for (const char* name : names) {
    const io::FileSum sum = io::sum_of_file(inside(name));
    manifest.key(name).begin_object();
    manifest.member("bytes", sum.bytes).member("sha256", std::string_view(sum.sha256));
    manifest.end_object();
  }
  manifest.end_object().end_object();
  write_text(inside(kManifest), manifest.finish());
  folder.commit();
}

CheckpointFiles read_checkpoint(const std::string& path) {
  const std::vector<Entry> entries = read_manifest(path);
  for (const Entry& entry : entries) compare(base::join_path(path, entry.name), entry.sum);
  const auto listed = [&](const char* name) {
    return std::ranges::any_of(entries, [&](const Entry& entry) { return entry.name == name; });
  };
  for (const char* name : {kModel, kState})
    if (!listed(name))
      base::fail(Status::kFormat, base::join_path(path, kManifest), ": files: has no ", name);
  CheckpointFiles files;
  files.model = io::read_safetensors(base::join_path(path, kModel));
  files.state = read_text(base::join_path(path, kState));
  if (listed(kOptimizer)) files.optimizer = io::read_safetensors(base::join_path(path, kOptimizer));
  if (listed(kBest)) files.best = io::read_safetensors(base::join_path(path, kBest));
  check_weights(path, files);
  return files;
}

LoadedCheckpoint open_checkpoint(const std::string& path, const std::string& name,
                                 const std::string& digest) {
  LoadedCheckpoint loaded;
  loaded.path = name.empty() ? path : base::join_path(path, name);
  loaded.name = name;
  const std::string manifest = base::join_path(loaded.path, kManifest);
  if (!digest.empty()) {
    if (!base::exists(manifest))
      base::fail(Status::kMismatch, loaded.path,
                 ": is not here, but the first process goes on from it; a checkpoint has to lie "
                 "where all processes can read it");
    const std::string found = io::sum_of_file(manifest).sha256;
    if (found != digest)
      base::fail(Status::kMismatch, loaded.path,
                 ": is another checkpoint than the first process's: its manifest has SHA-256 ",
                 found, ", that one ", digest);
  }
  loaded.files = read_checkpoint(loaded.path);
  loaded.digest = io::sum_of_file(manifest).sha256;
  return loaded;
}

std::string CheckpointSeries::add(int64_t step, const CheckpointFiles& files, bool best) {
  base::make_directory(folder_);
  base::remove_leftovers(folder_);
  const std::vector<std::string> names = names_in(folder_);
  if (!last_.empty() && !names.empty() && *number_of(names[0]) > *number_of(last_)) {
    const std::string own = std::exchange(last_, {});
    base::fail(Status::kIo, base::join_path(folder_, names[0]), ": is newer than ", own,
               ", which this training wrote last: another one writes its checkpoints there, and "
               "each needs a folder of its own");
  }
  const std::string name = name_of(names.empty() ? 0 : *number_of(names[0]) + 1, step);
  const std::string path = base::join_path(folder_, name);
  last_ = name;  // even if it fails: it may be there then
  write_checkpoint(path, files);
  if (best) write_text(base::join_path(folder_, "best"), name + "\n");
  write_text(base::join_path(folder_, "latest"), name + "\n");
  prune();
  return path;
}

void CheckpointSeries::prune() const {
  const std::string best = named_by(folder_, "best");
  int32_t kept = 0;
  for (const std::string& name : names_in(folder_))
    if (kept < keep_)
      ++kept;
    else if (name != best && std::ranges::find(protected_, name) == protected_.end())
      base::remove_folder(base::join_path(folder_, name));
}

LoadedCheckpoint find_checkpoint(const std::string& path, base::Log& log) {
  if (!base::exists(path))
    throw base::Error(Status::kNotFound, base::text(path, ": no such folder"), -1, ENOENT);
  if (base::exists(base::join_path(path, kManifest))) return open_checkpoint(path, "", "");
  // By their numbers: `latest` is for the eye, and may be older when a save was cut off.
  const std::vector<std::string> names = names_in(path);
  if (names.empty()) base::fail(Status::kNotFound, path, ": holds no checkpoint");
  std::optional<base::Error> first;
  for (const std::string& name : names) {
    try {
      return open_checkpoint(path, name, "");
    } catch (const base::Error& error) {
      if (!is_damage(error)) throw;
      log.add(base::LogLevel::kWarning, base::text("checkpoint passed over: ", error.what()));
      if (!first) first = error;
    }
  }
  const bool told = first->status() == Status::kVersion || first->status() == Status::kNan;
  base::fail(told ? first->status() : Status::kChecksum, path, ": none of its ", names.size(),
             " checkpoints can be read; the newest: ", first->what());
}

}  // namespace gnnmg::train
